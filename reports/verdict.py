"""The verdict of a run, in one wording for every surface: is the winner better than what was there before?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from reports.counts import Counts, broken_off, no_step, nothing_valid
from reports.doubts import warnings_of, why_nothing
from reports.duel import duel_text
from reports.finished_run import FinishedRun
from reports.open_verdict import still_open
from reports.spread import Spread
from reports.verdict_kind import Kind
from reports.winner import Winner, called, named
from utils.direction import finite
from utils.stats import proper_interval


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
        kind, text, against = still_open(winner, facts, counts, search_best)
        return Verdict(kind=kind, text=text, against=against)
    if winner is None:
        return Verdict(kind="none", text=nothing_valid(counts))
    return _Judge(FinishedRun(winner, facts, counts)).verdict()


class _Judge:
    """Compares the winner of one finished run with what was there before."""

    def __init__(self, run: FinishedRun) -> None:
        self.run = run

    def verdict(self) -> Verdict:
        found = self._no_gain() if self.run.winner.role != "candidate" else self._compared()
        if self.run.counts.steps and found.kind in ("no_gain", "worse"):
            found = found.model_copy(update={"text": " ".join([found.text, *why_nothing(self.run, found.kind)])})
        return found.model_copy(update={"warnings": tuple(warnings_of(self.run))})

    def _compared(self) -> Verdict:
        if self.run.winner.final_metric is None:
            return self._unconfirmed()
        if self.run.family == "arena":
            return self._arena()
        return self._by_claim() or self._by_scores() or self._alone()

    # ------------------------------------------------------------ the search did not win

    def _no_gain(self) -> Verdict:
        own = self.run.winner.role == "user"
        name = self._arena_name() or called({"name": self.run.winner.name, "own": own})
        told = [*self._kept(name)]
        rival = None if self.run.family == "arena" else self._by_claim() or self._by_scores()
        if rival is not None and rival.kind == "worse":
            told.append(f"On {self.run.unseen} {rival.against} did better; the unseen part never chooses.")
        return Verdict(kind="no_gain", text=" ".join(told), against=name)

    def _kept(self, name: str) -> Iterator[str]:
        """What happened: nothing was tried, nothing was better, or what was better could not be told apart."""
        again, ahead = finite(self.run.chosen.get("metric")), self.run.ahead
        scores = self.run.both(again)
        if not self.run.counts.steps and self.run.counts.ended:
            yield f"{no_step(self.run.counts)} The best of what was there before is {name}, {scores}."
        elif ahead is None or again is None:
            yield f"Nothing beat {name}: it is still the best on the parts that choose, {scores}."
        elif ahead == again:
            same = f"the best that was found scores the same on the parts that choose, {scores}"
            yield f"Nothing beat {name}: {same}, and of two that score alike the simpler one is kept."
        else:
            where = "on the parts that choose" if again == self.run.winner.metric else self.run.look.rstrip(",")
            told = f"Nothing was surely better than {name}: one program had {self.run.pair(ahead, again)} {where}"
            yield f"{told}, but the two cannot be told apart, and {name} is simpler, so it is kept."

    def _arena_name(self) -> str:
        return "the starting champion" if self.run.family == "arena" else ""

    # ------------------------------------------------------------ without an unseen part

    def _unconfirmed(self) -> Verdict:
        best = self.run.direction.best(self.run.scored("metric"), lambda row: row["metric"])
        if best is None or self.run.winner.metric is None:
            text = (
                f"The best found scores {self.run.score(self.run.winner.metric)}; there is nothing to compare it with."
            )
            return Verdict(kind="unconfirmed", text=text)
        name, gain = named(best), self.run.direction.real_gain(self.run.winner.metric, best["metric"])
        if self.run.alike():
            return Verdict(kind="no_gain", text=f"No better than {name}.", against=name)
        if self.run.spread is not None:
            return self._within(self.run.spread, name, best)
        how = f"Better than {name} by {gain:.4g}" if gain > 0 else f"No better than {name}"
        where = "on the cases that chose it" if self.run.family != "arena" else "by the tournament that chose it"
        text = f"{how} {where}: {self.run.pair(self.run.winner.metric, best['metric'])}. No unseen part confirms it."
        return Verdict(kind="unconfirmed" if gain > 0 else "no_gain", text=text, against=name, gain=gain)

    def _within(self, spread: Spread, name: str, best: Mapping[str, Any]) -> Verdict:
        """Against the reference, where the same program does not get the same score twice: means of several scores."""
        mine, looks = spread.score(self.run.winner.node_id, float(self.run.winner.metric or 0.0))
        other, times = spread.score(best.get("node_id"), float(best["metric"]))
        look = spread.looks.get(self.run.winner.node_id)
        among = 1 if look is not None and look.before is not None else max(1, len(self.run.choice()))
        gain, margin = self.run.direction.real_gain(mine, other), spread.margin(looks, times, among)
        kind: Kind = "unclear" if abs(gain) <= margin else "unconfirmed" if gain > 0 else "worse"
        means = f"{self.run.pair(mine, other)}, {self._from(spread, self.run.winner.node_id, looks)} against "
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
        claim = self.run.final.get("claim")
        if not isinstance(claim, dict) or finite(claim.get("gain")) is None:
            return None
        row = next((row for row in self.run.references if row.get("name") == claim.get("baseline")), {})
        name, gain = named(row), float(claim["gain"])
        mine, other = self.run.winner.final_metric, finite(row.get("final"))
        if mine is None or other is None or not self._is_difference(gain, mine, other):
            return None
        pair = self.run.pair(mine, other)
        interval = proper_interval(claim.get("interval"))
        if interval is None:  # no spread at all: an interval of no width would claim a certainty that nobody has
            alike: Kind = "better" if gain > 0 else "worse" if gain < 0 else "unclear"
            each = f"it {_moved(gain)} on each {self.run.case}" if gain else f"the same on each {self.run.case}"
            return self._said(alike, name, f"{pair}; {each}", gain, None)
        low, high = interval
        kind: Kind = "better" if low > 0 else "worse" if high < 0 else "unclear"
        sure = f"it {_moved(gain)} (95 %, {self.run.how}: {_turn(low)} to {_turn(high)})"
        return self._said(kind, name, f"{pair}; {sure}", gain, interval)

    def _is_difference(self, gain: float, mine: float, other: float) -> bool:
        """False for a run of a version whose gain was a mean over its cases: beside the scores it would be misread."""
        return math.isclose(gain, self.run.direction.real_gain(mine, other), rel_tol=1e-6, abs_tol=1e-12)

    def _by_scores(self) -> Verdict | None:
        """By the scores alone, where there are too few cases to pair, or the two cannot be paired."""
        best = self.run.direction.best(self.run.scored("final"), lambda row: row["final"])
        mine = self.run.winner.final_metric
        if best is None or mine is None:
            return None
        gain, name = self.run.direction.real_gain(mine, best["final"]), named(best)
        ends, others = self.run.winner.final_interval, proper_interval(best.get("final_interval"))
        pair = self.run.pair(mine, best["final"])
        kind: Kind
        if ends is None or others is None:
            kind, doubt = ("worse" if gain < 0 else "unclear"), "by the scores alone, without an interval of both"
        elif ends[0] <= others[1] and others[0] <= ends[1]:
            kind, doubt = "unclear", "and their 95 % intervals overlap"
        else:
            kind, doubt = ("better" if gain > 0 else "worse"), "and their 95 % intervals do not overlap"
        return self._said(kind, name, f"{pair}, {doubt}", gain, None)

    def _said(self, kind: Kind, name: str, numbers: str, gain: float, interval: tuple[float, float] | None) -> Verdict:
        told = self._told(kind, name, f"on {self.run.unseen}", numbers)
        return told.model_copy(update={"gain": gain, "interval": interval})

    def _told(self, kind: Kind, name: str, where: str, numbers: str, more: str = "") -> Verdict:
        head = {"worse": "Worse than", "unclear": "Not told apart from"}.get(kind, "Better than")
        tail = f": do not use it, keep {name}." if kind == "worse" else "."
        return Verdict(kind=kind, text=f"{head} {name} {where}: {numbers}{tail}{more}", against=name)

    def _arena(self) -> Verdict:
        gain, interval = float(self.run.winner.final_metric or 0.0), self.run.winner.final_interval
        name = "the starting champion"
        numbers = f"{gain:+.0f} Elo"
        if interval is None:
            return self._said("unclear", name, f"{numbers}, without an interval", gain, None)
        kind: Kind = "better" if interval[0] > 0 else "worse" if interval[1] < 0 else "unclear"
        numbers += f" (95 % {interval[0]:+.0f} to {interval[1]:+.0f})"
        duel = duel_text((self.run.final.get("detail") or {}).get("head_to_head"))
        if duel:
            numbers += (
                f" by games of both against the same rivals, which decide; their direct match, {duel}, is one pairing "
                "alone and may say otherwise"
            )
        return self._said(kind, name, numbers, gain, interval)

    def _alone(self) -> Verdict:
        score = self.run.score(self.run.winner.final_metric)
        none = "no baseline was scored there" if self.run.references else "there is no baseline to compare with"
        told = f"On {self.run.unseen} it scores {score}; {none}."
        return Verdict(kind="unconfirmed", text=told)


def _moved(gain: float) -> str:
    return f"{'gains' if gain >= 0 else 'loses'} {abs(gain):.4g}"


def _turn(gain: float) -> str:
    """An end of an interval, its sign in words."""
    return f"a {'gain' if gain >= 0 else 'loss'} of {abs(gain):.4g}"
