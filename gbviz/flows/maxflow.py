"""Maximum flow on a small directed graph (Dinic's algorithm)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Rounding residue of float subtractions is not capacity.
_TINY = 1e-12


def max_flow(n: int, edges: Iterable[tuple[int, int, float]], source: int, sink: int) -> float:
    """The largest flow from source to sink.

    Parameters
    ----------
    n
        Number of nodes.
    edges
        (from, to, capacity); parallel edges add up, capacity 0 is no edge.
    source, sink
        Node numbers, different.

    References
    ----------
    Dinitz, "Algorithm for solution of a problem of maximum flow in networks with power
    estimation", Soviet Mathematics Doklady 11, 1970.

    Examples
    --------
    Two ways of 3 and 2 into a last edge of 4:

    >>> max_flow(4, [(0, 1, 3.0), (0, 2, 2.0), (1, 3, 9.0), (2, 3, 1.0)], 0, 3)
    4.0
    """
    head: list[list[int]] = [[] for _ in range(n)]
    to: list[int] = []
    left: list[float] = []
    for u, v, capacity in edges:
        if capacity > 0:
            head[u].append(len(to))
            head[v].append(len(to) + 1)
            to += [v, u]
            left += [capacity, 0.0]
    tiny = _TINY * max(left, default=0.0)
    total = 0.0
    while (depth := _levels(head, to, left, source, sink, tiny)) is not None:
        start = [0] * n
        while (sent := _push(head, to, left, depth, start, (source, sink), tiny)) > 0:
            total += sent
    return total


def _levels(
    head: list[list[int]], to: list[int], left: list[float], source: int, sink: int, tiny: float
) -> list[int] | None:
    """Steps from the source along edges with room; None where the sink is out of reach."""
    depth = [-1] * len(head)
    depth[source] = 0
    queue = deque([source])
    while queue:
        node = queue.popleft()
        for edge in head[node]:
            if left[edge] > tiny and depth[to[edge]] < 0:
                depth[to[edge]] = depth[node] + 1
                queue.append(to[edge])
    return depth if depth[sink] >= 0 else None


def _push(
    head: list[list[int]],
    to: list[int],
    left: list[float],
    depth: list[int],
    start: list[int],
    ends: tuple[int, int],
    tiny: float,
) -> float:
    """Send along one shortest way with room; 0 where none is left at these levels."""
    source, sink = ends
    path: list[int] = []
    node = source
    while node != sink:
        if start[node] < len(head[node]):
            edge = head[node][start[node]]
            if left[edge] > tiny and depth[to[edge]] == depth[node] + 1:
                path.append(edge)
                node = to[edge]
            else:
                start[node] += 1
        elif path:
            node = to[path.pop() ^ 1]
            start[node] += 1
        else:
            return 0.0
    sent = min(left[edge] for edge in path)
    for edge in path:
        left[edge] -= sent
        left[edge ^ 1] += sent
    return sent
