"""Review: a reviewer's reading of a program and its output."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from core.state.text import CleanText


class Review(BaseModel):
    """What a reviewer said of a run (the arguments of the seed's `submit_review`). Its numbers are claims."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    is_bug: bool
    has_csv_submission: bool
    summary: CleanText
    metric: float | None = None
    lower_is_better: bool | None = None
    """Recorded, never obeyed: the direction is the problem's."""
