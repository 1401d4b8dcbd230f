"""The last choice as it is recorded: the programs that it was made among, and why each of the others was not chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from core.storage.reader import RunReader
from reports.winner import OWN, Winner, called, found_by_search, leading, ratings_in, rows_of, score_from
from utils.direction import ROUNDING, Direction, finite

Row = Mapping[str, Any]

CHAMPION = "the title is taken in a tournament, not by the rating"
CHAMPION_RULE = "Champion of the last tournament: the title is taken there, not by the rating."
BASELINE_RULE = "The baseline, scored beside the search, that is better than every candidate on the parts that choose."
FINAL_RULE = (
    "Of the best on validation that cannot be told apart (mean difference over the same cases, of a table eighths of "
    "its rows, within one bootstrap standard error) and are not worse than a baseline, the smallest syntax tree; of "
    "equally small ones the first."
)
BEST_RULE = "The best on validation; of those that score the same, the smallest syntax tree, then the first."
OF_TIES = ("difference", "error", "tie")
"""What a row says of differences on the same cases; an arena's champion is not chosen by them."""


class Runner(BaseModel):
    """A program that is the best in some way and not the winner: a second, smaller fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node_id: str
    name: str
    """What people call it, as the winner's."""
    metric: float | None
    where: str = "on validation"
    """Where it got that score."""
    why_not: str


def runner_of(reader: RunReader, winner: Winner | None, facts: Mapping[str, Any]) -> Runner | None:
    """The best on validation, also of baselines beside the search, and why it is not the winner; None where it is."""
    if winner is None or not winner.chosen:
        return None
    if facts.get("family") == "arena":
        return _strongest(reader, winner, facts)
    best = reader.best()
    beside = [row for row in rows_of(facts) if reader.node(str(row.get("node_id"))) is None]
    row = leading(beside, best.metric_value if best else None, Direction(bool(facts.get("lower_is_better"))))
    if row is not None:
        if row.get("node_id") == winner.node_id:
            return None
        why = why_not(str(row["node_id"]), winner, facts)
        return Runner(node_id=str(row["node_id"]), name=called(row), metric=row["metric"], why_not=why)
    return None if best is None or best.id == winner.node_id else _runner(best, winner, facts)


def best_of_search(reader: RunReader, winner: Winner | None, facts: Mapping[str, Any]) -> Runner | None:
    """The best that the search proposed itself, None where it is the winner."""
    if winner is None or not winner.chosen:
        return None
    if facts.get("family") == "arena":
        return _strongest(reader, winner, facts, of_search=True)
    best = found_by_search(reader)
    return None if best is None or best.id == winner.node_id else _runner(best, winner, facts)


def _strongest(
    reader: RunReader, winner: Winner, facts: Mapping[str, Any], *, of_search: bool = False
) -> Runner | None:
    """The engine with the highest rating, None where it is the winner."""
    ratings = ratings_in(reader, facts)
    nodes = [node for node in reader.nodes() if not (of_search and node.operator in FREE_OPERATORS)]
    first = ratings.strongest(node.id for node in nodes)
    if first is None or first == winner.node_id:
        return None
    return _runner(ratings.now(next(node for node in nodes if node.id == first)), winner, facts)


def _runner(best: Node, winner: Winner, facts: Mapping[str, Any]) -> Runner:
    return Runner(
        node_id=best.id,
        name=OWN if best.is_own else best.name or best.id[:12],
        metric=best.metric_value,
        where=score_from(facts.get("family")),
        why_not=why_not(best.id, winner, facts),
    )


# ------------------------------------------------------------ the record


