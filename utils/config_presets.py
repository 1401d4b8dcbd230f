"""Presets: the files under `config/` (or the user's own) that the configuration is laid upon, and who names them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import GrammarParseError

from utils.config_places import CONFIG_DIR
from utils.config_words import REMEDY, for_shells
from utils.errors import ConfigError
from utils.older_keys import renamed
from utils.registry import nearest
from utils.user_text import no_utf8
from utils.yaml_fault import yaml_fault

PRESET_KINDS = ("problem", "llm")
"""Kinds of presets, in the order in which they are laid over each other."""


def presets_in(overrides: Sequence[str]) -> dict[str, str]:
    """Kind → name of the presets that `key=value` words name: `presets.llm=openai` is `--llm=openai`."""
    said = {key: value for key, _, value in (word.partition("=") for word in overrides)}
    return {kind: name for kind in PRESET_KINDS if (name := said.get(f"presets.{kind}"))}


def presets_of(layer: DictConfig) -> dict[str, str]:
    """Kind → name of the presets that a file names."""
    section = layer.get("presets") or {}
    return {kind: str(section[kind]) for kind in PRESET_KINDS if section.get(kind) is not None}


def preset_of_kind(layers: Sequence[DictConfig], unless: Sequence[DictConfig] = ()) -> dict[str, str]:
    """The preset of a problem's kind that is named by itself: any other is meant for another problem.

    Empty where no kind is named, a kind has no preset of its name, or `unless` is of that kind already.
    """
    kind = _kind_in(layers)
    if kind is None or kind == _kind_in(unless) or not os.path.isfile(CONFIG_DIR / "problem" / f"{kind}.yaml"):
        return {}
    return {"problem": kind}


def _kind_in(layers: Sequence[DictConfig]) -> str | None:
    """`problem.kind` as the last of the layers that name one writes it."""
    kind: Any = None
    for layer in layers:
        plain = OmegaConf.to_container(layer)
        section = plain.get("problem") if isinstance(plain, dict) else None
        if isinstance(section, dict):
            kind = section.get("kind", kind)
    return kind if isinstance(kind, str) else None


def load_preset(kind: str, name: str, seen: Callable[[str], None] = lambda key: None) -> DictConfig:
    """Read `config/<kind>/<name>.yaml`; `name` may also be a path to a YAML file of the user's."""
    path = CONFIG_DIR / kind / f"{name}.yaml"
    if is_preset_file(name):
        path = Path(name)
    elif not os.path.isfile(path):  # as `is_file`, but False for a name that is too long
        known = sorted(p.stem for p in (CONFIG_DIR / kind).glob("*.yaml"))
        own = "; one of your own is a YAML file, or problem.kind=NAME with plugins=FOLDER" * (kind == "problem")
        raise ConfigError(f"--{kind}: unknown preset '{name}'{nearest(name, known)}; allowed: {', '.join(known)}{own}")
    return read_yaml(path, f"{kind} preset", seen=seen)


def is_preset_file(preset: str) -> bool:
    """True for a preset of the user's own."""
    return preset.endswith((".yaml", ".yml"))


def read_yaml(
    path: Path,
    what: str,
    translate: Callable[[dict[str, Any]], dict[str, Any]] = lambda plain: plain,
    seen: Callable[[str], None] = lambda key: None,
) -> DictConfig:
    """A file of the configuration, with today's names for its keys.

    Args:
        what: what it is to the user, for the line that says what is wrong with it.
        translate, seen: as `load_config` has them.
    Raises:
        ConfigError: it cannot be read, or is no mapping.
    """
    try:
        loaded = OmegaConf.load(path)
    except FileNotFoundError as error:
        raise ConfigError(f"{what} '{path}' does not exist") from error
    except IsADirectoryError as error:
        raise ConfigError(f"{what} '{path}' is a folder, not a YAML file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what} '{path}' cannot be read as text: {no_utf8(error)}") from error
    except OSError as error:
        if error.errno is None:  # OmegaConf's own, of what the text is
            raise ConfigError(f"{what} '{path}' is not valid YAML: {yaml_fault(error)}") from error
        raise ConfigError(f"{what} '{path}' cannot be read: {error.strerror}") from error
    except GrammarParseError as error:
        raise ConfigError(f"{what} '{path}': {str(error).splitlines()[0]}; {REMEDY}") from error
    except Exception as error:  # yaml raises a family of its own; every one is the user's text
        raise ConfigError(f"{what} '{path}' is not valid YAML: {yaml_fault(error)}") from error
    if not isinstance(loaded, DictConfig):
        raise ConfigError(f"{what} '{path}' must hold sections (a mapping), not a list")
    plain = OmegaConf.to_container(loaded, resolve=False)
    assert isinstance(plain, dict)
    ours = for_shells(renamed(translate({str(key): value for key, value in plain.items()}), seen))
    return loaded if ours == plain else OmegaConf.create(ours)
