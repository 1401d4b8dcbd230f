"""Tables that were written for people: titles above the head, amounts with units, months, rows below a key."""

import contextlib
import io
import json
import shutil
import sqlite3
import zipfile

import pandas as pd
import pytest
from support.competition_stand import Stand
from support.own_folder import made

from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError

ROWS = 120
FLATS = pd.DataFrame(
    {
        "flat": [f"F{i}" for i in range(ROWS)],
        "size": [20.5 + i * 37 % 90 for i in range(ROWS)],
        "month": pd.period_range("2011-01", periods=ROWS, freq="M").astype(str),
        "rent": [float(1000 + i * 37 % 90 * 20 + i) for i in range(ROWS)],
    }
)
TOLD = FLATS.assign(size=[f"{size} m²" for size in FLATS["size"]], rent=[f"${rent:,.2f}" for rent in FLATS["rent"]])


def is_all_of_it(problem, expected=FLATS):
    """True if the shown rows are rows of that table, and shown and hidden ones are all of it."""
    shown, hidden = (pd.read_csv(problem.input_dir / f"{name}.csv") for name in ("train", "test"))
    both = expected.merge(shown, on=list(expected))
    return len(both) == len(shown) > 0 and len(shown) + len(hidden) == len(expected)


def test_lines_above_the_head_are_passed_over_and_told(tmp_path, inline):
    problem = made(tmp_path, rents__csv=f"Rents of the town, 2021\n\n{FLATS.to_csv(index=False)}")
    assert (
        is_all_of_it(problem) and "rents.csv is read as train.csv (without the 2 lines above its head)" in problem.note
    )


def test_lines_above_the_head_in_utf_16_with_semicolons(tmp_path, inline):
    text = "Rents;;;\r\n;;;\r\n" + FLATS.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")
    problem = made(tmp_path, train__csv=text.encode("utf-16"))
    assert is_all_of_it(problem)
    assert "UTF-16, ';' between columns, decimal commas, without the 2 lines above its head" in problem.note


def test_lines_above_the_head_of_a_spreadsheet(tmp_path, inline):
    pytest.importorskip("openpyxl")
    box = io.BytesIO()
    FLATS.to_excel(box, index=False, startrow=3)
    import openpyxl

    book = openpyxl.load_workbook(box)
    book.active["A1"] = "Rents of the town"
    box = io.BytesIO()
    book.save(box)
    problem = made(tmp_path, train__xlsx=box.getvalue())
    assert is_all_of_it(problem) and "without the 3 lines above its head" in problem.note


@pytest.mark.parametrize("name", ["data", "Train"])
def test_of_several_sheets_the_one_called_train_or_the_one_that_holds_most(tmp_path, inline, name):
    pytest.importorskip("openpyxl")
    box, other = io.BytesIO(), pd.concat([FLATS, FLATS]).drop(columns="rent")
    with pd.ExcelWriter(box) as book:
        pd.DataFrame({"About": ["Rents of the town", "as of 2021"]}).to_excel(book, sheet_name="Readme", index=False)
        FLATS.to_excel(book, sheet_name=name, index=False)
        (other if name == "Train" else other.head(9)).to_excel(book, sheet_name="new", index=False)
    problem = made(tmp_path, rents__xlsx=box.getvalue())
    assert is_all_of_it(problem) and f"its sheet '{name}' of 3" in problem.note


def test_a_file_of_arrow(tmp_path, inline):
    pytest.importorskip("pyarrow")
    box = io.BytesIO()
    FLATS.to_feather(box)
    assert is_all_of_it(made(tmp_path, train__arrow=box.getvalue()))


def test_amounts_are_numbers_for_programs_and_scores(tmp_path, inline):
    (tmp_path / "mine").mkdir()
    TOLD.to_csv(tmp_path / "mine" / "train.csv", index=False)
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=rent", "data.metric=mae")
    try:
        assert is_all_of_it(stand.problem)
        assert "amounts are read as numbers: size ('20.5 m²' as 20.5), rent ('$1,000.00' as 1000)" in stand.problem.note
        dummy, ridge, _ = stand.problem.baselines()
        assert stand.score(ridge.code)[1].metric < 0.2 * stand.score(dummy.code)[1].metric
    finally:
        stand.close()


