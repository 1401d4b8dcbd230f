"""LocalJobs: whatever goes wrong round a job, whoever waits for it hears of it."""

from __future__ import annotations

import errno
import os
import queue
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
    return found.result(timeout=60)


@pytest.fixture
def jobs(tmp_path):
    made = LocalJobs(NO_SANDBOX, 2, scratch=tmp_path)
    yield made
    made.close()


def test_a_job_that_leaves_its_thread_is_told_at_once(jobs):
    """It was told as overdue, when its deadline was over."""
    jobs.submit(spec("leaves"))
    result = jobs.next(timeout=60)
    assert result is not None and "SystemExit" in (result.error or "")
    jobs.submit(spec("double", number=4))
    result = jobs.next(timeout=60)
    assert result is not None and result.value == 8


def test_a_job_that_no_thread_can_be_made_for_is_told(jobs, monkeypatch):
    """Where a machine has no room for another thread, who waited for a result waited for ever."""

    made, refused = local._JobThread, []

    def none(call):
        refused.append(call)
        raise RuntimeError("can't start new thread")

    pool = JobPool(jobs)
    monkeypatch.setattr(local, "_LOOK_FOR_ROOM", 0.01)
    monkeypatch.setattr(local, "_JobThread", lambda call: made(call) if len(refused) > 2 else none(call))
    assert results(pool, spec("double", number=4)) == [8], "a program may have filled it for a while"
    monkeypatch.setattr(local, "ROOM_SECONDS", 0.0)
    monkeypatch.setattr(local, "_JobThread", none)
    jobs._idle.clear()
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


# ------------------------------------------------------------ a job that has only to tidy up


class Stages:
    """Where jobs stand: each says what it comes to, and waits until it may go on."""

    def __init__(self) -> None:
        self.reached: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.may_go = {name: threading.Event() for name in ("run a", "tidy a", "run b", "tidy b")}

    def at(self, name: str) -> None:
        self.reached.put(name)
        assert self.may_go[name].wait(60)

    def next(self, seconds: float = 60.0) -> str | None:
        try:
            return self.reached.get(timeout=seconds)
        except queue.Empty:
            return None


stages = Stages()


def tidies(payload: dict, context: JobContext) -> str:
    """A job that leaves its slot before it is over."""
    stages.at(f"run {payload['who']}")
    context.leave()
    stages.at(f"tidy {payload['who']}")
    return payload["who"]


@pytest.fixture
def one_slot(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "stages", Stages())
    told: list[tuple[str, str]] = []
    jobs = LocalJobs(NO_SANDBOX, 1, tmp_path, on_job=lambda label, state: told.append((label, state)))
    yield jobs, told
    for event in stages.may_go.values():
        event.set()
    jobs.close()


def named(name: str, **more: object) -> JobSpec:
    return spec("tidies", who=name).model_copy(update={"label": name, **more})


def test_the_next_job_begins_while_one_tidies_up_and_each_is_told_when_it_is_over(one_slot):
    jobs, told = one_slot
    jobs.submit(named("a"))
    jobs.submit(named("b"))
    assert stages.next() == "run a" and stages.next(0.2) is None
    stages.may_go["run a"].set()
    assert {stages.next(), stages.next()} == {"tidy a", "run b"}
    assert jobs.next(0.2) is None and ("a", "over") not in told
    stages.may_go["tidy a"].set()
    assert jobs.next(60).value == "a" and ("a", "over") in told
    stages.may_go["run b"].set(), stages.may_go["tidy b"].set()
    assert jobs.next(60).value == "b"


def test_a_job_alone_waits_for_one_that_tidies_up(one_slot):
    jobs, _ = one_slot
    jobs.submit(named("a"))
    jobs.submit(named("b", alone=True))
    stages.may_go["run a"].set()
    assert [stages.next(), stages.next(), stages.next(0.3)] == ["run a", "tidy a", None]
    stages.may_go["tidy a"].set()
    assert stages.next() == "run b"


def test_a_share_is_kept_before_the_slot_is_left(one_slot, monkeypatch):
    """Where the deadline came between the two, a job alone began beside it."""
    jobs, _ = one_slot
    kept = []
    monkeypatch.setattr(jobs._exclusive, "stay", lambda: kept.append([job.left for job in jobs._jobs.values()]))
    monkeypatch.setattr(jobs._exclusive, "go", lambda: None)
    jobs.submit(named("a"))
    stages.may_go["run a"].set(), stages.may_go["tidy a"].set()
    assert jobs.next(60).value == "a" and kept == [[False]]


def test_what_is_cancelled_while_it_tidies_up_is_not_told(one_slot):
    jobs, _ = one_slot
    id_ = jobs.submit(named("a"))
    stages.may_go["run a"].set()
    assert [stages.next(), stages.next()] == ["run a", "tidy a"]
    jobs.cancel(id_)
    stages.may_go["tidy a"].set()
    assert jobs.next(0.3) is None


def test_an_overdue_job_does_not_leave_its_slot_twice(one_slot):
    """It comes to its tidying up when another job has its slot already."""
    jobs, _ = one_slot
    jobs.submit(named("a", seconds=0.2))
    jobs.submit(named("b"))
    assert stages.next() == "run a"
    assert jobs.next(60).overdue and stages.next() == "run b"
    stages.may_go["run a"].set()
    assert stages.next() == "tidy a"
    stages.may_go["tidy a"].set(), stages.may_go["run b"].set(), stages.may_go["tidy b"].set()
    assert jobs.next(60).value == "b" and jobs.next(0.3) is None


def test_with_gpus_the_next_job_waits_until_the_one_before_is_over(tmp_path, monkeypatch):
    """A program that is being killed still holds the memory of its card."""

    class WithCards:
        cards = ("/dev/nvidia0",)

        def stop_thread(self, thread: threading.Thread) -> None:
            """Nothing runs in it."""

    monkeypatch.setattr(sys.modules[__name__], "stages", Stages())
    monkeypatch.setattr(local, "WarmSandbox", WithCards)
    jobs = LocalJobs(WithCards(), 1, tmp_path)
    jobs.submit(named("a"))
    jobs.submit(named("b"))
    stages.may_go["run a"].set()
    assert [stages.next(), stages.next(), stages.next(0.3)] == ["run a", "tidy a", None]
    for event in stages.may_go.values():
        event.set()
    assert stages.next() == "run b"
    jobs.close()
