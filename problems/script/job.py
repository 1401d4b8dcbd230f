"""Evaluations by a user's evaluator, as jobs: how candidates are kept apart from it, and one candidate's score."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from core.contracts import JobContext, Limits
from core.evaluation.isolation.apart import Apart
from core.evaluation.isolation.decider import Decider
from core.evaluation.isolation.decision import Decision
from core.evaluation.isolation.evaluator import EvaluatorUnusable
from core.evaluation.isolation.together import Together
from core.executor.warm import WarmSandbox
from problems.script.reading import steering
from problems.script.told_modules import offered
from utils.file_utils import write_atomic
from utils.syntax import without_future

HARNESS = "swarm_evo_harness.py"
_FURTHER = {
    "instances": ("instances.py", "of_instances", "load"),
    "files": ("instances.py", "of_files", "load"),
    "reference": ("reference.py", "of_reference", "load"),
    "candidate": ("candidates.py", "of_candidate", "load_in_package"),
    "printed": ("printed.py", "of_printed", "load"),
    "search": ("up_to_search.py searches.py", "of_search", "AnswerRefused, handed_over"),
    "interface": ("interfaces.py", "of_interface", "load, AnswerRefused"),
    "answer": ("answers.py", "of_answer", "load, AnswerRefused"),
    "written": ("written.py", "of_written", "module_name(path), load, AnswerRefused"),
}
"""Kind of template → the files whose text follows the harness, what asks the evaluator there, and what it is given of
the harness for that."""


def decide(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry. Payload: `code` (the user's own program), `inputs` (folder of the evaluator; shipped to a worker
    elsewhere), `evaluator` (its name there), `options` of the harness, `metric`, `wanted`, `shows`, `limits`,
    `timeout`, `seed`, `file` (of a program that is no Python), `folder` (its own, where that is another), `offers`
    (modules beside the evaluator that every program may import).

    Returns `{decision, run}`, or `{unusable: line}` where the evaluator's own environment is at fault.
    """
    sandbox, evaluator = _sandbox(context), _evaluator(payload)
    start = Apart(
        harness_of(sandbox, evaluator, payload["options"]),
        modules=offered(evaluator, [payload["code"]], payload["offers"]),
        forks=False,
        timeout=payload["timeout"],
        text_file=payload["file"],
    )
    decider = Decider(
        sandbox,
        payload["code"],
        wanted=payload["wanted"],
        start=start,
        folder=evaluator.parent,
        shows=tuple(payload["shows"]),
        score=lambda value: steering(value, payload["metric"])[0],
        limits=_limits(payload),
        seed=payload["seed"],
        file=payload["file"],
        beside=payload["folder"],
        stands_in=(payload["options"].get("template") or {}).get("kind") == "search",
    )
    try:
        decision, run = decider.decide()
    except EvaluatorUnusable as error:
        return {"unusable": str(error)}
    return {"decision": decision.model_dump(mode="json"), "run": run.model_dump(mode="json")}


def score(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry. Payload: as `decide`, with `decision` and `beside` (True: inside the sandbox with the evaluator).

    Returns the fields of EvaluatorRun.
    """
    sandbox, decision = _sandbox(context), Decision.model_validate(payload["decision"])
    evaluator, timeout = _evaluator(payload), payload["timeout"]
    harness = harness_of(sandbox, evaluator, payload["options"])
    how: Apart | Together = decision.apart(harness, timeout)
    if payload["beside"]:
        how = decision.together(harness, evaluator.parent, timeout, payload["folder"])
    run = how.run(sandbox, payload["code"], limits=_limits(payload), seed=payload["seed"], leave=context.leave)
    return run.model_dump(mode="json")


def harness_of(sandbox: WarmSandbox, evaluator: Path, options: dict[str, Any]) -> Path:
    """The harness round the user's evaluator, written once a worker."""
    name = blake2b(repr((str(evaluator), options)).encode(), digest_size=6).hexdigest()
    folder = sandbox.config.state_dir / "evaluators" / name
    return folder / HARNESS if (folder / HARNESS).is_file() else write_harness(folder, str(evaluator), options)


def write_harness(folder: Path, evaluator: str, options: dict[str, Any]) -> Path:
    """The harness, with the user's evaluator and options in place of its own at its end."""
    text = _source("harness.py")
    kind = (options.get("template") or {}).get("kind")
    if kind in _FURTHER:
        name, asks, given = _FURTHER[kind]
        text += "".join(f"\n\n{without_future(_source(part))[1]}\n\n" for part in name.split())
        text += f'FORMS["{kind}"] = lambda path, _: {asks}(path, OPTIONS, {given})\n'
    write_atomic(folder / HARNESS, f"{text}\n\nEVALUATOR = {evaluator!r}\nOPTIONS = {options!r}\n")
    return folder / HARNESS


def _source(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _sandbox(context: JobContext) -> WarmSandbox:
    assert isinstance(context.sandbox, WarmSandbox)
    return context.sandbox


def _evaluator(payload: dict[str, Any]) -> Path:
    return _resolved(payload["inputs"], payload["evaluator"])


@lru_cache(maxsize=64)  # each candidate asks, and each answer takes a look at all folders above
def _resolved(folder: str, name: str) -> Path:
    return Path(folder, name).resolve()


def _limits(payload: dict[str, Any]) -> Limits:
    return Limits.model_validate(payload["limits"])
