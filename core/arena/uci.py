"""A UCI program at the board: for engines that the user names, Stockfish or an exported one."""

from __future__ import annotations

import errno
import os
import re
import selectors
import signal
import subprocess
from collections.abc import Sequence
from typing import IO

from core.arena.limit import MoveLimit
from core.arena.openings import opening_parts
from core.arena.player import LOAD_SECONDS, MOST_DEPTH, WON, Forfeit, Reply, Turn, with_last_error
from core.arena.uci_options import UciOption
from core.state.failure import FailureKind
from utils.errors import JobLost
from utils.patience import Patience

_SCORE = re.compile(r"\bscore (cp|mate) (-?\d{1,18})\b")
_DEPTH = re.compile(r"\bdepth (\d{1,4})\b")
FLOOD_BYTES = 4 << 20
"""A program that prints more than this for one move has lost."""
_SHORT = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""What a start fails with where the machine is short of something."""
_ERROR_BYTES = 4096
"""Of what a program says on standard error the end is kept: its last line says why it ended."""


class UciPlayer:
    """Speaks UCI with a child process, which runs as the user's own program, outside the sandbox.

    The message of a Forfeit ends with the last line of the program's standard error.

    Args:
        command: program and arguments.
        limit: told by `go` in UCI's words; the wall-clock deadline is the referee's.
        options: (name, value), set before the game.
        deadline: seconds that it may take to start, where they are more than any engine may.
    Raises:
        Forfeit: it cannot be started or does not answer `uci`.
        JobLost: this machine has no room for a further process or pipe; that is not the program's doing.
    """

    def __init__(
        self,
        command: Sequence[str],
        limit: MoveLimit,
        options: Sequence[tuple[str, str]] = (),
        deadline: float = 0.0,
    ) -> None:
        self._limit = limit
        self._line: list[str] = []
        self._buffer = b""
        self._tail: list[str] = []
        self._errors = b""
        self._away = 0.0  # of what was heard last
        try:
            self._selector = selectors.DefaultSelector()
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            if error.errno in _SHORT:
                raise JobLost(f"{command[0]} could not be started: {error.strerror}") from error
            raise Forfeit("crash", FailureKind.RUNTIME, f"{command[0]}: {error.strerror}") from error
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        seconds = max(LOAD_SECONDS, deadline)
        try:
            self._say("uci")
            said = [UciOption.of(line) for line in self._hear("uciok", seconds)]
            self.announced = {option.name: option for option in said if option is not None}
            for name, value in options:
                self._say(f"setoption name {name} value {value}")
            self._say("ucinewgame")
            self._say("isready")
            self._hear("readyok", seconds)
        except BaseException:  # an interrupt too leaves no program behind
            self.close()
            raise

    def move(self, turn: Turn) -> Reply:
        self._line += turn.moves
        start, moves = opening_parts(self._line)
        begun = "startpos" if start is None else f"fen {start}"
        self._say(f"position {begun}" + (f" moves {' '.join(moves)}" if moves else ""))
        self._say(self._go(turn))
        heard = self._hear("bestmove", turn.seconds)
        words = heard[-1].split()
        last = next((line for line in reversed(heard) if _SCORE.search(line)), "")
        score, depth = _SCORE.search(last), _DEPTH.search(last)
        return Reply(
            words[1] if len(words) > 1 else "",
            _score(score[1], int(score[2])) if score else None,
            min(int(depth[1]), MOST_DEPTH) if depth else None,
            self._last_error(),
            self._away,
        )

    def close(self) -> str:
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        return "\n".join(self._tail)[-2000:]

    def _go(self, turn: Turn) -> str:
        limit = self._limit
        if limit.kind == "clock":
            white, black = turn.left_ms
            return f"go wtime {white} btime {black} winc {limit.increment} binc {limit.increment}"
        return f"go {limit.kind} {limit.value}"

    def _say(self, text: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, OSError) as error:
            raise self._crashed() from error

    def _hear(self, word: str, seconds: float) -> list[str]:
        """Lines up to and with the one that begins with `word`."""
        patience, size, lines = Patience(seconds), 0, []
        self._away = 0.0
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                text = line.decode(errors="replace").strip()
                lines.append(text)
                self._tail = [*self._tail[-19:], text]
                if text.split(" ", 1)[0] == word:
                    return lines
                continue
            ready = patience.look(self._selector.select) if patience.left > 0 else []
            self._away = patience.away
            if not ready:
                if patience.left > 0:
                    continue
                message = self._with_last_error(f"no {word} within {seconds:g} s")
                self.close()
                raise Forfeit("time_forfeit", FailureKind.TIME_FORFEIT, message)
            for key, _ in ready:
                if key.fileobj is self._process.stderr and not self._hear_errors():
                    self._selector.unregister(key.fileobj)
            data = _read(self._process.stdout)
            if data is None:
                continue
            size += len(data)
            if not data:
                raise self._crashed()
            if size > FLOOD_BYTES:
                raise Forfeit("crash", FailureKind.OUTPUT, f"it printed more than {FLOOD_BYTES:,} bytes for one move")
            self._buffer += data

    def _crashed(self) -> Forfeit:
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return Forfeit("crash", FailureKind.RUNTIME, self._with_last_error("it closed its output"))
        kind = FailureKind.SIGNAL if code < 0 else FailureKind.EXIT
        return Forfeit("crash", kind, self._with_last_error(f"it ended with code {code}"))

    def _hear_errors(self) -> bool:
        """Take what has come on standard error: a program that fills the pipe would stand still. False at its end."""
        data = _read(self._process.stderr)
        self._errors = (self._errors + (data or b""))[-_ERROR_BYTES:]
        return data != b""

    def _with_last_error(self, message: str) -> str:
        return with_last_error(message, self._last_error())

    def _last_error(self) -> str:
        """The last line that the program has said on standard error; '' for none."""
        self._hear_errors()
        lines = self._errors.decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


def _read(stream: IO[bytes] | None) -> bytes | None:
    """What there is; None where nothing is, b"" at the end. Python's own buffer stays empty: of what it held back, the
    last move among it, the selector would not tell."""
    assert stream is not None
    try:
        return os.read(stream.fileno(), 65536)
    except BlockingIOError:
        return None


def _score(unit: str, value: int) -> float:
    """`cp 35` or `mate -3` as engine files say it."""
    if unit == "cp":
        return float(value)
    return WON - (2 * value - 1) if value > 0 else -2.0 * value - WON
