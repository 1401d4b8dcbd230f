"""Metrics as competitions mean them, where the same name means something else for other labels."""

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import Stand, writes

COUNT, TESTED = 160, 40
DRAW = np.random.default_rng(5)
FRAME = pd.DataFrame({"id": range(COUNT), "size": DRAW.gamma(3, 30, COUNT).round(1), "tag": DRAW.integers(0, 9, COUNT)})


def of(tmp_path, labels, name="y"):
    """A folder with a training table that has these labels, and a test."""
    (tmp_path / "mine").mkdir()
    FRAME[:-TESTED].assign(**{name: labels[:-TESTED]}).to_csv(tmp_path / "mine" / "train.csv", index=False)
    FRAME[-TESTED:].to_csv(tmp_path / "mine" / "test.csv", index=False)
    return tmp_path / "mine"


def test_days_without_sales_do_not_count_and_are_told(tmp_path, inline):
    """It was refused, though the formula is that of Rossmann, where closed shops sell nothing."""
    of(tmp_path, np.where(np.arange(COUNT) % 4, 100 + np.arange(COUNT) % 3 * 1e-6, 0))
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=y", "data.metric=rmspe")
    try:
        assert "y is 0 in 30 rows, which RMSPE does not count" in stand.problem.note
        assert stand.score(writes("for row in rows: row['y'] = 110"))[1].metric == pytest.approx(0.1, rel=1e-6)
    finally:
        stand.close()


def test_the_gini_coefficient_of_counts_is_that_of_their_order(tmp_path, inline):
    """It took each count for a class, and wanted a column of probabilities for each."""
    labels = (FRAME["size"] / 20).round().astype(int)
    assert labels.nunique() < 20
    mine = of(tmp_path, labels, "hazard")
    learn = (
        "sizes = {row['id']: float(row['size']) for row in csv.DictReader(open('input/test.csv'))}\n"
        "for row in rows: row['hazard'] = round(sizes[row['id']] / 40)"
    )
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=hazard", "data.metric=gini")
    try:
        node, verdict = stand.score(writes(learn))
        assert 0.5 < verdict.metric < 1
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        assert stand.score(writes("for row in rows: row['hazard'] = 1"))[1].metric == pytest.approx(0)
    finally:
        stand.close()
    assert (tmp_path / "best" / "submission.csv").read_text().splitlines()[0] == "id,hazard"
