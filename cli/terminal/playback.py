"""`replay` in the terminal: the stored events in their own pace, times a factor."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from cli.terminal.best_so_far import BestSoFar
from cli.terminal.step_text import StepLines, baseline_line
from core.events import BaselineScored, FinalScored, NodeCommitted, RunFinished, RunStarted
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from reports.search_limits import limits_of
from utils.errors import ConfigError

LONGEST_PAUSE = 2.0
"""Seconds; a run that lay idle over night is not waited for."""


def play(run_dir: Path, speed: float) -> int:
    """Print each event when its time comes. Raises ConfigError for a speed at which it never would."""
    if not speed > 0:
        raise ConfigError(f"--speed={speed:g}: allowed is anything above 0")
    with unreadable(run_dir.name), closing(RunReader(run_dir)) as reader:  # of a run that goes on, what comes meanwhile
        best = BestSoFar(bool(reader.fact("lower_is_better")), family=str(reader.fact("family")))
        lines = StepLines(best, None)
        before = None
        after = 0
        while events := reader.events(after=after, limit=500):
            for event in events:
                if before is not None:
                    time.sleep(min(max((event.at - before).total_seconds() / speed, 0.0), LONGEST_PAUSE))
                before = event.at
                if isinstance(event, NodeCommitted) and event.operator != "baseline":
                    print(lines.line(event), flush=True)
                else:
                    lines.learn(event)
                if isinstance(event, RunStarted):
                    lines.allow(event.max_steps)
                    print(f"{'resumed' if event.resumed else 'started'}: {limits_of(event)}", flush=True)
                elif isinstance(event, BaselineScored):
                    print(baseline_line(event), flush=True)
                elif isinstance(event, FinalScored) and event.metric is not None:
                    print(f"final score: {event.metric:.6g}", flush=True)
                elif isinstance(event, RunFinished):
                    print(f"ended: {event.reason}", flush=True)
            after = events[-1].seq
    return 0
