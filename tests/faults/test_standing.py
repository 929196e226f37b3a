"""Faults by component and by what they are on, against a plain look at all of them."""

from __future__ import annotations

import random

import pytest

from gbviz.errors import InputError
from gbviz.faults import Action, Fault, resolve
from gbviz.faults.actions import follow
from gbviz.faults.standing import Standing
from gbviz.topology import build, cluster_spec
from gbviz.topology.selectors import Part, select

EIGHT = build(cluster_spec(racks=8))
SELECTORS = (
    "leaf-0~spine-1",
    "leaf-0~spine-1#0",
    "leaf-0>spine-1",
    "leaf-0~*",
    "leaf-0/cage-37",
    "spine-[1-2]",
    "spine-1",
    "rack-0",
    "rack-0/tray-[0-2]",
    "rack-0/tray-1",
)


def on_parts(faults: tuple[Fault, ...], parts: list[Part]) -> list[Fault]:
    """`Standing.touching` by looking at every fault."""
    nodes = {node for part in parts for node in part.nodes}
    links = {link for part in parts for link in part.links}
    return [f for f in faults if nodes & set(f.nodes) or links & set(f.links)]


@pytest.mark.parametrize("seed", range(6))
def test_touching_is_what_a_look_at_all_finds(seed: int) -> None:
    rng = random.Random(seed)
    standing = Standing()
    for _ in range(120):
        verb = rng.choice(["fail", "fail", "repair", "degrade"])
        selector = rng.choice(SELECTORS if verb != "degrade" else SELECTORS[:4])
        action = Action(verb, selector, 0.5)  # type: ignore[arg-type]
        if verb == "repair" and not on_parts(standing.faults, select(EIGHT, selector)):
            with pytest.raises(InputError, match="no fault to repair"):
                follow(EIGHT, standing, [action])
        else:
            follow(EIGHT, standing, [action])
        if rng.random() < 0.02:
            follow(EIGHT, standing, [Action("restore")])
            assert standing.faults == ()
        for asked in rng.sample(SELECTORS, 3):
            parts = select(EIGHT, asked)
            assert standing.touching(parts) == on_parts(standing.faults, parts)


def test_action_after_action_is_all_at_once() -> None:
    actions = [
        Action("fail", "leaf-0~spine-1"),
        Action("fail", "spine-2"),
        Action("repair", "leaf-0~spine-1#1"),
        Action("degrade", "leaf-0~spine-1#0", 0.5),
        Action("fail", "leaf-0~*"),
        Action("repair", "leaf-0>spine-0#0"),
    ]
    standing = Standing()
    for action in actions:
        follow(EIGHT, standing, [action])
    assert standing.faults == resolve(EIGHT, actions)
    assert standing.faults == resolve(EIGHT, actions[3:], resolve(EIGHT, actions[:3]))


def test_a_fault_put_again_keeps_its_age() -> None:
    one, two = (Fault(name, "spine", 0.0, (n,), ()) for n, name in enumerate("ab"))
    again = Fault("a", "spine", 0.5, (5,), ())
    standing = Standing([one, two])
    part = Part("x", "spine", (0, 1, 5))
    assert standing.touching([part]) == [one, two]
    standing.put(again)
    assert standing.faults == (again, two)
    assert standing.touching([part]) == [again, two]
    assert standing.touching([Part("x", "spine", (0,))]) == []
    standing.drop("a")
    standing.put(one)
    assert standing.touching([part]) == [two, one]
    assert standing.on("c") is None