def test_points_between_thousands_are_no_fractions_though_no_comma_says_so(tmp_path, inline):
    """7.308 beside 980 were read as 7.308 and 980, and nothing was told; of a short test nobody could tell."""
    sizes, rents = ([f"{i * i % 997 * step:,}".replace(",", ".") for i in range(60)] for step in (7, 13))
    problem = made(
        tmp_path,
        train__csv="size;rent\n" + "".join(map("{};{}\n".format, sizes, rents)),
        test__csv="size\n1.200\n980\n",
    )
    train, test = (pd.read_csv(problem.input_dir / f"{name}.csv") for name in ("train", "test"))
    assert set(train["rent"]) < {i * i % 997 * 13 for i in range(60)} and {1200, 980} < set(test["size"])


def test_a_test_that_writes_a_column_otherwise_is_read_like_the_training_table_or_told(tmp_path, inline):
    """Words for missing values, and thousands, made a column of numbers one of words in the test alone."""
    train = pd.DataFrame({"a": range(60), "b": range(60), "c": range(60), "d": [f"${i},000" for i in range(1, 61)],
                          "rent": range(60)})  # fmt: skip
    test = pd.DataFrame({"a": ["?", "1"], "b": ["1,000", "2"], "c": ["x", "2"], "d": [5000, 6000]})
    problem = made(tmp_path, train__csv=train.to_csv(index=False), test__csv=test.to_csv(index=False))
    assert "missing among numbers are: a ('?')" in problem.note
    assert "c holds 'x' in test.csv, and no words in train.csv: write it alike" in problem.note
    assert "d is read as words: test.csv writes '5000', other than train.csv ('$1,000' as 1000)" in problem.note
    shown = pd.read_csv(problem.input_dir / "test.csv")
    assert shown["a"].isna().sum() == 1 and shown["b"].max() == 1000 and "x" in set(shown["c"])


def test_words_for_missing_values_are_missing_for_programs_scores_and_the_target(tmp_path, inline):
    """`?` in two cells of a column of numbers makes words of all of them for pandas."""
    sizes, rents = FLATS["size"].astype(str).tolist(), FLATS["rent"].astype(str).tolist()
    sizes[3:5], rents[7:9] = ["k.A.", "?"], ["-", "?"]
    frame = FLATS.assign(size=sizes, rent=rents)
    problem = made(
        tmp_path,
        train__csv=frame.to_csv(index=False),
        test__csv=frame.drop(columns="rent").replace({"size": {"?": "n/d", "k.A.": "unbekannt"}}).to_csv(index=False),
    )
    expected = FLATS.assign(size=FLATS["size"].where(~FLATS.index.isin([3, 4]))).drop(index=[7, 8])
    shown, hidden = (pd.read_csv(problem.input_dir / f"{name}.csv") for name in ("train", "test"))
    assert shown["size"].dtype == hidden["size"].dtype == float
    assert len(expected.merge(shown, on=list(expected))) == len(shown)
    assert "missing among numbers are: size ('?', 'k.A.', 'n/d', 'unbekannt'), rent ('-', '?')" in problem.note
    assert "2 rows without rent are left out" in problem.note


def test_what_only_later_pieces_hold_counts_for_all(tmp_path, inline, monkeypatch):
    """The first rows are plain numbers and plain dates: words for missing values and a second way come later."""
    monkeypatch.setattr("problems.competition.grader.tables.pieces.ROWS", 50)
    monkeypatch.setattr("problems.competition.grader.tables.pieces.HEAD", 20)
    late = FLATS.index >= 90
    small = [f"{i}e-05" if i < 100 else "?" for i in range(ROWS)]
    days = pd.Series(pd.date_range("2021-01-01", periods=ROWS))
    written = days.dt.strftime("%Y-%m-%d").where(~late, days.dt.strftime("%d.%m.%Y"))
    bare = days.dt.strftime("%m/%d/%Y").where(FLATS.index < 31, days.dt.strftime("%Y-%m-%d"))
    problem = made(tmp_path, train__csv=FLATS.assign(small=small, day=written, us=bare).to_csv(index=False))
    shown = pd.read_csv(problem.input_dir / "train.csv")
    at = shown["flat"].str[1:].astype(int)
    assert shown["small"].dtype == float and shown["small"].isna().equals(at >= 100)
    for name in ("day", "us"):
        assert (pd.to_datetime(shown[name]) == days[at].to_numpy()).all()


