"""`~` where the system knows no home: a container's user without an entry in /etc/passwd."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from utils.user_path import home, user_path


@pytest.fixture
def nobody(monkeypatch):
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2_000_000_000)


def test_without_a_home_it_stays_as_it_stands(nobody):
    assert home() is None and user_path("~/x") == Path("~/x")


def test_of_somebody_who_is_not_there_it_stays_too():
    assert user_path("~no_such_user/x") == Path("~no_such_user/x")


def test_with_a_home_it_is_that(monkeypatch):
    monkeypatch.setenv("HOME", "/somewhere")
    assert home() == Path("/somewhere") and user_path("~/x") == Path("/somewhere/x") and user_path("x") == Path("x")
