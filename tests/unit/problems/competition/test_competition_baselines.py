"""Baselines stand up to tables as people have them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import learned

from problems.competition.baselines import baselines
from utils.data_preview import profile


@pytest.mark.long
def test_a_column_without_any_value_stops_no_baseline(tmp_path):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"Id": range(120), "size": draw.normal(size=120), "empty": np.nan})
    frame["price"] = 3 * frame["size"]
    (tmp_path / "input").mkdir()
    frame[:90].to_csv(tmp_path / "input" / "train.csv", index=False)
    frame[90:].drop(columns="price").to_csv(tmp_path / "input" / "test.csv", index=False)
    columns = profile(pd.read_csv(tmp_path / "input" / "train.csv"))
    data = {"id": "Id", "targets": ["price"], "label": None, "rows": {"train": 90}, "columns": columns}
    for baseline in baselines({"data": {**data, "metric": "rmse", "task": "regression"}}):
        done = learned(baseline.code, tmp_path)
        assert done.returncode == 0, (baseline.name, done.stderr[-500:])
