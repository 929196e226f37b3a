"""What a run leaves on disk: a folder for each scenario, with tables and the whole result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gbviz.engine import loads
from gbviz.report.cluster_sheets import cable_sheet, job_sheet
from gbviz.report.csv_text import rows_as_csv
from gbviz.report.document import to_json
from gbviz.report.junit import Suite, junit, limits_of
from gbviz.report.page import report_page
from gbviz.report.shelf import REPORT, RESULT, SCENARIO
from gbviz.report.timeline import timeline_csv
from gbviz.scenario.document import document as fields_of
from gbviz.scenario.emit import text_of

if TYPE_CHECKING:
    from gbviz.report.seen import Seen
    from gbviz.report.sheets import Sheet


def folder_files(seen: Seen, found: dict[str, Any], title: str = "") -> dict[str, bytes]:
    """All files of a scenario's folder, by name; `result.json` is the last.

    Parameters
    ----------
    seen
        The states of the scenario.
    found
        Its result document.
    title
        Of the report, "" for the scenario's own name.
    """
    snapshot, scenario = seen.snapshot, seen.snapshot.scenario
    place = scenario.path.name if scenario.path else scenario.name
    cables = cable_sheet(snapshot, loads(snapshot), loads(snapshot, base=True))
    texts = {
        "jobs.csv": _whole(job_sheet(snapshot)),
        "links.csv": _whole(cables),
        "timeline.csv": timeline_csv(seen.timeline),
        SCENARIO: text_of(fields_of(scenario)),
        "junit.xml": junit([Suite(scenario.name, place, limits_of(found["expect"]))]),
        REPORT: report_page(seen, found, title=title),
        RESULT: f"{to_json(found)}\n",
    }
    return {name: text.encode() for name, text in texts.items()}


def _whole(sheet: Sheet) -> str:
    return rows_as_csv(sheet.titles(), sheet.rows(np.arange(sheet.n)))
