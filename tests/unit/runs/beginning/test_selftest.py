"""The self-test of a start: what was not searched is not called clean."""

from __future__ import annotations

import errno

import pytest

from runs.beginning import selftest
from runs.beginning.selftest import SelfTest
from utils.errors import NoSandboxError


def test_a_search_that_breaks_refuses_the_run(monkeypatch):
    """It ran in a thread of its own: where that ended by an error that is none of ours, nothing was found."""

    def broken(*arguments):
        raise ValueError("a list is too short")

    monkeypatch.setattr(selftest, "look_for_answers", broken)
    with pytest.raises(NoSandboxError, match=r"could not be searched.*too short"):
        SelfTest(None, None, None).wait()


def test_a_full_disk_is_no_missing_sandbox(monkeypatch):
    """It ends the run as any full disk does (exit 1), and not as a machine without a sandbox (exit 2)."""

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(selftest, "look_for_answers", full)
    with pytest.raises(OSError, match="No space left"):
        SelfTest(None, None, None).wait()
