"""What the self-test of a tier makes of what it finds."""

from __future__ import annotations

import json
import os
import signal
import time

from core.contracts import ExecutionResult
from core.executor import probe


class Leaky:
    """A sandbox from which a program reaches other processes, and says that it did not."""

    def run(self, code, *, workspace, inputs=None, limits):
        if inputs is not None:
            victim = json.loads((workspace / "probe.json").read_text())["victim"]
            os.kill(victim, signal.SIGKILL)
            while probe._state_of(victim) != "Z":
                time.sleep(0.001)
        return ExecutionResult(term_out="".join(f"{name} held\n" for name in probe._NAMES), exec_time=0.0)

    def close(self):
        pass


def test_a_tier_in_which_others_can_be_killed_does_not_hold_and_the_next_is_tried(tmp_path, monkeypatch):
    """It was an error that ended the start, instead of a probe that failed."""
    monkeypatch.setattr(probe, "make_sandbox", lambda config, gpus: Leaky())
    found = probe.examine("auto", state_dir=tmp_path)
    assert found["tier"] == "none"
    failed = {one["name"]: one["detail"] for one in found["probes"] if not one["ok"]}
    assert "kill_others" in failed and "trace" not in failed
