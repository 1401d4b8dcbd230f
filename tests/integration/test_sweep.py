"""`sweep`: a run a setting and seed, gone on with where it was cut off, and a table of what differs."""

from __future__ import annotations

import json
import re
import shutil
import signal
from pathlib import Path

import pytest

from core.storage.held import is_held, lock_holder
from reports.sweeps.plan import Cell
from runs.sweeps.cells import is_finished

pytestmark = pytest.mark.usefixtures("forked_children")

WORDS = ("sweep", "--seeds", "1..2", "--vary", "search.policy=three_phase,mcts", "--json", "--name", "policies")


@pytest.mark.long
def test_a_sweep_goes_on_where_it_was_cut_off(cli, toy):
    first = cli.here(*WORDS, *toy(4))
    assert first.code == 0, first.err
    table = json.loads(first.out)
    assert [cell["status"] for cell in table["cells"]] == ["finished"] * 4 and table["name"] == "policies"
    assert all(cell["steps"] == 4 for cell in table["cells"])
    assert [(row["runs"], row["pairs"]) for row in table["rows"]] == [(2, 0), (2, 2)]
    runs = {(*cell["setting"], cell["seed"]): cell["run"] for cell in table["cells"]}
    for name, seed in ((("search.policy=mcts",), 2),):
        shutil.rmtree(cli.folder / "logs" / runs[(*name, seed)])
    again = cli.here(*WORDS, *toy(4))
    assert again.err.count("known:") == 3 and again.err.count("begins:") == 1
    redone = json.loads(again.out)
    assert redone["rows"][1]["mean"] == table["rows"][1]["mean"], "the same seed, the same search"
    scores = [float(score) for score in re.findall(r"(?:known|done): .*: (\S+) on ", again.err)]
    assert sorted(scores) == sorted(float(f"{cell['final_metric']:.6g}") for cell in redone["cells"])
    (listed,) = cli.here("sweep", "show", "--json").json
    assert (listed["name"], listed["begun"], len(listed["runs"])) == ("policies", 4, 4)
    assert re.search("policies .* finished .* 4 of 4", cli.here("sweep", "show").out)
    shown = cli.here("sweep", "show", "policies")
    assert "an interval needs 5 seeds: the same command with --name=policies and others adds them" in shown.out
    assert shown.code == 0 and "policy=mcts" in shown.out and "over the first setting" in shown.out
    assert "…" not in shown.out, "no figure is cut in a narrow terminal"


@pytest.mark.long
def test_one_search_over_several_seeds_has_a_mean_and_nothing_to_be_compared_with(cli, toy):
    ended = cli.here("sweep", "--seeds=1..3", "--name=spread", *toy(3))
    assert ended.code == 0, ended.err
    assert "the defaults" in ended.out and "gain" not in ended.out.splitlines()[1], ended.out
    (row,) = cli.here("sweep", "show", "spread", "--json").json["rows"]
    assert row["setting"] == [] and row["runs"] == 3 and row["mean"] is not None and row["rival"] is None
    more = cli.here("sweep", "--seeds=3,4", "--name=spread", *toy(3), "--json")
    assert more.err.count("known:") == 1 and more.err.count("begins:") == 1, "the sweep has got one more seed"
    assert [cell["seed"] for cell in more.json["cells"]] == [1, 2, 3, 4] and more.json["rows"][0]["runs"] == 4
    other = cli.here("sweep", "--seeds=5,6", "--name=spread", *toy(2))
    assert other.code == 2 and "another sweep has this name" in other.line


