"""Commands whose options take several values, `--fail spine-3 leaf-0`, and one target."""

from __future__ import annotations

from pathlib import Path

import click

from gbviz.cli.options import DEFAULT_PRESET, ClusterCommand
from gbviz.errors import nearest
from gbviz.topology.presets import presets

# Options that take several values, each with one that shows the form.
_SEVERAL = {
    "--fail": "spine-3",
    "--degrade": "leaf-0~spine-3=0.5",
    "--repair": "spine-3",
    "--traffic": "permutation",
}


class WordsCommand(ClusterCommand):
    """A command that gives every value of an option of several its own option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give every value of such an option its own option."""
        spread: list[str] = []
        current, awaited = "", False
        for arg in [*args, "--end"]:
            if arg.startswith("-"):
                if awaited:
                    raise click.UsageError(
                        f"{current} needs a value, such as {_SEVERAL[current]}", ctx
                    )
                name, sign, _ = arg.partition("=")
                current = name if name in _SEVERAL else ""
                awaited = bool(current) and not sign
            elif not awaited and current and not _is_target(arg):
                spread.append(current)
            else:
                awaited = False
            spread.append(arg)
        return super().parse_args(ctx, spread[:-1])


def _is_target(arg: str) -> bool:
    """Whether a word is meant for a preset or a file rather than for a component."""
    return is_scenario(arg) or nearest(arg, presets(), cutoff=0.7) is not None


def is_scenario(word: str) -> bool:
    """Whether a word is the name of a scenario file."""
    return Path(word).suffix.lower() in {".yaml", ".yml", ".json"}


def target_of(words: tuple[str, ...]) -> str:
    """The one preset among the words that follow no option."""
    odd = [word for word in words if not _is_target(word)]
    if odd:
        known = ", ".join(presets())
        raise click.UsageError(
            f"{odd[0]!r} is not a preset (these are: {known}); what fails goes after --fail"
        )
    if len(words) > 1:
        raise click.UsageError(f"one preset at a time (got {', '.join(words)})")
    return words[0] if words else DEFAULT_PRESET
