"""Numbers in texts: of somebody else's, who may have written millions of digits, and in ours."""

DECIMAL = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
"""Of a pattern: `-1.5e3`, `2.`, `.5`. No digit can belong to two of its parts, so that a run of them is read once."""
MARK = "[xX×%]"
"""Of a pattern: what makes no other number of the one before it, as a unit of time would: `1.30x`, `93.1%`."""
WHOLE = r"(?<!\d)\d{1,18}(?!\d)"
"""Of a pattern: a whole number that fits into a machine word; Python refuses to read one of thousands of digits."""


def short_number(value: float, digits: int) -> str:
    """`value` with so many digits that count, and without an exponent where it is only large: `140` for `1.4e+02`."""
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e15 else text
