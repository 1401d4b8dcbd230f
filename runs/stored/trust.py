"""Which runs began in this project: what a run from elsewhere names to be executed needs the user's word first.

A run's folder can be copied and handed on, and its stored configuration names plug-ins, evaluators and commands. When a
run begins here, a mark of these names is left in `workspaces/`, where no run folder reaches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from utils.config import expressions_in
from utils.errors import ConfigError

FLAG = "--i-trust-this-run"
CODE_KEYS = (
    "plugins", "problem.plugins", "problem.path", "problem.program", "problem.evaluator", "problem.source",
    "problem.eval", "problem.build", "problem.grade", "execution.python", "execution.paths", "execution.ray",
    "execution.modal",
    "llm.code.command", "llm.feedback.command", "llm.refine.command",
    "notify.command", "notify.url", "tracking.otel", "tracking.mlflow",
)  # fmt: skip
"""Keys whose values lead to code that runs outside of the sandbox, to where it runs, or to who is told of it."""
ADDRESS_KEYS = tuple(f"llm.{role}.{key}" for role in ("code", "feedback", "refine") for key in ("base_url", "models"))
"""Keys that say who is asked: an address gets the prompts, and this machine's key."""
_SHOWN_KEYS = tuple(f"llm.{role}.{key}" for role in ("code", "feedback", "refine") for key in ("env", "files"))
"""What of this machine the commands among them are shown."""
_PRESET_FILES = ("presets.problem", "presets.llm")


def _bound(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What a mark vouches for: the code that is named, what it is shown, and the variables that are read."""
    read = {".".join(path): expression for path, expression in expressions_in(plain).items()}
    shown = {key: value for key in _SHOWN_KEYS if (value := _value(plain, key))}
    return code_named(plain) | _addresses(plain) | shown | read


def _addresses(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key in ADDRESS_KEYS if (value := _value(plain, key))}


def code_named(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Key → value of everything in a stored configuration that would be executed or read as a configuration."""
    named = {key: value for key in CODE_KEYS if (value := _value(plain, key))}
    files = {key: value for key in _PRESET_FILES if str(value := _value(plain, key)).endswith((".yaml", ".yml"))}
    metric = _value(plain, "data.metric")
    return named | files | ({"data.metric": metric} if ".py:" in str(metric) else {})


def remember(project_dir: str | Path, plain: Mapping[str, Any], started_at: str) -> None:
    """Leave the mark of a run that begins here, or that the user has vouched for, if it names anything to trust."""
    if _bound(plain):
        path = _mark(project_dir, plain, started_at)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def began_here(project_dir: str | Path, plain: Mapping[str, Any], started_at: str) -> bool:
    """True if a run that began then, and named just this, began in this project."""
    return _mark(project_dir, plain, started_at).exists()


def check_origin(
    run: str, plain: Mapping[str, Any], overridden: Sequence[str] = (), *, asks_models: bool = True
) -> None:
    """Raise ConfigError if a run from elsewhere names code, or whom to ask, that the user's own words do not replace.

    Args:
        asks_models: False where nobody is asked: what addresses it names is no matter then.
    """
    replaced = {word.partition("=")[0].lstrip("-") for word in overridden}
    given = code_named(plain) | (_addresses(plain) if asks_models else {})
    if "presets.llm" in replaced:  # the preset's section stands in the place of the run's
        replaced |= {key for key in given if key.startswith("llm.")}
    named = {key: value for key, value in given.items() if key not in replaced}
    if named:
        listed = ", ".join(f"{key}={value}" for key, value in named.items())
        raise ConfigError(
            f"run {run} did not begin in this project, and it names what would run with your rights, or be told your "
            f"prompts and key: {listed}; look at it first, then add {FLAG}"
        )


def _mark(project_dir: str | Path, plain: Mapping[str, Any], started_at: str) -> Path:
    text = json.dumps([started_at, _bound(plain)], sort_keys=True, default=str)
    name = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return Path(project_dir).resolve() / "workspaces" / ".began_here" / name


def _value(plain: Mapping[str, Any], key: str) -> Any:
    value: Any = plain
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
