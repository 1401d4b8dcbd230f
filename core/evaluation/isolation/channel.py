"""The evaluator's end of a session with its candidate: asks the sandboxed program directly, and believes nothing.

Standard library only: it is loaded by path into processes that hold user code and never see our packages. Calls may
come from several threads; what threads ask for while an answer is on its way crosses together in the next frame. One
thread alone never has more than one call on its way: a program must not see what it will be asked later.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

HEADER = 4
MOST_BYTES = 64 << 20
MOST_PARTS = 4 << 20
"""Lists, mappings and values of one answer: parsed, they take some hundred times their text's bytes."""
LOOK_BYTES = 1 << 20
"""So much of answers may come before it is looked what is kept of them."""
LARGEST_GROWTH = 32
"""Bytes of memory that one of an answer's text comes to, at most: that of a list of empty lists."""
_CHUNK = 1 << 18
_SMALL = 1 << 14
"""Most answers are short; a buffer of this size costs nothing to make."""
_SOCKET, _LIMITS = int(socket.SOL_SOCKET), (int(socket.SO_RCVTIMEO), int(socket.SO_SNDTIMEO))
_PAGE = os.sysconf("SC_PAGE_SIZE")
EACH = "__handles__.each"
"""The program's side of several calls in one frame: (name, arguments, named ones) each."""


class ProgramFailed(Exception):
    """The program behind the channel is gone or broke the protocol: nothing can be asked of it any more.

    Args:
        failure: value of a FailureKind.
    """

    def __init__(self, failure: str, message: str) -> None:
        super().__init__(message)
        self.failure, self.message = failure, message


