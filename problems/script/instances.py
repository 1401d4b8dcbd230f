"""Asks a program for one instance after the other, as CO-Bench, FrontierCO and HeuriGym do.

A second half of `harness.py`, which stands above it in the file that the isolated evaluator loads: standard library
only.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import math
import os
import re
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

SECONDS = 10.0
"""For one instance, unless `evaluator_args.timeout` says otherwise; so it is in both frameworks."""
MOST_TOLD = 64
"""Instances and files that the next writer is told of, as CO-Bench tells its agents."""
LEFT_OUT = "not asked"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
VALID = "valid_instances/"

Load = Callable[[str, str], types.ModuleType]


# ---------------------------------------------------------------- CO-Bench, FrontierCO


def of_instances(path: str, options: Mapping[str, Any], load: Load) -> Callable[..., Any]:
    """`config.py`'s: the mean over files of the mean over a file's instances, 0 for one that was not solved.

    What steers are the instances of `get_dev`, or of `valid_instances/`; the part `test` is all others.
    """
    module, arguments = load("config", path), options.get("arguments") or {}
    seconds = float(arguments.get("timeout", SECONDS))
    function, cases = options["template"]["function"], chosen_cases(path, module, arguments, options.get("part", "dev"))

    def evaluate(program_path: str, **_: Any) -> Any:
        ask = getattr(load("program", program_path), function)
        results = {
            name: (
                [scored(module, ask, one, seconds) if number in wanted else LEFT_OUT for number, one in numbered],
                None,
            )
            for name, numbered, wanted in cases
        }
        normed = normed_by(module, results)
        lists = {
            name: [one for number, one in enumerate(normed[name][0]) if number in wanted] for name, _, wanted in cases
        }
        points = [sum(0 if isinstance(one, str) else one for one in found) / len(found) for found in lists.values()]
        failed = sum(isinstance(one, str) for found in lists.values() for one in found)
        metrics = {"combined_score": sum(points) / len(points), "failed_instances": failed}
        return {"metrics": metrics, "artifacts": {"instances": told_of(lists, lambda score: f"{float(score):.3f}")}}

    return evaluate


def chosen_cases(
    path: str, module: types.ModuleType, arguments: Mapping[str, Any], part: str
) -> list[tuple[str, list[tuple[int, Any]], set[int]]]:
    """(file, its numbered instances, which of them count) of a part. ValueError where there are none."""
    folder, skipped = os.path.dirname(path), arguments.get("filter_key") or []
    names = [name for name in sorted(data_files(folder)) if not any(key in name for key in skipped)]
    told = getattr(module, "get_dev", lambda: None)()
    if told is None and (part == "test" or any(name.startswith(VALID) for name in names)):
        names = [name for name in names if name.startswith(VALID) == (part == "dev")]
    found = []
    for name in names:
        steers = set((told[name] or [0]) if name in told else ()) if told is not None else None
        if part == "dev" and steers == set():
            continue  # not even read: some take minutes
        instances = instances_of(module, os.path.join(folder, name), name)
        every = set(range(len(instances)))
        wanted = every if steers is None else every & steers if part == "dev" else every - steers
        if wanted:
            found.append((name, list(enumerate(instances)), wanted))
    if not found:
        rule = "get_dev()" if told is not None else "norm_score()" if hasattr(module, "norm_score") else "load_data()"
        raise ValueError(
            f"{os.path.basename(folder)}: no instance to score with: no file beside config.py is one of {rule}'s"
        )
    return found


def data_files(folder: str) -> Iterator[str]:
    """Files of instances, relative to the folder: no Python, no solutions (`…_sol`), no parameters (`…_par`)."""
    for place, folders, names in os.walk(folder):
        folders[:] = [
            name for name in folders if not name.startswith((".", "__")) and not name.endswith(("_sol", "_par"))
        ]
        for name in names:
            if not name.startswith(".") and not name.endswith((".py", "_sol", "_par")):
                yield os.path.relpath(os.path.join(place, name), folder)


def instances_of(module: types.ModuleType, file: str, name: str) -> list[Any]:
    """What a file holds; [] for one that no score is made of, such as a README."""
    try:
        instances = list(module.load_data(file))
    except Exception as error:  # theirs: of a file that is no instance it says so by whatever it likes
        if name in normed_by(module, {name: ([], None)}) and hasattr(module, "norm_score"):
            raise ValueError(f"{name}: load_data: {error}") from error
        return []
    if not hasattr(module, "norm_score"):
        return instances
    try:
        return instances if name in normed_by(module, {name: ([LEFT_OUT] * len(instances), None)}) else []
    except Exception:  # noqa: BLE001 - theirs: the instances may be right, and then a real score has none of its faults
        return instances


def normed_by(module: types.ModuleType, results: dict[str, Any]) -> dict[str, Any]:
    normed: dict[str, Any] = getattr(module, "norm_score", lambda found: found)(results)
    return normed


def scored(module: types.ModuleType, ask: Callable[..., Any], instance: Any, seconds: float) -> Any:
    """What `eval_func` says of a solution, or why there is none."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            solution = {str(key): value for key, value in ask(instance, seconds).items()}
            return module.eval_func(**instance, **solution)
    except Exception as error:  # noqa: BLE001 - the program's or `eval_func`'s: no solution, as CO-Bench has it
        return f"Exception: {error}"


