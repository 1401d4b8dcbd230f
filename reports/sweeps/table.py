"""What a sweep found: a row a setting, with means, intervals, and differences paired by seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean

from pydantic import BaseModel, ConfigDict

from core.storage.reader import RunReader
from reports.conclusion import conclusion_of
from reports.sweeps.plan import Cell, Plan, run_of, was_begun
from utils.direction import Direction
from utils.stats import student_interval


class CellFacts(BaseModel):
    """One run of a sweep as it stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    setting: tuple[str, ...]
    seed: int
    run: str | None = None
    status: str = "not begun"
    metric: float | None = None
    """The winner's on validation."""
    final_metric: float | None = None
    """The winner's on what the search never saw."""
    steps: int = 0
    cost_usd: float | None = None
    seconds: float | None = None


class SweepRow(BaseModel):
    """One setting over its seeds. Scores are in the metric's unit; gains are above 0 where they are good."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    setting: tuple[str, ...]
    runs: int
    """Finished runs with a score."""
    without: int
    """Finished runs without a valid program."""
    mean: float | None
    interval: tuple[float, float] | None
    """Student's 95 % interval of the mean; None with too few seeds."""
    pairs: int
    """Seeds that this setting and the first one have in common."""
    gain: float | None
    """Over the first setting, mean over those seeds."""
    gain_interval: tuple[float, float] | None
    verdict: str
    """What that interval allows to be said: `better`, `worse`, `not told apart`, `too few seeds`; '' of the first."""
    rival: tuple[str, ...] | None
    """The best of the other settings, by its mean."""
    lead: float | None
    """Over the rival, mean over the seeds that both have."""
    lead_interval: tuple[float, float] | None
    lead_verdict: str
    cost_usd: float | None
    seconds: float | None
    """Mean of a run."""


class SweepTable(BaseModel):
    """A sweep as it stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    score: str
    """`final` where every finished run has such a score, else `validation`."""
    lower_is_better: bool
    problem: str
    words: tuple[str, ...]
    cells: list[CellFacts]
    rows: list[SweepRow]


Scores = Mapping[tuple[tuple[str, ...], int], float]
"""(setting, seed) → score."""


def table_of(plan: Plan, folder: Path, is_held: Callable[[Path], bool]) -> SweepTable:
    """Read every run of the sweep, finished or not.

    Args:
        is_held: true for the folder of a run that a live process works on.
    """
    cells, directions, problems = [], set(), set()
    for cell in plan.cells:
        found, lower, problem = _read(folder, cell, is_held)
        cells.append(found)
        if found.run is not None:
            directions.add(lower)
            problems.add(problem)
    finished = [cell for cell in cells if cell.status == "finished"]
    final = bool(finished) and all(cell.final_metric is not None for cell in finished if cell.metric is not None)
    direction = Direction(directions == {True})
    scores = {
        (cell.setting, cell.seed): score
        for cell in finished
        if (score := cell.final_metric if final else cell.metric) is not None
    }
    return SweepTable(
        name=folder.name,
        score="final" if final else "validation",
        lower_is_better=direction.lower_is_better,
        problem=", ".join(sorted(problems)),
        words=plan.shown.words,
        cells=cells,
        rows=[_row(plan, setting, finished, scores, direction) for setting in plan.settings],
    )


def _read(folder: Path, cell: Cell, is_held: Callable[[Path], bool]) -> tuple[CellFacts, bool, str]:
    run = run_of(folder, cell)
    if run is None:
        status = "removed" if was_begun(folder, cell) else "not begun"
        return CellFacts(setting=cell.setting, seed=cell.seed, status=status), False, ""
    with RunReader(run) as reader:
        facts = reader.facts()
        winner = conclusion_of(reader, facts).winner
        status = str(facts.get("status", ""))
        found = CellFacts(
            setting=cell.setting,
            seed=cell.seed,
            run=run.name,
            status="interrupted" if status == "running" and not is_held(run) else status,
            metric=winner.metric if winner else None,
            final_metric=winner.final_metric if winner else None,
            steps=reader.steps(),
            cost_usd=reader.cost()["cost_usd"],
            seconds=facts.get("active_seconds"),
        )
    return found, bool(facts.get("lower_is_better")), str(facts.get("problem", ""))


def _row(
    plan: Plan, setting: tuple[str, ...], finished: list[CellFacts], scores: Scores, direction: Direction
) -> SweepRow:
    mine = [cell for cell in finished if cell.setting == setting]
    own = _of(plan, setting, scores)
    first, rival = plan.settings[0], _rival(plan, setting, scores, direction)
    gains = _gains(plan, setting, first, scores, direction) if setting != first else []
    leads = _gains(plan, setting, rival, scores, direction) if rival else []
    costs = [cell.cost_usd for cell in mine if cell.cost_usd is not None]
    seconds = [cell.seconds for cell in mine if cell.seconds is not None]
    return SweepRow(
        setting=setting,
        runs=len(own),
        without=len(mine) - len(own),
        mean=fmean(own) if own else None,
        interval=_interval(own),
        pairs=len(gains),
        gain=fmean(gains) if gains else None,
        gain_interval=_interval(gains),
        verdict=_verdict(gains),
        rival=rival,
        lead=fmean(leads) if leads else None,
        lead_interval=_interval(leads),
        lead_verdict=_verdict(leads),
        cost_usd=fmean(costs) if costs else None,
        seconds=fmean(seconds) if seconds else None,
    )


def _of(plan: Plan, setting: tuple[str, ...], scores: Scores) -> list[float]:
    return [scores[setting, seed] for seed in plan.seeds if (setting, seed) in scores]


def _rival(plan: Plan, setting: tuple[str, ...], scores: Scores, direction: Direction) -> tuple[str, ...] | None:
    others = [other for other in plan.settings if other != setting and _of(plan, other, scores)]
    return direction.best(others, lambda other: fmean(_of(plan, other, scores)))


def _gains(
    plan: Plan, setting: tuple[str, ...], over: tuple[str, ...], scores: Scores, direction: Direction
) -> list[float]:
    """By how much `setting` is better, seed by seed where both have a score."""
    shared = [seed for seed in plan.seeds if (setting, seed) in scores and (over, seed) in scores]
    return [direction.gain(scores[setting, seed], scores[over, seed]) for seed in shared]


def _interval(values: list[float]) -> tuple[float, float] | None:
    found = student_interval(values)
    return found[1:] if found else None


def _verdict(gains: list[float]) -> str:
    interval = _interval(gains)
    if interval is None:
        return "too few seeds" if gains else ""
    low, high = interval
    return "better" if low > 0 else "worse" if high < 0 else "not told apart"
