"""One run that cannot be read (a newer version's, damaged, a stranger's) ends no list and shows no traceback."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from dashboard.server.app import create_app

ODD = ("newer_kind", -1, None, b"\xff\x00", "{", '"text"', "[1]", "2026-13-99", 1e300)


def columns(folder: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(folder / "run.db") as store:
        tables = [row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [(table, row[1]) for table in tables for row in store.execute(f"PRAGMA table_info({table})")]


def put(folder: Path, table: str, column: str, value: object) -> bool:
    """Every row gets the odd value; False where the table itself does not take it."""
    with sqlite3.connect(folder / "run.db") as store:
        try:
            return store.execute(f"UPDATE {table} SET {column} = ?", (value,)).rowcount > 0
        except sqlite3.IntegrityError:
            return False


@pytest.fixture
def beside(cli, finished):
    """A good run, and a copy of it beside it to be spoilt."""
    copy = cli.folder / "logs" / "spoilt"

    def anew() -> Path:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(cli._dir("latest"), copy)
        return copy

    return anew


@pytest.mark.long
def test_no_value_of_any_row_ends_the_list_or_shows_a_traceback(cli, beside):
    good = cli._dir("latest").name
    spoilt = 0
    for number, (table, column) in enumerate(columns(beside())):
        value, folder = ODD[number % len(ODD)], beside()
        if not put(folder, table, column, value):
            continue
        listed = cli.here("list-runs", "--json")
        assert listed.code == 0, (table, column, value)
        rows = {row["run"]: row for row in listed.json}
        assert rows[good]["status"] == "finished"
        if (row := rows.get("spoilt")) and row["status"] == "unreadable":
            assert row["reason"].strip()
            spoilt += 1
        for words in (["list-runs"], ["show", "spoilt"], ["replay", "spoilt", "--speed=1e9"]):
            ended = cli.here(*words)
            assert ended.code in (0, 1, 2), (table, column, value, words)
            assert ended.code == 0 or ended.line.startswith("swarm-evo: "), (table, column, value, words)
    assert spoilt > 4


@pytest.mark.parametrize("value", ["NaN", "[1]"])
@pytest.mark.parametrize("key", ["final", "origin", "broke_off", "status"])
def test_a_fact_of_another_kind_is_told_in_one_line(cli, beside, key, value):
    """`export-best` and `resume` ended with a traceback where a fact was no object any more."""
    with sqlite3.connect(beside() / "run.db") as store:
        store.execute("UPDATE facts SET value = ? WHERE key = ?", (value, key))
    for words in (["export-best", "spoilt"], ["resume", "spoilt"], ["show", "spoilt"]):
        ended = cli.here(*words)
        assert ended.code == 1 and "run spoilt is unreadable: " in ended.line, (words, ended)


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("nodes", "metric_source", "newer_kind"), ("nodes", "rest", "{"), ("events", "at", "2026-13-99"),
     ("facts", "value", "[]"), ("texts", "body", b"\x01"), ("calls", "role", None)],
)  # fmt: skip
def test_each_verb_says_in_one_line_that_a_run_is_unreadable(cli, beside, table, column, value):
    folder = beside()
    if not put(folder, table, column, value):
        pytest.skip(f"the table takes no {value!r} there")
    node = cli.show(cli._dir("latest").name)["best_node_id"]
    refused = 0
    for words in (["show", "spoilt"], ["show", "spoilt", node], ["report", "spoilt"], ["resume", "spoilt"],
                  ["replay", "spoilt", "--speed=1e9"], ["export-best", "spoilt"]):  # fmt: skip
        ended = cli.here(*words)
        if ended.code:
            assert ended.line.startswith("swarm-evo: "), words
            refused += "unreadable" in ended.line
    assert refused


def test_the_page_lists_it_as_unreadable(cli, beside):
    put(beside(), "nodes", "metric_value", "newer_kind")
    with TestClient(create_app(cli.folder, hosts=("testserver",))) as page:
        rows = {row["run"]: row for row in page.get("/api/runs").json()}
        assert rows["spoilt"]["status"] == "unreadable" and rows["spoilt"]["error"]
        assert rows[cli._dir("latest").name]["status"] == "finished"
        for path in ("", "/nodes", "/snapshot"):
            assert page.get(f"/api/runs/spoilt{path}").status_code == 422, path
