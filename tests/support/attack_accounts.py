"""Other privileges to run the attacks with: an ordinary user, and root without CAP_SYS_ADMIN."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

NAME = "swarmevotest"


@dataclass(frozen=True)
class Account:
    """A command prefix and the interpreter to start behind it; `why` says why it cannot be had."""

    prefix: tuple[str, ...] = ()
    python: str = sys.executable
    site: str = ""
    why: str = ""


def ourselves() -> Account:
    return Account()


def root_without_sys_admin() -> Account:
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        return Account(why="needs root and setpriv")
    return Account(prefix=("setpriv", "--bounding-set", "-sys_admin,-sys_ptrace,-dac_read_search"))


def ordinary_user() -> Account:
    """Ourselves if we are one; as root a user made for the purpose."""
    if os.getuid() != 0:
        return Account()
    if shutil.which("setpriv") is None or shutil.which("useradd") is None:
        return Account(why="needs setpriv and useradd")
    try:
        entry = pwd.getpwnam(NAME)
    except KeyError:
        subprocess.run(["useradd", "--create-home", NAME], check=True, capture_output=True)
        entry = pwd.getpwnam(NAME)
    python, site = _reachable_python()
    if python is None:
        return Account(why=f"{sys.executable} lies in a folder that other users may not enter")
    prefix = ("setpriv", "--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid), "--clear-groups")
    return Account(prefix=(*prefix, "env", f"HOME={entry.pw_dir}"), python=python, site=site)


def _reachable_python() -> tuple[str | None, str]:
    """An interpreter that every user may start: ours, or the system's of the same version with our packages."""
    if _open_to_all(Path(sys.executable)) and _open_to_all(Path(os.path.realpath(sys.executable))):
        return sys.executable, ""
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    site = next((p for p in sys.path if p.endswith("site-packages")), "")
    if Path(system).exists() and site and _open_to_all(Path(site)):
        return system, site
    return None, ""


def _open_to_all(path: Path) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in (path, *path.parents))


def attacked(account: Account, script: Path, tier: str, folder: Path) -> dict[str, Any]:
    """What an attack prints as JSON: a script that is started as that account, with a tier and a folder."""
    if account.why:
        pytest.skip(account.why)
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"PYTHONPATH": account.site} if account.site else {}),
    }
    done = subprocess.run(
        [*account.prefix, account.python, str(script), tier, str(folder)], cwd="/", env=environment,
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found
