"""Evaluators of users, apart from their candidates in a real sandbox: what crosses, who is blamed, what is believed."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import small_networkx
from support.command_line import Cli

import swarm_evo
from core.contracts import Limits
from core.evaluation.isolation.decision import Decision
from core.executor.sandbox import open_sandbox
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.storage.reader import RunReader
from core.workers.local import LocalJobs
from core.workers.pool import JobPool
from problems.script.evaluator import DECISION, ScriptEvaluator
from problems.script.problem import Options, ScriptProblem, build
from problems.script.screening import RANKED
from runs.stored.reading import node_facts
from utils.allowance import Allowance
from utils.errors import ConfigError

pytestmark = pytest.mark.usefixtures("forked_children")

LOAD = """
import importlib.util

def load(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    sandbox = open_sandbox("auto", preload=("math",), state_dir=tmp_path_factory.mktemp("state"))
    pool = JobPool(LocalJobs(sandbox, 2, scratch=tmp_path_factory.mktemp("scratch")))
    yield pool
    pool.close()
    sandbox.close()


class Judge:
    """A user's evaluator and program in a folder, as a run would ask them."""

    def __init__(self, jobs, folder: Path, evaluator: str, program: str, **options) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.program = textwrap.dedent(program)
        (folder / "evaluator.py").write_text(LOAD + textwrap.dedent(evaluator))
        (folder / "initial_program.py").write_text(self.program)
        empty = dict.fromkeys(("path", "program", "evaluator", "metric"))
        files = {"program": str(folder / "initial_program.py"), "evaluator": str(folder / "evaluator.py")}
        section = SimpleNamespace(**{**empty, **files, "direction": "max", "options": options})
        cfg = SimpleNamespace(problem=section, execution=SimpleNamespace(runner="local"), given=None, initial=())
        self.problem = build(cfg, folder)
        self.journal, self.told = Journal(lower_is_better=False), []
        self.deps = SimpleNamespace(
            jobs=jobs, journal=self.journal, limits=Limits(seconds=20), seed=1, isolated=True,
            run_dir=folder / "run", append=self.told.extend, tune_trials=5, repeats=0, doing=print,
            allowance=Allowance(),
        )  # fmt: skip
        self.evaluator: ScriptEvaluator = self.problem.evaluator(self.deps)
        self.count = 0

    def score(self, code: str | None = None, operator: str = "mutate"):
        """The verdict on a program, committed as a node; without one on the user's own."""
        text, self.count = (self.program, self.count) if code is None else (textwrap.dedent(code), self.count + 1)
        node = Node(id=f"n{self.count}", code=text, operator="baseline" if code is None else operator)
        (verdict,) = self.evaluator.evaluate([node])
        self.journal.append(
            node.model_copy(update={"metric_value": verdict.metric, "is_valid": verdict.metric is not None})
        )
        return verdict

    @property
    def decision(self) -> Decision:
        return Decision.model_validate_json((self.deps.run_dir / "files" / DECISION).read_text())


@pytest.fixture
def judge(jobs, tmp_path):
    return lambda evaluator, program, **options: Judge(jobs, tmp_path / "mine", evaluator, program, **options)


VECTORS = """
def evaluate(path):
    m = load(path)
    a, b = m.Vector([1, 2, 3]), m.Vector([10, 20, 30])
    total = sum(a) + len(b) + a[1] + (a + b)[2] + (a < b) + (a == m.Vector([1, 2, 3])) + (2 in a) + (a != b)
    a[0] = 7
    return {"combined_score": float(total + a[0] + a.norm() + len(list(reversed(b))) + m.double(a.items)[0])}
"""
VECTOR = """
class Vector:
    def __init__(self, items): self.items = list(items)
    def __len__(self): return len(self.items)
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, i, v): self.items[i] = v
    def __add__(self, other): return Vector(x + y for x, y in zip(self.items, other.items))
    def __eq__(self, other): return self.items == other.items
    def __lt__(self, other): return self.items < other.items
    def norm(self): return sum(x * x for x in self.items) ** 0.5
def double(items): return [2 * x for x in items]
"""


def in_process(judge: Judge) -> float:
    """The score as plain Python gives it."""
    folder = judge.problem.evaluator_file.parent
    script = "import evaluator; print(evaluator.evaluate('initial_program.py')['combined_score'])"
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_objects_of_candidate_classes_behave_as_in_process(judge):
    asked = judge(VECTORS, VECTOR)
    verdict = asked.score()
    assert verdict.metric == pytest.approx(in_process(asked)), verdict.message
    assert (
        verdict.source == "verified"
        and "Vector" in asked.decision.classes
        and "Vector.__add__()" in asked.decision.classes
    )


def test_a_function_that_a_candidate_turns_into_a_class_is_still_asked_for_plain_data(judge):
    """Its objects could equal everything that they are compared with."""
    asked = judge(
        'def evaluate(path):\n    return {"combined_score": float(sum(load(path).f(i) == i * i for i in range(9)))}\n',
        "def f(x):\n    return x\n",
    )
    assert asked.score().metric == 2
    liar = asked.score("class f:\n    def __init__(self, x): pass\n    def __eq__(self, other): return True\n")
    assert (liar.failure, liar.metric) == (FailureKind.SIGNATURE, None) and "f cannot cross" in liar.message


SUM = """
SCALE = 10.0
def evaluate(path):
    m = load(path)
    error = sum(abs(m.f(x) - x * x) for x in range(20))
    return {"combined_score": SCALE / (SCALE + error)}
"""


def test_a_candidate_cannot_choose_the_weaker_form(judge):
    """Behind the proxy it answers what cannot cross; beside the evaluator it would enlarge its scale."""
    asked = judge(SUM, "def f(x):\n    return 1.1 * x\n")
    honest = asked.score()
    cheat = asked.score("""
        import sys
        frame, beside = sys._getframe(), False
        while frame is not None:
            if type(frame.f_globals.get("SCALE")) is float:
                frame.f_globals["SCALE"] *= 1e9
                beside = True
            frame = frame.f_back
        def f(x): return 0.0 if beside else lambda: 0
    """)
    assert (cheat.failure, cheat.metric) == (FailureKind.SIGNATURE, None)
    assert honest.source == "verified" and not asked.told


def test_stop_iteration_of_a_candidate_ends_no_loop_of_the_evaluators(judge):
    asked = judge(
        """
        def evaluate(path):
            m = load(path)
            errors = list(map(lambda x: abs(m.f(x) - x * x), range(20)))
            return {"combined_score": 1 / (1 + sum(errors) / len(errors))}
        """,
        "def f(x):\n    return x\n",
    )
    assert asked.score().metric < 0.1
    cheat = asked.score("def f(x):\n    if x > 1: raise StopIteration\n    return x\n")
    assert cheat.failure is FailureKind.RUNTIME and "RuntimeError" in cheat.message and cheat.metric is None


def test_a_program_imports_modules_beside_the_evaluator_but_not_the_evaluator(judge, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "basis.py").write_text("from deeper import two\nk = two + 1\n")
    (tmp_path / "mine" / "deeper.py").write_text("two = 2\n")
    (tmp_path / "mine" / "answers.py").write_text("secret = 9\n")
    asked = judge(
        'import answers\ndef evaluate(path):\n    return {"combined_score": float(load(path).f())}\n',
        "from basis import k\ndef f():\n    return k\n",
    )
    assert asked.score().metric == 3 and asked.decision.isolation == "apart"
    assert sorted(asked.decision.modules) == ["basis", "deeper"]
    for name in ("evaluator", "answers"):
        assert "No module named" in asked.score(f"import {name}\ndef f():\n    return 9\n").message


def test_a_graph_is_given_to_a_program_that_is_kept_apart(judge, tmp_path):
    """Nodes, edges and what hangs on them cross; a graph as an answer does not."""
    (tmp_path / "mine").mkdir()
    shutil.copyfile(small_networkx.__file__, tmp_path / "mine" / "networkx.py")
    evaluator = """
        import networkx
        def evaluate(path):
            graph = networkx.Graph()
            graph.graph["name"] = "g"
            graph.add_node((1, 2), weight=3)
            graph.add_edge("a", (1, 2), cost=2.5, tags={"x"})
            graph.add_edge("a", "b", cost=4)
            found = load(path).f({"graphs": [graph]}, 2)
            return {"combined_score": float(found)}
        """
    program = "import networkx\n\n\ndef f(given, times):\n    (graph,) = given['graphs']\n"
    program += "    assert type(graph) is networkx.Graph and graph.graph == {'name': 'g'}\n"
    program += "    assert list(graph.nodes(data=True))[0] == ((1, 2), {'weight': 3})\n"
    program += "    return times * sum(data['cost'] for _, _, data in graph.edges(data=True))\n"
    asked = judge(evaluator, program)
    verdict = asked.score()
    assert (verdict.metric, asked.decision.isolation) == (13, "apart"), verdict.message or asked.decision.reason
    answers = asked.score("import networkx\n\n\ndef f(given, times):\n    return given['graphs'][0]\n")
    assert answers.metric is None and "networkx.Graph is not plain data" in answers.message


def test_a_program_imports_packages_beside_the_evaluator(judge, tmp_path):
    """Of a folder of modules those go along that are imported, relative imports too, and nothing else of it."""
    folder = tmp_path / "mine" / "helpers"
    (folder / "deep").mkdir(parents=True)
    (folder / "__init__.py").write_text("from .costs import two\n")
    (folder / "costs.py").write_text("from . import more\nfrom .deep.deeper import one\ntwo = one + more.one\n")
    (folder / "more.py").write_text("one = 1\n")
    (folder / "answers.py").write_text("secret = 9\n")
    (folder / "deep" / "deeper.py").write_text("one = 1\n")
    asked = judge(
        'import helpers.answers\ndef evaluate(path):\n    return {"combined_score": float(load(path).f())}\n',
        "from helpers.costs import two\nimport helpers\ndef f():\n    return two + helpers.two\n",
    )
    assert (asked.score().metric, asked.decision.isolation) == (4, "apart"), asked.decision.reason
    told = asked.problem.prompt_extras()["sections"]["What it imports from beside it"]
    assert "helpers/costs.py" in told and "two = one + more.one" in told and "secret" not in told
    assert {"helpers/costs.py", "helpers/__init__.py"} <= asked.problem.scoring_files.keys()
    asked.problem.export(Node(id="n", code=asked.program, operator="mutate"), tmp_path / "out", tmp_path)
    taken = subprocess.run(
        [sys.executable, "-c", "import solution; print(solution.f())"],
        cwd=tmp_path / "out",
        capture_output=True,
        text=True,
    )
    assert taken.stdout == "4\n", taken.stderr
    assert "No module named" in asked.score("import helpers.answers\ndef f():\n    return 9\n").message


def test_a_module_that_is_called_as_a_file_of_the_export_does_not_take_its_place(tmp_path, capsys):
    """The evaluator was written over the module that the program imports, or a module over the program."""
    (tmp_path / "program.py").write_text("from evaluator import k\ndef f():\n    return k\n")
    (tmp_path / "judge.py").write_text("def evaluate(path):\n    return 1\n")
    (tmp_path / "evaluator.py").write_text("import solution\nk = 3\n")
    (tmp_path / "solution.py").write_text("j = 4\n")
    problem = ScriptProblem(tmp_path / "program.py", tmp_path / "judge.py", Options())
    best = Node(id="n", code="from evaluator import k\ndef f():\n    return k + 1\n", operator="mutate")
    problem.export(best, tmp_path / "out", tmp_path)
    assert (tmp_path / "out" / "solution.py").read_text() == best.code
    assert "def evaluate" in (tmp_path / "out" / "evaluator.py").read_text()
    said = capsys.readouterr().err
    assert "the export lacks your solution.py" in said and "the export lacks your evaluator.py" in said


def test_modules_lie_as_deep_as_they_lie_and_odd_names_are_no_fault(judge, tmp_path):
    """A folder that holds nothing but folders was not gone through, which made every score `unisolated`."""
    deep = tmp_path / "mine" / "lib" / "all" / "costs"
    deep.mkdir(parents=True)
    (deep / "two.py").write_text("two = 2\n")
    (tmp_path / "mine" / "locked.py").mkdir()
    far = ".".join(["x" * 200] * 30)
    asked = judge(
        'def evaluate(path):\n    return {"combined_score": float(load(path).f())}\n',
        f"from lib.all.costs.two import two\ntry:\n    import locked, {far}\nexcept (ImportError, OSError):\n    pass\n"
        "def f():\n    return two\n",
    )
    assert (asked.score().metric, asked.decision.isolation) == (2, "apart"), asked.decision.reason
    assert "No module named" in asked.score("import lib.all.other\ndef f():\n    return 9\n").message


def test_what_goes_along_with_a_program_is_told_and_its_errors_name_their_lines(judge, tmp_path):
    """A package may import more than its user thinks of: answers that only the evaluator needs were shown unsaid.

    A module that asks for its own place did not load, so that every score was `unisolated`.
    """
    folder = tmp_path / "mine" / "helpers"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from .answers import LABELS\n")
    (folder / "answers.py").write_text("LABELS = [1, 2]\n")
    (folder / "costs.py").write_text("import os\nHERE = os.path.dirname(__file__)\ndef half(x):\n    return x / 2\n")
    asked = judge(
        "from helpers.costs import half\nimport helpers.answers\n"
        'def evaluate(path):\n    return {"combined_score": float(load(path).f())}\n',
        "from helpers.costs import half\ndef f():\n    return half(8)\n",
    )
    assert (asked.score().metric, asked.decision.isolation) == (4, "apart"), asked.decision.reason
    (said,) = asked.told
    assert said.text.startswith(
        "helpers/answers.py: the evaluator imports it, and programs and their writers see it"
    ), said.text
    failed = asked.score("from helpers.costs import half\ndef f():\n    return half('x')\n")
    assert 'File "/workspace/helpers/costs.py", line 4, in half' in failed.term_out
    assert "return x / 2" in failed.term_out and "harness" not in failed.term_out, failed.term_out


@pytest.mark.parametrize("crash", ["raise OSError('busy')", "os._exit(3)"])
def test_an_evaluator_that_crashes_now_and_then_is_kept_apart_all_the_same(judge, tmp_path, crash):
    """One bad moment at the start made every score of the run `unisolated`."""
    asked = judge(
        f"""
        import os
        def evaluate(path):
            m = load(path)
            if not os.path.exists({str(tmp_path / "been")!r}):
                open({str(tmp_path / "been")!r}, "w").close()
                {crash}
            return {{"combined_score": float(m.f())}}
        """,
        "def f():\n    return 4\n",
    )
    assert (asked.score().metric, asked.decision.isolation, asked.told) == (4, "apart", [])


def test_what_is_to_be_shown_is_there(judge, tmp_path):
    """A path that is nowhere was shown to nobody, and nobody was told; one word is a list of one."""
    (tmp_path / "data").mkdir()
    asked = judge(
        "def evaluate(path):\n    return load(path).f()\n", "def f():\n    return 1\n", shows=str(tmp_path / "data")
    )
    asked.problem.check()
    assert asked.problem.options.shows == [str(tmp_path / "data")]
    wrong = judge("def evaluate(path):\n    return 1\n", "def f():\n    return 1\n", shows=f"{tmp_path}/data,nowhere")
    with pytest.raises(ConfigError, match=r"problem\.options\.shows=nowhere: no such file"):
        wrong.problem.check()


READS_TEXT = """
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "elsewhere"))
import helper
def evaluate(path):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "d.json")) as file:
        wanted = json.load(file)
    text = open(path).read()
    names = {}
    exec(text, names)
    return {"combined_score": helper.distance(names["f"](3), wanted) + ("return" in text)}
"""


def test_the_fall_back_sees_the_same_files_and_says_why(judge, tmp_path):
    (tmp_path / "mine" / "data").mkdir(parents=True)
    (tmp_path / "mine" / "data" / "d.json").write_text("9")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "helper.py").write_text("def distance(a, b):\n    return -abs(a - b)\n")
    asked = judge(READS_TEXT, "def f(x):\n    return 2 * x\n")
    verdict = asked.score()
    assert (verdict.metric, verdict.source) == (-2, "unisolated"), verdict.message
    assert "source text" in verdict.unisolated_reason and "source text" in asked.told[0].text
    again = asked.score("def f(x):\n    return 3 * x\n")
    assert (again.metric, again.source) == (1, "unisolated") and len(asked.told) == 1


