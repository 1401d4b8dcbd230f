"""Tables of a run's store, `logs/<run>/run.db`. Additive: a column or table is added, never changed or removed.

Every long text (code, prompt parts, replies, outputs) lies once in `texts`, named by its hash; programs as plain text,
the others compressed. `docs/schema.md` tells tables and views to people.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, Table
from sqlalchemy.types import UserDefinedType
from sqlmodel import Field, SQLModel

from core.storage.chain import CHAIN


class Body(UserDefinedType[Any]):
    """A column without affinity: what is written as text stays text, bytes stay bytes."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "BLOB"


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
    """Text as it is, or bytes: zlib; a first byte of 0 means not compressed."""


class TaskRow(SQLModel, table=True):
    """A proposal with its identity: the `select` stage."""

    __tablename__ = "tasks"

    node_id: str = Field(primary_key=True)
    round: int = Field(index=True)
    slot: int
    attempt: int = 0
    task: Any = Field(sa_column=Column(JSON))
    why: Any = Field(sa_column=Column(JSON))


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
    code_hash: str = Field(index=True)
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
    request_hash: str = Field(index=True)
    sample: str = Field(index=True)
    node_id: str | None = Field(default=None, index=True)
    role: str
    attempt: int = 0
    provider: str
    model: str
    system: Any = Field(sa_column=Column(JSON))
    """Hashes of the message's parts, in order."""
    user: Any = Field(sa_column=Column(JSON))
    tool: str = ""
    reply: str
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
    node_id: str | None = Field(default=None, index=True)
    at: datetime = Field(sa_column=Column(DateTime(timezone=True)))
    body: str
    """The event as JSON without `seq` and `at`."""


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
    records: str
    """JSON: `[table, key, hash]` of each row that one transaction wrote; hash '' for one that went."""
    head: str


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


def columns_of(table: str) -> list[str]:
    """The columns of a table in their order."""
    return [column.name for column in SQLModel.metadata.tables[table].columns]
