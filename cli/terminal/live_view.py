"""The live picture: progress with time left, best so far, recent nodes, cost, the running candidate's tail."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.status import Status
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from cli.terminal.activity import Activity
from cli.terminal.banner import banner
from cli.terminal.best_so_far import BEST, BestSoFar, shown
from cli.terminal.closing import closing, ended_already
from cli.terminal.commands import interrupted_line
from cli.terminal.console import VisibleConsole
from cli.terminal.open_work import IDLE, OpenWork, past_time
from cli.terminal.output import say_finishing, to_nowhere
from core.backend.usage import tokens_of_bytes
from core.contracts import Progress
from core.events import BaselineScored, Event, NodeCommitted, Warned
from core.state.live_work import read_live_work
from core.state.operators import FREE_OPERATORS
from reports.winner import OWN
from runs.beside.live_output import OUTPUT, REPLY
from runs.ending.outcome import Outcome
from runs.facts import RunFacts
from utils.counts import about
from utils.regular_files import end_of

RECENT = 12
REFRESH_PER_SECOND = 4
MOST_OPEN = 8
"""Open programs that are listed."""
_TAIL_LINES = 6
COPIED = ("  ", "best program: ", "report: ", "journal_head ")
"""How lines of the end begin that hold a command, a path or a hash."""


class _Picture(VisibleConsole):
    """What is drawn on a terminal. The search goes on without it where that is closed: a signal says what is wanted."""

    def on_broken_pipe(self) -> None:
        to_nowhere(self.file)


class LiveView:
    """Redrawn a few times a second from what it was told; the search never waits for it."""

    def __init__(self) -> None:
        self._console = _Picture()
        self._lock = threading.Lock()
        self._recent: deque[tuple[NodeCommitted, Text]] = deque(maxlen=RECENT)
        self._steps = 0
        self._baselines: list[str] = []
        self._warnings: deque[str] = deque(maxlen=3)
        self._activity = Activity()
        self._work = OpenWork("")
        self._best = BestSoFar(False)
        self._live: Live | None = None
        self._waiting: Status | None = None
        self._begun = False

    def doing(self, text: str) -> None:
        with self._lock:
            self._activity.tell(text)
        if self._live is None and not self._begun:
            self._wait(text)

    def _wait(self, text: str) -> None:
        """A line with a spinner, before the picture is there; it goes when `text` is ''."""
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self._console.status(Text(text)) if text else None
        if self._waiting is not None:
            self._waiting.start()

    def start(self, facts: RunFacts, progress: Callable[[], Progress]) -> None:
        self._wait("")
        self._begun = True
        for line in banner(facts):
            self._console.print(Text(line))
        self._facts, self._progress = facts, progress
        self._activity.tell("")
        self._work = OpenWork(facts.writer)
        now = progress()
        self._began, self._steps, self._steps_before = time.monotonic(), now.steps, now.steps
        self._best = BestSoFar(facts.problem.lower_is_better, facts.standing, facts.problem.family)
        self._live = Live(get_renderable=self._picture, console=self._console, refresh_per_second=REFRESH_PER_SECOND)
        self._live.start()

    def emit(self, event: Event) -> None:
        with self._lock:
            self._work.learn(event)
            if isinstance(event, NodeCommitted):
                self._steps += event.operator not in FREE_OPERATORS
                self._recent.append((event, _leaf(event, self._steps, self._best)))
            self._best.learn(event)
            if isinstance(event, BaselineScored):
                score = "failed" if event.metric is None else shown(event.metric)
                self._baselines.append(f"{OWN if event.own else event.name} {score}")
            elif isinstance(event, Warned):
                self._warnings.append(f"{event.at.astimezone():%H:%M:%S} {event.text}")
                if self._begun and self._live is None:  # the picture is gone
                    self._console.print(Text(f"warning: {event.text}", style="yellow"))

    def conclude(self, outcome: Outcome) -> None:
        self.close()
        for line in closing(outcome):
            self._say(line, whole=line.startswith(COPIED))

    def _say(self, line: str, *, whole: bool) -> None:
        """A line of the end. One that is copied out of it is left `whole`: a break of ours would be copied, too."""
        self._console.print(Text(line), soft_wrap=whole)

    def finishing(self, search_is_over: bool) -> None:
        say_finishing(search_is_over)

    def nothing_left(self, outcome: Outcome, progress: Progress) -> None:
        self.close()
        self._say(ended_already(outcome), whole=True)

    def interrupted(self, how: str = "interrupted") -> None:
        self.close()
        if not self._begun:
            return
        facts = self._facts
        self._say(interrupted_line(facts.config.project.dir, facts.run, self._best.text, how), whole=True)

    def close(self) -> None:
        self._wait("")
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    # ------------------------------------------------------------ the picture

    def _picture(self) -> Group:
        progress = self._progress()
        with self._lock:
            parts: list[RenderableType] = [self._bar(progress), self._figures(progress), self._tree()]
            if self._activity.text:
                parts.append(Text(self._activity.line))
            open_work = self._work.lines(self._written(), read_live_work(self._facts.run_dir) or IDLE)
            parts += [Text(line, style="dim") for line in open_work[:MOST_OPEN]]
            tail = self._tail()
            if tail:
                parts.append(Panel(Text(tail), title="running", title_align="left"))
            parts += [Text(f"warning: {text}", style="yellow") for text in self._warnings]
        return Group(*parts)

    def _bar(self, progress: Progress) -> Table:
        done, limit = progress.steps, self._facts.config.search.max_steps
        row = Table.grid(padding=(0, 1))
        row.add_row(
            Text(f"{done}/{limit}" if limit else str(done), style="bold"),
            ProgressBar(total=limit or 100, completed=min(done, limit or 100), width=40, pulse=limit is None),
            Text(self._time_left(progress, limit)),
        )
        return row

    def _time_left(self, progress: Progress, limit: int | None) -> str:
        """By the pace of this process, and never more than the budget has; before the first step nobody knows."""
        config = self._facts.config
        budget = config.budget.seconds
        fresh = progress.steps - self._steps_before
        if budget is not None and progress.seconds > budget:
            return past_time(budget)
        left = [] if budget is None else [budget - progress.seconds]
        if limit and fresh:
            left.append((time.monotonic() - self._began) / fresh * (limit - progress.steps))
        elif limit:
            meant = left and budget != config.agent.time_limit  # twelve hours that nobody chose tell nothing
            return f"at most {about(left[0])}" if meant else ""
        return f"about {about(min(left))} left" if left else ""

    def _figures(self, progress: Progress) -> Text:
        parts = [self._best.text or "best –", *self._baselines]
        parts += self._work.spent(progress, self._facts.config.budget.usd)
        return Text("   ".join(parts))

    def _tree(self) -> Tree:
        tree = Tree("recent nodes")
        places: dict[str, Tree] = {}
        for event, leaf in self._recent:
            above = next((places[p] for p in event.parent_ids if p in places), tree)
            places[event.node_id] = above.add(leaf)
        return tree

    def _written(self) -> dict[str, int]:
        """Node → tokens of its open reply, by its length."""
        found = {}
        for path in (self._facts.run_dir / "live").glob(f"*{REPLY}"):
            with suppress(OSError):  # it is whole now
                found[path.stem] = tokens_of_bytes(path.stat().st_size)
        return found

    def _tail(self) -> str:
        folder = self._facts.run_dir / "live"
        try:
            newest = max(folder.glob(f"*{OUTPUT}"), key=lambda path: path.stat().st_mtime, default=None)
            if newest is None:
                return ""
            text = end_of(newest, 2000)[0].decode("utf-8", "replace")
        except OSError:
            return ""
        return "\n".join(line[:120] for line in text.split("\n")[-_TAIL_LINES:])


def _leaf(event: NodeCommitted, steps: int, best: BestSoFar) -> Text:
    """Args: steps: up to this node, itself included; best: who led before it."""
    moves = best.moves(event)
    label = Text("" if event.operator in FREE_OPERATORS else f"step {steps}  ")
    own = event.operator == "baseline" and event.writer == "user"
    label.append(f"{event.node_id[:6]} {OWN if own else event.operator} ")
    if event.metric is not None:
        label.append(best.told(event) + f" {BEST}" * moves, style="bold green" if moves else "green")
    elif event.failure is not None:
        label.append(event.failure.value, style="red")
    else:
        label.append("duplicate", style="dim")
    return label
