"""Each verb that Python has a function for: typed, and word for word what its `--json` says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from dataclasses import asdict, is_dataclass

import pandas as pd
import pytest
from support.command_line import PLUGINS, ROOT

import swarm_evo
from reports.sweeps.plan import Plan, note_of, sweep_folder
from swarm_evo import child
from swarm_evo.answers import ComparedRun

pytestmark = pytest.mark.usefixtures("forked_children")

TOY = {"problem__kind": "toy", "problem__plugins": str(PLUGINS), "budget": {"steps": 8}}


@pytest.fixture
def told(finished, cli, monkeypatch):
    """What the verbs said, newest last. They run in this process, in the folder of a finished run."""
    said = []

    def ended(words, given, quiet):
        handed = json.loads(child.environment(words)[child.HANDED])
        done = cli.here(*child.command(words)[2:], *handed)
        said.append(json.loads(done.out) if done.out.strip()[:1] in ("{", "[") else done.out)
        return done.code, done.out, (done.err.strip().splitlines() or [""])[-1]

    monkeypatch.setattr(child, "ended", ended)
    monkeypatch.chdir(cli.folder)
    return said


def plain(answer):
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    return json.loads(json.dumps(asdict(answer) if is_dataclass(answer) else answer, default=str))


@pytest.fixture
def sweep_of_one_run(finished, cli):
    """A sweep of which both runs are the finished one: to go on with it takes none."""
    words = ["--search.max_steps=8", "--problem.kind=toy", f"--problem.plugins={PLUGINS}"]
    plan = Plan(words=words, settings=((),), seeds=(1, 2))
    folder = sweep_folder(cli.folder / "logs", "s")
    plan.keep(folder)
    for cell in plan.cells:
        note_of(folder, cell).write_text(cli.run_dir.name)


LOOKS = {
    "runs": lambda run: swarm_evo.runs(),
    "verify": lambda run: swarm_evo.verify(run.folder),
    "verify --head": lambda run: swarm_evo.verify(run, head="0" * 64),
    "replay": lambda run: swarm_evo.replay(run),
    "export_best": lambda run: swarm_evo.export_best(run, "out"),
    "tag": lambda run: swarm_evo.tag(run, add=["good", "draft"], remove=["draft"], title="A title", archived=False),
    "doctor": lambda run: swarm_evo.doctor(problem="tsp"),
    "plan": lambda run: swarm_evo.plan(**TOY),
    "sweep": lambda run: swarm_evo.sweep(seeds=[1, 2], name="s", **TOY),
    "load_sweep": lambda run: swarm_evo.load_sweep("s"),
    "sweeps": lambda run: swarm_evo.sweeps(),
    "delete_sweep": lambda run: swarm_evo.delete_sweep("s"),
    "node": lambda run: run.node(3),
}


@pytest.mark.parametrize("call", LOOKS.values(), ids=LOOKS)
def test_a_function_says_what_its_verb_says(told, sweep_of_one_run, call):
    answer = call(swarm_evo.load())
    assert plain(answer) == told[-1] and (isinstance(answer, (list, dict)) or repr(answer))


def test_runs_are_compared_by_ids_folders_and_results(told, cli):
    one = swarm_evo.load()
    other = one.folder.with_name("other")
    shutil.copytree(one.folder, other)
    found = swarm_evo.compare(one, other)
    assert plain(found) == told[-1] and swarm_evo.compare("other", str(one.folder)).runs[1] == found.runs[0]
    assert {*found.runs[0]} == {*ComparedRun.__annotations__} - {"reason"}
    assert list(found.frame().index) == [one.run, "other"]
    assert swarm_evo.compare(status="finished").runs == found.runs
    with pytest.raises(swarm_evo.SearchError, match="compare: name two runs or more; that is one"):
        swarm_evo.compare(one, one.folder)
    with pytest.raises(swarm_evo.SearchError, match=r"^these runs lie in several projects"):
        swarm_evo.compare(one, "/elsewhere/logs/x")


def test_a_verdict_is_true_or_false(told, cli):
    """`assert swarm_evo.verify(run)` would hold whatever an object says that is always true."""
    run = swarm_evo.load()
    assert swarm_evo.verify(run) and swarm_evo.verify(run, head=run.facts["journal_head"]).verdict == "authentic"
    exported = swarm_evo.export_best(run, bundle="bundle")
    assert (
        exported.node_id == run.best.node_id
        and swarm_evo.verify("bundle")
        and swarm_evo.verify(run.folder / "best_solution")
    )
    (run.folder / "config.yaml").write_text("{}")
    found = swarm_evo.verify(run)
    assert not found and found.verdict == "tampered" and found.findings[0].where == "config.yaml"


def test_errors_are_one_line_in_the_words_of_python(told, tmp_path):
    calls = {
        r"^swarm-evo: unknown run 'nope'": lambda: swarm_evo.verify("nope"),
        r"^run=5 \(int\): a run's id is needed": lambda: swarm_evo.replay(5),
        r"^swarm-evo: seeds: only with refit=True": lambda: swarm_evo.export_best(seeds=3),
        r"^swarm-evo: out=/proc/x: cannot be written": lambda: swarm_evo.export_best(out="/proc/x"),
        r"^swarm-evo: refit=True: only competitions": lambda: swarm_evo.export_best(refit=True),
        r"^sweep: say what differs: seeds=range": lambda: swarm_evo.sweep("tsp"),
        r"^seed=3 \(int\): a sweep has several: seeds=range": lambda: swarm_evo.sweep("tsp", seeds=[1, 2], seed=3),
        r"^vary: llm='rules' \(str\): its values in a list": lambda: swarm_evo.sweep("tsp", vary={"llm": "rules"}),
        r"^search__x='a,b' \(str\): a text with a comma": lambda: swarm_evo.sweep(vary={"search__x": ["a,b"]}),
        r"unknown key 'search__polcy' \(did you": lambda: swarm_evo.sweep("tsp", vary={"search.polcy": [1, 2]}),
        r"^add='good' \(str\): several tags, as in": lambda: swarm_evo.tag(add="good"),
        r"^swarm-evo: no sweep 'x'; there are: none": lambda: swarm_evo.load_sweep("x"),
        r"^swarm-evo: run '.*/nothing' ?|unknown run": lambda: swarm_evo.load(tmp_path / "nothing"),
    }
    for words, call in calls.items():
        with pytest.raises(swarm_evo.SearchError, match=words):
            call()


def test_what_a_function_needs_goes_with_the_last_run_that_needs_it(told, cli):
    """`.swarm-evo/` kept the tables and functions of every search until it was removed by hand."""
    kept = cli.folder / ".swarm-evo" / ("a" * 16) / "train.csv"
    kept.parent.mkdir(parents=True)
    kept.write_text("x")
    run = swarm_evo.load()
    shutil.copytree(run.folder, run.folder.with_name("other"))
    (run.folder.with_name("other") / "config.yaml").write_text(f"data:\n  train: {kept}\n")
    assert swarm_evo.delete(run).files == () and kept.is_file()
    found = swarm_evo.delete("other")
    assert found.removed == ("other",) and found.files == (f"{'a' * 16}/train.csv",) and plain(found) == told[-1]
    assert not (cli.folder / ".swarm-evo").exists() and swarm_evo.runs() == []


def test_rows_to_predict_are_kept_as_long_as_it_takes(told, cli, monkeypatch):
    seen = []

    def ended(words, given, quiet):
        (word,) = (word for word in words if word.startswith("data.test="))
        seen.append(pd.read_csv(word.partition("=")[2])["a"].sum())
        return 2, "", "swarm-evo: no"

    monkeypatch.setattr(child, "ended", ended)
    with pytest.raises(swarm_evo.SearchError, match="no"):
        swarm_evo.export_best(refit=True, data={"test": pd.DataFrame({"a": [1, 2]})})
    assert seen == [3] and not (cli.folder / ".swarm-evo").exists()


def test_a_fork_is_a_run_of_its_own(told, cli):
    """Of the words alone: the run that they begin is the command line's."""
    words = ["--node=3", "--edit=x.py", "--json", "--search.max_steps=1"]
    (cli.folder / "x.py").write_text("x = 2.0")
    forked = cli.here("fork", "latest", *words).json
    assert forked["run"] != cli.runs[0].name and forked["steps"] == 1 and len(cli.runs) == 2


