# ruff: noqa: E501 - programs as data
"""What every sandbox tier must do: the same program gives the same result in each."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from support.processes import eventually
from support.sandboxes import TIERS, opened_tier

from core.contracts import ExecutionResult, Limits, SessionFailure
from core.executor import warm
from core.executor.inside import packed, watch
from core.executor.interpreter import Interpreter
from core.executor.probe import examine
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox
from core.executor.workspace import WorkspaceManager, remove_tree
from core.state.failure import FailureKind
from utils.errors import JobLost, NoSandboxError, SandboxError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
LIMITS = Limits(seconds=20, memory_mb=512, disk_mb=64, file_mb=16, processes=32, output_kb=64)


@pytest.fixture(scope="module", params=TIERS)
def sandbox(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmSandbox]:
    with opened_tier(request.param, tmp_path_factory.mktemp("state"), ("numpy", "no_such_module")) as opened:
        yield opened


@pytest.fixture(params=["json", "msgpack"])
def talking(request: pytest.FixtureRequest, sandbox: WarmSandbox, monkeypatch: pytest.MonkeyPatch) -> WarmSandbox:
    """The sandbox with sessions in either form of frames."""
    if request.param == "json":
        monkeypatch.setattr(packed, "library", lambda: None)
    elif not sandbox.ready().msgpack:
        pytest.skip("msgpack is not installed")
    return sandbox


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "submission").mkdir(parents=True)
    return folder


def run(sandbox: WarmSandbox, workspace: Path, code: str, **changes: float) -> ExecutionResult:
    return sandbox.run(code, workspace=workspace, limits=LIMITS.model_copy(update=changes), seed=7)


def test_output_is_kept_in_order_and_files_stay(sandbox: WarmSandbox, workspace: Path) -> None:
    code = "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')\nopen('submission/x.csv', 'w').write('1')"
    result = run(sandbox, workspace, code)
    assert (result.term_out, result.failure, result.exit_code) == ("a\nb\nc\n", None, 0)
    assert (workspace / "submission" / "x.csv").read_text() == "1"
    assert result.tier == sandbox.tier


def test_equal_seeds_draw_equal_numbers(sandbox: WarmSandbox, workspace: Path) -> None:
    code = "import random, numpy\nprint(random.random(), numpy.random.rand(), hash('x'))"
    first, second = run(sandbox, workspace, code), run(sandbox, workspace, code)
    assert first.failure is None, first.term_out
    assert first.term_out == second.term_out
    other = sandbox.run(code, workspace=workspace, limits=LIMITS, seed=8)
    assert other.term_out != first.term_out


def test_each_session_of_a_slot_begins_with_its_own_seed(sandbox: WarmSandbox) -> None:
    """They are forked from one process, which may be seeded as the one before wanted."""
    code = "import random, numpy\ndef draw(): return [random.random(), float(numpy.random.rand())]"
    drawn = []
    for seed in (7, 8, 7, 7):
        with sandbox.session(code, limits=LIMITS, seed=seed) as session:
            drawn.append([session.call("draw", [], timeout=20) for _ in range(2)])
    assert drawn[0] == drawn[2] == drawn[3] != drawn[1]


def test_sets_iterate_alike_in_every_run(sandbox: WarmSandbox, workspace: Path) -> None:
    """Texts have equal hashes in each interpreter, also in one that is started tomorrow."""
    code = "print(hash('x'), list({f'name{i}' for i in range(9)}))"
    fixed = {"PYTHONHASHSEED": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=fixed, capture_output=True, text=True, check=True)
    assert run(sandbox, workspace, code).term_out == done.stdout


FAILURES = {
    "x = = 1": FailureKind.SYNTAX,
    "raise KeyError('k')": FailureKind.RUNTIME,
    "import sys; sys.exit(3)": FailureKind.EXIT,
    "import os; os._exit(4)": FailureKind.EXIT,
    "import os; os.kill(os.getpid(), 11)": FailureKind.SIGNAL,
    "blocks = [bytearray(1 << 20) for _ in range(3000)]": FailureKind.MEMORY,
    "open('big', 'wb').write(bytes(40 << 20))": FailureKind.FILE_SIZE,
    "import os, time\nfor _ in range(100):\n    if os.fork() == 0: time.sleep(9)\n": FailureKind.PROCESSES,
    "while True: print('x' * 1000)": FailureKind.OUTPUT,
}


@pytest.mark.parametrize("code", FAILURES)
def test_each_way_of_failing_has_its_kind(sandbox: WarmSandbox, workspace: Path, code: str) -> None:
    result = run(sandbox, workspace, code)
    assert result.failure is FAILURES[code], (result.message, result.term_out[-300:])
    assert result.message


OURS = "import os\nos.write(2, b'the sandbox could not be set up: OSError: no room\\n')\nos._exit(125)\n"
"""Ends as a process whose set-up failed."""


def test_no_program_is_taken_for_a_fault_of_ours(sandbox: WarmSandbox, workspace: Path) -> None:
    """That would end the run."""
    result = sandbox.run(OURS, workspace=workspace, limits=LIMITS)
    assert (result.failure, result.exit_code) == (FailureKind.EXIT, 125)
    session = sandbox.session(OURS, limits=LIMITS)
    with pytest.raises(SessionFailure, match="exit code 125"):
        session.call("f", [], timeout=10)
    session.close()


def test_a_set_up_that_fails_is_a_fault_of_ours(sandbox: WarmSandbox, workspace: Path) -> None:
    with pytest.raises(SandboxError, match="could not be set up"):
        sandbox.run("print(1)", workspace=workspace, limits=LIMITS.model_copy(update={"core": 100_000}))


def test_time_limits(sandbox: WarmSandbox, workspace: Path) -> None:
    slept = run(sandbox, workspace, "import time; time.sleep(60)", seconds=0.3)
    assert slept.failure is FailureKind.TIMEOUT and "0.3 s" in slept.message and slept.exec_time < 5
    spun = run(sandbox, workspace, "while True: pass", cpu_seconds=0.3)
    assert spun.failure is FailureKind.CPU and "0.3 s" in spun.message


PAGE_TABLES = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
start, size = libc.mmap(None, 160 << 30, 1, 0x4022, -1, 0), 160 << 30
libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), 15)
for place in range(0, size, 2 << 20): ctypes.c_char.from_address(start + place).value
import time; time.sleep(2)
"""


