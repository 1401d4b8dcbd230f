"""What prompts tell of a run as a whole (goal, target, data, limits, how many write at once) and what is asked for at
once, and what that was before a resume changed it.

A round keeps what it was told when it was proposed, in a resume and in a replay: its prompt comes out as it was.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.loop.attempt import RunContext

FACT = "told"
"""The fact: a list of objects, one a process that told anything new, with `round`, its first, and the FIELDS."""
FIELDS = (
    "statement", "preview", "packages", "limits", "time_limit", "writers", "extras", "batch", "sharing", "ideas",
    "memory", "memory_tokens", "code_tokens", "repair_crashes", "review", "chosen_by",
    "last_generation",
)  # fmt: skip


def with_earlier(
    context: RunContext, known: Sequence[Mapping[str, Any]], next_round: int
) -> tuple[RunContext, list[dict[str, Any]]]:
    """(the context that knows what earlier rounds were told, the fact as it is from now on).

    Args:
        context: what this process tells.
        known: the fact as the process found it; [] in a new run.
        next_round: the first round that this process opens.
    """
    own = json.loads(json.dumps({name: getattr(context, name) for name in FIELDS}, default=str))
    entries = [dict(entry) for entry in known]
    if not entries or _fields(entries[-1]) != own:
        entries.append({"round": next_round, **own})
    ends = [int(entry["round"]) for entry in entries[1:]]  # the last one's fields are the context's own
    return replace(context, earlier=tuple(zip(ends, map(_fields, entries), strict=False))), entries


def as_recorded(context: RunContext, recorded: Sequence[Mapping[str, Any]]) -> RunContext:
    """The context that tells each round what the recorded run told it; runs of older versions do not say."""
    ends = [*(int(entry["round"]) for entry in recorded[1:]), math.inf]
    return replace(context, earlier=tuple(zip(ends, map(_fields, recorded), strict=False)))


def changed_choice(recorded: Sequence[Mapping[str, Any]]) -> bool:
    """True if rounds of the record were chosen by different settings, so that not all of them can be chosen again."""
    ends = [*(entry["round"] for entry in recorded[1:]), math.inf]
    used = [entry for entry, end in zip(recorded, ends, strict=False) if entry["round"] < end and "chosen_by" in entry]
    return any(entry["chosen_by"] != used[0]["chosen_by"] for entry in used)


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in FIELDS if name in entry}
