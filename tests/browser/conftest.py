"""Browser tests: one Chromium a module, skipped with a reason where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.dashboard import CHROMIUM, missing
from support.pages import PATIENCE


@pytest.fixture(scope="module")  # its event loop must be gone when other tests bring theirs
def chromium() -> Iterator[Any]:
    reason = missing()
    if reason:
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page whose every error and every request to another server fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 860})
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"error in the page: {error}"))
    page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
    page.on("request", lambda asked: faults.append(f"asked {asked.url}") if foreign(asked.url) else None)
    yield page
    context.close()
    assert not faults, faults


def foreign(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))
