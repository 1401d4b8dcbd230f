"""Draws that a program cannot repeat: it runs our code as well as we do, and knows the seed.

A table that is sorted by its target tells every label to who knows a hidden row's place in it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np


def secret_draws(table: Path, seed: int) -> Any:
    """A generator that is the same for the same file. No program has the file: of hidden rows it sees another order and
    no labels.

    Args:
        table: the user's training table.
    """
    with table.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "big")])
