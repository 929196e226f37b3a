"""Pages from templates: every text in them is escaped, whoever wrote it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gbviz import __version__
from gbviz.display.theme import THEMES
from gbviz.errors import printable

# What a colour of a theme is called in a style sheet.
_COLOURS = (
    "ground",
    "panel",
    "raised",
    "text",
    "dim",
    "line",
    "accent",
    "over",
    "failed",
    "warm",
    "good",
)


def render(template: str, **values: Any) -> str:
    """A page that needs nothing but itself: no script, no font, no address.

    Parameters
    ----------
    template
        Its name in `gbviz/report/templates`.
    **values
        What it shows. Texts are escaped, and signs that cannot be seen are spelt out; only
        `Markup` is taken as it is.
    """
    return _environment().get_template(template).render(**values)


def markup(svg: str) -> Markup:
    """A picture that we drew ourselves, its texts escaped."""
    return Markup(svg)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("gbviz.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.globals["version"] = __version__
    made.globals["colours"] = {name: _colours(name) for name in THEMES}
    return made


def _shown(value: Any) -> Any:
    """Texts without signs that cannot be seen or that turn the direction of what follows."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return "\n".join(printable(line) for line in value.split("\n"))
    return value


def _colours(theme: str) -> str:
    """A theme as custom properties of a style sheet."""
    found = THEMES[theme]
    named = [f"--{name}:{getattr(found, name)}" for name in _COLOURS]
    return ";".join([*named, *(f"--job-{n}:{colour}" for n, colour in enumerate(found.jobs))])