def test_what_fails_beside_the_evaluator_too_is_told_and_not_what_cannot_cross(judge):
    """A lock cannot cross; that the evaluator itself fails was told to nobody."""
    body = """
        def evaluate(path):
            import threading
            return {"combined_score": load(path).f(threading.Lock()) + {}["of mine"]}
    """
    run = judge(body, "def f(x):\n    return 1.0\n").score()
    assert run.metric is None and "KeyError: 'of mine'" in run.message, run.message


def test_insisting_on_apart_says_why_it_cannot_be(judge):
    asked = judge(
        'def evaluate(path):\n    return {"combined_score": float(len(open(path).read()))}\n',
        "x = 1\n",
        isolation="apart",
    )
    verdict = asked.score()
    assert verdict.failure is FailureKind.EVAL_ERROR and "source text" in verdict.message


def test_what_the_two_print_comes_back(judge):
    asked = judge(
        'def evaluate(path):\n    print("judging")\n    return {"combined_score": float(load(path).f())}\n',
        "def f():\n    print('thinking')\n    return 1\n",
    )
    text = asked.score().term_out
    assert "judging" in text and "thinking" in text and text.index("judging") < text.index("thinking")


def test_an_evaluator_whose_own_environment_lacks_something_is_not_the_candidates_fault(judge):
    asked = judge("import no_such_package\ndef evaluate(path):\n    return 1.0\n", "x = 1\n")
    verdict = asked.score()
    assert verdict.failure is FailureKind.EVAL_ERROR
    assert "the evaluator cannot be loaded by" in verdict.message and "no_such_package" in verdict.message