def choice_rows(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Those that the winner was chosen among, as they were recorded, the best first."""
    rows = (facts.get("final") or {}).get("choice")
    known = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    left_out = OF_TIES if facts.get("family") == "arena" else ()
    return [{name: value for name, value in row.items() if name not in left_out} for row in known]


def rule_of(winner: Winner | None, facts: Mapping[str, Any]) -> str:
    """The rule that the winner was chosen by, in one sentence a family; '' where no choice is recorded."""
    if facts.get("family") == "arena":
        return CHAMPION_RULE
    rows = choice_rows(facts)
    if winner is not None and winner.place is None:
        return BASELINE_RULE
    return (FINAL_RULE if _compares_cases(rows, facts) else BEST_RULE) if rows else ""


def _compares_cases(rows: Sequence[Row], facts: Mapping[str, Any]) -> bool:
    """False where only equal scores tie: in a competition (older runs of one tell by their ties), and without cases."""
    is_near = any(
        row.get("tie") and not math.isclose(row["metric"], rows[0]["metric"], rel_tol=ROUNDING) for row in rows
    )
    return is_near or (facts.get("family") != "competition" and any(row.get("error") for row in rows))


def choice_table(winner: Winner | None, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same, and the baselines that were scored beside the search, each with why it was not chosen."""
    rows = choice_rows(facts)
    if not rows or winner is None or not winner.chosen:
        return rows
    known = {row.get("node_id") for row in rows}
    beside = [row for row in rows_of(facts) if row.get("node_id") not in known and _is_scored(row)]
    whole = [{"node_id": row.get("node_id"), "name": row.get("name"), "metric": row.get("metric")} for row in beside]
    names = dict.fromkeys(name for row in [*rows, *whole] for name in row)
    return [
        {**{name: row.get(name) for name in names}, "not_chosen": _reason(str(row.get("node_id")), winner, facts)}
        for row in [*rows, *whole]
    ]


def _reason(node_id: str, winner: Winner, facts: Mapping[str, Any]) -> str:
    return "" if node_id == winner.node_id else why_not(node_id, winner, facts)


def _is_scored(row: Row) -> bool:
    return row.get("failure") is None and finite(row.get("metric")) is not None


# ------------------------------------------------------------ the reasons


def why_not(node_id: str, winner: Winner, facts: Mapping[str, Any]) -> str:
    """Why the program is not the winner of a run that has one, by the record of its choice."""
    if facts.get("family") == "arena":
        return CHAMPION
    rows = choice_rows(facts)
    places = {str(row.get("node_id")): place for place, row in enumerate(rows)}
    mine, other = places.get(winner.node_id), places.get(node_id)
    if mine is None and winner.place is not None:
        return "the run kept no record of its choice"
    if mine is None:
        return f"{winner.name} is better than every candidate on the parts that choose"
    if other is None:
        return _was_not_among(node_id, facts, rows)
    where = _where(rows[mine], winner, facts)
    if not rows[other].get("tie"):
        return where + _told_apart(rows[mine], rows[other], rows[0], bool(facts.get("lower_is_better")))
    return where + _tied(rows[mine], rows[other], has_first=0 in (mine, other))


def _tied(mine: Row, other: Row, *, has_first: bool) -> str:
    """Of those that tie with the first the simplest wins, then the one that ranks first."""
    told = "the two cannot be told apart" if has_first else "neither can be told apart from the best of the choice"
    if math.isclose(mine["metric"], other["metric"], rel_tol=ROUNDING):
        told = "the two score the same"
    sizes, of = (mine.get("size"), other.get("size")), "nodes of the syntax tree"
    if sizes[0] == sizes[1]:
        return f"{told} and are equally simple ({sizes[0]} {of}): the chosen one ranks first"
    return f"{told}, and the chosen one is simpler: {sizes[0]} against {sizes[1]} {of}"


def _told_apart(mine: Row, other: Row, first: Row, lower_is_better: bool) -> str:
    """One that does not tie with the first. The chosen one does, and may yet have the worse score of the two."""
    if Direction(lower_is_better).better(mine["metric"], other["metric"]):
        return f"the chosen one scores better: {mine['metric']:.6g} against {other['metric']:.6g}"
    best = f"the best of the choice, {first['metric']:.6g}"
    return f"it is more than a standard error from {best}, and the chosen one, {mine['metric']:.6g}, is not"


def _was_not_among(node_id: str, facts: Mapping[str, Any], rows: Sequence[Row]) -> str:
    if any(row.get("node_id") == node_id and "source" in row for row in rows_of(facts)) and rows:
        ahead = f"{str(rows[0].get('node_id'))[:12]} scores {rows[0]['metric']:.6g}"
        return f"a baseline beside the search wins where it is better than every candidate, and {ahead}"
    if len(rows) >= ((facts["final"].get("chosen_from") or {}).get("top_k") or math.inf):
        return f"it is not among the {len(rows)} best, which the choice was made among"
    return "it has no score from when the best were scored again for the choice"


def _where(mine: Row, winner: Winner, facts: Mapping[str, Any]) -> str:
    """What the choice went by, where that is not the score on validation."""
    if facts["final"].get("looks"):
        return "by the mean of several scores "
    return "" if mine.get("metric") == winner.metric else "on a second look, at fresh cases too, "
