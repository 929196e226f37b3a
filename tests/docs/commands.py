"""What Click knows about each command."""

from __future__ import annotations

import inspect

import click

from gbviz.cli.main import _COMMANDS, gbviz
from gbviz.cli.options import ClusterCommand, ClusterOption
from tests.docs.fields import rows

# Commands remember the names of their help from the first context that they are seen in.
_GROUP = click.Context(gbviz, info_name="gbviz", **gbviz.context_settings)


def context(name: str) -> click.Context:
    """A command's context, as when it is called."""
    found = gbviz.get_command(_GROUP, name)
    assert found is not None
    return click.Context(found, info_name=name, parent=_GROUP)


def overview(_: str) -> str:
    """All commands, each in one line."""
    return rows(("command", "answers"), [(f"[`{n}`](#{n})", text) for n, text in _COMMANDS.items()])


def command(name: str) -> str:
    """A command: usage, what it does, its options, the words that these take."""
    ctx = context(name)
    usage = " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)])
    about = inspect.cleandoc(ctx.command.help or "").split("\n\n")
    said = [f"```\n{usage}\n```", *(" ".join(part.split()) for part in about)]
    own = [record for option, record in _records(ctx) if not isinstance(option, ClusterOption)]
    said.append(_options(own))
    if isinstance(ctx.command, ClusterCommand):
        if len(own) < len(list(_records(ctx))):
            said.append("It also takes the [parts of a cluster](#parts-of-a-cluster).")
        for title, words in ctx.command.words.items():
            if title not in ClusterCommand.words:
                said += [
                    f"{title}:",
                    rows(("", "meaning"), [(f"`{w}`", t) for w, t in words.items()]),
                ]
    return "\n\n".join(said)


def parts(_: str) -> str:
    """The options that change a part of a preset, the same for all commands that have them."""
    records = [r for option, r in _records(context("whatif")) if isinstance(option, ClusterOption)]
    return _options(records)


def _records(ctx: click.Context) -> list[tuple[click.Option, tuple[str, str]]]:
    found = []
    for param in ctx.command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None and isinstance(param, click.Option) and "--help" not in param.opts:
            found.append((param, record))
    return found


def _options(records: list[tuple[str, str]]) -> str:
    return rows(("option", "meaning"), [(f"`{names}`", text) for names, text in records])
