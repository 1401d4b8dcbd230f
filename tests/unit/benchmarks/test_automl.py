"""The table of `benchmarks.automl`: which way a gain counts, and when it is one."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import automl
from benchmarks._automl_sets import TABLES
from benchmarks._automl_table import interval, summary


@pytest.mark.parametrize("metric", ["rmse", "auc"])
def test_the_closer_predictions_gain_whatever_the_metrics_direction(monkeypatch, metric):
    monkeypatch.setattr(automl, "DRAWS", 100)
    draw = np.random.default_rng(0)
    truth = draw.integers(0, 2, 400) if metric == "auc" else draw.normal(0, 1, 400)
    close, far = truth + draw.normal(0, 0.3, 400), truth + draw.normal(0, 1.5, 400)
    table = SimpleNamespace(metric=metric, lower_is_better=metric != "auc")
    better, worse = automl.gain(table, truth, close, far), automl.gain(table, truth, far, close)
    assert better["mean"] > 0.3 and 0 < better["error"] < 0.2 and worse["mean"] < 0
    assert automl.gain(table, truth, close, close)["mean"] == 0


def test_splits_that_disagree_are_level_and_those_that_agree_are_not():
    def one(mean):
        return {"mean": mean, "error": 0.01}

    assert interval([one(0.1)])[1:] == pytest.approx((0.0804, 0.1196))
    low, high = interval([one(mean) for mean in (0.1, -0.1, 0.2, -0.2, 0.1)])[1:]
    assert low < 0 < high
    low, high = interval([one(mean) for mean in (0.10, 0.11, 0.12, 0.11, 0.10)])[1:]
    assert 0.09 < low < high < 0.13
    plain = 2.776 * 0.0083666 / 5**0.5
    assert high - low == pytest.approx(2 * 1.5 * plain), "splits share rows: no five tables"


def test_the_summary_counts_sets_by_time_and_rival():
    def row(name, split, mean):
        known = {
            "seconds": 60.0,
            "boosters": False,
            "metric": "rmse",
            "rows": 9,
            "load": 2.0,
            "cores": 1,
            "day": "2026-11-23",
        }
        gain = {"flaml": {"mean": mean, "error": 0.001}}
        return {"set": name, "split": split, **known, "score": {"rules": 1.0, "flaml": 1.1}, "gain": gain,
                "took": {"rules": 59.0, "flaml": 61.0}}  # fmt: skip

    rows = [row("ames", 0, 0.1), row("ames", 1, 0.1), row("churn", 0, -0.2), row("digits", 0, 0.0)]
    shown = summary(rows)
    assert shown.startswith("rules against flaml, 60 s, processors: 1; 2026-11-23\n") and shown.endswith(
        "better on 1, level on 1, worse on 1"
    )
    both = summary([*rows, row("storms", 0, -0.2)])
    assert both.startswith(f"{shown}\n\n"), "tables that nobody looked at before are counted by themselves"
    assert both.endswith("better on 0, level on 0, worse on 1")
    assert summary([]) == "nothing is measured yet"


def test_a_rival_that_is_added_leaves_the_others_in_their_cell():
    """`--only lightgbm` took away what had been measured beside flaml."""

    def row(rules, rival, split=0):
        cell = {"set": "ames", "split": split, "seconds": 60, "boosters": False}
        return cell | {"score": {"rules": rules, rival: 1.1}, "took": {rival: 60.0}, "gain": {rival: {"mean": 0.1}}}

    def told(rows):
        return [(one["split"], one["score"]["rules"], *one["gain"]) for one in rows]

    here = [row(1.0, "flaml"), row(1.0, "flaml", split=1)]
    assert told(automl.merged(here, row(1.0, "lightgbm"))) == [(1, 1.0, "flaml"), (0, 1.0, "flaml", "lightgbm")]
    both = automl.merged(here, row(0.9, "lightgbm"))
    assert told(both) == [(0, 1.0, "flaml"), (1, 1.0, "flaml"), (0, 0.9, "lightgbm")]
    assert told(automl.merged(both, row(0.8, "lightgbm"))) == [*told(both)[:2], (0, 0.8, "lightgbm")]
    assert told(automl.merged([], row(1.0, "flaml"))) == [(0, 1.0, "flaml")]


def test_a_rival_is_measured_against_a_score_whose_predictions_are_gone(monkeypatch, tmp_path):
    """A cell of 300 s was measured whole again, ours too, for one rival that was missing."""
    row = {"set": "digits", "split": 1, "seconds": 300.0, "boosters": False, "load": 2.0, "steps": 7}
    row |= {"score": {"rules": 0.5, "flaml": 1.0}, "took": {"rules": 270.0, "flaml": 301.0},
            "gain": {"flaml": {"mean": 0.5, "error": 0.1}}}  # fmt: skip
    (results := tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")

    def guess(python, system, table, folder, seconds):
        rows = len((folder / "test.csv").read_text().splitlines()) - 1
        return {"predicted": np.full((rows, 10), 0.1).tolist(), "took": 300.0}

    monkeypatch.setattr(automl, "_ask", guess)
    monkeypatch.setattr(automl, "search", lambda *_: pytest.fail("nothing is searched anew"))
    words = ["run", f"--rivals={tmp_path}", "--seconds=300", "--sets=digits", "--splits=1", "--only=lightgbm"]
    assert automl.main([*words, f"--results={results}"]) == 0
    (one,) = (json.loads(line) for line in results.read_text().splitlines())
    chance = math.log(10)
    assert one["score"] == {"rules": 0.5, "flaml": 1.0, "lightgbm": pytest.approx(chance)}
    assert one["gain"]["lightgbm"] == {"mean": pytest.approx((chance - 0.5) / chance)}
    assert interval([one["gain"]["lightgbm"]])[1:] == (-math.inf, math.inf), "one split says nothing by itself"


def test_bundled_sets_and_ten_others_are_there_and_none_twice():
    assert sum(table.bundled for table in TABLES.values()) == 7 and len(TABLES) >= 17
    assert len({table.source for table in TABLES.values()}) == len(TABLES)


def test_a_split_hides_the_targets_and_keeps_every_row(tmp_path):
    truth = automl.write_split(TABLES["digits"], 1, tmp_path)
    train, test = ((tmp_path / f"{name}.csv").read_text().splitlines() for name in ("train", "test"))
    assert "target" in train[0] and "target" not in test[0] and len(train) + len(test) - 2 == 1797
    assert len(truth) == len(test) - 1 and set(truth) == set(range(10))
