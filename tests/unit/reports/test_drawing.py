from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.state.journal import Journal
from core.state.node import Node
from reports import child
from reports.dag import MOST_NODES, MOST_UNFOLDED, folded, layout
from reports.descent import diff
from reports.facts import read_facts
from reports.frame import TICKS, scale, ticks
from reports.html import render
from reports.series import Point, best_so_far, by_generation, shown_range
from utils.errors import SwarmEvoError

ROOT = Path(__file__).resolve().parents[3]
PNG = b"\x89PNG\r\n\x1a\n"


def test_best_so_far_follows_the_direction():
    scored = [Point(i, m, "improve", str(i)) for i, m in enumerate([3.0, 4.0, 2.0, 2.0, 5.0])]
    assert best_so_far(scored, True) == [(0, 3.0), (2, 2.0)]
    assert best_so_far(scored, False) == [(0, 3.0), (1, 4.0), (4, 5.0)]


def test_generations_are_summed_up():
    def n(i, generation, metric, **fields):
        return Node(id=i, code="", generation=generation, metric_value=metric, is_buggy=metric is None, **fields)

    base = n("base", None, 1.5, operator="baseline")
    nodes = [base, n("a", 0, 2.0), n("b", 0, None), n("c", 0, 4.0), n("d", 1, 3.0), n("e", 2, None)]
    first, second, third = by_generation(nodes, lower_is_better=True, top_k=1)
    assert (first.best_so_far, first.average, first.top_k_average, first.candidates, first.valid) == (
        1.5,
        3.0,
        2.0,
        3,
        2,
    )
    assert (second.best_so_far, second.average) == (1.5, 3.0)
    assert (third.best_so_far, third.average, third.valid) == (1.5, None, 0)
    assert by_generation(nodes, lower_is_better=False)[1].best_so_far == 4.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.booleans())
def test_the_axis_holds_the_best_and_has_a_width(values, lower_is_better):
    low, high = shown_range(values, lower_is_better)
    best = min(values) if lower_is_better else max(values)
    assert low < high and low <= best <= high and math.isfinite(low) and math.isfinite(high)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.booleans())
@example([1.0, 2.0, *[-sys.float_info.max] * 3], False)
@example([1e-15, 2e-15], True)
@example([1e16, 1e16 + 64], True)
def test_whatever_the_scores_the_axis_has_an_end_and_ticks_of_its_own(values, lower_is_better):
    """An evaluator may give a program that failed the lowest number there is, and an error may be 1e-15."""
    low, high = shown_range(values, lower_is_better)
    marks = ticks(low, high)
    assert math.isfinite(high - low) and all(math.isfinite(scale(low, high, 0, 100)(value)) for value in values)
    assert marks == sorted(set(marks)) and len(marks) <= 2 * TICKS
    assert all(low - (high - low) / 1e6 <= mark <= high + (high - low) / 1e6 for mark in marks)


def test_one_wild_score_does_not_flatten_the_curve():
    low, high = shown_range([0.1, 0.11, 0.12, 0.13, 1e9], True)
    assert low < 0.1 and 0.13 < high < 1


@given(st.lists(st.integers(0, 30), max_size=60))
def test_no_two_nodes_share_a_place_and_parents_stand_above(choices):
    nodes = []
    for i, choice in enumerate(choices):
        parents = (str(choice % i),) if i and choice % (i + 1) != i else ()
        nodes.append(Node(id=str(i), code="", parent_ids=parents, parent_id=parents[0] if parents else None))
    places = layout(nodes)
    assert len({(p.column, p.row) for p in places.values()}) == len(nodes)
    for node in nodes:
        if node.parent_id is not None:
            assert places[node.parent_id].row == places[node.id].row - 1


def test_a_long_chain_of_improvements_needs_no_recursion_and_stays_small(write_run):
    journal = Journal(lower_is_better=True)
    for i in range(3_000):
        parents = (str(i - 1),) if i else ()
        journal.append(Node(id=str(i), code=f"x = {i}", metric_value=1.0 / (i + 1), parent_ids=parents))
    run_dir = write_run(list(journal))
    started = time.process_time()
    page = render(read_facts(run_dir))
    assert time.process_time() - started < 15
    assert page.count("<circle") < MOST_NODES + 4000 and len(page) < 3_000_000
    assert "are not drawn" in page and "2960 programs between are not shown" in page


