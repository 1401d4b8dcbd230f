"""What every job runner must do: each job once, errors told, order kept, deadlines kept, alone when asked."""

from __future__ import annotations

import itertools
import queue
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.contracts import JobContext, JobListener, JobResult, JobRunner, JobRunnerDefaults, JobSpec, JobState, Limits
from core.executor.sandbox import open_sandbox
from core.state.failure import FailureKind
from core.workers.fallback import FallbackJobs
from core.workers.local import LocalJobs, script_spec
from core.workers.node_folder import NodeFolder
from core.workers.pool import JobPool
from core.workers.remote import RemoteJobs
from core.workers.shipping import Answer, News, serve
from utils.errors import Interrupted, JobLost, JobOverdue, SandboxError

HERE = "test_job_runner"
running: list[str] = []
together: list[int] = []
guard = threading.Lock()


def double(payload: dict[str, Any], context: JobContext) -> int:
    (context.scratch / "file").write_text("x")
    return int(payload["n"]) * 2


def fail(payload: dict[str, Any], context: JobContext) -> None:
    raise ValueError("an error of ours")


def busy(payload: dict[str, Any], context: JobContext) -> None:
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


class ThreadWorker:
    """A `RemoteWorker` whose far side is a thread; like a Ray actor it takes its sandbox with it when it is killed."""

    def __init__(self, folder: Path, sandbox: Any) -> None:
        self.folder, self.sandbox = folder, sandbox
        self.said: queue.SimpleQueue[Answer | News] = queue.SimpleQueue()

    def ready(self, timeout: float) -> bool:
        return True

    def submit(self, spec: str, inputs: tuple[str, bytes] | None) -> None:
        read = inputs and NodeFolder(self.folder / "node").inputs(inputs[0], lambda: inputs[1])
        threading.Thread(target=self._work, args=(spec, read), daemon=True).start()

    def _work(self, spec: str, read: Path | None) -> None:
        for said in serve(spec, read, self.sandbox, self.folder):
            self.said.put(said)

    def poll(self, timeout: float) -> Answer | News | None:
        try:
            return self.said.get(timeout=timeout)
        except queue.Empty:
            return None

    def kill(self) -> None:
        if hasattr(self.sandbox, "close"):
            self.sandbox.close()


def make_runner(
    kind: str,
    folder: Path,
    open_one: Callable[[], Any],
    slots: int,
    on_job: JobListener | None = None,
    on_output: Callable[[str, str], None] | None = None,
) -> JobRunner:
    """A runner of each kind; `open_one` makes a sandbox, which is the runner's from then on."""
    if kind == "local":
        return LocalJobs(open_one(), slots, scratch=folder, on_job=on_job, on_output=on_output)
    names = itertools.count()

    def open_worker() -> ThreadWorker:
        home = folder / f"worker-{next(names)}"
        home.mkdir()
        return ThreadWorker(home, open_one())

    remote = RemoteJobs(open_worker, slots, on_job, on_output)
    if kind == "remote":
        return remote
    return FallbackJobs(remote, lambda: LocalJobs(open_one(), slots, scratch=folder), lambda line: None)


