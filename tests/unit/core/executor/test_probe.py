"""What the self-test of a tier makes of what it finds."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from pathlib import Path

import pytest

from core.contracts import ExecutionResult
from core.executor import probe
from utils.errors import NoSandboxError


@pytest.fixture(autouse=True)
def no_session(tmp_path, monkeypatch):
    """Nothing is known yet but what a test itself asked for."""
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


class Leaky:
    """A sandbox from which a program reaches other processes, and says that it did not."""

    def run(self, code, *, workspace, inputs=None, limits):
        if inputs is not None:
            victim = json.loads((workspace / "probe.json").read_text())["victim"]
            os.kill(victim, signal.SIGKILL)
            while probe._state_of(victim) != "Z":
                time.sleep(0.001)
        return ExecutionResult(term_out="".join(f"{name} held\n" for name in probe._NAMES), exec_time=0.0)

    def close(self):
        pass


def test_a_tier_in_which_others_can_be_killed_does_not_hold_and_the_next_is_tried(tmp_path, monkeypatch):
    """It was an error that ended the start, instead of a probe that failed."""
    monkeypatch.setattr(probe, "make_sandbox", lambda config, gpus: Leaky())
    found = probe.examine("auto", state_dir=tmp_path)
    assert found["tier"] == "none"
    failed = {one["name"]: one["detail"] for one in found["probes"] if not one["ok"]}
    assert "kill_others" in failed and "trace" not in failed


def attacks_told(monkeypatch, *, hold: bool = True):
    """How often tiers are attacked from here on."""
    told = []

    def attack(tier, python, gpus):
        told.append(tier)
        return [probe.Probe(name, hold) for name in probe.PROBES]

    monkeypatch.setattr(probe, "_attack", attack)
    return told


def asked(*folders):
    return [probe.examine("warm", state_dir=folder)["tier"] for folder in folders]


def session(tmp_path, monkeypatch, mode: int = 0o700):
    (tmp_path / "session").mkdir(mode=mode)
    (tmp_path / "session").chmod(mode)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "session"))


def test_a_tier_that_held_is_attacked_once_for_all_projects_of_a_session(tmp_path, monkeypatch):
    session(tmp_path, monkeypatch)
    told = attacks_told(monkeypatch)
    assert asked(tmp_path / "a", tmp_path / "b", tmp_path / "b") == ["warm"] * 3 and told == ["warm"]
    monkeypatch.setattr(probe, "_key", lambda *words: "another boot, user, interpreter or code")
    assert asked(tmp_path / "a") == ["warm"] and len(told) == 2
    assert not any(path.is_dir() for path in (tmp_path / "session").iterdir())


def test_a_tier_that_did_not_hold_is_attacked_again(tmp_path, monkeypatch):
    session(tmp_path, monkeypatch)
    told = attacks_told(monkeypatch, hold=False)
    assert asked(tmp_path / "a", tmp_path / "a") == ["none"] * 2 and len(told) == 2


def test_a_folder_of_the_session_that_others_may_write_to_says_nothing(tmp_path, monkeypatch):
    session(tmp_path, monkeypatch, mode=0o777)
    told = attacks_told(monkeypatch)
    asked(tmp_path / "a", tmp_path / "b")
    assert len(told) == 2 and not list((tmp_path / "session").iterdir())
    asked(tmp_path / "a")
    assert len(told) == 2, "each project keeps its own"


def test_without_a_session_it_is_kept_in_a_folder_of_the_user(tmp_path, monkeypatch):
    told = attacks_told(monkeypatch)
    asked(tmp_path / "a", tmp_path / "b")
    assert told == ["warm"]
    (kept,) = (tmp_path / "temporary").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o700
    kept.chmod(0o777)
    asked(tmp_path / "c", tmp_path / "a")
    assert len(told) == 2, "others may have written it"


@pytest.mark.parametrize(
    ("detail", "key"),
    [
        ("the fork server did not start: OSError: [Errno 28] unshare: No space left on device", "warm"),
        ("the fork server did not start: ModuleNotFoundError: No module named 'ctypes'", "start"),
        ("the fork server did not start: PermissionError: [Errno 13] Permission denied: '/opt/python'", "start"),
        ("cannot start /no/python: No such file or directory", "start"),
        ("the machine had no room for a job: [Errno 24] Too many open files", "room"),
        ("the sandbox could not run a job: BlockingIOError: [Errno 11] Resource temporarily unavailable", "room"),
        ("the attack won", "warm"),
    ],
)
def test_the_remedy_is_about_what_failed(tmp_path, monkeypatch, detail, key):
    """Where namespaces are off, another Python was asked for; where a session has no room, namespaces."""
    monkeypatch.setattr(probe, "_attack", lambda tier, python, gpus: [probe.Probe("start", False, detail)])
    assert probe.examine("warm", state_dir=tmp_path)["remedy"] == probe.REMEDIES[key]


@pytest.mark.parametrize(
    "known",
    [
        [],
        [{"name": "start", "ok": True, "detail": ""}],
        [{"name": name, "ok": name != "trace", "detail": ""} for name in probe.PROBES],
        [{"name": name, "ok": "false", "detail": ""} for name in probe.PROBES],
        [{"name": name} for name in probe.PROBES],
        5,
        {"start": True},
        [None],
        None,
    ],
    ids=["empty", "one", "one won", "texts", "no word", "number", "object", "nothing", "null"],
)
def test_a_kept_answer_that_does_not_say_that_every_attack_was_held_off_proves_nothing(tmp_path, monkeypatch, known):
    """No probe at all counted as all of them, a text as yes, and a number ended the start with a traceback."""
    told = attacks_told(monkeypatch)
    (tmp_path / probe.CACHE).write_text(json.dumps({probe._key("warm", probe.own_python(), 0): known}))
    assert asked(tmp_path, tmp_path) == ["warm"] * 2 and told == ["warm"]


def test_no_devices_by_either_number_are_one_question(tmp_path, monkeypatch):
    """The first run of a boot attacked its sandbox twice: once with the settings' 0.0, once with a 0."""
    told = attacks_told(monkeypatch)
    for gpus in (0, 0.0):
        assert probe.choose("warm", python=None, gpus=gpus, state_dir=tmp_path) == "warm"
    assert told == ["warm"]


def test_a_tier_is_attacked_by_all_that_a_kept_answer_has_to_name(tmp_path, monkeypatch):
    """Else none would ever be taken from a cache."""
    monkeypatch.setattr(probe, "make_sandbox", lambda config, gpus: Leaky())
    assert [one.name for one in probe.probe_tier("warm", python=None, gpus=0, state_dir=None)] == list(probe.PROBES)


def test_a_machine_without_proc_is_told_before_anything_is_tried(tmp_path, monkeypatch):
    """The attacks bind and look by it: what held it off was a traceback."""
    monkeypatch.setattr(probe, "_EVERYWHERE", ("/dev/null", "/nowhere/fd"))
    with pytest.raises(NoSandboxError, match="probe system failed: /nowhere/fd is not there"):
        probe.choose("auto", python=None, gpus=0, state_dir=tmp_path)


def test_where_nothing_says_which_boot_it_is_no_answer_is_kept(tmp_path, monkeypatch):
    """Such as a /proc of processes alone (`subset=pid`): one answer held for every boot, and for any rights."""
    told = attacks_told(monkeypatch)
    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path: read(path if "boot_id" not in path.name else Path("/nowhere")))
    for _ in range(2):
        assert probe.choose("warm", python=None, gpus=0, state_dir=tmp_path) == "warm"
    assert len(told) == 2 and not list(tmp_path.glob(probe.CACHE))
