"""What attacks stand on: a folder that other users may enter."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A new folder that other users may enter; pytest's own are private, and every start of pytest shuts them anew."""
    with tempfile.TemporaryDirectory(prefix="swarm-attack-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
