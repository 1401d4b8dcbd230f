"""Starting a run from a client whose calls are shorter than the start."""

from __future__ import annotations

import time

import pytest

from runs.mcp import operator_tools
from runs.mcp.operator_tools import start_run
from runs.mcp.plans import Plan
from utils.errors import SwarmEvoError
from utils.mcp_protocol import Call

CALL = Call(lambda told: None, None)
SLOW = """
import sys, time
with open(sys.argv[0] + ".starts", "a") as file:
    file.write("once\\n")
time.sleep(2.5)
sys.exit("swarm-evo: data.target=y: no such column")
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    main = tmp_path / "main.py"
    main.write_text(SLOW)
    started, start = [], operator_tools.start_apart
    monkeypatch.setattr(operator_tools, "start_apart", lambda *words: started.append(start(*words)) or started[-1])
    monkeypatch.setattr(operator_tools, "MAIN", main)
    monkeypatch.setattr(operator_tools, "LONGEST", 0.3)
    yield Plan.new(tmp_path / "workspaces" / ".plans", ["problem.kind=toy"])
    for child in started:
        child.wait()


def test_a_start_that_fails_between_two_calls_is_told_with_its_reason(plan, tmp_path):
    """Only the call that had started the process knew that it had ended: all others heard `starting` for ever."""
    assert start_run(str(tmp_path), {"confirm": plan.name}, CALL)["state"] == "starting"
    end = time.monotonic() + 60
    with pytest.raises(SwarmEvoError, match="no such column"):
        while time.monotonic() < end:
            assert start_run(str(tmp_path), {"confirm": plan.name}, CALL)["state"] == "starting"
    with pytest.raises(SwarmEvoError, match="no such column"):
        start_run(str(tmp_path), {"confirm": plan.name}, CALL)
    assert (tmp_path / "main.py.starts").read_text() == "once\n", "a plan is started once"
