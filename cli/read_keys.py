"""One rule for configuration keys that a verb does not read: they are refused, not ignored."""

from __future__ import annotations

from collections.abc import Sequence

from utils.errors import ConfigError

ONLY = {
    "init": (),
    **dict.fromkeys(
        (
            "list-runs", "show", "report", "verify", "ask", "check", "tell", "wait", "give-up", "mcp", "setup",
            "export", "demo", "tag", "rm",
        ),
        ("project.dir",),
    ),
}  # fmt: skip
"""Verb → the keys that it reads. A verb that is not here makes or takes up a configuration, and reads them all."""


def check_keys(verb: str, overrides: Sequence[str]) -> None:
    """Raise ConfigError for the first `key=value` that says something to nobody; its value may be secret: untold."""
    reads = ONLY.get(verb)
    if reads is None:
        return
    for key in (word.partition("=")[0] for word in overrides):
        if key not in reads:
            raise ConfigError(f"{key}=…: `{verb}` does not read it; it reads {', '.join(reads) or 'no such keys'}")
