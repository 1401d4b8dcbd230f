"""The report as Markdown, for a pull request or a notebook: verdict, scores, the winner's change, how to repeat it.

Texts of programs and models are data: they stand in fences that they cannot close, or as one line without markup.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.storage.origin import commands
from reports.bill import unanswered
from reports.facts import RunFacts, read_facts
from reports.highlight import language
from reports.outside import who_wrote
from reports.verdict_kind import IN_WORDS
from reports.winner import titled
from utils.clean_text import clean, one_line
from utils.counts import counted
from utils.file_utils import write_atomic
from utils.line_diff import line_diff
from utils.program import INSTALLED
from utils.stats import proper_interval

LONGEST_CODE = 20_000
"""Characters of a program or a change; a comment on a pull request holds 65,000."""
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~@])")


def write_markdown(run_dir: Path, out: Path) -> Path:
    """Write the report of `logs/<run>` and return where it lies."""
    write_atomic(out, render_markdown(read_facts(run_dir)))
    return out


def render_markdown(facts: RunFacts) -> str:
    parts = (_outcome, _scores, _effort, _writers, _program, _origin)
    return "\n".join(line for part in parts for line in part(facts)) + "\n"


def _outcome(facts: RunFacts) -> Iterator[str]:
    verdict = facts.conclusion.verdict
    result = (
        facts.status if facts.status != "finished" and verdict.kind != "reopened" else IN_WORDS[verdict.kind]
    )  # as the list of runs says it
    yield f"## {_plain(facts.problem or facts.run)}: {_plain(result)}"
    yield f"\n{_plain(verdict.text)}\n"
    for warning in verdict.warnings:
        yield f"- note: {_plain(warning)}"
    for what, one in facts.conclusion.not_chosen.items():
        yield f"- {what}: {_number(one.metric)} by {_plain(one.name)}, not chosen: {_plain(one.why_not)}"


def _scores(facts: RunFacts) -> Iterator[str]:
    goal = "lower" if facts.lower_is_better else "higher"
    rows: list[Sequence[Any]] = [
        (titled(row), row.get("metric"), row.get("final"), _ends(row.get("final_interval"))) for row in facts.baselines
    ]
    if winner := facts.conclusion.winner:
        step = facts.numbers.name(winner.node_id)
        name = f"{_leader(facts)}, {winner.name}" + (f", {step}" if step else "")
        name += f" ({winner.mean_of})" if winner.mean_of else ""
        rows.append((name, winner.metric, winner.final_metric, _ends(winner.final_interval)))
    if rows:
        yield f"\n| {_plain(facts.unit)} ({goal} is better) | validation | final part | 95 % |\n|---|--:|--:|---|"
        for name, *values in rows:
            yield f"| {_plain(name)} | " + " | ".join(map(_number, values)) + " |"


def _ends(interval: Any) -> str:
    pair = proper_interval(interval)
    return f"{_number(pair[0])} … {_number(pair[1])}" if pair else ""


def _leader(facts: RunFacts) -> str:
    winner = facts.conclusion.winner
    return "winner" if winner is not None and winner.chosen else "best so far"


def _effort(facts: RunFacts) -> Iterator[str]:
    cost = facts.cost.get("cost_usd")
    effort = facts.conclusion.effort or counted(len(facts.steps), "step")
    parts = [f"{_plain(effort)}, written by {_plain(facts.writer or 'unknown')}"]
    parts += [f"{facts.seconds:.0f} s"] if facts.seconds else []
    parts += [f"${cost:.4f}"] if cost is not None else []
    parts += [more] if (more := unanswered(facts.cost)) else []
    yield f"\n{', '.join(parts)}."


def _writers(facts: RunFacts) -> Iterator[str]:
    """Who wrote what, where that is more than one, or somebody from outside."""
    rows = who_wrote(facts.nodes, facts.lower_is_better)
    if len(rows) > 1 or facts.sessions or facts.tickets:
        yield "\n| writer | programs | failed | improvements | best | tokens | $ |\n|---|--:|--:|--:|--:|--:|--:|"
        for row in rows:
            values = (row.programs, row.failed, row.improvements, row.best, row.tokens, row.cost_usd)
            yield f"| {_plain(row.writer)} | " + " | ".join(map(_number, values)) + " |"
    if facts.tickets:
        told = sum(one["state"] == "told" for one in facts.tickets)
        yield f"\n{counted(len(facts.tickets), 'ticket')}, {told} told."
    if facts.sessions:
        turns = sum(one["turns"] for one in facts.sessions)
        sessions = counted(len(facts.sessions), "session")
        yield f"\n{sessions} of coding agents, {counted(turns, 'turn')}."


def _program(facts: RunFacts) -> Iterator[str]:
    if facts.best is None:
        return
    if len(facts.line) > 1:
        change = line_diff(facts.line[0].code, facts.best.code, ("first ancestor", _leader(facts)))
        back = len(facts.line) - 1
        yield f"\n<details><summary>Change against its first ancestor, {counted(back, 'program')} before it</summary>\n"
        yield _fenced("\n".join(change.lines), "diff")
        if change.note:
            yield f"\n{change.note}"
        yield "\n</details>"
    yield f"\n<details><summary>The {_leader(facts)}</summary>\n"
    yield _fenced(facts.best.code, language(facts))
    yield "\n</details>"


def _origin(facts: RunFacts) -> Iterator[str]:
    typed = "swarm-evo" if INSTALLED else "python main.py"
    lines = [f"{typed} {shlex.join(words)}" for words in commands(facts.origin, facts.run) if words]
    if lines:
        yield "\nAgain:\n"
        yield _fenced("\n".join(lines), "sh")
    if facts.journal_head:
        yield f"\nJournal head when this was written: `{facts.journal_head}`"


def _fenced(text: str, kind: str) -> str:
    """In a fence longer than any that the text holds."""
    body = clean(text)[:LONGEST_CODE]
    if len(text) > LONGEST_CODE:
        body += f"\n… {counted(len(text) - LONGEST_CODE, 'character')} more"
    longest = max((len(marks) for marks in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{body}\n{fence}"


def _plain(text: Any) -> str:
    """One line that holds no markup."""
    return _MARKUP.sub(r"\\\1", one_line(str(text), 600))


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _plain(value) if value else "–"
    return f"{value:.6g}"
