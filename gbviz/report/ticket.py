"""What a failure costs, as plain text for a ticket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.report.fault_tree import fault_tree
from gbviz.report.figure_rows import figure_rows
from gbviz.report.job_facts import job_cost
from gbviz.report.job_lines import job_lines
from gbviz.report.timeline import clock
from gbviz.report.words import sized

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.report.fault_tree import FaultNode

_MOST_FAULTS = 20


def ticket(snapshot: Snapshot) -> str:
    """Scenario, faults with their time, figures that changed, and every job that pays.

    Examples
    --------
    >>> import gbviz
    >>> print(ticket(gbviz.evaluate(gbviz.preset("gb300-su").with_faults("spine-3"))))
    Scenario: gb300-su (8 racks, 576 GPUs, 8 leaves, 4 spines)
    Faults:
      spine-3 failed (down: 288 links (both directions))
    Figures that changed:
      bisection, GB/s: 28,800 -> 21,600 (75 %)
      worst leaf's live uplinks: 100 % -> 75 % (75 %)
      non-blocking: yes -> no
    Jobs: none runs
    """
    lines = [f"Scenario: {snapshot.scenario.name} ({sized(snapshot.fabric)})"]
    nodes = fault_tree(snapshot)
    shown = [f"  {_fault(node)}" for node in nodes[:_MOST_FAULTS]]
    if len(nodes) > _MOST_FAULTS:
        shown.append(f"  and {len(nodes) - _MOST_FAULTS:,} more")
    lines += ["Faults:", *shown] if nodes else ["Faults: none"]
    changed = [row for row in figure_rows(snapshot) if row.base != row.now]
    lines += ["Figures that changed:"] if changed else ["Figures that changed: none"]
    for row in changed:
        share = f" ({row.share})" if row.share not in ("", "-") else ""
        lines.append(f"  {row.what}: {row.base} -> {row.now}{share}")
    return "\n".join([*lines, *_jobs(snapshot)])


def _fault(node: FaultNode) -> str:
    text = f"{node.component} {node.state}"
    if node.at_s:
        text += f" at {clock(node.at_s)}"
    if node.for_s is not None:
        text += f", for {clock(node.for_s)}"
    said = [node.slows, f"down: {node.toll}" if node.toll else ""]
    said.append(f"also down with {node.also}" if node.also else "")
    tail = "; ".join(part for part in said if part)
    return f"{text} ({tail})" if tail else text


def _jobs(snapshot: Snapshot) -> list[str]:
    lines = job_lines(snapshot)
    if not lines:
        return ["Jobs: none runs"]
    hurt = [line for line in lines if line.hurt]
    if not hurt:
        return [f"Jobs: none of {len(lines)} is slower, stopped or has lost time"]
    rest = len(lines) - len(hurt)
    tail = [f"  the other {rest} as on the healthy cluster"] if rest else []
    return ["Jobs:", *(f"  {job_cost(line)}" for line in hurt), *tail]
