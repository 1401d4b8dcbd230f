"""A run's folder from elsewhere: nothing in it makes who looks at it wait, or who goes on with it write elsewhere."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from pydantic import ValidationError
from support.command_line import Cli
from support.dashboard import serving
from support.mcp_client import McpClient

from core.state.node import Node
from core.state.task import Task
from core.storage.foreign_schema import runs_something
from runs.tickets.server import call
from swarm_evo.leases import adopted

ENDLESS = (
    "CREATE VIEW {table} AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    "SELECT {columns} FROM c, own_{table} WHERE c.x < 0"
)
LOOKS = ["list-runs", "show latest", "verify latest", "report latest", "export latest --format json", "replay latest"]
WORKS = [
    f"{verb} --i-trust-this-run" for verb in ("resume latest search.max_steps=9", "export-best latest", "step latest")
]
"""The problem of these runs is a plug-in's."""


@pytest.fixture
def ended(cli: Cli, toy: Callable[..., list[str]]) -> Cli:
    assert cli.here(*toy(2, "logging.report=false")).code == 0
    shutil.rmtree(cli.folder / "workspaces")  # here nothing began
    return cli


def changed(store: Path, *statements: str) -> None:
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("PRAGMA legacy_alter_table=ON")  # views go on naming what they named
        for statement in statements:
            connection.execute(statement)


def hide(table: str, store: Path) -> None:
    """Put a view that never ends in the place of a table."""
    with closing(sqlite3.connect(store)) as connection:
        columns = ", ".join(f'own_{table}."{row[1]}"' for row in connection.execute(f"PRAGMA table_info({table})"))
    changed(store, f"ALTER TABLE {table} RENAME TO own_{table}", ENDLESS.format(table=table.upper(), columns=columns))


@pytest.mark.parametrize("table", ["facts", "events", "nodes"])
def test_a_view_in_the_place_of_a_table_is_not_asked(ended: Cli, table: str) -> None:
    """`list-runs` and the page waited for ever for one such run among others."""
    hide(table, ended.run_dir / "run.db")
    for words in [*LOOKS, *WORKS]:
        found = ended(*words.split(), timeout=100)
        assert "no plain table in the place of" in found.out + found.err, words
        assert found.code in ((0,) if words == "list-runs" else (1, 2)), words
    with serving(ended.folder) as (address, _):
        with urlopen(f"http://{address}/api/runs", timeout=60) as answer:
            assert answer.status == 200
        with pytest.raises(HTTPError) as refused:
            urlopen(f"http://{address}/api/runs/{ended.run_dir.name}", timeout=60)
        refused.value.close()
        assert refused.value.code == 422


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TRIGGER more AFTER INSERT ON events BEGIN DELETE FROM nodes; END"],
        ["DROP VIEW candidates", "CREATE VIEW Candidates AS SELECT zeroblob(1 << 30) AS code"],
        ["DROP TABLE games", "CREATE VIRTUAL TABLE games USING fts5(game)"],
        ["ALTER TABLE facts ADD COLUMN more AS (hex(zeroblob(1 << 29)))"],
    ],
)
def test_nothing_in_a_schema_runs(ended: Cli, statements: list[str]) -> None:
    store = ended.run_dir / "run.db"
    try:
        changed(store, *statements)
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error):
            raise
        pytest.skip(f"this SQLite has it not: {error}")
    assert ended.here("show", "latest").code == 1 and ended.here(*WORKS[0].split()).code == 1
    checked = ended.here("verify", "latest")
    assert checked.code == 1 and "nothing of it is read" in checked.out


def test_tables_and_views_of_ones_own_may_stand_in_a_store(ended: Cli) -> None:
    store = ended.run_dir / "run.db"
    changed(store, "CREATE TABLE notes (text)", "CREATE VIEW best AS SELECT max(score) FROM candidates")
    with closing(sqlite3.connect(store)) as connection:
        assert runs_something(connection) is None
    assert ended.here("show", "latest").code == 0


@contextmanager
def leading_elsewhere(folder: Path, name: str) -> Iterator[None]:
    """A link at that name of a run's folder to a file that somebody else needs; at the end it is as it was."""
    precious = folder.parent.parent / "precious"
    precious.write_text("precious")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(precious)
    yield
    assert precious.read_text() == "precious"
    (folder / name).unlink(missing_ok=True)


