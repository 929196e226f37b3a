"""The command group, its lazy commands, and what each kind of failure exits with."""

from __future__ import annotations

import difflib
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from gbviz import __version__
from gbviz.errors import GbvizError

if TYPE_CHECKING:
    from collections.abc import Sequence

BAD_INPUT, INTERNAL, INTERRUPTED = 2, 3, 130

_COMMANDS = {
    "whatif": "one question, one answer: what do these faults cost?",
    "info": "what is in a cluster, its headline figures and its build checks",
    "presets": "the clusters that gbviz knows by name",
}
_LATER = {
    "run": "scenario files are not read yet",
    "check": "scenario files are not read yet",
    "schema": "scenario files are not read yet",
    "picture": "pictures are not drawn yet",
    "compare": "comparing is not built yet",
    "sweep": "sweeps are not built yet",
    "plan": "planning is not built yet",
    "diff": "comparing fabrics is not built yet",
    "import": "other tools' files are not read yet",
    "export": "other tools' files are not written yet",
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command is used."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Names in the order in which people meet them."""
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, None where there is none."""
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(f"gbviz.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say what was probably meant."""
        name = args[0]
        if name in _LATER:
            raise click.UsageError(f"'gbviz {name}' comes with a later version: {_LATER[name]}")
        if name not in _COMMANDS:
            near = difflib.get_close_matches(name, _COMMANDS, n=1)
            meant = f"did you mean 'gbviz {near[0]}'?" if near else "'gbviz --help' lists them"
            raise click.UsageError(f"there is no command {name!r}; {meant}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="gbviz %(version)s")
@click.pass_context
def gbviz(ctx: click.Context) -> None:
    """See a GB300 NVL72 supercluster, break it, and read at once what it costs.

    Try: gbviz whatif azure-gb300 --fail spine-3
    """
    if ctx.invoked_subcommand is None:
        click.echo("The desktop app is not part of this version; here is a question instead:")
        click.echo("gbviz whatif azure-gb300 --fail leaf-20 --traffic permutation\n")
        whatif = ctx.command.get_command(ctx, "whatif")  # type: ignore[attr-defined]
        whatif.main(
            ["azure-gb300", "--fail", "leaf-20", "--traffic", "permutation"],
            prog_name="gbviz whatif",
            standalone_mode=False,
        )


def run(args: Sequence[str]) -> int:
    """Run one command line.

    Returns
    -------
    int
        0 fine, 1 an expectation failed, 2 bad input or usage, 3 internal error, 130 interrupted.
    """
    try:
        found = gbviz.main(list(args), prog_name="gbviz", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except GbvizError as error:
        return _fail(f"gbviz: {error}", BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        return _fail("gbviz: interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader has left, as `head` does; Python must not complain about it when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # the boundary: users get a sentence, not a traceback
        if os.environ.get("GBVIZ_TRACEBACK"):
            raise
        text = f"{type(error).__name__}: {error}"
        return _fail(
            f"gbviz: internal error, please report it: {text} (GBVIZ_TRACEBACK=1 shows where)",
            INTERNAL,
        )
    return found if isinstance(found, int) else 0


def _fail(text: str, code: int) -> int:
    sys.stderr.write(text + "\n")
    return code
