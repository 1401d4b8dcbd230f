"""A count before a noun is said by `counted`: `1 row`, never `1 rows`. What people and models read is searched."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("agents", "cli", "core", "dashboard", "problems", "reports", "runs", "utils")
NOUNS = (
    "answers arguments calls candidates cases cells characters cities classes columns drafts engines entries events "
    "fields files folders frames games generations ids instances islands items jobs labels lines links members "
    "messages nodes objects openings plies processes programs questions records replies rows runs seeds sessions "
    "settings spans steps sweeps targets tasks tickets times tokens tries turns values words workers"
)
SEVERAL = rf"(?:{'|'.join(NOUNS.split())})\b"
NOT_AN_ADJECTIVE = r"(?!between|compares|in|needs|of)"
IN_A_TEXT = re.compile(rf" (?:{NOT_AN_ADJECTIVE}[a-z]+ )?{SEVERAL}")
ON_THE_PAGE = re.compile(rf"[\w)\]]\}}(?: [a-z]+)? {SEVERAL}(?!=)")
NUMBERS = {"int", "len", "max", "min", "sum"}
LIMIT = re.compile(r"(?:\w+\.)*_?[A-Z][A-Z0-9_]+")
"""A constant: it is known whether it is 1."""
PROTOCOL = {"core/arena/uci_shell.py"}
"""What programs read, not people."""


def spelled_out(source: str) -> Iterator[tuple[int, str]]:
    """Where an f-string puts a number before the plural of a noun, by its line; not beside a sentence for one."""
    tree = ast.parse(source)
    known = {
        id(text)
        for choice in ast.walk(tree)
        if isinstance(choice, ast.IfExp) and any(getattr(part, "value", None) == 1 for part in ast.walk(choice.test))
        for text in ast.walk(choice)
    }
    for text in ast.walk(tree):
        if not isinstance(text, ast.JoinedStr) or id(text) in known:
            continue
        for before, number, after in zip([None, *text.values], text.values, text.values[1:], strict=False):
            is_sum = isinstance(before, ast.Constant) and str(before.value).endswith("+ ")
            noun = IN_A_TEXT.match(str(getattr(after, "value", "")))
            if noun and not is_sum and isinstance(number, ast.FormattedValue) and _may_be_one(number):
                yield number.lineno, f"{{{ast.unparse(number.value)}}}{noun[0]}"


def _may_be_one(shown: ast.FormattedValue) -> bool:
    form = ast.unparse(shown.format_spec) if shown.format_spec else "f''"
    if form not in ("f''", "f','") or shown.conversion != -1 or LIMIT.fullmatch(ast.unparse(shown.value)):
        return False
    return not isinstance(shown.value, ast.Call) or getattr(shown.value.func, "id", "") in NUMBERS


def spelled_out_on_the_page(source: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.split("\n"), 1):
        if not re.search(r'=== (?:1|"1") \?', line):
            yield from ((number, found[0]) for found in ON_THE_PAGE.finditer(line))


def test_texts_count_by_the_helper():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts]
    assert len(paths) > 500
    named = {str(path.relative_to(ROOT)): path for path in paths}
    found = [
        (name, *one) for name, path in named.items() if name not in PROTOCOL for one in spelled_out(path.read_text())
    ]
    assert not found, "use utils.counts.counted"


def test_the_page_counts_by_the_helper():
    paths = [path for path in (ROOT / "dashboard/web/src").rglob("*.ts*") if ".test." not in path.name]
    assert len(paths) > 50
    found = [(path.name, *one) for path in paths for one in spelled_out_on_the_page(path.read_text())]
    assert not found, "use counted of model/format.ts"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('f"{len(x)} rows"', ["{len(x)} rows"]),
        ('f"all {n:,} hidden rows are"', ["{n} hidden rows"]),
        ('f"at most {MOST_ROWS:,} rows"', []),
        ("f\"{names} needs rows; {', '.join(x)} files; {a} + {b} tokens\"", []),
        ('"1 row" if n == 1 else f"{n} rows"', []),
        ("f\"{counted(n, 'row')} of {counted(m, 'file')}\"", []),
    ],
)
def test_the_check_can_fail(source: str, found: list[str]):
    assert [told for _, told in spelled_out(source)] == found


def test_the_check_of_the_page_can_fail():
    page = '{rows.length} nodes\n`${n} free workers`\n<A of={s} runs={r} />\nn === 1 ? "" : `${n} runs`'
    assert [line for line, _ in spelled_out_on_the_page(page)] == [1, 2]
