"""Runs a script up to the search that it calls, and takes what it hands to that: GEPA's, LLaMEA's, BLADE's.

A part of the file that the isolated evaluator loads, below `harness.py`; by itself it is run to tell what a script
hands over. Standard library only.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import inspect
import json
import os
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

PACKAGES = ("gepa", "llamea", "iohblade")
SEARCHES = {
    "gepa.optimize_anything": "optimize_anything",
    "gepa.gepa_launcher": "optimize_anything",
    "llamea.llamea": "LLaMEA",
    "iohblade.experiment": "Experiment",
}
"""Module → what of it begins a search."""
IDLE = ("llamea.llm", "iohblade.llm", "llamea.loggers", "iohblade.loggers")
"""Modules whose classes ask a model or keep records: here neither is done, and none needs a key or a folder."""
FENCED = re.compile(r"```(?:python)?[ \t]*\n(.*?)```", re.DOTALL)


@dataclass
class Handed:
    """What a script hands to its search."""

    evaluate: Callable[[str, str], Any]
    """(text of a program, name of its class) → what their evaluator answers, or a text: why that is no score."""
    program: str = ""
    about: str = ""
    lower_is_better: bool = False
    left: str = ""
    """Why it cannot be searched here; ''."""


class Begun(BaseException):
    """The script calls its search: it is not run further. No `except Exception` of its own catches it."""

    def __init__(self, handed: Handed) -> None:
        self.handed = handed


def handed_over(path: str) -> Handed:
    """Run the script until it begins its search. RuntimeError: it ends without."""
    folder = os.path.dirname(os.path.abspath(path))
    roots = [folder]
    sys.path.insert(0, folder)
    while os.path.dirname(roots[-1]) != roots[-1] and not os.path.isfile(os.path.join(roots[-1], "pyproject.toml")):
        roots.append(os.path.dirname(roots[-1]))
    if os.path.isfile(os.path.join(roots[-1], "pyproject.toml")):  # of a checkout, whose own packages it may import
        sys.path[1:1] = [roots[-1], os.path.join(roots[-1], "src")]
    sys.meta_path.insert(0, Watch())
    sys.meta_path.append(StandIns())
    script, before, arguments = types.ModuleType("__main__"), sys.modules["__main__"], sys.argv
    script.__file__ = path
    sys.modules["__main__"], sys.argv = script, [path]
    try:
        exec(compile(text_itself(path), path, "exec"), vars(script))
    except Begun as begun:
        return begun.handed
    finally:
        sys.modules["__main__"], sys.argv = before, arguments
        Absent.is_told = True
    raise RuntimeError(f"{os.path.basename(path)} ended without a search (optimize_anything, LLaMEA, Experiment)")


def text_itself(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


class Watch(importlib.abc.MetaPathFinder):
    """Puts what notes the call in the place of what begins a search, wherever that is imported from."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in SEARCHES and ".".join(name.split(".")[:2]) not in IDLE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = Watched(spec.loader)
        return spec


class Watched(importlib.abc.Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: types.ModuleType) -> None:
        self._loader.exec_module(module)
        if begins := SEARCHES.get(module.__name__):
            taker = TAKERS[begins]
            taker.theirs = getattr(module, begins, None)
            setattr(module, begins, taker)
        for kind in [] if begins else filter(inspect.isclass, list(vars(module).values())):
            if kind.__module__ == module.__name__ and not issubclass(kind, BaseException):
                setattr(kind, "__init__", idle)  # noqa: B010 - mypy knows no other way


def idle(made: Any, *_: Any, **__: Any) -> None:
    """In place of what makes an object of such a class ready."""
    made.model = ""


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that are not installed, where one of the frameworks imports them: no search is run that would need them.

    So is a framework itself that is not there.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        top, frame = name.partition(".")[0], sys._getframe(1)
        while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("importlib."):
            frame = frame.f_back
        importer = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        known = sys.modules.get(top)
        if top in PACKAGES or importer in PACKAGES or isinstance(known, AbsentModule):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return AbsentModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__.partition(".")[0] in PACKAGES:
            vars(module).update(TAKERS, Solution=Solution)