@pytest.mark.long
def test_a_run_that_was_stopped_is_resumed(cli, toy):
    """What a kill leaves: the cell's file names a run that has not ended."""
    begun = cli.here("step", *toy(4), "--search.policy=mcts", "--project.seed=1")
    assert begun.code == 0, begun.err
    run = next(path.parent.name for path in cli.folder.glob("logs/*/run.db"))
    words = ("sweep", "--seeds=1", "--vary", "search.policy=mcts,three_phase", "--name=halves", "--json")
    folder = cli.folder / "logs" / "sweeps" / "halves"
    folder.mkdir(parents=True)
    (folder / f"{Cell(setting=('search.policy=mcts',), seed=1).name}.run").write_text(run)
    ended = cli.here(*words, *toy(4))
    assert ended.code == 0, ended.err
    assert ended.err.count("goes on:") == 1 and ended.err.count("begins:") == 1
    cells = json.loads(ended.out)["cells"]
    assert cells[0]["run"] == run and cells[0]["status"] == "finished" and cells[0]["steps"] == 4


def test_a_run_that_was_killed_before_it_began_is_begun_anew(cli, toy):
    """There is nothing to go on with: a resume was refused, and the sweep ended there each time."""
    assert cli(*toy(2), SWARM_EVO_FAULT="before:facts:1").code == -signal.SIGKILL
    (run,) = cli.folder.glob("logs/*/run.db")
    folder = cli.folder / "logs" / "sweeps" / "anew"
    folder.mkdir(parents=True)
    for policy in ("mcts", "three_phase"):
        cell = Cell(setting=(f"search.policy={policy}",), seed=1)
        (folder / f"{cell.name}.run").write_text(run.parent.name)
    ended = cli.here("sweep", "--seeds=1", "--vary", "search.policy=mcts,three_phase", "--name=anew", *toy(2))
    assert ended.code == 0, ended.err
    assert ended.err.count("begins:") == 2


def test_a_run_that_was_killed_before_its_cell_knew_its_name_is_gone_on_with(cli, toy):
    """It stayed in the list of runs, belonged to nothing, and the cell was run once more."""
    words = ("sweep", "--seeds=1", "--vary", "search.policy=mcts,three_phase", *toy(2))
    for name in ("other", "adopted"):
        assert cli.here(*words, f"--name={name}", SWARM_EVO_FAULT="after:facts:1").code == 1
    assert list(cli.folder.glob("logs/sweeps/*/*.run")) == []
    ended = cli.here(*words, "--name=adopted", "--json")
    assert ended.code == 0, ended.err
    assert ended.err.count("goes on:") == 1 and ended.err.count("begins:") == 1
    runs = {run["run"] for run in json.loads(cli.here("list-runs", "--json").out)}
    mine = {cell["run"] for cell in json.loads(ended.out)["cells"]}
    assert len(runs - mine) == 1, "that of the other sweep"
    shutil.rmtree(cli.folder / "logs" / "sweeps" / "adopted")
    assert cli.here(*words, "--name=adopted").err.count("begins:") == 2, "another sweep of that name"


def test_a_run_that_has_no_name_yet_when_its_sweep_is_killed_is_not_begun_once_more(cli, toy, eventually):
    """It lived on, and the same command began its cell again beside it; later it said that another process held it."""
    words = ("sweep", "--seeds=1,2", "--name=killed", *toy(2, seconds=0.5))
    sweep = cli.start_anew(*words)
    children = Path(f"/proc/{sweep.pid}/task")
    eventually(lambda: any(each.read_text() for each in children.glob("*/children")), 60)
    sweep.send_signal(signal.SIGKILL)
    sweep.communicate(timeout=60)
    again = cli.here(*words)
    assert "begins: --project.seed=1" not in again.err and again.code == 0, again.err
    assert "waits for the process that works on it: --project.seed=1" in again.err, again.err
    assert len(cli.runs) == 2 and not any(map(is_held, cli.runs))
    assert not list(cli.folder.glob("logs/sweeps/killed/*-?.lock"))


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_sweep_alone_stops_its_run_and_begins_no_other(cli, toy, eventually, number):
    """A service manager, a button and kill(1) know the sweep alone; keys reach its runs as well."""
    words = ("sweep", "--seeds=1", "--vary", "search.policy=mcts,three_phase", "--name=stopped")
    child = cli.start(*words, *toy(1000, seconds=0.3), "search.batch=1")
    run = eventually(lambda: next(iter(cli.folder.glob("logs/*/metrics.json")), None), 60).parent
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130 and "once more to stop now" in err and err.count("begins:") == 1, err
    assert not is_held(run) and len(list(cli.folder.glob("logs/*/run.db"))) == 1, "no run outlives its sweep"
    (row,) = cli.here("list-runs", "--json").json
    assert row["status"] == "interrupted"


