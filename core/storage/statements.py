"""The statements that a search repeats at every node, built once: to build one takes longer than SQLite runs it."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select, text
from sqlalchemy.dialects.sqlite import insert

from core.storage.models import CALLS, EVENTS, FACTS, GAMES, NODES, STAGES, TASKS, TEXTS
from core.storage.prepared_statement import Prepared

_TEXT = insert(TEXTS)
ADD_TEXT = Prepared(_TEXT.on_conflict_do_nothing())
KEEP_WHOLE = Prepared(_TEXT.on_conflict_do_update(index_elements=["hash"], set_={"body": _TEXT.excluded.body}))
ADD_EVENT = Prepared(insert(EVENTS))
ADD_TASK = Prepared(insert(TASKS))
ADD_NODE = Prepared(insert(NODES))
ADD_CALL = Prepared(insert(CALLS))
ADD_GAME = insert(GAMES).on_conflict_do_nothing()

_STAGE = insert(STAGES)
PUT_STAGE = Prepared(
    _STAGE.on_conflict_do_update(index_elements=["node_id", "stage"], set_={"payload": _STAGE.excluded.payload})
)
_FACT = insert(FACTS)
PUT_FACT = Prepared(_FACT.on_conflict_do_update(index_elements=["key"], set_={"value": _FACT.excluded.value}))

DROP_STAGES = Prepared(delete(STAGES).where(STAGES.c.node_id == bindparam("node")))
DROP_FACT = Prepared(delete(FACTS).where(FACTS.c.key == bindparam("name")))

TEXT = "SELECT body FROM texts WHERE hash = ?"
FACT = select(FACTS.c.value).where(FACTS.c.key == bindparam("key"))
SAME_CODE = text("SELECT 1 FROM nodes WHERE substr(code_hash, 1, 8) = :start AND code_hash = :hash LIMIT 1")
NODE_TEXTS = "SELECT code, term_out FROM nodes WHERE id = ?"
STAGES_OF = select(STAGES.c.stage, STAGES.c.payload).where(STAGES.c.node_id == bindparam("node"))
CALLS_OF = select(CALLS).where(
    text("substr(request_hash, 1, 4) IN (substr(:stored, 1, 4), substr(:hex, 1, 4))"),  # before schema 4 in hex
    CALLS.c.sample == bindparam("sample"),
)
GAME = select(GAMES.c.game).where(GAMES.c.key == bindparam("key"))
