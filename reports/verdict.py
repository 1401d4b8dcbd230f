"""The verdict of a run, in one wording for every surface: is the winner better than what was there before?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from reports.counts import Counts, broken_off, no_step, nothing_valid, stopped
from reports.duel import duel_text
from reports.spread import Spread, spread_of
from reports.verdict_kind import Kind
from reports.winner import Winner, called, mean_of, named, rows_of
from utils.counts import counted
from utils.direction import Direction, finite
from utils.stats import proper_interval

MOST_SCORES = 5
"""Scores of one program that a warning names."""
FEW = 10
"""Below so many cases a part says little: the verdict warns."""
ALIKE = 3
"""From so many programs on, one score for all of them says something of the evaluator."""
UNSEEN = {"competition": "rows", "heuristic": "cases", "arena": "games"}


class Verdict(BaseModel):
    """What may be said of a run's winner."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    text: str
    """Whole sentences: what is compared, on what, by how much, how sure."""
    warnings: tuple[str, ...] = ()
    """Why the numbers carry less than they seem to."""
    against: str | None = None
    """The reference that is hardest to beat."""
    gain: float | None = None
    """How much better the winner's final score is than the reference's, in the metric's unit; in Elo in the arena."""
    interval: tuple[float, float] | None = None
    """95 % interval of the gain; never of zero width."""


def verdict_of(
    winner: Winner | None, facts: Mapping[str, Any], counts: Counts, search_best: float | None = None
) -> Verdict:
    """The verdict from what is stored.

    Args:
        winner: as `reports.winner.winner_of` gives it.
        facts: the run's facts; `final` holds the claim and the number of cases.
        search_best: the best score of what the search proposed itself; asked for before the end alone.
    """
    if facts.get("status") == "failed":
        return Verdict(kind="failed", text=broken_off(winner, counts))
    if facts.get("status") != "finished":
        return still_open(winner, facts, counts, search_best)
    if winner is None:
        return Verdict(kind="none", text=nothing_valid(counts))
    return _Judge(winner, facts, counts).verdict()


def still_open(
    winner: Winner | None, facts: Mapping[str, Any], counts: Counts, search_best: float | None = None
) -> Verdict:
    """Before the end: who leads, by validation alone. A baseline may lead, as it may win.

    A run that was stopped says so, and where: nobody works on it. One that had ended before says what that end was.
    """
    runs_on = facts.get("status") == "running"
    when = "So far" if runs_on else f"{stopped(counts, _most_steps(facts))} By then"
    unit = f"{facts.get('unit') or 'score'} ({Direction(bool(facts.get('lower_is_better'))).word} is better)"
    against = None
    if winner is None or winner.metric is None:
        told = "no program has a score"
    elif facts.get("family") == "arena":
        told = f"the champion is {winner.name}, {_number(winner.metric)} {unit} {winner.where}"
    elif winner.role == "candidate":
        told = f"the best is {_number(winner.metric)} {unit}, by validation alone"
    else:
        against = called({"name": winner.name, "own": winner.role == "user"})
        ours = "" if search_best is None else f"; the search's best is {_number(search_best)}"
        told = f"nothing beat {against}: it is the best on validation, {_number(winner.metric)} {unit}{ours}"
    earlier = "" if runs_on else _earlier_end(facts, counts)
    after = "" if runs_on else earlier or " It can be resumed."
    return Verdict(kind="reopened" if earlier else "open", text=f"{when} {told}.{after}", against=against)


def _earlier_end(facts: Mapping[str, Any], counts: Counts) -> str:
    """What a run that has gone on since had come to; '' where it never ended with a winner."""
    final = facts.get("final") or {}
    if not final.get("node_id") or counts.ended_at is None:
        return ""
    name = (final.get("program") or {}).get("name") or f"node {str(final['node_id'])[:12]}"
    score = finite(final.get("metric"))
    unseen = "" if score is None else f", {_number(score)} {facts.get('unit') or 'score'} on the final part"
    return f" It had ended at step {counts.ended_at} with {name}{unseen}; a resume ends it anew."


def _most_steps(facts: Mapping[str, Any]) -> int | None:
    found = ((facts.get("config") or {}).get("search") or {}).get("max_steps")
    return found if isinstance(found, int) else None


