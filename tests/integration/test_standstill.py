"""Ctrl-Z: what came while our process stood still is there when it goes on, and was not late."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import Cli

from core.storage.reader import RunReader
from runs.tickets.client import ask_the_run

ROOT = Path(__file__).parents[2]
LIMIT = 1.5
GRADER = """
import json, os, struct, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
answer = json.dumps({"ok": open(sys.argv[1]).read()}).encode()
sys.stdout.buffer.write(struct.pack(">I", len(answer)) + answer)
"""
WAITS = f"""
import json, os, sys, threading, time
from pathlib import Path
from core.backend.deadline import Callers, Deadline, call_within
from core.backend.stream import Collector
from core.contracts import JobSpec
from core.evaluation.grading import run_trusted
from core.workers.local import LocalJobs
from problems.command.job import _run_apart

folder, fds, told = sys.argv[1], [*map(int, sys.argv[2:])], {{}}

def read(payload, context):
    return os.read(fds[payload["number"]], 10).decode()

def asked(answer):
    deadline = Deadline({LIMIT})
    return call_within(deadline, lambda: answer(deadline), threading.Event(), "a model", Callers())

def whole():
    return asked(lambda deadline: read({{"number": 0}}, None))

def streamed():
    return asked(lambda deadline: next(Collector(deadline).within(read({{"number": 1}}, None) for _ in [0])))

def worked():
    jobs = LocalJobs(None, 1, Path(folder) / "jobs")
    jobs.submit(JobSpec(entry="__main__:read", payload={{"number": 2}}, seconds={LIMIT}))
    result = jobs.next(30)
    jobs.close()
    return result.value or result.error

def graded():
    return run_trusted([sys.executable, "-c", {GRADER!r}, folder + "/answer"], {{}}, timeout={LIMIT})

def commanded():
    line = ["sh", "-c", 'while [ ! -e "$0/answer" ]; do sleep 0.05; done; printf answer', folder]
    return _run_apart(line, folder, {LIMIT})[1]

def tell(wait):
    try:
        told[wait.__name__] = wait()
    except Exception as error:
        told[wait.__name__] = repr(error)

waits = [threading.Thread(target=tell, args=[wait]) for wait in (whole, streamed, worked, graded, commanded)]
for wait in waits:
    wait.start()
time.sleep(0.3)  # all of them wait
print("begun", flush=True)
for wait in waits:
    wait.join()
print(json.dumps(told), flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="there is no Ctrl-Z")
def test_what_comes_while_we_stand_still_is_not_late(tmp_path: Path) -> None:
    """A model's whole reply was given up as one that had not come, and asked and paid for once more."""
    pipes = [os.pipe() for _ in range(3)]
    theirs = [read for read, _ in pipes]
    child = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(tmp_path), *map(str, theirs)],
        cwd=ROOT,
        pass_fds=theirs,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGSTOP)
        for _, write in pipes:
            os.write(write, b"answer")
        (tmp_path / "given").write_text("answer")
        (tmp_path / "given").rename(tmp_path / "answer")
        time.sleep(LIMIT + 1.0)
        child.send_signal(signal.SIGCONT)
        told = json.loads(child.stdout.readline())
        assert told == dict.fromkeys(("whole", "streamed", "worked", "graded", "commanded"), "answer")
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.communicate()
        for pipe in pipes:
            for end in pipe:
                os.close(end)


AWAY = 9.0


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="there is no Ctrl-Z")
def test_a_search_that_was_stopped_for_a_while_has_its_seconds_and_its_tickets(
    cli: Cli, toy: Callable[..., list[str]], eventually: Callable[..., Any]
):
    """While it was held a ticket had expired, the budget was used up, and nobody had come for too long."""
    ready, limit = cli.folder / "ready", AWAY - 1
    words = toy(3, f"budget.seconds={limit}", f"llm.ticket_seconds={limit}")
    child = cli.start("run", "--writer=external", *words, f"--idle={limit + 1}", f"--ready={ready}")
    eventually(lambda: ready.is_file() and ready.read_text(), 60)
    ticket = ask_the_run(cli.run_dir, {"verb": "ask", "token": "1" * 32, "seconds": 10})["ticket"]
    child.send_signal(signal.SIGSTOP)
    time.sleep(AWAY)
    child.send_signal(signal.SIGCONT)
    told = {"verb": "tell", "ticket": ticket, "code": "x = 3\n", "seconds": 10}
    found = ask_the_run(cli.run_dir, told)
    while found["state"] == "running":
        found = ask_the_run(cli.run_dir, told)
    assert found["metric"] is not None, found
    assert child.wait(60) == 0, "nobody asks any more, and the budget ends it"
    with RunReader(cli.run_dir) as reader:
        assert limit <= reader.facts()["active_seconds"] < AWAY + limit
