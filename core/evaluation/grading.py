"""A trusted child process that grades: it holds the labels and the scoring code, so that the main process need not.

The child is a program of ours or of the user's (never a candidate's). It is started in the background, answers framed
JSON over pipes, and lives as long as the run. When it dies it is started once more and asked again; when it dies twice
over one question, or takes too long, the question fails with the reason and the search goes on.

Frame: 4 bytes big-endian length, then UTF-8 JSON. Request `{"verb": …}`; answer `{"ok": …}` or `{"fault": text}`,
before which any number of `{"doing": text}` may say what takes long.
"""

from __future__ import annotations

import json
import os
import select
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from utils.errors import Interrupted, SwarmEvoError
from utils.patience import Patience
from utils.scratch_folders import scratch_folder

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV")
"""Variables of our environment that a trusted child gets; keys and tokens are not among them."""
MAX_FRAME = 64 * 2**20
TAIL = 1500
"""Characters of the child's last output that a fault quotes."""
_LOOK = 0.1
"""Seconds that whoever closes it waits for the answer under way, and between two tries to cut that off."""


class GradingFault(SwarmEvoError):
    """The grader could not answer: it raised, died twice or overstepped its time. Never the candidate's exception."""


def clean_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a trusted child: a whitelist, no secrets, one thread."""
    source = os.environ if environ is None else environ
    kept = {name: source[name] for name in PASSED_ON if name in source}
    pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**kept, **dict.fromkeys(pools, "1"), "PYTHONHASHSEED": "0"}


def python_command(program: Path, *arguments: str) -> list[str]:
    """The command line of a trusted Python child: isolated, so that no foreign `utils.py` near the user is imported.

    What it is made of is compiled once, where we write byte code ourselves.
    """
    writes_none = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *writes_none, str(program), *arguments]


class TrustedChild:
    """One child, asked by several threads in turn. Where it lies and what it calls temporary goes with it.

    Args:
        command: the command line.
        hello: the first request of every new child: what it shall load. Its answer is read
            with the first question, so that loading overlaps with the run.
        timeout: seconds that one answer may take.
        doing: is told what the child does meanwhile, in words.
    """

    def __init__(
        self,
        command: Sequence[str],
        hello: Mapping[str, Any],
        *,
        timeout: float = 300.0,
        doing: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._command = list(command)
        self._hello = dict(hello)
        self._timeout = timeout
        self._doing = doing
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self._kept = ExitStack()
        """What is let go of with the child."""
        self._greeted = False
        self._closed = False

    def start(self) -> None:
        """Start it in the background: loading overlaps with whatever the caller does next."""
        with self._lock:
            if self._process is None:
                self._spawn()

    def ask(self, request: Mapping[str, Any]) -> Any:
        """The answer's `ok`.

        Raises:
            GradingFault: with the reason.
            Interrupted: it is closed, since the run ends at once; what was asked stays open for a resume.
        """
        with self._lock:
            try:
                return self._ask_while_open(request)
            except _ChildDied:
                pass
            try:
                return self._ask_while_open(request)
            except _ChildDied as error:
                raise GradingFault(f"the grader died twice: {error}") from error

    def close(self) -> None:
        """End the child; what is asked afterwards, or has no answer yet, raises Interrupted."""
        self._closed = True
        while not self._lock.acquire(timeout=_LOOK):  # an answer may take minutes, and nobody waits for it any more
            self._kill()
        try:
            self._discard()
        finally:
            self._lock.release()

    def _kill(self) -> None:
        """Whoever waits for the child's answer hears that it died."""
        process = self._process
        if process is not None:
            process.kill()

    def _ask_while_open(self, request: Mapping[str, Any]) -> Any:
        try:
            if not self._closed:
                return self._ask_once(request)
        except _ChildDied:
            if not self._closed:
                raise
        raise Interrupted("the grader is closed")

    def _ask_once(self, request: Mapping[str, Any]) -> Any:
        patience = Patience(self._timeout)
        if self._process is None:
            self._spawn()
        if not self._greeted:
            try:
                self._read(patience)
            except GradingFault:
                self._discard()  # it could not load: the next question starts a fresh one
                raise
            self._greeted = True
        self._send(request)
        return self._read(patience)

    def _spawn(self) -> None:
        self._output = self._kept.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is entered
        place = str(self._kept.enter_context(scratch_folder("swarm-evo-grader-")))
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            env=clean_environment() | {"TMPDIR": place},
            cwd=place,
            start_new_session=True,  # Ctrl-C is for us; the child ends when its pipe closes
            bufsize=0,
        )
        self._greeted = False
        with suppress(OSError):  # it is gone already: told by the first question, with its last words
            self._write(self._hello)

    def _send(self, request: Mapping[str, Any]) -> None:
        try:
            self._write(request)
        except OSError as error:
            raise self._died() from error

    def _write(self, request: Mapping[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        text = json.dumps(request).encode()
        data = memoryview(struct.pack(">I", len(text)) + text)
        while data:  # a signal that comes meanwhile ends a write early
            data = data[self._process.stdin.write(data) or 0 :]

    def _read(self, patience: Patience) -> Any:
        while "doing" in (answer := self._read_frame(patience)):
            self._doing(str(answer["doing"]))
        if "fault" in answer:
            raise GradingFault(str(answer["fault"]))
        return answer.get("ok")

    def _read_frame(self, patience: Patience) -> Any:
        (length,) = struct.unpack(">I", self._read_bytes(4, patience))
        if length > MAX_FRAME:
            self._discard()
            raise GradingFault("the grader's answer is not a frame; does it write to descriptor 1 by itself?")
        return json.loads(self._read_bytes(length, patience))

    def _read_bytes(self, count: int, patience: Patience) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        pipe, parts = self._process.stdout.fileno(), bytearray()
        poll = select.poll()  # select() fails above descriptor 1023
        poll.register(pipe, select.POLLIN | select.POLLHUP)
        while len(parts) < count:
            if patience.left <= 0:
                self._discard()
                raise GradingFault(f"the grader did not answer within {self._timeout:g} s")
            if not patience.look(lambda seconds: poll.poll(1000 * seconds)):
                continue
            data = os.read(pipe, min(count - len(parts), 1 << 16))
            if not data:
                raise self._died()
            parts += data
        return bytes(parts)

    def _died(self) -> _ChildDied:
        code, tail = self._discard()
        return _ChildDied(f"exit code {code}{': ' + tail if tail else ''}")

    def _discard(self) -> tuple[int | None, str]:
        """End the child and give its exit code and last words."""
        with self._kept:
            process, output = self._process, self._output
            self._process = self._output = None
            return (None, "") if process is None or output is None else _ended(process, output)


class _ChildDied(Exception):
    """The pipe broke; the text says how the child ended."""


def _ended(process: subprocess.Popen[bytes], output: IO[bytes]) -> tuple[int | None, str]:
    """Its exit code and last words, once it has ended."""
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    output.seek(0, os.SEEK_END)
    output.seek(max(0, output.tell() - TAIL))
    return process.returncode, output.read().decode(errors="replace").strip()


def run_trusted(
    command: Sequence[str],
    request: Mapping[str, Any],
    *,
    timeout: float,
    doing: Callable[[str], None] = lambda text: None,
) -> Any:
    """One question to a child of its own, which may say meanwhile what it does. Raises GradingFault."""
    child = TrustedChild(command, request, timeout=timeout, doing=doing)
    try:
        child.start()
        with child._lock:
            return child._read(Patience(timeout))
    except _ChildDied as error:
        raise GradingFault(str(error)) from error
    finally:
        child.close()
