"""Which version of `rules` wrote a run's programs, and what a replay by another one takes from the record.

`rules` write anew in a replay: a program that comes out otherwise is forged, or was written by other sources of ours.
So a run keeps, for each process that worked on it with others than the one before, what these were.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.contracts import CallRecord, RulesWriter
from core.state.numbering import Numbering
from core.state.task import Task
from utils.counts import counted
from utils.own_sources import product_version, sources_digest

FACT = "rules_version"
"""The fact: a list of objects, one a process whose version was another than the one's before it, with `round`, its
first, `version`, the product's, and `rules`, the digest of the writer's sources."""
RULES = "rules"
"""A provider, and the key of the digest."""


def with_now(known: Sequence[Mapping[str, Any]], next_round: int, writer: RulesWriter | None) -> list[dict[str, Any]]:
    """The fact as it is from now on.

    Args:
        known: as the process found it; [] in a new run, and in one that an older version began.
        next_round: the first round that this process opens.
        writer: who writes in this process; None where models do.
    """
    now = {"version": product_version(), RULES: sources_digest(type(writer).__module__) if writer else ""}
    entries = [dict(entry) for entry in known]
    if not entries or {name: entries[-1].get(name) for name in now} != now:
        entries.append({"round": next_round, **now})
    return entries


class RecordedRules:
    """What `rules` had written, for a replay: it stands where another version wrote it. Thread-safe.

    Args:
        entries: the run's fact; [] where it has none.
        calls: of the run.
        rounds: node → round in which it was proposed.
    """

    def __init__(
        self, entries: Sequence[Mapping[str, Any]], calls: Iterable[CallRecord], rounds: Mapping[str, int]
    ) -> None:
        self._entries = entries
        self._rounds = rounds
        self._calls = {call.sample: call for call in calls if call.provider == RULES}
        self._wrote = {call.node_id or "" for call in self._calls.values()}
        self._now = ""
        self._lock = threading.Lock()
        self.otherwise: set[str] = set()
        """Nodes whose recorded programs another version wrote, and that `rules` of now would write otherwise."""

    def written_now(self, writer: RulesWriter) -> None:
        """Who writes in the replay."""
        self._now = sources_digest(type(writer).__module__)

    def in_force(self, written: CallRecord) -> CallRecord:
        """What goes on from here: what was written now, or what another version wrote in this place."""
        recorded = self._calls.get(written.sample)
        node_id = written.node_id or ""
        if recorded is None or recorded.reply == written.reply or not self._is_of_another(node_id):
            return written
        with self._lock:
            self.otherwise.add(node_id)
        return written.model_copy(update={"reply": recorded.reply, "finish_reason": recorded.finish_reason})

    def told(self, numbers: Numbering) -> str:
        """Which steps another version wrote, if any of their programs would be others now; '' else."""
        if not self.otherwise:
            return ""
        steps = sorted(step for node_id in self._of_another() if (step := numbers.step(node_id)) is not None)
        if not steps:
            return ""
        which = f"step {steps[0]}" if len(steps) == 1 else f"steps {steps[0]}…{steps[-1]}"
        many = counted(len(self.otherwise), "program")
        return (
            f"{which} {'was' if len(steps) == 1 else 'were'} written by another version of `rules`{self._versions()}, "
            f"which would write {many} otherwise now: programs and scores are checked, the writer's choices are not"
        )

    def doubt(self) -> str:
        """What whoever meets a difference has to know of who wrote; '' where all was written by what writes now."""
        if not self._wrote:
            return ""
        if any(not self._known(node_id) for node_id in self._wrote if node_id in self._rounds):
            return "the run does not say which version of `rules` wrote: another may have written otherwise"
        return f"written by another version of `rules`{self._versions()}" if self._of_another() else ""

    def _versions(self) -> str:
        """` (0.1.0, this is 0.2.0)` where the numbers tell them apart."""
        then = {str(entry.get("version")) for entry in self._entries if entry.get(RULES) != self._now} - {""}
        now = product_version()
        return f" ({', '.join(sorted(then))}, this is {now})" if now and then and now not in then else ""

    def _of_another(self) -> list[str]:
        return [node_id for node_id in self._rounds if node_id in self._wrote and self._is_of_another(node_id)]

    def _is_of_another(self, node_id: str) -> bool:
        known = self._known(node_id)
        return bool(known) and known != self._now

    def _known(self, node_id: str) -> str:
        """The digest that the run says wrote it; '' where it says none."""
        number = self._rounds.get(node_id, -1)
        ends = [*(int(entry["round"]) for entry in self._entries[1:]), math.inf]
        for entry, end in zip(self._entries, ends, strict=False):
            if int(entry["round"]) <= number < end:
                return str(entry.get(RULES) or "")
        return ""


def rounds_of(tasks: Mapping[str, Task]) -> dict[str, int]:
    """Node → round in which it was proposed."""
    return {node_id: task.round for node_id, task in tasks.items()}
