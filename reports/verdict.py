"""The outcome in words, and how sure it is: claims nothing that the numbers do not carry."""

from __future__ import annotations

from typing import Any

from reports.facts import RunFacts
from reports.markup import EMPTY, Markup, figure, join, table, tag
from utils.direction import Direction

SOURCES = {
    "verified": ("good", "verified", "Scored by our evaluator, out of the program's reach."),
    "unisolated": ("warn", "unisolated", "Scored by our evaluator, but the program could have reached the scoring."),
    "claimed": ("bad", "claimed", "What the program printed, as the reviewer read it. Nobody checked it."),
}


def outcome(facts: RunFacts) -> Markup:
    """Best score, final score, baselines, and what may be concluded."""
    if facts.best is None or facts.best.metric_value is None:
        worst = max(facts.failures.items(), key=lambda item: item[1], default=None)
        why = f" The commonest failure was {worst[0]} ({worst[1]} of {len(facts.nodes)})." if worst else ""
        return tag("p", f"No valid program found.{why}", class_="big")
    best = facts.best
    mood, label, meaning = SOURCES.get(str(best.metric_source), ("warn", "unknown", "Nobody vouches for this score."))
    better = Direction(facts.lower_is_better).word
    return join(
        [
            tag("p", f"{figure(best.metric_value)} {facts.unit}", class_="big"),
            tag("p", tag("span", label, class_=f"badge {mood}"), f"{better} is better. {meaning}"),
            scores(facts),
            tag("h3", "How sure is it?"),
            tag("ul", *(tag("li", sentence) for sentence in certainty(facts))),
            choice(facts),
        ]
    )


def scores(facts: RunFacts) -> Markup:
    """The winner beside the baselines, on both parts."""
    assert facts.best is not None
    best, final = facts.best, facts.final
    rows: list[list[Any]] = [
        [
            tag("b", f"best: {best.id} (step {best.step}, {best.operator})"),
            best.metric_value,
            _interval(best.interval or final.get("detail", {}).get("validation_interval")),
            final.get("metric"),
            _interval(final.get("interval")),
        ]
    ]
    for row in facts.baselines:
        failed = f"failed: {row['failure']}" if row.get("failure") else None
        name = f"baseline {row.get('name', '')}"
        metric = row.get("metric") if failed is None else failed
        rows.append(
            [name, metric, _interval(row.get("interval")), row.get("final"), _interval(row.get("final_interval"))]
        )
    told = {row.get("node_id") for row in facts.baselines} | {row.get("name") for row in facts.baselines} | {best.id}
    for node in facts.nodes:
        name = (node.name or node.plan or node.id)[:80]
        if node.operator in ("baseline", "user") and not node.parent_ids and not told & {node.id, name}:
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
        if scored > 1:
            found.append(f"The best of {scored} scores is flattered by the choice: it was picked for being best.")
    else:
        found.append(_about_final(facts, final, scored))
        found += _paired_claim(facts) or _against_champion(facts) or _against_baselines(facts, final)
    reveals = facts.final.get("detail", {}).get("final_reveals")
    if isinstance(reveals, int) and reveals > 1:
        found.append(f"This final part has been revealed {reveals} times; each look makes it a little less unseen.")
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
    return (
        f"The final score {figure(final)} was measured on what the search never saw. It differs by {gap:+.4g} from the "
        f"validation score, which is the best of {scored}."
    )


def _paired_claim(facts: RunFacts) -> list[str]:
    """The run's own comparison with the best baseline, case by case; [] where it made none."""
    claim = facts.final.get("claim") or {}
    interval = claim.get("interval")
    if not interval or not isinstance(claim.get("gain"), int | float):
        return []
    text = (
        f"Compared case by case with the best baseline ({claim.get('baseline', '')}) on the final part it gains "
        f"{claim['gain']:+.4g} (95 % {interval[0]:+.4g} … {interval[1]:+.4g})"
    )
    if claim.get("holds"):
        return [f"{text}: more than chance explains."]
    return [f"{text}: {'worse than it' if interval[1] < 0 else 'the two cannot be told apart'}."]


def choice(facts: RunFacts) -> Markup:
    """How the winner was taken from among the best: differences on the same cases."""
    rows = facts.final.get("choice")
    if not isinstance(rows, list) or len(rows) < 2:
        return EMPTY
    head = ["program", "validation", "difference to the best", "its standard error", "tie", "characters"]
    shown = []
    for row in rows:
        name: Markup | str = str(row.get("node_id", ""))
        if row.get("node_id") == facts.final.get("node_id"):
            name = tag("b", f"{name} (chosen)")
        tie = "yes" if row.get("tie") else "no"
        shown.append([name, row.get("metric"), row.get("difference"), row.get("error"), tie, row.get("size")])
    text = "Chosen among the best on validation; where scores cannot be told apart, the simpler program wins."
    return tag("details", tag("summary", "how the winner was chosen"), tag("p", text), table(head, shown))


def _against_champion(facts: RunFacts) -> list[str]:
    """Arena: is the gain in Elo above the starting champion more than chance? [] for other families."""
    detail, interval = facts.final.get("detail", {}), facts.final.get("interval")
    if not detail.get("games"):
        return []
    found = []
    if interval and interval[0] <= 0 <= interval[1]:
        found.append("The interval holds 0: it may be no stronger than the starting champion.")
    duel = detail.get("head_to_head") or {}
    games = duel.get("wins_draws_losses")
    if games:
        won, drawn, lost = games
        text = (
            f"Head to head with the starting champion, on openings kept for this: {won} won, {drawn} drawn, {lost} lost"
        )
        los = duel.get("los")
        found.append(f"{text}; likelihood of superiority {100 * los:.1f} %." if los is not None else f"{text}.")
    return found


def _against_baselines(facts: RunFacts, final: float) -> list[str]:
    """Does the final interval exclude the best baseline's final score?"""
    known = [row for row in facts.baselines if isinstance(row.get("final"), int | float)]
    direction = Direction(facts.lower_is_better)
    best = direction.best(known, lambda row: row["final"])
    if best is None:
        return []
    gain = direction.gain(final, best["final"])
    relative = f" ({100 * gain / abs(best['final']):+.1f} %)" if best["final"] else ""
    sentence = (
        f"Against the best baseline ({best.get('name', '')}, {figure(best['final'])}) it gains {gain:+.4g}{relative}"
    )
    interval = facts.final.get("interval")
    if not interval:
        return [f"{sentence}; there is no interval, so that this may be chance."]
    if interval[0] <= best["final"] <= interval[1]:
        return [f"{sentence}, but the baseline lies inside of the 95 % interval: this may be chance."]
    side = "better" if gain > 0 else "worse"
    return [
        f"{sentence}, and the baseline lies outside of the 95 % interval: {side} than it, as far as this sample says."
    ]


def _interval(value: Any) -> str | Markup:
    if not isinstance(value, list | tuple) or len(value) != 2 or None in value:
        return EMPTY
    return tag("span", f"{figure(float(value[0]))} … {figure(float(value[1]))}", class_="nowrap")
