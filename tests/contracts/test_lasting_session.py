"""A program that is wanted again: the same process where it left that as it found it, and nothing of the last use."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.sandboxes import TIERS, opened_tier
from support.standstill import halt_once

from core.contracts import ExecutionResult, Limits, SessionFailure
from core.executor.inside import watch
from core.executor.open_files import most_kept
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox
from core.state.failure import FailureKind

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
LIMITS = Limits(seconds=20, memory_mb=512, disk_mb=64, file_mb=16, processes=1, output_kb=64)


@pytest.fixture(scope="module", params=TIERS)
def sandbox(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmSandbox]:
    with opened_tier(request.param, tmp_path_factory.mktemp("state")) as opened:
        yield opened


def use(sandbox: WarmSandbox, code: str, *calls: str, seed: int = 7, **changes: int) -> tuple[list[object], str]:
    """Answers of one lasting session to `calls`, and what it printed."""
    limits = LIMITS.model_copy(update=changes)
    session = sandbox.lasting_session(
        code, limits=limits, seed=seed, prelude="BOARD = [0]\ndef turn(): return len(BOARD)"
    )
    try:
        answers = [session.call(name, [], timeout=20) for name in calls]
    finally:
        told = session.close()
    return answers, told.term_out


PROCESS = """
import os, threading
def process(): return vars(threading.main_thread()).setdefault("process", os.urandom(8).hex())
"""
"""Names the process: its number is the same in all of one slot. It is kept where the look at its end does not look."""

HOARDS = (
    PROCESS
    + """
import functools, os, random, sys
count, seen, drawn = 0, set(), random.random()
class Table:
    entries = {}
@functools.lru_cache
def slow(x):
    seen.add(x)
    return len(seen)
def learn():
    global count
    count += 1
    Table.entries[count] = "x" * 1000
    BOARD.append(count)
    globals()["turn"] = lambda: -1
    random.seed(5)
    Table.late = random.random()
    try:
        import numpy
        numbers = numpy.random.random(3).tolist()
    except ImportError:
        numbers = []
    return [count, sorted(Table.entries), slow(count), slow(1), drawn, random.random(), BOARD, turn(), numbers]
"""
)


def test_time_in_which_we_stood_still_is_not_the_programs(
    sandbox: WarmSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-Z made every program late that was waited for: of two games of an arena both were lost on time."""
    with closing(sandbox.lasting_session("def turn(): return 4", limits=LIMITS, prelude="")) as session:
        assert session.call("turn", [], timeout=20) == 4 and session.away < 30
        halt_once(monkeypatch, 60.0)
        assert session.call("turn", [], timeout=20) == 4 and 59 < session.away < 62
        assert session.call("turn", [], timeout=20) == 4 and session.away < 30


def test_a_program_that_comes_again_finds_nothing_of_its_last_use(sandbox: WarmSandbox) -> None:
    code = f"# {time.time()}\n{HOARDS}"
    first = use(sandbox, code, "learn", "learn", "process")[0]
    for seed in (8, 7, 9, 7):
        again = use(sandbox, code, "learn", "learn", "process", seed=seed)[0]
        assert again[2] == first[2], "it is another process"
        assert (again[:2] == first[:2]) is (seed == 7)
    fresh = use(sandbox, f"{code}#", "learn", "learn", "process")[0]
    assert fresh[:2] == first[:2]


KEPT_ELSEWHERE = {
    "environment": "os.environ['LEFT'] = '1'",
    "builtins": "import builtins; builtins.left = 1",
    "a builtin": "import builtins; builtins.ascii = len",
    "a module": "import math; math.left = 1",
    "a module in the place of another": "sys.modules['json'] = sys",
    "recursion": "sys.setrecursionlimit(5000)",
    "output": "sys.stdout = open('/dev/null', 'w')",
    "an import hook": "sys.path.append('/left')",
    "an open file": "keep = os.dup(1)",
    "a file": "open('left', 'w').close()",
    "a timer": "import signal; signal.signal(signal.SIGALRM, print); signal.setitimer(signal.ITIMER_REAL, 99)",
    "a hook at the end": "import atexit; atexit.register(print)",
    "a trace": "sys.settrace(lambda *_: None)",
    "garbage that is not collected": "import gc; gc.disable()",
    "memory": "import itertools; sys.modules.setdefault('left', [bytearray(b'x' * (100 << 20))])",
}


