"""Tables whose rows belong to groups, such as persons over years: what a group adds is told to models."""

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import learned

from problems.competition.rules import changes, drafts, features, group_times, recipe, script
from problems.competition.rules.facts import read_facts
from problems.competition.rules.families import FAMILIES
from problems.competition.rules.recipe import Member
from problems.competition.rules.writer import CompetitionWriter
from utils.data_preview import profile

HIDDEN = 300


def panel(task: str) -> pd.DataFrame:
    """400 persons in four years each, whose numbers are drawn; what they earn depends on who they are."""
    draw = np.random.default_rng(0)
    person = draw.permutation(np.repeat(np.arange(400), 4))
    number, worth = draw.permutation(10**6)[:400], draw.normal(0, 2, 400)
    frame = pd.DataFrame({"person": number[person], "visits": draw.integers(0, 200, 1600)})
    frame["hours"] = draw.normal(size=1600)
    frame["town"] = pd.Series([f"t{k}" for k in draw.integers(0, 40, 1600)]).where(draw.random(1600) > 0.1)
    said = worth[person] + frame["hours"] + 0.01 * frame["visits"] + draw.normal(0, 0.3, 1600)
    return frame.assign(wage=said if task == "regression" else np.where(said > said.median(), "yes", "no"))


def facts_of(frame: pd.DataFrame, task: str, metric: str):
    data = {"id": "Id", "targets": ["wage"], "rows": {"train": len(frame)}, "metric": metric, "task": task}
    return read_facts({"data": {**data, "columns": profile(frame)}})


def told_by(code: str, folder: Path) -> str:
    """What a program prints."""
    done = learned(code, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("task", "metric"), [("regression", "rmse"), ("labels", "accuracy"), ("probability", "auc")])
def test_what_a_person_adds_is_told_and_a_quantity_is_none(task, metric, tmp_path):
    frame = panel(task)
    frame.insert(0, "Id", range(len(frame)))
    train, test = frame[:-HIDDEN], frame[-HIDDEN:]
    (tmp_path / "input").mkdir()
    train.to_csv(tmp_path / "input" / "train.csv", index=False)
    test.drop(columns="wage").to_csv(tmp_path / "input" / "test.csv", index=False)
    facts = facts_of(train, task, metric)
    assert facts.grouped == ("person", "visits", "town") and "effects" in features.available(facts)
    right, said = {}, ""
    for steps in ((), ("winsor", "effects")):
        made = recipe.Recipe(features=steps, members=(FAMILIES["hgb"].start(0),))
        code = script.render(made, facts) + 'print("columns:", *X)\n'
        said = told_by(code, tmp_path)
        found = pd.read_csv(tmp_path / "submission" / "submission.csv")["wage"]
        truth = test["wage"].to_numpy()
        if task == "regression":
            right[steps] = -float(np.mean((found - truth) ** 2))
        else:
            right[steps] = float(np.mean(found == truth if task == "labels" else (found > 0.5) == (truth == "yes")))
    before, after = right.values()
    assert (after > before + 0.08) if task != "regression" else (after > before / 3)
    assert "person_effect" in said and "visits_effect" not in said and "town_effect" not in said


