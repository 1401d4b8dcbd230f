from __future__ import annotations

from pathlib import Path

import pytest

from problems.command.tree.base import snapshot
from problems.command.tree.tree import Ground

FILES = {
    "src/a.py": "FACTOR = 3\n\n\ndef total(values):\n    return sum(values) * FACTOR\n",
    "src/b.py": "OFFSET = 10\nSCALE = 2\n\n\ndef shifted(x):\n    return x + OFFSET\n",
    "src/deep/c.txt": "one\r\ntwo\r\n",
    "src/secret.py": "KEY = 1\n",
    "tests/test_a.py": "from src.a import total\n",
    "build/lib.bin": "\0\1\2",
    "src/blob.dat": "\0",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("history")
    (folder / "src" / "link.py").symlink_to("a.py")
    (folder / "out").symlink_to("/etc/passwd")
    return folder


@pytest.fixture
def ground(repository: Path, tmp_path: Path) -> Ground:
    return Ground(snapshot(repository, tmp_path / "bases"), ("src/**",), ("src/secret.py",))
