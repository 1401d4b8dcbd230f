"""Attacks by engines: each plays the owner's engine, in the sandbox and before the referee of every arena."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.boundary.facts import Told
from tests.boundary.records import Attack
from tests.boundary.world import Place


def played(here: Place, attacks: Sequence[Attack], tier: str) -> dict[str, Told]:
    """Name of the attack → what two games against the owner's engine, one with each colour, came to."""
    from core.arena.match import Engine
    from core.arena.validator import static_refusal
    from runs.composition import open_jobs, problem_of
    from utils.config import load_config

    with patch.dict(os.environ, here.environment), chdir(here.root), tempfile.TemporaryDirectory() as folder:
        config = load_config(
            None, ["search.workers=2", f"execution.sandbox={tier}"], presets={"problem": "connect_four"}
        )
        problem: Any = problem_of(config)
        owner = Engine(id="owner", name="owner", code=(here.root / "opponent.py").read_text())
        told, engines = {}, {}
        for attack in attacks:
            code = here.program(attack)
            refusal = static_refusal(code, problem.spec.packages)
            if refusal is not None:
                told[attack.name] = Told(output=refusal.message, failure=str(refusal.failure))
            else:
                engines[attack.name] = Engine(id=attack.name, name=attack.name, code=code)
        with open_jobs(config, problem, Path(folder), accept_unsandboxed=False) as (jobs, limits):
            games = _games(config, problem, jobs, limits, owner, list(engines.values()), Path(folder))
        return told | {name: _told(name, games) for name in engines}


def _games(
    config: Any, problem: Any, jobs: Any, limits: Any, owner: Any, engines: Sequence[Any], folder: Path
) -> list[dict[str, Any]]:
    from core.arena.memory_book import MemoryBook
    from core.arena.pairings import meetings
    from core.arena.tournament import Tournament
    from core.contracts import EvaluatorDeps
    from core.state.journal import Journal

    deps = EvaluatorDeps(
        jobs=jobs, limits=limits, run_dir=folder, work_dir=folder, seed=config.project.seed, journal=Journal(),
        games=MemoryBook(), append=lambda events: None, isolated=True,
    )  # fmt: skip
    pairs = [(engine, owner) for engine in engines]
    settings = problem.settings
    pairings = meetings(pairs, [()], games=2, seed=1, spec=problem.spec, settings=settings, kind="rated")
    return Tournament(deps, problem.spec.game, 0).play(pairings, kind="rated")


def _told(name: str, games: Sequence[dict[str, Any]]) -> Told:
    """A point for a game won, half a one for a draw; all that is kept of the games."""
    own = [game for game in games if name in (game["white"], game["black"])]
    points = {("1-0", True): 1.0, ("0-1", False): 1.0, ("1/2-1/2", True): 0.5, ("1/2-1/2", False): 0.5}
    score = sum(points.get((game["result"], game["white"] == name), 0.0) for game in own)
    return Told(
        score, output=repr(own), ended=len(own) != 2, failure=" ".join(str(game["termination"]) for game in own)
    )
