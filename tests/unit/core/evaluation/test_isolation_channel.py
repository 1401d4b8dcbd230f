"""The evaluator's end of a session: whatever a program writes, it is an answer, an exception or a breach."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.isolation.channel import MOST_PARTS, Channel, ProgramFailed, ProgramRaised, _Call
from core.executor.inside import plain


class Program:
    """The other end: reads a frame, writes what the test says."""

    def __init__(self, *replies: bytes | None, timeout: float = 5.0, memory_mb: int = 4096) -> None:
        ours, self.theirs = socket.socketpair()
        self.channel = Channel(ours.detach(), plain=plain)
        self.channel.expect(timeout, memory_mb)
        self.channel.begin()
        self.asked: list = []
        self.thread = threading.Thread(target=self._serve, args=(replies,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.close()
        self.thread.join(60)
        self.theirs.close()

    def _serve(self, replies) -> None:
        for reply in replies:
            head = self.theirs.recv(4)
            if not head:
                return
            size, data = int.from_bytes(head, "little"), b""
            while len(data) < size:
                data += self.theirs.recv(size - len(data))
            self.asked.append(json.loads(data))
            if reply is None:
                self.theirs.close()
                return
            self.theirs.sendall(reply)


def framed(message: object) -> bytes:
    data = json.dumps(message).encode()
    return len(data).to_bytes(4, "little") + data


def answered(value: object) -> bytes:
    return framed({"answers": [plain.wrap(value)]})


def test_an_answer_keeps_its_kind():
    with Program(answered((1, {"a": {2.5}}))) as program:
        assert program.channel.call("f", [(1, 2)], {"k": b"x"}) == (1, {"a": {2.5}})
        assert program.asked[0]["call"] == "f" and program.channel.calls == 1


def test_an_exception_leaves_the_program_alive():
    error = {"type": "ValueError", "text": "odd", "args": [], "errno": None, "traceback": [], "syntax": False}
    with Program(framed({"error": error}), answered(3)) as program:
        with pytest.raises(ProgramRaised) as raised:
            program.channel.call("f", [], {})
        assert (raised.value.kind, raised.value.text) == ("ValueError", "odd")
        assert program.channel.call("f", [], {}) == 3 and program.channel.failed is None


@pytest.mark.parametrize(
    "reply",
    [
        None,
        framed([]),
        framed({"answers": [1, 2]}),
        framed({"answers": 1}),
        framed({"answers": [1], "more": 2}),
        framed({"error": 7}),
        framed({"error": {"type": 3, "text": ""}}),
        framed({"answers": [{"__kind__": "array", "dtype": "O", "shape": [1], "data": ""}]}),
        (1 << 30).to_bytes(4, "little"),
        b"\3\0\0\0not",
        answered(1) + b"\0",
        framed({"answers": ["," * (MOST_PARTS + 1)]}),
    ],
    ids=lambda reply: "gone" if reply is None else repr(reply[:40]),
)
def test_a_program_that_breaks_the_protocol_is_never_asked_again(reply):
    with Program(reply, answered(1)) as program:
        with pytest.raises(ProgramFailed) as failed:
            program.channel.call("f", [], {})
        assert failed.value.failure in ("runtime", "exit") and program.channel.failed is failed.value
        with pytest.raises(ProgramFailed):
            program.channel.call("f", [], {})


def test_what_is_kept_of_its_answers_is_bounded_and_what_is_let_go_of_is_not():
    """A program could fill the machine's memory by its evaluator's, out of its own limit.

    In a process of its own: in one of many tests there is memory that others let go of, and answers find room in it.
    """
    code = "import test_isolation_channel as here; print(*here.kept_of_twelve())"
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parent), *sys.path]))}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **paths}, capture_output=True, text=True, check=False
    )
    failure, calls = done.stdout.split() or (done.stderr, 0)
    assert failure == "memory" and 4 < int(calls) < 9


def kept_of_twelve() -> tuple[str, int]:
    """How a program fails whose answers of 2 MB are kept, and at which call."""
    answers = [answered("x" * (2 << 20))] * 12
    with Program(*answers, memory_mb=9) as program:
        for _ in answers:
            program.channel.call("f", [], {})
    with (
        Program(*answers, memory_mb=9) as program,
        pytest.raises(ProgramFailed, match=r"execution\.memory_mb") as failed,
    ):
        _kept = [program.channel.call("f", [], {}) for _ in answers]
    return failed.value.failure, program.channel.calls


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data):
    with Program(len(data).to_bytes(4, "little") + data) as program:
        with pytest.raises((ProgramFailed, ProgramRaised)):
            program.channel.call("f", [], {})


def test_an_answer_that_does_not_come_or_drips_in_is_late():
    with Program(b"", timeout=0.2) as program, pytest.raises(ProgramFailed, match=r"no answer within 0\.2 s"):
        program.channel.call("f", [], {})

    class Drips(Program):
        def _serve(self, replies) -> None:
            with suppress(OSError):
                self.theirs.sendall((1000).to_bytes(4, "little"))
                for _ in range(50):
                    time.sleep(0.05)
                    self.theirs.sendall(b" ")

    with Drips(timeout=0.3) as program, pytest.raises(ProgramFailed, match="no answer"):
        program.channel.call("f", [], {})


def test_what_threads_ask_for_meanwhile_crosses_in_one_frame():
    started = threading.Event()

    class Slow(Program):
        def _serve(self, replies) -> None:
            head = int.from_bytes(self.theirs.recv(4), "little")
            self.asked.append(json.loads(self.theirs.recv(head)))
            started.set()
            while len(self.channel._waiting) < 5:
                time.sleep(0.01)
            self.theirs.sendall(answered("first"))
            size = int.from_bytes(self.theirs.recv(4), "little")
            self.asked.append(json.loads(self.theirs.recv(size)))
            time.sleep(2.5)  # more than one call may take, and less than five
            told = [[True, i] if i % 2 else [False, ["ValueError", str(i)]] for i in range(5)]
            self.theirs.sendall(framed({"answers": [told]}))

    found: dict = {}

    def ask(program: Program, name: str) -> None:
        try:
            found[name] = program.channel.call(name, [], {})
        except ProgramRaised as error:
            found[name] = f"raised {error.text}"

    with Slow(timeout=2.0) as program:
        threads = [threading.Thread(target=ask, args=(program, "a"))]
        threads[0].start()
        started.wait(60)
        threads += [threading.Thread(target=ask, args=(program, f"b{i}")) for i in range(5)]
        for thread in threads[1:]:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert [request["call"] for request in program.asked] == ["a", "__handles__.each"]
    assert found.pop("a") == "first"
    assert sorted(map(str, found.values())) == ["1", "3", "raised 0", "raised 2", "raised 4"]


def test_a_fork_knows_that_the_channel_is_not_its_own():
    with Program() as program:
        pid = os.fork()
        if pid == 0:
            os._exit(0 if program.channel.forked else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 and not program.channel.forked


class OwnLimit(Exception):
    """Of an evaluator that bounds each call by itself."""


class LateProgram(Program):
    """Its first answer comes once the evaluator's own time limit for it is over."""

    def __init__(self, *replies: bytes, error: type[Exception] = OwnLimit, every: float = 0.0) -> None:
        self.rung = threading.Event()
        self.every, self.error = every, error
        super().__init__(*replies)

    def __enter__(self):
        self.usual = signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, 0.05, self.every)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.usual)
        super().__exit__()

    def _ring(self, *_: object) -> None:
        self.rung.set()
        raise self.error("too late")

    def _serve(self, replies) -> None:
        for reply in replies:
            super()._serve([b""])
            self.rung.wait(60)
            time.sleep(3 * self.every)
            self.theirs.sendall(reply[:7])  # in two pieces
            self.theirs.sendall(reply[7:])


