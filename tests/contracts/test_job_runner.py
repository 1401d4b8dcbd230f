"""What every job runner must do, shown on the local one: each job once, errors told, order kept, alone when asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.contracts import JobBench, JobResult, JobSpec, Limits
from core.executor.jobs import JobPool, LocalJobs, execution_result, script_spec
from core.executor.sandbox import open_sandbox
from utils.errors import JobLost, SandboxError

HERE = "test_job_runner"
running: list[str] = []
together: list[int] = []
guard = threading.Lock()


def double(payload: dict[str, Any], bench: JobBench) -> int:
    (bench.scratch / "file").write_text("x")
    return int(payload["n"]) * 2


def fail(payload: dict[str, Any], bench: JobBench) -> None:
    raise ValueError("an error of ours")


def busy(payload: dict[str, Any], bench: JobBench) -> None:
    with guard:
        running.append(payload["name"])
        together.append(len(running))
        if payload["name"] == "alone":
            together.append(100 * len(running))
    time.sleep(0.05)
    with guard:
        running.remove(payload["name"])


class NoSandbox:
    """Jobs here do not use it."""

    tier = "none"


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[LocalJobs]:
    runner = LocalJobs(NoSandbox(), 3, scratch=tmp_path)  # type: ignore[arg-type]
    yield runner
    runner.close()


def spec(function: str, **payload: Any) -> JobSpec:
    return JobSpec(entry=f"{HERE}:{function}", payload=payload)


def test_each_job_is_told_once(jobs: LocalJobs, tmp_path: Path) -> None:
    ids = {jobs.submit(spec("double", n=n)): n for n in range(20)}
    found: dict[str, JobResult] = {}
    while len(found) < 20:
        result = jobs.next(timeout=10)
        assert result is not None and result.id not in found
        found[result.id] = result
    assert {ids[id_]: result.value for id_, result in found.items()} == {n: 2 * n for n in range(20)}
    assert jobs.next(timeout=0.05) is None


def test_an_error_of_ours_is_told_with_its_traceback(jobs: LocalJobs) -> None:
    jobs.submit(spec("fail"))
    result = jobs.next(timeout=10)
    assert result is not None and "an error of ours" in result.error and not result.lost


def test_a_cancelled_job_is_not_told(jobs: LocalJobs) -> None:
    ids = [jobs.submit(spec("busy", name=str(n))) for n in range(6)]
    jobs.cancel(ids[-1])
    told = {result.id for _ in range(6) if (result := jobs.next(timeout=1)) is not None}
    assert told == set(ids[:-1])


def test_the_scratch_folder_is_gone_afterwards(jobs: LocalJobs, tmp_path: Path) -> None:
    jobs.submit(spec("double", n=1))
    assert jobs.next(timeout=10) is not None
    assert not list(tmp_path.rglob("file"))


def test_the_pool_keeps_the_order_and_raises_errors(jobs: LocalJobs) -> None:
    pool = JobPool(jobs)
    try:
        assert pool.map(spec("double", n=n) for n in range(10)) == [2 * n for n in range(10)]
        with pytest.raises(SandboxError, match="an error of ours"):
            pool.run(spec("fail"))
        with pytest.raises(SandboxError, match="no job entry"):
            pool.run(JobSpec(entry="no_such_module:f", payload={}))
    finally:
        pool.close()


def test_a_job_alone_has_no_neighbour(jobs: LocalJobs) -> None:
    together.clear()
    pool = JobPool(jobs)
    try:
        specs = [spec("busy", name=str(n)) for n in range(6)]
        specs.insert(3, spec("busy", name="alone").model_copy(update={"alone": True}))
        pool.map(specs)
    finally:
        pool.close()
    assert 100 in together and max(n for n in together if n < 100) > 1


class LosingRunner:
    """Loses every job `times` times."""

    slots = 1

    def __init__(self, times: int) -> None:
        self.times, self.count, self.todo = times, 0, []  # type: ignore[var-annotated]

    def submit(self, spec: JobSpec) -> str:
        self.count += 1
        self.todo.append(str(self.count))
        return str(self.count)

    def next(self, timeout: float | None = None) -> JobResult | None:
        if not self.todo:
            time.sleep(0.01)
            return None
        id_ = self.todo.pop()
        return JobResult(id=id_, lost=True) if int(id_) <= self.times else JobResult(id=id_, value="done")

    def cancel(self, id: str) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize(("times", "lost"), [(0, False), (2, False), (3, True)])
def test_a_lost_job_runs_again_at_most_twice(times: int, lost: bool) -> None:
    pool = JobPool(LosingRunner(times))
    try:
        if lost:
            with pytest.raises(JobLost):
                pool.run(spec("double", n=1))
        else:
            assert pool.run(spec("double", n=1)) == "done"
    finally:
        pool.close()


def test_cancelling_kills_what_the_job_runs(tmp_path: Path) -> None:
    sandbox = open_sandbox("auto", state_dir=tmp_path / "state")
    jobs = LocalJobs(sandbox, 1, scratch=tmp_path)
    try:
        slow = jobs.submit(script_spec("import time; time.sleep(60)", limits=Limits(seconds=100)))
        time.sleep(0.5)
        began = time.monotonic()
        jobs.cancel(slow)
        quick = jobs.submit(script_spec("print(1)", limits=Limits(seconds=30)))
        result = jobs.next(timeout=30)
        assert result is not None and result.id == quick and time.monotonic() - began < 20
    finally:
        jobs.close()
        sandbox.close()


def test_a_script_job_keeps_what_it_was_asked_to(tmp_path: Path) -> None:
    sandbox = open_sandbox("auto", state_dir=tmp_path / "state")
    pool = JobPool(LocalJobs(sandbox, 2, scratch=tmp_path))
    code = "open('submission/submission.csv', 'w').write('id,y')\nimport os; os.symlink('/etc/passwd', 'working/link')"
    try:
        wanted = ["submission/submission.csv", "working/link", "../escape", "missing"]
        value = pool.run(script_spec(code, limits=Limits(seconds=20), collect=wanted, keep_dir=tmp_path / "kept"))
    finally:
        pool.close()
        sandbox.close()
    assert execution_result(value).failure is None
    assert value["files"]["submission/submission.csv"]["bytes"] == 4
    assert (tmp_path / "kept/submission/submission.csv").read_text() == "id,y"
    assert all("error" in value["files"][name] for name in wanted[1:])
