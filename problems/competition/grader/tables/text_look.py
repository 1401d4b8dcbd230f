"""How a text is written as a table, told from its first lines: encoding, separator, decimal mark, where its head is."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from .alphabets import CYRILLIC, cyrillic_page, latin_page
from .counts import counted

MARKS = ",;\t|"
STRAY = "\ufffd"
"""What stands for a byte that is no text."""
BLANKS = " "
"""Any number of blanks and tabs, where nothing else separates columns."""
LINES = 60
"""Lines that are looked at."""
MOST_ABOVE = 20
"""Lines above a head."""
FEWEST_BELOW = 5
"""Rows below lines of words that make the one between them a head."""
UTF_16_ZEROS = 0.7
"""Part of every second byte that is 0 in UTF-16 of languages that are written in Latin letters."""
FOREIGN_RUNS = 0.4
"""Part of the bytes beyond ASCII that stand beside another in text of no Latin letters; in Latin text a few do."""
UTF_8 = 4
"""Letters beyond ASCII that are UTF-8 for each byte that is not, in text that is UTF-8 but for some stray bytes: what
other text looks like UTF-8 does so by accident."""
MIXED_WORDS = 0.2
"""Part of the words beyond ASCII that may hold Latin letters, too, where a text is of another script."""
_RUNS = re.compile(rb"[\x80-\xff]{2,}")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
_ELSEWHERE = {
    **{name: name for name in ("gb18030", "big5", "cp932", "euc_jp", "cp874", *CYRILLIC)},
    **{name: name for name in ("cp1253", "cp1255", "cp1256")}, "euc_kr": "cp949",
}  # fmt: skip
"""What is looked for → by which it is read, which knows more letters: in Shift-JIS much passes for the larger Korean
one."""
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def encoding_of(sample: bytes) -> str | None:
    """How the text that begins so is written; None for what holds NUL characters, which no such text does."""
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name
    if b"\0" in sample:
        return _utf_16(sample)
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(sample) - 4:  # not merely a letter that the look has cut in two
            if is_utf_8([sample.decode("utf-8", errors="replace")]):
                return "utf-8"
            page = _elsewhere(sample) or latin_page(sample) or "cp1252"
            return page if _decodes(sample, page) else "latin-1"
    return "utf-8"


def is_utf_8(texts: Iterable[str]) -> bool:
    """True for text that is UTF-8 but for some stray bytes.

    Args:
        texts: it, some at a time, as UTF-8 with a mark for what is none.
    """
    beyond, stray = 0, 0
    for text in texts:
        beyond += len(text) - len(text.encode("ascii", errors="ignore"))
        stray += text.count(STRAY)
    return beyond - stray >= UTF_8 * stray


def _elsewhere(sample: bytes) -> str | None:
    """The encoding of a language that is not written in Latin letters; None for one that is.

    In Latin text a letter beyond ASCII mostly stands between others. Where one is taken for another script's, words mix
    both.
    """
    high = sample.translate(None, bytes(range(128)))
    in_runs = sum(map(len, _RUNS.findall(sample)))
    if in_runs < FOREIGN_RUNS * len(high):
        return None
    from charset_normalizer import from_bytes

    whole = sample[: sample.rfind(b"\n") + 1] or sample
    russian, is_sure = cyrillic_page(whole)
    best = None if is_sure else from_bytes(whole, cp_isolation=[*_ELSEWHERE]).best()
    if best is None and not is_sure:
        return None
    page = russian if best is None or best.encoding in CYRILLIC else _ELSEWHERE[best.encoding]
    words = [word for word in _WORD.findall(whole.decode(page, errors="replace")) if not word.isascii()]
    mixed = sum(_LATIN.search(word) is not None for word in words)
    return page if mixed <= MIXED_WORDS * len(words) else None


def _utf_16(sample: bytes) -> str | None:
    """UTF-16 without a mark: nearly every second byte of Latin text is 0, and none of the others."""
    for name, zeros, letters in (("utf-16-le", sample[1::2], sample[0::2]), ("utf-16-be", sample[0::2], sample[1::2])):
        if zeros.count(0) > UTF_16_ZEROS * len(zeros) and letters.count(0) < (1 - UTF_16_ZEROS) * len(letters) / 10:
            return name
    return None


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def separator(lines: list[str]) -> str:
    """What separates columns: the mark by which nearly all lines have as many fields as the head."""
    best, found = 1, ","
    for mark in MARKS:
        widths = [len(row) for row in field_rows(lines, mark)]
        alike = sum(width == widths[0] for width in widths) if widths else 0
        if widths and widths[0] > best and alike >= 0.9 * len(widths):
            best, found = widths[0], mark
    return BLANKS if best == 1 and _in_blanks(lines) else found


def _in_blanks(lines: list[str]) -> bool:
    """True if blanks part each line into as many fields, more than one; names of rows may stand before them."""
    widths = [len(row) for row in field_rows(lines, BLANKS)]
    below = set(widths[1:])
    return len(widths) > FEWEST_BELOW and len(below) == 1 and below <= {widths[0], widths[0] + 1} and widths[0] > 1


QUOTED, ESCAPED = "single quotes", "backslashes before quotes"


def quoting(lines: list[str], mark: str) -> str:
    """How texts that hold a separator are written, where it is not in quotes that are doubled within: QUOTED, ESCAPED
    or ''. Told where lines have as many fields as the head in that way alone."""
    if len(lines) < 2 or _all_alike(field_rows(lines, mark)):
        return ""
    signs = {QUOTED: "'", ESCAPED: '\\"'}
    there = [how for how, sign in signs.items() if any(sign in line for line in lines)]
    return next((how for how in there if _all_alike(field_rows(lines, mark, how))), "")


def _all_alike(rows: list[list[str]]) -> bool:
    return len({len(row) for row in rows}) == 1


def decimal_mark(lines: list[str], mark: str, usual: str = ".") -> str:
    """`,` if some column holds nothing but whole numbers and numbers like 1,5; 12,345 beside 987 is no such column.

    Between commas such numbers stand in quotes; there a column of none but 12,345 says nothing, and a number like 1.5
    anywhere says that it is a point. Elsewhere points stand between thousands, and commas before fractions if there
    were some, where no number is like 1.5 and a column holds 12.345 beside 987.

    Args:
        usual: what holds where nothing tells and commas part no columns.
    """
    columns = [
        {value.strip().lstrip("+-") for value in values if value.strip()}
        for values in zip(*field_rows(lines[1:], mark), strict=False)
    ]
    pointed = [[kind_of_number(value, ".") for value in values] for values in columns]
    has_points = any(FRACTION in kinds for kinds in pointed)
    if mark == "," and has_points:
        return "."
    telling = {FRACTION} if mark == "," else {THOUSANDS, FRACTION}
    for values in columns:
        kinds = {kind_of_number(value, ",") for value in values}
        if "" not in kinds and kinds & telling and kinds != {THOUSANDS, BELOW_THOUSANDS}:
            return ","
    if has_points or (mark == "," and any(mark in line for line in lines)):
        return "."
    apart = any(set(kinds) == {THOUSANDS, BELOW_THOUSANDS} and kinds.count(THOUSANDS) > 2 for kinds in pointed)
    return "," if apart else usual


WHOLE, BELOW_THOUSANDS, THOUSANDS, FRACTION = "whole", "below thousands", "thousands", "fraction"
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")


def kind_of_number(text: str, mark: str) -> str:
    """What a number without its sign can be where it has such marks; '' for what is none.

    `12,345` has a THOUSANDS mark as well as a FRACTION: it is what the others of its column are. Beside numbers that
    are BELOW_THOUSANDS and have no mark, and no others, it stands between thousands.
    """
    whole, found, part = text.partition(mark)
    if not whole.isdigit() or (part and not part.isdigit()):
        return ""
    if not found:
        return BELOW_THOUSANDS if len(whole) <= 3 else WHOLE
    return THOUSANDS if _THOUSANDS.fullmatch(text) else FRACTION


NOTHING, ROW_NAMES = "without the empty fields behind its last column", "names of rows before the first column"


def beyond_head(rows: Sequence[Sequence[str]]) -> str | None:
    """What rows hold beside the columns that their head names: '', NOTHING behind a last mark, or, as R writes them,
    ROW_NAMES. None where nobody can tell which of a row's fields the head leaves out.

    pandas takes the first fields for names of rows wherever the first row is longer than the head: all columns would be
    called as their neighbours are.
    """
    if len(rows) < 2 or len(rows[1]) <= len(rows[0]):
        return ""
    width = len(rows[0])
    if not any(value.strip() for row in rows[1:] for value in row[width:]):
        return NOTHING
    named = sum(len(row) == width + 1 for row in rows[1:])
    return ROW_NAMES if named >= 0.9 * len(rows[1:]) else None


def field_rows(lines: Iterable[str], mark: str, quoted: str = "") -> list[list[str]]:
    """The fields of each line.

    Args:
        quoted: of `quoting`.
    """
    return _rows(lines, mark, CSV_WAYS[quoted])


CSV_WAYS: dict[str, dict[str, Any]] = {
    "": {}, QUOTED: {"quotechar": "'"}, ESCAPED: {"escapechar": "\\", "doublequote": False},
}  # fmt: skip
"""What readers of CSV are told, by `quoting`."""


def _rows(lines: Iterable[str], mark: str, way: dict[str, Any]) -> list[list[str]]:
    lines = (" ".join(line.split()) for line in lines) if mark == BLANKS else lines
    try:
        return list(csv.reader(lines, delimiter=mark, **way))
    except csv.Error:
        return []


def told_above(count: int) -> str:
    """What a note says of lines above the head."""
    return f"without the {counted(count, 'line')} above its head"


def lines_above(lines: Sequence[str]) -> int:
    """How many lines of words stand above the head of a text table (a title, its source, blanks): 0 unless the table
    clearly begins below them.

    Args:
        lines: the first ones of the file, blank ones among them.
    """
    there = [line for line in lines if line.strip()]
    mark = separator(there)
    begin = {len(row) for row in field_rows(there[: FEWEST_BELOW + 1], mark)}
    marks = mark if len(begin) == 1 and begin != {1} else MARKS
    tables = [[next(iter(field_rows([line], mark)), []) for line in lines] for mark in marks]
    widths = {at: len(rows[at]) for rows in tables if (at := head_row(rows))}
    at = max(widths, key=lambda at: widths[at], default=0)
    return at if any(line.strip() for line in lines[:at]) else 0  # blank lines alone are passed over as it is


def head_row(rows: Sequence[Sequence[str]]) -> int:
    """Where the first row stands that has a name in each column and rows of as many columns below it, if what stands
    above it fills few columns; else 0."""
    filled = [[value.strip() for value in row if value.strip()] for row in rows]
    widths = Counter(len(row) for row, values in zip(rows, filled, strict=True) if values)
    width = widths.most_common(1)[0][0] if widths else 0
    at = next((at for at, values in enumerate(filled[: MOST_ABOVE + 1]) if width == len(rows[at]) == len(values)), 0)
    names = filled[at] if at else []
    below = [len(row) == width for row, values in zip(rows[at + 1 :], filled[at + 1 :], strict=True) if values]
    is_head = width > 1 and len(set(names)) == width and not any(map(_begins_like_a_number, names))
    is_table = len(below) >= FEWEST_BELOW and sum(below) >= 0.9 * len(below)
    apart = at > 0 and not filled[at - 1]
    return at if is_head and is_table and all(_is_title(values, width, apart) for values in filled[:at]) else 0


def _is_title(values: Sequence[str], width: int, apart: bool) -> bool:
    """True for a row that fills so few of the columns that it is no head. Of two columns, one word may be one.

    Args:
        apart: a blank line stands between it and the head: then it is none if a single column is not filled.
    """
    if apart:
        return len(values) < width
    if len(values) == 1 and width == 2:
        return " " in values[0] or values[0].startswith("#")
    return len(values) <= width // 2 or values[0].startswith("#")


def _begins_like_a_number(text: str) -> bool:
    return text.lstrip("+-.,$€£")[:1].isdigit()