class AbsentModule(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(self.__name__)


class Absent:
    """What is there of a module that is not installed. ModuleNotFoundError where it is called for a score."""

    is_told = False

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return ()

    def __call__(self, *args: Any, **named: Any) -> Any:
        if Absent.is_told:
            raise ModuleNotFoundError(f"No module named {self._module!r}", name=self._module)
        return self


# ---------------------------------------------------------------- what each is handed


def optimize_anything(seed_candidate: Any = None, *_: Any, **given: Any) -> None:
    """GEPA's: the evaluator is given the text, and answers with a score and what it says of it."""
    left, key = "", None
    if isinstance(seed_candidate, dict):
        if len(seed_candidate) > 1:
            left = f"its candidates have {len(seed_candidate)} texts"
        key, seed_candidate = next(iter(seed_candidate.items()), (None, ""))
    if given.get("evaluator") is None:
        left = "it has no evaluator of a single candidate"
    elif given.get("dataset") or given.get("valset"):
        left = "it scores on a data set"
    about = "\n\n".join(filter(None, (given.get("objective"), given.get("background"))))
    evaluator = given.get("evaluator")

    def evaluate(text: str, name: str) -> Any:
        answer = called(evaluator, text if key is None else {key: text})
        score, said = answer if isinstance(answer, tuple) else (answer, {})
        told = {key: value for key, value in (said or {}).items() if key != "code" and not is_empty(value)}
        return {"metrics": {"combined_score": float(score)}, "artifacts": told}

    raise Begun(Handed(evaluate, str(seed_candidate or ""), about, left=left))


class LLaMEA:
    """LLaMEA's: the evaluator is given a solution with code and name, and sets its scores."""

    theirs: Any = None

    def __init__(self, f: Any = None, *_: Any, **given: Any) -> None:
        self._f, self._given = f or given.get("f"), given

    def run(self, *_: Any, **__: Any) -> None:
        given = self._given
        about = "\n\n".join(filter(None, (given.get("role_prompt"), given.get("task_prompt"))))
        left = "it scores whole populations" if given.get("evaluate_population") else ""
        left = "it has several objectives" if given.get("multi_objective") else left
        example = given.get("example_prompt") or usual_example(self.theirs)
        make = getattr(sys.modules["llamea"], "Solution", Solution)

        def evaluate(text: str, name: str) -> Any:
            return scores_of(self._f, make(code=text, name=name))

        raise Begun(Handed(evaluate, first_block(example), about, bool(given.get("minimization")), left))


class Experiment:
    """BLADE's: its problem is given a solution, and sets its scores."""

    def __init__(self, methods: Any = None, problems: Any = (), *_: Any, **__: Any) -> None:
        self._problems = list(problems)

    def __call__(self, *_: Any, **__: Any) -> None:
        problem = self._problems[0]
        left = f"it has {len(self._problems)} problems" if len(self._problems) > 1 else ""
        make = getattr(sys.modules.get("iohblade.solution"), "Solution", Solution)

        def evaluate(text: str, name: str) -> Any:
            return scores_of(problem.evaluate, make(code=text, name=name))

        lower = bool(getattr(problem, "minimisation", False))
        raise Begun(Handed(evaluate, first_block(problem.example_prompt), problem.task_prompt, lower, left))


TAKERS: dict[str, Any] = {one.__name__: one for one in (optimize_anything, LLaMEA, Experiment)}


class Solution:
    """What LLaMEA's class of this name offers to an evaluator."""

    def __init__(self, code: str = "", name: str = "", **_: Any) -> None:
        self.code, self.name, self.description, self.configspace = code, name, "", None
        self.fitness: Any = float("nan")
        self.feedback, self.error, self.metadata = "", "", dict[str, Any]()

    def set_scores(self, fitness: Any, feedback: str = "", error: Any = "") -> Any:
        self.fitness, self.feedback, self.error = fitness, feedback, error
        return self

    def add_metadata(self, key: str, value: Any) -> None:
        self.metadata[key] = value

    def get_metadata(self, key: str) -> Any:
        kept = self.metadata
        return kept.get(key)


def scores_of(evaluator: Any, solution: Any) -> Any:
    """The fitness that a solution is given; an infinite one stands for a failure, as there."""
    found = called(evaluator, solution)
    found = found if hasattr(found, "fitness") else solution
    fitness, said = float(found.fitness), str(found.feedback or found.error or "")
    if fitness in (float("inf"), float("-inf")) or fitness != fitness:
        return said or f"its fitness is {fitness}"
    return {"metrics": {"combined_score": fitness}, "artifacts": {"feedback": said} if said else {}}


def called(function: Any, first: Any) -> Any:
    """With nothing for what it reads of the search's state."""
    takes = [one for one in list(inspect.signature(function).parameters.values())[1:] if one.default is one.empty]
    needed = [one for one in takes if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    named = {one.name: None for one in takes if one.kind is one.KEYWORD_ONLY}
    return function(first, *[None] * len(needed), **named)


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)


def first_block(text: str) -> str:
    """The code that an example shows; '' without."""
    found = FENCED.search(text or "")
    return textwrap.dedent(found.group(1)).strip() + "\n" if found else ""


def usual_example(search: Any) -> str:
    """What a search shows where it is given no example."""
    try:
        return inspect.getsource(search.__init__) if search is not None else ""
    except (OSError, TypeError):
        return ""


def packages_beside(folder: str) -> Iterator[str]:
    """Where the modules lie that the script imported, those of the interpreter and of its own folder apart."""
    own = tuple(f"{os.path.realpath(one)}{os.sep}" for one in (sys.prefix, sys.base_prefix, folder))
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name in ("__main__", "__mp_main__") or not isinstance(file, str) or not os.path.isfile(file):
            continue
        place = os.path.realpath(os.path.dirname(file) if os.path.basename(file).startswith("__init__.") else file)
        for _ in range(name.count(".")):
            place = os.path.dirname(place)
        if not f"{place}{os.sep}".startswith(own):
            yield place


def tell(path: str, file: str) -> None:
    """Write down what a script hands over, for who reads its folder."""
    handed = handed_over(path)
    told: dict[str, Any] = {name: getattr(handed, name) for name in ("program", "about", "lower_is_better", "left")}
    told["shows"] = sorted(set(packages_beside(os.path.dirname(os.path.abspath(path)))))
    with open(file, "w", encoding="utf-8") as out:
        json.dump(told, out)
