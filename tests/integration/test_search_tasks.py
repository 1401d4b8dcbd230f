"""Scripts in the forms of GEPA's optimize_anything, LLaMEA and BLADE, written here: they are run up to their search."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import Cli

import swarm_evo
from problems.evaluator_forms import template_of

GEPA = '''
import subprocess
import sys

from gepa.optimize_anything import EngineConfig, GEPAConfig, OptimizationState, optimize_anything

SEED = """
print(2)
"""


def evaluate(candidate, opt_state: OptimizationState | None = None):
    assert opt_state is None
    done = subprocess.run([sys.executable, "-c", candidate], capture_output=True, text=True)
    if done.returncode:
        return 0.0, {"error": done.stderr[-200:], "code": candidate}
    return float(done.stdout), {"stdout": done.stdout}


def main():
    config = GEPAConfig(engine=EngineConfig(run_dir="outputs", max_metric_calls=9))
    optimize_anything(seed_candidate=SEED, evaluator=evaluate, config=config, objective="Print a large number.", MORE)
    raise SystemExit("the search was run")


if __name__ == "__main__":
    main()
'''
LLAMEA = '''
"""Centres of numbers."""
from llamea import Gemini_LLM, LLaMEA
from helper_of_script import NUMBERS

if __name__ == "__main__":
    llm = Gemini_LLM(None, "a model")

    def evaluate(solution, explogger=None):
        exec(solution.code, globals())
        found = globals()[solution.name](NUMBERS)(2)
        solution.set_scores(abs(found - 2 * 3), f"{solution.name} said {found}")
        return solution

    example = """For example:
```python
class Centre:
    def __init__(self, numbers):
        self.numbers = values

    def __call__(self, times):
        return times * self.numbers[0]
```
"""
    search = LLaMEA(evaluate, llm=llm, task_prompt="Find the centre.", example_prompt=example, minimization=True)
    print(search.run())
'''
MENDED = """
class Centre:
    def __init__(self, numbers):
        self.numbers = numbers

    def __call__(self, times):
        return times * self.numbers[0]
"""
CHEAT = """
class Centre:
    def __init__(self, numbers):
        import sys
        sys.modules["__main__"].NUMBERS = [3]
        self.numbers = [3]

    def __call__(self, times):
        raise SystemExit
"""
FORGED = """
NUMBERS = [3]
values = [3]

def abs(number):
    return -99

def evaluate(solution):
    return 0

class Centre:
    def __init__(self, numbers):
        self.numbers = numbers

    def __call__(self, times):
        return times * self.numbers[0]
"""
BLADE = """
import sys
from iohblade.experiment import Experiment
from iohblade.llm import Asking
from iohblade.problem import Ruler

if __name__ == "__main__":
    Experiment(methods=[Asking("no key")], problems=[Ruler()], budget=4)()
    sys.exit("the search was run")
"""
PACKAGE = {
    "__init__.py": "",
    "experiment.py": "class Experiment:\n    def __init__(self, **given):\n        raise RuntimeError('theirs')\n",
    "llm.py": "import not_here\n\nclass Asking:\n    def __init__(self, key):\n        raise ValueError('no key')\n",
    "solution.py": """
class Solution:
    def __init__(self, code="", name=""):
        self.code, self.name, self.fitness, self.feedback, self.error = code, name, None, "", ""
""",
    "problem.py": """
class Ruler:
    minimisation = False
    task_prompt = "Measure many lengths."
    example_prompt = "```python\\nclass Marks:\\n    def __call__(self):\\n        return [0, 1]\\n```"

    def evaluate(self, solution):
        scope = {}
        try:
            exec(solution.code, {}, scope)
            marks = scope[solution.name]()()
            solution.fitness = len({abs(a - b) for a in marks for b in marks}) - 1.0
        except Exception as error:
            solution.fitness, solution.feedback = float("-inf"), f"the ruler broke: {error}"
        return solution
