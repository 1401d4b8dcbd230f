"""Ctrl-Z: what came while our process stood still is there when it goes on, and was not late."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT = 1.5
WAITS = f"""
import json, os, sys, threading
from core.backend.deadline import Callers, Deadline, call_within
from core.backend.stream import Collector
from core.contracts import JobSpec
from core.workers.local import LocalJobs

def read(payload, context):
    return os.read(payload["fd"], 10).decode()

def whole():
    return read({{"fd": fds[0]}}, None)

def streamed():
    deadline = deadlines[1]
    return list(Collector(deadline).within(read({{"fd": fds[1]}}, None) for _ in "1"))[0]

def reply(number, call):
    try:
        told[number] = call_within(deadlines[number], call, threading.Event(), "a model", callers)
    except Exception as error:
        told[number] = repr(error)

fds, told, callers, deadlines = [*map(int, sys.argv[1:])], {{}}, Callers(), [Deadline({LIMIT}), Deadline({LIMIT})]
jobs = LocalJobs(None, 1)
calls = [threading.Thread(target=reply, args=pair) for pair in enumerate((whole, streamed))]
jobs.submit(JobSpec(entry="__main__:read", payload={{"fd": fds[2]}}, seconds={LIMIT}))
for call in calls:
    call.start()
print("begun", flush=True)
for call in calls:
    call.join()
result = jobs.next(30)
print(json.dumps([told[0], told[1], result.value or result.error]), flush=True)
jobs.close()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="there is no Ctrl-Z")
def test_what_comes_while_we_stand_still_is_not_late() -> None:
    """A model's whole reply was given up as one that had not come, and asked and paid for once more."""
    pipes = [os.pipe() for _ in range(3)]
    theirs = [read for read, _ in pipes]
    child = subprocess.Popen(
        [sys.executable, "-c", WAITS, *map(str, theirs)], cwd=ROOT, pass_fds=theirs, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGSTOP)
        for number, (_, write) in enumerate(pipes):
            os.write(write, f"answer {number}".encode())
        time.sleep(LIMIT + 1.0)
        child.send_signal(signal.SIGCONT)
        assert json.loads(child.stdout.readline()) == ["answer 0", "answer 1", "answer 2"]
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.communicate()
        for pipe in pipes:
            for end in pipe:
                os.close(end)
