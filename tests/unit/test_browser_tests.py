"""Hygiene of the browser tests: a page is asked until it shows a thing, not once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

BROWSER = Path(__file__).resolve().parents[1] / "browser"
ONCE = {"count", "inner_text", "all_inner_texts", "text_content", "input_value", "get_attribute"}
ONCE |= {"is_checked", "is_disabled", "is_enabled", "is_hidden", "is_visible"}


def asked_once(source: str) -> Iterator[str]:
    """Assertions without a message on what a page shows at that moment."""
    for check in ast.walk(ast.parse(source)):
        if isinstance(check, ast.Assert) and check.msg is None:
            calls = (node.func for node in ast.walk(check.test) if isinstance(node, ast.Call))
            if any(isinstance(called, ast.Attribute) and called.attr in ONCE for called in calls):
                yield f"{check.lineno}: {ast.unparse(check)}"


@pytest.mark.parametrize("file", sorted(BROWSER.glob("test_*.py")), ids=lambda file: file.stem)
def test_what_may_still_be_loading_is_not_asked_once(file: Path) -> None:
    """Whoever asks once on purpose says why in the assertion's message."""
    assert not [*asked_once(file.read_text())], "use `expect(…)` or `until(…)` of tests/support/pages.py"


def test_it_tells_who_waits_from_who_does_not() -> None:
    once = "assert page.locator('.add').count() >= 1"
    assert [*asked_once(once)] == [f"1: {once}"]
    assert not [*asked_once("expect(page.locator('.add')).to_have_count(1)")]
    assert not [*asked_once("assert page.locator('img').count() == 0, 'never, not even for a moment'")]