def test_a_score_that_depends_on_time_is_not_verified(judge):
    """Each call crosses to the sandbox: apart, the program seems much slower than it is."""
    asked = judge(
        """
        import time
        def evaluate(path):
            m, began = load(path), time.perf_counter()
            for i in range(400):
                m.f(i)
            return {"combined_score": 1 / (time.perf_counter() - began)}
        """,
        "def f(x):\n    return x\n",
    )
    verdict = asked.score()
    assert verdict.source == "unisolated" and "depends on time" in verdict.unisolated_reason
    assert verdict.metric > 200, "it is measured where the candidate runs"


def test_a_slow_start_does_not_hide_that_the_score_is_a_time(jobs, tmp_path):
    """The way to the sandbox is lost in the time of the user's own program, and not in that of a better one."""
    evaluator = """
    import time
    def evaluate(path):
        m, began = load(path), time.perf_counter()
        m.f(300)
        return {"combined_score": 1 / (time.perf_counter() - began + 0.001)}
    """
    program = "def f(n):\n    return sum(i * j for i in range(n) for j in range(i))\n"
    for trial in range(3):  # where others take the processors for milliseconds, times may say nothing
        verdict = Judge(jobs, tmp_path / f"{trial}", evaluator, program).score()
        if verdict.source == "unisolated":
            break
    assert verdict.source == "unisolated" and "depends on time" in verdict.unisolated_reason


