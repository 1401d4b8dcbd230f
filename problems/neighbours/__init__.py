"""Folders of other frameworks, as they are: `--problem script --problem.path=FOLDER` reads them as a configuration.

Each file knows one form: `recognises(folder)`, and `read(folder, told)` as keys of ours. What the user sets
himself wins; what has no counterpart here is told. A stored run holds the keys, not the folder's form.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Any

from omegaconf import OmegaConf

from problems.neighbours import (
    aide,
    alphaevolve,
    autoresearch,
    codeevolve,
    deepevolve,
    functions,
    gigaevo,
    instances,
    openevolve,
    searches,
    shinka,
)
from problems.neighbours.reading import Told, Translation, leaves
from problems.neighbours.unread import ELSE, why_unread
from utils.config import check_config, to_plain
from utils.config_presets import load_preset
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.logger_system import log_msg
from utils.user_path import user_path

FORMS = (
    openevolve,
    shinka,
    alphaevolve,
    autoresearch,
    gigaevo,
    searches,
    deepevolve,
    functions,
    codeevolve,
    instances,
    aide,
)


def translate(config: Config) -> None:
    """Put the folder's keys in place of `problem.path`, where it is a folder of one of FORMS. In place.

    Raises:
        ConfigError: the folder is of no form that is known, or a file of it cannot be read.
    """
    path = config.problem.path
    if config.problem.kind != "script" or not path or (config.problem.program and config.problem.evaluator):
        return
    folder = user_path(path).resolve()
    if not folder.exists():
        raise ConfigError(f"problem.path={path}: no such folder")
    form = next((form for form in FORMS if form.recognises(folder)), None)
    if form is None:
        if why := why_unread(folder):
            raise ConfigError(f"problem.path={path}: {why}")
        needs = "; ".join(form.NEEDS for form in FORMS)
        raise ConfigError(f"problem.path={path}: no folder of a form that is known: {needs}; {ELSE}")
    python = shlex.quote(config.execution.python or "python3")
    given = config.given or frozenset()
    told = Told(config.problem.metric or config.data.metric, config.data.target, python, given)
    found = form.read(folder, told)
    config.problem.path = None
    if found.preset:
        _take_preset(config, found.preset)
    idle = {key for key, value in found.keys.items() if key not in given and not _set(config, key, value)}
    _tell(config, form.NAME, found, idle)


def _take_preset(config: Config, name: str) -> None:
    """Another problem preset in place of the one that was named; what the user set himself stays."""
    plain, given = to_plain(config, secrets=True), config.given or frozenset()
    for preset, put in ((config.presets.problem, False), (name, True)):
        settings = OmegaConf.to_container(load_preset("problem", preset))
        assert isinstance(settings, dict)
        for key, value in leaves({str(name): part for name, part in settings.items()}):
            *sections, last = key.split(".")
            place = plain
            for section in sections:
                place = place.setdefault(section, {})
            if key not in given:
                place.pop(last, None)
                place |= {last: value} if put else {}
    fresh = check_config(plain)
    for section in ("problem", "search", "execution", "agent", "budget"):
        setattr(config, section, getattr(fresh, section))
    config.presets.problem = name


def _set(config: Config, key: str, value: Any) -> bool:
    """A dotted key. `problem.options` leaves the user's own and no others: those of a preset are another problem's.

    False for an option of a policy that is not the one that searches.
    """
    *sections, name = key.split(".")
    if key == "problem.options":
        own = {word: said for word, said in config.problem.options.items() if f"{key}.{word}" in (config.given or ())}
        config.problem.options = {**value, **own}
    elif sections == ["problem", "options"]:
        said = config.problem.options.get(name)
        whole = {**value, **said} if isinstance(value, dict) and isinstance(said, dict) else value
        config.problem.options = {**config.problem.options, name: whole}
    elif sections[:1] == ["search"] and len(sections) == 2:
        if sections[1] != config.search.policy or not hasattr(config.search.options, name):
            return False
        config.search.set_option(name, value)
    else:
        target: Any = config
        for section in sections:
            target = getattr(target, section)
        setattr(target, name, value)
    return True


def _tell(config: Config, name: str, found: Translation, idle: Collection[str]) -> None:
    """`idle`: keys of ours that are none of this search's."""
    keys = ", ".join(f"{theirs} → {ours}" for theirs, ours in found.taken.items() if ours not in idle)
    if keys:
        config.note_remark(f"{name} is read: {keys}")
    left = [*found.left, *(theirs for theirs, ours in found.taken.items() if ours in idle)]
    if left:
        log_msg("WARNING", f"{name}: without a counterpart here, not read: {', '.join(left)}")
    for hint in found.hints:
        log_msg("WARNING", f"{name}: {hint}")
