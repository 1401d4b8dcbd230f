"""Tables of a run's store, `logs/<run>/run.db`. Additive: a column or table is added, never changed or removed.

Every long text (code, prompt parts, replies, outputs) lies once in `texts`, named by its hash. Texts, and the JSON that
a search writes at every node, are packed: `core.storage.packing`. `docs/schema.md` tells tables and views to people.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Dialect, Index, Table, func, literal_column
from sqlalchemy.types import UserDefinedType
from sqlmodel import Field, SQLModel

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
        return lambda value: bytes.fromhex(value) if _DIGEST.fullmatch(value) else value

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


class MetaRow(SQLModel, table=True):
    """Named facts of the run: `schema`, `run`, `config`, `status`, `final`, `round/3/shared`, … as JSON."""

    __tablename__ = "facts"

    key: str = Field(primary_key=True)
    value: Any = Field(sa_column=Column(JSON))


class TextRow(SQLModel, table=True):
    """A text, stored once."""

    __tablename__ = "texts"

    hash: str = Field(primary_key=True)
    body: Any = Field(sa_column=Column(Body))
    """Packed; text as it is where an older version stored a program."""


class TaskRow(SQLModel, table=True):
    """A proposal with its identity: the `select` stage."""

    __tablename__ = "tasks"

    node_id: str = Field(primary_key=True)
    round: int = Field(index=True)
    slot: int
    attempt: int = 0
    task: Any = Field(sa_column=Column(PackedJson))
    why: Any = Field(sa_column=Column(Body))
    """JSON of what the policy said of its choice, packed as a text."""


class StageRow(SQLModel, table=True):
    """A finished stage of a node that is not committed yet; removed when it is."""

    __tablename__ = "stages"

    node_id: str = Field(primary_key=True)
    stage: str = Field(primary_key=True)
    payload: str
    """The stage's result as JSON."""


class NodeRow(SQLModel, table=True):
    """A committed node. The columns are for questions in SQL; `rest` holds every other field of Node."""

    __tablename__ = "nodes"

    id: str = Field(primary_key=True)
    step: int = Field(index=True, unique=True)
    operator: str
    generation: int | None = Field(default=None, index=True)
    island: int | None = None
    slot: int = 0
    metric_value: float | None = None
    fitness: float | None = Field(default=None, index=True)
    metric_source: str | None = None
    claimed_metric: float | None = None
    is_buggy: bool = False
    is_valid: bool = True
    failure: str | None = None
    exec_time: float = 0.0
    ctime: float = 0.0
    writer: str = ""
    code_hash: str
    """SHA-256 of the text, as in `core.state.fingerprint.text_hash`."""
    code: str
    """Hash in `texts`."""
    term_out: str
    """Hash in `texts`, or ''."""
    parent_ids: Any = Field(sa_column=Column(JSON))
    rest: Any = Field(sa_column=Column(JSON))


class CallRow(SQLModel, table=True):
    """An answered call of a model, or of `rules`."""

    __tablename__ = "calls"

    id: int | None = Field(default=None, primary_key=True)
    request_hash: str = Field(sa_column=Column(Digest, nullable=False))
    sample: str = Field(index=True)
    node_id: str | None = Field(default=None, index=True)
    role: str
    attempt: int = 0
    provider: str
    model: str
    system: Any = Field(sa_column=Column(Body))
    """Names of the message's parts, in order: packed as a text, a name a line."""
    user: Any = Field(sa_column=Column(Body))
    tool: str = ""
    reply: Any = Field(sa_column=Column(Body))
    """Names of its parts, as above; an older version stored the name of the whole."""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    tries: int = 1
    cached: bool = False


class GameRow(SQLModel, table=True):
    """A finished game of the arena."""

    __tablename__ = "games"

    key: str = Field(primary_key=True)
    seq: int = Field(index=True)
    """`seq` of its game.finished event."""
    white: str = Field(index=True)
    black: str = Field(index=True)
    result: str
    generation: int | None = Field(default=None, index=True)
    game: Any = Field(sa_column=Column(JSON))


class EventRow(SQLModel, table=True):
    """One event of the run's one sequence."""

    __tablename__ = "events"

    seq: int = Field(primary_key=True)
    type: str = Field(index=True)
    node_id: str | None = None
    at: Any = Field(sa_column=Column(Moment, nullable=False))
    body: Any = Field(sa_column=Column(Body, nullable=False))
    """The event as JSON without `seq` and `at`; packed where it is one that every node has."""


class TicketRow(SQLModel, table=True):
    """A proposal that was leased to a writer outside of the run's process (`ask`), and what it handed in (`tell`)."""

    __tablename__ = "tickets"

    node_id: str = Field(primary_key=True)
    token_hash: str
    state: str
    """`open`, `told`, `given_up` or `expired`."""
    expires_at: float
    """Seconds since the epoch."""
    told: str = ""
    """Name of the reply in `texts`."""
    checks: int = 0
    """How often it asked `check`."""


class LinkRow(SQLModel, table=True):
    """One link of the chain that vouches for the rows of all other tables: see `core.storage.chain`."""

    __tablename__ = CHAIN

    seq: int = Field(primary_key=True)
    records: Any = Field(sa_column=Column(Body, nullable=False))
    """What one transaction wrote: `core.storage.chain_links`."""
    head: Any = Field(sa_column=Column(Body, nullable=False))


def _table(model: type[SQLModel]) -> Table:
    """The Core table of a model: the store writes and asks in SQLAlchemy Core, which costs a third of the ORM."""
    return SQLModel.metadata.tables[str(model.__tablename__)]


FACTS = _table(MetaRow)
TEXTS = _table(TextRow)
TASKS = _table(TaskRow)
STAGES = _table(StageRow)
NODES = _table(NodeRow)
CALLS = _table(CallRow)
GAMES = _table(GameRow)
EVENTS = _table(EventRow)
TICKETS = _table(TicketRow)
LINKS = _table(LinkRow)

Index("ix_nodes_code", func.substr(NODES.c.code_hash, literal_column("1"), literal_column("8")))
"""Eight digits find a program; the index of all 64 took a fifteenth of a node."""


def columns_of(table: str) -> list[str]:
    """The columns of a table in their order."""
    return [column.name for column in SQLModel.metadata.tables[table].columns]
