"""Loads the configuration: presets, file, environment and command line, merged by OmegaConf, checked by pydantic.

Precedence, high to low: command-line key, environment (`SWARM_EVO__SEARCH__NUM_DRAFTS=3`), preset named on the command
line, `--config` file, preset named in that file, defaults.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, SecretStr, ValidationError

from utils.config_places import CONFIG_DIR, ENV_PREFIX
from utils.config_presets import (
    PRESET_KINDS,
    is_preset_file,
    load_preset,
    preset_of_kind,
    presets_in,
    presets_of,
    read_yaml,
)
from utils.config_schema import Config, plugin_folders
from utils.config_section import section_of
from utils.config_words import (
    NONE_MEANT,
    REMEDY,
    SHELL_TEXTS,
    environment_words,
    from_words,
    number_keys,
)
from utils.errors import ConfigError
from utils.key_docs import key_docs, refusal
from utils.older_keys import HOMES, renamed, told
from utils.registry import nearest
from utils.secrets import MASK, masked, secret_parts
from utils.strategies import option_keys

EXPRESSION = re.compile(r"\$\{(?:oc\.)?env:[^}]*\}")
"""What stands for an environment variable."""


def load_config(
    file: str | Path | None = None,
    overrides: Sequence[str] = (),
    *,
    presets: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    check_presets: bool = True,
    translate: Callable[[dict[str, Any]], dict[str, Any]] = lambda plain: plain,
    note: Callable[[str], None] = lambda text: None,
) -> Config:
    """Return the checked configuration.

    Args:
        file: a YAML file; None for `config/default.yaml`.
        overrides: `key=value` texts, dotted keys.
        presets: preset names given on the command line, by kind (`problem`, `llm`).
        env: the environment; None for the process's own.
        translate: turns a file of another form into our keys (the seed's flat keys, for one).
        check_presets: False for verbs that only look at runs: presets are not read.
        note: told one line where the user wrote keys by an older name.
    Raises:
        ConfigError: one line that names the key, the value and what is allowed.
    """
    environment = os.environ if env is None else env
    _register_env_resolver(environment)

    def load(environment: Mapping[str, str]) -> tuple[Config, list[str]]:
        said = [*environment_words(environment), *overrides] if check_presets else []
        named = {**presets_in(said), **(presets or {})}
        return _load(file, overrides, named, environment, check_presets=check_presets, translate=translate)

    try:
        config, older = load(environment)
    except ConfigError as error:
        variable = _guilty(environment, error, load)
        if variable is None:
            raise
        raise ConfigError(f"{variable} in the environment: {error}") from error
    if older:
        note(told(older))
    return config


def _load(
    file: str | Path | None,
    overrides: Sequence[str],
    named: Mapping[str, str],
    environment: Mapping[str, str],
    *,
    check_presets: bool,
    translate: Callable[[dict[str, Any]], dict[str, Any]],
) -> tuple[Config, list[str]]:
    """(configuration, keys by an older name)."""
    older: list[str] = []
    path = Path(file) if file else CONFIG_DIR / "default.yaml"
    from_file = read_yaml(path, "configuration file", translate, older.append)
    words = [from_words(texts, older.append) for texts in (environment_words(environment), overrides)]
    in_file, said = presets_of(from_file), dict(named)
    below: dict[str, DictConfig] = {}
    above: dict[str, DictConfig] = {}
    if check_presets:
        in_file = preset_of_kind([from_file]) | in_file
        below = {kind: load_preset(kind, name, older.append) for kind, name in in_file.items() if kind not in said}
        said = preset_of_kind(words, unless=[*below.values(), from_file]) | said
        above = {kind: load_preset(kind, name, older.append) for kind, name in said.items()}
    presets = in_file | said
    layers = [
        *(below[kind] for kind in PRESET_KINDS if kind in below.keys() - above.keys()),
        from_file,
        *(above[kind] for kind in PRESET_KINDS if kind in above),
        *words,
        OmegaConf.create({"presets": presets}),
    ]
    own = [layer for kind, layer in (below | above).items() if is_preset_file(presets[kind])] + [from_file, *words]
    try:
        merged = OmegaConf.merge(*layers)
        plain = OmegaConf.to_container(merged, resolve=True)
    except OmegaConfBaseException as error:
        key = getattr(error, "full_key", None) or "configuration"
        raise ConfigError(f"{key}: {str(error).splitlines()[0]}; {REMEDY}") from error
    assert isinstance(plain, dict)
    for parts, expression in expressions_in(OmegaConf.to_container(merged)).items():
        if ".".join(parts) in number_keys() and _get(plain, parts) is None:
            raise ConfigError(f"{'.'.join(parts)}={expression}: that is not set in the environment{NONE_MEANT}")
    try:
        config = check_config({str(key): value for key, value in plain.items()})
    except ConfigError as error:
        if not older:
            raise
        raise ConfigError(f"{error} ({told(older)})") from error
    config.note_environment(expressions_in(OmegaConf.to_container(merged)))
    given = [frozenset(_dotted(OmegaConf.to_container(layer))) for layer in own]
    config.note_given(frozenset[str]().union(*given), typed=given[-1])
    return config, older


def _dotted(plain: Any, prefix: str = "") -> Iterator[str]:
    """The dotted name of every value of a nested mapping."""
    for key, value in plain.items() if isinstance(plain, Mapping) else ():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _guilty(
    environment: Mapping[str, str], fault: ConfigError, load: Callable[[Mapping[str, str]], object]
) -> str | None:
    """The variable without which the fault is gone; None if it is none of them."""
    for variable in sorted(key for key in environment if key.startswith(ENV_PREFIX)):
        try:
            load({key: value for key, value in environment.items() if key != variable})
        except ConfigError as error:
            if str(error) == str(fault):
                continue
        return variable
    return None


def expressions_in(raw: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Path → expression of every value that an environment variable gives: `${env:NAME}`."""
    if isinstance(raw, dict | list):
        items = raw.items() if isinstance(raw, dict) else enumerate(raw)
        parts = [expressions_in(item, (*path, str(name))) for name, item in items]
        return {key: text for part in parts for key, text in part.items()}
    return {path: raw} if isinstance(raw, str) and EXPRESSION.search(raw) else {}


def with_environment(plain: Mapping[str, Any], env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """`plain` with the expressions that `to_plain` left in it replaced by what the environment holds now.

    An expression whose variable is not set stays as it is.
    """
    _register_env_resolver(os.environ if env is None else env)
    changed: dict[str, Any] = json.loads(json.dumps(plain))
    for path, expression in expressions_in(changed).items():
        value = OmegaConf.create({"value": expression})["value"]
        if value is not None:
            _put(changed, path, value)
    return changed


def check_config(plain: Mapping[str, Any]) -> Config:
    """Validate a plain mapping; ConfigError with one line for the first fault."""
    ours = renamed(plain)
    plugins = plugin_folders(ours)
    try:
        config = Config.model_validate(ours, context=plugins)
    except ValidationError as error:
        raise ConfigError(_explain(error, plugins)) from error
    if config.budget.seconds is None:
        config.budget.seconds = config.agent.time_limit
    return config


def to_plain(config: Config, *, secrets: bool = False) -> dict[str, Any]:
    """The configuration as plain JSON. Unless `secrets`, secrets are masked, and a value that came from an environment
    variable stands as the expression that names the variable; but a model's name, which every row tells, as it is."""
    plain = _plain(config)
    assert isinstance(plain, dict)
    if secrets:
        return plain
    for path, expression in config.environment.items():
        if path[-1] != "model":
            _put(plain, path, expression)
    hidden = masked(plain)
    assert isinstance(hidden, dict)
    return hidden


def secrets_of(config: Config) -> list[str]:
    """Every secret value in the configuration, for masking logs."""
    plain = _plain(config)
    found = [part for part in secret_parts(plain) if part]
    given = [_get(plain, path) for path in config.environment if path[-1] != "model"]
    return found + [value for value in given if isinstance(value, str) and value]


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in [*type(value).model_fields, *(value.model_extra or ())]}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _get(plain: Any, path: Sequence[str]) -> Any:
    """The value at a path; None where a key has another name by now."""
    for name in path:
        if plain is not None:
            plain = plain[int(name)] if isinstance(plain, list) else plain.get(name)
    return plain


def _put(plain: Any, path: Sequence[str], value: Any) -> None:
    parent = _get(plain, path[:-1])
    if isinstance(parent, list):
        parent[int(path[-1])] = value
    elif parent is not None and parent.get(path[-1]) is not None:
        parent[path[-1]] = value


def _register_env_resolver(environment: Mapping[str, str]) -> None:
    def resolve(name: str, default: Any = None) -> Any:
        return environment.get(name, default)

    OmegaConf.register_resolver("env", resolve, replace=True)


def _explain(error: ValidationError, plugins: Sequence[str]) -> str:
    """One line for the first fault; unknown keys before wrong values, since a typo is the commoner cause."""
    faults = error.errors(include_url=False, include_context=False)
    faults.sort(key=lambda fault: fault["type"] != "extra_forbidden")
    fault = faults[0]
    path = [str(part) for part in fault["loc"]]
    key = ".".join(path)
    if fault["type"] == "extra_forbidden":
        if word := next((part for part in path if "." in part), None):
            section, _, rest = word.partition(".")
            return f"unknown key '{word}' in one word: a file's keys are nested, as in {section}: {{{rest}: …}}"
        known = [*known_keys(), *option_keys(plugins), *(f"search.{name}" for name in HOMES)]
        parents = {k.rsplit(".", 1)[0] for k in known if "." in k}
        return f"unknown key '{key}'{nearest(key, [*known, *parents])}"
    value = MASK if masked(key, tuple(path)) == MASK else repr(masked(fault.get("input"), tuple(path)))
    return f"{key}={value}: {refusal(fault, key, key_docs(plugins))}"


def known_keys(model: type[BaseModel] = Config, prefix: str = "") -> list[str]:
    """Every dotted key of the configuration; a section that may be left out is a key too, whose value may be null."""
    keys: list[str] = []
    for name, info in model.model_fields.items():
        section = section_of(info.annotation)
        if section is not info.annotation:
            keys.append(prefix + name)
        if section is not None:
            keys += known_keys(section, f"{prefix}{name}.")
    return keys


def merge_overrides(plain: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """`plain` with `key=value` texts on top."""
    hidden = _texts_of(renamed(plain), lambda text: text.replace("${", _HIDDEN))  # what was resolved is no expression
    merged = OmegaConf.to_container(OmegaConf.merge(OmegaConf.create(hidden), from_words(overrides)))
    shown = _texts_of(merged, lambda text: text.replace(_HIDDEN, "${"))
    for key in {override.partition("=")[0] for override in overrides} & {*SHELL_TEXTS}:
        section, _, name = key.partition(".")
        if isinstance(text := shown[section][name], str):
            shown[section][name] = text.replace("\\${", "${")
    return {str(key): value for key, value in shown.items()}


_HIDDEN = "$\0{"
"""Stands for `${` where OmegaConf is not to read it."""


def _texts_of(value: Any, change: Callable[[str], str]) -> Any:
    """The same, nested as it is, with every text changed."""
    if isinstance(value, dict):
        return {key: _texts_of(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts_of(item, change) for item in value]
    return change(value) if isinstance(value, str) else value
