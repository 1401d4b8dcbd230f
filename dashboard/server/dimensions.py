"""What the scored programs differ in: parameters of their recipes and metrics of an evaluator."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.state.node import Node
from core.storage.numbering import numbering_of
from core.storage.reader import RunReader
from core.storage.unreadable import reads_store
from dashboard.server.schemas.search import Dimensions, Point
from utils.clean_data import clean_data

RECIPE = "# recipe: "
"""Begins the line in which `rules` writes the parameters of a competition program."""
MOST_NODES = 3000
MOST_NAMES = 16
_MOST_CHARACTERS = 60
Value = float | str


@reads_store
def dimensions(reader: RunReader) -> Dimensions:
    """The newest scored nodes; only names that at least half of them have, in which they differ, and not the score."""
    nodes = [node for node in reader.nodes(limit=MOST_NODES, newest_first=True, texts=True) if node.is_scored]
    values = [dict(_values(node)) for node in nodes]
    known = Counter(name for row in values for name in row)
    differing = [
        name for name, count in known.items()
        if 2 * count >= len(nodes) and len({row.get(name) for row in values}) > 1
        and not _is_score(name, nodes, values)
    ]  # fmt: skip
    names = sorted(differing, key=lambda name: (-known[name], name))[:MOST_NAMES]
    numbers = numbering_of(reader)
    points = [
        Point(
            node_id=node.id,
            step=numbers.step(node.id),
            metric=node.metric_value,
            values=[row.get(name) for name in names],
        )
        for node, row in zip(nodes, values, strict=True)
        if node.metric_value is not None
    ]
    return Dimensions(names=names, points=points)


def _is_score(name: str, nodes: Sequence[Node], values: Sequence[Mapping[str, Value]]) -> bool:
    """True for the score itself, also with its sign turned: that it goes with the score tells nothing."""
    measured = [(row[name], node.metric_value) for node, row in zip(nodes, values, strict=True) if name in row]
    return all(isinstance(value, float) and score is not None and abs(value) == abs(score) for value, score in measured)


def _values(node: Node) -> Iterator[tuple[str, Value]]:
    yield from _flat("", clean_data(node.metrics))
    yield from _flat("", clean_data(_recipe(node.code)))
    yield "lines of code", float(node.code.count("\n") + 1)
    yield "seconds", node.exec_time


def _recipe(code: str) -> Mapping[str, Any]:
    line = next((line for line in code.split("\n", 40)[:40] if line.startswith(RECIPE)), "")
    try:
        found = json.loads(line.removeprefix(RECIPE))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, Value]]:
    if isinstance(value, bool | str):
        yield prefix, str(value)[:_MOST_CHARACTERS]
    elif isinstance(value, int | float):
        yield prefix, float(value)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key)[:_MOST_CHARACTERS], part)
    elif isinstance(value, list):
        yield f"{prefix} (number)", float(len(value))
        if value and isinstance(value[0], Mapping):
            yield from _flat(prefix, value[0])
