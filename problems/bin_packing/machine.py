"""The compiled loop for rules that see the histogram: it interprets `arithmetic.Program` over all levels at once."""

from __future__ import annotations

import math

import numpy as np

from problems.bin_packing.arithmetic import CODE, EXACT, Program
from problems.bin_packing.compiled import pop, push
from problems.bin_packing.jit import compiled

FAILED = -1
"""Python would have raised, or left exact integers: the sandbox has to tell."""

_EXACT = float(EXACT)
_CONST, _ITEM, _ROOM, _HIST, _RANGE, _OPENED = (
    CODE[n] for n in ("const", "item", "room", "hist", "hist_range", "opened")
)
_NEG, _ABS, _NOT, _ADD, _SUB, _MUL, _DIV = (CODE[n] for n in ("neg", "abs", "not", "add", "sub", "mul", "div"))
_FLOORDIV, _MOD, _POW, _LT, _LE, _GT, _GE = (CODE[n] for n in ("floordiv", "mod", "pow", "lt", "le", "gt", "ge"))
_EQ, _NE, _AND, _OR, _SELECT, _MIN, _MAX = (CODE[n] for n in ("eq", "ne", "and", "or", "select", "min", "max"))
_EXP, _LOG, _SQRT, _TRUNC, _FLOOR, _CEIL = (CODE[n] for n in ("exp", "log", "sqrt", "trunc", "floor", "ceil"))
_CHECK = CODE["check"]


def arrays(program: Program) -> tuple[np.ndarray, np.ndarray, int]:
    """(instructions int32 [n, 4], constants, result register)."""
    ops = np.array(program.ops, dtype=np.int32).reshape(-1, 4)
    return ops, np.array(program.constants or (0.0,), dtype=np.float64), program.result


@compiled
def divmod_python(x: float, y: float) -> tuple[float, float]:
    """x // y and x % y as CPython computes them for floats; y is not 0."""
    mod = np.fmod(x, y)
    div = (x - mod) / y
    if mod != 0.0:
        if (y < 0.0) != (mod < 0.0):
            mod += y
            div -= 1.0
    else:
        mod = 0.0
    if div != 0.0:
        low = math.floor(div)
        if div - low > 0.5:
            low += 1.0
        return low, mod
    return 0.0, mod


@compiled
def binary(op: int, x: float, y: float) -> float:  # noqa: C901  (one case an operation)
    """One operation of two numbers that are not NaN; NaN where Python raises."""
    if op == _ADD:
        return x + y
    if op == _SUB:
        return x - y
    if op == _MUL:
        return x * y
    if op == _DIV:
        return x / y if y != 0.0 else np.nan
    if op == _POW:
        return np.nan if x == 0.0 and y < 0.0 else x**y
    if op == _MIN:
        return y if y < x else x
    if op == _MAX:
        return y if y > x else x
    if op == _LT:
        return 1.0 if x < y else 0.0
    if op == _LE:
        return 1.0 if x <= y else 0.0
    if op == _GT:
        return 1.0 if x > y else 0.0
    if op == _GE:
        return 1.0 if x >= y else 0.0
    if op == _EQ:
        return 1.0 if x == y else 0.0
    if op == _NE:
        return 1.0 if x != y else 0.0
    if y == 0.0:
        return np.nan
    low, mod = divmod_python(x, y)
    return low if op == _FLOORDIV else mod


@compiled
def unary(op: int, x: float) -> float:
    """One operation of a number that is not NaN; NaN where Python raises."""
    if op == _NEG:
        return -x
    if op == _ABS:
        return abs(x)
    if op == _NOT:
        return 1.0 if x == 0.0 else 0.0
    if op == _EXP:
        return math.exp(x)
    if op == _LOG:
        return math.log(x) if x > 0.0 else np.nan
    if op == _SQRT:
        return math.sqrt(x) if x >= 0.0 else np.nan
    if op == _TRUNC:
        return float(math.trunc(x)) if abs(x) < _EXACT else np.nan
    if op == _FLOOR:
        return float(math.floor(x)) if abs(x) < _EXACT else np.nan
    return float(math.ceil(x)) if abs(x) < _EXACT else np.nan


@compiled
def range_sum(histogram: np.ndarray, low: float, high: float) -> float:
    """sum(histogram[low:high]) with Python's slices."""
    n = len(histogram)
    start, stop = int(low), int(min(high, float(n)))
    start = max(start + n, 0) if start < 0 else start
    stop = max(stop + n, 0) if stop < 0 else stop
    total = 0
    for index in range(start, min(stop, n)):
        total += histogram[index]
    return float(total)