@pytest.fixture(params=["local", "remote", "fallback"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def jobs(kind: str, tmp_path: Path) -> Iterator[JobRunner]:
    runner = make_runner(kind, tmp_path, NoSandbox, 3)
    yield runner
    runner.close()


@pytest.fixture
def sandboxed(kind: str, tmp_path: Path) -> Iterator[JobRunner]:
    """One slot with a real sandbox."""
    opened: list[Any] = []

    def open_one() -> Any:
        opened.append(open_sandbox("auto", state_dir=tmp_path / "state"))
        return opened[-1]

    runner = make_runner(kind, tmp_path, open_one, 1)
    yield runner
    runner.close()
    for sandbox in opened:
        sandbox.close()


def spec(function: str, **payload: Any) -> JobSpec:
    return JobSpec(entry=f"{HERE}:{function}", payload=payload)


def test_each_job_is_told_once(jobs: JobRunner, tmp_path: Path) -> None:
    ids = {jobs.submit(spec("double", n=n)): n for n in range(20)}
    found: dict[str, JobResult] = {}
    while len(found) < 20:
        result = jobs.next(timeout=60)
        assert result is not None and result.id not in found
        found[result.id] = result
    assert {ids[id_]: result.value for id_, result in found.items()} == {n: 2 * n for n in range(20)}
    assert jobs.next(timeout=0.05) is None


def test_an_error_of_ours_is_told_with_its_traceback(jobs: JobRunner) -> None:
    jobs.submit(spec("fail"))
    result = jobs.next(timeout=60)
    assert result is not None and "an error of ours" in result.error and not result.lost


def test_a_cancelled_job_is_not_told(jobs: JobRunner) -> None:
    ids = [jobs.submit(spec("busy", name=str(n))) for n in range(6)]
    jobs.cancel(ids[-1])
    assert {(result := jobs.next(timeout=60)) and result.id for _ in range(5)} == set(ids[:-1])
    assert jobs.next(timeout=1) is None


def waits(payload: dict[str, Any], context: JobContext) -> str:
    Path(payload["begun"]).write_text("")
    while not Path(payload["go"]).exists():
        time.sleep(0.01)
    return "ran"


def test_only_what_nobody_has_begun_can_be_withdrawn(kind: str, tmp_path: Path) -> None:
    runner = make_runner(kind, tmp_path, NoSandbox, 1)
    begun, go = tmp_path / "begun", tmp_path / "go"
    try:
        runs = runner.submit(spec("waits", begun=str(begun), go=str(go)))
        queued = runner.submit(spec("double", n=1))
        while not begun.exists():
            time.sleep(0.01)
        assert not runner.withdraw(runs) and runner.withdraw(queued) and not runner.withdraw("job-99")
        go.write_text("")
        last = runner.submit(spec("double", n=3))
        told = {result.id: result.value for _ in range(2) if (result := runner.next(timeout=60)) is not None}
        assert told == {runs: "ran", last: 6} and runner.next(timeout=0.3) is None
        assert not runner.withdraw(runs), "it is over"
    finally:
        runner.close()


def test_where_each_job_stands_is_told_to_whoever_watches(kind: str, tmp_path: Path, eventually: Any) -> None:
    told: list[tuple[str, JobState]] = []
    runner = make_runner(kind, tmp_path, NoSandbox, 1, lambda label, state: told.append((label, state)))
    specs = [spec("busy", name=name).model_copy(update={"label": name}) for name in ("a", "b", "c")]
    ids = [runner.submit(one) for one in specs]
    assert [states(told, name)[:1] for name in "abc"] == [["waits"]] * 3
    assert runner.withdraw(ids[2])
    assert {(found := runner.next(timeout=60)) and found.id for _ in "ab"} == set(ids[:2])
    eventually(lambda: ("c", "withdrawn") in told)
    runner.close()
    assert [states(told, name) for name in "abc"] == [["waits", "runs", "over"]] * 2 + [["waits", "withdrawn"]]
    assert told.index(("a", "over")) < told.index(("b", "runs")), "there is one worker"


def states(told: list[tuple[str, JobState]], label: str) -> list[JobState]:
    return [state for name, state in told if name == label]


def test_the_end_lets_what_runs_end_and_begins_nothing_more(kind: str, tmp_path: Path) -> None:
    """One slot: `first` runs, `twin` is another of its label, `part` has none and belongs to something that runs."""
    ending, told = threading.Event(), []
    pool = JobPool(make_runner(kind, tmp_path, NoSandbox, 1), None, ending.is_set, told.append)
    begun, go = tmp_path / "begun", tmp_path / "go"
    wanted = {"first": "a", "other": "b", "part": ""}
    jobs = {
        name: spec("waits", begun=str(begun), go=str(go)).model_copy(update={"label": label})
        for name, label in wanted.items()
    }
    try:
        with ThreadPoolExecutor() as threads:
            found = {"first": threads.submit(pool.run, jobs["first"])}
            while not begun.exists():
                time.sleep(0.01)
            found |= {name: threads.submit(pool.run, jobs[name]) for name in ("other", "part")}
            ending.set()
            with pytest.raises(Interrupted):
                found["other"].result(timeout=60)
            twin = threads.submit(pool.run, jobs["first"])
            with pytest.raises(Interrupted):
                pool.run(jobs["other"])
            go.write_text("")
            assert [one.result(timeout=60) for one in (found["first"], found["part"], twin)] == ["ran"] * 3
        assert told in ([1], [2], [3]), "told once how many are waited for"
    finally:
        pool.close()


def test_the_scratch_folder_is_gone_afterwards(jobs: JobRunner, tmp_path: Path) -> None:
    jobs.submit(spec("double", n=1))
    assert jobs.next(timeout=60) is not None
    assert not list(tmp_path.rglob("file"))


def test_the_pool_keeps_the_order_and_raises_errors(jobs: JobRunner) -> None:
    pool = JobPool(jobs)
    try:
        assert pool.map(spec("double", n=n) for n in range(10)) == [2 * n for n in range(10)]
        with pytest.raises(SandboxError, match="an error of ours"):
            pool.run(spec("fail"))
        with pytest.raises(SandboxError, match="no job entry"):
            pool.run(JobSpec(entry="no_such_module:f", payload={}))
    finally:
        pool.close()


def test_a_job_alone_has_no_neighbour(jobs: JobRunner) -> None:
    together.clear()
    pool = JobPool(jobs)
    try:
        specs = [spec("busy", name=str(n)) for n in range(6)]
        specs.insert(3, spec("busy", name="alone").model_copy(update={"alone": True}))
        pool.map(specs)
    finally:
        pool.close()
    assert 100 in together and max(n for n in together if n < 100) > 1


class LosingRunner(JobRunnerDefaults):
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


def test_cancelling_kills_what_the_job_runs(sandboxed: JobRunner) -> None:
    slow = sandboxed.submit(script_spec("import time; time.sleep(100)", limits=Limits(seconds=200)))
    time.sleep(0.5)
    began = time.monotonic()
    sandboxed.cancel(slow)
    quick = sandboxed.submit(script_spec("print(1)", limits=Limits(seconds=30)))
    result = sandboxed.next(timeout=60)
    assert result is not None and result.id == quick and time.monotonic() - began < 50


def obstinate(payload: dict[str, Any], context: JobContext) -> list[str | None]:
    """Runs one program after the other, each within its own limits: together they take for ever."""
    found: list[str | None] = []
    for number in range(1000):
        workspace = context.scratch / str(number)
        workspace.mkdir()
        code = "import time\nwhile True: time.sleep(.01)"
        found.append(context.sandbox.run(code, workspace=workspace, limits=Limits(seconds=100)).failure)
        Path(payload["ended"]).write_text(str(len(found)))
    return found


def test_an_overdue_job_is_told_once_and_what_it_runs_is_dead(sandboxed: JobRunner, tmp_path: Path) -> None:
    quick = script_spec("print(1)", limits=Limits(seconds=30))
    sandboxed.submit(quick)
    assert sandboxed.next(timeout=60) is not None  # the sandbox is ready: what follows measures the deadline alone
    ended = tmp_path / "ended"
    late = sandboxed.submit(spec("obstinate", ended=str(ended)).model_copy(update={"seconds": 1.0}))
    began = time.monotonic()
    result = sandboxed.next(timeout=90)
    taken = time.monotonic() - began
    assert result is not None and result.id == late and result.lost and result.overdue and "1 s" in result.error
    assert 0.9 < taken < 60, "a hundred seconds are its own limit"
    after = sandboxed.submit(quick)
    result = sandboxed.next(timeout=60)
    assert result is not None and result.id == after and result.value["result"]["failure"] is None
    assert not ended.exists() or ended.read_text() == "1"  # no further program was begun
    assert sandboxed.next(timeout=0.3) is None


def test_what_a_program_prints_is_told_while_it_runs(kind: str, tmp_path: Path, eventually: Any) -> None:
    """Its last words as well, though they come with its end."""
    told: list[tuple[str, str]] = []
    sandboxes: list[Any] = []

    def open_one() -> Any:
        sandboxes.append(open_sandbox("auto", state_dir=tmp_path / "state"))
        return sandboxes[-1]

    runner = make_runner(kind, tmp_path, open_one, 1, on_output=lambda label, text: told.append((label, text)))
    code = "import time\nprint('epoch 1 \\x1b[2J', flush=True)\ntime.sleep(3)\nprint('epoch 2', end='')"
    try:
        runner.submit(script_spec(code, limits=Limits(seconds=30), label="node1"))
        eventually(lambda: any("epoch 1" in text for _, text in told), seconds=60)
        assert runner.next(timeout=0.01) is None, "it is told before the program ends"
        result = runner.next(timeout=60)
        assert result is not None and result.value["result"]["failure"] is None
        said = "".join(text for _, text in told)
        assert {label for label, _ in told} == {"node1"}
        assert said.startswith("epoch 1") and said.endswith("epoch 2") and "\x1b" not in said
    finally:
        runner.close()
        for sandbox in sandboxes:
            sandbox.close()


def plays(payload: dict[str, Any], context: JobContext) -> str:
    with Path(payload["spool"]).open("a") as file:
        file.write("first\nsec")
        file.flush()
        while not Path(payload["go"]).exists():
            time.sleep(0.01)
        file.write("ond\nlast\n")
    return "played"


def test_what_a_job_appends_to_its_spool_is_there_while_it_works(kind: str, tmp_path: Path, eventually: Any) -> None:
    spool, go = tmp_path / "spool", tmp_path / "go"
    spool.write_text("of a lost worker\n")
    runner = make_runner(kind, tmp_path, NoSandbox, 1)
    try:
        runner.submit(spec("plays", spool=str(spool), go=str(go)))
        eventually(lambda: "first\n" in spool.read_text())
        go.write_text("")
        result = runner.next(timeout=60)
        assert result is not None and result.value == "played"
        assert spool.read_text() == "of a lost worker\nfirst\nsecond\nlast\n"
    finally:
        runner.close()


def sleep(payload: dict[str, Any], context: JobContext) -> None:
    time.sleep(payload["seconds"])


def test_code_of_ours_that_hangs_is_overdue_too_and_its_slot_is_free_again(kind: str, tmp_path: Path) -> None:
    runner = make_runner(kind, tmp_path, NoSandbox, 1)
    try:
        late = runner.submit(spec("sleep", seconds=200).model_copy(update={"seconds": 0.2}))
        soon = runner.submit(spec("double", n=4))
        first, second = runner.next(timeout=60), runner.next(timeout=60)
        assert first is not None and first.id == late and first.overdue
        assert second is not None and second.id == soon and second.value == 8
    finally:
        runner.close()


def test_an_overdue_job_is_not_run_again_and_is_a_timeout(kind: str, tmp_path: Path) -> None:
    running.clear()
    pool = JobPool(make_runner(kind, tmp_path, NoSandbox, 1))
    try:
        with pytest.raises(JobOverdue, match=r"0\.2 s") as caught:
            pool.run(spec("sleep", seconds=5).model_copy(update={"seconds": 0.2}))
        assert FailureKind(caught.value.failure) is FailureKind.TIMEOUT
        assert pool.run(spec("double", n=1)) == 2
    finally:
        pool.close()


LEAVES_FILES = """
import os
open('submission/submission.csv', 'w').write('id,y')
os.symlink('/etc/passwd', 'working/link')
open('working/model', 'w').write('weights')
open('working/large', 'wb').write(bytes(2 << 20))
open('beside\x1b[2J', 'w').write('x')
"""


def test_a_script_job_keeps_what_it_was_asked_to(sandboxed: JobRunner, tmp_path: Path) -> None:
    pool = JobPool(sandboxed)
    wanted = ["submission/submission.csv", "working/link", "../escape", "missing"]
    spec = script_spec(LEAVES_FILES, limits=Limits(seconds=20), collect=wanted, keep_dir=tmp_path / "kept",
                       archive="node1", archive_mb=1)  # fmt: skip
    value = pool.run(spec)
    assert value["result"]["failure"] is None
    assert value["files"]["submission/submission.csv"]["bytes"] == 4
    assert (tmp_path / "kept/submission/submission.csv").read_text() == "id,y"
    assert all("error" in value["files"][name] for name in wanted[1:])
    archive = zipfile.ZipFile(tmp_path / "kept/node1.zip")
    left = {"solution.py", "submission/submission.csv", "working/model", "beside\ufffd[2J"}
    assert set(archive.namelist()) == left and archive.comment == b"left out: working/large"
    bare = script_spec("print(1)", limits=Limits(seconds=20), keep_dir=tmp_path / "bare", archive="node2", archive_mb=1)
    assert pool.run(bare)["result"]["failure"] is None
    assert not (tmp_path / "bare" / "node2.zip").exists()  # it left nothing


def test_a_job_without_a_folder_is_an_error_at_once_and_not_a_late_job(tmp_path):
    """A full disk must not be told as a candidate that overstepped its time."""
    runner = LocalJobs(NoSandbox(), 1, scratch=tmp_path)
    try:
        (next(tmp_path.glob("swarm-jobs-*")) / "job-1").write_text("in the way")
        runner.submit(JobSpec(entry=f"{HERE}:double", payload={"n": 1}, seconds=3.0))
        result = runner.next(timeout=60)
    finally:
        runner.close()
    assert result is not None and not result.overdue and not result.lost and "FileExistsError" in result.error