LEAVES = (
    PROCESS
    + """
def leave(): exec(LEFT, globals())
def look(): return process(), os.path.exists("left"), ascii("x")
"""
)


@pytest.mark.parametrize("left", KEPT_ELSEWHERE.values(), ids=KEPT_ELSEWHERE)
def test_a_process_that_was_changed_serves_no_second_use(sandbox: WarmSandbox, left: str) -> None:
    code = f"import math, os, sys\nLEFT = {left!r}\n{LEAVES}"
    first, _ = use(sandbox, code, "look", "leave")
    second, _ = use(sandbox, code, "look")
    assert second[0][0] != first[0][0] and second[0][1:] == [False, "'x'"]  # type: ignore[index]


def test_memory_of_one_use_is_free_in_the_next(sandbox: WarmSandbox) -> None:
    code = "def fill():\n    global table\n    table = {i: str(i) * 9 for i in range(1_500_000)}"
    for _ in range(3):  # two of them are more than the limit
        use(sandbox, code, "fill", memory_mb=384)


def test_what_is_printed_belongs_to_its_own_use(sandbox: WarmSandbox) -> None:
    last = "class Last:\n    def __del__(self): print('gone', flush=True)\nlast = Last()\n"
    code = f"{last}def say(): print('half', end='')\ndef hush(): pass"
    assert use(sandbox, code, "say")[1] == "halfgone\n"
    assert use(sandbox, code, "hush")[1] == "gone\n"
    loud = "def say(): print('x' * 40_000)"
    assert [len(use(sandbox, loud, "say")[1]) for _ in range(3)] == [40_001] * 3


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("1 / 0", FailureKind.RUNTIME), ("os._exit(0)", FailureKind.EXIT), ("print('x' * 90_000)", FailureKind.OUTPUT)],
)
def test_a_program_that_failed_is_ended(sandbox: WarmSandbox, fault: str, kind: FailureKind) -> None:
    code = f"{PROCESS}def fail():\n    {fault}"
    session = sandbox.lasting_session(code, limits=LIMITS)
    before = session.call("process", [], timeout=20)
    with pytest.raises(SessionFailure) as caught:
        session.call("fail", [], timeout=20)
        session.call("process", [], timeout=20)
    assert caught.value.result.failure is kind
    assert isinstance(session.close(), ExecutionResult) and session.close() is session.close()
    after = use(sandbox, code, "process")[0][0]
    assert after != before


def test_a_program_that_hangs_when_it_is_let_go_is_ended(sandbox: WarmSandbox) -> None:
    code = "class Last:\n    def __del__(self):\n        while True: pass\nlast = Last()\ndef f(): pass"
    began = time.monotonic()
    use(sandbox, code, "f")
    use(sandbox, code, "f")
    assert time.monotonic() - began < 30


def test_a_process_that_ended_while_it_waited_is_nobodys_failure(sandbox: WarmSandbox) -> None:
    code = f"# {time.time()}\n{PROCESS}"
    use(sandbox, code, "process")
    session = sandbox._waiting._sessions[-1]
    for pid in watch.descendants(session.slot.pid):
        os.kill(pid, 9)
    time.sleep(0.3)
    assert use(sandbox, code, "process")[0]
    os.kill(sandbox._waiting._sessions[-1].slot.pid, 9)
    time.sleep(0.3)
    assert use(sandbox, code, "process")[0]


FORKS_AT_THE_END = """
import os, time
class Last:
    def __del__(self, fork=os.fork, sleep=time.sleep):
        if fork() == 0 or fork() == 0:
            sleep(60)
def use():
    global last
    last = Last()
"""


def test_a_process_that_waits_is_stopped_and_still_looked_after(sandbox: WarmSandbox) -> None:
    """What a program starts when it is let go of is found, and costs the process its place."""
    if sandbox.tier == "bubblewrap":
        pytest.skip("there it is not stopped, only idle")
    use(sandbox, f"# {time.time()}\ndef f(): pass", "f")
    end = time.monotonic() + 30
    while _states(sandbox, "def f()") != ["T"] and time.monotonic() < end:
        time.sleep(0.01)
    assert _states(sandbox, "def f()") == ["T"]
    for _ in range(5):  # each as a user whose last processes are only just ending
        told = use(sandbox, f"# {time.time()}\n{FORKS_AT_THE_END}", "use", processes=2)[1]
        end = time.monotonic() + 30
        while _states(sandbox, FORKS_AT_THE_END) and time.monotonic() < end:
            time.sleep(0.05)
        assert _states(sandbox, FORKS_AT_THE_END) == [], told


