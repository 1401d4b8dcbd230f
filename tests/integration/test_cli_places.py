"""Where things lie and come from: project.dir, plug-in folders, the user's own first programs, the environment."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import PLUGINS, ROOT, Cli


def test_project_dir_decides_where_everything_goes(cli, toy, tmp_path):
    there = tmp_path / "a place" / "über"
    ended = cli.here(*toy(2), f"project.dir={there}")
    assert ended.code == 0, ended.err
    assert (there / "logs" / "system.log").is_symlink()
    assert {path.name for path in cli.folder.iterdir()} <= {"a place"}
    assert cli.here("list-runs", "--json").json == []
    (row,) = cli.here("list-runs", "--json", f"project.dir={there}").json
    assert cli.here("show", row["run"], f"--project.dir={there}", "--json").json["steps"] == 2
    assert cli.here("resume", "latest", f"project.dir={there}", "search.max_steps=3").code == 0
    moved = tmp_path / "moved"
    there.rename(moved)
    assert cli.here("show", "latest", f"project.dir={moved}", "--json").json["steps"] == 3, "a run can be moved"


def test_a_run_is_called_alike_by_all_that_name_it(cli, toy):
    """A name of the user's that no command took back, and a copy as file managers call it."""
    assert cli.here(*toy(2), "project.name=_mine").code == 0
    (row,) = cli.here("list-runs", "--json").json
    assert row["run"].startswith("_mine-") and cli.here("show", row["run"], "--json").json["run"] == row["run"]
    copy = cli.run_dir.with_name(f"{row['run']} (copy)")
    shutil.copytree(cli.run_dir, copy)
    listed = cli.here("list-runs", "--json")
    assert [found["run"] for found in listed.json] == [row["run"]] and copy.name in listed.err
    assert "rename its folder" in cli.here("show", copy.name).line
    assert cli.here("show", "latest", "--json").json["run"] == row["run"]


def test_of_a_run_that_is_a_link_the_link_is_removed(cli, toy, tmp_path):
    """A run that was moved to a larger disk: what lies there is not ours to remove."""
    assert cli.here(*toy(2)).code == 0
    run = cli.run_dir
    there = tmp_path / "larger" / run.name
    there.parent.mkdir()
    run.rename(there)
    run.symlink_to(there)
    assert cli.here("show", run.name, "--json").json["run"] == run.name
    ended = cli.here("rm", run.name, "--yes")
    assert ended.code == 0 and ended.out == f"removed {run.name}; it was a link, and its files stay in '{there}'\n"
    assert not run.is_symlink() and (there / "run.db").is_file() and cli.here("list-runs", "--json").json == []


def test_the_environment_and_the_command_line(cli, toy):
    env = {"SWARM_EVO__SEARCH__MAX_STEPS": "2", "SWARM_EVO__PROJECT__SEED": "5", "SWARM_EVO__PROJECT__NAME": "mine"}
    words = [word for word in toy(1) if not word.startswith("search.max_steps")]
    assert cli.here(*words, "project.seed=6", **env).code == 0
    shown = cli.show()
    assert shown["steps"] == 2 and shown["config"]["project"]["seed"] == 6 and shown["run"].startswith("mine-")
    ended = cli.here(*words, SWARM_EVO__SEARCH__MAX_STEP="2")
    assert ended.code == 2 and "search.max_steps" in ended.line


def test_the_users_programs_are_the_first_nodes(cli, toy):
    (cli.folder / "good.py").write_text("x = 2.125\n")
    (cli.folder / "bad.py").write_text("x = nothing\n")
    ended = cli.here(*toy(2), "initial=good.py,bad.py")
    assert ended.code == 0, ended.err
    shown = cli.show()
    assert [node["operator"] for node in shown["nodes"][:2]] == ["user", "user"]
    assert shown["nodes"][0]["metric"] == pytest.approx(0.125) and shown["nodes"][1]["failure"] == "runtime"
    assert shown["steps"] == 2, "they do not count"
    assert cli.node(shown["nodes"][0]["node_id"])["writer"] == "user"
    (cli.folder / "latin.py").write_bytes(b"x = 1 # \xff\n")
    ended = cli.here(*toy(2), "initial=latin.py")
    assert ended.code == 2 and "latin.py" in ended.line


def test_a_plugin_in_a_folder_of_its_own_and_what_can_be_wrong(cli, toy):
    ended = cli.here("problem.kind=nothing", f"problem.plugins={PLUGINS}")
    assert ended.code == 2 and "nothing" in ended.line
    (cli.folder / "mine").mkdir()
    (cli.folder / "mine" / "problem.py").write_text((PLUGINS / "toy.py").read_text())
    assert cli.here("problem.kind=mine", "problem.plugins=.", "search.max_steps=2").code == 0
    (cli.folder / "broken.py").write_text("def build(:\n")
    ended = cli.here("problem.kind=broken", "problem.plugins=.")
    assert ended.code == 2 and "broken.py" in ended.line and "SyntaxError" in ended.line
    (cli.folder / "empty.py").write_text("")
    ended = cli.here("problem.kind=empty", "problem.plugins=.")
    assert ended.code == 2 and "build" in ended.line


