"""What each open program waits for or does, as viewers read it."""

from __future__ import annotations

import threading

from core.state.live_work import LARGEST, LONGEST, WORK_FILE, LiveWork, read_live_work
from runs.beside.work_board import WorkBoard


def states(work: LiveWork) -> dict[str, tuple[str, float]]:
    return {node: (one.state, one.since) for node, one in work.nodes.items()}


def test_a_program_from_its_writer_to_its_score(tmp_path):
    now = [10.0]
    board = WorkBoard(tmp_path, lambda: now[0])

    def after(second: float) -> dict[str, tuple[str, float]]:
        now[0] = second
        return states(board.now())

    board.stage("n1", "reply")
    assert after(11.0) == {"n1": ("waits_writer", 10.0)}
    board.asked("n1")
    assert after(12.0) == {"n1": ("written", 11.0)}
    board.stage("n1", "")
    board.stage("n1", "code")
    assert after(13.0) == {}, "it waits for its turn"
    board.stage("n1", "execute")
    board.job("n1", "waits")
    assert after(14.0) == {"n1": ("waits_worker", 13.0)}
    board.job("n1", "runs")
    assert after(15.0) == {"n1": ("runs", 14.0)}
    assert (board.now().running, board.now().waiting) == (1, 0)
    board.job("n1", "over")
    assert after(16.0) == {"n1": ("scored", 15.0)}
    board.stage("n1", "")
    assert after(17.0) == {} and board.now() == LiveWork()
    board.close()


def test_several_jobs_of_one_program_and_jobs_that_are_nobodys_own(tmp_path):
    board = WorkBoard(tmp_path, lambda: 1.0)
    board.stage("n1", "execute")
    for label in ("n1", "n1", "", ""):
        board.job(label, "waits")
    board.job("n1", "runs")
    board.job("", "runs")
    board.job("", "withdrawn")
    told = board.now()
    assert (told.running, told.waiting) == (2, 1) and states(told) == {"n1": ("runs", 1.0)}
    board.job("n1", "over")
    assert states(board.now()) == {"n1": ("waits_worker", 1.0)}
    board.close()


def test_the_file_follows_and_goes_with_the_process(tmp_path, eventually):
    stale = tmp_path / WORK_FILE
    stale.parent.mkdir()
    stale.write_text("{}")
    board = WorkBoard(tmp_path)
    assert not stale.exists(), "of a process that was killed"
    board.stage("n1", "execute")
    eventually(lambda: (told := read_live_work(tmp_path)) and told.nodes.get("n1"), 60)
    board.stage("n1", "")
    eventually(lambda: (told := read_live_work(tmp_path)) and not told.nodes, 60)
    board.close()
    assert not stale.exists() and read_live_work(tmp_path) is None


def test_a_file_that_is_none_tells_nothing(tmp_path):
    path = tmp_path / WORK_FILE
    path.parent.mkdir()
    since = '{"nodes": {"n1": {"state": "runs", "since": %s}}}'
    absurd = ('{"running": -7}', '{"waiting": 99999999999}', since % "-1e308", since % "1e308", since % "NaN")
    for text in ("", "[1]", '{"nodes": {"n1": {"state": "flies", "since": 1}}}', *absurd, "{}" + " " * LARGEST):
        path.write_text(text)
        assert read_live_work(tmp_path) is None


def test_what_goes_on_besides_the_programs_is_told_in_words(tmp_path, eventually):
    board = WorkBoard(tmp_path)
    board.doing("generation 2, round robin: 14 of 48 games")
    eventually(lambda: (told := read_live_work(tmp_path)) is not None and "14 of 48" in told.doing, 60)
    board.doing("x" * 9_999)
    assert len(board.now().doing) == LONGEST
    board.doing("")
    assert board.now() == LiveWork()
    board.close()


def test_its_end_is_not_waited_for_in_vain(tmp_path):
    """Whoever closed it while it took up the last news waited five seconds for a thread that waited for more."""

    class Slow(threading.Event):
        def clear(self) -> None:
            at_it.set()
            closed.wait(60)
            super().clear()

    class Told(threading.Event):
        def set(self) -> None:
            super().set()
            news.set()
            closed.set()

    at_it, closed, news = threading.Event(), threading.Event(), Slow()
    board = WorkBoard(tmp_path)
    board._news, board._closed = news, Told()
    board.doing("plots are drawn")
    assert at_it.wait(60)
    writer = board._writer
    board.close()
    assert not writer.is_alive(), "it waits for more news, and `close` gave it up"
