"""What runs untrusted code, as jobs for any machine: programs go in, numbers come out, scoring is elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from core.contracts import ExecutionResult, JobContext, Limits, Session, SessionFailure
from core.evaluation.bounded_calls import BoundedCalls
from core.state.failure import FailureKind
from problems.bin_packing.program import FUNCTION

PAIRS_A_FRAME = 1_000_000
"""Of item and room: 16 MB of hexadecimal digits, where a frame may have 64."""
PRELUDE = f"""
def tabulate__(items, capacity):
    import array
    rule = {FUNCTION}
    table = array.array("d", [float(rule(item, room)) for item in items for room in range(item, capacity + 1)])
    return table.tobytes().hex()

def tabulate_with__(constants, items, capacity):
    globals()["K__"] = constants
    return tabulate__(items, capacity)

def score_levels__(states):
    rule = {FUNCTION}
    return [
        [score if (score := float(rule(item, room, list(histogram)))) - score == 0 else repr(score) for room in levels]
        for item, levels, histogram in states
    ]
"""
"""Appended to the candidate's program inside the sandbox: loops there, so that one message carries a whole table.
A score that is not finite crosses as its text, so that it is told of which state."""


def tabulate(payload: dict[str, Any], context: JobContext) -> list[dict[str, Any]]:
    """One object a program of `codes`: `{table, output}` (float64 in hexadecimal digits, rows of `items` in order; what
    it printed) or a failure.

    Payload: `codes`, `items` (sizes that occur), `capacity`, `limits`, `seed`.
    """
    limits, codes = Limits.model_validate(payload["limits"]), payload["codes"]
    last = len(codes) - 1
    return [
        _tabulate_one(code, payload, limits, context, context.leave if place == last else lambda: None)
        for place, code in enumerate(codes)
    ]


def _tabulate_one(
    code: str, payload: dict[str, Any], limits: Limits, context: JobContext, leave: Callable[[], None]
) -> dict[str, Any]:
    items, capacity = payload["items"], payload["capacity"]
    session = context.sandbox.session(code, limits=limits, seed=payload["seed"], prelude=PRELUDE)
    try:
        found = table_of(session, "tabulate__", [], items, capacity, limits.seconds)
        session.leave()
        leave()
        return {**found, "output" if "table" in found else "term_out": session.close().term_out}
    except SessionFailure as failure:
        return failed(failure.result)
    finally:
        session.close()


def table_of(
    session: Session, function: str, first: list[Any], items: list[int], capacity: int, seconds: float
) -> dict[str, Any]:
    """As `checked`, of a table that is asked for in parts: a frame holds no more.

    Args:
        function: of PRELUDE; `first` are its arguments before items and capacity.
        seconds: for the whole table.
    """
    bounded, tables = BoundedCalls(session, seconds), []
    for part in _parts(items, capacity):
        found = checked(bounded.call(function, [*first, part, capacity]), part, capacity)
        if "table" not in found:
            return found
        tables.append(found["table"])
    if len(tables) == 1:
        return {"table": tables[0]}
    return {"table": "".join(tables)}


def _parts(items: list[int], capacity: int) -> Iterator[list[int]]:
    """The items in turns, with at most `PAIRS_A_FRAME` pairs of item and room in each."""
    part: list[int] = []
    pairs = 0
    for item in items:
        pairs += capacity + 1 - item
        if part and pairs > PAIRS_A_FRAME:
            yield part
            part, pairs = [], capacity + 1 - item
        part.append(item)
    yield part


def checked(answer: Any, items: list[int], capacity: int) -> dict[str, Any]:
    """`{table}`, the digits that came back, if they hold a finite number for each state; else a failure."""
    import numpy as np

    widths = [capacity + 1 - item for item in items]
    try:
        numbers = np.frombuffer(bytes.fromhex(answer), dtype=np.float64)
    except (TypeError, ValueError):
        return failure_of(FailureKind.EVAL_ERROR, "the table of scores came back in another form")
    if len(numbers) != sum(widths):
        return failure_of(FailureKind.EVAL_ERROR, "the table of scores came back in another size")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        item, room = _state(int(wrong[0]), items, widths)
        return failure_of(FailureKind.NON_FINITE, f"{FUNCTION}({item}, {room}) is {numbers[wrong[0]]}")
    return {"table": answer}


def _state(place: int, items: list[int], widths: list[int]) -> tuple[int, int]:
    for item, width in zip(items, widths, strict=True):
        if place < width:
            return item, item + place
        place -= width
    return -1, -1


def failed(result: ExecutionResult) -> dict[str, Any]:
    """A failed session as plain JSON."""
    return result.model_dump(mode="json")


def failure_of(kind: FailureKind, message: str) -> dict[str, Any]:
    return ExecutionResult(failure=kind, message=message).model_dump(mode="json")


# ---------------------------------------------------------------- rules with a histogram that are more than arithmetic


def pack(payload: dict[str, Any], context: JobContext) -> list[dict[str, Any]]:
    """One object a program of `codes`: `{chosen: [[bin of each item] of each instance], output}` or a failure.

    Packing is done here; the sandboxed program is asked for the scores of one item of every instance at a time.
    Payload: `codes`, `instances` (lists of sizes), `capacity`, `limits`, `seed`.
    """
    limits = Limits.model_validate(payload["limits"])
    results = []
    for code in payload["codes"]:
        session = context.sandbox.session(code, limits=limits, seed=payload["seed"], prelude=PRELUDE)
        try:
            chosen = lockstep(session, payload["instances"], payload["capacity"], limits.seconds)
            results.append({"chosen": chosen, "output": session.close().term_out})
        except SessionFailure as failure:
            results.append(failed(failure.result))
        except BadScores as error:
            results.append(failure_of(error.kind, str(error)))
        finally:
            session.close()
    return results


class BadScores(Exception):
    """The scores that came back cannot be used."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Packing:
    """One instance on its way: bins by level, lowest index first."""

    def __init__(self, sizes: list[int], capacity: int) -> None:
        self.sizes, self.capacity = sizes, capacity
        self.bins: list[list[int]] = [[] for _ in range(capacity + 1)]
        self.histogram = [0] * (capacity + 1)
        self.opened = 0
        self.chosen: list[int] = []

    def state(self) -> tuple[int, list[int], list[int]]:
        item = self.sizes[len(self.chosen)]
        levels = [level for level in range(item, self.capacity) if self.bins[level]]
        return item, [*levels, self.capacity], self.histogram

    def place(self, item: int, levels: list[int], scores: list[float]) -> None:
        import heapq

        best = min(
            (-score, self.opened if level == self.capacity else self.bins[level][0], level)
            for level, score in zip(levels, scores, strict=True)
        )
        index, level = best[1], best[2]
        if level == self.capacity:
            self.opened += 1
        else:
            heapq.heappop(self.bins[level])
            self.histogram[level] -= 1
        heapq.heappush(self.bins[level - item], index)
        self.histogram[level - item] += 1
        self.chosen.append(index)


