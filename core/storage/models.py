"""Tables of a run's store, `logs/<run>/run.db`. Additive: a column or table is added, never changed or removed.

Every long text (code, prompt parts, replies, outputs) lies once in `texts`, named by its hash. Texts, and the JSON that
a search writes at every node, are packed: `core.storage.packing`. `docs/schema.md` tells tables, columns and views to
people, `core.storage.forms` how values lie. A column declared BLOB holds text as text and bytes as bytes.
Without an ORM: docs/decisions/0013-tables-without-an-orm.md.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache

from core.state.operators import FREE_OPERATORS
from core.storage.chain_links import CHAIN

_FACTS = """
CREATE TABLE facts (
    "key" VARCHAR NOT NULL,
    value JSON,
    PRIMARY KEY ("key")
)
"""
"""Named facts of the run: `schema`, `run`, `config`, `status`, `final`, `round/3/shared`, … as JSON."""

_TEXTS = """
CREATE TABLE texts (
    hash VARCHAR NOT NULL,
    body BLOB,
    PRIMARY KEY (hash)
)
"""
"""A text, stored once: packed; as it is where an older version stored a program."""

_TASKS = """
CREATE TABLE tasks (
    node_id VARCHAR NOT NULL,
    round INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    task BLOB,
    why BLOB,
    PRIMARY KEY (node_id)
);
CREATE INDEX ix_tasks_round ON tasks (round)
"""
"""A proposal with its identity: the `select` stage. `why` is JSON of what the policy said of its choice, packed as a
text."""

_STAGES = """
CREATE TABLE stages (
    node_id VARCHAR NOT NULL,
    stage VARCHAR NOT NULL,
    payload VARCHAR NOT NULL,
    PRIMARY KEY (node_id, stage)
)
"""
"""A finished stage of a node that is not committed yet, its result as JSON; removed when it is."""

_NODES = """
CREATE TABLE nodes (
    id VARCHAR NOT NULL,
    step INTEGER NOT NULL,
    operator VARCHAR NOT NULL,
    generation INTEGER,
    island INTEGER,
    slot INTEGER NOT NULL,
    metric_value FLOAT,
    fitness FLOAT,
    metric_source VARCHAR,
    claimed_metric FLOAT,
    is_buggy BOOLEAN NOT NULL,
    is_valid BOOLEAN NOT NULL,
    failure VARCHAR,
    exec_time FLOAT NOT NULL,
    ctime FLOAT NOT NULL,
    writer VARCHAR NOT NULL,
    code_hash VARCHAR NOT NULL,
    code VARCHAR NOT NULL,
    term_out VARCHAR NOT NULL,
    parent_ids JSON,
    rest JSON,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX ix_nodes_step ON nodes (step);
CREATE INDEX ix_nodes_generation ON nodes (generation);
CREATE INDEX ix_nodes_fitness ON nodes (fitness);
CREATE INDEX ix_nodes_code ON nodes (substr(code_hash, 1, 8))
"""
"""A committed node. The columns are for questions in SQL; `rest` holds every other field of Node. `code_hash` is the
`core.state.fingerprint.text_hash` of its text; `code` and `term_out` are names in `texts`. Eight digits find a program:
the index of all 64 took a fifteenth of a node."""

_CALLS = """
CREATE TABLE calls (
    id INTEGER NOT NULL,
    request_hash BLOB NOT NULL,
    sample VARCHAR NOT NULL,
    node_id VARCHAR,
    role VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    system BLOB,
    user BLOB,
    tool VARCHAR NOT NULL,
    reply BLOB,
    finish_reason VARCHAR NOT NULL,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    cost_usd FLOAT,
    seconds FLOAT NOT NULL,
    tries INTEGER NOT NULL,
    cached BOOLEAN NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_calls_node_id ON calls (node_id);
CREATE INDEX ix_calls_request ON calls (substr(request_hash, 1, 4))
"""
"""An answered call of a model, or of `rules`. `system`, `user` and `reply` are the names of the message's parts, in
order: packed as a text, a name a line; an older version stored the name of the whole reply. Four bytes find a request:
an index of all samples took twice as much."""

_GAMES = """
CREATE TABLE games (
    "key" VARCHAR NOT NULL,
    seq INTEGER NOT NULL,
    white VARCHAR NOT NULL,
    black VARCHAR NOT NULL,
    result VARCHAR NOT NULL,
    generation INTEGER,
    game JSON,
    PRIMARY KEY ("key")
);
CREATE INDEX ix_games_seq ON games (seq);
CREATE INDEX ix_games_white ON games (white);
CREATE INDEX ix_games_black ON games (black);
CREATE INDEX ix_games_generation ON games (generation)
"""
"""A finished game of the arena; `seq` is that of its game.finished event."""

_EVENTS = """
CREATE TABLE events (
    seq INTEGER NOT NULL,
    type VARCHAR NOT NULL,
    node_id VARCHAR,
    at DATETIME NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (seq)
);
CREATE INDEX ix_events_type ON events (type)
"""
"""One event of the run's one sequence. `body` is the event as JSON without `seq` and `at`; packed where it is one that
every node has."""

_TICKETS = """
CREATE TABLE tickets (
    node_id VARCHAR NOT NULL,
    token_hash VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    expires_at FLOAT NOT NULL,
    told VARCHAR NOT NULL,
    checks INTEGER NOT NULL,
    PRIMARY KEY (node_id)
)
"""
"""A proposal leased to a writer outside of the run's process (`ask`), and what it handed in (`tell`). `expires_at` is
in seconds since the epoch; `told` the reply's name in `texts`; `checks` how often it asked `check`."""

_LINKS = f"""
CREATE TABLE {CHAIN} (
    seq INTEGER NOT NULL,
    records BLOB NOT NULL,
    head BLOB NOT NULL,
    PRIMARY KEY (seq)
)
"""
"""One link of the chain that vouches for the rows of all other tables: see `core.storage.chain`. `records` is what one
transaction wrote: `core.storage.chain_links`."""

TABLES = {
    "facts": _FACTS,
    "texts": _TEXTS,
    "tasks": _TASKS,
    "stages": _STAGES,
    "nodes": _NODES,
    "calls": _CALLS,
    "games": _GAMES,
    "events": _EVENTS,
    "tickets": _TICKETS,
    CHAIN: _LINKS,
}
"""All tables of a store: what makes each of them and its indexes."""

SCORED = "fitness IS NOT NULL AND is_valid AND NOT is_buggy"
"""Condition on rows of `nodes`: these may steer the search."""
_FREE = ", ".join(f"'{operator}'" for operator in sorted(FREE_OPERATORS))
IS_STEP = f"operator NOT IN ({_FREE})"
"""Condition on rows of `nodes`: baselines, the user's own programs and blends are no steps."""


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables that are not there; one of an older version keeps its indexes."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for name, statements in TABLES.items():
        if name not in there:
            for statement in statements.split(";"):
                connection.execute(statement)


@cache
def columns_of(table: str) -> tuple[str, ...]:
    """The columns of a table in their order, as SQLite reads them."""
    with closing(sqlite3.connect(":memory:")) as empty:
        create_tables(empty)
        return tuple(name for (name,) in empty.execute("SELECT name FROM pragma_table_info(?)", (table,)))
