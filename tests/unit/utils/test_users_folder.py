"""The folder that all processes of a user share."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from utils.users_folder import lasting_folder, users_folder


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_the_same_for_all_and_ours_alone(temporary):
    assert users_folder() == users_folder() == temporary / f"swarm-evo-{os.getuid()}"
    assert users_folder().stat().st_mode & 0o777 == 0o700


def test_where_others_may_write_to_it_or_have_its_name_it_is_a_fresh_one(temporary):
    named = temporary / f"swarm-evo-{os.getuid()}"
    named.mkdir()
    named.chmod(0o777)
    assert users_folder() not in (named, users_folder())
    named.rmdir()
    named.symlink_to("/etc")
    assert users_folder().parent == temporary and users_folder() != named


def test_where_another_user_made_it_first_it_is_a_fresh_one(temporary, monkeypatch):
    """Closed to all but its maker, and he is not we."""
    us = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: us + 1)
    named = temporary / f"swarm-evo-{us + 1}"
    named.mkdir(mode=0o700)
    assert users_folder().parent == temporary and users_folder() != named and lasting_folder() is None
