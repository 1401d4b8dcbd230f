"""Tables that people bring from home: every usual form, labels elsewhere, several targets, dates, leaks, metrics."""

import bz2
import csv
import gzip
import itertools
import json
import random
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import Stand, column, writes

from core.contracts import Limits
from core.executor.leaks import make_plan
from problems.competition.grader.refit import add_labels
from problems.competition.grader.tables import pieces
from problems.competition.problem import build
from runs.stored.trust import code_named
from utils.config import load_config
from utils.errors import ConfigError

ROWS = 120
HEAD = ["flat", "size", "straße", "rent"]


def flats(mark: str = ",", decimal: str = ".") -> str:
    draw = random.Random(0)
    lines = [mark.join(HEAD)]
    for i in range(ROWS):
        size, rent = f"{20 + draw.random() * 90:.2f}", f"{draw.random() * 900:.2f}"
        lines.append(mark.join([f"F{i}", size, f"Öl {i % 7}", rent]).replace(".", decimal))
    return "\n".join(lines) + "\n"


def made(tmp_path, *words, folder="mine"):
    at = (
        ()
        if any(word.startswith(("data.dir=", "data.train=")) for word in words)
        else (f"data.dir={tmp_path / folder}",)
    )
    problem = build(load_config(None, [*at, "data.target=rent", "data.metric=mae", *words]), tmp_path)
    problem.prepare()
    return problem


def plain(tmp_path, name: str = "train.csv", content: bytes | None = None) -> Path:
    (tmp_path / "mine").mkdir(exist_ok=True)
    path = tmp_path / "mine" / name
    path.write_bytes(flats().encode() if content is None else content)
    return path


def zipped(name: str, content: bytes) -> bytes:
    import io

    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as archive:
        archive.writestr(name, content)
        archive.writestr(f"__MACOSX/._{name}", b"litter")
    return box.getvalue()


FORMS = {
    "train.csv": (flats().encode("utf-8-sig"), ""),
    "train.csv.gz": (gzip.compress(flats().encode()), "gzip"),
    "train.csv.bz2": (bz2.compress(flats().encode()), "bz2"),
    "train.csv.zip": (zipped("train.csv", flats().encode()), "zip"),
    "train.zip": (zipped("whatever.csv", flats().encode()), "zip"),
    "train.tsv": (flats("\t").encode(), "a tab between columns"),
    "train.txt": (flats(";", ",").encode("latin-1"), "CP1252, ';' between columns, decimal commas"),
    "TRAIN.csv": (
        re.sub(r"(\d+),(\d+)(?=;|\n)", r'"\1,\2"', flats(";", ",")).replace(";", ",").encode(),
        "decimal commas",
    ),
    "Train.CSV": (flats().encode("utf-16"), "UTF-16"),
    "BTC-USD.csv": (flats("|").encode("utf-16-le"), "UTF-16-LE, '|' between columns"),
    "train.jsonl": (
        "".join(
            json.dumps(dict(zip(HEAD, row.split(","), strict=True))) + "\n" for row in flats().splitlines()[1:]
        ).encode(),
        "",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_reads_as_the_plain_table_does(tmp_path, inline, name):
    content, told = FORMS[name]
    plain(tmp_path, name, content)
    problem = made(tmp_path)
    (tmp_path / "other").mkdir()
    plain(tmp_path / "other")
    usual = made(tmp_path / "other", folder="mine")
    for table in ("train.csv", "test.csv"):
        assert cells(problem.input_dir / table) == cells(usual.input_dir / table)
    assert told in problem.note and (not told or f"{name} is read as train.csv ({told})" in problem.note)
    assert sorted(p.name for p in problem.input_dir.iterdir()) == ["sample_submission.csv", "test.csv", "train.csv"]


def test_parquet_and_spreadsheets_read_where_their_package_is(tmp_path, inline):
    pandas = pytest.importorskip("pandas")
    for name, package in (("train.parquet", "pyarrow"), ("train.xlsx", "openpyxl")):
        folder = tmp_path / package
        folder.mkdir()
        try:
            table = pandas.DataFrame({"size": range(60), "rent": [i * 1.5 for i in range(60)]})
            (table.to_parquet if name.endswith("parquet") else table.to_excel)(folder / name, index=False)
        except ImportError:
            (folder / name).write_bytes(b"PAR1" if package == "pyarrow" else zipped("xl/workbook.xml", b"<workbook/>"))
            with pytest.raises(ConfigError, match=r"\(the extra \[tables\]\)"):
                made(tmp_path, f"data.dir={folder}")
        else:
            assert len(column(made(tmp_path, f"data.dir={folder}").input_dir / "train.csv", "rent")) == 42


def test_a_single_file_is_enough_and_what_lies_beside_it_is_not_shown(tmp_path, inline):
    path = plain(tmp_path, "prices.csv")
    (path.parent / "diary.txt").write_text("private")
    for words in ([f"data.dir={path}"], [f"data.train={path}"]):
        shown = made(tmp_path, *words).input_dir
        assert sorted(p.name for p in shown.iterdir()) == ["sample_submission.csv", "test.csv", "train.csv"]


@pytest.mark.parametrize("around", ["", "comp/"])
@pytest.mark.parametrize("named", ["", "/comp.zip"])
def test_a_zip_of_a_whole_data_set_is_read_as_its_folder(tmp_path, inline, around, named):
    (tmp_path / "mine").mkdir()
    head, *rows = flats().splitlines()
    with zipfile.ZipFile(tmp_path / "mine" / "comp.zip", "w") as archive:
        archive.writestr(f"{around}train.csv", flats())
        archive.writestr(f"{around}test.csv", "\n".join(row.rpartition(",")[0] for row in (head, *rows[:9])))
        archive.writestr(f"{around}streets.csv", "straße,metres\nÖl 1,7\n")
        archive.writestr(f"{around}old.csv", flats())
    (tmp_path / "mine" / "sample_submission.csv").write_text("flat,rent\n" + "".join(f"F{i},0\n" for i in range(9)))
    problem = made(tmp_path, f"data.dir={tmp_path / 'mine'}{named}", f"project.dir={tmp_path}")
    assert problem.note.startswith("comp.zip is unpacked: old.csv, streets.csv, test.csv, train.csv")
    assert "left out, since labels may be in it: old.csv" in problem.note
    shown = sorted(path.name for path in problem.input_dir.iterdir())
    assert shown == ["sample_submission.csv", "streets.csv", "test.csv", "train.csv"]
    assert len(cells(problem.input_dir / "test.csv")) == 1 + 36 + 9
    assert problem.name == ("competition/comp" if named else "competition/mine")


def test_a_test_table_that_is_a_link_does_not_take_the_place_of_ours(tmp_path, inline):
    plain(tmp_path)
    rows = flats().splitlines()
    (tmp_path / "theirs.csv").write_text("\n".join(row.rpartition(",")[0] for row in (rows[0], *rows[1:9])))
    (tmp_path / "mine" / "test.csv").symlink_to(tmp_path / "theirs.csv")
    assert len(cells(made(tmp_path).input_dir / "test.csv")) == 1 + 36 + 8


def test_hidden_rows_and_those_to_predict_are_not_told_apart_by_their_place(tmp_path, inline):
    """A program that knows which rows are scored needs to be good at no other."""
    plain(tmp_path)
    plain(tmp_path, "test.csv", ("flat,size,straße\n" + "".join(f"T{i},{1000 + i},\n" for i in range(36))).encode())
    theirs = [float(size) >= 1000 for size in column(made(tmp_path).input_dir / "test.csv", "size")]
    assert sum(theirs) == 36 == len(theirs) - sum(theirs)
    assert 9 <= sum(theirs[:36]) <= 27, "as many of them in either half, but for chance"


def test_no_copy_of_the_labels_goes_along(tmp_path, inline):
    """Hidden labels may lie beside the table that was read: packed, under another name, in an archive, in a pickle."""
    plain(tmp_path)
    folder = tmp_path / "mine"
    (folder / "old").mkdir()
    for name, content in {
        "train.csv.zip": zipped("train.csv", flats().encode()),
        "backup.csv.gz": gzip.compress(flats().encode()),
        "old/export.txt": flats(";").encode("utf-16"),
        "all.zip": zipped("deep/all.csv", flats().encode()),
        "rows.json": json.dumps([{"flat": "F1", "rent": 3}]).encode(),
        "frame.pkl": b"\x80\x04",
    }.items():
        (folder / name).write_bytes(content)
    (folder / "streets.csv").write_text("straße,metres\nÖl 1,7\n")
    (folder / "notes.txt").write_text("Some words about flats, and their rent; nothing else.\n")
    problem = made(tmp_path)
    shown = sorted(str(p.relative_to(problem.input_dir)) for p in problem.input_dir.rglob("*") if p.is_file())
    assert shown == ["notes.txt", "sample_submission.csv", "streets.csv", "test.csv", "train.csv"]
    assert "left out, since labels may be in it: " in problem.note and "train.csv.zip" in problem.note


REFUSED = {
    "NULs in text": (flats().replace("Öl 1", "Ö\0l").encode(), "train.csv", "holds NUL characters"),
    "a program": (bytes(range(256)) * 99, "train.csv", "holds NUL characters"),
    "packed in a zip": (zipped("in.gz", gzip.compress(b"a")), "outer.zip", "packed twice: it holds 'in.gz'"),
    "many columns": (
        ("\n".join([",".join(f"c{i}" for i in range(99))] + ["1," * 98 + "1"] * 50)).encode(),
        "train.csv", "c8, c9 and 89 more",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused_in_one_short_line(tmp_path, inline, case):
    content, name, told = REFUSED[case]
    plain(tmp_path, name, content)
    with pytest.raises(ConfigError) as error:
        made(tmp_path)
    assert told in str(error.value) and len(str(error.value)) < 400 and str(error.value).isascii()


def test_a_table_deep_in_a_zip_can_be_named_and_links_out_of_the_folder_stay_behind(tmp_path, inline):
    (tmp_path / "mine").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("of the host")
    (tmp_path / "mine" / "etc").symlink_to(tmp_path / "secret")
    with zipfile.ZipFile(tmp_path / "mine" / "comp.zip", "w") as archive:
        for name in ("comp/data/mine.csv", "comp/data/other.csv"):
            archive.writestr(name, flats())
    for given in ("mine", "mine/comp.zip"):
        for name in ("comp/data/mine.csv", "mine.csv"):
            problem = made(tmp_path, f"data.dir={tmp_path / given}", f"data.train={name}", f"project.dir={tmp_path}")
            shown = sorted(path.name for path in problem.input_dir.iterdir())
            assert shown == ["sample_submission.csv", "test.csv", "train.csv"]
            assert "labels may be in it: other.csv" in problem.note
            assert given != "mine" or "in a circle or nowhere: etc" in problem.note


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("rents.csv", lambda text: "Export,of,May,\n1,,,\n" + text, "line 3 seems to be the head of the table"),
        ("rents.csv", lambda text: text.replace("rent", "Rent  ", 1), "did you mean 'Rent  '? (blanks count)"),
        ("flats.sqlite", str, "flats.sqlite' is no database of SQLite: write its table as a CSV"),
        ("flats.mdb", str, "'flats.mdb' is a database: write its table as a CSV"),
        ("flats.dta", str, "'flats.dta' cannot be read: save it as CSV or Parquet"),
    ],
)
def test_what_to_do_about_a_table_that_is_not_found_is_told(tmp_path, inline, name, change, told):
    plain(tmp_path, name, change(flats()).encode())
    with pytest.raises(ConfigError) as refused:
        made(tmp_path)
    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_tables_of_which_none_is_called_train_are_to_be_joined_or_named(tmp_path):
    for month in ("may", "june"):
        plain(tmp_path, f"{month}.csv")
    with pytest.raises(
        ConfigError, match=r"say --data\.train=FILE; .* --data\.test=FILE; .* are joined: --data\.train='\*\.csv'$"
    ):
        made(tmp_path)


def test_labels_in_a_second_table_are_joined_by_what_names_their_rows(tmp_path, inline):
    plain(tmp_path)
    rows = [line.rsplit(",", 1) for line in flats().splitlines()]
    folder = tmp_path / "mine"
    (folder / "train.csv").write_text("".join(f"{left}\n" for left, _ in rows))
    (folder / "answers.csv").write_text(
        "".join(f"{left.split(',')[0]},{rent}\n" for left, rent in [rows[0], *rows[:50:-1]])
    )
    problem = made(tmp_path)
    assert "rent of answers.csv is joined by flat: 70 of 120 rows" in problem.note
    assert not (problem.input_dir / "answers.csv").exists()
    known = dict(zip(*(column(problem.input_dir / "train.csv", name) for name in ("flat", "rent")), strict=True))
    true = {line.split(",")[0]: line.split(",")[-1] for line in flats().splitlines()}
    assert known and all(float(true[flat]) == float(rent) for flat, rent in known.items())


LABELS = {
    "ids that come again": ("id,rent", [*range(100), *range(20)], "its id names 20 rows again, such as '0'"),
    "ids that come again in fewer rows": ("id,rent", [*range(90), 3], "its id names 1 row again, such as '3'"),
    "another case": ("ID,rent", range(119, -1, -1), "its ID is called id there (names differ by case)"),
    "fewer rows without a name": ("number,rent", range(50), "it has 50 rows, and the other 120"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_whose_rows_cannot_be_told_are_refused_with_the_reason(tmp_path, inline, case):
    head, ids, why = LABELS[case]
    plain(tmp_path, content="".join(["id,x\n", *(f"{i},{i % 7}\n" for i in range(ROWS))]).encode())
    (tmp_path / "mine" / "y.csv").write_text("".join([f"{head}\n", *(f"{i},{i * 2.5}\n" for i in ids)]))
    with pytest.raises(ConfigError) as caught:
        made(tmp_path)
    assert f"no column names its rows and those of train.csv: {why}" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("size,straße,rent", "rent,straße,rent"), "data.target=rent: train.csv has 2 columns called 'rent'"),
        (("straße,rent", "straße,RENT"), "data.target=rent: no such column"),
        ((",rent\n", ",rent\n" + "F,1,a,cheap\n"), "'rent' holds text such as 'cheap' in 1 of 121 rows"),
    ],
)
def test_a_target_that_is_not_one_column_of_numbers_is_refused_with_the_reason(tmp_path, inline, change, told):
    plain(tmp_path, content=flats().replace(*change, 1).encode())
    with pytest.raises(ConfigError) as caught:
        made(tmp_path)
    assert told in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["train.csv", "train.csv.gz"])
