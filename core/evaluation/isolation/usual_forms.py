"""Forms of a program's answers that an evaluator's own code would read otherwise than they are checked.

A tour that is a mapping from each city to city 0 holds every city once where it is looked through, and city 0 alone
where it is asked by number. An empty list has no error beside a number of numpy's, and a long one is right somewhere.
Two truths are one truth where numpy adds them: no pair is more than one. A product of whole numbers of numpy's wraps
round, also where numpy makes them of Python's, and nothing by nothing is no exception but NaN, which breaks no bound.

What was written for one form is not meant for another, so an evaluator gets at each place of an answer (the answer, its
items, a field of it) the forms that the user's own program has there. Arrays become lists, tensors arrays, truths
numbers and whole numbers floats where that has lists, arrays, numbers and floats; what is left is an exception of the
program's. Of places that the user's own program never filled nothing is known, and nothing is asked.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

NUMBER, TEXT, LIST, MAPPING = "0", "''", "[]", "{}"
TRUTH, WHOLE, FRACTION, NUMPY, TENSOR = "bool", "int", "float", "numpy", "tensor"
"""Of the numbers at a place, and of what is there."""
MOST_MARKS = 2_000
"""Of one program: an answer may have a name for everything."""
MOST_FIELDS = 64
"""Of a mapping whose keys name fields; those of a larger one are data."""
MOST_PARTS = 8
"""Of a tuple whose parts are each something else."""
_AS_WELL = {NUMBER: {TEXT, LIST, MAPPING}, TEXT: {NUMBER}, MAPPING: {NUMBER}, LIST: set()}
"""Form of an answer → forms of the user's own program in whose place it does no harm."""
_CALLED = {NUMBER: "a number", TEXT: "text", LIST: "a list", MAPPING: "a mapping"}
_PLAIN, _FLOATS = frozenset({int, float}), frozenset({float})

Known = Mapping[str, set[str]]
"""Place → what the user's own program has there."""
_NOTHING: set[str] = set()


def forms_of(answer: Any, place: str) -> list[str]:
    """Marks of what the user's own program answered at that place. None of them is an identifier."""
    found: dict[str, None] = {}
    _note(answer, place, found)
    _note_parts(answer, place, found)
    return list(found)


def known_of(marks: Iterable[str]) -> dict[str, set[str]]:
    """What is known by these marks, among others that are none of `forms_of`."""
    found: dict[str, set[str]] = {}
    for mark in marks:
        place, gap, form = mark.rpartition(" ")
        if gap:
            found.setdefault(place, set()).add(form)
    return found


def in_form(answer: Any, place: str, known: Known) -> Any:
    """The answer as the evaluator may have it there.

    Raises:
        TypeError: it has a form that the user's own program's has not; the text follows "answered with ".
    """
    if type(answer) is int and WHOLE in known.get(place, _NOTHING):  # as many answers are
        return answer
    if isinstance(answer, (list, tuple)) and f"({len(answer)})" in known.get(place, _NOTHING):
        _allow(answer, place, known)
        return type(answer)([_held(part, f"{place}({number})", known) for number, part in enumerate(answer)])
    return _held(answer, place, known)


def _mark(place: str, form: str) -> str:
    return f"{place} {form}"


def _form(value: Any) -> str:
    """'' for None, which has none."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple, set)):
        return LIST
    if isinstance(value, dict):
        return MAPPING
    if isinstance(value, (str, bytes)):
        return TEXT
    return LIST if getattr(value, "ndim", 0) else NUMBER


def _number_kind(value: Any) -> str:
    """Of a number, or of an array of numbers."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if type(value) is bool or kind == "b":
        return TRUTH
    return WHOLE if isinstance(value, int) or kind in ("i", "u") else FRACTION


# ------------------------------------------------------------ the user's own program


def _note(value: Any, place: str, found: dict[str, None]) -> None:
    form = _form(value)
    if not form or len(found) >= MOST_MARKS:
        return
    found[_mark(place, form)] = None
    if hasattr(value, "dtype"):
        _note_array(value, place, found)
    elif form == NUMBER:
        found[_mark(place, _number_kind(value))] = None
    elif form == LIST:
        if _PLAIN.issuperset(map(type, value)):
            value = {type(item): item for item in value}.values()
        for item in value:
            _note(item, f"{place}[]", found)
    elif form == MAPPING:
        fields = _fields(value)
        for key, item in value.items():
            _note(item, f"{place}.{key}" if fields else f"{place}{{}}", found)


def _note_array(value: Any, place: str, found: dict[str, None]) -> None:
    """An array as the lists of lists that it stands for; of one without a number in it no numbers are known."""
    library = _library(value)
    for depth in range(value.ndim + 1):
        inner = place + "[]" * depth
        if depth == value.ndim and not value.size:
            return
        found[_mark(inner, LIST if depth < value.ndim else NUMBER)] = found[_mark(inner, library)] = None
    found[_mark(place + "[]" * value.ndim, _number_kind(value))] = None