COUNTS = """
import os, signal, struct, time
ticks, said = 0, ""
def think(*_):
    global ticks
    ticks += 1
def begin():
    global said
    signal.signal(signal.SIGALRM, think)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try: wake()
    except OSError as error: said = str(error)
def thought(): return ticks
def refused(): return said
"""
WAKES = {
    "timer": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def wake():
    create, start = (222, 223) if os.uname().machine == "x86_64" else (107, 110)
    signal.signal(signal.SIGCONT, think)
    event = ctypes.create_string_buffer(struct.pack("=Qii", 0, signal.SIGCONT, 0), 64)
    timer, every = ctypes.c_int(), ctypes.create_string_buffer(struct.pack("=4q", 0, 10**7, 0, 10**7))
    if libc.syscall(create, 1, event, ctypes.byref(timer)) < 0: raise OSError(ctypes.get_errno(), "refused")
    libc.syscall(start, timer, 0, every, None)
""",
    "child": """
def wake():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    me = os.getpid()
    if os.fork() == 0:
        time.sleep(0.01)
        os.kill(me, signal.SIGCONT)
        os._exit(0)
""",
    "thread": """
import threading
def wake():
    try: threading.Thread(target=lambda: (time.sleep(0.01), os.kill(os.getpid(), signal.SIGCONT))).start()
    except RuntimeError as error: raise OSError(str(error))
""",
}


@pytest.mark.parametrize("way", WAKES)
def test_a_program_that_is_stopped_cannot_have_itself_woken(sandbox: WarmSandbox, way: str) -> None:
    """An engine thought on its rival's time: a timer's signal, or a child that it left awake, continued it."""
    if sandbox.tier in ("bubblewrap", "none"):
        pytest.skip("there it is only idle, or not held at all")
    with closing(sandbox.lasting_session(COUNTS + WAKES[way], limits=LIMITS, seed=7, prelude="")) as session:
        session.call("begin", [], timeout=20)
        session.pause()
        time.sleep(0.6)
        assert session.call("thought", [], timeout=20) < 15, "awake it would have thought sixty times"
        assert session.call("refused", [], timeout=20)


def test_others_who_use_the_machines_memory_do_not_end_a_process(sandbox: WarmSandbox) -> None:
    code = f"# {time.time()}\n{PROCESS}"
    first = use(sandbox, code, "process")[0]
    with tempfile.NamedTemporaryFile(dir="/dev/shm"):
        assert use(sandbox, code, "process")[0] == first
    assert use(sandbox, code, "process")[0] == first


def _states(sandbox: WarmSandbox, code: str) -> list[str]:
    """Of the processes of the newest program that waits and holds this text; [] where none waits."""
    slots = [session.slot.pid for session in sandbox._waiting._sessions if code in session.job.code]
    pids = watch.descendants(slots[-1]) if slots else []
    return [state for state in map(_state, pids) if state]


def _state(pid: int) -> str:
    """`S` for one that sleeps; '' for none."""
    return "".join(watch._stat(f"/proc/{pid}")[:1])


@pytest.mark.long
def test_few_wait_and_none_outlives_the_sandbox(tmp_path: Path) -> None:
    opened = open_sandbox("auto", state_dir=tmp_path)
    assert isinstance(opened, WarmSandbox)
    try:
        for number in range(most_kept() + 3):
            use(opened, f"def f(): return {number}", "f")
        slots = [session.slot.pid for session in opened._waiting._sessions]
        family = [pid for slot in slots for pid in (slot, *watch.descendants(slot))]
        assert len(slots) == most_kept() and len(family) >= 2 * most_kept()
    finally:
        opened.close()
    end = time.monotonic() + 30
    while (left := set(map(_state, family)) - {"", "Z"}) and time.monotonic() < end:
        time.sleep(0.02)
    assert not left
