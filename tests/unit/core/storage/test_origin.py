"""The command that would begin a run anew, with all that its resumes changed."""

from __future__ import annotations

from core.storage.origin import commands, taken_up, words_now


def test_a_key_of_a_resume_takes_its_place():
    origin = taken_up({"words": ["--problem=tsp", "--search.max_steps=3"]}, {"words": ["resume", "r"]})
    origin = taken_up(origin, {"words": ["resume", "r", "--search.max_steps=9"]})
    assert words_now(origin) == ("--problem=tsp", "--search.max_steps=9")


def test_a_model_of_a_resume_replaces_all_that_was_said_of_models():
    origin = {"words": ["--llm=openai", "--llm.code.model=m", "--llm.code.base_url=http://x", "--search.max_steps=3"]}
    for word in ("--llm=rules", "--presets.llm=rules"):
        changed = taken_up(origin, {"words": ["resume", "r", word]})
        assert words_now(changed) == ("--search.max_steps=3", word)
        assert commands(changed, "r")[-1] == ["resume", "r", word]