NESTED = """
import os
for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
"""


def test_a_tree_without_end_is_the_programs_failure(
    sandbox: WarmSandbox, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the host's disk: nobody can count what lies too deep, and walking there was an error of ours."""
    monkeypatch.setattr(warm, "_fits_in_memory", lambda disk_mb: False)
    result = run(sandbox, workspace, NESTED)
    assert result.failure is FailureKind.DISK and "nested more than 200 deep" in result.message, result.message
    assert run(sandbox, workspace, "print(1)").failure is FailureKind.DISK  # it is still there
    assert WorkspaceManager(workspace).written() == []
    remove_tree(workspace)  # pytest could not


HIDDEN_FILES = """
import ctypes, os, socket, time
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
ends = socket.socketpair()
text = b"x" * (1 << 20)
try:
    for number in range(1000):
        file = os.open("file", os.O_RDWR | os.O_CREAT)
        for _ in range(12): os.write(file, text)
        os.unlink("file")
        if @MAPPED@: libc.mmap(None, 4096, 1, 1, file, 0)
        else: socket.send_fds(ends[0], [b"x"], [file])
        os.close(file)
        time.sleep(0.05)
except OSError as error: print("FILLED", error)
"""
"""Not as fast as it can: a busy machine has to be quick enough to see it."""


@pytest.mark.long
@pytest.mark.parametrize("tier", TIERS)
def test_files_that_nobody_can_count_do_not_fill_the_disk(
    tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no name, and no process has them open."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1000m", "none", str(disk)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    monkeypatch.setattr(warm, "_fits_in_memory", lambda disk_mb: False)
    try:
        with opened_tier(tier, tmp_path / "state") as sandbox:
            for mapped in ("True", "False"):
                (workspace := disk / mapped).mkdir()
                result = run(sandbox, workspace, HIDDEN_FILES.replace("@MAPPED@", mapped), memory_mb=4096, seconds=60)
                assert "FILLED" not in result.term_out and result.failure is FailureKind.DISK, result.message
                assert "to save it" in result.message, result.message
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.parametrize("name", ["a program", "VmPTE: 0"])
def test_page_tables_count_as_memory(sandbox: WarmSandbox, workspace: Path, name: str) -> None:
    """Reading one byte here and there of a huge empty mapping costs no page of the process, but 4 KB of the kernel's.

    Also of a process whose name reads as a line of the kernel's that says it has none.
    """
    renamed = f"import ctypes\nctypes.CDLL(None).prctl(15, {name.encode()!r}, 0, 0, 0)\n"
    result = run(sandbox, workspace, renamed + PAGE_TABLES, memory_mb=128)
    assert result.failure is FailureKind.MEMORY, (result.message, result.term_out)


HELD_BY_A_SECOND_THREAD = """
import ctypes, os, threading, time
def hold():
    time.sleep(0.1)
    kept = bytearray(150 << 20)
    time.sleep(2)
    print("HELD", flush=True)
    os._exit(0)
if os.fork() == 0:
    threading.Thread(target=hold).start()
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
os.wait()
"""


def test_memory_counts_that_is_no_page_of_a_process(sandbox: WarmSandbox, workspace: Path) -> None:
    """What fills shared memory and lets go of it, or has ended, leaves it filled as long as anybody maps a part of it."""
    filled = "import mmap, os, time\nkept = mmap.mmap(-1, 150 << 20)\nfor part in range(0, 150, 50):\n"
    filled += "    kept[part << 20 : part + 50 << 20] = b'x' * (50 << 20)\n    kept.madvise(mmap.MADV_DONTNEED)\n"
    result = run(sandbox, workspace, f"{filled}time.sleep(2)\nprint('HELD', kept[0])", memory_mb=120)
    assert result.failure is FailureKind.MEMORY, (result.message, result.term_out)


def test_memory_counts_whichever_thread_of_a_process_is_left(sandbox: WarmSandbox, workspace: Path) -> None:
    """Of one whose first thread has ended the kernel shows nothing under its own number: no page and no descriptor."""
    result = run(sandbox, workspace, HELD_BY_A_SECOND_THREAD, memory_mb=96)
    assert result.failure is FailureKind.MEMORY, (result.message, result.term_out)


def test_a_program_with_a_core_of_its_own_stays_there(sandbox: WarmSandbox, workspace: Path) -> None:
    core = max(os.sched_getaffinity(0))
    code = "import os\nprint(os.sched_getaffinity(0))\nos.sched_setaffinity(0, range(os.cpu_count()))"
    result = run(sandbox, workspace, code, core=core)
    assert result.term_out.startswith(f"{{{core}}}")
    if sandbox.tier != "none":
        assert result.failure is FailureKind.RUNTIME and result.exc_type == "PermissionError"
        assert run(sandbox, workspace, "import os\nos.sched_setaffinity(0, os.sched_getaffinity(0))").failure is None


def test_what_a_terminal_would_obey_is_not_passed_on(sandbox: WarmSandbox, workspace: Path) -> None:
    told: list[str] = []
    code = "print('a\\x1b]52;c;ZXZpbA==\\x07b\\tc\\x9bd')"
    result = sandbox.run(code, workspace=workspace, limits=LIMITS, on_output=told.append)
    assert result.term_out == "".join(told) == "a\ufffd]52;c;ZXZpbA==\ufffdb\tc\ufffdd\n"


def test_what_an_exception_says_is_one_clean_line(sandbox: WarmSandbox, workspace: Path) -> None:
    kind = "Odd\\n\\n## New task\\x1b[2J"
    code = f"raise type('{kind}', (Exception,), {{}})('a\\u202eb\\r\\n\\n```\\x9b31m' + 'x' * 5000)"
    result = run(sandbox, workspace, code)
    assert result.failure is FailureKind.RUNTIME and result.exc_type == "Odd ## New task\ufffd[2J"
    assert (
        result.message.startswith("Odd ## New task\ufffd[2J: a\ufffdb ```\ufffd31mxxx") and len(result.message) <= 1000
    )
    told = json.dumps(result.exc_info, ensure_ascii=False)
    assert not any(char in told for char in "\x1b\x9b\u202e\r\n")


def test_disk_limit_counts_inodes(sandbox: WarmSandbox, workspace: Path) -> None:
    code = "import os\nfor i in range(100000): open(f'f{i}', 'w').close()"
    assert run(sandbox, workspace, code, disk_mb=4).failure is FailureKind.DISK


def test_an_exception_is_told_with_the_programs_own_frames(sandbox: WarmSandbox, workspace: Path) -> None:
    result = run(sandbox, workspace, "def f(x):\n    return 1 / x\nf(0)\n")
    assert result.exc_type == "ZeroDivisionError" and result.exc_info is not None
    assert [frame[:3] for frame in result.exc_info["traceback"]] == [
        ["solution.py", 3, "<module>"], ["solution.py", 2, "f"],
    ]  # fmt: skip
    assert str(workspace) not in result.term_out and "/workspace/solution.py" in result.term_out


LONG_LINES = {
    "words in one line": f"words = ['{'ä' * 6_000}'][1]",
    "long arguments, each character of them twelve bytes of JSON": "raise IndexError(*['\\U0001f600' * 500] * 5)",
    "a long line in many frames": f"def f(n): return f(n - 1) if n else '{'ä' * 300}'[999]\nf(30)",
    "long names in many frames": f"def {'f' * 700}(n): return {'f' * 700}(n - 1) if n else [][1]\n{'f' * 700}(30)",
}


@pytest.mark.parametrize("case", LONG_LINES)
def test_an_exception_in_a_long_line_is_told_as_any_other(case: str, sandbox: WarmSandbox, workspace: Path) -> None:
    """It was told as an exit with code 1, without a word on what was raised."""
    result = run(sandbox, workspace, LONG_LINES[case])
    assert (result.failure, result.exc_type) == (FailureKind.RUNTIME, "IndexError"), result.message
    assert result.exc_info is not None and result.exc_info["traceback"]


def test_inputs_are_read_only(sandbox: WarmSandbox, workspace: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "data"
    inputs.mkdir()
    (inputs / "a.csv").write_text("1,2")
    code = "print(open('input/a.csv').read())\nopen('input/a.csv', 'w').write('evil')"
    result = sandbox.run(code, workspace=workspace, inputs=inputs, limits=LIMITS)
    assert "1,2" in result.term_out
    if sandbox.tier != "none":
        assert result.failure is FailureKind.RUNTIME and (inputs / "a.csv").read_text() == "1,2"


def test_another_program_may_be_run(sandbox: WarmSandbox, workspace: Path) -> None:
    result = sandbox.command(["/bin/sh", "-c", "echo $HOME; exit 5"], workspace=workspace, limits=LIMITS)
    assert result.exit_code == 5 and result.failure is FailureKind.EXIT and result.term_out
    path = sandbox.command(["/usr/bin/realpath", "/usr/bin/env"], workspace=workspace, limits=LIMITS)
    assert path.term_out == f"{os.path.realpath('/usr/bin/env')}\n", "the C library looks for links by reading them"
    linked = "umask 022; echo 'echo $0 ran' > own; chmod 755 own; ./own"  # a linker makes its output so, too
    made = sandbox.command(["/bin/sh", "-c", linked], workspace=workspace, limits=LIMITS)
    assert made.term_out == "./own ran\n", "what a program has made it may run"
    missing = sandbox.command(["/no/such/program"], workspace=workspace, limits=LIMITS)
    assert missing.failure is FailureKind.EXIT


def test_a_session_may_be_closed_before_its_program_begins(sandbox: WarmSandbox) -> None:
    """An engine whose opponent forfeits at once: that the program had not begun was told as a fault of the sandbox."""
    for _ in range(5):
        assert sandbox.session("x = 1", limits=LIMITS).close().failure is None
    with sandbox.session("def f(): return 2", limits=LIMITS) as session:
        assert session.call("f", [], timeout=20) == 2


def test_a_session_answers_and_survives_exceptions(talking: WarmSandbox) -> None:
    code = "class engine:\n    @staticmethod\n    def add(a, b): return a + b + K\ndef bad(): raise ValueError('no')"
    with talking.session(code, limits=LIMITS, prelude="K = 1") as session:
        assert session.call("engine.add", [2, 3], timeout=10) == 6
        with pytest.raises(SessionFailure) as caught:
            session.call("bad", [], timeout=10)
        assert caught.value.result.exc_type == "ValueError" and caught.value.result.failure is FailureKind.RUNTIME
        assert session.call_many("engine.add", [[i, i] for i in range(500)], timeout=10) == [
            2 * i + 1 for i in range(500)
        ]


ANSWERS: dict[str, object] = {
    "[1, -1, 2**63, -2**63, 2**64, 10**30, True, None]": [1, -1, 2**63, -(2**63), 2**64, 10**30, True, None],
    "[0.1, -0.0, 1e300, 5e-324]": [0.1, -0.0, 1e300, 5e-324],
    "'é\\ud800\\0' + 'x' * 70000": "é\ud800\0" + "x" * 70000,
    "{1: 2, None: 3, True: (4, 5), 1.5: {'a': []}}": {"1": [4, 5], "null": 3, "1.5": {"a": []}},
    "(1, (2, [3]), {'k': ((), [{}])})": [1, [2, [3]], {"k": [[], [{}]]}],
    "[[i] * 9 for i in range(60000)]": [[i] * 9 for i in range(60000)],
    "list(range(-300, 70000, 7))": list(range(-300, 70000, 7)),
    "[numpy.float64(1.5), numpy.arange(3), numpy.int8(2)]": [1.5, [0, 1, 2], 2],
    "{3, 1, 2}": [1, 2, 3],
}


@pytest.mark.parametrize("expression", ANSWERS)
def test_data_crosses_alike_whatever_the_form_of_the_frames(talking: WarmSandbox, expression: str) -> None:
    code = f"import numpy\ndef f(*a): return {expression}\ndef same(a): return a"
    with talking.session(code, limits=LIMITS) as session:
        answer = session.call("f", [], timeout=20)
        assert answer == ANSWERS[expression] and repr(answer) == repr(ANSWERS[expression])
        assert session.call("same", [answer], timeout=20) == answer
        assert session.call("same", [{1: (2, 3)}], timeout=20) == {"1": [2, 3]}


@pytest.mark.parametrize("value", ["b'x'", "object()", "a", "1j"])
def test_what_is_not_plain_is_an_exception_of_the_program_in_either_form(talking: WarmSandbox, value: str) -> None:
    code = f"a = []\na.append(a)\ndef f(): return {value}\ndef g(): return 1"
    with talking.session(code, limits=LIMITS) as session:
        with pytest.raises(SessionFailure) as caught:
            session.call("f", [], timeout=20)
        assert caught.value.result.failure is FailureKind.RUNTIME
        assert session.call("g", [], timeout=20) == 1


def test_an_answer_that_is_not_finite_is_told_with_its_call(talking: WarmSandbox) -> None:
    """Of five thousand calls in a frame one is wrong: whoever repairs the program has to know which."""
    with talking.session("def f(x, y): return [x, x / y if y else float('nan')]", limits=LIMITS) as session:
        with pytest.raises(SessionFailure) as caught:
            session.call_many("f", [[1.5, 2], [7, 0], [3, 0]], timeout=20)
        assert caught.value.result.message == "f(7, 0): an answer holds NaN or an infinity"
        assert session.call("f", [1, 1], timeout=20) == [1, 1]
        with pytest.raises(SessionFailure) as caught:
            session.call("f", [list(range(1000)), 0], timeout=20)
        assert len(caught.value.result.message) < 300


LIES = {
    "import os\ndef f(): os.write(3, b'\\xff' * 8)": FailureKind.RUNTIME,
    "import os\ndef f(): os.write(3, b'\\x05\\0\\0\\0{\"a\":')": FailureKind.RUNTIME,
    "import os\ndef f(): os.write(3, b'\\x0e\\0\\0\\0{\"answers\":[]}')": FailureKind.RUNTIME,
    "def f(): return float('nan')": FailureKind.NON_FINITE,
    "def f(): return [1, [2, {'x': float('inf')}]]": FailureKind.NON_FINITE,
    "def f(): return 10 ** 400": FailureKind.NON_FINITE,
    "def f(): return object()": FailureKind.RUNTIME,
    "def f():\n    while True: pass": FailureKind.TIMEOUT,
    "import os\ndef f(): os._exit(0)": FailureKind.EXIT,
    "import os\ndef f(): os.close(3)": FailureKind.EXIT,
    # msgpack: a binary, a number as key, a time, a list longer than its frame, one level of lists too many, two keys
    "import os\ndef f(): os.write(3, b'\\x0c\\0\\0\\0\\x81\\xa7answers\\x91\\xc4\\0')": FailureKind.RUNTIME,
    "import os\ndef f(): os.write(3, b'\\x0d\\0\\0\\0\\x81\\xa7answers\\x91\\x81\\1\\1')": FailureKind.RUNTIME,
    "import os\ndef f(): os.write(3, b'\\x10\\0\\0\\0\\x81\\xa7answers\\x91\\xd6\\xff\\0\\0\\0\\0')": FailureKind.RUNTIME,
    "import os\ndef f(): os.write(3, b'\\x0e\\0\\0\\0\\x81\\xa7answers\\xdd\\xff\\xff\\xff\\xff')": FailureKind.RUNTIME,
    "import os\ndef f(): d = b'\\x81\\xa7answers' + b'\\x91' * 5000 + b'\\0'; os.write(3, len(d).to_bytes(4, 'little') + d)": FailureKind.RUNTIME,
    "import os\ndef f(): os.write(3, b'\\x0d\\0\\0\\0\\x82\\xa7answers\\x91\\0\\xa1b\\0'[:17])": FailureKind.RUNTIME,
    # 6 MB that would become 300
    "import os\ndef f():\n  d = b'{\"answers\":[[' + b'{},' * 2000000 + b'1]]}'; d = memoryview(len(d).to_bytes(4, 'little') + d)\n  while d: d = d[os.write(3, d):]": FailureKind.RUNTIME,
    "def g(): pass": FailureKind.RUNTIME,
    "1 / 0": FailureKind.RUNTIME,
    "def f(:": FailureKind.SYNTAX,
}


@pytest.mark.parametrize("code", LIES)
def test_what_a_session_sends_is_not_believed(talking: WarmSandbox, code: str) -> None:
    session = talking.session(code, limits=LIMITS)
    try:
        with pytest.raises(SessionFailure) as caught:
            session.call("f", [], timeout=1.0 if LIES[code] is FailureKind.TIMEOUT else 60.0)
        assert caught.value.result.failure is LIES[code], caught.value.result.message
    finally:
        session.close()


def test_the_limits_say_how_large_an_answer_may_be(talking: WarmSandbox) -> None:
    code = "def f(n): return 'x' * n"
    with talking.session(code, limits=LIMITS.model_copy(update={"answer_kb": 64})) as session:
        assert len(session.call("f", [60_000], timeout=10)) == 60_000
        with pytest.raises(SessionFailure, match="at most 65,536"):
            session.call("f", [70_000], timeout=10)


def test_an_answer_that_drips_in_is_late(talking: WarmSandbox) -> None:
    code = "import os\ndef f():\n    os.write(3, (60 << 20).to_bytes(4, 'little'))\n    while True: os.write(3, b' ')"
    with talking.session(code, limits=LIMITS) as session:
        began = time.monotonic()
        with pytest.raises(SessionFailure) as caught:
            session.call("f", [], timeout=0.5)
        assert caught.value.result.failure is FailureKind.TIMEOUT and time.monotonic() - began < 60


OUR_MODULES = "sorted(n for n, m in list(sys.modules.items()) if '/inside/' in (getattr(m, '__file__', None) or ''))"


def test_no_module_of_ours_is_loaded_where_a_program_runs(sandbox: WarmSandbox, workspace: Path) -> None:
    assert run(sandbox, workspace, f"import sys\nprint({OUR_MODULES})").term_out == "[]\n"
    with sandbox.session(f"import sys\ndef look(): return {OUR_MODULES}", limits=LIMITS) as session:
        assert session.call("look", [], timeout=10) == []


def test_a_job_waits_while_others_fill_the_machine(
    sandbox: WarmSandbox, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container of 60 processes one program that forked for its 3 s cost nine of twelve others beside it."""
    opened, full = sandbox._server.open_slot, [JobLost("no room"), JobLost("no room")]

    def open_slot(setup: object) -> object:
        if full:
            raise full.pop()
        return opened(setup)

    monkeypatch.setattr(warm, "_LOOK_FOR_ROOM", 0.01)
    monkeypatch.setattr(sandbox._server, "open_slot", open_slot)
    assert run(sandbox, workspace, "print(1)").term_out == "1\n" and not full
    monkeypatch.setattr(warm, "ROOM_SECONDS", 0.0)
    full += [JobLost("no room")] * 9
    with pytest.raises(JobLost, match="no room"):
        run(sandbox, workspace, "print(1)")
    full.clear()
    monkeypatch.setattr(warm, "ROOM_SECONDS", 600.0)
    monkeypatch.setattr(warm, "OWN_ROOM_SECONDS", 0.0)
    lacking = JobLost(f"no room: {OSError(errno.EMFILE, os.strerror(errno.EMFILE))}")
    full.append(lacking)
    with pytest.raises(JobLost, match="Too many open files"):  # nobody would ever let go of one
        run(sandbox, workspace, "print(1)")
    with sandbox.session("def f(): return 1", limits=LIMITS) as session:
        assert session.call("f", [], timeout=10) == 1
        full += [lacking, lacking]
        assert run(sandbox, workspace, "print(1)").term_out == "1\n" and not full, "others may"


DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            open("beat", "a").write("x")
            time.sleep(0.02)
    os._exit(0)
time.sleep(30)
"""


def test_a_supervisor_that_dies_under_a_program_loses_that_job_alone(sandbox: WarmSandbox, workspace: Path) -> None:
    """Whoever killed it: the job can be run again, the sandbox goes on, and nothing of the program does."""
    beat = workspace / "beat"
    falls: list[int] = []

    def kill() -> None:
        eventually(lambda: sandbox._users)
        time.sleep(0.5)
        for slot in list(sandbox._users):
            falls.extend(_falls(pid) for pid in watch.descendants(slot.pid))
            os.kill(slot.pid, 9)

    killed = threading.Thread(target=kill)
    killed.start()
    with pytest.raises(JobLost, match="ended without a report"):
        run(sandbox, workspace, DAEMON)
    assert 1000 in falls and _falls("self") < 1000, "where memory runs out the system ends programs, and none of ours"
    eventually(lambda: _size(beat) == (time.sleep(0.2), _size(beat))[1])
    session = sandbox.session("import time\ndef f(): time.sleep(30)\ndef g(): return 1", limits=LIMITS)
    assert session.call("g", [], timeout=10) == 1
    os.kill(session.slot.pid, 9)
    with pytest.raises(SessionFailure) as caught:
        session.call("f", [], timeout=10)
    assert caught.value.result.failure is FailureKind.LOST_WORKER
    assert session.close().failure is FailureKind.LOST_WORKER
    assert run(sandbox, workspace, "print(1)").term_out == "1\n"


def test_a_spare_supervisor_that_dies_ends_no_program(sandbox: WarmSandbox, workspace: Path) -> None:
    """It is made ahead of need. The server was begun anew for it, and every program that ran was lost."""
    with sandbox.session("def f(): return 1", limits=LIMITS) as session:
        assert session.call("f", [], timeout=10) == 1
        used = {slot.pid for slot, _ in sandbox._idle} | {slot.pid for slot in sandbox._users}
        spare = set(watch.children(sandbox._server._process.pid)) - used  # and whoever is just ending
        assert spare
        for pid in spare:
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        eventually(lambda: spare.isdisjoint(watch.children(sandbox._server._process.pid)))
        assert run(sandbox, workspace, "print(2)").term_out == "2\n"
        assert session.call("f", [], timeout=10) == 1


def _falls(pid: int | str) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_sessions_do_not_see_each_other(sandbox: WarmSandbox) -> None:
    left = "open('left', 'w').write('x')"
    with sandbox.session(f"import math\nmath.pi = 3\n{left}\ndef f(): return math.pi", limits=LIMITS) as first:
        assert first.call("f", [], timeout=10) == 3
    with sandbox.session("import math\ndef f(): return math.pi", limits=LIMITS) as second:
        assert second.call("f", [], timeout=10) > 3.14
    assert not list(sandbox.config.state_dir.rglob("left")), "a disk holds what few programs leave, not what all do"


LEFT_BEHIND = {
    "nothing": "pass",
    "a file": "open('/dev/shm/left', 'w').write('x')",
    "a file that is gone": "open('/tmp/left', 'w').close(); os.remove('/tmp/left')",
    "a mode": "os.chmod('/workspace', 0o711)",
    "an attribute": "os.setxattr('/workspace', 'user.left', b'1')",
    "a time": "os.utime('/workspace', (5, 5))",
    "processes": "for _ in range(3):\n            if os.fork() == 0: os._exit(0)\n            os.wait()",
    "a flag": "import fcntl, struct; fcntl.ioctl(os.open('/workspace', os.O_RDONLY), 0x40086602, struct.pack('l', 0x40))",
}
SEEN_OF_FOLDERS = """
import os, sys
def look():
    folders = ("/workspace", "/tmp", "/dev/shm")
    stats = [os.stat(path) for path in folders]
    facts = [(s.st_mode, s.st_nlink, s.st_uid, s.st_gid, s.st_size, s.st_mtime_ns) for s in stats]
    facts += [(os.listdir(path), os.listxattr(path)) for path in folders] + [os.getpid()]
    return str((facts, os.statvfs("/workspace").f_bfree, os.statvfs("/workspace").f_ffree))
def leave():
    try:
        exec(sys.modules["solution"].LEFT)
    except OSError:
        return "refused"
"""


@pytest.mark.parametrize("disk_mb", [64, 1_000_000], ids=["", "a limit beyond memory"])
@pytest.mark.parametrize("left", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
def test_nothing_that_a_session_leaves_is_there_for_the_next(sandbox: WarmSandbox, left: str, disk_mb: int) -> None:
    """Folders that nobody touched are not made anew, so what counts as touching is tried out."""
    if sandbox.tier != "warm":
        pytest.skip("only there do sessions share prepared folders")
    code, limits = f"LEFT = {left!r}\n{SEEN_OF_FOLDERS}", LIMITS.model_copy(update={"disk_mb": disk_mb})
    seen, slots = [], set()
    for _ in range(3):
        with sandbox.session(code, limits=limits) as session:
            seen.append(session.call("look", [], timeout=10))
            session.call("leave", [], timeout=10)
            slots.add(session.slot.pid)
    assert len(set(seen)) == 1 and len(slots) == 1


def test_a_fork_of_a_program_has_what_the_standard_library_does_after_forks(
    sandbox: WarmSandbox, workspace: Path
) -> None:
    """Numbers drawn anew, and books of threads that name the one that is left."""
    code = """
import os, random, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, repr((random.random(), threading.active_count())).encode())
    os._exit(0)
drawn, threads = eval(os.read(read, 100))
print(drawn != random.random(), threads, threading.main_thread() is threading.current_thread())
"""
    assert run(sandbox, workspace, code).term_out.endswith("True 1 True\n")  # Python 3.12 warns of the thread before


def test_many_threads_may_run_at_once(sandbox: WarmSandbox, tmp_path: Path) -> None:
    def one(number: int) -> str:
        folder = tmp_path / str(number)
        folder.mkdir()
        return sandbox.run(f"print({number} * 2)", workspace=folder, limits=LIMITS).term_out

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(12))) == [f"{number * 2}\n" for number in range(12)]


def test_a_missing_preload_is_told_not_fatal(sandbox: WarmSandbox) -> None:
    assert list(sandbox.ready().missing) == ["no_such_module"]


def test_no_tier_holds_without_the_flag(tmp_path: Path) -> None:
    with pytest.raises(NoSandboxError, match="i-accept-unsandboxed"):
        open_sandbox("none", state_dir=tmp_path)
    with pytest.raises(NoSandboxError, match="auto, warm"):
        open_sandbox("docker", state_dir=tmp_path)


def test_a_tier_that_does_not_hold_is_refused_with_probe_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(NoSandboxError, match=r"probe start failed.*Remedy: ") as caught:
        open_sandbox("warm", python="/no/such/python", state_dir=tmp_path)
    assert caught.value.exit_code == 2


def test_examine_names_its_attacks(tmp_path: Path) -> None:
    found = examine("auto", state_dir=tmp_path)
    assert found["tier"] in ("warm", "lite", "bubblewrap")
    assert len(found["probes"]) >= 12 and all(probe["ok"] for probe in found["probes"])
    assert examine("auto", state_dir=tmp_path) == found


def test_the_interpreter_runs_programs_in_one_folder(sandbox: WarmSandbox, tmp_path: Path) -> None:
    interpreter = Interpreter(tmp_path / "work", timeout=5, sandbox=sandbox)
    write = "open('working/kept.txt', 'w').write('1'); print('wrote')"
    look = "import os; print(sorted(os.listdir('working')), 'write' in globals())"
    assert interpreter.run(write).term_out.strip() == "wrote"
    assert interpreter.run(look, reset_session=False).term_out.strip() == "['kept.txt'] False"
    assert interpreter.run(look).term_out.strip() == "[] False"
    slow = Interpreter(tmp_path / "work", timeout=0.5, sandbox=sandbox).run("import time; time.sleep(9)")
    assert slow.failure is FailureKind.TIMEOUT


def test_inputs_that_were_linked_are_shown_read_only(sandbox: WarmSandbox, tmp_path: Path) -> None:
    """The seed's way: link the data into the workspace, then run programs there."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.csv").write_text("a,b\n")
    interpreter = Interpreter(tmp_path / "work", timeout=20, sandbox=sandbox)
    interpreter.workspace.link_input_data(data)
    result = interpreter.run("print(open('input/train.csv').read())\nopen('input/x', 'w')")
    assert "a,b" in result.term_out and (sandbox.tier == "none" or result.failure is FailureKind.RUNTIME)


def test_an_interpreter_opens_a_sandbox_of_its_own(tmp_path: Path) -> None:
    from core.executor import Interpreter, WorkspaceManager

    with Interpreter(tmp_path / "work", timeout=60) as interpreter:
        assert isinstance(interpreter.workspace, WorkspaceManager)
        result = interpreter.run("print(6 * 7)")
        assert result.term_out == "42\n" and result.isolated
        short = interpreter.run("import time; time.sleep(9)", limits=Limits(seconds=0.3))
        assert short.failure is FailureKind.TIMEOUT and "0.3 s" in short.message
        state = interpreter._sandbox._state_dir  # type: ignore[union-attr]
    assert not state.exists()
