"""Files as they come: what they hold counts and not what they are called, and sheets are as people leave them."""

import contextlib
import datetime
import gzip
import io
import json
import lzma
import pickle
import re
import sqlite3
import zipfile

import pandas as pd
import pytest
from support.competition_stand import Stand, writes
from support.notebook_cells import run_cells
from support.own_folder import made

from utils.errors import ConfigError

ROWS = 120
FLATS = pd.DataFrame(
    {
        "flat": [f"F{i}" for i in range(ROWS)],
        "size": [20.5 + i * 37 % 90 for i in range(ROWS)],
        "rent": [1000.5 + i * 37 % 90 * 20 for i in range(ROWS)],
    }
)
RECORDS = FLATS.to_dict("records")
CSV = FLATS.to_csv(index=False)


def refused(tmp_path, **files):
    with pytest.raises(ConfigError) as error:
        made(tmp_path, **files)
    assert "\n" not in str(error.value)
    return str(error.value)


def is_all_of_it(problem, expected=FLATS):
    shown, hidden = (pd.read_csv(problem.input_dir / f"{name}.csv") for name in ("train", "test"))
    both = expected.merge(shown, on=list(expected))
    return len(both) == len(shown) > 0 and len(shown) + len(hidden) == len(expected)


def sheet(*rows, **others):
    """A spreadsheet of these rows; further sheets are functions that change the book."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    for change in others.values():
        change(book)
    box = io.BytesIO()
    book.save(box)
    return box.getvalue()


TABLE = [list(FLATS), *FLATS.to_numpy(object).tolist()]
LINES = "\n".join(map(json.dumps, RECORDS))
RENAMED = {
    "a text called a spreadsheet": {"train__xlsx": CSV},
    "a text called Parquet": {"train__parquet": CSV},
    "a text called an old spreadsheet": {"train__xls": FLATS.to_csv(index=False, sep="\t")},
    "a text called JSON": {"train__json": CSV},
    "a text called JSON lines": {"train__jsonl": CSV},
    "JSON called a text": {"train__csv": json.dumps(RECORDS)},
    "JSON on many lines called a text": {"train__csv": json.dumps(RECORDS, indent=1)},
    "JSON lines called a text": {"train__csv": LINES},
    "a list called JSON lines": {"train__jsonl": json.dumps(RECORDS)},
    "JSON lines with a mark of their encoding": {"train__jsonl": LINES.replace("\n", "\r\n").encode("utf-8-sig")},
    "JSON in UTF-16": {"train__json": json.dumps(RECORDS).encode("utf-16")},
}


@pytest.mark.parametrize("what", RENAMED)
def test_what_a_file_holds_counts_and_not_what_it_is_called(tmp_path, inline, what):
    assert is_all_of_it(made(tmp_path, **RENAMED[what]))


def test_letters_of_json_are_told_and_the_users_to_say(tmp_path, inline):
    text = json.dumps([{**row, "flat": f"Šrí {row['flat']}"} for row in RECORDS], ensure_ascii=False).encode("cp1250")
    problem = made(tmp_path, "data.encoding=cp1250", train__json=text)
    assert is_all_of_it(problem, FLATS.assign(flat="Šrí " + FLATS["flat"]))


def test_spreadsheets_packed_or_called_otherwise(tmp_path, inline):
    book = sheet(*TABLE)
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as archive:
        archive.writestr("flats.xlsx", book)
    for name, content in {"xls": book, "xlsx__gz": gzip.compress(book), "zip": box.getvalue()}.items():
        folder = tmp_path / name
        folder.mkdir()
        assert is_all_of_it(made(folder, **{f"train__{name}": content}))


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(999)
NO_TABLES = {
    "an old spreadsheet": ("train__xls", OLD, "save it as .xlsx without one"),
    "a locked one": ("train__xlsx", OLD, "or with a password"),
    "a pickle": ("train__csv", pickle.dumps(RECORDS), "is a pickle, which may run anything when it is opened"),
    "an archive": ("train__zip", b"7z\xbc\xaf\x27\x1c" + b"0" * 99, "is an archive of 7-Zip: unpack it first"),
    "packed otherwise": ("train__csv", b"\x28\xb5\x2f\xfd" + b"0" * 99, "is packed by zstd: unpack it first"),
    "an empty zip": ("train__zip", b"PK\x05\x06" + bytes(18), "is a zip file that holds nothing"),
    "no Parquet": ("train__parquet", bytes(99), "does not begin like a .parquet file: it is broken"),
    "JSON without rows": ("train__json", "[]", "no such column in"),
    "two tables in JSON": ("train__json", json.dumps({"a": RECORDS, "b": RECORDS[:5]}), "rows below the keys a, b"),
}  # fmt: skip


@pytest.mark.parametrize("what", NO_TABLES)
def test_what_is_no_table_is_called_by_its_name(tmp_path, inline, what):
    name, content, told = NO_TABLES[what]
    assert told in refused(tmp_path, **{name: content})


def test_other_spreadsheets_are_told_by_what_they_hold(tmp_path, inline):
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    assert "a spreadsheet of a kind that is not read: save it as .xlsx" in refused(tmp_path, train__xlsx=box.getvalue())


def test_a_database_that_is_cut_off_is_no_shorter_table(tmp_path, inline):
    path = tmp_path / "town.db"
    with contextlib.closing(sqlite3.connect(path)) as database:
        pd.concat([FLATS] * 9).to_sql("flats", database, index=False)
    content = path.read_bytes()
    assert "town.db' is cut off: 8,192 of" in refused(tmp_path, town__db=content[:8192])
    (tmp_path / "mine" / "town.db").unlink()
    assert "is a database that is packed: unpack it first" in refused(tmp_path, train__db__gz=gzip.compress(content))


def test_a_table_amid_a_sheet(tmp_path, inline):
    """Rows and columns around it that hold nothing are no part of it, above, beside, between and below."""
    rows = [
        ["Rents of the town"],
        [],
        *([None, None, *row] for row in TABLE),
        [None],
        [None, None, None, " "],
        [None] * 9 + [" "],
    ]
    rows.insert(60, [])
    problem = made(tmp_path, train__xlsx=sheet([], *rows))
    assert is_all_of_it(problem) and "without the 3 lines above its head" in problem.note
    assert "left out" not in problem.note and set(pd.read_csv(problem.input_dir / "train.csv")) >= set(FLATS)


def test_rows_of_a_test_that_hold_nothing_are_not_predicted(tmp_path, inline):
    rows = [row[:2] for row in TABLE[:11]]
    problem = made(tmp_path, train__csv=CSV, test__xlsx=sheet(*rows[:5], [], [" "], *rows[5:]))
    assert len(pd.read_csv(problem.input_dir / "test.csv")) == 36 + 10


def test_a_hidden_sheet_is_read_only_where_it_is_called_train(tmp_path, inline):
    def old(book):
        book.active.title = "old"
        for row in TABLE[1:]:
            book.active.append([*row[:2], 0.0])
        book.active.sheet_state = "hidden"

    def new(name):
        def change(book):
            for row in TABLE:
                book[name].append(row) if name in book.sheetnames else book.create_sheet(name).append(row)

        return change

    problem = made(tmp_path, rents__xlsx=sheet(*TABLE, old=old, new=new("data")))
    assert is_all_of_it(problem) and "its sheet 'data' of 2" in problem.note


def test_formulas_that_no_program_computed_are_told(tmp_path, inline):
    rows = [[*TABLE[0], "double"], *([*row, f"=B{place}*2"] for place, row in enumerate(TABLE[1:], 2))]
    told = "formulas without values in double: a spreadsheet program saves them"
    assert told in made(tmp_path, train__xlsx=sheet(*rows)).note
    rows[0][2:] = ["price", "rent"]
    assert (
        f"0 rows have a label; at least 40 are needed; train.xlsx is read as train.csv (a spreadsheet, {told}".replace(
            "double", "rent"
        )
        in refused(tmp_path, train__xlsx=sheet(*rows))
    )


def test_a_head_below_a_row_of_groups_is_asked_about(tmp_path, inline):
    told = refused(tmp_path, train__xlsx=sheet(["Flat", None, "Money"], *TABLE))
    assert "line 2 seems to be the head of the table" in told
    assert "holds nothing" in refused(tmp_path, train__xlsx=sheet())


@pytest.mark.parametrize("form", ["xlsx", "csv"])
def test_a_second_row_of_names_is_told(tmp_path, inline, form):
    rows = [
        ["flat", "of the town", None, "rent"],
        [None, "size", "floor", None],
        *([*r[:2], 3, r[2]] for r in TABLE[1:]),
    ]
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in rows)
    problem = made(tmp_path, **{f"train__{form}": sheet(*rows) if form == "xlsx" else text})
    assert f"train.{form} seems to have a second row of names (floor): leave one" in problem.note
    assert "second row" not in made(tmp_path, train__csv=CSV.replace("flat,", ",", 1)).note


def test_times_of_day_and_durations_are_numbers_as_in_a_text(tmp_path, inline):
    clocks = [datetime.time(i % 24, 5) for i in range(ROWS)]
    rows = ([*row, at] for row, at in zip(TABLE[1:], clocks, strict=True))
    problem = made(tmp_path, train__xlsx=sheet([*TABLE[0], "at"], *rows))
    assert "at ('00:05:00' as 300)" in problem.note
    hours = pd.to_timedelta(FLATS.index, unit="h")
    box = io.BytesIO()
    pytest.importorskip("pyarrow")
    FLATS.assign(at=clocks, took=hours).to_parquet(box)
    (tmp_path / "columns").mkdir()
    shown = pd.read_csv(made(tmp_path / "columns", train__parquet=box.getvalue()).input_dir / "train.csv")
    assert shown["at"].iloc[0] == 300 and shown["took"].tolist() == [3600.0 * int(f[1:]) for f in shown["flat"]]


def arrow(stream, names):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table([pyarrow.array(FLATS[name]) for name in FLATS], names=names)
    box = io.BytesIO()
    with (pyarrow.ipc.new_stream if stream else pyarrow.ipc.new_file)(box, table.schema) as writer:
        writer.write_table(table)
    return box.getvalue(), table


@pytest.mark.parametrize("name", ["train__arrow", "train__csv"])
def test_batches_of_arrow_one_after_the_other(tmp_path, inline, name):
    assert is_all_of_it(made(tmp_path, **{name: arrow(True, list(FLATS))[0]}))


@pytest.mark.parametrize("form", ["parquet", "feather", "arrow"])
def test_columns_of_one_name_are_numbered_and_told(tmp_path, inline, form):
    parquet = pytest.importorskip("pyarrow.parquet")
    content, table = arrow(form == "arrow", ["size", "size", "rent"])
    if form == "parquet":
        box = io.BytesIO()
        parquet.write_table(table, box)
        content = box.getvalue()
    problem = made(tmp_path, **{f"train__{form}": content})
    assert f"train.{form} has 2 columns called 'size': they are size, size.1" in problem.note
    assert is_all_of_it(problem, FLATS.set_axis(["size", "size.1", "rent"], axis=1))


def test_an_index_that_has_the_name_of_a_column_is_told(tmp_path, inline):
    pytest.importorskip("pyarrow")
    box = io.BytesIO()
    FLATS.set_index(FLATS["flat"]).to_parquet(box)
    told = refused(tmp_path, train__parquet=box.getvalue())
    assert re.search("index of pandas and a column that are both called 'flat': save it after reset_index", told)


LEARNS = """
import pandas as pd
train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
table = pd.read_csv("input/sample_submission.csv")
table["kind"] = test["size"].map(dict(zip(train["size"], train["kind"])))
table.to_csv("submission/submission.csv", index=False)
"""


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "categories", "xlsx", "db"])
@pytest.mark.parametrize("words", [("NA", "b"), ("None", "null"), ("01", "02"), ("1e3", "2e3"), ("a", "NaN ")])
def test_classes_are_handed_in_as_they_stand_whatever_the_file_is(tmp_path, inline, form, words):
    """A table that knows types holds the text `NA`, the CSV of programs nothing: all of them failed. `01` became 1."""
    table = pd.DataFrame({"id": [f"F{i}" for i in range(160)], "size": [i % 4 for i in range(160)]})
    table["kind"] = [words[size % 2] for size in table["size"]]
    train, test, mine = table[:120], table[120:].drop(columns="kind"), tmp_path / "mine"
    mine.mkdir()
    test.to_csv(mine / "test.csv", index=False)
    if form == "csv":
        train.to_csv(mine / "train.csv", index=False)
    elif form == "json":
        train.to_json(mine / "train.json", orient="records")
    elif form == "xlsx":
        (mine / "train.xlsx").write_bytes(sheet([*train], *train.to_numpy(object).tolist()))
    elif form == "db":
        with contextlib.closing(sqlite3.connect(mine / "train.db")) as database:
            train.to_sql("train", database, index=False)
    else:
        pytest.importorskip("pyarrow")
        (train.astype({"kind": "category"}) if form == "categories" else train).to_parquet(mine / "train.parquet")
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=kind", "data.metric=accuracy")
    try:
        node, verdict = stand.score(LEARNS)
        assert (verdict.failure, verdict.metric) == (None, 1), verdict
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
    finally:
        stand.close()
    made = pd.read_csv(tmp_path / "best" / "submission.csv", dtype="str", keep_default_na=False)
    assert made["kind"].tolist() == table["kind"][120:].tolist()


NESTED = [{**row, "rooms": [i, {"of": "May"}]} for i, row in enumerate(RECORDS)]
PLAIN_TEST = {"test__csv": FLATS.drop(columns="rent").head(9).assign(rooms="[]").to_csv(index=False)}
AMID = [["Rents of the town"], [], *([None, *row] for row in TABLE[:50]), [], *([None, *row] for row in TABLE[50:])]
KAGGLE = {
    "JSON in UTF-16": lambda: {"train__json": json.dumps(RECORDS).encode("utf-16")},
    "JSON lines with a mark": lambda: {"train__jsonl": LINES.encode("utf-8-sig")},
    "lists in cells": lambda: {"train__json": json.dumps(NESTED)},
    "packed and not called so": lambda: {"train__csv": gzip.compress(CSV.encode())},
    "called packed and not so": lambda: {"train__csv__gz": CSV},
    "JSON called a text": lambda: {"train__csv": json.dumps(RECORDS)},
    "a table amid a sheet": lambda: {"train__xlsx": sheet(*AMID)},
    "names and rows apart, packed": lambda: {"train__json__xz": lzma.compress(FLATS.to_json(orient="split").encode())},
    "durations": lambda: {"train__xlsx": sheet([*TABLE[0], "at"], *([*row, datetime.time(7)] for row in TABLE[1:]))},
}


@pytest.mark.parametrize("what", KAGGLE)
def test_a_notebook_gives_the_program_what_it_learned_from(tmp_path, inline, what):
    """What pandas alone makes of a file was another table: dictionaries in Python's letters, a packed file unread."""
    stand = on_stand(tmp_path, **KAGGLE[what](), **PLAIN_TEST)
    with stand as (problem, node):
        problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    (tmp_path / "kaggle").mkdir()
    done = run_cells(tmp_path / "solution.ipynb", tmp_path / "mine", tmp_path / "kaggle")
    assert done.returncode == 0, done.stderr
    shown, whole = (pd.read_csv(path / "train.csv") for path in (problem.input_dir, tmp_path / "kaggle" / "input"))
    assert len(whole) == ROWS and len(shown.drop(columns="row_id").merge(whole, on=[*shown.columns[1:]])) == len(shown)


