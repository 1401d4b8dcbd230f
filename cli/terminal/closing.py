"""What a run says at its end: how it ended, how good the best is and how we know, and what to try next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli.terminal.commands import without_model
from cli.terminal.standings_text import final_text, standings_lines
from core.contracts import Problem
from problems.registry import PROBLEMS
from reports.choice import why_not
from reports.winner import Winner, titled, who
from runs.ending.outcome import Outcome
from utils.config_schema import Config
from utils.direction import Direction
from utils.errors import ConfigError
from utils.program import command, program

HOW = {
    "verified": "verified: scored by our evaluator, out of the candidate's reach",
    "unisolated": "unisolated: scored by our evaluator, but the candidate could have reached it",
    "claimed": "claimed: what the program printed, read by the reviewer; nobody checked it",
}

FIRST_STEPS = 20.0
"""What is offered to a run that was allowed nothing."""

UNSEEN = {"competition": "rows", "heuristic": "instances", "arena": "games and opponents"}


def closing(outcome: Outcome) -> list[str]:
    """How it ended, the verdict, the winner's scores and how we know, against what, where it lies, what to try next."""
    facts, folder = outcome.facts, outcome.facts.config.project.dir
    conclusion = outcome.conclusion or outcome.read_conclusion()
    lines = ["", f"ended: {outcome.reason}", *_final_seconds(outcome), f"verdict: {conclusion.verdict.text}"]
    lines += [f"note: {warning}" for warning in conclusion.verdict.warnings]
    lines += [f"control: {conclusion.control.text}"] if conclusion.control.draws else []
    lines += [conclusion.effort] if conclusion.effort else []
    lines += [f"cost: {conclusion.bill}"] if conclusion.bill else []
    winner = conclusion.winner
    if winner is None or outcome.best is None:
        return [*lines, f"look: {command(folder, 'show', facts.run)}", *_head(outcome), *_next(outcome)]
    lines += [*_score_lines(outcome, winner), *_baseline_lines(outcome, winner), *_standings(outcome)]
    for what, other in conclusion.not_chosen.items():
        lines.append(f"{what}: {other.metric:.6g} by {other.name}, not chosen: {other.why_not}")
    lines.append(f"best program: {_shown(_program(outcome))} ({who(winner)})")
    report = facts.run_dir / "report.html"
    lines += [f"report: {_shown(report)}"] if report.is_file() else []
    lines += _head(outcome)
    return [*lines, *_next(outcome)]


def ended_already(outcome: Outcome) -> str:
    """What is said of a run that has ended and was given nothing more to do."""
    facts = outcome.facts
    more = _more(facts.config, outcome.reason)
    text = f"run {facts.run} has ended already ({outcome.reason}), and nothing is left to do"
    if not more:
        return f"{text}: no other limit would let it go on"
    return f"{text}; give it more: `{command(facts.config.project.dir, 'resume', facts.run, *more)}`"


def _final_seconds(outcome: Outcome) -> list[str]:
    """Who gave a budget of seconds and waited longer is told why."""
    if not outcome.reason.startswith("budget.seconds") or outcome.final_seconds < 1:
        return []
    return [
        f"choosing and scoring the winner took {outcome.final_seconds:.0f} s more: budget.seconds is for the search"
    ]


def _head(outcome: Outcome) -> list[str]:
    """Who keeps it elsewhere can tell later whether the run is still the same."""
    return [f"journal_head {outcome.journal_head}"] if outcome.journal_head else []


def _program(outcome: Outcome) -> Path:
    """The winner as a file: solution.py, or the first of the user's own source files."""
    written = outcome.written or [outcome.best_dir / "solution.py"]
    return next((path for path in written if path.name == "solution.py"), written[0])


def _score_lines(outcome: Outcome, winner: Winner) -> list[str]:
    """The winner's own two scores: on the part that steers the search, and on the one that it never saw."""
    problem, final = outcome.facts.problem, outcome.final or {}
    how = "; ".join(filter(None, (winner.mean_of, HOW.get(str(winner.metric_source), ""))))
    lines = [f"best {problem.unit or 'metric'}: {winner.metric:.6g} {winner.where} ({how})"]
    if winner.final_metric is None:
        return [*lines, f"final score: none ({final['message']})"] if final.get("message") else lines
    if problem.family == "arena" and final.get("message"):
        return [*lines, final_text(final)]
    text = f"final score: {winner.final_metric:.6g} on {UNSEEN[problem.family]} the search never saw"
    if winner.final_interval:
        text += " (95 % {:.6g} … {:.6g})".format(*winner.final_interval)
    return [*lines, text]


def _standings(outcome: Outcome) -> list[str]:
    if not outcome.standings:
        return []
    return ["", "standings of the last tournament, Elo over all games", *standings_lines(outcome.standings), ""]


def _baseline_lines(outcome: Outcome, winner: Winner) -> list[str]:
    """Each with its scores; one that is better on validation than the winner says why it is not the winner."""
    newest = [
        {**row, "metric": outcome.ratings.elo(str(row.get("node_id")), row["metric"])} for row in outcome.baselines
    ]
    return [f"{titled(row)}: {_two_scores(row)}{_why_not(outcome, winner, row)}" for row in newest]


