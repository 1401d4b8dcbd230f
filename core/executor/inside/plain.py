"""Plain data as JSON: what crosses between host and candidate.

`encode` writes None, bool, int, float, str, list and dict, and turns numpy scalars and arrays into numbers and lists.
`wrap` and `unwrap` keep more kinds apart (tuple, set, bytes, complex, numpy arrays, tensors) for callers that need
them; what an evaluator gives to its program may hold graphs of networkx, too.
"""

from __future__ import annotations

import base64
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

_TAG = "__kind__"
_ARRAY_KINDS = "biufc"
_ARRAY_TYPE = re.compile(rf"[<>|=][{_ARRAY_KINDS}]\d{{1,2}}")
"""As numpy writes one. It reads more: other texts it would parse as Python."""
_MAX_DIMENSIONS = 32
_SOME_KEYS = 100
_SIMPLE = frozenset({type(None), bool, int, float, str})
"""Kinds that are JSON as they are."""


def encode(message: Any) -> bytes:
    """TypeError for what is not plain data."""
    try:
        return "".join(_chunks(message, 0)).encode("utf-8", "surrogatepass")
    except RecursionError:  # without it as the cause: since Python 3.14 it tells each of its thousands of levels
        raise TypeError("a list within itself, or within thousands of others, is not plain data") from None
    except ValueError as error:
        raise TypeError(f"what cannot be told as text is not plain data ({error})") from error


def decode(data: bytes) -> Any:
    """A whole text of JSON without spaces round it, as `encode` writes it. ValueError for any other."""
    text = data.decode("utf-8", "surrogatepass")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no value") from None
    if end != len(text):
        raise ValueError("more than one value")
    return value


def _numbers(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not plain data")


def _encoder(default: Callable[[Any], Any]) -> Callable[[Any, int], Iterable[str]]:
    """What `JSONEncoder.encode` makes anew for every message, which takes twice the time of a short one."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # another Python than CPython
        encoder = json.JSONEncoder(default=default, separators=(",", ":"))
        return lambda message, _level: encoder.iterencode(message)
    quote = json.encoder.encode_basestring_ascii
    chunks: Callable[[Any, int], Iterable[str]] = make(None, default, quote, None, ":", ",", False, False, True)
    return chunks


_chunks = _encoder(_numbers)
_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
"""One value at a place in a text, and where it ends; StopIteration where none begins."""


def _wrapper(rest: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`wrap`, with `rest` for what is of no kind of Python's own."""

    def wrap(value: Any) -> Any:
        """JSON data that `unwrap` turns back into the same kinds. TypeError for what is not plain."""
        if type(value) in _SIMPLE or isinstance(value, str):
            return value
        if isinstance(value, list):
            if _SIMPLE.issuperset(map(type, value)):
                return value
            return [wrap(item) for item in value]
        if isinstance(value, tuple):
            return {_TAG: "tuple", "items": [wrap(item) for item in value]}
        if isinstance(value, dict):
            return {_TAG: "dict", "items": [[wrap(key), wrap(item)] for key, item in value.items()]}
        if isinstance(value, (set, frozenset)):
            return {_TAG: "set", "items": [wrap(item) for item in value]}
        if isinstance(value, (bytes, bytearray)):
            return {_TAG: "bytes", "data": base64.b64encode(value).decode()}
        if isinstance(value, complex):
            return {_TAG: "complex", "parts": [value.real, value.imag]}
        return rest(value)

    return wrap


def _wrap_array(value: Any) -> Any:
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(value)
        if array.dtype.kind in _ARRAY_KINDS:
            return _numbers_of(array, "array")
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        return _numbers_of(_array_of(value), "tensor")
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"{type(value).__module__}.{type(value).__name__} is not plain data")


