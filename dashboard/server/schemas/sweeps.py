"""Sweeps in a list. A sweep itself is `reports.sweeps.table.SweepTable`."""

from __future__ import annotations

from dashboard.server.schemas.base import Model


class SweepLine(Model):
    name: str
    settings: int
    seeds: int
    begun: int
    """Runs of it that there are, finished or not."""
