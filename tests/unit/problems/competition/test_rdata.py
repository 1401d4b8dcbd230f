"""Tables that scikit-learn carries are read without it, and are to the last digit what its loaders make of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from problems.competition.grader.tables.rdata import read_sklearn

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize("name", ["diabetes", "digits"])
def test_a_table_is_what_the_loader_makes(name: str) -> None:
    from sklearn import datasets

    theirs = getattr(datasets, f"load_{name}")(as_frame=True).frame
    pd.testing.assert_frame_equal(read_sklearn(name), theirs, check_exact=True)


def test_scikit_learn_is_not_imported() -> None:
    code = "import sys; from problems.competition.grader.tables.rdata import read_sklearn as read; "
    told = "print(len(read('diabetes')), len(read('digits')), 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code + told], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["442", "1797", "False"]
