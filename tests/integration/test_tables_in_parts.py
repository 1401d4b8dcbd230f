"""A table in several files, a month each: as if it had been one."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest
from support.competition_stand import column
from test_own_tables import cells, flats

from problems.competition.problem import build
from problems.competition.scoring_files import scoring_files
from problems.competition.source import find_source
from runs.stored.named_files import missing_files
from utils.config import load_config
from utils.errors import ConfigError

SCORED = ("data.target=rent", "data.metric=mae")
CUTS = (0, 50, 60, 120)


def parts(folder: Path, names: list[str], text: str = "") -> Path:
    """The rows of a table in files of these names, in their order."""
    head, *rows = (text or flats()).splitlines()
    folder.mkdir(parents=True, exist_ok=True)
    for name, start, end in zip(names, CUTS, CUTS[1:], strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        content = "\n".join([head, *rows[start:end]]).encode() + b"\n"
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return folder


def made(tmp_path: Path, *words: str):
    problem = build(load_config(None, [f"data.dir={tmp_path / 'mine'}", *SCORED, *words]), tmp_path)
    problem.prepare()
    return problem


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        from support import competition_stand

        patch.setattr("problems.competition.prepared.run_trusted", competition_stand.prepared_here)
        folder = tmp_path_factory.mktemp("whole")
        (folder / "mine").mkdir()
        (folder / "mine" / "train.csv").write_text(flats())
        return made(folder)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["train_2021.csv", "train_2022.csv", "train_2023.csv"], ()),
        (["2021-12.csv", "2022-1.csv", "2022-2.csv.gz"], ("data.train=202*",)),
        (["train/part-0.csv", "train/part-1.csv", "train/part-2.csv"], ()),
        (["a.csv", "b.csv", "c.csv"], ("data.train=*.csv",)),
        (["z.csv", "b.csv", "a.csv"], ("data.train='z.csv, b.csv,a.csv'",)),
        (["months/a.csv", "months/b.csv", "months/more/c.csv"], ("data.train=**/*.csv",)),
    ],
)
def test_a_table_in_files_is_read_as_the_one_that_they_make(tmp_path, inline, whole, names, words):
    parts(tmp_path / "mine", names)
    problem = made(tmp_path, *words)
    for table in ("train.csv", "test.csv"):
        assert cells(problem.input_dir / table) == cells(whole.input_dir / table)
    first, last = Path(names[0]).name, Path(names[-1]).name
    assert f"3 files make train.csv, 120 rows: {first} … {last}" in problem.note
    shown = sorted(path.name for path in problem.input_dir.rglob("*.csv"))
    assert shown == ["sample_submission.csv", "test.csv", "train.csv"]


def test_a_folder_that_is_called_as_a_pattern_is_none(tmp_path, inline):
    """Where `data [2023]` was taken for a pattern none of its files was found."""
    parts(tmp_path / "data [2023]", ["a.csv", "b.csv", "c.csv"])
    problem = made(tmp_path, f"data.dir={tmp_path / 'data [2023]'}", "data.train=*.csv")
    assert "3 files make train.csv, 120 rows: a.csv … c.csv" in problem.note


def test_each_file_is_read_as_it_is_written(tmp_path, inline, whole):
    folder = parts(tmp_path / "mine", ["a.csv", "b.csv", "c.csv"])
    text = (folder / "b.csv").read_text()
    columns = [line.split(",") for line in text.splitlines()]
    turned = "\n".join(";".join([row[3], *row[:3]]) for row in columns) + "\n"
    (folder / "b.csv").write_bytes(turned.encode("cp1252"))
    problem = made(tmp_path, f"data.train={folder}/*.csv")
    assert cells(problem.input_dir / "train.csv") == cells(whole.input_dir / "train.csv")
    assert "(CP1252, ';' between columns)" in problem.note


def test_rows_to_predict_may_lie_in_files_too_and_keep_their_names(tmp_path, inline):
    folder = parts(tmp_path / "mine", ["train_1.csv", "train_2.csv", "train_3.csv"])
    for number in (1, 2):
        rows = [f"00{number}{i},{30 + i}.5,Öl 1\n" for i in range(4)]
        (folder / f"test_{number}.csv").write_text("flat,size,straße\n" + "".join(rows))
    problem = made(tmp_path)
    assert "2 files make test.csv, 8 rows: test_1.csv … test_2.csv" in problem.note
    assert len(column(problem.input_dir / "test.csv", "flat")) == 36 + 8
    (kept,) = (tmp_path / "workspaces" / ".prepared").glob("*/private/user_rows.json")
    assert list(json.loads(kept.read_text())["rows"].values()) == [f"00{n}{i}" for n in (1, 2) for i in range(4)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace("rent", "hire"), "data.train: 'b.csv' lacks rent and has hire besides, other than"),
        (lambda text: text.replace(",", ";").replace(".", ","), "'b.csv' has decimal commas and 'a.csv' points"),
        (lambda text: text.replace("size", "rent"), "'b.csv' has several columns called 'rent'; rename them"),
        (lambda text: "", "b.csv' is empty"),
    ],
)
def test_files_that_are_no_one_table_are_refused_in_a_line(tmp_path, inline, change, told):
    folder = parts(tmp_path / "mine", ["a.csv", "b.csv", "c.csv"])
    (folder / "b.csv").write_text(change((folder / "b.csv").read_text()))
    with pytest.raises(ConfigError) as refused:
        made(tmp_path, "data.train=?.csv")
    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_a_pattern_that_nothing_matches_is_refused_and_is_a_file_that_is_missing(tmp_path):
    folder = parts(tmp_path / "mine", ["a.csv", "b.csv", "c.csv"])
    with pytest.raises(ConfigError, match=r"data\.train=2023-\*\.csv: no such file in"):
        made(tmp_path, "data.train=2023-*.csv")
    named = {"data": {"dir": str(folder), "train": "?.csv"}}
    assert missing_files(named) == []
    for path in folder.iterdir():
        path.unlink()
    assert missing_files(named) == [("data.train", "?.csv")]


def test_a_file_that_comes_later_changes_what_scores_a_run(tmp_path, inline):
    folder = parts(tmp_path / "mine", ["train_1.csv", "train_2.csv", "train_3.csv"])

    def files():
        return scoring_files(find_source(load_config(None, [f"data.dir={folder}", *SCORED])))

    before = files()
    assert list(before) == ["data.train/train_1.csv", "data.train/train_2.csv", "data.train/train_3.csv"]
    (folder / "train_4.csv").write_text(flats())
    assert set(files()) - set(before) == {"data.train/train_4.csv"}


def test_files_of_a_folder_called_test_beside_a_table_are_not_joined(tmp_path, inline):
    """They may be a recording for each row: only where training is in parts, too, are they the parts of one table."""
    folder = parts(tmp_path / "mine", ["test/seg_1.csv", "test/seg_2.csv"])
    (folder / "train.csv").write_text(flats())
    assert "files make" not in made(tmp_path).note


def test_parquet_in_a_folder_keeps_its_types(tmp_path, inline):
    pytest.importorskip("pyarrow")
    folder = parts(tmp_path / "mine", ["train.parquet/a.csv", "train.parquet/b.csv"]) / "train.parquet"
    for number, path in enumerate(sorted(folder.glob("*.csv"))):
        table = pd.read_csv(path)
        table["flat"] = [f"00{i}" for i in table.index + 100 * number]
        table.to_parquet(folder / f"part-{number:05}-3c8f1111-aaaa-bbbb-cccc-{number:012}.snappy.parquet")
        path.unlink()
    (folder / "_SUCCESS").touch()
    problem = made(tmp_path)
    assert "2 files make train.csv, 60 rows" in problem.note
    assert set(pd.read_csv(problem.input_dir / "train.csv", dtype=str)["flat"].str[:2]) == {"00"}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("data.train=mine/a.csv",), ["a.csv"]),
        (("data.dir=mine/a.csv",), ["a.csv"]),
        (("data.train=mine/**/*.csv",), ["1-a.csv", "a.csv", "c.csv"]),
    ],
)
def test_files_that_nothing_is_scored_by_are_shown_as_they_are(tmp_path, inline, monkeypatch, words, shown):
    """A table by itself, and no folder, ended the preparation."""
    parts(tmp_path / "mine", ["a.csv", "b/a.csv", "c.csv"])
    monkeypatch.chdir(tmp_path)
    options = ["problem.direction=min", "llm.code.provider=command", "llm.code.command=true", *words]
    problem = build(load_config(None, options), tmp_path)
    problem.prepare()
    assert sorted(path.name for path in problem.input_dir.iterdir()) == shown
    assert problem.claims_only and (problem.input_dir / "a.csv").read_bytes() == (tmp_path / "mine/a.csv").read_bytes()


def test_folders_below_a_table_tell_a_column(tmp_path, inline):
    """As Hive and Spark write it; a test of one file has the column, too, and folders above the user's tell none."""
    folder = tmp_path / "run=7" / "mine"
    names = ["train/store=3/part-0.csv", "train/store=12/part-0.csv", "train/store=a%20b/part-0.csv"]
    parts(folder, names)
    lines = flats().splitlines()
    (folder / "test" / "store=3").mkdir(parents=True)
    test = "\n".join(line.rpartition(",")[0].replace("F", "G") for line in lines[:6])
    (folder / "test" / "store=3" / "part-0.csv").write_text(f"{test}\n")
    problem = build(load_config(None, [f"data.dir={folder}", *SCORED]), tmp_path)
    problem.prepare()
    assert "3 files make train.csv, 120 rows: part-0.csv … part-0.csv, with store by their folders" in problem.note
    stores = {line.split(",")[0]: store for store, start, end in zip(("3", "12", "a b"), CUTS, CUTS[1:], strict=False)
              for line in lines[1:][start:end]}  # fmt: skip
    public = problem.input_dir
    for name in ("train.csv", "test.csv"):
        found = dict(zip(column(public / name, "flat"), column(public / name, "store"), strict=True))
        assert found and all(store == stores.get(flat, "3") for flat, store in found.items())
    assert not [*public.rglob("part-*")], "the files do not go along as they are"
    (folder / "train" / "part-9.csv").write_text("x")
    with pytest.raises(ConfigError):
        build(load_config(None, [f"data.dir={folder}", "data.train=**/part-*.csv", *SCORED]), tmp_path).prepare()
