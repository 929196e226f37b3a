"""The faults that hold, one for each component, and which of them are on a node or link."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gbviz.faults.fault import Fault
    from gbviz.topology.selectors import Part


class Standing:
    """Faults by component, oldest first.

    Parameters
    ----------
    faults
        Those that hold already, one for each component.

    Notes
    -----
    What is where is indexed with the first question, so that a list of failures costs nothing and
    a long list of repairs does not look at all faults for each.

    Examples
    --------
    >>> from gbviz.faults.fault import Fault
    >>> spine = Fault("spine-3", "spine", 0.0, (7,), ())
    >>> [fault.component for fault in Standing([spine]).faults]
    ['spine-3']
    """

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._faults = {fault.component: fault for fault in faults}
        self._order: dict[str, int] | None = None
        self._on_node: dict[int, set[str]] = {}
        self._on_link: dict[int, set[str]] = {}
        self._next = 0

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Oldest first."""
        return tuple(self._faults.values())

    def on(self, component: str) -> Fault | None:
        """The fault of a component, None for none."""
        return self._faults.get(component)

    def put(self, fault: Fault) -> None:
        """Let a fault hold; where its component has one it takes that one's place and age."""
        old = self._faults.get(fault.component)
        self._faults[fault.component] = fault
        if self._order is not None:
            if old is not None:
                self._forget(old)
            self._note(fault)

    def drop(self, component: str) -> None:
        """Let a component be whole, if it is not."""
        old = self._faults.pop(component, None)
        if old is not None and self._order is not None:
            self._forget(old)
            del self._order[component]

    def clear(self) -> None:
        """Let everything be whole."""
        self._faults.clear()
        self._order = None
        self._on_node.clear()
        self._on_link.clear()

    def touching(self, parts: Sequence[Part]) -> list[Fault]:
        """The faults on any node or link of some parts, oldest first."""
        if self._order is None:
            self._order = {}
            for fault in self._faults.values():
                self._note(fault)
        hit: set[str] = set()
        for part in parts:
            for node in part.nodes:
                hit |= self._on_node.get(node, _NONE)
            for link in part.links:
                hit |= self._on_link.get(link, _NONE)
        return [self._faults[name] for name in sorted(hit, key=self._order.__getitem__)]

    def _note(self, fault: Fault) -> None:
        assert self._order is not None
        self._order.setdefault(fault.component, self._next)
        self._next += 1
        for node in fault.nodes:
            self._on_node.setdefault(node, set()).add(fault.component)
        for link in fault.links:
            self._on_link.setdefault(link, set()).add(fault.component)

    def _forget(self, fault: Fault) -> None:
        for node in fault.nodes:
            self._on_node[node].discard(fault.component)
        for link in fault.links:
            self._on_link[link].discard(fault.component)


_NONE: frozenset[str] = frozenset()