class _Judge:
    """Reads one finished run."""

    def __init__(self, winner: Winner, facts: Mapping[str, Any], counts: Counts) -> None:
        self.winner, self.facts, self.counts = winner, facts, counts
        final = facts.get("final")
        self.final: dict[str, Any] = final if isinstance(final, dict) else {}
        self.spread = spread_of(self.final, counts.repeated)
        self.direction = Direction(bool(facts.get("lower_is_better")))
        self.unit = str(facts.get("unit") or "score")
        self.goal = f"{self.direction.word} is better"
        self.family = str(facts.get("family") or "heuristic")
        drawn = (self.final.get("detail") or {}).get("drawn") or "the rows"
        is_drawn = self.family == "competition"  # what is compared in pairs, and how
        self.case, self.how = (f"draw of {drawn}", f"over draws of {drawn}") if is_drawn else ("case", "case by case")
        self.unseen = f"unseen {UNSEEN.get(self.family, 'cases')}"
        self.references = [
            row for row in rows_of(facts) if row.get("node_id") != winner.node_id and row.get("failure") is None
        ]

    def verdict(self) -> Verdict:
        found = self._no_gain() if self.winner.role != "candidate" else self._compared()
        if self.counts.steps and found.kind in ("no_gain", "worse"):
            found = found.model_copy(update={"text": " ".join([found.text, *self._why_nothing(found)])})
        return found.model_copy(update={"warnings": tuple(self._warnings())})

    def _compared(self) -> Verdict:
        if self.winner.final_metric is None:
            return self._unconfirmed()
        if self.family == "arena":
            return self._arena()
        return self._by_claim() or self._by_scores() or self._alone()

    # ------------------------------------------------------------ the search did not win

    def _no_gain(self) -> Verdict:
        own = self.winner.role == "user"
        name = self._arena_name() or called({"name": self.winner.name, "own": own})
        told = [*self._kept(name)]
        rival = None if self.family == "arena" else self._by_claim() or self._by_scores()
        if rival is not None and rival.kind == "worse":
            told.append(f"On {self.unseen} {rival.against} did better; the unseen part never chooses.")
        return Verdict(kind="no_gain", text=" ".join(told), against=name)

    def _kept(self, name: str) -> Iterator[str]:
        """What happened: nothing was tried, nothing was better, or what was better could not be told apart."""
        again, ahead = finite(self._chosen.get("metric")), self._ahead
        scores = self._both(again)
        if not self.counts.steps and self.counts.ended:
            yield f"{no_step(self.counts)} The best of what was there before is {name}, {scores}."
        elif ahead is None or again is None:
            yield f"Nothing beat {name}: it is still the best on the parts that choose, {scores}."
        elif ahead == again:
            same = f"the best that was found scores the same on the parts that choose, {scores}"
            yield f"Nothing beat {name}: {same}, and of two that score alike the simpler one is kept."
        else:
            where = "on the parts that choose" if again == self.winner.metric else self._look.rstrip(",")
            told = f"Nothing was surely better than {name}: one program had {self._pair(ahead, again)} {where}"
            yield f"{told}, but the two cannot be told apart, and {name} is simpler, so it is kept."

    @property
    def _chosen(self) -> Mapping[str, Any]:
        """The winner among those that it was chosen among; {} where it was not."""
        return next((row for row in self._choice() if row.get("node_id") == self.winner.node_id), {})

    @property
    def _ahead(self) -> float | None:
        """The score of the first of them, where the winner was kept although it is not the first; else None."""
        first = next(iter(self._choice()), {})
        tied = first is not self._chosen and self._chosen.get("tie") and self.family != "arena"
        return finite(first.get("metric")) if tied else None

    @property
    def _something_was_better(self) -> bool:
        """True where a program scored better than the one that was kept."""
        return self._ahead is not None and self._ahead != finite(self._chosen.get("metric"))

    @property
    def _look(self) -> str:
        """What the last choice went by, where that is not the score on validation."""
        return "by the mean of several scores" if self.spread is not None else "on the second look, at fresh cases too,"

    def _both(self, again: float | None) -> str:
        """The winner's score on validation, which every surface shows, and the one that the choice went by."""
        score = self._score(self.winner.metric)
        if again is None or again == self.winner.metric:
            return score
        return f"{score} on validation and {_number(again)} {self._look.rstrip(',')}"

    def _choice(self) -> list[Mapping[str, Any]]:
        """Those that the winner was chosen among, the best first."""
        rows = self.final.get("choice")
        return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []

    @property
    def _at_optimum(self) -> bool:
        """True where the winner's score cannot be beaten; that all score alike then blames no evaluator."""
        best, score = next(iter(self.facts.get("optimum") or ()), None), finite(self.winner.metric)
        return best is not None and score is not None and not self.direction.better(float(best), score)

    @property
    def _is_own(self) -> bool:
        """True where the evaluator is the user's."""
        return any(row.get("own") for row in rows_of(self.facts))

    def _alike(self) -> str:
        """What an evaluator shows that tells no programs apart; '' where it tells some apart."""
        if self._at_optimum or not self.counts.all_alike or self.counts.scored < ALIKE or self.family == "arena":
            return ""
        whose = "Your" if self._is_own else "The"
        return (
            f"{whose} evaluator gave the same score, {self._score(self.winner.metric)}, to all "
            f"{counted(self.counts.scored, 'program')} that have one, so the search had nothing to go by"
        )

    def _why_nothing(self, verdict: Verdict) -> Iterator[str]:
        """Why the search found nothing better, in every family alike: it had nothing to go by, it repeated itself, its
        programs failed, its writer cannot do more."""
        if self._at_optimum:
            score, why = self.facts["optimum"]
            yield f"{_number(float(score))} is the best score there is: {why}."
            return
        alike = self._alike()
        if alike and (verdict.kind == "no_gain" or self.winner.final_metric is None):  # elsewhere it is a warning
            yield f"{alike}{': see whether it runs the program that it is given' if self._is_own else ''}."
            return
        steps, counts = self.counts.steps, self.counts
        failed = sum(counts.failures.values())
        twice = "was a duplicate" if counts.duplicates == 1 else "were duplicates"
        parts = [f"{counts.duplicates} of {counted(steps, 'step')} {twice}"] if counts.duplicates else []
        broken = f"{counted(failed, 'program')} failed"  # where it was repaired, more than one in a step
        parts += [broken if parts else f"{broken} in {counted(steps, 'step')}"] if failed else []
        if parts:
            yield f"{' and '.join(parts)}."
        reach = str(self.facts.get("rules_reach") or "")
        by_rules = self.facts.get("writer") == "rules" and self.spread is None  # else the evaluator is unsure first
        if reach and by_rules and verdict.kind == "no_gain" and not self._something_was_better:
            yield f"`rules` {reach} here: a language model can do more."

    def _arena_name(self) -> str:
        return "the starting champion" if self.family == "arena" else ""

    # ------------------------------------------------------------ without an unseen part

    def _unconfirmed(self) -> Verdict:
        best = self.direction.best(self._scored("metric"), lambda row: row["metric"])
        if best is None or self.winner.metric is None:
            text = f"The best found scores {self._score(self.winner.metric)}; there is nothing to compare it with."
            return Verdict(kind="unconfirmed", text=text)
        name, gain = named(best), self.direction.real_gain(self.winner.metric, best["metric"])
        if self._alike():
            return Verdict(kind="no_gain", text=f"No better than {name}.", against=name)
        if self.spread is not None:
            return self._within(self.spread, name, best)
        how = f"Better than {name} by {gain:.4g}" if gain > 0 else f"No better than {name}"
        where = "on the cases that chose it" if self.family != "arena" else "by the tournament that chose it"
        text = f"{how} {where}: {self._pair(self.winner.metric, best['metric'])}. No unseen part confirms it."
        return Verdict(kind="unconfirmed" if gain > 0 else "no_gain", text=text, against=name, gain=gain)

    def _within(self, spread: Spread, name: str, best: Mapping[str, Any]) -> Verdict:
        """Against the reference, where the same program does not get the same score twice: means of several scores."""
        mine, looks = spread.score(self.winner.node_id, float(self.winner.metric or 0.0))
        other, times = spread.score(best.get("node_id"), float(best["metric"]))
        look = spread.looks.get(self.winner.node_id)
        among = 1 if look is not None and look.before is not None else max(1, len(self._choice()))
        gain, margin = self.direction.real_gain(mine, other), spread.margin(looks, times, among)
        kind: Kind = "unclear" if abs(gain) <= margin else "unconfirmed" if gain > 0 else "worse"
        means = f"{self._pair(mine, other)}, {self._from(spread, self.winner.node_id, looks)} against "
        means += self._from(spread, best.get("node_id"), times)
        sure = f"it {_moved(gain)} (95 %: {_turn(gain - margin)} to {_turn(gain + margin)})"
        where = "when scored again" if spread.looks else "by the scores of the search"
        told = self._told(kind, name, where, f"{means}; {sure}", " No unseen part confirms it.")
        return told.model_copy(update={"gain": gain, "interval": proper_interval((gain - margin, gain + margin))})

    def _from(self, spread: Spread, node_id: Any, count: int) -> str:
        """How many scores a number rests on: further ones were taken at the end."""
        further = "further " if node_id in spread.looks else ""
        return f"the mean of {count} {further}scores" if count > 1 else f"1 {further}score"

    # ------------------------------------------------------------ on the unseen part

    def _by_claim(self) -> Verdict | None:
        """Case by case, against the reference that is hardest to beat; None where the run made no such comparison."""
        claim = self.final.get("claim")
        if not isinstance(claim, dict) or finite(claim.get("gain")) is None:
            return None
        row = next((row for row in self.references if row.get("name") == claim.get("baseline")), {})
        name, gain = named(row), float(claim["gain"])
        mine, other = self.winner.final_metric, finite(row.get("final"))
        if mine is None or other is None or not self._is_difference(gain, mine, other):
            return None
        pair = self._pair(mine, other)
        interval = proper_interval(claim.get("interval"))
        if interval is None:  # no spread at all: an interval of no width would claim a certainty that nobody has
            alike: Kind = "better" if gain > 0 else "worse" if gain < 0 else "unclear"
            each = f"it {_moved(gain)} on each {self.case}" if gain else f"the same on each {self.case}"
            return self._said(alike, name, f"{pair}; {each}", gain, None)
        low, high = interval
        kind: Kind = "better" if low > 0 else "worse" if high < 0 else "unclear"
        sure = f"it {_moved(gain)} (95 %, {self.how}: {_turn(low)} to {_turn(high)})"
        return self._said(kind, name, f"{pair}; {sure}", gain, interval)

    def _is_difference(self, gain: float, mine: float, other: float) -> bool:
        """False for a run of a version whose gain was a mean over its cases: beside the scores it would be misread."""
        return math.isclose(gain, self.direction.real_gain(mine, other), rel_tol=1e-6, abs_tol=1e-12)

    def _by_scores(self) -> Verdict | None:
        """By the scores alone, where there are too few cases to pair, or the two cannot be paired."""
        best = self.direction.best(self._scored("final"), lambda row: row["final"])
        mine = self.winner.final_metric
        if best is None or mine is None:
            return None
        gain, name = self.direction.real_gain(mine, best["final"]), named(best)
        ends, others = self.winner.final_interval, proper_interval(best.get("final_interval"))
        pair = self._pair(mine, best["final"])
        kind: Kind
        if ends is None or others is None:
            kind, doubt = ("worse" if gain < 0 else "unclear"), "by the scores alone, without an interval of both"
        elif ends[0] <= others[1] and others[0] <= ends[1]:
            kind, doubt = "unclear", "and their 95 % intervals overlap"
        else:
            kind, doubt = ("better" if gain > 0 else "worse"), "and their 95 % intervals do not overlap"
        return self._said(kind, name, f"{pair}, {doubt}", gain, None)

    def _said(self, kind: Kind, name: str, numbers: str, gain: float, interval: tuple[float, float] | None) -> Verdict:
        told = self._told(kind, name, f"on {self.unseen}", numbers)
        return told.model_copy(update={"gain": gain, "interval": interval})

    def _told(self, kind: Kind, name: str, where: str, numbers: str, more: str = "") -> Verdict:
        head = {"worse": "Worse than", "unclear": "Not told apart from"}.get(kind, "Better than")
        tail = f": do not use it, keep {name}." if kind == "worse" else "."
        return Verdict(kind=kind, text=f"{head} {name} {where}: {numbers}{tail}{more}", against=name)

    def _arena(self) -> Verdict:
        gain, interval = float(self.winner.final_metric or 0.0), self.winner.final_interval
        name = "the starting champion"
        numbers = f"{gain:+.0f} Elo"
        if interval is None:
            return self._said("unclear", name, f"{numbers}, without an interval", gain, None)
        kind: Kind = "better" if interval[0] > 0 else "worse" if interval[1] < 0 else "unclear"
        numbers += f" (95 % {interval[0]:+.0f} to {interval[1]:+.0f})"
        duel = duel_text((self.final.get("detail") or {}).get("head_to_head"))
        if duel:
            numbers += (
                f" by games of both against the same rivals, which decide; their direct match, {duel}, is one pairing "
                "alone and may say otherwise"
            )
        return self._said(kind, name, numbers, gain, interval)

    def _alone(self) -> Verdict:
        none = "no baseline was scored there" if self.references else "there is no baseline to compare with"
        text = f"On {self.unseen} it scores {self._score(self.winner.final_metric)}; {none}."
        return Verdict(kind="unconfirmed", text=text)

    # ------------------------------------------------------------ words

    def _warnings(self) -> Iterator[str]:
        yield from self.facts.get("cautions") or ()
        if self.spread is not None:
            yield self._unsteady(self.spread)
        if self._alike() and self.winner.final_metric is not None and self.winner.role == "candidate":
            yield self._alike()
        for part, key in (("final part", "cases"), ("validation part", "validation_cases")):
            cases = self.final.get(key)
            if isinstance(cases, int) and 0 < cases < FEW:
                yield f"the {part} has only {counted(cases, 'case')}: little can be said of others"
        if self.winner.metric_source == "claimed":
            yield "the score is what the program printed; nobody checked it"
        elif self.winner.metric_source == "unisolated":
            yield "the program could have reached the scoring"
        detail = self.final.get("detail") or {}
        if finite(detail.get("whole_test")) is not None:
            medal = f"; medal: {detail.get('medal') or 'none'}" if "thresholds" in detail else ""
            whole = f"{_number(detail['whole_test'])} {self.unit}{medal}"
            steered = "all" if self.winner.final_metric is None else "half"
            yield f"on the whole test set, as published scores are, though {steered} of it steered the search: {whole}"
        reveals = (self.final.get("detail") or {}).get("final_reveals")
        if isinstance(reveals, int) and reveals > 1:
            often = counted(reveals, "time")
            yield f"this final part has been revealed {often}; each look makes it a little less unseen"

    def _unsteady(self, spread: Spread) -> str:
        mine = spread.looks.get(self.winner.node_id)
        if not spread.looks:
            return (
                "the evaluator does not give the same program the same score, and there was no time to score the best "
                f"again: one score has a standard deviation of {spread.deviation:.4g}"
            )
        whose, look = ("the winner", mine) if mine else ("a program", next(iter(spread.looks.values())))
        first = _number(look.first) + (f" ({mean_of(look.times)})" if look.times > 1 else "")
        again = ", ".join(map(_number, [*(look.before or ()), *look.again][:MOST_SCORES]))
        again += f" and failed {counted(look.failed, 'time')}" if look.failed else ""
        return (
            f"the evaluator does not give the same program the same score: {whose} had {first}, then {again}; one "
            f"score has a standard deviation of {spread.deviation:.4g}"
        )

    def _scored(self, key: str) -> list[dict[str, Any]]:
        return [row for row in self.references if finite(row.get(key)) is not None]

    def _score(self, score: float | None) -> str:
        return f"{_number(score)} {self.unit} ({self.goal})"

    def _pair(self, mine: float | None, other: Any) -> str:
        against = "" if finite(other) is None else f" against {_number(other)}"
        return f"{_number(mine)}{against} {self.unit} ({self.goal})"


def _moved(gain: float) -> str:
    return f"{'gains' if gain >= 0 else 'loses'} {abs(gain):.4g}"


def _turn(gain: float) -> str:
    """An end of an interval, its sign in words."""
    return f"a {'gain' if gain >= 0 else 'loss'} of {abs(gain):.4g}"


def _number(value: Any) -> str:
    number = finite(value)
    return "–" if number is None else f"{number:.6g}"
