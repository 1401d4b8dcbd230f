"""What a new run may choose from: the preset files, names that each problem knows, policies and their options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dashboard.server.schemas.control import PolicyOption, Presets, StartRequest
from utils.strategies import POLICIES, SELECTORS, PolicyOptions

CONFIG = Path(__file__).resolve().parents[2] / "config"
NEEDS_A_FILE = frozenset({"script", "command"})
"""Presets that are told by paths: started on the command line, not from a page."""
NAMES = {
    "competition": ["ames", "churn", "diamonds", "fine_foods", "chicago", "diabetes", "digits"],
    "bin_packing": [
        "weibull_5k", "weibull_1k", "weibull_10k", "weibull_100k", "u120", "u250", "u500", "u1000",
    ],
}  # fmt: skip
_KINDS = {"integer": "integer", "number": "number", "boolean": "boolean"}


def presets(plugins: Sequence[str] = ()) -> Presets:
    """What is there now.

    Args:
        plugins: the folders that the server was started with; a client names none.
    """
    problems = [path.stem for path in sorted((CONFIG / "problem").glob("*.yaml")) if path.stem not in NEEDS_A_FILE]
    llms = [path.stem for path in sorted((CONFIG / "llm").glob("*.yaml"))]
    policies = POLICIES.all(plugins)
    return Presets(
        problems={name: NAMES.get(name, []) for name in problems},
        llms=sorted(llms, key=lambda name: (name != "rules", name)),
        policies=list(policies),
        policy_options={name: list(_offered(spec.options, plugins)) for name, spec in policies.items()},
    )


def fault_of(request: StartRequest, plugins: Sequence[str] = ()) -> str | None:
    """Why the request cannot be met, in one line; None if it can."""
    known = presets(plugins)
    if request.problem not in known.problems or request.llm not in known.llms:
        return "unknown problem or llm preset: see /api/presets"
    if request.policy is None:
        return None
    if request.policy not in known.policies:
        return f"unknown policy '{request.policy}': see /api/presets"
    offered = {option.name: option for option in known.policy_options[request.policy]}
    for name, value in request.options.items():
        if name not in offered:
            return f"'{name}' is no option of {request.policy} that a page may set: see /api/presets"
        if offered[name].kind == "choice" and value not in offered[name].choices:
            return f"{name}={value}: allowed: {', '.join(offered[name].choices)}"
    return _refusal(POLICIES.get(request.policy, plugins).options, request.options)


def _refusal(options: type[PolicyOptions], values: Mapping[str, Any]) -> str | None:
    """What the policy itself says against the values; None if they are right."""
    try:
        options.model_validate(values)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        return f"{'.'.join(map(str, fault['loc']))}={fault['input']}: {fault['msg']}"
    return None


def _offered(options: type[PolicyOptions], plugins: Sequence[str]) -> Iterator[PolicyOption]:
    """Options that are a number, a switch or a choice: free text and mappings are for the command line."""
    for name, told in options.model_json_schema()["properties"].items():
        choices = SELECTORS.names(plugins) if told.get("names") == "selectors" else told.get("enum", [])
        kind = "choice" if choices else _KINDS.get(told.get("type", ""))
        if kind:
            yield PolicyOption(
                name=name,
                kind=kind,
                default=told.get("default"),
                choices=choices,
                minimum=told.get("minimum", told.get("exclusiveMinimum")),
                maximum=told.get("maximum", told.get("exclusiveMaximum")),
                meaning=" ".join(told.get("description", "").split()),
            )
