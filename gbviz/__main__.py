"""The `gbviz` command: picks what to load, so that `--version` loads next to nothing."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command line and leave with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from gbviz import __version__

        with suppress(OSError):  # the reader may have left
            os.write(1, f"gbviz {__version__}\n".encode())
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal without a degree sign gets a question mark instead of nothing.
            stream.reconfigure(errors="replace")
    try:
        from gbviz.cli.main import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:  # before `run` could say so
        sys.exit(130)


if __name__ == "__main__":
    main()
