"""Where every value of a YAML text begins and ends, for changes that leave the rest alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from gbviz.scenario.strict import Refusals
from gbviz.scenario.yaml_subset import events_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class Node:
    """One value.

    Parameters
    ----------
    start, end
        Where its text begins and ends, without comments and blank lines after it.
    is_flow
        True for what stands in brackets and for scalars.
    entries
        Keys and values of a mapping.
    items
        Values of a list.
    key
        The text of a scalar.
    """

    start: int
    end: int
    is_flow: bool = True
    entries: list[tuple[Node, Node]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    key: str = ""


def tree(text: str) -> Node:
    """The places of all values in a text that `load_yaml` accepts."""
    kinds = yaml.NodeEvent | yaml.CollectionEndEvent
    events = (event for event in events_of(text, Refusals("")) if isinstance(event, kinds))
    return _node(next(events), events, text)


def _node(event: Any, events: Iterator[Any], text: str) -> Node:
    start: int = event.start_mark.index
    end: int = event.end_mark.index
    if type(event) is yaml.ScalarEvent:
        # A block scalar takes the line ends after it.
        while end > start and text[end - 1] in "\r\n":
            end -= 1
        return Node(start, end, key=event.value)
    node = Node(start, start, bool(event.flow_style))
    is_map = type(event) is yaml.MappingStartEvent
    inner = next(events)
    while type(inner) not in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
        first = _node(inner, events, text)
        node.end = first.end
        if is_map:
            second = _node(next(events), events, text)
            node.entries.append((first, second))
            node.end = max(first.end, second.end)
        else:
            node.items.append(first)
        inner = next(events)
    if node.is_flow:
        node.end = inner.end_mark.index
    return node
