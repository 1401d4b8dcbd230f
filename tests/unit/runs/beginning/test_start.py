"""The configuration that is stored at a run's start is text that OmegaConf reads as the same values."""

from __future__ import annotations

from typing import Any

import pytest
from omegaconf import OmegaConf

from core.storage.reader import RunReader
from runs.beginning.start import _yaml
from runs.session import RunSession
from runs.stepper import Stepper
from utils.config import load_config

ODD: dict[str, Any] = {
    "numbers in words": ["1e3", "1_000", "0x1f", "1.5", ".inf", "nan", "007"],
    "words": ["yes", "on", "null", "~", "", " a ", "größe", "two\nlines", "a: b", "# none"],
    "values": [1, 1e3, 1e-9, True, None, {"deep": [{}, []]}],
}


@pytest.mark.parametrize("plain", [load_config(None, ["problem.name=diabetes"]).model_dump(mode="json"), ODD])
def test_it_is_what_omegaconf_would_write(plain: dict[str, Any]) -> None:
    assert _yaml(plain) == OmegaConf.to_yaml(OmegaConf.create(plain))


def test_words_for_a_shell_are_kept() -> None:
    """OmegaConf itself refuses them: they begin as its own references do."""
    plain = {"command": '${X:-"a b"}'}
    assert OmegaConf.to_container(OmegaConf.create(_yaml({"command": "a b"}))) == {"command": "a b"}
    import yaml

    assert yaml.safe_load(_yaml(plain)) == plain


def test_a_process_that_takes_single_steps_says_so(toy_config):
    """The page called each such process one that had ended without a word."""
    with RunSession(toy_config(3), by_hand=True) as session:
        Stepper(session).step(None, None, None, None)
    with RunSession(toy_config(3), session.run_dir) as session:
        session.run()
    with RunReader(session.run_dir) as reader:
        assert [event.by_hand for event in reader.events(types=["run.started"])] == [True, False]
