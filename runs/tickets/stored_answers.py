"""What a run says of its tickets that nobody holds: from its store alone, so that a look starts no process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.state.node import Node
from core.state.question import is_question, node_of
from core.storage.held import is_held
from core.storage.reader import RunReader
from core.storage.ticket_store import GONE, Ticket, stored_tickets
from runs.parts.context_history import FACT as TOLD
from runs.stored.reading import machine_usd
from runs.tickets.names import KEPT, LATE, TAKEN, answered_before, budget_left, hash_of, refused, split_ticket, whole
from runs.tickets.open_tickets import rows_of
from runs.tickets.queue import ENDED
from runs.tickets.verdicts import best_of, verdict_of
from runs.tickets.words import words_of
from utils.errors import ConfigError
from utils.line_numbers import LineNumbers
from utils.patch import tree_patches
from utils.response import parse_response


def answer_of_the_store(run_dir: Path, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer; None where a process holds the run, or is needed to go on.

    Raises:
        ConfigError: the run is written by somebody else.
    """
    with RunReader(run_dir) as reader:
        is_over = reader.fact("status") == "finished"
        found = _answer(reader, request, is_over)
        if found is None:
            return None
        if "state" in found:
            found = {**_rest(reader), **found}
        return whole(found, is_over=is_over)


def _answer(reader: RunReader, request: Mapping[str, Any], is_over: bool) -> dict[str, Any] | None:
    _check_writer(reader, request)
    if is_held(reader.run_dir):
        return None
    tickets = stored_tickets(reader.db)
    about = {"next": "stop" if is_over else "ask"}
    if request.get("verb") == "tickets":
        return {"tickets": rows_of(tickets), "between": False, "next": about["next"]}
    if request.get("verb") == "ask":
        ended = {"message": ENDED, "journal_head": reader.journal_head()}
        return {"ticket": None, "open_tickets": [], **ended, **about} if is_over else None
    node_id, token = split_ticket(str(request.get("ticket", "")))
    known = next((one for one in tickets if one.node_id == node_id and one.token_hash == hash_of(token)), None)
    if known is None:
        return refused(f"run {reader.run_dir.name} has ended, and has no such ticket") if is_over else None
    if known.state != "told":
        state = "expired" if known.state in GONE else "over"
        return {"state": state, "node_id": node_id, "message": ENDED, **about} if is_over else None
    found = _became(reader, known, is_over)
    if found is None:
        return None
    found |= about
    return found if _is_told(known.told, request) else answered_before(found, node_id, str(request["verb"]))


def _became(reader: RunReader, ticket: Ticket, is_over: bool) -> dict[str, Any] | None:
    """What became of what was told for a ticket; None where the run has to go on before anybody knows."""
    if (node := reader.node(ticket.node_id)) is not None:
        return {**verdict_of(node, _lines_of(node, ticket), reader.fact(TOLD) or ()), "improved": reader.was_best(node)}
    if is_question(ticket.node_id):
        return {**TAKEN, "node_id": node_of(ticket.node_id)}
    return {"state": "over", "node_id": ticket.node_id, "message": f"{ENDED}{KEPT}"} if is_over else None


def _rest(reader: RunReader) -> dict[str, Any]:
    """What every answer to a ticket holds of the run."""
    config = reader.fact("config") or {}
    steps, usd = config.get("search", {}).get("max_steps"), config.get("budget", {}).get("usd")
    left = budget_left(
        None if steps is None else steps - reader.steps(),
        None if usd is None else usd - float(reader.cost()["cost_usd"] or 0.0) - (machine_usd(reader.facts()) or 0.0),
        None,
    )
    return {"best": best_of(reader.best()), "budget": left, "journal_head": reader.journal_head()}


def _check_writer(reader: RunReader, request: Mapping[str, Any]) -> None:
    config = reader.fact("config") or {}
    if (config.get("llm") or {}).get("code", {}).get("provider") != "external":
        writer, has = reader.fact("writer"), words_of(request).opened
        raise ConfigError(f"run {reader.run_dir.name}: its writer is {writer}; only {has} makes one that has tickets")


def _lines_of(node: Node, ticket: Ticket) -> LineNumbers:
    """Of a tree each file was handed in whole; of what is no fenced program nobody knows where it begins."""
    handed = None if tree_patches(node.code) is not None else parse_response(ticket.told)[0]
    return LineNumbers(node.code, node.code if handed is None else handed)


def _is_told(told: str, request: Mapping[str, Any]) -> bool:
    """True for `wait`, and a `tell` of the program that was told. Here no problem reads them: texts decide."""
    if request.get("verb") != "tell":
        return request.get("verb") not in LATE
    files = request.get("files")
    texts = [request.get("code"), request.get("nothing_left"), *(files.values() if isinstance(files, Mapping) else ())]
    given = [text.strip() for text in texts if isinstance(text, str)]
    return any(text and text in told for text in given)