def _library(value: Any) -> str:
    """Whose array it is; one that stands for a tensor says so (`plain.with_tensors`)."""
    return TENSOR if getattr(value, "is_tensor", False) else NUMPY


def _note_parts(value: Any, place: str, found: dict[str, None]) -> None:
    """A tuple of different things, whose parts are told apart; one with text in it may be a tree."""
    if type(value) is not tuple or not 2 <= len(value) <= MOST_PARTS or TEXT in map(_form, value):
        return
    found[_mark(place, f"({len(value)})")] = None
    for number, part in enumerate(value):
        _note(part, f"{place}({number})", found)


def _fields(value: dict[Any, Any]) -> bool:
    return len(value) <= MOST_FIELDS and all(type(key) is str for key in value)


# ------------------------------------------------------------ other programs


def _held(value: Any, place: str, known: Known) -> Any:
    form = _form(value)
    if not form or not _allow(value, place, known):
        return value
    if hasattr(value, "dtype"):
        return _array(value, place, known)
    if form == NUMBER:
        return _number(value, place, known)
    if form == LIST:
        return _items(value, f"{place}[]", known)
    return {key: _field(key, item, place, known) for key, item in value.items()} if form == MAPPING else value


def _number(value: Any, place: str, known: Known) -> Any:
    kind = _number_kind(value)
    if kind == TRUTH and TRUTH not in known.get(place, _NOTHING):
        value, kind = int(value), WHOLE
    return float(value) if kind == WHOLE and _are_floats(place, known) else value


def _are_floats(place: str, known: Known) -> bool:
    """Whether the user's own program has no whole numbers there."""
    there = known.get(place, _NOTHING)
    return FRACTION in there and WHOLE not in there


def _allow(value: Any, place: str, known: Known) -> bool:
    """Whether anything is known of that place.

    Raises:
        TypeError: but not such a value.
    """
    form, there = _form(value), known.get(place, _NOTHING)
    if there and form and form not in there and not _AS_WELL[form] & there:
        theirs = " or ".join(_CALLED[one] for one in sorted(there & _CALLED.keys()))
        where = "" if place.isidentifier() else f" at {place}"
        told = f"{_CALLED[form]}{where}, where the initial program has {theirs}: answer in its form"
        raise TypeError(told)
    return bool(there)


def _items(value: Any, place: str, known: Known) -> Any:
    """Items of a list, a tuple or a set."""
    kinds = set(map(type, value))
    if kinds <= _PLAIN:
        return _each(value, map(float, value)) if int in kinds and _are_floats(place, known) else value
    there = known.get(place, _NOTHING)
    if not there:
        return value
    if LIST in there and there & {NUMBER, TEXT}:  # a tree: of what is further down nothing follows
        return _each(value, (_shallow(item, place, known) for item in value))
    if LIST in there and all(kind in (list, tuple) for kind in kinds):
        floats = _are_floats(f"{place}[]", known)
        return _each(value, (row if _is_row(row, floats) else _held(row, place, known) for row in value))
    return _each(value, (_held(item, place, known) for item in value))


def _is_row(value: Any, floats: bool) -> bool:
    """Whether it crosses as it is: of many rows each waits for the others."""
    return (_FLOATS if floats else _PLAIN).issuperset(map(type, value))


def _shallow(item: Any, place: str, known: Known) -> Any:
    if _form(item) == NUMBER:
        return _held(item, place, known)
    _allow(item, place, known)
    return item


def _each(value: Any, items: Iterable[Any]) -> Any:
    kind: Any = type(value)
    return kind(items)


def _field(key: Any, item: Any, place: str, known: Known) -> Any:
    own = f"{place}.{key}" if type(key) is str else ""
    return _held(item, own if own in known else f"{place}{{}}", known)


def _array(value: Any, place: str, known: Known) -> Any:
    """An array, or one number of numpy's."""
    for depth in range(1, value.ndim):
        _allow(value[(0,) * depth] if value.size else value, place + "[]" * depth, known)
    inner = place + "[]" * value.ndim
    kind = _number_kind(value)
    if kind == TRUTH and inner in known and TRUTH not in known[inner]:
        value, kind = value.astype("i8"), WHOLE
    if kind == WHOLE and _are_floats(inner, known):
        value = value.astype("f8")
    there, library = known.get(place, _NOTHING), _library(value)
    if library in there:
        return value
    if library == NUMPY and TENSOR in there:
        raise TypeError("an array of numpy's, where the initial program has a tensor: answer in its form")
    return value.view(type(value).__base__) if NUMPY in there else value.tolist()