def test_columns_of_one_name_are_told(tmp_path, inline, name):
    text = flats().replace("flat,size,straße", "size,size,straße", 1).encode()
    plain(tmp_path, name, gzip.compress(text) if name.endswith("gz") else text)
    assert f"{name} has 2 columns called 'size': they are size, size.1" in made(tmp_path).note


def test_several_targets_are_scored_by_their_mean(tmp_path, inline):
    plain(tmp_path)
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=rent,size", "data.metric=mae")
    try:
        assert "2 targets: a program predicts all of them" in stand.problem.note
        assert not {"rent", "size"} & set(cells(stand.problem.input_dir / "test.csv")[0])
        private = stand.problem.input_dir.parent / "private" / "answers.csv"
        rents, sizes = ([float(value) for value in column(private, name)] for name in ("rent", "size"))
        part = json.loads((private.parent / "exam.json").read_text())["parts"]["validation"]
        _, verdict = stand.score(writes("for row in rows: row['rent'], row['size'] = 0, 0"))
        wanted = sum(rents[i] + sizes[i] for i in part) / 2 / len(part)
        assert verdict.metric == pytest.approx(wanted)
        assert all(stand.score(line.code)[1].metric for line in stand.problem.baselines())
    finally:
        stand.close()


def several_targets(tmp_path, *, first, second, metric):
    rows = "".join(f"{n},{n % 7},{first(n)},{second(n)}\n" for n in range(120))
    plain(tmp_path, content=f"id,a,y,z\n{rows}".encode())
    return made(tmp_path, "data.target=y,z", f"data.metric={metric}")


def test_targets_that_few_rows_have_all_of_are_to_be_taken_alone(tmp_path, inline):
    holes = {"first": lambda n: n if n < 80 else "", "second": lambda n: n if n >= 60 else ""}
    with pytest.raises(ConfigError, match=r"20 rows have all labels; .*alone y has 80, z has 60: .*=y\)$"):
        several_targets(tmp_path, **holes, metric="mae")


def test_targets_that_are_classes_of_one_are_told(tmp_path, inline):
    problem = several_targets(tmp_path, first=lambda n: n % 2, second=lambda n: 1 - n % 2, metric="logloss")
    assert "each row has a single 1 among the targets" in problem.note


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.reader(file))


def test_images_are_counted_and_told_to_whoever_writes(tmp_path, inline):
    image = pytest.importorskip("PIL.Image")
    plain(tmp_path)
    (tmp_path / "mine" / "photos").mkdir()
    for number in range(ROWS):
        image.new("RGB", (12, 8)).save(tmp_path / "mine" / "photos" / f"F{number}.png")
    problem = made(tmp_path)
    told = "120 images in input/photos/ (12×8 RGB); the file of a row is its flat + '.png'"
    assert told in problem.note and told in problem.preview()
    assert len(list((problem.input_dir / "photos").iterdir())) == ROWS


NUMBERED = {
    "a shuffled column of the user's": ({"doc": 7}, "its doc + '.txt'"),
    "two of them": ({"doc": 7, "page": 11}, "its doc + '.txt' or its page + '.txt'"),
    "one that names fewer": ({"grade": 0, "doc": 7}, "its doc + '.txt'"),
    "none but our own ids": ({}, None),
}


