from __future__ import annotations

from collections.abc import Callable

import pytest
from support.command_line import toy_words

from utils.config import load_config
from utils.config_schema import Config


@pytest.fixture
def toy_config(tmp_path) -> Callable[..., Config]:
    """`toy_config(5, "search.batch=1")`: a search of the toy that takes no time, in the folder of this test."""

    def make(steps: int = 5, *words: str) -> Config:
        return load_config(None, [*toy_words(steps), f"project.dir={tmp_path}", "logging.report=false", *words])

    return make
