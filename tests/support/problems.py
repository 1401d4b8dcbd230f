"""Every problem of the registry, small enough for tests: a new one needs a line only if it cannot do without keys."""

from __future__ import annotations

from pathlib import Path

from utils.config import load_config
from utils.config_schema import Config

KEYS = {
    "competition": ["problem.name=diabetes"],
    "bin_packing": ["problem.name=u120", "problem.options.validation=2", "problem.options.test=2"],
    "tsp": ["problem.options.cities=12", "problem.options.instances=2"],
    "script": ["problem.program=program.py", "problem.evaluator=evaluator.py"],
    "command": ["problem.source=timer.py", "problem.eval=python3 timer.py", "problem.metric=score"],
    "connect_four": ["arena.limit=nodes:40", "arena.openings=1", "arena.gauntlet=2"],
    "chess_engines": ["arena.limit=nodes:20", "arena.openings=1", "arena.gauntlet=2"],
}
PROGRAM = """\
# EVOLVE-BLOCK-START
def value():
    return 0.5 + 0.25
# EVOLVE-BLOCK-END
"""
EVALUATOR = """\
import importlib.util


def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return {"combined_score": 1 - abs(program.value() - 2)}
"""
FILES = {
    "program.py": PROGRAM,
    "evaluator.py": EVALUATOR,
    "timer.py": "weight = 3\nprint('score:', 10 - abs(weight - 7))\n",
}


def small_config(kind: str, folder: Path, *keys: str) -> Config:
    """The configuration of a small problem of that kind, whose files lie in `folder`."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    words = [
        word.replace("=", f"={folder}/", 1) if word.partition("=")[2] in FILES else word for word in KEYS.get(kind, [])
    ]
    smoke = ["search.smoke=false"] if kind == "competition" else []
    overrides = [f"project.dir={folder}", *smoke, *words, *keys]
    return load_config(overrides=overrides, presets={"problem": kind, "llm": "rules"})
