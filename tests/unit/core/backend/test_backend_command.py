"""`provider: command`: any program on stdin and stdout."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

import pytest

from core.backend import MemoryLog, ModelClient, ModelSettings, backend_command, query
from core.backend.deadline import Deadline
from core.backend.exchange import Message, Request
from utils.errors import BackendBusyError, BackendError, ConfigError, ReplyError


def command(tmp_path: Path, body: str) -> str:
    script = tmp_path / "model.py"
    script.write_text(body)
    return f"{sys.executable} {script}"


def ask(line: str, **options: object) -> str:
    return query("You write.", "Write f.", "", provider="command", command=line, backoff=0.01, **options)


def test_reads_the_prompt_and_prints_the_reply(tmp_path: Path) -> None:
    line = command(tmp_path, "import sys; p = sys.stdin.read(); print(len(p)); print(p.upper())")
    assert ask(line) == "20\nYOU WRITE.\n\nWRITE F."


def test_a_large_prompt_and_reply_do_not_block(tmp_path: Path) -> None:
    line = command(tmp_path, "import sys; p = sys.stdin.read(); print('x' * 500_000); print(len(p))")
    text = query("s", "u" * 1_000_000, "", provider="command", command=line)
    assert text.endswith("1000003")


def test_an_output_without_end_costs_no_memory(tmp_path: Path) -> None:
    """What a command prints is kept up to the size of a reply; it is killed at its deadline."""
    line = command(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 1_000_000)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BackendBusyError, match="within"):
        ask(line, attempts=1, timeout=2.0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kilobytes"


def test_a_folder_that_fills_the_disk_ends_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.backend.backend_command.WRITER_DISK_MB", 20)
    body = "import time\nopen('big', 'wb').write(b'x' * (30 << 20))\ntime.sleep(60)"
    with pytest.raises(BackendError, match="held more than 20 MB"):
        ask(command(tmp_path, body), attempts=1, timeout=50.0)


def test_arguments_come_as_json_in_the_text(tmp_path: Path) -> None:
    line = command(tmp_path, "import sys; sys.stdin.read(); print('Here: {\"sum\": 5}')")
    tool = {"name": "report", "parameters": {"type": "object", "properties": {"sum": {"type": "integer"}}}}
    assert ask(line, tools=[tool]) == '{"sum": 5}'


def test_code_75_is_tried_again_and_others_are_not(tmp_path: Path) -> None:
    counter = tmp_path / "n"
    line = command(tmp_path, f"import sys; open({str(counter)!r}, 'a').write('x'); sys.exit(75)")
    with pytest.raises(BackendBusyError, match="ended with code 75"):
        ask(line, attempts=3)
    assert counter.read_text() == "xxx"
    line = command(tmp_path, "import sys; print('no model loaded', file=sys.stderr); sys.exit(3)")
    with pytest.raises(BackendError, match="code 3 and said: no model loaded"):
        ask(line)


def test_a_key_that_it_was_handed_is_in_no_reply_and_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYCLI_API_KEY", "planted-0123456789")
    monkeypatch.setenv("MYCLI_MODE", "a plain word")
    handed = {"env": ["MYCLI_API_KEY", "MYCLI_MODE"]}
    said = "' '.join([os.environ['MYCLI_API_KEY'], os.environ['MYCLI_MODE']])"
    log = MemoryLog()
    assert ask(command(tmp_path, f"import os; print({said})"), log=log, **handed) == "******** a plain word"
    assert "planted" not in str(list(log.records.values()))
    line = command(tmp_path, f"import os, sys; sys.exit('wrong key: ' + {said})")
    with pytest.raises(BackendError, match=r"wrong key: \*{8} a plain word") as caught:
        ask(line, **handed)
    assert "planted" not in repr(caught.value)


def test_the_deadline_kills_it_and_its_children(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    body = "import subprocess, time\nchild = subprocess.Popen(['sleep', '60'])\n"
    body += f"open({str(pid)!r}, 'w').write(str(child.pid))\ntime.sleep(60)"
    started = time.monotonic()
    with pytest.raises(BackendBusyError, match="within"):
        ask(command(tmp_path, body), attempts=1, timeout=4.0)  # by then it has told of its child
    assert time.monotonic() - started < 40
    for _ in range(50):
        if not alive(int(pid.read_text())):
            return
        time.sleep(0.1)
    raise AssertionError("a child of the command survived")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_faults_are_named() -> None:
    with pytest.raises(ConfigError, match="there is no program 'no-such-program'"):
        ask("no-such-program")
    with pytest.raises(ReplyError, match="empty"):
        ask("true")


def test_it_costs_nothing(tmp_path: Path) -> None:
    log = MemoryLog()
    settings = ModelSettings(provider="command", model="command", command=command(tmp_path, "print('hello')"))
    model_client = ModelClient({"code": settings}, log=log)
    model_client.bind("code", "n")("s", "u")
    assert model_client.usage_of("n").cost_usd == 0.0
    assert model_client.usage_of("n").writer == "command/command"


def test_the_folder_holds_the_task_the_program_and_the_evidence(tmp_path: Path) -> None:
    """A script that was written for an agent finds the same; what the user named stays his."""
    body = "import os\nprint(sorted(os.listdir()), *(open(n).read() for n in ('evidence', 'program.py', 'TASK.md')))"
    mine = tmp_path / "evidence"
    mine.write_text("mine")
    parent = {"id": "a", "code": "x = 1", "metric": 2.0, "term_out": "said"}
    request = Request("You write.", (Message("user", "Write f."),), context={"parents": [parent]})
    settings = ModelSettings(provider="command", command=command(tmp_path, body), desk=_Desk(), files=("evidence",))
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        reply = backend_command.query(backend_command.connect(settings), request, settings, Deadline(20))
    finally:
        os.chdir(before)
    assert reply.text == "['TASK.md', 'evidence', 'program.py'] mine x = 1 You write.\n\nWrite f."
    assert mine.read_text() == "mine", "a link is not written through"


class _Desk:
    """A program is one file."""

    def hand_out(self, code: str) -> tuple[dict[str, str], list[str]]:
        return {"program.py": code}, ["program.py"]
