"""What a configuration will not do is told before it runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cli.terminal.banner import quote_line
from core.backend.roles import model_settings
from core.executor import devices
from problems.registry import build_problem
from runs.beginning.notes import notes_of
from utils.config import load_config

AGENT = ["llm.code.provider=agent", "llm.code.command=my-agent {model}", "llm.code.session.usd=1"]
MODEL = ["llm.code.provider=openai", "llm.code.model=gpt-5-mini"]


def notes(words: list[str], problem: str = "bin_packing") -> list[str]:
    config = load_config(None, words, presets={"problem": problem}, env={})
    built = build_problem(config) if problem == "script" else SimpleNamespace(untold="", unread={})
    return list(notes_of(config, model_settings(config.llm), built))


@pytest.mark.parametrize(
    ("evaluator", "more", "told"),
    [
        ("", MODEL, "no prompt says what is rewarded (nor does a docstring of judge.py)"),
        ("", [*MODEL, "problem.goal=sort"], ""),
        ("", [], ""),
        ('"""Speed, in sorts a second."""\n', MODEL, ""),
    ],
)
def test_that_nobody_says_what_an_evaluator_rewards_is_told_where_a_model_writes(tmp_path, evaluator, more, told):
    program, judge = tmp_path / "program.py", tmp_path / "judge.py"
    program.write_text("# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n")
    judge.write_text(f"{evaluator}def evaluate(path):\n    return 1.0\n")
    files = [f"problem.program={program}", f"problem.evaluator={judge}", "problem.direction=max"]
    found = notes([*files, *more], "script")
    assert [told in note for note in found] == ([True] if told else [])


def test_an_agent_with_its_own_login_is_metered_by_nobody_and_no_cap_is_promised():
    assert notes(AGENT) == []
    (note,) = notes([*AGENT, "llm.code.network=open"])
    assert note.startswith("metered: claimed (llm.code.network=open")
    config = load_config(None, [*AGENT, "llm.code.network=open", "budget.usd=5"], env={})
    facts = SimpleNamespace(config=config, roles=model_settings(config.llm), problem=SimpleNamespace(claims_only=False))
    assert "capped" not in quote_line(facts)


@pytest.mark.parametrize(
    ("problem", "more", "told"),
    [
        ("bin_packing", [], "search.islands.refine_interval=N"),
        ("bin_packing", ["search.islands.refine_interval=2"], ""),
        ("competition", [], "search.policy=three_phase refines none"),
    ],
)
def test_a_model_for_refining_that_is_never_asked_is_told(problem, more, told):
    assert notes(MODEL, problem) == [], "the same model for all"
    found = notes([*MODEL, "llm.refine.model=gpt-5", *more], problem)
    assert [told in note for note in found] == ([True] if told else [])


@pytest.mark.parametrize(("cards", "workers", "gpus"), [(1, 2, 1), (1, 6, 1), (1, 15, 0.5), (2, 7, 1), (4, 9, 1)])
def test_the_share_of_a_card_that_is_advised_leaves_room_for_all_workers(tmp_path, monkeypatch, cards, workers, gpus):
    """A sixth, rounded to 0.17, lets five share it."""
    for number in range(cards):
        (tmp_path / f"nvidia{number}").touch()
    monkeypatch.setattr(devices, "_EACH", (f"{tmp_path}/nvidia[0-9]*",))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    words = [f"search.workers={workers}", "search.lag=20"]
    (note,) = notes([*words, f"execution.gpus={gpus}"])
    advised = note.split("; ")[1].split()[0]
    assert f"search.workers={workers}, but the GPUs here leave room for" in note and not notes([*words, advised])
    assert notes([*words, f"execution.gpus={gpus}", "execution.runner=ray"]) == []
