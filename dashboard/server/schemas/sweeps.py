"""Sweeps in a list. A sweep itself is `reports.sweeps.table.SweepTable`."""

from __future__ import annotations

from typing import Literal

from dashboard.server.schemas.base import Model


class SweepRun(Model):
    """A run of a sweep."""

    run: str
    setting: list[str]
    """`key=value` words; [] where nothing varies."""
    name: str
    """Of the setting, as people read it."""
    seed: int


class SweepLine(Model):
    name: str
    problem: str
    """Of its first run; '' before there is one."""
    status: Literal["not begun", "running", "interrupted", "finished"]
    started_at: str
    """When its plan was kept, in UTC."""
    settings: int
    seeds: int
    begun: int
    """Runs that were begun, those that were removed since too."""
    runs: list[SweepRun]
    """Those that are there."""
