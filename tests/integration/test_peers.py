"""The comparison with neighbours, on our side of it: real runs against its scripted server."""

from __future__ import annotations

import sys

import pytest

from benchmarks.openevolve import ONE_CALL
from benchmarks.peers import FORGED, FORGES, PEERS, asked_after_a_kill, run_once

pytestmark = pytest.mark.long
OURS = PEERS["ours"]


def test_programs_that_forge_their_score_are_not_believed():
    found = run_once(OURS, sys.executable, 4, FORGES)
    assert found.best is not None and found.best < FORGED
    assert found.requests == 1.0 and found.rate > 0 and found.disk_kb > 0


def test_after_a_kill_no_program_is_asked_for_twice():
    wanted = 16
    assert asked_after_a_kill(OURS, sys.executable, wanted, ONE_CALL[0]) <= wanted + 2, "two replies were under way"
