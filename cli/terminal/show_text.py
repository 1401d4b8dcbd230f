"""`show` for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.syntax import Syntax
from rich.text import Text

from cli.terminal.console import VisibleConsole
from core.storage.held import WAITING
from reports.bill import unanswered
from reports.note_parts import note_parts
from reports.outcome import case_columns, case_heads
from reports.run_index import inside
from reports.winner import Winner, mean_of, named, who
from utils.counts import duration, local
from utils.direction import Direction
from utils.number_text import told_apart
from utils.traceback_text import alike_once

NODES_SHOWN = 40
"""Of a run, the newest."""
MOST_CASES = 20
"""Cases of the final part that are printed."""


def print_run(facts: dict[str, Any]) -> None:
    console = VisibleConsole()
    unit = facts["unit"] or "metric"
    rows = {
        "run": facts["run"],
        "title": facts["title"],
        "tags": " ".join(facts["tags"]),
        "your note": facts["note"],
        "problem": f"{facts['problem']} ({unit}, {Direction(facts['direction'] == 'min').word} is better)",
        "status": facts["status"],
        "started": local(facts["started_at"]),
        "writer": facts["writer"],
        "policy": _told(inside(facts["config"], "search", "policy")),
        "seed": _told(inside(facts["config"], "project", "seed")),
        "verdict": "\n".join([facts["verdict"]["text"], *facts["verdict"]["warnings"]]),
        "warnings": "\n".join(facts["warnings"]),
        "note": "\n".join(note_parts(facts["problem_note"])),
        "winner" if facts["winner"] and facts["winner"]["chosen"] else "best": _best(facts),
        "final": _final(facts),
        f"best {(facts['best_on_validation'] or {}).get('where')}": _runner(facts["best_on_validation"]),
        "best of the search": _runner(_apart(facts["best_of_search"], facts["best_on_validation"])),
        "control": facts["control"]["text"],
        "steps": "" if facts["effort"] else str(facts["steps"]),
        "effort": facts["effort"],
        "failures": "" if facts["effort"] else _counted(facts["failures"]),
        "budget": facts["limits"],
        "search time": duration(facts["elapsed"]),
        "tokens": _tokens(facts),
        "cost": _cost(facts),
        "sandbox": str(facts["sandbox"].get("tier", "")),
        "journal_sha256": facts["journal_sha256"],
        "journal_head": facts["journal_head"] or "none: an older version wrote this run",
    }
    console.facts([(name, value) for name, value in rows.items() if value])
    if facts["baselines"]:
        scores = [(named(row), _number(row["metric"]), _number(row.get("final"))) for row in facts["baselines"]]
        console.table(("baseline", "validation", "final"), scores)
    if facts["winner"] and facts["winner"]["chosen"]:
        print_cases(console, facts["final"].get("table"), facts["winner"]["name"])
    console.table(("step", "node", "operator", "parents", unit, "failure"), _node_rows(facts["nodes"][-NODES_SHOWN:]))


def _told(value: Any) -> str:
    return "" if value is None else str(value)


def _node_rows(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """A line a node; two scores that differ do not read the same."""
    scores = sorted({row["metric"] for row in rows if row["metric"] is not None})
    beside = {score: (*scores[max(0, at - 1) : at], *scores[at + 1 : at + 2]) for at, score in enumerate(scores)}
    for row in rows:
        score = row["metric"]
        yield _node_row(row, "–" if score is None else told_apart(score, *beside[score], digits=6))


def _node_row(row: dict[str, Any], score: str) -> tuple[str, ...]:
    return (
        "" if row["step"] is None else str(row["step"]),
        row["node_id"],
        row["operator"],
        " ".join(row["parent_ids"]),
        score,
        _outcome(row),
    )


def _outcome(row: dict[str, Any]) -> str:
    """Why a node has no score; '' where it has one."""
    if row["nothing_left"]:
        return "nothing left"
    if row["duplicate_of"] and not row["failure"]:
        return f"duplicate of {row['duplicate_of']}"
    return row["failure"] or ("not scored in full" if row["metric"] is None else "")


def print_cases(console: VisibleConsole, table: dict[str, Any] | None, winner: str) -> None:
    """The final part case by case: the winner beside the best of the baselines that are not it."""
    if not table:
        return
    rows = table["rows"]
    names = case_columns(rows)
    heads = case_heads(names, winner, table["baseline"])
    cells = [[_cell(row.get(name)) for name in names] for row in rows[:MOST_CASES]]
    console.table(heads, cells, f"final part: {winner}, the winner, case by case")
    if len(rows) > MOST_CASES:
        console.print(f"and {len(rows) - MOST_CASES} more: show RUN --json, final.table")


def _best(facts: dict[str, Any]) -> str:
    if facts["best_node_id"] is None:
        return "no result yet" if facts["status"] in ("running", "interrupted", WAITING) else "no valid program found"
    winner = Winner.model_validate(facts["winner"])
    node = "" if winner.role == "candidate" else f", node {winner.node_id}"
    source = ", ".join(filter(None, (str(winner.metric_source), winner.mean_of)))
    return f"{_number(winner.metric)} {winner.where} ({source}), {who(winner)}{node}"


def _final(facts: dict[str, Any]) -> str:
    """'' where no part is unseen."""
    if facts["final_metric"] is None:
        return ""
    return f"{_number(facts['final_metric'])} {_interval(facts['final_interval'])}".strip()


def _runner(runner: dict[str, Any] | None) -> str:
    """A program that is the best in some way, where another one was chosen."""
    return f"{_number(runner['metric'])} by {runner['name']}, not chosen: {runner['why_not']}" if runner else ""


def _apart(own: dict[str, Any] | None, runner: dict[str, Any] | None) -> dict[str, Any] | None:
    """The best of the search, where the line before does not tell it as the best on validation."""
    return None if own and runner and own["node_id"] == runner["node_id"] else own


def _counted(failures: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in failures.items()) or "none"


def _tokens(facts: dict[str, Any]) -> str:
    if facts["tokens"] is None:
        return "–"
    cached = facts["cached_tokens"]
    return f"{facts['tokens']:,}" + (f" ({cached:,} of them from the cache, free)" if cached else "")


def _cost(facts: dict[str, Any]) -> str:
    calls = "–" if facts["cost_usd"] is None else f"${facts['cost_usd']:.4f}"
    machines = [] if facts["machine_usd"] is None else [f"${facts['machine_usd']:.4f} for the machines"]
    more = unanswered(facts)
    return ", and ".join([calls, *machines, *([more] if more else [])])


def print_node(facts: dict[str, Any]) -> None:
    """A node, whole. Everything a candidate or a model wrote is printed as plain text."""
    console = VisibleConsole()
    wanted = (
        "node_id",
        "step",
        "operator",
        "parent_ids",
        "metric",
        "metric_source",
        "claimed_metric",
        "failure",
        "writer",
    )
    width = min(max([16, *map(len, facts["metrics"])]), 40)
    for name in wanted:
        told = "none: it is no step of the search" if name == "step" and facts[name] is None else _fact(facts[name])
        how = mean_of(facts["scores"], facts["noise"]) if name == "metric" else ""
        told += f" ({how})" if how else ""
        console.print(Text.assemble((f"{name:>{width}} ", "bold"), told))
    if facts["against_parent"]:
        console.print(Text.assemble((f"{'against parent':>{width}} ", "bold"), facts["against_parent"]))
    if facts["visits"]:
        reward = f"{facts['visits']}, mean reward {facts['total_reward'] / facts['visits']:.4g}"
        console.print(Text.assemble((f"{'visits':>{width}} ", "bold"), reward))
    for name, value in facts["metrics"].items():
        console.print(Text.assemble((f"{name:>{width}} ", "bold"), _fact(value)))
    for title, text in facts["artifacts"].items():
        console.rule(Text(f"artifact: {title}"))
        _print_text(console, text)
    for title in ("plan", "analysis", "term_out"):
        if facts[title]:
            console.rule(title)
            _print_text(console, alike_once(facts[title]) if title == "term_out" else facts[title])
    if facts["message"]:
        console.print(Text(f"message: {facts['message']}"))
    if "why" in facts:
        return  # the program and the calls are what `show` without --why is for
    console.rule("code")
    _print_text(console, facts["code"], Syntax(facts["code"], "python", line_numbers=True, word_wrap=True))
    for call in facts["calls"]:
        console.rule(Text(f"call: {call['role']} {call['provider']}/{call['model']}"))
        _print_text(console, call["reply"])


def _print_text(console: VisibleConsole, text: str, shown: Syntax | None = None) -> None:
    """A text with lines of its own: as it is where no terminal shows it, since a file or a pipe has no edge.

    Args:
        shown: what a terminal shows in its place.
    """
    if console.is_terminal:
        console.print(shown or Text(text))
    else:
        print(text, end="" if text.endswith("\n") else "\n")


def print_diff(files: list[dict[str, Any]], diff: str) -> None:
    """A line a changed file where there are several to tell apart, then the difference itself."""
    console = VisibleConsole()
    for file in files:
        console.print(Text(f"{file['kind']:>8}  +{file['added']} -{file['removed']}  {file['path']}"), soft_wrap=True)
    _print_text(console, diff, Syntax(diff, "diff", word_wrap=True))


def print_files(archive: Path, archived: list[dict[str, Any]]) -> None:
    """What is kept of a node's program: the outputs that were scored, and what the archive of its workspace holds."""
    console = VisibleConsole()
    for path in sorted(path for path in archive.parent.rglob("*") if path.is_file()):
        console.print(Text(str(path)), soft_wrap=True)
    for file in archived:
        console.print(Text(f"{file['bytes']:>14,}  {file['name']}"), soft_wrap=True)
    if not archived:
        console.print("no archive: the program left nothing, or it is neither among the best nodes nor the newest")


