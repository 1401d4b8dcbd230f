"""What is stored when a process takes up a run: its facts, and the event that tells of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core.events import RunStarted
from core.state.operators import further_operators
from core.storage.repository import RunStore
from core.storage.rows import BROKE_OFF
from runs.beginning.environment import environment
from runs.facts import RunFacts
from runs.parts.context_history import FACT
from runs.parts.workers import proof_of
from runs.recorded.rules_version import FACT as RULES_VERSION
from runs.recorded.scoring_record import CODE_FACT, code_of, scored_by
from runs.recorded.scoring_record import FACT as SCORED_BY
from runs.stored.trust import remember
from utils.config import to_plain
from utils.logger_system import log_msg


def record_start(
    store: RunStore,
    facts: RunFacts,
    origin: Mapping[str, Any],
    told: Sequence[Mapping[str, Any]],
    rules_version: Sequence[Mapping[str, Any]],
) -> None:
    """Store both in one transaction: a run that is killed before has not begun.

    Args:
        origin: where the run comes from: the command that was typed, the run it forks or verifies, later resumes.
        told: what prompts tell, as `runs.parts.context_history` makes it.
        rules_version: who wrote and writes, as `runs.recorded.rules_version` makes it.
    """
    plain = to_plain(facts.config)
    if not facts.resumed:
        (facts.run_dir / "config.yaml").write_text(_yaml(plain), encoding="utf-8")
    stored = {
        "run": facts.run,
        "problem": facts.problem.name,
        "unit": facts.problem.unit,
        "family": facts.problem.family,
        "lower_is_better": facts.problem.lower_is_better,
        "writer": facts.writer,
        "config": plain,
        "environment": environment(),
        "sandbox": {"tier": facts.sandbox, "probes": proof_of(facts.config, facts.sandbox)},
        "status": "running",
        BROKE_OFF: "",
        "operators": _operators(store, facts),
        "rules_reach": facts.problem.rules_reach,
        "optimum": facts.problem.optimum,
        "cautions": list(facts.problem.cautions),
        "problem_note": facts.problem.note,
        "origin": dict(origin),
        FACT: list(told),
        RULES_VERSION: list(rules_version),
    }
    started_at = store.get_fact("started_at")
    if started_at is None:
        stored |= {SCORED_BY: scored_by(facts.problem), CODE_FACT: code_of(facts.problem)}
        started_at = datetime.now(UTC).isoformat()
        stored["started_at"] = started_at
    if "verifies" not in origin:  # before the run is there: one that is killed in between would be a stranger's
        remember(facts.config.project.dir, plain, str(started_at))
    store.put_facts(stored, [_started(facts)])
    what = f"{facts.problem.name}, writer {facts.writer}, sandbox {facts.sandbox}, policy {facts.config.search.policy}"
    log_msg("INFO", f"run {facts.run} {'goes on' if facts.resumed else 'begins'}: {what}")


def _operators(store: RunStore, facts: RunFacts) -> dict[str, Any]:
    """The operators of plug-ins, so that the run can be shown without them; those of earlier processes stay."""
    further = further_operators(facts.config.plugin_folders)
    return {**(store.get_fact("operators") or {}), **{name: spec.model_dump() for name, spec in further.items()}}


def _started(facts: RunFacts) -> RunStarted:
    search, budget = facts.config.search, facts.config.budget
    return RunStarted(
        run=facts.run,
        problem=facts.problem.name,
        lower_is_better=facts.problem.lower_is_better,
        unit=facts.problem.unit,
        writer=facts.writer,
        policy=search.policy,
        sandbox=facts.sandbox,
        max_steps=search.max_steps,
        max_generations=search.max_generations,
        budget={
            "seconds": budget.seconds,
            "tokens": budget.tokens,
            "usd": budget.usd,
            **({"usd_per_hour": per_hour} if (per_hour := facts.config.execution.usd_per_hour) else {}),
        },
        resumed=facts.resumed,
        by_hand=facts.by_hand,
    )


def _yaml(plain: dict[str, Any]) -> str:
    """As `OmegaConf.to_yaml` writes it, which first takes 20 ms to make its own tree of the same values.

    What reads it takes some words for numbers that YAML does not: OmegaConf's dumper puts them in quotes.
    """
    import yaml
    from omegaconf._utils import get_omega_conf_dumper

    dumper = get_omega_conf_dumper()
    return str(yaml.dump(plain, Dumper=dumper, default_flow_style=False, allow_unicode=True, sort_keys=False))