def test_a_clock_that_only_reports_keeps_a_random_score_apart(judge):
    asked = judge(
        """
        import random, time
        def evaluate(path):
            m, began = load(path), time.perf_counter()
            found = m.f(3) + random.SystemRandom().random()
            return {"combined_score": found, "seconds": time.perf_counter() - began}
        """,
        "def f(n):\n    return n\n",
    )
    own = asked.score()
    assert own.source == "verified"
    assert len(own.repeats) >= 3 and own.metric == pytest.approx(sum(own.repeats) / len(own.repeats)), "not one's luck"
    assert own.interval is not None and own.interval[0] < own.metric < own.interval[1]


def test_calls_of_several_threads_cross_together_and_keep_their_exceptions(judge):
    asked = judge(
        """
        from concurrent.futures import ThreadPoolExecutor
        def one(m, i):
            try:
                return m.f(i)
            except ValueError as error:
                return -float(str(error))
        def evaluate(path):
            m = load(path)
            with ThreadPoolExecutor(8) as pool:
                return {"combined_score": float(sum(pool.map(lambda i: one(m, i), range(200))))}
        """,
        "def f(x):\n    if x % 10 == 0:\n        raise ValueError(x)\n    return x\n",
    )
    verdict = asked.score()
    tens = sum(range(0, 200, 10))
    assert verdict.metric == sum(range(200)) - 2 * tens and verdict.source == "verified", verdict.message


