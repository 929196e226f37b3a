"""Systems of flows over links for the max-min tests: by hand, at random, or hashed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gbviz.flows.conservation import FloatArray, IntArray, check
from gbviz.flows.maxmin import MaxMin, solve
from tests import slow_reference


@dataclass(frozen=True)
class System:
    """What `solve` takes."""

    capacity: FloatArray
    columns: IntArray
    weights: FloatArray | None = None
    demand: FloatArray | None = None
    priority: FloatArray | None = None
    multiplicity: FloatArray | None = None

    def solve(self) -> MaxMin:
        return solve(
            self.capacity,
            self.columns,
            self.weights,
            self.demand,
            self.priority,
            self.multiplicity,
        )

    def problems(self, found: MaxMin) -> list[str]:
        listed = check(
            self.capacity,
            self.columns,
            self.weights,
            found.rates,
            found.bottleneck,
            demand=self.demand,
            priority=self.priority,
            multiplicity=self.multiplicity,
        )
        return [f"{p.kind} {p.index}: {p.text}" for p in listed]

    def exact(self) -> list[Fraction]:
        """The rates by the plain-loop reference, every member of an entry as a flow of its own."""
        n_links, (rows, n) = self.capacity.size, self.columns.shape
        members = [1] * n if self.multiplicity is None else [int(m) for m in self.multiplicity]
        flows: list[dict[Any, Fraction]] = []
        owner: list[int] = []
        for f in range(n):
            crossed: dict[Any, Fraction] = {}
            for e in range(rows):
                link = int(self.columns[e, f])
                weight = Fraction(1 if self.weights is None else float(self.weights[e, f]))
                if link < n_links:
                    crossed[link] = crossed.get(link, Fraction(0)) + weight
            flows += [crossed] * members[f]
            owner += [f] * members[f]
        dem = None
        if self.demand is not None:
            dem = [Fraction(d) if np.isfinite(d) else None for d in self.demand[owner].tolist()]
        phi = None
        if self.priority is not None:
            phi = [Fraction(p) for p in self.priority[owner].tolist()]
        caps = [Fraction(c) for c in self.capacity.tolist()]
        rates = slow_reference.maxmin(caps, flows, dem, phi)
        return [rates[owner.index(f)] for f in range(n)]


def system(case: dict[str, Any]) -> System:
    """An oracle case as arrays."""
    number = {name: i for i, name in enumerate(case["caps"])}
    flows = [{number[k]: float(Fraction(w)) for k, w in f.items()} for f in case["flows"]]
    rows = max(len(f) for f in flows)
    columns = np.full((rows, len(flows)), len(number))
    weights = np.ones((rows, len(flows)))
    for f, crossed in enumerate(flows):
        columns[: len(crossed), f] = list(crossed)
        weights[: len(crossed), f] = list(crossed.values())
    dem, phi = case["dem"], case["phi"]
    return System(
        np.array([float(Fraction(c)) for c in case["caps"].values()]),
        columns,
        weights,
        None
        if dem is None
        else np.array([np.inf if d is None else Fraction(d) for d in dem], float),
        None if phi is None else np.array([Fraction(p) for p in phi], float),
    )


def assert_rates(got: FloatArray, expected: list[Fraction], relative: float = 1e-12) -> None:
    for f, (rate, wanted) in enumerate(zip(got.tolist(), expected, strict=True)):
        assert abs(Fraction(rate) - wanted) <= Fraction(relative) * wanted, (f, rate, wanted)


small = st.integers(0, 6).map(float)
one_up = st.integers(1, 4).map(float)


@st.composite
def systems(draw: st.DrawFn, *, most: int = 7) -> System:
    """Small systems of whole numbers, many with ties, dead links and links named twice."""
    n_links, n_flows = draw(st.integers(1, 5)), draw(st.integers(1, most))
    rows = draw(st.integers(1, 4))
    link, shape = st.integers(0, n_links), (rows, n_flows)

    def array(of: st.SearchStrategy[Any], *shape: int) -> Any:
        size = int(np.prod(shape))
        return np.array(draw(st.lists(of, min_size=size, max_size=size))).reshape(shape)

    def maybe(of: st.SearchStrategy[Any], *shape: int) -> Any:
        return array(of, *shape) if draw(st.booleans()) else None

    s = System(
        array(st.integers(0, 12).map(float), n_links),
        array(link, *shape),
        maybe(st.integers(0, 3).map(float), *shape),
        maybe(st.one_of(small, st.just(np.inf)), n_flows),
        maybe(one_up, n_flows),
        maybe(one_up, n_flows),
    )
    free = np.isinf(s.solve().rates)
    wanted = np.full(n_flows, np.inf) if s.demand is None else s.demand
    return replace(s, demand=np.where(free, 3.0, wanted)) if free.any() else s


def hashed(n_leaves: int, n_nics: int, n_each: int, seed: int) -> System:
    """Flows of random permutations that each take one random cable up and one down."""
    random = np.random.default_rng(seed)
    n = n_leaves * n_nics
    source = np.tile(np.arange(n), n_each)
    target = np.concatenate([random.permutation(n) for _ in range(n_each)])
    up = source // n_nics * n_nics + random.integers(n_nics, size=source.size)
    down = target // n_nics * n_nics + random.integers(n_nics, size=source.size)
    columns = np.stack([source, n + up, 2 * n + down, 3 * n + target])
    return System(np.full(4 * n, 100.0), columns)
