"""The kinds of verdict and their words: apart from what it takes to reach one, since a list of runs needs no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Kind = Literal["better", "unclear", "worse", "no_gain", "unconfirmed", "none", "open", "reopened", "failed"]
"""`unclear`: cannot be told apart from the reference; `no_gain`: nothing beat a baseline or the user's own program;
`unconfirmed`: there is no unseen part; `none`: no valid program; `open`: the run goes on or was stopped; `reopened`: it
had ended, and has gone on since; `failed`: it broke off by an error."""

IN_WORDS: Mapping[Kind, str] = {
    "better": "better",
    "unclear": "unclear",
    "worse": "worse",
    "no_gain": "no gain",
    "unconfirmed": "unconfirmed",
    "none": "no program",
    "open": "not over",
    "reopened": "open again",
    "failed": "failed",
}
"""The kind as lists and headings say it."""
