"""Judges programs by a user's evaluator, kept apart from them as was decided with the user's own program."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from core.contracts import Evaluation, EvaluatorDeps, JobSpec
from core.evaluation.base import as_time_allows, nothing_better, or_lost, parent_metric
from core.evaluation.isolation.decision import UNSCORED, UNTRIED, Decision
from core.evaluation.isolation.evaluator import EvaluatorRun
from core.evaluation.isolation.modules import led_to
from core.evaluation.repeats import RepeatableEvaluator, averaged
from core.evaluation.static_check import syntax_refusal
from core.evaluation.tune import tune_program
from core.events import Warned
from core.state.failure import FailureKind
from core.state.node import Node
from problems.blocks import block_lines
from problems.metric_direction import ASKED
from problems.script.first_score import doubts_of
from problems.script.reading import error_that_steers, numbers, verdict_of, without_folder
from problems.script.screening import NOT_RANKED, Screened, judged, margin, may_rank
from problems.script.told_modules import files_of
from utils.counts import counted
from utils.direction import Direction
from utils.errors import BudgetExhausted, JobLost
from utils.file_utils import write_atomic
from utils.logger_system import log_msg

WAYS: Mapping[str, str] = {
    "apart": "apart from the evaluator",
    "screen": "beside the evaluator first, and apart where they may rank",
    "together": "beside the evaluator",
}
FIRST = 100
"""Among so many first nodes are the user's own programs."""
GIVEN = ("baseline", "user")
"""What operator a node has that is a program of the user's."""
NO_VERDICT = (FailureKind.EVAL_ERROR, FailureKind.NON_FINITE)
"""Failures that say that what scores gave no number, whatever the program did."""
DECISION = "isolation.json"
"""In the run's `files/`: a resumed run goes on as it began."""


