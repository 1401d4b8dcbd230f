"""What grades lies beside what is searched, and no candidate sees it: in the real sandbox, files and repositories."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.command_line import Cli

PROGRAM = """\
import os

seen = [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names]
print("seen:", sorted(seen))
texts = [open(path).read() for path in seen]
answer = str(4700 + 11)
open("output.txt", "w").write(answer if any(answer in text for text in texts) else "0")
"""
GRADER = 'import sys\nfound = open("answers.json").read() in open(sys.argv[1]).read()\nprint("score:", int(found))\n'
WORDS = ("run", "--problem", "command", "problem.metric=score", "search.max_steps=1", "logging.report=false")


def searched(cli: Cli, folder: Path, *words: str) -> dict:
    """The user's own program, which reads whatever it finds, with its verdict."""
    grade = f"problem.grade={sys.executable} grade.py {{output}}"
    ended = cli.here(*WORDS, "problem.direction=max", grade, *words)
    assert ended.code == 0, ended.err
    assert "see what only problem.grade names: answers.json, grade.py" in " ".join(ended.out.split())
    return cli.node(cli.show()["nodes"][0]["node_id"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "sources"
    (place / "src").mkdir(parents=True)
    (place / "grade.py").write_text(GRADER)
    (place / "answers.json").write_text("4711")
    return place


def test_files_beside_a_single_one(cli: Cli, folder: Path):
    (folder / "a.py").write_text(PROGRAM)
    node = searched(cli, folder, f"problem.source={folder / 'a.py'}", "problem.eval=python3 a.py")
    assert (node["metric"], node["metric_source"]) == (0, "verified")
    assert "seen: ['./a.py']" in node["term_out"]


@pytest.mark.parametrize("build", ["", "problem.build=cat *.* > src/loot.json; true"], ids=["", "built"])
def test_files_of_a_repository(cli: Cli, folder: Path, build: str):
    (folder / "src" / "a.py").write_text(PROGRAM)
    words = [f"problem.source={folder}", "problem.editable=src/a.py", "problem.eval=python3 src/a.py", build]
    node = searched(cli, folder, *filter(None, words))
    assert (node["metric"], node["metric_source"]) == (0, "verified")
    assert "./src/a.py" in node["term_out"] and "grade.py" not in node["term_out"]
