"""A project in a folder that programs are shown, as a virtual environment made in it is: they see nothing of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import ROOT, Cli

PACKAGES = ("agents", "cli", "config", "core", "problems", "reports", "runs", "swarm_evo", "utils")

EVALUATOR = """\
import importlib.util, json, os
RIGHT = json.load(open(os.path.join(os.path.dirname(__file__), "right.json")))
def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": float(RIGHT in module.answer())}
"""
PROGRAM = """\
import os, sys
def answer():
    print("seen:", sorted(os.listdir(sys.prefix)))
    found = "nothing"
    for folder, folders, names in os.walk(sys.prefix):
        folders[:] = {*folders} - {"bin", "include", "lib", "root"}
        for name in names:
            try:
                text = open(os.path.join(folder, name), errors="replace").read()
            except OSError:
                continue
            if str(4700 + 11) in text and "import" not in text:
                found = text
    print("found:", found)
    return found
"""


pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="programs are the user's own here: the self-test refuses such")


@pytest.fixture
def project() -> Iterator[Cli]:
    """In a place that other users may enter, as programs are where we are root."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        venv.create(folder, with_pip=False, symlinks=True)
        cli = Cli(Path(folder))
        yield cli
        cli.close()


def test_a_project_that_is_a_virtual_environment(project: Cli):
    """`python -m venv .` makes the project the interpreter's prefix, which programs see: with evaluator, data, keys."""
    cli, place = project, project.folder
    for name, text in {"evaluator.py": EVALUATOR, "initial_program.py": PROGRAM}.items():
        (place / name).write_text(text)
    (place / "right.json").write_text(json.dumps("4711"))
    (place / ".env").write_text("KEY=4711")
    (place / "data").mkdir()
    (place / "data" / "labels.csv").write_text("4711")
    ended = cli.here(
        "--problem", "script", f"problem.path={place}", f"execution.python={place / 'bin' / 'python'}",
        "problem.options.isolation=apart", "search.max_steps=1", "logging.report=false",
    )  # fmt: skip
    assert ended.code == 0, ended.err + ended.out
    node = cli.node(cli.show()["nodes"][0]["node_id"])
    assert (node["metric"], node["metric_source"]) == (0, "verified") and "found: nothing" in node["term_out"]


def test_a_repository_and_its_copy_there(project: Cli):
    """What a repository's candidates run in is a copy in the project's working folders."""
    cli, place = project, project.folder
    source = place / "repository"
    source.mkdir()
    look = f"import sys\nsys.prefix = {str(place)!r}\n{PROGRAM}open('output.txt', 'w').write(answer())\n"
    (source / "a.py").write_text(look)
    (source / "grade.py").write_text("import sys\nprint('score:', int('4711' in open(sys.argv[1]).read()))\n")
    (source / "right.txt").write_text("4711")
    (source / "grade.sh").write_text("cat right.txt > /dev/null; python3 grade.py $1\n")
    ended = cli.here(
        "--problem", "command", f"problem.source={source}", "problem.editable=a.py", "problem.eval=python3 a.py",
        "problem.grade=sh grade.sh {output}", "problem.metric=score", "problem.direction=max", "search.max_steps=1",
        f"execution.python={place / 'bin' / 'python'}", "logging.report=false",
    )  # fmt: skip
    assert ended.code == 0, ended.err + ended.out
    node = cli.node(cli.show()["nodes"][0]["node_id"])
    assert (node["metric"], node["metric_source"]) == (0, "verified") and "found: nothing" in node["term_out"]


def test_a_checkout_there_runs_its_programs(project: Cli):
    """`git clone` below /usr, as in many images: its code is covered, and not what its programs are given."""
    app = project.folder / "app"
    for part in PACKAGES:
        shutil.copytree(ROOT / part, app / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "main.py", app)
    words = ["--problem=tsp", "search.max_steps=2", f"execution.python={project.folder / 'bin' / 'python'}"]
    ended = subprocess.run(
        [sys.executable, str(app / "main.py"), *words, "logging.report=false"], cwd=app, capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "verified" in ended.stdout + (next(app.glob("logs/*/metrics.json"))).read_text()
