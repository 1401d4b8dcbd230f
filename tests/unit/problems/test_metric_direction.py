"""A metric that is named as an error is not silently made large."""

import pytest

from problems.metric_direction import is_minimised
from utils.errors import ConfigError


@pytest.mark.parametrize("name", ["mse", "val_RMSE", "logloss", "test-loss", "run.seconds", "error"])
def test_a_name_of_an_error_needs_a_direction(name):
    with pytest.raises(ConfigError, match=f"problem.metric={name}.*problem.direction=min"):
        is_minimised(None, name)
    assert is_minimised("min", name) and not is_minimised("max", name)


@pytest.mark.parametrize("name", [None, "combined_score", "accuracy", "lossless_ratio", "costume", "amse"])
def test_other_names_are_to_be_made_large(name):
    assert not is_minimised(None, name)
