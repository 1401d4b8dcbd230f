"""The reader's tools: what is known of a run and of its nodes; heavy texts only on demand, in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.contracts import WRITING_ROLES
from core.events import NodeProposed
from core.state.node import Node
from core.state.numbering import Numbering
from core.state.operators import FREE_OPERATORS
from core.storage.held import status_of
from core.storage.numbering import numbering_of
from core.storage.reader import RunReader
from core.storage.ticket_store import stored_tickets
from core.storage.unreadable import unreadable
from reports.conclusion import conclusion_of
from reports.named_node import named_node
from reports.ratings import ratings_of
from reports.winner import baselines_of
from runs.run_folder import find_run
from runs.stored.explain import why
from runs.stored.reading import warnings_of
from runs.stored.run_list import run_rows
from runs.tickets.open_tickets import rows_of
from utils.direction import Direction
from utils.line_diff import line_diff
from utils.traceback_text import alike_once

PART = 8000
"""Characters of one answer's text."""
Answer = dict[str, Any]


def status(project_dir: str, arguments: Answer) -> Answer:
    """One run in short."""
    run_dir = _run(project_dir, arguments)
    with unreadable(run_dir.name), RunReader(run_dir) as reader:
        facts = reader.facts()
        ended = conclusion_of(reader, facts)
        state, steps = status_of(run_dir, facts), reader.steps()
        most = ((facts.get("config") or {}).get("search") or {}).get("max_steps")
        return {
            "run": run_dir.name,
            "problem": facts.get("problem"),
            "status": state,
            "writer": facts.get("writer"),
            "metric": {"name": facts.get("unit"), "direction": Direction(bool(facts.get("lower_is_better"))).optimum},
            "best": ended.winner.model_dump(mode="json") if ended.winner else None,
            "verdict": ended.verdict.text,
            "warnings": [*ended.verdict.warnings, *warnings_of(reader)],
            "baselines": [{"name": row["name"], "metric": row["metric"]} for row in baselines_of(reader, facts)],
            "steps": steps,
            "steps_left": None if most is None else max(0, most - steps),
            "failures": reader.failures(),
            "repaired": reader.repaired(),
            "tickets": rows_of(stored_tickets(reader.db)),
            "cost_usd": reader.cost()["cost_usd"],
            "seconds": facts.get("active_seconds"),
            "next": _next(run_dir, facts),
        }


def has_proposal(project_dir: str, run: str) -> bool:
    """True once a run has something to write: what it starts from is scored."""
    with unreadable(run), RunReader(find_run(project_dir, run)) as reader:
        events = reader.events(types=["node.proposed"], limit=100)
        return any(isinstance(one, NodeProposed) and one.operator not in FREE_OPERATORS for one in events)


def _next(run_dir: Path, facts: Answer) -> str:
    """What leads on in a run."""
    state = status_of(run_dir, facts)
    if state == "finished":
        return "export_best"
    if ((facts.get("config") or {}).get("llm") or {}).get("code", {}).get("provider") == "external":
        return "ask"
    return "wait" if state == "running" else "resume_run"


def top(project_dir: str, arguments: Answer) -> Answer:
    """The best nodes, best first."""
    run_dir = _run(project_dir, arguments)
    with unreadable(run_dir.name), RunReader(run_dir) as reader:
        ratings, numbers = ratings_of(reader), numbering_of(reader)
        scored = [ratings.now(node) for node in reader.nodes() if node.is_scored and node.fitness is not None]
        scored.sort(key=lambda node: (-ratings.rank(node), node.step))
        rows = [_row(node, numbers) for node in scored[: max(1, int(arguments.get("k", 5)))]]
    return {"run": run_dir.name, "nodes": rows, "next": "node" if rows else "status"}


def _row(node: Node, numbers: Numbering) -> Answer:
    return {
        "node_id": node.id,
        "step": numbers.step(node.id),
        "metric": node.metric_value,
        "metric_source": node.metric_source,
        "operator": node.operator,
        "parent_ids": list(node.parent_ids),
        "failure": node.failure.value if node.failure else None,
        "writer": node.writer,
    }


def node(project_dir: str, arguments: Answer) -> Answer:
    """A node's facts, or one of its texts."""
    run_dir = _run(project_dir, arguments)
    part = str(arguments.get("part", "summary"))
    with unreadable(run_dir.name), RunReader(run_dir) as reader:
        found = _found(reader, str(arguments["node"]))
        if part == "summary":
            about = {"metrics": found.metrics, "message": found.message, "plan": found.plan, "seconds": found.exec_time}
            sizes = {"code": len(found.code), "output": len(alike_once(found.term_out)), "review": len(found.analysis)}
            found = ratings_of(reader).now(found)
            return {**_row(found, numbering_of(reader)), **about, "characters": sizes, "next": "node"}
        calls = [call for call in reader.calls(found.id) if call.role in WRITING_ROLES] if part in _OF_CALL else []
        text = _OF_CALL[part](calls[-1]) if calls else _OF_NODE[part](found) if part in _OF_NODE else ""
        following = _next(run_dir, reader.facts())
    return {"node_id": found.id, "part": part, **_piece(text, arguments), "next": following}


_OF_CALL: dict[str, Callable[[Any], str]] = {
    "prompt": lambda call: f"{call.system}\n\n{call.user}",
    "reply": lambda call: str(call.reply),
}
_OF_NODE: dict[str, Callable[[Node], str]] = {
    "code": lambda node: node.code,
    "output": lambda node: alike_once(node.term_out),
    "review": lambda node: node.analysis,
}


def diff(project_dir: str, arguments: Answer) -> Answer:
    """A node against its first parent or another one."""
    run_dir = _run(project_dir, arguments)
    with unreadable(run_dir.name), RunReader(run_dir) as reader:
        new = _found(reader, str(arguments["node"]))
        other = arguments.get("against") or new.parent_id
        old = _found(reader, str(other)) if other else None
        following = _next(run_dir, reader.facts())
    text = line_diff(old.code if old else "", new.code, (old.id if old else "nothing", new.id)).text
    told = {"node_id": new.id, "against": old.id if old else None}
    return {**told, **_piece(text, arguments), "next": following}


def why_(project_dir: str, arguments: Answer) -> Answer:
    """The choice of parents, and the ranking behind the best."""
    run_dir = _run(project_dir, arguments)
    with unreadable(run_dir.name), RunReader(run_dir) as reader:
        node_id = _found(reader, str(arguments["node"])).id if arguments.get("node") else None
        return {"run": run_dir.name, **why(reader, node_id), "next": "status"}


def list_runs(project_dir: str, arguments: Answer) -> Answer:
    """Newest first."""
    limit = max(1, int(arguments.get("limit", 20)))
    rows = run_rows(project_dir)[: -limit - 1 : -1]
    return {"runs": rows, "next": "status" if rows else "plan_run"}


def _run(project_dir: str, arguments: Answer) -> Path:
    return find_run(project_dir, str(arguments.get("run") or "latest"))


def _found(reader: RunReader, name: str) -> Node:
    return named_node(reader, name, "`top`")


def _piece(text: str, arguments: Answer) -> Answer:
    """At most PART characters from the offset on, and where it goes on."""
    start = max(0, int(arguments.get("offset", 0)))
    end = start + PART
    return {"text": text[start:end], "more": end if end < len(text) else None}
