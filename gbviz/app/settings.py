"""What the application remembers between two runs, in one JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import platformdirs

from gbviz.display.theme import Ramp
from gbviz.errors import InputError
from gbviz.scenario.atomic import save_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ThemeChoice = Literal["system", "dark", "light"]
LinkStyle = Literal["matrix", "bundles", "cables"]

SMALLEST_FONT, LARGEST_FONT = 0.8, 2.0
MOST_RECENT = 10
_MOST_VIEWS = 100
_MOST_BYTES = 4 * 2**20
_FILE = "settings.json"


@dataclass(frozen=True, slots=True)
class SavedView:
    """A way of looking that the user has given a name; what `state` holds is the view's own."""

    name: str
    state: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """All that is remembered.

    Parameters
    ----------
    theme
        Which colours; "system" follows the desktop.
    font_scale
        Size of text against the desktop's, 0.8 to 2.
    ramp
        Colour map of utilisation.
    links
        How the fabric view draws links.
    colour_by
        What the fabric view shows by colour.
    reduced_motion
        Whether views jump rather than glide.
    autosave
        Whether unsaved work is kept for recovery.
    recent
        Files opened or saved, the latest first.
    geometry, window
        Place of the window and of its docks, base64 of what Qt gives.
    saved_views
        Ways of looking.
    seen_hints
        Hints that need not be shown again.
    """

    theme: ThemeChoice = "system"
    font_scale: float = 1.0
    ramp: Ramp = "slate"
    links: LinkStyle = "matrix"
    colour_by: str = "utilisation"
    reduced_motion: bool = False
    autosave: bool = True
    recent: tuple[str, ...] = ()
    geometry: str = ""
    window: str = ""
    saved_views: tuple[SavedView, ...] = ()
    seen_hints: tuple[str, ...] = ()

    def with_recent(self, path: Path) -> Settings:
        """The same with a file in front of those opened last.

        Examples
        --------
        >>> settings = Settings(recent=("/a.yaml", "/b.yaml"))
        >>> settings.with_recent(Path("/b.yaml")).recent
        ('/b.yaml', '/a.yaml')
        """
        text = str(path.absolute())
        others = tuple(one for one in self.recent if one != text)
        return replace(self, recent=(text, *others)[:MOST_RECENT])


def config_dir() -> Path:
    """The folder of settings; it may not be there yet."""
    return Path(platformdirs.user_config_dir("gbviz", appauthor=False))


def state_dir() -> Path:
    """The folder of recovery files and logs; it may not be there yet."""
    return Path(platformdirs.user_state_dir("gbviz", appauthor=False))


def load() -> tuple[Settings, str]:
    """The settings of the file, and what the user should know about it ("" for nothing).

    A file that cannot be understood is renamed to `settings.json.bad` and the defaults hold. A
    single value that cannot be, holds its default.
    """
    path = config_dir() / _FILE
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("is too large")
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise TypeError("holds no fields")
    except FileNotFoundError:
        return Settings(), ""
    except OSError as error:
        return Settings(), f"the settings cannot be read: {error}"
    except (ValueError, TypeError, RecursionError) as error:
        return Settings(), _set_aside(path, str(error))
    return parsed(data), ""


def save(settings: Settings) -> None:
    """Keep the settings.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    path = config_dir() / _FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", where=str(path.parent)) from None
    data = json.dumps(asdict(settings), indent=1, ensure_ascii=True)
    save_atomic(path, data.encode(), backup=False)


def parsed(data: Mapping[str, Any]) -> Settings:
    """Settings of a file's fields: unknown ones are left out, wrong ones have their default.

    Examples
    --------
    >>> found = parsed({"theme": "light", "font_scale": "huge", "sound": "loud"})
    >>> found.theme, found.font_scale
    ('light', 1.0)
    """
    known = {one.name for one in fields(Settings)}
    found = {}
    for name, value in data.items():
        if name in known:
            read = _READERS[name](value)
            if read is not None:
                found[name] = read
    return Settings(**found)


def _set_aside(path: Path, why: str) -> str:
    aside = path.with_name(f"{path.name}.bad")
    try:
        path.replace(aside)
    except OSError as error:
        return f"the settings cannot be understood ({why}) nor set aside: {error}"
    return f"the settings could not be understood ({why}); they are kept as {aside}"


def _one_of(choices: tuple[str, ...]) -> Callable[[object], str | None]:
    return lambda value: value if isinstance(value, str) and value in choices else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _scale(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if SMALLEST_FONT <= value <= LARGEST_FONT else None


def _texts(most: int) -> Callable[[object], tuple[str, ...] | None]:
    def read(value: object) -> tuple[str, ...] | None:
        if not isinstance(value, list):
            return None
        return tuple(one for one in value if isinstance(one, str) and "\0" not in one)[:most]

    return read


def _views(value: object) -> tuple[SavedView, ...] | None:
    if not isinstance(value, list):
        return None
    found = [
        SavedView(one["name"], one["state"])
        for one in value
        if isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("state"), dict)
    ]
    return tuple(found[:_MOST_VIEWS])


_READERS: dict[str, Callable[[object], Any]] = {
    "theme": _one_of(get_args(ThemeChoice)),
    "font_scale": _scale,
    "ramp": _one_of(get_args(Ramp)),
    "links": _one_of(get_args(LinkStyle)),
    "colour_by": _text,
    "reduced_motion": _flag,
    "autosave": _flag,
    "recent": _texts(MOST_RECENT),
    "geometry": _text,
    "window": _text,
    "saved_views": _views,
    "seen_hints": _texts(1000),
}
