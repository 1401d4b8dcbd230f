"""Three packages from PyPI, searched as repositories: their tests pass, and the patch makes the original faster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "examples/repositories/run.py"


@pytest.mark.parametrize("package", ["idna", "Unidecode", "xmltodict"])
def test_a_package_becomes_faster_and_keeps_its_tests(package: str, tmp_path: Path):
    words = [sys.executable, str(RUN), package, f"--folder={tmp_path / 'work'}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
    if "pip" in done.stderr and done.returncode:
        pytest.skip("the package's sources cannot be fetched here")
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert found["tests"] == "pass" and found["speed_up"] > 1.1, found
    assert "reply_error" not in done.stdout, "each reply fits the program that it was written for"
    if package == "idna":
        assert "is required, and tests is fail" in done.stdout, "one of its replies breaks the tests"
