"""What a second search came to beside the first: their journals node by node, and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from core.state.journal import Journal
from core.state.numbering import Numbering
from runs.recorded.scores import RecordedScores
from utils.counts import counted

COMPARED = (
    "id", "operator", "parent_ids", "code", "metric_value", "metric_source", "interval", "failure", "signature",
    "is_valid",
)  # fmt: skip
"""Fields of a node that must come out equal."""
_LONGEST = 200
"""Characters of a value in a line for people."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a second search with the same replies came to."""

    equal: bool
    text: str
    """One line for people: the hash, or the first difference."""
    exit_code: int = 1
    """Where it is not equal: 2 where nothing was compared, since what is needed is not there."""
    is_done: bool = True
    """False where it could not be done: that says nothing of the run."""


def compared(stored: Journal, again: Journal) -> Replayed:
    """Equal by hash and by what no hash of the journal holds, or the first field that is not."""
    if differs := first_difference(stored, again):
        return Replayed(False, f"replay differs {differs}")
    if again.sha256 != stored.sha256:
        return Replayed(False, f"replay differs: {counted(len(stored), 'node')} became {len(again)}")
    return Replayed(True, f"equal: {counted(len(stored), 'node')}, journal {stored.sha256}, 0 calls of a model")


def first_difference(stored: Journal, again: Journal) -> str:
    """`at step 2 in code: … became …`, of the nodes that both have; '' where these are equal."""
    numbers = Numbering((node.id, node.operator) for node in stored)
    for old, new in zip(stored, again, strict=False):
        for name in COMPARED:
            before, now = getattr(old, name), getattr(new, name)
            if before != now:
                where = numbers.name(old.id) or f"{old.operator} {old.id}"
                return f"at {where} in {name}: {_change(before, now)}"
    return ""


def _listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _change(before: Any, now: Any) -> str:
    """Two values on one line: of texts, the first line that differs."""
    if isinstance(before, str) and isinstance(now, str):
        lines = zip_longest(before.splitlines(), now.splitlines(), fillvalue="")
        before, now = next((pair for pair in lines if pair[0] != pair[1]), (before, now))
    return f"{before!r:.{_LONGEST}} became {now!r:.{_LONGEST}}"


def with_scores(
    found: Replayed, stored: Journal, scores: RecordedScores, again: Sequence[str], has_finals: bool = False
) -> Replayed:
    """What was found of the journals, and of the scores: which of them a program does not even get twice now.

    Args:
        again: what was made again.
        has_finals: final scores are among the scores.
    """
    if not found.equal:
        return found
    made = ["scores", "final scores"] if has_finals else ["scores"]
    if not scores.differences:
        return Replayed(True, f"{found.text}; {_listed([*again, *made])} came out again")
    wrong = [one for one in scores.differences if one.repeats]
    first = (wrong or scores.differences)[0]
    numbers = Numbering((node.id, node.operator) for node in stored)
    node = stored.get_node_by_id(first.node_id)
    place = numbers.name(first.node_id) or f"{node.operator if node else 'baseline'} {first.node_id}"
    of = f"{len(scores.differences)} of {counted(scores.scored, 'score')} differ"
    if wrong:
        return Replayed(
            False,
            f"replay differs at {place} in {first.field}: {_change(first.before, first.now)}; {of}, {len(wrong)} of "
            f"them the same way twice; {_listed(again)} came out again from the recorded scores",
        )
    return Replayed(
        False,
        f"{of}: they depend on the clock or on chance (at {place} {first.field} {first.before!r} became {first.now!r}, "
        f"and then {first.again!r}); {_listed(again)} came out again from the recorded scores",
    )


def with_change(found: Replayed, change: str) -> Replayed:
    """Who meets a difference is told of a file that decides scores and is another now."""
    return found if found.equal or not change else replace(found, text=f"{found.text}; {change} since the run began")
