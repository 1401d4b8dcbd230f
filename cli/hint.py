"""What an unknown option may have meant: only what the verb would take."""

from __future__ import annotations

import argparse
import difflib

from cli.read_keys import is_read
from runs.stored.config import is_kept
from utils.config import known_keys
from utils.config_presets import PRESET_KINDS
from utils.registry import ending_alike

GO_ON = ("resume", "fork", "step", "replay", "export-best")
"""Verbs that take up what a stored run was started with."""


def meant(word: str, parser: argparse.ArgumentParser, args: argparse.Namespace) -> str:
    """A question to add to the refusal, '' for nothing: an option of the verb's that is nearly called so, else keys
    that end so and that it reads; where it reads none, its option that is a little like it."""
    option = word.partition("=")[0]
    own = [known for known in options_of(parser, args.verb) if known != "--help"]
    if option == "--writer" and "--llm" in own:  # `run` has both words
        return "; --llm=external says that programs come from outside"
    name = option.removeprefix("--").replace("-", "_")
    inside = [key for key in known_keys() if key.startswith(f"{name}.") and _takes(key, args)]
    if inside and name not in PRESET_KINDS:
        return f"; {name} is a section of keys: --{inside[0]}=…, and what `config {name}` lists"
    keys = [f"--{key}=…" for key in ending_alike(name, known_keys()) if _takes(key, args)]
    least = 0.8 if is_read("search.policy", args.verb, args) else 0.6
    near, alike = (difflib.get_close_matches(option, own, 1, cutoff) for cutoff in (0.8, least))
    found = near or keys[:3] or alike
    return f"; did you mean {' or '.join(found)}?" if found else ""


def options_of(parser: argparse.ArgumentParser, verb: str) -> list[str]:
    """The long options of one verb."""
    verbs = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return [option for action in verbs[verb]._actions for option in action.option_strings if option.startswith("--")]


def _takes(key: str, args: argparse.Namespace) -> bool:
    goes_on = args.verb in GO_ON and getattr(args, "run", None)
    return is_read(key, args.verb, args) and not (goes_on and is_kept(key))
