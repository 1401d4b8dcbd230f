"""What many tests need: no network but loopback, the command line as a child process, a small fast problem."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOY = ROOT / "tests" / "support" / "plugins"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_BASE_URL")


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call to an address that is not on this machine is an error, here and in children; no key is found."""
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line on stderr that a user gets for an error."""
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


class Cli:
    """`main.py` as a child process in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"PYTHONDONTWRITEBYTECODE": "1"}
        self._children: list[subprocess.Popen[str]] = []

    def __call__(self, *words: str, timeout: float = 60, **environment: str) -> Ended:
        child = self.start(*words, **environment)
        try:
            out, err = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            pytest.fail(f"{' '.join(words)} took over {timeout} s\n{out[-2000:]}\n{err[-2000:]}")
        return Ended(child.returncode, out, err)

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Start it and go on; it is killed with the test."""
        child = subprocess.Popen(
            [sys.executable, str(ROOT / "main.py"), *words],
            cwd=self.folder,
            env={**os.environ, **self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._children.append(child)
        return child

    def close(self) -> None:
        for child in self._children:
            if child.poll() is None:
                child.kill()
            child.communicate()

    # ------------------------------------------------------------ what lies in the folder

    @property
    def runs(self) -> list[Path]:
        return sorted(path.parent for path in (self.folder / "logs").glob("*/run.db"))

    @property
    def run_dir(self) -> Path:
        """The one run of this folder."""
        (found,) = self.runs
        return found

    def show(self, run: str = "latest", *words: str) -> Any:
        ended = self("show", run, *words, "--json")
        assert ended.code == 0, ended.err
        return ended.json


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    runner = Cli(tmp_path)
    yield runner
    runner.close()


@pytest.fixture
def toy() -> Callable[..., list[str]]:
    """Words of a search that takes no time: `toy(steps=5, seconds=0.1)`."""

    def words(steps: int = 5, *more: str, **options: Any) -> list[str]:
        keys = [f"problem.options.{name}={value}" for name, value in options.items()]
        return ["problem.kind=toy", f"problem.plugins={TOY}", f"search.max_steps={steps}", *keys, *more]

    return words


def eventually(condition: Callable[[], Any], seconds: float = 10.0, every: float = 0.02) -> Any:
    """The first true value of `condition`; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(every)
    raise AssertionError(f"not within {seconds} s: {condition}")


@pytest.fixture(name="eventually")
def eventually_fixture() -> Callable[..., Any]:
    return eventually


def descendants(pid: int) -> list[int]:
    """Live processes below `pid`, by /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    found, level = [], [pid]
    while level:
        level = [child for child, parent in parents.items() if parent in level]
        found += level
    return found


@pytest.fixture
def family() -> Callable[[int], list[int]]:
    return descendants


def is_alive(pid: int) -> bool:
    """True for a process that is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill_hard(child: subprocess.Popen[Any]) -> Sequence[int]:
    """SIGKILL; the processes that it had below it."""
    below = descendants(child.pid)
    child.send_signal(signal.SIGKILL)
    child.wait(10)
    return below
