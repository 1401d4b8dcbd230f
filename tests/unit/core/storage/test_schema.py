"""`docs/schema.md` against the real schema, read by plain `sqlite3`: every table, view and column, and its queries."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.events import GenerationFinished
from core.state.findings import TournamentResult
from core.state.fingerprint import text_hash
from core.state.journal import Journal
from core.state.node import Node
from core.storage.chain import chained_tables
from core.storage.chain_links import CHAIN
from core.storage.database import DB_NAME
from core.storage.migrations import SCHEMA_VERSION
from core.storage.repository import RunStore

GOLDEN = Path(__file__).parents[3] / "golden"
PAGE = (Path(__file__).parents[4] / "docs" / "schema.md").read_text(encoding="utf-8")
SECTIONS = {
    name: re.findall(r"^\| `(\w+)` \| (.+) \|$", body, flags=re.M)
    for name, body in re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, flags=re.M | re.S)
}
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, flags=re.S)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A plain connection to the store of an arena run: three engines, one of them broken, a game between two."""
    folder = tmp_path_factory.mktemp("run")
    store, journal = RunStore(folder), Journal()
    result = TournamentResult(promoted=("b", "a"))
    for one in (
        Node(id="a", code="name = 'A'\n", name="A", operator="baseline", metric_value=0.0, tournament=result),
        Node(id="b", code="é = 1\n", name="B", operator="build", parent_id="a", generation=1, metric_value=9.0,
             interval=(1.0, 17.0), message="2 won", writer="rules", prompt_tokens=0, metadata={"own": 1}),
        Node(id="c", code="1/0\n", operator="build", parent_id="a", generation=1, is_buggy=True, failure="runtime"),
    ):  # fmt: skip
        store.commit([journal.append(one)], [])
    store.put_fact("family", "arena")
    store.put("g", {"white": "a", "black": "b", "result": "0-1", "generation": 1, "termination": "mate"}, [])
    store.append([GenerationFinished(generation=1, promoted=["a", "b"])])
    store.append([GenerationFinished(generation=1, promoted=["b", "a"])])  # judged again by hand
    store.close()
    with closing(sqlite3.connect(f"file:{folder / DB_NAME}?mode=ro", uri=True)) as connection:
        yield connection


def test_every_table_view_and_column_is_told(plain):
    real = {name for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")}
    assert real == SECTIONS.keys()
    for name, told in SECTIONS.items():
        assert [column for column, _ in told] == [row[1] for row in plain.execute(f"PRAGMA table_info({name})")], name
    assert f"now {SCHEMA_VERSION}." in PAGE


def test_a_new_file_has_the_tables_that_this_version_always_made(plain):
    with closing(sqlite3.connect(":memory:")) as golden:
        golden.executescript((GOLDEN / f"store-tables-{SCHEMA_VERSION}.sql").read_text(encoding="utf-8"))
        assert statements(plain) == statements(golden)
        for table in chained_tables(golden).keys() | {CHAIN}:
            assert shape(plain, table) == shape(golden, table), table


def statements(connection):
    """What made each table and index, without the white space and quotes that mean nothing."""
    query = "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL"
    return {name: re.sub(r"[\s\"]", "", sql) for name, sql in connection.execute(query)}


def shape(connection, table):
    """A table's columns, and its indexes with their columns, as SQLite reads them."""
    indexes = connection.execute(
        'SELECT name, "unique", origin, partial FROM pragma_index_list(?)', (table,)
    ).fetchall()
    within = "SELECT seqno, cid, name, desc, coll, key FROM pragma_index_xinfo(?)"
    told = {index: connection.execute(within, (index[0],)).fetchall() for index in indexes}
    return connection.execute(f"PRAGMA table_info({table})").fetchall(), told


@pytest.mark.parametrize("query", QUERIES)
def test_its_queries_answer(plain, query):
    assert plain.execute(query).description is not None


def test_the_seeds_columns_say_what_they_said(plain):
    columns = "code_hash, score, parent_id, provider_id, low, message, prompt_tokens, metadata"
    assert plain.execute(f"SELECT {columns} FROM candidates WHERE id = 'b'").fetchone() == (
        text_hash("é = 1\n"),
        9.0,
        "a",
        "rules",
        1.0,
        "2 won",
        0,
        '{"own":1}',
    )
    assert plain.execute("SELECT failure, is_scored FROM candidates WHERE id = 'c'").fetchone() == ("runtime", 0)


def test_engines_and_generations(plain):
    assert plain.execute("SELECT name, elo FROM engines WHERE is_scored ORDER BY elo DESC").fetchall() == [
        ("B", 9.0), ("A", 0.0)
    ]  # fmt: skip
    columns = "generation, candidates, scored, best_score, avg_score, best_id, champion, runner_up"
    assert plain.execute(f"SELECT {columns} FROM generations").fetchall() == [(1, 2, 1, 9.0, 9.0, "b", "b", "a")]


def test_other_families_have_no_engines_and_know_their_direction(tmp_path):
    store, journal = RunStore(tmp_path), Journal(lower_is_better=True)
    for number, score in enumerate((3.0, 1.0, 2.0)):
        store.commit([journal.append(Node(code=f"x = {number}\n", metric_value=score, generation=0))], [])
    store.put_fact("family", "heuristic")
    store.close()
    with closing(sqlite3.connect(tmp_path / DB_NAME)) as plain:
        assert plain.execute("SELECT count(*) FROM engines").fetchone() == (0,)
        assert plain.execute("SELECT best_score, avg_score FROM generations").fetchall() == [(1.0, 2.0)]
