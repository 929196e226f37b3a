"""Failure rates, against `oracles/reliability_checkpoint.json`."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.faults import rates
from gbviz.faults.rates import Observed, repairs
from tests.oracle_cases import ORACLES, agrees, exact

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = "reliability_checkpoint"


def llama(inputs: dict[str, Any]) -> dict[str, float]:
    seen = Observed(inputs["count"], inputs["gpus"], inputs["days"])
    return {
        "mtbf_gpu_hours": seen.mtbf_h,
        "rate_per_gpu_year": seen.per_year(inputs["days_per_year"]),
    }


def job(inputs: dict[str, Any]) -> float:
    return Observed(inputs["failures"], 16_384, inputs["days"]).all_mtbf_h


def per_1000(inputs: dict[str, Any]) -> float:
    return Observed(inputs["failures"], inputs["nodes"], inputs["days"]).per_1000_days


def rsc1(inputs: dict[str, Any]) -> float:
    nodes = inputs["gpus"] / inputs["gpus_per_node"]
    return rates.mtbf_from_rate_h(nodes * inputs["r_per_1000_node_day"], days=1000)


def databricks(inputs: dict[str, Any]) -> float:
    years = inputs["days"] / inputs["days_per_year"]
    return rates.chance_of_failure(inputs["afr"] * inputs["gpus"] * years)


def links(inputs: dict[str, Any]) -> float:
    hours = inputs["mtbf_years"] * inputs["days_per_year"] * 24
    return 60 * rates.mtbf_of_many_h(hours, inputs["links"])


def hpn(inputs: dict[str, Any]) -> dict[str, float]:
    hours = rates.rate_from_share_h(inputs["monthly"], inputs["hours_per_month"])
    surviving = (1 - inputs["monthly"]) ** 12
    return {"afr": 1 - surviving, "mtbf_h": hours}


def ms_switch(inputs: dict[str, Any]) -> dict[str, float]:
    hours = rates.mtbf_from_chance_h(inputs["p_fail_3mo"], inputs["hours_per_quarter"])
    return {"afr": rates.afr(hours), "mtbf_h": hours}


def delta(inputs: dict[str, Any]) -> dict[str, float]:
    year = 24 * inputs["days_per_year"]
    return {"events_per_gpu_year": year / rates.mtbf_of_many_h(inputs["mtbe_h"], 1)}


def kofn(inputs: dict[str, Any]) -> float:
    return rates.k_of_n(inputs["n"], inputs["k"], inputs["unit_availability"])


def poisson(inputs: dict[str, Any]) -> dict[str, float]:
    seen = Observed(inputs["count"], 1, inputs["days"])
    return {"rate_per_day": seen.per_day, "rel_sd": seen.relative_deviation}


def hbd(inputs: dict[str, Any]) -> dict[str, float]:
    seen = Observed(inputs["count"], inputs["servers"], inputs["days"])
    a_year = seen.per_year(inputs["days_per_year"])
    return {"per_server_year": a_year, "per_gpu_or_nic_year_if_8": a_year / 8}


def trace(what: str = "") -> list[dict[str, object]]:
    """The faults of the InfiniteHBD trace, or those of one class."""
    with (ORACLES / "infinitehbd_trace.csv").open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [
            {
                "node": row["node"],
                "fault": (row["level"], row["class"], row["fault"]),
                "day": row["day"],
                "start": row["start"] == "1",
            }
            for row in rows
            if what in ("", row["class"])
        ]


FAMILIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "llama3_t5_": llama,
    "llama3_job_": job,
    "llama3_per_1000": per_1000,
    "rsc1_mttf_16384": rsc1,
    "databricks_": databricks,
    "links_100k": links,
    "hpn_link": hpn,
    "ms_switch": ms_switch,
    "delta_": delta,
    "kofn_": kofn,
    "poisson_": poisson,
    "infinitehbd_gpu": hbd,
    "infinitehbd_nic": hbd,
    "infinitehbd_motherboard": hbd,
    "infinitehbd_total": hbd,
}


@pytest.mark.parametrize("case", exact(FILE, *FAMILIES), ids=lambda case: case["id"])
def test_oracle(case: dict[str, Any]) -> None:
    law = next(law for start, law in FAMILIES.items() if case["id"].startswith(start))
    assert agrees(case, law(case["inputs"]))


def test_repair_times_of_a_trace() -> None:
    found = repairs(trace())
    (case,) = exact(FILE, "infinitehbd_repair_all")
    assert (len(found.hours), found.open) == (case["inputs"]["events"], 0)
    got = {
        "median_h": found.median_h,
        "mean_h": found.mean_h,
        "unavailable_fraction": rates.unavailable(found.hours, 400, 348.9798),
        "per_1000_node_days": Observed(len(found.hours), 400, 348.9798).per_1000_days,
    }
    assert agrees(case, got)
    cables = repairs(trace("Parameter Plane Cable"))
    (case,) = exact(FILE, "infinitehbd_repair_cable")
    assert len(cables.hours) == case["inputs"]["events"]
    assert agrees(case, {"median_h": cables.median_h, "mean_h": cables.mean_h})


def test_every_exact_case_is_tested() -> None:
    here = exact(FILE, *FAMILIES, "infinitehbd_repair_")
    elsewhere = exact(FILE, "ckpt_", "ettr_")
    assert len(here) + len(elsewhere) == len(exact(FILE))


def test_nothing_seen_is_no_rate() -> None:
    seen = Observed(0, 100, 10)
    assert seen.mtbf_h == seen.all_mtbf_h == seen.relative_deviation == math.inf
    assert (seen.per_year(), seen.per_day, seen.per_1000_days) == (0, 0, 0)
    assert math.isnan(repairs([]).mean_h)
    assert math.isnan(repairs([]).median_h)


@given(st.integers(0, 60), st.data(), st.floats(0, 1))
def test_both_tails_of_k_of_n_agree(n: int, data: st.DataObject, up: float) -> None:
    k = data.draw(st.integers(0, n))
    enough = rates.k_of_n(n, k, up)
    too_few = sum(math.comb(n, i) * up**i * (1 - up) ** (n - i) for i in range(k))
    assert 0 <= enough <= 1
    assert enough == pytest.approx(1 - too_few, abs=1e-12)


@given(st.floats(1e-9, 0.999), st.floats(1, 1e5))
def test_a_chance_and_its_mean_time_undo_each_other(chance: float, hours: float) -> None:
    assert rates.afr(rates.mtbf_from_chance_h(chance, hours), hours) == pytest.approx(chance)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Observed(-1, 1, 1),
        lambda: Observed(math.nan, 1, 1),
        lambda: Observed(1, 0, 1),
        lambda: Observed(1, 1, math.nan),
        lambda: rates.mtbf_of_many_h(0, 1),
        lambda: rates.mtbf_from_rate_h(-2),
        lambda: rates.mtbf_from_chance_h(1.0, 1),
        lambda: rates.mtbf_from_chance_h(math.nan, 1),
        lambda: rates.chance_of_failure(math.nan),
        lambda: rates.k_of_n(3, 4, 0.5),
        lambda: rates.k_of_n(3, 1, 1.5),
        lambda: rates.k_of_n(3, 1, math.nan),
        lambda: rates.unavailable([1.0], 0, 1),
        lambda: repairs([{"node": 1, "fault": "", "day": 1.0, "start": False}]),
        lambda: repairs([{"node": 1, "fault": "", "day": math.nan, "start": True}]),
        lambda: repairs([{"node": 1, "fault": "", "day": day, "start": True} for day in (2, 1)]),
    ],
)
def test_numbers_that_cannot_be_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        call()
