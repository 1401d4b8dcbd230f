"""Nodes of a cluster are lost and added while jobs run: each job is told once, and no slot without room holds one."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.contracts import JobSpec
from core.workers import remote
from core.workers.pool import JobPool
from core.workers.remote import RemoteJobs
from core.workers.shipping import Answer
from utils.errors import JobLost, SandboxError

EMPTY_ZIP = b"PK\x05\x06" + b"\0" * 18
SECONDS = 0.02


class Cluster:
    """Nodes with room for some workers each, as an engine gives it: whoever finds no room waits for it."""

    def __init__(self, *rooms: int) -> None:
        self.lock = threading.Lock()
        self.free: dict[int, int] = {}
        self.workers: list[Worker] = []
        for room in rooms:
            self.add(room)

    def add(self, room: int) -> None:
        self.free[len(self.free)] = room

    def lose(self, node: int) -> None:
        with self.lock:
            self.free[node] = 0
            for worker in self.workers:
                if worker.node == node:
                    worker.lost = True

    def open(self) -> Worker:
        with self.lock:
            self.workers.append(Worker(self))
            return self.workers[-1]


class Worker:
    """A job takes a moment and returns its number."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.node: int | None = None
        self.lost = self.killed = False
        self.jobs = 0

    def ready(self, timeout: float) -> bool:
        with self.cluster.lock:
            self.check()
            if self.node is None:
                self.node = next((node for node, room in self.cluster.free.items() if room), None)
                if self.node is not None:
                    self.cluster.free[self.node] -= 1
        if self.node is None:
            time.sleep(timeout)
        return self.node is not None

    def check(self) -> None:
        assert not self.killed, "a worker is used after it was killed"
        if self.lost:
            raise JobLost("the node is gone")

    def submit(self, spec, inputs):
        assert self.node is not None, "a worker without a place was given a job"
        self.jobs += 1
        self.number, self.ends = json.loads(spec)["payload"]["number"], time.monotonic() + SECONDS

    def poll(self, timeout):
        time.sleep(max(0.0, min(timeout, self.ends - time.monotonic())))
        self.check()
        return Answer(json.dumps({"value": self.number}), EMPTY_ZIP) if time.monotonic() >= self.ends else None

    def kill(self):
        with self.cluster.lock:
            if self.node is not None and not (self.lost or self.killed):
                self.cluster.free[self.node] += 1
            self.killed = True


def spec(number: int) -> JobSpec:
    return JobSpec(entry="tests:none", payload={"number": number})


def told(pool: JobPool, count: int, during=lambda done: None) -> Counter[int]:
    """How often each of `count` jobs was told, asked by as many threads as there are slots; `during(done)` at each."""
    found: Counter[int] = Counter()
    lock = threading.Lock()

    def one(number: int) -> None:
        value = pool.run(spec(number))
        with lock:
            found[value] += 1
            during(found.total())

    with ThreadPoolExecutor(pool.slots) as threads:
        list(threads.map(one, range(count)))
    return found


def once(count: int) -> Counter[int]:
    return Counter(dict.fromkeys(range(count), 1))