def lockstep(session: Session, instances: list[list[int]], capacity: int, timeout: float) -> list[list[int]]:
    """Pack all instances side by side, one message a position; `timeout` is for all of them."""
    packings = [Packing(sizes, capacity) for sizes in instances]
    bounded = BoundedCalls(session, timeout)
    for position in range(max(map(len, instances))):
        live = [packing for packing in packings if position < len(packing.sizes)]
        states = [packing.state() for packing in live]
        answer = bounded.call("score_levels__", [states])
        for packing, state, scores in zip(live, states, usable(answer, states), strict=True):
            packing.place(state[0], state[1], scores)
    return [packing.chosen for packing in packings]


def usable(answer: Any, states: list[tuple[int, list[int], list[int]]]) -> list[list[float]]:
    """The answer, if it is one finite number a level."""
    if not isinstance(answer, list) or len(answer) != len(states):
        raise BadScores(FailureKind.EVAL_ERROR, "scores came back in another shape")
    for scores, (item, levels, _) in zip(answer, states, strict=True):
        if not isinstance(scores, list) or len(scores) != len(levels):
            raise BadScores(FailureKind.EVAL_ERROR, "scores came back in another shape")
        for score, level in zip(scores, levels, strict=True):
            if not isinstance(score, int | float) or not math.isfinite(score):
                raise BadScores(FailureKind.NON_FINITE, f"{FUNCTION}({item}, {level}, …) is {score}"[:200])
    return answer
