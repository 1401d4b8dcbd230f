"""`run`: what is kept of the command that was typed."""

from __future__ import annotations

from cli.run import origin_words


def test_the_words_of_a_run_are_kept_without_secrets():
    words = ["run", "llm.code.api_key=sk-1", "--LLM.code.API_KEY=sk-1", "dashboard.token=t", "search.max_steps=3"]
    words[1:1] = ["--llm.code.extra={headers: {Authorization: Bearer sk-1}}"]
    kept = origin_words(words)
    assert kept.pop(1) == "--llm.code.extra=********"
    assert "sk-1" not in str(kept) and kept[-1] == "search.max_steps=3" and kept[3] == "dashboard.token=********"
