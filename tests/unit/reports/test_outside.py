"""Who wrote what: the sessions of coding agents, from stored runs."""

from __future__ import annotations

from core.backend.records import WORDS
from core.contracts import SESSION, CallRecord
from core.state.node import Node
from core.storage.reader import RunReader
from reports.outside import sessions


def call(role, number, **fields):
    return CallRecord(
        request_hash=f"{role}{number}", sample=str(number), node_id=fields.pop("node_id", "a"), provider="agent",
        model="m", role=role, system="", user="u", reply="r", seconds=1.0, **fields,
    )  # fmt: skip


def test_an_exchange_is_of_one_session_where_a_proposal_has_several(write_run):
    """Each of two sessions was told with the turns and seconds of both."""
    calls = [
        call(SESSION, 0), call(SESSION, 1), call(SESSION, 2, finish_reason=WORDS), call("code", 3, cost_usd=1.0),
        call("code", 4, node_id="b"), call(SESSION, 5), call("code", 6, cost_usd=2.0),
    ]  # fmt: skip
    with RunReader(write_run([Node(id="a", code="x = 1", metric_value=1.0)], calls=calls)) as reader:
        found = sessions(reader)
    assert [(one["turns"], one["model_seconds"], one["cost_usd"]) for one in found] == [(2, 3.0, 1.0), (1, 1.0, 2.0)]
