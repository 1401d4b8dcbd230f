"""Views of the search: curve, failures, islands, generations."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from dashboard.server.schemas.base import Model


class Curve(Model):
    run: str
    problem: str
    lower_is_better: bool
    unit: str
    of: str
    """What it shows: `best so far`, in an arena `champion at the end of each generation`."""
    steps: list[int]
    best: list[float]
    seconds: list[float]
    """Active seconds of the run at each of the steps."""
    dollars: list[float]
    """Spent up to each of the steps, as far as a price is known."""


class FailureCount(Model):
    failure: str
    count: int
    advice: str
    operators: dict[str, int]
    example: str
    """Id of the newest node that failed so."""
    message: str
    """Its message. Untrusted text."""


class Island(Model):
    island: int
    nodes: int
    scored: int
    best_metric: float | None
    best_node_id: str | None
    mean_metric: float | None
    resets: int
    history: list[tuple[int, float]]
    """(generation or step, best so far)."""


class Islands(Model):
    islands: list[Island]
    migrations: list[dict[str, Any]]


class Generation(Model):
    generation: int
    nodes: int
    scored: int
    best_metric: float | None
    mean_metric: float | None
    champion: str | None = None
    promoted: list[str] = Field(default_factory=list)
    ratings: list[dict[str, Any]] = Field(default_factory=list)
    decision: dict[str, Any] = Field(default_factory=dict)


class Point(Model):
    """A scored node among the dimensions."""

    node_id: str
    step: int | None
    """Which step of the search it is, from 1; null for what is no step."""
    metric: float
    values: list[float | str | None]
    """In the order of the names."""


class Dimensions(Model):
    """What the scored programs differ in."""

    names: list[str]
    points: list[Point]
    """Newest first."""
