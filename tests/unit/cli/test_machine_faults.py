"""What the machine refuses is one line and an exit code, whichever part of us asked it."""

from __future__ import annotations

import errno
import os
from contextlib import chdir

import pytest

from cli.machine_faults import machine_fault
from cli.parser import main
from utils.room import room_that_lacked


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/x/run.db"), 1, "/x/run.db: No space left"),
        (OSError(errno.EFBIG, "File too large"), 1, "a file of the run: File too large"),
        (OSError(errno.EACCES, "Permission denied", "/x"), 2, "/x: Permission denied"),
        (OSError(errno.EMFILE, "Too many open files", "/x"), 1, "ulimit -n"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), 1, "ulimit -u"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 1, "ulimit -v"),
        (MemoryError(), 1, "ulimit -v"),
        (RuntimeError("can't start new thread"), 1, "no room for another thread"),
        (RuntimeError("Symlink loop from '/x/logs'"), 2, "/x/logs: Too many levels"),
    ],
)
def test_it_is_told_with_what_may_be_raised(error, code, said):
    found = machine_fault(error)
    assert found is not None and found.code == code and said in found.line


@pytest.mark.parametrize("error", [OSError(errno.ENOENT, "No such file"), RuntimeError("ours"), ValueError("ours")])
def test_a_fault_of_ours_is_none_of_the_machines(error):
    assert machine_fault(error) is None


@pytest.mark.parametrize("words", [["list-runs"], ["config"], ["--search.max_steps=1"]])
def test_a_current_folder_that_is_gone(tmp_path, capsys, words):
    gone = tmp_path / "gone"
    gone.mkdir()
    with chdir(gone):
        gone.rmdir()
        assert main(words) == 2
        os.chdir(tmp_path)
    assert "the current folder cannot be found" in capsys.readouterr().err


def test_names_that_are_no_text(tmp_path, capsys, monkeypatch):
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(odd)
    with chdir(odd):
        assert main(["list-runs"]) == 2
    assert main(["list-runs", f"--project.dir={odd}"]) == 2
    monkeypatch.setenv("SWARM_EVO__PROJECT__DIR", odd)
    assert main(["list-runs"]) == 2
    monkeypatch.setattr("sys.getfilesystemencoding", lambda: "ascii")
    assert main(["list-runs"]) == 2
    *lines, last = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and all("is no text in utf-8" in line for line in lines)
    assert "no text in ascii" in last and last.endswith("PYTHONUTF8=1 has Python read them so")


@pytest.mark.parametrize(
    "line, told",
    [
        ("plugins/toy.py cannot be read: Too many open files", "ulimit -n"),
        ("toy.py cannot be read: Too many open files in system", "fs.file-max"),
        ("a store: [Errno 24] Too many open files: 'run.db'", "ulimit -n"),
        ("the sandbox could not be searched for hidden answers: can't start new thread", "ulimit -u"),
        ("'toy.py' cannot be read: Permission denied", ""),
        ("no room for another open file (ulimit -n): Too many open files", ""),
    ],
)
def test_an_error_that_quotes_a_limit_says_which_one_however_it_quotes_it(line, told):
    found = room_that_lacked(line)
    assert told in found and bool(told) == bool(found) and found.count(";") <= 1
