"""What a new run may choose from: the preset files, names that each problem knows, policies and their options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from pydantic import ValidationError

from dashboard.server.schemas.control import Defaults, PolicyOption, Presets, StartRequest
from problems.data_sets import DATA_SETS
from utils.config_schema import Config
from utils.key_docs import meanings, option_docs, refusal
from utils.metric_kinds import KINDS, WITH_NUMBER
from utils.strategies import POLICIES, SELECTORS, PolicyOptions

CONFIG = Path(__file__).resolve().parents[2] / "config"
NEEDS_A_FILE = frozenset({"command"})
"""Presets that are told by commands: started on the command line, not from a page."""
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
        problems={name: DATA_SETS.get(name, []) for name in problems},
        llms=sorted(llms, key=lambda name: (name != "rules", name)),
        policies=list(policies),
        defaults={name: defaults_of(name) for name in problems},
        metrics=sorted((*KINDS, *(example for *_, example in WITH_NUMBER.values()))),
        policy_options={name: list(_offered(spec.options, plugins)) for name, spec in policies.items()},
    )


def defaults_of(problem: str) -> Defaults:
    """What holds for a problem where nothing is chosen, and the first words of its preset."""
    path = CONFIG / "problem" / f"{problem}.yaml"
    told, base = OmegaConf.load(path), Config()
    search, budget = base.search, base.budget
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return Defaults(
        policy=OmegaConf.select(told, "search.policy", default=search.policy),
        max_steps=OmegaConf.select(told, "search.max_steps", default=search.max_steps),
        max_generations=OmegaConf.select(told, "search.max_generations", default=search.max_generations),
        seconds=OmegaConf.select(told, "budget.seconds", default=budget.seconds) or base.agent.time_limit,
        usd=OmegaConf.select(told, "budget.usd", default=budget.usd),
        workers=OmegaConf.select(told, "search.workers", default=search.workers),
        about=first.split(". ")[0].split("--")[0].strip("# :.") if first.startswith("#") else "",
    )


def fault_of(request: StartRequest, plugins: Sequence[str] = ()) -> str | None:
    """Why the request cannot be met, in one line; None if it can."""
    known = presets(plugins)
    if request.problem not in known.problems or request.llm not in known.llms:
        return "unknown problem or llm preset: see /api/presets"
    if request.model is not None and request.llm == "rules":
        return "model belongs to a writer that is a model: choose another llm"
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
        key = ".".join(map(str, fault["loc"]))
        return f"{key}={fault['input']}: {refusal(fault, key, option_docs([options], ''))}"
    return None


def _offered(options: type[PolicyOptions], plugins: Sequence[str]) -> Iterator[PolicyOption]:
    """Options that are a number, a switch or a choice: free text and mappings are for the command line."""
    texts = meanings(options)
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
                meaning=texts.get(name, ""),
            )
