"""What is known of sweeps, typed: the fields of `sweep show --json`, by the same names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class SweepCell:
    """One run of a sweep as it stands."""

    setting: tuple[str, ...]
    """`key=value` words; () where nothing varies."""
    name: str
    """Of the setting, as people read it."""
    seed: int
    run: str | None
    status: str
    """As in a list of runs; also `not begun`, `removed`."""
    metric: float | None
    """The winner's on validation."""
    final_metric: float | None
    """The winner's on what the search never saw."""
    steps: int
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One setting over its seeds. Scores are in the metric's unit; gains and leads are above 0 where they are good."""

    setting: tuple[str, ...]
    name: str
    runs: int
    """Finished runs with a score."""
    without: int
    """Finished runs without a valid program."""
    mean: float | None
    interval: tuple[float, float] | None
    """95 % of the mean."""
    pairs: int
    """Seeds in common with the first setting."""
    gain: float | None
    """Over the first setting, mean over those seeds."""
    gain_interval: tuple[float, float] | None
    verdict: str
    """`better`, `worse`, `not told apart`, `too few seeds`; '' of the first."""
    rival: tuple[str, ...] | None
    """The best of the other settings."""
    rival_name: str
    lead: float | None
    """Over the rival."""
    lead_interval: tuple[float, float] | None
    lead_verdict: str
    cost_usd: float | None
    seconds: float | None
    """Mean of a run."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Settings over seeds, as they stand."""

    name: str
    score: str
    """Of which part: `final` or `validation`."""
    lower_is_better: bool
    problem: str
    words: tuple[str, ...]
    """What all runs have in common."""
    running: bool
    cells: tuple[SweepCell, ...] = field(repr=False)
    rows: tuple[SweepRow, ...]
    lacking: str
    """What the intervals lack, in words."""

    def frame(self) -> pandas.DataFrame:
        """A row a setting, by its name; `pandas.DataFrame(sweep.cells)` has a row a run."""
        import pandas

        return pandas.DataFrame(list(self.rows)).set_index("name")


@dataclass(frozen=True, slots=True)
class SweepRun:
    """A run of a sweep that is there."""

    run: str
    setting: tuple[str, ...]
    name: str
    seed: int


@dataclass(frozen=True, slots=True)
class SweepLine:
    """A sweep in the list of them."""

    name: str
    problem: str
    status: str
    """`not begun`, `running`, `interrupted` or `finished`."""
    started_at: str
    settings: int
    seeds: int
    begun: int
    """Runs that were begun, those that were removed since too."""
    runs: tuple[SweepRun, ...]
