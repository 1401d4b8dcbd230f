# ruff: noqa: E501 - programs as data
"""What two sandboxed programs could tell each other by the kernel.

A program that answers calls beside an evaluator must not be able to hand hidden answers to one that is scored apart.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.contracts import Limits, SessionFailure
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox
from utils.errors import ConfigError, NoSandboxError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")

HEAD = """
import ctypes, fcntl, mmap, os, select, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
FOLDER = "@FOLDER@"
FILE = FOLDER + "/file"
SHARED = open(FILE, "rb")
machine = os.uname().machine
def me(): return os.getpid()
def prepare(): return None
def call(x86_64, aarch64, *args):
    done = libc.syscall(x86_64 if machine == "x86_64" else aarch64, *args)
    if done < 0: raise OSError(ctypes.get_errno(), "refused")
    return done
def record(kind): return struct.pack("hhqqi4x", kind, 0, 0, 0, 0)
"""
FILES = {
    "flock": """
def tell(): fcntl.flock(SHARED, fcntl.LOCK_EX)
def hear(pid):
    try: fcntl.flock(SHARED, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: return True
""",
    "record_lock": """
def tell(): fcntl.lockf(SHARED, fcntl.LOCK_SH)
def hear(pid): return struct.unpack("hhqqi4x", fcntl.fcntl(SHARED, fcntl.F_GETLK, record(fcntl.F_WRLCK)))[0] != fcntl.F_UNLCK
""",
    "open_file_lock": """
def tell(): fcntl.fcntl(SHARED, fcntl.F_OFD_SETLK, record(fcntl.F_RDLCK))
def hear(pid): return struct.unpack("hhqqi4x", fcntl.fcntl(SHARED, fcntl.F_OFD_GETLK, record(fcntl.F_WRLCK)))[0] != fcntl.F_UNLCK
""",
    "lease": """
SHARED.close()
def prepare():
    global file
    file = open(FILE, "rb")
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
def tell():
    global file
    file = open(FILE, "rb")
def hear(pid):
    try: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except BlockingIOError: return True
""",
    "inotify": """
def prepare():
    global watch
    watch = libc.inotify_init()
    if watch < 0 or libc.inotify_add_watch(watch, FILE.encode(), 0x20) < 0: raise OSError(ctypes.get_errno(), "refused")
def tell(): open(FILE).close()
def hear(pid): return bool(select.select([watch], [], [], 0.2)[0])
""",
    "directory_notify": """
heard = []
def prepare():
    global folder
    signal.signal(signal.SIGIO, lambda *_: heard.append(1))
    folder = os.open(FOLDER, os.O_RDONLY)
    fcntl.fcntl(folder, 1026, 1 | 0x80000000 - (1 << 32))
def tell(): SHARED.seek(0); os.pread(SHARED.fileno(), 10, 0)
def hear(pid): return bool(heard)
""",
    "futex": """
import threading, time
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
place = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, SHARED.fileno(), 0)
value = ctypes.c_int.from_address(place).value
def tell():
    threading.Thread(target=call, args=(202, 98, ctypes.c_void_p(place), 0, value, None), daemon=True).start()
    time.sleep(0.1)
def hear(pid): return call(202, 98, ctypes.c_void_p(place), 1, 1, None) > 0
""",
    "write_hint": """
def tell(): fcntl.fcntl(SHARED, 1036, struct.pack("Q", 4))
def hear(pid): return struct.unpack("Q", fcntl.fcntl(SHARED, 1035, bytes(8)))[0] == 4
""",
    "times_of_access": """
def looked(): return os.fstat(SHARED.fileno()).st_atime, os.stat(FILE).st_atime
def prepare():
    global before
    before = looked()
def tell(): SHARED.read(1)
def hear(pid): return looked() != before
""",
    "free_space": """
def prepare():
    global before
    before = os.fstatvfs(SHARED.fileno()).f_bfree
def tell():
    with open("filling", "wb") as file:
        file.write(bytes(60 << 20))
        os.fsync(file.fileno())
