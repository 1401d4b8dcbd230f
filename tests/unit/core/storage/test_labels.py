"""What the user wrote on a run: whoever changes a word keeps all others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from core.storage.labels import FILE, change_labels, labels_of
from utils.errors import StoreError


def test_words_that_are_added_at_once_are_all_kept(tmp_path):
    """The page and the command line took each other's words away."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: change_labels(tmp_path, add=[f"t{number}"]), range(24)))
    assert len(labels_of(tmp_path).tags) == 24


def test_what_cannot_be_read_is_not_written_over(tmp_path):
    """A comma too many, by hand, and the next tag took title and note away for good."""
    text = '{"title": "the best one", "note": "hours of it",}'
    (tmp_path / FILE).write_text(text)
    assert labels_of(tmp_path).title == "", "lists go on without them"
    with pytest.raises(StoreError, match="mend it"):
        change_labels(tmp_path, add=["x"])
    assert (tmp_path / FILE).read_text() == text
