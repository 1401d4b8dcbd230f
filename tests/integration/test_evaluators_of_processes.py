"""Evaluators that call their program from further processes: forks, pools, children that import or run its file.

Each of them shared its sandbox with the program, so that nothing it said was `verified`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from support.command_line import Cli
from support.sandboxes import opened_tier

from core.contracts import Limits
from core.evaluation.isolation.apart import ELSEWHERE, Apart, program_failure
from core.evaluation.isolation.decider import READS, Decider
from core.evaluation.isolation.decision import Decision
from core.evaluation.isolation.evaluator import EvaluatorRun

PROGRAM = """import sys
import numpy as np
N = 5

def pack(n):
    return list(np.linspace(0, 1, n)), 0.5

if __name__ == "__main__":
    print(pack(int(sys.argv[1]) + int(sys.stdin.read() or 0))[1])
"""
LOAD = """
import importlib.util
def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program
"""
EVALUATORS = {
    "child": """
import json, subprocess, sys, tempfile
def evaluate(path):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(f"{LOAD}\\nimport json; program = load({path!r}); print(json.dumps(program.pack(program.N)))")
        script.flush()
        done = subprocess.run([sys.executable, script.name], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    row, more = json.loads(done.stdout)
    return {"combined_score": sum(row) + more}
""",
    "fork": """
import multiprocessing
def work(path, queue):
    program = load(path)
    queue.put(program.pack(program.N))
def evaluate(path):
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=work, args=(path, queue))
    process.start()
    row, more = queue.get(timeout=20)
    process.join()
    return {"combined_score": sum(row) + more}
""",
    "pool": """
from concurrent.futures import ProcessPoolExecutor
def one(path, n):
    return sum(load(path).pack(n)[0])
def evaluate(path):
    with ProcessPoolExecutor(2) as pool:
        return {"combined_score": sum(pool.map(one, [path] * 4, [1, 2, 3, 4])) - 2.0}
""",
    "forks of a child": """
import subprocess, sys
def evaluate(path):
    script = f'''{LOAD}
from multiprocessing import get_context
program = load({path!r})
program.pack(1)
def one(n):
    return sum(program.pack(n)[0])
with get_context("fork").Pool(3) as pool:
    print(sum(pool.map(one, [2, 3, 2, 3])))
'''
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return {"combined_score": float(done.stdout)}
""",
    "script": """
import subprocess, sys
def evaluate(path):
    done = subprocess.run([sys.executable, path, "3"], capture_output=True, text=True, input="2")
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return {"combined_score": 2.5 + float(done.stdout)}
""",
}
SCORES = {"child": 3.0, "fork": 3.0, "pool": 2.5, "forks of a child": 5.0, "script": 3.0}


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """How each evaluator's programs are kept apart, and what scores one."""
    folder: Path = tmp_path_factory.mktemp("processes")
    with opened_tier("warm", folder / "state") as sandbox:
        kept = {}

        def decide(text: str, own: str = PROGRAM) -> tuple[Decision, EvaluatorRun, Path]:
            if (text, own) not in kept:
                evaluator = folder / f"evaluator{len(kept)}" / "evaluator.py"
                evaluator.parent.mkdir()
                evaluator.write_text(f"{LOAD}\nLOAD = {LOAD!r}\n{text}")
                start = Apart(evaluator, timeout=60)
                kept[text, own] = (*Decider(
                    sandbox, own, wanted="auto", start=start, folder=evaluator.parent, shows=(),
                    score=lambda value: value and value["combined_score"], limits=Limits(seconds=30), seed=1,
                ).decide(), evaluator)  # fmt: skip
            return kept[text, own]

        def score(text: str, code: str, own: str = PROGRAM) -> EvaluatorRun:
            decision, _, evaluator = decide(text, own)
            return decision.apart(evaluator, 60).run(sandbox, code, limits=Limits(seconds=30))

        yield decide, score


@pytest.mark.parametrize("way", EVALUATORS)
def test_the_program_is_called_from_where_it_is_wanted(decided, way):
    decide, score = decided
    decision, run, _ = decide(EVALUATORS[way])
    assert decision.isolation == "apart" and decision.serves, decision.reason
    assert run.value["combined_score"] == SCORES[way] and not decision.shows
    better = score(EVALUATORS[way], PROGRAM.replace("0.5", "0.75").replace("0, 1, n", "0, 2, n"))
    assert better.value["combined_score"] > SCORES[way] and better.isolated