# ---------------------------------------------------------------- screening

BINS = """
ITEMS = [i * 37 % 9 + 1 for i in range(900)]
SCALE = 1.0
def evaluate(path):
    m, bins = load(path), []
    for item in ITEMS:
        fits = [i for i, used in enumerate(bins) if used + item <= 10]
        if fits:
            best = max(fits[-6:], key=lambda i: m.priority(item, 10 - bins[i]))
            bins[best] += item
        else:
            bins.append(item)
    return {"combined_score": SCALE * sum(ITEMS) / (10.0 * len(bins))}
"""
WORST = "def priority(item, room):\n    return room\n"
BEST = "def priority(item, room):\n    return -room\n"


def test_fine_grained_evaluators_are_screened_and_what_ranks_is_scored_apart(judge):
    asked = judge(BINS, WORST)
    first = asked.score()
    assert asked.decision.isolation == "screen" and "calls a program" in asked.decision.reason
    assert first.source == "verified" and asked.evaluator.together
    for number in range(RANKED):
        better = asked.score(BEST.replace("-room", f"-{number + 1}.0 * room"))
        assert better.source == "verified" and better.metric > first.metric
    worse = asked.score("def priority(item, room):\n    return 2 * room\n")
    assert (worse.metric, worse.failure, worse.source, worse.rung) == (None, None, None, "cheap")
    assert "screened" in worse.message
    assert asked.score("def priority(item, room):\n    return 1 / 0\n").failure is not None


@pytest.mark.parametrize("isolation", ["apart", "together"])
def test_programs_find_loaded_what_they_import(judge, isolation):
    """The user's own imports nothing: what later ones need is loaded for those alone."""
    asked = judge(
        'def evaluate(path): return {"combined_score": float(load(path).found())}',
        "import sys\ndef found(): return 'numpy' in sys.modules\n", isolation=isolation,
    )  # fmt: skip
    assert asked.problem.preload == ("math",)
    assert asked.score().metric == 0
    before = "import sys\nBEFORE = 'numpy' in sys.modules\nimport numpy\n"
    assert asked.score(f"{before}def found(): return BEFORE\n").metric == 1
    assert asked.score("import sys\ndef found(): return 2 * ('numpy' in sys.modules)\n").metric == 0


def test_a_candidate_that_enlarges_its_score_beside_the_evaluator_is_tampered(judge):
    asked = judge(BINS, WORST)
    asked.score()
    cheat = asked.score("""
        import sys
        def priority(item, room):
            frame = sys._getframe()
            while frame is not None:
                if "SCALE" in frame.f_globals: frame.f_globals["SCALE"] = 9.0
                frame = frame.f_back
            return room
    """)
    assert (cheat.failure, cheat.metric) == (FailureKind.TAMPERED, None) and "beside the evaluator" in cheat.message


def test_an_odd_number_in_the_place_of_a_score_tells_nothing_of_this_machine(judge, tmp_path):
    """The call was quoted, with the evaluator's path on this machine, which is another in each run's prompts."""
    asked = judge(
        'def evaluate(path): return {"combined_score": load(path).f()}', "def f(): return 1.0\n", isolation="together"
    )
    assert asked.score().metric == 1.0
    forged = asked.score("""
        import sys
        def f():
            frame = sys._getframe()
            while frame is not None:
                if "to_plain" in frame.f_globals: frame.f_globals["to_plain"] = lambda value: {"combined_score": 1e999}
                frame = frame.f_back
            return 2.0
    """)
    assert (forged.metric, forged.failure) == (None, FailureKind.NON_FINITE)
    assert str(tmp_path) not in forged.message and "def f" not in forged.message and "sandbox" not in forged.message


@pytest.mark.parametrize("protocol", [False, True])
def test_what_is_data_in_the_users_program_is_no_object_that_equals_everything(judge, protocol):
    """A method that answered with numbers answers with numbers, whatever a candidate says that its objects are."""
    asked = judge(
        "def evaluate(path):\n    m = load(path).Model()\n"
        "    return {'combined_score': sum(m.predict(i) == i * 7919 % 13 for i in range(20)) / 20}\n",
        "class Model:\n    def predict(self, i): return 0\n",
    )
    first = asked.score()
    assert first.source == "verified" and first.metric < 0.5
    forged = """
        __handles__.special = lambda kind, names: ["__eq__", "__hash__"]
        used, __handles__.use = __handles__.use, lambda key, name, args, named: (
            ("handle", "Model", "0") if name == "predict" else ("value", True))
    """
    cheat = asked.score(f"""
        class Model:
            def predict(self, i): return self
            def __eq__(self, other): return True
            def __hash__(self): return 0
        {forged if protocol else ""}
    """)
    assert (cheat.metric, cheat.failure) == (None, FailureKind.SIGNATURE)


