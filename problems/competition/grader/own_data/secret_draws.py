"""Draws that a program cannot repeat, though it may know our code and the seed.

A table that is sorted by its target tells every label to who knows a hidden row's place in it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from .sides import Sides


def secret_draws(sides: Sides, seed: int) -> Any:
    """A generator that is the same for the same table. It begins with the order of the hidden rows in the user's file:
    programs see them in another."""
    digest = hashlib.sha256(sides.equal.tobytes()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "big")])
