"""What a run would be, before it is started: what is searched, who writes, what the budget buys, what to think of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.backend.preflight import quote
from core.backend.roles import model_settings
from core.backend.settings import ModelSettings
from runs.beginning.making_ready import made_ready
from runs.beginning.notes import notes_of
from runs.beginning.preflight import preflight
from runs.parts.writing import ideas_at_once
from utils.config_schema import Config
from utils.direction import Direction
from utils.strategies import POLICIES

FEW = 10
"""Proposals below which a search is hardly one."""


def planned(
    config: Config, *, accept_unsandboxed: bool = False, doing: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """The plan as plain JSON. The data are made ready, and the run finds them so; nothing is asked or run.

    Args:
        doing: is told what takes long.

    Raises:
        ConfigError, NoSandboxError: what the run would be refused with.
    """
    preflight(config)
    problem = made_ready(config, accept_unsandboxed=accept_unsandboxed, doing=doing)
    roles = model_settings(config.llm, plugins=config.plugin_folders)
    search, budget = config.search, config.budget
    a_step = _usd_a_step(config, roles)
    affordable = int(budget.usd / a_step) if budget.usd is not None and a_step else None
    bought = [number for number in (search.max_steps, affordable) if number is not None]
    proposals = min(bought, default=None)
    return {
        "problem": problem.name,
        "metric": {"name": problem.unit, "direction": Direction(problem.lower_is_better).optimum},
        "writer": roles["code"].writer,
        "policy": search.policy,
        "proposals": proposals,
        "budget": {"steps": search.max_steps, "seconds": budget.seconds, "usd": budget.usd, "tokens": budget.tokens},
        "usd_a_proposal": a_step,
        "usd": None if a_step is None or proposals is None else a_step * proposals,
        "sandbox": config.execution.sandbox,
        "timeout": config.execution.timeout,
        "note": problem.note or "",
        "warnings": [
            *_warnings(config, proposals, a_step),
            *_silent(roles),
            *notes_of(config, roles, problem),
        ],
    }


def _silent(roles: Mapping[str, ModelSettings]) -> list[str]:
    """Models of this machine whose server is not there."""
    if roles["code"].writer == "rules":
        return []
    from core.backend.doctor import silent_servers

    return [f"nothing answers at {url} yet: start that server" for url in silent_servers(roles)]


def _usd_a_step(config: Config, roles: Mapping[str, ModelSettings]) -> float | None:
    """Dollars of a proposal, its share of a call for ideas included; None where no price is known."""
    ideas = ideas_at_once(config)
    steps = ideas or 1
    usd = quote(roles, steps, reviews=False, ideas=ideas).usd
    return None if usd is None else usd / steps


def _warnings(config: Config, proposals: int | None, a_step: float | None) -> list[str]:
    found = []
    whole_rounds = POLICIES.get(config.search.policy, config.plugin_folders).whole_rounds
    if proposals is not None and proposals < FEW and not whole_rounds:  # an arena counts generations
        noun = "proposal" if proposals == 1 else "proposals"
        found.append(f"the budget buys {proposals} {noun}: too few to search; give it 30 or more")
    if config.budget.seconds is not None and config.budget.seconds < 60:
        found.append(f"budget.seconds={config.budget.seconds:g}: the run ends by the clock before much is tried")
    if a_step and config.budget.usd is None:
        found.append(f"there is no cap on dollars; a proposal costs about ${a_step:.3f}: give usd")
    if config.execution.sandbox == "none":
        found.append("execution.sandbox=none: programs run with your rights, and no score is verified")
    return found
