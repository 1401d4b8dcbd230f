"""The outcome of a run: which program wins, how it does on the final part, what is written beside the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.contracts import Evaluation, Problem
from core.events import FinalScored
from core.search.claim import hardest, paired_claim
from core.search.final_choice import choose, looked_again
from core.state.node import Node
from core.storage.repository import RunStore
from runs.facts import RunFacts
from runs.search import Search
from utils.errors import SwarmEvoError
from utils.logger_system import log_msg


@dataclass(slots=True)
class Outcome:
    """What a run came to, as plain facts."""

    facts: RunFacts
    reason: str
    """Which limit ended the search."""
    best: Node | None = None
    final: dict[str, Any] | None = None
    """The winner on the final part; None without a winner."""
    baselines: list[dict[str, Any]] = field(default_factory=list)
    failures: Mapping[str, int] = field(default_factory=dict)
    """FailureKind → nodes that ended so."""
    standings: list[dict[str, Any]] = field(default_factory=list)
    """The arena's last tournament, one object an engine; [] elsewhere."""
    written: list[Path] = field(default_factory=list)
    """Files of the exported winner."""

    @property
    def best_id(self) -> str | None:
        return self.best.id if self.best else None

    @property
    def best_metric(self) -> float | None:
        return self.best.metric_value if self.best else None

    @property
    def best_dir(self) -> Path:
        return self.facts.run_dir / "best_solution"

    def write_files(self, *, report: bool = True) -> None:
        """best_solution/, plots and report. A file that cannot be written is a warning: the search is not lost."""
        works = {"best_solution": self._export, **({"plots and report": self._report} if report else {})}
        for name, work in works.items():
            try:
                work()
            except (OSError, SwarmEvoError, ValueError) as error:
                log_msg("WARNING", f"{name}: {error}")

    def _export(self) -> None:
        if self.best is not None:
            self.written = write_solution(self.facts.problem, self.best, self.best_dir, self.facts.run_dir)

    def _report(self) -> None:
        from reports.child import write_all

        write_all(self.facts.run_dir)


def conclude(search: Search, facts: RunFacts, reason: str) -> Outcome:
    """Choose the winner on validation, open the final part once for it and the baselines, and keep both as facts."""
    store = search.store
    outcome = Outcome(facts, reason, failures=dict(search.journal.failures), standings=_standings(search))
    choice = choose(_finalists(search), search.config.project.seed)
    outcome.best = _appointed(search) or (search.journal[choice.winner.id] if choice else None)
    outcome.baselines = list(store.get_fact("baselines") or _seeded(search))
    if outcome.best is None:
        store.put_fact("final", {"node_id": None})
        return outcome
    rows = [row for row in outcome.baselines if row["failure"] is None]
    scores = search.evaluator.final([outcome.best, *(_node_of(search, row) for row in rows)])
    _keep_baselines(store, outcome, rows, scores[1:])
    outcome.final = {
        **_final_of(outcome.best, scores[0]),
        "choice": choice.rows if choice else [],
        "claim": claim_of(scores[0], rows, scores[1:], search.problem.lower_is_better),
    }
    event = FinalScored(
        node_id=outcome.best.id,
        metric=outcome.final["metric"],
        interval=outcome.final["interval"],
        detail=outcome.final["detail"],
    )
    store.put_fact("final", outcome.final, [event])
    return outcome


def _standings(search: Search) -> list[dict[str, Any]]:
    """The newest table of an arena: a node's metric is frozen at its first verdict, here is what later games say."""
    newest = search.journal.newest(len(search.journal))
    return next((node.tournament.standings for node in newest if node.tournament), [])


def _finalists(search: Search) -> list[Node]:
    """The best on validation; in the order of a second look, where the evaluator has instances left for one."""
    top = search.journal.top(search.config.search.top_k)
    verdicts = search.evaluator.second_look(top) if top else None
    return (looked_again(top, verdicts, search.problem.lower_is_better) if verdicts else []) or top


def _appointed(search: Search) -> Node | None:
    """The evaluator's own winner, where scores of different rounds cannot be compared (the arena's champion)."""
    node_id = search.evaluator.choice()
    return search.journal.get_node_by_id(node_id) if node_id else None


def claim_of(
    winner: Evaluation | None,
    rows: Sequence[dict[str, Any]],
    finals: Sequence[Evaluation | None],
    lower_is_better: bool,
) -> dict[str, Any] | None:
    """The winner against the baseline that is hardest to beat, as plain JSON; None where nothing can be said."""
    if winner is None or winner.metric is None:
        return None
    found = [
        paired_claim(row["name"], winner.signature, final.signature, lower_is_better)
        for row, final in zip(rows, finals, strict=True)
        if final and final.metric is not None
    ]
    claim = hardest([claim for claim in found if claim is not None])
    if claim is None:
        return None
    return {
        "baseline": claim.baseline,
        "gain": claim.gain,
        "interval": list(claim.interval),
        "holds": claim.holds,
        "text": claim.text,
    }


def _seeded(search: Search) -> list[dict[str, Any]]:
    """Baselines that are nodes of the journal, as the same rows."""
    return [
        {
            "name": node.name or node.id,
            "node_id": node.id,
            "metric": node.metric_value,
            "failure": node.failure.value if node.failure else None,
            "message": node.message,
        }
        for node in search.journal
        if node.operator == "baseline"
    ]


def _final_of(best: Node, score: Evaluation | None) -> dict[str, Any]:
    return {
        "node_id": best.id,
        "metric": score.metric if score else None,
        "interval": list(score.interval) if score and score.interval else None,
        "message": score.message if score else "",
        "detail": score.detail if score else {},
    }


def _node_of(search: Search, row: dict[str, Any]) -> Node:
    """The node behind a row: the journal's, or for a baseline beside the search the one it was scored as."""
    found = search.journal.get_node_by_id(row["node_id"])
    code = next((b.code for b in search.problem.baselines() if b.name == row["name"]), "")
    return found or Node(id=row["node_id"], code=code, operator="baseline", name=row["name"])


def _keep_baselines(
    store: RunStore, outcome: Outcome, rows: Sequence[dict[str, Any]], scores: Sequence[Evaluation | None]
) -> None:
    for row, score in zip(rows, scores, strict=True):
        row["final"] = score.metric if score else None
        row["final_interval"] = list(score.interval) if score and score.interval else None
    if rows:
        store.put_fact("baselines", outcome.baselines)


def write_solution(problem: Problem, node: Node, out: Path, run_dir: Path) -> list[Path]:
    """Write a node as a standalone solution, with `node.json` beside it."""
    out.mkdir(parents=True, exist_ok=True)
    written = list(problem.export(node, out, run_dir))
    detail = out / "node.json"
    detail.write_text(json.dumps({**node.model_dump(mode="json"), "metric": node.metric_value}, indent=2) + "\n")
    return [*written, detail]
