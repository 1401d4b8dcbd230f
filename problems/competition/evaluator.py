"""Reaches a competition's verdicts: runs a program in the sandbox, then grades the submission it left behind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.contracts import Evaluation, Evaluator, EvaluatorDeps, ExecutionResult, FinalEvaluation, JobSpec
from core.evaluation.base import failed_run, or_lost, refused, signature_of, source_of
from core.evaluation.grading import GradingFault, TrustedChild
from core.evaluation.static_check import syntax_refusal
from core.state.failure import FailureKind
from core.state.node import Node
from core.workers.local import script_spec
from problems.competition.ensemble import program
from problems.competition.medals import medal
from problems.competition.prepared import Prepared, grader_command
from problems.competition.seeds import seed_of
from problems.competition.source import Source
from utils.counts import counted
from utils.direction import Direction
from utils.errors import ConfigError
from utils.logger_system import log_msg
from utils.number_text import DECIMAL
from utils.stats import drawn_interval
from utils.workspace_builder import SUBMISSION

MIN_BYTES = 16 * 2**20
OWN_WRITERS = ("rules", "ensemble")
WORTH_A_RUN = 0.002
"""Of a score: what one program has to gain by a power of its probabilities, since it runs once more for that."""

_ESTIMATE = re.compile(rf"^[ \t]*cv[ \t]*[:=][ \t]*({DECIMAL})[ \t]*$", re.MULTILINE | re.IGNORECASE)


class CompetitionEvaluator(Evaluator):
    """Scores programs on the validation part; on the final part once, at the end.

    Args:
        source: what is searched.
        prepared: its data on disk.
        deps: jobs, limits, folders.
        smoke: a program runs on a part of the rows first, where the prepared data have such a part.
        blend_seconds: what the programs of an ensemble may take together; None for any time.
        whole_test: a competition's own grader also scores the whole test set at the end.
    """

    together = False
    simplest = False  # of many fits the best on validation: a blend is no whim of its writer, and seldom the worse one

    def __init__(
        self,
        source: Source,
        prepared: Prepared,
        deps: EvaluatorDeps,
        *,
        smoke: bool,
        blend_seconds: float | None = None,
        whole_test: bool = True,
    ) -> None:
        self._whole_test = whole_test
        self._blend_seconds = blend_seconds
        self._source = source
        self._prepared = prepared
        self._deps = deps
        self._smoke = smoke
        self._judge: TrustedChild | None = None
        if not source.claims_only:
            hello = {"verb": "load", "exam": prepared.exam()}
            self._judge = TrustedChild(grader_command(source, "judge"), hello)
            self._judge.start()

    def check(self, node: Node) -> Evaluation | None:
        return syntax_refusal(node.code)

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        return [self._evaluate(node) for node in nodes]

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        """Scores on the final part with 95 % intervals; no metric, and why, where the hidden rows are not split, but
        what all of them, which a competition's published scores count, say of each."""
        if self._judge is None or not self._prepared.is_split():
            why = f"no separate final score: {self._prepared.meta['note']}"
            return [Evaluation(message=why, metadata=self._on_the_whole_test(self.submission_of(n))) for n in nodes]
        who = sha256(" ".join(node.id for node in nodes).encode()).hexdigest()[:12]
        reveals = self._prepared.count_reveal(f"{self._deps.run_dir.name}/{who}") if self._deps.shows_final else None
        return [self._final(node, reveals) for node in nodes]

    def ensemble(self, nodes: Sequence[Node]) -> tuple[str, list[Node], str] | None:
        """(program, members, plan) of a blend that is better on validation than each of `nodes` alone; or None.

        Where no other helps the best, that one alone with its probabilities raised to a power, if it gains by it.
        No program runs here: the stored predictions are combined by the grader, which holds the labels.
        """
        kept = [(node, path) for node in nodes if (path := self.submission_of(node)) is not None]
        if self._judge is None or not kept:
            return None
        request = {
            "paths": [str(path) for _, path in kept], "lower_is_better": self._source.lower_is_better,
            "seconds": [node.exec_time for node, _ in kept], "most": self._blend_seconds,
        }  # fmt: skip
        try:
            found = self._judge.ask({"verb": "blend", **request})
        except GradingFault as error:
            log_msg("WARNING", f"no ensemble is made: {error}")
            return None
        picks, members = found.get("picks") or [], [node for node, _ in kept]
        if not picks or (len(set(picks)) == 1 and not self._is_mended(members[picks[0]], found)):
            log_msg("INFO", "no ensemble is made: no blend is better than the best program alone")
            return None
        meta = self._prepared.meta
        how = {"scale": found["scale"], "power": found["power"]}
        code = program(members, picks, **how, key=meta["id"], targets=meta["targets"])
        plan = (
            f"Greedy ensemble of {counted(len(set(picks)), 'program')}; blended validation score {found['score']:.6g}."
            if len(set(picks)) > 1
            else f"The best program, its probabilities to the power {found['power']:g}, which makes them "
            f"{'surer' if found['power'] > 1 else 'less sure'}; validation score {found['score']:.6g}."
        )
        return code, [members[i] for i in sorted(set(picks))], plan

    def _is_mended(self, node: Node, found: Mapping[str, Any]) -> bool:
        """Whether a power of a program's probabilities is worth another run of it."""
        before = node.metric_value
        gained = 0.0 if before is None else Direction(self._source.lower_is_better).gain(found["score"], before)
        return found["power"] != 1.0 and before is not None and gained > WORTH_A_RUN * abs(before)

    def close(self) -> None:
        """End the grader."""
        if self._judge is not None:
            self._judge.close()

    def _evaluate(self, node: Node) -> Evaluation:
        """A smoke run on a part of the rows where there is one, then the whole run.

        Programs of our own repertoire are known to run: they are not run twice.
        """
        smoke = self._prepared.folder / "smoke"
        if self._smoke and smoke.is_dir() and node.writer not in OWN_WRITERS and node.operator != "baseline":
            refusal = self._run(node, smoke, grade=False)
            if refusal.failure is not None:
                fidelity = {"fidelity": "smoke"}
                message = f"on 2 % of the training rows: {refusal.message}"
                return refusal.model_copy(update={"message": message, "metadata": fidelity, "files": {}})
        return self._run(node, self._prepared.public, grade=True)

    def _run(self, node: Node, inputs: Path, *, grade: bool) -> Evaluation:
        value = or_lost(lambda: self._deps.jobs.run(self._job(node, inputs, grade)))
        if isinstance(value, Evaluation):
            return value
        result = ExecutionResult.model_validate(value["result"])
        if result.failure is not None:
            return failed_run(result)
        if self._judge is None or (not grade and SUBMISSION in value["files"] and "path" in value["files"][SUBMISSION]):
            return Evaluation(seconds=result.exec_time, term_out=result.term_out, files=self._kept(value))
        found = value["files"].get(SUBMISSION)
        if found is None or found.get("error") == "not written":
            return refused(result, FailureKind.NO_SUBMISSION, f"the program ended without writing {SUBMISSION}")
        if "error" in found:
            return refused(result, FailureKind.BAD_SUBMISSION, f"{SUBMISSION}: {found['error']}")
        return self._graded(node, result, Path(found["path"]), self._kept(value))

    def _job(self, node: Node, inputs: Path, grade: bool) -> JobSpec:
        limits = self._deps.limits
        return script_spec(
            node.code,
            limits=limits,
            inputs=inputs,
            seed=seed_of(self._deps.seed, node),
            collect=[SUBMISSION],
            max_bytes=most_bytes(self._prepared.public),
            keep_dir=self._deps.run_dir / "files" / node.id,
            archive=node.id if grade and self._deps.archive_mb and node.operator != "baseline" else None,
            archive_mb=self._deps.archive_mb,
            label=node.id,
        )

    def _graded(self, node: Node, result: ExecutionResult, path: Path, files: dict[str, str]) -> Evaluation:
        """ConfigError where the user's metric raises on what a baseline predicts: nothing can be scored by it."""
        verdict = self._ask({"path": str(path), "part": "validation"})
        if verdict.get("own_metric") and node.operator == "baseline":  # not the program's fault, nor any other's
            raise ConfigError(f"{verdict['message']} (on the predictions of the baseline {node.name})")
        if "failure" in verdict:
            return refused(result, FailureKind(verdict["failure"]), verdict["message"], files=files)
        return Evaluation(
            metric=verdict["score"],
            source=source_of(self._deps.isolated),
            signature=signature_of(verdict["blocks"]),
            claimed=own_estimate(result.term_out),
            seconds=result.exec_time,
            term_out=result.term_out,
            files=files,
            metadata=self._medal(verdict["score"]) if not self._prepared.is_split() else {},
        )

    def _final(self, node: Node, reveals: int | None) -> Evaluation:
        path = self.submission_of(node)
        if path is None:
            return Evaluation(failure=FailureKind.NO_SUBMISSION, message="its submission was not kept")
        verdict = self._ask({"path": str(path), "part": "final", "interval": True})
        if "failure" in verdict:
            failure = FailureKind(verdict["failure"])
            return FinalEvaluation(failure=failure, message=verdict["message"], final_reveals=reveals)
        again = self._ask({"path": str(path), "part": "validation", "interval": True})
        return FinalEvaluation(
            metric=verdict["score"],
            source=source_of(self._deps.isolated),
            signature=signature_of(verdict["blocks"]),
            draws=tuple(verdict.get("draws") or ()),
            drawn=verdict.get("drawn") or "",
            interval=drawn_interval(verdict.get("draws") or (), verdict.get("cases") or 0),
            final_reveals=reveals,
            cases=verdict.get("cases"),
            validation_cases=again.get("cases"),
            validation_interval=drawn_interval(again.get("draws") or (), again.get("cases") or 0),
            metadata=self._on_the_whole_test(path) or self._medal(verdict["score"]),
        )

    def submission_of(self, node: Node) -> Path | None:
        path = self._deps.run_dir / "files" / node.id / SUBMISSION
        return path if path.is_file() else None

    def _kept(self, value: dict[str, Any]) -> dict[str, str]:
        """Collected files by name, relative to the run's folder."""
        run_dir, kept = self._deps.run_dir, {}
        for name, found in value["files"].items():
            path = Path(found["path"]) if found.get("path") else None
            if path is not None:
                kept[name] = str(path.relative_to(run_dir)) if path.is_relative_to(run_dir) else str(path)
        return kept

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._judge is not None
        try:
            answer: dict[str, Any] = self._judge.ask({"verb": "grade", **request})
        except GradingFault as error:
            return {"failure": "eval_error", "message": str(error)[:500]}
        return answer

    def _on_the_whole_test(self, path: Path | None) -> dict[str, Any]:
        """What a competition folder's own grader says of all its hidden rows: only that compares with published scores.

        {} for data that were split by us, where no such score exists. Half of the rows have steered the search, or all
        of them where they are not split.
        """
        if path is None or self._judge is None or not (self._whole_test and self._source.is_foreign):
            return {}
        verdict = self._ask({"path": str(path), "part": "whole", "interval": False})
        return {"whole_test": verdict["score"], **self._medal(verdict["score"])} if "score" in verdict else {}

    def _medal(self, score: float) -> dict[str, Any]:
        return medal(score, self._source.leaderboard, self._source.lower_is_better)


def most_bytes(inputs: Path) -> int:
    """How large a submission for the rows of a sample may be."""
    sample = inputs / "sample_submission.csv"
    return max(MIN_BYTES, 20 * sample.stat().st_size if sample.is_file() else 0)


def own_estimate(output: str) -> float | None:
    """The last `cv: NUMBER` that a program printed on a line of its own; None if it printed none."""
    found = _ESTIMATE.findall(output)
    return float(found[-1]) if found else None
