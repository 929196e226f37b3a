"""Faults as a tree: causes, and under each what is down because of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.errors import InputError
from gbviz.faults.apply import Toll, takes_down, why_down
from gbviz.report.slowed import slow_words
from gbviz.report.words import counted, listed, stated
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.faults import Fault

# A toll of cables takes a pass over the fabric each; of more faults only the first are counted.
_MOST_COUNTED = 200


@dataclass(frozen=True, slots=True)
class FaultNode:
    """A fault with its consequences.

    Parameters
    ----------
    component, state
        What is broken and how far: `failed` or `at 50 %`.
    factor
        What is left of it.
    toll
        What it takes down in words, "" where that is not counted.
    slows
        What racks suffer for want of its cooling or power, "" for nothing.
    also
        Another fault that it is down with anyway, "" for none: to mend that does not mend this.
    at_s, for_s
        When its event happened and how long it lasts, seconds; None where no event says so.
    consequences
        What is down because of it.
    """

    component: str
    state: str
    factor: float
    toll: str
    at_s: float | None
    for_s: float | None
    consequences: tuple[FaultNode, ...] = ()
    slows: str = ""
    also: str = ""


def fault_tree(snapshot: Snapshot, most: int = 1000) -> list[FaultNode]:
    """The causes, oldest first, each with its consequences; at most `most` of both together.

    A fault of its own is a cause even where another covers it: `also` says so.

    Examples
    --------
    >>> import gbviz
    >>> tree = fault_tree(gbviz.evaluate(gbviz.preset("gb300-su").with_faults("hxu-5", "leaf-3")))
    >>> [(node.component, [one.component for one in node.consequences]) for node in tree]
    [('hxu-5', ['rack-5']), ('leaf-3', [])]
    >>> tree[1].state, tree[1].toll
    ('failed', '288 links (both directions) and 72 NICs')
    """
    faults = snapshot.faults[:most]
    begun = _begun(snapshot)
    under: dict[str, list[FaultNode]] = {}
    known = {fault.component for fault in faults if fault.because is None}
    tops: list[tuple[Fault, int, str]] = []
    covered = why_down(snapshot.fabric, faults)
    for number, (fault, cover) in enumerate(zip(faults, covered, strict=True)):
        if fault.because is None:
            also = cover if cover is not None and cover != fault.component else ""
            tops.append((fault, number, also))
        elif fault.because in known:
            node = _node(snapshot, fault, number, begun)
            under.setdefault(fault.because, []).append(node)
        else:
            tops.append((fault, number, ""))
    return [
        _node(snapshot, fault, number, begun, tuple(under.get(fault.component, ())), also)
        for fault, number, also in tops
    ]


def _node(
    snapshot: Snapshot,
    fault: Fault,
    number: int,
    begun: dict[str, tuple[float, float | None]],
    consequences: tuple[FaultNode, ...] = (),
    also: str = "",
) -> FaultNode:
    at_s, for_s = begun.get(fault.component, (None, None))
    toll = slows = ""
    if number < _MOST_COUNTED:
        toll = toll_words(takes_down(snapshot.fabric, fault))
        slows = slow_words(snapshot, fault.component)
    state = "failed" if fault.factor == 0 else f"at {stated(fault.factor)}"
    named = (fault.component, state, fault.factor, toll, at_s, for_s, consequences)
    return FaultNode(*named, slows, also)


def toll_words(toll: Toll) -> str:
    """What a fault takes down, in words; "" for nothing.

    Examples
    --------
    >>> toll_words(Toll(links=2, gpus=0, nics=1)), toll_words(Toll())
    ('2 links (both directions) and 1 NIC', '')
    """
    counts = ((toll.links, "link"), (toll.gpus, "GPU"), (toll.nics, "NIC"))
    said = [counted(count, word) for count, word in counts if count]
    if toll.links > 1:
        said[0] += " (both directions)"
    return listed(said) if said else ""


def _begun(snapshot: Snapshot) -> dict[str, tuple[float, float | None]]:
    """Component to when its latest event by then happened and how long that lasts."""
    found: dict[str, tuple[float, float | None]] = {}
    now_s = math.inf if snapshot.at_s is None else snapshot.at_s
    for event in sorted(snapshot.scenario.events, key=lambda event: event.at_s):
        if event.at_s > now_s or event.action.verb not in ("fail", "degrade"):
            continue
        selector = event.action.selector
        names = [selector]
        if set(selector) & set("*?[~>:") and len(found) < _MOST_COUNTED:
            try:
                names = [part.component for part in select(snapshot.fabric, selector)]
            except InputError:
                continue
        found |= dict.fromkeys(names, (event.at_s, event.for_s))
    return found
