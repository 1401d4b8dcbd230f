"""What each door calls things: a text for people or agents names what they have, and nothing that another door has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

COMMAND_LINE, MCP, MCP_WRITER, PYTHON = "command line", "mcp", "mcp writer", "python"
"""`surface` of a request. `mcp writer` is a client that may write and not lead the run."""


@dataclass(frozen=True, slots=True)
class Words:
    """One door's names. Each may hold {run}, {ticket} and {file}."""

    hand_in: str
    """How a program is handed in that is one file."""
    hand_in_tree: str
    """How one that is a tree of files."""
    give_up: str
    free: str
    """What to do about a ticket that is in the way."""
    listed: str
    """How the open tickets are listed."""
    opened: str
    """How a run comes about that has tickets."""
    fill: str
    """How a folder comes about that can be handed in."""
    again: str
    """How a ticket is laid out once more."""
    check: str
    """How a folder is looked at: {folder} is its path for a shell, {place} as it is; {project} is where its run is."""
    tell: str
    nothing_left: str
    """How it is said that nothing is left to gain."""


WORDS = {
    COMMAND_LINE: Words(
        hand_in="hand in {file} alone, by --file or --dir",
        hand_in_tree="hand in the folder that `ask --dir` filled, by --dir, or a reply that names each path",
        give_up="`give-up {run} {ticket}`",
        free="Tell it, take it over with `ask {run} {ticket}` or free it with `give-up {run} {ticket}`",
        listed="`ask {run} --list`",
        opened="`run --writer=external`",
        fill="`ask RUN --dir {file}`",
        again="`{program} ask {run} {ticket} {project} --dir OTHER`",
        check="`{program} check {run} {ticket} --dir {folder} {project}`",
        tell='`{program} tell {run} {ticket} --dir {folder} {project} --plan "…"`',
        nothing_left='`{program} tell {run} {ticket} {project} --nothing-left "why"`',
    ),
    MCP: Words(
        hand_in="hand in `files` with {file} and nothing else, or the `dir` that ask filled",
        hand_in_tree="hand in `files`, {{path: whole text}} of those that changed, or the `dir` that ask filled",
        give_up="give_up(ticket='{run}/{ticket}')",
        free="Tell it, take it over with ask(ticket='{run}/{ticket}') or free it with give_up(ticket='{run}/{ticket}')",
        listed="status(run='{run}')",
        opened="plan_run with writer=external",
        fill="ask(dir='{file}')",
        again="ask(ticket='{ticket}', dir=…)",
        check="The tool check(ticket='{ticket}', dir='{place}')",
        tell="tell(ticket='{ticket}', dir='{place}', note='…')",
        nothing_left="tell(ticket='{ticket}', nothing_left='why')",
    ),
    PYTHON: Words(
        hand_in="hand in `code`, or `files` with {file} and nothing else",
        hand_in_tree="hand in `files`, {{path: whole text}} of those that changed",
        give_up="`run.give_up('{ticket}')`",
        free="Tell it, or free it with `run.give_up('{ticket}')`",
        listed="`run.tickets()`",
        opened="`swarm_evo.open(…)`",
        fill="",
        again="",
        check="`run.check(ticket, files=…)`",
        tell="`run.tell(ticket, files=…, plan=…)`",
        nothing_left="`run.tell(ticket, nothing_left='why')`",
    ),
}
WORDS[MCP_WRITER] = replace(WORDS[MCP], free="Tell it if it is yours; else ask again later: the user can free it")


def how_to_hand_in(request: Mapping[str, Any], file: str) -> str:
    """By the door by which a request came.

    Args:
        file: the one of a program; '' of a tree.
    """
    words = words_of(request)
    return words.hand_in.format(file=file) if file else words.hand_in_tree.format()


def words_of(request: Mapping[str, Any]) -> Words:
    """Those of the door by which a request came; of the command line where it does not say."""
    return WORDS.get(str(request.get("surface")), WORDS[COMMAND_LINE])
