"""A command that writes programs finds none of what it must not have: as root, as a user, in every tier."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.attack_accounts import Account, attacked, ordinary_user, ourselves

from core.executor.inside import landlock

SCRIPT = Path(__file__).parent / "writer_attack.py"
ALLOWED = {"named file": "for you", "own folder": "written", "named variable": "yes", "network": "hi", "child": "42"}


@pytest.fixture(params=["ourselves", "ordinary user"])
def account(request) -> Account:
    return ourselves() if request.param == "ourselves" else ordinary_user()


@pytest.mark.parametrize("tier", ["warm", "lite", "bubblewrap"])
def test_a_writer_finds_nothing(account, tier, tmp_path):
    if tier == "lite" and not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    if tier == "bubblewrap" and (shutil.which("bwrap") is None or (os.getuid() == 0 and not account.prefix)):
        pytest.skip("bubblewrap is not installed, or would be run as root")
    told = attacked(account, SCRIPT, tier, tmp_path / "place")
    assert told.get("found") == {}, told
    assert {name: told["may"][name] for name in ALLOWED} == ALLOWED, told
    assert not told["survivor"] and not told["left"]
    project = tmp_path / "place" / "project"
    assert all(path.read_text().startswith("PLANTED") for path in project.rglob("*") if path.is_file())
    assert not any("forged" in path.read_text() for path in project.rglob("*") if path.is_file())


def test_without_the_view_it_finds_all_of_it(tmp_path):
    """The control: every attack of the list wins where nothing holds."""
    told = attacked(ourselves(), SCRIPT, "none", tmp_path / "place")
    looked = {
        f"{how} {name}" for how in ("read", "write") for name in ("labels.csv", "run.db", "evaluator.py", ".git/config")
    }
    won = set(told["found"]) | ({"survivor"} if told["survivor"] else set())
    assert (
        looked
        | {
            "read hidden data",
            "walk",
            "kill",
            "unix socket",
            "datagram",
            "abstract socket",
            "limits of another",
            "survivor",
        }
        <= won
    ), told
