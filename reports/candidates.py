"""Every candidate of a run as one flat row, with all that was measured of it: for tables and data frames."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from core.state.node import Node
from core.state.numbering import Numbering
from core.storage.reader import RunReader
from reports.winner import OWN, Winner, ratings_in, winner_node, winner_of
from utils.clean_text import whole
from utils.spreadsheet import inert

METRICS = "metrics."
"""Begins the columns of what the user's evaluator measured."""
MOST_METRICS = 10_000
"""So many columns of these: those that most candidates have."""


def candidate_rows(reader: RunReader, *, code: bool = False) -> list[dict[str, Any]]:
    """One row a node of the journal, in its order, and one for a winner beside it; all rows have the same keys.

    Args:
        code: the programs' texts too.
    """
    facts = reader.facts()
    ratings = ratings_in(reader, facts)
    best, nodes = winner_node(reader, facts), [ratings.now(node) for node in reader.nodes(texts=code)]
    numbers = Numbering((node.id, node.operator) for node in nodes)
    winner = winner_of(best, facts, numbers, ratings)
    if best is not None and best.id not in numbers:  # a baseline that nothing beat
        nodes.append(best)
    measured = [_measured(node) for node in nodes]
    names = sorted(name for name, _ in Counter(chain.from_iterable(measured)).most_common(MOST_METRICS))
    return [
        {
            **_row(node, winner, numbers.step(node.id)),
            **{f"{METRICS}{name}": found.get(name) for name in names},
            **_code(node, code),
        }
        for node, found in zip(nodes, measured, strict=True)
    ]


def candidates_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV with a header; numbers whole, lists as JSON, no text that a spreadsheet would run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(inert, rows[0] if rows else ["node_id"]))
    writer.writerows([inert(_plain(value)) for value in row.values()] for row in rows)
    return whole(text.getvalue())


def _row(node: Node, winner: Winner | None, step: int | None) -> dict[str, Any]:
    wins = winner is not None and node.id == winner.node_id
    low, high = node.interval or (winner.interval if winner and wins else None) or (None, None)
    return {
        "node_id": node.id,
        "step": step,
        "operator": node.operator,
        "parent_ids": list(node.parent_ids),
        "generation": node.generation,
        "island": node.island,
        "name": OWN if node.is_own else node.name,
        "metric": node.metric_value,
        "low": low,
        "high": high,
        "metric_source": node.metric_source,
        "scores": len(node.repeats) or 1 if node.metric_value is not None else None,
        "claimed_metric": node.claimed_metric,
        "is_winner": wins,
        "is_valid": node.is_valid,
        "failure": node.failure.value if node.failure else None,
        "message": node.message,
        "duplicate_of": node.duplicate_of,
        "nothing_left": node.nothing_left,
        "rung": node.rung,
        "exec_time": node.exec_time,
        "writer": node.writer,
        "prompt_tokens": node.prompt_tokens,
        "completion_tokens": node.completion_tokens,
        "cost_usd": node.cost_usd,
    }


def _measured(node: Node) -> dict[str, Any]:
    """What the evaluator measured: numbers as they are, everything that is no plain value as JSON."""
    flat = (bool, str, int, float, type(None))
    return {name: value if isinstance(value, flat) else json.dumps(value) for name, value in node.metrics.items()}


def _code(node: Node, wanted: bool) -> dict[str, str]:
    return {"code": node.code} if wanted else {}


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value


def json_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A JSON array, a row a line."""
    yield "["
    yield from (json.dumps(row) + "," * (place < len(rows) - 1) for place, row in enumerate(rows))
    yield "]"