@pytest.mark.parametrize("case", NUMBERED)
def test_files_are_named_by_a_column_of_the_users_never_by_ids_that_we_made(tmp_path, inline, case):
    steps, told = NUMBERED[case]
    rows = [[i * step % ROWS if step else i % 5 for step in steps.values()] + [i / 7, i % 9] for i in range(ROWS)]
    text = "\n".join(",".join(map(str, row)) for row in [[*steps, "x", "rent"], *rows])
    plain(tmp_path, content=text.encode())
    (tmp_path / "mine" / "docs").mkdir()
    for number in range(ROWS):
        (tmp_path / "mine" / "docs" / f"{number}.txt").write_text("words")
    problem = made(tmp_path)
    for place in (problem.note, problem.preview()):
        assert "120 texts in input/docs/" in place and "row_id" not in place.partition("Files in")[0]
        assert f"the file of a row is {told}" in place if told else "the file of a row" not in place


# ------------------------------------------------------------ dates


def days(form: str, count: int = 300) -> str:
    from datetime import date, timedelta

    draw, start = random.Random(1), date(2020, 1, 1)
    rows = [(start + timedelta(days=i), i) for i in range(count)]
    draw.shuffle(rows)
    return "day,x,rent\n" + "".join(f'"{day.strftime(form)}",{i % 5},{i}\n' for day, i in rows)


@pytest.mark.long
@pytest.mark.parametrize(
    "form", ["%d.%m.%Y", "%m/%d/%Y", "%d/%m/%y", "%Y-%m-%d", "%b %d, %Y", "%d-%b-%Y", "%Y/%m/%d %H:%M"]
)
def test_a_split_by_time_hides_the_newest_rows_however_dates_are_written(tmp_path, inline, form):
    plain(tmp_path, content=days(form).encode())
    problem = made(tmp_path, "data.split=time:day")
    hidden = column(problem.input_dir.parent / "private" / "answers.csv", "rent")
    assert sorted(map(int, hidden)) == list(range(210, 300))  # rents count the days


@pytest.mark.parametrize("form", ["{y}-W{n:02d}", "{y}W{n:02d}", "{y} Q{q}", "Q{q}/{y}"])
def test_a_split_by_time_reads_weeks_and_quarters(tmp_path, inline, form):
    """`2023-W07` and `2023Q1` are no dates that a format reads, and yet what panels are written in."""
    when = [(2022 + i // 52, i % 52 + 1) for i in range(104) for _ in range(3)]
    rows = "".join(f"{form.format(y=y, n=n, q=1 + (n - 1) // 13)},{i * 7 % 31},{i}\n" for i, (y, n) in enumerate(when))
    plain(tmp_path, content=f"when,x,rent\n{rows}".encode())
    problem = made(tmp_path, "data.split=time:when")
    hidden = sorted(map(int, column(problem.input_dir.parent / "private" / "answers.csv", "rent")))
    assert hidden == list(range(len(when) - len(hidden), len(when))) and len(hidden) < len(when) / 2


def test_writers_are_told_how_the_rows_to_predict_were_parted(tmp_path, inline):
    """A forecast is validated forwards, a group by groups: who does not know it estimates another score than ours."""
    plain(tmp_path, content=days("%d.%m.%Y").encode())
    told = made(tmp_path, "data.split=time:day").prompt_extras()["output_format"]
    assert "newest rows by day, from 29.07.2020 on, where train.csv goes up to 28.07.2020; those scored" in told
    assert "the newest of all, up to 26.10.2020." in told
    bare = made(tmp_path, "data.split=time:day", "data.preview=schema").prompt_extras()["output_format"]
    assert "They are the newest rows by day; those scored at the end are the newest of all." in bare
    assert "drawn at random" in made(tmp_path).prompt_extras()["output_format"]
    assert "No x of theirs is in train.csv" in made(tmp_path, "data.split=group:x").prompt_extras()["output_format"]


def test_how_far_ahead_a_forecast_is_scored_can_be_said(tmp_path, inline):
    plain(tmp_path, content=days("%d.%m.%Y").encode())
    problem = made(tmp_path, "data.split=time:day", "data.hidden=0.1")
    hidden = column(problem.input_dir.parent / "private" / "answers.csv", "rent")
    assert sorted(map(int, hidden)) == list(range(270, 300)) and "are hidden" not in problem.note


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("01.02.2020", "in winter"), "neither numbers nor dates of one format ('in winter')"),
        (("01.02.2020", ""), "1 row has no time, so rows cannot be ordered"),
        (("01.02.2020", "31.31.2020"), "neither numbers nor dates of one format ('31.31.2020')"),
    ],
)
def test_a_column_that_cannot_be_ordered_is_refused(tmp_path, inline, change, words):
    plain(tmp_path, content=days("%d.%m.%Y").replace(*change).encode())
    with pytest.raises(ConfigError) as caught:
        made(tmp_path, "data.split=time:day")
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_dates_of_two_meanings_are_refused(tmp_path, inline):
    rows = "".join(f"{1 + i % 12:02d}.{1 + i % 7:02d}.2020,{i},{i}\n" for i in range(80))
    plain(tmp_path, content=f"day,x,rent\n{rows}".encode())
    with pytest.raises(ConfigError, match="may be day first or month first"):
        made(tmp_path, "data.split=time:day")


def test_day_first_dates_are_read_by_the_rules_writer(tmp_path, inline):
    plain(tmp_path, content=days("%d.%m.%Y").encode())
    problem = made(tmp_path)
    (day,) = [c for c in problem.prompt_extras()["data"]["columns"] if c["name"] == "day"]
    assert (day["kind"], day["format"]) == ("date", "%d.%m.%Y")
    assert all("format='%d.%m.%Y'" in line.code for line in problem.baselines()[1:])


HOURS = pd.Series(pd.date_range("2021-03-05 07:00", periods=400, freq="61h"))
WORDY = (HOURS.index > 150) & (HOURS.index % 30 == 5)
MIXED = {
    "day first, and a few words": (HOURS.dt.strftime("%d/%m/%Y").where(~WORDY, "soon"), "%d/%m/%Y"),
    "month first, and a few words": (HOURS.dt.strftime("%m/%d/%Y").where(~WORDY, "later"), "%m/%d/%Y"),
    "day first, and words for missing values": (HOURS.dt.strftime("%d/%m/%Y").where(~WORDY, "unknown"), None),
    "seconds with and without fractions": (HOURS.astype(str).where(HOURS.index % 90 != 0, HOURS.astype(str) + ".5"),
                                           "ISO8601"),
    "months, by their first day": (HOURS.dt.strftime("%m/01/%Y"), "%m/%d/%Y"),
    "the first days of a year": (HOURS.dt.day.clip(upper=12).astype(str).str.zfill(2) + "/01/2021", "%d/%m/%Y"),
    "plain": (HOURS.astype(str), None),
    "plain, and a few words": (HOURS.astype(str).where(~WORDY, "unknown"), None),
}  # fmt: skip


@pytest.mark.parametrize("form", MIXED)
def test_dates_that_pandas_would_misread_are_told_with_their_format(tmp_path, inline, form):
    """Pandas takes the form of the first cell for that of all: others are missing, or day and month are exchanged."""
    written, wanted = MIXED[form]
    lines = [f"{day},{i % 7},{i % 101}.5" for i, day in enumerate(written)]
    plain(tmp_path, content=("\n".join(["day,size,rent", *lines]) + "\n").encode())
    problem = made(tmp_path)
    (day,) = [c for c in problem.prompt_extras()["data"]["columns"] if c["name"] == "day"]
    assert (day["kind"], day.get("format")) == ("date", wanted)


# ------------------------------------------------------------ a last row of totals


def sold(last: str) -> bytes:
    draw = random.Random(7)
    rows = [(f"shop {i}", draw.randrange(20, 90), round(draw.uniform(100, 900), 2)) for i in range(ROWS)]
    sums = {"size": sum(size for _, size, _ in rows), "rent": sum(rent for *_, rent in rows)}
    lines = [f"{name},{size},{rent}" for name, size, rent in rows]
    return "\n".join(["shop,size,rent", *lines, last.format(**sums)]).encode()


@pytest.mark.parametrize(("last", "told"), [
    ("Total,{size},{rent:.1f}", "the last row of train.csv is called 'Total' and holds the sums of size, rent"),
    ("Summe:,,{rent:.2f}", "the last row of train.csv is called 'Summe:' and holds the sums of rent"),
    (",{size},{rent:.2f}", "the last row of train.csv holds the sums of size, rent: it counts as a row"),
    ("Total,44,512.25", ""),
    ("shop 120,44,{rent:.2f}", ""),
    ("Grand total of all shops here,44,512.25", ""),
])  # fmt: skip
def test_a_last_row_of_totals_is_told_and_stays(tmp_path, inline, last, told):
    plain(tmp_path, content=sold(last))
    problem = made(tmp_path)
    assert told in problem.note and ("it counts as a row" in problem.note) == bool(told)
    assert any("it counts as a row" in line for line in problem.cautions) == bool(told), "beside the verdict, too"
    private = problem.input_dir.parent / "private"
    assert len(pd.read_csv(problem.input_dir / "train.csv")) + len(pd.read_csv(private / "answers.csv")) == ROWS + 1


