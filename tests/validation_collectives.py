"""Published bus bandwidths against the collective formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gbviz.jobs.collectives import busbw, cost, flat_ring_rate, nvls_limits, two_tier
from tests.oracle_cases import cases
from tests.validation_lines import Line, fact

if TYPE_CHECKING:
    from gbviz.jobs.collectives import Op

# Below it, and with few GPUs, other limits than bandwidth rule; nothing is promised.
LEAST_BYTES = 4 * 2**30
# Rows that set a constant of their machine.
FIRST_ROWS = (
    "h200_16GiB_all_reduce_nvls",
    "h200_16GiB_all_reduce_ring",
    "b200_1n_8192MiB",
    "b200_nvls_8",
    "gb200_1rack_4294967296",
    "gb200_1rack_8589934592",
    "gb200_2rack_17179869184",
    "gb200_20rack_17179869184",
)
SMALL = "nothing is promised below 4 GiB"


def collective_lines() -> list[Line]:
    """All rows, in the order of the files; two of one that was measured with NVLS on and off."""
    lines: list[Line] = []
    for file in ("collectives_measured", "collectives_more"):
        for row in cases(file):
            lines += _lines(row)
    return lines


def _lines(row: dict[str, Any]) -> list[Line]:
    name, said, expected = row["id"], row["inputs"], row["expected"]
    if "unpredicted" in row:
        text = f"{name.partition('_')[0]} {said['n']} GPUs"
        value = expected["busbw_GBps"]
        return [Line(name, text, "busbw", value, None, None, "-", row["unpredicted"])]
    found = []
    for key, nvls in (("busbw_GBps", True), ("busbw_default", True), ("busbw_nvls_off", False)):
        if key in expected:
            ours, how = predicted(name, said, nvls=nvls)
            size = said["S_bytes"]
            text = f"{name.partition('_')[0]} {said['n']} GPUs {size / 2**20:.0f} MiB, {how}"
            # The 680 GB/s of B200 rings summarise the rings of these rows.
            fitted = name in FIRST_ROWS or (how == "ring" and name.startswith("b200_nvls"))
            found.append(
                Line(
                    row=name,
                    inputs=text,
                    metric=key.removesuffix("_GBps"),
                    published=expected[key],
                    ours=ours,
                    tolerance=row["tolerance"],
                    sample="in" if fitted else "out",
                    why=SMALL,
                    promised=size >= LEAST_BYTES,
                )
            )
    return found


def predicted(name: str, said: dict[str, Any], *, nvls: bool) -> tuple[float, str]:
    """Bus bandwidth, and by which algorithm: what NCCL chooses on such a machine.

    In one domain the switches reduce from six GPUs on, else a ring. Racks of 72, and two nodes of
    eight (where NCCL's tuner doubles a tree's network rate), are hierarchical; more nodes of eight
    form rings through all ranks.
    """
    machine, n, size = name.partition("_")[0], said["n"], float(said["S_bytes"])
    op: Op = "all_gather" if "all_gather" in said.get("op", "") else "all_reduce"
    ring, nvlink_alpha = fact(machine, "ring_GBps"), fact("model", "alpha_nvlink_s")
    nic_alpha = fact("model", "alpha_network_s")
    g = 4 if "ib_only" in name else int(fact(machine, "domain_gpus"))
    # The GB300 of that row has 400 Gb/s NICs.
    line = 50.0 if "ib_only" in name else fact(machine, "nic_GBps")
    nic = line * fact(machine, "nic_efficiency")
    if n > g and (g == 72 or n == 2 * g):
        k = n // g
        eta = fact("model", f"eta_x_{k}_racks" if g == 72 else "eta_x")
        rate = nvls_limits(g, fact(machine, "nvls_wire_GBps"))[1]
        both = two_tier(
            "all_reduce",
            g,
            k,
            size,
            rate,
            nic,
            eta_x=eta,
            alpha_nvlink_s=nvlink_alpha,
            alpha_ib_s=nic_alpha,
        )
        return busbw("all_reduce", n, size, both.overlap_s), f"hierarchical, eta_x {eta:g}"
    if n > g:
        alpha = ((n - n // g) * nvlink_alpha + n // g * nic_alpha) / n
        rate = flat_ring_rate(g, n // g, ring, nic)
        return busbw("all_reduce", n, size, cost("all_reduce", n, size).time_s(alpha, rate)), "ring"
    enough = n >= fact("model", "nvls_least_gpus")
    if nvls and enough and op == "all_reduce" and said.get("op") != "all_reduce_ring":
        wire, alpha = fact(machine, "nvls_wire_GBps"), fact("model", "alpha_nvls_s")
        took = cost("all_reduce", n, size, "nvls").time_s(alpha, wire)
        return busbw("all_reduce", n, size, took), "nvls"
    took = cost(op, n, size, "ring").time_s(nvlink_alpha, ring)
    return busbw(op, n, size, took), "ring"
