"""Sessions: a sandboxed child that holds one program and answers calls, one frame at a time.

    session = sandbox.session(code, limits=limits, prelude=helpers)
    try:
        scores = session.call_many("score_bin", [(item, room) for room in rooms], timeout=1.0)
    except SessionFailure as failure:
        ...  # failure.result says how the program failed
    finally:
        result = session.close()

The program is loaded by the first call, within its timeout. Functions may be dotted (`engine.select_move`). Data that
crosses is JSON: None, bool, int, float, str, list, dict with text keys; numpy numbers and arrays come back as numbers
and lists. Where both interpreters have msgpack the same data travels in that form. After an exception in the program
the session can be used further; after a breach (late, malformed, dead, over a limit) it is over and every call fails
with the same result.

Sessions without a workspace share prepared slots: opening one costs a fork, not the set-up of namespaces.
"""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from core.contracts import ExecutionResult, Limits, SessionFailure
from core.executor import strict, verdict
from core.executor.inside import packed
from core.executor.inside.messages import Job
from core.executor.inside.reuse import AGAIN, LEAVE
from core.executor.output import Output, drain, nothing, pipe
from core.executor.pause import Pause
from core.executor.report import result_of
from core.executor.slot import SandboxSlot
from core.state.failure import FailureKind
from utils.errors import JobLost
from utils.patience import Patience

_REPORT_SECONDS = 120.0
SHOWN_CALL = 200
"""Characters of a call that a message names."""
_CHUNK = 1 << 18
_SHORT = 1 << 13
"""Bytes that an empty channel takes at once, and that are read in one piece."""
_LATE_SECONDS = 0.25
"""An answer that is there although we come late to look is taken; one that drips in byte by byte is not."""
_LEAVE_SECONDS = 0.5
"""A program that takes longer to be let go of is not kept."""
_READING_SECONDS = 1.0
"""So long after its deadline a frame that came in time may still be read."""


