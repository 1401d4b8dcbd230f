"""`logs/<run>/system.log` tells the run: what is stored as events for programs, as lines for people."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from core.events import (
    BaselineScored,
    BuilderCompleted,
    CandidateRejected,
    Event,
    FinalScored,
    GameFinished,
    GenerationFinished,
    GenerationStarted,
    IslandMigrated,
    IslandReset,
    LadderCounted,
    LLMCalled,
    NodeCommitted,
    NodeMarked,
    NodeProposed,
    NodeStopped,
    NoteAdded,
    RoundOpened,
    RunFinished,
    StageDone,
    StrategistQuestion,
    TicketClosed,
    TicketLeased,
    Warned,
)
from core.storage.repository import RunStore
from reports.winner import titled
from utils.counts import counted
from utils.errors import StoreError
from utils.logger_system import RunLog

LONGEST = 300
"""Characters of a message or a note in one line; the node has the whole text."""


class LogSink:
    """A line an event: at INFO what a person follows a run by, at DEBUG what explains it. Single moves are left out.

    It works both ways: a warning that is logged becomes an event, and a warning that is an event is logged.

    Args:
        unstored: is told a warning that the store cannot take: nobody hears of its event.
    """

    def __init__(self, log: RunLog, store: RunStore, unstored: Callable[[str], None] = lambda text: None) -> None:
        self._log = log
        self._store = store
        self._unstored = unstored
        self._logged: Counter[str] = Counter()
        """Warnings that the log has, and that are on their way to being stored and told."""
        self._lock = threading.Lock()

    def warned(self, text: str) -> None:
        """For `RunLog.listen`: store a warning that was logged."""
        with self._lock:
            self._logged[text] += 1
        try:
            self._store.append([Warned(text=text)])
        except StoreError:
            self._is_logged(text)
            self._unstored(text)

    def emit(self, event: Event) -> None:
        if isinstance(event, Warned) and self._is_logged(event.text):
            return
        level, text = LINES.get(type(event), ("", str))
        if type(event) is LLMCalled and event.provider == "rules":
            level = "DEBUG"  # nothing was asked of anybody
        if level:
            self._log.write(level, text(event))

    def _is_logged(self, text: str) -> bool:
        """True, once, for a warning that the log has: what a sink warns of is told when that sink is done."""
        with self._lock:
            found = self._logged[text] > 0
            self._logged[text] -= found
            self._logged += Counter()  # drops those that are told
            return found


def _committed(event: NodeCommitted) -> str:
    parents = f" of {' '.join(event.parent_ids)}" if event.parent_ids else ""
    step = "" if event.number is None else f"step {event.number}: "
    return f"{step}{event.node_id} {event.operator}{parents} by {event.writer}: {_verdict(event)}"


def _verdict(event: NodeCommitted) -> str:
    ran = f"ran {event.exec_time:.3g} s"
    if event.failure is not None:
        return f"failed: {event.failure.value}: {_short(event.message)} ({ran})"
    if event.metric is None:
        return f"not scored: {_short(event.message)}"
    best = (
        "the best candidate so far" if event.is_best else f"best {_number(event.best_metric)} of {event.best_node_id}"
    )
    claim = "" if event.claimed_metric is None else f", claimed {event.claimed_metric:.6g}"
    return f"{event.metric:.6g} {event.metric_source}{claim}, {best} ({ran})"


def _called(event: LLMCalled) -> str:
    cost = "" if event.cost_usd is None else f", ${event.cost_usd:.4f}"
    tokens = f"{event.prompt_tokens or 0} + {event.completion_tokens or 0} tokens{cost}"
    how = "from the cache" if event.cached else f"{event.seconds:.3g} s, {counted(event.tries, 'try', 'tries')}"
    return f"call {event.call_id}: {event.role} {event.provider}/{event.model} for {event.node_id}: {tokens}, {how}"


def _baseline(event: BaselineScored) -> str:
    return f"{titled(event.model_dump())}: {event.failure.value if event.failure else _number(event.metric)}"


def _final(event: FinalScored) -> str:
    interval = "" if event.interval is None else f" (95 % {event.interval[0]:.6g} to {event.interval[1]:.6g})"
    return f"final score of {event.node_id}: {_number(event.metric)}{interval}"


def _finished(event: RunFinished) -> str:
    best = f"best {_number(event.best_metric)} of {event.best_node_id}" if event.best_node_id else "no valid program"
    how = event.status if event.reason == event.status else f"{event.status}: {event.reason}"
    return f"{how}; {counted(event.steps, 'step')}, {best}"


def _generation(event: GenerationFinished) -> str:
    rows = ", ".join(f"{row.get('name', row.get('node_id'))} {row.get('elo')}" for row in event.ratings[:5])
    return f"generation {event.generation} ends: promoted {' '.join(event.promoted) or 'nobody'}; Elo {rows}"


def _proposed(event: NodeProposed) -> str:
    parents = f" of {' '.join(event.parent_ids)}" if event.parent_ids else ""
    return f"proposed {event.node_id}: {event.operator}{parents} (round {event.round}, slot {event.slot})"


def _generation_begins(event: GenerationStarted) -> str:
    return f"generation {event.generation} begins; champion {event.champion}"


def _migrated(event: IslandMigrated) -> str:
    return f"after generation {event.generation}: {counted(len(event.moves), 'node')} migrated between islands"


def _reset(event: IslandReset) -> str:
    return f"island {event.island} starts again from {event.founder or 'nothing'}"


def _note(event: NoteAdded) -> str:
    return f"note of the user: {_short(event.text)}"


def _marked(event: NodeMarked) -> str:
    return f"the user marked {event.node_id}: {event.mark}"


def _stopped(event: NodeStopped) -> str:
    return f"the user stopped the program of {event.node_id}"


def _warned(event: Warned) -> str:
    return f"{event.node_id}: {event.text}" if event.node_id else event.text


def _opened(event: RoundOpened) -> str:
    return f"round {event.round} opened: {' '.join(event.node_ids)}"


def _stage(event: StageDone) -> str:
    return f"{event.stage} of {event.node_id} took {event.seconds:.3g} s"


def _ladder(event: LadderCounted) -> str:
    return f"round {event.round}: stopped by the duplicate ladder: {event.counts}"


def _question(event: StrategistQuestion) -> str:
    return f"question {event.index} ({event.category}): {_short(event.question)}"


def _leased(event: TicketLeased) -> str:
    return f"{event.node_id} is with {_short(event.holder) or 'a writer outside'}"


def _closed(event: TicketClosed) -> str:
    return f"{event.node_id}: its ticket {'was given up' if event.state == 'given_up' else 'expired'}"


def _built(event: BuilderCompleted) -> str:
    return f"built {event.node_id}: {event.name}"


def _refused(event: CandidateRejected) -> str:
    return f"{event.node_id} refused by {event.refused_by}: {event.failure.value}: {_short(event.reason)}"


def _game(event: GameFinished) -> str:
    plies = counted(event.plies, "ply", "plies")
    return f"game {event.white} - {event.black}: {event.result} {event.termination}, {plies}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _short(text: str) -> str:
    return " ".join(text.split())[:LONGEST]


LINES: dict[type, tuple[str, Callable[[Any], str]]] = {
    NodeCommitted: ("INFO", _committed),
    LLMCalled: ("INFO", _called),
    BaselineScored: ("INFO", _baseline),
    FinalScored: ("INFO", _final),
    RunFinished: ("INFO", _finished),
    GenerationStarted: ("INFO", _generation_begins),
    GenerationFinished: ("INFO", _generation),
    IslandMigrated: ("INFO", _migrated),
    IslandReset: ("INFO", _reset),
    NoteAdded: ("INFO", _note),
    NodeMarked: ("INFO", _marked),
    NodeStopped: ("INFO", _stopped),
    Warned: ("WARNING", _warned),
    RoundOpened: ("DEBUG", _opened),
    NodeProposed: ("DEBUG", _proposed),
    StageDone: ("DEBUG", _stage),
    TicketLeased: ("INFO", _leased),
    TicketClosed: ("INFO", _closed),
    LadderCounted: ("DEBUG", _ladder),
    StrategistQuestion: ("DEBUG", _question),
    BuilderCompleted: ("DEBUG", _built),
    CandidateRejected: ("DEBUG", _refused),
    GameFinished: ("DEBUG", _game),
}
"""Event → the level from which on it is told, and its line. What is absent is not told."""
