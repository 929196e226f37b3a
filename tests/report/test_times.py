"""Durations and times of day as people read them, short and very long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.report.timeline import clock
from gbviz.units import lasting


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (9.96, "10 s"),
        (3599.7, "1 h"),
        (86399.6, "1 d"),
        (109500 * 86400.0, "109,500 d"),
        (1e10, "115,740 d 17 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert lasting(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59.9999, "0:01:00"),
        (3599.9999, "1:00:00"),
        (86399.9999, "1d 0:00:00"),
        (1e10, "115,740d 17:46:40"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@given(st.floats(0, 1e10))
def test_a_time_is_what_it_says(seconds: float) -> None:
    days, _, rest = clock(seconds).rpartition("d ")
    hour, minute, second = rest.split(":")
    assert int(hour) < 24
    assert int(minute) < 60
    assert float(second) < 60
    whole = int(days.replace(",", "") or 0) * 86400 + int(hour) * 3600 + int(minute) * 60
    assert whole + float(second) == pytest.approx(seconds, abs=0.00051, rel=1e-12)
