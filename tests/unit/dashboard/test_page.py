"""Whether there is a page to serve."""

from __future__ import annotations

from dashboard.server.page import not_built


def test_who_starts_a_server_without_a_page_is_told(tmp_path):
    assert "`make dashboard` builds it" in not_built(tmp_path)
    (tmp_path / "index.html").write_text("")
    assert not_built(tmp_path) == ""
