"""JobPool over a runner whose results come at the worst moments: before `submit` returns, and after nobody waits."""

from __future__ import annotations

import queue
import threading

import pytest

from core.contracts import JobResult, JobRunnerDefaults, JobSpec
from core.workers.pool import JobPool
from utils.errors import Interrupted, JobStopped, SandboxError


class Runner(JobRunnerDefaults):
    """Answers at once, or when told to."""

    slots = 1

    def __init__(self, at_once: bool) -> None:
        self.at_once = at_once
        self.submitted: queue.Queue[str] = queue.Queue()
        self.results: queue.Queue[JobResult] = queue.Queue()
        self.heard = threading.Event()
        self._serial = 0

    def submit(self, spec: JobSpec) -> str:
        self._serial += 1
        own = f"job-{self._serial}"
        if self.at_once:
            self.results.put(JobResult(id=own, value=spec.payload["number"]))
            threading.Event().wait(0.01)  # the pool's thread has the result by now
        self.submitted.put(own)
        return own

    def next(self, timeout: float | None = None) -> JobResult | None:
        try:
            return self.results.get(timeout=timeout)
        except queue.Empty:
            self.heard.set()  # whatever was told is handed out
            return None

    def cancel(self, id: str) -> None: ...

    def close(self) -> None: ...


def spec(number: int = 0, label: str = "node") -> JobSpec:
    return JobSpec(entry="any:thing", payload={"number": number}, label=label)


def test_a_result_that_is_there_before_its_job_is_known_is_handed_out():
    pool = JobPool(Runner(at_once=True))
    assert pool.map([spec(number) for number in range(20)]) == list(range(20))
    pool.close()


def test_a_result_that_nobody_waits_for_is_dropped():
    runner = Runner(at_once=False)
    pool = JobPool(runner)
    raised: list[BaseException] = []

    def wait() -> None:
        with pytest.raises(JobStopped) as caught:
            pool.run(spec())
        raised.append(caught.value)

    thread = threading.Thread(target=wait)
    thread.start()
    own = runner.submitted.get(timeout=60)
    while not pool.stop("node"):  # known a moment after it is submitted
        pass
    thread.join(60)
    runner.results.put(JobResult(id=own, value=7))
    runner.heard.clear()
    assert runner.heard.wait(60) and raised
    held = [value for value in vars(pool).values() if isinstance(value, dict)]
    assert not any(held), "a late result is kept for ever"
    pool.close()


def run_in_a_thread(pool: JobPool) -> tuple[threading.Thread, list[BaseException]]:
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            pool.run(spec())
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            raised.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread, raised


def test_whoever_comes_while_it_is_closed_does_not_wait_for_ever():
    pool = JobPool(Runner(at_once=False))

    class Turn:
        """Its lock: the pool is closed before the first who asks for it has it."""

        def __init__(self, lock) -> None:
            self.lock, self.came = lock, False

        def __enter__(self):
            if not self.came:
                self.came = True
                pool.close()
            return self.lock.__enter__()

        def __exit__(self, *error):
            return self.lock.__exit__(*error)

    pool._lock = Turn(threading.Lock())
    thread, raised = run_in_a_thread(pool)
    thread.join(60)
    assert [type(error) for error in raised] == [Interrupted]


def test_a_fault_of_the_thread_that_hands_out_results_reaches_who_waits():
    """The view could not be told of the end, and whoever waited for a result waited for ever."""
    ending = threading.Event()

    def broken(running: int) -> None:
        raise OSError("no space left on the device")

    pool = JobPool(Runner(at_once=False), is_ending=ending.is_set, on_ending=broken)
    thread, raised = run_in_a_thread(pool)
    pool._runner.submitted.get(timeout=60)
    pool._begun.add("node")
    ending.set()
    thread.join(60)
    assert "no space left" in str(raised[0])
    with pytest.raises(SandboxError, match="no space left"):
        pool.run(spec())
    pool.close()


def test_what_else_was_mapped_is_cancelled_when_one_raises():
    """It went on on the workers, for nobody, beside what was tried instead."""
    runner = Runner(at_once=False)
    cancelled: list[str] = []
    runner.cancel = cancelled.append
    pool = JobPool(runner)
    raised: list[BaseException] = []

    def wait() -> None:
        with pytest.raises(SandboxError) as caught:
            pool.map([spec(number) for number in range(3)])
        raised.append(caught.value)

    thread = threading.Thread(target=wait)
    thread.start()
    ids = [runner.submitted.get(timeout=60) for _ in range(3)]
    runner.results.put(JobResult(id=ids[0], value=7))
    runner.results.put(JobResult(id=ids[1], error="the sandbox broke"))
    thread.join(60)
    assert raised and cancelled == [ids[2]] and not pool._waiting
    pool.close()


def test_what_was_mapped_before_one_that_is_refused_is_cancelled():
    runner = Runner(at_once=False)
    cancelled: list[str] = []
    runner.cancel = cancelled.append
    pool = JobPool(runner)
    pool.refuse(["stopped"])
    with pytest.raises(JobStopped):
        pool.map([spec(1), spec(2, label="stopped"), spec(3)])
    assert cancelled == ["job-1"] and not pool._waiting
    pool.close()
