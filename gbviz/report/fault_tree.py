"""Faults as a tree: causes, and under each what is down because of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.errors import InputError
from gbviz.faults.apply import Toll, takes_down, why_down
from gbviz.report.words import counted, listed, percent
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


def fault_tree(snapshot: Snapshot, most: int = 1000) -> list[FaultNode]:
    """The causes, oldest first, each with its consequences; at most `most` of both together.

    Examples
    --------
    >>> import gbviz
    >>> tree = fault_tree(gbviz.evaluate(gbviz.preset("gb300-su").with_faults("hxu-5", "leaf-3")))
    >>> [(node.component, [one.component for one in node.consequences]) for node in tree]
    [('hxu-5', ['rack-5']), ('leaf-3', [])]
    >>> tree[1].state, tree[1].toll
    ('failed', '288 link directions and 72 NICs')
    """
    faults = snapshot.faults[:most]
    why = why_down(snapshot.fabric, faults)
    begun = _begun(snapshot)
    under: dict[str, list[FaultNode]] = {}
    known = {fault.component for fault in faults}
    tops: list[tuple[Fault, int]] = []
    for number, (fault, because) in enumerate(zip(faults, why, strict=True)):
        if because is None or because not in known or because == fault.component:
            tops.append((fault, number))
        else:
            node = _node(snapshot, fault, number, begun, ())
            under.setdefault(because, []).append(node)
    return [
        _node(snapshot, fault, number, begun, _below(fault.component, under))
        for fault, number in tops
    ]


def _below(component: str, under: dict[str, list[FaultNode]]) -> tuple[FaultNode, ...]:
    """Consequences, and theirs."""
    found: list[FaultNode] = []
    for node in under.get(component, ()):
        found += [node, *_below(node.component, under)]
    return tuple(found)


def _node(
    snapshot: Snapshot,
    fault: Fault,
    number: int,
    begun: dict[str, tuple[float, float | None]],
    consequences: tuple[FaultNode, ...],
) -> FaultNode:
    at_s, for_s = begun.get(fault.component, (None, None))
    toll = toll_words(takes_down(snapshot.fabric, fault)) if number < _MOST_COUNTED else ""
    state = "failed" if fault.factor == 0 else f"at {percent(fault.factor)}"
    return FaultNode(fault.component, state, fault.factor, toll, at_s, for_s, consequences)


def toll_words(toll: Toll) -> str:
    """What a fault takes down, in words; "" for nothing.

    Examples
    --------
    >>> toll_words(Toll(links=2, gpus=0, nics=1)), toll_words(Toll())
    ('2 link directions and 1 NIC', '')
    """
    counts = ((toll.links, "link direction"), (toll.gpus, "GPU"), (toll.nics, "NIC"))
    said = [counted(count, word) for count, word in counts if count]
    return listed(said) if said else ""


def _begun(snapshot: Snapshot) -> dict[str, tuple[float, float | None]]:
    """Component to when its latest event happened and how long that lasts."""
    found: dict[str, tuple[float, float | None]] = {}
    for event in sorted(snapshot.scenario.events, key=lambda event: event.at_s):
        if event.action.verb not in ("fail", "degrade"):
            continue
        selector = event.action.selector
        names = [selector]
        if set(selector) & set("*?[") and len(found) < _MOST_COUNTED:
            try:
                names = [part.component for part in select(snapshot.fabric, selector)]
            except InputError:
                continue
        found |= dict.fromkeys(names, (event.at_s, event.for_s))
    return found
