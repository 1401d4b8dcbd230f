"""Views of the search as a whole: curve, failures, islands, generations, cost."""

from __future__ import annotations

import math
from typing import Any

from core.state.failure import FailureKind
from core.storage.event_body import event_fields
from core.storage.models import SCORED
from core.storage.numbering import numbering_of
from core.storage.packing import json_of
from core.storage.reader import RunReader
from core.storage.unreadable import reads_store
from dashboard.server.overview import totals
from dashboard.server.schemas.runs import Cost, CostRow
from dashboard.server.schemas.search import Curve, FailureCount, Generation, Island, Islands
from reports.ratings import CHAMPIONS, champions
from utils.direction import Direction

_CURVE = (
    f"SELECT id, generation, CASE WHEN {SCORED} THEN fitness END, metric_value, json_extract(rest, '$.cost_usd')"
    " FROM nodes ORDER BY step"
)
_EXAMPLE = (
    "SELECT id, coalesce(json_extract(rest, '$.message'), '') FROM nodes WHERE failure = ? ORDER BY step DESC LIMIT 1"
)
_ISLANDS = (
    f"SELECT island, coalesce(generation, step), id, fitness, metric_value, {SCORED} FROM nodes"
    " WHERE island IS NOT NULL ORDER BY step"
)
_GENERATIONS = (
    f"SELECT generation, count(*), sum({SCORED}), avg(CASE WHEN {SCORED} THEN metric_value END),"
    f" max(CASE WHEN {SCORED} THEN fitness END) FROM nodes WHERE generation IS NOT NULL GROUP BY 1 ORDER BY 1"
)


@reads_store
def curve(reader: RunReader) -> Curve:
    """Best so far: only the steps at which it changed, and the last step. What is no step stands at the step before.

    Of an arena the champion's rating at the end of each generation, at the last engine that was scored in it.
    """
    with reader.db.transaction():
        rows = reader.db.select(_CURVE)
        commits = dict(reader.db.select("SELECT node_id, body FROM events WHERE type = 'node.committed' ORDER BY seq"))
    titles = champions(reader)
    told = _titles(rows, titles) if titles else _improvements(rows)
    found = Curve(
        run=reader.name,
        problem=str(reader.fact("problem") or ""),
        lower_is_better=bool(reader.fact("lower_is_better", False)),
        unit=str(reader.fact("unit") or ""),
        of=CHAMPIONS if titles else "best so far",
        steps=[],
        best=[],
        seconds=[],
        dollars=[],
    )
    spent = worked = 0.0
    numbers = numbering_of(reader)
    for index, (node_id, *_, cost_usd) in enumerate(rows):
        spent += cost_usd or 0.0
        if node_id in commits:  # a kill takes seconds from the count; a curve does not go back
            worked = max(worked, json_of(commits[node_id])["elapsed"])
        if node_id in told or (index == len(rows) - 1 and found.best):
            found.steps.append(numbers.so_far(node_id))
            found.best.append(told[node_id] if node_id in told else found.best[-1])
            found.seconds.append(worked)
            found.dollars.append(spent)
    return found


def _improvements(rows: list[Any]) -> dict[str, float]:
    """By node id the scores that were better than all before them."""
    found, top = {}, -math.inf
    for node_id, _, fitness, metric, _ in rows:
        if fitness is not None and fitness > top:
            top, found[node_id] = fitness, metric
    return found


def _titles(rows: list[Any], champions: dict[int, float]) -> dict[str, float]:
    """By the id of the last engine scored in a generation the champion's rating; baselines are generation 0."""
    last = {generation or 0: node_id for node_id, generation, fitness, *_ in rows if fitness is not None}
    return {last[generation]: elo for generation, elo in champions.items() if generation in last}


@reads_store
def failures(reader: RunReader) -> list[FailureCount]:
    """By kind, most frequent first, with the newest example of each."""
    by_kind: dict[str, dict[str, int]] = {}
    failed = "SELECT failure, operator, count(*) FROM nodes WHERE failure IS NOT NULL GROUP BY 1, 2"
    with reader.db.transaction():
        for kind, operator, count in reader.db.select(failed):
            by_kind.setdefault(kind, {})[operator] = count
        examples = {kind: reader.db.select(_EXAMPLE, (kind,))[0] for kind in by_kind}
    found = [
        FailureCount(
            failure=kind,
            count=sum(operators.values()),
            advice=FailureKind(kind).advice,
            operators=operators,
            example=examples[kind][0],
            message=str(examples[kind][1])[:500],
        )
        for kind, operators in by_kind.items()
    ]
    return sorted(found, key=lambda item: (-item.count, item.failure))


@reads_store
def islands(reader: RunReader) -> Islands:
    with reader.db.transaction():
        rows = reader.db.select(_ISLANDS)
        moved = events_of(reader, "island.migrated")
        reset = events_of(reader, "island.reset")
    by_island: dict[int, list[Any]] = {}
    for row in rows:
        by_island.setdefault(row[0], []).append(row)
    resets: dict[int, int] = {}
    for event in reset:
        resets[event["island"]] = resets.get(event["island"], 0) + 1
    found = [_island(number, members, resets.get(number, 0)) for number, members in sorted(by_island.items())]
    return Islands(islands=found, migrations=moved)


def _island(number: int, rows: list[Any], resets: int) -> Island:
    scored = [row for row in rows if row[5]]
    history: list[tuple[int, float]] = []
    top = None
    for _, when, _, fitness, metric, _ in scored:
        if top is None or fitness > top:
            top = fitness
            history.append((when, metric))
    best = max(scored, key=lambda row: row[3], default=None)
    return Island(
        island=number,
        nodes=len(rows),
        scored=len(scored),
        best_metric=best[4] if best else None,
        best_node_id=best[2] if best else None,
        mean_metric=sum(row[4] for row in scored) / len(scored) if scored else None,
        resets=resets,
        history=history,
    )


@reads_store
def generations(reader: RunReader) -> list[Generation]:
    direction = Direction(bool(reader.fact("lower_is_better", False)))
    with reader.db.transaction():
        rows = reader.db.select(_GENERATIONS)
        started = {event["generation"]: event for event in events_of(reader, "generation.started")}
        finished = {event["generation"]: event for event in events_of(reader, "generation.finished")}
    counted = {row[0]: row for row in rows}
    found = []
    for number in sorted(counted.keys() | started.keys() | finished.keys()):
        _, nodes, scored, mean, top = counted.get(number, (number, 0, 0, None, None))
        end = finished.get(number, {})
        found.append(
            Generation(
                generation=number,
                nodes=nodes,
                scored=scored or 0,
                best_metric=None if top is None else direction.turned(top),
                mean_metric=mean,
                champion=started.get(number, {}).get("champion"),
                promoted=end.get("promoted", []),
                ratings=end.get("ratings", []),
                decision=end.get("decision", {}),
            )
        )
    return found


@reads_store
def cost(reader: RunReader) -> Cost:
    return Cost(totals=totals(reader), rows=[CostRow(**row) for row in reader.cost_by_role()])


def events_of(reader: RunReader, kind: str) -> list[dict[str, Any]]:
    """All events of a type as plain JSON, oldest first."""
    rows = reader.db.select("SELECT seq, body, node_id FROM events WHERE type = ? ORDER BY seq", (kind,))
    return [{"seq": seq, **event_fields(body, node_id)} for seq, body, node_id in rows]