class ProgramRaised(Exception):
    """The program ended a call by an exception; it lives on."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind, self.text = kind, text


class _Call:
    """A call that waits for its answer: (True, wrapped data) or (False, the exception to raise)."""

    __slots__ = ("answer", "args", "function", "named")

    def __init__(self, function: str, args: Any, named: Any) -> None:
        self.function, self.args, self.named = function, args, named
        self.answer: tuple[bool, Any] | None = None


class Channel:
    """Asks the program and checks what comes back.

    Args:
        fd: descriptor of a socket, from `begin` on the session's.
        plain: the module of that name: data that keeps its kinds apart, as JSON.
    """

    def __init__(self, fd: int, *, plain: Any) -> None:
        self._socket = socket.socket(fileno=fd)
        self._timeout = self._within = 0.0
        self._usual = b""
        """The timeout as the kernel wants it."""
        self._wrap, self._unwrap = plain.wrap_given, plain.unwrap
        self._encode, self._decode = plain.encode, plain.decode
        self._turn = threading.Lock()
        self._mutex = threading.Lock()
        self._waiting: list[_Call] = []
        self._process = os.getpid()
        self._come: list[bytes] = []
        """What has come of the answer to the newest request."""
        self._most_kept = 0
        self._received = 0
        """Of answers, since it was looked at last."""
        self._resident = 0
        """What this process had of memory then."""
        self._kept = 0
        """By so much its memory grew with answers."""
        self.failed: ProgramFailed | None = None
        """The breach that ended the program; set although the evaluator may have swallowed the exception."""
        self.calls = 0
        self.seconds = 0.0
        """Spent waiting for answers, all calls together."""
        self.longest = 0.0
        """The longest of these calls."""

    def expect(self, timeout: float, memory_mb: int) -> None:
        """Before `begin`, maybe in the process that this one is forked from.

        Args:
            timeout: seconds for each call.
            memory_mb: what may be kept of the answers, all together, as they lie in memory.
        """
        if memory_mb << 20 != self._most_kept:
            self._most_kept = memory_mb << 20
        if timeout != self._timeout:
            self._timeout, self._usual = timeout, _as_kernels(timeout)

    def begin(self) -> None:
        """The program is loaded and nothing is on its way: from here on this process asks."""
        self._process = os.getpid()
        self._resident = _resident_bytes()
        self._socket.setblocking(True)
        self._limit(self._timeout, self._usual)

    @property
    def forked(self) -> bool:
        """True in a fork of the process: answers would go to whoever reads first, so nothing is asked there."""
        return os.getpid() != self._process

    def call(self, function: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The answer as data.

        Raises:
            TypeError: an argument is not plain data.
            ProgramRaised, ProgramFailed: see there.
        """
        wrapped, by_name = self._wrap(list(args)), self._wrap(dict(named)) if named else None
        if self._turn.acquire(blocking=False):
            try:
                fine, value = self._at_once(function, wrapped, by_name)
            finally:
                self._turn.release()
        else:
            fine, value = self._queue(_Call(function, wrapped, by_name))
        if not fine:
            raise value
        try:
            return self._unwrap(value)
        except (ValueError, RecursionError, MemoryError, ImportError) as error:
            raise self._broken("runtime", f"{function}: {error}") from error

    def give_up(self) -> ProgramFailed:
        """What to raise for a call that comes while one is on its way that nobody waits for any more."""
        return self._broken("timeout", "a call was given up by the evaluator and had no answer when the next one came")

    def close(self) -> None:
        self._socket.close()

    def _at_once(self, function: str, args: Any, named: Any) -> tuple[bool, Any]:
        """The answer to one call; the program itself may be what ends it."""
        began = time.perf_counter()
        try:
            return self._one(function, [args, named])
        finally:
            self._count(1, time.perf_counter() - began)

    def _count(self, calls: int, seconds: float) -> None:
        self.calls += calls
        self.seconds += seconds
        self.longest = max(self.longest, seconds / max(calls, 1))

    def _queue(self, call: _Call) -> tuple[bool, Any]:
        """Wait for the turn; who gets it asks for all that wait."""
        with self._mutex:
            self._waiting.append(call)
        with self._turn:
            if call.answer is None:
                with self._mutex:
                    calls, self._waiting = self._waiting, []
                try:
                    self._answer(calls)
                except BaseException:  # this thread's call was broken off; those of the others are asked once more
                    with self._mutex:
                        others = (one for one in calls if one is not call and one.answer is None)
                        self._waiting = [*others, *self._waiting]
                    raise
        assert call.answer is not None
        return call.answer

    def _answer(self, calls: list[_Call]) -> None:
        began = time.perf_counter()
        try:
            self._several(calls)
        except ProgramFailed as failed:
            for call in calls:
                call.answer = call.answer or (False, failed)
        self._count(len(calls), time.perf_counter() - began)

    def _one(self, function: str, arguments: list[Any]) -> tuple[bool, Any]:
        message = self._ask({"call": function, "batch": [arguments], "rich": True})
        if "error" in message:
            return False, self._raised(message["error"])
        answers = message.get("answers")
        if type(answers) is not list or len(answers) != 1:
            raise self._broken("runtime", f"{function}: one answer was expected")
        return True, answers[0]

    def _several(self, calls: list[_Call]) -> None:
        """Each answer comes with how its call ended, since an exception of one is none of the others."""
        nothing = self._wrap({})
        listed = [[call.function, call.args, call.named or nothing] for call in calls]
        within = self._timeout * len(calls)
        self._limit(within, _as_kernels(within))
        try:
            fine, value = self._one(EACH, [[listed], None])
        finally:
            self._limit(self._timeout, self._usual)
        if fine and (type(value) is not list or len(value) != len(calls)):
            raise self._broken("runtime", f"answers that were expected: {len(calls)}")
        for place, call in enumerate(calls):
            call.answer = self._told(value[place]) if fine else (False, value)

    def _told(self, answer: Any) -> tuple[bool, Any]:
        """[True, value] or [False, [type, text]], as the program's side of several calls says it."""
        if type(answer) is not list or len(answer) != 2 or type(answer[0]) is not bool:
            raise self._broken("runtime", "an answer in another form was expected")
        if answer[0]:
            return True, answer[1]
        if type(answer[1]) is not list or len(answer[1]) != 2:
            raise self._broken("runtime", "an error that is not one")
        return False, self._raised({"type": answer[1][0], "text": answer[1][1]})

    # ------------------------------------------------------------ frames

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.failed is not None:
            raise self.failed
        if self._received > LOOK_BYTES:
            self._look_at_kept()
        data = self._encode(request)
        self._come = []
        deadline = time.monotonic() + self._within
        try:
            self._socket.sendall(len(data).to_bytes(HEADER, "little") + data)
            body = self._frame(deadline)
        except ProgramFailed:
            raise
        except BaseException as error:
            if (failed := self._fault(error)) is not None:
                raise failed from None
            self._pass_over(deadline)
            raise
        if len(body) > MOST_PARTS and max(map(body.count, (b",", b"[", b"{"))) > MOST_PARTS:
            raise self._broken("runtime", f"an answer of more than {MOST_PARTS:,} values")
        try:
            message = self._decode(body)
        except (ValueError, RecursionError, MemoryError) as error:
            raise self._broken("runtime", f"a frame that is not JSON ({type(error).__name__})") from error
        if type(message) is not dict or len(message) != 1:
            raise self._broken("runtime", "a frame that is not an object with one key")
        return message

    def _frame(self, deadline: float) -> bytes:
        """The answer; where the wait for it was broken off and is taken up again, with what had come by then."""
        come = self._come
        if not come:
            self._more(deadline, _SMALL)
        while (there := sum(map(len, come))) < HEADER:
            self._more(deadline)
        size = int.from_bytes(b"".join(come)[:HEADER], "little")
        if size > MOST_BYTES:
            raise self._broken("runtime", f"a frame of {size:,} bytes, at most {MOST_BYTES:,} are read")
        if size > LOOK_BYTES:  # what was built before it is none of its
            self._look_at_kept()
        while there < HEADER + size:
            there += self._more(deadline)
        if there > HEADER + size:
            raise self._broken("runtime", "bytes that nobody asked for")
        self._received += size
        return b"".join(come)[HEADER:]

    def _fault(self, error: BaseException) -> ProgramFailed | None:
        """What ended the wait for an answer; None for what is none of the program's: an exception of the evaluator's
        own, by which the handler of a signal breaks a call off. A `TimeoutError` of its own has no number."""
        if isinstance(error, BlockingIOError):  # the socket's own time limit
            return self._late()
        if isinstance(error, OSError) and error.errno is not None:
            return self._broken("exit", f"the program ended in the middle of a call ({error.strerror})")
        return None

    def _pass_over(self, deadline: float) -> None:
        """Wait for the answer to a call that the evaluator broke off: it comes all the same, and is not the next's."""
        while self.failed is None:
            try:
                self._frame(deadline)
                return
            except ProgramFailed:
                return
            except BaseException as error:  # noqa: BLE001 - another signal, maybe: the first one's is what is raised
                if self._fault(error) is None and time.monotonic() > deadline:
                    self._late()

    def _look_at_kept(self) -> None:
        """Whoever keeps its answers has their memory: the program could fill the machine's, out of its own limit.

        What else the evaluator builds meanwhile counts too, up to what such answers can come to; what it lets go of is
        taken off.
        """
        now, before = _resident_bytes(), self._resident
        grown = min(now - before, LARGEST_GROWTH * self._received)
        self._kept, self._resident, self._received = max(0, self._kept + grown), now, 0
        if self._kept > self._most_kept:
            kept, most = (f"{size >> 20:,} MB" for size in (self._kept, self._most_kept))
            told = f"its answers take {kept} where the evaluator keeps them; at most {most} (execution.memory_mb)"
            raise self._broken("memory", f"{told}: answer with less")

    def _more(self, deadline: float, at_most: int = _CHUNK) -> int:
        """Take in what has come: how many bytes. An answer that drips in is late like one that does not come.

        It is received and kept in one instruction: no exception that is thrown into this thread comes between the two.
        """
        self._come.extend(map(self._socket.recv, (at_most,)))
        if not self._come[-1]:
            raise self._broken("exit", "the program ended in the middle of a call")
        if time.monotonic() > deadline:
            raise self._late()
        return len(self._come[-1])

    def _late(self) -> ProgramFailed:
        return self._broken("timeout", f"wall clock: no answer within {self._within:g} s")

    def _raised(self, told: Any) -> ProgramRaised:
        """What the program says of its exception; it may say anything."""
        if type(told) is not dict or type(told.get("type")) is not str or type(told.get("text")) is not str:
            raise self._broken("runtime", "an error that is not one")
        return ProgramRaised(told["type"][:100], told["text"][:1000])

    def _broken(self, failure: str, message: str) -> ProgramFailed:
        self.failed = self.failed or ProgramFailed(failure, message)
        return self.failed

    def _limit(self, seconds: float, limit: bytes) -> None:
        """How long an answer may take, and as the kernel's time limit of one send or receive."""
        self._within = seconds
        for name in _LIMITS:
            self._socket.setsockopt(_SOCKET, name, limit)


def _resident_bytes() -> int:
    """What this process has of the machine's memory; 0 where nobody says it."""
    try:
        fd = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return 0
    try:
        return int(os.read(fd, 200).split()[1]) * _PAGE
    finally:
        os.close(fd)


def _as_kernels(seconds: float) -> bytes:
    """A time as the kernel wants it."""
    whole = int(seconds)
    return struct.pack("@ll", whole, max(1, int((seconds - whole) * 1e6)))