def test_verbs_in_processes_of_their_own_from_several_threads(finished, cli):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(swarm_evo.verify(cli.run_dir))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 2 and answers[0] == answers[1] and answers[0]


SCRIPT = """
from pathlib import Path

import swarm_evo

def area(x: float) -> float:
    return x * x

def score(f: object) -> float:
    return 1.0

result: swarm_evo.Result = swarm_evo.search("tsp", budget={"steps": 3}, search__workers=2)
best = result.best
code: str = best.code if best is not None else ""
with swarm_evo.start("tsp", run=None, on_step=lambda step: print(step.metric)) as run:
    for step in run:
        number: int | None = step.step
other = swarm_evo.resume(result, budget={"steps": 9})
rows: list[swarm_evo.RunRow] = swarm_evo.runs(project_dir=Path("x"))
score_of: float | None = rows[0]["best_metric"]
table = swarm_evo.compare(result, other.folder, "latest")
names: list[str] = [row["run"] for row in table.runs]
assert swarm_evo.verify(run, head="0").findings[0].where and swarm_evo.replay(result).equal
files: tuple[Path, ...] = swarm_evo.export_best(result, "out", refit=True, data={"test": "rows.csv"}).files
swept = swarm_evo.sweep("tsp", seeds=range(5), vary={"search.policy": ["mcts", "islands"]}, cases=[{"llm": "openai"}])
mean: float | None = swept.rows[0].mean
quote: float | None = swarm_evo.plan("tsp", llm="openai").usd
gone: tuple[str, ...] = swarm_evo.delete(result, other).removed
labels: swarm_evo.Labels = swarm_evo.tag(result, add={"a"}, title="t")
forked: swarm_evo.Result = swarm_evo.fork(result, 3, code="x = 1")
better = swarm_evo.evolve(area, score)
"""


@pytest.mark.long
def test_a_users_script_is_checked_strictly(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "wrong.py").write_text("import swarm_evo\nswarm_evo.verify(3)\nswarm_evo.runs()[0]['best']\n")
    shutil.copytree(ROOT / "swarm_evo", tmp_path / "site" / "swarm_evo")
    words = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--no-site-packages"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, "script.py", "wrong.py"],
        cwd=tmp_path, env={"MYPYPATH": "site"}, capture_output=True, text=True,
    )  # fmt: skip
    wrong = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[:2] for line in wrong] == [["wrong.py", "2"], ["wrong.py", "3"]], done.stdout + done.stderr
