"""metrics.json by generation: candidates are what the search wrote, and the plot shows the same numbers."""

from __future__ import annotations

import errno
import json
import os
import resource
from contextlib import suppress
from types import SimpleNamespace

import pytest
from support.command_line import toy_words

from core.events import NodeCommitted
from core.state.journal import Journal
from core.state.node import Node
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from reports.series import by_generation
from runs.beside.sinks import BestSink, MetricsSink
from runs.recorded.files import hashes_of


def test_metrics_and_plot_tell_the_same(cli):
    (cli.folder / "own.py").write_text("x = 2.5\n")
    words = [*toy_words(40, "initial=own.py"), "search.policy=islands", "search.num_islands=2", "search.per_island=4"]
    assert cli.here(*words).code == 0
    rows = json.loads((cli.run_dir / "metrics.json").read_text())
    with RunReader(cli.run_dir) as reader:
        drawn = by_generation(list(reader.journal()), lower_is_better=True)
    assert [row["num_candidates"] for row in rows] == [8] * 5, "the user's own program is no candidate"
    assert [(row["generation"], row["num_valid"]) for row in rows] == [(one.generation, one.valid) for one in drawn]
    for row, one in zip(rows, drawn, strict=True):
        assert row["top_k_avg_score"] == pytest.approx(one.top_k_average)
        assert row["avg_score"] == pytest.approx(one.average)
    assert any(row["top_k_avg_score"] < row["avg_score"] for row in rows)


@pytest.mark.parametrize("by_generation", [False, True])
def test_a_full_disk_leaves_no_row_out_and_none_twice(tmp_path, monkeypatch, by_generation):
    """What came after it took the place of the row that the disk had no room for."""
    store = RunStore(tmp_path)
    sink = MetricsSink(tmp_path, store, by_generation)
    store.sinks = [sink]

    def full(handle, data, at):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for number in range(5):
        with monkeypatch.context() as disk, suppress(OSError):
            if number == 2:
                disk.setattr(os, "pwrite", full)
            place = {"step": number, "number": number + 1, "generation": number}
            store.append([NodeCommitted(node_id=f"n{number}", operator="draft", **place)])
    store.close()
    sink._log.close()
    name, rows = "generation" if by_generation else "node_id", json.loads((tmp_path / "metrics.json").read_text())
    assert [row[name] for row in rows] == ([0, 1, 2, 3] if by_generation else ["n0", "n1", "n2", "n3", "n4"])


def test_the_best_so_far_stays_where_there_is_no_room_for_the_next(tmp_path, monkeypatch):
    """The file was cut off first: what was left of a run on a full disk was an empty program."""
    journal = Journal(
        [Node(id=f"n{n}", code=f"x = {n + 1}\n" * (1 + 8 * n), metric_value=-n) for n in range(2)], lower_is_better=True
    )
    problem = SimpleNamespace(language="python", tree=None)
    sink = BestSink(SimpleNamespace(problem=problem, journal=journal), tmp_path)
    sink.emit(NodeCommitted(node_id="n0", step=0, operator="draft", is_best=True))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            sink.emit(NodeCommitted(node_id="n1", step=1, operator="draft", is_best=True))
        sink.catch_up()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "best_solution" / "solution.py").read_text() == "x = 1\n"
    assert hashes_of(tmp_path).keys() == {"best_solution/solution.py"}
    sink.catch_up()  # as a resume does, where there is room again
    assert (tmp_path / "best_solution" / "solution.py").read_text() == "x = 2\n" * 9


def test_what_belongs_to_an_earlier_winner_goes_when_another_program_leads(cli, finished):
    """A run that went on after its end had the new leader's program beside the scores and outputs of the old winner."""
    folder, journal = cli.run_dir / "best_solution", {"new": SimpleNamespace(code="x = 2\n")}
    (folder / "mine.txt").write_text("stays")
    assert (folder / "node.json").is_file()
    problem = SimpleNamespace(language="text", tree=None)
    sink = BestSink(SimpleNamespace(problem=problem, journal=journal), cli.run_dir)
    sink.emit(NodeCommitted(node_id="new", step=9, operator="draft", is_best=True))
    assert {path.name for path in folder.iterdir()} == {"solution.txt", "mine.txt"}


@pytest.mark.parametrize("policy", ["three_phase", "islands"])
def test_a_resume_goes_on_behind_what_the_files_hold(cli, policy):
    """Whole files stay, torn ones are gone on with, others are made anew: all end the same."""
    by_generation = ["search.num_islands=2", "search.per_island=4"] if policy == "islands" else []
    assert cli.here(*toy_words(40), f"search.policy={policy}", *by_generation).code == 0
    array, table = cli.run_dir / "metrics.json", cli.run_dir / "metrics.csv"
    store = RunStore(cli.run_dir)

    def files() -> tuple[str, str]:
        MetricsSink(cli.run_dir, store, policy == "islands")._log.close()
        return array.read_text(), table.read_text()

    told = files()
    rows = json.loads(told[0])
    assert len(rows) == (4 if policy == "islands" else 40), "the last generation may get more nodes"
    assert all(row["winner_node_id"] is None for row in rows), "the run goes on: nobody has won"
    place = array.stat().st_ino
    assert files() == told and array.stat().st_ino == place, "nothing was written anew"
    lines = [text.splitlines(keepends=True) for text in told]
    array.write_text("".join(lines[0][:-3]).rstrip(",\n") + "\n]\n")
    table.write_text("".join(lines[1][:-2]))
    torn = array.stat().st_ino
    assert files() == told and array.stat().st_ino == torn, "the last two were written behind it"
    table.write_text("".join(lines[1][:-1]))  # killed between the two files
    assert files() == told
    array.write_text(told[0].replace(rows[-1]["node_id"] if policy != "islands" else rows[-1]["timestamp"], "another"))
    assert files() == told
    array.unlink()
    assert files() == told
    store.close()
