"""One process of an agent and the limits that end it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from core.backend.agent.session import AgentProcess
from core.backend.deadline import Deadline

FILLS = "import time; open('big', 'wb').write(b'x' * (8 << 20)); time.sleep(60)"


def test_a_folder_that_fills_the_disk_ends_the_session(tmp_path: Path) -> None:
    began = time.monotonic()
    with AgentProcess([sys.executable, "-c", FILLS], tmp_path, dict(os.environ)) as agent:
        assert agent.wait(Deadline(60.0), 50.0, lambda: False, disk_mb=5) == "its folder held more than 5 MB"
    assert agent.code is not None and time.monotonic() - began < 50, "it was killed, not waited for"


def test_one_that_keeps_within_its_limits_ends_by_itself(tmp_path: Path) -> None:
    with AgentProcess([sys.executable, "-c", "print('done')"], tmp_path, dict(os.environ)) as agent:
        assert agent.wait(Deadline(60.0), 50.0, lambda: False, disk_mb=5) == ""
    assert agent.last_words() == "done"