def test_a_target_ends_the_search(cli, toy):
    ended = cli.here(*toy(50), "budget.target=1.5")
    assert ended.code == 0 and "target" in ended.out
    shown = cli.show()
    assert shown["best_metric"] <= 1.5 and shown["steps"] < 50


def test_no_valid_program_is_said_plainly_and_has_a_code_of_its_own(cli, toy):
    ended = cli.here(*toy(2), "problem.options.refuse=-100")
    assert ended.code == 3 and ended.err == ""
    assert "No valid program found in 2 steps; the commonest failure is" in ended.out
    shown = cli.show()
    assert shown["best_node_id"] is None and shown["final_metric"] is None
    text = cli.here("show", "latest").out
    assert "no valid program found" in text and "None" not in text
    ended = cli.here("export-best", "latest")
    assert ended.code == 2 and "no valid program" in ended.line


@pytest.fixture
def small_disk(tmp_path):
    """Makes a file system of so many kilobytes at a folder, or gives it another size."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def resize(kilobytes: int) -> Path:
        again = "remount," if folder.is_mount() else ""
        words = ["mount", "-t", "tmpfs", "-o", f"{again}size={kilobytes}k,nr_inodes=0", "none", str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        return folder

    yield resize
    if folder.is_mount():
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("kilobytes", [1000, 3000])
def test_whoever_looks_is_told_of_the_full_disk(toy, small_disk, kilobytes):
    """The store had no room for the one fact: the terminal said it, and `show` called the run interrupted."""
    cli = Cli(small_disk(kilobytes))
    ended = cli(*toy(2000), "budget.repeats=null")
    assert ended.code == 1 and re.search("full|No space left", ended.line), ended.err  # whatever was written first
    for _ in range(2):
        shown = cli.show()
        assert shown["status"] == "failed" and shown["steps"] > 0
        assert "make room there" in shown["verdict"]["text"], shown["verdict"]
        assert not list(cli.run_dir.glob("reserve*")), "it was given back"
        assert cli.here("verify", "latest").code == 0
        again = cli("resume", "latest")  # nothing has made room yet
        assert again.code == 1 and "full" in again.line, again.err


@pytest.mark.long
@pytest.mark.parametrize("kilobytes", [4, 120, 400])
def test_a_full_disk_at_any_moment_is_one_line_and_loses_nothing(cli_at, toy, small_disk, kilobytes):
    whole = cli_at("whole")
    assert whole.here(*toy(40)).code == 0
    cli = Cli(small_disk(kilobytes))
    ended = cli(*toy(40))
    assert ended.code == 1 and "Traceback" not in ended.err, ended.err
    assert re.search("full; make room there, and `resume` goes on|has not begun: make room|No space left", ended.line)
    early = cli("resume", "latest")  # nothing has made room yet
    told = "full|No space left" if early.code == 1 else "holds no run|no runs"
    assert early.code in (1, 2) and re.search(told, early.line), early.err
    small_disk(100_000)
    again = cli.here("resume", "latest")
    assert ("`resume` goes on" in ended.line) <= (again.code == 0), ended.err
    if again.code == 2:  # the disk was full before the run began
        again = cli.here(*toy(40))
    assert again.code == 0, again.err
    assert cli.show()["journal_sha256"] == whole.show()["journal_sha256"]


@pytest.mark.long
def test_a_full_disk_is_one_line_and_the_run_can_be_resumed(tmp_path, toy):
    """RLIMIT_FSIZE stands for the full disk: SQLite gets a short write."""
    limit = 3_000_000

    def small() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *toy(2000)], cwd=tmp_path, env={**os.environ}, capture_output=True,
        text=True, timeout=100, preexec_fn=small, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr and "store" in done.stderr.strip().splitlines()[-1], done.stderr
    cli = Cli(tmp_path)
    steps = cli.show()["steps"]
    assert steps > 2
    assert cli.here("resume", "latest", f"search.max_steps={steps + 20}").code == 0
    assert cli.show()["steps"] == steps + 20


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--initial=.",), "initial=.: that is a folder, and a file is wanted"),
        (("--problem=script", "--problem.program=.", "--problem.evaluator=x.py"), "that is a folder, and"),
        (("--problem=script", "--problem.program=x.py", "--problem.evaluator=x.py"), "no such file"),
        (("--problem=bin_packing", "--problem.name=empty.csv"), "problem.name=empty.csv: the file is empty"),
        (("--problem=bin_packing", "--problem.name=empty.json"), "problem.name=empty.json: the file is empty"),
        (("--budget.seconds=1e400",), "budget.seconds=inf: Input should be a finite number"),
        (("--budget.usd=inf",), "Input should be a finite number"),
        (("list-runs", "--project.dir=/nowhere"), "project.dir=/nowhere: no such folder"),
        (("doctor", "--evaluator", "."), "that is a folder, and a file is wanted"),
        (("doctor", "--evaluator", "empty.csv"), "put one of initial_program.py"),
    ],
)
def test_what_is_named_and_is_not_so_is_one_line(cli, words, said):
    for name in ("empty.csv", "empty.json"):
        (cli.folder / name).write_text("")
    ended = cli.here(*words)
    assert ended.code == 2 and said in ended.line and not ended.out
