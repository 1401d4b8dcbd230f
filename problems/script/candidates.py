"""Asks an evaluator that is handed a program's text, as AlphaEvolve on Google Cloud does.

A second half of `harness.py`, which stands above it in the file that the isolated evaluator loads: standard library
only.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import runpy
import sys
import tempfile
import types
from collections.abc import Callable, Mapping
from typing import Any

LoadInPackage = Callable[[str], types.ModuleType]


def of_candidate(path: str, options: Mapping[str, Any], load: LoadInPackage) -> Callable[..., Any]:
    """By its function, or by its command line where `run` is an option of that."""
    install_models()
    template, metric = options["template"], options.get("metric")
    module, run, name = load(path), template["run"], template["file"]

    def evaluate(program_path: str, **_: Any) -> Any:
        with open(program_path, encoding="utf-8") as file:
            text = file.read()
        if run.startswith("--"):
            return told_by(commanded(path, run, name, text), metric)
        answer = getattr(module, run)({"name": "", "content": {"files": [{"path": name, "content": text}]}})
        if inspect.isawaitable(answer):
            import asyncio

            answer = asyncio.run(awaited(answer))
        return told_by(answer, metric)

    return evaluate


async def awaited(value: Any) -> Any:
    return await value


def commanded(path: str, option: str, name: str, text: str) -> Any:
    """What its command line writes of a program. RuntimeError: nothing."""
    with tempfile.TemporaryDirectory() as folder:
        program, scores = os.path.join(folder, name), os.path.join(folder, "scores.json")
        with open(program, "w", encoding="utf-8") as file:
            file.write(text)
        before, ended = sys.argv, None
        sys.argv = [path, "--output-file", scores, option, folder if option == "--program-dir" else program]
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as error:
            ended = error.code
        finally:
            sys.argv = before
        if not os.path.isfile(scores):
            raise RuntimeError(f"{os.path.basename(path)} wrote no scores (exit code {ended or 0})")
        with open(scores, encoding="utf-8") as file:
            return json.load(file)


def told_by(answer: Any, metric: str | None) -> dict[str, Any]:
    """Scores as metrics, insights as artifacts. Without a name of the metric the first of several scores steers."""
    plain = answer.model_dump() if hasattr(answer, "model_dump") else answer
    if not isinstance(plain, dict):
        raise TypeError(f"the evaluator answered with {type(plain).__name__}; scores and insights are needed")
    scores, insights = (inner(plain.get(name), name) for name in ("scores", "insights"))
    if isinstance(scores, list):
        found = [(str(one["metric"]), one.get("score")) for one in scores]
    elif "score" in plain:
        found = [(metric or "score", plain["score"])]
    else:
        found = [(str(name), one) for name, one in plain.items() if name not in ("insights", "artifacts")]
    artifacts = labelled(insights if isinstance(insights, list) else [])
    artifacts.update(plain["artifacts"] if isinstance(plain.get("artifacts"), dict) else {})
    metrics = {name: score for name, score in found if score is not None}
    steering = metrics.get(metric or (found[0][0] if found else ""))
    if steering is not None and metric is None:
        metrics["combined_score"] = steering
    if steering is None and artifacts:
        errors = [text for label, text in artifacts.items() if "error" in label.lower()]
        metrics["error"] = (errors or list(artifacts.values()))[0]
    return {"metrics": metrics, "artifacts": artifacts}


def inner(value: Any, name: str) -> Any:
    """`{"scores": [...]}` as the list in it."""
    return value.get(name) if isinstance(value, dict) else value


def labelled(insights: list[Any]) -> dict[str, str]:
    """Label → text; of several with one label each has its number."""
    found: dict[str, str] = {}
    for one in insights:
        label = str(one.get("label") or "insight")
        number = sum(1 for known in found if known == label or known.startswith(f"{label} "))
        found[f"{label} {number + 1}" if number else label] = str(one.get("text", ""))
    return found


def install_models() -> None:
    """`from alpha_evolve.models import …` works without AlphaEvolve's library, which needs pydantic."""
    if "alpha_evolve" in sys.modules or importlib.util.find_spec("alpha_evolve") is not None:
        return
    package, models = types.ModuleType("alpha_evolve"), types.ModuleType("alpha_evolve.models")
    vars(models).update(__getattr__=lambda name: Model if name[:1].isupper() else missing(name))
    vars(package).update(__path__=[], models=models)
    sys.modules["alpha_evolve"] = package
    sys.modules["alpha_evolve.models"] = models


def missing(name: str) -> Any:
    raise AttributeError(name)


class Model:
    """Whatever one of its classes holds."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        vars(self).update(fields)

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return {name: dumped(value) for name, value in self.fields.items()}


def dumped(value: Any) -> Any:
    if isinstance(value, Model):
        return value.model_dump()
    return [dumped(one) for one in value] if isinstance(value, list) else value
