"""Numbers of users for candidates."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from core.executor.uids import UidPool

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the sandbox needs Linux")


def test_a_number_is_given_again_when_its_last_process_has_been_waited_for():
    """The kernel counts those that nobody has waited for yet against what the user may start."""
    pool = UidPool()
    try:
        first = pool.take()
        last = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
        pool.give_back(first, os.pidfd_open(last.pid))
        assert last.stdout is not None and last.stdout.read() == b""
        second = pool.take()
        assert second != first, "it ended, and is still counted"
        last.wait()
        assert pool.take() == first
        pool.give_back(second)
        assert pool.take() == second
    finally:
        pool.close()
        last.stdout.close()
