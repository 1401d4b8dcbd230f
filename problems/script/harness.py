"""Runs a user's evaluator as OpenEvolve would: sync or async, in stages, with its result classes.

What the isolated evaluator process loads is a copy of this file that ends with an EVALUATOR and OPTIONS of its own;
standard library only, since it never meets our packages.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import random
import sys
import types
from collections.abc import Awaitable, Callable
from itertools import takewhile
from typing import Any

EVALUATOR = ""
"""Path of the user's evaluator.py, or of a cloudpickled function (.pkl); relative paths start at this file's folder."""
OPTIONS: dict[str, Any] = {"thresholds": [0.5, 0.75, 0.9], "cascade": True, "metric": None, "lower_is_better": False}
"""A threshold of None bounds nothing."""
CASCADE = "cascade"
"""The artifact that says why a later stage was not run."""


_LOADED: dict[str, Any] = {}
"""The user's evaluator, once it is loaded."""


def prepare_evaluator() -> None:
    """Load the user's evaluator, as if it had been started in its folder. Called once; what follows are forks of it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), EVALUATOR)
    folder = os.path.dirname(path)
    sys.path.insert(0, folder)
    os.chdir(folder)
    install_shim()
    if path.endswith(".pkl"):
        _LOADED["function"] = unpickled(path)
        return
    if template := OPTIONS.get("template"):
        _LOADED.update(function=FORMS[template["kind"]](path, template), folder=folder)
        return
    module = load(module_name(path), path)
    if not hasattr(module, "evaluate") and not (OPTIONS["cascade"] and hasattr(module, "evaluate_stage1")):
        raise AttributeError(f"{os.path.basename(path)} has no function evaluate(program_path)")
    _LOADED.update(module=module, function=getattr(module, "evaluate", None), folder=folder)


def evaluate(program_path: str) -> dict[str, Any]:
    """{"metrics": …, "artifacts": …} of the candidate at that path, or why it has no score (`refused`)."""
    if not _LOADED:
        prepare_evaluator()
    before = os.getcwd()
    os.chdir(_LOADED.get("folder", before))
    try:
        if OPTIONS["cascade"] and hasattr(_LOADED.get("module"), "evaluate_stage1"):
            return cascade(_LOADED["module"], program_path)
        return result_of(finish(asked(_LOADED["function"], program_path)))
    except AnswerRefused as error:
        return {"metrics": {}, "artifacts": {}, "refused": str(error)}
    finally:
        os.chdir(before)


def cascade(module: types.ModuleType, program_path: str) -> dict[str, Any]:
    """Stages until the metrics so far are worse than a threshold; a later one's are added to the earlier ones."""
    metrics: dict[str, Any] = {}
    artifacts: dict[str, Any] = {}
    known = (getattr(module, f"evaluate_stage{number}", None) for number in (1, 2, 3))
    stages: list[Callable[..., Any]] = [*takewhile(callable, known)]  # type: ignore[list-item]
    bounds, reached = [*OPTIONS["thresholds"], None], 0
    for number, (stage, threshold) in enumerate(zip(stages, bounds), 1):  # noqa: B905 - for Python 3.9
        result = result_of(finish(asked(stage, program_path)))
        metrics.update(result["metrics"])
        artifacts.update(result["artifacts"])
        reached = number
        if threshold is not None and (why := stopped_by(metrics, threshold)):
            if number < len(stages):
                artifacts.setdefault(CASCADE, f"it ended after stage {number} of {len(stages)}: {why}")
            break
    return {"metrics": {**metrics, "stage": reached}, "artifacts": artifacts}


def asked(function: Callable[..., Any], program_path: str) -> Any:
    """What it returns of the program, given those of the user's arguments that it takes."""
    given = OPTIONS.get("arguments")
    if not given:
        return function(program_path)
    takes = inspect.signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes.values())
    return function(program_path, **{name: value for name, value in given.items() if takes_all or name in takes})