def _two_scores(row: Mapping[str, Any]) -> str:
    score = "failed" if row["metric"] is None else f"{row['metric']:.6g}"
    return score if row.get("final") is None else f"{score}, final {row['final']:.6g}"


def _why_not(outcome: Outcome, winner: Winner, row: Mapping[str, Any]) -> str:
    problem = outcome.facts.problem
    if problem.family == "arena" or row["metric"] is None or row.get("node_id") == winner.node_id:
        return ""
    if not Direction(problem.lower_is_better).better(row["metric"], winner.metric):
        return ""
    known = {"final": outcome.final, "baselines": outcome.baselines, "lower_is_better": problem.lower_is_better}
    return f"; not chosen: {why_not(str(row.get('node_id')), winner, known)}"


def _is_at_bound(outcome: Outcome) -> bool:
    """True where there can be no better score than the winner's: then nothing is left to go on for."""
    problem, best = outcome.facts.problem, outcome.best
    if problem.bound is None or best is None or best.metric_value is None:
        return False
    return not Direction(problem.lower_is_better).better(problem.bound, best.metric_value)


def _next(outcome: Outcome) -> list[str]:
    facts, problem, folder = outcome.facts, outcome.facts.problem, outcome.facts.config.project.dir
    lines = ["", "next:", f"  {command(folder, 'show', facts.run)}"]
    if problem.family == "competition":
        if outcome.best is not None and (words := _refit_words(facts.config, problem)):
            lines.append(f"  {command(folder, 'export-best', facts.run, *words)}")
        if not facts.config.data.dir and not facts.config.problem.path:
            own = ("--data.dir=FOLDER", '--data.goal="…"', "--data.target=COLUMN", "--data.metric=rmse")
            lines.append(f"  {command(folder, *own)}")
    if problem.family == "arena" and outcome.best is not None:
        engine = _shown(outcome.best_dir / "engine.py")
        game = " ".join(map(shlex.quote, _game_words(facts.config)))
        lines.append(f"  {program()} arena {game} {engine} RIVAL      (a .py or a UCI command)")
    if not _is_at_bound(outcome):
        again = command(folder, "resume", facts.run, *_more(facts.config, outcome.reason))
        lines.append(f"  {again}      (the same run goes on)")
    if facts.roles["code"].provider == "rules" and facts.words and "--events" not in facts.words:
        with_model = " ".join([program(), *map(shlex.quote, without_model(facts.words)), "--llm=openai"])
        lines.append(f"  OPENAI_API_KEY=… {with_model}      (or anthropic, gemini, deepseek, glm, ollama, vllm)")
    return lines


def _refit_words(config: Config, problem: Problem) -> list[str]:
    """What predicts the user's rows; [] where there are no labels to learn, or no rows but those of others."""
    try:
        problem.check_refit()
    except ConfigError:
        is_own = not problem.claims_only and (config.data.dir or config.data.train)
        return ["--refit", "--data.test=FILE"] if is_own else []
    return ["--refit"]


def _game_words(config: Config) -> list[str]:
    """How a verb is told the game of a run: a preset's name, a file of the user's, or a plug-in."""
    preset, kind = config.presets.problem, config.problem.kind or ""
    if PROBLEMS.is_builtin(kind):
        return ["--problem", kind]
    if preset.endswith((".yaml", ".yml")):
        return [f"--problem={preset}"]
    return [f"--problem.kind={kind}", f"--plugins={','.join(config.plugin_folders)}"]


def _more(config: Config, reason: str) -> list[str]:
    """The key that gives a finished run more of what ended it: twice what was allowed, or used where that was more."""
    if reason.startswith("budget.target"):
        return ["--budget.target=null"]
    limits = {
        "max_steps": ("search.max_steps", config.search.max_steps),
        "max_generations": ("search.max_generations", config.search.max_generations),
        "budget.seconds": ("budget.seconds", config.budget.seconds),
        "budget.tokens": ("budget.tokens", config.budget.tokens),
        "budget.usd": ("budget.usd", config.budget.usd),
        "budget.stagnation": ("budget.stagnation", config.budget.stagnation),
        "budget.repeats": ("budget.repeats", config.budget.repeats),
        "budget.nothing_left": ("budget.nothing_left", config.budget.nothing_left),
    }
    key, limit = next((found for name, found in limits.items() if reason.startswith(name)), ("", None))
    if limit is None:
        return []
    used = re.search(r"\d[\d,]*\.?\d*", reason.removeprefix(key))
    most = max(limit, float(used[0].replace(",", "")) if used else 0.0)
    return [f"--{key}={_plain(2 * most or FIRST_STEPS)}"]


def _plain(number: float) -> str:
    """As a key takes it: no exponent, no needless fraction."""
    return f"{number:.0f}" if number == int(number) else f"{number:.6g}"


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
