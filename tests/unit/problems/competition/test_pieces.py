"""Long tables that are read in pieces: Parquet as well as text, and how far that is is told."""

import itertools

import numpy as np
import pandas as pd
import pytest

from problems.competition.grader.tables import pieces, progress
from problems.competition.grader.tables.contents import read_any, read_texts
from problems.competition.grader.tables.pieces import open_table

COUNT = 900


def table() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    made = pd.DataFrame({"id": np.arange(COUNT), "x": draw.normal(size=COUNT).round(3), "word": "a"})
    made["late"] = pd.array([None] * 5 + [*range(COUNT - 5)], "Int64")
    made["flag"] = pd.array([True, False, None] * (COUNT // 3), "boolean")
    made["day"] = pd.date_range("2021-03-01", periods=COUNT)
    return made


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(pieces, "ROWS", 100)


@pytest.fixture
def a_minute_each(monkeypatch):
    monkeypatch.setattr(progress.time, "monotonic", itertools.count(0, 60).__next__)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_a_long_table_is_read_in_pieces_of_one_type_and_says_how_far(tmp_path, short, a_minute_each, name):
    if name.endswith("t"):
        pytest.importorskip("pyarrow")
        table().to_parquet(tmp_path / name, index=False)
    else:
        table().to_csv(tmp_path / name, index=False)
    told: list[str] = []
    found, _ = open_table(tmp_path / name, tell=told.append)
    assert found.whole is None and found.count == COUNT and found.columns == list(table())
    every = [*found.pieces()]
    assert len(every) > 8 and all(
        len(set(map(str, dtypes))) == 1 for dtypes in zip(*(p.dtypes for p in every), strict=True)
    )
    assert f"{name} is read: 300 of 900 rows" in told
    whole, _ = read_any(tmp_path / name)
    for column in ("id", "x", "late", "word"):
        assert found.read([column])[column].tolist()[5:] == whole[column].tolist()[5:]
    assert read_texts(tmp_path / name, "id").tolist() == [str(place) for place in range(COUNT)]


def test_parquet_that_is_not_plain_is_read_whole(tmp_path, short):
    pytest.importorskip("pyarrow")
    table().assign(tags=[[1, 2]] * COUNT).to_parquet(tmp_path / "t.parquet", index=False)
    found, _ = open_table(tmp_path / "t.parquet")
    assert found.whole is not None and found.whole["tags"].iloc[0] == "[1, 2]"
