"""What crosses between host and candidate: strict reading, richer kinds, verdicts, timing."""

from __future__ import annotations

import errno
import json
import random
import statistics
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import small_networkx

from core.contracts import Limits
from core.evaluation.timing import interval_of_median, repeat, timed_limits
from core.executor import strict, verdict
from core.executor.inside import plain, seccomp, syscalls
from core.state.failure import FailureKind
from utils.json_cost import cost_of

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
        | st.sets(st.integers(), max_size=4)
        | st.complex_numbers(allow_nan=False)
    ),
    max_leaves=12,
)


@given(values)
def test_plain_data_crosses_unchanged(value: Any) -> None:
    assert plain.unwrap(json.loads(plain.encode(plain.wrap(value)))) == value


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c16", "u1", ">f4"])
def test_arrays_of_numbers_cross_with_type_and_shape(dtype: str) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype)
    back = plain.unwrap(json.loads(plain.encode(plain.wrap({"a": array}))))["a"]
    assert back.dtype == array.dtype and np.array_equal(back, array)


@pytest.mark.parametrize(
    "value",
    [object(), lambda: 1, np.array([object()]), open, {"f": print}],
    ids=["object", "lambda", "array", "builtin", "dict"],
)
def test_code_and_objects_do_not_cross(value: Any) -> None:
    with pytest.raises(TypeError):
        plain.wrap(value)


def graphs() -> Any:
    """networkx, where it is installed."""
    try:
        import networkx
    except ImportError:
        networkx = small_networkx
    return networkx


def test_a_graph_crosses_to_a_program_and_none_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    networkx = graphs()
    monkeypatch.setitem(sys.modules, "networkx", networkx)
    graph = networkx.Graph()
    graph.graph["of"] = (1, {2})
    graph.add_node((3, "x"), weight=0.5)
    graph.add_edge("a", (3, "x"), cost=[1, (2,)])
    graph.add_edge("a", "b")
    sent = plain.encode(plain.wrap_given({"given": [graph]}))
    back = plain.unwrap_given(plain.decode(sent))["given"][0]
    assert type(back) is type(graph) and back.graph == graph.graph
    assert list(back.nodes(data=True)) == list(graph.nodes(data=True))
    assert list(back.edges(data=True)) == list(graph.edges(data=True))
    with pytest.raises(TypeError, match="not plain data"):
        plain.wrap(graph)
    with pytest.raises(ValueError, match="malformed data of kind 'graph'"):
        plain.unwrap(plain.decode(sent)["items"][0][1][0])
    for odd in (type("Mine", (networkx.Graph,), {})(), [graph, object()]):
        with pytest.raises(TypeError, match="not plain data"):
            plain.wrap_given(odd)
    graph.add_node("odd", held=object())
    with pytest.raises(TypeError, match="not plain data"):
        plain.wrap_given(graph)


FORGED = [
    {"__kind__": "set", "items": [k * (2**61 - 1) for k in range(100_000)]},  # one place of the hash table: hours
    {"__kind__": "dict", "items": [[k * (2**61 - 1), 0] for k in range(100_000)]},
    {"__kind__": "array", "dtype": "O", "shape": [1], "data": "AAAAAAAAAAA="},
    {"__kind__": "array", "dtype": "<f8", "shape": [10**9], "data": ""},
    {"__kind__": "array", "dtype": "<f8", "shape": [-1], "data": ""},
    {"__kind__": "array", "dtype": "f8,O", "shape": [1], "data": ""},
    {"__kind__": "array", "dtype": "(1.5,)f8", "shape": [1], "data": "AAAAAAAAAAA="},  # numpy parses it as Python
    {"__kind__": "array", "dtype": "<f8", "shape": [10**30], "data": "AAAAAAAAAAA="},
    {"__kind__": "array", "dtype": "<f8", "shape": "1", "data": "AAAAAAAAAAA="},
    {"__kind__": "complex", "parts": [10**400, 0.0]},
    {"__kind__": "complex", "parts": ["1", 0.0]},
    {"__kind__": "tuple", "items": {"a": 1}},
    {"__kind__": "eval", "items": "x"},
    {"__kind__": ["x"]},
    {"__kind__": "set", "items": [[1]]},
    {"__kind__": "bytes", "data": "%%%"},
    {"a": 1},
]