def stopped_by(metrics: dict[str, Any], threshold: float) -> str:
    """Why a stage ends the cascade; '' where it does not. Of a score that is minimised it is the metric that steers.

    A score that is no number (nan) ends it as well, so that no dearer stage is run for it.
    """
    if not OPTIONS.get("lower_is_better"):
        score = score_of(metrics)
        return "" if score >= threshold else f"its score {score:.6g} is below the threshold {threshold:g}"
    name = OPTIONS["metric"]
    score = float(metrics[name]) if name in metrics else score_of(metrics)
    return "" if score <= threshold else f"its score {score:.6g} is above the threshold {threshold:g}"


def score_of(metrics: dict[str, Any]) -> float:
    """The score a threshold is compared with: `combined_score`, else the mean of the numbers, flags apart."""
    if "combined_score" in metrics:
        return float(metrics["combined_score"])
    told = [value for name, value in metrics.items() if name != "error" and not isinstance(value, bool)]
    numbers = [float(value) for value in told if isinstance(value, (int, float))]
    return sum(numbers) / len(numbers) if numbers else 0.0


def finish(value: Any) -> Any:
    """The value, awaited if it has to be."""
    if not inspect.isawaitable(value):
        return value
    import asyncio  # each evaluation is a fork of this process: what few need makes all of them dearer

    return asyncio.run(_wait(value))


async def _wait(value: Awaitable[Any]) -> Any:
    return await value


def result_of(value: Any) -> dict[str, Any]:
    """A number, a dict, an object with `metrics` and `artifacts`, or a score and what is said of it, as one dict."""
    if hasattr(value, "metrics"):
        return {"metrics": dict(value.metrics), "artifacts": dict(getattr(value, "artifacts", None) or {})}
    if isinstance(value, dict) and isinstance(value.get("metrics"), dict):
        return {"metrics": dict(value["metrics"]), "artifacts": dict(value.get("artifacts") or {})}
    if isinstance(value, dict):
        return {"metrics": dict(value), "artifacts": {}}
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):  # as GEPA's evaluators answer
        return {**result_of(value[0]), "artifacts": dict(value[1])}
    if isinstance(value, (int, float)) or (hasattr(value, "item") and getattr(value, "size", 1) == 1):
        return {"metrics": {OPTIONS["metric"] or "combined_score": float(value)}, "artifacts": {}}
    raise TypeError(f"evaluate returned {type(value).__name__}; a number, a dict or an EvaluationResult is needed")


def unpickled(path: str) -> Any:
    """A function of a notebook."""
    import cloudpickle

    with open(path, "rb") as file:
        return cloudpickle.load(file)


def module_name(path: str) -> str:
    """A file's own name, so that it may import one called `evaluator` beside it; not one that Python has a use for."""
    name = os.path.splitext(os.path.basename(path))[0]
    of_python = getattr(sys, "stdlib_module_names", sys.builtin_module_names)  # Python 3.10
    taken = name in sys.modules or name in of_python or not name.isidentifier()
    return "evaluator" if taken else name


def load(name: str, path: str) -> types.ModuleType:
    """Import a file under a name."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# What follows is for evaluators that hold their program (`problems/evaluator_forms.py`).


def of_class(path: str, template: dict[str, Any]) -> Callable[..., Any]:
    """EoH's and LLM4AD's: an object is asked with what the program offers under the template's name.

    Data that it draws are the same in every process that loads it: from one seed, unless it sets its own.
    """
    module = load_in_package(path)
    kinds = (kind for kind in vars(module).values() if inspect.isclass(kind) and kind.__module__ == module.__name__)
    judge: Any = [kind for kind in kinds if hasattr(kind, "evaluate_program")][-1]
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    asked_of = judge(**(OPTIONS.get("arguments") or {}))

    def evaluate(program_path: str, **_: Any) -> Any:
        text = ""
        if template["reads_text"]:
            with open(program_path, encoding="utf-8") as file:
                text = file.read()
        return asked_of.evaluate_program(text, getattr(load("program", program_path), template["entry"]))

    return evaluate


def of_specification(path: str, template: dict[str, Any]) -> Callable[..., Any]:
    """FunSearch's: the function that scores is called on each input; the last one's score steers, as there."""
    package = types.ModuleType("funsearch")
    vars(package).update(run=lambda function: function, evolve=lambda function: function)
    module = types.ModuleType(module_name(path))
    vars(module).update(funsearch=package, __file__=path)
    sys.modules.setdefault("funsearch", package)
    sys.modules[module.__name__] = module
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), vars(module))

    def evaluate(program_path: str, inputs: Any = ()) -> Any:
        setattr(module, template["searched"], getattr(load("program", program_path), template["searched"]))
        run = getattr(module, template["scorer"])
        scores = [float(_on_input(run, one)) for one in inputs] or [float(run())]
        told = {f"input {number}": score for number, score in enumerate(scores, 1)} if len(scores) > 1 else {}
        return {**told, "combined_score": scores[-1]}

    return evaluate


def of_marked(path: str, template: dict[str, Any]) -> Callable[..., Any]:
    """AlphaEvolve's: what stands between the marks of the evaluator's own file is the program's."""
    module = load(module_name(path), path)
    given = Inputs(OPTIONS.get("arguments") or {})
    run = getattr(module, template["scorer"])
    takes = inspect.signature(run).parameters

    def evaluate(program_path: str, **_: Any) -> Any:
        program = load("program", program_path)
        for name in template["names"]:
            setattr(module, name, getattr(program, name))
        return run(given) if takes else run()

    return evaluate