@pytest.mark.parametrize("way", EVALUATORS)
def test_what_a_program_raises_or_forges_there_is_its_failure(decided, way):
    _, score = decided
    for body in ("raise ValueError('mine')", "return {0: 1.0}, True", "return [float('nan')], float('nan')"):
        found = score(EVALUATORS[way], PROGRAM.replace("return list(np.linspace(0, 1, n)), 0.5", body))
        assert found.value is None and found.error, (body, found)
        assert "subprocess.run(" not in found.error and "json.dumps(program" not in found.error, "the evaluator's lines"


def test_a_program_cannot_say_what_was_never_printed(decided):
    _, score = decided
    forged = f"{PROGRAM}\nclass __handles__:\n    main = lambda *asked: {{'out': 'x', 'err': [1], 'status': 2.5}}"
    found = score(EVALUATORS["script"], forged)
    assert found.value is None and "where the initial program has" in found.error + found.line


BY_ITS_END = {
    "a child": "import subprocess\n    subprocess.run(['echo', '1.5'])",
    "a descriptor": "import os\n    os.write(1, b'1.5')",
    "a thread": "import threading\n    threading.Timer(0.2, print, [1.5]).start()",
    "what it does at exit": "import atexit\n    atexit.register(print, 1.5)",
    "an end at once": "import os\n    print(1.5, flush=True)\n    os._exit(0)",
    "its own text": "print(1.5 if 'its own text' in open(__file__).read() else 0)\n    # its own text",
}


@pytest.mark.parametrize("way", BY_ITS_END)
def test_a_script_is_a_process_of_its_own(decided, way):
    """What it printed past `sys.stdout` was lost, and one that ended its process had failed."""
    found = decided[1](EVALUATORS["script"], f"if __name__ == '__main__':\n    {BY_ITS_END[way]}\n")
    assert found.value == {"combined_score": 4.0}, (found.line, found.output, found.program)


TWICE = """
import subprocess, sys
def evaluate(path):
    return {"combined_score": sum(float(subprocess.check_output([sys.executable, path])) for _ in range(3))}
"""
COUNTS = """import builtins
if __name__ == "__main__":
    vars(builtins).setdefault("runs", []).append(1)
    print(float(len(vars(builtins)["runs"])))
"""


def test_a_script_knows_nothing_of_its_earlier_runs(decided):
    decision, run, _ = decided[0](TWICE, COUNTS)
    assert decision.serves and run.value == {"combined_score": 3.0}, decision.reason


CAUGHT = {
    "in a thread": """
import sys, threading
def work():
    print(load(sys.argv[1]).pack(3)[1] - 0.125)  # hidden
thread = threading.Thread(target=work)
thread.start()
thread.join()
""",
    "in a script that is run in it": """
import runpy, sys
path = sys.argv.pop(1)
runpy.run_path(path, run_name="__main__")  # hidden
""",
}
QUOTES = """
import subprocess, sys, tempfile
def evaluate(path):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(f"{LOAD}{CHILD}")
        script.flush()
        done = subprocess.run([sys.executable, script.name, path, "5"], capture_output=True, text=True)
    if done.stderr or done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return {"combined_score": float(done.stdout)}
"""


@pytest.mark.parametrize("way", CAUGHT)
def test_no_child_quotes_a_line_of_the_evaluators(decided, way):
    """What its threads did not catch, and what a stand-in raised, was printed with the lines that called it."""
    decide, score = decided
    text = f"CHILD = {CAUGHT[way]!r}\n{QUOTES}"
    assert decide(text)[0].serves
    body = "raise ValueError('mine')"
    forged = "class __handles__:\n    main = lambda *asked: {'out': 5, 'err': b'', 'status': 0}\n"
    found = score(text, forged + PROGRAM.replace("return list(np.linspace(0, 1, n)), 0.5", body))
    assert found.value is None and "Error: " in found.error and "hidden" not in found.error + found.output


SPAWNED = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
def one(answer):
    return 1 / (answer - 0.5)  # hidden
def evaluate(path):
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return {"combined_score": pool.submit(one, load(path).pack(3)[1] + 0.25).result()}
"""


def test_nor_does_a_process_that_never_met_the_program(decided):
    """One that is begun anew printed the line that broke, and it stood in the error that was told."""
    decide, score = decided
    assert decide(SPAWNED)[1].value == {"combined_score": 4.0}
    found = score(SPAWNED, PROGRAM.replace("0.5", "0.25"))
    assert "ZeroDivisionError" in found.error and "in one" in found.error and "hidden" not in found.error + found.output


BY_A_SOCKET = """
import socket, subprocess, sys
def evaluate(path):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([sys.executable, path, "3"], stdin=theirs, stdout=subprocess.PIPE)
        ours.sendall(b"2")
        ours.shutdown(socket.SHUT_WR)
        return {"combined_score": 2.5 + float(process.communicate()[0])}
