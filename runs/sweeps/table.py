"""What a sweep found: a row a setting, with means, intervals, and differences paired by seed."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from pydantic import BaseModel, ConfigDict

from core.storage.reader import RunReader
from reports.conclusion import conclusion_of
from runs.reading import status_of
from runs.sweeps.cells import run_of
from runs.sweeps.plan import Cell, Plan
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


class Row(BaseModel):
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
    cost_usd: float | None
    seconds: float | None
    """Mean of a run."""


class Table(BaseModel):
    """A sweep as it stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    score: str
    """`final` where every finished run has such a score, else `validation`."""
    lower_is_better: bool
    problem: str
    words: tuple[str, ...]
    cells: list[CellFacts]
    rows: list[Row]


def table_of(plan: Plan, folder: Path) -> Table:
    """Read every run of the sweep, finished or not."""
    cells, directions, problems = [], set(), set()
    for cell in plan.cells:
        found, lower, problem = _read(folder, cell)
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
    return Table(
        name=folder.name,
        score="final" if final else "validation",
        lower_is_better=direction.lower_is_better,
        problem=", ".join(sorted(problems)),
        words=plan.words,
        cells=cells,
        rows=[_row(plan, setting, finished, scores, direction) for setting in plan.settings],
    )


def _read(folder: Path, cell: Cell) -> tuple[CellFacts, bool, str]:
    run = run_of(folder, cell)
    if run is None:
        return CellFacts(setting=cell.setting, seed=cell.seed), False, ""
    with RunReader(run) as reader:
        facts = reader.facts()
        winner = conclusion_of(reader, facts).winner
        found = CellFacts(
            setting=cell.setting,
            seed=cell.seed,
            run=run.name,
            status=status_of(run, facts),
            metric=winner.metric if winner else None,
            final_metric=winner.final_metric if winner else None,
            steps=reader.steps(),
            cost_usd=reader.cost()["cost_usd"],
            seconds=facts.get("active_seconds"),
        )
    return found, bool(facts.get("lower_is_better")), str(facts.get("problem", ""))


def _row(
    plan: Plan,
    setting: tuple[str, ...],
    finished: list[CellFacts],
    scores: dict[tuple[tuple[str, ...], int], float],
    direction: Direction,
) -> Row:
    mine = [cell for cell in finished if cell.setting == setting]
    own = [scores[setting, seed] for seed in plan.seeds if (setting, seed) in scores]
    first = plan.settings[0]
    shared = [seed for seed in plan.seeds if (setting, seed) in scores and (first, seed) in scores]
    gains = [direction.gain(scores[setting, seed], scores[first, seed]) for seed in shared] if setting != first else []
    costs = [cell.cost_usd for cell in mine if cell.cost_usd is not None]
    seconds = [cell.seconds for cell in mine if cell.seconds is not None]
    return Row(
        setting=setting,
        runs=len(own),
        without=len(mine) - len(own),
        mean=fmean(own) if own else None,
        interval=_interval(own),
        pairs=len(gains),
        gain=fmean(gains) if gains else None,
        gain_interval=_interval(gains),
        cost_usd=fmean(costs) if costs else None,
        seconds=fmean(seconds) if seconds else None,
    )


def _interval(values: list[float]) -> tuple[float, float] | None:
    found = student_interval(values)
    return found[1:] if found else None
