"""What a page comes to show: asked again until it does, since an answer of the server may still be on its way."""

from __future__ import annotations

import time
from typing import Any

PATIENCE = 60.0
"""Seconds for a thing to come; a page on a quiet machine takes a hundredth of it."""


def expect(shown: Any) -> Any:
    """Playwright's assertions on a locator or a page, with our patience: `expect(row).to_have_text("kept")`."""
    from playwright.sync_api import expect as asserts

    asserts.set_options(timeout=1000 * PATIENCE)
    return asserts(shown)


def until(page: Any, expression: str, seconds: float = PATIENCE) -> Any:
    """The first true value of a JavaScript expression.

    Playwright's own `wait_for_function` evaluates in the page, which the page's policy forbids.
    """
    end = time.monotonic() + seconds
    while not (found := page.evaluate(expression)):
        assert time.monotonic() < end, f"not within {seconds} s: {expression}"
        page.wait_for_timeout(50)
    return found