NO_NOTEBOOKS = {
    "a packed spreadsheet": lambda: {"train__xlsx__gz": gzip.compress(sheet(*TABLE))},
    "batches of Arrow": lambda: {"train__arrow": arrow(True, list(FLATS))[0]},
    "columns of one name": lambda: {"train__feather": arrow(False, ["size", "size", "rent"])[0]},
    "rows that hold nothing": lambda: {
        "train__csv": CSV, "test__xlsx": sheet(*(row[:2] for row in TABLE[:5]), [], TABLE[6][:2]),
    },
}  # fmt: skip


@pytest.mark.parametrize("what", NO_NOTEBOOKS)
def test_no_notebook_is_written_for_what_pandas_alone_reads_otherwise(tmp_path, inline, what):
    with on_stand(tmp_path, **{**PLAIN_TEST, **NO_NOTEBOOKS[what]()}) as (problem, node):
        with pytest.raises(ConfigError, match=r"export-best --notebook: pandas by itself .* save it as CSV") as refused:
            problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    assert "\n" not in str(refused.value)


@contextlib.contextmanager
def on_stand(tmp_path, **files):
    """The problem of these files, and a program that predicts 7."""
    (tmp_path / "mine").mkdir()
    for name, content in files.items():
        content = content.encode() if isinstance(content, str) else content
        (tmp_path / "mine" / name.replace("__", ".")).write_bytes(content)
    if "test__xlsx" in files:
        (tmp_path / "mine" / "test.csv").unlink()
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=rent", "data.metric=mae")
    try:
        node, verdict = stand.score(writes("for row in rows: row['rent'] = 7"))
        assert verdict.failure is None, verdict
        yield stand.problem, node
    finally:
        stand.close()
