"""Numbers of users for candidates."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from contextlib import closing
from unittest.mock import Mock

import pytest

from core.contracts import Limits
from core.executor.sandbox import open_sandbox
from core.executor.uids import UidPool
from utils.errors import JobLost, SandboxError

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the sandbox needs Linux")


def test_a_number_is_given_again_when_its_last_process_has_been_waited_for():
    """The kernel counts those that nobody has waited for yet against what the user may start."""
    pool = UidPool()
    try:
        first = pool.take()
        last = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
        pool.give_back(first, os.pidfd_open(last.pid))
        assert last.stdout is not None and last.stdout.read() == b""
        second = pool.take()
        assert second != first, "it ended, and is still counted"
        last.wait()
        assert pool.take() == first
        pool.give_back(second)
        assert pool.take() == second
    finally:
        pool.close()
        last.stdout.close()


def test_what_workers_give_back_and_ask_for_after_the_close_is_held_by_nobody():
    """A sandbox closes before the threads of its workers have ended: they see their supervisor die, and come back."""
    pool = UidPool()
    uid = pool.take()
    pool.close()
    handle = os.pidfd_open(os.getpid())
    pool.give_back(uid, handle)
    with pytest.raises(OSError):
        os.fstat(handle)
    with pytest.raises(SandboxError, match="the sandbox is closed"):
        pool.take()
    other = UidPool()
    try:
        assert other.take() == uid, "nothing of the closed pool holds its number"
    finally:
        other.close()


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives candidates numbers of their own")
def test_a_run_that_is_cut_off_leaves_no_handle_of_the_programs_that_were_under_way(tmp_path):
    """A worker's thread goes on beside the close, and begins its next program."""
    before = _handles()
    sandbox = open_sandbox("auto", state_dir=tmp_path / "state")
    sandbox.ready()
    workspaces = [tmp_path / name for name in ("one", "two")]
    for folder in workspaces:
        folder.mkdir()
    ends: list[BaseException] = []

    def worker() -> None:
        for folder in workspaces:
            try:
                sandbox.run(
                    "print('begun', flush=True)\nimport time\ntime.sleep(60)", workspace=folder,
                    limits=Limits(seconds=50), on_output=lambda text: begun.set(),
                )  # fmt: skip
            except (SandboxError, JobLost) as error:
                ends.append(error)

    begun = threading.Event()
    thread = threading.Thread(target=worker)
    thread.start()
    assert begun.wait(30)
    sandbox.close()
    thread.join(30)
    assert len(ends) == 2
    assert _handles() == before, "pidfds of supervisors"


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives candidates numbers of their own")
def test_a_session_for_which_no_descriptor_is_left_gives_its_number_back_once(tmp_path, monkeypatch):
    """It was given back twice: two programs that ran at once were then one user, who may kill each other."""
    full = OSError(errno.EMFILE, "Too many open files")
    code = "import os\ndef who():\n    return os.getuid()"
    with closing(open_sandbox("auto", state_dir=tmp_path / "state")) as sandbox:
        sandbox.session("x = 1", limits=Limits()).close()
        for refused in ("core.executor.slot._sealed", "core.executor.session.pipe"):
            with monkeypatch.context() as patch:
                patch.setattr(refused, Mock(side_effect=full))
                with pytest.raises(JobLost, match="Too many open files"):
                    sandbox.session("x = 1", limits=Limits())
        sessions = [sandbox.session(code, limits=Limits()) for _ in "four"]
        numbers = [session.call("who", [], timeout=20) for session in sessions]
        for session in sessions:
            session.close()
    assert len(set(numbers)) == len(sessions)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives candidates numbers of their own")
def test_a_number_is_not_given_again_where_nobody_can_see_its_last_process_end(tmp_path, monkeypatch):
    code = "import os; print(os.getuid())"
    (tmp_path / "workspace").mkdir()
    with closing(open_sandbox("auto", state_dir=tmp_path / "state")) as sandbox:
        with monkeypatch.context() as patch:
            patch.setattr("core.executor.warm.os.pidfd_open", Mock(side_effect=OSError(errno.EMFILE, "full")))
            first = sandbox.run(code, workspace=tmp_path / "workspace", limits=Limits()).term_out
        later = {sandbox.run(code, workspace=tmp_path / "workspace", limits=Limits()).term_out for _ in range(3)}
    assert first not in later


def _handles() -> list[str]:
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    return [target for target in found if "pidfd" in target]
