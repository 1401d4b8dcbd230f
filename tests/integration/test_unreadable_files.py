"""A file of the user's that is no UTF-8, or that may not be read, is one line with its path: no traceback."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys

import pytest
from support.command_line import ROOT, Ended

LATIN = "// f\xfcr alle\nint main() { return 0; }\n".encode("latin-1")
EVALUATOR = "def evaluate(program_path):\n    return {'combined_score': 1.0}\n"
DROP, OVERRIDE, SEARCH = 24, 1, 2  # prctl(2), capabilities(7)


def _without_rights() -> None:
    """Root reads any file until it lets go of that."""
    if os.geteuid() == 0:
        for capability in (OVERRIDE, SEARCH):
            ctypes.CDLL(None).prctl(DROP, capability, 0, 0, 0)


def _holds(path) -> bool:
    reading = [sys.executable, "-c", f"open({str(path)!r})"]
    return subprocess.run(reading, preexec_fn=_without_rights, capture_output=True).returncode != 0


@pytest.fixture
def bare(cli, tmp_path):
    """The command line without a superuser's rights."""
    closed = tmp_path / "closed"
    closed.touch(0o000)
    if not _holds(closed):
        pytest.skip("this user reads every file and cannot let go of that")

    def run(*words: str) -> Ended:
        done = subprocess.run(
            [sys.executable, str(ROOT / "main.py"), *words], cwd=cli.folder, preexec_fn=_without_rights,
            capture_output=True, text=True, timeout=120, env={**os.environ, **cli.environment},
        )  # fmt: skip
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def mine(cli):
    (cli.folder / "a.c").write_bytes(LATIN)
    (cli.folder / "p.py").write_bytes(b"# f\xfcr alle\nx = 1.0\n")
    (cli.folder / "e.py").write_text(EVALUATOR)
    (cli.folder / "good.py").write_text("x = 1.0\n")
    return cli


SCRIPT = ("run", "--problem=script", "--problem.evaluator=e.py")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--problem=command", "--problem.source=a.c", "--problem.eval=cat a.c", "--problem.metric=value"),
        (*SCRIPT, "--problem.program=p.py"),
        (*SCRIPT, "--problem.program=good.py", "--initial=p.py"),
        ("arena", "p.py", "p.py", "--problem=connect_four"),
        ("run", "--config=p.py"),
    ],
)
def test_no_utf8(mine, words):
    ended = mine.here(*words)
    assert ended.code == 2 and "holds the byte 0xfc, which is no UTF-8" in ended.line, ended.err
    assert "a.c" in ended.line or "p.py" in ended.line


def test_a_fork_and_a_repository(mine, finished):
    node = mine.show()["nodes"][-1]["node_id"]
    edited = mine.here("fork", "latest", "--node", node, "--edit=p.py")
    assert edited.code == 2 and "--edit p.py: cannot be read as text: line 1" in edited.line
    source = mine.folder / "repository"
    source.mkdir()
    (source / "old.py").write_bytes(b"# f\xfcr\nx = 1\n")
    (source / "new.py").write_text("x = 1\nprint('value:', x)\n")
    (source / "picture.py").write_bytes(b"\x00\xff")
    words = ("run", f"--problem.source={source}", "--problem=command", "--problem.editable=*.py",
             "--problem.eval=python3 new.py", "--problem.metric=value", "--search.max_steps=1")  # fmt: skip
    said = mine.here(*words)
    assert said.code in (0, 3) and "no UTF-8 text: old.py; save" in " ".join(f"{said.out} {said.err}".split())
    (source / "new.py").unlink()
    assert "no UTF-8 text: old.py" in mine.here(*words).line


@pytest.mark.parametrize(
    ("closed", "words"),
    [
        ("e.py", (*SCRIPT, "--problem.program=good.py")),
        ("good.py", (*SCRIPT, "--problem.program=good.py")),
        ("m.py", ("run", "--data.train=t.csv", "--data.target=y", "--data.metric=m.py:f", "--problem.direction=min")),
        ("t.csv", ("run", "--data.train=t.csv", "--data.target=y", "--data.metric=rmse")),
        ("c.yaml", ("run", "--config=c.yaml")),
    ],
)
def test_a_file_that_may_not_be_read(mine, bare, closed, words):
    for name, text in (("m.py", "def f(a, b):\n    return 1.0\n"), ("t.csv", "x,y\n1,2\n"), ("c.yaml", "search: {}")):
        (mine.folder / name).write_text(text)
    (mine.folder / closed).chmod(0o000)
    ended = bare(*words)
    assert ended.code == 2 and "Permission denied" in ended.line and closed in ended.line, ended.err
    assert "valid YAML" not in ended.line


def test_a_run_that_may_not_be_read(finished, cli, bare):
    run = cli.run_dir
    (cli.folder / "logs" / ".runs.json").unlink(missing_ok=True)
    run.chmod(0o000)
    try:
        for words in (("show",), ("verify",), ("resume",), ("report",), ("export",), ("rm",), ("tag", "+x")):
            ended = bare(words[0], run.name, *words[1:])
            assert (
                ended.code in (1, 2)
                and "Permission denied" in ended.err
                and ended.err.count("\n") == 1
                and run.name in ended.err
            ), (words, ended)
        (row,) = json.loads(bare("list-runs", "--json").out)
        assert row["status"] == "unreadable" and "Permission denied" in row["reason"]
        code = (
            "import sys; from pathlib import Path; from fastapi.testclient import TestClient;"
            "from dashboard.server.app import create_app\n"
            "with TestClient(create_app(Path(sys.argv[1])), base_url='http://127.0.0.1') as client:\n"
            "    found = client.get('/api/runs/' + sys.argv[2])\n"
            "    print(found.status_code, found.text, client.get('/api/runs').text)\n"
        )
        told = subprocess.run([sys.executable, "-c", code, str(cli.folder), run.name], cwd=ROOT, text=True,
                              capture_output=True, preexec_fn=_without_rights, timeout=120)  # fmt: skip
        assert told.stdout.startswith("409 ") and told.stdout.count("Permission denied") == 2, told.stdout + told.stderr
        run.chmod(0o755)
        (cli.folder / "logs").chmod(0o000)
        for words in (("list-runs",), ("show", "latest"), ("show", run.name)):
            ended = bare(*words)
            assert ended.code in (1, 2) and "Permission denied" in ended.line, ended.err
    finally:
        (cli.folder / "logs").chmod(0o755)
        run.chmod(0o755)
