"""Further tables in several files: which are one, what it is called, and what the names of its files say."""

import pandas as pd
import pytest

from problems.competition.grader.own_data.further_parts import join_further
from problems.competition.grader.tables.contents import read_any

COLUMNS = ("id", "day", "x")
IDS = {"id": {f"{1000 + place}" for place in range(30)}}


@pytest.fixture(autouse=True)
def no_room(monkeypatch):
    """Files that are joined are not kept."""
    monkeypatch.setattr("problems.competition.grader.own_data.further_parts.MOST_KEPT", -1)


def write(public, name, **columns):
    path = public / name
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(columns)
    table.to_parquet(path, index=False) if ".parquet" in path.name else table.to_csv(path, index=False)


def files(public):
    return sorted(path.relative_to(public).as_posix() for path in public.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("names", "made"),
    [
        (["loans_0.csv", "loans_1.csv", "loans_10.csv"], "loans.csv"),
        (["loans_2021.csv", "loans_2022.csv", "loans_2023.csv"], "loans.csv"),
        (["loans/part-0.csv", "loans/part-1.csv", "loans/part-2.csv"], "loans.csv"),
        (["loans/part-00000-9d5a1c3e-11aa-4bd1-8c9e-7d2f6b0e4a11.csv",
          "loans/part-00001-1d5a1c3e-11aa-4bd1-8c9e-7d2f6b0e4a12.csv"], "loans.csv"),
        (["train_identity.csv", "test_identity.csv"], "identity.csv"),
        (["files/train/train_static_0_0.csv", "files/train/train_static_0_1.csv", "files/test/test_static_0_0.csv"],
         "static_0.csv"),
        (["a/shop=1/x.csv", "a/shop=2/y.csv", "a/shop=10/z.csv"], "a.csv"),
    ],
)  # fmt: skip
def test_parts_are_one_table_in_the_order_of_their_numbers(tmp_path, names, made):
    for place, name in enumerate(names):
        write(tmp_path, name, id=[place, place + 100, place], amount=[place, 7, 8])
    write(tmp_path, "train.csv", id=[1], x=[2])
    write(tmp_path, "test.csv", id=[3], x=[4])
    joined = join_further(tmp_path, {}, COLUMNS)
    assert joined.names == [made] and files(tmp_path) == sorted([made, "test.csv", "train.csv"])
    table, _ = read_any(tmp_path / made)
    assert table["id"].tolist() == [one for place in range(len(names)) for one in (place, place + 100, place)]
    assert list(table) == ["id", "amount", *(["shop"] if "=" in names[0] else [])]
    assert f"{len(names)} files make {made}, {3 * len(names)} rows: " in joined.notes[0]


def test_a_file_for_each_row_is_a_table_whose_rows_say_which(tmp_path):
    for number, name in enumerate(sorted(IDS["id"])):
        write(tmp_path, f"{'train' if number % 3 else 'test'}/{name}.csv", sensor=[number, 2 * number])
    joined = join_further(tmp_path, IDS, COLUMNS)
    assert joined.names == ["id_files.csv"] == files(tmp_path) and "with id by their names" in joined.notes[0]
    table, _ = read_any(tmp_path / "id_files.csv")
    assert table.groupby("id")["sensor"].max().tolist() == [2 * number for number in range(30)]


