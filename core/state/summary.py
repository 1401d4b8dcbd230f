"""Nodes as lines for prompts: what was changed, what came of it against the parent, and what the program printed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from core.state.change import change_of, is_rounding
from core.state.failure import FailureKind
from core.state.node import Node
from utils.direction import Direction
from utils.number_text import told_apart
from utils.printed_text import without_warnings
from utils.prompt_text import BYTES_PER_TOKEN
from utils.time_share import is_worth_a_word, time_share

BEST_SHOWN = 5
"""Of the attempts that are left out, so many of the best are still told."""
PROGRAMS_SHOWN = 3
"""A program's code is told with its line if it was among so many of the best when it came."""
NUMBERS_SHOWN = 3
"""Last lines of an output with a number in them."""
SAID_SHOWN = 200
"""Characters of what an evaluator says in words."""
_FRAME = re.compile(r'File ".*", line \d+|[~^\s]+$')
"""A line of a traceback that says where."""
_RAISED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception)\b")
_MARKS = re.compile(r"`{3,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_LONGEST_SENTENCE = 220
"""Characters of a plan that are told."""
_NUMBER = re.compile(r"^\d{1,2}[.)] ")
_ID = re.compile(r"\b[0-9a-f]{12}\b")
"""A node's, as `node_id` draws it."""
_CUT_SHORT = frozenset({FailureKind.TIMEOUT, FailureKind.CPU, FailureKind.NO_SUBMISSION, FailureKind.BAD_SUBMISSION})
"""Failures of programs that worked as far as they came: what they printed tells what the idea is worth."""
_LEFT_OUT = "({} earlier attempts are left out, but for the best of them.)"


FORM = 8
"""Raised by one with each change of what a line says: what was counted of older lines does not hold then."""

Told = Callable[[int], tuple[Node, Sequence[Node], int | None]]
"""Place in the journal → the node, those that it was made from, and of a duplicate the place of what it repeats."""
PlaceOf = Callable[[str], int | None]
"""A node's id → its place in the journal; None for what is no node of it."""


@dataclass(frozen=True, slots=True)
class _Text:
    """What was told within a budget."""

    dropped: int
    """Bytes of the first lines that it leaves out."""
    end: int
    """Lines up to its end."""
    text: str


class Summary:
    """A line for every node of a journal, in commit order.

    The text only grows at its end, until the budget is spent: then a quarter of it goes at once, so that prompts of
    neighbouring steps begin alike and a provider's cache can answer for the beginning. So do the programs whose code
    is told: which ones is decided when they come, and half of them go at once.

    Args:
        lower_is_better: the problem's direction.
        told: what there is to tell of a place.
        place_of: by which the nodes that a message names by their ids are told by their numbers.
        time_limit: seconds, for the share of it that a program took; None: nothing is said of time.
        state: what `state` gave for the first nodes: their lines are written when they are asked for.
    """

    def __init__(
        self,
        lower_is_better: bool,
        told: Told,
        place_of: PlaceOf,
        time_limit: float | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        state = state or {"nodes": 0, "bytes": 0, "best": [], "programs": [], "program_ends": []}
        self._direction = Direction(lower_is_better)
        self._told = told
        self._place_of = place_of
        self.time_limit = time_limit
        self._lines: list[str | None] = [None] * state["nodes"]
        self._bytes: int = state["bytes"]
        """Of all lines."""
        self._first = len(self._lines)
        """From this line on it is known where each ends."""
        self._ends: list[int] = []
        """Bytes up to the end of each line from `_first` on."""
        self._best: list[float] = list(state["best"])
        """Fitness of the best programs so far, worst first."""
        self._programs: list[int] = list(state["programs"])
        """Places of the programs that were among the best when they came."""
        self._program_ends: list[int] = list(state["program_ends"])
        """Bytes of code up to the end of each of them."""
        self._texts: dict[int, _Text] = {}
        """Budget → what `text` told last: mostly a few lines come to it."""

    def state(self) -> dict[str, Any]:
        """What there is to know of the lines so far to go on: plain JSON."""
        return {
            "form": FORM, "time_limit": self.time_limit, "nodes": len(self), "bytes": self._bytes, "best": self._best,
            "programs": self._programs, "program_ends": self._program_ends,
        }  # fmt: skip

    @staticmethod
    def knows(state: Mapping[str, Any]) -> bool:
        """True if lines are written today as they were when that state was told."""
        return bool(state.get("form") == FORM)

    def add(self) -> None:
        """Count in the line of the journal's next node."""
        place = len(self._lines)
        node, _, _ = self._told(place)
        self._lines.append(None)
        self._bytes += len(self.line(place).encode()) + 1
        self._ends.append(self._bytes)
        if node.is_scored and node.fitness is not None and self._is_among_the_best(node.fitness):
            self._programs.append(place)
            self._program_ends.append((self._program_ends or [0])[-1] + len(node.code.encode()))

    def _is_among_the_best(self, fitness: float) -> bool:
        """True if fewer than PROGRAMS_SHOWN programs before were as good: an equal score tells nothing new."""
        if any(is_rounding(fitness, known) for known in self._best):
            return False
        if len(self._best) == PROGRAMS_SHOWN and fitness < self._best[0]:
            return False
        self._best = sorted([*self._best, fitness])[-PROGRAMS_SHOWN:]
        return True

    def programs(self, max_tokens: int) -> list[int]:
        """Places of the programs whose code is told, in commit order: the newest, once the budget is spent."""
        half = max(max_tokens * BYTES_PER_TOKEN // 2, 1)
        total = (self._program_ends or [0])[-1]
        dropped = max(-(-(total - 2 * half) // half), 0) * half
        return self._programs[bisect_left(self._program_ends, dropped) + 1 if dropped else 0 :]

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, step: int) -> str:
        """What is told of the node at that place of the journal."""
        line = self._lines[step]
        if line is None:
            line = self._lines[step] = self._line_of(*self._told(step))
        return line

    def _lines_from(self, step: int) -> list[str]:
        return [self.line(place) for place in range(step, len(self._lines))]

    def _find_ends(self, after: int) -> None:
        """Find where lines end, back to one that begins before byte `after`."""
        ends: list[int] = []
        end = self._bytes if not self._ends else self._ends[0] - self._length(self._first)
        while self._first and end >= after:
            self._first -= 1
            ends.append(end)
            end -= self._length(self._first)
        self._ends[:0] = reversed(ends)

    def _length(self, step: int) -> int:
        return len(self.line(step).encode()) + 1

    def text(self, max_tokens: int, best: Callable[[int], Sequence[Node]]) -> str:
        """All that fits into the budget, oldest first; the best of what does not fit is told before it.

        Args:
            max_tokens: by the rule of BYTES_PER_TOKEN.
            best: k → the k best nodes of the journal, best first.
        """
        budget = max_tokens * BYTES_PER_TOKEN
        if self._bytes <= budget:
            return "\n".join(self._lines_from(0))
        quarter = max(budget // 4, 1)
        dropped = -(-(self._bytes - budget + quarter) // quarter) * quarter  # a quarter is for the best of what is left
        told, end = self._texts.get(budget), len(self._lines)
        if told is None or told.dropped != dropped:
            told = _Text(dropped, end, self._text_from(dropped, quarter, best))
        elif told.end < end:
            told = _Text(dropped, end, "\n".join([told.text, *self._lines_from(told.end)]))
        self._texts[budget] = told
        return told.text

    def _text_from(self, dropped: int, quarter: int, best: Callable[[int], Sequence[Node]]) -> str:
        """The best of what ends in the first `dropped` bytes, as many as a quarter holds, and all lines behind it."""
        self._find_ends(dropped)
        first = min(self._first + bisect_left(self._ends, dropped) + 1, len(self._lines))
        told = [node.step for node in best(BEST_SHOWN + len(self._lines) - first) if node.step < first][:BEST_SHOWN]
        head = within([self.line(step) for step in sorted(told)], quarter - len(_LEFT_OUT) - 10)
        return "\n".join([*head, _LEFT_OUT.format(first - len(head)), *self._lines_from(first)])

    # ------------------------------------------------------------ one line

    def _line_of(self, node: Node, parents: Sequence[Node], original: int | None) -> str:
        origin = f" of {' and '.join(f'[{parent.step}]' for parent in parents)}" if parents else ""
        share = time_told(node, self.time_limit)
        head = f"[{node.step}] {node.operator}{origin}: {self._outcome(node, parents, original)}"
        head += f", {share}" if is_worth_a_word(share) and not node.duplicate_of else ""
        parts = [head, first_sentence(node.plan), _repaired(node)]
        if node.failure is None or node.failure in _CUT_SHORT:
            parts += [_labelled("Printed", " | ".join(numbers_in(node.term_out)))]
        if node.failure is None:
            parts += [_labelled("Returned", _said(node, parents, self._direction))]
            if node.message and parents and _is_worse(node, parents[0], self._direction):
                parts += [_labelled("Noted", short(self._numbered(node.message), 160))]
        parts += [_labelled("Learned", short(node.analysis, 200))]
        return _MARKS.sub("''", " - ".join(part for part in parts if part))  # a line never ends its fence

    def _outcome(self, node: Node, parents: Sequence[Node], original: int | None) -> str:
        if node.failure:
            return f"failed ({node.failure.value}): {short(node.message, 160)}"
        if node.nothing_left:
            return "no program: its writer says that nothing is left to gain"
        if node.duplicate_of:
            same = f"the same program as [{original}], not run"
            return same if node.operator != "tune" and original is not None else short(node.message, 160)
        if node.metric_value is None:
            return f"no score ({short(self._numbered(node.message), 120)})" if node.message else "no score"
        parent = parents[0] if parents else None
        told = told_apart(node.metric_value, parent.metric_value if parent else None)
        change = change_of(node, parent, self._direction) if parent is not None else ""
        claimed = f", own estimate {node.claimed_metric:.7g}" if _has_own_estimate(node) else ""
        return f"{told}{f' ({change})' if change else ''}{claimed}"

    def _numbered(self, message: str) -> str:
        """The message with the numbers that lines begin with in place of ids: no prompt shows an id."""
        places = {found: self._place_of(found) for found in _ID.findall(message)}
        return _ID.sub(lambda found: found[0] if places[found[0]] is None else f"[{places[found[0]]}]", message)


def time_told(node: Node, limit: float | None) -> str:
    """How much of its time a program took; '' where nobody knows."""
    return time_share(node.exec_time, limit) if node.limit_share is None else time_share(node.limit_share, 1.0)


def _repaired(node: Node) -> str:
    """What the program failed with before its writer mended it in the same step: others would write it again."""
    told = [
        f"({first.failure.value}): {short(first.message, 160)}{_labelled('; mended', first_sentence(first.repair))}"
        for first in node.attempts
    ]
    return f"Repaired, had failed {'; '.join(told)}" if told else ""


def _said(node: Node, parents: Sequence[Node], direction: Direction) -> str:
    """Texts among what an evaluator measured; of a program that gained nothing, where there are none, what else fell to
    0 with its score (`validity`), and what it left for who reads it. Else nobody learns why a program that was not
    refused scored as if it had been.
    """
    texts = [f"{name}: {value}" for name, value in node.metrics.items() if isinstance(value, str)]
    if not texts and parents and _is_worse(node, parents[0], direction):
        texts = [f"{name}: {node.metrics[name]:g}" for name in _fallen(node, parents[0])]
        texts += [f"{name}: {text}" for name, text in node.artifacts.items()]
    return short(" | ".join(texts), SAID_SHOWN)


def _fallen(node: Node, parent: Node) -> list[str]:
    """What was measured as 0 beside a score of 0, and was something else of the parent, whose score it was not."""
    if node.metric_value != 0:
        return []
    before = {name: value for name, value in parent.metrics.items() if isinstance(value, int | float) and value}
    return [
        name
        for name, value in node.metrics.items()
        if value == 0 and before.get(name, 0) not in (0, parent.metric_value)
    ]


def _is_worse(node: Node, parent: Node, direction: Direction) -> bool:
    if node.metric_value is None or parent.metric_value is None:
        return False
    return direction.better(parent.metric_value, node.metric_value)


def first_sentence(plan: str) -> str:
    """What a plan says first: writers are asked to name the change there. The number of an item is no sentence."""
    return short(_SENTENCE.split(_NUMBER.sub("", " ".join(plan.split())), maxsplit=1)[0], _LONGEST_SENTENCE)


def numbers_in(output: str) -> list[str]:
    """The last lines of an output that hold a number, in order; of a traceback what was raised, and not where. Warnings
    tell nothing of what a program is worth."""
    lines = map(str.strip, reversed(without_warnings(output)[-4000:].splitlines()))
    told = (line for line in lines if (any(map(str.isdigit, line)) or _RAISED.match(line)) and not _FRAME.match(line))
    return [short(line, 90) for line in islice(told, NUMBERS_SHOWN)][::-1]


def within(lines: Sequence[str], budget: int) -> list[str]:
    """As many of the lines, in order, as `budget` bytes hold."""
    kept: list[str] = []
    for line in lines:
        budget -= len(line.encode()) + 1
        if budget < 0:
            break
        kept.append(line)
    return kept


def short(text: str, limit: int) -> str:
    """One line of at most `limit` characters."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _labelled(label: str, text: str) -> str:
    return f"{label}: {text}" if text else ""


def _has_own_estimate(node: Node) -> bool:
    return node.claimed_metric is not None and node.metric_source != "claimed"
