from __future__ import annotations

import numpy as np

import gbviz
from gbviz.engine import loads
from gbviz.scenario.demo import demo


def test_the_demo_runs_and_is_worth_looking_at() -> None:
    scenario = demo()
    assert scenario.description
    assert not scenario.events
    snapshot = gbviz.evaluate(scenario)
    assert [job.state for job in snapshot.jobs] == ["running"] * len(scenario.jobs)
    found = loads(snapshot)
    free = (found.job_of_gpu.reshape(64, -1) < 0).all(axis=1)
    assert np.flatnonzero(free).tolist() == [32, 33, 62, 63]
    # Neither a wall of one colour nor a single busy corner.
    cells = np.histogram(found.utilisation(1), bins=[0.0, 0.01, 0.2, 0.4, 1.0])[0]
    assert (cells > found.utilisation(1).size * 0.1).all()
