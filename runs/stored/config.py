"""The configuration that a run was started with, read back for a resume, a replay or an export."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from runs.stored.named_files import said_how_to_give
from runs.stored.trust import began_here, check_origin
from utils.config import (
    EXPRESSION,
    check_config,
    expressions_in,
    load_config,
    merge_overrides,
    to_plain,
    with_environment,
)
from utils.config_execution import ExecutionConfig
from utils.config_presets import PRESET_KINDS, presets_in
from utils.config_schema import Config
from utils.config_section import section_of
from utils.errors import ConfigError
from utils.metric_kinds import meant_by
from utils.secrets import MASK

FIXED = (
    "problem.", "data.", "presets.problem", "project.seed",
    "arena.limit", "arena.plies", "arena.draw_adjudication", "arena.resign_adjudication",
)  # fmt: skip
"""Keys, or how they begin, that a run keeps: of the arena those that decide what a game is. All rated games ever make
one rating, and the final part's openings are held out by how long they are."""
SANDBOX = "execution.sandbox"
"""A run may change its tier, but not whether it has one."""
FREE = ("problem.goal", "problem.plugins")
"""Of `FIXED`, what no score depends on."""
ONCE_OPEN = ("ray", "modal")
"""Sections of `execution` that took any key, and passed over those that nobody knew."""
FOUND_BY_NULL = frozenset({"api_key", "token"})
"""Secrets that null is as good as: a key then comes from its provider's variable, a page's token is drawn."""


def stored_config(
    run_dir: Path,
    overrides: list[str],
    project_dir: str,
    note: Callable[[str], None] = lambda text: None,
    *,
    trusted: bool = False,
    asks_models: bool = True,
    offline: bool = False,
) -> Config:
    """The run's own configuration, secrets found again where they came from, with the user's changes on top.

    Args:
        overrides: `key=value` texts. `presets.llm=NAME` puts the preset's section `llm` in the stored one's place.
        note: told one line where they have keys by an older name, or the run has some that nobody reads.
        trusted: the user says that a run from elsewhere may execute what it names.
        asks_models: False where it is no matter whether secrets of models can be found again.
        offline: True where every answer is in the record, so that nobody is asked.
    Raises:
        ConfigError: the run came from elsewhere and names code, or a masked value is not to be found again.
    """
    with unreadable(run_dir.name):
        return _read(run_dir, overrides, project_dir, note, trusted, asks_models, offline)


def _read(
    run_dir: Path,
    overrides: list[str],
    project_dir: str,
    note: Callable[[str], None],
    trusted: bool,
    asks_models: bool,
    offline: bool,
) -> Config:
    with RunReader(run_dir) as reader:
        stored, started_at = reader.fact("config"), str(reader.fact("started_at"))
    if stored is None:
        raise ConfigError(f"run {run_dir.name} was killed before it began: it holds nothing, start it again")
    own = trusted or began_here(project_dir, stored, started_at)
    if not own:
        check_origin(run_dir.name, stored, overrides, asks_models=asks_models and not offline)
    plain = with_environment(stored) if own else stored
    plain["project"]["dir"] = project_dir
    if unread := _without_unread(plain["execution"]):
        note(f"run {run_dir.name}: nobody reads {', '.join(unread)}; it goes on without")
    if meant_by(str((plain.get("data") or {}).get("metric"))):
        plain["data"]["metric"] = "qwk"  # what such names were, before it had to be said
    replaced = {word.partition("=")[0] for word in overrides}
    expressions = expressions_in(stored) if own else {}
    presets = {kind: plain["presets"][kind] for kind in PRESET_KINDS} | presets_in(overrides)
    fresh = load_config(None, overrides, presets=presets, note=note)
    if "presets.llm" in replaced:
        plain["llm"] = to_plain(fresh, secrets=True)["llm"]
        kept = {path: text for path, text in expressions.items() if path[0] != "llm"}
        expressions = kept | {path: text for path, text in fresh.environment.items() if path[0] == "llm"}
    _unmask(plain, to_plain(fresh, secrets=True))
    merged = merge_overrides(plain, overrides)
    idle = {"llm"} if not asks_models else set()
    idle |= {"notify", "tracking"} if offline or not asks_models else set()
    _check_complete(run_dir.name, merged, idle)
    _check_same_problem(run_dir.name, plain, merged, overrides)
    with said_how_to_give(merged):  # a folder of plug-ins may be gone
        config = check_config(merged)
    config.note_environment({path: text for path, text in expressions.items() if ".".join(path) not in replaced})
    config.note_given(None, typed=fresh.typed)
    return config


def _without_unread(execution: dict[str, Any]) -> list[str]:
    """Take out of the sections that were open once what nobody reads; the keys. A run goes on as it began."""
    unread = []
    for name in ONCE_OPEN:
        section, stored = section_of(ExecutionConfig.model_fields[name].annotation), execution.get(name)
        if section is None or not isinstance(stored, dict):
            continue
        for key in sorted(stored.keys() - section.model_fields):
            del stored[key]
            unread.append(f"execution.{name}.{key}")
    return unread


def _unmask(plain: dict[str, Any], fresh: dict[str, Any]) -> None:
    """A masked secret is read again from the environment through its preset; one typed by hand must be typed again."""
    for key, value in plain.items():
        if isinstance(value, dict) and isinstance(fresh.get(key), dict):
            _unmask(value, fresh[key])
        elif _is_incomplete(value) and (fresh.get(key) or (value == MASK and key in FOUND_BY_NULL)):
            plain[key] = fresh.get(key)


def _check_same_problem(run: str, plain: dict[str, Any], merged: dict[str, Any], overrides: Sequence[str]) -> None:
    """What is stored was proposed by a seed and scored on a problem. A file may have another name once it is gone."""
    for key in (word.partition("=")[0].lstrip("-") for word in overrides):
        if not (is_kept(key) or key == SANDBOX):
            continue
        before, now = (_value_at(values, key.split(".")) for values in (plain, merged))
        if key == SANDBOX and (before == "none") != (now == "none"):
            raise ConfigError(
                f"{key}={now}: run {run} has {before}, and unisolated scores cannot stand beside verified ones; "
                "start a new run"
            )
        is_gone = isinstance(before, str) and "/" in before and not Path(before).exists()
        if is_kept(key) and now != before and not is_gone:
            raise ConfigError(
                f"{key}={now}: run {run} has {'none' if before is None else before}, and what it scored cannot be "
                "compared; start a new run"
            )


def is_kept(key: str) -> bool:
    """True for a key that a run goes on with as it began."""
    return key.startswith(FIXED) and key not in FREE


def _value_at(values: Any, path: Sequence[str]) -> Any:
    for name in path:
        values = values.get(name) if isinstance(values, dict) else None
    return values


def _check_complete(run: str, plain: dict[str, Any], idle: Collection[str]) -> None:
    """`idle`: sections that nobody goes by now."""
    for path, value in _texts(plain):
        if _is_incomplete(value) and path[0] not in idle:
            key = ".".join(path)
            why = "without its secret" if MASK in value else "and that variable is not set"
            raise ConfigError(f"run {run}: {key} is stored as {value}, {why}; give it again: {key}=VALUE")


def _is_incomplete(value: Any) -> bool:
    return isinstance(value, str) and (MASK in value or EXPRESSION.search(value) is not None)


def _texts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(item, (*path, str(name)))
    elif isinstance(value, str):
        yield path, value
