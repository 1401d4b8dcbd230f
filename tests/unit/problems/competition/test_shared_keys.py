"""Columns that name rows of two tables: each is looked at once, however many the other table has."""

import numpy as np
import pandas as pd

from problems.competition.grader.tables import shared_keys
from utils import data_preview


def test_a_wide_further_table_is_looked_at_column_by_column_not_pair_by_pair(monkeypatch):
    """Twenty columns beside a hundred took 17 CPU seconds, and a thousand ten times that."""
    draw = np.random.default_rng(0)
    words = {f"kind{place}": draw.choice(["a", "b", "c"], 300) for place in range(8)}
    ours = pd.DataFrame({"shop": draw.integers(0, 40, 300), "day": ["2021-03-01"] * 300, **words})
    many = {f"g{place}": [f"w{number}" for number in draw.permutation(60)] for place in range(50)}
    theirs = pd.DataFrame({"Shop": np.arange(60), **many, "day": pd.date_range("2021-03-01", periods=60).astype(str)})
    looks: list[str] = []
    for look in ("_form", "_are_numbers", "alike"):
        real = getattr(shared_keys, look)
        monkeypatch.setattr(
            shared_keys, look, lambda *args, _real=real, _look=look: (looks.append(_look), _real(*args))[1]
        )
    own = shared_keys.OwnColumns((ours[:200], ours[200:]), data_preview)
    found = shared_keys.shared_columns(theirs, own)
    assert [(pair.mine, pair.side, pair.way) for pair in found.pairs] == [
        ("shop", "Shop", "number"), ("day", "day", "day")
    ]  # fmt: skip
    columns = len(ours.columns) + len(theirs.columns)
    assert max(looks.count(look) for look in set(looks)) <= 2 * columns, looks