class ScriptEvaluator(RepeatableEvaluator):
    """Judges nodes alone; where they are screened, a round together, because only the best of it are scored in full.

    Args:
        evaluator: the user's file.
        program: the user's own program; with it is decided how all others are kept apart from the evaluator.
        further: other programs that the user gives: where the own one has no score, the first of these that has one
            decides.
        offers: modules beside the evaluator that every program may import.
        options: for the harness: `thresholds`, `cascade`, `metric`, `lower_is_better`, `arguments`.
        isolation: `problem.options.isolation`.
        shows: further files and folders that the evaluator reads.
        metric: name of the metric that steers; None: `combined_score`, else the mean of all numbers.
        timeout: seconds for one evaluation.
        has_final: the evaluator has instances that steer no search (`options.template`).
        direction_open: nobody said whether more is better: then what steers is not called like an error.
        file: what the user's program is called, where it is no Python: nothing is known of such programs before they
            are evaluated. `beside`: its folder, where that is another than the evaluator's.
    """

    def __init__(
        self,
        deps: EvaluatorDeps,
        evaluator: Path,
        *,
        program: str,
        options: dict[str, Any],
        isolation: str,
        shows: Sequence[str],
        metric: str | None,
        timeout: float,
        lower_is_better: bool,
        direction_open: bool = False,
        has_final: bool = False,
        file: str = "",
        beside: str = "",
        further: Sequence[str] = (),
        offers: Sequence[str] = (),
    ) -> None:
        self._further, self._offers = further, list(offers)
        self._deps, self._evaluator, self._program, self._options = deps, evaluator, program, options
        self._file, self._beside, self._has_final = file, beside, has_final
        self._isolation, self._shows = isolation, list(shows)
        self._metric, self._timeout = metric, timeout
        self._direction, self._direction_open = Direction(lower_is_better), direction_open
        self._repeats = self._repeated(deps)
        self._lock = threading.Lock()
        self._tried: dict[str, Evaluation] = {}
        """Program → the verdict on it, of those of the user's that were scored to decide."""
        self._own: tuple[str, ...] = ()
        """The numbers that the one has which decided."""
        self._seen: dict[str, Evaluation] = {}
        """Node id → what screening said ahead of the node's round."""
        self._decision: Decision | None = None
        self.together = False
        self._take(self._stored())

    def check(self, node: Node) -> Evaluation | None:
        return None if self._file else syntax_refusal(node.code)

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        decision = self._decided()
        if isinstance(decision, Evaluation):
            return [decision for _ in nodes]
        if decision.isolation == "screen":
            return self._screened(decision, nodes)
        return [self._known(node) or self.score(node.code, node.id) for node in nodes]

    def look_ahead(self, node: Node) -> None:
        decision = self._decision
        if decision is not None and decision.isolation == "screen":
            (self._seen[node.id],) = self._scores(decision, [node], beside=True)

    def score(self, code: str, label: str = "") -> Evaluation:
        """The user's verdict on a program of the node `label`: as it was decided, apart where there are two ways."""
        decision = self._decided()
        if isinstance(decision, Evaluation):
            return decision
        return self._asked(decision, code, label)

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        """Search better numbers inside the evolving blocks, each trial scored; the best counts if it is better.

        Where programs are screened, trials are scored apart all the same: a program that says beside the evaluator
        which numbers are the best would have what it reads there written into its source.
        """
        if self._file:
            return nothing_better(node)
        known = parent_metric(node, self._deps.journal)
        tuned = tune_program(
            node.code,
            lambda code: self.score(code, node_id).metric,
            trials=self._deps.tune_trials,
            seed=seed,
            lower_is_better=self._direction.lower_is_better,
            lines=block_lines(node.code),
        )
        if tuned is None or tuned.score == tuned.start or not self._direction.better(tuned.score, known):
            return nothing_better(node)
        verdict = self.score(tuned.code)
        if self.together and not self._direction.better(verdict.metric, known):
            return nothing_better(node)
        detail = {"trials": tuned.trials, "start": tuned.start, "end": tuned.score}
        return verdict.model_copy(update={"code": tuned.code, "metadata": {**verdict.metadata, "tune": detail}})

    def anew(self, node: Node) -> Evaluation:
        return self.score(node.code, node.id)

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        """Of an evaluator with instances that steer no search, the score on these."""
        decision = self._decision
        if not self._has_final or decision is None:
            return [None for _ in nodes]
        return as_time_allows(self._deps, "final part: programs scored", nodes, partial(self._final, decision))

    def _final(self, decision: Decision, node: Node) -> Evaluation:
        return or_lost(lambda: self._asked(decision, node.code, "", part="test"))

    def _asked(self, decision: Decision, code: str, label: str, **options: Any) -> Evaluation:
        """A program's verdict, the way that was decided. Of own programs that failed before they were used it is not
        known what the evaluator does with them: one that it runs or reads as a file is scored beside it.

        Args:
            options: of the harness, beside those that every program is scored with.
        """
        shared = decision.isolation == "together"
        spec = self._spec(decision, code, label, beside=shared)
        payload = {**spec.payload, "options": {**self._options, **options}}
        run = EvaluatorRun.model_validate(self._deps.jobs.run(spec.model_copy(update={"payload": payload})))
        is_open = decision.reason == UNSCORED and self._isolation == "auto" and not shared
        if is_open and run.refused and not run.by_program:
            beside = decision.model_copy(update={"isolation": "together", "reason": run.refused})
            return self._asked(beside, code, label, **options)
        return self._verdict(run, decision if shared else None)

    # ------------------------------------------------------------ how candidates are kept apart

    def _decided(self) -> Decision | Evaluation:
        """The decision, made now if there is none; the verdict on the user's program where nothing can be decided."""
        with self._lock:
            if self._decision is None:
                self._deps.doing(
                    "your own program is scored in several ways, several at once where that takes long: "
                    "how are others to be kept apart from the evaluator?"
                )
                found = self._decide()
                self._deps.doing("")
                if isinstance(found, Evaluation):
                    return found
                self._keep(found)
            assert self._decision is not None
            return self._decision

    def _decide(self) -> Decision | Evaluation:
        """By the first of the user's programs that has a score; by its own one where all of them fail by themselves."""
        tries: list[tuple[Decision, Evaluation]] = []
        for code in dict.fromkeys((self._program, *self._further)):
            began = time.monotonic()
            answer = self._tried_ways(code, began)
            if "unusable" in answer:
                return Evaluation(failure=FailureKind.EVAL_ERROR, message=answer["unusable"])
            decision = Decision.model_validate(answer["decision"])
            shared = decision.isolation == "together"
            verdict = self._verdict(EvaluatorRun.model_validate(answer["run"]), decision if shared else None)
            if verdict.metric is not None:
                took = f"{counted(decision.tries, 'score')} of your own program in {time.monotonic() - began:.1f} s"
                return self._decided_by(code, decision, verdict, took)
            self._tried[code] = verdict
            tries.append((decision, verdict))
        decision, verdict = tries[0]
        return verdict if verdict.failure in NO_VERDICT else decision

    def _tried_ways(self, code: str, began: float) -> dict[str, Any]:
        """What the job `decide` says of a program of the user's."""
        payload = {**self._common(code), "wanted": self._isolation, "shows": self._shows}
        try:
            return dict(self._deps.jobs.run(self._job("decide", payload)))
        except BudgetExhausted:
            self._tell_cut_off(time.monotonic() - began)
            raise

    def _decided_by(self, code: str, decision: Decision, verdict: Evaluation, took: str) -> Decision | Evaluation:
        log_msg("INFO", f"programs are scored {WAYS[decision.isolation]}: decided by {took}")
        if decision.modules:
            log_msg("INFO", f"programs and their writers see what yours imports: {files_of(decision.modules)}")
        if self._direction_open and (name := error_that_steers(verdict.metrics, self._metric)):
            return Evaluation(failure=FailureKind.EVAL_ERROR, message=f"the score is {name!r}: {ASKED}")
        verdict = averaged(verdict, decision.scores)  # one lucky score of it would hide what is better
        self._deps.append([Warned(text=text) for text in doubts_of(verdict, self._metric)])
        self._tried[code], self._own = verdict, tuple(numbers(verdict.metrics))
        return decision

    def _tell_cut_off(self, seconds: float) -> None:
        """The budget ended the first score of the user's own program: tell what it took, and what one may take."""
        allowed = f"problem.options.evaluation_timeout={self._timeout:g}"
        late = f"an evaluation did not end within {allowed}" if seconds > self._timeout else f"one may take {allowed}"
        log_msg("WARNING", f"your own program got no score in {seconds:.0f} s of the budget: {late}")

    def _take(self, decision: Decision | None) -> None:
        self._decision = decision
        self.together = decision is not None and decision.isolation == "screen"

    def _keep(self, decision: Decision) -> None:
        self._take(decision)
        write_atomic(self._deps.run_dir / "files" / DECISION, decision.model_dump_json(indent=1))
        if decision.modules:
            self._tell_led_to(decision)
        if decision.isolation == "apart" and decision.reason == UNTRIED:
            text = f"the evaluator looks at the clock, and {UNTRIED}: if it is one, the way of each call is in it, and"
            self._deps.append([Warned(text=f"{text} --problem.options.isolation=together leaves that out")])
        if decision.isolation == "apart" and decision.doubt:
            self._deps.append([Warned(text=f"scores may be none of the programs': {decision.doubt}")])
        if decision.isolation == "together" and self._deps.isolated and self._isolation != "together":
            text = f"scores are unisolated, a candidate could reach the evaluator: {decision.reason}"
            self._deps.append([Warned(text=text)])

    def _tell_led_to(self, decision: Decision) -> None:
        """What lies beside the evaluator is seen where the user did not mean it to be."""
        evaluator = self._evaluator.read_text(encoding="utf-8", errors="replace")
        if found := led_to(decision.modules, self._program, evaluator):
            text = f"{files_of(found)}: the evaluator imports it, and programs and their writers see it, since another"
            self._deps.append([Warned(text=f"{text} module that your program imports does: no answers may lie in it")])

    def _stored(self) -> Decision | None:
        path = self._deps.run_dir / "files" / DECISION
        return Decision.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else None

    def _known(self, node: Node) -> Evaluation | None:
        """The verdict that deciding gave, once, for a program of the user's."""
        with self._lock:
            return self._tried.pop(node.code, None)

    # ------------------------------------------------------------ screening

    def _screened(self, decision: Decision, nodes: Sequence[Node]) -> list[Evaluation]:
        """Verdicts of a round: all are screened, those that may rank are scored apart."""
        verdicts = [self._known(node) for node in nodes]
        left = [place for place, verdict in enumerate(verdicts) if verdict is None]
        found = {place: self._seen.pop(nodes[place].id, None) for place in left}
        missing = [place for place in left if found[place] is None]
        found |= zip(missing, self._scores(decision, [nodes[place] for place in missing], beside=True), strict=True)
        screened = {place: Screened(nodes[place], verdict) for place, verdict in found.items() if verdict is not None}
        ranked = may_rank(list(screened.values()), self._deps.journal, self._direction)
        sure = self._scores(decision, [one.node for one in ranked], beside=False)
        by_id = {
            one.node.id: self._confirmed(decision, one, verdict) for one, verdict in zip(ranked, sure, strict=True)
        }
        for place, one in screened.items():
            verdicts[place] = by_id.get(one.node.id) or NOT_RANKED
        return [verdict for verdict in verdicts if verdict is not None]

    def _confirmed(self, decision: Decision, one: Screened, verdict: Evaluation) -> Evaluation:
        """The verdict apart, or `tampered` where beside the evaluator the program seemed better than it can be."""
        if verdict.metric is None or one.score is None:
            return verdict
        if self._direction.gain(one.score, verdict.metric) <= margin(decision.noise, verdict.metric):
            return verdict
        spec = self._spec(decision, one.node.code, one.node.id, beside=False, seed=self._deps.seed + 1)
        again = or_lost(lambda: self._verdict(EvaluatorRun.model_validate(self._deps.jobs.run(spec)), None))
        return judged(one, verdict, again, decision.noise, self._direction)

    def _scores(self, decision: Decision, nodes: Sequence[Node], *, beside: bool) -> list[Evaluation]:
        specs = [self._spec(decision, node.code, node.id, beside=beside) for node in nodes]
        runs: list[Any]
        try:
            runs = self._deps.jobs.map(specs)
        except JobLost:  # one program may have taken its worker along: find it
            runs = [or_lost(partial(self._deps.jobs.run, spec)) for spec in specs]
        shared = decision if beside else None
        return [
            run if isinstance(run, Evaluation) else self._verdict(EvaluatorRun.model_validate(run), shared)
            for run in runs
        ]

    # ------------------------------------------------------------ jobs

    def _spec(self, decision: Decision, code: str, label: str, *, beside: bool, seed: int | None = None) -> JobSpec:
        payload = {**self._common(code), "decision": decision.model_dump(mode="json"), "beside": beside}
        return self._job("score", payload | ({} if seed is None else {"seed": seed}), label)

    def _job(self, entry: str, payload: dict[str, Any], label: str = "") -> JobSpec:
        seconds = (10 if entry == "decide" else 3) * self._timeout + 60
        return JobSpec(entry=f"problems.script.job:{entry}", payload=payload, label=label, seconds=seconds)

    def _common(self, code: str) -> dict[str, Any]:
        return {
            "code": code, "inputs": str(self._evaluator.parent), "evaluator": self._evaluator.name,
            "options": self._options, "metric": self._metric, "limits": self._deps.limits.model_dump(mode="json"),
            "timeout": self._timeout, "seed": self._deps.seed, "file": self._file, "folder": self._beside,
            "offers": self._offers,
        }  # fmt: skip

    def _verdict(self, run: EvaluatorRun, shared: Decision | None) -> Evaluation:
        """`shared`: the decision that had the two in one sandbox; None: they were apart."""
        run = without_folder(run, str(self._evaluator.parent))
        reason = shared.reason if shared is not None else "" if run.isolated and self._deps.isolated else "no sandbox"
        return verdict_of(
            run, metric=self._metric, own=self._names(), timeout=self._timeout, unisolated=reason,
            call_timeout=self._deps.limits.seconds if shared is None else None,
        )  # fmt: skip

    def _names(self) -> Sequence[str]:
        """The numbers of the user's program that decided, found again in the journal where an earlier process did."""
        if not self._own:
            first = islice(self._deps.journal, FIRST)
            own = next((node for node in first if node.operator in GIVEN and node.is_scored), None)
            self._own = tuple(numbers(own.metrics)) if own is not None else ()
        return self._own