def test_the_nearest_rows_of_a_day_are_told(tmp_path):
    """Days that differ in how a number counts, which neither the number nor the day tells alone."""
    draw = np.random.default_rng(0)
    day, hour, slope = np.repeat(np.arange(120), 12), draw.uniform(0, 24, 1440), draw.normal(size=120)
    when = (pd.Timestamp("2024-03-01") + pd.to_timedelta(day, "D")).strftime("%Y-%m-%d")
    frame = pd.DataFrame({"Id": range(1440), "when": when, "hour": hour, "wage": slope[day] * (hour - 12)})
    frame = frame.sample(frac=1, random_state=0)
    train, test = frame[:-HIDDEN], frame[-HIDDEN:]
    (tmp_path / "input").mkdir()
    train.to_csv(tmp_path / "input" / "train.csv", index=False)
    test.drop(columns="wage").to_csv(tmp_path / "input" / "test.csv", index=False)
    facts = facts_of(train, "regression", "rmse")
    assert facts.grouped == ("when",)
    plain = recipe.Recipe(features=("dates",), members=(Member("ridge", (("alpha", 1.0),)),))
    made, plan = changes.improve(plain, facts, random.Random(0), near=True)
    assert made.features == ("dates", "nearest") and plan == "Add the mean target of the nearest rows of a group."
    said = told_by(script.render(made, facts), tmp_path)
    assert "columns whose groups' nearest rows tell something: 1" in said, "days, and no seasons: they are the same"
    found = pd.read_csv(tmp_path / "submission" / "submission.csv")["wage"]
    assert np.corrcoef(found, test["wage"])[0, 1] > 0.8


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        ("columns whose groups tell something: 0\n", ()),
        (
            "columns whose groups tell something: 0\ncolumns whose groups tell something: 2\n",
            ("effects",),
        ),  # two targets
        ("", ("effects",)),
    ],
)
def test_a_step_that_told_nothing_is_left_out_of_what_follows(output, kept):
    frame = panel("regression")
    facts = facts_of(frame, "regression", "rmse")
    columns = {"data": {"id": "Id", "targets": ["wage"], "rows": {"train": len(frame)}, "metric": "rmse",
                        "task": "regression", "columns": profile(frame)}}  # fmt: skip
    parent = script.render(recipe.Recipe(features=("effects",), members=(FAMILIES["hgb"].start(0),)), facts)
    told = {"extras": columns, "operator": "improve", "task": {"round": 9, "slot": 0},
            "parents": [{"code": parent, "plan": "Train.", "term_out": output, "failure": None}]}  # fmt: skip
    found = [CompetitionWriter().write(told, random.Random(seed)) for seed in range(12)]
    steps = [recipe.find(text.partition("```python\n")[2]).features for text in found]
    early = CompetitionWriter().write(told | {"ordinal": 4}, random.Random(0))
    assert "nearest" in recipe.find(early.partition("```python\n")[2]).features, "tried once, whatever the means say"
    assert sum(("effects" in one) == bool(kept) for one in steps) >= 10  # but for a change of the step itself


def test_the_first_draft_learns_the_target_as_the_metric_counts_it():
    frame = panel("regression")
    frame["wage"] = np.exp(frame["wage"])
    for metric, target in (("rmse", "none"), ("mae", "none"), ("rmsle", "log1p")):
        facts = facts_of(frame, "regression", metric)
        assert {drafts.draft(facts, random.Random(seed), 0)[0].target for seed in range(8)} == {target}
    assert (
        len({drafts.draft(facts_of(frame, "regression", "rmse"), random.Random(n), 2)[0].target for n in range(8)}) > 1
    )


def test_groups_are_looked_for_where_their_rows_come_again(tmp_path):
    frame = panel("regression").assign(order=range(1600), half=np.arange(1600) / 2, year=np.arange(1600) % 4)
    assert facts_of(frame, "regression", "rmse").grouped == ("person", "visits", "town")
    letters = frame.assign(wage=np.arange(1600) % 3)
    assert facts_of(letters, "classes", "logloss").grouped == (), "what is left of three classes is no number"


def test_drafts_of_boosting_tell_whether_groups_matter():
    """One with them and one without, both within their time."""
    facts = facts_of(panel("regression"), "regression", "rmse")
    made = [drafts.draft(facts, random.Random(0), place)[0] for place in (0, drafts.BESIDE)]
    assert ["effects" in one.features for one in made] == [True, False]
    dear = drafts.cost(made[0], facts) - drafts.cost(recipe.Recipe(members=made[0].members), facts)
    assert dear > 0, "three fits of a first model are planned for"


@pytest.mark.parametrize(
    ("made_by", "leaves"),
    [
        ("Set max_leaf_nodes of histogram gradient boosting to 31 (was 15).", 63),
        ("Set max_leaf_nodes of histogram gradient boosting to 31 (was 63).", 15),
        ("Set max_leaf_nodes of LightGBM to 31 (was 15).", None),
        ("Set max_leaf_nodes of histogram gradient boosting to 31 (was 15000).", None),
        ("Average 2 seeds.", None),
    ],
)
def test_a_step_that_was_worth_it_is_followed_by_one_in_its_direction(made_by, leaves):
    made = recipe.Recipe(members=(FAMILIES["hgb"].start(2),))
    found = changes.onward(made, made_by)
    assert (found[0].members[0].param("max_leaf_nodes") if found else None) == leaves


