"""Maximum flow against NetworkX."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.flows.maxflow import max_flow

EDGES = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 20).map(lambda n: n / 4)),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(EDGES)
def test_as_networkx(edges: list[tuple[int, int, float]]) -> None:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(8))
    for u, v, capacity in edges:
        if graph.has_edge(u, v):
            graph.edges[u, v]["capacity"] += capacity
        elif u != v:
            graph.add_edge(u, v, capacity=capacity)
    plain = [edge for edge in edges if edge[0] != edge[1]]
    assert max_flow(8, plain, 0, 7) == pytest.approx(nx.maximum_flow_value(graph, 0, 7))


def test_parallel_edges_add_up() -> None:
    assert max_flow(2, [(0, 1, 1.5), (0, 1, 2.0), (1, 0, 9.0)], 0, 1) == 3.5


@pytest.mark.parametrize("edges", [[], [(0, 1, 5.0)], [(0, 1, 5.0), (1, 2, 0.0)], [(2, 0, 5.0)]])
def test_no_way_is_zero(edges: list[tuple[int, int, float]]) -> None:
    assert max_flow(3, edges, 0, 2) == 0


def test_flow_is_sent_back_where_the_first_way_was_wrong() -> None:
    """The classic: 0-1-2-3 taken first must be undone for 0-1-3 and 0-2-3."""
    edges = [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0)]
    assert max_flow(4, edges, 0, 3) == 2


def test_a_longer_way_pushes_back_a_shorter_one() -> None:
    """0-1-2-9 is shortest; then 0-3-4-2 finds 2-9 full and sends 1's flow round by 5 and 6."""
    short = [(0, 1, 1.0), (1, 2, 1.0), (2, 9, 1.0)]
    round_about = [(0, 3, 1.0), (3, 4, 1.0), (4, 2, 1.0), (1, 5, 1.0), (5, 6, 1.0), (6, 9, 1.0)]
    assert max_flow(10, short, 0, 9) == 1
    assert max_flow(10, [*short, *round_about], 0, 9) == 2


def test_rounding_is_not_capacity() -> None:
    """Thirds leave residues of 1e-17, which must neither count nor keep it busy for ever."""
    edges = [(0, n, 1 / 3) for n in range(1, 40)] + [(n, 40, 1 / 3) for n in range(1, 40)]
    assert max_flow(41, edges, 0, 40) == pytest.approx(13, rel=1e-12)
    large = [(u, v, capacity * 1e9) for u, v, capacity in edges]
    assert max_flow(41, large, 0, 40) == pytest.approx(13e9, rel=1e-12)
