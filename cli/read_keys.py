"""One rule for configuration keys that a verb does not read: they are refused, not ignored."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from utils.errors import ConfigError

ONLY: dict[str, tuple[str, ...]] = {
    "init": (),
    "demo": ("project.dir", "problem.", "data.", "prompts.", "plugins", "initial"),
    "serve": ("project.dir", "plugins", "problem.plugins", "dashboard."),
    **dict.fromkeys(
        (
            "list-runs", "show", "compare", "report", "verify", "ask", "check", "tell", "wait", "give-up", "mcp",
            "setup", "export", "tag", "rm", "completion",
        ),
        ("project.dir",),
    ),
}  # fmt: skip
"""Verb → the keys that it reads, or with a dot at the end how they begin. A verb that is not here makes or takes up a
configuration, and reads them all, but for `_UNREAD`."""
_NAME = "a run keeps its name; `tag RUN --title TEXT` gives it one that lists show"
_BEGUN = "a run has the programs that it began with; `fork RUN --node ID --edit FILE` begins with another"
_UNREAD = {
    "resume": {"project.name": _NAME, "initial": _BEGUN},
    "step": {"project.name": _NAME, "initial": _BEGUN},
    "replay": {"presets.llm": "no model is asked again", "initial": _BEGUN},
    "export-best": {"presets.llm": "no model is asked", "initial": _BEGUN},
    "fork": {"initial": "a fork begins with its node; `--edit FILE` puts a program in its place"},
}
"""Verb that goes on with a run → what it does not read, with what to do instead."""


def check_keys(verb: str, overrides: Sequence[str], args: argparse.Namespace | None = None) -> None:
    """Raise ConfigError for the first `key=value` that says something to nobody; its value may be secret: untold.

    Args:
        args: the verb's own options, which may lead it to read less.
    """
    for key in (word.partition("=")[0] for word in overrides):
        if not is_read(key, verb, args):
            reads, what = _read_by(verb, args)
            named = ", ".join(f"{one}*" if one[-1] == "." else one for one in reads or ())
            instead = _UNREAD.get(verb, {}).get(key) or f"it reads {named or 'no such keys'}"
            raise ConfigError(f"{key}=…: `{what}` does not read it; {instead}")


def is_read(key: str, verb: str, args: argparse.Namespace | None = None) -> bool:
    """True if the key says something to the verb; `args` as in `check_keys`."""
    reads, _ = _read_by(verb, args)
    if reads is None:
        return not (getattr(args, "run", None) and key in _UNREAD.get(verb, {}))
    return any(key == one or (one[-1] == "." and key.startswith(one)) for one in reads)


def _read_by(verb: str, args: argparse.Namespace | None) -> tuple[tuple[str, ...] | None, str]:
    """(keys that it reads, None for all; what it is called)."""
    if verb == "replay" and args is not None and not args.verify:
        return ("project.dir", *(("dashboard.",) if args.serve else ())), "replay --serve" if args.serve else "replay"
    if verb == "sweep" and args is not None and args.what:
        return ("project.dir",), "sweep show"
    if verb == "export-best" and args is not None and args.bundle:
        return ("project.dir",), "export-best --bundle"
    if verb == "doctor" and args is not None and args.evaluator:
        return ("problem.direction", "problem.metric"), "doctor --evaluator"
    return ONLY.get(verb), verb
