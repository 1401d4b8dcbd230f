"""What the probes may not reach is out of the reach of a terminal's Ctrl-C, too."""

from __future__ import annotations

import os

from core.executor.probe import _targets


def test_a_ctrl_c_does_not_end_the_process_that_no_probe_may_kill(tmp_path):
    with _targets(tmp_path) as params:
        assert os.getpgid(params["victim"]) != os.getpgrp()
