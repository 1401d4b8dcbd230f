"""RunSession: one process's search of one run, from the run that was opened to the outcome."""

from __future__ import annotations

from runs.beginning.left_open import tell_what_is_open
from runs.beginning.seed_nodes import score_seeds
from runs.ending.outcome import Outcome, conclude, ended_outcome
from runs.ending.process_end import in_words, record_end
from runs.opened_run import OpenedRun
from runs.parts.baselines import BaselineRunner
from runs.parts.writing import uses_models
from runs.tickets.queue import ENDED, STOPPED
from utils.errors import FilesLackError, Interrupted
from utils.stop_frames import let_go

NOTHING_VALID = 3
"""Exit code of a search that ended by its limits without a single valid program."""


class RunSession(OpenedRun):
    """An opened run, and its search. `OpenedRun` says what one is made of and what entering it raises."""

    def run(self) -> int:
        """Search until a limit is reached; returns the exit code: 0, NOTHING_VALID, or 130 if it was interrupted."""
        search = self.search
        if self.nothing_left:
            return self._ended_already()
        self._clock.prepare()
        search.problem.warm_up(self._doing)
        self._view.start(self.facts, search.orchestrator.progress)
        tell_what_is_open(self.store, self.facts, self._view, self.withdrawn)
        needed = () if uses_models(self.config) else search.problem.preload
        runner = BaselineRunner(search, self.store, self.interrupts.finish.set, needed)
        reason = "interrupted"
        told, broke_off = STOPPED, False
        try:
            reason = self._searched(runner)
            runner.check()  # where a baseline showed that nothing can be scored, it interrupted the search
        except KeyboardInterrupt as stop:
            let_go(stop)
            raise
        except Exception as error:
            told, broke_off = f"the run broke off: {in_words(error)}", True
            raise
        finally:
            if reason == "interrupted":
                runner.abandon()
            if self._queue is not None:
                self._queue.end(told if reason == "interrupted" else ENDED, broke_off=broke_off)
            self.save_time()
        if reason == "interrupted":
            return self._interrupted()
        search.deadline.lifted = self.interrupts.search_is_over = True
        self._clock.end()
        allowance = search.deps.allowance
        allowance.begin(self.active_seconds())
        self._doing(f"the search is over; the winner is chosen among the best{allowance.told}")
        runner.finish(allowance.left)
        with allowance.beside():
            self._blend()
        if self._is_scratch:  # the journals are compared: nobody is to see the final part once more
            return 0
        return 0 if self._finish(reason).best else NOTHING_VALID

    def _searched(self, runner: BaselineRunner) -> str:
        """Why the search ended: `interrupted` also before it began, while the programs of its beginning were scored."""
        search = self.search
        try:
            if search.self_test is not None:
                search.self_test.wait()
            if uses_models(self.config):
                recorded = self._recorded.baselines_told if self._recorded is not None else None
                runner.score_first(self.config.budget.seconds, recorded)
            else:
                runner.start()
            self._clock.begin()
            with self._seconds.kept():
                self.score_seeds()
                return search.orchestrator.run(self._blend)
        except Interrupted:
            return "interrupted"

    def _blend(self) -> None:
        if self.config.search.ensemble:
            self.search.orchestrator.add_ensemble(self._doing)

    def score_seeds(self) -> None:
        """Let the programs that were given become the first nodes; what is there already stays."""
        score_seeds(self.search, self._programs)

    def _finish(self, reason: str) -> Outcome:
        """Final choice, final score, exports, plots, report. Who stops it before the final score is stored can resume;
        after that the run has its answer, and a stop only ends the writing of files.

        Raises:
            FilesLackError: some of these could not be written.
        """
        outcome = conclude(self.search, self.facts, reason)
        outcome.final_seconds = self._clock.since_end()
        record_end(self.search, "finished", reason, outcome.best)
        self.outcome = outcome
        outcome.read_conclusion()
        self._doing("plots and report are drawn" if self.config.logging.report else "the winner is written")
        try:
            outcome.write_files(self.store, report=self.config.logging.report)
        finally:  # the answer is there, whatever becomes of the files
            self._view.conclude(outcome)
        if outcome.lacking:
            files = ", ".join(outcome.lacking)
            raise FilesLackError(
                f"run {self.facts.run} has ended and its answer is stored, but not written: {files} (the warnings say "
                f"why); once that is mended `resume {self.facts.run}` writes them"
            )
        return outcome

    def _ended_already(self) -> int:
        """Nothing is done and nothing written: the end that is stored stays this run's end."""
        self._doing("")
        self.outcome = ended_outcome(self.search, self.facts, self.nothing_left)
        self._view.nothing_left(self.outcome, self.search.orchestrator.progress())
        return 0 if self.outcome.best else NOTHING_VALID

    def _interrupted(self) -> int:
        record_end(self.search, "interrupted", "interrupted", self.leader())
        self._view.interrupted()
        return 130
