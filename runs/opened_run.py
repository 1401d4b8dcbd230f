"""OpenedRun: a run that this process has taken hold of: folder, store, search, and whoever is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from core.contracts import Problem
from core.events import Warned
from core.executor.early import EarlyServer
from core.state.node import Node
from core.storage.event_writer import IN_A_SEARCH
from core.storage.origin import taken_up, words_now
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.rows import BROKE_OFF
from core.storage.told_node import check_told
from reports.winner import Standing, standing_of, winner_node
from runs.beginning.begun import check_steps, withdraw_waiting
from runs.beginning.making_ready import made_ready
from runs.beginning.nothing_left import ended_as_it_is, nothing_left
from runs.beginning.start import record_start
from runs.beside.archiving import ArchiveSink
from runs.beside.log_sink import LogSink
from runs.beside.reserve import reserved
from runs.beside.search_clock import SearchClock
from runs.beside.sinks import BestSink, MetricsSink, TimeSink
from runs.beside.work_board import WorkBoard
from runs.composition import compose
from runs.control import restore_marks, said_so_far
from runs.ending.outcome import Outcome
from runs.ending.process_end import (
    clear_workspaces,
    in_words,
    is_by_user,
    is_refusal,
    left_as_it_was,
    record_failure,
    remove_run,
    sweep_scratch,
)
from runs.facts import NOBODY, RunFacts
from runs.interrupts import Interrupts
from runs.parts.workers import SandboxAhead
from runs.run_folder import hold, new_run
from runs.search import Process, Recorded
from runs.tickets.queue import TicketQueue
from runs.tickets.service import open_queue, serve
from runs.tracking import open_trackers
from runs.view import SilentView, View
from utils.awake_clock import AwakeClock
from utils.config import secrets_of
from utils.config_schema import Config
from utils.errors import BackendError, ConfigError, FilesLackError, RunBusyError
from utils.logger_system import close, configure, log_msg
from utils.stop_frames import let_go

LEADERS = 20
"""So many of the best have to be as the journal told them before a run is taken up: a winner is chosen among them."""
FILES_LACK = "stopped while files were written: the run has its answer; `export-best` and `report` write the rest"


class OpenedRun:
    """Use as a context manager; `search` and `facts` are ready inside.

    Args:
        config: the whole configuration.
        run_dir: an existing run's folder to go on with, or None for a new run.
        view: told of everything; closed with the session.
        origin: where a new run comes from, kept as a fact.
        programs: (name, code) pairs that become the first nodes, beside `initial`.
        recorded: answers only from this record: nothing is asked.
        stop_after: end after so many steps, without telling the writers: for a replay.
        idle: with an external writer, end after so many seconds in which nobody asked or told.
        by_hand: steps are taken one by one, also of a run that has ended; else such a run is only looked at.
        early: a fork server that was started on a guess before the configuration was read.

    Raises on entering:
        ConfigError, NoSandboxError, RunBusyError, StoreError: nothing has run yet, and a new run leaves nothing behind.
    """

    def __init__(
        self,
        config: Config,
        run_dir: Path | None = None,
        *,
        view: View | None = None,
        accept_unsandboxed: bool = False,
        origin: Mapping[str, Any] | None = None,
        programs: Sequence[tuple[str, str]] = (),
        recorded: Recorded | None = None,
        stop_after: int | None = None,
        idle: float | None = None,
        by_hand: bool = False,
        early: EarlyServer | None = None,
    ) -> None:
        self.config = config
        self.resumed = run_dir is not None
        self.outcome: Outcome | None = None
        """What the run came to; None until the search has ended by a limit."""
        self.nothing_left = ""
        """Why a run that had ended does not go on; '' where it does. Then nothing is written."""
        self._view = view or SilentView()
        self.interrupts = Interrupts(self._view.finishing)
        self._accept = accept_unsandboxed
        self._origin = origin or {}
        self._programs = list(programs)
        self._recorded = recorded
        self._stop_after = stop_after
        self._idle = idle
        self._by_hand = by_hand
        self._early = early
        self._queue: TicketQueue | None = None
        self._given_dir = run_dir
        self._control_begun = said_so_far(run_dir) if run_dir is not None else 0
        self._config_then = _stored_config(run_dir) if run_dir is not None else None
        """As the run had it when `config` was made of it."""
        self._stack = ExitStack()
        self._board: WorkBoard | None = None
        self._ahead: SandboxAhead | None = None
        self._awake = AwakeClock()
        self._clock = SearchClock(self._awake)
        self._before: dict[str, Any] = {}
        """Status and reason of a run as this process found it."""
        self._found = 0
        """Nodes that it had then."""
        self._begun = False
        """The store says that this process works on the run."""
        self.ended_with: int | None = None
        """Nodes of a run that had ended when this process took it up; None for any other."""
        self.withdrawn: tuple[str, ...] = ()
        """Nodes of proposals that nobody had begun and for which no step is left."""

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                let_go(error)
            self._doing("")
            try:
                self._not_opened(error)
            finally:
                self._stack.close()
            raise
        return self

    def _not_opened(self, error: BaseException) -> None:
        """What a run that had begun says of it; a new one that was refused then had not begun."""
        if not self._begun or is_by_user(error):
            return
        if not self.resumed and is_refusal(self.search, error):
            self._begun = False
        elif not self.store_closed:
            self._record_failure(error)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, KeyboardInterrupt):
            let_go(error)
        refused = not self.resumed and is_refusal(self.search, error)  # then it leaves nothing behind
        try:
            if kind is not None and not self.store_closed and not refused:
                self._record_failure(error)
        finally:
            self._stack.close()
        if refused:
            remove_run(self.run_dir)
            if len(self.search.journal):  # something was scored, and is gone with it
                raise ConfigError(f"{error}; so the run was not kept: mend this and begin again") from error

    def active_seconds(self) -> float:
        """Seconds of the search; see `SearchClock`."""
        return self._clock.seconds()

    @property
    def _is_scratch(self) -> bool:
        """True for a run that verifies another and is removed at its end: the links to the newest run stay."""
        return "verifies" in self._origin

    def _doing(self, text: str) -> None:
        """Tell whoever watches, here and at the page, what goes on besides the search; '': that is over."""
        self._view.doing(text)
        if self._board is not None:
            self._board.doing(text)

    def _open(self) -> None:
        self.store_closed = True
        problem = made_ready(
            self.config,
            accept_unsandboxed=self._accept,
            doing=self._doing,
            run_dir=self._given_dir,
            beside=self._open_sandbox,
        )
        self._take_hold(problem)
        self._compose(problem)
        origin = taken_up(self.store.get_fact("origin"), self._origin)
        self.facts = self._facts(problem, words_now(origin))
        if not self._take_up(origin):
            self._stack.callback(self._view.close)
            return
        restore_marks(self.run_dir, self.search.journal)
        self._doing("")
        self._attach_sinks()
        if self._queue is not None:
            serve(self._queue, self.search, self.run_dir, self.store, self._stack)

    def _open_sandbox(self, problem: Problem) -> None:
        if self.config.execution.runner != "ray":
            self._ahead = SandboxAhead(self.config, problem, self._accept, self._early)
            self._stack.callback(self._ahead.close)
        elif self._early is not None:
            self._early.close()

    def _take_hold(self, problem: Problem) -> None:
        """The run's folder, which nobody else works on from now on, its store, its signals, its tickets."""
        self._doing("sandbox and workers are started")
        prefix = self.config.project.name or problem.name.rpartition("/")[2]
        self.run_dir = self._given_dir or new_run(
            self.config.project.dir, prefix, datetime.now(UTC), hidden=self._is_scratch
        )
        self._stack.callback(self._discard_unbegun)
        sweep_scratch()
        self._stack.enter_context(self._awake.watched())
        self._stack.enter_context(hold(self.run_dir))
        self._stack.enter_context(reserved(self.run_dir))
        self._open_files()
        if self.resumed:
            self._check_config()
            check_steps(self.run_dir, self.config)
            check_told(self.store.db, [node_id for node_id, _ in self.store.leading_and_newest(LEADERS, 0)])
        self._stack.enter_context(self.interrupts.handled())
        if self._recorded is None:  # a replay asks nobody
            self._queue = open_queue(
                self.config, self.store, self.interrupts, lambda: self.search.deadline, self._idle, self._awake
            )

    def _check_config(self) -> None:
        """What another process was told while this one was made ready would be taken back by what this one stores."""
        if self.store.get_fact("config") != self._config_then:
            told = "another process worked on it meanwhile, with other keys; call it again"
            raise RunBusyError(f"run '{self.run_dir.name}': {told}")

    def _compose(self, problem: Problem) -> None:
        process = Process(
            run_dir=self.run_dir,
            store=self.store,
            interrupts=self.interrupts,
            active_seconds=self.active_seconds,
            accept_unsandboxed=self._accept,
            recorded=self._recorded,
            control_begun=self._control_begun,
            stop_after=self._stop_after,
            tickets=self._queue,
            doing=self._doing,
            sandbox=self._ahead,
            awake=self._awake,
        )
        self.search = compose(self.config, problem, process)
        self._board = self.search.live.work
        self._stack.callback(clear_workspaces, self.search.deps.work_dir)
        self._stack.callback(self.search.close)

    def _facts(self, problem: Problem, words: tuple[str, ...]) -> RunFacts:
        return RunFacts(
            run_dir=self.run_dir,
            config=self.config,
            problem=problem,
            roles=self.search.model_client.roles,
            sandbox=self.search.sandbox_tier,
            offline=self._recorded is not None,
            words=words,
            standing=self._standing(),
            resumed=self.resumed,
            by_hand=self._by_hand,
        )

    def _take_up(self, origin: dict[str, Any]) -> bool:
        """Read back what was done and store that a process goes on with it. False where a run that had ended has
        nothing left to do: whatever was written now would move the head of a journal that is complete.
        """
        self._before = {name: self.store.get_fact(name) for name in ("status", BROKE_OFF)}
        was_finished = self._before["status"] == "finished"
        has_ended = self.resumed and not self._by_hand and ended_as_it_is(self.store)
        if not has_ended:
            self.withdrawn = withdraw_waiting(self.store, self.config) if self.resumed and not self._by_hand else ()
            self._record_start(origin)
        self.search.orchestrator.restore()
        self._found = len(self.search.journal)
        self.ended_with = self._found if was_finished else None
        if has_ended:
            self.nothing_left = nothing_left(self.store, self.search)
            if self.nothing_left:
                return False
            self._record_start(origin)
        return True

    def _record_start(self, origin: dict[str, Any]) -> None:
        record_start(self.store, self.facts, origin, self.search.told, self.search.rules_version)
        self._begun = True

    def _open_files(self) -> None:
        secrets, level = secrets_of(self.config), self.config.logging.level
        self._log = configure(self.run_dir, secrets=secrets, level=level, link=not self._is_scratch)
        self._stack.callback(close, self._log)
        self.store = RunStore(self.run_dir, delay=0.0 if self._by_hand else IN_A_SEARCH)
        self.store_closed = False
        self._stack.callback(self._close_store)
        self._clock.before = float(self.store.get_fact("active_seconds") or 0.0)

    def leader(self) -> Node | None:
        """Who leads now: a node, or a baseline's program."""
        with RunReader(self.run_dir) as reader:
            return winner_node(reader, reader.facts())

    def _standing(self) -> Standing:
        with RunReader(self.run_dir) as reader:
            return standing_of(reader) if self.resumed else NOBODY

    def _close_store(self) -> None:
        self.store_closed = True
        self.store.close()

    def _discard_unbegun(self) -> None:
        """A new run that could not even be put together leaves nothing behind."""
        if not self.resumed and not self._begun:
            remove_run(self.run_dir)

    def _attach_sinks(self) -> None:
        log, self._seconds = LogSink(self._log, self.store, self._warn_unstored), TimeSink(self.save_time)
        best = BestSink(self.search, self.run_dir)
        best.catch_up()
        self.store.sinks = [
            MetricsSink(self.run_dir, self.store, self.config.search.options.generation_size is not None),
            best,
            ArchiveSink(self.run_dir, self.store, self.config.execution),
            log,
            self.search.live,
            self._view,
            self._seconds,
        ]
        self._stack.callback(self._view.close)
        self._attach_trackers()
        self._log.listen(log.warned)
        self._stack.callback(self._log.listen, None)

    def _warn_unstored(self, text: str) -> None:
        """A store that cannot be written ends a search in one line; behind its end this is all that anybody hears."""
        if self.outcome is not None:
            self._view.emit(Warned(text=text))

    def _attach_trackers(self) -> None:
        if not self._is_scratch:  # a second look at a run is nothing to tell
            for tracker in open_trackers(self.facts):
                self.store.sinks.append(tracker)
                self._stack.callback(tracker.close, lambda text: self._view.emit(Warned(text=text)))

    def save_time(self) -> None:
        """Store how long the run has been worked on."""
        self.store.put_fact("active_seconds", round(self.active_seconds(), 3))

    def _record_failure(self, error: BaseException | None) -> None:
        by_user = is_by_user(error)
        if self.outcome is not None:  # the run has ended, and only its last words were not heard
            if not isinstance(error, FilesLackError):  # each of them was told
                log_msg("WARNING", FILES_LACK if by_user else f"after the end: {in_words(error)}")
            return
        added = len(self.search.journal) - self._found
        if self._by_hand and not added and left_as_it_was(self.store, self._before, error):
            log_msg(*(("INFO", "stopped at once by the user") if by_user else ("ERROR", in_words(error))))
        else:
            record_failure(self.search, self.leader, error, self.active_seconds())
        if by_user:
            self._view.interrupted()
        elif isinstance(error, BackendError):
            self._view.interrupted("broken off")


def _stored_config(run_dir: Path) -> Any:
    with RunReader(run_dir) as reader:
        return reader.fact("config")