def test_a_long_table_is_converted_piece_by_piece(tmp_path, inline, monkeypatch):
    monkeypatch.setattr("problems.competition.grader.tables.pieces.ROWS", 50)
    assert is_all_of_it(made(tmp_path, train__csv=TOLD.to_csv(index=False)))


@pytest.mark.parametrize("odd", ["train", "test"])
def test_one_cell_of_another_form_leaves_the_column_as_it_is(tmp_path, inline, odd):
    mine = {name: TOLD.assign(rent=FLATS["rent"]) for name in ("train", "test")}
    mine[odd] = mine[odd].replace({"size": {"20.5 m²": "large"}})
    problem = made(
        tmp_path,
        train__csv=mine["train"].to_csv(index=False),
        test__csv=mine["test"].drop(columns="rent").head(20).to_csv(index=False),
    )
    assert "amounts" not in problem.note
    assert pd.read_csv(problem.input_dir / "train.csv")["size"].str.endswith("m²").any()


def test_classes_and_what_names_rows_keep_their_words(tmp_path, inline):
    frame = TOLD.assign(rent=[f"{1 + i % 3} rooms" for i in range(ROWS)], id=[f"{i + 1} kg" for i in range(ROWS)])
    problem = made(tmp_path, "data.metric=accuracy", train__csv=frame.to_csv(index=False))
    shown = pd.read_csv(problem.input_dir / "train.csv")
    assert set(shown["rent"]) == {"1 rooms", "2 rooms", "3 rooms"} and shown["id"].str.endswith("kg").all()


@pytest.mark.parametrize("write", [
    lambda rent: f"{rent:,.0f}".replace(",", "\u202f"), lambda rent: f"{rent:.2f}".replace(".", ","),
    lambda rent: f"{rent:,.2f}".translate(str.maketrans(",.", ".,")),
])  # fmt: skip
def test_a_target_that_must_be_numbers_may_be_written_in_any_style(tmp_path, inline, write):
    assert is_all_of_it(made(tmp_path, train__csv=FLATS.assign(rent=FLATS["rent"].map(write)).to_csv(index=False)))


@pytest.mark.parametrize("missing", [0, 1])
def test_a_target_of_whole_numbers_beyond_64_bits(tmp_path, inline, missing):
    for start in (2**63, 2**70):  # what a table of a chain's transfers holds
        rents = [start + int(rent) * 2**55 for rent in FLATS["rent"]]
        rents[:missing] = [""] * missing
        problem = made(tmp_path, train__csv=FLATS.assign(rent=rents).to_csv(index=False))
        shown = pd.read_csv(problem.input_dir / "train.csv")
        assert shown["rent"].dtype == float and set(shown["rent"]) <= {float(rent) for rent in rents if rent}


def test_times_with_several_offsets_are_dates(tmp_path, inline):
    """As an export over the change to summer time has them."""
    days = [f"2021-{1 + i % 12:02}-03T10:00:00+0{1 + i % 2}:00" for i in range(ROWS)]
    problem = made(tmp_path, train__csv=FLATS.assign(day=days).to_csv(index=False))
    assert {"day", "month"} <= {
        column["name"] for column in problem.prompt_extras()["data"]["columns"] if column["kind"] == "date"
    }


def test_a_line_break_in_a_name_does_not_break_the_line_of_a_refusal(tmp_path, inline):
    table = FLATS.rename(columns={"rent": "rent\nin euros"}).assign(**{"rent\nin euros": "cheap"})
    with pytest.raises(ConfigError) as refused:
        made(tmp_path, 'data.target="rent\nin euros"', "data.metric=mae", train__csv=table.to_csv(index=False))
    assert "\n" not in str(refused.value) and "rent\\nin euros" in str(refused.value)


def test_amounts_of_a_second_table_of_labels(tmp_path, inline):
    problem = made(
        tmp_path,
        train__csv=FLATS.drop(columns="rent").to_csv(index=False),
        labels__csv=TOLD[["flat", "rent"]].to_csv(index=False),
    )
    assert is_all_of_it(problem) and "rent ('$1,000.00' as 1000)" in problem.note


