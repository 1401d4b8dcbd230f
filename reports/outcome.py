"""The outcome in words, and how sure it is: claims nothing that the numbers do not carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.state.node import Node
from reports.facts import RunFacts
from reports.markup import EMPTY, Markup, clip, code, figure, join, table, tag
from reports.provenance import cell
from reports.winner import titled
from utils.counts import counted
from utils.direction import Direction
from utils.stats import proper_interval

SOURCES = {
    "verified": ("good", "verified", "Scored by our evaluator, out of the program's reach."),
    "unisolated": ("warn", "unisolated", "Scored by our evaluator, but the program could have reached the scoring."),
    "claimed": ("bad", "claimed", "What the program printed, as the reviewer read it. Nobody checked it."),
}


CHOICE_COLUMNS = {
    "difference": "difference to the best",
    "error": "its standard error",
    "tie": "tie",
    "size": "nodes of the syntax tree",
    "not_chosen": "why not chosen",
}
"""Key of a row of the choice → its column."""


def outcome(facts: RunFacts) -> Markup:
    """Best score, final score, baselines, and what may be concluded."""
    if facts.best is None or facts.best.metric_value is None:
        nothing = facts.conclusion.verdict.text if facts.status in ("finished", "failed") else "No valid program yet."
        return tag("p", nothing, class_="big")
    best = facts.best
    mood, label, meaning = SOURCES.get(str(best.metric_source), ("warn", "unknown", "Nobody vouches for this score."))
    better = Direction(facts.lower_is_better).word
    return join(
        [
            *verdict_lines(facts),
            tag("p", f"{figure(best.metric_value)} {facts.unit}", class_="big"),
            tag("p", tag("span", label, class_=f"badge {mood}"), f"{better} is better. {_mean_of(facts)}{meaning}"),
            scores(facts),
            tag("h3", "How sure is it?"),
            tag("ul", *(tag("li", sentence) for sentence in [*certainty(facts), facts.conclusion.control.text])),
            cases(facts),
            choice(facts),
        ]
    )


def _mean_of(facts: RunFacts) -> str:
    winner = facts.conclusion.winner
    return f"The {winner.mean_of}. " if winner is not None and winner.mean_of else ""


def verdict_lines(facts: RunFacts) -> list[Markup]:
    """The verdict as every surface words it, its warnings, and the best on validation where that did not win."""
    verdict, told = facts.conclusion.verdict, facts.conclusion
    lines = [tag("p", verdict.text, class_=f"verdict {verdict.kind}")]
    lines += [tag("p", f"note: {warning}", class_="quiet") for warning in verdict.warnings]
    for what, one in told.not_chosen.items():
        text = f"{what.capitalize()}: {figure(one.metric)} by {one.name}, not chosen: {one.why_not}."
        lines.append(tag("p", text, class_="quiet"))
    lines += [tag("p", f"{told.effort}.", class_="quiet")] if told.effort else []
    return lines


def scores(facts: RunFacts) -> Markup:
    """The winner beside the baselines, on both parts."""
    assert facts.best is not None
    best, winner = facts.best, facts.conclusion.winner
    assert winner is not None
    where = facts.named(winner.node_id, winner.operator)
    rows: list[list[Any]] = [
        [
            tag(
                "b",
                f"{'winner' if winner.chosen else 'best so far'}: {winner.name}"
                + f" ({where})" * (where != winner.name),
            ),
            winner.metric,
            _interval(winner.interval),
            winner.final_metric,
            _interval(winner.final_interval),
        ]
    ]
    for row in facts.baselines:
        failed = f"failed: {row['failure']}" if row.get("failure") else None
        name = titled(row)
        metric = row.get("metric") if failed is None else failed
        rows.append(
            [name, metric, _interval(row.get("interval")), row.get("final"), _interval(row.get("final_interval"))]
        )
    told = {row.get("node_id") for row in facts.baselines} | {row.get("name") for row in facts.baselines} | {best.id}
    for node in facts.nodes:
        name = (node.name or node.plan or node.id)[:80]
        if node.operator == "user" and not node.parent_ids and not told & {node.id, name}:
            rows.append([f"{node.operator} {name}", node.metric_value, _interval(node.interval), None, ""])
    return table(["program", "validation", "95 % interval", "final", "95 % interval"], rows)


def certainty(facts: RunFacts) -> list[str]:
    """Sentences, each of them true of this run."""
    assert facts.best is not None and facts.best.metric_value is not None
    scored = sum(node.is_scored for node in facts.nodes)
    found = []
    final = facts.final.get("metric")
    if final is None:
        reason = str(facts.final.get("message") or "").strip()
        found.append(f"There is no final score: {reason}." if reason else "There is no separate final score.")
        if scored > 1 and _is_best(facts):
            found.append(f"The best of {scored} scores is flattered by the choice: it was picked for being best.")
    else:
        found.append(_about_final(facts, final, scored))
    if facts.best.claimed_metric is not None and facts.best.metric_source != "claimed":
        found.append(f"The program itself claimed {figure(facts.best.claimed_metric)}; the claim steered nothing.")
    if facts.sandbox.get("tier") == "none":
        found.append("The run had no sandbox: programs ran with the rights of whoever started it.")
    return found


def _about_final(facts: RunFacts, final: float, scored: int) -> str:
    """What the final score was measured on, and its gap to validation where the two are one measure."""
    assert facts.best is not None and facts.best.metric_value is not None
    if facts.final.get("detail", {}).get("games"):
        return f"Final: {facts.final.get('message', '')}."
    gap = final - facts.best.metric_value
    best = f"the validation score, which is the best of {scored}" if _is_best(facts) else "its own validation score"
    measured_on = f"The final score {figure(final)} was measured on what the search never saw."
    return f"{measured_on} It differs by {gap:+.4g} from {best}."


def _is_best(facts: RunFacts) -> bool:
    """True if the winner is the best of the search on validation: not a baseline scored beside it, no second choice."""
    winner = facts.conclusion.winner
    return winner is not None and winner.place is not None and facts.conclusion.best_on_validation is None


def cases(facts: RunFacts) -> Markup:
    """The final part case by case: what an operations researcher reads first."""
    found = facts.final.get("table")
    if not isinstance(found, dict) or not found.get("rows"):
        return EMPTY
    rows, winner = found["rows"], facts.conclusion.winner
    names, whose = case_columns(rows), winner.name if winner else ""
    shown = table(case_heads(names, whose, found.get("baseline")), [[row.get(name) for name in names] for row in rows])
    return tag("details", tag("summary", f"the final part, {counted(len(rows), 'case')} of {whose}, the winner"), shown)


def case_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Those of the table of cases that hold a value."""
    columns = ("case", "value", "bound", "gap", "seconds", "baseline")
    return [name for name in columns if any(row.get(name) is not None for row in rows)]


