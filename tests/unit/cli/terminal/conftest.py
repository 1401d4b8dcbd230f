from __future__ import annotations

from collections.abc import Callable

import pytest
from support.command_line import toy_words

from core.backend.roles import model_settings
from core.events import NodeCommitted
from runs.composition import problem_of
from runs.facts import RunFacts
from utils.config import load_config


@pytest.fixture
def facts_of(tmp_path) -> Callable[..., RunFacts]:
    """`facts_of("search.max_steps=9")`: a run of the toy in a folder of this test, put together as far as views see."""

    def make(*words: str) -> RunFacts:
        config = load_config(None, [*toy_words(30), f"project.dir={tmp_path}", *words])
        run_dir = tmp_path / "logs" / "toy-1"
        run_dir.mkdir(parents=True, exist_ok=True)
        return RunFacts(run_dir, config, problem_of(config), model_settings(config.llm), "warm", words=("run",))

    return make


@pytest.fixture
def committed() -> Callable[..., NodeCommitted]:
    """`committed(3, metric=1.5)`: the event of the third node."""

    def make(step: int, operator: str = "draft", **more: object) -> NodeCommitted:
        return NodeCommitted(node_id=f"{step:012d}", step=step, operator=operator, **more)

    return make