def told_of(lists: Mapping[str, Sequence[Any]], say: Callable[[Any], str]) -> str:
    """What the next writer is told: why instances failed, once where several did alike (but for numbers in the words),
    and what became of each file's.

    Args:
        lists: file → of each of its instances what `say` puts into words, or why there is none.
    """
    alike: dict[str, list[tuple[str, str]]] = {}
    for name, found in lists.items():
        for why in found:
            if isinstance(why, str):
                alike.setdefault(NUMBER.sub("0", why), []).append((name, why))
    several = [kind for kind, failed in alike.items() if len(failed) > 1][:MOST_TOLD]
    marks = {kind: f"failed as [{at}]" for at, kind in enumerate(several, 1)}
    instances = sum(map(len, lists.values()))
    told = []
    for at, kind in enumerate(several, 1):
        (first, why), (last, other) = alike[kind][0], alike[kind][-1]
        differs = "" if why == other else f"; last {last}: {other}"
        told.append(f"[{at}] on {len(alike[kind])} of {instances}, first {first}: {why}{differs}")
    for name, found in list(lists.items())[:MOST_TOLD]:
        words = (
            marks.get(NUMBER.sub("0", one), one) if isinstance(one, str) else say(one) for one in found[:MOST_TOLD]
        )
        told.append(f"{name} -> {', '.join(words)}")
    return "\n".join(told)


# ---------------------------------------------------------------- HeuriGym


def of_files(path: str, options: Mapping[str, Any], load: Load) -> Callable[..., Any]:
    """`evaluator.py`'s: where the expert's costs are known the quality-yield index, else the mean cost.

    What steers are the instances in `demo/`, where there are `demo/` and `eval/`; the part `test` is `eval/`.
    """
    folder = os.path.dirname(path)
    module, verifier = load("evaluator", path), importlib.import_module("verifier")
    normalize = (
        load("metric", beside).normalize_score if os.path.isfile(beside := f"{folder}/metric.py") else usual_quality
    )
    groups = file_groups(options["template"]["dataset"], options.get("part", "dev"))
    expert = expert_costs(os.path.dirname(folder), groups)
    seconds = float((options.get("arguments") or {}).get("timeout", SECONDS))

    def evaluate(program_path: str, **_: Any) -> Any:
        ask = getattr(load("program", program_path), options["template"]["function"])
        costs: dict[str, float] = {}
        told: dict[str, list[Any]] = {}
        for name, paths in groups.items():
            try:
                costs[name] = cost_of(
                    module, verifier, paths, ask({os.path.basename(one): read(one) for one in paths}, seconds)
                )
                told[name] = [costs[name]]
            except (Exception, SystemExit) as error:  # theirs too: some end by sys.exit
                if not expert:
                    raise
                told[name] = [str(error) or type(error).__name__]
        artifacts = {"instances": told_of(told, lambda cost: f"valid, cost {cost}")}
        if not expert:
            return {"metrics": {"combined_score": sum(costs.values()) / len(costs)}, "artifacts": artifacts}
        return {
            "metrics": index([normalize(cost, expert[name]) for name, cost in costs.items()], len(groups)),
            "artifacts": artifacts,
        }

    return evaluate


def file_groups(dataset: str, part: str) -> dict[str, list[str]]:
    """Instance → its files: those of one name, whatever their endings."""
    parts = {"dev": "demo", "test": "eval"}
    if all(os.path.isdir(os.path.join(dataset, name)) for name in parts.values()):
        dataset = os.path.join(dataset, parts[part])
    groups: dict[str, list[str]] = {}
    for place, folders, names in os.walk(dataset):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(".py") and name != "README.md":
                groups.setdefault(os.path.splitext(name)[0], []).append(os.path.join(place, name))
    if not groups:
        raise ValueError(f"{dataset}: no instance: the files of HeuriGym's data set belong there")
    return {name: sorted(paths) for name, paths in groups.items()}


def expert_costs(problem: str, names: Mapping[str, Any]) -> dict[str, float]:
    """{} where no costs are known. ValueError where those of an instance are missing."""
    path = os.path.join(problem, "baseline", "baseline.json")
    if not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as file:
        costs = json.load(file)
    if missing := [name for name in names if name not in costs]:
        raise ValueError(f"baseline/baseline.json has no cost of {missing[0]}")
    return dict(costs)


def cost_of(module: types.ModuleType, verifier: types.ModuleType, paths: Sequence[str], answer: Any) -> float:
    """The cost of what was written. ValueError: it is not valid, and why."""
    if not answer:
        raise ValueError("no solution file was written, or an empty one")
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        written = os.path.join(folder, os.path.splitext(os.path.basename(paths[0]))[0] + ".output")
        with open(written, "wb") as file:
            file.write(answer)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            verdict = verifier.verify(*paths, written)
            is_valid, why = verdict if isinstance(verdict, tuple) else (verdict, "")
            if not is_valid:
                raise ValueError(f"Verification failed: {why} {said.getvalue()}".strip())
            return float(module.evaluate(*paths, written))


def usual_quality(score: float, baseline: float) -> float:
    """How near to the expert's a cost is, as HeuriGym has it where a problem has no `metric.py` of its own."""
    if baseline == 0:
        baseline = 1e-6
    elif score == 0:
        score = 1e-6
    return min(1, baseline / score)


def index(qualities: Sequence[float], instances: int) -> dict[str, float]:
    """HeuriGym's quality-yield index: the harmonic mean of quality (geometric mean) and the share that is valid."""
    share = len(qualities) / instances
    is_some = bool(qualities) and min(qualities) > 0
    quality = math.exp(sum(map(math.log, qualities)) / len(qualities)) if is_some else 0.0
    both = quality + share
    return {"combined_score": 2 * quality * share / both if both else 0.0, "quality": quality, "yield": share}


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
