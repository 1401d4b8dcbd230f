"""One rule for words that nobody reads: a key of `problem`, `data` or `arena` that no problem uses is refused, and
`final` likewise; so is a key of the command line that others read and this problem, or this policy, does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.contracts import Problem
from problems.registry import option_models
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.registry import nearest
from utils.strategies import POLICIES
from utils.unread_keys import OF_LIMITS

SECTIONS = ("problem", "data", "arena")
EVERYBODY = ("problem.kind", "problem.plugins", "problem.goal")
"""What the loop reads, whatever the problem."""


def check_words(config: Config, problem: Problem) -> None:
    """Raise ConfigError for the first key that says something to nobody. Problems that tell no `reads` are not checked
    for keys of `problem`, `data` and `arena`.

    Called for new runs only: a stored run goes on with what it was started with.
    """
    check_typed(config, problem)
    _check_options(config, problem)
    reads = problem.reads
    if reads is None:
        return
    for key, value in _said(config):
        if not any(key == known or key.startswith(f"{known}.") for known in (*EVERYBODY, *reads)):
            does = f"it reads {', '.join(reads)}" if reads else f"it reads no key of {', '.join(SECTIONS)}"
            raise ConfigError(f"{key}={value}: {problem.name} does not read it; {does}")


def check_typed(config: Config, problem: Problem) -> None:
    """Raise ConfigError for the first key of the command line that others read and this problem, or this policy, does
    not: of a run that is gone on with, too."""
    if told := next(_unread(config, problem, config.typed), None):
        raise ConfigError(told)


def _check_options(config: Config, problem: Problem) -> None:
    """By what the problem's file binds as OPTIONS, whoever wrote it."""
    models = option_models(config)
    known = {name: None for model in models for name in model.model_fields}
    if not known or any(model.model_config.get("extra") == "allow" for model in models):
        return
    for name, value in config.problem.options.items():
        if name not in known:
            does = f"it reads {', '.join(known)}{nearest(name, list(known))}"
            raise ConfigError(f"problem.options.{name}={value}: {problem.name} does not read it; {does}")


def told_words(config: Config, problem: Problem) -> Iterator[str]:
    """The keys of the user's file and of the environment that others read and this problem does not, a line each: such
    a file may be meant for many runs, so nothing is refused."""
    return _unread(config, problem, (config.given or frozenset()) - config.typed)


def _unread(config: Config, problem: Problem, said: frozenset[str]) -> Iterator[str]:
    policy = config.search.policy
    idle = {key: (problem.name, why) for key, why in problem.unread.items()}
    if config.agent.tools:  # what a model tries before it writes is a run, too
        idle = {key: told for key, told in idle.items() if key not in OF_LIMITS}
    if goes_step_by_step(config) and config.search.max_steps is None:  # else that ends it, and this is told
        idle["search.max_generations"] = (f"search.policy={policy}", "it goes step by step; search.max_steps ends it")
    for key in sorted(said & idle.keys()):
        if (value := _value(config, key)) is not None:
            yield f"{key}={value}: {idle[key][0]} does not read it: {idle[key][1]}"


def goes_step_by_step(config: Config) -> bool:
    """True for a policy of ours that has no generations."""
    search = config.search
    return search.options.generation_size is None and POLICIES.is_builtin(search.policy)


def _value(config: Config, key: str) -> Any:
    found: Any = config
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else getattr(found, name)
    return found


def _said(config: Config) -> Iterator[tuple[str, object]]:
    """Keys that are not what they are by default."""
    for section in SECTIONS:
        part = getattr(config, section)
        for name, known in type(part).model_fields.items():
            value = getattr(part, name)
            if name == "options":
                yield from ((f"{section}.options.{key}", chosen) for key, chosen in value.items())
            elif value != known.get_default(call_default_factory=True):
                yield f"{section}.{name}", value
    if config.final != Config.model_fields["final"].default:
        yield "final", config.final
