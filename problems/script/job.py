"""One evaluation of a candidate by a user's evaluator: apart from it where that can be, else together."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from core.contracts import JobContext, Limits
from core.evaluation.isolation.isolation import EvaluatorRun, evaluate_apart, evaluate_together

HARNESS = "swarm_evo_harness.py"


def evaluate(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry. Payload: `code`, `inputs` (folder of the evaluator; shipped to a worker elsewhere), `evaluator` (its
    name there), `options` of the harness, `limits`, `timeout`, `seed`, `apart` (or the `reason` why not).

    Returns the fields of EvaluatorRun.
    """
    limits = Limits.model_validate(payload["limits"])
    evaluator = Path(payload["inputs"]) / payload["evaluator"]
    reason = payload.get("reason")
    if payload["apart"] and context.sandbox.tier != "none":
        harness = write_harness(context.scratch / "harness", str(evaluator.resolve()), payload["options"])
        run = evaluate_apart(
            context.sandbox, harness, payload["code"], limits=limits, timeout=payload["timeout"], seed=payload["seed"]
        )
        if run.refused is None:
            return plain(run)
        reason = run.refused
    return plain(together(payload, context, limits, evaluator, reason))


def together(
    payload: dict[str, Any], context: JobContext, limits: Limits, evaluator: Path, reason: str | None
) -> EvaluatorRun:
    """Evaluator and candidate in one sandbox, from a copy of the evaluator's folder."""
    folder = context.scratch / "together"
    folder.mkdir(parents=True)
    for path in evaluator.resolve().parent.iterdir():
        if path.is_file() and not path.is_symlink():
            shutil.copy(path, folder / path.name)
    harness = write_harness(folder, evaluator.name, payload["options"])
    whole = limits.model_copy(update={"seconds": payload["timeout"]})
    return evaluate_together(
        context.sandbox, harness, payload["code"], limits=whole, seed=payload["seed"], reason=reason
    )


def write_harness(folder: Path, evaluator: str, options: dict[str, Any]) -> Path:
    """The harness, with the user's evaluator and options in place of its own at its end."""
    folder.mkdir(parents=True, exist_ok=True)
    text = (Path(__file__).parent / "harness.py").read_text()
    path = folder / HARNESS
    path.write_text(f"{text}\n\nEVALUATOR = {evaluator!r}\nOPTIONS = {options!r}\n")
    return path


def plain(run: EvaluatorRun) -> dict[str, Any]:
    return {
        "value": run.value,
        "error": run.error,
        "refused": run.refused,
        "program": run.program.model_dump(mode="json") if run.program else None,
        "isolated": run.isolated,
        "output": run.output[-4000:],
        "seconds": run.seconds,
    }
