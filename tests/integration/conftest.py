"""What tests of competitions need."""

from __future__ import annotations

import pytest


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepares, judges and exports in this process: what the trusted children do, without the second that each takes
    to start."""
    from support import competition_stand  # with pandas

    for module in ("prepared", "export", "notebook"):
        monkeypatch.setattr(f"problems.competition.{module}.run_trusted", competition_stand.prepared_here)
    monkeypatch.setattr("problems.competition.evaluator.TrustedChild", competition_stand.JudgeHere)