@pytest.mark.parametrize(
    "tables",
    [
        {"rain_1.csv": {"day": [1, 2, 3], "mm": [4, 5, 6]}, "rain_2.csv": {"day": [1, 2, 3], "mm": [7, 8, 9]}},
        {"bureau_1.csv": {"id": [1], "a": [4]}, "bureau_2.csv": {"id": [1], "b": [4]}},
        {"loans_1.csv": {"id": [1, 1], "a": [4, 5]}, "torn_1.csv": {"id": [1]}, "loans_a.csv": {"id": [1, 1]}},
    ],
    ids=["a station each", "other columns", "alone"],
)
def test_what_is_not_one_table_is_left_as_it_is(tmp_path, tables):
    for name, columns in tables.items():
        write(tmp_path, name, **columns)
    before = {name: (tmp_path / name).read_bytes() for name in tables}
    joined = join_further(tmp_path, IDS, COLUMNS)
    assert not joined.names and not joined.notes
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_what_would_take_too_much_of_the_disk_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("problems.competition.grader.own_data.further_parts.MOST_BYTES", 10)
    write(tmp_path, "loans_0.csv", id=[1, 1], a=[1, 2])
    write(tmp_path, "loans_1.csv", id=[2, 2], a=[1, 2])
    joined = join_further(tmp_path, IDS, COLUMNS)
    assert "2 files of loans are too many to be joined" in joined.notes[0] and len(files(tmp_path)) == 2


@pytest.mark.parametrize("kind", ["int64", "mixed"])
def test_parquet_by_folders_is_joined_in_pieces_with_what_they_say(tmp_path, kind):
    pytest.importorskip("pyarrow")
    for shop in range(3):
        values = pd.Series([shop, 9], dtype="float64" if kind == "mixed" and shop else "int64")
        write(tmp_path, f"book_train.parquet/shop={shop}/c4{shop}.parquet", time=[5, 15], price=values)
    write(tmp_path, "book_test.parquet/shop=0/c40.parquet", time=[4, 6], price=[1, 1])
    joined = join_further(tmp_path, {}, COLUMNS)
    assert joined.names == ["book.parquet"] == files(tmp_path)
    table, _ = read_any(tmp_path / "book.parquet")
    assert list(table) == ["time", "price", "shop"] and table["shop"].tolist() == [0, 0, 1, 1, 2, 2, 0, 0]
    assert table["price"].tolist() == [0, 9, 1, 9, 2, 9, 1, 1]


def test_few_bytes_of_parts_stay_beside_their_table(tmp_path, monkeypatch):
    """Somebody's programs may know them by their names."""
    monkeypatch.setattr("problems.competition.grader.own_data.further_parts.MOST_KEPT", 1000)
    write(tmp_path, "loans_0.csv", id=[1, 1], a=[1, 2])
    write(tmp_path, "loans_1.csv", id=[2, 2], a=[1, 2])
    joined = join_further(tmp_path, IDS, COLUMNS)
    assert joined.parts == ["loans_0.csv", "loans_1.csv"] and files(tmp_path) == [*joined.names, *joined.parts]


def test_a_folder_of_parts_that_stays_keeps_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr("problems.competition.grader.own_data.further_parts.MOST_KEPT", 1000)
    for place in (0, 1):
        write(tmp_path, f"loans.csv/part-{place}.csv", id=[place, place], a=[1, 2])
    assert join_further(tmp_path, IDS, COLUMNS).names == ["loans_joined.csv"]


@pytest.mark.parametrize(("keys", "anew"), [(IDS, ()), ({}, ["id"])])
def test_tables_of_a_test_whose_ids_begin_anew_are_told_and_joined_to_nothing(tmp_path, keys, anew):
    """Series 7 of the test is another than series 7 of training; of other keys, such as days, both have the same."""
    write(tmp_path, "X_train.csv", id=[1000, 1000, 1001, 1002], x=[1, 2, 3, 4])
    write(tmp_path, "X_test.csv", id=[1000, 1001, 1001], x=[5, 6, 7])
    write(tmp_path, "weather_train.csv", day=[1, 2, 2], rain=[1, 2, 3])
    write(tmp_path, "weather_test.csv", day=[2, 3, 3], rain=[1, 2, 3])
    joined = join_further(tmp_path, keys, COLUMNS, anew)
    assert joined.names == ["weather.csv"] and "X_test.csv" in joined.parts and "X_train.csv" not in joined.parts
    assert "id begins anew in X_test.csv, whose rows are others: nothing joins it" in joined.notes
