"""No hostile program wins: A as root and as user, B as user and as root without CAP_SYS_ADMIN, C as user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.attack_accounts import Account, ordinary_user, ourselves, root_without_sys_admin

HERE = Path(__file__).parent
OWN = HERE / "programs"
GIVEN = HERE.parents[2] / "shared" / "escape"
"""Further programs, where somebody keeps them beside the project."""

WAYS = {
    "warm-ourselves": ("warm", ourselves, [OWN]),
    "warm-ourselves-given": ("warm", ourselves, [GIVEN]),
    "warm-user": ("warm", ordinary_user, [OWN]),
    "lite-user": ("lite", ordinary_user, [OWN]),
    "lite-user-given": ("lite", ordinary_user, [GIVEN]),
    "lite-root-without-sys-admin": ("lite", root_without_sys_admin, [OWN]),
    "bubblewrap-user": ("bubblewrap", ordinary_user, [OWN]),
}

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")


class Campaign:
    """One run of all programs, in a process of its own with other privileges."""

    def __init__(self, tier: str, account: Account, folder: Path, programs: list[Path], seconds: int = 2) -> None:
        self.report = folder / "report.json"
        self.log = folder / "log.txt"
        environment = dict(os.environ) | {"ATTACK_SECONDS": str(seconds), "PYTHONDONTWRITEBYTECODE": "1"}
        if account.site:
            environment["PYTHONPATH"] = account.site
        command = [*account.prefix, account.python, str(HERE / "attack.py"), tier, str(folder / "range")]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, str(self.report), *map(str, programs)], stdout=log, stderr=log, env=environment, cwd=folder
            )

    def rows(self) -> list[dict[str, Any]]:
        """How each of them ended."""
        try:
            self.process.wait(timeout=600)
        finally:
            self.process.kill()
            self.process.wait()
        assert self.report.exists(), self.log.read_text()[-3000:]
        return json.loads(self.report.read_text())["rows"]  # type: ignore[no-any-return]


SHORT = ("warm-ourselves",)
"""What `make test` tries; the others take as long again."""


@pytest.mark.parametrize("way", [way if way in SHORT else pytest.param(way, marks=pytest.mark.long) for way in WAYS])
def test_nothing_escapes(way: str, tmp_path: Path) -> None:
    tier, find, folders = WAYS[way]
    account, programs = find(), [folder for folder in folders if folder.is_dir()]
    if account.why:
        pytest.skip(account.why)
    if tier == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if not programs:
        pytest.skip(f"{GIVEN} is not there")
    tmp_path.chmod(0o777)
    rows = Campaign(tier, account, tmp_path, programs).rows()
    assert len(rows) == sum(len(list(folder.glob("[0-9]*.py"))) for folder in programs)
    assert [(row["name"], row["escaped"]) for row in rows if row["escaped"]] == []


def test_the_range_itself_can_be_won(tmp_path: Path) -> None:
    """The same attacks win without a sandbox: what the suite reports is not an empty truth."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in (
        "net_abstract", "net_families", "files_everywhere", "env_of_others", "opath_and_openat2",
        "dgram_pair_redirect", "pinned_pages", "shared_kernel_words",
    ):  # fmt: skip
        source = next(OWN.glob(f"*_{name}.py"))
        (programs / source.name).write_text(source.read_text())
    campaign = Campaign("none", ourselves(), tmp_path, [programs], seconds=20)  # a busy machine is slow
    rows = {row["name"].split("_", 1)[1]: row["escaped"] for row in campaign.rows()}
    assert all(rows.values()), rows
