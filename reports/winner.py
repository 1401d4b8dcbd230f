"""The winner of a run: the one program that every surface shows, with its own scores. Decided here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.state.node import Node
from core.state.noise import error_of
from core.state.numbering import Numbering
from core.storage.models import IS_STEP, SCORED
from core.storage.reader import RunReader
from core.storage.rows import BESIDE
from core.storage.told_end import check_end
from core.storage.told_node import check_told
from reports.ratings import NONE, WHERE, Ratings, ratings_of
from utils.direction import Direction, finite
from utils.stats import proper_interval

NOT_OURS = {"baseline": "baseline", "user": "user"}
"""Operator → role of programs that the search did not write."""


OWN = "your program"
"""What the user's own program is called, on every surface."""


class Winner(BaseModel):
    """The chosen program once a run has ended, before that who leads; each number is its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node_id: str
    name: str
    """What people call it: a baseline's or an engine's name, `your program`, else the first digits of the id."""
    role: str
    """`candidate`: the search wrote it; `baseline`: a reference program; `user`: the user's own program."""
    chosen: bool
    """True: the run ended and this is its answer. False: it leads so far, and would be chosen now."""
    operator: str
    writer: str
    step: int | None
    """Which step of the search it is, from 1; None for what is no step."""
    place: int | None = None
    """In the journal, from 0; None for a baseline that was scored beside the search."""
    metric: float | None
    """On validation, the part that steers the search."""
    where: str = "on validation"
    """Where `metric` was measured; an engine's is its newest rating."""
    scores: int = 1
    """`metric` is the mean of so many scores of the program."""
    noise: float | None = None
    """Standard error of `metric`, where the program was scored several times or timed."""
    interval: tuple[float, float] | None
    metric_source: str | None
    final_metric: float | None
    """On the final part, which no choice ever saw."""
    final_interval: tuple[float, float] | None

    @property
    def mean_of(self) -> str:
        """What `metric` is, where it is not one score of which no more is known; else ''."""
        return mean_of(self.scores, self.noise)


@dataclass(frozen=True, slots=True)
class Standing:
    """Who leads a run that goes on, as whoever watches it has to know at its beginning."""

    best: float | None = None
    """The best score of the journal, which may hold baselines."""
    best_id: str | None = None
    of_search: float | None = None
    """The best score of what the search proposed itself."""
    baselines: tuple[Mapping[str, Any], ...] = ()
    """Their rows, also of those in the journal."""
    title: str = ""
    """An arena's champion, in words."""


def standing_of(reader: RunReader) -> Standing:
    """What a process finds that takes the run up."""
    best, own = reader.best(), found_by_search(reader)
    return Standing(
        best=best.metric_value if best else None,
        best_id=best.id if best else None,
        of_search=own.metric_value if own else None,
        baselines=tuple(baselines_of(reader, {"baselines": reader.fact("baselines")})),
        title=ratings_of(reader).title,
    )


def score_from(family: Any) -> str:
    """Where the scores come from that steer a search."""
    return WHERE if family == "arena" else "on validation"


def mean_of(scores: int, noise: float | None = None) -> str:
    """`mean of 3 scores, standard error 0.2`; of one score what is known of its error, '' where nothing is."""
    told = [f"mean of {scores} scores"] if scores > 1 else []
    return ", ".join([*told, *([f"standard error {noise:.2g}"] if noise else [])])


def winner_node(reader: RunReader, facts: Mapping[str, Any]) -> Node | None:
    """The winner's node, whole; before the end who leads, a baseline beside the search included. None where no program
    is valid. `facts`: `reader.facts()`. BrokenStoreError where it, its final score or a baseline is not as the journal
    told it."""
    check_end(reader.db, facts)
    node = _winner_node(reader, facts)
    if node is not None:
        check_told(reader.db, [node.id])
    return node


def _winner_node(reader: RunReader, facts: Mapping[str, Any]) -> Node | None:
    if is_concluded(facts):
        final = facts["final"]
        return Node.model_validate(final["program"]) if final.get("program") else reader.node(final["node_id"])
    if facts.get("status") == "finished" and facts.get("final"):  # it ended, and every program failed
        return None
    best = reader.best()
    if facts.get("family") == "arena":
        champion = ratings_in(reader, facts).champion or (best.id if best else None)
        return reader.node(champion) if champion else None
    row = leading(rows_of(facts), best.metric_value if best else None, Direction(bool(facts.get("lower_is_better"))))
    if row is not None:
        return beside_the_search(facts, row)
    return reader.node(best.id) if best else None


