"""Edges of phases that were found before: a fault changes those of few phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.topology.remembered import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from gbviz.flows.router import Router
    from gbviz.jobs.edge import Edge
    from gbviz.topology.fabric import Ints

# Of all fabrics together: some hundred states of four jobs on 4,608 GPUs.
_MOST_BYTES = 1 << 26


class KnownEdges:
    """The edges that were asked for last, by all that they depend on.

    Parameters
    ----------
    most_bytes
        Those asked for longest ago are forgotten when the others take more memory.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._known: Remembered[Edge] = Remembered(most_bytes)

    def __len__(self) -> int:
        return len(self._known)

    def edge(
        self,
        by: Router,
        gpus: Sequence[Ints],
        facts: tuple[Hashable, ...],
        find: Callable[[], Edge],
    ) -> Edge:
        """What `find` gives, found once for each state of what it depends on.

        Parameters
        ----------
        by
            The fabric under its health.
        gpus
            Who takes part.
        facts
            All else that `find` looks at besides the router, by value.

        Notes
        -----
        A phase depends on the racks that take part, and one that stays on NVLink not even on their
        NICs; on other links only where live leaves are cut off, or where each flow has one path:
        such phases are found afresh.
        """
        if by.single_path or not by.reaches_all:
            return find()
        who = tuple((some.shape, some.tobytes()) for some in gpus)
        key = (by.fabric, by.nics.relay, by.fastest_GBps, who, facts)
        hurt = _hurt(by, gpus)
        near = (key, "near", tuple((rack, nvlink) for rack, (nvlink, _) in hurt if nvlink))
        far = (key, "far", tuple(hurt))
        for state in (near, far):
            known = self._known.get(state)
            if known is not None:
                return known
        found = find()
        texts = [text for _, text in who] + [text for _, state in hurt for text in state]
        size = found.n_bytes + sum(len(text) for text in texts)
        self._known.keep(near if found.near else far, found, size)
        return found


def _hurt(by: Router, gpus: Sequence[Ints]) -> list[tuple[int, tuple[bytes, bytes]]]:
    """Racks of some GPUs that are not whole, and their states."""
    if not by.hurt:
        return []
    seen = np.zeros(len(by.nvlink.slot), dtype=bool)
    for some in gpus:
        seen[some.reshape(-1) // by.nvlink.gpus] = True
    return [(rack, state) for rack, state in by.hurt.items() if seen[rack]]


KNOWN = KnownEdges()
