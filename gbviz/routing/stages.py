"""A fat tree's live capacity as small dense stages, spines of equal state taken together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Fabric, Floats, Ints
    from gbviz.topology.health import Health
    from gbviz.topology.sizing import FatTree


# Numbers in an array that counts as small.
_FEW = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """The bundles of one stage in both directions; arrays that are equal may be one array.

    Parameters
    ----------
    up, down
        GB/s that the bundle takes under the routing mode. Spread in proportion to capacity this
        is the sum over its cables; spread evenly, the number of live cables times the slowest.
    up_share, down_share
        What the mode splits by: capacity, or the number of live cables.
    """

    up: Floats
    down: Floats
    up_share: Floats
    down_share: Floats

    def take(self, index: Ints, axis: int) -> Bundles:
        """The same bundles for a selection along one axis."""
        return Bundles(*each_once(self.arrays(), lambda array: array.take(index, axis)))

    def arrays(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The four arrays."""
        return self.up, self.down, self.up_share, self.down_share


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """What each tier of a fat tree can carry, for one health and one way to split.

    Spines at positions whose links have equal state to every leaf and core are one class: 1 class
    in a healthy tree, at most one more for each fault. Within a class all carry the same.

    Parameters
    ----------
    even
        True splits evenly over cables (`spray`), False in proportion to capacity (`adaptive`).
    nic_up, nic_down
        (n_nics,) GB/s from and to each NIC.
    position_class
        (S,) class of each spine position of a pod.
    spines
        (K,) spine positions in each class.
    leaf
        Leaf-spine bundles, (leaves, K) in each array, for one spine of the class. Rows of leaves
        that the last pod does not have are 0.
    core_owner, cores
        (E,) spine class and number of cores of each core class; empty in two tiers.
    core_class
        (K, C) core class of each core of a group.
    core
        Spine-core bundles (pods, E), for one spine and one core of the class.
    """

    shape: FatTree
    even: bool
    nic_up: Floats
    nic_down: Floats
    position_class: Ints
    spines: Floats
    leaf: Bundles
    core_owner: Ints
    cores: Floats
    core_class: Ints
    core: Bundles

    @property
    def n_classes(self) -> int:
        """K, classes of spine positions."""
        return len(self.spines)

    @property
    def live_classes(self) -> Ints:
        """The classes that carry anything: not those of dead spines."""
        return np.flatnonzero(self.leaf.up_share.any(axis=0) & self.leaf.down_share.any(axis=0))

    def between_pods(self) -> Floats:
        """(pods, pods, K) what one spine of a class carries from pod to pod; inf within a pod."""
        pods, K = self.shape.pods, self.n_classes
        reach = np.full((pods, pods, K), np.inf)
        if len(self.cores):
            rise, fall = self.core.up_share[:, None, :], self.core.down_share[None, :, :]
            path = np.where(fall > 0, rise, 0.0) if self.even else np.minimum(rise, fall)
            ends = np.flatnonzero(np.diff(self.core_owner, prepend=-1))
            reach = np.add.reduceat(path * self.cores, ends, axis=2)
            reach[np.arange(pods), np.arange(pods)] = np.inf
        return reach


def stages(fabric: Fabric, health: Health, mode: Mode) -> Stages:
    """The stages of a fat tree under one health.

    Parameters
    ----------
    fabric
        A built fat tree of two or three tiers.
    health
        Its health.
    mode
        `spray` splits evenly; all others are prepared as `adaptive`.

    Notes
    -----
    Cost: a few passes over the cables, and one comparison of columns for each class.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> from gbviz.topology.health import healthy
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> whole = stages(fabric, healthy(fabric), "adaptive")
    >>> whole.n_classes, float(whole.leaf.up[0, 0])  # two cables of 100 GB/s to each spine
    (1, 200.0)
    """
    shape = fabric.shape
    assert shape is not None
    even = mode == "spray"
    nics = health.ways(fabric, 0)
    nic_up = nic_down = nics[0]
    if len(nics) > 1:
        nic_down = nics[1]
    rows = shape.pods * shape.leaves_per_pod
    leaf = _bundles(health.ways(fabric, 1), (shape.leaves, shape.spines_per_pod), even, rows)
    pods, S, C = shape.pods, shape.spines_per_pod, shape.cores_per_group
    if C:
        core = _bundles(health.ways(fabric, 2), (pods * S, C), even, pods * S)
        core = Bundles(*each_once(core.arrays(), lambda array: array.reshape(pods, S, C)))
    else:
        core = Bundles(*[np.zeros((pods, S, 0))] * 4)
    columns = [*leaf.arrays(), *each_once(core.arrays(), _last)]
    position_class, first = group_columns(columns)
    spines = np.bincount(position_class).astype(np.float64)
    owner, cores, core_class, chosen = _core_classes(core, first)
    return Stages(
        shape,
        even,
        nic_up,
        nic_down,
        position_class,
        spines,
        leaf.take(first, 1),
        owner,
        cores,
        core_class,
        chosen,
    )


def _last(array: Floats) -> Floats:
    """(pods, S, C) as (pods * C, S): a column for each spine position."""
    return array.transpose(0, 2, 1).reshape(-1, array.shape[1])


