"""A forked `main.py` is to who starts it what one from the first instruction is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.forked_main import MAIN, ForkedPopen
from support.forked_processes import SESSION

TOOLS = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}\n'


def ended(popen, *words, said="", **more):
    pipe = subprocess.PIPE
    with popen([sys.executable, MAIN, *words], stdin=pipe, stdout=pipe, stderr=pipe, text=True, **more) as process:
        out, err = process.communicate(said, timeout=120)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [(("config", "budget.usd"), "", 0), (("show", "latest"), "", 2), (("mcp",), TOOLS, 0)],
)
def test_it_reads_its_input_prints_and_ends_as_one_that_began_anew(tmp_path, words, said, code):
    more = {"said": said, "cwd": tmp_path, "env": {**os.environ, "COLUMNS": "80"}}
    forked = ended(ForkedPopen, *words, **more)
    assert forked == ended(subprocess.Popen, *words, **more)
    assert forked[0] == code and (forked[1] or forked[2])


def waiting(folder, **more):
    """A `mcp` that has answered and waits for its next line."""
    pipe = subprocess.PIPE
    process = ForkedPopen([sys.executable, MAIN, "mcp"], cwd=folder, stdin=pipe, stdout=pipe, text=True, **more)
    process.stdin.write(TOOLS)
    process.stdin.flush()
    assert process.stdout.readline()
    return process


def test_it_is_waited_for_and_ended_as_any_process(tmp_path):
    with waiting(tmp_path) as process:
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
        process.kill()
        assert process.wait(timeout=60) == process.poll() == -signal.SIGKILL
        process.terminate()


def test_it_has_the_session_the_group_and_the_descriptors_that_are_asked_for(tmp_path):
    ours, theirs = os.pipe()
    with waiting(tmp_path, start_new_session=True, pass_fds=[theirs]) as process:
        os.close(theirs)
        assert os.getsid(process.pid) == process.pid
        assert os.readlink(f"/proc/{process.pid}/fd/{theirs}") == os.readlink(f"/proc/self/fd/{ours}")
        process.kill()
    with open(ours) as told:
        assert told.read() == "", "its end was the last"
    with waiting(tmp_path, process_group=0) as process:
        assert os.getpgid(process.pid) == process.pid != os.getsid(process.pid)
        process.kill()


def test_what_is_no_main_or_begins_otherwise_is_not_forked():
    """A Python that is told something before its first line, and programs of others."""
    pid = "import os; print(os.getppid())"
    with ForkedPopen([sys.executable, "-c", pid], stdout=subprocess.PIPE, text=True) as process:
        assert int(process.communicate()[0]) == os.getpid()
    words = [sys.executable, MAIN, "config", "budget.usd"]
    with ForkedPopen(words, env={**os.environ, "PYTHONHASHSEED": "1"}, stdout=subprocess.DEVNULL) as process:
        assert os.waitpid(process.pid, os.WNOHANG)[0] in (0, process.pid), "a child of this process"
        process.wait()
    with pytest.raises(ValueError, match="null"):
        ForkedPopen([*words, "a\0"])


def test_who_asked_for_forks_leaves_nothing_open_at_its_end():
    """The last lines of a session were of a socket and of a process that it had never closed."""
    asks = "from support.forked_processes import forked; forked('json')"
    found = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONDEVMODE": "1", SESSION: f"own-{os.getpid()}"}
    done = subprocess.run([sys.executable, "-c", asks], env={**os.environ, **found}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
