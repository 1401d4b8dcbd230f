"""LocalJobs: whatever goes wrong round a job, whoever waits for it hears of it."""

from __future__ import annotations

import errno
import os
import re
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress

import pytest

from core.contracts import JobContext, JobSpec
from core.workers import local
from core.workers.local import LocalJobs
from core.workers.pool import JobPool
from utils.errors import JobLost, SandboxError

NO_SANDBOX = object()
"""These jobs use none."""


def leaves(payload: dict, context: JobContext) -> None:
    """A job that ends its thread."""
    sys.exit("bye")


def double(payload: dict, context: JobContext) -> int:
    return 2 * payload["number"]


def refused(payload: dict, context: JobContext) -> int:
    """A job that the system refuses something, at first or always; after it has asked for its sandbox, or before."""
    if payload["begun"]:
        assert context.sandbox is NO_SANDBOX
    refused_before.append(payload["errno"])
    if len(refused_before) <= payload["times"]:
        raise OSError(payload["errno"], os.strerror(payload["errno"]), "/a/file")
    return 1


refused_before: list[int] = []


def spec(name: str, **payload: object) -> JobSpec:
    return JobSpec(entry=f"{__name__}:{name}", payload=payload, seconds=20.0)


def results(pool: JobPool, *specs: JobSpec) -> list[int]:
    """Theirs, or what is raised in their place; not waited for for ever."""
    found: Future[list[int]] = Future()

    def wait() -> None:
        try:
            found.set_result(pool.map(specs))
        except Exception as error:  # noqa: BLE001 - raised below
            found.set_exception(error)

    threading.Thread(target=wait, daemon=True).start()
    return found.result(timeout=10)


@pytest.fixture
def jobs(tmp_path):
    made = LocalJobs(NO_SANDBOX, 2, scratch=tmp_path)
    yield made
    made.close()


def test_a_job_that_leaves_its_thread_is_told_at_once(jobs):
    """It was told as overdue, when its deadline was over."""
    jobs.submit(spec("leaves"))
    result = jobs.next(timeout=5.0)
    assert result is not None and "SystemExit" in (result.error or "")
    jobs.submit(spec("double", number=4))
    result = jobs.next(timeout=5.0)
    assert result is not None and result.value == 8


def test_a_job_that_no_thread_can_be_made_for_is_told(jobs, monkeypatch):
    """Where a machine has no room for another thread, who waited for a result waited for ever."""

    def none(call):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(local, "_JobThread", none)
    pool = JobPool(jobs)
    with pytest.raises(SandboxError, match="can't start new thread"):
        results(pool, spec("double", number=4))
    monkeypatch.undo()
    assert results(pool, spec("double", number=4)) == [8]


def test_two_jobs_that_want_the_one_idle_thread_both_run(jobs):
    class Idle(list):
        """Whoever looks whether there is one is overtaken by another."""

        def __len__(self) -> int:
            found = super().__len__()
            if found == 1:
                with suppress(threading.BrokenBarrierError):  # nobody is let in beside
                    met.wait()
            return found

        def __bool__(self) -> bool:
            return len(self) > 0

    met = threading.Barrier(2, timeout=1.0)
    pool = JobPool(jobs)
    assert results(pool, spec("double", number=1)) == [2]
    jobs._idle = Idle(jobs._idle)
    assert results(pool, spec("double", number=2), spec("double", number=3)) == [4, 6]


@pytest.fixture
def told():
    refused_before.clear()
    return refused_before


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ECONNRESET, errno.EMFILE, errno.ENOENT, errno.EBADF])
def test_what_the_system_refuses_once_a_program_runs_costs_that_job(jobs, told, number):
    """It ended the run."""
    pool = JobPool(jobs)
    with pytest.raises(JobLost, match=re.escape(os.strerror(number))):
        results(pool, spec("refused", errno=number, begun=True, times=99))
    assert told == [number] * 3
    told.clear()
    assert results(pool, spec("refused", errno=number, begun=True, times=2)) == [1], "it is tried again"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_what_the_disk_refuses_ends_the_run_in_one_line(jobs, told, number):
    pool = JobPool(jobs)
    with pytest.raises(SandboxError) as raised:
        results(pool, spec("refused", errno=number, begun=True, times=99))
    assert str(raised.value) == f"OSError: [Errno {number}] {os.strerror(number)}: '/a/file'"
    assert told == [number]


def test_what_is_missing_before_any_program_runs_ends_the_run(jobs, told):
    with pytest.raises(SandboxError, match="No such file"):
        results(JobPool(jobs), spec("refused", errno=errno.ENOENT, begun=False, times=99))
    assert told == [errno.ENOENT]
