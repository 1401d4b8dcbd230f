"""Numbers in a program's answers that an evaluator's own arithmetic would turn into a score better than any.

The square of an imaginary error is negative. A NaN breaks no bound that is checked by `<`. Whole numbers of numpy's
wrap round: the squares of large errors are below zero. In sixteen bits circles overlap by what is rounded away, and a
sum of costs stops growing. The error of no rows at all, whose shape fits any, is zero; a column of one number is
compared with every row, and right so many times in each.

What was written for one kind of number is not meant for another, so an evaluator gets those kinds that the user's own
program has. Of other widths they become as wide as Python's, and large ones floats; what is left is an exception of the
program's.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMPLEX, NAN, LARGE, EMPTY, DIMENSION = "1j", "0/0", "2**24", "[[]]", "[]"
"""Kinds by which a program is known to have such numbers, beside names of numpy's (`<f4`): no identifiers. One mark for
each dimension."""
MOST = 1 << 24
"""Whole numbers from there on are large: of smaller ones 32,768 squares and their sum fit into 64 bits."""
_EXACT = 1 << 53
"""Whole numbers up to there are floats without loss."""
_BYTES = 8
"""Of Python's own float, and of a whole number in numpy's arrays."""
_SIMPLE = frozenset({type(None), bool})
_NUMBERS = frozenset({bool, int, float, complex})
_NO_LISTS = (type(None), bool, int, float, complex, str, bytes)
_TOLD: dict[str, tuple[type[Exception], str]] = {
    COMPLEX: (
        TypeError,
        "a complex number, where the initial program answers with real ones: a negative number to a fractional power "
        "is one, and so are roots and eigenvalues of numpy's; answer with a real number",
    ),
    NAN: (ValueError, "NaN, where the initial program has none: answer with a number"),
    LARGE: (
        OverflowError,
        f"a whole number beyond {_EXACT:,}, where those of the initial program are below {MOST:,}: answer with a "
        "smaller one, or with a float",
    ),
    EMPTY: (
        ValueError,
        "an array of several dimensions without a number in it, where those of the initial program have some: answer "
        "with a list, or with numbers",
    ),
    DIMENSION: (
        ValueError,
        "numbers in more dimensions than those of the initial program: a column, say, is no row; answer in its form",
    ),
}

Knows = Callable[[str], bool]
"""Whether the user's own program has such numbers."""


def usual(value: Any, knows: Knows) -> Any:
    """The answer as the evaluator may have it.

    Args:
        value: plain data, which ends: `plain.unwrap` made it.
    Raises:
        TypeError, ValueError, OverflowError: it holds numbers that the user's own program has none of; the text
            follows "answered with ".
    """
    kind = type(value)
    if kind is float or kind is int:  # most answers are one number, and each waits for this
        return value if -MOST < value < MOST else _far(value, knows)
    return value if kind in _SIMPLE else _usual(_in_form(value, knows), knows)


def _in_form(value: Any, knows: Knows) -> Any:
    """The answer, whose numbers have no more dimensions than those of the user's own program, where that has any.

    Groups that are all as long by chance make an array, others none: the user's own may be any of these.
    """
    most, known = _dimensions(value), [knows(DIMENSION * count) for count in range(1, _depth(value) + 1)]
    if known[:1] == [True] and not known[max(most, 1) - 1]:
        error, text = _TOLD[DIMENSION]
        raise error(text)
    return value


def _depth(value: Any) -> int:
    """The most lists and dimensions of arrays around a number."""
    if isinstance(value, (list, tuple)):
        if value and _NUMBERS.issuperset(map(type, value)):
            return 1
        rows = [_depth(item) for item in value if isinstance(item, (list, tuple)) or hasattr(item, "ndim")]
        others = [_depth(item) for item in value if isinstance(item, (dict, set))]
        return max([0, *(1 + depth for depth in rows), *others])
    if isinstance(value, dict):
        return max(map(_depth, value.values()), default=0)
    return value.ndim if getattr(value, "size", 0) else 0


