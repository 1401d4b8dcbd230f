"""Whether the records of a run agree with each other: what a chain made anew without care, or a bundle, gives away.

Works on rows as plain values (table → key → column → value): a store's and a bundle's alike.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from core.storage.chain_check import Finding
from core.storage.event_body import event_fields
from core.storage.packing import TextOf, json_of, parts_of
from utils.direction import Direction

Row = Mapping[str, Any]
Rows = Mapping[str, Mapping[str, Row]]

_NODE_TOLD = {
    "step": "step", "operator": "operator", "generation": "generation", "island": "island", "metric_value": "metric",
    "metric_source": "metric_source", "claimed_metric": "claimed_metric", "failure": "failure", "writer": "writer",
    "exec_time": "exec_time",
}  # fmt: skip
"""Column of a node → field of the event that tells of it."""
_CALL_TOLD = ("node_id", "role", "provider", "model", "prompt_tokens", "completion_tokens", "cost_usd")
_GAME_TOLD = ("white", "black", "result")
_TASK_TOLD = ("round", "slot")


def cross_check(rows: Rows) -> list[Finding]:
    """All disagreements. Rows that cannot be read at all are findings too."""
    findings: list[Finding] = []
    try:
        events = {
            key: {**event_fields(row["body"], row["node_id"]), "type": row["type"]}
            for key, row in rows["events"].items()
        }
        for check in (_order, _nodes, _commits, _calls, _games, _tasks, _end):
            findings += check(rows, events)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, zlib.error) as error:
        findings.append(Finding("run.db", f"records that cannot be read: {type(error).__name__}: {error}"))
    return findings


def _order(rows: Rows, events: Mapping[str, Row]) -> Iterator[Finding]:
    for place, key in enumerate(sorted(map(int, events)), 1):
        if key != place:
            yield Finding(f"events/{key}", f"event {place} is missing: the sequence has no gaps")
            return


def _nodes(rows: Rows, events: Mapping[str, Row]) -> Iterator[Finding]:
    direction = Direction(_fact(rows, "lower_is_better") is True)
    seen: set[str] = set()
    for place, (key, node) in enumerate(sorted(rows["nodes"].items(), key=lambda item: item[1]["step"])):
        where = f"nodes/{key}"
        if node["step"] != place:
            yield Finding(where, f"its step is {node['step']} where the journal has {place}")
        strange = [parent for parent in json.loads(node["parent_ids"]) if parent not in seen]
        if strange:
            yield Finding(where, f"its parent {strange[0]} is no earlier node")
        if node["fitness"] != direction.fitness(node["metric_value"]):
            yield Finding(where, "its fitness is not its metric, turned by the direction of the problem")
        seen.add(key)


def _commits(rows: Rows, events: Mapping[str, Row]) -> Iterator[Finding]:
    """Each verdict was told once, in the order of the journal, as it is stored; and so was the best at that moment."""
    told: dict[str, Row] = {}
    best: dict[Any, Row] = {}
    for key, event in _in_order(events, "node.committed"):
        node = rows["nodes"].get(event["node_id"])
        if node is None or event["node_id"] in told:
            yield Finding(f"events/{key}", f"tells of node {event['node_id']}, which is not there or was told before")
            continue
        if event.get("step") != len(told):
            yield Finding(f"events/{key}", f"tells of step {event.get('step')} where step {len(told)} was committed")
        told[event["node_id"]] = event
        yield from _disagreements(f"nodes/{event['node_id']}", node, event, _NODE_TOLD, f"event {key}")
        if json.loads(node["parent_ids"]) != event.get("parent_ids", []):
            yield Finding(f"nodes/{event['node_id']}", f"its parents are not those of event {key}")
        if (bool(node["is_buggy"]), bool(node["is_valid"])) != (event.get("is_buggy"), event.get("is_valid")):
            yield Finding(f"nodes/{event['node_id']}", f"whether it failed or is valid is not what event {key} says")
        yield from _best(rows, told, best, node, event, key)
    for key in rows["nodes"].keys() - told.keys():
        yield Finding(f"nodes/{key}", "no event tells of its verdict")


def _best(
    rows: Rows, told: Mapping[str, Row], best: dict[Any, Row], node: Row, event: Row, key: str
) -> Iterator[Finding]:
    """The best at that moment is a committed node with that metric, and none of its kind was better."""
    source = node["metric_source"]
    is_scored = node["fitness"] is not None and node["is_valid"] and not node["is_buggy"]
    if is_scored and (source not in best or node["fitness"] > best[source]["fitness"]):
        best[source] = node
    named = event.get("best_node_id")
    if named is None:
        if best:
            yield Finding(f"events/{key}", "names no best node although one has a score")
        return
    claimed = rows["nodes"].get(named)
    if claimed is None or named not in told or claimed["metric_value"] != event.get("best_metric"):
        yield Finding(f"events/{key}", f"its best node {named} is not committed by then with that metric")
    elif claimed["metric_source"] in best and best[claimed["metric_source"]]["fitness"] > claimed["fitness"]:
        yield Finding(
            f"events/{key}", f"its best node {named} is not the best: {best[claimed['metric_source']]['id']} is"
        )
    if bool(event.get("is_best")) != (named == event["node_id"]):
        yield Finding(f"events/{key}", "whether it is the best is not what it says of the best")


def _calls(rows: Rows, events: Mapping[str, Row]) -> Iterator[Finding]:
    if "calls" not in rows:
        return
    told = {str(event["call_id"]): (key, event) for key, event in _in_order(events, "llm.called")}
    yield from _matched("calls", rows["calls"], told, dict(zip(_CALL_TOLD, _CALL_TOLD, strict=True)))


def _games(rows: Rows, events: Mapping[str, Row]) -> Iterator[Finding]:
    by_event = {str(row["seq"]): (key, row) for key, row in rows["games"].items()}
    told = {key: (key, event) for key, event in _in_order(events, "game.finished")}
    for seq, (key, row) in by_event.items():
        if seq not in told:
            yield Finding(f"games/{key}", f"event {seq} does not tell of this game")
            continue
        yield from _disagreements(
            f"games/{key}", row, told[seq][1], dict(zip(_GAME_TOLD, _GAME_TOLD, strict=True)), f"event {seq}"
        )


def _tasks(rows: Rows, events: Mapping[str, Row]) -> Iterator[Finding]:
    told = {str(event["node_id"]): (key, event) for key, event in _in_order(events, "node.proposed")}
    for key, row in rows["tasks"].items():
        if key not in told:
            yield Finding(f"tasks/{key}", "no event tells of this proposal")
            continue
        number, event = told[key]
        yield from _disagreements(
            f"tasks/{key}", row, event, dict(zip(_TASK_TOLD, _TASK_TOLD, strict=True)), f"event {number}"
        )
        task = json_of(row["task"])
        if task["operator"] != event["operator"] or task["parent_ids"] != event["parent_ids"]:
            yield Finding(f"tasks/{key}", f"operator or parents are not those of event {number}")


def _end(rows: Rows, events: Mapping[str, Row]) -> Iterator[Finding]:
    """What was told at the end, and the final score."""
    final = _fact(rows, "final") or {}
    metrics = {row.get("node_id"): row.get("metric") for row in _fact(rows, "baselines") or []}
    beside = final.get("program") or {}  # a baseline that was scored beside the search
    metrics |= {beside["id"]: beside["metric_value"]} if beside else {}
    metrics |= {key: node["metric_value"] for key, node in rows["nodes"].items()}
    for key, event in _in_order(events, "run.finished"):
        named = event.get("best_node_id")
        if named is not None and (named not in metrics or metrics[named] != event.get("best_metric")):
            yield Finding(f"events/{key}", f"its best node {named} has no such metric")
    scored = [event for _, event in _in_order(events, "final.scored")]
    if final.get("node_id"):
        if final["node_id"] not in rows["nodes"] and final["node_id"] != beside.get("id"):
            yield Finding("facts/final", f"its node {final['node_id']} is not in the journal")
        if not scored or any(scored[-1].get(name) != final.get(name) for name in ("node_id", "metric", "interval")):
            yield Finding("facts/final", "the final score is not what its event says")


def _fact(rows: Rows, key: str) -> Any:
    return json.loads(rows["facts"][key]["value"]) if key in rows["facts"] else None


def check_programs(rows: Rows, programs: Mapping[str, str]) -> Iterator[Finding]:
    """Each node's program by its hash; `programs`: name of a text → SHA-256 of it."""
    for key, node in rows["nodes"].items():
        if node["code"] and programs.get(node["code"]) != node["code_hash"]:
            missing = node["code"] not in programs
            yield Finding(f"nodes/{key}", "its program is missing" if missing else "its program has another hash")


