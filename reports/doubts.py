"""What stands beside a verdict: why its numbers carry less than they seem to, and why nothing better was found."""

from __future__ import annotations

from collections.abc import Iterator

from reports.finished_run import FinishedRun, number
from reports.spread import Spread
from reports.verdict_kind import Kind
from reports.winner import mean_of
from utils.counts import counted
from utils.direction import finite

MOST_SCORES = 5
"""Scores of one program that a warning names."""
FEW = 10
"""Below so many cases a part says little: the verdict warns."""


def warnings_of(run: FinishedRun) -> Iterator[str]:
    """Why the numbers carry less than they seem to."""
    yield from run.facts.get("cautions") or ()
    if run.spread is not None:
        yield _unsteady(run, run.spread)
    if run.alike() and run.winner.final_metric is not None and run.winner.role == "candidate":
        yield run.alike()
    for part, key in (("final part", "cases"), ("validation part", "validation_cases")):
        cases = run.final.get(key)
        if isinstance(cases, int) and 0 < cases < FEW:
            yield f"the {part} has only {counted(cases, 'case')}: little can be said of others"
    if run.winner.metric_source == "claimed":
        yield "the score is what the program printed; nobody checked it"
    elif run.winner.metric_source == "unisolated":
        yield "the program could have reached the scoring"
    detail = run.final.get("detail") or {}
    if finite(detail.get("whole_test")) is not None:
        medal = f"; medal: {detail.get('medal') or 'none'}" if "thresholds" in detail else ""
        whole = f"{number(detail['whole_test'])} {run.unit}{medal}"
        steered = "all" if run.winner.final_metric is None else "half"
        yield f"on the whole test set, as published scores are, though {steered} of it steered the search: {whole}"
    reveals = (run.final.get("detail") or {}).get("final_reveals")
    if isinstance(reveals, int) and reveals > 1:
        often = counted(reveals, "time")
        yield f"this final part has been revealed {often}; each look makes it a little less unseen"


def _unsteady(run: FinishedRun, spread: Spread) -> str:
    mine = spread.looks.get(run.winner.node_id)
    if not spread.looks:
        return (
            "the evaluator does not give the same program the same score, and there was no time to score the best "
            f"again: one score has a standard deviation of {spread.deviation:.4g}"
        )
    whose, look = ("the winner", mine) if mine else ("a program", next(iter(spread.looks.values())))
    first = number(look.first) + (f" ({mean_of(look.times)})" if look.times > 1 else "")
    again = ", ".join(map(number, [*(look.before or ()), *look.again][:MOST_SCORES]))
    again += f" and failed {counted(look.failed, 'time')}" if look.failed else ""
    return (
        f"the evaluator does not give the same program the same score: {whose} had {first}, then {again}; one "
        f"score has a standard deviation of {spread.deviation:.4g}"
    )


def why_nothing(run: FinishedRun, kind: Kind) -> Iterator[str]:
    """Why the search found nothing better, in every family alike: it had nothing to go by, it repeated itself, its
    programs failed, its writer cannot do more."""
    if run.is_at_optimum:
        score, why = run.facts["optimum"]
        yield f"{number(float(score))} is the best score there is: {why}."
        return
    alike = run.alike()
    if alike and (kind == "no_gain" or run.winner.final_metric is None):  # elsewhere it is a warning
        yield f"{alike}{': see whether it runs the program that it is given' if run.is_own else ''}."
        return
    steps, counts = run.counts.steps, run.counts
    failed = sum(counts.failures.values())
    twice = "was a duplicate" if counts.duplicates == 1 else "were duplicates"
    parts = [f"{counts.duplicates} of {counted(steps, 'step')} {twice}"] if counts.duplicates else []
    broken = f"{counted(failed, 'program')} failed"
    parts += [broken if parts else f"{broken} in {counted(steps, 'step')}"] if failed else []
    if parts:
        yield f"{' and '.join(parts)}."
    reach = str(run.facts.get("rules_reach") or "")
    by_rules = run.facts.get("writer") == "rules" and run.spread is None  # else the evaluator is unsure first
    if reach and by_rules and kind == "no_gain" and not run.something_was_better:
        yield f"`rules` {reach} here: a language model can do more."
