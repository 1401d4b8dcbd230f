"""A run at a glance: the summary of the list and the detail of one run, read from its store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.state.operators import known_operators
from core.storage.event_body import event_fields
from core.storage.held import LOCK, lock_holder
from core.storage.labels import labels_of
from core.storage.reader import COUNTED, RunReader
from core.storage.unreadable import unreadable
from dashboard.server.catalog import RunCatalog
from dashboard.server.schemas.runs import OperatorStyle, RunDetail, Totals
from reports.bill import unanswered
from reports.conclusion import conclusion_of, why_ended
from reports.note_parts import note_parts
from reports.run_index import line_as_seen, line_of
from reports.search_limits import limits_now
from reports.winner import baselines_of

_TOTALS = (
    "SELECT count(*), sum(cached), sum(prompt_tokens), sum(completion_tokens), sum(cost_usd), sum(seconds)"
    f" FROM {COUNTED}"
)
NEWEST = 2**62


def summaries(catalog: RunCatalog) -> str:
    """The JSON of every run's `RunSummary`, newest first. A store that cannot be read is listed with its error."""
    rows = [
        (listed.line.started_at or "9", folder.name, catalog.texts.of(listed, _held(folder)))
        for folder, listed in catalog.index.lines(catalog.folders()).items()
    ]
    return f"[{','.join(text for _, _, text in sorted(rows, reverse=True))}]"


def _held(folder: Path) -> bool:
    return lock_holder(f"{folder}/{LOCK}") is not None


def detail(catalog: RunCatalog, run: str) -> RunDetail:
    with unreadable(run):
        return _detail(catalog, run)


def _detail(catalog: RunCatalog, run: str) -> RunDetail:
    reader = catalog.reader(run)
    facts = reader.facts()
    conclusion = conclusion_of(reader, facts)
    live = catalog.holder(run) is not None
    line = line_as_seen(line_of(reader, facts, conclusion), held=live)
    with reader.db.transaction():
        started = _newest(reader, "run.started")
        committed = _newest(reader, "node.committed")
    return RunDetail(
        **line.model_dump(),
        **labels_of(reader.run_dir).model_dump(),
        live=live,
        winner=conclusion.winner,
        best_on_validation=conclusion.best_on_validation,
        best_of_search=conclusion.best_of_search,
        effort=conclusion.effort,
        unanswered="" if live else unanswered(reader.cost()),
        conclusion=conclusion.verdict,
        control=conclusion.control,
        problem_note=note_parts(str(facts.get("problem_note") or "")),
        sandbox=_mapping(facts.get("sandbox")),
        config=_mapping(facts.get("config")),
        baselines=baselines_of(reader, facts),
        final=final if isinstance(final := facts.get("final"), dict) else None,
        environment=_mapping(facts.get("environment")),
        budget=started.get("budget", {}),
        max_steps=started.get("max_steps"),
        max_generations=started.get("max_generations"),
        limits=limits_now(reader, paid=line.cost_usd is not None),
        reason="" if live else why_ended(reader),
        elapsed=committed.get("elapsed", 0.0),
        last_seq=reader.last_seq(),
        operators={
            name: OperatorStyle(meaning=spec.meaning, colour=spec.colour, is_step=spec.is_step)
            for name, spec in known_operators(facts.get("operators")).items()
        },
    )


def totals(reader: RunReader, at: int = NEWEST) -> Totals:
    """What was asked of models up to the event `at`: each call is told by one event, in the order of their ids."""
    told = "SELECT count(*) FROM events WHERE type = 'llm.called' AND seq <= ?"
    return _totals(reader.db.select(f"{_TOTALS} AND id <= ({told})", (at,))[0])


def node_totals(reader: RunReader, node_id: str) -> Totals:
    """What was asked of models for a node."""
    return _totals(reader.db.select(f"{_TOTALS} AND node_id = ?", (node_id,))[0])


def _newest(reader: RunReader, kind: str) -> dict[str, Any]:
    """The newest event of a type as plain JSON, or {}."""
    rows = reader.db.select("SELECT body, node_id FROM events WHERE type = ? ORDER BY seq DESC LIMIT 1", (kind,))
    return event_fields(*rows[0]) if rows else {}


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


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
