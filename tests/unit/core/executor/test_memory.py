"""A container's or a scheduler's limit counts, and not the memory of the machine below it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from core.executor.inside import memory, mounts

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
GB = 1 << 30


@pytest.mark.parametrize(
    "folder, limit, used, cached",
    [
        ("", "memory.max", "memory.current", "inactive_file"),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ],
    ids=["version 2", "version 1"],
)
def test_the_memory_of_a_cgroup(
    folder: str, limit: str, used: str, cached: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place := tmp_path / folder).mkdir(exist_ok=True)
    (told := tmp_path / "cgroup").write_text("0::/slice/ours\n5:cpu:/\n4:memory:/docker/ours\n")
    monkeypatch.setattr(memory, "_CGROUPS", str(tmp_path))
    monkeypatch.setattr(memory, "_OWN", str(told))
    whole = memory.total.__wrapped__
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    (place / limit).write_text("max\n")
    assert whole() == machine and not memory.Memory()._groups
    (place / limit).write_text(f"{GB}\n")
    (place / used).write_text("700000000\n")
    (place / "memory.stat").write_text(f"anon 1\n{cached} 0\n")
    assert whole() == min(GB, machine) and mounts.tmpfs_mb(4096, whole()) <= 256
    held = memory.Memory()
    monkeypatch.setattr(memory, "_machine_is_short", lambda: False)
    assert not held.is_short()
    (place / used).write_text("1050000000\n")
    assert held.is_short()
    (place / "memory.stat").write_text(f"anon 1\n{cached} 900000000\n")
    assert not held.is_short(), "what it has read of files it gives back"
