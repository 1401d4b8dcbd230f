"""What a prompt remembers of earlier attempts: the whole journal, or only what was tried near the task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from core.state.journal import Journal
from core.state.node import Node
from core.state.summary import within
from utils.prompt_text import BYTES_PER_TOKEN

NEWEST_SHOWN = 40
"""Relatives of one kind that are looked at: bounded, so that a prompt costs the same at step 10 and at step 100,000."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a prompt remembers."""

    text: str = ""
    """A line an attempt."""
    programs: tuple[Node, ...] = ()
    """Programs whose code is shown below their lines, in commit order."""


def remember(
    journal: Journal,
    parent_ids: Sequence[str] = (),
    *,
    kind: str = "all",
    max_tokens: int = 4000,
    code_tokens: int = 0,
) -> Memory:
    """The memory of a prompt by `agent.memory`; empty where there is nothing to tell.

    Args:
        kind: `none`: nothing; `related`: relatives of the parents, the nearest last, as a prompt that is short of room
            keeps the end; `all`: the whole journal, summarised, with the code of its best programs.
        parent_ids: the task's parents; a draft's relatives are the other drafts.
        code_tokens: of code, beside `max_tokens` of lines.
    """
    if kind == "none" or not len(journal):
        return Memory()
    if kind == "related":
        near = [journal.summary_line(node.id) for node in related(journal, parent_ids)]
        return Memory("\n".join(reversed(within(near, max_tokens * BYTES_PER_TOKEN))))
    programs = journal.told_programs(code_tokens) if code_tokens else ()
    return Memory(journal.generate_summary(max_tokens=max_tokens), tuple(programs))


def related(journal: Journal, parent_ids: Sequence[str]) -> list[Node]:
    """What was tried near the task, nearest first: the parents' other children, their ancestors, their siblings.

    The parents themselves are left out: the prompt shows them whole. Each group is bounded by NEWEST_SHOWN.
    """
    if not parent_ids:
        return list(reversed(journal.draft_nodes[-NEWEST_SHOWN:]))
    groups: list[Iterable[str]] = []
    for parent in parent_ids:
        groups.append(islice(reversed(journal.children_ids(parent)), NEWEST_SHOWN))
    for parent in parent_ids:
        groups.append(_nearest_ancestors(journal, parent))
    for parent in parent_ids:
        above = journal[parent].parent_id
        if above is not None:
            groups.append(islice(reversed(journal.children_ids(above)), NEWEST_SHOWN))
    ids = dict.fromkeys(chain.from_iterable(groups))
    return [journal[i] for i in ids if i not in parent_ids]


def _nearest_ancestors(journal: Journal, node_id: str) -> Iterator[str]:
    """Ids up the line of first parents, nearest first."""
    above = journal[node_id].parent_id
    for _ in range(NEWEST_SHOWN):
        if above is None:
            return
        yield above
        above = journal[above].parent_id
