"""What verbs answer, typed: the fields of their JSON, by the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, TypeVar, cast, get_type_hints

if TYPE_CHECKING:
    import pandas

Answer = TypeVar("Answer")


class RunRow(TypedDict):
    """A run in a list of runs."""

    run: str
    problem: str
    status: str
    """`running`, `finished`, `interrupted`, `failed`, `starting` or `unreadable`."""
    started_at: str | None
    steps: int
    best_metric: float | None
    """The winner's on validation; before the end that of who leads."""
    final_metric: float | None
    """The winner's on what the search never saw."""
    verdict: str
    lower_is_better: bool
    writer: str
    cost_usd: float | None
    best_node_id: str | None
    best_is: str
    """Its name where the search did not write it; else ''."""
    gain: float | None
    """Over the hardest reference, in the metric's unit."""
    against: str | None
    """That reference."""
    unit: str
    policy: str
    seed: int | None
    seconds: float | None
    title: str
    note: str
    tags: list[str]
    archived: bool
    reason: NotRequired[str]
    """Of one that cannot be read."""


class ComparedRun(RunRow):
    """A run beside others."""

    final_interval: list[float] | None
    """95 %, over draws of the rows."""
    limits: str
    """In words."""
    verdict_words: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs side by side."""

    runs: tuple[ComparedRun, ...]
    settings: Mapping[str, list[Any]]
    """Key → its value in each run, of those that differ."""

    def frame(self) -> pandas.DataFrame:
        """A row a run, with the settings that differ as columns `config.KEY`."""
        import pandas

        settings = {f"config.{key}": values for key, values in self.settings.items()}
        rows = pandas.DataFrame(list(self.runs))
        return pandas.concat([rows, pandas.DataFrame(settings, index=rows.index)], axis=1).set_index("run")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as the run left it."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Is a run, or a bundle, as it was written? True where it is: `assert swarm_evo.verify(run)`."""

    run: str
    verdict: str
    """`authentic` (with a head), `consistent`, `extended`, `unchained` or `tampered`."""
    sentence: str
    """What the verdict says, and what it does not exclude."""
    journal_head: str | None
    links: int
    chained_from: tuple[Mapping[str, int], ...]
    checked: Mapping[str, int]
    """Table → rows."""
    unchecked: tuple[str, ...]
    """What nothing vouches for, and why."""
    findings: tuple[Finding, ...]
    """The first thousand."""
    findings_total: int

    def __bool__(self) -> bool:
        return self.verdict in ("authentic", "consistent")


@dataclass(frozen=True, slots=True)
class Replayed:
    """A run searched again from its record. True where it came out equal: `assert swarm_evo.replay(run)`."""

    run: str
    equal: bool
    text: str
    """The hash, or the first difference."""

    def __bool__(self) -> bool:
        return self.equal


@dataclass(frozen=True, slots=True)
class Exported:
    """The best program, taken away."""

    run: str
    node_id: str | None
    """None of a run without a valid program, which left a recording alone."""
    metric: float | None
    metric_source: str | None
    files: tuple[Path, ...]
    branch: str | None
    """Of a tree that went into one: its name, and where."""
    remarks: tuple[str, ...]
    """What whoever takes it along should know; each is a warning too."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The user's own words on a run."""

    run: str
    title: str
    note: str
    tags: tuple[str, ...]
    archived: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is gone."""

    removed: tuple[str, ...]
    """Runs."""
    bases: tuple[str, ...]
    """Copies of repositories that no run needs any more."""
    files: tuple[str, ...]
    """Functions and tables below `.swarm-evo/` that no run needs any more."""
    data: tuple[str, ...]
    """Data made ready, below `workspaces/`, that no run needs any more."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, and what to do if it is not as it should be."""

    name: str
    ok: bool
    detail: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Health:
    """Is this machine fit? True where it is: `assert swarm_evo.doctor()`."""

    ok: bool
    checks: tuple[Check, ...]
    sandbox: Mapping[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True, slots=True)
class Plan:
    """What a search would be; nothing has been started."""

    problem: str
    metric: Mapping[str, str]
    """`name`, `direction`."""
    writer: str
    policy: str
    proposals: int | None
    """That the budget buys."""
    budget: Mapping[str, Any]
    usd_a_proposal: float | None
    usd: float | None
    """A quote; None where no price is known, or nothing is paid."""
    sandbox: str
    timeout: float
    note: str
    """What is known of the scores."""
    warnings: tuple[str, ...]


def answer_of(kind: type[Answer], told: Mapping[str, Any]) -> Answer:
    """The JSON object as one of these; fields that this version does not know are left out."""
    hints = get_type_hints(kind)
    named = [one.name for one in fields(cast(Any, kind))]
    return kind(**{name: _value(hints[name], told[name]) for name in named})


def _value(hint: Any, told: Any) -> Any:
    """Lists as tuples, and what is in them as `hint` says."""
    if not isinstance(told, list):
        return told
    inner = hint.__args__[0] if isinstance(hint, GenericAlias) and hint.__origin__ is tuple else None
    if inner is Path:
        return tuple(map(Path, told))
    if is_dataclass(inner):
        return tuple(answer_of(cast(type[Any], inner), one) for one in told)
    return tuple(told)
