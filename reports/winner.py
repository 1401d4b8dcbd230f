"""The winner of a run: the one program that every surface shows, with its own scores. Decided here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlalchemy import select

from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from core.storage.models import NODES
from core.storage.reader import RunReader
from utils.direction import Direction, finite
from utils.stats import proper_interval

NOT_OURS = {"baseline": "baseline", "user": "user"}
"""Operator → role of programs that the search did not write."""


class Winner(BaseModel):
    """The chosen program once a run has ended, else the best so far; each number is its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node_id: str
    name: str
    """What people call it: a baseline's or an engine's name, else the first digits of the id."""
    role: str
    """`candidate`: the search wrote it; `baseline`: a reference program; `user`: the user's own program."""
    chosen: bool
    """True: the run ended and this is its answer. False: the best so far."""
    operator: str
    writer: str
    step: int | None
    """Which step of the search it is, from 1; None for what is no step."""
    place: int | None = None
    """In the journal, from 0; None for a baseline that was scored beside the search."""
    metric: float | None
    """On validation, the part that steers the search."""
    interval: tuple[float, float] | None
    metric_source: str | None
    final_metric: float | None
    """On the final part, which no choice ever saw."""
    final_interval: tuple[float, float] | None


class Runner(BaseModel):
    """A program that is the best in some way and not the winner: a second, smaller fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node_id: str
    name: str
    """What people call it, as the winner's."""
    metric: float | None
    why_not: str


def winner_node(reader: RunReader, facts: Mapping[str, Any]) -> Node | None:
    """The winner's node, whole; None where no program is valid. `facts`: `reader.facts()`."""
    if is_concluded(facts):
        final = facts["final"]
        return Node.model_validate(final["program"]) if final.get("program") else reader.node(final["node_id"])
    best = reader.best()
    return reader.node(best.id) if best else None


def node_or_winner(reader: RunReader, node_id: str) -> Node | None:
    """The node of that id or unique prefix; also a winner scored beside the search, which the journal lacks."""
    if (node := reader.node(node_id)) is not None or not node_id:
        return node
    winner = winner_node(reader, reader.facts())
    return winner if winner and winner.id.startswith(node_id) else None


def is_concluded(facts: Mapping[str, Any]) -> bool:
    """True if the run has ended with an answer. A run that was taken up again has none until it ends anew."""
    return facts.get("status") == "finished" and bool((facts.get("final") or {}).get("node_id"))


def winner_of(node: Node | None, facts: Mapping[str, Any], step: int | None) -> Winner | None:
    """What every surface shows of `winner_node`.

    Args:
        step: which step of the search the node is.
    """
    if node is None:
        return None
    chosen = is_concluded(facts)
    final = facts["final"] if chosen else {}
    role = NOT_OURS.get(node.operator, "candidate")
    if role == "baseline" and any(row.get("own") for row in rows_of(facts) if row.get("node_id") == node.id):
        role = "user"
    interval = node.interval or (final.get("detail") or {}).get("validation_interval")
    return Winner(
        node_id=node.id,
        name=node.name or node.id[:12],
        role=role,
        chosen=chosen,
        operator=node.operator,
        writer=node.writer,
        step=step,
        place=None if final.get("program") else node.step,
        metric=node.metric_value,
        interval=proper_interval(interval),
        metric_source=node.metric_source,
        final_metric=final.get("metric"),
        final_interval=proper_interval(final.get("interval")),
    )


def leading(
    baselines: Iterable[Mapping[str, Any]], best: float | None, direction: Direction
) -> Mapping[str, Any] | None:
    """The baseline beside the search that is better than `best`, the best program of the search; None: none is.

    While a run goes on it leads; at the end it wins, unless the part that chooses says otherwise.
    """
    scored = [row for row in baselines if row.get("failure") is None and finite(row.get("metric")) is not None]
    row = direction.best(scored, lambda row: row["metric"])
    return row if row is not None and direction.better(row["metric"], best) else None


def titled(row: Mapping[str, Any]) -> str:
    """What a table calls a baseline: the user's own program is called so in all of them."""
    return "your program" if row.get("own") else f"baseline {row.get('name', '')}"


def called(row: Mapping[str, Any]) -> str:
    """What a sentence calls a baseline."""
    return "your program" if row.get("own") else f"the baseline {row['name']}"


def runner_of(reader: RunReader, winner: Winner | None, facts: Mapping[str, Any]) -> Runner | None:
    """The best on validation, also of baselines beside the search, and why it is not the winner; None where it is."""
    best = reader.best()
    if winner is None or not winner.chosen:
        return None
    beside = [row for row in rows_of(facts) if reader.node(str(row.get("node_id"))) is None]
    row = leading(beside, best.metric_value if best else None, Direction(bool(facts.get("lower_is_better"))))
    if row is not None:
        if row.get("node_id") == winner.node_id or facts.get("family") == "arena":
            return None
        why = "where the last choice is made, the chosen one is better"
        return Runner(node_id=str(row["node_id"]), name=called(row), metric=row["metric"], why_not=why)
    return None if best is None or best.id == winner.node_id else _runner(best, winner, facts)


def best_of_search(reader: RunReader, winner: Winner | None, facts: Mapping[str, Any]) -> Runner | None:
    """The best that the search proposed itself, None where it is the winner."""
    if winner is None or not winner.chosen:
        return None
    query = (
        select(NODES.c.id)
        .where(NODES.c.fitness.is_not(None), NODES.c.is_valid, ~NODES.c.is_buggy)
        .where(NODES.c.operator.not_in(FREE_OPERATORS))
        .order_by(NODES.c.fitness.desc(), NODES.c.step)
        .limit(1)
    )
    with reader.db.transaction() as connection:
        node_id = connection.execute(query).scalar()
    best = reader.node(str(node_id)) if node_id else None
    return None if best is None or best.id == winner.node_id else _runner(best, winner, facts)


def _runner(best: Node, winner: Winner, facts: Mapping[str, Any]) -> Runner:
    why = _why_not(best.id, winner, facts)
    return Runner(node_id=best.id, name=best.name or best.id[:12], metric=best.metric_value, why_not=why)


def rows_of(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The baselines' rows; [] in a store that holds something else."""
    rows = facts.get("baselines")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _why_not(best_id: str, winner: Winner, facts: Mapping[str, Any]) -> str:
    if facts.get("family") == "arena":
        return "ratings of different rounds do not compare: the champion of the last tournament is the answer"
    if winner.place is None:
        return f"{winner.name} is better than every candidate on the parts that choose"
    rows = {row.get("node_id"): row for row in facts["final"].get("choice") or [] if isinstance(row, dict)}
    mine, other = rows.get(winner.node_id), rows.get(best_id)
    repeated = bool(facts["final"].get("looks"))  # the same cases again, since scores differ; else fresh cases
    if mine is None or other is None:
        return "it failed when it was scored again" if repeated else "it has no score on the second look at fresh cases"
    if mine.get("difference") == 0 == mine.get("error") and mine.get("metric") != other.get("metric"):
        if repeated:
            means = f"the chosen one scores {mine['metric']:.6g} on average, this one {other['metric']:.6g}"
            return f"over several looks at the same program {means}"
        return "on a second look at fresh cases the chosen one is better"
    sizes = f"{mine.get('size')} against {other.get('size')} nodes of the syntax tree"
    return f"the two cannot be told apart, and the chosen one is simpler: {sizes}"