"""


def test_what_a_script_is_given_by_a_socket_arrives(decided):
    """`asyncio` hands over one before Python 3.11; it was taken for an input that is closed."""
    decision, run, _ = decided[0](BY_A_SOCKET, PROGRAM.replace("0.5", "float(n)"))
    assert decision.serves and decision.isolation == "apart" and run.value == {"combined_score": 7.5}, decision.reason


WITHIN = """
import contextlib, io, runpy
def evaluate(path):
    caught = io.StringIO()
    with contextlib.redirect_stdout(caught), contextlib.suppress(SystemExit):
        runpy.run_path(path, run_name="__main__")
    return {"combined_score": float(caught.getvalue())}
"""


def test_a_script_that_is_run_within_the_evaluator_is_run_in_its_sandbox(decided):
    """Its file is gone by the time that a sandbox would show it."""
    own = "if __name__ == '__main__':\n    print(2.0)\n"
    decision, run, _ = decided[0](WITHIN, own)
    assert decision.serves and run.value == {"combined_score": 2.0} and not decision.shows


def test_a_long_name_of_the_folder_for_temporary_files_hinders_nobody(tmp_path, monkeypatch):
    """A socket's own name is at most some hundred bytes."""
    long = tmp_path / ("long" * 30)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(f"{LOAD}\n{EVALUATORS['script']}")
    with opened_tier("warm", tmp_path / "state") as sandbox:
        run = Apart(evaluator, timeout=60, serves=True).run(sandbox, PROGRAM, limits=Limits(seconds=30))
    assert run.value == {"combined_score": SCORES["script"]}, run.line


LIMITED = """
import multiprocessing, queue
def one(path, n, answers):
    answers.put(load(path).pack(n)[1])
def evaluate(path):
    total = 0.0
    for n in range(3):
        answers = multiprocessing.Queue()
        process = multiprocessing.Process(target=one, args=(path, n, answers))
        process.start()
        try:
            total += answers.get(timeout=1.5)
        except queue.Empty:
            process.kill()
        process.join()
    return {"combined_score": total}
"""


def test_what_a_child_gave_up_is_not_laid_to_the_calls_after_it(decided):
    """They waited for the program, which was still at work on it, and the sum of what was left was `verified`."""
    _, score = decided
    late = score(LIMITED, PROGRAM.replace("return", "import time; time.sleep(4 * (n == 0))\n    return"))
    assert late.program is not None and late.program.failure == "timeout" and "given up" in late.program.message
    last = score(LIMITED, PROGRAM.replace("return", "import time; time.sleep(4 * (n == 2))\n    return"))
    assert last.value == {"combined_score": 1.0} and last.program is None


LENGTH = """
import subprocess, sys
def evaluate(path):
    script = f"import sys; print(len(open({path!r}).read()))"
    return {"combined_score": float(subprocess.run([sys.executable, "-c", script], capture_output=True).stdout)}
"""
TALK = """
import subprocess, sys
def evaluate(path):
    process = subprocess.Popen([sys.executable, path, "3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write("2")
    process.stdin.flush()
    try:
        process.wait(7)  # it waits for more
    except subprocess.TimeoutExpired:
        process.stdin.close()
    return {"combined_score": float(process.stdout.read())}
"""


def test_a_text_that_is_read_elsewhere_is_not_the_stand_ins(decided):
    """Its length would be that of every program."""
    decide, _ = decided
    decision, run, _ = decide(LENGTH)
    assert decision.isolation == "together" and run.value["combined_score"] == len(PROGRAM)


def test_nor_where_an_evaluation_takes_long(decided, monkeypatch):
    """Such are scored fewer times, and this was not looked at there."""
    monkeypatch.setattr("core.evaluation.isolation.decider.SLOW_SECONDS", 0.0)
    decision, run, _ = decided[0](f"# slow\n{LENGTH}")
    assert decision.isolation == "together" and run.value["combined_score"] == len(PROGRAM), decision.reason
    decision, run, _ = decided[0](f"# slow\n{EVALUATORS['child']}")
    assert decision.isolation == "apart" and decision.serves and run.value["combined_score"] == SCORES["child"]


WEIGHED = {
    "its size": "import os\ndef size(path): return os.path.getsize(path)",
    "its lines": "import inspect\ndef size(path): return len(inspect.getsource(load(path)))",
    "another process": """
import subprocess
def size(path): return int(subprocess.run(["wc", "-c", path], capture_output=True, text=True).stdout.split()[0])
""",
}