def _bundles(ways: Floats, bundles: tuple[int, int], even: bool, rows: int) -> Bundles:
    """Cables of both ways, or of one that stands for both, (2 or 1, n) as bundles (rows, upper).

    `bundles` (n, upper) are there, of as many parallel cables as that makes; missing rows are 0.
    """
    found = []
    for way in ways:
        cables = np.moveaxis(way.reshape(*bundles, -1), 2, 0)
        if not even:
            total = _padded(sum_first(cables), rows)
            found.append((total, total))
            continue
        live = sum_first((cables > 0).astype(float))
        slowest = np.where(cables > 0, cables, np.inf).min(axis=0)
        usable = np.where(live > 0, live * np.where(live > 0, slowest, 0.0), 0.0)
        found.append((_padded(usable, rows), _padded(live, rows)))
    (up, up_share), (down, down_share) = found[0], found[-1]
    return Bundles(up, down, up_share, down_share)


def sum_first(parallel: Floats) -> Floats:
    """The sum over the first axis, which is short: `numpy.sum` takes far longer there."""
    total: Floats = parallel[0].copy()
    for some in parallel[1:]:
        total += some
    return total


def each_once(arrays: Sequence[Floats], change: Callable[[Floats], Floats]) -> list[Floats]:
    """Arrays after a change, which one that comes several times undergoes once."""
    done = {id(array): change(array) for array in {id(a): a for a in arrays}.values()}
    return [done[id(array)] for array in arrays]


def _padded(array: Floats, rows: int) -> Floats:
    missing = rows - len(array)
    return np.pad(array, ((0, missing), (0, 0))) if missing else array


def group_columns(arrays: list[Floats]) -> tuple[Ints, Ints]:
    """Columns that are equal in every array, as classes in order of first appearance.

    Parameters
    ----------
    arrays
        Each (any, n): the same number of columns.

    Returns
    -------
    classes, first
        (n,) class of each column; (K,) first column of each class.

    Examples
    --------
    >>> classes, first = group_columns([np.array([[1.0, 2.0, 1.0]])])
    >>> classes.tolist(), first.tolist()
    ([0, 1, 0], [0, 1])
    """
    arrays = list({id(array): array for array in arrays}.values())
    rows, n = sum(len(array) for array in arrays), arrays[0].shape[1]
    if rows * n <= _FEW:
        return _group_few(np.concatenate(arrays))
    if n > rows:
        return _group_many(np.concatenate(arrays))
    classes = np.zeros(n, dtype=np.int64)
    left = np.arange(n)
    first: list[int] = []
    while len(left):
        same = np.ones(len(left), dtype=bool)
        for array in arrays:
            # At first all columns are left, and need not be copied.
            some = array[:, left] if first else array
            same &= (some == some[:, :1]).all(axis=0)
        classes[left[same]] = len(first)
        first.append(int(left[0]))
        left = left[~same]
    return classes, np.array(first, dtype=np.int64)


def _group_few(array: Floats) -> tuple[Ints, Ints]:
    """`group_columns` for an array so small that looking its columns up beats everything else."""
    columns = np.ascontiguousarray(array.T + 0.0)  # + 0.0: no column may differ by a sign of zero
    width, packed = columns.itemsize * columns.shape[1], columns.tobytes()
    found: dict[bytes, int] = {}
    first: list[int] = []
    classes = np.zeros(len(columns), dtype=np.int64)
    for number in range(len(columns)):
        one = packed[number * width : (number + 1) * width]
        classes[number] = found.setdefault(one, len(first))
        if len(found) > len(first):
            first.append(number)
    return classes, np.array(first, dtype=np.int64)


def _group_many(array: Floats) -> tuple[Ints, Ints]:
    """`group_columns` for more columns than rows: sorting beats comparing class by class."""
    columns = np.ascontiguousarray(array.T + 0.0)  # + 0.0: no column may differ by a sign of zero
    packed = columns.view(f"V{columns.itemsize * columns.shape[1]}").reshape(-1)
    _, first, classes = np.unique(packed, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[classes], first[order]


def _core_classes(core: Bundles, first: Ints) -> tuple[Ints, Floats, Ints, Bundles]:
    """Cores of each spine class's group, equal ones taken together."""
    owner: list[int] = []
    cores: list[float] = []
    spot: list[tuple[int, int]] = []
    core_class = np.zeros((len(first), core.up.shape[2]), dtype=np.int64)
    if core.up.shape[2]:
        for number, position in enumerate(first.tolist()):
            one = [array[:, position, :] for array in core.arrays()]
            classes, heads = group_columns(one)
            core_class[number] = classes + len(owner)
            owner += [number] * len(heads)
            cores += np.bincount(classes).astype(float).tolist()
            spot += [(position, head) for head in heads.tolist()]
    at = np.array(spot, dtype=np.int64).reshape(-1, 2)
    chosen = Bundles(*each_once(core.arrays(), lambda array: array[:, at[:, 0], at[:, 1]]))
    return np.array(owner, dtype=np.int64), np.array(cores), core_class, chosen