def test_totals_of_a_table_that_is_read_in_pieces(tmp_path, inline, monkeypatch):
    monkeypatch.setattr("problems.competition.grader.tables.pieces.ROWS", 50)
    plain(tmp_path, content=sold("gesamt,{size},{rent:.1f}"))
    assert "is called 'gesamt' and holds the sums of size, rent" in made(tmp_path).note


# ------------------------------------------------------------ leaks


def test_leaks_are_told_before_the_search(tmp_path, inline):
    draw = random.Random(3)
    rows = [(i % 9, draw.randrange(1000)) for i in range(150)]
    text = "number,x,copy,twice,rent\n" + "".join(f"{n},{x},{y * 3 + 1},{n % 4},{y}\n" for n, (x, y) in enumerate(rows))
    plain(tmp_path, content=text.encode())
    assert "possible leak: copy tells rent exactly" in made(tmp_path).note


def test_a_column_that_one_class_alone_fills_is_told(tmp_path, inline):
    """Why a customer left: whether anything stands there is the answer, and what stands there told nobody."""
    draw = random.Random(3)
    rows = [(draw.random(), draw.random() < 0.4) for _ in range(150)]
    lines = (
        f"{n},{x:.3f},{draw.choice('pqr') * gone},{draw.choice(['', 'z'])},{'ny'[gone]}\n"
        for n, (x, gone) in enumerate(rows)
    )
    plain(tmp_path, content=("number,x,why,perhaps,rent\n" + "".join(lines)).encode())
    told = made(tmp_path, "data.metric=auc").note
    assert "possible leak: why tells rent exactly; is it known when you predict?" in told and "perhaps" not in told


@pytest.mark.parametrize("split", ["time:day", "random"])
@pytest.mark.parametrize("mixed", [False, True])
def test_answers_in_other_rows_are_told_before_the_search(tmp_path, inline, split, mixed, monkeypatch):
    """A program that shifts such a column by a row has every answer: a perfect score of a forecast nobody can make.

    Where rows stand in any order a program sorts them by time.
    """
    monkeypatch.setattr("problems.competition.grader.tables.pieces.ROWS", 50)
    draw, before, lines = random.Random(3), 0, []
    for day in range(150):
        rent = draw.randrange(100_000)
        lines.append(f"2024-{1 + day // 28:02d}-{1 + day % 28:02d},{draw.random():.3f},{before},{rent}\n")
        before = rent
    if mixed:
        draw.shuffle(lines)
    plain(tmp_path, content=("day,x,yesterday,rent\n" + "".join(lines)).encode())
    found = "possible leak: yesterday of another row is rent: it tells 4" in made(tmp_path, f"data.split={split}").note
    assert found == (not mixed or split != "random"), "a random split names no order"


def test_a_column_that_is_nearly_constant_is_no_fault(tmp_path, inline):
    """Its first look is at a thousandth of the rows, where all its values were equal: no data could be prepared."""
    draw = random.Random(4)
    head = ",".join([*(f"late{k}" for k in range(10)), "x", "rent"])
    late = [",".join(str(int(n == 7 + 300 * k)) for k in range(10)) for n in range(4000)]
    lines = [f"{flags},{draw.random():.3f},{draw.randrange(900)}" for flags in late]
    plain(tmp_path, content="\n".join([head, *lines, ""]).encode())
    assert "leak" not in made(tmp_path).note


@pytest.mark.parametrize("copied", [True, False])
def test_a_column_that_is_the_target_is_told_and_no_fault_of_the_sandbox(tmp_path, inline, copied):
    """It stood right behind the ids, to all digits: the self-test took it for answers that lie open."""
    draw = random.Random(3)
    rents = [draw.random() for _ in range(ROWS)]
    rows = [f"{rent if copied else draw.random()},{i % 7},{rent}\n" for i, rent in enumerate(rents)]
    plain(tmp_path, content=("x,size,rent\n" + "".join(rows)).encode())
    problem = made(tmp_path)
    assert problem.shows_answers == copied and ("x tells rent exactly" in problem.note) == copied
    canary = tmp_path / "canary"
    canary.write_text("a canary of some length")
    plan = make_plan([canary, *problem.hidden_files], (), problem.shown_folder, b"canary", problem.shows_answers)
    assert (len(plan["marks"]) == 1) == copied, "the canary, and lines of the answers where none stands in a table"


@pytest.mark.parametrize(("name", "leaks"), [("image_{kind}_{i:03}.png", True), ("pics/{kind}{i}.jpg", True),
                                             ("image_{i:03}.png", False), ("cat_or_dog_{i}.png", False)])  # fmt: skip
def test_classes_that_stand_in_file_names_are_told(tmp_path, inline, name, leaks):
    kinds = [("Cat", "dog")[i % 3 == 0] for i in range(ROWS)]
    rows = [f"{i},{name.format(kind=kind, i=i)},{i % 7},{kind}" for i, kind in enumerate(kinds)]
    plain(tmp_path, content="\n".join(["id,file,x,kind", *rows]).encode())
    note = made(tmp_path, "data.target=kind", "data.metric=accuracy").note
    assert ("file has the class of kind among its words" in note) == leaks


def test_a_locked_zip_of_a_whole_data_set_is_told_in_a_line(tmp_path):
    if (packer := shutil.which("zip")) is None:
        pytest.skip("no zip")
    plain(tmp_path)
    (tmp_path / "mine" / "more.csv").write_text("a\n1\n")
    subprocess.run([packer, "-qP", "secret", "../data.zip", "train.csv", "more.csv"], cwd=tmp_path / "mine", check=True)
    with pytest.raises(ConfigError, match=r"^data: '.*data\.zip' is locked by a password; unpack it first$"):
        made(tmp_path, f"data.dir={tmp_path / 'data.zip'}")


def test_long_tables_are_prepared_in_pieces_as_short_ones_are_whole(tmp_path, inline, monkeypatch):
    """Types come from all pieces: fractions, truth values with gaps and words that begin late."""
    draw = random.Random(1)
    lines = ["flat,size,late,open,word,rent"]
    for i in range(500):
        late, is_open = (f"{i}.5" if i > 400 else f"{i}"), ("" if i == 450 else "true" if i % 2 else "false")
        word, rent = ("Ulm" if i > 300 else f"00{i}"), ("" if i == 7 else f"{draw.random():.6f}")
        lines.append(f"F{i},{draw.random()},{late},{is_open},{word},{rent}")
    plain(tmp_path, content="\n".join(lines).encode())
    whole = made(tmp_path)
    monkeypatch.setattr("problems.competition.grader.tables.pieces.ROWS", 60)
    (tmp_path / "pieces").mkdir()
    pieces = build(load_config(None, [f"data.dir={tmp_path / 'mine'}", "data.target=rent", "data.metric=mae"]),
                   tmp_path / "pieces")  # fmt: skip
    pieces.prepare()
    for name in ("train", "test", "sample_submission"):
        one, other = (pd.read_csv(problem.input_dir / f"{name}.csv") for problem in (whole, pieces))
        pd.testing.assert_frame_equal(one, other)
    assert (whole.input_dir / "train.csv").read_text() == (pieces.input_dir / "train.csv").read_text()
    assert whole.prompt_extras()["data"]["columns"] == pieces.prompt_extras()["data"]["columns"]


def test_of_a_long_table_some_rows_are_hidden_and_facts_come_from_some(tmp_path, inline, monkeypatch):
    plain(tmp_path)
    monkeypatch.setattr("problems.competition.grader.own_data.hidden_rows.MOST_HIDDEN", 20)
    monkeypatch.setattr("problems.competition.grader.tables.pieces.ROWS", 30)
    problem = made(tmp_path)
    data = problem.prompt_extras()["data"]
    assert data["rows"] == {"train": ROWS - 20, "test": 20, "validation": 10, "final": 10}
    assert f"of {ROWS} rows 20 are hidden" in problem.note
    told = problem.prompt_extras()["output_format"]
    assert "scores it on 10 of these rows; 10 others are scored once, at the end" in told, (
        "how far a score can be trusted"
    )


