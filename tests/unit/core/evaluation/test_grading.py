"""The trusted child: answers, dies, hangs, and what of our environment it sees."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import pytest

from core.contracts import ExecutionResult
from core.evaluation.base import failed_run, refused, signature_of, source_of
from core.evaluation.grading import GradingFault, TrustedChild, clean_environment, run_trusted
from core.state.failure import FailureKind
from utils.errors import Interrupted

CHILD = """
import json, os, struct, sys, time

def read():
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))

def write(answer):
    data = json.dumps(answer).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
    sys.stdout.buffer.flush()

"""


@pytest.fixture
def child(tmp_path):
    """Builds a TrustedChild from the body of its loop; closed with the test."""
    made = []

    def build(body, hello=None, timeout=20.0):
        program = tmp_path / f"child{len(made)}.py"
        program.write_text(CHILD + textwrap.dedent(body))
        made.append(TrustedChild([sys.executable, "-I", str(program)], hello or {}, timeout=timeout))
        return made[-1]

    yield build
    for each in made:
        each.close()


ECHO = """
read(); write({"ok": "hello"})
while True:
    write({"ok": read()})
"""


def test_it_answers_every_thread_its_own_question(child):
    echo, answers = child(ECHO), {}

    def ask(number):
        answers[number] = echo.ask({"number": number})["number"]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: number for number in range(8)}


LITTER = """
import tempfile
read(); write({"ok": "hello"})
tempfile.mkdtemp()
open("beside", "w").close()
write({"ok": [os.getcwd(), tempfile.gettempdir()]})
read()
time.sleep(60)
"""


def test_what_a_child_leaves_in_its_temporary_folder_goes_with_it(child, tmp_path, monkeypatch):
    """Copies of the user's tables lay in /tmp for ever, where their child was ended in the middle."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    litter = child(LITTER, timeout=2.0)
    place, told = litter.ask({})
    assert [place] == [told] == [str(path) for path in temporary.iterdir()]
    with pytest.raises(GradingFault, match="did not answer"):
        litter.ask({})
    assert not list(temporary.iterdir())


def test_a_large_frame_passes(child):
    assert len(child(ECHO).ask({"text": "x" * 3_000_000})["text"]) == 3_000_000


def test_a_question_that_signals_interrupt_arrives_whole(child):
    """A signal in the middle of a long write ended it, and the child waited for the rest of its question."""
    late = child('read(); write({"ok": "hello"}); time.sleep(0.5); write({"ok": len(read()["text"])})', timeout=15.0)
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.02)
    try:
        assert late.ask({"text": "x" * 3_000_000}) == 3_000_000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_one_death_is_repaired_by_a_fresh_child(child, tmp_path):
    mark = tmp_path / "died"
    body = f"""
    read(); write({{"ok": None}})
    request = read()
    if not os.path.exists({str(mark)!r}):
        open({str(mark)!r}, "w").close()
        os._exit(3)
    write({{"ok": "second life"}})
    read()
    """
    assert child(body).ask({}) == "second life"


def test_two_deaths_are_a_fault_with_the_last_words(child):
    body = """
    read(); write({"ok": None}); read()
    print("labels.csv: no such file", file=sys.stderr); sys.stderr.flush()
    os._exit(7)
    """
    with pytest.raises(GradingFault, match=r"died twice: exit code 7: labels\.csv: no such file"):
        child(body).ask({})


