"""`replay --verify`: search again with the stored replies. Nothing is asked, and the journal must come out equal.

Programs are run and scored again, and each score is compared with the recorded one, from which the search goes on
(`recorded_scores`). It makes its choices again, each from the journal as it was then: where a run ended or was
interrupted and went on, what was under way had been committed before the next was asked for. Where they cannot come out
again (`search.schedule=async`, whose order is what the clock made it, and steps by hand) the recorded tasks are done
again in the recorded order.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from core.events import RoundOpened
from core.loop.schedules import schedule_of
from core.state.journal import Journal
from core.state.numbering import Numbering
from core.state.task import Task
from core.storage.reader import RunReader
from runs.baselines import TOLD
from runs.context_history import FACT
from runs.control import stopped_nodes, withdrawn_nodes
from runs.recorded_scores import RecordedScores
from runs.search import Recorded
from runs.search_limits import changed_limits
from runs.session import RunSession
from runs.stored_config import stored_config
from utils.errors import SwarmEvoError

COMPARED = ("id", "operator", "parent_ids", "code", "metric_value", "failure", "signature", "is_valid")
"""Fields of a node that must come out equal."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a second search with the same replies came to."""

    equal: bool
    text: str
    """One line for people: the hash, or the first difference."""


def verify(
    run_dir: Path,
    project_dir: str,
    *,
    accept_unsandboxed: bool = False,
    trusted: bool = False,
    overrides: Sequence[str] = (),
) -> Replayed:
    """Search again from the record, in a run of its own that is removed afterwards, and compare the journals.

    Args:
        trusted: a run from elsewhere may execute what it names.
        overrides: `key=value` texts for what was stored masked.
    """
    config = stored_config(run_dir, list(overrides), project_dir, trusted=trusted)
    config.project.name = f"verify-{run_dir.name}"[:60]
    config.initial = []  # the user's programs lie in the run; their files may be gone
    with RunReader(run_dir) as reader:
        stored = reader.journal()
        calls = reader.calls()
        tasks = reader.tasks()
        told = reader.fact(FACT) or []
        baselines_told = reader.fact(TOLD)
        whys = {node_id: reader.why(node_id) for node_id in tasks}
        baselines = reader.fact("baselines", [])
        limits = changed_limits(reader)
        by_hand = any(key.endswith("/by_hand") for key in reader.facts())
    as_recorded = by_hand or not schedule_of(config.search.schedule).repeatable
    scores = RecordedScores(stored, baselines)
    copy: Path | None = None
    try:
        with RunSession(
            config,
            accept_unsandboxed=accept_unsandboxed,
            origin={"verifies": run_dir.name},
            programs=[(node.plan, node.code) for node in stored if node.operator == "user"],
            recorded=Recorded(
                calls,
                "sample" if as_recorded else "exact",
                stopped_nodes(run_dir),
                withdrawn_nodes(run_dir),
                {} if as_recorded else first_of_rounds(tasks.values()),
                scores,
                told,
                baselines_told,
            ),
            stop_after=stored.steps,
        ) as session:
            copy = session.run_dir
            if as_recorded:
                play_as_recorded(session, stored, tasks, whys)
            else:
                session.run()
            again = session.search.journal
    except SwarmEvoError as error:
        return Replayed(False, f"replay differs: {error}")
    finally:
        if copy is not None:
            shutil.rmtree(copy, ignore_errors=True)
    found = with_scores(compared(stored, again), stored, scores)
    if not limits:
        return found
    return replace(found, text=f"{found.text}; choices and prompts under the limits of their time: {limits}")


def first_of_rounds(tasks: Iterable[Task]) -> dict[int, Task]:
    """Round → its first task, of those that know how many steps were left: stores of older versions do not say."""
    first: dict[int, Task] = {}
    for task in tasks:
        if "steps_left" in task.model_fields_set:
            first.setdefault(task.round, task)
    return first


def compared(stored: Journal, again: Journal) -> Replayed:
    """Equal by hash, or the first field that is not."""
    if again.sha256 == stored.sha256:
        return Replayed(True, f"equal: {len(stored)} nodes, journal {stored.sha256}, 0 calls of a model")
    numbers = Numbering((node.id, node.operator) for node in stored)
    for old, new in zip(stored, again, strict=False):
        for name in COMPARED:
            before, now = getattr(old, name), getattr(new, name)
            if before != now:
                where = numbers.name(old.id) or f"{old.operator} {old.id}"
                return Replayed(False, f"replay differs at {where} in {name}: {before!r} became {now!r}")
    return Replayed(False, f"replay differs: {len(stored)} nodes became {len(again)}")


def with_scores(found: Replayed, stored: Journal, scores: RecordedScores) -> Replayed:
    """What was found of the journals, and of the scores: which of them a program does not even get twice now."""
    if not found.equal:
        return found
    if not scores.differences:
        return Replayed(True, f"{found.text}; proposals, prompts, programs and scores came out again")
    wrong = [one for one in scores.differences if one.repeats]
    first = (wrong or scores.differences)[0]
    numbers = Numbering((node.id, node.operator) for node in stored)
    node = stored.get_node_by_id(first.node_id)
    place = numbers.name(first.node_id) or f"{node.operator if node else 'baseline'} {first.node_id}"
    of = f"{len(scores.differences)} of {scores.scored} scores differ"
    if wrong:
        return Replayed(
            False,
            f"replay differs at {place} in {first.field}: {first.before!r} became {first.now!r}; {of}, {len(wrong)} of "
            "them the same way twice; proposals, prompts and programs came out again from the recorded scores",
        )
    return Replayed(
        False,
        f"{of}: they depend on the clock or on chance (at {place} {first.field} {first.before!r} became {first.now!r}, "
        f"and then {first.again!r}); proposals, prompts and programs came out again from the recorded scores",
    )


def play_as_recorded(
    session: RunSession, stored: Journal, tasks: Mapping[str, Task], whys: Mapping[str, dict[str, Any]]
) -> None:
    """Do the recorded tasks again, round by round, in the order in which their nodes were committed."""
    session.score_seeds()
    orchestrator = session.search.orchestrator
    told = [node for node in stored if node.id in tasks or node.operator == "ensemble"]
    for number, nodes in groupby(told, key=lambda node: tasks[node.id].round if node.id in tasks else None):
        if number is None:
            orchestrator.add_ensemble(session.config.search.top_k)
            continue
        again = [tasks[node.id] for node in nodes]
        opened = RoundOpened(round=number, node_ids=[task.node_id for task in again])
        session.store.open_round(number, again, [whys[task.node_id] for task in again], [opened])
        orchestrator.play(again)
