"""RunSession: one process's work on one run, from taking hold of it to the last word."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cli.terminal.view import View, open_view
from core.events import RunFinished, RunStarted, Warned
from core.storage.repository import RunStore
from runs.baselines import BaselineRunner
from runs.composition import Recorded, compose, problem_of
from runs.control import restore_marks
from runs.environment import environment
from runs.interrupts import Interrupts
from runs.outcome import conclude, export_node
from runs.run_folder import check_place, hold, new_run
from runs.seed_nodes import plant
from runs.sinks import BestSink, MetricsSink
from runs.workers import proof_of
from utils.config import secrets_of, to_plain
from utils.config_schema import Config
from utils.errors import NoSandboxError, StoreError, SwarmEvoError
from utils.logger_system import configure, log_msg


class RunSession:
    """Use as a context manager; `search` is ready inside.

    Args:
        config: the whole configuration.
        programs: (name, code) pairs that become the first nodes, beside `initial`.
        recorded: answers only from this record: nothing is asked.
        stop_after: end after so many steps, without telling the writers: for a replay.
        run_dir: an existing run's folder to go on with, or None for a new run.
    """

    def __init__(
        self,
        config: Config,
        run_dir: Path | None = None,
        *,
        accept_unsandboxed: bool = False,
        view: str | None = None,
        origin: dict[str, Any] | None = None,
        programs: Sequence[tuple[str, str]] = (),
        recorded: Recorded | None = None,
        stop_after: int | None = None,
    ) -> None:
        self.config = config
        self.resumed = run_dir is not None
        self.interrupts = Interrupts()
        self._accept = accept_unsandboxed
        self._view_kind = view or config.logging.view
        self._origin = origin or {}
        self._programs = list(programs)
        self._recorded = recorded
        self._stop_after = stop_after
        self._run_dir = run_dir
        self._stack = ExitStack()
        self._started = time.monotonic()
        self._before = 0.0

    def __enter__(self) -> RunSession:
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None and not self.store_closed:
            self._record_failure(error)
        self._stack.close()

    def active_seconds(self) -> float:
        """Seconds this run has been worked on, all its processes added up."""
        return self._before + time.monotonic() - self._started

    # ------------------------------------------------------------ opening

    def _open(self) -> None:
        self.store_closed = True
        if self.config.execution.sandbox == "none" and not self._accept:
            raise NoSandboxError(
                "execution.sandbox=none runs programs unprotected; add --i-accept-unsandboxed to mean it"
            )
        self.problem = problem_of(self.config)
        if self._run_dir is None:
            check_place(self.config.project.dir)
        self.problem.prepare()
        self.run_dir = self._run_dir or new_run(self.config.project.dir, self._prefix(), datetime.now(UTC))
        self._stack.enter_context(hold(self.run_dir))
        self.store = RunStore(self.run_dir)
        self.store_closed = False
        self._stack.callback(self._close_store)
        scratch = "verifies" in self._origin  # removed at its end: the links to the newest run stay
        secrets, level = secrets_of(self.config), self.config.logging.level
        self._log = configure(self.run_dir, secrets=secrets, level=level, link=not scratch)
        self._before = float(self.store.get_fact("active_seconds") or 0.0)
        self._stack.enter_context(self.interrupts.heard())
        try:
            self.search = compose(
                self.config,
                self.problem,
                self.store,
                run_dir=self.run_dir,
                interrupted=self.interrupts.finish,
                stop_now=self.interrupts.now,
                active_seconds=self.active_seconds,
                accept_unsandboxed=self._accept,
                recorded=self._recorded,
                stop_after=self._stop_after,
            )
        except BaseException:
            self._discard_empty()
            raise
        self._stack.callback(self._clear_workspaces)
        self._stack.callback(self.search.close)
        self._record_start()
        self.search.orchestrator.restore()
        restore_marks(self.run_dir, self.search.journal)
        self.view = self._attach_sinks()

    def _clear_workspaces(self) -> None:
        """What this process and killed ones before it left behind: nobody else works on the run."""
        from core.executor.workspace import remove_tree

        try:
            remove_tree(self.search.deps.work_dir)
        except OSError as error:
            log_msg("WARNING", f"workspaces: {error}")

    def _prefix(self) -> str:
        return self.config.project.name or self.problem.name.rpartition("/")[2]

    def _close_store(self) -> None:
        self.store_closed = True
        self.store.close()

    def _discard_empty(self) -> None:
        """A run that could not even be put together leaves nothing behind."""
        if self.resumed or self.store.seq:
            return
        self._stack.callback(self._remove_run)

    def _remove_run(self) -> None:
        import shutil

        shutil.rmtree(self.run_dir, ignore_errors=True)
        for name in ("system.log", "metrics.json"):
            link = self.run_dir.parent / name
            if link.is_symlink() and not link.exists():
                link.unlink()

    def _attach_sinks(self) -> View:
        view = open_view(self._view_kind, self)
        self._stack.callback(view.close)
        self.store.sinks = [
            MetricsSink(self.run_dir, self.store, self.config.search.policy),
            BestSink(self.search, self.run_dir),
            self.search.live,
            view,
        ]
        self._log.listen(self._warn)
        self._stack.callback(self._log.listen, None)
        return view

    def _warn(self, text: str) -> None:
        with suppress(StoreError):  # the log has it; a store that cannot be written ends the run by itself
            self.store.append([Warned(text=text)])

    def _record_start(self) -> None:
        config, problem, store = self.config, self.problem, self.store
        writer = self.writer
        plain = to_plain(config)
        if not self.resumed:
            (self.run_dir / "config.yaml").write_text(_yaml(plain), encoding="utf-8")
        facts = {
            "run": self.run_dir.name,
            "problem": problem.name,
            "unit": problem.unit,
            "family": problem.family,
            "lower_is_better": problem.lower_is_better,
            "writer": writer,
            "config": plain,
            "environment": environment(),
            "sandbox": {"tier": self.search.sandbox_tier, "probes": proof_of(config, self.search.sandbox_tier)},
            "status": "running",
        }
        if store.get_fact("started_at") is None:
            facts |= {"started_at": datetime.now(UTC).isoformat(), "origin": self._origin}
        budget = config.budget
        started = RunStarted(
            run=self.run_dir.name,
            problem=problem.name,
            lower_is_better=problem.lower_is_better,
            unit=problem.unit,
            writer=writer,
            policy=config.search.policy,
            sandbox=self.search.sandbox_tier,
            max_steps=config.search.max_steps,
            max_generations=config.search.max_generations,
            budget={"seconds": budget.seconds, "tokens": budget.tokens, "usd": budget.usd},
            resumed=self.resumed,
        )
        store.put_facts(facts, [started])  # all or nothing: a run that is killed before has not begun
        log_msg("INFO", f"run {self.run_dir.name}: {problem.name}, writer {writer}, sandbox {self.search.sandbox_tier}")

    @property
    def offline(self) -> bool:
        """True if recorded replies are played and no model is asked."""
        return self._recorded is not None

    @property
    def writer(self) -> str:
        """Who writes the programs: provider/model, or `rules`."""
        return self.search.model_client.settings_of("code").writer

    # ------------------------------------------------------------ running

    def run(self) -> int:
        """Search to the end; returns the exit code."""
        search = self.search
        self.view.start(search)
        plant(self.search, self._programs)
        runner = BaselineRunner(search, self.store)
        runner.start()
        reason = "interrupted"
        try:
            reason = search.orchestrator.run()
        finally:
            if reason == "interrupted":
                runner.abandon()
            self._save_time()
        if reason == "interrupted":
            return self._interrupted()
        search.deadline.lifted = True
        runner.finish()
        if self.config.search.ensemble:
            search.orchestrator.add_ensemble(self.config.search.top_k)
        self.finish(reason)
        return 0

    def prepare_step(self) -> None:
        """What a single step by hand needs first."""
        plant(self.search, self._programs)

    def pause(self) -> None:
        """A step by hand ends; the run waits for the next."""
        self._save_time()
        self.store.put_fact("status", "interrupted")

    def save_best(self) -> None:
        """After a step by hand: the best so far lies in best_solution/."""
        best = self.search.journal.get_best_node()
        if best is not None:
            export_node(self.search, best, self.run_dir / "best_solution", self.run_dir)
        self.pause()

    def finish(self, reason: str) -> None:
        """The last words: final choice, final score, exports, plots, report."""
        outcome = conclude(self.search, self.store, self.run_dir, reason)
        self._save_time()
        self.store.put_fact("status", "finished")
        self.store.append(
            [
                RunFinished(
                    status="finished",
                    reason=reason,
                    best_node_id=outcome.best_id,
                    best_metric=outcome.best_metric,
                    steps=self.search.journal.steps,
                )
            ]
        )
        outcome.write_files(report=self.config.logging.report)
        self.view.conclude(outcome)

    def _interrupted(self) -> int:
        journal = self.search.journal
        best = journal.get_best_node()
        self.store.put_fact("status", "interrupted")
        self.store.append(
            [
                RunFinished(
                    status="interrupted",
                    reason="interrupted",
                    best_node_id=best.id if best else None,
                    best_metric=best.metric_value if best else None,
                    steps=journal.steps,
                )
            ]
        )
        self.view.interrupted()
        return 130

    def _save_time(self) -> None:
        self.store.put_fact("active_seconds", round(self.active_seconds(), 3))

    def _record_failure(self, error: BaseException | None) -> None:
        """The run stays resumable; the store says why it stopped."""
        text = str(error) if isinstance(error, SwarmEvoError) else f"{type(error).__name__}: {error}"
        try:
            self._save_time()
            self.store.put_fact("status", "interrupted" if isinstance(error, KeyboardInterrupt) else "failed")
            if isinstance(error, Exception):
                self.store.append([RunFinished(status="failed", reason=text)])
        except SwarmEvoError:
            log_msg("ERROR", "the store could not be told of the failure")
        log_msg("ERROR", text)


def _yaml(plain: dict[str, Any]) -> str:
    from omegaconf import OmegaConf

    return OmegaConf.to_yaml(OmegaConf.create(plain))