def test_a_child_that_is_gone_before_it_is_greeted_is_a_fault_with_its_last_words(monkeypatch):
    class Gone(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.wait()

    monkeypatch.setattr(subprocess, "Popen", Gone)
    grader = TrustedChild([sys.executable, "-c", "import sys; sys.exit('labels are gone')"], {}, timeout=30)
    grader.start()
    with pytest.raises(GradingFault, match=r"died twice.*labels are gone"):
        grader.ask({})
    grader.close()


def test_after_a_fault_the_next_question_is_answered(child):
    body = """
    read(); write({"ok": None})
    while True:
        request = read()
        if request.get("die"):
            os._exit(1)
        write({"ok": 1})
    """
    grader = child(body)
    with pytest.raises(GradingFault):
        grader.ask({"die": True})
    assert grader.ask({}) == 1


def test_a_question_without_answer_ends_in_time(child):
    body = "read(); write({'ok': None}); read(); time.sleep(60)"
    with pytest.raises(GradingFault, match=r"did not answer within 0\.5 s"):
        child(body, timeout=0.5).ask({})


def test_a_child_that_cannot_load_says_why_each_time(child):
    grader = child("read(); write({'fault': 'no answers.csv'}); read()")
    for _ in range(2):
        with pytest.raises(GradingFault, match=r"no answers\.csv"):
            grader.ask({})


def test_prints_of_a_child_that_break_the_frame_are_a_fault(child):
    body = "read(); sys.stdout.write('hello there, this is no frame'); sys.stdout.flush(); read()"
    with pytest.raises(GradingFault, match="not a frame"):
        child(body).ask({})


def test_what_a_closed_grader_is_asked_stays_open(child):
    """It is closed where a run ends at once: a fault would be stored as the program's, and the resume would keep it."""
    grader = child(ECHO)
    grader.close()
    with pytest.raises(Interrupted, match="closed"):
        grader.ask({})


def test_who_closes_a_grader_does_not_wait_for_its_answer(child):
    """A second Ctrl-C waited for the answer under way, up to 300 s; and a fault would be the program's for good."""
    grader, found = child("read(); write({'ok': None}); read(); print('asked', file=sys.stderr); time.sleep(60)"), []

    def ask():
        with pytest.raises(Interrupted, match="closed"):
            grader.ask({})
        found.append("open")

    thread = threading.Thread(target=ask)
    thread.start()
    while not (grader._output and os.fstat(grader._output.fileno()).st_size):
        time.sleep(0.01)
    began = time.monotonic()
    grader.close()
    thread.join(5)
    assert found == ["open"] and time.monotonic() - began < 5


def test_secrets_of_our_environment_do_not_reach_it(child, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    body = "read(); write({'ok': None}); read(); write({'ok': dict(os.environ)}); read()"
    seen = child(body).ask({})
    assert "OPENAI_API_KEY" not in seen
    assert seen["OMP_NUM_THREADS"] == "1"


def test_the_environment_is_a_whitelist():
    kept = clean_environment(environ={"PATH": "/bin", "AWS_SECRET_ACCESS_KEY": "x", "PYTHONPATH": "/evil"})
    assert kept["PATH"] == "/bin"
    assert not {"AWS_SECRET_ACCESS_KEY", "PYTHONPATH"} & set(kept)


def test_a_child_ends_when_we_close_it(child):
    body = "read(); write({'ok': None}); read(); write({'ok': os.getpid()}); read()"
    grader = child(body)
    pid = grader.ask({})
    grader.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_one_question_to_a_child_of_its_own(tmp_path):
    program = tmp_path / "once.py"
    program.write_text(CHILD + "write({'ok': read()['x'] + 1})")
    assert run_trusted([sys.executable, "-I", str(program)], {"x": 41}, timeout=20) == 42


def test_a_child_says_meanwhile_what_it_does(tmp_path):
    program, told = tmp_path / "talks.py", []
    program.write_text(CHILD + "write({'doing': '1 of 2'}); write({'doing': '2 of 2'}); write({'ok': read()['x'] + 1})")
    assert run_trusted([sys.executable, "-I", str(program)], {"x": 41}, timeout=20, doing=told.append) == 42
    assert told == ["1 of 2", "2 of 2"]


@pytest.mark.parametrize(
    ("scores", "signature"),
    [
        ([0.1 + 0.2, 1], (0.3, 1.0)),
        ([123456789.123456789], (123456789.123,)),
        ([0.0, -2.5e-7], (0.0, -2.5e-07)),
        ([1.0, float("nan")], ()),
        ([1.0, None], ()),
    ],
)
def test_signatures_are_rounded_or_empty(scores, signature):
    assert signature_of(scores) == signature


def test_a_score_is_verified_only_out_of_reach():
    assert (source_of(True), source_of(False)) == ("verified", "unisolated")


def test_verdicts_keep_what_the_run_showed():
    result = ExecutionResult(term_out="boom", exec_time=2.0, failure=FailureKind.MEMORY, message="512 MB", exc_type="X")
    verdict = failed_run(result)
    assert (verdict.failure, verdict.message, verdict.seconds, verdict.term_out) == ("memory", "512 MB", 2.0, "boom")
    verdict = refused(result, FailureKind.NO_SUBMISSION, "nothing written")
    assert (verdict.failure, verdict.message, verdict.metric) == ("no_submission", "nothing written", None)
