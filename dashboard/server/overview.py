"""A run at a glance: the summary of the list and the detail of one run, read from its store."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, text

from core.state.operators import FREE_OPERATORS, known_operators
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from dashboard.server.catalog import RunCatalog
from dashboard.server.schemas.runs import OperatorStyle, RunDetail, RunSummary, Totals
from reports.conclusion import Conclusion, conclusion_of
from utils.errors import StoreError, UnknownRunError

_FREE = ", ".join(f"'{name}'" for name in sorted(FREE_OPERATORS))
_STEPS = text(f"SELECT count(*) FROM nodes WHERE operator NOT IN ({_FREE})")
_EVENT = text("SELECT body FROM events WHERE type = :type AND seq <= :at ORDER BY seq DESC LIMIT 1")
_TOTALS = text(
    "SELECT count(*), sum(json_extract(body,'$.cached')), sum(json_extract(body,'$.prompt_tokens')),"
    " sum(json_extract(body,'$.completion_tokens')), sum(json_extract(body,'$.cost_usd')),"
    " sum(json_extract(body,'$.seconds')) FROM events WHERE type = 'llm.called' AND seq <= :at"
)
_NODE_TOTALS = text(
    "SELECT count(*), sum(cached), sum(prompt_tokens), sum(completion_tokens), sum(cost_usd), sum(seconds)"
    " FROM calls WHERE node_id = :node"
)
NEWEST = 2**62


def summaries(catalog: RunCatalog) -> list[RunSummary]:
    """Every run, newest first. A store that cannot be read is listed with its error, never hidden."""
    lines = []
    for run in catalog.run_ids():
        try:
            lines.append(summary(catalog, run))
        except UnknownRunError:
            continue  # removed while we looked
        except StoreError as error:
            lines.append(RunSummary(run=run, status="unreadable", live=False, error=str(error)))
    return sorted(lines, key=lambda line: (line.started_at or "9", line.run), reverse=True)


def summary(catalog: RunCatalog, run: str) -> RunSummary:
    """A line of the list; made anew only when the store or its holder changed."""
    state = (catalog.state(run), catalog.holder(run) is not None)
    kept = catalog.kept.get(run)
    if kept and kept[0] == state and isinstance(kept[1], RunSummary):
        return kept[1]
    with unreadable(run):
        reader = catalog.reader(run)
        line = RunSummary(**_summary(catalog, run, reader, conclusion_of(reader)))
    catalog.kept[run] = (state, line)
    return line


def detail(catalog: RunCatalog, run: str) -> RunDetail:
    with unreadable(run):
        return _detail(catalog, run)


def _detail(catalog: RunCatalog, run: str) -> RunDetail:
    reader = catalog.reader(run)
    conclusion = conclusion_of(reader)
    values = _summary(catalog, run, reader, conclusion)
    facts = {key: reader.fact(key) for key in ("config", "baselines", "final", "environment", "sandbox")}
    with reader.db.transaction() as connection:
        started = last_event(connection, "run.started")
        ended = last_event(connection, "run.finished")
        committed = last_event(connection, "node.committed")
    return RunDetail(
        **values,
        winner=conclusion.winner,
        best_on_validation=conclusion.best_on_validation,
        conclusion=conclusion.verdict,
        control=conclusion.control,
        policy=started.get("policy", ""),
        sandbox=_mapping(facts["sandbox"]),
        config=_mapping(facts["config"]),
        baselines=[_mapping(item) for item in facts["baselines"] or ()],
        final=facts["final"] if isinstance(facts["final"], dict) else None,
        environment=_mapping(facts["environment"]),
        budget=started.get("budget", {}),
        max_steps=started.get("max_steps"),
        max_generations=started.get("max_generations"),
        reason="" if values["live"] else ended.get("reason", ""),
        elapsed=committed.get("elapsed", 0.0),
        last_seq=reader.last_seq(),
        operators={
            name: OperatorStyle(meaning=spec.meaning, colour=spec.colour, is_step=spec.is_step)
            for name, spec in known_operators(reader.fact("operators")).items()
        },
    )


def totals(connection: Connection, at: int = NEWEST) -> Totals:
    return _totals(connection.execute(_TOTALS, {"at": at}).one())


def node_totals(connection: Connection, node_id: str) -> Totals:
    return _totals(connection.execute(_NODE_TOTALS, {"node": node_id}).one())


def last_event(connection: Connection, kind: str, at: int = NEWEST) -> dict[str, Any]:
    """The newest event of a type as plain JSON, or {}."""
    body = connection.execute(_EVENT, {"type": kind, "at": at}).scalar()
    return json.loads(body) if body else {}


def _totals(row: Any) -> Totals:
    calls, cached, prompt, completion, cost, seconds = row
    return Totals(
        calls=calls,
        cached=cached or 0,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost_usd=cost,
        seconds=seconds or 0.0,
    )


def _summary(catalog: RunCatalog, run: str, reader: RunReader, conclusion: Conclusion) -> dict[str, Any]:
    winner = conclusion.winner
    live = catalog.holder(run) is not None
    with reader.db.transaction() as connection:
        started = last_event(connection, "run.started")
        steps = connection.execute(_STEPS).scalar() or 0
        cost = connection.execute(text("SELECT sum(cost_usd) FROM calls")).scalar()
    stored = reader.fact("status")
    return {
        "run": run,
        "problem": str(reader.fact("problem") or started.get("problem", "")),
        "status": _status(stored, live),
        "live": live,
        "started_at": reader.fact("started_at"),
        "steps": steps,
        "best_node_id": winner and winner.node_id,
        "best_metric": winner and winner.metric,
        "final_metric": winner and winner.final_metric,
        "verdict": conclusion.verdict.kind,
        "lower_is_better": bool(reader.fact("lower_is_better", False)),
        "unit": str(reader.fact("unit") or ""),
        "writer": str(reader.fact("writer") or ""),
        "cost_usd": cost,
    }


def _status(stored: Any, live: bool) -> str:
    """What the store says, corrected by the lock: a run that nobody holds does not run."""
    if live:
        return "running" if stored else "starting"
    return stored if stored in ("finished", "interrupted", "failed") else "interrupted"


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
