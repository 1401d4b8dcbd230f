"""Whose the content of a folder is."""

from __future__ import annotations

from utils.folder_owner import give_to_owner


def test_a_run_that_was_removed_while_it_was_held_is_given_to_nobody(tmp_path):
    give_to_owner(tmp_path / "removed")
