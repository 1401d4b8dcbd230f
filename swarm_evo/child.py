"""The command line as a child process: what the Python front is made of."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from swarm_evo.app import app_dir
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.language import in_python

NOTHING_VALID, INTERRUPTED = 3, 130
"""Exit codes of a run without a valid program, and of one that was interrupted: both have a result."""
_LAST_LINES = 50


def ask(*words: str, said: str = "", quiet: bool = True, answers: Sequence[int] = (0,)) -> Any:
    """What a verb prints as JSON.

    An interrupt (Ctrl-C) is passed on, and raised once the verb has ended in good order.

    Args:
        said: on its standard input.
        quiet: False repeats its standard error on ours.
        answers: exit codes with which it answers; where it prints nothing, they are errors too.
    Raises:
        SearchError: with the verb's own line.
    """
    code, out, line = ended(words, said, quiet)
    if code == 0 or (code in answers and out.strip()):
        return json.loads(out)
    raise SearchError(in_python(line) or f"{words[0]}: exit code {code}", code)


def ended(words: Sequence[str], said: str, quiet: bool) -> tuple[int, str, str]:
    """Exit code, standard output, and the last line of standard error, of a verb that has ended."""
    with starting():
        child = subprocess.Popen(
            command(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(words),
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # as a run's
        )
    told: list[str] = []
    errors: deque[str] = deque(maxlen=_LAST_LINES)
    readers = [
        threading.Thread(target=lambda: told.extend(_read_whole(child.stdout)), daemon=True),
        threading.Thread(target=_repeat, args=(child.stderr, errors, quiet), daemon=True),
    ]
    _begin(readers, child)
    try:
        _write(child.stdin, said)
        child.wait()
    except BaseException:
        _end(child)
        raise
    finally:
        for reader in readers:
            reader.join()
    return child.returncode, "".join(told), errors[-1] if errors else ""


def _write(stream: IO[str] | None, said: str) -> None:
    assert stream is not None
    with suppress(BrokenPipeError), stream:  # it has ended already, and says why
        stream.write(said)


def _read_whole(stream: IO[str] | None) -> Iterator[str]:
    assert stream is not None
    with stream:
        yield stream.read()


def _begin(readers: Sequence[threading.Thread], child: subprocess.Popen[str]) -> None:
    """Start those who read what it says. Where the machine has no room for a thread it ends: it would wait for them."""
    try:
        for reader in readers:
            reader.start()
    except RuntimeError as error:
        with child:  # which closes its pipes
            child.kill()
        raise SearchError(f"what the search says cannot be read: {error}") from error


def _repeat(stream: IO[str] | None, lines: deque[str], quiet: bool) -> None:
    """Take in what is said there, and repeat it on our standard error unless `quiet`, as long as somebody hears that:
    a search whose standard error is not read any more waits for ever, or ends."""
    assert stream is not None
    with stream:
        for line in stream:
            if line.strip():
                lines.append(line.strip())
            if not quiet:
                try:
                    print(line, end="", file=sys.stderr)
                except (OSError, ValueError):  # a pipe that nobody reads, a file that was closed
                    quiet = True


def _end(child: subprocess.Popen[str]) -> None:
    """Pass an interrupt on and wait; a second one ends it at once."""
    while child.poll() is None:
        child.send_signal(signal.SIGINT)
        with suppress(KeyboardInterrupt):
            child.wait()


class Child:
    """A run's process. A thread reads what it tells, so that it never waits for us.

    Args:
        quiet: False repeats its standard error on ours.
        kept: files that are held until the run names them.
    """

    def __init__(self, words: Sequence[str], *, quiet: bool, kept: KeptFiles | None = None) -> None:
        self.told: deque[dict[str, Any]] = deque()
        """JSON lines that nobody has taken yet, in order."""
        self.opened: dict[str, Any] = {}
        """The line that names the run; {} before it has begun."""
        self.last: dict[str, Any] = {}
        """The newest line: at the end of a run that has a result, that."""
        self.news: threading.Condition = threading.Condition()
        self._kept = kept
        self._errors: deque[str] = deque(maxlen=_LAST_LINES)
        with starting():
            self._process = subprocess.Popen(
                command(words),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=environment(words),
                start_new_session=True,  # Ctrl-C is ours to pass on, once: twice means "stop now"
            )
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=_repeat, args=(self._process.stderr, self._errors, quiet), daemon=True),
        ]
        self.ended: bool = False
        _begin(self._readers, self._process)

    def interrupt(self) -> None:
        """Ask for the end in good order; a second time: for the end at once."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def exit_code(self) -> int:
        """Wait for the end."""
        code = self._process.wait()
        for reader in self._readers:
            reader.join()
        return code

    def error(self) -> SearchError:
        """Why it failed."""
        code, said = self.exit_code(), self._errors[-1] if self._errors else ""
        is_stopped = code in (-signal.SIGINT, INTERRUPTED) or said == "KeyboardInterrupt"  # while Python itself began
        if is_stopped and not self.opened:
            return SearchError("the search was stopped before it had begun: it left no run", INTERRUPTED)
        return SearchError(in_python(said) or f"the search ended with exit code {code}", code)

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            with self._process.stdout as told:
                for line in told:
                    self._take(line)
        finally:  # whoever waits is told of the end, whatever was read
            if self._kept is not None:
                self._kept.drop()
            with self.news:
                self.ended = True
                self.news.notify_all()

    def _take(self, line: str) -> None:
        """A line of JSON is news; what else a library may have printed there is none."""
        try:
            found = json.loads(line)
        except ValueError:
            return
        if isinstance(found, dict) and "type" in found:
            with self.news:
                self.told.append(found)
                self.last = found
                if found["type"] == "run.opened":
                    self.opened = found
                    if self._kept is not None:
                        self._kept.let_go()
                self.news.notify_all()


HANDED = "SWARM_EVO_WORDS"
"""Environment variable with the settings of a process that we start, as JSON: its command line is open to every user of
the machine, and a setting may be a key. `main.py` takes it away."""


@contextmanager
def starting() -> Iterator[None]:
    """Around the start of a process: a NUL in a setting, or more of them than the system hands over, is one line."""
    try:
        yield
    except (OSError, ValueError) as error:
        is_long = isinstance(error, OSError) and error.errno == errno.E2BIG
        more = "; long ones may stand in a YAML file: config=FILE" if is_long else ""
        raise SearchError(f"the search's process cannot be started with these settings: {error}{more}") from error


def command(words: Sequence[str]) -> list[str]:
    """A command line without its settings: `environment` has them."""
    return [sys.executable, str(app_dir() / "main.py"), *(word for word in words if not _is_setting(word))]


def environment(words: Sequence[str] = ()) -> dict[str, str]:
    """Ours, and the settings among its words."""
    return {**os.environ, HANDED: json.dumps([word for word in words if _is_setting(word)])}


def _is_setting(word: str) -> bool:
    """True for `key=value`."""
    return "=" in word and not word.startswith("-")
