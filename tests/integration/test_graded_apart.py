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
texts = [open(path, errors="replace").read() for path in seen]
answer = str(4700 + 11)
open("output.txt", "w").write(answer if any(answer in text for text in texts) else "0")
"""
GRADER = 'import sys\nfound = open("answers.json").read() in open(sys.argv[1]).read()\nprint("score:", int(found))\n'
WORDS = ("run", "--problem", "command", "problem.metric=score", "search.max_steps=1", "logging.report=false")


ODD = (".answers.json", "expected.log", "my answers.txt", "right.md", "right.bak", "grade.py~", ".grade.py.swp")
ODD_GRADER = f"""\
import os, sys
sys.path.insert(0, os.path.dirname(__file__))
from reference import RIGHT
from parts.more import RIGHT as AGAIN
named, case = {ODD!r}, 1
open(os.path.join(os.path.dirname(__file__), "case" + str(case) + ".ans")).read()
print("score:", int(open(sys.argv[1]).read() == RIGHT == AGAIN))
"""
"""Names its files in ways that are easily overlooked."""


def searched(
    cli: Cli, *words: str, grader: str = "grade.py", told: str = "what only problem.grade names: answers.json, grade.py"
) -> dict:
    """The user's own program, which reads whatever it finds, with its verdict."""
    grade = f"problem.grade={sys.executable} {grader} {{output}}"
    ended = cli.here(*WORDS, "problem.direction=max", grade, *words)
    assert ended.code == 0, ended.err
    assert f"do not see {told}" in " ".join(ended.out.split())
    return cli.node(cli.show()["nodes"][0]["node_id"])


def oddly_graded(place: Path) -> Path:
    """A grader, its modules and answers under names that are easily overlooked."""
    (place / "parts").mkdir(parents=True)
    (place / "grade.py").write_text(ODD_GRADER)
    for name in (*ODD, "case1.ans"):
        (place / name).write_text("4711")
    for name in ("reference.py", "parts/more.py"):
        (place / name).write_text("RIGHT = '4711'")
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "sources"
    (place / "src").mkdir(parents=True)
    (place / "grade.py").write_text(GRADER)
    (place / "answers.json").write_text("4711")
    return place


def test_files_beside_a_single_one(cli: Cli, folder: Path):
    (folder / "a.py").write_text(PROGRAM)
    node = searched(cli, f"problem.source={folder / 'a.py'}", "problem.eval=python3 a.py")
    assert (node["metric"], node["metric_source"]) == (0, "verified")
    assert "seen: ['./a.py']" in node["term_out"]


@pytest.mark.parametrize("build", ["", "problem.build=cat *.* > src/loot.json; true"], ids=["", "built"])
def test_files_of_a_repository(cli: Cli, folder: Path, build: str):
    (folder / "src" / "a.py").write_text(PROGRAM)
    words = [f"problem.source={folder}", "problem.editable=src/a.py", "problem.eval=python3 src/a.py", build]
    node = searched(cli, *filter(None, words))
    assert (node["metric"], node["metric_source"]) == (0, "verified")
    assert "./src/a.py" in node["term_out"] and "grade.py" not in node["term_out"]


def test_answers_that_are_oddly_named_beside_a_single_file(cli: Cli, tmp_path: Path):
    """Of a folder every file is copied for the candidate: hidden ones, logs, names with spaces, what editors keep."""
    place = oddly_graded(tmp_path / "sources")
    (place / "a.py").write_text(PROGRAM)
    (place / ".env").write_text("KEY=4711")
    told = "what only problem.grade names: .answers.json, .grade.py.swp, case1.ans, expected.log, grade.py and 5 more "
    words = [f"problem.source={place / 'a.py'}", "problem.eval=python3 a.py"]
    node = searched(cli, *words, told=f"{told}note: programs do not see what looks like a login: .env")
    assert (node["metric"], node["metric_source"]) == (0, "verified")
    assert "seen: ['./a.py']" in node["term_out"]


