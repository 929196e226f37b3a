"""Selectors to parts for files with thousands of events: plain names without a search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.topology.selectors import Part, select

if TYPE_CHECKING:
    from collections.abc import Collection

    from gbviz.topology.fabric import Fabric

# Below this many selectors a search for each costs less than the tables that spare it.
_MANY = 200
_NODE = re.compile(r"[a-z]+-[0-9a-z]+(?:/[a-z]+-[0-9a-z]+)*")
_CABLE = re.compile(rf"({_NODE.pattern})([~>])({_NODE.pattern})(?:#(0|[1-9][0-9]{{0,5}}))?")


class Lookup:
    """The parts that selectors name, each looked for once.

    Parameters
    ----------
    fabric
        Where to look.
    selectors
        What will be asked for; where they are many, names without globs take a short cut.
    """

    def __init__(self, fabric: Fabric, selectors: Collection[str]) -> None:
        self.fabric = fabric
        self._quick = len(selectors) > _MANY and fabric.spec is not None
        self._parts: dict[str, list[Part]] = {}
        self._touched: dict[str, frozenset[int]] = {}
        self._cables: dict[tuple[int, int], tuple[int, int, int]] | None = None

    def parts(self, selector: str) -> list[Part]:
        """The parts of a selector, as `select` gives them.

        Raises
        ------
        InputError
            As `select`.
        """
        if selector not in self._parts:
            quick = self._plain(selector) if self._quick else None
            self._parts[selector] = select(self.fabric, selector) if quick is None else [quick]
        return self._parts[selector]

    def touched(self, selector: str) -> frozenset[int]:
        """The nodes and links that a selector's parts are: links by number, nodes below zero."""
        if selector not in self._touched:
            parts = self.parts(selector)
            nodes = (-1 - node for part in parts for node in part.nodes)
            links = (link for part in parts for link in part.links)
            self._touched[selector] = frozenset((*nodes, *links))
        return self._touched[selector]

    def _plain(self, text: str) -> Part | None:
        """The one part of a name without globs; None where it is no such name."""
        try:
            if _NODE.fullmatch(text):
                node = self.fabric.index_of(text)
                return Part(text, self.fabric.kind_of(node).name, (node,))
            if match := _CABLE.fullmatch(text):
                ends = self.fabric.index_of(match[1]), self.fabric.index_of(match[3])
                return self._cable(text, ends, match)
        except InputError:
            # Told by `select`, which knows more about what was meant.
            return None
        return None

    def _cable(self, text: str, ends: tuple[int, int], match: re.Match[str]) -> Part | None:
        up = self._bundle(*ends)
        found = up or self._bundle(*reversed(ends))
        if found is None:
            return None
        first, count, back = found
        number = int(match[4]) if match[4] else 0
        if number >= count:
            return None
        links = range(first, first + count) if match[4] is None else (first + number,)
        if match[2] == ">":
            way = tuple(links) if up else tuple(link + back for link in links)
            return Part(text, "direction", (), way)
        # A cable is called by its lower end first, whichever was written first.
        low, high = (match[1], match[3]) if up else (match[3], match[1])
        tail = f"#{number}" if match[4] else ""
        both = (*links, *[link + back for link in links])
        return Part(f"{low}~{high}{tail}", "cable", (), both)

    def _bundle(self, lower: int, upper: int) -> tuple[int, int, int] | None:
        """First link up, number of cables, and how much further the links back are."""
        nvlink, fabric = self.fabric.nvlink, self.fabric
        if nvlink is not None:
            gpu = lower - fabric.nodes("gpu").start
            asic = upper - fabric.nodes("nvswitch").start
            if 0 <= gpu < fabric.count("gpu") and 0 <= asic < fabric.count("nvswitch"):
                same = gpu // nvlink.gpus == asic // nvlink.asics
                cable = gpu * nvlink.asics + asic % nvlink.asics
                return (cable, 1, nvlink.n) if same else None
        if self._cables is None:
            self._cables = _bundles(fabric)
        return self._cables.get((lower, upper))


def _bundles(fabric: Fabric) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Every pair of nodes with cables, lower end first."""
    found: dict[tuple[int, int], tuple[int, int, int]] = {}
    for tier in fabric.tiers:
        starts = np.flatnonzero(np.diff(tier.bundle, prepend=-1))
        counts = np.diff(np.append(starts, tier.n))
        pairs = zip(tier.lower[starts].tolist(), tier.upper[starts].tolist(), strict=True)
        rows = zip(pairs, (tier.first + starts).tolist(), counts.tolist(), strict=True)
        found |= {pair: (first, count, tier.n) for pair, first, count in rows}
    return found