@pytest.mark.parametrize("forged", FORGED, ids=lambda forged: str(forged)[:60])
def test_forged_kinds_are_malformed(forged: Any) -> None:
    with pytest.raises(strict.Malformed):
        strict.unwrap([forged])


FRAMES = [b"", b"{", b"[1]", b'{"a":1,"b":2}', b"\xff\xfe", b"[" * 100_000, b'{"answers":' + b"9" * 5000 + b"}"]


@pytest.mark.parametrize("data", FRAMES, ids=lambda data: repr(data[:12]))
def test_frames_that_are_not_objects_with_one_key_are_malformed(data: bytes) -> None:
    with pytest.raises(strict.Malformed):
        strict.decode(data)


@pytest.mark.parametrize("text", ["[NaN]", "[1e999]", "[[1,[-Infinity]]]", '[{"a":[NaN]}]', "[1" + "0" * 301 + "]"])
def test_numbers_that_are_not_finite_are_found_at_any_depth(text: str) -> None:
    with pytest.raises(strict.NotFinite):
        strict.answers({"answers": json.loads(text)}, 1, finite=True)


def test_the_count_of_answers_is_exact() -> None:
    assert strict.answers({"answers": [1, 2]}, 2, finite=True) == [1, 2]
    for wrong in ([1], [1, 2, 3], {"0": 1}, "ab", None):
        with pytest.raises(strict.Malformed):
            strict.answers({"answers": wrong}, 2, finite=True)


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_a_programs_own_report_is_read_or_ignored(data: bytes) -> None:
    raised = verdict.read_exception(data)
    assert raised is None or isinstance(raised.type, str)