def test_a_copy_of_the_labels_without_their_marks_stays_behind(tmp_path, inline):
    """Labels are compared as numbers, however the table and the copy write them."""
    copied = FLATS[["flat"]].assign(paid=[f"{rent:.0f}" for rent in FLATS["rent"]])
    told = TOLD[["flat"]].assign(paid=TOLD["rent"])
    problem = made(
        tmp_path,
        train__csv=TOLD.to_csv(index=False),
        plain__csv=copied.to_csv(index=False),
        other__csv=told.to_csv(index=False),
    )
    assert not any((problem.input_dir / name).exists() for name in ("plain.csv", "other.csv"))


@pytest.mark.parametrize("form", ["%Y-%m", "%m/%Y", "%b %Y", "%b %d %Y", "%b-%y"])
def test_months_are_dates_that_order_rows_and_that_programs_are_told_of(tmp_path, inline, form):
    when = pd.date_range("2011-01-01", periods=ROWS, freq="MS").strftime(form)
    mixed = FLATS.assign(month=when).sample(frac=1, random_state=0)
    problem = made(tmp_path, "data.split=time:month", train__csv=mixed.to_csv(index=False))
    assert set(pd.read_csv(problem.input_dir / "train.csv")["flat"]) == {f"F{i}" for i in range(84)}
    (column,) = [each for each in problem.prompt_extras()["data"]["columns"] if each["name"] == "month"]
    assert column["kind"] == "date" and column.get("format", "%Y-%m") == form


QUOTES = FLATS.assign(flat=[f'the "{flat}", as it is called' for flat in FLATS["flat"]])
ODD = {
    "blanks": (FLATS.to_string(index=False), "blanks between columns"),
    "blanks and names of rows": (FLATS.to_string(), "blanks between columns, names of rows before the first column"),
    "one blank": (FLATS.to_csv(index=False, sep=" "), "blanks between columns"),
    "backslashes": (QUOTES.to_csv(index=False, escapechar="\\", doublequote=False), "backslashes before quotes"),
    "single quotes": (FLATS.assign(flat=FLATS["flat"] + ", old").to_csv(index=False, quotechar="'"), "single quotes"),
    "doubled quotes": (QUOTES.to_csv(index=False), ""),
}


@pytest.mark.parametrize("way", ODD)
def test_texts_that_other_programs_write(tmp_path, inline, way):
    """A text with a comma that is not in doubled quotes had moved every column by one."""
    text, told = ODD[way]
    problem = made(tmp_path, train__csv=text)
    hold = QUOTES if way in ("backslashes", "doubled quotes") else FLATS
    hold = hold.assign(flat=hold["flat"] + ", old") if way == "single quotes" else hold
    assert is_all_of_it(problem, hold)
    assert f"train.csv is read ({told})" in problem.note if told else "is read" not in problem.note


@pytest.mark.parametrize(("name", "write"), [
    ("train__json", lambda box: FLATS.to_json(box, orient="records", lines=True)),
    ("train__csv", lambda box: FLATS.to_excel(box, index=False)),
    ("train__txt", lambda box: FLATS.to_parquet(box)),
    ("rents__csv", lambda box: FLATS.to_feather(box)),
])  # fmt: skip
def test_what_a_file_holds_counts_and_not_its_name(tmp_path, inline, name, write):
    box = io.BytesIO()
    try:
        write(box)
    except ImportError:
        pytest.skip("the extra [tables] is not installed")
    assert is_all_of_it(made(tmp_path, **{name: box.getvalue()}))