def test_of_a_wide_table_fewer_rows_are_held_at_once_and_facts_come_from_fewer(tmp_path, inline, monkeypatch):
    draw = random.Random(0)
    lines = [",".join([f"{draw.random():.4f}" for _ in range(30)]) for _ in range(ROWS)]
    plain(tmp_path, content="\n".join([",".join([*(f"x{i}" for i in range(29)), "rent"]), *lines]).encode())
    whole = made(tmp_path)
    monkeypatch.setattr("problems.competition.grader.tables.pieces.CELLS", 600)
    monkeypatch.setattr("problems.competition.grader.tables.pieces.FEWEST_LOOKED_AT", 60)
    held, of = [], pieces.text_pieces

    def seen(*how):
        for piece in of(*how):
            held.append(piece.size)
            yield piece

    monkeypatch.setattr("problems.competition.grader.tables.pieces.text_pieces", seen)
    (tmp_path / "again").mkdir()
    problem = build(load_config(None, [f"data.dir={tmp_path / 'mine'}", "data.target=rent", "data.metric=mae"]),
                    tmp_path / "again")  # fmt: skip
    problem.prepare()
    assert max(held) <= 600 * pieces.WHOLE, "memory is bounded however wide a table is"
    assert f"columns are described from 60 of {ROWS} rows" in problem.note
    for name in ("train", "test", "sample_submission"):
        one, other = ((made.input_dir / f"{name}.csv").read_text() for made in (whole, problem))
        assert one == other
    column = problem.prompt_extras()["data"]["columns"][0]
    assert column["kind"] == "number" and column["unique"] == 84, "as many as all rows have"


def test_twins_across_the_split_are_told_and_honest_tables_are_not_accused(tmp_path, inline):
    """Rows are compared without what only counts them; few values that meet by chance are no leak."""
    twice = [f"{i},{i % 75 * 7 % 64},{i % 75 * 5 % 71},{i % 11}\n" for i in range(150)]
    for head in ("Unnamed: 0", "flatId", "flat_id"):
        plain(tmp_path, content=(f"{head},a,b,rent\n" + "".join(twice)).encode())
        assert "hidden rows equal a training row in every feature" in made(tmp_path).note
    texts = [f"a flat of {i % 75} rooms,{i % 11}\n" for i in range(150)]
    plain(tmp_path, content=("text,rent\n" + "".join(texts)).encode())
    assert "hidden rows equal a training row in every feature" in made(tmp_path).note
    few, empty, some_empty = ("".join(f"{row}\n" for row in rows) for rows in (
        [f"{i % 5},{i * 7 % 3},,{i % 11}" for i in range(150)], [f",,,{i % 11}" for i in range(150)],
        [f",,,{i % 11}" if i % 5 == 0 else f"{i},{i * 7},{i * 3},{i % 11}" for i in range(150)]))  # fmt: skip
    for rows in (few, empty, some_empty):
        plain(tmp_path, content=f"a,b,c,rent\n{rows}".encode())
        assert "leak" not in made(tmp_path).note, "rows of which nothing is known are not alike"
    plain(tmp_path)
    assert "leak" not in made(tmp_path).note


@pytest.mark.parametrize(("ill", "few"), [(14, True), (40, True), (600, False)])
def test_chance_does_not_decide_how_many_rows_of_a_rare_class_are_scored(tmp_path, inline, ill, few):
    """Fourteen of 2,000 rows: drawn by chance, none may be left to score on, or to learn from."""
    draw = random.Random(5)
    rows = "".join(f"{draw.random():.6f},{draw.random():.6f},{int(i < ill)}\n" for i in range(2000))
    plain(tmp_path, content=f"a,b,rent\n{rows}".encode())
    for seed in range(6):
        problem = made(tmp_path, "data.metric=auc", f"problem.options.split_seed={seed}")
        note = problem.note
        shown = re.search(r"of the rarest class, 1, (\d+) rows? .* in validation and (\d+) in the final part", note)
        assert bool(shown) == few == ("each part has its share" in note)
        if shown is not None:
            assert all(abs(int(count) - 0.15 * ill) <= 1 for count in shown.groups())
            assert "same share of each class" in problem.prompt_extras()["output_format"]


def test_rare_classes_of_several_targets_have_their_share(tmp_path, inline):
    """The second target's rare class counts as well as the first's."""
    draw = random.Random(5)
    rows = "".join(f"{draw.random():.6f},{int(i % 3 == 0)},{int(i % 100 == 7)}\n" for i in range(1500))
    plain(tmp_path, content=f"a,warm,rent\n{rows}".encode())
    for seed in range(4):
        note = made(tmp_path, "data.metric=auc", "data.target=warm,rent", f"problem.options.split_seed={seed}").note
        shown = re.search(r"rarest class of rent, 1, (\d+) rows? .* in validation and (\d+) in the final part", note)
        assert shown is not None and all(int(count) in (2, 3) for count in shown.groups())


@pytest.mark.parametrize("seed", range(4))
def test_one_huge_group_does_not_hide_the_most_of_the_rows(tmp_path, inline, seed):
    """90 equal rows of 160, less than twice what is wanted, and 90 rows without a street, which stay together, too."""
    rows = [f"{i},{i % 7},{i}\n" for i in range(70)] + ["3,4,\n"] * 90
    draw = random.Random(seed)
    draw.shuffle(rows)
    rows = [f"{row.strip()},{draw.random():.4f}\n" for row in rows]
    plain(tmp_path, content=("a,b,street,rent\n" + "".join(rows)).encode())
    for split in ("distinct", "group:street"):
        problem = made(tmp_path, f"data.split={split}", f"problem.options.split_seed={seed}")
        test = pd.read_csv(problem.input_dir / "test.csv")
        assert 16 <= len(test) <= 80
        assert test["street"].isna().sum() == 0 and ("90 rows without street" in problem.note) == (split != "distinct")


def test_rows_that_all_differ_are_needed_to_keep_equal_ones_together(tmp_path, inline):
    plain(tmp_path, content=("a,b,rent\n" + "".join(f"1,,{i}\n" for i in range(60))).encode())
    with pytest.raises(ConfigError, match=r"^data\.split=distinct: 1 different row; at least 4 are needed$"):
        made(tmp_path, "data.split=distinct")


