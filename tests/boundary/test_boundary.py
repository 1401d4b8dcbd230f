"""No attack wins against us, and each of them wins where nothing stands in its way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.attack_accounts import ordinary_user

from tests.boundary import suite
from tests.boundary.against import NAIVE
from tests.boundary.kinds import KINDS
from tests.boundary.ours import ROOT, ways
from tests.boundary.records import attacks

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
TRIED = tuple(KINDS)
SAMPLE = [("script", "apart", 2), ("competition", "", 1)]
"""What `make test` tries: so many attacks of each family."""
SAMPLED = {"competition", "script/screen", *(f"{kind}/{way}" for kind in TRIED for way in ("auto", "together"))}
"""`auto` takes one of the other ways, `together` promises nothing, and what is tried on a competition and by a screen
is tried on scripts apart too. `make boundary` tries all of them."""
WHOLE = [(kind, way, 2 if f"{kind}/{way}".rstrip("/") in SAMPLED else 0) for kind in TRIED for way in ways(kind)]
"""How many attacks of each family are tried on what; 0: all."""


def _nobody_wins(kind: str, way: str, sample: int = 0, names: Sequence[str] = ()) -> None:
    rows = list(suite.against_us(suite.chosen([kind], names, sample), [way]))
    assert [(row.name, row.won) for row in rows if not row.held] == []
    assert [(row.name, row.control) for row in rows if not row.is_attack] == []


@pytest.mark.parametrize(("kind", "way", "sample"), [SAMPLE[0], pytest.param(*SAMPLE[1], marks=pytest.mark.long)])
def test_a_sample_is_held(kind: str, way: str, sample: int) -> None:
    _nobody_wins(kind, way, sample)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "way", "sample"), WHOLE)
def test_all_are_held(kind: str, way: str, sample: int) -> None:
    _nobody_wins(kind, way, sample)


@pytest.mark.long
def test_those_that_only_competitions_meet_are_held() -> None:
    names = [attack.name for attack in attacks() if "competition" in attack.kinds and "script" not in attack.kinds]
    assert len(names) >= 5
    _nobody_wins("competition", "", names=names)


@pytest.mark.long
@pytest.mark.parametrize("tier", ["warm", "lite", "bubblewrap"])
def test_a_sample_is_held_as_an_ordinary_user(tier: str) -> None:
    """`make boundary` tries all of them so."""
    account = ordinary_user()
    if account.why or (tier == "bubblewrap" and shutil.which("bwrap") is None):
        pytest.skip(account.why or "bubblewrap is not installed")
    words = ["--user", f"--sandbox={tier}", "--sample=1", "--kind=script", "--way=apart"]
    command = [sys.executable, "-m", "tests.boundary", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_enough_of_them() -> None:
    assert len(attacks()) >= 60
    assert len(suite.chosen()) >= 200


def test_another_runner_is_tried_by_a_command(tmp_path: Path) -> None:
    """The control as somebody's runner: the table says that it is lost."""
    words = [
        "labels_by_path",
        "score_in_output",
        "--kind=script",
        "--kind=competition",
        "--json",
        str(tmp_path / "rows"),
    ]
    command = [sys.executable, "-m", "tests.boundary", *words, "--against", " ".join(NAIVE)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert "0 of 4 held, 4 of 4 controls won (competition 2, script 2)" in done.stdout
    assert all(row["won"] for row in json.loads((tmp_path / "rows").read_text()))
