"""What a run came to: winner, second fact and verdict, read from its store once for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.events import RunFinished
from core.storage.held import status_of
from core.storage.models import IS_STEP, SCORED
from core.storage.numbering import numbering_of
from core.storage.reader import RunReader
from core.storage.rows import BROKE_OFF
from core.storage.unreadable import unreadable
from reports.bill import bill
from reports.choice import Runner, best_of_search, runner_of
from reports.control import NONE, Control, control_of
from reports.counts import Counts, effort
from reports.verdict import Verdict, verdict_of
from reports.winner import Winner, found_by_search, ratings_in, winner_node, winner_of
from utils.clean_text import one_line

LONGEST = 300
"""Characters of the reason why a run broke off, as the verdict tells it."""


class Conclusion(BaseModel):
    """Shown alike by terminal, page, API, run list, metrics, plots, report and Python."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    winner: Winner | None
    """None where no program is valid (yet)."""
    best_on_validation: Runner | None
    """Of all programs, baselines beside the search too; None where it is the winner."""
    best_of_search: Runner | None = None
    """The best that the search proposed itself; None where it is the winner."""
    effort: str = ""
    """What became of the steps, in one wording for every family; '' while the run goes on."""
    bill: str = ""
    """What the calls cost, and what may come on top; '' without a model."""
    verdict: Verdict
    control: Control = Control(text=NONE)
    """What the search added over independent draws."""

    @property
    def not_chosen(self) -> dict[str, Runner]:
        """Each program that is the best in some way and not the winner, once, by what it is the best of."""
        runner, own = self.best_on_validation, self.best_of_search
        is_one = runner is not None and own is not None and runner.node_id == own.node_id
        first = f"best {runner.where}" if runner else ""
        told = {first: runner, "best of the search": None if is_one else own}
        return {what: one for what, one in told.items() if one is not None}


def conclusion_of(reader: RunReader, facts: Mapping[str, Any] | None = None) -> Conclusion:
    """The conclusion of a run, at any moment of its life.

    Args:
        facts: `reader.facts()`, where the caller has read them already.

    Raises:
        BrokenStoreError: what is stored is none of ours, a newer version's, or damaged.
    """
    with unreadable(reader.name):
        return _concluded(reader, facts)


def _concluded(reader: RunReader, facts: Mapping[str, Any] | None) -> Conclusion:
    stored = reader.facts() if facts is None else facts
    known = {**stored, "status": status_of(reader.run_dir, stored)}
    winner = winner_in(reader, known)
    runner, own = runner_of(reader, winner, known), best_of_search(reader, winner, known)
    counts = Counts() if known["status"] == "running" else counts_of(reader)
    if (known.get("final") or {}).get("looks", []) != []:  # null where there was no time for any
        counts = counts.model_copy(update={"repeated": _repeated(reader)})
    leads = winner is not None and not winner.chosen and winner.role != "candidate"
    search = found_by_search(reader) if leads else None
    return Conclusion(
        winner=winner,
        best_on_validation=runner,
        best_of_search=own,
        effort="" if known["status"] == "running" else effort(counts),
        bill=bill(reader.cost()),
        verdict=verdict_of(winner, known, counts, search.metric_value if search else None),
        control=control_of(reader, known),
    )


def winner_in(reader: RunReader, facts: Mapping[str, Any]) -> Winner | None:
    """The winner, else the best so far, as every surface shows it. `facts`: `reader.facts()`."""
    node = winner_node(reader, facts)
    return None if node is None else winner_of(node, facts, numbering_of(reader), ratings_in(reader, facts))


def counts_of(reader: RunReader) -> Counts:
    """What became of the steps, without reading a program."""
    refused = reader.db.value(f"SELECT count(*) FROM nodes WHERE {IS_STEP} AND NOT is_valid AND NOT is_buggy")
    said = "json_extract(rest, '$.nothing_left')"
    nothing_left = reader.db.value(f"SELECT count(*) FROM nodes WHERE {IS_STEP} AND {said}")
    scored = reader.db.select(f"SELECT count(*), min(fitness), max(fitness) FROM nodes WHERE {SCORED}")
    count, lowest, highest = scored[0]
    return Counts(
        steps=reader.steps(),
        duplicates=refused - nothing_left,
        nothing_left=nothing_left,
        failures=reader.failures(of_steps=True),
        repaired=sum(reader.repaired().values()),
        scored=count,
        all_alike=count > 1 and lowest == highest,
        unscored="" if count or reader.steps() else _unscored(reader),
        ended=why_ended(reader),
        ended_at=next((event.steps for event in reversed(_ends(reader)) if event.status == "finished"), None),
    )


def _unscored(reader: RunReader) -> str:
    """What became of the programs that the search was given."""
    seeds = {node.id: node for node in reader.nodes(texts=False)}
    said = [(node.name or node.plan, node.message) for node in seeds.values() if node.failure is not None]
    said += [(row["name"], row["message"]) for row in reader.fact("baselines", []) if row["metric"] is None]
    open_ones = [node_id for node_id in reader.fact("given", []) if node_id not in seeds]
    if said:
        return one_line(f"{said[0][0]}: {said[0][1]}", LONGEST)
    return "the search's first program was still being scored" if open_ones else ""


def _repeated(reader: RunReader) -> dict[str, tuple[float, ...]]:
    return {node.id: node.repeats for node in reader.nodes(texts=False) if node.repeats}


def why_ended(reader: RunReader) -> str:
    """Why the run ended or broke off, as it said itself; '' where it did not."""
    ends = _ends(reader)
    return one_line(reader.fact(BROKE_OFF) or (ends[-1].reason if ends else ""), LONGEST)


def _ends(reader: RunReader) -> list[RunFinished]:
    """Each time that a process told how its work on the run ended, oldest first."""
    return [event for event in reader.events(types=["run.finished"]) if isinstance(event, RunFinished)]