@pytest.mark.parametrize(
    ("rows", "words", "told"),
    [
        ([(i % 5, "r" if i == 30 else "n") for i in range(ROWS)], "stratified auc",
         "data.split=stratified: all 84 rows to learn from have the same kind; it takes rows of others"),
        ([(i % 4, int(i % 4 > 2)) for i in range(ROWS)], "group:a auc",
         r"data.metric=auc: the (validation|final) part, 30 hidden rows, cannot be scored: AUC is undefined: only one"),
        ([(i // 12, f"k{i // 12}") for i in range(ROWS)], "group:a logloss",
         "data.split=group:a: 0 rows could be hidden; a validation and a final part need 4"),
        ([(i // 6, i * 40) for i in range(ROWS)], "group:a ndcg@3", "takes grades of relevance .* goes up to 4760"),
    ],
)  # fmt: skip
def test_data_that_no_program_can_be_scored_on_are_refused_before_the_search(tmp_path, inline, rows, words, told):
    plain(tmp_path, content=("a,b,kind\n" + "".join(f"{a},{i},{kind}\n" for i, (a, kind) in enumerate(rows))).encode())
    split, metric = words.split()
    with pytest.raises(ConfigError, match=told):
        made(tmp_path, "data.target=kind", f"data.metric={metric}", f"data.split={split}")


def test_ndcg_of_what_was_clicked_ranks_rows_of_a_group(tmp_path, inline):
    """Two grades of relevance are the usual case."""
    rows = [f"{i // 6},{i},{int(i % 6 == i // 6 % 4)}" for i in range(ROWS)]
    plain(tmp_path, content=("\n".join(["query,place,clicked", *rows]) + "\n").encode())
    words = ("data.target=clicked", "data.metric=ndcg@3", "data.split=group:query")
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", *words)
    dummy, *others = stand.problem.baselines()
    assert all(0 <= stand.score(program.code)[1].metric <= 1 for program in (dummy, *others))
    stand.close()


def without(tmp_path, kind: str, *words: str) -> Stand:
    """On data that are split by `a`, with the first seed that hides no row of that kind."""
    for seed in range(20):
        options = (f"problem.options.split_seed={seed}", "data.split=group:a", "data.target=kind")
        stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", *options, *words)
        if kind not in column(stand.problem.hidden_files[0], "kind"):
            return stand
        stand.close()
    raise AssertionError(f"every seed hides rows of {kind}")


@pytest.mark.parametrize(("rare", "usual"), [("well", "sick"), ("0", "1")])
def test_the_second_class_counts_though_no_hidden_row_is_of_it(tmp_path, inline, rare, usual):
    """Two rows of 120 are of a class of which none is hidden. In sorted order `well` is the second, and 0 the first."""
    rows = [(i % 60, rare if i % 60 == 3 else usual) for i in range(ROWS)]
    plain(tmp_path, content=("a,b,kind\n" + "".join(f"{a},{i},{kind}\n" for i, (a, kind) in enumerate(rows))).encode())
    stand = without(tmp_path, rare, "data.metric=logloss")
    chance = 0.01 if rare > usual else 0.99
    verdict = stand.score(writes(f"for row in rows: row['kind'] = {chance}"))[1]
    stand.close()
    assert verdict.metric == pytest.approx(0.01005, abs=1e-4), "the rare class is rightly called unlikely"


def test_a_part_without_the_class_that_f1_counts_is_refused(tmp_path, inline):
    rows = [(i, int(i == 3)) for i in range(ROWS)]
    plain(tmp_path, content=("a,b,kind\n" + "".join(f"{i % 60},{i},{kind}\n" for i, kind in rows)).encode())
    with pytest.raises(ConfigError, match="cannot be scored: F1 is undefined: no row of the positive class"):
        without(tmp_path, "1", "data.metric=f1")


def test_a_class_called_like_the_column_of_ids_is_refused(tmp_path, inline):
    """A submission has a column for each class and one that names rows: no program could write it."""
    rows = "".join(f"{i},{i % 7},{['x', 'y', 'id'][i % 3]}\n" for i in range(ROWS))
    plain(tmp_path, content=f"id,a,rent\n{rows}".encode())
    assert made(tmp_path, "data.metric=accuracy")
    with pytest.raises(ConfigError, match="a class is called id, as the column is that names rows; rename one"):
        made(tmp_path, "data.metric=logloss")


@pytest.mark.parametrize(
    ("metric", "change", "score"),
    [("accuracy", "row['kind'] = ('other', '01', '02')[i % 3]", 1 / 3),
     ("accuracy", "row['kind'] = '01'", 1 / 2),
     ("logloss", "row['01'] = row['02'] = row['other'] = 0.5", 1.0986)],
)  # fmt: skip
def test_a_class_that_looks_like_a_number_is_a_word_among_words(tmp_path, inline, metric, change, score):
    """Of the classes 01, 02 and other the hidden rows have the first two: a program may hand in any of the three."""
    rows = [(i % 30, "other" if i % 30 == 3 else f"0{1 + i % 2}") for i in range(ROWS)]
    plain(tmp_path, content=("a,b,kind\n" + "".join(f"{a},{i},{kind}\n" for i, (a, kind) in enumerate(rows))).encode())
    stand = without(tmp_path, "other", f"data.metric={metric}")
    verdict = stand.score(writes(f"for i, row in enumerate(rows): {change}"))[1]
    add_labels(stand.problem.input_dir, tmp_path / "whole", stand.problem._ready().exam(), tmp_path / "none")
    stand.close()
    assert verdict.metric == pytest.approx(score, abs=0.25), verdict.message
    assert sorted(column(tmp_path / "whole" / "train.csv", "kind")) == sorted(kind for _, kind in rows)


def test_a_time_is_not_cut_in_two(tmp_path, inline):
    """14 flats a day: the day in which the border would lie goes to one side; one day of most rows cannot."""
    draw = random.Random(2)
    days = "".join(f"{draw.random():.3f},2024-01-{1 + i // 14:02},{draw.random():.3f}\n" for i in range(140))
    plain(tmp_path, content=f"a,day,rent\n{days}".encode())
    problem = made(tmp_path, "data.split=time:day")
    train, test = (pd.read_csv(problem.input_dir / f"{name}.csv")["day"] for name in ("train", "test"))
    assert train.max() < test.min() and problem.cautions == ()
    exam = json.loads((problem.input_dir.parent / "private" / "exam.json").read_text())
    parts = [set(test.iloc[exam["parts"][part]]) for part in ("validation", "final")]
    assert parts[0] and parts[1] and not parts[0] & parts[1]
    most = "".join(f"{draw.random():.3f},{2000 + (i > 9)},{draw.random():.3f}\n" for i in range(140))
    plain(tmp_path, content=f"a,day,rent\n{most}".encode())
    (doubt,) = made(tmp_path, "data.split=time:day").cautions
    assert "rows that are learned have the day of the oldest hidden rows" in doubt


@pytest.mark.parametrize("train", ["X_train.csv", "training_set_features.csv", "train_values.csv", "features.csv"])
def test_tables_are_found_by_what_they_are_called(tmp_path, inline, train):
    """The labels and the rows to predict lie beside them under the names that others give them."""
    labels = train.replace("X_", "y_").replace("features", "labels").replace("values", "labels")
    test = train.replace("training", "test").replace("train", "test") if "train" in train else f"test_{train}"
    head, *rows = [row.rsplit(",", 1) for row in flats().splitlines()]
    plain(tmp_path, train, "\n".join(row[0] for row in [head, *rows]).encode())
    plain(tmp_path, labels, "\n".join(f"{row[0].split(',')[0]},{row[1]}" for row in [head, *rows]).encode())
    plain(tmp_path, test, "\n".join([head[0], "G1,50.0,Öl 1", "G2,60.0,Öl 2"]).encode())
    plain(tmp_path, "submission_format.csv", b"flat,rent\nG1,0.0\nG2,0.0\n")
    problem = made(tmp_path)
    assert f"{train} is read as train.csv" in problem.note and f"{test} is read as test.csv" in problem.note
    assert f"rent of {labels} is joined by flat: {ROWS} of {ROWS} rows" in problem.note
    assert {"G1", "G2"} <= set(column(problem.input_dir / "test.csv", "flat"))
    assert sorted(p.name for p in problem.input_dir.iterdir()) == ["sample_submission.csv", "test.csv", "train.csv"]


@pytest.mark.parametrize("split", ["random", "distinct"])
def test_lists_in_cells_are_text(tmp_path, inline, split):
    lines = [json.dumps({"a": [i % 60, "x"], "b": {"k": i % 60}, "rent": i * 1.5}) for i in range(120)]
    plain(tmp_path, "train.jsonl", "\n".join(lines).encode())
    problem = made(tmp_path, f"data.split={split}")
    assert column(problem.input_dir / "train.csv", "a")[0].startswith("[")
    assert json.loads(column(problem.input_dir / "train.csv", "b")[0]).keys() == {"k"}


def numbers(path: Path, *names: str) -> list[list[float]]:
    return [[*map(float, column(path, name))] for name in names]


@pytest.mark.parametrize("split", ["random", "time:a"])
def test_of_a_table_sorted_by_its_target_no_place_of_a_hidden_row_can_be_drawn_again(tmp_path, inline, split):
    """Programs know our code and the seed: whatever these alone decide they can undo."""
    rows = "".join(f"{i * 7 % 13},{i / 1000},{i}\n" for i in range(200))
    plain(tmp_path, content=f"a,b,rent\n{rows}".encode())
    shown = made(tmp_path, f"data.split={split}").input_dir
    ids, rents = numbers(shown / "train.csv", "row_id", "rent")
    assert rents == sorted(rents) and sum(a < b for a, b in itertools.pairwise(ids)) < 0.7 * len(ids)
    ids, hidden, days = numbers(shown / "test.csv", "row_id", "b", "a")
    drawn = np.random.default_rng(0).permutation(200)
    assert sum(drawn[round(1000 * place)] == name for place, name in zip(hidden, ids, strict=True)) < 10
    if split == "random":
        again = pd.Series(sorted(hidden)).sample(frac=1, random_state=0).tolist()
        assert sum(one == other for one, other in zip(again, hidden, strict=True)) < 10
    else:
        of_a_day = [one < other for (one, day), (other, next_) in itertools.pairwise(zip(hidden, days, strict=True))
                    if day == next_]  # fmt: skip
        assert days == sorted(days) and 0.2 < sum(of_a_day) / len(of_a_day) < 0.8


# ------------------------------------------------------------ metrics


def three_kinds(rows: int = 240) -> bytes:
    draw = random.Random(5)
    lines = ["a,b,shop,kind"]
    for i in range(rows):
        kind = draw.randrange(3)
        lines.append(f"{kind + draw.gauss(0, 0.7):.3f},{draw.random():.3f},{i % 12},{'rgb'[kind]}")
    return ("\n".join(lines) + "\n").encode()


def guessed(seed: int) -> str:
    """A program that sees how near `a` is to each class, through a noise of its own."""
    return writes(f"""
import random
draw = random.Random({seed})
for row, given in zip(rows, csv.DictReader(open('input/test.csv')), strict=True):
    seen = float(given['a']) + draw.gauss(0, 0.8)
    near = {{name: math.exp(-(seen - place) ** 2) for place, name in enumerate('rgb')}}
    row.update({{name: one / sum(near.values()) for name, one in near.items()}})
""")


@pytest.mark.long
@pytest.mark.parametrize("metric", ["brier", "multi-class log loss", "map@2"])
def test_several_classes_are_searched_from_end_to_end(tmp_path, inline, metric):
    plain(tmp_path, content=three_kinds(600))
    plain(tmp_path, "test.csv", b"a,b,shop\n1.5,0.5,3\n0.1,0.2,4\n")
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=kind", f"data.metric={metric}")
    try:
        verdicts = [(line.name, *stand.score(line.code)) for line in stand.problem.baselines()]
        assert all(verdict.failure is None for _, _, verdict in verdicts), verdicts
        (_, _, dummy), (_, node, linear), _ = verdicts
        better = linear.metric < dummy.metric if stand.problem.lower_is_better else linear.metric > dummy.metric
        assert better, (dummy.metric, linear.metric)
        (final,) = stand.evaluator.final([node])
        assert final.interval[0] <= final.metric <= final.interval[1]
        noisy = [stand.score(guessed(seed)) for seed in range(5)]
        blend = stand.evaluator.ensemble([one for one, _ in noisy])
        assert blend is not None, "their errors have nothing to do with each other"
        blended = stand.score(blend[0])[1].metric  # a column for each class, all of them combined
        alone = [verdict.metric for _, verdict in noisy]
        assert blended < min(alone) if stand.problem.lower_is_better else blended > max(alone)
        dull, before = stand.score(guessed(1).replace("math.exp(-", "math.exp(-0.3 * "))
        mended = stand.evaluator.ensemble([dull.model_copy(update={"metric_value": before.metric})])
        assert bool(mended) == (metric != "map@2"), "an order is as sure as it is"
        if mended:
            after = stand.score(mended[0])[1].metric
            assert after < before.metric and f"{after:.6g}" in mended[2]
        stand.problem.refit(node, tmp_path / "best", stand.jobs, Limits())  # labels lie in one column, not in those
        assert (tmp_path / "best" / "solution.py").read_text() == node.code
    finally:
        stand.close()


OWN = """
import numpy as np

def profit(truth, predicted):
    return float(np.mean(np.where(predicted > truth, -1, predicted / 1000)))

def broken(truth, predicted):
    raise KeyError("no such thing")

def error(truth, predicted):
    return float(np.abs(truth - predicted).mean())

def raising(truth, predicted):
    if not set(predicted) <= set(truth):
        raise RuntimeError("no such rent")
    return error(truth, predicted)

def many(truth, predicted):
    if len(truth) < 100:
        raise RuntimeError("too few")
    return error(truth, predicted)

def late(truth, predicted):
    if (predicted == 7).all():
        raise RuntimeError("boom")
    return error(truth, predicted)

def words(truth, predicted):
    return "hello"

def same(truth, predicted):
    truth[:], predicted[:] = 0, 0  # copies: the grader's labels stay as they are
    return float(np.abs(truth - predicted).mean())
"""


def test_a_metric_of_ones_own_scores_out_of_the_programs_reach(tmp_path):
    plain(tmp_path)
    (tmp_path / "mine" / "profit.py").write_text(OWN)
    words = (f"data.metric={tmp_path / 'mine' / 'profit.py'}:profit", "problem.direction=max")
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=rent", *words)
    try:
        assert not (stand.problem.input_dir / "profit.py").exists()
        node, verdict = stand.score(writes("for place, row in enumerate(rows): row['rent'] = 1 + place % 3"))
        assert 0 < verdict.metric <= 0.003 and verdict.source == "verified" and stand.problem.unit == "profit"
        assert stand.evaluator.final([node])[0].interval is not None
    finally:
        stand.close()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("{own}:broken problem.direction=max", "broken fails on the true labels: raised KeyError"),
        ("{own}:error problem.direction=max", "say --problem.direction=min"),
        ("{own}:nothing problem.direction=max", "cannot be loaded: the file has no function nothing"),
        ("{own}:raising problem.direction=min", "fails on one prediction for every row: raised RuntimeError: no such"),
        ("{own}:many problem.direction=min", "fails on a part of the rows: raised RuntimeError: too few"),
        ("{own}:words problem.direction=min", "fails on the true labels: gives no number but 'hello'"),
        ("{own}:same problem.direction=min", "same is 0 for the true labels, for shuffled ones and for one prediction"),
        ("{own}:error", "say which way is better: --problem.direction=min or max"),
        ("/nowhere/m.py:f problem.direction=max", "no such file"),
    ],
)
def test_a_metric_of_ones_own_that_cannot_be_used_is_refused(tmp_path, inline, words, told):
    plain(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    with pytest.raises(ConfigError) as caught:
        made(tmp_path, *f"data.metric={words}".format(own=tmp_path / "own.py").split())
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_a_metric_that_raises_on_predictions_is_named_and_a_baseline_ends_the_search(tmp_path):
    plain(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    own = f"{tmp_path / 'own.py'}:late"
    stand = Stand(
        tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=rent", f"data.metric={own}", "problem.direction=min"
    )
    try:
        program = writes("for row in rows: row['rent'] = 7")
        _, verdict = stand.score(program)
        assert verdict.failure == "eval_error" and f"{own} raised RuntimeError: boom" in verdict.message
        baseline = stand.node(program).model_copy(update={"operator": "baseline", "name": "seven"})
        with pytest.raises(
            ConfigError, match=r"late raised RuntimeError: boom \(on the predictions of the baseline seven"
        ):
            stand.evaluator.evaluate([baseline])
    finally:
        stand.close()


def test_a_metric_of_ones_own_is_code_that_a_strangers_run_may_not_name_unasked():
    assert code_named({"data": {"metric": "/home/a/m.py:profit"}}) == {"data.metric": "/home/a/m.py:profit"}
    assert code_named({"data": {"metric": "map@5"}}) == {}


@pytest.mark.long
def test_the_command_line_searches_a_packed_semicolon_table(tmp_path):
    plain(tmp_path, "prices.csv.gz", gzip.compress(flats(";", ",").encode("cp1252")))
    command = [
        sys.executable, str(Path(__file__).parents[2] / "main.py"), f"--data.train={tmp_path}/mine/prices.csv.gz",
        "--data.target=rent", "--data.metric=spearman", "--search.max_steps=2", f"--project.dir={tmp_path}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "prices.csv.gz is read as train.csv (gzip, CP1252, ';' between columns, decimal commas)"
        in done.stderr + done.stdout
    )
    assert "best Spearman correlation" in done.stdout + done.stderr


# ------------------------------------------------------------ what one knows when one predicts


def rented(tmp_path) -> Path:
    """Bikes as Kaggle hands them out: the target is the sum of two columns that the test does not have."""
    draw = random.Random(0)
    rows = [(n, draw.randrange(24), draw.randrange(50), draw.randrange(200)) for n in range(300)]
    bikes = pd.DataFrame(
        [(*row, row[2] + row[3]) for row in rows], columns=["id", "hour", "casual", "registered", "rent"]
    )
    (tmp_path / "mine").mkdir()
    bikes[:240].to_csv(tmp_path / "mine" / "train.csv", index=False)
    bikes.loc[240:, ["id", "hour"]].to_csv(tmp_path / "mine" / "test.csv", index=False)
    return tmp_path / "mine"


def test_no_score_comes_from_a_column_that_the_users_test_lacks(tmp_path, inline):
    """Ridge added the two up and had an error of 0.2; on the user's own rows it had that of a constant."""
    stand = Stand(tmp_path, f"data.dir={rented(tmp_path)}", "data.target=rent", "data.metric=mae")
    try:
        assert column(stand.problem.input_dir / "test.csv", "hour")
        assert list(pd.read_csv(stand.problem.input_dir / "test.csv")) == ["id", "hour"]
        assert "test.csv has no column casual, registered: nor have the rows that scores are of" in stand.problem.note
        dummy, ridge, _ = (stand.score(one.code)[1].metric for one in stand.problem.baselines())
        assert ridge > 0.8 * dummy
    finally:
        stand.close()


def test_a_test_of_a_head_alone_says_what_one_knows_too(tmp_path, inline):
    test = rented(tmp_path) / "test.csv"
    test.write_text("id,hour\n")
    problem = made(tmp_path)
    assert list(pd.read_csv(problem.input_dir / "test.csv")) == ["id", "hour"]
    assert "test.csv has no column casual, registered" in problem.note
    test.write_text("colour\n")
    with pytest.raises(ConfigError, match=r"test\.csv shares no column with train\.csv; it has colour"):
        made(tmp_path)


def test_a_copy_of_the_target_that_the_users_test_lacks_is_no_leak(tmp_path, inline):
    table = rented(tmp_path) / "train.csv"
    pd.read_csv(table).assign(twice=lambda bikes: bikes["rent"] * 2).to_csv(table, index=False)
    assert "possible leak" not in made(tmp_path).note


def test_a_split_and_a_refit_know_what_the_users_test_lacks(tmp_path, inline):
    folder = rented(tmp_path)
    for path in (folder / "train.csv", folder / "test.csv"):
        pd.read_csv(path).assign(_key=lambda bikes: range(len(bikes))).to_csv(path, index=False)
    problem = made(tmp_path, "data.split=group:casual", f"data.dir={folder}")
    public, private = problem.input_dir, problem.input_dir.parent / "private"
    shown, answers = pd.read_csv(public / "train.csv"), pd.read_csv(private / "answers.csv")
    assert not set(shown["casual"]) & set(answers["casual"])
    add_labels(public, tmp_path / "whole", problem._ready().exam(), private / "user_rows.json")
    whole = pd.read_csv(tmp_path / "whole" / "train.csv")
    assert len(whole) == 240 and (whole["casual"] + whole["registered"] == whole["rent"]).all()
    assert sorted(whole["_key"]) == list(range(240)), "a column of the user's, whatever it is called"


# ------------------------------------------------------------ columns that differ by case or blanks alone


def test_columns_of_a_test_that_differ_by_case_and_blanks_are_the_same(tmp_path, inline):
    """They were left out: ridge knew nothing of the size."""
    folder = plain(tmp_path).parent
    flats = pd.read_csv(folder / "train.csv")
    flats = flats.assign(rent=10 * flats["size"])
    flats[:90].to_csv(folder / "train.csv", index=False)
    test = flats[90:].rename(columns={"flat": "Flat", "size": " SIZE "})
    test.rename(columns={"rent": "RENT"}).to_csv(folder / "test.csv", index=False)
    pd.DataFrame({"FLAT": test["Flat"], "Rent": 1.0}).to_csv(folder / "gender_guess.csv", index=False)
    problem = made(tmp_path)
    assert "test.csv writes flat as Flat, size as ' SIZE ', rent as RENT: taken for the same" in problem.note
    assert "gender_guess.csv is taken for the sample submission" in problem.note
    known = pd.read_csv(problem.input_dir / "test.csv")
    assert list(known) == HEAD[:3] and known["size"].notna().all() and set(flats["flat"][90:]) <= set(known["flat"])
    own = json.loads((problem.input_dir.parent / "private" / "user_rows.json").read_text())
    assert own["source"] == "Flat" and own["columns"] == [["FLAT", "flat", ""], ["Rent", "rent", ""]]
    assert list(own["rows"].values()) == list(flats["flat"][90:])


@pytest.mark.parametrize("names", [["Size", "SIZE"], ["size", "Size"]])
def test_a_column_that_may_mean_two_means_none(tmp_path, inline, names):
    folder = plain(tmp_path).parent
    flats = pd.read_csv(folder / "train.csv")
    test = pd.DataFrame({"flat": flats["flat"] + "x", names[0]: 1.0, names[1]: flats["size"]})
    test.to_csv(folder / "test.csv", index=False)
    note = made(tmp_path).note
    assert "taken for the same" not in note and "left out of test.csv" in note


# ------------------------------------------------------------ rows that are longer than their head


def longer(tail: str, head: str = "flat,size,rent") -> bytes:
    return f"{head}\n{''.join(f'F{n},{n % 13},{n * 10}{tail}' + chr(10) for n in range(ROWS))}".encode()


@pytest.mark.parametrize("tail", [",", ", ,", ",,"])
@pytest.mark.filterwarnings("error")
def test_marks_behind_the_last_column_move_no_column(tmp_path, inline, tail):
    """pandas took the flats for names of rows, so that `rent` was empty and `size` was the rent; told
    otherwise it warns of lost data in its own words."""
    plain(tmp_path, content=longer(tail))
    made(tmp_path, "data.target=size", "data.metric=accuracy")  # its cells are read as they stand, too
    problem = made(tmp_path)
    shown = pd.read_csv(problem.input_dir / "train.csv")
    assert (
        list(shown)[-3:] == ["flat", "size", "rent"] and (shown["size"] == shown["flat"].str[1:].astype(int) % 13).all()
    )
    assert "train.csv is read (without the empty fields behind its last column)" in problem.note


def test_a_late_row_with_something_behind_the_last_column_is_refused(tmp_path, inline):
    """Beyond the lines that are looked at: pandas passed over the 77."""
    plain(tmp_path, content=longer(",").replace(b"F110,6,1100,", b"F110,6,1100,77"))
    with pytest.raises(ConfigError, match="its row 111 goes on behind the last column that its head names: name each"):
        made(tmp_path)


def test_names_of_rows_as_r_writes_them_are_told(tmp_path, inline):
    plain(tmp_path, content=longer("", head="size,rent"))
    problem = made(tmp_path)
    assert "names of rows before the first column" in problem.note
    assert list(pd.read_csv(problem.input_dir / "train.csv")) == ["row_id", "size", "rent"]


@pytest.mark.parametrize("content", [longer(",7,8"), longer("").replace(b",0\n", b",0,7\n")])
def test_a_row_with_fields_that_no_column_is_named_for_is_refused(tmp_path, inline, content):
    plain(tmp_path, content=content)
    with pytest.raises(ConfigError, match=r"its first row has \d fields, but its head names 3 columns"):
        made(tmp_path)


def test_the_encoding_of_tables_is_the_users_to_say(tmp_path, inline):
    """Vietnamese is in none of the pages that are told by their letters."""
    text = flats().replace("straße", "đương").replace("Öl", "Câu")
    plain(tmp_path, content=text.encode("cp1258"))
    assert "where letters are wrong: --data.encoding=NAME" in made(tmp_path).note
    problem = made(tmp_path, "data.encoding=cp1258")
    (tmp_path / "other").mkdir()
    plain(tmp_path / "other", content=text.encode())
    usual = made(tmp_path / "other", folder="mine")
    assert cells(problem.input_dir / "train.csv") == cells(usual.input_dir / "train.csv")
    assert "đ" in problem.input_dir.joinpath("train.csv").read_text().splitlines()[0] and "letters" not in problem.note
    with pytest.raises(ConfigError, match=r"data\.encoding=ascii: '.*train\.csv' is not written so: ordinal not in"):
        made(tmp_path, "data.encoding=ascii")
    with pytest.raises(ConfigError, match=r"data\.encoding='no-such': .*such as cp1250"):
        made(tmp_path, "data.encoding=no-such")


def test_dates_of_two_meanings_among_others_are_told(tmp_path, inline):
    """Nobody knows whether they are day first: programs see words. A few words among dates of one format do not
    matter."""
    rows = flats().splitlines()
    days = [f"2024-03-{i % 28 + 1:02}" if i % 3 else f"{i % 12 + 1}.10.2023" for i in range(ROWS)]
    once = ["2024-03-01" if i else "soon" for i in range(ROWS)]
    lines = [f"{line},{day},{one}" for line, day, one in zip(rows[1:], days, once, strict=True)]
    plain(tmp_path, content="\n".join([f"{rows[0]},listed,since", *lines]).encode())
    told = made(tmp_path).note
    assert "listed holds dates written in several ways (2024-03-02 and 1.10.2023), and is read as words" in told
    assert "since" not in told


WHEN = pd.Series(pd.date_range("2021-03-05", periods=ROWS, freq="5D"))
WAYS = {
    "%d.%m.%Y and ISO": (lambda day: f"{day:%d.%m.%Y}" if day.day % 3 else f"{day:%Y-%m-%d}", "as 2021-03-05"),
    "month first, with and without hours": (
        lambda day: f"{day.month}/{day.day}/{day.year}" + " 0:00" * (day.day % 2),
        "as 2021-03-10",
    ),
    "French": (lambda day: f"{day.day} {FRENCH[day.month - 1]} {day.year}", "'5 mars 2021' as 2021-03-05"),
    "Japanese": (lambda day: f"{day.year}年{day.month}月{day.day}日", "'2021年3月5日' as 2021-03-05"),
    "with a weekday": (lambda day: f"{day:%A, %B} {day.day}th, {day:%Y}", "'Friday, March 5th, 2021' as 2021-03-05"),
    "words for no date": (lambda day: f"{day:%Y-%m-%d}" if day.day != 10 else "k.A.", "'k.A.' as missing"),
}
FRENCH = ("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "sept.", "octobre", "nov.", "déc.")


@pytest.mark.parametrize("way", WAYS)
def test_dates_in_several_ways_or_languages_are_dates_for_programs(tmp_path, inline, way):
    """Each row's own date, which orders rows as well."""
    written, told = WHEN.map(WAYS[way][0]), WAYS[way][1]
    rows = [f"{number},{number % 7},{number % 11}.5" for number in range(ROWS)]
    table = pd.DataFrame([row.split(",") for row in rows], columns=["n", "size", "rent"]).assign(day=written)
    plain(tmp_path, content=table.to_csv(index=False).encode())
    by_time = [] if way == "words for no date" else ["data.split=time:day"]
    problem = made(tmp_path, *by_time)
    assert "dates are written as ISO 8601: day (" in problem.note and told in problem.note
    (day,) = [c for c in problem.prompt_extras()["data"]["columns"] if c["name"] == "day"]
    assert (day["kind"], day.get("format")) == ("date", None)
    parts = [pd.read_csv(problem.input_dir / f"{name}.csv") for name in ("train", "test")]
    for part in parts:
        wanted = part["n"].map(WHEN.where(written != "k.A."))
        assert (pd.to_datetime(part["day"]) == wanted).sum() == wanted.notna().sum() == part["day"].notna().sum()
    assert way == "words for no date" or parts[0]["n"].max() < parts[1]["n"].min()
