"""The self-test of a start: what was not searched is not called clean."""

from __future__ import annotations

import pytest

from runs import selftest
from runs.selftest import SelfTest
from utils.errors import NoSandboxError


def test_a_search_that_breaks_refuses_the_run(monkeypatch):
    """It ran in a thread of its own: where that ended by an error that is none of ours, nothing was found."""

    def broken(*arguments):
        raise OSError("no space left on the device")

    monkeypatch.setattr(selftest, "look_for_answers", broken)
    with pytest.raises(NoSandboxError, match=r"could not be searched.*no space left"):
        SelfTest(None, None, None).wait()
