"""Sandboxes of every tier, for the contract suites."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox
from utils.errors import NoSandboxError

TIERS = ["warm", *(pytest.param(tier, marks=pytest.mark.long) for tier in ("lite", "bubblewrap", "none"))]


@contextmanager
def opened_tier(tier: str, folder: Path, preload: Sequence[str] = ()) -> Iterator[WarmSandbox]:
    """A sandbox of that tier; the test is skipped where it does not hold."""
    if tier == "bubblewrap" and (os.getuid() == 0 or shutil.which("bwrap") is None):
        pytest.skip("bubblewrap is not installed, or we are root")
    try:
        opened = open_sandbox(tier, preload=preload, state_dir=folder, accept_unsandboxed=True)
    except NoSandboxError as error:
        pytest.skip(str(error))
    assert isinstance(opened, WarmSandbox)
    yield opened
    opened.close()
