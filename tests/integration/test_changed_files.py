"""A run is not gone on with once what scores it is another: old scores and new ones would be ranked together."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3

import pytest

from problems.user_files import folder_files, named_files

EVALUATOR = """\
import json
from pathlib import Path
import helper
HERE = Path(__file__).parent
def evaluate(program_path):
    total = sum(json.loads((HERE / f"case_{i}.json").read_text()) for i in range(2))
    return {"combined_score": helper.factor() * total}
"""
CANNOT = "since the run began; what it scored cannot be compared; start a new run"
HALF = "problem.options.isolation=together"


@pytest.fixture
def script(cli):
    folder = cli.folder / "mine"
    folder.mkdir()
    (folder / "evaluator.py").write_text(EVALUATOR)
    (folder / "helper.py").write_text("def factor():\n    return 1.0\n")
    for number in range(2):
        (folder / f"case_{number}.json").write_text(str(number + 1))
    (folder / "notes.txt").write_text("mine")
    (folder / "start.py").write_text("x = 1.5\n")
    words = (f"--problem.program={folder}/start.py", f"--problem.evaluator={folder}/evaluator.py", f"--{HALF}")
    ended = cli.here("run", "--problem=script", *words, "--search.max_steps=1")
    assert ended.code == 0, ended.err
    return cli


def resumed(cli, steps=3):
    return cli.here("resume", "latest", f"--search.max_steps={steps}")


@pytest.mark.parametrize("verb", [("resume",), ("step",), ("fork", "--node", "1")])
def test_whoever_goes_on_without_the_files_is_told_how_to_give_them(script, verb):
    """And may: they only lie elsewhere."""
    (script.folder / "mine").rename(script.folder / "moved")
    ended = script.here(verb[0], "latest", *verb[1:])
    assert ended.code == 2 and "is not here; give it: " in ended.line, ended.err
    assert f"{verb[0]} {script.run_dir.name} " in ended.line
    assert ended.line.endswith("--problem.program=PATH --problem.evaluator=PATH)")
    moved = [f"--problem.{name}={script.folder}/moved/{file}.py" for name, file in
             (("program", "start"), ("evaluator", "evaluator"))]  # fmt: skip
    more = ["--search.max_steps=3"] if verb[0] == "resume" else []
    again = script.here(verb[0], "latest", *verb[1:], *moved, *more)
    assert again.code == 0, again.err


def test_a_fault_of_another_kind_says_nothing_of_files(script):
    (script.folder / "mine" / "start.py").unlink()
    ended = script.here("resume", "latest", "--search.policy=nothing")
    assert ended.code == 2 and "give it" not in ended.line


@pytest.mark.parametrize("name", ["evaluator.py", "helper.py"])
def test_an_evaluator_and_what_it_names(script, name):
    path = script.folder / "mine" / name
    before = path.read_text()
    path.write_text(f"{before}\nUNUSED = 1\n")
    for ended in (resumed(script), script.here("step", "latest")):
        assert ended.code == 2 and ended.line == f"swarm-evo: {name} has changed {CANNOT}"
    path.write_text(before)  # the time of change is no change
    assert resumed(script).code == 0


@pytest.mark.parametrize("name", ["evaluator.py", "helper.py"])
def test_a_comment_a_docstring_and_layout_score_nothing(script, name):
    """One more comment in an evaluator ended a run for good."""
    path = script.folder / "mine" / name
    path.write_text(f"# more words\n{path.read_text()}".replace("():\n", '():\n    """Says what it does."""\n\n'))
    ended = resumed(script)
    assert ended.code == 0, ended.err
    told = f"{name} has changed since the run began, but in comments, docstrings or layout alone: it scores as it did"
    assert told in ended.out + ended.err
    assert script.here("replay", "latest", "--verify").code == 0
    path.write_text(f"{path.read_text()}\nUNUSED = 1\n")
    assert resumed(script, 5).line == f"swarm-evo: {name} has changed {CANNOT}"


def test_a_file_more_or_less_is_a_change_and_notes_are_none(script):
    folder = script.folder / "mine"
    (folder / "notes.txt").write_text("others")
    (folder / "start.py").write_text("x = 7.5\n")
    assert resumed(script, 2).code == 0
    (folder / "evaluator.py").unlink()
    assert "evaluator.py: no such file (give it: resume " in resumed(script).line
    assert script.here("verify", "latest").code == 0
    again = script.here("replay", "latest", "--verify")
    assert again.code == 2 and again.err.startswith("replay could not be done: problem.evaluator="), again.err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda folder: (folder / "case_1.json").write_text("7"), "case_1.json has changed since"),
        (lambda folder: (folder / "case_7.json").write_text("7"), "case_7.json is new since"),
        (lambda folder: (folder / "case_0.json").unlink(), "case_0.json is gone since"),
    ],
)
def test_what_an_evaluator_may_have_written_itself_is_told(script, change, told):
    """A cache that it keeps beside itself changes with every score: such a run is gone on with all the same."""
    change(script.folder / "mine")
    ended = resumed(script)
    assert f"WARNING: {told} the run began" in ended.err + ended.out and ended.code != 2


def test_a_run_of_before_goes_on(script):
    import sqlite3

    with sqlite3.connect(script.run_dir / "run.db") as store:
        store.execute("PRAGMA ignore_check_constraints=1")
        store.execute("DELETE FROM facts WHERE key = 'scored_by'")
    (script.folder / "mine" / "helper.py").write_text("def factor():\n    return 2.0\n")
    assert resumed(script).code == 0


@pytest.mark.usefixtures("inline")
def test_tables_and_a_metric_of_ones_own(cli):
    data = cli.folder / "data"
    data.mkdir()
    rows = "".join(f"{number},{number % 7},{number * 2.5}\n" for number in range(120))
    (data / "train.csv").write_text(f"id,a,price\n{rows}")
    (cli.folder / "score.py").write_text("def far(truth, said):\n    return float(abs(truth - said).mean())\n")
    words = (f"--data.dir={data}", "--data.goal=x", "--data.target=price", f"--data.metric={cli.folder}/score.py:far",
             "--problem.direction=min", "--search.max_steps=1", "--execution.timeout=30")  # fmt: skip
    ended = cli.here("run", *words)
    assert ended.code == 0, ended.err
    (data / "readme.md").write_text("new notes, and a program of the user's beside the data")
    shutil.copyfile(cli.folder / "score.py", data / "mine.py")
    table = (data / "train.csv").read_text()
    (data / "train.csv").write_text(table.replace("2.5\n", "25\n"))
    assert resumed(cli).line == f"swarm-evo: train.csv has changed {CANNOT}"
    (data / "train.csv").write_text(table)
    metric = cli.folder / "score.py"
    metric.write_text(metric.read_text().replace("abs(", "2 * abs("))
    assert resumed(cli).line == f"swarm-evo: score.py has changed {CANNOT}"


def test_instances_of_ones_own(cli):
    folder = cli.folder / "tours"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.csv").write_text("x,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(6)))
    assert cli.here("run", "--problem=tsp", f"--problem.name={folder}", "--search.max_steps=1").code == 0
    (folder / "a.csv").write_text("x,y\n" + "".join(f"{i},{i * i % 5}\n" for i in range(6)))
    assert resumed(cli).line == f"swarm-evo: instances/a.csv has changed {CANNOT}"


def test_a_shortest_tour_beside_an_instance(cli):
    folder = cli.folder / "tours"
    folder.mkdir()
    cities = "".join(f"{i + 1} {i} {i * i % 7}\n" for i in range(6))
    head = "TYPE : TSP\nDIMENSION : 6\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
    for name in ("a", "b"):
        (folder / f"{name}.tsp").write_text(f"NAME : {name}\n{head}{cities}EOF\n")
    tour = "TOUR_SECTION\n1\n2\n3\n4\n5\n6\n-1\n"
    (folder / "a.opt.tour").write_text(tour)
    assert cli.here("run", "--problem=tsp", f"--problem.name={folder}", "--search.max_steps=1").code == 0
    assert resumed(cli).code == 0
    (folder / "a.opt.tour").write_text(tour.replace("2\n3", "3\n2"))
    assert resumed(cli).line == f"swarm-evo: beside/a.opt.tour has changed {CANNOT}"
    (folder / "a.opt.tour").unlink()
    assert resumed(cli).line == f"swarm-evo: beside/a.opt.tour is gone {CANNOT}"
    (folder / "a.opt.tour").write_text(tour)
    (folder / "b.opt.tour").write_text(tour)
    assert resumed(cli).line == f"swarm-evo: beside/b.opt.tour is new {CANNOT}"
    (folder / "b.opt.tour").unlink()
    (folder / "b.opt.tour.gz").write_bytes(gzip.compress(tour.encode()))
    assert resumed(cli).line == f"swarm-evo: beside/b.opt.tour is new {CANNOT}"
    with sqlite3.connect(cli.run_dir / "run.db") as store:  # as a version that did not know of tours left it
        (text,) = store.execute("SELECT value FROM facts WHERE key = 'scored_by'").fetchone()
        older = {name: content for name, content in json.loads(text).items() if not name.startswith("beside/")}
        store.execute("UPDATE facts SET value = ? WHERE key = 'scored_by'", (json.dumps(older),))
    assert resumed(cli).code == 0


def test_a_table_of_items(cli):
    items = cli.folder / "bins.csv"
    items.write_text("instance,capacity,size\n" + "".join(f"i{i % 3},10,{i % 9 + 1}\n" for i in range(60)))
    assert cli.here("run", "--problem=bin_packing", f"--problem.name={items}", "--search.max_steps=1").code == 0
    items.write_text(items.read_text().replace(",10,", ",12,"))
    assert resumed(cli).line == f"swarm-evo: bins.csv has changed {CANNOT}"


def test_what_a_command_names(cli):
    folder = cli.folder / "mine"
    folder.mkdir()
    (folder / "solve.py").write_text("print('value:', 1.5)\n")
    (folder / "judge.sh").write_text("python3 solve.py\n")
    words = (f"--problem.source={folder}/solve.py", "--problem.eval=sh judge.sh", "--problem.metric=value")
    ended = cli.here("run", "--problem=command", *words, "--search.max_steps=1")
    assert ended.code == 0, ended.err
    (folder / "judge.sh").write_text("python3 solve.py; echo value: 9\n")
    assert resumed(cli).line == f"swarm-evo: judge.sh has changed {CANNOT}"


def test_a_command_whose_shell_replaces_something_is_gone_on_with(cli):
    (cli.folder / "solve.py").write_text("print('value:', 1.5)\n")
    words = [f"--problem.source={cli.folder}/solve.py", "--problem.metric=value", "--problem=command",
             '--problem.eval=N="${A:-"7 8"}"; python3 solve.py; echo "value: ${N% *}${N#* }"']  # fmt: skip
    ended = cli.here("run", *words, "--search.max_steps=1")
    assert ended.code == 0, ended.err
    assert cli.show()["baselines"][0]["metric"] == 78
    ended = resumed(cli)
    assert ended.code == 0 and cli.show()["steps"] == 3, ended.err


def test_a_problem_of_ones_own_counts_itself(cli):
    from support.command_line import PLUGINS

    shutil.copytree(PLUGINS, cli.folder / "plugins")
    words = ("problem.kind=toy", f"problem.plugins={cli.folder}/plugins")
    assert cli("run", *words, "search.max_steps=1").code in (0, 3)
    (toy,) = (path for path in (cli.folder / "plugins").rglob("toy.py"))
    toy.write_text(f"{toy.read_text()}\nSCORES = 'otherwise'\n")
    ended = cli("resume", "latest", "--search.max_steps=3")
    assert ended.code == 2 and ended.line == f"swarm-evo: toy.py has changed {CANNOT}"


def test_names_in_texts(tmp_path):
    for name in ("a.json", "b.json", "main.py", "used.py", "run.log", "table.csv"):
        (tmp_path / name).write_text("")
    for name in ("cases/one.txt", "results/last.txt", "pkg/inner.py", ".hidden/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    text = 'from pkg import inner\nimport os, used\nif __name__ == "__main__": main()\nopen("cases/" + n)\n"run.log"\n'
    assert set(named_files(tmp_path, [text])) == {"cases/one.txt", "pkg/inner.py", "used.py"}
    assert set(named_files(tmp_path, ['f"{name}.json"'])) == {"a.json", "b.json"}
    assert set(named_files(tmp_path, ["python3 main.py < table.csv"])) == {"main.py", "table.csv"}
    assert set(named_files(tmp_path / "cases", [f"cat {tmp_path}/a.json /etc/passwd"])) == {f"{tmp_path}/a.json"}
    assert "main.py" not in folder_files(tmp_path) and "cases/one.txt" in folder_files(tmp_path)


def test_a_folder_of_many_files_is_known_by_names_and_sizes(tmp_path, monkeypatch):
    from core.contracts import ProblemDefaults
    from runs.recorded import scoring_record

    class Many(ProblemDefaults):
        @property
        def scoring_files(self):
            return {f"data/{path.name}": path for path in sorted(tmp_path.iterdir())}

    monkeypatch.setattr(scoring_record, "MANY", 5)
    for number in range(7):
        (tmp_path / f"{number}.png").write_bytes(b"x" * 10)
    first = scoring_record.scored_by(Many())
    assert list(first) == ["data/"]
    (tmp_path / "3.png").write_bytes(b"x" * 11)
    assert scoring_record.scored_by(Many()) != first
