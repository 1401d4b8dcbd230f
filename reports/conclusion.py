"""What a run came to: winner, second fact and verdict, read from its store once for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlalchemy import func, select

from core.state.operators import FREE_OPERATORS
from core.storage.models import NODES
from core.storage.reader import RunReader
from reports.control import NONE, Control, control_of
from reports.verdict import Counts, Verdict, verdict_of
from reports.winner import Runner, Winner, runner_of, winner_node, winner_of


class Conclusion(BaseModel):
    """Shown alike by terminal, page, API, run list, metrics, plots, report and Python."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    winner: Winner | None
    """None where no program is valid (yet)."""
    best_on_validation: Runner | None
    """None where it is the winner."""
    verdict: Verdict
    control: Control = Control(text=NONE)
    """What the search added over independent draws."""


def conclusion_of(reader: RunReader, facts: Mapping[str, Any] | None = None) -> Conclusion:
    """The conclusion of a run, at any moment of its life.

    Args:
        facts: `reader.facts()`, where the caller has read them already.
    """
    known = reader.facts() if facts is None else facts
    winner = winner_of(winner_node(reader, known), known)
    counts = counts_of(reader) if known.get("status") == "finished" else Counts()
    return Conclusion(
        winner=winner,
        best_on_validation=runner_of(reader, winner, known),
        verdict=verdict_of(winner, known, counts),
        control=control_of(reader, known),
    )


def counts_of(reader: RunReader) -> Counts:
    """What became of the steps, without reading a program."""
    steps = NODES.c.operator.not_in(FREE_OPERATORS)
    query = select(func.count()).select_from(NODES).where(steps, ~NODES.c.is_valid, ~NODES.c.is_buggy)
    with reader.db.transaction() as connection:
        duplicates = int(connection.execute(query).scalar() or 0)
    return Counts(steps=reader.steps(), duplicates=duplicates, failures=reader.failures())
