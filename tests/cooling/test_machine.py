"""The clock of GPUs that draw less than they ask for."""

from __future__ import annotations

import numpy as np

from gbviz.cooling.machine import machine


def test_live_clocks_are_clocks() -> None:
    """Idle GPUs too, of which nothing may be divided by."""
    law = machine()
    own = np.array([1.0, 0.5, 1.0, 1.0, 0.25])[:, None]
    active = np.array([1.0, 1.0, 0.0, 0.3, 0.0])[:, None]
    asked = law.power_w(own, active)
    parts = np.linspace(0.0, 1.0, 7)
    drawn = law.idle_w + parts * (asked - law.idle_w)
    one, two, three = (np.broadcast_to(each, drawn.shape) for each in (own, active, asked))
    found = law.live_clock(own, active, asked, drawn)
    assert found.tobytes() == law.clock(one, two, three, drawn).tobytes()
    assert (found[:, -1:] == own).all()
    assert (found[0, 0], found[2, 0]) == (0.0, 1.0)
