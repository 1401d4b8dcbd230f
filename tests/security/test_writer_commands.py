"""What commands that write programs can still do in their view, and that nothing of them is left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import ROOT
from support.processes import running

from core.backend import MemoryLog, ModelClient, ModelSettings
from core.executor.inside import landlock
from core.executor.writer_view import WriterView, shown_to
from utils.errors import BackendError, ConfigError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")


@pytest.fixture(params=["warm", "lite"])
def view(request):
    if request.param == "lite" and not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    made = WriterView(request.param)
    yield made
    made.close()


def ask(view: WriterView, command: str, prompt: str = "Write f.", **options) -> str:
    settings = ModelSettings(provider="command", model="command", command=command, box=view, attempts=1, **options)
    client = ModelClient({"code": settings}, log=MemoryLog())
    try:
        return client.bind("code", "n")("You write.", prompt)
    finally:
        client.close()


def test_a_script_of_the_current_folder_with_a_prompt_of_a_megabyte(view, tmp_path, monkeypatch):
    (tmp_path / "my_writer.py").write_text("import sys; print(len(sys.stdin.read()), __import__('os').listdir('.'))")
    monkeypatch.chdir(tmp_path)
    told = ask(view, f"{sys.executable} my_writer.py", "u" * 1_000_000)
    assert told.startswith("1000012 [") and "my_writer.py" not in told


def test_a_pipeline_of_a_shell(view, tmp_path, monkeypatch):
    (tmp_path / "my_writer.py").write_text("import sys; print(sys.stdin.read().upper())")
    (tmp_path / "other.txt").write_text("not named")
    monkeypatch.chdir(tmp_path)
    told = ask(view, f"sh -c 'cat | {sys.executable} my_writer.py | tail -n 1; cat other.tx* 2>&1; true'")
    assert "WRITE F." in told and "not named" not in told


def test_a_program_of_the_home_folder_and_the_files_it_is_given(view, tmp_path, monkeypatch):
    home = tmp_path / "home"
    program = home / "bin" / "mycli"
    program.parent.mkdir(parents=True)
    (home / ".mycli").mkdir()
    (home / ".mycli" / "token").write_text("t0ken")
    (home / ".mycli" / "token").chmod(0o600)
    (home / "diary").write_text("dear diary")
    program.write_text(
        f"#!{sys.executable}\nimport os, pathlib\nhome = pathlib.Path(os.environ['HOME'])\n"
        "print((home / '.mycli' / 'token').read_text(), (home / 'diary').exists(), 'KEY' in os.environ)\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("KEY", "secret")
    told = ask(view, "mycli", files=("~/.mycli",), env=("HOME",))
    assert told.split() == (["t0ken", "False", "False"] if view.tier == "warm" else ["t0ken", "True", "False"])
    with pytest.raises(BackendError, match=r"llm\.code\.files and"):
        ask(view, "mycli", env=("HOME",))
    with pytest.raises(ConfigError, match=r"llm\.code\.files=~/nothing: there is no such file or folder"):
        ask(view, "mycli", files=("~/nothing",))


@pytest.mark.long
def test_at_the_deadline_it_dies_with_all_its_children(view, tmp_path):
    seconds = f"98765.{os.getpid()}{int(view.tier == 'warm')}"
    script = tmp_path / "slow.py"
    script.write_text(
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen(['sleep', '{seconds}'])\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        os.execvp('sleep', ['sleep', '{seconds}'])\n    os._exit(0)\n"
        "time.sleep(60)\n"
    )
    begun = time.monotonic()
    with pytest.raises(BackendError, match="within 3 s"):
        ask(view, f"{sys.executable} {script}", timeout=3.0)
    assert time.monotonic() - begun < 50
    _until(lambda: not running(seconds))


def test_it_does_not_outlive_a_run_that_is_killed(view, tmp_path):
    seconds = f"98764.{os.getpid()}{int(view.tier == 'warm')}"
    (tmp_path / "slow.py").write_text(f"import subprocess\nsubprocess.run(['sleep', '{seconds}'])\n")
    asks = (
        "import sys; from core.backend import MemoryLog, ModelClient, ModelSettings\n"
        "from core.executor.writer_view import WriterView\n"
        f"settings = ModelSettings(provider='command', model='m', box=WriterView({view.tier!r}),"
        f" command={sys.executable + ' ' + str(tmp_path / 'slow.py')!r})\n"
        "ModelClient({'code': settings}, log=MemoryLog()).bind('code', 'n')('s', 'u')\n"
    )
    run = subprocess.Popen([sys.executable, "-c", asks], cwd=ROOT)
    try:
        _until(lambda: bool(running(seconds)))
        run.kill()
        _until(lambda: not running(seconds))
    finally:
        run.kill()
        run.wait()


def _until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


def test_its_folder_is_removed_and_its_code_is_told(view):
    with pytest.raises(BackendError, match="ended with code 3 and said: no model loaded"):
        ask(view, "sh -c 'pwd >&2; echo no model loaded >&2; exit 3'")
    place = ask(view, "sh -c 'echo kept > file; mkdir -m 000 closed; pwd'")
    assert place == "/workspace" if view.tier == "warm" else not Path(place).exists()


def test_a_folder_of_programs_shows_no_data_beside_it(tmp_path):
    """Only where an interpreter is installed do `lib` and `bin` belong to a program."""
    program = tmp_path / "bin" / "writer"
    program.parent.mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "labels.csv").write_text("1")
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert [path for path in shown_to([str(program)], []) if path.startswith(str(tmp_path))] == [str(program)]
