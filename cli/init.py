"""`init`: a working skeleton of a problem of one's own, with its test."""

from __future__ import annotations

import argparse
import keyword
import shlex
from pathlib import Path

from utils.errors import ConfigError
from utils.program import program

SKELETON = Path(__file__).parent / "skeleton"
"""Text files in which `skeleton` and `Skeleton` stand for the name."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("init", help="write a working skeleton of your own problem, with its test")
    parser.add_argument("problem", metavar="PROBLEM", help="its name, as in --problem.kind=PROBLEM")
    parser.add_argument("--out", metavar="FOLDER", help="where to; ./PROBLEM if absent")


def run(args: argparse.Namespace) -> int:
    name = _checked(args.problem)
    folder = Path(args.out or name)
    files = {folder / "problems" / f"{name}.py": "problem.txt", folder / f"test_{name}.py": "problem_test.txt"}
    there = next((path for path in files if path.exists()), None)
    if there is not None:
        raise ConfigError(f"init {name}: '{there}' is there already; nothing is overwritten")
    for path, source in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_named((SKELETON / source).read_text(encoding="utf-8"), name, folder), encoding="utf-8")
        print(path)
    print(f"search it:  {program()} --problem.kind={name} --plugins={shlex.quote(str(folder))} --search.max_steps=50")
    print(f"test it:    {_python()} -m pytest {shlex.quote(str(folder))}")
    return 0


def _python() -> str:
    """How to start a Python that finds `swarm_evo`: a checkout that is not installed is found from its own folder."""
    root = Path(__file__).resolve().parent.parent
    apart = (root / "pyproject.toml").is_file() and Path.cwd() != root
    return f"PYTHONPATH={shlex.quote(str(root))} python" if apart else "python"


def _checked(name: str) -> str:
    """A name that a Python file and a configuration may carry, and that no problem has."""
    from problems.registry import PROBLEMS

    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise ConfigError(f"init {name}: the name must be lower-case letters, digits and _, such as my_problem")
    if name in PROBLEMS.names():
        raise ConfigError(f"init {name}: a problem of that name comes along; take another")
    return name


def _named(text: str, name: str, folder: Path) -> str:
    camel = "".join(word.capitalize() for word in name.split("_"))
    return text.replace("Skeleton", camel).replace("skeleton", name).replace("FOLDER", str(folder))