def case_heads(columns: Sequence[str], winner: str, baseline: str | None) -> list[str]:
    """Whose values stand below: a baseline that won stands where the winner does, and another one beside it."""
    named = {"value": f"{winner} (winner)", "baseline": str(baseline)}
    return [named.get(name, name) for name in columns]


def measured(node: Node) -> Markup:
    """All that the user's evaluator measured of a program, and the texts that it left."""
    rows: list[list[Any]] = [[name, cell(value)] for name, value in node.metrics.items()]
    texts = [
        tag("details", tag("summary", f"artifact: {name}"), code(clip(text))) for name, text in node.artifacts.items()
    ]
    return join([table(["measured", "value"], rows) if rows else EMPTY, *texts])


def choice(facts: RunFacts) -> Markup:
    """How the winner was taken from among the best: differences on the same cases where those decide."""
    rows, winner = facts.choice, facts.conclusion.winner
    if winner is None or len(rows) < 2:
        return EMPTY
    known = {node.id: node.metric_value for node in facts.nodes}
    again = any(row.get("metric") != known.get(str(row.get("node_id")), row.get("metric")) for row in rows)
    head = ["program", "validation", *["second look"] * again]
    columns = {name: told for name, told in CHOICE_COLUMNS.items() if any(name in row for row in rows)}
    shown: list[list[Any]] = [_choice_row(row, columns, known, winner.node_id, again=again) for row in rows]
    drawn = table([*head, *columns.values()], shown)
    return tag("details", tag("summary", "how the winner was chosen"), tag("p", facts.rule), drawn)


def _choice_row(
    row: Mapping[str, Any], columns: Iterable[str], known: Mapping[str, float | None], chosen: str, *, again: bool
) -> list[Any]:
    node_id = str(row.get("node_id", ""))
    named = str(row.get("name") or node_id)
    name = tag("b", f"{named} (chosen)") if node_id == chosen else named
    scores = [known.get(node_id, row.get("metric")), row.get("metric") if node_id in known else None][: 1 + again]
    words = {True: "yes", False: "no", None: ""}
    return [name, *scores, *(words[row[key]] if key == "tie" else row[key] for key in columns)]


def _interval(value: Any) -> str | Markup:
    pair = proper_interval(value)
    return tag("span", f"{figure(pair[0])} … {figure(pair[1])}", class_="nowrap") if pair else EMPTY
