"""The `gbviz` command: picks what to load, so that `--version` loads next to nothing."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from gbviz import __version__

        sys.stdout.write(f"gbviz {__version__}\n")
        return
    from gbviz.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