@pytest.mark.parametrize(
    "name", ["best_solution/solution.py", "best_solution/node.json", "system.log", "metrics.json", "run.lock",
             "tickets.log", "report.html", "started", "files"]
)  # fmt: skip
def test_a_link_in_a_runs_folder_is_not_written_through(ended: Cli, name: str) -> None:
    """`export-best` wrote the stranger's program, and `resume` a log, into whatever file a link led to."""
    with leading_elsewhere(ended.run_dir, name):
        for words in WORKS:
            found = ended.here(*words.split())
            assert found.code == 1 and f"{name} is a link" in found.err, words
        for words in ("show latest", "report latest", "tag latest +seen", "list-runs"):
            assert ended.here(*words.split()).code == 0, words
    assert ended.here(*WORKS[1].split()).code == 0


def test_a_run_with_links_can_be_removed(ended: Cli) -> None:
    run_dir = ended.run_dir
    with leading_elsewhere(run_dir, "run.lock"):
        assert ended.here("rm", "latest", "--yes").code == 0
    assert not run_dir.exists()


def test_a_pipe_in_a_recording_or_a_run_is_not_waited_for(ended: Cli) -> None:
    recording = ended.folder / "recording"
    shutil.copytree(Path(__file__).parents[2] / "cli" / "recording" / "circle_packing", recording)
    (recording / "calls.jsonl").unlink()
    os.mkfifo(recording / "calls.jsonl")
    played = ended("demo", "--recording", str(recording), timeout=100)
    assert played.code == 2 and "cannot be read" in played.err
    os.mkfifo(ended.run_dir / "metrics.csv.more")
    assert "is no file" in ended(*WORKS[0].split(), timeout=100).err


def test_a_bundle_of_one_endless_line_fills_no_memory(ended: Cli) -> None:
    bundle = ended.folder / "bundle"
    assert ended.here("export-best", "latest", "--bundle", str(bundle)).code == 0
    os.truncate(bundle / "chain.jsonl", 1 << 34)
    found = ended("verify", str(bundle), timeout=100)
    assert found.code == 1 and "a line of more than 64 MB" in found.out


def test_a_ticket_is_not_asked_for_at_somebody_elses_socket(ended: Cli) -> None:
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(ended.folder / "agent.sock"))
        agent.listen()
        agent.settimeout(0.2)
        (ended.run_dir / "tickets.sock").symlink_to(ended.folder / "agent.sock")
        assert call(ended.run_dir, {"verb": "hello"}, 1.0) is None
        with pytest.raises(TimeoutError):
            agent.accept()


def test_who_asks_for_tickets_removes_no_file_of_the_users(ended: Cli) -> None:
    """Tokens of processes that are gone are dropped: what a link led to was taken for such, and removed."""
    documents = ended.folder / "documents"
    documents.mkdir()
    for name in ("thesis.tex", "0123456789abcdef"):
        (documents / name).write_text("precious")
    (ended.run_dir / "leases").symlink_to(documents)
    with McpClient(ended.folder) as client:
        client.call("ask", run=ended.run_dir.name, wait_s=0)
    assert sorted(path.name for path in documents.iterdir()) == ["0123456789abcdef", "thesis.tex"]
    (ended.run_dir / "leases").unlink()
    (ended.run_dir / "leases").mkdir()
    os.mkfifo(ended.run_dir / "leases" / "0123456789abcdef")
    assert adopted(ended.run_dir) == [], "nobody waits for a pipe"


@pytest.mark.parametrize("name", ["../../../elsewhere", "/etc/x", "..", "a/b", ".x", "a\nb", "x" * 200])
def test_an_id_that_leads_elsewhere_is_the_id_of_no_node(ended: Cli, name: str) -> None:
    """Ids name files: what a program of a stranger's printed, and the submission that it left, went where he chose."""
    changed(ended.run_dir / "run.db", f"UPDATE nodes SET id = '{name}' WHERE step = 1")
    for words in WORKS:
        found = ended.here(*words.split())
        assert found.code in (1, 2) and len(found.err.strip().splitlines()) == 1, found.err
    assert ended.here("verify", "latest").code == 1
    for model in (
        lambda: Task(node_id=name, operator="draft", round=0, slot=0, seed=1),
        lambda: Node(id=name, code=""),
    ):
        with pytest.raises(ValidationError):
            model()
