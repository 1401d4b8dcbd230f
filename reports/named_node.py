"""The node that somebody names: by its id, the first digits of it, its step number, or as prompts number it. One rule
for every door."""

from __future__ import annotations

import re

from core.state.node import Node
from core.storage.numbering import numbering_of
from core.storage.reader import RunReader
from core.storage.rows import BESIDE
from core.storage.told_node import check_told
from reports.winner import beside_the_search, rows_of, winner_node
from utils.errors import UnknownNodeError

LONGEST_NUMBER = 5
"""Digits of a step number: six and more are the beginning of an id, as the terminal tells it."""

_AS_IN_PROMPTS = re.compile(r"\[([0-9]{1,9})\]")


def named_node(reader: RunReader, name: str, lists: str = "") -> Node:
    """The node, whole; also a baseline that was scored beside the search, which the journal lacks.

    Args:
        name: the step number (`12`), an id, or the first digits of one. Where a step has that number, it is meant. In
            brackets (`[13]`) it is the number that prompts give a program: its place in the journal.
        lists: what tells the names that there are, for the error.

    Raises:
        UnknownNodeError: there is none, or several begin so. BrokenStoreError: it is not as the journal told it.
    """
    found = reader.node(numbered_id(reader, name) or name) or _beside(reader, name)
    if found is not None:
        check_told(reader.db, [found.id])
        return found
    told = f"; {lists or f'`show {reader.name}`'} lists them"
    raise UnknownNodeError(f"run {reader.name} has no node and no step '{name}', or several that begin so{told}")


def numbered_id(reader: RunReader, name: str) -> str | None:
    """The id of the step of that number, or of what prompts call by it; None where the name is none."""
    if place := _AS_IN_PROMPTS.fullmatch(name):
        return numbering_of(reader).at(int(place[1]))
    is_number = name.isascii() and name.isdigit() and len(name) <= LONGEST_NUMBER
    return numbering_of(reader).node_id(int(name)) if is_number else None


def _beside(reader: RunReader, name: str) -> Node | None:
    facts = reader.facts()
    rows = [row for row in rows_of(facts) if name and str(row.get("node_id")).startswith(name)]
    if len(rows) == 1 and f"{BESIDE}{rows[0]['node_id']}" in facts:
        return beside_the_search(facts, rows[0])
    winner = winner_node(reader, facts)  # of an older version, which kept the program of a winner alone
    return winner if name and winner and winner.id.startswith(name) else None
