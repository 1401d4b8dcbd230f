"""Following a run: whoever breaks off ends it in good order."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from swarm_evo import child
from swarm_evo.errors import SearchError
from swarm_evo.run import Run

NODE = {
    "type": "node.committed", "step": 1, "node_id": "a", "operator": "draft", "metric": 1.0, "is_best": True,
    "best_metric": 1.0, "failure": None, "message": "", "elapsed": 0.1, "parent_ids": [],
}  # fmt: skip
RESULT = {"type": "result", "facts": {"run": "r", "config": {"problem": {}}, "verdict": {"text": "Better."}}}
PROGRAM = f"""
import signal, sys, time
out = {{}}
def stop(*_):
    open(sys.argv[1], "w").write("in good order")
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
print('{{"type": "run.opened", "run": "r", "folder": "/nowhere"}}')
for number in range(int(sys.argv[2])):
    print({json.dumps(json.dumps(NODE))}.replace('"a"', f'"{{number}}"'), flush=True)
time.sleep(float(sys.argv[3]))
print({json.dumps(json.dumps(RESULT))})
"""


@pytest.fixture
def started(monkeypatch, tmp_path):
    monkeypatch.setattr(child, "command", lambda words: [sys.executable, "-c", *words])

    runs = []

    def started(nodes=3, seconds=60.0, show=False, **more):
        runs.append(Run([PROGRAM, str(tmp_path / "ended"), str(nodes), str(seconds)], show=show, **more))
        return runs[-1]

    yield started
    for run in runs:
        run._child.exit_code()


def refuse(step):
    raise KeyError("enough")


def interrupt(step):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("on_step", "raised"), [(refuse, KeyError), (interrupt, KeyboardInterrupt)])
def test_a_loop_that_breaks_while_it_follows_ends_the_run(started, tmp_path, on_step, raised):
    """The run went on by itself, and nobody knew of it."""
    run = started(on_step=on_step)
    with pytest.raises(raised):
        list(run)
    assert Path(tmp_path / "ended").read_text() == "in good order" and "ended" in repr(run)


def test_lines_that_were_followed_are_not_kept(started):
    run = started(nodes=50, seconds=0)
    assert [step.node_id for step in run] == [str(number) for number in range(50)]
    assert not run._child.told and not run._loops


def test_a_loop_has_what_was_followed_inside_of_it(started):
    """A `stop()` inside of a loop takes in the rest; the loop gets it afterwards, and so does one inside of it."""
    run = started(nodes=4, seconds=0)
    inner = []
    outer = []
    for step in run:
        outer.append(step.node_id)
        inner += [one.node_id for one in run]
    assert outer == ["0", "1", "2", "3"] and inner == ["1", "2", "3"]
    assert run.folder == Path("/nowhere") and list(run) == []


def test_a_loop_that_was_left_gets_nothing_more(started):
    run = started(nodes=4, seconds=0)
    for _ in run:
        break
    assert not run._loops and [step.node_id for step in run] == ["1", "2", "3"]


def test_a_wait_that_is_cancelled_ends_the_run(started, tmp_path):
    """`asyncio.wait_for(run, …)`, or Ctrl-C under `asyncio.run`: the thread that waits kept the program alive."""
    run = started(nodes=1)

    async def watched():
        while run.folder is None:
            await asyncio.sleep(0.01)
        await asyncio.wait_for(run, 0.1)

    with pytest.raises(TimeoutError):
        asyncio.run(watched())
    assert Path(tmp_path / "ended").read_text() == "in good order"


def test_a_wait_in_a_notebook_hears_its_stop_button(started):
    """The kernel's handler of the signal cancels the cell and does not wake its loop, which slept until the end."""
    run = started(nodes=1, seconds=20)

    async def cell():
        me, before = asyncio.current_task(), signal.getsignal(signal.SIGALRM)
        signal.signal(signal.SIGALRM, lambda *_: me.cancel())
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            await run
        finally:
            signal.signal(signal.SIGALRM, before)

    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cell())
    assert time.monotonic() - began < 15


