"""Every path that the user gives to be written: what cannot be is one line and exit code 2, before anything runs."""

from __future__ import annotations

import shutil

import pytest
from support.command_line import ROOT

from runs.tickets.client import ask_the_run

ENGINE = str(ROOT / "examples" / "engines" / "four_by_lookahead.py")


@pytest.fixture
def run_there(cli, toy):
    assert cli.here(*toy(3)).code == 0
    return cli


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("arena", ENGINE, ENGINE), "pgn"),
        (("init", "x_y"), "out"),
        (("report", "latest"), "out"),
        (("export", "latest"), "out"),
        (("export-best", "latest"), "out"),
        (("export-best", "latest"), "bundle"),
        (("export-best", "latest"), "patch"),
        (("export-best", "latest"), "folder"),
        (("export-best", "latest"), "recording"),
        (("ask", "latest"), "dir"),
        (("sweep", "--vary", "search.policy=mcts,islands"), "project.dir"),
        (("arena", ENGINE, ENGINE), "project.dir"),
        (("resume", "latest"), "ready"),
    ],
)
def test_an_unwritable_place_is_one_line(run_there, words, option):
    (run_there.folder / "plain").write_text("x")
    for place in ("/proc/nowhere/x", "plain/x"):
        ended = run_there.here(*words, f"--{option}={place}")
        assert ended.code == 2, ended.err
        assert option in ended.line and place in ended.line and "cannot be written" in ended.line
        assert not ended.out
    assert (run_there.folder / "plain").read_text() == "x"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("report", "latest"), "out"),
        (("export", "latest"), "out"),
        (("resume", "latest", "search.max_steps=4"), "ready"),
    ],
)
def test_a_folder_that_is_not_there_is_made(run_there, words, option):
    ended = run_there.here(*words, f"--{option}=new/deep/x.html")
    assert ended.code == 0 and (run_there.folder / "new" / "deep" / "x.html").is_file(), ended.err


@pytest.mark.parametrize("is_stored", [True, False])
def test_an_export_writes_over_no_file_of_the_users_own(run_there, is_stored):
    """A copy of an evaluator is called as the evaluator is: `--out .` would bring back what it was."""
    mine = run_there.folder / "mine"
    mine.mkdir()
    (mine / "solution.py").write_text("my own\n")
    if not is_stored:  # then it is made anew
        (run_there.run_dir / "best_solution" / "solution.py").unlink()
    ended = run_there.here("export-best", "latest", "--out=mine")
    assert ended.code == 2 and "what lies there as solution.py is of no export" in ended.err
    assert {path.name: path.read_text() for path in mine.iterdir()} == {"solution.py": "my own\n"}
    for _ in range(2):
        ended = run_there.here("export-best", "latest", "--out=fresh")
        assert ended.code == 0 and "fresh/solution.py" in ended.out, ended.err
        (run_there.folder / "fresh" / "solution.py").write_text("an earlier export's\n")
    with (run_there.folder / "fresh" / "solution.py").open() as before:
        assert run_there.here("export-best", "latest", "--out=fresh").code == 0
        assert before.read() == "an earlier export's\n", "a full disk must leave it"
    (mine / "solution.py").unlink()
    (mine / "notes.txt").write_text("stays")
    assert run_there.here("export-best", "latest", "--out=mine").code == 0
    assert (mine / "notes.txt").read_text() == "stays" and (mine / "solution.py").is_file()


def test_a_file_of_the_users_gives_way_only_to_a_whole_one(run_there):
    """It was cut off first: on a full disk nothing was left of it."""
    mine = run_there.folder / "mine"
    for words in (("export", "latest"), ("report", "latest"), ("report", "latest", "--format=md")):
        mine.write_text("mine\n")
        with mine.open() as before:
            assert run_there.here(*words, "--out=mine").code == 0
            assert before.read() == "mine\n" != mine.read_text()


def test_a_folder_is_no_file_and_looking_leaves_nothing(run_there):
    place = run_there.folder / "place"
    place.mkdir()
    for words in (("arena", ENGINE, ENGINE, "--pgn"), ("export", "latest", "--out"), ("resume", "latest", "--ready")):
        ended = run_there.here(*words, str(place))
        assert ended.code == 2 and "Is a directory" in ended.line
    assert list(place.iterdir()) == []
    run_there.here("arena", "nothing", "nothing", "--pgn", str(place / "games.pgn"))
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list-runs", "--last", "0"), "--last: 0: a whole number from 1 on"),
        (("list-runs", "--last", "-2"), "--last: -2: a whole number from 1 on"),
        (("sweep", "--jobs", "0"), "--jobs: 0"),
        (("arena", ENGINE, ENGINE, "--openings", "0"), "--openings: 0"),
        (("arena", ENGINE, ENGINE, "--openings", "1", "--games", "2000000000"), "2,000,000,000 games"),
        (("export-best", "x", "--refit", "--seeds", "0"), "--seeds: 0"),
        (("replay", "x", "--speed", "0"), "--speed: 0: a number above 0"),
        (("run", "--idle", "-1"), "--idle: -1"),
        (("sweep", "--seeds", "1..2000000000", "--vary", "search.policy=islands,mcts"), "2,000,000,000 seeds"),
        (("sweep", "--seeds", "1..6000", "--vary", "search.policy=islands,mcts"), "12,000 runs"),
    ],
)
def test_a_count_that_makes_no_sense_is_one_line(cli, words, said):
    ended = cli.here(*words)
    assert ended.code == 2 and said in ended.line


@pytest.mark.parametrize("name", ["best_solution", "best_solution/solution.py"])
def test_a_link_that_is_laid_while_a_run_goes_on_is_written_through_by_nobody(cli, toy, tmp_path, eventually, name):
    """The winner's files lay where it led, in place of what was called like them there."""
    ready = tmp_path / "ready"
    cli.start("run", "--writer=external", *toy(2), "--idle=60", f"--ready={ready}")
    eventually(lambda: ready.is_file() and ready.read_text(), 60)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "solution.py").write_text("of the user")
    for number, x in enumerate((1.25, 1.75)):
        ticket = ask_the_run(cli.run_dir, {"verb": "ask", "token": f"{number:032d}", "seconds": 20})["ticket"]
        tell = {"verb": "tell", "ticket": ticket, "code": f"x = {x}\n# {'of a program ' * 4}\n", "seconds": 20}
        assert ask_the_run(cli.run_dir, tell)["state"] == "committed"
        if number == 0:
            laid = cli.run_dir / name
            shutil.rmtree(laid) if laid.is_dir() else laid.unlink()
            laid.symlink_to(theirs if name == "best_solution" else theirs / "solution.py")
    eventually(lambda: cli.show()["status"] == "finished", 60)
    assert [path.name for path in theirs.iterdir()] == ["solution.py"]
    assert (theirs / "solution.py").read_text() == "of the user"