def test_two_parents_make_a_child_of_their_own():
    """Models of one kind and features that the second alone has: half of such children were the first parent again."""
    facts = facts_of(panel("regression"), "regression", "rmse")
    first = recipe.Recipe(members=(FAMILIES["hgb"].start(1),))
    second = recipe.Recipe(members=(FAMILIES["hgb"].start(0),), features=("effects",))
    assert {changes.merge(first, second, facts, random.Random(n))[0].features for n in range(9)} == {("effects",)}


def storms(later: bool, tmp_path: Path) -> tuple[pd.DataFrame, str, float]:
    """90 storms of 20 hours, which rise and fall in a way that no other number tells: (rows to learn, what a program
    that looks along them prints, the correlation of what it hands in).

    Args:
        later: the rows to predict are the last hours of all storms.
    """
    draw = np.random.default_rng(0)
    hour = np.tile(np.arange(20), 90)
    wind = np.cumsum(draw.normal(0, 3, (90, 20)), axis=1).ravel() + 60
    frame = pd.DataFrame({"storm": [f"s{place}" for place in np.repeat(np.arange(90), 20)], "year": 2001})
    frame = frame.assign(month=8, day=1 + hour // 4, hour=6 * (hour % 4), pressure=draw.normal(size=1800), wage=wind)
    frame.insert(0, "Id", range(1800))
    frame = frame.sort_values(["day", "hour"], kind="stable") if later else frame.sample(frac=1, random_state=0)
    train, test = frame[:-HIDDEN], frame[-HIDDEN:]
    (tmp_path / "input").mkdir()
    train.to_csv(tmp_path / "input" / "train.csv", index=False)
    test.drop(columns="wage").to_csv(tmp_path / "input" / "test.csv", index=False)
    facts = facts_of(train, "regression", "rmse")
    assert "along" in features.available(facts)
    made = recipe.Recipe(features=("effects", "along"), members=(FAMILIES["hgb"].start(0),))
    said = told_by(script.render(made, facts) + 'print("columns:", *X)\n', tmp_path)
    found = pd.read_csv(tmp_path / "submission" / "submission.csv")["wage"]
    return train, said, float(np.corrcoef(found, test["wage"])[0, 1])


def test_the_hours_before_and_after_in_a_storm_are_told(tmp_path):
    train, said, right = storms(later=False, tmp_path=tmp_path)
    assert "columns whose groups run in time: 1" in said and "storm_before storm_after storm_since" in said
    assert right > 0.9, "by the storm's mean alone it is 0.8"
    facts = facts_of(train, "regression", "rmse")
    first, _ = drafts.draft(facts, random.Random(0), 0)
    other, _ = drafts.draft(facts, random.Random(0), drafts.BESIDE)
    assert "along" in first.features and "along" not in other.features


def test_hours_that_lie_behind_all_others_are_told_nothing_of_those_after(tmp_path):
    """The split does not let them be known: what is learned of rows between others would mislead."""
    _, said, _ = storms(later=True, tmp_path=tmp_path)
    assert "columns whose groups run in time: 0" in said and "storm_before" not in said


def test_a_table_without_times_has_no_rows_before_and_after():
    frame = panel("regression").rename(columns={"hours": "effort", "visits": "calls"})
    assert "along" not in features.available(facts_of(frame, "regression", "rmse"))
    assert "along" in features.available(facts_of(frame.rename(columns={"calls": "year"}), "regression", "rmse"))


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (("year", "month", "day", "hour"), ["year_month_day_hour"]),
        (("yr", "pressure", "country"), ["yr"]),
        (("week", "date_block_num", "seconds_in_bucket", "Yr_Sold", "Year_Built", "weight", "wage_per_day"),
         ["week", "date_block_num", "seconds_in_bucket", "wage_per_day"]),
    ],
)  # fmt: skip
def test_times_are_found_by_their_names(columns, told):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({name: draw.permutation(400) for name in columns}).assign(wage=draw.normal(size=400))
    assert [*group_times.stamps(facts_of(frame, "regression", "rmse"), {})] == told
