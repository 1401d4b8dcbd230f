"""What a sweep found: a row a setting, with means, intervals, and differences paired by seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import comb
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, ConfigDict, computed_field

from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from reports.conclusion import conclusion_of
from reports.sweeps.names import Setting, setting_names
from reports.sweeps.plan import Cell, Plan, run_of, was_begun
from utils.direction import Direction
from utils.errors import StoreError, UnknownRunError
from utils.stats import FEWEST_CASES, student_interval


class CellFacts(BaseModel):
    """One run of a sweep as it stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    setting: Setting
    name: str
    """Of the setting, as people read it."""
    seed: int
    run: str | None = None
    status: str = "not begun"
    """As in a list of runs; `not begun` and `removed` where there is none."""
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

    setting: Setting
    name: str
    """As people read it."""
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
    """With 95 % it holds for all settings together (Bonferroni)."""
    verdict: str
    """What that interval allows to be said: `better`, `worse`, `not told apart`, `too few seeds`; '' of the first."""
    rival: Setting | None
    """The best of the other settings, by its mean."""
    rival_name: str
    """As people read it; '' without one."""
    lead: float | None
    """Over the rival, mean over the seeds that both have."""
    lead_interval: tuple[float, float] | None
    """As wide as that which two settings are compared was chosen by the same scores: with 95 % it holds for all pairs
    of settings together (Bonferroni)."""
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
    running: bool
    """A process works on it, also between two of its runs."""
    cells: list[CellFacts]
    rows: list[SweepRow]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def lacking(self) -> str:
        """What the intervals lack, in words; '' where each mean has one."""
        if all(row.mean is None or row.interval is not None for row in self.rows):
            return ""
        return f"an interval needs {FEWEST_CASES} seeds: the same command with --name={self.name} and others adds them"


Scores = Mapping[tuple[Setting, int], float]
"""(setting, seed) → score."""


def table_of(plan: Plan, folder: Path, is_held: Callable[[Path], bool]) -> SweepTable:
    """Read every run of the sweep, finished or not; one that cannot be read is told as that.

    Args:
        is_held: true for the folder of a run, and for that of the sweep, that a live process works on.
    """
    names = setting_names(plan.settings)
    found = [_read(folder, cell, names[cell.setting], is_held) for cell in plan.cells]
    cells = [cell for cell, _ in found]
    known = [facts for _, facts in found if facts is not None]
    finished = [cell for cell in cells if cell.status == "finished"]
    final = bool(finished) and all(cell.final_metric is not None for cell in finished if cell.metric is not None)
    direction = Direction({bool(facts.get("lower_is_better")) for facts in known} == {True})
    scores = {
        (cell.setting, cell.seed): score
        for cell in finished
        if (score := cell.final_metric if final else cell.metric) is not None
    }
    return SweepTable(
        name=folder.name,
        score="final" if final else "validation",
        lower_is_better=direction.lower_is_better,
        problem=", ".join(sorted({str(facts.get("problem", "")) for facts in known})),
        words=plan.shown.words,
        running=is_held(folder) or any(cell.status == "running" for cell in cells),
        cells=cells,
        rows=rows_of(plan, finished, scores, direction),
    )


def cell_facts(folder: Path, cell: Cell) -> CellFacts:
    """The run of a cell, by itself, once it has ended."""
    return _read(folder, cell, "", lambda run: False)[0]


def _read(
    folder: Path, cell: Cell, name: str, is_held: Callable[[Path], bool]
) -> tuple[CellFacts, Mapping[str, Any] | None]:
    """The cell, and the facts of its run; None where there are none."""
    told = CellFacts(setting=cell.setting, name=name, seed=cell.seed)
    run = run_of(folder, cell)
    try:
        if run is None:
            return (told.model_copy(update={"status": "removed"}) if was_begun(folder, cell) else told), None
        with unreadable(run.name), RunReader(run) as reader:
            facts = reader.facts()
            return told.model_copy(update=_measured(reader, facts, is_held(run))), facts
    except UnknownRunError:  # removed while we looked
        return told.model_copy(update={"status": "removed"}), None
    except StoreError:
        assert run is not None
        return told.model_copy(update={"run": run.name, "status": "unreadable"}), None


def _measured(reader: RunReader, facts: Mapping[str, Any], held: bool) -> dict[str, Any]:
    """What a cell tells of its run."""
    winner, status = conclusion_of(reader, facts).winner, str(facts.get("status", ""))
    return {
        "run": reader.name,
        "status": "interrupted" if status == "running" and not held else status,
        "metric": winner.metric if winner else None,
        "final_metric": winner.final_metric if winner else None,
        "steps": reader.steps(),
        "cost_usd": reader.cost()["cost_usd"],
        "seconds": facts.get("active_seconds"),
    }


def rows_of(plan: Plan, finished: Sequence[CellFacts], scores: Scores, direction: Direction) -> list[SweepRow]:
    """A row a setting, in the order of the plan."""
    names = setting_names(plan.settings)
    own = {setting: _of(plan, setting, scores) for setting in plan.settings}
    leaders = direction.ranked((setting for setting in own if own[setting]), lambda setting: fmean(own[setting]))[:2]
    others, pairs = sum(map(bool, own.values())) - 1, comb(sum(map(bool, own.values())), 2)
    ended: dict[Setting, list[CellFacts]] = {}
    for cell in finished:
        ended.setdefault(cell.setting, []).append(cell)
    rows = []
    for setting in plan.settings:
        rival = next((other for other in leaders if other != setting), None)
        mine, gains = ended.get(setting, []), _gains(plan, setting, plan.settings[0], scores, direction)
        gain_interval = _interval(gains, among=others)
        leads = _gains(plan, setting, rival, scores, direction) if rival is not None else []
        lead_interval = _interval(leads, among=pairs)
        costs = [cell.cost_usd for cell in mine if cell.cost_usd is not None]
        seconds = [cell.seconds for cell in mine if cell.seconds is not None]
        rows.append(
            SweepRow(
                setting=setting,
                name=names[setting],
                runs=len(own[setting]),
                without=len(mine) - len(own[setting]),
                mean=fmean(own[setting]) if own[setting] else None,
                interval=_interval(own[setting]),
                pairs=len(gains),
                gain=fmean(gains) if gains else None,
                gain_interval=gain_interval,
                verdict=_verdict(gains, gain_interval),
                rival=rival,
                rival_name="" if rival is None else names[rival],
                lead=fmean(leads) if leads else None,
                lead_interval=lead_interval,
                lead_verdict=_verdict(leads, lead_interval),
                cost_usd=fmean(costs) if costs else None,
                seconds=fmean(seconds) if seconds else None,
            )
        )
    return rows


def _of(plan: Plan, setting: Setting, scores: Scores) -> list[float]:
    return [scores[setting, seed] for seed in plan.seeds if (setting, seed) in scores]


def _gains(plan: Plan, setting: Setting, over: Setting, scores: Scores, direction: Direction) -> list[float]:
    """By how much `setting` is better, seed by seed where both have a score; nothing over itself."""
    seeds = plan.seeds if setting != over else ()
    shared = [seed for seed in seeds if (setting, seed) in scores and (over, seed) in scores]
    return [direction.real_gain(scores[setting, seed], scores[over, seed]) for seed in shared]


def _interval(values: list[float], among: int = 1) -> tuple[float, float] | None:
    found = student_interval(values, among)
    return found[1:] if found else None


def _verdict(gains: list[float], interval: tuple[float, float] | None) -> str:
    if interval is None:
        return "too few seeds" if gains else ""
    low, high = interval
    return "better" if low > 0 else "worse" if high < 0 else "not told apart"
