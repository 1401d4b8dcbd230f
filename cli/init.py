"""`init`: a working skeleton of a problem of one's own, with its test."""

from __future__ import annotations

import argparse
import importlib.util
import keyword
import re
import shlex
from pathlib import Path

from utils.errors import ConfigError
from utils.extras import installer
from utils.program import interpreter, program
from utils.user_places import check_folder_place, writes

SKELETON = Path(__file__).parent / "skeleton"
"""Text files; `skeleton` and `Skeleton` stand for the name, FOLDER for where they are written, CHECKOUT for us."""
ENGINES = ("alpha_beta", "greedy", "random_mover", "runner")
"""Of the game: the starting champion, its rivals, and who selection never plays."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("init", help="write a working skeleton of your own problem, with its test")
    parser.add_argument("problem", metavar="PROBLEM", help="its name, as in --problem.kind=PROBLEM")
    parser.add_argument("--game", action="store_true", help="a game whose engines play each other, not one function")
    parser.add_argument("--out", metavar="FOLDER", help="where to; ./PROBLEM if absent")


def run(args: argparse.Namespace) -> int:
    name = _checked(args.problem)
    folder = Path(args.out or name)
    files = _of_game(folder, name) if args.game else _of_function(folder, name)
    check_folder_place("out", folder)
    there = next((path for path in files if path.exists()), None)
    if there is not None:
        raise ConfigError(f"init {name}: '{there}' is there already; nothing is overwritten")
    for path, source in files.items():
        text = _named((SKELETON / source).read_text(encoding="utf-8"), name, folder)
        with writes("out", folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(path)
    function = f"--problem.kind={name} --plugins={shlex.quote(str(folder))} --search.max_steps=50"
    chosen = f"--problem={shlex.quote(str(folder / f'{name}.yaml'))}" if args.game else function
    print(f"search it:  {program()} {chosen}")
    print(f"test it:    {shlex.quote(interpreter())} -m pytest {shlex.quote(str(folder))}")
    if importlib.util.find_spec("pytest") is None:  # a search needs no pytest, so `make install` brings none
        print(f"it needs pytest, which is not installed here: {installer()} pytest")
    return 0


def _of_function(folder: Path, name: str) -> dict[Path, str]:
    """File to write → what it is written from."""
    return {folder / "problems" / f"{name}.py": "problem.txt", folder / f"test_{name}.py": "problem_test.txt"}


def _of_game(folder: Path, name: str) -> dict[Path, str]:
    """The same of a game: its rules, its position, the engines that are there at first, and how it is searched."""
    place = folder / "problems" / name
    files = {place / "problem.py": "game/problem.txt", place / "position.py": "game/position.txt"}
    files |= {place / "engines" / f"{engine}.py": f"game/{engine}.txt" for engine in ENGINES}
    return files | {folder / f"{name}.yaml": "game/preset.txt", folder / f"test_{name}.py": "game/test.txt"}


def _checked(name: str) -> str:
    """A name that a Python file and a configuration may carry, and that no problem has."""
    from problems.registry import PROBLEMS

    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise ConfigError(f"init {name}: the name must be a letter, then lower-case letters, digits and _: my_problem")
    if keyword.iskeyword(name) or keyword.iskeyword(_class_of(name)):
        raise ConfigError(f"init {name}: that is a word of Python's own; take another, such as my_{name}")
    if name.startswith("test_") or name == "conftest":
        raise ConfigError(f"init {name}: a file of that name is a test, no problem; take another, such as my_{name}")
    if name in PROBLEMS.names():
        raise ConfigError(f"init {name}: a problem of that name comes along; take another")
    return name


def _class_of(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _named(text: str, name: str, folder: Path) -> str:
    checkout = repr(str(Path(__file__).resolve().parent.parent))
    return (
        text.replace("Skeleton", _class_of(name))
        .replace("skeleton", name)
        .replace("FOLDER", shlex.quote(str(folder)))
        .replace("CHECKOUT", checkout)
    )
