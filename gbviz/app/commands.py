"""The list of the window's commands: their menus, words and keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, get_args

from gbviz.app.actions import Command
from gbviz.display.links import LINK_STYLES
from gbviz.display.shades import COLOUR_BY
from gbviz.engine import edits
from gbviz.faults.partition import Policy
from gbviz.routing.modes import MODES

if TYPE_CHECKING:
    from gbviz.app.actions import Actions
    from gbviz.app.window import MainWindow

THEMES = ("system", "dark", "light")
_LINK_KEYS = {"matrix": "M", "bundles": "B", "cables": "A"}


def add_commands(window: MainWindow, actions: Actions) -> None:
    """Make all commands of a window."""
    for command in (*_files(window), *_edits(window), *_faults(window), *_looks(window)):
        actions.add(command)
    _choices(window, actions)
    for name, dock in window.panels.docks.items():
        actions.adopt(f"panel.{name}", "view/panels", dock.toggleViewAction())
    for command in (*_places(window), *_time(window), *_help(window)):
        actions.add(command)


def menus(window: MainWindow) -> list[tuple[str, str]]:
    """Names and titles of the menus, from left to right."""
    tr = window.tr
    return [
        ("file", tr("&File")),
        ("edit", tr("&Edit")),
        ("faults", tr("F&aults")),
        ("jobs", tr("&Jobs")),
        ("view", tr("&View")),
        ("go", tr("&Go")),
        ("time", tr("&Time")),
        ("help", tr("&Help")),
    ]


def _files(window: MainWindow) -> list[Command]:
    tr, files = window.tr, window.documents
    return [
        Command(
            "file.new", "file/open", tr("&New from preset..."), ("Ctrl+N",), window.asks.ask_new
        ),
        Command("file.open", "file/open", tr("&Open..."), ("Ctrl+O",), window.asks.ask_open),
        Command(
            "file.start", "file/open", tr("&Start page"), ("Ctrl+Shift+N",), window.desk.show_start
        ),
        Command("file.save", "file/save", tr("&Save"), ("Ctrl+S",), files.save),
        Command("file.save_as", "file/save", tr("Save &as..."), ("Ctrl+Shift+S",), files.save_as),
        Command("file.name", "file/save", tr("Na&me and description..."), (), window.asks.ask_name),
        Command("file.revert", "file/save", tr("&Revert to file"), (), files.revert),
        Command(
            "file.picture",
            "file/export",
            tr("Export &picture..."),
            ("Ctrl+E",),
            window.asks.ask_picture,
        ),
        Command(
            "file.report",
            "file/export",
            tr("Export &report..."),
            ("Ctrl+Shift+E",),
            window.asks.ask_report,
            tr("Write the answer as a page to send: pictures, figures, jobs, plots, sources"),
        ),
        Command("file.csv", "file/export", tr("Export &table as CSV..."), (), window.asks.ask_csv),
        Command(
            "file.preferences", "file/own", tr("&Preferences..."), ("Ctrl+,",), window.asks.prefer
        ),
        Command("file.quit", "file/quit", tr("&Quit"), ("Ctrl+Q",), window.close),
    ]


def _edits(window: MainWindow) -> list[Command]:
    tr, live = window.tr, window.live
    return [
        Command("edit.undo", "edit/undo", tr("&Undo"), ("Ctrl+Z",), live.undo),
        Command("edit.redo", "edit/undo", tr("&Redo"), ("Ctrl+Shift+Z", "Ctrl+Y"), live.redo),
        Command(
            "edit.find",
            "edit/find",
            tr("&Find anything..."),
            ("Ctrl+K", "Ctrl+Shift+P"),
            window.desk.search,
        ),
        Command(
            "edit.filter",
            "edit/find",
            tr("Filter the &table"),
            ("Ctrl+F",),
            window.desk.filter_table,
        ),
        Command("edit.clear", "edit/select", tr("Select &nothing"), ("Esc",), window.desk.escape),
        Command("jobs.add", "jobs/add", tr("&Add job..."), ("Ctrl+J",), window.asks.add_job),
    ]


def _faults(window: MainWindow) -> list[Command]:
    tr, deeds, live = window.tr, window.deeds, window.live
    return [
        Command(
            "faults.fail",
            "faults/do",
            tr("&Fail"),
            ("F",),
            window.desk.fail,
            tr("Fail what is selected; without a selection, fail what is clicked"),
        ),
        Command(
            "faults.repair",
            "faults/do",
            tr("&Repair"),
            ("R",),
            window.desk.repair,
            tr("Repair what is selected; without a selection, repair what is clicked"),
        ),
        Command(
            "faults.degrade",
            "faults/do",
            tr("&Degrade..."),
            ("D",),
            window.desk.degrade,
            tr("Leave what is selected with a part of its rate"),
        ),
        Command(
            "faults.bundle",
            "faults/do",
            tr("Fail the whole &bundle"),
            ("Shift+F",),
            window.desk.fail_bundle,
            tr("Fail all parallel cables of the one that is selected"),
        ),
        Command(
            "faults.restore",
            "faults/all",
            tr("Restore &all"),
            ("Ctrl+Shift+R",),
            live.restore_all,
            tr("Nothing is broken any more; can be undone"),
        ),
        Command(
            "faults.copy", "faults/all", tr("&Copy names of the selection"), (), deeds.copy_names
        ),
        Command(
            "faults.ticket",
            "faults/all",
            tr("Copy the explanation for a &ticket"),
            ("Ctrl+Shift+C",),
            window.panels.inspector.copy_text,
        ),
    ]


def _looks(window: MainWindow) -> list[Command]:
    tr = window.tr
    return [
        Command(
            "view.zoom_in",
            "view/zoom",
            tr("Zoom &in"),
            ("Ctrl++", "Ctrl+="),
            partial(window.desk.zoom, 1.5),
        ),
        Command(
            "view.zoom_out",
            "view/zoom",
            tr("Zoom &out"),
            ("Ctrl+-",),
            partial(window.desk.zoom, 1 / 1.5),
        ),
        Command(
            "view.fit", "view/zoom", tr("Show &everything"), ("Ctrl+0", "Home"), window.desk.fit
        ),
        Command(
            "view.selection",
            "view/zoom",
            tr("Zoom to the &selection"),
            ("Z",),
            window.desk.zoom_to_selection,
        ),
        Command(
            "view.unit",
            "view/zoom",
            tr("Zoom to its scalable &unit"),
            ("U",),
            window.desk.zoom_to_unit,
        ),
        Command("view.save", "view/zoom", tr("Save this &view..."), (), window.panels.views.ask),
        Command(
            "view.larger",
            "view/text",
            tr("&Larger text"),
            ("Ctrl+Alt++",),
            partial(window.desk.scale_text, 0.1),
        ),
        Command(
            "view.smaller",
            "view/text",
            tr("S&maller text"),
            ("Ctrl+Alt+-",),
            partial(window.desk.scale_text, -0.1),
        ),
        Command("view.reset", "view/panels", tr("&Reset layout"), (), window.desk.reset_layout),
    ]


def _choices(window: MainWindow, actions: Actions) -> None:
    """Commands of which one of a group is in force."""
    tr, now = window.tr, window.remembered.settings
    change = window.remembered.change
    actions.choose(
        "colour",
        [
            Command(
                f"colour.{by}",
                "view/colour",
                tr("Colour by {}").format(by),
                (f"Ctrl+{n}",),
                partial(change, colour_by=by),
            )
            for n, by in enumerate(COLOUR_BY, 1)
        ],
        f"colour.{now.colour_by}",
    )
    actions.choose(
        "links",
        [
            Command(
                f"links.{style}",
                "view/links",
                tr("Links as {}").format(style),
                (_LINK_KEYS[style],),
                partial(change, links=style),
            )
            for style in LINK_STYLES
        ],
        f"links.{now.links}",
    )
    actions.choose(
        "theme",
        [
            Command(
                f"theme.{name}",
                "view/theme",
                tr("Theme: {}").format(name),
                (),
                partial(change, theme=name),
            )
            for name in THEMES
        ],
        f"theme.{now.theme}",
    )
    tools = (
        ("select", tr("&Select"), ("V",), tr("Clicks select")),
        ("fail", tr("Fail by &click"), (), tr("Every click fails what it hits, until V or Escape")),
        ("repair", tr("Repair by c&lick"), (), tr("Every click repairs what it hits")),
    )
    actions.choose(
        "tool",
        [
            Command(
                f"tool.{name}", "faults/tool", text, keys, partial(window.desk.use_tool, name), says
            )
            for name, text, keys, says in tools
        ],
        "tool.select",
    )
    scenario, edit = window.live.scenario, window.live.edit
    actions.choose(
        "route",
        [
            Command(
                f"route.{mode}",
                "jobs/routing",
                tr("Route by {}").format(mode),
                (),
                partial(edit, partial(edits.route, mode=mode)),
                says,
            )
            for mode, says in MODES.items()
        ],
        f"route.{scenario.routing}",
    )
    actions.choose(
        "nvlink",
        [
            Command(
                f"nvlink.{policy}",
                "jobs/nvlink",
                tr("NVLink policy: {}").format(policy),
                (),
                partial(edit, partial(edits.nvlink_policy, policy=policy)),
            )
            for policy in get_args(Policy)
        ],
        f"nvlink.{scenario.nvlink_policy}",
    )


def _places(window: MainWindow) -> list[Command]:
    tr = window.tr
    found = [
        Command(
            f"go.{n}",
            "go/tabs",
            window.tabs.tabText(n),
            (f"Alt+{n + 1}",),
            partial(window.tabs.setCurrentIndex, n),
        )
        for n in range(window.tabs.count())
    ]
    return [
        *found,
        Command(
            "go.next_pane", "go/panes", tr("Next &pane"), ("F6",), partial(window.desk.next_pane, 1)
        ),
        Command(
            "go.last_pane",
            "go/panes",
            tr("Pre&vious pane"),
            ("Shift+F6",),
            partial(window.desk.next_pane, -1),
        ),
        Command("go.worst", "go/find", tr("&Fullest link"), ("Ctrl+L",), window.desk.go_to_worst),
        Command(
            "go.cause",
            "go/find",
            tr("&Cause of the selected part's state"),
            ("C",),
            window.desk.go_to_cause,
        ),
    ]


def _time(window: MainWindow) -> list[Command]:
    tr, dock, live = window.tr, window.panels.timeline, window.live
    return [
        Command(
            "time.play",
            "time/play",
            tr("&Play or pause"),
            ("Space",),
            window.desk.play,
            tr("Let time pass in the timeline"),
        ),
        Command(
            "time.live",
            "time/mode",
            tr("&Live: the scenario's end"),
            ("L",),
            partial(live.look_at, None),
        ),
        Command(
            "time.timeline", "time/mode", tr("&Timeline: a moment"), ("T",), dock.go_to_timeline
        ),
    ]


def _help(window: MainWindow) -> list[Command]:
    tr = window.tr
    return [
        Command(
            "help.keys", "help/help", tr("&Keyboard shortcuts"), ("?", "F1"), window.asks.show_keys
        ),
        Command("help.about", "help/help", tr("&About gbviz"), (), window.asks.about),
    ]
