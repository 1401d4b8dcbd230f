"""No attack wins against us, and each of them wins where nothing stands in its way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from support.attack_accounts import ordinary_user

from tests.boundary import suite
from tests.boundary.against import NAIVE
from tests.boundary.kinds import KINDS
from tests.boundary.ours import ROOT, ways
from tests.boundary.records import Attack, attacks

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
FEW = 1
"""How many attacks of each family are tried where not all are."""
SAMPLED = ("child", "written", "screen", "auto", "together")
"""`auto` takes one of the other ways, `together` promises nothing, what a screen or a child asks,
and what is written, is tried apart too. `make boundary` tries all attacks in all of them."""


def _pairs(kind: str, way: str) -> list[tuple[Attack, str]]:
    """The attacks that are tried on it. Of a competition's those that scripts meet too are tried apart on scripts."""
    if kind == "competition":
        few = suite.chosen([kind], sample=FEW)
        return few + [pair for pair in suite.chosen([kind]) if "script" not in pair[0].kinds and pair not in few]
    return suite.chosen([kind], sample=FEW if way in SAMPLED else 0)


def _nobody_wins(pairs: Mapping[str, Sequence[tuple[Attack, str]]]) -> None:
    """`pairs`: by way. What an attack wins against the control is the same in all of them."""
    control = suite.controls(list({pair: None for tried in pairs.values() for pair in tried}))
    rows = [row for way, tried in pairs.items() for row in suite.against_us(tried, [way], control=control)]
    assert [(row.name, row.way, row.won) for row in rows if not row.held] == []
    assert [(row.name, row.control) for row in rows if not row.is_attack] == []


@pytest.mark.sample
def test_a_sample_is_held() -> None:
    _nobody_wins({"apart": suite.chosen(["script"], sample=FEW)})


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_all_are_held(kind: str) -> None:
    pairs = {way: _pairs(kind, way) for way in ways(kind)}
    if kind == "competition":
        assert sum("script" not in attack.kinds for attack, _ in pairs[""]) >= 5, "nobody else meets these"
    _nobody_wins(pairs)


@pytest.mark.long
def test_a_sample_is_held_as_an_ordinary_user() -> None:
    """In each tier. `make boundary` tries all of them so."""
    account = ordinary_user()
    if account.why:
        pytest.skip(account.why)
    tiers = ["warm", "lite", *(["bubblewrap"] if shutil.which("bwrap") else [])]
    words = ["--user", *(f"--sandbox={tier}" for tier in tiers), "--sample=1", "--kind=script", "--way=apart"]
    command = [sys.executable, "-m", "tests.boundary", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f" {tier} " in done.stdout for tier in tiers), done.stdout


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