@pytest.mark.long
@pytest.mark.parametrize("end", ["return 2 * room", "raise ValueError(str(seen))"])
def test_what_a_program_finds_beside_the_evaluator_is_told_to_nobody(judge, end):
    """It would stand in the next prompt, and the next program would know it."""
    asked = judge(BINS.replace("SCALE = ", "HIDDEN = 'label-' + '4711'\nSCALE = "), WORST)
    for number in range(6):
        asked.score(BEST.replace("-room", f"-{number + 1}.0 * room"))
    verdict = asked.score(f"""
        import sys
        def priority(item, room):
            frame, seen = sys._getframe(), ""
            while frame is not None:
                seen = frame.f_globals.get("HIDDEN", seen)
                frame = frame.f_back
            print(seen)
            {end}
    """)
    assert asked.decision.isolation == "screen" and verdict.metric is None
    assert "label-4711" not in verdict.model_dump_json()


SECRETS = """
import random
XS = [i / 100 for i in range(600)]
SECRET = [random.Random(i).gauss(0, 0.2) for i in range(len(XS))]
TARGETS = [x * x + s for x, s in zip(XS, SECRET)]
def evaluate(path):
    m = load(path)
    return {"combined_score": 10.0 / (10.0 + sum(abs(float(m.predict(x)) - t) for x, t in zip(XS, TARGETS)))}
"""
TELLS = """
import sys, time
frame = sys._getframe()
while frame is not None and not ("TARGETS" in frame.f_globals and frame.f_globals["__name__"] != __name__):
    frame = frame.f_back
if frame is not None:
    secret = abs(frame.f_globals["SECRET"][7])
    frame.f_globals["XS"], frame.f_globals["TARGETS"] = [0.0], [1e6 + 1000 * secret]
    time.sleep(0.5 + secret)
def predict(x): return 0.0
"""


@pytest.mark.long
def test_score_and_time_that_a_program_chose_beside_the_evaluator_reach_no_writer(tmp_path):
    """Two programs that do not rank, one of them telling a label by both numbers, differ in nothing that is kept."""
    (tmp_path / "evaluator.py").write_text(LOAD + SECRETS)
    (tmp_path / "program.py").write_text("def predict(x):\n    return x\n")
    secret = abs(random.Random(7).gauss(0, 0.2))
    score = 10.0 / (10.0 + 1e6 + 1000 * secret)
    run = swarm_evo.open(
        problem="script", problem__program=str(tmp_path / "program.py"), budget={"steps": 6}, project_dir=tmp_path,
        problem__evaluator=str(tmp_path / "evaluator.py"), problem__direction="max",
        problem__options={"isolation": "screen"},
    )  # fmt: skip
    goods = [f"def predict(x):\n    return {factor} * x * x\n" for factor in (0.99, 1.01, 0.98)]
    told = [run.tell(run.ask(), code=code) for code in (*goods, TELLS, "def predict(x):\n    return 0.5\n")]
    last = run.ask()
    prompt = json.dumps(last["prompt"])
    run.give_up(last)
    leak, dull = (one["node_id"] for one in told[3:])
    with RunReader(tmp_path / "logs" / run.name) as reader:
        facts = {node: node_facts(reader, node) for node in (leak, dull)}
        events = [event.model_dump_json() for event in reader.events(limit=10_000)]
        stages = {
            node: [event.seconds for event in reader.events(types=["node.stage"], limit=10_000)
                   if event.node_id == node and event.stage == "execute"]
            for node in (leak, dull)
        }  # fmt: skip
    run.close()
    assert told[3]["message"] == told[4]["message"] and "screened" in told[3]["message"], told[3]
    same = ("cheap_score", "exec_time", "message", "rung", "term_out", "metric_value", "failure", "metrics", "metadata")
    assert {name: facts[leak].get(name) for name in same} == {name: facts[dull].get(name) for name in same}
    assert stages[leak] == stages[dull] == [0.0]
    files = [path.read_text(errors="replace") for path in (tmp_path / "logs" / run.name).glob("*.*") if path.is_file()]
    said = "\n".join([prompt, *events, json.dumps([told, facts], default=str), *files])
    assert repr(score)[:8] not in said


def test_numbers_are_tuned_by_scores_apart(judge):
    """Beside the evaluator a program could say which numbers are the best, and keep in them what it reads there."""
    asked = judge(BINS, WORST)
    asked.score()
    specs, run = [], asked.deps.jobs.run
    jobs = SimpleNamespace(run=lambda spec: (specs.append(spec.payload), run(spec))[1], map=asked.deps.jobs.map)
    asked.deps.jobs = jobs
    asked.evaluator.tune(Node(id="t", code="def priority(item, room):\n    return 2.5 * room - 1.5\n"), "t", 1)
    assert asked.decision.isolation == "screen" and len(specs) >= 5
    assert not any(payload["beside"] for payload in specs)