class AnswerRefused(Exception):
    """Why an answer of the program's has no score: of forms that tell it from an exception of the evaluator's own."""


class Inputs(dict):  # type: ignore[type-arg]
    """What `evaluate` is given. KeyError: it wants more."""

    def __missing__(self, key: str) -> Any:
        raise KeyError(f"{key}: --problem.options.evaluator_args.{key}=VALUE says what it is given")


FORMS = {"class": of_class, "specification": of_specification, "marked": of_marked}
"""Further ones stand in `instances.py` and `reference.py`, one of which follows below where it is needed."""


def _on_input(run: Callable[..., Any], one: Any) -> Any:
    """Of a function of several arguments the input is a list of them, or names them."""
    if len(inspect.signature(run).parameters) > 1:
        return run(**one) if isinstance(one, dict) else run(*map(_as_argument, one))
    return run(_as_argument(one))


def _as_argument(value: Any) -> Any:
    """A list as the tuple that it was before it became JSON: it may be a key there."""
    return tuple(map(_as_argument, value)) if isinstance(value, list) else value


def load_in_package(path: str) -> types.ModuleType:
    """Import a file as a module of its package, whose own lines are not run: LLM4AD's import every task."""
    folder, parts = os.path.dirname(path), [os.path.splitext(os.path.basename(path))[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    if len(parts) == 1:
        return load(module_name(path), path)
    sys.path.insert(1, folder)
    for depth in range(1, len(parts)):
        package = types.ModuleType(".".join(parts[:depth]))
        package.__path__ = [os.path.join(folder, *parts[:depth])]
        sys.modules[package.__name__] = package
    return load(".".join(parts), path)


def install_shim() -> None:
    """`from openevolve.evaluation_result import EvaluationResult` works without OpenEvolve."""
    if "openevolve" in sys.modules or importlib.util.find_spec("openevolve") is not None:
        return
    package = types.ModuleType("openevolve")
    inner = types.ModuleType("openevolve.evaluation_result")
    vars(inner).update(EvaluationResult=EvaluationResult)
    vars(package).update(__path__=[], EvaluationResult=EvaluationResult, evaluation_result=inner)
    sys.modules["openevolve"] = package
    sys.modules["openevolve.evaluation_result"] = inner


class EvaluationResult:
    """What OpenEvolve's class of this name offers to an evaluator."""

    def __init__(self, metrics: dict[str, Any], artifacts: dict[str, Any] | None = None) -> None:
        self.metrics = metrics
        self.artifacts = {} if artifacts is None else artifacts

    @classmethod
    def from_dict(cls, metrics: dict[str, Any]) -> EvaluationResult:
        return cls(metrics)

    def to_dict(self) -> dict[str, Any]:
        return self.metrics

    def has_artifacts(self) -> bool:
        return bool(self.artifacts)

    def get_artifact_keys(self) -> list[str]:
        return list(self.artifacts)

    def get_artifact_size(self, key: str) -> int:
        value = self.artifacts.get(key, "")
        return len(value.encode() if isinstance(value, str) else value)

    def get_total_artifact_size(self) -> int:
        return sum(map(self.get_artifact_size, self.artifacts))