def check_texts(rows: Rows, texts: Mapping[str, str], text_of: TextOf) -> Iterator[Finding]:
    """Every text that a record names is there; `texts`: name of a text → SHA-256 of it."""
    named: dict[str, str] = {}
    for key, node in rows["nodes"].items():
        named |= dict.fromkeys(filter(None, (node["code"], node["term_out"])), f"nodes/{key}")
    for key, call in rows["calls"].items():
        try:
            parts = [part for column in ("system", "user", "reply") for part in parts_of(call[column], text_of)]
        except (zlib.error, ValueError):
            yield Finding(f"calls/{key}", "the list of its texts cannot be unpacked")
        else:
            named |= dict.fromkeys((part for part in parts if not part.startswith('"')), f"calls/{key}")
    for name in sorted(named.keys() - texts.keys()):
        yield Finding(f"texts/{name}", f"missing: {named[name]} names it")


def _matched(
    table: str, rows: Mapping[str, Row], told: Mapping[str, tuple[str, Row]], names: Mapping[str, str]
) -> Iterator[Finding]:
    """Each row has its event and each event its row, and both say the same."""
    for key, row in rows.items():
        if key not in told:
            yield Finding(f"{table}/{key}", "no event tells of it")
            continue
        yield from _disagreements(f"{table}/{key}", row, told[key][1], names, f"event {told[key][0]}")
    for key in told.keys() - rows.keys():
        yield Finding(f"events/{told[key][0]}", f"tells of {table}/{key}, which is not there")


def _disagreements(
    where: str,
    row: Row,
    event: Row,
    names: Mapping[str, str],
    told_by: str,
) -> Iterator[Finding]:
    for column, told in names.items():
        if row[column] != event.get(told):
            yield Finding(where, f"its {column} is not what {told_by} says")


def _in_order(events: Mapping[str, Row], kind: str) -> Iterator[tuple[str, Row]]:
    return iter(
        sorted(((key, event) for key, event in events.items() if event["type"] == kind), key=lambda i: int(i[0]))
    )
