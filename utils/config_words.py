"""What `key=value` words and the environment's variables say: how a typed value becomes one of YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, get_origin

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import GrammarParseError
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from utils.config_places import ENV_PREFIX
from utils.config_schema import Config
from utils.config_section import is_comma_text, kinds_of, section_of
from utils.errors import ConfigError
from utils.older_keys import renamed
from utils.yaml_fault import yaml_fault

SHELL_TEXTS = ("problem.eval", "problem.build", "problem.grade", "notify.command")
"""Keys whose value a shell reads: what it replaces itself (`${VAR}`, `${VAR:-3}`) is taken as it is. Ours are
`${env:NAME}` and, by its dots, another key."""
_SHELLS = re.compile(r"(?<!\\)\$\{(?!(?:oc\.)?env:|[a-z_]+(?:\.[a-z_0-9]+)+\})")
_SENTENCE = re.compile(r"(?![\[{])(?:#|.*(?:\s#|:\s|:$|\n))", re.DOTALL)
"""What YAML would take for a comment, a mapping without braces, or lines to be folded."""
NONE_MEANT = ": null is what says `none`, so that a variable that is not set lifts no limit"
REMEDY = r"write \${…} for the text itself, ${env:NAME} for an environment variable"


def environment_words(environment: Mapping[str, str]) -> list[str]:
    """What the environment sets, as `key=value`."""
    keys = sorted(key for key in environment if key.startswith(ENV_PREFIX))
    return [f"{k[len(ENV_PREFIX) :].lower().replace('__', '.')}={environment[k]}" for k in keys]


def from_words(overrides: Sequence[str], seen: Callable[[str], None] = lambda key: None) -> DictConfig:
    """The sections that `key=value` words name; `seen` is told of keys by an older name."""
    try:
        typed = _typed(overrides)
    except Exception:  # of all words at once: by itself each says which it is
        for text in overrides:
            _check_word(text)
        raise
    plain = OmegaConf.to_container(typed, resolve=False)
    assert isinstance(plain, dict)
    return OmegaConf.create(renamed({str(key): value for key, value in plain.items()}, seen))


def _typed(overrides: Sequence[str]) -> DictConfig:
    for text in overrides:
        _check_form(text)
    return OmegaConf.from_dotlist([_quoted(text) for text in overrides])


def _check_form(text: str) -> None:
    if "=" not in text or not text.partition("=")[0]:
        raise ConfigError(f"'{text}' is not of the form key=value")
    key, _, value = text.partition("=")
    if not value.strip() and key in number_keys():
        raise ConfigError(f"'{text}' gives no value{NONE_MEANT}")


def _check_word(text: str) -> None:
    """ConfigError where this word cannot be read."""
    _check_form(text)
    try:
        OmegaConf.from_dotlist([_quoted(text)])
    except GrammarParseError as error:
        raise ConfigError(f"{text!r}: {str(error).splitlines()[0]}; {REMEDY}") from error
    except Exception as error:  # a value that is not YAML
        raise ConfigError(f"{text!r}: the value cannot be read as YAML ({yaml_fault(error, '')})") from error


def _quoted(override: str) -> str:
    """A key that holds text takes what was typed as it is: `data.goal=price: in dollars`, `dashboard.token=1e5`.

    So does any other for a sentence: nobody types a comment, and of `problem.options.statement` only the problem knows
    that it is a text. It would have ended at its ` #`, and lost its line breaks. A list in JSON is one where several
    names may stand with commas between them: `data={"classes": ["no", "yes"]}` in Python is handed on so.
    """
    key, _, value = override.partition("=")
    if key in SHELL_TEXTS:
        value = _SHELLS.sub(r"\\${", value)
        override = f"{key}={value}"
    is_plain = value in ("", "null", "~") or value[:1] == value[-1:] in ("'", '"')
    is_list = key in _comma_keys() and _is_json_list(value)
    is_text = not is_list and (key in _text_keys() or _SENTENCE.match(value))
    return override if is_plain or not is_text else f"{key}={json.dumps(value, ensure_ascii=False)}"


def for_shells(plain: dict[str, Any]) -> dict[str, Any]:
    """What a shell replaces in SHELL_TEXTS, escaped."""
    changed: dict[str, Any] = plain
    for key in SHELL_TEXTS:
        section, _, name = key.partition(".")
        inner = changed.get(section)
        if isinstance(inner, dict) and isinstance(text := inner.get(name), str):
            changed = {**changed, section: {**inner, name: _SHELLS.sub(r"\\${", text)}}
    return changed


def _is_json_list(value: str) -> bool:
    if not value.startswith("["):
        return False
    try:
        json.loads(value)
    except ValueError:  # a pattern of file names
        return False
    return True


@lru_cache(maxsize=1)
def _text_keys() -> frozenset[str]:
    """Dotted keys whose value is free text, with or without null."""
    return _keys_of({str, SecretStr})


@lru_cache(maxsize=1)
def number_keys() -> frozenset[str]:
    """Dotted keys whose value is a number, with or without null."""
    return _keys_of({int, float})


@lru_cache(maxsize=1)
def _comma_keys() -> frozenset[str]:
    """Dotted keys whose value is several names with commas between them."""
    return _keys_where(is_comma_text)


def _keys_of(wanted: set[type]) -> frozenset[str]:
    def holds(info: FieldInfo) -> bool:
        return kinds_of(info.annotation) - {type(None)} <= wanted and get_origin(info.annotation) is not list

    return _keys_where(holds)


def _keys_where(holds: Callable[[FieldInfo], bool]) -> frozenset[str]:
    def visit(model: type[BaseModel], prefix: str) -> Iterator[str]:
        for name, info in model.model_fields.items():
            if holds(info):
                yield prefix + name
            elif (section := section_of(info.annotation)) is not None:
                yield from visit(section, f"{prefix}{name}.")

    return frozenset(visit(Config, ""))