class SandboxSession:
    """Implements `Session` over a slot. Not thread-safe: one caller at a time.

    Args:
        give_back: called once at the end with the slot and True if it can serve another session; of a session that
            could not be made, its maker keeps the slot.
        tier: as in ExecutionResult.
        msgpack: the candidate's interpreter has it too; then frames go as msgpack where that can say them.
    """

    def __init__(
        self,
        slot: SandboxSlot,
        job: Job,
        limits: Limits,
        output: Output,
        tier: str,
        give_back: Callable[[SandboxSlot, bool], None],
        msgpack: bool = False,
    ) -> None:
        self.slot = slot
        self.job = job
        self._limits = limits
        self._output = output
        self._tier = tier
        self._give_back = give_back
        self._msgpack = msgpack
        self._result: ExecutionResult | None = None
        self._pause = Pause(slot.pid)
        self.away = 0.0
        self._ready = False
        self._again = False
        self._leaving = False
        self._received = bytearray()
        with ExitStack() as ours, ExitStack() as theirs:
            self._channel, channel = socket.socketpair()
            ours.callback(self._channel.close)
            theirs.callback(channel.close)
            self._out, out = pipe(ours, theirs)
            slot.start(job, [nothing(theirs), out, out, channel.fileno()])
            ours.pop_all()
        self._channel.setblocking(False)
        self._poll = select.poll()
        for fd in (self._out, slot.control.fileno()):
            self._poll.register(fd, select.POLLIN)

    def call(self, function: str, args: Sequence[Any], *, timeout: float) -> Any:
        return self.call_many(function, [args], timeout=timeout)[0]

    def call_many(
        self, function: str, batch: Sequence[Sequence[Any]], *, timeout: float, finite: bool = True
    ) -> list[Any]:
        """Many calls in one frame; exactly `len(batch)` answers, all numbers finite unless `finite` is False.

        Args:
            timeout: seconds for the whole frame.
        Raises:
            SessionFailure: an exception, a breach, or (NON_FINITE) an answer that is not a finite number.
        """
        request = {"call": function, "batch": list(batch), "rich": False}
        message = self._ask(request, "answers", timeout)
        try:
            return strict.answers(message, len(batch), finite=finite)
        except strict.NotFinite as error:
            asked = batch[error.place or 0]
            call = f"{function}({', '.join(map(repr, asked))}"
            call = f"{call[:SHOWN_CALL]}…)" if len(call) > SHOWN_CALL else f"{call})"
            raise self._failure(FailureKind.NON_FINITE, f"{call}: {error}") from error
        except strict.Malformed as error:
            raise self._breach(FailureKind.RUNTIME, f"{function}: {error}") from error

    def look_wrapped(self, timeout: float) -> Any:
        """The program's public names: `{name: {"value"|"callable"|"class": …}}`, kinds not checked yet. Untrusted."""
        return self._ask({"names": True, "rich": True}, "value", timeout)["value"]

    @property
    def channel(self) -> int:
        """Descriptor of the channel, for a trusted process that asks in our place once the program is loaded (`look`).

        Until `close` nothing is asked here then; `stand_by` watches over the program meanwhile.
        """
        return self._channel.fileno()

    def stand_by(self, fd: int, seconds: float) -> bool:
        """Wait until `fd` can be read (True) or `seconds` are over (False).

        Raises:
            SessionFailure: the program ended or broke a limit meanwhile.
        """
        self._must_live()
        with suppress(KeyError):
            self._poll.unregister(self._channel.fileno())
        self._poll.register(fd, select.POLLIN)
        patience = Patience(seconds)
        try:
            while patience.left > 0:
                ready = self._look(patience)
                if self._out in ready:
                    self._read_output()
                if fd in ready:
                    return True
                if self.slot.control.fileno() in ready:
                    raise self._gone()
            return False
        finally:
            self._poll.unregister(fd)

    def fail(self, kind: FailureKind, message: str) -> ExecutionResult:
        """End the program for what it did to who asks in our place; how it had ended by itself goes before."""
        return (self._gone() if kind is FailureKind.EXIT else self._breach(kind, message)).result

    def pause(self) -> None:
        """Stop the program until the next call: it does not run while nobody waits for it."""
        if self._result is None:
            self._pause.begin()

    def rest(self) -> ExecutionResult | None:
        """Have the program let go of everything and stop its process; says what it printed.

        None where it is not to wait: the session is over, or the process is not as the program found it.
        """
        if self._result is not None or not self._ready or self._limits.cpu_seconds is not None:
            return None  # a limit on CPU is one use's
        try:
            left = self._asked(LEAVE, "left", _LEAVE_SECONDS)
        except SessionFailure:
            return None
        if left["left"] is not True:
            return None
        drain(self._out, self._output)
        if self._output.over:
            return None
        self.pause()
        self.slot.rest(True)
        return ExecutionResult(term_out=self._output.text(), tier=self._tier)

    def again(self, seed: int) -> bool:
        """After `rest`: a fresh use of the program, which the next call loads. False: it has ended meanwhile."""
        self._output = Output(self._output.cap)
        self.slot.rest(False)
        self._pause.end()
        self._ready, self._again = False, True
        frame = AGAIN + str(seed).encode()
        try:
            if self._reported(0.0):
                raise self._gone()
            self._send(len(frame).to_bytes(strict.HEADER, "little") + frame, Patience(1.0), 1.0)
        except SessionFailure:
            return False
        return True

    def close(self) -> ExecutionResult:
        """Kill it and say what it printed and used. May be called again; the result stays the same."""
        if self._result is None:
            self.leave()
            self._end()
        assert self._result is not None
        return self._result

    def leave(self) -> None:
        """Begin to close: it is killed while the caller does something else. All that may follow is `close`."""
        if self._result is None and not self._leaving:
            self._leaving = True
            self.slot.stop("closed", "")

    def __enter__(self) -> SandboxSession:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------ frames

    def _ask(self, request: dict[str, Any], key: str, timeout: float) -> dict[str, Any]:
        """Send a request and return its answer's frame, which holds `key`."""
        data = packed.pack(request) if self._msgpack else None
        return self._asked(data or json.dumps(request, separators=(",", ":")).encode(), key, timeout)

    def _asked(self, data: bytes, key: str, timeout: float) -> dict[str, Any]:
        self._must_live()
        self._pause.end()
        patience = Patience(timeout)
        frame = len(data).to_bytes(strict.HEADER, "little") + data
        try:
            sent = 0
            if not self._ready:
                sent = self._sent_ahead(frame)
                self._expect(self._frame(patience, timeout), "ready")
                self._ready = True
            if self._received and not sent:
                raise strict.Malformed("bytes that nobody asked for")
            self._send(frame[sent:], patience, timeout)
            answer = self._expect(self._frame(patience, timeout), key)
            if self._received and sent:
                raise strict.Malformed("bytes that nobody asked for")
            return answer
        except strict.Malformed as error:
            raise self._breach(FailureKind.RUNTIME, f"the program broke its session: {error}") from error
        finally:
            self.away = patience.away

    def _sent_ahead(self, frame: bytes) -> int:
        """Have a short first request wait for the program, which then answers as soon as it is loaded.

        Not one to a process that is used again: it reads no more than one request at a time. How many bytes were sent.
        """
        if self._again or len(frame) > _SHORT:
            return 0
        try:
            return self._channel.send(frame)
        except OSError:  # it has ended; what it said before tells why
            return 0

    def _expect(self, message: dict[str, Any], key: str) -> dict[str, Any]:
        if "error" in message and type(message["error"]) is dict:
            raised = verdict.read_exception(message["error"])
            if raised is None:
                raise strict.Malformed("an error that is not one")
            raise self._raised(raised)
        if key not in message:
            raise strict.Malformed(f"{key} was expected")
        return message

    def _frame(self, patience: Patience, timeout: float) -> dict[str, Any]:
        header = self._take(strict.HEADER, patience, timeout)
        size = int.from_bytes(header, "little")
        most = self._limits.answer_kb << 10
        if size > most:
            raise strict.Malformed(f"a frame of {size:,} bytes, at most {most:,} are read")
        message = strict.decode(self._take(size, patience, timeout), self._msgpack)
        if patience.left < -_READING_SECONDS:
            raise self._breach(FailureKind.TIMEOUT, f"wall clock: no answer that can be read within {timeout:g} s")
        return message

    def _take(self, size: int, patience: Patience, timeout: float) -> bytes:
        while len(self._received) < size:
            self._wait(select.POLLIN, patience, timeout)
            try:
                data = self._channel.recv(max(_CHUNK, size - len(self._received)))
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                raise self._gone()
            self._received += data
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def _send(self, data: bytes, patience: Patience, timeout: float) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[self._channel.send(view) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, patience, timeout)
            except OSError as error:
                raise self._gone() from error

    def _wait(self, direction: int, patience: Patience, timeout: float) -> None:
        """Until the channel is ready. Meanwhile output is read, and the supervisor's word ends the session."""
        channel = self._channel.fileno()
        self._poll.register(channel, direction)
        while True:
            left = patience.left
            ready = self._look(patience)
            if self._out in ready:
                self._read_output()
            if channel in ready and left > -_LATE_SECONDS:
                return
            if self.slot.control.fileno() in ready:
                raise self._gone()
            if left <= 0:
                raise self._breach(FailureKind.TIMEOUT, f"wall clock: no answer within {timeout:g} s")

    def _look(self, patience: Patience) -> set[int]:
        """The registered descriptors that are ready."""
        return {fd for fd, _ in patience.look(lambda seconds: self._poll.poll(1000.0 * seconds))}

    def _read_output(self) -> None:
        data = os.read(self._out, 65536)
        self._output.add(data)
        if not data:
            self._poll.unregister(self._out)
        elif self._output.over:
            kilobytes = self._output.cap // 1024
            raise self._breach(FailureKind.OUTPUT, f"output: more than {kilobytes:,} KB printed, the limit")

    # ------------------------------------------------------------ the end

    def _must_live(self) -> None:
        if self._result is not None:
            if self._result.failure is None:
                raise ValueError("the session is closed")
            raise SessionFailure(self._result)

    def _breach(self, kind: FailureKind, message: str) -> SessionFailure:
        """Kill the program for what it did."""
        if self._result is None:
            self.slot.stop(kind.value, message)
            self._end()
        assert self._result is not None
        if self._result.failure is None:
            self._result = self._result.model_copy(update={"failure": kind, "message": message})
        return SessionFailure(self._result)

    def _gone(self) -> SessionFailure:
        """The program closed its channel or ended: the supervisor knows how."""
        if self._result is None:
            if not self._reported(1.0):
                self.slot.stop(FailureKind.RUNTIME.value, "the program closed the channel of its session")
            self._end()
        assert self._result is not None
        if self._result.failure is None:
            message = "the program ended in the middle of its session"
            self._result = self._result.model_copy(update={"failure": FailureKind.EXIT, "message": message})
        return SessionFailure(self._result)

    def _reported(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self.slot.control, select.POLLIN)
        return bool(poll.poll(1000.0 * seconds))

    def _end(self) -> None:
        """Take the supervisor's report and let everything go."""
        usable = False
        try:
            report = self.slot.report(_REPORT_SECONDS)
            usable = True
            if report.breach and report.breach[0] == "closed":
                report = report.changed(breach=None, status=0, began=True)
            drain(self._out, self._output)
            self._result = result_of(report, None, self._output, self._limits, self._tier)
        except JobLost as error:
            self._result = self._failure(FailureKind.LOST_WORKER, str(error)).result
        finally:
            if self._result is None:
                self._result = self._failure(FailureKind.LOST_WORKER, "the sandbox lost the session").result
            self._pause.close()
            self._channel.close()
            os.close(self._out)
            self._give_back(self.slot, usable)

    def _raised(self, raised: verdict.Raised) -> SessionFailure:
        """An exception in the program: it may live on. One while loading ends it."""
        kind, message = verdict.judge_exception(raised, self._limits)
        if not self._ready:
            failure = self._breach(kind, message)
            update = {"failure": kind, "message": message, "exc_type": raised.type, "exc_info": raised.info()}
            self._result = failure.result.model_copy(update=update)
            return SessionFailure(self._result)
        drain(self._out, self._output)
        return self._failure(kind, message, exc_type=raised.type, exc_info=raised.info())

    def _failure(self, kind: FailureKind, message: str, **more: Any) -> SessionFailure:
        text = self._output.text()
        return SessionFailure(ExecutionResult(term_out=text, failure=kind, message=message, tier=self._tier, **more))