class Shown:
    """In place of a notebook's cell: what stands there at last."""

    def draw(self, *line):
        self.text = "a bar"

    learn = draw

    def close(self, text):
        self.text = text


@pytest.mark.parametrize(
    ("program", "follow", "told"),
    [
        ("import sys; sys.exit('swarm-evo: no such key')", Run.wait, "swarm-evo: no such key"),
        ("import sys; sys.exit('swarm-evo: no such key')", list, "swarm-evo: no such key"),
        (PROGRAM, lambda run: run.__exit__(), "ended: the run's wait() has"),
        (PROGRAM.replace("time.sleep", "int"), list, "Better."),
    ],
)
def test_a_cell_shows_no_progress_of_what_has_ended(monkeypatch, tmp_path, program, follow, told):
    """A search that was refused was shown as one that starts, for ever; a loop over it had no steps and no error."""
    monkeypatch.setattr(child, "command", lambda words: [sys.executable, "-c", *words])
    monkeypatch.setattr("swarm_evo.run.Cell", Shown)
    monkeypatch.setattr("swarm_evo.run.find_spec", lambda name: name)
    run = Run([program, str(tmp_path / "ended"), "1", "60"], show=True)
    with pytest.raises(SearchError, match=told) if "no such" in told else nullcontext():
        follow(run)
    assert told in run._cell.text


def test_what_nothing_can_show_is_refused_before_it_begins(monkeypatch):
    monkeypatch.setattr("swarm_evo.run.find_spec", lambda name: None)
    with pytest.raises(SearchError, match="show=True: IPython shows it, and is not installed here"):
        Run([], show=True)


def test_a_stop_before_there_is_a_run_says_so(monkeypatch):
    """It was `the search ended with exit code -2`; a Ctrl-C became an error that a loop over seeds may pass over."""
    monkeypatch.setattr(child, "command", lambda words: [sys.executable, "-c", words[0]])
    early = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); time.sleep(60)"
    with pytest.raises(SearchError, match="stopped before it had begun") as told:
        Run([early], show=False).stop()
    assert told.value.exit_code == 130
    python_begins = "import sys; print('KeyboardInterrupt', file=sys.stderr); sys.exit(1)"
    with pytest.raises(SearchError, match="stopped before it had begun"):
        Run([python_begins], show=False).wait()
    run = Run([early], show=False)
    monkeypatch.setattr(run, "_advance", iter_of_interrupt())
    with pytest.raises(KeyboardInterrupt):
        run.wait()
    assert run._child.exit_code() in (-signal.SIGINT, 1), "1: Python itself was still beginning"


def iter_of_interrupt():
    """The first call is interrupted; the second is told of the end."""
    calls = iter((KeyboardInterrupt(), None))

    def advance(end):
        if (error := next(calls)) is not None:
            raise error
        return False

    return advance


def test_a_wait_may_have_an_end_and_the_run_goes_on(started, tmp_path):
    run = started(nodes=3)
    with pytest.raises(TimeoutError, match=r"goes on after 0\.3 s: wait\(\) again, or stop\(\)"):
        run.wait(0.3)
    assert not (tmp_path / "ended").exists() and "running" in repr(run)
    with pytest.raises(SearchError, match=r"seconds='1' .*a number of seconds"):
        run.wait("1")
    run._end()


def test_a_wait_with_an_end_does_not_pass_it_where_much_is_told(started, tmp_path):
    run = started(nodes=3, on_step=lambda step: time.sleep(0.2))
    with pytest.raises(TimeoutError):
        run.wait(0.1)
    run._end()


def test_a_block_that_is_left_ends_the_run(started, tmp_path):
    with pytest.raises(KeyError), started(nodes=1) as run:
        next(iter(run))
        raise KeyError("mine")
    assert (tmp_path / "ended").read_text() == "in good order" and run._child.ended
    with started(nodes=1, seconds=0) as run:
        assert len(list(run)) == 1, "one that has ended is left alone"
