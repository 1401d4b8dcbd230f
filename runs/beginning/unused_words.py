"""One rule for words that nobody reads: a key of `problem`, `data` or `arena` that no problem uses is refused, and
`final` likewise."""

from __future__ import annotations

from collections.abc import Iterator

from core.contracts import Problem
from utils.config_schema import Config
from utils.errors import ConfigError

SECTIONS = ("problem", "data", "arena")
EVERYBODY = ("problem.kind", "problem.plugins", "problem.goal")
"""What the loop reads, whatever the problem."""


def check_words(config: Config, problem: Problem) -> None:
    """Raise ConfigError for the first key that says something to nobody. Problems that tell no `reads` are not checked.

    Called for new runs only: a stored run goes on with what it was started with.
    """
    reads = problem.reads
    if reads is None:
        return
    for key, value in _said(config):
        if not any(key == known or key.startswith(f"{known}.") for known in (*EVERYBODY, *reads)):
            does = f"it reads {', '.join(reads)}" if reads else f"it reads no key of {', '.join(SECTIONS)}"
            raise ConfigError(f"{key}={value}: {problem.name} does not read it; {does}")


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
