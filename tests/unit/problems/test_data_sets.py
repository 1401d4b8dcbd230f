"""The list of data sets is what the problems know."""

from __future__ import annotations

from problems.bin_packing.instances import FAMILIES
from problems.competition.source import BUNDLED
from problems.data_sets import DATA_SETS, words_for


def test_the_list_is_what_comes_along() -> None:
    bundled = {path.name for path in BUNDLED.iterdir() if (path / "config.yaml").is_file()}
    assert set(DATA_SETS["competition"]) == bundled and set(DATA_SETS["bin_packing"]) == set(FAMILIES)
    assert words_for("digits") == "--problem=competition --problem.name=digits" and words_for("digit") == ""
