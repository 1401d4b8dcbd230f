"""`replay --verify`: search again with the stored replies. Nothing is asked, and the journal must come out equal.

Programs are run and scored again, and each score is compared with the recorded one, from which the search goes on
(`recorded_scores`). It makes its choices again, each from the journal as it was then: where a run ended or was
interrupted and went on, what was under way had been committed before the next was asked for. What the budget's end cut
off, and so never became a node, is cut off again. Where choices cannot come out again (`search.schedule=async`, whose
order is what the clock made it, steps by hand; another writer, another policy or what was cut off before in a resume)
the recorded tasks are done again in the recorded order.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from core.contracts import CallRecord
from core.events import NodeMarked, RoundOpened
from core.loop.schedules import schedule_of
from core.state.journal import Journal
from core.state.numbering import Numbering
from core.state.task import Task
from core.storage.reader import RunReader
from reports.search_limits import changed_limits
from runs.control import dropped_nodes, marks_of_rounds, stopped_nodes, withdrawn_nodes
from runs.parts.baselines import TOLD
from runs.parts.context_history import FACT, changed_choice
from runs.proof.replayed import Replayed, compared, first_difference, with_change, with_scores
from runs.recorded.final import final_differences
from runs.recorded.kept_stages import AGAIN, SINCE, kept_stages
from runs.recorded.rules_version import FACT as RULES_VERSION
from runs.recorded.rules_version import RecordedRules, rounds_of
from runs.recorded.scores import RecordedScores
from runs.recorded.scoring_record import change_since
from runs.run_folder import left_hidden
from runs.search import Recorded
from runs.session import RunSession
from runs.stored.config import stored_config
from runs.stored.named_files import how_to_give
from runs.view import View
from utils.config import to_plain
from utils.errors import BackendError, StoreError, SwarmEvoError

_NOTES = re.compile(r"round/\d+/notes")
_PREFIX = "verify"
"""Begins the name of the run that verifies another."""


def verify(
    run_dir: Path,
    project_dir: str,
    *,
    accept_unsandboxed: bool = False,
    trusted: bool = False,
    overrides: Sequence[str] = (),
    watched_by: Callable[[int], View] | None = None,
) -> Replayed:
    """Search again from the record, in a run of its own that is removed afterwards, and compare the journals.

    Args:
        trusted: a run from elsewhere may execute what it names.
        overrides: `key=value` texts for what was stored masked.
        watched_by: how many nodes the run has → who is told of them as they come again.
    """
    for left in left_hidden(project_dir, _PREFIX):
        if _verifies(left):
            _remove(left)
    config = stored_config(run_dir, list(overrides), project_dir, trusted=trusted, offline=True)
    config.project.name = f"{_PREFIX}-{run_dir.name}"[:60]
    config.initial = []  # the user's programs lie in the run; their files may be gone
    record = _Record.read(run_dir)
    in_order = schedule_of(config.search.schedule).repeatable and is_in_order(record.stored, record.tasks)
    as_recorded = record.by_hand or not in_order or changed_writer(record.calls) or changed_choice(record.told)
    cut = [] if as_recorded else cut_off(record.stored, record.tasks, record.withdrawn)
    scores = RecordedScores(record.stored, record.baselines, cut)
    copy: Path | None = None
    again: Journal | None = None
    try:
        with RunSession(
            config,
            view=watched_by(len(record.stored)) if watched_by else None,
            accept_unsandboxed=accept_unsandboxed,
            origin={"verifies": run_dir.name},
            programs=[(node.plan, node.code) for node in record.stored if node.operator == "user"],
            recorded=record.again(cut, scores, as_recorded=as_recorded),
            stop_after=record.stored.steps + len(cut),
        ) as session:
            copy, again = session.run_dir, session.search.journal
            found = _searched_again(session, record, scores, as_recorded=as_recorded)
            found = with_change(record.with_writer(found), change_since(run_dir, session.search.problem))
    except BackendError as error:  # what was asked is not what is recorded
        first = "" if again is None else first_difference(record.stored, again)
        return record.with_writer(
            Replayed(False, f"replay differs {first}; then {error}" if first else f"replay differs: {error}")
        )
    except SwarmEvoError as error:
        missing = how_to_give(to_plain(config), f"replay {run_dir.name} --verify")
        more = f" ({missing})" if missing else ""
        return Replayed(False, f"replay could not be done: {error}{more}", max(error.exit_code, 1), is_done=False)
    finally:
        if copy is not None:
            _remove(copy)
    if not record.limits:
        return found
    return replace(found, text=f"{found.text}; choices and prompts under the limits of their time: {record.limits}")


@dataclass(frozen=True, slots=True)
class _Record:
    """What a run has stored of its search."""

    stored: Journal
    calls: list[CallRecord]
    tasks: Mapping[str, Task]
    whys: Mapping[str, dict[str, Any]]
    told: list[Any]
    """See `context_history`."""
    baselines_told: Any
    rules: RecordedRules
    baselines: list[Any]
    final: Mapping[str, Any]
    limits: str
    """Those that a resume changed, in words; '' for none."""
    by_hand: bool
    """Some of its rounds are steps that were asked for one by one."""
    notes: Mapping[str, Any]
    """Facts of what the user noted, by the rounds that were told it."""
    marks: list[tuple[int, NodeMarked]]
    dropped: dict[int, list[str]]
    withdrawn: list[str]
    stopped: list[str]

    @classmethod
    def read(cls, run_dir: Path) -> _Record:
        with RunReader(run_dir) as reader:
            facts, tasks, calls = reader.facts(), reader.tasks(), reader.calls()
            stored = reader.journal(as_it_lies=True)
            return cls(
                stored=stored,
                calls=calls,
                tasks=tasks,
                whys={node_id: reader.why(node_id) for node_id in tasks},
                told=reader.fact(FACT) or [],
                baselines_told=reader.fact(TOLD),
                rules=RecordedRules(reader.fact(RULES_VERSION) or [], calls, rounds_of(tasks)),
                baselines=reader.fact("baselines", []),
                final=reader.fact("final") or {},
                limits=changed_limits(reader),
                by_hand=any(key.endswith("/by_hand") for key in facts),
                notes={key: value for key, value in facts.items() if _NOTES.fullmatch(key)},
                marks=marks_of_rounds(reader),
                dropped=dropped_nodes(reader),
                withdrawn=withdrawn_nodes(run_dir),
                stopped=_stopped(run_dir, stored),
            )

    def again(self, cut: list[str], scores: RecordedScores, *, as_recorded: bool) -> Recorded:
        """What a second search is answered from; `cut` as `cut_off` has it."""
        return Recorded(
            self.calls,
            "sample" if as_recorded else "exact",
            self.stopped,
            self.withdrawn,
            self.dropped,
            cut,
            {} if as_recorded else first_of_rounds(self.tasks.values()),
            scores,
            self.told,
            self.baselines_told,
            self.rules,
            self.marks,
        )

    def with_writer(self, found: Replayed) -> Replayed:
        """Programs that another version of `rules` wrote are told; who meets a difference hears what may explain it."""
        numbers = Numbering((node.id, node.operator) for node in self.stored)
        more = self.rules.told(numbers) or ("" if found.equal else self.rules.doubt())
        return replace(found, text=f"{found.text}; {more}") if more else found


def _searched_again(session: RunSession, record: _Record, scores: RecordedScores, *, as_recorded: bool) -> Replayed:
    """Search, or do the recorded tasks again, and compare what came of it."""
    if record.notes:
        session.store.put_facts(record.notes)
    if as_recorded:
        play_as_recorded(session, record.stored, record.tasks, record.whys, record.calls)
    else:
        session.run()
    finals = list(final_differences(session.search, record.final, record.baselines))
    for difference in finals:
        scores.count(difference)
    made = ["programs"] if as_recorded else ["proposals", "prompts", "programs"]
    return with_scores(compared(record.stored, session.search.journal), record.stored, scores, made, bool(finals))


def _verifies(run: Path) -> bool:
    """True for a run that a `replay --verify` made."""
    try:
        with RunReader(run) as reader:
            return "verifies" in (reader.fact("origin") or {})
    except StoreError:
        return False


def _remove(copy: Path) -> None:
    """A run that verified another, and what its programs left."""
    shutil.rmtree(copy.parent.parent / "workspaces" / copy.name, ignore_errors=True)
    shutil.rmtree(copy, ignore_errors=True)


def _stopped(run_dir: Path, stored: Journal) -> list[str]:
    """Nodes that have no score since the user stopped their programs; one stopped in a further score has its first."""
    found = ((node_id, stored.get_node_by_id(node_id)) for node_id in stopped_nodes(run_dir))
    return [node_id for node_id, node in found if node is None or node.metric_value is None]


def is_in_order(stored: Journal, tasks: Mapping[str, Task]) -> bool:
    """True if nodes were committed in the order of their proposals."""
    places = [_place(tasks[node.id]) for node in stored if node.id in tasks]
    return places == sorted(places)


def changed_writer(calls: Iterable[CallRecord]) -> bool:
    """True if one role was filled by several providers: a resume may change the writer."""
    of_role: dict[str, set[str]] = {}
    for call in calls:
        of_role.setdefault(call.role, set()).add(call.provider)
    return any(len(providers) > 1 for providers in of_role.values())


def cut_off(stored: Journal, tasks: Mapping[str, Task], withdrawn: Collection[str]) -> list[str]:
    """Proposals that became no node though later ones did: they were under way when the budget was over."""
    last = max((_place(tasks[node.id]) for node in stored if node.id in tasks), default=(0, 0))
    return [
        node_id
        for node_id, task in tasks.items()
        if node_id not in stored and node_id not in withdrawn and _place(task) < last
    ]


def _place(task: Task) -> tuple[int, int]:
    return task.round, task.slot


def first_of_rounds(tasks: Iterable[Task]) -> dict[int, Task]:
    """Round → its first task, of those that know how many steps were left: stores of older versions do not say."""
    first: dict[int, Task] = {}
    for task in tasks:
        if "steps_left" in task.model_fields_set:
            first.setdefault(task.round, task)
    return first


def play_as_recorded(
    session: RunSession,
    stored: Journal,
    tasks: Mapping[str, Task],
    whys: Mapping[str, dict[str, Any]],
    recorded: Iterable[CallRecord],
) -> None:
    """Do the recorded tasks again, round by round, in the order in which their nodes were committed."""
    session.score_seeds()
    orchestrator = session.search.orchestrator
    calls: dict[str | None, list[CallRecord]] = defaultdict(list)
    for call in recorded:
        calls[call.node_id].append(call)
    told = [node for node in stored if node.id in tasks or node.operator == "ensemble"]
    for number, nodes in groupby(told, key=lambda node: tasks[node.id].round if node.id in tasks else None):
        if number is None:
            orchestrator.add_ensemble()
            continue
        again = [tasks[node.id] for node in nodes]
        opened = RoundOpened(round=number, node_ids=[task.node_id for task in again])
        own = [whys[task.node_id] for task in again]
        kept = [_taken_over(why, stored, calls) for why in own]
        session.store.open_round(again, own, [opened], stages=kept)
        orchestrator.play(again)


def _taken_over(
    why: Mapping[str, Any], stored: Journal, calls: Mapping[str | None, list[CallRecord]]
) -> dict[str, dict[str, Any]]:
    """What a step from a stage took over of an earlier node; runs of older versions do not say."""
    source = stored.get_node_by_id(str(why.get(AGAIN)))
    return {} if source is None else kept_stages(source, calls[source.id], str(why[SINCE]))
