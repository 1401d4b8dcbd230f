"""Where compiled code is kept, on machines where the usual places cannot be written to."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from problems.bin_packing.jit import _cache_folder

NOWHERE = "/proc/nowhere"


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.setenv(name, NOWHERE)
    return tmp_path


def test_without_any_all_processes_share_one_below_the_temporary_folder(temporary):
    found = _cache_folder()
    assert found == _cache_folder() and temporary / "temporary" in found.parents and found.is_dir()


@pytest.mark.parametrize(
    ("name", "below"),
    [("NUMBA_CACHE_DIR", ""), ("XDG_CACHE_HOME", "swarm-evo/numba"), ("HOME", ".cache/swarm-evo/numba")],
)
def test_the_first_that_can_be_written_to_is_taken(temporary, monkeypatch, name, below):
    monkeypatch.setenv(name, str(temporary / "mine"))
    assert _cache_folder() == temporary / "mine" / below
