"""Workers elsewhere: nothing is told twice, nothing is lost silently, what overstays is killed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable

import pytest
from support.processes import eventually
from support.timing import fastest

from core.contracts import JobResult, JobSpec
from core.workers.fallback import FallbackJobs
from core.workers.pool import JobPool
from core.workers.remote import RemoteJobs
from core.workers.shipping import Answer, pack_folder
from utils.errors import JobLost, SandboxError

EMPTY_ZIP = b"PK\x05\x06" + b"\0" * 18


class Worker:
    """A worker in a thread of its own: what a cluster gives, without the cluster."""

    def __init__(self, behave: Callable[[dict], object]) -> None:
        self.behave = behave
        self.begun, self.killed = threading.Event(), threading.Event()
        self._answer: object = None
        self._done = threading.Event()

    def ready(self, timeout):
        return True

    def submit(self, spec, inputs):
        payload = json.loads(spec)["payload"]

        def work():
            self.begun.set()
            try:
                self._answer = Answer(json.dumps({"value": self.behave(payload)}), EMPTY_ZIP)
            except Exception as error:  # noqa: BLE001 - handed to poll
                self._answer = error
            self._done.set()

        self._done.clear()
        threading.Thread(target=work, daemon=True).start()

    def poll(self, timeout):
        if not self._done.wait(timeout):
            return None
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def kill(self):
        self.killed.set()


class Fleet:
    def __init__(self, behave) -> None:
        self.behave = behave
        self.workers: list[Worker] = []

    def open(self) -> Worker:
        self.workers.append(Worker(self.behave))
        return self.workers[-1]


def spec(number: int, **more) -> JobSpec:
    return JobSpec(entry="tests:none", payload={"number": number}, **more)


def test_every_job_is_told_once_and_in_its_place():
    fleet = Fleet(lambda payload: payload["number"] * 2)
    pool = JobPool(RemoteJobs(fleet.open, slots=3))
    assert pool.map([spec(i) for i in range(30)]) == [i * 2 for i in range(30)]
    assert len(fleet.workers) <= 3  # workers are kept
    pool.close()
    assert all(worker.killed.is_set() for worker in fleet.workers)


def test_a_lost_worker_is_replaced_and_its_job_done_again():
    lost = threading.Event()

    def behave(payload):
        if payload["number"] == 5 and not lost.is_set():
            lost.set()
            raise JobLost("the node is gone")
        return payload["number"]

    fleet = Fleet(behave)
    pool = JobPool(RemoteJobs(fleet.open, slots=2))
    assert pool.map([spec(i) for i in range(10)]) == list(range(10))
    assert sum(worker.killed.is_set() for worker in fleet.workers) == 1
    pool.close()


def test_a_job_that_is_lost_every_time_is_said_to_be_lost():
    def behave(payload):
        raise JobLost("the node is gone")

    pool = JobPool(RemoteJobs(Fleet(behave).open, slots=1))
    with pytest.raises(JobLost, match="the node is gone"):
        pool.run(spec(1))
    pool.close()


def test_an_overdue_job_kills_its_worker_within_a_second():
    fleet = Fleet(lambda payload: time.sleep(90))
    runner = RemoteJobs(fleet.open, slots=1)

    def overdue() -> None:
        before = sum(worker.killed.is_set() for worker in fleet.workers)
        runner.submit(spec(1, seconds=0.3))
        result = runner.next(timeout=60)
        assert result is not None and result.lost and "0.3 s" in result.error
        eventually(lambda: sum(worker.killed.is_set() for worker in fleet.workers) > before)

    assert fastest(overdue, 1.3) < 1.3
    runner.close()


def test_the_result_of_a_cancelled_job_is_discarded():
    fleet = Fleet(lambda payload: time.sleep(payload["number"]) or payload["number"])
    runner = RemoteJobs(fleet.open, slots=1)
    slow = runner.submit(spec(2))
    eventually(lambda: fleet.workers and fleet.workers[0].begun.is_set())
    runner.cancel(slow)
    quick = runner.submit(spec(0))
    result = runner.next(timeout=60)
    assert result is not None and result.id == quick
    assert runner.next(timeout=0.3) is None
    assert fleet.workers[0].killed.is_set()
    runner.close()


def test_a_fault_of_the_engine_is_an_error_of_ours():
    def behave(payload):
        raise RuntimeError("engine")

    pool = JobPool(RemoteJobs(Fleet(behave).open, slots=1))
    with pytest.raises(SandboxError, match="engine"):
        pool.run(spec(1))
    pool.close()


class Local:
    """A runner that answers at once."""

    slots = 1

    def __init__(self) -> None:
        self.done: list[JobResult] = []
        self.specs: list[JobSpec] = []

    def submit(self, job):
        self.specs.append(job)
        id_ = f"here-{len(self.specs)}"
        self.done.append(JobResult(id=id_, value=("local", job.payload["number"])))
        return id_

    def next(self, timeout=None):
        return self.done.pop(0) if self.done else None

    def cancel(self, id):
        self.done = [result for result in self.done if result.id != id]

    def close(self):
        pass


def test_the_first_remote_error_moves_everything_here_and_nothing_is_told_twice():
    def behave(payload):
        if payload["number"] == 3:
            raise RuntimeError("quota")
        return ("remote", payload["number"])

    notices: list[str] = []
    here = Local()
    jobs = FallbackJobs(RemoteJobs(Fleet(behave).open, slots=1), lambda: here, notices.append)
    ids = [jobs.submit(spec(i)) for i in range(6)]
    told = [jobs.next(timeout=60) for _ in ids]
    assert jobs.next(timeout=0.2) is None
    assert sorted(result.id for result in told) == sorted(ids)
    assert {tuple(result.value)[1] for result in told} == set(range(6))
    assert tuple(next(r.value for r in told if r.id == ids[3])) == ("local", 3)
    assert len(notices) == 1 and "quota" in notices[0]
    later = jobs.submit(spec(9))
    assert jobs.next(timeout=60) == JobResult(id=later, value=("local", 9))
    jobs.close()


def test_a_folder_is_packed_by_content(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.csv").write_text("1,2")
    name, data = pack_folder(tmp_path)
    assert (name, data) == pack_folder(tmp_path)
    (tmp_path / "a" / "x.csv").write_text("1,3")
    assert pack_folder(tmp_path)[0] != name