""",
}


def settings(path: Path) -> dict[str, object]:
    return {"problem__path": str(path), "search__repeats": 0, "logging__report": False}


def gepa_script(folder: Path, more: str = "") -> Path:
    (folder / "main.py").write_text(GEPA.replace("MORE", more))
    return folder


def test_a_text_that_gepas_evaluator_runs_is_scored_as_there(tmp_path: Path):
    with swarm_evo.open(
        problem="script", budget={"steps": 2}, project_dir=tmp_path, **settings(gepa_script(tmp_path))
    ) as run:
        better = run.tell(run.ask(), code="print(3 * 4)\n")
        prompt = str(run.ask())
        start = run.nodes()[0]
    assert (start["metric"], better["metric"], better["metric_source"]) == (2, 12, "unisolated")
    assert "Print a large number." in prompt and "print(2)" in prompt


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("dataset=[1, 2]", "it scores on a data set"),
        ("", "its candidates have 2 texts"),
    ],
)
def test_what_has_no_counterpart_is_refused_in_one_line(cli: Cli, more: str, says: str):
    script = gepa_script(cli.folder, more) / "main.py"
    if not more:
        script.write_text(script.read_text().replace("seed_candidate=SEED", 'seed_candidate={"a": SEED, "b": SEED}'))
    ended = cli.here("run", "--problem", "script", f"problem.path={script}", "search.max_steps=1")
    assert ended.code == 2 and says in ended.line and "evaluate(program_path)" in ended.line


def test_a_class_that_llameas_evaluator_executes_is_kept_apart(tmp_path: Path):
    """Its text is stood in for, so that what it does is done in the sandbox; the first program, an example, fails."""
    script = tmp_path / "centre.py"
    script.write_text(LLAMEA)
    (tmp_path / "helper_of_script.py").write_text("NUMBERS = [4, 1]\n")
    with swarm_evo.open(problem="script", budget={"steps": 5}, project_dir=tmp_path, **settings(script)) as run:
        mended = run.tell(run.ask(), code=MENDED)
        cheat = run.tell(run.ask(), code=CHEAT)
        forged = run.tell(run.ask(), code=FORGED)
        prompt = str(run.ask())
        start = run.nodes()[0]
    assert start["failure"] == "bad_submission", "an exception is a failed program, as there"
    assert (mended["metric"], mended["metric_source"]) == (2, "verified") and cheat["metric"] is None
    assert forged["metric"] == 2, "no name of the evaluator's is the program's"
    assert "Centre said 8" in prompt and "Find the centre." in prompt and "The class is called `Centre`." in prompt


def test_of_ones_own_first_program_the_class_has_its_name(tmp_path: Path):
    """The statement told the name that the script's example has."""
    script, own = tmp_path / "centre.py", tmp_path / "own.py"
    script.write_text(LLAMEA)
    (tmp_path / "helper_of_script.py").write_text("NUMBERS = [4, 1]\n")
    own.write_text(MENDED.replace("class Centre", "class Middle"))
    given = {**settings(script), "problem__program": str(own)}
    with swarm_evo.open(problem="script", budget={"steps": 1}, project_dir=tmp_path, **given) as run:
        prompt = str(run.ask())
        start = run.nodes()[0]
    assert start["metric"] == 2 and "The class is called `Middle`." in prompt and "`Centre`" not in prompt


def test_blades_problem_is_asked_without_its_search_and_its_models(tmp_path: Path):
    checkout = tmp_path / "checkout"
    (checkout / "iohblade").mkdir(parents=True)
    (checkout / "examples").mkdir()
    (checkout / "pyproject.toml").write_text("")
    for name, text in PACKAGE.items():
        (checkout / "iohblade" / name).write_text(text)
    (checkout / "examples" / "ruler.py").write_text(BLADE)
    with swarm_evo.open(
        problem="script", budget={"steps": 3}, project_dir=tmp_path, **settings(checkout / "examples" / "ruler.py")
    ) as run:
        better = run.tell(run.ask(), code="class Marks:\n    def __call__(self):\n        return [0, 1, 4, 6]\n")
        broken = run.tell(run.ask(), code="class Marks:\n    def __call__(self):\n        return [0, None]\n")
        start = run.nodes()[0]
    assert (start["metric"], better["metric"], better["metric_source"]) == (1, 6, "verified")
    assert broken["failure"] == "bad_submission" and "the ruler broke" in broken["message"]


def test_a_script_that_does_not_come_to_its_search_says_why(cli: Cli):
    (cli.folder / "main.py").write_text(GEPA.replace("MORE", "").replace("import sys", "import sys\nimport not_here"))
    ended = cli.here("run", "--problem", "script", f"problem.path={cli.folder / 'main.py'}", "search.max_steps=1")
    assert ended.code == 2 and "does not come to its search" in ended.line
    assert "--execution.python=FILE names an interpreter that has 'not_here'" in ended.line
    ended = cli.here("run", "--problem", "script", f"problem.evaluator={cli.folder / 'main.py'}", "search.max_steps=1")
    assert ended.code == 2 and "problem.path=FILE" in ended.line
    ended = cli.here("doctor", "--evaluator", str(cli.folder / "main.py"))
    assert ended.code == 2 and "doctor runs no script to its search" in ended.line


def test_a_script_that_only_imports_such_a_package_is_none_of_them(tmp_path: Path):
    script = gepa_script(tmp_path) / "main.py"
    found = template_of(script)
    assert found is not None and found.kind == "search"
    script.write_text("import gepa\n\n\ndef score(text):\n    return len(text)\n")
    assert template_of(script) is None