def _numbers_of(array: Any, kind: str) -> dict[str, Any]:
    data = base64.b64encode(array.tobytes()).decode()
    return {_TAG: kind, "dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def _array_of(tensor: Any) -> Any:
    """A tensor's numbers, without what it was made of. TypeError for one that is not in the machine's own memory, one
    of few numbers among many zeros, and numbers that numpy has none of (bfloat16)."""
    try:
        return tensor.detach().resolve_conj().resolve_neg().numpy()
    except (RuntimeError, TypeError) as error:
        told = f"a tensor of {tensor.dtype} on {tensor.device}, {tensor.layout}, is not plain data"
        raise TypeError(told.replace("torch.", "")) from error


def _spread(keys: list[Any]) -> list[Any]:
    """ValueError for keys made to fall on one place of a hash table: each would be compared with all before it."""
    if len(keys) > _SOME_KEYS and max(Counter(map(hash, keys)).values()) > _SOME_KEYS:
        raise ValueError("keys of equal hashes")
    return keys


def _mapping(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    return dict(zip(_spread(keys), values))  # noqa: B905 - Python 3.9 knows no `strict`


def _array(value: dict[str, Any]) -> Any:
    import numpy

    shape = value["shape"]
    if not _ARRAY_TYPE.fullmatch(value["dtype"]):
        raise ValueError("not an array of numbers")
    dtype = numpy.dtype(value["dtype"])
    if type(shape) is not list or len(shape) > _MAX_DIMENSIONS:
        raise ValueError("not a shape")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError("not a shape")
    array = numpy.frombuffer(base64.b64decode(value["data"], validate=True), dtype=dtype).reshape(shape).copy()
    return array if shape or value[_TAG] == "tensor" else array[()]


def _items(value: dict[str, Any]) -> list[Any]:
    items = value["items"]
    if type(items) is not list:
        raise ValueError("not a list of items")
    return items


def _complex(value: dict[str, Any]) -> complex:
    real, imaginary = value["parts"]
    if not type(real) is type(imaginary) is float:
        raise ValueError("not two floats")
    return complex(real, imaginary)


def _unwrapper(*, given: bool) -> Callable[[Any], Any]:
    def unwrap(value: Any) -> Any:
        """The inverse of `wrap`. ValueError for anything that `wrap` does not write."""
        if isinstance(value, list):
            return value if _SIMPLE.issuperset(map(type, value)) else [unwrap(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind = value.get(_TAG)
        try:
            return kinds[kind](value)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(f"malformed data of kind {str(kind)[:40]!r}: {type(error).__name__}") from error

    kinds: dict[Any, Callable[[Any], Any]] = {
        "tuple": lambda value: tuple(unwrap(item) for item in _items(value)),
        "set": lambda value: set(_spread([unwrap(item) for item in _items(value)])),
        "dict": lambda value: _mapping(
            [unwrap(key) for key, _ in _items(value)], [unwrap(item) for _, item in _items(value)]
        ),
        "bytes": lambda value: base64.b64decode(value["data"], validate=True),
        "complex": _complex,
        "array": _array,
        "tensor": lambda value: _array(value).view(_tensor_view()),
    }
    if given:
        kinds["graph"] = lambda value: _graph(value, unwrap)
        kinds["tensor"] = lambda value: _tensor(_array(value))
    return unwrap


wrap, unwrap = _wrapper(_wrap_array), _unwrapper(given=False)


# ------------------------------------------------------------ tensors: an array on the way, which is looked at as one

_views: list[Any] = []
"""The kind of array that stands for a tensor, once one has come."""


def _tensor_view() -> Any:
    if not _views:
        numpy = importlib.import_module("numpy")
        _views.append(type("Tensor", (numpy.ndarray,), {"is_tensor": True}))
    return _views[0]


def _tensor(array: Any) -> Any:
    """TypeError for numbers that it has no kind for."""
    return importlib.import_module("torch").from_numpy(array)


def with_tensors(value: Any) -> Any:
    """What `unwrap` made, with tensors for the arrays that stand for them.

    Raises:
        TypeError, ImportError: there is no tensor of such numbers, or no PyTorch.
    """
    if not _views or type(value) in _SIMPLE:
        return value
    if isinstance(value, _views[0]):
        return _tensor(value.view(sys.modules["numpy"].ndarray))
    if isinstance(value, dict):
        return {key: with_tensors(item) for key, item in value.items()}
    return type(value)(map(with_tensors, value)) if isinstance(value, (list, tuple)) else value


# ------------------------------------------------------------ graphs: from an evaluator to its program, never back

_GRAPHS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
"""Classes of networkx; not what is derived from them."""


def _wrap_given(value: Any) -> Any:
    networkx = sys.modules.get("networkx")
    kind = next((name for name in _GRAPHS if networkx and type(value) is getattr(networkx, name, None)), None)
    if kind is None:
        return _wrap_array(value)
    edges = value.edges(keys=True, data=True) if kind.startswith("Multi") else value.edges(data=True)
    return {
        _TAG: "graph", "type": kind, "about": wrap_given(dict(value.graph)),
        "nodes": [[wrap_given(node), wrap_given(dict(data))] for node, data in value.nodes(data=True)],
        "edges": [[*map(wrap_given, ends), wrap_given(dict(data))] for *ends, data in edges],
    }  # fmt: skip


def _graph(value: dict[str, Any], unwrap: Callable[[Any], Any]) -> Any:
    """The graph as it was, but for the order of a node's neighbours, which is that of the edges."""
    networkx = importlib.import_module("networkx")  # which has no types of its own
    made = getattr(networkx, _GRAPHS[_GRAPHS.index(value["type"])])()
    made.graph.update(unwrap(value["about"]))
    for node, data in value["nodes"]:
        node = unwrap(node)
        made.add_node(node)
        made.nodes[node].update(unwrap(data))
    for *ends, data in value["edges"]:
        ends = tuple(map(unwrap, ends))
        made.add_edge(*ends)
        made.edges[ends].update(unwrap(data))
    return made


wrap_given, unwrap_given = _wrapper(_wrap_given), _unwrapper(given=True)
"""As `wrap` and `unwrap`, of what an evaluator gives to its program: graphs of networkx, too, of plain data."""
