"""Which columns name rows of two tables: what is asked of a column is asked once, however many it is held against."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from problems.competition.grader.tables import shared_keys
from problems.competition.grader.tables.shared_keys import OwnColumns, shared_columns
from utils import data_preview


def test_each_column_is_made_alike_once_and_not_once_a_pair(monkeypatch):
    """Of 120 columns and 36 of a further table there are 4,320 pairs."""
    draw, made, width = np.random.default_rng(0), [], 30
    words = {f"w{at}": draw.permutation([f"k{at}x{row}" for row in range(500)]) for at in range(width)}
    rows, theirs = pd.DataFrame(words), pd.DataFrame({f"their {name}": column for name, column in words.items()})
    preview = SimpleNamespace(profile=lambda table: [{"name": name, "kind": "category"} for name in table])
    alike = shared_keys.alike
    monkeypatch.setattr(shared_keys, "alike", lambda *asked: made.append(asked) or alike(*asked))
    shared = shared_columns(theirs, OwnColumns((rows, rows), preview))
    assert sorted(pair.mine for pair in shared.pairs) == sorted(words)
    shared.add(theirs)
    assert len(made) <= 4 * width
    of_rows, each, names, used = shared.found((shared.pairs[0],))
    assert of_rows[0].all() and each == 1 and names == used == 500


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