def test_a_program_cannot_talk_itself_into_success() -> None:
    raised = verdict.Raised("ValueError", "fine", (), None, (), False)
    assert verdict.judge(0, None, raised, Limits()) == (None, "")
    assert verdict.judge(3 << 8, None, None, Limits())[0] is FailureKind.EXIT
    assert verdict.judge(0, ("memory", "too much"), None, Limits()) == (FailureKind.MEMORY, "too much")
    assert verdict.judge(11, None, raised, Limits()) == (FailureKind.SIGNAL, "killed by SIGSEGV")
    assert "where memory runs out" in verdict.judge(9, None, None, Limits())[1]
    full = verdict.Raised("OSError", "No space left on device", (), errno.ENOSPC, (), False)
    assert " MB in /tmp, " in verdict.judge(256, None, full, Limits(disk_mb=10**9))[1], "less lies in memory"
    assert "of 8 MB (12 KiB" in verdict.judge(256, None, full, Limits(disk_mb=8))[1]


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
@pytest.mark.parametrize("namespaces", [True, False])
def test_filters_refuse_what_they_should(arch: str, namespaces: bool) -> None:
    """The filter is run here, by a small machine for classic BPF."""
    filter_ = seccomp.program(namespaces=namespaces, pid=77, scoped=False, arch=arch)

    def judge(name: str, *args: int) -> int:
        number = syscalls.number(name, arch)
        assert number is not None
        return _execute(filter_, number, syscalls.AUDIT_ARCH[arch], args)

    allowed, refused = 0x7FFF0000, 0x00050001
    assert judge("openat", 0, 0, 0) == allowed
    for name in seccomp.REFUSED:
        if syscalls.number(name, arch) is None or (not namespaces and name in seccomp._without_namespaces(77, False)):
            continue
        assert judge(name) == refused, name
    assert judge("clone", 0x10000011) == refused and judge("clone", 17) == allowed
    assert judge("clone", 0x10900) == refused and judge("clone", 0x10D00) == allowed, "threads with files of their own"
    assert judge("ioctl", 0, 0x5412) == refused and judge("ioctl", 0, 0x5401) == allowed
    assert judge("mknodat", 0, 0, 0o020600) == refused and judge("mknodat", 0, 0, 0o010600) == allowed
    assert judge("socket", 2) != allowed and (judge("socket", 1) == allowed) is namespaces
    for number in range(syscalls.LAST_KNOWN + 1):
        if number not in _judged(arch, namespaces):
            assert _execute(filter_, number, syscalls.AUDIT_ARCH[arch], ()) == allowed, number
    assert {judge(name) for name in seccomp.RULES} == {0x00050026}, "kernel memory that nobody is charged for"
    assert _execute(filter_, 5000, syscalls.AUDIT_ARCH[arch], ()) == 0x00050026
    assert _execute(filter_, 1, 0x40000003, ()) == 0x80000000
    if not namespaces:
        assert judge("kill", 77) == allowed and judge("kill", 78) == refused and judge("kill", 0xFFFFFFFF) == refused
        assert judge("newfstatat") == judge("fchmodat") == 0x7FC00000 and judge("fchownat") == 0x00050000
        assert judge("openat", 0, 0, 0o10000000) == 0x0005000D


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
@pytest.mark.parametrize("namespaces", [True, False])
@pytest.mark.parametrize("answers", [True, False])
def test_what_two_programs_are_shown_carries_nothing_between_them(arch: str, namespaces: bool, answers: bool) -> None:
    filter_ = seccomp.program(namespaces=namespaces, pid=77, answers=answers, arch=arch)

    def judge(name: str, *args: int) -> int:
        number = syscalls.number(name, arch)
        assert number is not None
        return _execute(filter_, number, syscalls.AUDIT_ARCH[arch], args)

    allowed, done, refused, missing, late = 0x7FFF0000, 0x00050000, 0x00050001, 0x00050026, 0x0005006E
    assert judge("inotify_add_watch") == missing and judge("inotify_init1") == missing
    assert judge("fcntl", 3, 1026) == refused and judge("fcntl", 3, 3) == allowed, "F_NOTIFY, F_GETFL"
    assert judge("flock", 3, 2) == judge("fcntl", 3, 6) == (done if answers else allowed)
    wait, private, timed, far = (0, 0), (0, 128), (0, 0, 0, 0xFFFF0000), (0, 0, 0, 1 << 33)
    assert judge("futex", *private) == judge("futex", 0, 129) == judge("futex", 0, 137, 0, 1) == allowed
    assert judge("futex", *wait) == judge("futex", 0, 9 | 256) == judge("futex", 0, 1) == (done if answers else allowed)
    assert judge("futex", *timed) == judge("futex", *far) == (late if answers else allowed)
    for other in (2, 3, 4, 5, 6, 13, 77):
        assert judge("futex", 0, other) == (missing if answers else allowed)
    assert judge("futex_waitv") == (missing if answers else allowed)
    if not namespaces:
        assert judge("setpriority", 0, 77, 5) == judge("sched_setaffinity", 0) == judge("ioprio_set", 1, 77) == done
        assert judge("setpriority", 0, 78, 5) == judge("sched_setaffinity", 1) == judge("setpriority", 1, 77) == refused


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
@pytest.mark.parametrize("namespaces", [True, False])
@pytest.mark.parametrize("alone", [True, False])
def test_nothing_wakes_a_program_that_is_stopped_between_its_calls(arch: str, namespaces: bool, alone: bool) -> None:
    filter_ = seccomp.program(namespaces=namespaces, pid=77, answers=True, alone=alone, arch=arch)

    def judge(name: str, *args: int) -> int:
        number = syscalls.number(name, arch)
        return 0 if number is None else _execute(filter_, number, syscalls.AUDIT_ARCH[arch], args)

    allowed, refused, none_left = 0x7FFF0000, 0x00050001, 0x0005000B
    assert judge("timer_create") == (refused if alone else allowed)
    assert judge("fcntl", 3, 10) == (refused if alone else allowed), "F_SETSIG"
    for name in ("clone", "fork", "vfork"):
        assert judge(name, 17) in (0, none_left if alone else allowed)
    assert judge("clone", 17) != 0