def _dimensions(value: Any) -> int:
    """The most that arrays of numbers in there have, and lists that numpy would make such arrays of."""
    shape = _shape(value)
    if shape is not None:
        return len(shape)
    if isinstance(value, dict):
        value = value.values()
    return max(map(_dimensions, value), default=0) if not isinstance(value, _NO_LISTS) else 0


def _shape(value: Any) -> tuple[int, ...] | None:
    """Of numbers; None for what is none, or has none."""
    if isinstance(value, (list, tuple)):
        if _NUMBERS.issuperset(map(type, value)):
            return (len(value),) if value else None
        shapes = {_shape(item) for item in value}
        inner = shapes.pop() if len(shapes) == 1 else None
        return None if inner is None else (len(value), *inner)
    if isinstance(value, _NO_LISTS):
        return () if type(value) in _NUMBERS else None
    found = getattr(value, "shape", None)
    return found if found is None or value.size else None


def _usual(value: Any, knows: Knows) -> Any:
    kind = type(value)
    if kind in _SIMPLE:
        return value
    if kind is float or kind is int:
        return value if -MOST < value < MOST else _far(value, knows)
    if kind is str or kind is bytes:
        return _one_of(NAN, knows, value) if _is_nan(value) else value
    if kind is list or kind is tuple or kind is set:
        return _items(value, knows)
    if kind is dict:
        return dict(zip(_items(list(value), knows), _items(list(value.values()), knows)))  # noqa: B905 - Python 3.9
    return _one_of(COMPLEX, knows, value) if kind is complex else _array(value, knows)


def _items(value: Any, knows: Knows) -> Any:
    kinds = set(map(type, value))
    if kinds <= _SIMPLE or (kinds == {int} and min(value) > -MOST and max(value) < MOST):
        return value
    if kinds == {float} and (total := sum(value)) == total:  # one NaN makes NaN of it
        return value
    return type(value)(_usual(item, knows) for item in value)


def _is_nan(text: Any) -> bool:
    """Text or bytes that `float` takes for one: many evaluators ask it."""
    inner = text.strip()
    if not 3 <= len(inner) <= 4:
        return False
    try:
        number = float(inner)
    except ValueError:
        return False
    return number != number


def _far(value: Any, knows: Knows) -> Any:
    """A number that is large, or none."""
    if type(value) is float:
        return value if value == value else _one_of(NAN, knows, value)
    return value if knows(LARGE) else float(_exact(abs(value), value))


def _array(value: Any, knows: Knows) -> Any:
    """An array, or one number of numpy's."""
    form, kind = value.dtype, value.dtype.kind
    if not value.size and value.ndim > 1:
        _one_of(EMPTY, knows, value)
    if kind == "c":
        return _one_of(COMPLEX, knows, value)
    if kind == "f":
        if (value != value).any():
            _one_of(NAN, knows, value)
        return value if form.itemsize == _BYTES or knows(form.str) else value.astype("f8")
    return _whole(value, knows) if kind in "iu" and value.size else value


def _whole(value: Any, knows: Knows) -> Any:
    """An array of whole numbers: without a sign they wrap round below zero."""
    form, furthest = value.dtype, max(-int(value.min()), int(value.max()))
    if furthest >= MOST and not knows(LARGE):
        return _exact(furthest, value).astype("f8")
    is_usual = form.kind == "i" and form.itemsize == _BYTES
    return value if is_usual or furthest >> 63 or knows(form.str) else value.astype("i8")


def _exact(furthest: int, value: Any) -> Any:
    """The value, whose numbers are floats without loss."""
    if furthest > _EXACT:
        error, text = _TOLD[LARGE]
        raise error(text)
    return value


def _one_of(kind: str, knows: Knows, value: Any) -> Any:
    """The value, where the user's own program has such."""
    if not knows(kind):
        error, text = _TOLD[kind]
        raise error(text)
    return value
