"""Where programs run: a cloud that cannot be used is a warning, not the end."""

from __future__ import annotations

import importlib.util

import pytest
from support.command_line import toy_words


@pytest.mark.skipif(importlib.util.find_spec("modal") is not None, reason="the SDK of Modal is installed here")
def test_without_the_sdk_of_modal_the_run_goes_on_here(cli):
    ended = cli.here(*toy_words(2), "execution.runner=modal")
    assert ended.code == 0, ended.err
    assert "warning: Modal cannot be used" in ended.out and "pip install" in ended.out and cli.show()["steps"] == 2
