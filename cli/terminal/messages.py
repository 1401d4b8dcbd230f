"""The sentences of the terminal, shared by the plain and the live view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cli.terminal.standings_text import final_words, standings_lines
from core.events import NodeCommitted
from core.state.node import FREE_OPERATORS

if TYPE_CHECKING:
    from runs.outcome import Outcome
    from runs.session import RunSession
    from utils.config_schema import SearchSection

HOW = {
    "verified": "verified: scored by our evaluator, out of the candidate's reach",
    "unisolated": "unisolated: scored by our evaluator, but the candidate could have reached it",
    "claimed": "claimed: what the program printed, read by the reviewer; nobody checked it",
}

UNSEEN = {"competition": "rows", "heuristic": "instances", "arena": "games and opponents"}


def banner(session: RunSession) -> list[str]:
    """What is about to happen, who writes, and what it may cost."""
    config, problem = session.config, session.problem
    better = "lower" if problem.lower_is_better else "higher"
    writer = session.writer
    search = config.search
    lines = [
        f"run {session.run_dir.name}: {problem.name}, {problem.unit or 'metric'} ({better} is better)",
        f"writer: {_writers(session)}" + (" (a rule-based writer, not a language model)" if writer == "rules" else ""),
        f"search: {search.policy}, {_limits(session)}, {search.workers} workers, seed {config.project.seed}",
        f"sandbox: {session.search.sandbox_tier}",
    ]
    if session.offline:
        lines.append("cost: none: every reply is in the record")
    elif writer != "rules":
        from core.backend.doctor import silent_servers

        lines.append(f"cost: {quote_line(session)}")
        lines += [
            f"NOTE: nothing answers at {url} yet; start that server, or Ctrl-C and resume later"
            for url in silent_servers(session.search.model_client.roles)
        ]
    if problem.note:
        lines.append(f"note: {problem.note}")
    if session.search.sandbox_tier == "none":
        lines.append("NO SANDBOX: programs run with your rights, scores are unisolated")
    return lines


def _writers(session: RunSession) -> str:
    """Who writes programs; several models with the way that one is chosen."""
    settings = session.search.model_client.roles["code"]
    names = [model.writer for model in settings.alternatives]
    return f"{', '.join(names)} ({settings.choice})" if len(names) > 1 else session.writer


def quote_line(session: RunSession) -> str:
    """Steps × expected tokens, before the first call."""
    from core.backend.preflight import quote

    config = session.config
    steps = _expected_steps(config.search)
    reviews = config.agent.review != "never"
    text = quote(session.search.model_client.roles, steps or 1, reviews=reviews).text(config.budget.usd)
    return text if steps is not None else f"no limit on steps; for each: {text}"


def _expected_steps(search: SearchSection) -> int | None:
    """Steps that the limits allow; None without a limit on steps or generations."""
    a_generation = search.num_islands * search.per_island if search.policy == "islands" else search.questions
    limits = [search.max_steps, search.max_generations and search.max_generations * a_generation]
    return min((limit for limit in limits if limit is not None), default=None)


def _limits(session: RunSession) -> str:
    search, budget = session.config.search, session.config.budget
    parts = []
    if search.max_steps is not None:
        parts.append(f"{search.max_steps} steps")
    if search.max_generations is not None:
        parts.append(f"{search.max_generations} generations")
    if budget.seconds is not None:
        parts.append(f"{_duration(budget.seconds)}")
    return "at most " + ", ".join(parts)


def _duration(seconds: float) -> str:
    if seconds >= 3600:
        return f"{seconds / 3600:.3g} h"
    return f"{seconds / 60:.3g} min" if seconds >= 120 else f"{seconds:.3g} s"


class StepLines:
    """One node in one line; steps are numbered, what is no step (a program of the user, an ensemble) is not.

    Args:
        max_steps: shown beside the number; None: no limit.
        before: steps that were made before the first line.
    """

    def __init__(self, max_steps: int | None, before: int = 0) -> None:
        self._max_steps = max_steps
        self._steps = before

    def line(self, event: NodeCommitted) -> str:
        number = ""
        if event.operator not in FREE_OPERATORS:
            self._steps += 1
            number = f"[{self._steps}/{self._max_steps}] " if self._max_steps else f"[{self._steps}] "
        parents = f" of {'+'.join(parent[:6] for parent in event.parent_ids)}" if event.parent_ids else ""
        best = "" if event.best_metric is None else f"  best {event.best_metric:.6g}"
        return f"{number}{event.node_id[:6]} {event.operator}{parents}: {_outcome_of(event)}{best}"


def _outcome_of(event: NodeCommitted) -> str:
    if event.metric is not None:
        return f"{event.metric:.6g}" + (" *best*" if event.is_best else "")
    if event.failure is not None:
        return f"failed: {event.failure.value}: {' '.join(event.message.split())[:120]}"
    if event.is_valid:
        return f"not scored in full: {event.message}"
    return f"duplicate: {event.message}"


def closing(outcome: Outcome) -> list[str]:
    """How it ended, how good it is and how we know, against what, where it lies, and what to try next."""
    search = outcome.search
    problem, run = search.problem, outcome.run_dir.name
    lines = ["", f"ended: {outcome.reason}"]
    if outcome.best is None:
        lines.append("no valid program found" + _commonest_failure(outcome))
        return [*lines, f"look: python main.py show {run}", *_next(outcome)]
    best = outcome.best
    how = HOW.get(str(best.metric_source), "")
    where = "at its first tournament" if problem.family == "arena" else "on validation"
    lines.append(f"best {problem.unit or 'metric'}: {best.metric_value:.6g} {where} ({how})")
    lines += _final_lines(outcome)
    lines += _baseline_lines(outcome)
    lines += _standings(outcome)
    claim = (outcome.final or {}).get("claim")
    if claim:
        lines.append(claim["text"])
    lines.append(f"best program: {_shown(_program(outcome))} (node {best.id}, writer {best.writer})")
    report = outcome.run_dir / "report.html"
    lines += [f"report: {_shown(report)}"] if report.is_file() else []
    return [*lines, *_next(outcome)]


def _program(outcome: Outcome) -> Path:
    """The winner as a file: solution.py, or the first of the user's own source files."""
    written = outcome.written or [outcome.best_dir / "solution.py"]
    return next((path for path in written if path.name == "solution.py"), written[0])