@pytest.fixture
def timed():
    """Whatever waits for room must not be waited for."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 60, "jobs waited for a slot that has no room"


@pytest.mark.usefixtures("timed")
def test_slots_without_room_hold_no_job_back():
    cluster = Cluster(1, 1)
    pool = JobPool(RemoteJobs(cluster.open, slots=4))
    assert told(pool, 40) == once(40)
    pool.close()
    assert all(worker.killed for worker in cluster.workers), "workers that never found room go as well"


@pytest.mark.usefixtures("timed")
def test_a_node_is_lost_and_what_is_left_does_all_jobs_once():
    cluster = Cluster(2, 2, 2)
    pool = JobPool(RemoteJobs(cluster.open, slots=6))
    assert told(pool, 90, lambda done: cluster.lose(1) if done == 45 else None) == once(90)
    pool.close()


@pytest.mark.usefixtures("timed")
def test_a_node_that_is_added_is_used():
    cluster = Cluster(1, 2)
    pool = JobPool(RemoteJobs(cluster.open, slots=5))
    told(pool, 20)
    cluster.lose(1)
    cluster.add(4)
    assert told(pool, 200) == once(200)
    assert [worker.node for worker in cluster.workers if not worker.killed and worker.jobs].count(2) == 4
    pool.close()


@pytest.mark.usefixtures("timed")
@pytest.mark.parametrize("seed", range(5))
def test_whatever_is_lost_and_added_each_job_is_told_once(seed):
    """Never more than twice in one job's life: who loses its worker a third time is told so."""
    rng = random.Random(seed)
    cluster = Cluster(1, 2, 3)
    lives = [1, 2]
    when = {rng.randrange(60): rng.choice(("lose", "add")) for _ in range(6)}

    def during(done: int) -> None:
        if when.get(done) == "add":
            cluster.add(rng.randrange(1, 4))
        elif when.get(done) == "lose" and lives:
            cluster.lose(lives.pop())

    pool = JobPool(RemoteJobs(cluster.open, slots=8))
    assert told(pool, 60, during) == once(60)
    pool.close()


def test_workers_that_died_while_they_had_nothing_to_do_lose_no_job(monkeypatch):
    """Three losses are all that a job has: the dead must not use them up."""
    monkeypatch.setattr(remote, "IDLE_SECONDS", 0.05)
    cluster = Cluster(6, 1)
    pool = JobPool(RemoteJobs(cluster.open, slots=7))
    told(pool, 40)
    time.sleep(0.2)
    cluster.lose(0)
    assert told(pool, 10) == once(10)
    pool.close()


def test_a_job_whose_node_was_lost_goes_to_no_other_worker_of_it():
    """One node with three workers that were idle used up all that the job had."""
    cluster = Cluster(6, 1)
    pool = JobPool(RemoteJobs(cluster.open, slots=7))
    told(pool, 40)
    cluster.lose(0)
    assert [pool.run(spec(number)) for number in range(10)] == list(range(10))
    pool.close()


def test_a_cluster_that_is_all_gone_is_said_in_bounded_time(monkeypatch):
    cluster = Cluster(2)
    pool = JobPool(RemoteJobs(cluster.open, slots=2))
    told(pool, 4)
    cluster.lose(0)
    began = time.monotonic()
    with monkeypatch.context() as patch, pytest.raises(JobLost, match=r"no worker was ready within 0\.3 s"):
        patch.setattr(remote, "READY_SECONDS", 0.3)
        pool.run(spec(1))
    assert time.monotonic() - began < 30
    cluster.add(1)
    assert pool.run(spec(2)) == 2, "it came back"
    pool.close()


def test_the_end_does_not_wait_for_room():
    cluster = Cluster(0)
    runner = RemoteJobs(cluster.open, slots=8)
    for number in range(8):
        runner.submit(spec(number))
    began = time.monotonic()
    runner.close()
    assert time.monotonic() - began < 30 and all(worker.killed for worker in cluster.workers)


def test_a_request_that_nobody_can_meet_is_an_error_of_ours():
    def refuse() -> Worker:
        raise SandboxError("no sandbox on a worker")

    pool = JobPool(RemoteJobs(refuse, slots=2))
    with pytest.raises(SandboxError, match="no sandbox on a worker"):
        pool.run(spec(1))
    pool.close()


def test_a_pipe_that_breaks_is_a_worker_that_is_lost(monkeypatch):
    """It was an error of ours, which ended the run."""
    broken = []

    def poll(worker: Worker, timeout: float) -> Answer | None:
        if not broken:
            broken.append(worker)
            raise ConnectionResetError(104, "Connection reset by peer")
        return usual(worker, timeout)

    usual = Worker.poll
    monkeypatch.setattr(Worker, "poll", poll)
    pool = JobPool(RemoteJobs(Cluster(1).open, slots=1))
    assert pool.run(spec(1)) == 1
    pool.close()
    assert broken[0].killed
