"""Every command of the READMEs runs, in English and in Chinese, with the names a reader puts in their place."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.command_line import ROOT, Cli

READMES = ("README.md", "README.zh-CN.md")
PROGRAM = "# EVOLVE-BLOCK-START\ndef f():\n    return 1\n# EVOLVE-BLOCK-END\n"
EVALUATOR = """\
import importlib.util
def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": float(module.f())}
"""
REPLY = """\
The sample.
```python
import shutil
shutil.copy("input/sample_submission.csv", "submission/submission.csv")
```
"""
SMALL = {"SWARM_EVO__SEARCH__MAX_STEPS": "2", "SWARM_EVO__SEARCH__BATCH": "1", "SWARM_EVO__BUDGET__SECONDS": "40"}


def commands(name: str) -> list[str]:
    """The commands in a page's code blocks; what stands beside them in the same line is prose."""
    blocks = (ROOT / name).read_text(encoding="utf-8").split("```")[1::2]
    pieces = [piece.strip() for line in "\n".join(blocks).splitlines() for piece in re.split(r"\s{2,}", line)]
    return [piece for piece in pieces if re.match(r"(make|python main\.py|\w+=\S+ python main\.py)\s", piece)]


@pytest.mark.parametrize("name", READMES)
def test_links_and_targets_are_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    missing = [link for link in re.findall(r"\]\(([^):]+)\)", text) if not (ROOT / link.partition("#")[0]).exists()]
    targets = {word for command in commands(name) if command.startswith("make") for word in command.split()[1:2]}
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert not missing and targets <= known and {"run", "test"} <= targets


def test_both_languages_name_the_same_commands() -> None:
    english, chinese = map(commands, READMES)
    assert english == chinese and len(english) > 15


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """A reader's folder: the files that the page names, and one small run."""
    folder = tmp_path_factory.mktemp("reader")
    data = folder / "FOLDER"
    data.mkdir()
    rows = "".join(f"{n},{n % 7},{n % 5},{100 + 3 * (n % 7) + n % 5}\n" for n in range(240))
    (data / "train.csv").write_text(f"id,rooms,floor,price\n{rows}")
    (folder / "program.py").write_text(PROGRAM)
    (folder / "evaluator.py").write_text(EVALUATOR)
    (folder / "a.c").write_text('#include <stdio.h>\nint main(void) { printf("NAME: %d\\n", 41 + 1); return 0; }\n')
    for engine in "AB":
        shutil.copy(ROOT / "examples/engines/chess_on_a_clock.py", folder / f"{engine}.py")
    made = Cli(folder)
    ended = made(*shlex.split("--problem=tsp search.max_steps=2"), **SMALL)
    assert ended.code == 0, ended.err
    yield made
    made.close()


def filled_in(command: str, reader: Cli) -> list[str]:
    """The words of a command as a reader types them: names instead of capitals, nothing optional."""
    best = reader.show()["best_node_id"]
    (reader.folder / "edited.py").write_text(reader.node(best)["code"] + "\n# edited\n")
    words = shlex.split(re.sub(r"\s*\[[^\]]*\]", "", command.partition("python main.py")[2]))
    here: dict[str, str] = {"ID": best, "FILE": "edited.py", "DIR": "taken", "PROBLEM": "my_problem"}
    if "arena" in words:
        words += ["--games=2", "--arena.limit=nodes:20"]
        words = [word for word in words if word != "stockfish" or shutil.which(word)]
    if words[0].startswith("-"):  # a search: the run that the others name stays the latest here
        words.append("--project.dir=searches")
    if words[0] == "compare":  # "it can be copied"
        run = reader.runs[-1]
        names = [run.name, shutil.copytree(run, run.with_name("copied"), dirs_exist_ok=True).name]
        words = ["compare", *names]
    return [here.get(word, word) for word in words]


ELSEWHERE = ("main.py serve", "doctor --evaluator", "main.py demo")
"""What runs until it is stopped (test_serve_verb.py), and what takes a minute (test_boundaries.py, test_demo.py)."""
ONCE = [
    command
    for command in commands(READMES[0])
    if "python main.py" in command and not any(word in command for word in ELSEWHERE)
]


@pytest.mark.long
@pytest.mark.parametrize("command", ONCE)
def test_each_command_runs(command: str, reader: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    if " cc " in command and not shutil.which("cc"):
        pytest.skip("needs a C compiler")
    for name, value in SMALL.items():
        monkeypatch.setenv(name, value)
    with ChatServer(lambda request, number: REPLY) as server:
        keys = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url} if command.startswith("OPENAI") else {}
        words = filled_in(command, reader)
        if "--problem" not in words and keys:
            words += ["--problem.name=diabetes", "--llm.code.price.input=1", "--llm.code.price.output=1"]
        ended = reader(*words, timeout=200, **keys)
    unfit = ended.code == 1 and words[:1] == ["doctor"]  # a machine that lacks something is told so
    assert ended.code == 0 or unfit, f"{ended.out[-2000:]}\n{ended.err[-2000:]}"


@pytest.mark.long
@pytest.mark.parametrize("name", READMES)
def test_the_python_of_the_page_runs(name: str, reader: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    (text,) = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    run_here: Callable[[str], None] = lambda source: exec(compile(source, name, "exec"), {})  # noqa: E731
    before = Path.cwd()
    os.chdir(reader.folder)
    try:
        run_here(text.replace('"seconds": 60', '"seconds": 20, "steps": 3'))
    finally:
        os.chdir(before)
    assert "def score_bin" in capsys.readouterr().out
