"""The command line: `main.py` in a process of its own, begun anew or forked, or the same words in this one."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import support.unopened  # noqa: F401 - of this process
from support.forked_main import MAIN, ROOT, ForkedPopen, loaded, may_fork
from support.forked_processes import TookTooLong

from cli.parser import main
from core.storage.reader import RunReader
from runs.run_folder import find_run
from utils import logger_system

_POPEN = subprocess.Popen
"""The real one, whatever a test puts in its place."""
PLUGINS = ROOT / "tests" / "support" / "plugins"


def toy_words(steps: int = 5, *more: str, **options: Any) -> list[str]:
    """Words of a search that takes no time: `toy_words(5, "search.batch=1", seconds=0.1)`."""
    keys = [f"problem.options.{name}={value}" for name, value in options.items()]
    return ["problem.kind=toy", f"problem.plugins={PLUGINS}", f"search.max_steps={steps}", *keys, *more]


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
    """The command line in a folder of its own: `cli(*words)` in a process of its own, `cli.here(*words)` in this one.

    `cli(*words)` is forked from a process that has loaded `main.py`, and so is `cli.start(*words)`, which is not waited
    for. `cli.anew(*words)` and `cli.start_anew(*words)` begin where a user's process does, with a hash seed of its own,
    and take a second of processor time for it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"SWARM_EVO__EXECUTION__TIMEOUT": "20"}
        """Where a program may take 300 s, `rules` writes such as train for some four seconds; of 20 s, for a third."""
        self._children: list[subprocess.Popen[str]] = []

    def __call__(self, *words: str, timeout: float = 240, **environment: str) -> Ended:
        whole = self._whole(environment)
        if not may_fork(whole):
            return self.anew(*words, timeout=timeout, **environment)
        try:
            return Ended(*loaded().run([MAIN, *words], self.folder, whole, timeout))
        except TookTooLong as told:
            pytest.fail(f"{' '.join(words)} took over {timeout} s\n{told}")

    def anew(self, *words: str, timeout: float = 240, **environment: str) -> Ended:
        """The same from the first instruction of a process."""
        child = self.start_anew(*words, **environment)
        try:
            out, err = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            pytest.fail(f"{' '.join(words)} took over {timeout} s\n{out[-2000:]}\n{err[-2000:]}")
        return Ended(child.returncode, out, err)

    def here(self, *words: str, **environment: str) -> Ended:
        """The same without the seconds that a process takes to start: for all that is not about processes."""
        out, err = io.StringIO(), io.StringIO()
        with chdir(self.folder), redirect_stdout(out), redirect_stderr(err):
            with patch.dict(os.environ, {**self.environment, **environment}):
                try:
                    code = main(words)
                except SystemExit as left:  # argparse after `-h`
                    code = int(left.code or 0)
                finally:
                    logger_system.close()
        return Ended(code, out.getvalue(), err.getvalue())

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Start it and go on; it is killed with the test."""
        return self._begin(ForkedPopen, words, environment)

    def start_anew(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """The same from the first instruction of a process."""
        return self._begin(_POPEN, words, environment)

    def _begin(
        self, popen: type[subprocess.Popen[str]], words: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[str]:
        child = popen(
            [sys.executable, MAIN, *words], cwd=self.folder, env=self._whole(environment), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._children.append(child)
        return child

    def close(self) -> None:
        for child in self._children:
            child.kill()
            child.communicate()

    def _whole(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {**os.environ, **self.environment, **environment}

    # ------------------------------------------------------------ what lies in the folder

    @property
    def runs(self) -> list[Path]:
        return sorted(path.parent for path in (self.folder / "logs").glob("*/run.db"))

    @property
    def run_dir(self) -> Path:
        """The one run of this folder."""
        (found,) = self.runs
        return found

    def show(self, run: str = "latest") -> dict[str, Any]:
        """What `show RUN --json` prints, without the child."""
        from runs.stored.reading import run_facts

        with RunReader(self._dir(run)) as reader:
            return run_facts(reader)

    def node(self, node_id: str, run: str = "latest") -> dict[str, Any]:
        """What `show RUN NODE --json` prints, without the child."""
        from runs.stored.reading import node_facts

        with RunReader(self._dir(run)) as reader:
            return node_facts(reader, node_id)

    def _dir(self, run: str) -> Path:
        return find_run(self.folder, run)