def test_a_program_of_chance_is_not_called_tampered(judge):
    """Beside the evaluator it draws other numbers than apart: that is nobody's doing."""
    asked = judge(BINS.replace("    m, bins", "    import random; random.random()\n    m, bins"), WORST)
    asked.score()
    lucky = asked.score("import random\ndef priority(item, room):\n    return random.random() - 0.2 * room\n")
    assert lucky.failure is None


def test_a_resumed_run_goes_on_as_it_began(judge):
    asked = judge(BINS, WORST)
    asked.score()
    resumed = asked.problem.evaluator(asked.deps)
    assert resumed.together and resumed._decision == asked.decision


# ---------------------------------------------------------------- the command line


@pytest.fixture
def cli(tmp_path):
    made = Cli(tmp_path)
    yield made
    made.close() if hasattr(made, "close") else None


@pytest.mark.long
def test_the_evaluator_runs_in_the_users_interpreter(tmp_path, cli):
    """`execution.python` is whose packages the evaluator needs, too."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "only_here.py").write_text("TARGET = 42\n")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "evaluator.py").write_text(
        f"{LOAD}\nfrom only_here import TARGET\n"
        'def evaluate(path):\n    return {"combined_score": -abs(load(path).f() - TARGET)}\n'
    )
    (folder / "initial_program.py").write_text("import only_here\ndef f():\n    return only_here.TARGET - 2\n")
    words = ("--problem=script", f"--problem.path={folder}", "--search.max_steps=0", "--logging.view=quiet")
    refused = cli(*words)
    assert refused.code == 2 and "cannot be loaded by" in refused.line and "only_here" in refused.line
    ended = cli(*words, f"--execution.python={venv}/bin/python")
    assert ended.code == 0, ended.err
    shown = cli.show()
    assert (shown["best_metric"], shown["metric_source"]) == (-2, "verified")


@pytest.mark.long
def test_the_reason_for_unisolated_scores_stands_on_the_screen(tmp_path, cli):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "evaluator.py").write_text('def evaluate(path):\n    return {"combined_score": len(open(path).read())}\n')
    (folder / "initial_program.py").write_text("x = 1\n")
    ended = cli("--problem=script", f"--problem.path={folder}", "--search.max_steps=1")
    assert ended.code == 0 and "the evaluator reads the candidate's source text" in ended.out


def test_an_evaluator_of_another_name_may_import_the_one_beside_it(cli: Cli):
    (cli.folder / "evaluator.py").write_text(
        LOAD + "def evaluate(path):\n    return {'combined_score': float(load(path).f())}\n"
    )
    (cli.folder / "slow.py").write_text(
        "import evaluator\n\ndef evaluate(path):\n    return evaluator.evaluate(path)\n"
    )
    (cli.folder / "program.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 4\n# EVOLVE-BLOCK-END\n")
    words = ["--problem=script", "problem.program=program.py", "problem.evaluator=slow.py", "search.max_steps=1"]
    ended = cli.here(*words)
    assert ended.code == 0, ended.err
    assert cli.show()["baselines"][0]["metric"] == 4.0


def script_words(cli: Cli, evaluator: str, *more: str) -> list[str]:
    (cli.folder / "prog.py").write_text("def f():\n    return 1.5\n")
    (cli.folder / "judge.py").write_text(textwrap.dedent(evaluator))
    files = ["--problem.program=prog.py", "--problem.evaluator=judge.py"]
    return ["--problem=script", *files, "--search.max_steps=2", *more]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os._exit(3)", "the evaluator ended by itself; nothing was searched"),
        ("print('hello', flush=True); os._exit(3)", "ended by itself (the last that it printed: 'hello'); nothing"),
        ("time.sleep(60)", "did not end in time (problem.options.evaluation_timeout=1); nothing was searched"),
    ],
)
def test_a_silent_evaluator_is_not_quoted(cli: Cli, body: str, said: str):
    evaluator = f"import os, time\ndef evaluate(path):\n    {body}\n"
    ended = cli.here(*script_words(cli, evaluator, "--problem.options.evaluation_timeout=1"))
    assert ended.code == 2 and said in ended.err, ended.err


def test_what_an_evaluator_printed_before_it_left_is_told(cli: Cli):
    evaluator = """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--data", required=True)
        parser.parse_args()
        def evaluate(path):
            return {"combined_score": 1.0}
    """
    ended = cli.here(*script_words(cli, evaluator))
    assert ended.code == 2 and "SystemExit: 2: usage:" in ended.err and "required: --data" in ended.err, ended.err


def test_a_budget_that_ends_within_the_first_score_says_so(cli: Cli):
    evaluator = "import time\ndef evaluate(path):\n    time.sleep(60)\n"
    more = ("--problem.options.evaluation_timeout=2", "--budget.seconds=3")
    ended = cli.here(*script_words(cli, evaluator, *more))
    assert ended.code == 3, ended.err
    assert "the search's first program was still being scored" in ended.out
    assert "an evaluation did not end within problem.options.evaluation_timeout=2" in ended.out


MEASURES = "def evaluate(path):\n    return {'loss': -1.0, 'size': 3, 'where': 'x'}\n"


def test_a_score_that_is_a_mean_of_several_metrics_is_told_as_such(cli: Cli):
    assert cli.here(*script_words(cli, MEASURES)).code == 0
    (warning,) = cli.show()["warnings"]
    assert "the score is the mean of loss, size; --problem.metric=NAME takes one of them" in warning


def test_a_score_of_ones_own_program_that_stands_for_an_error_is_told(cli: Cli):
    """Many evaluators give 0 and say why: the search began at that without a word."""
    assert (
        cli.here(
            *script_words(cli, "def evaluate(path):\n    return {'combined_score': 0.0, 'error': 'no data'}\n")
        ).code
        == 0
    )
    (warning,) = cli.show()["warnings"]
    assert "scores your own program, and says an error of it: no data" in warning
    number = "def evaluate(path):\n    return {'combined_score': 0.5, 'error': 0.25}\n"
    assert cli.here(*script_words(cli, number)).code == 0 and not cli.show()["warnings"], "an error may be a metric"


def test_a_metric_that_is_missing_is_told_with_the_error_in_its_place(cli: Cli):
    evaluator = "def evaluate(path):\n    return {'error': 'no data', 'length': 3}\n"
    ended = cli.here(*script_words(cli, evaluator, "--problem.metric=score"))
    assert ended.code == 2 and "the evaluator returned no metric 'score': no data; nothing" in ended.line


def test_a_loss_that_steers_without_being_named_needs_a_direction(cli: Cli):
    """It was made large without a word."""
    ended = cli.here(*script_words(cli, "def evaluate(path):\n    return {'loss': -1.0}\n"))
    assert ended.code == 2, ended.out
    assert "the score is 'loss': is it to be made small? say problem.direction=min (or max); nothing was" in ended.line


def test_a_metric_that_was_named_is_called_by_its_name_and_nothing_is_averaged(cli: Cli):
    ended = cli.here(*script_words(cli, MEASURES, "--problem.metric=loss", "--problem.direction=min"))
    assert ended.code == 0 and "best loss: -1 on validation" in ended.out, ended.err
    assert cli.show()["unit"] == "loss" and not cli.show()["warnings"]


def test_what_an_evaluator_returns_does_not_say_where_it_lies_on_this_machine(cli: Cli):
    evaluator = """
        from types import SimpleNamespace
        def evaluate(path):
            return SimpleNamespace(metrics={"combined_score": 1.0}, artifacts={"where": __file__})
    """
    assert cli.here(*script_words(cli, evaluator)).code == 0
    assert str(cli.folder) not in json.dumps(cli.node(cli.show()["baselines"][0]["node_id"]))


def test_a_missing_package_is_told_with_the_key_that_names_another_interpreter(cli: Cli):
    ended = cli.here(*script_words(cli, "import no_such_package_at_all\ndef evaluate(path):\n    return 1.0\n"))
    assert ended.code == 2, ended.err
    assert "--execution.python=FILE names an interpreter that has 'no_such_package_at_all'" in ended.err


RAISES = """
import numpy, traceback, warnings
def evaluate(path):
    m = load(path)
    warnings.warn("odd"); answer = 4711
    try:
        return {"combined_score": 1 / m.f(3) + float(numpy.asarray(m.g([1.0, 2.0]))[1])}
    except Exception:
        traceback.print_exc(); answer = 4712
        raise
