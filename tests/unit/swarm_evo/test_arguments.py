"""What is given to the Python front: what cannot be meant is one line, before anything is written or started."""

from __future__ import annotations

import inspect
import threading
from pathlib import Path

import pytest

import swarm_evo
from swarm_evo.evolve import _Scored
from swarm_evo.source import pickled


def f(x):
    return x


def number(function):
    return 0.0


LOCK = threading.Lock()
GONE = swarm_evo.Result("r", Path("/gone"), None, {"nodes": []})
CALLS = {
    "project_dir=None (NoneType): a path": lambda: swarm_evo.start("tsp", project_dir=None),
    "project_dir=3 (int): a path": lambda: swarm_evo.runs(project_dir=3),
    "project_dir=4 (int): a path": lambda: swarm_evo.load(project_dir=4),
    "project_dir=5 (int): a path": lambda: swarm_evo.evolve(f, number, project_dir=5),
    "project_dir=6 (int): a path": lambda: swarm_evo.open("tsp", project_dir=6),
    "file.py cannot be kept there": lambda: swarm_evo.evolve(
        "def file(x):\n    return x\n", number, project_dir="a.py"
    ),
    "program=<function f": lambda: swarm_evo.start(program=f, evaluate=number),
    "evaluate=5 (int): a function of the program's path": lambda: swarm_evo.start(program="a.py", evaluate=5),
    "needs program=": lambda: swarm_evo.start("tsp", evaluate=number),
    "problem='tsp' (str) and program=": lambda: swarm_evo.start("tsp", program="a.py", evaluate=number),
    "on_step=5 (int): a function": lambda: swarm_evo.start("tsp", on_step=5),
    "problem=5 (int): the name of a preset, or a mapping": lambda: swarm_evo.start(5),
    "llm=6 (int): the name of a preset, or a mapping": lambda: swarm_evo.start("tsp", llm=6),
    "config=5 (int): a path": lambda: swarm_evo.start("tsp", config=5),
    "start(run=…, llm=…): a run keeps what it searches": lambda: swarm_evo.start(run="latest", llm="openai"),
    "leave out config": lambda: swarm_evo.open(run="latest", config="a.yaml"),
    "run=None (NoneType): a run's id": lambda: swarm_evo.load(None),
    "run=7 (int): a run's id": lambda: swarm_evo.resume(7),
    "run=8 (int): a run's id": lambda: swarm_evo.open(run=8),
    "may stand in a YAML file: config=FILE": lambda: swarm_evo.start("tsp", problem__goal="x" * 200_000),
    "null byte": lambda: swarm_evo.start("ts\0p"),
    "embedded null byte": lambda: swarm_evo.load("a\0b"),
    "'/gone' cannot be read: [Errno 2] No such file": lambda: GONE.frame(),
    "'/gone' cannot be read: unable to open": lambda: GONE._repr_html_(),
    ".<lambda> at 0x": lambda: pickled(_Scored(lambda f: LOCK, "f")),
}


@pytest.mark.parametrize("words", CALLS)
def test_what_cannot_be_meant_is_one_line(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("")
    with pytest.raises(swarm_evo.SearchError) as told:
        CALLS[words]()
    assert words in str(told.value) and "\n" not in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_search_says_which_arguments_it_takes():
    """`(problem=None, **arguments)` was all that checkers of types, `help` and a notebook's completion had."""
    assert inspect.signature(swarm_evo.search).parameters == inspect.signature(swarm_evo.start).parameters
    assert inspect.signature(swarm_evo.search).return_annotation == "Result"
    with pytest.raises(TypeError, match="positional"):
        swarm_evo.search("tsp", "a.py")


def test_a_notebook_shows_the_users_lines_and_what_is_wrong():
    """Up to 64 lines of ours stood between the cell and the line that says it."""
    with pytest.raises(swarm_evo.SearchError) as told:
        swarm_evo.search("tsp", budget=3)
    shown = told.value._render_traceback_()
    assert shown[-1].startswith("SearchError: budget=3 (int): a mapping") and len(shown) <= 4
    assert 'swarm_evo.search("tsp", budget=3)' in shown[1] and "test_arguments.py" in shown[0]
