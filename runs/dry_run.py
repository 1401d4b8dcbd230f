"""`step --dry-run`: what the next step would be, without storing or calling anything."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from core.state.journal import Journal
from core.state.task import derive_seed
from core.storage.reader import RunReader
from reports.named_node import named_node
from runs.control import heard_marks
from runs.parts.policies import policy_of
from utils.config_schema import Config


def dry_run(config: Config, run_dir: Path | None, node: str | None, operator: str | None) -> dict[str, Any]:
    """The operator, the parents and why, as the policy would choose them now."""
    policy = policy_of(config)
    journal = Journal()
    round_ = 0
    open_tasks: dict[str, list[str]] = {}
    if run_dir is not None:
        with RunReader(run_dir) as reader:
            journal = Journal(lower_is_better=bool(reader.fact("lower_is_better")))
            for stored in reader.nodes(texts=True):
                journal.append(stored)
                policy.tell(journal, journal[stored.id])
            round_ = reader.rounds()
            open_tasks = reader.open_stages()
            heard_marks(run_dir, journal)
            if node and not any(name.startswith(node) for name in open_tasks):
                node = named_node(reader, node).id
    if open_tasks:
        return {"goes_on_with": open_tasks, "stored": False}
    if node or operator:
        return {"operator": operator, "node": node, "rule": "asked for on the command line", "stored": False}
    proposals = policy.ask(journal, Random(derive_seed(config.project.seed, "ask", round_)), 1)
    chosen = [{"operator": p.operator, "parents": list(p.parents), "why": p.why} for p in proposals]
    return {"proposals": chosen, "stored": False}
