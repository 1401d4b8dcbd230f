"""What a run says at its end: how it ended, how good the best is and how we know, and what to try next."""

from __future__ import annotations

from pathlib import Path

from cli.terminal.commands import command, program
from cli.terminal.standings_text import final_text, standings_lines
from runs.outcome import Outcome

HOW = {
    "verified": "verified: scored by our evaluator, out of the candidate's reach",
    "unisolated": "unisolated: scored by our evaluator, but the candidate could have reached it",
    "claimed": "claimed: what the program printed, read by the reviewer; nobody checked it",
}

UNSEEN = {"competition": "rows", "heuristic": "instances", "arena": "games and opponents"}


def closing(outcome: Outcome) -> list[str]:
    """How it ended, how good it is and how we know, against what, where it lies, and what to try next."""
    facts, problem, folder = outcome.facts, outcome.facts.problem, outcome.facts.config.project.dir
    lines = ["", f"ended: {outcome.reason}"]
    if outcome.best is None:
        lines.append("no valid program found" + _commonest_failure(outcome))
        return [*lines, f"look: {command(folder, 'show', facts.run)}", *_next(outcome)]
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
    report = facts.run_dir / "report.html"
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
    if outcome.facts.problem.family == "arena" and final.get("message"):
        return [final_text(final)]
    interval = final.get("interval")
    text = f"final score: {final['metric']:.6g} on {UNSEEN[outcome.facts.problem.family]} the search never saw"
    if interval:
        text += f" (95 % {interval[0]:.6g} … {interval[1]:.6g})"
    reveals = final.get("detail", {}).get("final_reveals")
    if reveals:
        text += f"; this final part has now been revealed {reveals} time{'s' if reveals > 1 else ''}"
    return [text]


def _standings(outcome: Outcome) -> list[str]:
    if not outcome.standings:
        return []
    return ["", "standings of the last tournament, Elo over all games", *standings_lines(outcome.standings), ""]


def _baseline_lines(outcome: Outcome) -> list[str]:
    lines = []
    for row in outcome.baselines:
        score = "failed" if row["metric"] is None else f"{row['metric']:.6g}"
        final = "" if row.get("final") is None else f", final {row['final']:.6g}"
        lines.append(f"baseline {row['name']}: {score}{final}")
    return lines


def _commonest_failure(outcome: Outcome) -> str:
    failures = outcome.failures
    if not failures:
        return ""
    kind, count = max(failures.items(), key=lambda item: item[1])
    return f"; commonest failure: {kind} ({count})"


def _next(outcome: Outcome) -> list[str]:
    facts, problem, folder = outcome.facts, outcome.facts.problem, outcome.facts.config.project.dir
    lines = ["", "next:", f"  {command(folder, 'show', facts.run)}"]
    if problem.family == "competition":
        if outcome.best is not None and not problem.claims_only:
            lines.append(f"  {command(folder, 'export-best', facts.run, '--refit')}")
        own = ("--data.dir=FOLDER", '--data.goal="…"', "--data.target=COLUMN", "--data.metric=rmse")
        lines.append(f"  {command(folder, *own)}")
    if problem.family == "arena" and outcome.best is not None:
        engine = _shown(outcome.best_dir / "engine.py")
        lines.append(f"  {program()} arena --problem {problem.name} {engine} RIVAL      (a .py or a UCI command)")
    if facts.roles["code"].provider == "rules":
        with_model = command(folder, "--llm=openai")
        lines.append(f"  OPENAI_API_KEY=… {with_model}      (or anthropic, gemini, deepseek, glm, ollama, vllm)")
    return lines


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
