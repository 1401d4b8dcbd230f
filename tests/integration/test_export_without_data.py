"""`export-best` of a run whose data, evaluator or plug-in is gone: what the run stored goes where it is wanted."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import Cli, toy_words


def rents(folder: Path, *, test: bool) -> Path:
    folder.mkdir()
    rows = [f"{n},{n % 7},{3 * n + 10 * (n % 7)}" for n in range(80)]
    (folder / "train.csv").write_text("\n".join(["id,area,rent", *rows]) + "\n")
    if test:
        (folder / "test.csv").write_text("id,area\n" + "".join(f"{n},{n % 7}\n" for n in range(80, 90)))
    return folder


def searched(folder: Path, *, test: bool) -> Cli:
    folder.mkdir(exist_ok=True)
    cli = Cli(folder)
    data = rents(folder / "data", test=test)
    words = [f"--data.dir={data}", "--data.target=rent", "--data.metric=rmse", "--search.max_steps=1"]
    ended = cli.here(*words, "--search.ensemble=false", "--logging.view=quiet")
    assert ended.code == 0, ended.err
    return cli


@pytest.fixture(scope="module")
def competition(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """A run whose data and prepared data are gone."""
    cli = searched(tmp_path_factory.mktemp("rents"), test=True)
    shutil.rmtree(cli.folder / "data")
    shutil.rmtree(cli.folder / "workspaces")
    yield cli
    cli.close()


def test_program_and_submission_are_exported_where_the_data_are_gone(competition: Cli, tmp_path: Path) -> None:
    ended = competition.here("export-best", "latest", "--out", str(tmp_path / "out"))
    assert ended.code == 0, ended.err
    stored = competition.run_dir / "best_solution"
    for name in ("solution.py", "submission.csv", "node.json"):
        assert (tmp_path / "out" / name).read_bytes() == (stored / name).read_bytes()
        assert str(tmp_path / "out" / name) in ended.out.splitlines()
    assert not (competition.folder / "workspaces").exists(), "nothing is prepared for a copy"
    again = competition.here("export-best", "latest")
    assert again.code == 0 and str(stored / "submission.csv") in again.out and "what the run stored" in again.line


@pytest.mark.parametrize("option", ["--refit", "--notebook"])
def test_what_needs_the_data_says_so_in_a_line(competition: Cli, tmp_path: Path, option: str) -> None:
    ended = competition.here("export-best", "latest", option, "--out", str(tmp_path / "out"))
    assert ended.code == 2 and f"export-best {option} needs what the run was made of" in ended.line
    assert str(competition.folder / "data") in ended.line and not (tmp_path / "out").exists()


def test_a_changed_solution_is_not_handed_out_as_the_runs(competition: Cli, tmp_path: Path) -> None:
    project = Cli(tmp_path / "project")
    shutil.copytree(competition.folder / "logs", project.folder / "logs")
    program = project.run_dir / "best_solution" / "solution.py"
    program.write_text(program.read_text() + "# mine\n")
    ended = project.here("export-best", "latest", "--out", str(tmp_path / "out"))
    assert ended.code == 2 and str(competition.folder / "data") in ended.line and not (tmp_path / "out").exists()


@pytest.mark.usefixtures("inline")
def test_without_a_test_table_a_refit_predicts_the_one_that_it_is_given(tmp_path: Path) -> None:
    """Rows that came after the search could not be predicted by its winner."""
    cli = searched(tmp_path / "project", test=False)
    for option, said in (("--refit", "nothing to refit for"), ("--notebook", "")):
        ended = cli.here("export-best", "latest", option, "--out", "out")
        assert ended.code == 2 and " one, --data.test=FILE" in ended.line and not (cli.folder / "out").exists()
        assert said in ended.line
    new = cli.folder / "new.csv"
    new.write_text("id,area\n" + "".join(f"{n},{n % 7}\n" for n in range(5)))  # names that training rows have, too
    words = ("export-best", "latest", "--refit", "--seeds=1", "--data.test=new.csv", "--out")
    ended = cli.here(*words, "out")
    assert ended.code == 0, ended.err
    rows = list(csv.DictReader((cli.folder / "out" / "submission.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == list("01234") and all(0 < float(row["rent"]) < 400 for row in rows)
    assert "new.csv is read as test.csv" in ended.err
    assert cli.show()["config"]["data"]["test"] is None, "the run is as it was"
    new.write_text("id,size\n1,2\n")
    ended = cli.here(*words, "other")
    assert ended.code == 2 and ended.line.endswith("new.csv: the column 'area' is missing")
    assert not (cli.folder / "other").exists()


def test_a_plug_in_or_an_evaluator_that_is_gone_is_not_needed_either(cli: Cli, tmp_path: Path) -> None:
    (cli.folder / "program.py").write_text("x = 1\n")
    (cli.folder / "evaluator.py").write_text("def evaluate(path):\n    return {'combined_score': 1.0}\n")
    words = ["problem.program=program.py", "problem.evaluator=evaluator.py", "search.max_steps=1"]
    assert cli.here("run", "--problem=script", *words, "logging.view=quiet").code == 0
    (cli.folder / "evaluator.py").unlink()
    ended = cli.here("export-best", "latest", "--out", str(tmp_path / "out"))
    assert ended.code == 0 and (tmp_path / "out" / "solution.py").is_file()
    assert (tmp_path / "out" / "evaluator.py").is_file(), "it lay beside the solution"


def test_what_is_refused_leaves_no_file(cli: Cli) -> None:
    assert cli.here(*toy_words(2)).code == 0
    for option in ("--refit", "--notebook", "--patch=p"):
        ended = cli.here("export-best", "latest", option, "--out", "out")
        assert ended.code == 2 and not (cli.folder / "out").exists(), option


@pytest.mark.usefixtures("inline")
def test_a_refit_writes_over_no_file_of_the_users_own(tmp_path: Path) -> None:
    """Of a winner whose outputs are gone the refit alone has a submission."""
    cli = searched(tmp_path / "project", test=True)
    scored = (cli.run_dir / "best_solution" / "submission.csv").read_bytes()
    ended = cli.here("export-best", "latest", "--refit", "--seeds=1")
    assert ended.code == 0 and "best_solution/ holds its predictions now" in ended.err, "it wrote over the scored ones"
    assert f"`export-best {cli.run_dir.name} --out DIR` writes the scored ones" in " ".join(ended.err.split())
    ended = cli.here("export-best", "latest", "--out=scored")
    assert ended.code == 0 and (cli.folder / "scored" / "submission.csv").read_bytes() == scored
    shutil.rmtree(cli.run_dir / "files")
    theirs = {"submission.csv": "my own\n", ".refit/notes.txt": "stays\n"}
    for name, text in theirs.items():
        (cli.folder / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (cli.folder / "mine" / name).write_text(text)
    ended = cli.here("export-best", "latest", "--refit", "--seeds=1", "--out=mine")
    assert ended.code == 2 and "what lies there as submission.csv is of no export" in ended.line
    there = [path for path in (cli.folder / "mine").rglob("*") if path.is_file()]
    assert {str(path.relative_to(cli.folder / "mine")): path.read_text() for path in there} == theirs
    ended = cli.here("export-best", "latest", "--refit", "--seeds=1", "--out=fresh")
    assert ended.code == 0 and "fresh/submission.csv" in ended.out, ended.err
    assert json.loads((cli.folder / "fresh" / "node.json").read_text())["refit"] is True
