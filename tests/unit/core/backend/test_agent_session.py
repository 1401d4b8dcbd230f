"""One process of an agent and the limits that end it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.backend import backend_command, query
from core.backend.agent.folder import Handed
from core.backend.agent.session import AgentProcess
from core.backend.agent.session_budget import Spent
from core.backend.backend_agent import _reply
from core.backend.backend_command import SHORT
from core.backend.deadline import Deadline
from core.backend.exchange import Usage
from core.backend.settings import ModelSettings
from utils.clean_text import clean, one_line
from utils.errors import BackendError

FILLS = "import time; open('big', 'wb').write(b'x' * (8 << 20)); time.sleep(60)"


def test_a_folder_that_fills_the_disk_ends_the_session(tmp_path: Path) -> None:
    began = time.monotonic()
    with AgentProcess([sys.executable, "-c", FILLS], tmp_path, dict(os.environ)) as agent:
        assert agent.wait(Deadline(60.0), 50.0, lambda: False, disk_mb=5) == "its folder held more than 5 MB"
    assert agent.code is not None and time.monotonic() - began < 50, "it was killed, not waited for"


def test_without_room_for_a_thread_no_agent_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would hear it, and it went on asking its model."""
    begun: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def kept(*words: Any, **more: Any) -> subprocess.Popen[bytes]:
        begun.append(popen(*words, **more))
        return begun[-1]

    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(subprocess, "Popen", kept)
    monkeypatch.setattr(threading.Thread, "start", full)
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    with pytest.raises(RuntimeError, match="can't start new thread"):
        AgentProcess(words, tmp_path, dict(os.environ))
    with pytest.raises(RuntimeError, match="can't start new thread"):
        backend_command._talk(popen_of(words, tmp_path), b"x", Deadline(60.0), tmp_path)
    assert [child.wait(30) for child in begun] == [-15, -15]


def popen_of(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(words, cwd=folder, start_new_session=True, **pipes)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("error: unexpected argument '--x' found\n\nUsage: codex exec\n\nTry '--help'.", "error: unexpected argument"),
        ("Unknown arguments: x\nUsage: gemini\n  -h, --help", "Unknown arguments: x Usage"),
        ("opencode run\n\nOptions:\n  --auto", "it does not know an option of its command, and prints how"),
        ('\x1b[91m\x1b[1mError: \x1b[0m{\n  "message": "no key"\n}', 'Error: { "message": "no key" }'),
        ("at once\nTypeError: first\n  at x\nTypeError: fetch failed\n  at y (z.js:1)", "TypeError: fetch failed at y"),
        ("Usage: x\n  --mirror-errors\nNot logged in", "Not logged in"),
        ("", ""),
    ],
)  # fmt: skip
def test_its_complaint_begins_with_what_is_wrong(tmp_path: Path, said: str, complaint: str) -> None:
    program = f"import sys; sys.stderr.write({said!r})"
    with AgentProcess([sys.executable, "-c", program], tmp_path, dict(os.environ)) as agent:
        agent.wait(Deadline(60.0), 50.0, lambda: False)
    assert one_line(clean(agent.complaint()), 300).startswith(complaint)


def test_one_that_keeps_within_its_limits_ends_by_itself(tmp_path: Path) -> None:
    with AgentProcess([sys.executable, "-c", "print('done')"], tmp_path, dict(os.environ)) as agent:
        assert agent.wait(Deadline(60.0), 50.0, lambda: False, disk_mb=5) == ""
    assert agent.last_words() == "done"


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=400m", "none", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_an_agent_whose_files_have_no_names_does_not_fill_the_disk(small_disk):
    """They count nowhere."""
    code = (
        "import os, time\nfile = os.open('file', os.O_WRONLY | os.O_CREAT)\nos.unlink('file')\n"
        "while True:\n    os.write(file, bytes(4 << 20))\n    time.sleep(0.02)\n"
    )
    with AgentProcess([sys.executable, "-c", code], small_disk, dict(os.environ)) as agent:
        assert agent.wait(Deadline(60.0), 50.0, lambda: False) == SHORT


def test_an_agent_that_is_asked_for_no_program_answers_in_words(tmp_path: Path) -> None:
    """Without a desk its folder was read as a program's: each session ended in a fault, and was paid for again."""
    script = tmp_path / "agent.py"
    script.write_text("print('{\"sum\": 5}')\n")
    tool = {"name": "report", "parameters": {"type": "object", "properties": {"sum": {"type": "integer"}}}}
    answer = query(
        "s", "2 + 3?", "m", "agent", tools=[tool], command=f"{sys.executable} {script}", network="open", attempts=1
    )
    assert json.loads(answer) == {"sum": 5}


def test_what_a_session_spent_is_counted_also_where_the_configuration_has_a_fault(tmp_path: Path) -> None:
    """A side question without a key, and a reply beside it: the session was thrown away with what it had cost."""
    spent = Spent(turns=1, usage=Usage(100, 10), usd=0.5)
    gateway: Any = SimpleNamespace(broken="the gateway has no key for it", spent=spent, exchanges=[], why="")
    agent: Any = SimpleNamespace(last_words=lambda: "", complaint=lambda: "")
    settings = ModelSettings(provider="agent", model="m", command="agent")
    handed = Handed(tmp_path, "", {}, (), frozenset())
    reply = _reply(handed, settings, agent, gateway, gateway.broken, 1)
    assert reply.usd == 0.5 and reply.usage == Usage(100, 10) and gateway.broken in reply.text
    gateway.spent = Spent()
    with pytest.raises(BackendError, match="has no key"):
        _reply(handed, settings, agent, gateway, gateway.broken, 1)
