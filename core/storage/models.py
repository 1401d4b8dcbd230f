"""Tables of a run's store, `logs/<run>/run.db`. Additive: a column or table is added, never changed or removed.

Every long text (code, prompt parts, replies, outputs) lies once in `texts`, named by its hash. Texts, and the JSON that
a search writes at every node, are packed: `core.storage.packing`. `docs/schema.md` tells tables and views to people.
Without an ORM: docs/decisions/0013-tables-without-an-orm.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    func,
    literal_column,
)
from sqlalchemy.types import TypeEngine, UserDefinedType

from core.storage.chain_links import CHAIN
from core.storage.moments import moment, moment_text
from core.storage.packing import Stored, json_of, pack_json

_DIGEST = re.compile("[0-9a-f]{64}")


class Body(UserDefinedType[Any]):
    """A column without affinity: what is written as text stays text, bytes stay bytes."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "BLOB"


class PackedJson(Body):
    """A JSON value, packed. Reads JSON as text too, as older versions wrote it."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], bytes]:
        return lambda value: pack_json(json.dumps(value))

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return lambda stored: None if stored is None else json_of(stored)


class Digest(Body):
    """A SHA-256 in hex, as bytes; what is none stays text, and so does what an older version wrote."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Stored]:
        return digest

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Stored], str]:
        return lambda stored: stored if isinstance(stored, str) else stored.hex()


class Moment(UserDefinedType[Any]):
    """A time in UTC: as text, or as microseconds where it is given so."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "DATETIME"

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], int | str]:
        return lambda at: at if isinstance(at, int) else moment_text(at)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[int | str], datetime]:
        return moment


METADATA = MetaData()
"""All tables of a store."""


def _key(name: str, kind: type[TypeEngine[Any]] = String) -> Column[Any]:
    return Column(name, kind, primary_key=True)


def _some(name: str, kind: type[TypeEngine[Any]] = String, default: Any = None, **words: Any) -> Column[Any]:
    """A column that always holds a value: `default` where a row does not say."""
    return Column(name, kind, nullable=False, default=default, **words)


FACTS = Table(
    "facts",
    METADATA,
    _key("key"),
    Column("value", JSON),
    comment="Named facts of the run: `schema`, `run`, `config`, `status`, `final`, `round/3/shared`, … as JSON.",
)

TEXTS = Table(
    "texts",
    METADATA,
    _key("hash"),
    Column("body", Body),  # packed; text as it is where an older version stored a program
    comment="A text, stored once.",
)

TASKS = Table(
    "tasks",
    METADATA,
    _key("node_id"),
    _some("round", Integer, index=True),
    _some("slot", Integer),
    _some("attempt", Integer, 0),
    Column("task", PackedJson),
    Column("why", Body),  # JSON of what the policy said of its choice, packed as a text
    comment="A proposal with its identity: the `select` stage.",
)

STAGES = Table(
    "stages",
    METADATA,
    _key("node_id"),
    _key("stage"),
    _some("payload"),  # the stage's result as JSON
    comment="A finished stage of a node that is not committed yet; removed when it is.",
)

NODES = Table(
    "nodes",
    METADATA,
    _key("id"),
    _some("step", Integer, index=True, unique=True),
    _some("operator"),
    Column("generation", Integer, index=True),
    Column("island", Integer),
    _some("slot", Integer, 0),
    Column("metric_value", Float),
    Column("fitness", Float, index=True),
    Column("metric_source", String),
    Column("claimed_metric", Float),
    _some("is_buggy", Boolean, False),
    _some("is_valid", Boolean, True),
    Column("failure", String),
    _some("exec_time", Float, 0.0),
    _some("ctime", Float, 0.0),
    _some("writer", String, ""),
    _some("code_hash"),  # SHA-256 of the text, as in `core.state.fingerprint.text_hash`
    _some("code"),  # hash in `texts`
    _some("term_out"),  # hash in `texts`, or ''
    Column("parent_ids", JSON),
    Column("rest", JSON),
    comment="A committed node. The columns are for questions in SQL; `rest` holds every other field of Node.",
)

CALLS = Table(
    "calls",
    METADATA,
    _key("id", Integer),
    _some("request_hash", Digest),
    _some("sample"),
    Column("node_id", String, index=True),
    _some("role"),
    _some("attempt", Integer, 0),
    _some("provider"),
    _some("model"),
    Column("system", Body),  # names of the message's parts, in order: packed as a text, a name a line
    Column("user", Body),
    _some("tool", String, ""),
    Column("reply", Body),  # names of its parts, as above; an older version stored the name of the whole
    _some("finish_reason", String, ""),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("cost_usd", Float),
    _some("seconds", Float, 0.0),
    _some("tries", Integer, 1),
    _some("cached", Boolean, False),
    comment="An answered call of a model, or of `rules`.",
)

GAMES = Table(
    "games",
    METADATA,
    _key("key"),
    _some("seq", Integer, index=True),  # `seq` of its game.finished event
    _some("white", index=True),
    _some("black", index=True),
    _some("result"),
    Column("generation", Integer, index=True),
    Column("game", JSON),
    comment="A finished game of the arena.",
)

EVENTS = Table(
    "events",
    METADATA,
    _key("seq", Integer),
    _some("type", index=True),
    Column("node_id", String),
    _some("at", Moment),
    _some("body", Body),  # the event as JSON without `seq` and `at`; packed where it is one that every node has
    comment="One event of the run's one sequence.",
)

TICKETS = Table(
    "tickets",
    METADATA,
    _key("node_id"),
    _some("token_hash"),
    _some("state"),  # `open`, `told`, `given_up` or `expired`
    _some("expires_at", Float),  # seconds since the epoch
    _some("told", String, ""),  # name of the reply in `texts`
    _some("checks", Integer, 0),  # how often it asked `check`
    comment="A proposal leased to a writer outside of the run's process (`ask`), and what it handed in (`tell`).",
)

LINKS = Table(
    CHAIN,
    METADATA,
    _key("seq", Integer),
    _some("records", Body),  # what one transaction wrote: `core.storage.chain_links`
    _some("head", Body),
    comment="One link of the chain that vouches for the rows of all other tables: see `core.storage.chain`.",
)

Index("ix_nodes_code", func.substr(NODES.c.code_hash, literal_column("1"), literal_column("8")))
"""Eight digits find a program; the index of all 64 took a fifteenth of a node."""


Index("ix_calls_request", func.substr(CALLS.c.request_hash, literal_column("1"), literal_column("4")))
"""Four bytes find a request; before, an index of all samples took twice as much."""


def digest(value: str) -> Stored:
    """A hash as a column of digests holds it."""
    return bytes.fromhex(value) if _DIGEST.fullmatch(value) else value


def columns_of(table: str) -> list[str]:
    """The columns of a table in their order."""
    return [column.name for column in METADATA.tables[table].columns]
