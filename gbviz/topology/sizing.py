"""How many leaves, spines and cores a cluster needs, and how they are cabled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.errors import InputError

if TYPE_CHECKING:
    from gbviz.topology.spec import ClusterSpec


@dataclass(frozen=True, slots=True)
class FatTree:
    """The shape of a rail-optimised fat tree of two or three tiers.

    A two-tier tree is one pod without cores. Leaf ``l`` of a pod has ``m`` cables to each of the
    pod's spines; spine ``i`` of every pod has ``q`` cables to each of the ``cores_per_group``
    cores of core group ``i``.
    """

    rails: int
    racks_per_group: int
    leaves: int
    pods: int
    leaves_per_pod: int
    spines_per_pod: int
    m: int
    cores_per_group: int
    q: int
    down_ports: int
    uplinks: int
    radix: int

    @property
    def spines(self) -> int:
        """Spines in the fabric."""
        return self.pods * self.spines_per_pod

    @property
    def cores(self) -> int:
        """Cores in the fabric, 0 in a two-tier tree."""
        return self.spines_per_pod * self.cores_per_group

    @property
    def tiers(self) -> int:
        """2, or 3 with cores."""
        return 3 if self.cores_per_group else 2


def fat_tree(spec: ClusterSpec) -> FatTree:
    """The shape that the wiring rules give for a spec.

    Two tiers where they fit: the number of spines is the smallest divisor of the uplinks whose
    ports suffice, S >= uplinks x leaves / radix. Above that, pods and core groups (spine i of
    every pod to core group i). The pod is the largest that divides the leaves evenly among the
    divisors of the uplinks from a third of them on; where none does, the smallest of those, with
    the last pod partly filled.

    Raises
    ------
    InputError
        The radix is too small, or the stated parts do not fit each other.

    References
    ----------
    NVIDIA DGX SuperPOD B300 XDR reference architecture (RA-11339-001), table of scalable units.

    Examples
    --------
    64 racks x 72 NICs on leaves of 72 down ports: 64 leaves. 64 x 72 / 144 = 32 spines at least;
    the next divisor of 72 is 36, so 2 cables a pair.

    >>> from gbviz.topology.spec import ClusterSpec
    >>> shape = fat_tree(ClusterSpec(racks=64))
    >>> shape.leaves, shape.spines, shape.m, shape.tiers
    (64, 36, 2, 2)
    >>> shape = fat_tree(ClusterSpec(racks=384))
    >>> shape.leaves, shape.spines, shape.cores, shape.pods
    (384, 384, 192, 16)
    """
    _check_parts(spec)
    if spec.spines is not None and spec.leaves_per_pod is not None:
        raise InputError(
            "cannot be stated together with leaves_per_pod",
            where="spines",
            hint="spines are for two tiers, pods for three",
        )
    racks_per_group = spec.down_ports // spec.trays_per_rack
    groups = -(-spec.racks // racks_per_group)
    leaves = groups * spec.gpus_per_tray
    common = (spec.gpus_per_tray, racks_per_group, leaves)
    tail = (spec.down_ports, spec.uplinks, spec.radix)
    spines = _spines(spec, leaves)
    if spines is not None:
        return FatTree(*common, 1, leaves, spines, spec.uplinks // spines, 0, 0, *tail)
    if 2 * spec.uplinks > spec.radix:
        raise InputError(
            f"a third tier needs spines with {spec.uplinks} ports down and as many up, and they"
            f" have {spec.radix}",
            where="uplinks_per_leaf",
            hint=f"use at most {spec.radix // 2}",
        )
    per_pod, cores = _pod(spec, leaves)
    pods = -(-leaves // per_pod)
    m, q = spec.uplinks // per_pod, spec.uplinks // cores
    return FatTree(*common, pods, per_pod, per_pod, m, cores, q, *tail)


def _check_parts(spec: ClusterSpec) -> None:
    for field in ("trays_per_rack", "gpus_per_tray", "radix"):
        if not 1 <= getattr(spec, field) <= 4096:
            raise InputError(f"must be from 1 to 4096 (got {getattr(spec, field)})", where=field)
    if spec.down_ports < spec.trays_per_rack:
        raise InputError(
            f"a switch of radix {spec.radix} is too small: a leaf has {spec.down_ports} down port"
            f"{'s' if spec.down_ports != 1 else ''},"
            f" and a rack needs {spec.trays_per_rack} on each rail",
            where="radix",
            hint=f"use a radix of at least {2 * spec.trays_per_rack}",
        )
    if spec.uplinks > spec.radix - spec.down_ports:
        raise InputError(
            f"a leaf of radix {spec.radix} has {spec.radix - spec.down_ports} ports left for"
            f" uplinks (got {spec.uplinks})",
            where="uplinks_per_leaf",
        )


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def _spines(spec: ClusterSpec, leaves: int) -> int | None:
    """Spines of a two-tier tree, None where three tiers are needed."""
    fits = [s for s in _divisors(spec.uplinks) if spec.uplinks // s * leaves <= spec.radix]
    if spec.spines is None:
        return fits[0] if fits and spec.leaves_per_pod is None else None
    if spec.spines not in fits:
        raise InputError(
            f"{leaves} leaves with {spec.uplinks} uplinks cannot share {spec.spines} spines of"
            f" radix {spec.radix} evenly",
            where="spines",
            hint=f"choose one of {fits}" if fits else "leave it out: three tiers are needed",
        )
    return spec.spines


def _pod(spec: ClusterSpec, leaves: int) -> tuple[int, int]:
    """Leaves of a pod and cores of a core group in a three-tier tree."""
    sizes = [k for k in _divisors(spec.uplinks) if k % spec.gpus_per_tray == 0]
    fits = {k: c for k in sizes if (c := _cores(spec, -(-leaves // k)))}
    found = {k: c for k, c in fits.items() if 3 * k >= spec.uplinks}
    if spec.leaves_per_pod is not None:
        found = {k: c for k, c in fits.items() if k == spec.leaves_per_pod}
    if not found:
        raise InputError(
            f"{leaves} leaves with {spec.uplinks} uplinks do not fit into three tiers of radix"
            f" {spec.radix} switches" + (" with that pod" if spec.leaves_per_pod else ""),
            where="leaves_per_pod" if spec.leaves_per_pod else "racks",
            hint=f"choose one of {list(fits)}"
            if fits and spec.leaves_per_pod
            else "use fewer racks, a larger radix, or uplinks with more divisors",
        )
    even = [k for k in found if leaves % k == 0]
    per_pod = max(even) if even else min(found)
    return per_pod, found[per_pod]


def _cores(spec: ClusterSpec, pods: int) -> int:
    """Cores of one group: the fewest whose ports take every pod's cables; 0 where none do."""
    fits = (c for c in _divisors(spec.uplinks) if spec.uplinks // c * pods <= spec.radix)
    return next(fits, 0)
