"""The command group, its lazy commands, and what each kind of failure exits with."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import click

from gbviz import __version__
from gbviz.errors import GbvizError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BAD_INPUT, INTERNAL, INTERRUPTED = 2, 3, 130

_COMMANDS = {
    "whatif": "one question, one answer: what do these faults cost?",
    "info": "what is in a cluster, its headline figures and its build checks",
    "presets": "the clusters and models that gbviz knows by name",
    "run": "scenario files: what their faults do to fabric and jobs",
    "compare": "two scenarios or results side by side",
    "check": "whether scenario files are right, and all that is wrong with them",
    "schema": "what a scenario file may hold, for editors",
    "picture": "the app's map of a scenario as a PNG or SVG file",
}
_LATER = {
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
            raise click.UsageError(f"there is no command {name!r}; {_meant(name)}")
        return super().resolve_command(ctx, args)


def _meant(name: str) -> str:
    """What somebody wanted who wrote this in the place of a command."""
    near = nearest(name, [*_COMMANDS, *_LATER], cutoff=0.6)
    if near is not None:
        return f"did you mean 'gbviz {near}'?"
    if name.lower().endswith((".yaml", ".yml", ".json")):
        return f"did you mean 'gbviz run {name}'?"
    from gbviz.topology.presets import presets  # NumPy comes with it

    if nearest(name, presets(), cutoff=0.7) is not None:
        return f"did you mean 'gbviz info {name}' or 'gbviz whatif {name}'?"
    return "'gbviz --help' lists them"


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="gbviz %(version)s")
@click.pass_context
def gbviz(ctx: click.Context) -> None:
    """See a GB300 NVL72 supercluster, break it, and read at once what it costs.

    Without a command it opens the app: gbviz, or gbviz FILE.

    Try: gbviz whatif azure-gb300 --fail spine-3
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(args: Sequence[str], brought: Mapping[str, str] | None = None) -> int:
    """Run one command line.

    Parameters
    ----------
    args
        Its words.
    brought
        What the layer above does for commands: names to `module:attribute`, such as `paint`.

    Returns
    -------
    int
        0 fine, 1 an expectation failed, 2 bad input or usage, 3 internal error, 130 interrupted.
    """
    try:
        found = gbviz.main(
            list(args), prog_name="gbviz", standalone_mode=False, obj=dict(brought or {})
        )
    except click.ClickException as error:
        return _fail(_usage(error), BAD_INPUT)
    except GbvizError as error:
        return _fail(str(error), BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", INTERRUPTED)
    except OSError as error:
        return _fail(f"cannot read or write: {error}", INTERNAL)
    except Exception as error:  # the boundary: users get a sentence, not a traceback
        if os.environ.get("GBVIZ_TRACEBACK"):
            raise
        text = f"{type(error).__name__}: {error}"
        return _fail(
            f"internal error, please report it: {text} (GBVIZ_TRACEBACK=1 shows where)", INTERNAL
        )
    return found if isinstance(found, int) else 0


def _usage(error: click.ClickException) -> str:
    """What Click says, and where to read on."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    more = f"\nTry '{context.command_path} --help' for help." if context is not None else ""
    return error.format_message() + more


def _fail(text: str, code: int) -> int:
    click.echo(f"gbviz: {text}", err=True)
    return code
