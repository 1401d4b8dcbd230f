"""FailedAttempt: a program that failed and was repaired in the same step."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from core.state.failure import FailureKind

REPAIRS_FROM = 500
"""The calls that repair a crashed program are numbered from here, so that none shares its identity with one before."""


class FailedAttempt(BaseModel):
    """What a node's writer wrote first; what it wrote after seeing the failure is the node's own program."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    failure: FailureKind
    message: str = ""
    """What it failed with. Untrusted text."""
    term_out: str = ""
    """What it printed, its end. Untrusted text."""
    repair: str = ""
    """What its writer said of the program that came in its place. Untrusted text."""