@pytest.mark.parametrize(("text", "told"), [
    (FLATS.to_csv(index=False, header=False), "its first line holds values, not names of columns: put a line"),
    (f"<!DOCTYPE html>\n<html><p>Sign in, please</p>\n{'<p>a, b</p>' * 99}", "is a page of HTML or XML, not a table"),
    (FLATS.rename(columns={"rent": "price"}).to_csv(index=False), "columns are flat, size, month, price"),
])  # fmt: skip
def test_what_is_no_table_or_has_no_head_is_refused_with_the_reason(tmp_path, inline, text, told):
    with pytest.raises(ConfigError) as refused:
        made(tmp_path, train__csv=text)
    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_rows_that_are_all_newer_than_those_of_training_ask_for_a_split_by_time(tmp_path, inline):
    """Hidden rows that are drawn have newer ones beside them in training: they score better than rows to come will."""
    told = (
        "month: test.csv is newer than all of train.csv; the rows that are hidden to score programs are drawn one by "
        "one, so scores may be better than on test.csv: --data.split=time:month hides the newest rows"
    )
    newer = FLATS.assign(month=pd.period_range("2021-01", periods=ROWS, freq="M").astype(str)).drop(columns="rent")
    train = FLATS.to_csv(index=False)
    assert told in made(tmp_path, train__csv=train, test__csv=newer.to_csv(index=False)).note
    assert "newer" not in made(tmp_path, "data.split=time:month", train__csv=train).note
    same = FLATS.drop(columns="rent").to_csv(index=False)
    assert "newer" not in made(tmp_path, train__csv=train, test__csv=same).note
    years = (FLATS.assign(year=first + FLATS.index // 12).drop(columns="month") for first in (2000, 2010))
    before, after = (table.to_csv(index=False) for table in years)
    assert "year: test.csv is newer than all of train.csv" in made(tmp_path, train__csv=before, test__csv=after).note


SOLD = [f"{1000 + i}" if i % 15 else f"{1000 + i} - {1200 + i}" for i in range(ROWS)]
SURPRISES = {
    "ranges among numbers": (FLATS.assign(sqft=SOLD), "sqft is read as words: '1000 - 1200' and its like"),
    "a number for none": (FLATS.assign(rent=FLATS["rent"].where(FLATS.index % 30 > 0, -9999)),
                          "rent is -9999 in 4 rows, far from all others: empty these cells if it stands for none"),
}  # fmt: skip


@pytest.mark.parametrize("what", SURPRISES)
def test_what_is_read_otherwise_than_people_may_think_is_told(tmp_path, inline, what):
    table, told = SURPRISES[what]
    assert told in made(tmp_path, train__csv=table.to_csv(index=False)).note
    assert told not in made(tmp_path, train__csv=FLATS.to_csv(index=False)).note


def test_classes_that_differ_by_case_or_blanks_alone_are_told(tmp_path, inline):
    words = [["low", "LOW", "high"][i % 3] for i in range(ROWS)]
    note = made(tmp_path, "data.metric=accuracy", train__csv=FLATS.assign(rent=words).to_csv(index=False)).note
    assert "rent has the classes 'LOW' and 'low', which differ by case or blanks alone: write them alike" in note


def test_tables_beside_those_of_the_competition_are_told(tmp_path, inline):
    towns = pd.DataFrame({"town": ["Ulm"] * 9, "people": [120_000] * 9}).to_csv(index=False)
    sample = pd.DataFrame({"flat": ["X1", "X2"], "rent": [0, 0]}).to_csv(index=False)
    problem = made(tmp_path, train__csv=FLATS.to_csv(index=False), towns__csv=towns, sample_submission__csv=sample)
    assert "further tables go along (towns.csv): programs see them, and the rules writer reads none" in problem.note
    assert "sample_submission.csv is not filled: there is no test table" in problem.note
    assert (problem.input_dir / "towns.csv").is_file()


def test_an_index_of_pandas_is_a_column(tmp_path, inline):
    pytest.importorskip("pyarrow")
    box = io.BytesIO()
    FLATS.set_index("flat").to_parquet(box)
    assert is_all_of_it(made(tmp_path, train__parquet=box.getvalue()))


def test_a_sheet_called_test_that_is_not_read_is_told(tmp_path, inline):
    pytest.importorskip("openpyxl")
    box = io.BytesIO()
    with pd.ExcelWriter(box) as book:
        FLATS.to_excel(book, sheet_name="train", index=False)
        FLATS.drop(columns="rent").to_excel(book, sheet_name="Test", index=False)
    assert "its sheet 'Test' is not read: save it as a file" in made(tmp_path, rents__xlsx=box.getvalue()).note


def test_rows_below_a_key_of_a_json_object(tmp_path, inline):
    answer = {"status": "ok", "result": {"count": ROWS, "rows": FLATS.to_dict("records")}}
    problem = made(tmp_path, flats__json=json.dumps(answer))
    shown = pd.read_csv(problem.input_dir / "train.csv")
    assert len(shown) == 84 and set(FLATS) <= set(shown)
    assert "rows below the key 'result.rows'" in problem.note


def base(path, **tables):
    path.parent.mkdir(exist_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as database:
        for name, table in tables.items():
            table.to_sql(name, database, index=False)


def test_the_only_table_of_a_database(tmp_path, inline):
    base(tmp_path / "mine" / "town.db", **{'fl"ats': TOLD})
    problem = made(tmp_path)
    assert is_all_of_it(problem) and "town.db is read as train.csv (the table 'fl\"ats' of a database)" in problem.note
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["town.db"]
    assert not (problem.input_dir / "town.db").exists()


def test_rows_in_a_log_beside_the_database_are_not_passed_over(tmp_path, inline):
    base(tmp_path / "mine" / "town.db", flats=FLATS)
    with contextlib.closing(sqlite3.connect(tmp_path / "mine" / "town.db")) as still_open:
        still_open.execute("PRAGMA journal_mode=WAL")
        still_open.execute("DELETE FROM flats WHERE rowid = 1")
        still_open.commit()
        with pytest.raises(ConfigError, match=r"town\.db' has rows in 'town\.db-wal' that are not in it yet"):
            made(tmp_path)
    assert "of a database" in made(tmp_path).note  # closed, all of it lies in one file


def test_of_several_tables_of_a_database_the_one_called_train(tmp_path, inline):
    base(tmp_path / "mine" / "town.sqlite", Train=FLATS, other=FLATS)
    assert "the table 'Train' of a database with 2 tables" in made(tmp_path).note
    base(tmp_path / "mine" / "town.sqlite3", flats=FLATS, other=FLATS)
    (tmp_path / "mine" / "town.sqlite").unlink()
    with pytest.raises(ConfigError, match="is a database with the tables flats, other: call one of them train"):
        made(tmp_path)


@pytest.mark.parametrize("name", ["Thumbs.db", "about.json"])
def test_a_file_that_may_be_a_table_takes_nothing_from_folders_and_archives(tmp_path, inline, name):
    mine = tmp_path / "mine"
    for i in range(60):
        (mine / "train" / "ab"[i % 2]).mkdir(parents=True, exist_ok=True)
        (mine / "train" / "ab"[i % 2] / f"{i}.txt").write_text(f"text {i % 2} number {i}")
    (mine / name).write_text("{}")
    assert "no table: 60 texts in folders named by 2 classes" in made(tmp_path, "data.metric=accuracy").note
    shutil.rmtree(mine / "train")
    with zipfile.ZipFile(mine / "rents.zip", "w") as archive:
        archive.writestr("train.csv", FLATS.to_csv(index=False))
        archive.writestr("readme.txt", "of May")
    assert is_all_of_it(made(tmp_path))


def test_what_seems_to_be_a_later_head_and_is_not_clear_is_still_asked_about(tmp_path, inline):
    with pytest.raises(ConfigError, match="line 3 seems to be the head"):
        made(tmp_path, train__csv=f"Export,of,May\n1,,,\n{FLATS.to_csv(index=False)}")


@pytest.mark.parametrize(("told", "there", "planned"), [(None, 1, 1), (None, 4, 2), (3, 1, 3)])
def test_time_is_planned_for_processors_that_are_there(tmp_path, inline, monkeypatch, told, there, planned):
    """Two programs at once on one processor take twice as long each: half of those planned came to their end. What is
    planned rests on the run's own configuration, so that it is planned alike where it is resumed or replayed."""
    monkeypatch.setattr("utils.config_search.processors", lambda: there)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.csv").write_text(FLATS.to_csv(index=False))
    at = [f"data.dir={tmp_path / 'mine'}", "data.target=rent", "data.metric=mae"]
    at += [] if told is None else [f"search.workers={told}"]
    problem = build(load_config(None, at, presets={"problem": "competition"}), tmp_path)
    assert problem.prompt_extras()["data"]["limits"]["workers"] == planned