def test_modules_and_answers_of_a_grader_in_a_repository(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A grader's module held the answers and was shown, and so did the bytecode that Python made of it as it graded; a
    history that is none of git's was shown, too."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    repository = tmp_path / "sources"
    oddly_graded(repository / "grading")
    (repository / "a.py").write_text(PROGRAM)
    (repository / ".jj" / "store").mkdir(parents=True)
    (repository / ".jj" / "store" / "old").write_text("4711")
    told = "what only problem.grade names: grading/.answers.json, grading/.grade.py.swp, grading/case1.ans, "
    words = [f"problem.source={repository}", "problem.editable=a.py", "problem.eval=python3 a.py"]
    for grader in ("grading/grade.py", "-m grading.grade", str(repository / "grading" / "grade.py")):
        node = searched(cli, *words, grader=grader, told=told)
        assert (node["metric"], node["metric_source"]) == (0, "verified")
        assert "seen: ['./a.py']" in node["term_out"]


@pytest.mark.parametrize("editable", ["", "problem.editable=src/a.py"], ids=["file", "repository"])
def test_what_a_grader_leaves_is_there_for_no_program(cli: Cli, folder: Path, editable: str):
    """It ran in the folder that the programs behind it were shown."""
    (folder / "grade.py").write_text(f"open('seen.log', 'a').write(open('answers.json').read())\n{GRADER}")
    (folder / "src" / "a.py").write_text(f"{PROGRAM}# EVOLVE-BLOCK-START\nN = 3\n# EVOLVE-BLOCK-END\n")
    words = [f"problem.source={folder}", editable, "problem.eval=python3 src/a.py"]
    if not editable:
        (folder / "a.py").write_bytes((folder / "src" / "a.py").read_bytes())
        words = [f"problem.source={folder / 'a.py'}", "problem.eval=python3 a.py"]
    told = "what only problem.grade names: answers.json, grade.py"
    searched(cli, *words, "search.max_steps=3", "search.batch=1", "search.workers=1", told=told)
    nodes = [cli.node(node["node_id"]) for node in cli.show()["nodes"]]
    assert len(nodes) >= 2 and {node["metric"] for node in nodes if node["failure"] is None} == {0}
    assert not any("seen.log" in node["term_out"] or "answers" in node["term_out"] for node in nodes)
    (left,) = cli.folder.glob("workspaces/.bases/*/graded/seen.log") if editable else [folder / "seen.log"]
    assert left.read_text().startswith("4711"), "the grader of a repository runs in a copy"


def test_earlier_runs_in_a_repository(cli_at, folder: Path):
    """A run keeps the whole of its base, the grader too: one that was made in the repository lay in the next one's."""
    (folder / "src" / "a.py").write_text(PROGRAM)
    words = [f"problem.source={folder}", "problem.editable=src/a.py", "problem.eval=python3 src/a.py"]
    first = cli_at("elsewhere")
    ended = first.here(
        *WORDS, "problem.direction=max", "problem.grade=python3 grade.py", *words, f"project.dir={folder}"
    )
    assert ended.code == 0, ended.err
    assert list(folder.glob("logs/*/files/base.tar.gz")) and list(folder.glob("workspaces/.bases/*/tree/grade.py"))
    node = searched(cli_at("another"), *words)
    assert (node["metric"], node["metric_source"]) == (0, "verified")
    assert "seen: ['./src/a.py']" in node["term_out"]


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("output.txt", "output.txt: not written (the file that is graded: problem.options.output)"),
        ("mine.txt", "'mine.txt' (a copy of mine.txt is the grader's last argument)"),
        ("out", "out: a folder, which `out/` names (the file that is graded: problem.options.output)"),
    ],
)
def test_where_the_graded_file_is_expected_is_told(cli: Cli, tmp_path: Path, output: str, told: str):
    writes = "import os\nopen('mine.txt', 'w').write('3')\nos.mkdir('out')\nopen('out/a', 'w').write('3')\n"
    (tmp_path / "a.py").write_text(writes)
    (tmp_path / "grade.py").write_text("print('score:', open('mine.txt').read())\n")
    words = [f"problem.source={tmp_path / 'a.py'}", f"problem.grade={sys.executable} grade.py"]
    ended = cli.here(
        *WORDS, "problem.direction=max", *words, "problem.eval=python3 a.py", f"problem.options.output={output}"
    )
    assert ended.code == 2 and told in " ".join(ended.err.split())


FOLDER_GRADER = """
import os, sys
found = {}
for place, _, names in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(place, name)
        found[os.path.relpath(path, sys.argv[1])] = open(path).read()
print("found:", sorted(found), file=sys.stderr)
print("score:", sum(found.get(name) == text for name, text in {"a.txt": "1", "more/b.txt": "2"}.items()))
sys.exit(found.get("a.txt") == "wrong")
"""


@pytest.mark.parametrize("editable", ["", "problem.editable=a.py"], ids=["file", "repository"])
@pytest.mark.parametrize(
    ("program", "score", "told"),
    [
        ("w('a.txt', '1'); w('more/b.txt', '2'); w('../else.txt', 'x')", 2, ""),
        ("w('more/b.txt', '2')", 1, "what lay there before is not the program's"),
        ("w('a.txt', 'wrong'); w('more/b.txt', '2')", None, "found: ['a.txt', 'more/b.txt']"),
        (
            "pass",
            None,
            "(the folder that is graded: problem.options.output)",
        ),
        ("w('a.txt', '1'); os.symlink('/etc/hostname', 'results/b')", 1, "a link is no output"),
        ("os.symlink('.', 'results')", None, "results/: not written, or not a plain folder"),
        (r"w('a\nb.txt', '1')", None, r"'a\nb.txt': such a name is not taken"),
    ],
    ids=["both", "one", "refused", "none", "link", "linked", "odd name"],
)
def test_a_folder_of_outputs(cli: Cli, tmp_path: Path, editable: str, program: str, score: int | None, told: str):
    """A grader is given a copy of the folder: every file that the program wrote there, and no other."""
    place = tmp_path / "sources"
    (place / "results").mkdir(parents=True)
    (place / "results" / "a.txt").write_text("1")
    (place / "grade.py").write_text(FOLDER_GRADER)
    begins = "import os\n\n\ndef w(name, text):\n    os.makedirs(os.path.dirname('results/' + name), exist_ok=True)\n"
    begins += "    open('results/' + name, 'w').write(text)\n\n\n"
    if "symlink('.'" in program:
        begins += "import shutil; shutil.rmtree('results', ignore_errors=True)\n"
    (place / "a.py").write_text(begins + program + "\n")
    if editable and "symlink('.'" in program:
        pytest.skip("a folder of the base stays one")
    source = [f"problem.source={place}", editable] if editable else [f"problem.source={place / 'a.py'}"]
    words = [*source, "problem.eval=python3 a.py", "problem.options.output=./results/"]
    ended = cli.here(*WORDS, "problem.direction=max", f"problem.grade={sys.executable} grade.py", *words)
    if score is None:
        assert ended.code == 2 and told in " ".join(ended.err.split()), ended.err
        return
    node = cli.node(cli.show()["nodes"][0]["node_id"])
    assert (node["metric"], node["metric_source"]) == (score, "verified"), told
