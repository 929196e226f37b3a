"""Where the data files that gbviz ships are found."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gbviz.errors import GbvizError

_HERE = Path(__file__).parent
# An installed wheel carries the folder inside the package, a checkout beside it.
_FOLDERS = (_HERE / "assets_data", _HERE.parent / "assets")
_SCENARIOS = (_HERE / "scenarios_data", _HERE.parent / "scenarios")


def asset_path(name: str) -> Path:
    """The path of one shipped data file.

    Parameters
    ----------
    name
        Path below `assets/`, for example ``"catalogue.toml"``.

    Raises
    ------
    GbvizError
        The installation is incomplete.

    Examples
    --------
    >>> asset_path("catalogue.toml").name
    'catalogue.toml'
    """
    for folder in _FOLDERS:
        if (path := folder / name).is_file():
            return path
    raise GbvizError(f"the data file {name!r} is missing: install gbviz again")


def scenario_paths() -> tuple[Path, ...]:
    """The example scenarios that are shipped, by name; none where the installation lacks them.

    Examples
    --------
    >>> "one-nvlink" in [path.stem for path in scenario_paths()]
    True
    """
    for folder in _SCENARIOS:
        if found := tuple(sorted(folder.glob("*.yaml"))):
            return found
    return ()


def parse_tables(name: str, text: str) -> dict[str, Any]:
    r"""The tables of a TOML data file from its text; `name` is for the error.

    Raises
    ------
    GbvizError
        Not TOML, or a key twice.

    Examples
    --------
    >>> parse_tables("presets.toml", "[one]\nracks = 1")
    {'one': {'racks': 1}}
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise GbvizError(f"{name}: {error}") from None
