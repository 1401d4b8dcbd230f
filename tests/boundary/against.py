"""Runs one attack through a command: another framework's runner, or the control without a boundary."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.boundary.facts import Told, won
from tests.boundary.records import Attack
from tests.boundary.world import place

SECONDS = 60.0
LATE = 0.5
"""Seconds after which a process that an attack left behind has done what it was left for."""
NAIVE = (sys.executable, str(Path(__file__).with_name("naive.py")))
"""The control."""


def attacked(command: Sequence[str], kind: str, attack: Attack) -> list[str]:
    """The facts by which the attack wins against a runner that follows the protocol of README.md."""
    with place(kind) as here:
        (here.root / "program.py").write_text(here.program(attack), encoding="utf-8")
        (here.root / "task.json").write_text(json.dumps({"kind": kind, "higher_is_better": True}))
        (here.root / "logs" / "run").mkdir()
        here.before.update(here.hashes())
        told = _told([*command, str(here.root)], here.environment)
        facts = won(attack, here, told)
        if not facts and "changed" in attack.wins:
            time.sleep(LATE)
            facts = won(attack, here, told)
        return facts


def _told(command: list[str], environment: dict[str, str]) -> Told:
    child = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        out, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        out = ""
    finally:
        _end(child)
    return read(out)


def read(out: str) -> Told:
    """What a runner printed: the last line is its answer; a runner that gives none has not lived to."""
    try:
        answer: Any = json.loads(out.strip().splitlines()[-1])
        score = answer["score"]
    except (ValueError, IndexError, TypeError, KeyError):
        return Told(output=out, ended=True)
    return Told(
        score=None if score is None else float(score),
        verified=bool(answer.get("verified", True)),
        output=str(answer.get("output", "")),
        failure=str(answer.get("failure") or ""),
        views={str(name): str(text) for name, text in (answer.get("views") or {}).items()},
    )


def _end(child: subprocess.Popen[str]) -> None:
    """The runner and what it left behind."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