def _final_lines(outcome: Outcome) -> list[str]:
    final = outcome.final or {}
    if final.get("metric") is None:
        return [f"final score: none ({final['message']})"] if final.get("message") else []
    if outcome.search.problem.family == "arena" and final.get("message"):
        return [final_words(final)]
    interval = final.get("interval")
    text = f"final score: {final['metric']:.6g} on {UNSEEN[outcome.search.problem.family]} the search never saw"
    if interval:
        text += f" (95 % {interval[0]:.6g} … {interval[1]:.6g})"
    reveals = final.get("detail", {}).get("final_reveals")
    if reveals:
        text += f"; this final part has now been revealed {reveals} time{'s' if reveals > 1 else ''}"
    return [text]


def _standings(outcome: Outcome) -> list[str]:
    """The last tournament's table: a node's metric is frozen at its first verdict, here is what later games say."""
    found = (
        node.metadata["standings"] for node in reversed(list(outcome.search.journal)) if node.metadata.get("standings")
    )
    rows = next(found, None)
    return ["", "standings of the last tournament, Elo over all games", *standings_lines(rows), ""] if rows else []


def _baseline_lines(outcome: Outcome) -> list[str]:
    lines = []
    for row in outcome.baselines:
        score = "failed" if row["metric"] is None else f"{row['metric']:.6g}"
        final = "" if row.get("final") is None else f", final {row['final']:.6g}"
        lines.append(f"baseline {row['name']}: {score}{final}")
    return lines


def _commonest_failure(outcome: Outcome) -> str:
    failures = outcome.search.journal.failures
    if not failures:
        return ""
    kind, count = max(failures.items(), key=lambda item: item[1])
    return f"; commonest failure: {kind} ({count})"


def _next(outcome: Outcome) -> list[str]:
    run = outcome.run_dir.name
    lines = ["", "next:", f"  python main.py show {run}"]
    if outcome.search.problem.family == "competition":
        if outcome.best is not None and not outcome.search.problem.claims_only:
            lines.append(f"  python main.py export-best {run} --refit")
        lines.append('  python main.py --data.dir=FOLDER --data.goal="…" --data.target=COLUMN --data.metric=rmse')
    if outcome.search.problem.family == "arena" and outcome.best is not None:
        engine, problem = _shown(outcome.best_dir / "engine.py"), outcome.search.problem
        lines.append(f"  python main.py arena --problem {problem.name} {engine} RIVAL      (a .py or a UCI command)")
    if outcome.search.model_client.settings_of("code").provider == "rules":
        lines.append(
            "  OPENAI_API_KEY=… python main.py --llm=openai      (or anthropic, gemini, deepseek, glm, ollama, vllm)"
        )
    return lines


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