@pytest.mark.parametrize("way", WEIGHED)
def test_nor_where_the_program_is_called_as_well(decided, way):
    """A long program scored as well as a short one: what was weighed was the same for all of them."""
    text = f"{WEIGHED[way]}\ndef evaluate(path): return {{'combined_score': load(path).pack(3)[1] - size(path) / 1000}}"
    decision, run, _ = decided[0](text)
    assert decision.isolation == "together" and decision.reason == READS, decision
    assert run.value["combined_score"] == 0.5 - len(PROGRAM) / 1000


CHECKED = """
import subprocess, sys
CHECK = "import ast, sys; sys.exit(\\"id='eval'\\" in ast.dump(ast.parse(open(sys.argv[1]).read())))"
def evaluate(path):
    refused = subprocess.run([sys.executable, "-c", CHECK, path]).returncode
    return {"combined_score": 0.0 if refused else load(path).pack(3)[1]}
"""


def test_nor_where_it_only_has_to_pass_a_check(decided):
    """What stands in for a program passed it, as the user's own did: so did each that holds what it forbids."""
    decision, run, _ = decided[0](CHECKED)
    assert decision.isolation == "together" and decision.reason == READS and run.value == {"combined_score": 0.5}


STARRED = {
    "in its process": """
def evaluate(path):
    globals().update({name: value for name, value in vars(load(path)).items() if not name.startswith("_")})
    return {"combined_score": grade(pack(3)[1])}
""",
    "in a child": """
import os, subprocess, sys
SCRIPT = '''
import json, sys
def grade(more):
    return min(more, 1.0)
sys.path.insert(0, sys.argv[1])
from candidate import *
print(json.dumps(grade(pack(3)[1])))
'''
def evaluate(path):
    done = subprocess.run([sys.executable, "-c", SCRIPT, os.path.dirname(path)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return {"combined_score": float(done.stdout)}
""",
}


@pytest.mark.parametrize("way", STARRED)
def test_a_name_that_the_first_program_has_not_takes_the_place_of_none(decided, way):
    """A function called `grade` was asked for the grade, and what it said was `verified`."""
    decide, score = decided
    text, own = f"def grade(more):\n    return min(more, 1.0)\n{STARRED[way]}", f"import json\n{PROGRAM}"
    decision, run, _ = decide(text, own)
    assert decision.isolation == "apart" and run.value == {"combined_score": 0.5}, decision.reason
    found = score(text, f"{own}\ndef grade(more):\n    return 1e9\n", own)
    assert found.value == {"combined_score": 0.5} and found.isolated


@pytest.mark.long
def test_a_script_that_is_talked_with_shares_the_evaluators_sandbox(decided):
    decide, _ = decided
    decision, run, _ = decide(TALK)
    assert decision.isolation == "together" and decision.reason in ELSEWHERE
    assert run.value["combined_score"] == 0.5 and program_failure(run) is None


OPENS = """
import tempfile
from pathlib import Path
def evaluate(path):
    with tempfile.TemporaryFile() as file:
        file.write(b"3")
    own = Path(tempfile.mkdtemp()) / "kept.txt"
    own.write_text("4")
    limit = float(Path("LIMIT").read_text())
    return {"combined_score": limit + load(path).pack(3)[1] + float(own.read_text())}
"""


def test_folders_and_files_of_its_own_are_not_shown(decided, tmp_path):
    """A temporary file without a name is opened in its folder: programs beside such an evaluator saw all of /tmp."""
    limit = tmp_path / "limit.txt"
    limit.write_text("2")
    decision, run, _ = decided[0](OPENS.replace("LIMIT", str(limit)))
    assert run.value["combined_score"] == 6.5 and decision.shows == (str(limit),)


def test_at_the_command_line_such_scores_are_verified(cli: Cli):
    (cli.folder / "program.py").write_text(f"# EVOLVE-BLOCK-START\n{PROGRAM}# EVOLVE-BLOCK-END\n")
    (cli.folder / "evaluator.py").write_text(f"{LOAD}\nLOAD = {LOAD!r}\n{EVALUATORS['child']}")
    words = ["--problem.kind=script", "--problem.program=program.py", "--problem.evaluator=evaluator.py"]
    ended = cli("run", *words, "--problem.direction=max", "--search.max_steps=3", "--logging.report=false")
    assert ended.code == 0 and "unisolated" not in ended.out + ended.err and "(verified: " in ended.out
    assert json.loads((cli.run_dir / "files" / "isolation.json").read_text())["serves"]
