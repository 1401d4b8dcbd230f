"""Promise 4 under the pipeline: SIGKILL at any moment, many times over, and the journal comes out as without one.

Each life is a fork of this process that goes on with the run, so that two hundred of them take minutes, not hours.
`SWARM_EVO_TEST_KILLS` sets how many there are.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from support.loop import Loop, open_loop
from support.plugins.toy import ToyEvaluator

from core.storage.reader import RunReader
from runs.proof.verification import verify_run
from utils.errors import StoreError

KILLS = int(os.environ.get("SWARM_EVO_TEST_KILLS", "40"))
STEPS = 60


class SlowEvaluator(ToyEvaluator):
    """Takes a time that differs from program to program, and notes what it was asked."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = log

    def evaluate(self, nodes):
        for node in nodes:
            time.sleep(random.Random(node.id).uniform(0, 0.02))
            with self._log.open("a") as log:
                log.write(f"{node.id}\n")
        return super().evaluate(nodes)


def opened(folder: Path, writers: int = 4) -> Loop:
    judge = SlowEvaluator(folder.parent / f"{folder.name}-asked")
    loop = open_loop(folder, steps=STEPS, batch=4, writers=writers, schedule="pipeline", evaluator=judge)
    loop.store.put_fact("lower_is_better", True)
    return loop


def life(folder: Path, seconds: float, writers: int) -> bool:
    """A process that works on the run until it is killed; False if it came to the end before."""
    pid = os.fork()
    if pid == 0:
        try:
            opened(folder, writers).run()
            os._exit(0)
        finally:
            os._exit(1)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert status == 0, "it failed by itself"
            return False
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    return os.WIFSIGNALED(status)


def verdicts(folder: Path) -> set[str]:
    """Nodes whose verdict is stored; none in a run that was killed before it began."""
    try:
        with RunReader(folder) as reader:
            known = {node.id for node in reader.nodes()}
            return known | {node for node, stages in reader.open_stages().items() if "execute" in stages}
    except StoreError:
        return set()


@pytest.mark.long
def test_killed_at_random_moments_the_journal_is_the_same(tmp_path: Path) -> None:
    whole = opened(tmp_path / "whole")
    began = time.monotonic()
    whole.run()
    usual = time.monotonic() - began
    rng, kills, runs = random.Random(KILLS), 0, 0
    while kills < KILLS:
        runs += 1
        folder = tmp_path / f"run-{runs}"
        asked = tmp_path / f"{folder.name}-asked"
        while True:
            before = Counter(asked.read_text().split()) if asked.is_file() else Counter()
            known = verdicts(folder)
            left = kills < KILLS
            died = life(folder, rng.uniform(0, usual / 3) if left else 600.0, rng.choice((1, 2, 4, 16)))
            again = Counter(asked.read_text().split() if asked.is_file() else ()) - before
            assert not known & again.keys(), "what had a verdict was evaluated once more"
            kills += died
            if not died:
                break
        with RunReader(folder) as reader:
            journal = reader.journal()
            told = Counter(event.node_id for event in reader.events(limit=100_000, types=["node.committed"]))
        assert journal.sha256 == whole.journal.sha256
        assert set(told.values()) == {1} and len(told) == len(journal)
        found = verify_run(folder)
        assert found.verdict == "consistent", found.findings
    print(f"{kills} kills of {runs} runs of {STEPS} steps: all journals {whole.journal.sha256[:12]}")