def _judged(arch: str, namespaces: bool) -> set[int | None]:
    """Numbers that a filter does not simply allow, by the names of its tables."""
    names = {*seccomp.REFUSED, *seccomp._judged_by_argument()}
    names |= {*seccomp._WATCHES, *seccomp.RULES, "fcntl"} | (
        set() if namespaces else set(seccomp._without_namespaces(77, False))
    )
    return {syscalls.number(name, arch) for name in names}


def _execute(filter_: bytes, number: int, arch: int, args: tuple[int, ...]) -> int:
    import struct

    memory = struct.pack("=IIQ6Q", number, arch, 0, *args, *[0] * (6 - len(args)))
    code = [struct.unpack_from("=HBBI", filter_, 8 * i) for i in range(len(filter_) // 8)]
    position = accumulator = 0
    while True:
        op, true, false, constant = code[position]
        position += 1
        if op == 0x20:
            accumulator = struct.unpack_from("=I", memory, constant)[0]
        elif op == 0x05:
            position += constant
        elif op == 0x54:
            accumulator &= constant
        elif op == 0x06:
            return int(constant)
        else:
            taken = {0x15: accumulator == constant, 0x35: accumulator >= constant, 0x45: bool(accumulator & constant)}[
                op
            ]
            position += true if taken else false


@pytest.mark.parametrize("samples", [2, 3, 5, 6, 15])
def test_the_median_lies_in_its_interval_as_often_as_promised(samples: int) -> None:
    """The ends of three samples held it in three of four."""
    rng = random.Random(1)
    hits = 0
    for _ in range(2000):
        drawn = [rng.gauss(0, 1) for _ in range(samples)]
        low, high = interval_of_median(drawn)
        hits += low <= 0 <= high
        assert low <= statistics.median(drawn) <= high
    assert hits / 2000 > 0.94


def test_timing_repeats_until_the_interval_is_narrow() -> None:
    rng = random.Random(2)
    noisy = repeat(lambda: 1 + rng.random(), repeats=9, at_most=30)
    steady = repeat(lambda: 2.0, repeats=9)
    assert len(noisy.samples) == 30 and noisy.interval[0] <= noisy.seconds <= noisy.interval[1]
    assert len(steady.samples) == 9 and steady.interval == (2.0, 2.0)
    with pytest.raises(ValueError, match="at least 6"):
        repeat(lambda: 1.0, repeats=3)
    assert timed_limits(Limits(threads=8)).threads == 1 and timed_limits(Limits()).core is not None


SHAPES = {
    "empty objects": "{},", "empty lists": "[],", "objects": '{"a":1},', "pairs": "[1,2],", "numbers": "123456.5,",
    "small numbers": "1,", "nested": "[[[1]]],", "texts": '"abcdef",',
}  # fmt: skip


@pytest.mark.parametrize("part", SHAPES.values(), ids=SHAPES)
def test_what_a_frame_will_take_is_not_estimated_too_low(part: str) -> None:
    """What is let through never takes much more than the limit says."""
    data = f"[{part * 40_000}0]".encode()
    tracemalloc.start()
    try:
        kept = json.loads(data)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(kept) == 40_001
    assert taken <= 1.5 * cost_of(data)


def test_a_frame_that_would_grow_too_large_is_not_read() -> None:
    with pytest.raises(strict.Malformed, match="256"):
        strict.decode(b'{"answers":[[' + b"{}," * 1_200_000 + b"{}]]}")
    rows = [[i] * 9 for i in range(100_000)]
    assert strict.decode(json.dumps({"answers": rows}).encode()) == {"answers": rows}