def ratings_in(reader: RunReader, facts: Mapping[str, Any]) -> Ratings:
    """An arena's ratings as they are now; empty elsewhere."""
    return ratings_of(reader) if facts.get("family") == "arena" else NONE


def beside_the_search(facts: Mapping[str, Any], row: Mapping[str, Any]) -> Node:
    """The baseline of that row, whole; of a run of an older version without its program."""
    stored = facts.get(f"{BESIDE}{row['node_id']}")
    if stored is not None:
        return Node.model_validate(stored)
    known = {"operator": "baseline", "writer": "baseline", "metric_value": row.get("metric")}
    return Node(
        id=row["node_id"], code="", name=row["name"], **known, metric_source=row.get("source"),
        interval=proper_interval(row.get("interval")),
    )  # fmt: skip


def is_concluded(facts: Mapping[str, Any]) -> bool:
    """True if the run has ended with an answer. A run that was taken up again has none until it ends anew."""
    return facts.get("status") == "finished" and bool((facts.get("final") or {}).get("node_id"))


def winner_of(
    node: Node | None, facts: Mapping[str, Any], numbers: Numbering, ratings: Ratings = NONE
) -> Winner | None:
    """What every surface shows of `winner_node`."""
    if node is None:
        return None
    node = ratings.now(node)
    chosen = is_concluded(facts)
    final = facts["final"] if chosen else {}
    role = NOT_OURS.get(node.operator, "candidate")
    own = node.is_own or any(row.get("own") for row in rows_of(facts) if row.get("node_id") == node.id)
    interval = node.interval or (final.get("detail") or {}).get("validation_interval")
    return Winner(
        node_id=node.id,
        name=OWN if own else node.name or node.id[:12],
        role="user" if own else role,
        chosen=chosen,
        operator=node.operator,
        writer=node.writer,
        step=numbers.step(node.id),
        place=node.step if node.id in numbers else None,
        metric=node.metric_value,
        where=score_from(facts.get("family")),
        scores=len(node.repeats) or 1,
        noise=error_of(node) if facts.get("family") != "arena" and (node.repeats or not node.signature) else None,
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


def named(row: Mapping[str, Any]) -> str:
    """What a column of baselines calls one."""
    return OWN if row.get("own") else str(row.get("name", ""))


def titled(row: Mapping[str, Any]) -> str:
    """What a table calls a baseline: the user's own program is called so in all of them."""
    return OWN if row.get("own") else f"baseline {row.get('name', '')}"


def called(row: Mapping[str, Any]) -> str:
    """What a sentence calls a baseline."""
    return OWN if row.get("own") else f"the baseline {row['name']}"


def who(winner: Winner) -> str:
    """The winner in a sentence: a baseline, the user's own program, or the step that it is."""
    if winner.role == "candidate":
        name = "" if winner.node_id.startswith(winner.name) else f"{winner.name}, "
        step = "" if winner.step is None else f", step {winner.step}"
        return f"{name}node {winner.node_id}{step}, writer {winner.writer}"
    return called({"name": winner.name, "own": winner.role == "user"})


def found_by_search(reader: RunReader) -> Node | None:
    """The best program that the search proposed itself, whole; None where none is valid."""
    best = f"SELECT id FROM nodes WHERE {SCORED} AND {IS_STEP} ORDER BY fitness DESC, step LIMIT 1"
    node_id = reader.db.value(best)
    return reader.node(str(node_id)) if node_id else None


def rows_of(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The baselines' rows; [] in a store that holds something else."""
    rows = facts.get("baselines")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def baselines_of(reader: RunReader, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The baselines' rows, the user's own program by its one name.

    Where the search begins with them they are nodes alone until the run has ended.
    """
    rows = rows_of(facts) or [seeded_row(node) for node in reader.nodes(operator="baseline")]
    ratings = ratings_in(reader, facts)
    told = [{**row, "metric": ratings.elo(str(row.get("node_id")), row.get("metric"))} for row in rows]
    return [{**row, "name": OWN} if row.get("own") else row for row in told]


def seeded_row(node: Node) -> dict[str, Any]:
    """A baseline that is a node of the journal, as a row of the others."""
    return {
        "name": node.name or node.id,
        "own": node.is_own,
        "node_id": node.id,
        "metric": node.metric_value,
        "failure": node.failure.value if node.failure else None,
        "message": node.message,
    }