"""


@pytest.mark.parametrize("isolation", ["apart", "together"])
def test_a_programs_own_exception_is_told_as_its_own(judge, isolation):
    """`evaluator: IndexError` sends a writer to the wrong place: what the program raises is its `runtime` failure, and
    no line of a traceback is ours."""
    asked = judge(RAISES, "def f(x):\n    return x\ndef g(x):\n    return x\n", isolation=isolation)
    assert asked.score().metric is not None
    own = asked.score("def f(x):\n    return [1][x]\ndef g(x):\n    return x\n")
    assert (own.failure, own.message) == (FailureKind.RUNTIME, "IndexError: list index out of range")
    assert "return [1][x]" in own.term_out and "prelude" not in own.term_out
    library = asked.score("def f(x):\n    return x\ndef g(x):\n    import json\n    return json.loads('[')\n")
    assert library.failure is FailureKind.RUNTIME and "JSONDecodeError: Expecting" in library.message
    assert "CandidateError" not in library.message
    theirs = asked.score("def f(x):\n    return 0\ndef g(x):\n    return x\n")
    assert (theirs.failure, theirs.message) == (
        FailureKind.EVAL_ERROR,
        "evaluator: ZeroDivisionError: division by zero",
    )
    if isolation == "apart":  # else the program may read the evaluator as it likes
        assert theirs.term_out.count(", in evaluate") == 2 and "UserWarning: odd" in theirs.term_out
        for said in (own.term_out, library.term_out, theirs.term_out):
            assert not re.search("m.f|471|raise$", said), "what an answer is compared with may stand in such a line"
