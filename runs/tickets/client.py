"""Asking a run for tickets from another process: by its socket where a process holds the run, else from its store.

Where nobody holds a run that can go on, a process is started for it; it ends by itself when nobody comes for a while.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runs.run_folder import is_held
from runs.tickets.names import LONGEST_CALL, answered_before, hash_of, refused, split_ticket, warnings_of
from runs.tickets.server import call
from runs.tickets.words import words_of
from utils.errors import ConfigError, SwarmEvoError

IDLE = 120.0
"""Seconds without a call after which a process that was started for tickets ends."""
START = 30.0
"""Seconds in which such a process must be there."""
MAIN = Path(__file__).resolve().parent.parent.parent / "main.py"
_STARTED: list[subprocess.Popen[bytes]] = []
"""They may outlive this process, which does not wait for them."""


def ask_the_run(run_dir: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to `request`, whoever holds the run.

    Raises:
        ConfigError: the run is written by somebody else. SwarmEvoError: no process could be started.
    """
    for _ in range(5):  # the process that held the run may have ended just now, or be about to
        found = call(run_dir, request, LONGEST_CALL + 10)
        if found is not None:
            return found
        over = _answer_of_the_store(run_dir, request)
        if over is not None:
            return over
        _start(run_dir)
    raise SwarmEvoError(f"run {run_dir.name}: the process that holds it does not answer; see {run_dir / 'system.log'}")


def _answer_of_the_store(run_dir: Path, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a run that has ended answers, or one that nobody holds says of its tickets; None where it can go on."""
    from core.storage.reader import RunReader  # a second of processor time: who finds a process to ask needs none of it
    from core.storage.ticket_store import stored_tickets
    from runs.tickets.open_tickets import rows_of

    with RunReader(run_dir) as reader:
        config = reader.fact("config") or {}
        if (config.get("llm") or {}).get("code", {}).get("provider") != "external":
            writer = reader.fact("writer")
            has = words_of(request).opened
            raise ConfigError(f"run {run_dir.name}: its writer is {writer}; only {has} makes one that has tickets")
        is_over = reader.fact("status") == "finished"
        if request.get("verb") == "tickets" and not is_held(run_dir):
            return {"tickets": rows_of(stored_tickets(reader.db)), "next": "stop" if is_over else "ask"}
        if not is_over or is_held(run_dir):
            return None
        ended = {"journal_head": reader.journal_head(), "next": "stop"}
        if request.get("verb") == "ask":
            return {"ticket": None, "message": "the run has ended", **ended}
        node_id, token = split_ticket(str(request.get("ticket", "")))
        ticket = next((one for one in stored_tickets(reader.db) if one.node_id == node_id), None)
        if ticket is None or ticket.token_hash != hash_of(token):
            return refused(f"run {run_dir.name} has ended, and has no such ticket")
        node = reader.node(node_id)
        if node is None or ticket.state != "told":
            gone = ticket.state in ("expired", "given_up")
            return {"state": "expired" if gone else "over", "node_id": node_id, "message": "the run has ended", **ended}
        found = {
            "state": "duplicate" if node.duplicate_of else "committed", "node_id": node.id, "metric": node.metric_value,
            "metric_source": node.metric_source, "metrics": node.metrics, "message": node.message,
            "warnings": warnings_of(node.metric_value, node.message),
            "failure": node.failure.value if node.failure else None, "output_tail": node.term_out[-2000:], **ended,
        }  # fmt: skip
        return found if _is_told(ticket.told, request) else answered_before(found, node_id)


def _is_told(told: str, request: Mapping[str, Any]) -> bool:
    """False for a `tell` of another program than the one that was told. Here no problem reads them: texts decide."""
    files = request.get("files")
    texts = [request.get("code"), *(files.values() if isinstance(files, Mapping) else ())]
    given = [text.strip() for text in texts if isinstance(text, str)]
    return request.get("verb") != "tell" or any(text and text in told for text in given)


def _start(run_dir: Path) -> None:
    """A process that takes the run up, apart from this one; returns when its socket is open."""
    if not is_held(run_dir):
        log = (run_dir / "tickets.log").open("wb")
        command = [sys.executable, str(MAIN), "resume", run_dir.name, f"--idle={IDLE:g}"]
        command.append(f"project.dir={run_dir.resolve().parent.parent}")
        with log:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            )  # fmt: skip
        _STARTED[:] = [child, *(one for one in _STARTED if one.poll() is None)]
    else:
        child = None
    until = time.monotonic() + START
    while time.monotonic() < until and call(run_dir, {"verb": "hello"}, 5) is None:
        if child is None and not is_held(run_dir):  # the process that held it was just ending
            return
        if child is not None and child.poll() is not None:
            said = (run_dir / "tickets.log").read_text(errors="replace").strip().splitlines()
            if child.returncode == 0 or is_held(run_dir):  # it has ended the run, or another process was faster
                return
            raise SwarmEvoError(said[-1].removeprefix("swarm-evo: ") if said else "the run could not be taken up")
        time.sleep(0.05)