def test_a_diff_of_huge_programs_is_bounded():
    started = time.process_time()
    text = diff("\n".join(f"a{i}" for i in range(20_000)), "\n".join(f"b{i}" for i in range(20_000))).text
    assert time.process_time() - started < 5 and "Only the first 1500 lines" in text
    assert "The text is the same" in diff("x = 1", "x = 1").text


@pytest.mark.long
@pytest.mark.parametrize("generational", [False, True])
def test_the_child_writes_plots_and_report_in_a_folder_of_foreign_modules(
    write_run, small_nodes, generational, tmp_path, monkeypatch
):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "__init__.py").write_text("raise SystemExit('foreign reports')")
    (tmp_path / "core.py").write_text("raise SystemExit('foreign core')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    nodes = small_nodes
    if generational:
        nodes = [n.model_copy(update={"generation": i // 2}) for i, n in enumerate(small_nodes)]
    nodes = [n.model_copy(update={"name": "$x^$"}) for n in nodes]  # no mathematics
    run_dir = write_run(nodes, problem="costs $x_1$ and $$")
    written = child.write_all(run_dir)
    assert [path.name for path in written] == ["report.html", "evolution.png", "failures.png"]
    for name in ("evolution.png", "failures.png"):
        assert (run_dir / name).read_bytes().startswith(PNG) and (run_dir / name).stat().st_size > 5000
    assert not list(run_dir.glob(".*.new"))


def test_the_child_finds_packages_where_the_search_does(tmp_path, monkeypatch):
    """Where PYTHONPATH led to them, a run ended without plots and report: `No module named 'pydantic'`."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "write.py").write_text("import only_there, queue\nprint(only_there.__file__)\n")
    for name in ("only_there", "queue"):
        (tmp_path / f"{name}.py").write_text("")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(child, "ROOT", tmp_path)
    assert child.write_all(tmp_path) == [tmp_path / "only_there.py"]


@pytest.mark.long
def test_a_run_without_nodes_has_its_plots_too(write_run):
    run_dir = write_run([])
    child.write_all(run_dir)
    assert (run_dir / "evolution.png").read_bytes().startswith(PNG)


def test_what_goes_wrong_in_the_child_is_one_line(tmp_path):
    with pytest.raises(SwarmEvoError, match=r"plots and report of nothing: \w+"):
        child.write_all(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("os.kill(os.getpid(), 9)", r"was killed \(Killed, as where memory runs out\)"),
        ("os.kill(os.getpid(), 15)", r"was killed \(Terminated\)"),
        ("os._exit(3)", "exit status 3, and no word why"),
    ],
)
def test_a_child_that_ends_without_a_word_has_a_cause(tmp_path, monkeypatch, end, why):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "write.py").write_text(f"import os\n{end}\n")
    monkeypatch.setattr(child, "ROOT", tmp_path)
    with pytest.raises(SwarmEvoError, match=f"plots and report of run: .*{why}"):
        child.write_all(tmp_path / "run")


def test_a_child_that_takes_too_long_is_given_up(write_run, small_nodes):
    with pytest.raises(SwarmEvoError, match=r"not done after 0\.01 s"):
        child.write_all(write_run(small_nodes), timeout=0.01)


def test_the_parent_loads_no_matplotlib():
    script = "import json, sys, reports.child; print(json.dumps(sorted(m.split('.')[0] for m in sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"matplotlib", "numpy", "pandas"} & set(json.loads(done.stdout))


def test_of_many_programs_those_that_led_somewhere_are_drawn_and_the_others_counted():
    """724 nodes were a flat band once, most of them repetitions of the same grey."""
    nodes = [Node(id="root", code="", metric_value=1.0)]
    for i in range(40):
        parent = f"line{i - 1}" if i else "root"
        nodes.append(Node(id=f"line{i}", code="", metric_value=2.0 + i, parent_id=parent, step=20 * i))
        fields = ({"is_valid": False}, {"is_buggy": True, "is_valid": False}, {"metric_value": 0.5})
        nodes += [Node(id=f"leaf{i}.{k}", code="", parent_id=f"line{i}", step=i, **fields[k % 3]) for k in range(17)]
    drawn, counts = folded(nodes, {node.id for node in nodes if node.id.startswith("line")}, lower_is_better=False)
    assert len(drawn) == MOST_UNFOLDED and len(nodes) == len(drawn) + counts.total()
    assert {node.id for node in drawn} >= {"root", *(f"line{i}" for i in range(40))}
    assert not any(node.id.startswith("leaf") and not node.is_scored for node in drawn)
    few, none = folded(nodes[:100], set(), lower_is_better=False)
    assert few == nodes[:100] and not none.total()