@compiled
def run(  # noqa: C901  (one case an operation)
    ops: np.ndarray,
    constants: np.ndarray,
    item: int,
    levels: np.ndarray,
    count: int,
    histogram: np.ndarray,
    opened: int,
    registers: np.ndarray,
) -> bool:
    """Execute all instructions for the first `count` levels; False where a check met a NaN."""
    for i in range(len(ops)):
        op, a, b, c = ops[i, 0], ops[i, 1], ops[i, 2], ops[i, 3]
        row = registers[i]
        if op in (_CONST, _ITEM, _OPENED):
            value = constants[a] if op == _CONST else float(item) if op == _ITEM else float(opened)
            for k in range(count):
                row[k] = value
        elif op == _ROOM:
            for k in range(count):
                row[k] = float(levels[k])
        elif op == _HIST:
            n = len(histogram)
            for k in range(count):
                x = registers[a, k]
                if math.isnan(x) or x >= n or x < -n:
                    row[k] = np.nan
                else:
                    index = int(x)
                    row[k] = float(histogram[index + n if index < 0 else index])
        elif op == _RANGE:
            for k in range(count):
                x, y = registers[a, k], registers[b, k]
                row[k] = np.nan if math.isnan(x) or math.isnan(y) else range_sum(histogram, x, y)
        elif op == _SELECT:
            for k in range(count):
                test = registers[a, k]
                row[k] = np.nan if math.isnan(test) else registers[b, k] if test != 0.0 else registers[c, k]
        elif op in (_AND, _OR):
            ends = 0.0 if op == _AND else 1.0
            for k in range(count):
                row[k] = registers[a, k] if registers[a, k] == ends or math.isnan(registers[a, k]) else registers[b, k]
        elif op == _CHECK:
            for k in range(count):
                if math.isnan(registers[b, k]) or (registers[b, k] != 0.0 and math.isnan(registers[a, k])):
                    return False
        elif op == _ADD or op == _SUB or op == _MUL:  # noqa: SIM109  (a tuple is slower here)
            limit = _EXACT if c == 1 else np.inf
            sign = -1.0 if op == _SUB else 1.0
            for k in range(count):
                x, y = registers[a, k], registers[b, k]
                value = x * y if op == _MUL else x + sign * y
                row[k] = value if abs(value) < limit else np.nan
        elif op == _LE or op == _GT:  # noqa: SIM109
            yes, no = (1.0, 0.0) if op == _LE else (0.0, 1.0)
            for k in range(count):
                x, y = registers[a, k], registers[b, k]
                row[k] = np.nan if math.isnan(x) or math.isnan(y) else yes if x <= y else no
        elif (_ADD <= op <= _NE) or op in (_MIN, _MAX):
            limit = _EXACT if c == 1 else np.inf
            for k in range(count):
                x, y = registers[a, k], registers[b, k]
                value = np.nan if math.isnan(x) or math.isnan(y) else binary(op, x, y)
                row[k] = value if abs(value) < limit else np.nan
        else:
            for k in range(count):
                value = np.nan if math.isnan(registers[a, k]) else unary(op, registers[a, k])
                row[k] = value if abs(value) < np.inf else np.nan
    return True


@compiled
def pack_program(
    ops: np.ndarray,
    constants: np.ndarray,
    result: int,
    sizes: np.ndarray,
    capacity: int,
    chosen: np.ndarray,
    most: int,
) -> int:
    """Bins used, `most + 1` as soon as more are open, or FAILED; fills `chosen` with the bin of each item."""
    heap = np.empty((capacity, len(sizes)), dtype=np.int32)
    size = np.zeros(capacity, dtype=np.int64)
    histogram = np.zeros(capacity + 1, dtype=np.int64)
    levels = np.empty(capacity + 1, dtype=np.int64)
    registers = np.empty((len(ops), capacity + 1), dtype=np.float64)
    opened = 0
    for position in range(len(sizes)):
        item = sizes[position]
        count = 0
        for level in range(item, capacity):
            if size[level] > 0:
                levels[count] = level
                count += 1
        levels[count] = capacity
        count += 1
        if not run(ops, constants, item, levels, count, histogram, opened, registers):
            return FAILED
        best, best_level, best_score = -1, -1, 0.0
        for k in range(count):
            level, score = levels[k], registers[result, k]
            index = opened if level == capacity else heap[level, 0]
            if best < 0 or score > best_score or (score == best_score and index < best):
                best, best_level, best_score = index, level, score
        if best_level == capacity:
            opened += 1
            if opened > most:
                return opened
        else:
            pop(heap, size, best_level)
            histogram[best_level] -= 1
        histogram[best_level - item] += 1
        if best_level > item:
            push(heap, size, best_level - item, best)
        chosen[position] = best
    return opened