@pytest.mark.parametrize(("error", "every"), [(OwnLimit, 0.0), (TimeoutError, 0.0), (OwnLimit, 0.02)])
def test_the_answer_to_a_call_that_the_evaluator_broke_off_is_not_the_next_ones(error, every):
    """It was: every later call got the answer of the one before, and a `TimeoutError` was a program that had ended."""
    with LateProgram(answered(1), answered(2), error=error, every=every) as program:
        with pytest.raises(error, match="too late"):
            program.channel.call("first", [], {})
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert program.channel.call("second", [], {}) == 2 and program.channel.failed is None


def test_an_exception_that_is_thrown_into_a_thread_takes_no_answer_with_it():
    """As packages do that end a function at a time limit: it is raised when the answer has just been received."""
    with LateProgram(answered(1), answered(2)) as program:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raised: list[type] = []

        def first() -> None:
            try:
                program.channel.call("first", [], {})
            except OwnLimit:
                raised.append(OwnLimit)

        thread = threading.Thread(target=first)
        thread.start()
        while not program.asked:
            time.sleep(0.01)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(OwnLimit))
        program.rung.set()
        thread.join(60)
        assert raised == [OwnLimit]
        assert program.channel.call("second", [], {}) == 2


def test_calls_that_cross_with_one_that_is_broken_off_are_asked_once_more():
    """Their threads waited for answers that nobody had any more."""
    told = [[True, 1], [True, 2]]
    with LateProgram(framed({"answers": [told]}), framed({"answers": [[[True, 3]]]})) as program:
        other = _Call("other", plain.wrap([]), None)
        program.channel._waiting.append(other)
        with pytest.raises(OwnLimit):
            program.channel._queue(_Call("mine", plain.wrap([]), None))
        assert program.channel._waiting == [other]
        program.channel._waiting.clear()
        assert program.channel._queue(other) == (True, 3)
        assert [len(asked["batch"][0][0][0]) for asked in program.asked] == [2, 1]
