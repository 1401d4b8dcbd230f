"""`init PROBLEM`: what it writes passes its own test, and is searched as it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.parser import main

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_what_is_written_passes_its_test_and_is_searched(tmp_path):
    def here(command: str) -> str:
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=400)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def told(what: str) -> str:
        (line,) = [line for line in made.splitlines() if line.startswith(what)]
        return line.removeprefix(what).strip()

    made = here(f"{sys.executable} {ROOT / 'main.py'} init job_order")
    assert "class JobOrder(FunctionProblem)" in (tmp_path / "job_order" / "problems" / "job_order.py").read_text()
    assert "3 passed" in here(told("test it:"))
    searched = here(told("search it:").replace("max_steps=50", "max_steps=8") + " --json")
    assert json.loads(searched)["problem"] == "job_order"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["init", "tsp"], "a problem of that name comes along"),
        (["init", "My-Problem"], "the name must be a letter, then lower-case letters, digits and _"),
        (["init", "2opt"], "the name must be a letter, then lower-case letters, digits and _"),
        (["init", "class"], "init class: that is a word of Python's own; take another, such as my_class"),
        (["init", "none"], "init none: that is a word of Python's own"),
        (["init", "test_colour"], "a file of that name is a test"),
        (["init", "mine", "--project.dir=there"], "project.dir=…: `init` does not read it; it reads no such keys"),
        (["init", "mine", "--search.max_steps=3"], "search.max_steps=…: `init` does not read it"),
        (["init"], "the following arguments are required: PROBLEM"),
    ],
)
def test_a_name_that_cannot_be_is_refused(capsys, words, told):
    assert main(words) == 2
    assert told in capsys.readouterr().err


def test_a_game_that_is_named_by_its_kind_alone_is_searched_as_its_preset_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "pawn_race", "--game", "--out=made"]) == 0
    plans = []
    for words in (["--problem=made/pawn_race.yaml"], ["--problem.kind=pawn_race", "--plugins=made"]):
        capsys.readouterr()
        assert main(["run", "--plan", *words]) == 0
        plans.append(json.loads(capsys.readouterr().out))
    assert plans[0] == plans[1] and plans[1]["policy"] == "generations"


def test_the_command_in_it_names_its_folder_as_a_shell_reads_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "mine", "--out", "my problems"]) == 0
    text = (tmp_path / "my problems" / "problems" / "mine.py").read_text()
    assert "--problem.kind=mine --plugins='my problems' --search.max_steps=50" in text
    assert "--plugins='my problems'" in capsys.readouterr().out
    assert "pytest 'my problems'" in (tmp_path / "my problems" / "test_mine.py").read_text()


def test_its_test_passes_from_any_folder_where_swarm_evo_is_not_installed(tmp_path, capsys, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["init", "mine"]) == 0
    assert "test it:    python -m pytest mine\n" in capsys.readouterr().out
    words = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "mine")]
    done = subprocess.run(words, cwd=tmp_path / "elsewhere", capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr


def test_its_test_passes_with_a_function_of_another_name_and_is_no_problem(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "mine"]) == 0
    file = tmp_path / "mine" / "problems" / "mine.py"
    file.write_text(file.read_text().replace("priority(", "rank("))
    words = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "mine")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr
    capsys.readouterr()
    assert main(["problem.kind=mime", f"plugins={tmp_path / 'mine'}"]) == 2
    told = capsys.readouterr().err
    assert "did you mean 'mine'" in told and "test_mine" not in told
    file.write_text(file.read_text().replace("rank(duration: float, weight: float)", "rank(duration, weight, index)"))
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "other.py").write_text(file.read_text())  # a module is read once a process
    assert main(["problem.kind=other", f"plugins={tmp_path / 'two'}", "search.max_steps=2"]) == 2
    assert "start, which is to be as signature" in capsys.readouterr().err and not (tmp_path / "logs").exists()


def test_where_pytest_is_missing_it_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "first"]) == 0 and "it needs pytest" not in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "pytest", None)
    assert main(["init", "second"]) == 0
    assert (
        f"it needs pytest, which is not installed here: {sys.executable} -m pip install pytest"
        in capsys.readouterr().out
    )


def test_nothing_is_overwritten(tmp_path, capsys):
    assert main(["init", "mine", f"--out={tmp_path}"]) == 0
    (tmp_path / "test_mine.py").write_text("my own work")
    assert main(["init", "mine", f"--out={tmp_path}"]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err
    assert (tmp_path / "test_mine.py").read_text() == "my own work"


def test_a_game_that_is_written_passes_its_test_and_its_engines_play(tmp_path):
    """From nothing to a champion, its rivals, and every verb that plays the game again: what each says next works."""

    def here(command: str) -> str:
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=400)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    main_py = f"{sys.executable} {ROOT / 'main.py'}"
    made = here(f"{main_py} init pawn_race --game --out='my game'")
    (searched, tested) = (
        line.partition(":")[2].strip() for line in made.splitlines() if line.startswith(("sea", "tes"))
    )
    assert "3 passed" in here(tested)
    few = "--search.max_generations=1 --arena.openings=1 --arena.limit=nodes:30 --arena.gauntlet=2"
    said = here(f"{searched} {few}")
    assert "above the starting champion" in said
    (line,) = [line.strip() for line in said.splitlines() if " arena " in line and "RIVAL" in line]
    rival = "'my game/problems/pawn_race/engines/greedy.py'"
    played = here(line.partition("      (")[0].replace("RIVAL", rival) + " --games=2")
    assert "greedy" in played and "breakthrough" in played
    assert "came out again" in here(f"{main_py} replay latest --verify")
    engine = next((tmp_path / "logs").glob("*/best_solution/engine.py"))
    spoken = subprocess.run(
        [sys.executable, str(engine)], input="uci\nposition startpos moves b1b2\ngo nodes 50\nquit\n", text=True,
        capture_output=True, timeout=60,
    ).stdout  # fmt: skip
    assert "bestmove " in spoken
    with (tmp_path / "my game/problems/pawn_race/position.py").open("a") as rules:
        rules.write("\nANOTHER_RULE = 1\n")
    again = subprocess.run(
        f"{main_py} resume latest --search.max_generations=2", shell=True, cwd=tmp_path, capture_output=True, text=True
    )
    assert again.returncode == 2 and "game/position.py has changed since the run began" in again.stderr


def test_what_is_no_game_or_no_preset_is_told_how_a_game_of_ones_own_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["arena", "--problem=tsp", "a.py", "b.py"]) == 2
    assert "tsp: that is no game; allowed: connect_four, chess_engines, a game of your own" in capsys.readouterr().err
    assert main(["--problem=pawn_race"]) == 2
    assert "one of your own is a YAML file, or problem.kind=NAME with plugins=FOLDER" in capsys.readouterr().err


def test_what_a_problem_of_ones_own_prints_is_beside_what_the_verb_says(cli):
    """It stood before the JSON, which nobody could read then."""
    assert cli.here("init", "mine").code == 0
    file = cli.folder / "mine" / "problems" / "mine.py"
    made = file.read_text().replace("return [[(rng", "print('made', part)\n        return [[(rng")
    file.write_text(made)
    ended = cli.here(
        "run", "--problem.kind=mine", "--plugins=mine", "--search.max_steps=3", "--json", "logging.view=quiet"
    )
    assert ended.code == 0 and ended.json["problem"] == "mine" and "made validation" in ended.err


def test_a_key_that_nobody_reads_is_refused_of_a_problem_of_ones_own(cli):
    assert cli.here("init", "mine").code == 0
    for word in ("problem.options.jobs=50", "problem.name=large", "data.dir=mine"):
        ended = cli.here("run", "--plan", "--problem.kind=mine", "--plugins=mine", f"--{word}")
        assert ended.code == 2 and f"{word}: mine does not read it; it reads no key of" in ended.line


def test_a_module_beside_a_problem_of_ones_own_is_found_as_it_is_told(cli):
    assert cli.here("init", "mine").code == 0
    file = cli.folder / "mine" / "problems" / "mine.py"
    file.write_text(file.read_text().replace("import random\n", "import random\n\nimport helper_of_mine\n"))
    file.with_name("helper_of_mine.py").write_text("X = 1\n")
    words = ("run", "--plan", "--problem.kind=mine", "--plugins=mine")
    ended = cli.here(*words)
    told = f"No module named 'helper_of_mine'; with PYTHONPATH={file.parent} in the environment it is found"
    assert ended.code == 2 and told in ended.line
    assert cli.anew(*words, PYTHONPATH=str(file.parent)).code == 0