def hear(pid): return before - os.fstatvfs(SHARED.fileno()).f_bfree > 5000
""",
}
NUMBERS = {
    "nice": "def tell(): os.setpriority(os.PRIO_PROCESS, 0, 17)\ndef hear(pid): return os.getpriority(os.PRIO_PROCESS, pid) == 17",
    "io_priority": "def tell(): call(251, 30, 1, 0, 3 << 13)\ndef hear(pid): return call(252, 31, 1, pid) == 3 << 13",
    "affinity": (
        "def tell(): os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "def hear(pid): return len(os.sched_getaffinity(pid)) == 1"
    ),
    "scheduler": (
        "def tell(): os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))\n"
        "def hear(pid): return os.sched_getscheduler(pid) == os.SCHED_BATCH"
    ),
    "scheduling_attributes": (
        "def tell(): call(314, 274, 0, struct.pack('IIQiIQQQ', 48, 5, 0, 0, 0, 0, 0, 0), 0)\n"
        "def hear(pid): return os.sched_getscheduler(pid) == 5"
    ),
}  # fmt: skip
CHANNELS = FILES | NUMBERS


class Pair:
    """Two programs of one sandbox, and a folder that both may read."""

    def __init__(self, sandbox: WarmSandbox, folder: Path) -> None:
        self.sandbox, self.folder = sandbox, folder
        self._head = HEAD.replace("@FOLDER@", str(folder))

    def heard(self, program: str) -> bool:
        """True if the second program hears what the first one told it."""
        code, open_ = self._head + program, self.sandbox.session
        with open_(code, limits=Limits()) as speaker, open_(code, limits=Limits()) as listener:
            number = speaker.call("me", [], timeout=20)
            try:
                listener.call("prepare", [], timeout=20)
                speaker.call("tell", [], timeout=20)
                return listener.call("hear", [number], timeout=20) is True
            except SessionFailure as failure:
                print(failure.result.message)
                return False


@pytest.fixture(scope="module", params=["warm", "lite", "bubblewrap", "none"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with tempfile.TemporaryDirectory(prefix="swarm-shown-") as folder:
        os.chmod(folder, 0o755)
        Path(folder, "file").write_bytes(bytes(5000))
        state = tmp_path_factory.mktemp("state")
        try:
            opened = open_sandbox(request.param, paths=(folder,), state_dir=state, accept_unsandboxed=True)
        except (ConfigError, NoSandboxError) as error:
            pytest.skip(str(error))
        yield Pair(opened, Path(folder))
        opened.close()


@pytest.mark.parametrize("name", CHANNELS)
def test_a_program_tells_another_nothing(pair: Pair, name: str) -> None:
    """Without a sandbox they understand each other."""
    if name == "affinity" and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU: there is nothing to choose")
    if name == "times_of_access" and not _notes_access(pair.folder / "file"):
        pytest.skip("this file system does not note when a file was read")
    if name == "free_space" and pair.sandbox.tier == "bubblewrap":
        pytest.xfail("how full the host's disk is can be told there: docs/security.md")
    assert pair.heard(CHANNELS[name]) is (pair.sandbox.tier == "none")


def _notes_access(file: Path) -> bool:
    """Leaves it as one that was not read for long."""
    os.utime(file, (1, 1))
    file.read_bytes()
    noted = file.stat().st_atime > 1
    os.utime(file, (1, 1))
    return noted


TOGETHER = """
import multiprocessing, os, sqlite3
from concurrent.futures import ThreadPoolExecutor
def threads():
    with ThreadPoolExecutor(4) as pool: return sum(pool.map(abs, range(-100, 0)))
def learn():
    import numpy as np
    from sklearn.ensemble import RandomForestRegressor
    x = np.random.default_rng(0).random((200, 4))
    return float(RandomForestRegressor(10, n_jobs=2).fit(x, x[:, 0]).score(x, x[:, 0]))
def priority():
    os.setpriority(os.PRIO_PROCESS, 0, 5); os.sched_setaffinity(0, os.sched_getaffinity(0)); return 0
def processes():
    context = multiprocessing.get_context("fork")
    count = context.Value("i", 0)
    def work():
        for _ in range(500):
            with count.get_lock(): count.value += 1
    workers = [context.Process(target=work) for _ in range(3)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    with context.Pool(2) as pool: return count.value + sum(pool.map(abs, range(10)))
def table():
    kept = sqlite3.connect("kept.db")
    kept.execute("create table t (x)")
    return kept.execute("insert into t values (1)").rowcount
"""
FRIENDLY = {"threads": 5050, "learn": None, "priority": 0, "processes": 1545, "table": 1}


@pytest.mark.parametrize("name", FRIENDLY)
def test_programs_that_answer_calls_work_as_before(pair: Pair, name: str, tmp_path: Path) -> None:
    """Where nothing between processes may wait or lock, their own locks still hold."""
    if name == "processes" and pair.sandbox.tier == "lite":
        pytest.skip("threads only: docs/security.md")
    tmp_path.chmod(0o777)
    with pair.sandbox.session(TOGETHER, limits=Limits(threads=2), workspace=tmp_path) as session:
        found = session.call(name, [], timeout=60)
    assert found == FRIENDLY[name] if FRIENDLY[name] is not None else found > 0.5
