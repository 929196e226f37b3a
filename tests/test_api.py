"""What `import gbviz` gives to Python."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import gbviz
from tests.cli import spawn

ROOT = Path(__file__).parent.parent

GRAPHICAL = ("PySide6", "pyqtgraph", "matplotlib", "scipy", "pandas")
BLOCKED = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {GRAPHICAL!r}:
            raise ImportError(name + " is blocked")
sys.meta_path.insert(0, Blocker())
from gbviz.cli.main import run
for words in (
    ["whatif", "--fail", "leaf-20", "--traffic", "permutation"],
    ["whatif", "--routing", "ecmp", "--fail", "spine-3", "--json"],
    ["info", "gb300-27k", "--facts"],
    ["presets"],
):
    assert run(words) == 0, words
import gbviz
gbviz.evaluate(gbviz.preset("gb300-su")).to_networkx()
assert not set({GRAPHICAL!r}) & set(sys.modules)
"""


def test_all_works_without_anything_graphical_or_heavy() -> None:
    ran = spawn(code=BLOCKED)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_every_name_is_there() -> None:
    assert dir(gbviz) == gbviz.__all__ == sorted(gbviz.__all__)
    for name in gbviz.__all__:
        assert getattr(gbviz, name) is not None
        assert name == "__version__" or inspect.getdoc(getattr(gbviz, name))


def test_a_name_that_is_none() -> None:
    with pytest.raises(AttributeError, match="module 'gbviz' has no attribute 'nothing'"):
        gbviz.nothing  # noqa: B018


def test_importing_it_loads_nothing_else() -> None:
    code = "import gbviz, sys; sys.exit(bool({'numpy', 'pydantic', 'click'} & set(sys.modules)))"
    assert spawn(code=code).returncode == 0


def test_the_version_is_that_of_the_project() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == gbviz.__version__


def test_a_question_in_python() -> None:
    scenario = gbviz.preset("azure-gb300").with_faults("spine-3", "leaf-0~spine-7#1")
    found = gbviz.evaluate(scenario.with_jobs(gbviz.traffic_job("permutation")))
    assert isinstance(found, gbviz.Snapshot)
    assert isinstance(found.base, gbviz.Metrics)
    assert found.scenario.name == "azure-gb300"
    # 2 cables to each of 36 spines: the first half of 32 leaves loses 64 of 2,304, and one more.
    assert found.base.bisection_GBps == 230_400
    assert found.post.bisection_GBps == 230_400 - 6_400 - 100
    assert [fault.component for fault in found.faults] == ["spine-3", "leaf-0~spine-7#1"]
    assert found.jobs[0].state in ("running", "degraded")
    assert found.problems == ()


def test_the_damaged_fabric_as_a_graph() -> None:
    found = gbviz.evaluate(gbviz.preset("gb300-su").with_faults("spine-3"))
    graph = found.to_networkx()
    assert graph.has_edge("leaf-0", "spine-2")
    assert not graph.has_edge("leaf-0", "spine-3")


def test_results_cannot_be_changed() -> None:
    found = gbviz.evaluate(gbviz.preset("gb300-su").with_faults("leaf-0"))
    capacity = found.fabric.tiers[0].capacity
    assert isinstance(capacity, np.ndarray)
    with pytest.raises(ValueError, match="read-only"):
        capacity[0] = 0
    with pytest.raises(AttributeError):
        found.post = found.base  # type: ignore[misc]


def test_one_question_does_not_change_the_next() -> None:
    healthy = gbviz.evaluate(gbviz.preset("gb300-su")).post
    gbviz.evaluate(gbviz.preset("gb300-su").with_faults("*"))
    assert gbviz.evaluate(gbviz.preset("gb300-su")).post == healthy


def test_mistakes_are_one_family_of_errors() -> None:
    for scenario in (
        gbviz.preset("gb300-su").with_faults("spine-99"),
        gbviz.preset("gb300-su").with_faults(degrade={"hxu-0": 2.0}),
        gbviz.preset("gb300-su").with_faults(degrade={"hxu-0": float("nan")}),
        gbviz.preset("gb300-su").with_repairs("spine-0"),
        gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:0")),
        gbviz.preset("gb300-su", radix=2),
    ):
        with pytest.raises(gbviz.InputError):
            gbviz.evaluate(scenario)
    assert issubclass(gbviz.InputError, gbviz.GbvizError)
    assert issubclass(gbviz.FabricError, gbviz.GbvizError)


def test_the_example_in_the_readme_holds() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    values: dict[str, object] = {}
    exec(compile(ast.parse(code), "README.md", "exec"), values)
    found = values["found"]
    assert isinstance(found, gbviz.Snapshot)
    assert found.post.all_to_all_GBps_per_gpu == 75
