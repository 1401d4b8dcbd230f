"""Whoever stops reading ends neither a step nor a run by an error."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.command_line import ROOT, toy_words

from cli.terminal.ascii_words import in_words
from cli.terminal.console import VisibleConsole
from cli.terminal.output import Output
from cli.terminal.visible_output import VisibleStream


def test_nothing_more_is_said_once_nobody_reads():
    reading, writing = os.pipe()
    gone = []
    with os.fdopen(writing, "w") as stream:
        out = Output(stream, on_gone=lambda: gone.append(1))
        out.say("first")
        assert os.read(reading, 100) == b"first\n"
        os.close(reading)
        for _ in range(3):
            out.say("second")
    assert gone == [1]


@pytest.fixture
def hasty():
    """Threads take turns as often as they may."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_lines_of_several_threads_stay_whole(tmp_path, hasty):
    told = [f"{writer} {number}" for writer in range(8) for number in range(2000)]
    with (tmp_path / "said").open("w") as stream, ThreadPoolExecutor(8) as pool:
        out = Output(VisibleStream(stream))
        list(pool.map(lambda writer: [out.say(f"{writer} {number}") for number in range(2000)], range(8)))
    assert sorted((tmp_path / "said").read_text().splitlines()) == sorted(told)


def head(cli, *words, both=False):
    """`main.py WORDS | head -1`, or `2>&1 | head -1`: (exit code, stderr)."""
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *words],
        cwd=cli.folder,
        env={**os.environ, **cli.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if both else subprocess.PIPE,
    )
    with child:
        child.stdout.readline()
        child.stdout.close()
        said = child.stderr.read().decode() if child.stderr else ""
        return child.wait(60), said


@pytest.mark.long
def test_a_step_is_done_whole_though_nobody_reads(cli):
    assert head(cli, "step", *toy_words(3), "search.batch=1") == (0, "")
    assert cli.show()["steps"] == 1
    assert (cli.run_dir / "best_solution").is_dir() or cli.show()["nodes"][0]["failure"]
    assert "ERROR" not in (cli.run_dir / "system.log").read_text()


@pytest.mark.long
@pytest.mark.parametrize("both", [False, True])
def test_a_run_that_nobody_reads_ends_in_good_order(cli, both):
    code, said = head(cli, *toy_words(2000, "search.batch=1", seconds=0.05), both=both)
    assert code == 130 and "Error" not in said
    assert cli.show()["status"] == "interrupted"
    assert "ERROR" not in (cli.run_dir / "system.log").read_text()


def main_py(cli, *words, shell, **environment):
    """`main.py WORDS` with the redirection `shell`."""
    command = f'exec "$@" {shell}'
    return subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, str(ROOT / "main.py"), *words],
        cwd=cli.folder,
        env={**os.environ, **cli.environment, **environment},
        capture_output=True,
        timeout=120,
    )


def test_a_run_whose_streams_are_closed_is_stored_as_any_other(cli):
    assert main_py(cli, *toy_words(2), shell=">&- 2>&- <&-").returncode == 0
    assert cli.show()["steps"] == 2


def test_what_the_encoding_of_the_output_does_not_have_is_told_in_words(cli):
    """It was written out: `OPENAI_API_KEY=\\u2026`."""
    ended = main_py(cli, *toy_words(2), shell="", PYTHONIOENCODING="ascii:strict")
    assert ended.returncode == 0 and b"OPENAI_API_KEY=..." in ended.stdout, ended.stderr
    assert b"\\u" not in ended.stdout + ended.stderr


def test_columns_stand_where_words_take_the_place_of_signs(monkeypatch):
    """Widths were reckoned before the signs were written out, so that a row was longer than its frame."""
    raw = io.BytesIO()
    stream = VisibleStream(io.TextIOWrapper(raw, encoding="ascii"))
    monkeypatch.setattr(sys, "stdout", stream)
    VisibleConsole().table(["step", "what"], [["1", "a → b"], ["2", "none …"], ["3", "\u0436"]])
    stream.flush()
    lines = raw.getvalue().decode().splitlines()
    assert any("| a -> b   |" in line for line in lines) and any("none ... |" in line for line in lines)
    assert len({len(line) for line in lines if "\\u" not in line}) == 1
    assert any("\\u0436" in line for line in lines), "what is a stranger's is written out as ever"


def test_what_an_encoding_has_stays():
    told = "2 × 3 → 6 …"
    assert in_words(told, "utf-8") == told
    assert in_words(told, "latin-1") == "2 × 3 -> 6 ..."
    assert in_words(told, "no such encoding") == "2 x 3 -> 6 ..."
    assert in_words(told, None) == told, "what keeps text has no encoding"


@pytest.mark.parametrize("words", [["config", "search.max_steps"], ["show", "latest"]])
def test_output_that_cannot_be_written_is_told_by_its_name(cli, words):
    assert cli.here(*toy_words(4)).code == 0
    ended = main_py(cli, *words, shell=">/dev/full")
    assert (ended.returncode, ended.stderr) == (1, b"swarm-evo: standard output: No space left on device\n")
