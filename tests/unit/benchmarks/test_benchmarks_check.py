"""`python -m benchmarks --check`: what counts as slower, and what is only another machine or a moment's noise."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks_main
from benchmarks import _check
from benchmarks.__main__ import check, sections

NAME = "backend_calls"


def page(rules: int, http: int = 500, *, calibration: float = 40.0) -> str:
    return (
        f"## {NAME}\n\n`python -m benchmarks.{NAME}` (5 s, a machine, calibration {calibration} ms)\n\n```text\n"
        f"rules                   {rules} calls/s   (1 … 2)\nrules + run store        900 calls/s   (1 … 2)\n"
        f"HTTP                     {http} calls/s   (1 … 2)\ncache                   9000 calls/s   (1 … 2)\n```\n"
    )


def slower(before: str, now: str) -> list[str]:
    return [change.figure.name for change in _check.changes(NAME, before, now) if change.is_slower]


def test_what_takes_a_quarter_longer_is_slower() -> None:
    assert slower(page(1000), page(801)) == []
    assert slower(page(1000), page(799)) == ["calls of rules"]
    assert slower(page(1000, 500), page(1000, 300)) == ["calls over HTTP"]


def test_half_the_speed_of_the_whole_machine_is_no_change() -> None:
    half = page(500, 250, calibration=80).replace("9000", "4500")
    assert slower(page(1000), half) == []
    assert slower(page(1000), page(700, 500, calibration=20)) == [
        "calls of rules", "calls over HTTP", "calls of the cache",
    ]  # fmt: skip


def test_a_time_is_slower_where_it_is_longer() -> None:
    told = "calibration 40 ms\nsession, one call at a time {} µs\nproxy {} µs a call\n"
    found = list(_check.changes("proxied_calls", told.format(66.0, 30.0), told.format(66.0, 40.0)))
    assert [(change.figure.name, change.is_slower) for change in found] == [
        ("µs of a call through the proxy", True), ("µs of a call of a session", False),
    ]  # fmt: skip


def test_games_are_taken_by_hand_overs_between_processes() -> None:
    """A machine was said to play more slowly that was slower at handing over from one process to another."""
    told = "calibration 20 ms{}\nsessions, rust-chess {}\nuci, rust-chess {}\n"
    before = told.format(", a hand-over 10 µs", 40.0, 50.0)
    factors = [
        change.factor for change in _check.changes("arena", before, told.format(", a hand-over 20 µs", 20.0, 50.0))
    ]
    assert factors == [1.0, 0.5]
    of_before = _check.changes("arena", told.format("", 40.0, 50.0), told.format(", a hand-over 20 µs", 20.0, 50.0))
    assert [change.factor for change in of_before] == [2.0, 1.0]


def test_what_the_machine_is_worth_is_said_as_it_is_read() -> None:
    now = _check.calibration()
    read = _check.calibration_of(f"({now})")
    assert read is not None and now.work_ms > 0 and now.handover_us
    assert read == pytest.approx(now, abs=0.06)


def test_a_moment_of_noise_is_tried_again_and_a_slower_program_stays_slower() -> None:
    noisy = iter([page(100), page(990)])
    assert not any(change.is_slower for change in _check.checked(NAME, page(1000), lambda: next(noisy)))
    measured: list[str] = []

    def always() -> str:
        measured.append("")
        return page(100)

    assert any(change.is_slower for change in _check.checked(NAME, page(1000), always))
    assert len(measured) == _check.TRIES


def test_a_figure_that_nothing_says_any_more_is_no_silence() -> None:
    with pytest.raises(ValueError, match="calls of rules"):
        list(_check.changes(NAME, page(1000), page(1000).replace("rules    ", "laws     ")))


def test_a_page_of_before_calibration_is_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    old = sections("# Benchmarks\n\n" + page(1000).replace(", calibration 40.0 ms", ""))
    assert check([NAME], old) == 0
    assert "no calibration" in capsys.readouterr().out


def test_what_is_written_behind_the_figures_stays_when_they_are_measured_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was dropped, and came back by hand."""
    page = tmp_path / "README.md"
    section = "## loop\n\n`old`\n\n```text\n1\n```\n\nOn another machine:\n\n```text\n2\n```\n"
    page.write_text(f"# Benchmarks\n\n| at a glance |\n\n{section}")
    monkeypatch.setattr(benchmarks_main, "HERE", tmp_path)
    monkeypatch.setattr(benchmarks_main, "names", lambda: ["loop"])
    monkeypatch.setattr(benchmarks_main, "run", lambda name: f"## {name}\n\n`new`\n\n```text\n3\n```\n")
    for _ in range(2):
        assert benchmarks_main.main(["loop"]) == 0
    found = page.read_text()
    assert found.startswith("# Benchmarks\n\n| at a glance |\n\n## loop\n")
    assert found.endswith("`new`\n\n```text\n3\n```\n\nOn another machine:\n\n```text\n2\n```\n")
