"""`export-best --notebook`: its cells run where Kaggle's folders are, with pandas and scikit-learn alone."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import Cli
from support.notebook_cells import run_cells

from problems.competition.notebook import _FIND

pytestmark = pytest.mark.long


def kaggle_data(folder: Path) -> Path:
    """A competition as Kaggle hands it out; its training table is packed, with a title, semicolons, amounts, no ids;
    its test writes columns otherwise."""
    folder.mkdir()
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"area": draw.gamma(3, 30, 240).round(1), "town": draw.choice(["Ulm", "Bonn"], 240)})
    frame["rent"] = (9 * frame["area"] + 100 * (frame["town"] == "Bonn") + draw.normal(0, 5, 240)).round(2)
    frame.loc[5, "rent"] = None
    frame["floor"] = [["?", "n.a.", "3", "4.5"][i % 4] for i in range(240)]
    frame["visits"] = [["1.5K", "980", "2M", "-"][i % 4] for i in range(240)]
    days = pd.date_range("2021-01-01", periods=240)
    months = ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August"]
    written = [f"{day.day}. {months[day.month - 1]} {day.year}" if day.day % 2 else f"{day:%d.%m.%Y}" for day in days]
    frame["free from"] = written
    frame["area"] = [f"{area} m2" for area in frame["area"]]
    frame.loc[[7, 207], "area"] = "k. A."
    euros = frame["rent"].map("{:,.2f} €".format, na_action="ignore").str.translate(str.maketrans(",.", ".,"))
    table = frame.assign(rent=euros)[:200].to_csv(index=False, sep=";")
    (folder / "train.csv.gz").write_bytes(gzip.compress(f"Rents; May 2024\n\n{table}".encode()))
    test = frame[200:].drop(columns="rent").reset_index(drop=True)
    test.insert(0, "flat", [f"F{n}" for n in range(40)])
    test.rename(columns={"area": "Area", "town": "town "}).to_csv(folder / "test.csv", index=False)
    test[["flat"]].assign(rent=500.0).to_csv(folder / "sample_submission.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """(the notebook, the folder of the data)"""
    folder = tmp_path_factory.mktemp("kaggle")
    data = kaggle_data(folder / "data")
    (folder / "project").mkdir()
    cli = Cli(folder / "project")
    words = [f"--data.dir={data}", "--data.target=rent", "--data.metric=rmse", "--search.max_steps=1"]
    ended = cli(*words, timeout=280)
    assert ended.code == 0, ended.err
    ended = cli("export-best", "latest", "--notebook", "--out=best")
    assert ended.code == 0, ended.err
    yield folder / "project" / "best" / "solution.ipynb", data
    cli.close()


def check(made: Path) -> None:
    submission, truth = pd.read_csv(made), np.random.default_rng(0)
    area, town = truth.gamma(3, 30, 240).round(1)[200:], truth.choice(["Ulm", "Bonn"], 240)[200:]
    assert list(submission) == ["flat", "rent"] and list(submission["flat"]) == [f"F{n}" for n in range(40)]
    wanted = 9 * area + 100 * (town == "Bonn")
    assert np.sqrt(np.mean((submission["rent"] - wanted) ** 2)) < 0.5 * wanted.std()


@pytest.mark.timeout(400)
def test_its_cells_run_as_a_program_on_kaggles_folders(exported: tuple[Path, Path], tmp_path: Path) -> None:
    page, data = exported
    done = run_cells(page, data, tmp_path)
    assert done.returncode == 0, done.stderr
    check(tmp_path / "submission.csv")


@pytest.mark.timeout(400)
@pytest.mark.parametrize("place", ["kaggle/input/rents", "kaggle/input/competitions/rents", "beside"])
def test_the_data_are_found_by_their_files_whatever_their_folder_is_called(
    exported: tuple[Path, Path], tmp_path: Path, place: str
) -> None:
    page, data = exported
    (tmp_path / "kaggle" / "input" / "another").mkdir(parents=True)
    (tmp_path / "kaggle" / "input" / "another" / "test.csv").write_text("a\n1\n")
    shutil.copytree(data, tmp_path / place)
    moved = tmp_path / "page.ipynb"
    moved.write_text(page.read_text().replace('/kaggle/input\\"', f'{tmp_path}/kaggle/input\\"'))
    done = run_cells(moved, None, tmp_path / "work", at=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"data: {tmp_path / place}" in done.stdout
    check(tmp_path / "work" / "submission.csv")


@pytest.mark.timeout(400)
def test_it_runs_again_and_again_where_the_data_lie_beside_it(exported: tuple[Path, Path], tmp_path: Path) -> None:
    """Its own `input/` of the run before has files of the same names; in a notebook the same process runs it again."""
    page, data = exported
    shutil.copytree(data, tmp_path / "data")
    for times in (1, 2, 1):
        done = run_cells(page, None, None, at=tmp_path, times=times)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(f"data: {tmp_path / 'data'}\n") == times
        check(tmp_path / "kaggle_working" / "submission.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "kaggle_working"]


def test_a_notebook_of_the_users_own_is_not_written_over(exported: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "solution.ipynb").write_text("my own\n")
    ended = Cli(exported[0].parents[1]).here("export-best", "latest", "--notebook", f"--out={tmp_path}")
    assert ended.code == 2 and "what lies there as solution.ipynb is of no export" in ended.err
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"solution.ipynb": "my own\n"}


def test_data_that_are_not_there_are_named(exported: tuple[Path, Path], tmp_path: Path) -> None:
    done = run_cells(exported[0], None, tmp_path / "work", at=tmp_path)
    assert "has the files train.csv.gz, test.csv, sample_submission.csv: add the data" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "said"),
    [("made[:-1]", "KeyError"), ("made.assign(rent=float('nan'))", "values are missing"),
     ("made.rename(columns={'rent': 'Rent'})", "the program's are ['row_id', 'rent']")],
)  # fmt: skip
def test_a_submission_that_does_not_fit_the_sample_is_not_handed_in(
    exported: tuple[Path, Path], tmp_path: Path, rows: str, said: str
) -> None:
    page, data = exported
    program = "import pandas as pd\nmade = pd.read_csv('input/sample_submission.csv')\n"
    done = run_cells(page, data, tmp_path, instead=f"{program}{rows}.to_csv('submission/submission.csv', index=False)")
    assert done.returncode != 0 and said in done.stderr and not (tmp_path / "submission.csv").exists()


@pytest.mark.timeout(400)
def test_it_runs_as_a_notebook(exported: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    page, data = exported
    monkeypatch.setenv("SWARM_EVO_DATA", str(data))
    monkeypatch.setenv("SWARM_EVO_WORKING", str(tmp_path))
    nbclient.NotebookClient(nbformat.read(page, as_version=4), timeout=200).execute()
    check(tmp_path / "submission.csv")


def test_other_problems_have_no_notebook(cli: Cli, finished: object) -> None:
    ended = cli.here("export-best", "latest", "--notebook")
    assert ended.code == 2 and "--notebook: only in competitions" in ended.err


@pytest.mark.parametrize("name", ["train[1].csv", "a*b.csv", "what?.csv"])
def test_a_table_is_found_whatever_marks_its_name_holds(tmp_path: Path, name: str):
    """A browser names the second download `train[1].csv`, which was taken for a pattern."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).touch()
    (tmp_path / "find.py").write_text(_FIND.format(files=[name]))
    ran = subprocess.run([sys.executable, "find.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == f"data: {tmp_path / 'data'}", ran.stderr
