"""Everything that an evaluator measured is seen: in `show`, report, API, CSV and JSON; the final part case by case."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from fastapi.testclient import TestClient

from dashboard.server.app import create_app

JUDGE = """
import importlib.util

def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.f()
    return {"combined_score": -abs(30 - found), "speed_score": 0.25 * found, "comment": "so far <b>good</b>"}
"""


@pytest.fixture
def measured(cli):
    (cli.folder / "f.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 3\n# EVOLVE-BLOCK-END\n")
    (cli.folder / "judge.py").write_text(JUDGE)
    words = ["--problem", "script", "problem.program=f.py", "problem.evaluator=judge.py", "search.max_steps=4"]
    assert cli(*words, "logging.report=true", timeout=400).code == 0
    return cli


@pytest.mark.long
def test_every_metric_of_an_evaluator_is_seen_everywhere(measured):
    cli, shown = measured, measured.show()
    best = cli.node(shown["best_node_id"])
    speed = best["metrics"]["speed_score"]
    assert speed == pytest.approx(0.25 * (30 + best["metric"]))

    text = cli.here("show", "latest", best["node_id"]).out
    assert "speed_score" in text and f"{speed:.6g}" in text and "so far <b>good</b>" in text
    page = (cli.run_dir / "report.html").read_text()
    seen = html.unescape(re.sub(r"<[^>]+>", " ", page))
    assert "speed_score" in seen and "so far <b>good</b>" in seen and "<b>good" not in page

    table = list(csv.DictReader(io.StringIO(cli.here("export", "latest").out)))
    assert len(table) == len(shown["nodes"])
    (row,) = [row for row in table if row["is_winner"] == "True"]
    assert row["node_id"] == best["node_id"] and float(row["metrics.speed_score"]) == speed and "code" not in row
    rows = cli.here("export", "latest", "--format", "json", "--code").json
    assert [row["node_id"] for row in rows] == [row["node_id"] for row in table]
    assert next(row for row in rows if row["is_winner"])["code"] == best["code"]

    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1:8008") as client:
        answer = client.get(f"/api/runs/{cli.run_dir.name}/candidates.csv")
        node = client.get(f"/api/runs/{cli.run_dir.name}/nodes/{best['node_id']}").json()["node"]
    assert answer.headers["content-type"].startswith("text/csv") and f"{cli.run_dir.name}.csv" in str(answer.headers)
    assert list(csv.DictReader(io.StringIO(answer.text))) == table
    assert node["metrics"]["speed_score"] == speed


@pytest.mark.long
def test_the_final_part_is_told_case_by_case_beside_the_best_baseline(cli):
    words = ["--problem", "tsp", "search.max_steps=3", "problem.options.cities=8"]
    assert cli(*words, "logging.report=true", timeout=400).code == 0
    final = cli.show()["final"]
    table = final["table"]
    values = [row["value"] for row in table["rows"]]
    assert table["baseline"] == "nearest_neighbour" and len(values) == final["cases"] == 100
    assert sum(values) / len(values) == pytest.approx(final["metric"])
    beside = [row["baseline"] for row in table["rows"]]
    assert sum(beside) / len(beside) == pytest.approx(cli.show()["baselines"][0]["final"])
    said = cli.here("show", "latest").out
    assert "final part" in said and "case 20" in said and "and 80 more" in said
    assert "the final part, 100 cases" in (cli.run_dir / "report.html").read_text()


@pytest.mark.long
def test_a_baseline_that_won_is_named_above_its_cases_and_another_one_stands_beside_it(cli):
    """Own instances, no step: the best of what was there before."""
    sizes = ["\n".join(str(20 + (7 * n + one) % 80) for n in range(40)) for one in range(5)]
    (cli.folder / "bins.txt").write_text("5\n" + "".join(f" own_{n}\n 150 40 0\n{sizes[n]}\n" for n in range(5)))
    words = ["--problem", "bin_packing", "problem.name=bins.txt", "search.max_steps=0"]
    assert cli.here(*words, "logging.report=true").code == 0
    shown, said = cli.show(), " ".join(cli.here("show", "latest", COLUMNS="200").out.split())
    won, other = shown["winner"]["name"], shown["final"]["table"]["baseline"]
    assert {won, other} == {"first_fit", "best_fit"}
    assert f"final part: {won}, the winner, case by case" in said and f"{won} (winner)" in said and f"┃ {other}" in said
    page = (cli.run_dir / "report.html").read_text()
    assert f", 1 case of {won}, the winner" in page and f"{won} (winner)" in page


@pytest.mark.long
def test_parquet_is_written_or_says_what_it_needs(measured):
    ended = measured.here("export", "latest", "--format", "parquet", "--out", "all.parquet")
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        assert ended.code == 2 and "pyarrow" in ended.line and "pip install" in ended.line
        return
    import pandas as pd

    frame = pd.read_parquet(measured.folder / "all.parquet")
    assert ended.code == 0 and list(frame["node_id"]) == [node["node_id"] for node in measured.show()["nodes"]]


def test_a_whole_number_that_no_text_holds_is_told_and_the_score_stands(cli):
    """The evaluator was said to have ended by itself: Python writes no number of more than 4,300 digits as text."""
    (cli.folder / "f.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 3\n# EVOLVE-BLOCK-END\n")
    (cli.folder / "judge.py").write_text(
        JUDGE.replace('"comment": "so far <b>good</b>"', '"states": found << 20_000, "few": found << 60')
    )
    words = ["--problem", "script", "problem.program=f.py", "problem.evaluator=judge.py", "search.max_steps=0"]
    ended = cli.here(*words, "logging.report=false")
    assert ended.code == 0 and "your program: -27" in ended.out, ended.out + ended.err
    metrics = cli.here("show", "latest", cli.show()["baselines"][0]["node_id"], "--json").json["metrics"]
    assert (metrics["states"], metrics["few"]) == ("an integer of 20002 bits", 3 << 60)