def print_why(facts: dict[str, Any]) -> None:
    """All of it as plain text: what a policy said may quote what a model wrote."""
    console = VisibleConsole()
    if "chosen" in facts:
        console.rule("why these parents")
        words = {key: value for key, value in facts["chosen"].items() if key not in ("candidates", "parents")}
        for key, value in words.items():
            console.print(Text.assemble((f"{key:>16} ", "bold"), str(value)))
        if "seed" in facts:
            seed = facts["seed"]
            line = f"{seed['draws']} (run {seed['run']}, round {seed['round']})"
            console.print(Text.assemble((f"{'seed of draws':>16} ", "bold"), line))
        _print_rows(console, "parents", facts.get("parents", []))
        _print_rows(console, "candidates", facts.get("candidates", []))
        if facts.get("decision"):
            console.print(Text(f"decision: {facts['decision']}"))
    console.rule("why the best is best")
    best = facts["best"]
    console.print(Text(best["rule"]))
    _print_rows(console, "top", best["top"])
    if "final" in best:
        final = best["final"]
        console.print(Text(f"final choice {final['node_id']}: {final['rule']}"))
        _print_rows(console, "choice", final["choice"])
        console.print(Text(f"verdict: {final['verdict']}"))


def _print_rows(console: VisibleConsole, title: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    names = [name for name in rows[0] if not isinstance(rows[0][name], list | dict)]
    console.table(names, [[_cell(row.get(name)) for name in names] for row in rows], title)


def _fact(value: Any) -> str:
    """A value with all its digits; the members of a list with blanks between them."""
    return " ".join(map(str, value)) or "–" if isinstance(value, list) else "–" if value is None else str(value)


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def _interval(pair: list[float] | None) -> str:
    return f"(95 % {pair[0]:.6g} … {pair[1]:.6g})" if pair else ""