@pytest.mark.long
def test_ctrl_z_stops_the_run_with_its_sweep_and_both_go_on(cli, toy, eventually):
    """A shell's `fg` brought a sweep back whose run had gone on alone."""
    child = cli.start(
        "sweep",
        "--seeds=1",
        "--vary",
        "search.policy=mcts,three_phase",
        "--name=paused",
        *toy(30, seconds=0.1),
        "search.batch=1",
    )
    run = eventually(lambda: next(iter(cli.folder.glob("logs/*/metrics.json")), None), 60).parent
    child.send_signal(signal.SIGTSTP)
    eventually(lambda: state(child.pid) == "T", 60)
    mine = lock_holder(run / "run.lock")
    eventually(lambda: state(mine) == "T", 60)
    child.send_signal(signal.SIGCONT)
    _, err = child.communicate(timeout=300)
    assert child.returncode == 0 and err.count("begins:") == 2, err
    assert is_finished(run)


def state(pid: int) -> str:
    """T: stopped; from /proc/PID/stat."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.long
def test_what_a_run_does_not_store_is_said_again_where_it_goes_on(cli, toy):
    """A typed key, and the word for running without a sandbox: the same command could not go on without them."""
    unsafe = ("--execution.sandbox=none", "--i-accept-unsandboxed", "--llm.feedback.api_key=sk-planted-7")
    begun = cli.here("step", *toy(4), *unsafe, "--search.policy=mcts", "--project.seed=1")
    assert begun.code == 0, begun.err
    run = next(path.parent.name for path in cli.folder.glob("logs/*/run.db"))
    folder = cli.folder / "logs" / "sweeps" / "bare"
    folder.mkdir(parents=True)
    (folder / f"{Cell(setting=('search.policy=mcts',), seed=1).name}.run").write_text(run)
    words = ("sweep", "--seeds=1", "--vary", "search.policy=mcts,three_phase", "--name=bare", "--json")
    ended = cli.here(*words, *toy(4), *unsafe)
    assert ended.code == 0, ended.err
    assert ended.err.count("goes on:") == 1 and "sk-planted" not in ended.out + ended.err
    stored = [path for path in cli.folder.rglob("*") if path.is_file() and b"sk-planted" in path.read_bytes()]
    assert stored == []


def test_bad_words_are_one_line_before_anything_runs(cli, toy):
    for words, said in [
        (("--vary", "search.policy=mcts,nonsense"), "nonsense"),
        (("--vary", "search.policy=mcts", "--seeds=1"), "two runs"),
        (("--seeds=7",), "two runs"),
        ((), "say what differs"),
        (("--vary", "search.batch=1,2", "--project.seed=3"), "--seeds"),
        (("show", "a", "b"), "sweep show [NAME]"),
        (("show", "none"), "no sweep 'none'"),
    ]:
        ended = cli.here("sweep", *words, *(() if "show" in words else toy(2)))
        assert ended.code == 2 and said in ended.line, (words, ended.err)
    assert not (cli.folder / "logs" / "sweeps").exists()
    assert cli.here("sweep", "show").out.startswith("no sweeps yet; compare settings over seeds: `")


def test_a_setting_that_a_run_refuses_is_told_in_one_line(cli, toy):
    ended = cli.here("sweep", "--seeds", "1", "--case", "agent.tools=true", "--case", "search.batch=1", *toy(2)[1:])
    assert ended.code != 0
    line = ended.err.splitlines()[-1]
    assert line.startswith("swarm-evo: sweep: --agent.tools=true --project.seed=1: agent.tools=true needs a model")
