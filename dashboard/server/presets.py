"""What a new run may choose from: the preset files, and names that each problem knows."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from dashboard.server.schemas.control import Presets, StartRequest

CONFIG = Path(__file__).resolve().parents[2] / "config"
NEEDS_A_FILE = frozenset({"script", "command"})
"""Presets that are told by paths: started on the command line, not from a page."""
NAMES = {
    "competition": ["ames", "churn", "diamonds", "fine_foods", "chicago", "diabetes", "digits"],
    "bin_packing": [
        "weibull_5k", "weibull_1k", "weibull_10k", "weibull_100k", "u120", "u250", "u500", "u1000",
    ],
}  # fmt: skip


def presets() -> Presets:
    """The presets that are there now."""
    problems = [path.stem for path in sorted((CONFIG / "problem").glob("*.yaml")) if path.stem not in NEEDS_A_FILE]
    llms = [path.stem for path in sorted((CONFIG / "llm").glob("*.yaml"))]
    policies = StartRequest.model_fields["policy"].annotation
    literal = next(part for part in get_args(policies) if get_args(part))
    return Presets(
        problems={name: NAMES.get(name, []) for name in problems},
        llms=sorted(llms, key=lambda name: (name != "rules", name)),
        policies=list(get_args(literal)),
    )
