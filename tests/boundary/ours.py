"""Runs attacks against Swarm-Evo as its user would: one search for all of a kind, each attack a program of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tests.boundary import ours_writer
from tests.boundary.against import LATE
from tests.boundary.facts import Told, won
from tests.boundary.ours_arena import played
from tests.boundary.records import Attack
from tests.boundary.views import views_of
from tests.boundary.world import Place, place

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300.0
_SCRIPT = ("--problem", "script", "--problem.program=initial_program.py", "--problem.evaluator=evaluator.py")
WORDS: dict[str, tuple[str, ...]] = {
    "script": _SCRIPT,
    "objects": _SCRIPT,
    "process": _SCRIPT,
    "coins": _SCRIPT,
    "clock": _SCRIPT,
    "competition": ("--data.dir=data", "--data.target=y", "--data.metric=accuracy"),
    "function": ("--problem", "bin_packing", "--problem.name=u120"),
    "command": (
        "--problem", "command", "--problem.source=src/program.py,src/helper.py", "--problem.eval=python3 program.py",
        f"--problem.grade={sys.executable} ../evaluator.py {{output}}", "--problem.metric=accuracy",
    ),
}  # fmt: skip
"""Words of a search of each kind."""
BESIDE = "beside"
"""The grader and the labels lie in the folder of the sources."""
CHILD = "child"
"""Apart, and the evaluator calls the program from a process of its own, as many do to be rid of it after a time."""
_FROM_A_CHILD = """import json, os, subprocess, sys
HERE = os.path.dirname(os.path.abspath(__file__))
def evaluate(path):
    load = f"import sys; sys.path.append({HERE!r}); import json, evaluator as own"
    script = f"{load}; print(json.dumps(own.evaluate({path!r})))"
    done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True)
    print(done.stdout, done.stderr)
    if done.returncode:
        raise RuntimeError(done.stderr[-1000:])
    return json.loads(done.stdout.splitlines()[-1])
"""
WRITTEN = "written"
"""Apart, and the evaluator writes what a program is worth into a folder, as Shinka's do."""
_WRITES = """import json, os, evaluator as own
def main(program_path, results_dir):
    found, error = {}, None
    try:
        found = own.evaluate(program_path)
    except Exception as failed:
        error = str(failed)
    for name, told in (("metrics", found), ("correct", {"correct": error is None, "error": error})):
        with open(os.path.join(results_dir, f"{name}.json"), "w") as file:
            json.dump(told, file)
"""
_OUTER = {CHILD: _FROM_A_CHILD, WRITTEN: _WRITES}
WAYS: dict[str, tuple[str, ...]] = {
    "script": ("apart", CHILD, WRITTEN, "screen", "auto", "together"),
    "objects": ("apart", "auto"),
    "process": ("auto",),
    "coins": ("apart", "auto"),
    "clock": ("apart", "auto"),
    "command": ("elsewhere", BESIDE),
}
"""`problem.options.isolation`, where the kind has it; of a command, where its grader lies."""


def ways(kind: str) -> tuple[str, ...]:
    """How programs of the kind can be kept apart from what scores them; ('',) where there is one way."""
    return WAYS.get(kind, ("",))


def attacked(kind: str, way: str, attacks: Sequence[Attack], tier: str = "auto") -> dict[str, list[str]]:
    """Name of the attack → the facts by which it has won. `tier`: `execution.sandbox`."""
    with place(kind) as here:
        told = played(here, attacks, tier) if kind == "arena" else _searched(here, way, attacks, tier)
        time.sleep(LATE)
        return {attack.name: won(attack, here, told[attack.name]) for attack in attacks}


def _searched(here: Place, way: str, attacks: Sequence[Attack], tier: str) -> dict[str, Told]:
    """One search with all attacks in it, and what is then said of each."""
    (here.root / "work").mkdir()
    words = [
        *_words(here, attacks),
        "--search.workers=2",
        "--execution.timeout=10",
        f"--execution.sandbox={tier}",
        "--logging.report=false",
    ]
    words += _words_of(way, here)
    environment = {**os.environ, **here.environment}
    if here.kind.name == "function":
        from problems.bin_packing.jit import CACHE

        environment["NUMBA_CACHE_DIR"] = str(CACHE)  # the place's home is new: the loops would be compiled once more
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *words], cwd=here.root, env=environment,
        capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 3):  # 3: no program was valid
        return {attack.name: Told(output=done.stdout[-2000:] + done.stderr[-2000:], ended=True) for attack in attacks}
    (run,) = (path.parent for path in (here.root / "logs").glob("*/run.db"))
    if way == CHILD or here.kind.name == "process":
        assert json.loads((run / "files" / "isolation.json").read_text())["serves"], (
            "else nothing was called from there"
        )
    if here.kind.name == "writer":
        return ours_writer.told(here, run, attacks)
    return {name: replace(told, shares=way == "together") for name, told in _told(here, run, attacks)}


def _words_of(way: str, here: Place) -> list[str]:
    if way in _OUTER:
        (here.root / "outer.py").write_text(_OUTER[way], encoding="utf-8")
        return ["--problem.options.isolation=apart", "--problem.evaluator=outer.py"]
    if here.kind.name != "command":
        return [f"--problem.options.isolation={way}"] if way else []
    if way != BESIDE:
        return []
    grader = (here.root / "evaluator.py").read_text(encoding="utf-8")
    (here.root / "src" / "evaluator.py").write_text(grader.replace('"private", ', ""), encoding="utf-8")
    shutil.copy(here.root / "private" / "labels.csv", here.root / "src")
    return [f"--problem.grade={sys.executable} evaluator.py {{output}}"]


def _words(here: Place, attacks: Sequence[Attack]) -> list[str]:
    """Words of a search that takes the attacks' programs as its first, or their command as its writer."""
    if here.kind.name == "writer":
        return ours_writer.words(here, attacks)
    files = [here.root / "work" / f"{attack.name}.py" for attack in attacks]
    for path, attack in zip(files, attacks, strict=True):
        path.write_text(here.program(attack), encoding="utf-8")
    return [*WORDS[here.kind.name], f"--initial={','.join(map(str, files))}", "--search.max_steps=0"]


def _told(here: Place, run: Path, attacks: Sequence[Attack]) -> Iterator[tuple[str, Told]]:
    """What the stored run says of each attack's program."""
    from core.storage.reader import RunReader
    from runs.stored.reading import node_facts

    with RunReader(run) as reader:
        by_name = {node.plan.removesuffix(".py"): node for node in reader.journal() if node.operator == "user"}
        for attack in attacks:
            node = by_name[attack.name]
            facts = node_facts(reader, node.id)
            code = facts.pop("code", "")
            score = _negative(node.metric_value) if here.kind.turned else node.metric_value
            views = views_of(here.root, run.name, node.id) if "shown" in attack.wins else {}
            output = json.dumps(facts, default=str).replace(json.dumps(code)[1:-1], "")
            failure = node.failure.value if node.failure else ""
            verified = node.metric_source == "verified"
            yield attack.name, Told(score, verified, output, failure=failure, views=views)


def _negative(score: float | None) -> float | None:
    return None if score is None else -score
