"""The repertoire: its scripts run, its moves change one thing, and any parent is taken."""

import ast
import contextlib
import copy
import dataclasses
import io
import itertools
import json
import os
import random
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from problems.competition.baselines import baselines
from problems.competition.rules import changes, drafts, features, foreign, recipe, repair, script, size
from problems.competition.rules.facts import Goal, read_facts
from problems.competition.rules.families import FAMILIES, suited
from problems.competition.rules.scales import ordered
from problems.competition.rules.writer import CompetitionWriter, own_recipe
from utils.data_preview import profile

ROWS = 90
pytestmark = pytest.mark.usefixtures("few_rounds")


def table(rows: int) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    size, built = draw.gamma(2, 40, rows), draw.integers(1950, 2010, rows)
    quality = draw.choice(["Poor", "Fair", "Typical", "Good", "Excellent"], rows)
    return pd.DataFrame(
        {
            "Id": range(rows), "Lot_Area": size, "Gr_Area": size * 2, "Pool_Area": draw.gamma(0.5, 10, rows),
            "Year_Built": built, "Year_Sold": 2011, "Year_Done": built + 5, "Qual": quality,
            "Town": draw.choice(["Ulm", "Bonn", None], rows), "Gap": np.where(draw.random(rows) < 0.2, np.nan, size),
            "When": pd.date_range("2020-01-01", periods=rows).astype(str), "price": size * 1000 + built,
            "label": draw.choice(["a", "b", "c"], rows), "bit": draw.integers(0, 2, rows),
            "note": [f"a fine flat with {i} rooms and {quality[i]} walls" for i in range(rows)],
        }
    )  # fmt: skip


TASKS = {
    "regression": ("price", "rmsle"),
    "labels": ("label", "accuracy"),
    "probability": ("bit", "auc"),
    "classes": ("label", "multi-class-log-loss"),
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """`stage(task, text)` → (folder with input/, extras)."""
    made = {}

    def build(task: str, text: bool = False):
        if (task, text) not in made:
            target, metric = TASKS[task]
            folder, frame = tmp_path_factory.mktemp(task), table(ROWS + 30)
            frame = frame.drop(columns=[t for t, _ in TASKS.values() if t != target] + ([] if text else ["note"]))
            (folder / "input").mkdir()
            (folder / "submission").mkdir()
            frame[:ROWS].to_csv(folder / "input" / "train.csv", index=False)
            frame[ROWS:].drop(columns=target).to_csv(folder / "input" / "test.csv", index=False)
            frame[ROWS:][["Id"]].assign(**{target: frame[target].iloc[0]}).to_csv(
                folder / "input" / "sample_submission.csv", index=False
            )
            columns = profile(pd.read_csv(folder / "input" / "train.csv"))
            wanted = ["a", "b", "c"] if task == "classes" else [target]
            data = {
                "id": "Id",
                "targets": wanted,
                "label": target if task == "classes" else None,
                "rows": {"train": ROWS},
                "columns": columns,
                "metric": metric,
                "task": None if task == "classes" else task,
            }
            made[task, text] = folder, json.loads(json.dumps({"data": data}))
        return made[task, text]

    return build


def hand_in(code: str, folder, target: str) -> pd.DataFrame:
    """Run a script; its submission, checked."""
    found = handed_in(code, folder)
    assert list(found["Id"]) == list(range(ROWS, ROWS + 30))
    wanted = [target] if target in found else ["a", "b", "c"]
    assert list(found.columns) == ["Id", *wanted] and found.notna().all().all()
    return found


def handed_in(code: str, folder) -> pd.DataFrame:
    """What a script hands in. It runs in this process: importing scikit-learn anew takes a second each."""
    (folder / "submission" / "submission.csv").unlink(missing_ok=True)
    here = os.getcwd()
    os.chdir(folder)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), threadpool_limits(1):
            exec(compile(code, "solution.py", "exec"), {"__name__": "__main__"})
    finally:
        os.chdir(here)
    return pd.read_csv(folder / "submission" / "submission.csv")


def code_of(text: str) -> str:
    (code,) = re.findall(r"```python\n(.*?)```", text, re.S)
    compile(code, "script", "exec")
    return code


def cheap(family, facts) -> recipe.Member:
    """The family with its fewest rounds."""
    member = family.default(facts)
    for name in ("max_iter", "n_estimators"):
        if name in family.grid:
            member = member.with_param(name, min(family.grid[name]))
    return member


# ------------------------------------------------------------ scripts run


@pytest.mark.long
@pytest.mark.parametrize(
    ("task", "text"), [*((task, False) for task in TASKS), ("probability", True), ("regression", True)]
)
def test_every_family_on_every_feature_writes_a_valid_submission(stage, task, text):
    folder, extras = stage(task, text)
    facts = read_facts(extras)
    families = suited(facts)
    assert len(families) >= 3
    steps = tuple(features.available(facts))
    targets = ("none", "log1p", "sqrt") if task == "regression" else ("none",)
    for i, family in enumerate(families):
        for encode in ("native", "ordinal", "target") if family.name == "hgb" else ("native",):
            made = recipe.Recipe(targets[i % len(targets)], steps, encode, (cheap(family, facts),))
            hand_in(script.render(made, facts), folder, TASKS[task][0])


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
def test_blends_bags_and_learned_weights_run(stage, task):
    folder, extras = stage(task)
    facts = read_facts(extras)
    members = tuple(
        cheap(FAMILIES[name], facts) for name in ("hgb", "extra", "ridge" if task == "regression" else "logistic")
    )
    learned = recipe.Recipe(members=members, weights="learned")
    for blend in (learned, recipe.Recipe(members=members, bags=2)):
        hand_in(script.render(blend, facts), folder, TASKS[task][0])
    if task == "regression":
        absolute = script.render(learned, dataclasses.replace(facts, metric="mae", dates=()))
        assert "least absolute errors" in absolute and "KFold(3, shuffle=True" in absolute
        hand_in(absolute, folder, TASKS[task][0])


@pytest.mark.parametrize("task", TASKS)
def test_baselines_run(stage, task):
    folder, extras = stage(task)
    found = baselines(extras)
    assert [b.name for b in found][::2] == ["dummy", "HistGradientBoosting"]
    for baseline in found:
        hand_in(baseline.code, folder, TASKS[task][0])
    assert "recipe" not in "".join(b.code for b in found)


def test_a_competition_that_is_no_table_hands_in_the_sample(stage):
    folder, _ = stage("regression")
    extras = {"data": {"id": "Id", "targets": ["price"], "columns": [], "files": ["images"]}}
    code = code_of(CompetitionWriter().write({"operator": "draft", "extras": extras}, random.Random(0)))
    assert hand_in(code, folder, "price")["price"].nunique() == 1


def test_scripts_are_plain_and_have_the_five_sections(stage):
    _, extras = stage("regression")
    code = code_of(CompetitionWriter().write({"operator": "draft", "extras": extras}, random.Random(0)))
    assert re.findall(r"# \[SECTION: (\w+)\]", code) == ["DATA", "FEATURES", "MODEL", "TRAIN", "PREDICT"]
    facts = read_facts(extras)
    assert "random_state=seed" in script.render(recipe.Recipe(members=(FAMILIES["gb"].default(facts),)), facts)


# ------------------------------------------------------------ moves


def context(extras, operator="improve", *codes, **more):
    parents = [
        {"code": code, "plan": "", "metric": 0.2, "failure": None, "message": "", "term_out": "", **more}
        for code in codes
    ]
    return {"operator": operator, "parents": parents, "extras": extras, "lower_is_better": True}


def test_equal_seed_equal_reply(stage):
    _, extras = stage("regression")
    writer = CompetitionWriter()
    replies = [writer.write(context(extras, "draft"), random.Random(seed)) for seed in (1, 1, 2)]
    assert replies[0] == replies[1] != replies[2]


@pytest.mark.parametrize(("batch", "places"), [(2, [(0, 0), (0, 1), (1, 0), (1, 1)]), (1, [(n, 0) for n in range(4)])])
def test_the_first_drafts_are_unlike_each_other(stage, batch, places):
    """Boosting, a linear model, boosting of another kind, a blend; whether a round holds two programs or one."""
    _, extras = stage("regression")
    extras = copy.deepcopy(extras)
    extras["data"]["limits"] = {"batch": batch}
    drafts = [
        CompetitionWriter().write({**context(extras, "draft"), "task": {"round": r, "slot": s}}, random.Random(0))
        for r, s in places
    ]
    facts = read_facts(extras)
    members = [own_recipe(code_of(text), facts).members for text in drafts]
    assert len(set(members)) == 4 and [len(one) for one in members[:3]] == [1, 1, 1] and len(members[3]) > 2
    assert [one[0].family for one in members[:3]] == ["hgb", "elastic", "hgb"]


@pytest.mark.parametrize("seed", range(40))
def test_an_improvement_changes_one_thing(stage, seed):
    _, extras = stage("regression")
    facts, rng = read_facts(extras), random.Random(seed)
    parent = changes.random_recipe(facts, rng)
    child, plan = changes.improve(parent, facts, rng)
    fields = [
        n
        for n in ("target", "features", "encode", "members", "weights", "bags")
        if getattr(parent, n) != getattr(child, n)
    ]
    assert plan.endswith(".")
    assert len(fields) == 1 or fields == ["members", "weights"]
    assert len(set(parent.features) ^ set(child.features)) == ("features" in fields)
    assert abs(len(parent.members) - len(child.members)) <= ("members" in fields)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_long_search_changes_every_value_of_every_grid(stage, family):
    """One grid holds words among its numbers ('auto'): long runs of small tables ended by a comparison of the two."""
    _, extras = stage("regression")
    facts, grid = read_facts(extras), FAMILIES[family].grid
    for place in range(max(map(len, grid.values()))):
        member = recipe.Member(
            family, tuple((name, values[place % len(values)]) for name, values in sorted(grid.items()))
        )
        parent = recipe.Recipe(members=(member,))
        for seed in range(150):
            child, plan = changes.improve(parent, facts, random.Random(seed), wide=True)
            assert plan.endswith(".") and child != parent


@pytest.mark.parametrize(
    ("plan", "made_by", "undone"),
    [
        ("Take ridge regression out of the blend.", "Blend in ridge regression with a share of 50%.", True),
        ("Take ridge regression out of the blend.", "Blend in the elastic net with a share of 50%.", False),
        ("Leave out: parts of dates.", "Add parts of dates.", True),
        ("Add parts of dates.", "Leave out: parts of dates.", True),
        ("Set alpha of ridge regression to 1.0 (was 3.0).", "Set alpha of ridge regression to 3.0 (was 1.0).", True),
        ("Set alpha of ridge regression to 8.0 (was 3.0).", "Set alpha of ridge regression to 3.0 (was 1.0).", False),
        ("Average 2 seeds.", "", False),
    ],
)
def test_an_improvement_that_undoes_its_parents_is_recognised(plan, made_by, undone):
    assert changes.undoes(plan, made_by) is undone


def test_after_many_steps_a_writer_still_has_something_new_to_say(stage):
    """Points of the grid alone are soon all known."""
    _, extras = stage("probability", True)
    facts = read_facts(extras)
    start = script.render(drafts.draft(facts, random.Random(0), 0)[0], facts)

    def distinct(round_: int) -> int:
        asked = {**context(extras, "improve", start), "task": {"round": round_, "slot": 0}}
        return len({code_of(CompetitionWriter().write(asked, random.Random(n))) for n in range(120)})

    assert distinct(500) > 1.25 * distinct(0) > 60


def large(extras, rows=1_000_000, **limits):
    """The same data with more rows, in a search of given limits."""
    made = copy.deepcopy(extras)
    made["data"]["rows"]["train"] = rows
    made["data"]["limits"] = {"budget": 60.0, "timeout": 300.0, "workers": 2, "steps": None, **limits}
    return read_facts(made)


def test_large_tables_are_sampled_first_and_learned_whole_later(stage):
    """A whole fit of a million rows eats the budget; on a sample several families are affordable."""
    _, extras = stage("regression")
    facts, rng = large(extras, budget=30.0), random.Random(1)
    first = [drafts.draft(facts, rng, n)[0] for n in range(3)]
    assert len({draft.members[0] for draft in first}) == 3
    assert all(drafts.SAMPLE_ROWS <= draft.rows < facts.rows for draft in first)
    assert all(f".sample(frac={draft.rows / facts.rows:.4g}" in script.render(draft, facts) for draft in first)
    assert all(drafts.cost(draft, facts) <= facts.pace for draft in first)
    grown, seen = first[0], set()
    for ordinal in range(60):  # later programs have more time
        grown, _ = changes.improve(grown, facts.at(ordinal), rng)
        seen.add(grown.rows)
    assert 0 in seen and recipe.find(script.render(grown, facts)) == grown


@pytest.mark.parametrize("rows", [0, 450_000])
@pytest.mark.parametrize("text", [False, True])
def test_what_is_written_for_a_large_table_reads_only_what_it_needs_and_runs(stage, rows, text):
    folder, extras = stage("regression", text)
    facts, rng = large(extras, rows=500_000), random.Random(3)
    for number in range(3):
        made = dataclasses.replace(drafts.draft(facts, rng, number)[0], rows=rows)
        code = script.render(made, facts)
        assert "usecols" in code and "float32" in code and ("chunksize" in code) == bool(rows)
        hand_in(code, folder, "price")


SEVERAL = {
    "two numbers": ({"price": "regression", "Lot_Area": "regression"}, "regression"),
    "five of all kinds": (
        {"price": "regression", "label": "labels", "bit": "labels", "Year_Done": "regression", "Town": "labels"},
        None,
    ),
    "probabilities": ({"bit": "probability", "sold": "probability"}, "probability"),
}  # fmt: skip


@pytest.mark.parametrize("case", SEVERAL)
def test_each_of_several_targets_gets_a_model_of_its_own(tmp_path, case):
    goals, task = SEVERAL[case]
    frame = table(ROWS + 30).assign(sold=[i % 3 == 0 for i in range(ROWS + 30)]).drop(columns="note")
    frame["Town"] = frame["Town"].fillna("Ulm")
    for name in ("input", "submission"):
        (tmp_path / name).mkdir()
    train, test = frame[:ROWS], frame[ROWS:].drop(columns=list(goals))
    train.to_csv(tmp_path / "input" / "train.csv", index=False)
    test.to_csv(tmp_path / "input" / "test.csv", index=False)
    columns = [c for c in profile(train) if c["name"] in test or c["name"] in goals]
    data = {"id": "Id", "targets": list(goals), "rows": {"train": ROWS}, "columns": columns, "metric": "", "task": task}
    extras = json.loads(json.dumps({"data": data}))
    facts, rng = read_facts(extras), random.Random(2)
    assert facts.is_table and [goal.task for goal in facts.goals] == list(goals.values())
    codes = [line.code for line in baselines(extras)]
    single, panel = drafts.draft(facts, rng, 0)[0], drafts.draft(facts, rng, drafts.PANEL)[0]
    panel = dataclasses.replace(panel, members=panel.members[:2])
    for made in (single, changes.improve(single, facts, rng)[0], panel):
        codes.append(script.render(made, facts))
        assert own_recipe(codes[-1], facts) == made
    answers = [handed_in(code, tmp_path) for code in codes]
    for found in answers:
        assert list(found) == ["Id", *goals] and found.notna().all().all() and list(found["Id"]) == list(test["Id"])
        for name, kind in goals.items():
            assert set(found[name]) <= set(frame[name]) if kind == "labels" else found[name].dtype.kind == "f"
            assert kind != "probability" or found[name].between(0, 1).all()
    assert len({tuple(answers[1][name]) for name in goals}) == len(goals)
    joined = foreign.blend(codes[1], facts, rng)[1]
    assert list(handed_in(joined, tmp_path)) == ["Id", *goals]


def test_no_program_learns_more_rows_than_its_memory_holds(stage):
    """A wide table of ten million rows: what grows, blends and merges stays below; the plan says so."""
    _, extras = stage("regression")
    facts, rng = large(extras, rows=10_000_000, budget=36000.0, memory_mb=2048), random.Random(1)
    made, plans = drafts.draft(facts, rng, 0)[0], []
    for number in range(150):
        made, plan = changes.improve(made, facts.at(number), rng)
        plans.append(plan)
        assert (made.rows or facts.rows) <= size.most_rows(made, facts) < facts.rows, plan
    assert any("for which memory has room" in plan for plan in plans)
    for baseline in baselines(extras | {"data": extras["data"] | {"rows": {"train": 10_000_000}}})[1:]:
        assert " rows" in baseline.name and ".sample(frac=" in baseline.code


def test_a_table_of_many_columns_is_as_large_as_one_of_many_rows(stage):
    """Of 140,000 rows and 298 columns every program ran out of memory: all was read, in full width."""
    _, extras = stage("regression")
    few = large(extras, rows=140_000)
    numbers = tuple(f"f{i}" for i in range(290))
    wide = dataclasses.replace(few, numbers=numbers, narrow=frozenset(numbers))
    assert size.is_large(wide) and not size.is_large(few)
    draft = dataclasses.replace(drafts.draft(wide, random.Random(0), 0)[0], rows=70_000)
    read = "\n".join(size.read(draft, wide))
    assert "NARROW = dict.fromkeys(['f0', 'f1'" in read and f"chunksize={10_000_000 // wide.width}," in read
    asked = dataclasses.replace(wide, asked=80_000)
    assert 0.5 * size.most_rows(draft, wide) < size.most_rows(draft, asked) < size.most_rows(draft, wide)


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [({"budget": 36.0, "workers": 1}, 1.5), ({"budget": 60.0}, 45 / 24), ({"budget": 6000.0}, 45 / 24),
     ({"budget": 60.0, "steps": 8}, 15.0), ({"budget": 60.0, "steps": 500}, 45 / 24),
     ({"budget": 1e6, "steps": 8}, 100.0), ({"budget": None, "timeout": 75.0}, 1.0)],
)  # fmt: skip
def test_a_programs_time_follows_the_limits_of_the_search(stage, limits, seconds):
    assert large(stage("regression")[1], rows=20, **limits).pace == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize(("budget", "steps"), [(45.0, None), (300.0, None), (3600.0, None), (300.0, 40), (3600.0, 100)])
def test_a_longer_search_writes_more_and_longer_programs(stage, budget, steps):
    """With longer ones alone, 300 seconds came to as many programs as 60, and found less."""
    facts = large(stage("regression")[1], rows=20, budget=budget, steps=steps, workers=1, timeout=3600.0)
    paces = [facts.at(ordinal).pace for ordinal in range(steps or 1000)]
    written = next((n for n in range(len(paces)) if sum(paces[:n]) >= budget), len(paces))
    assert sorted(paces) == paces, "later ones may take longer"
    assert sum(paces[:written]) == pytest.approx(budget, rel=0.1), "all of the time is used"
    expected = steps or {45.0: 24, 300.0: 85, 3600.0: 302}[budget]
    assert written == pytest.approx(expected, rel=0.03)
    assert facts.at(None) == facts


@pytest.mark.parametrize(
    ("rows", "columns", "leaves", "rounds", "seconds"),
    [(2_000, 10, 15, 40, 0.07), (2_000, 1_000, 15, 40, 1.97), (20_000, 100, 63, 40, 1.28), (100_000, 8, 15, 40, 0.41),
     (100_000, 60, 15, 40, 2.39), (100_000, 300, 15, 40, 11.3), (100_000, 300, 15, 10, 6.99),
     (30_000, 1_000, 15, 40, 12.2)],
)  # fmt: skip
def test_boosting_is_reckoned_as_it_was_measured(stage, rows, columns, leaves, rounds, seconds):
    """On one thread. Trees were reckoned by rows and leaves alone: 0.5 s for the 11.3 of a wide table."""
    facts = dataclasses.replace(read_facts(stage("regression")[1]), rows=rows, asked=0, categories=(), dates=())
    facts = dataclasses.replace(facts, numbers=tuple(f"x{place}" for place in range(columns)))
    member = recipe.Member("hgb", (("max_iter", rounds), ("max_leaf_nodes", leaves)))
    assert FAMILIES["hgb"].seconds(facts, member) == pytest.approx(seconds, rel=0.35)


@pytest.mark.parametrize("task", ["regression", "probability", "labels"])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(140_000, 290), (70_000, 60), (35_000, 1_000), (3_000, 3_000)])
def test_first_programs_of_a_wide_table_keep_their_time(stage, task, text, rows, columns):
    """Of 200,000 rows and 298 columns none ended in 90 s: effects of groups took 47 s, the model behind them 22."""
    extras = copy.deepcopy(stage(task, text)[1])
    number = next(one for one in extras["data"]["columns"] if one["kind"] == "number")
    more = [{**number, "name": f"x{place}", "unique": 90, "whole": True} for place in range(columns)]
    extras["data"]["columns"] += more
    facts = large(extras, rows=rows, budget=90.0, workers=1)
    made = [drafts.draft(facts, random.Random(place), place)[0] for place in range(8)]
    most = [(drafts.PANEL_TIME if place == drafts.PANEL else 1) * facts.pace for place in range(8)]
    spent = [drafts.cost(one, facts) / seconds for one, seconds in zip(made, most, strict=True)]
    assert max(spent) <= 1.6, "of the largest trees a little more"
    assert all(len(one.members) > 1 for one in made if one.weights == "learned")


@pytest.mark.parametrize("task", ["regression", "probability", "labels", "classes"])
def test_of_a_wide_table_the_numbers_that_tell_most_are_learned_first_and_all_later(stage, task, monkeypatch):
    folder, extras = stage(task)
    monkeypatch.setattr(drafts, "SAMPLE_COLUMNS", 2)
    facts = dataclasses.replace(read_facts(extras), pace=0.001, longest=0.001)
    made = dataclasses.replace(drafts.draft(facts, random.Random(0), 0)[0], features=())
    assert 2 <= made.columns < len(facts.numbers)
    code = script.render(made, facts)
    assert f"# the {made.columns} numbers that tell most by themselves" in code
    assert recipe.find(code) == made and own_recipe(code, facts) == made
    hand_in(code + f"assert len(numbers) == {made.columns}\n", folder, facts.target)
    calm, seen = dataclasses.replace(facts, pace=100.0, longest=100.0), set()
    for number in range(40):
        made = changes.improve(made, calm, random.Random(number))[0]
        seen.add(made.columns)
    assert 0 in seen, "in the end all of them"


def test_a_program_of_a_wide_table_that_fails_by_its_size_learns_from_fewer_numbers(stage, monkeypatch):
    monkeypatch.setattr(drafts, "SAMPLE_COLUMNS", 2)
    facts = read_facts(stage("regression")[1])
    parent = {"failure": "timeout", "code": script.render(recipe.Recipe(members=(recipe.Member("hgb"),)), facts)}
    known = recipe.find(parent["code"])
    code = repair.repair(parent, known, facts, random.Random(0))[1]
    assert 2 <= recipe.find(code).columns < len(facts.numbers)


def test_baselines_leave_a_search_most_of_its_time(stage):
    """Each took up to 40 s of a search of a minute."""
    extras = copy.deepcopy(stage("probability")[1])
    number = next(one for one in extras["data"]["columns"] if one["kind"] == "number")
    extras["data"]["columns"] += [{**number, "name": f"x{place}"} for place in range(300)]
    extras["data"]["rows"]["train"] = 100_000
    extras["data"]["limits"] = {"budget": 60.0, "timeout": 300.0, "workers": 1, "steps": None}
    facts = read_facts(extras)
    assert facts.longest < 30
    said = [re.search(r" on ([\d,]+) rows", baseline.name) for baseline in baselines(extras)[1:]]
    assert all(said), "a part of the rows"
    member = recipe.Member("hgb", (("max_iter", 100), ("max_leaf_nodes", 31)))
    rows = int(said[-1][1].replace(",", ""))
    assert FAMILIES["hgb"].seconds(dataclasses.replace(facts, rows=rows), member) < 12.5


def test_small_and_large_tables_begin_with_boosting_of_their_own_kind(stage):
    """Many small steps for numbers, shy trees for classes, larger trees for more rows; a program keeps its time."""
    kinds = {}
    for task in ("regression", "probability"):
        for rows in (1_000, 30_000):
            facts = large(stage(task)[1], rows=rows, budget=600.0)
            made = [drafts.draft(facts, random.Random(0), place)[0] for place in (0, 2)]
            kinds[task, rows] = [one.members[0].param("max_leaf_nodes") for one in made]
            assert all(drafts.cost(one, facts) <= facts.pace for one in made)
    assert kinds == {
        ("regression", 1_000): [15, 6], ("regression", 30_000): [31, 63],
        ("probability", 1_000): [6, 15], ("probability", 30_000): [15, 31],
    }  # fmt: skip


def test_without_time_for_many_rounds_the_draft_beside_the_first_has_larger_trees(stage):
    """Of 24,000 rows and 200 columns both had few small trees: an AUC of 0.88 where a plain booster had 0.90."""
    facts = large(stage("probability")[1], rows=16_800, budget=40.0, workers=1)
    facts = dataclasses.replace(facts, numbers=tuple(f"x{place}" for place in range(200)))
    hurried = [FAMILIES["hgb"].default(facts, place) for place in (0, 1)]
    calm = [FAMILIES["hgb"].default(dataclasses.replace(facts, pace=1000.0), place) for place in (0, 1)]
    assert [member.param("max_leaf_nodes") for member in calm] == [6, 15]
    assert [member.param("max_leaf_nodes") for member in hurried] == [6, 31]
    assert all(FAMILIES["hgb"].seconds(facts, member) <= 1.5 * facts.pace for member in hurried)


def test_a_longer_search_writes_larger_programs(stage):
    """A fixed cap on seconds made a search of five minutes write what one of a minute writes."""
    _, extras = stage("regression")

    def widest(budget: float) -> float:
        facts, rng, widest = large(extras, rows=5000, budget=budget), random.Random(0), 0.0
        made = drafts.draft(facts, rng, 0)[0]
        spent, ordinal = facts.pace, 1
        while spent < 2 * budget:
            made = changes.improve(made, facts.at(ordinal), rng)[0]
            spent, ordinal = spent + facts.at(ordinal).pace, ordinal + 1
            widest = max(widest, drafts.cost(made, facts))
        return widest

    assert widest(600.0) > 2.5 * widest(60.0)


def test_one_of_the_first_drafts_weighs_several_families(stage):
    facts = read_facts(stage("regression")[1])
    made, plan = drafts.draft(facts, random.Random(0), drafts.PANEL)
    assert len(made.members) > 2 and made.weights == "learned" and plan.startswith("Weigh ")
    assert drafts.cost(made, facts) <= drafts.PANEL_TIME * facts.pace


def test_libraries_of_boosted_trees_are_written_only_where_programs_have_them(stage):
    extras = copy.deepcopy(stage("labels")[1])
    assert not {"lgbm", "xgb", "cat"} & {family.name for family in suited(read_facts(extras))}
    extras["data"]["packages"] = ["lightgbm"]
    facts = read_facts(extras)
    code = script.render(drafts.draft(facts, random.Random(0), 0)[0], facts)
    assert "num_threads=1" in code  # more of them hang in a process that was forked
    assert "from lightgbm import LGBMClassifier" in code and "xgb" not in {family.name for family in suited(facts)}


def test_rare_classes_are_handed_in_where_the_metric_counts_them(stage):
    folder, extras = stage("labels")
    extras = copy.deepcopy(extras)
    extras["data"]["metric"] = "balanced_accuracy"
    facts = read_facts(extras)
    made = drafts.draft(facts, random.Random(0), 0)[0]
    assert made.rare == 1.0 and recipe.load(made.dump()) == made
    hand_in(script.render(dataclasses.replace(made, members=(cheap(FAMILIES["hgb"], facts),)), facts), folder, "label")


@pytest.mark.parametrize(("task", "weights", "power"), [
    ("classes", "learned", 1.0), ("classes", "given", 2.0), ("probability", "learned", 1.4),
    ("probability", "given", 0.7),
])  # fmt: skip
def test_probabilities_are_as_sure_as_the_metric_wants_them(stage, task, weights, power):
    """A mean of models is less sure than each: log loss of digits fell to a third."""
    folder, extras = stage(task)
    extras = copy.deepcopy(extras)
    extras["data"]["metric"] = "logloss"
    facts = read_facts(extras)
    members = tuple(cheap(FAMILIES[name], facts) for name in ("hgb", "logistic"))
    made = recipe.Recipe(members=members, weights=weights, power=power)
    assert recipe.load(made.dump()) == made
    found = hand_in(script.render(made, facts), folder, "bit" if task == "probability" else "label")
    assert found.iloc[:, 1:].min().min() >= 0 and found.iloc[:, 1:].max().max() <= 1
    if task == "classes":
        assert np.allclose(found[["a", "b", "c"]].sum(axis=1), 1)


def test_only_metrics_of_sureness_ask_for_it(stage):
    plain = read_facts(stage("probability")[1])
    assert "power" not in script.render(
        recipe.Recipe(members=(FAMILIES["hgb"].default(plain),), weights="learned"), plain
    )
    drawn = (changes.improve(drafts.draft(plain, random.Random(0), 0)[0], plain, random.Random(n)) for n in range(60))
    assert not any(made.power != 1 for made, _ in drawn)
    extras = copy.deepcopy(stage("probability")[1])
    extras["data"]["metric"] = "brier"
    sure = read_facts(extras)
    drawn = (changes.improve(drafts.draft(sure, random.Random(0), 0)[0], sure, random.Random(n)) for n in range(60))
    assert any(made.power != 1 for made, _ in drawn)


def test_categories_of_many_values_become_mean_targets_and_topics(tmp_path):
    """Names of products: too many for one-hot columns, and alike in their words."""
    draw = np.random.default_rng(0)
    names = [
        f"{make} {model} {size}" for make in ("Volvo", "Fiat", "Opel") for model in "ABCDEFGHIJ" for size in (1, 2, 3)
    ]
    frame = pd.DataFrame({"Id": range(700), "car": draw.choice(names, 700), "age": draw.integers(0, 20, 700)})
    worth = {name: n for n, name in enumerate(names)}
    frame["price"] = 100 * frame["car"].map(worth) - frame["age"] + draw.normal(0, 1, 700)
    for part in ("input", "submission"):
        (tmp_path / part).mkdir()
    frame[:670].to_csv(tmp_path / "input" / "train.csv", index=False)
    test = frame[670:].assign(Id=range(ROWS, ROWS + 30))
    test.drop(columns="price").to_csv(tmp_path / "input" / "test.csv", index=False)
    data = {"id": "Id", "targets": ["price"], "rows": {"train": 670}, "metric": "rmse", "task": "regression",
            "columns": profile(pd.read_csv(tmp_path / "input" / "train.csv"))}  # fmt: skip
    facts = read_facts({"data": data})
    assert facts.many == facts.wordy == ("car",)
    made = recipe.Recipe(features=("averages", "topics"), encode="ordinal", members=(cheap(FAMILIES["gb"], facts),))
    found = hand_in(script.render(made, facts), tmp_path, "price")
    assert np.corrcoef(found["price"], test["price"])[0, 1] > 0.98


def test_numbers_of_a_wide_table_that_are_alike_in_nearly_every_row_are_left_out(tmp_path):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"Id": range(300), "size": draw.normal(size=300), "tall": draw.normal(size=300)})
    seldom = {f"seen_{n}": np.where(np.arange(300) % 100 == n % 100, n + 1, 0) for n in range(120)}
    frame = pd.concat([frame, pd.DataFrame(seldom), (3 * frame["size"] + frame["tall"]).rename("price")], axis=1)
    for name in ("input", "submission"):
        (tmp_path / name).mkdir()
    frame[:270].to_csv(tmp_path / "input" / "train.csv", index=False)
    frame[270:].drop(columns="price").to_csv(tmp_path / "input" / "test.csv", index=False)
    data = {"id": "Id", "targets": ["price"], "label": None, "rows": {"train": 270}, "metric": "rmse"}
    facts = read_facts({"data": {**data, "task": "regression", "columns": profile(frame[:270])}})
    assert len(facts.numbers) == 122 and facts.width == 2, "time is planned for what is learned from"
    narrow = read_facts({"data": {**data, "task": "regression", "columns": profile(frame[:270].iloc[:, -61:])}})
    assert narrow.alike == 0, "where columns are few each may tell something"
    for name in ("ridge", "hgb"):
        member = FAMILIES[name].default(facts)
        code = script.render(recipe.Recipe(members=(member,), features=features.available(facts)), facts)
        found = handed_in(code, tmp_path)["price"]
        assert np.corrcoef(found, frame["price"][270:])[0, 1] > 0.8


def test_texts_beside_columns_reach_every_family(stage):
    """Tables with one column of texts had three families, and trees that saw nothing but its words."""
    folder, extras = stage("regression", True)
    facts = read_facts(extras)
    assert {"words_ridge", "hgb", "gb", "ridge"} <= {family.name for family in suited(facts)}
    for name in ("hgb", "ridge", "words_ridge"):
        made = recipe.Recipe("log1p", tuple(features.available(facts)), members=(cheap(FAMILIES[name], facts),))
        hand_in(script.render(made, facts), folder, "price")


def test_a_small_table_is_never_sampled(stage):
    facts, rng = read_facts(stage("regression")[1]), random.Random(1)
    made = drafts.draft(facts, rng, 0)[0]
    for _ in range(60):
        made, _ = changes.improve(made, facts, rng)
        assert made.rows == 0 and '"rows":' not in script.render(made, facts)


def test_what_is_written_late_runs(stage):
    folder, extras = stage("regression")
    facts, rng = read_facts(extras), random.Random(5)
    late = drafts.draft(facts, rng, 0)[0]
    for _ in range(12):
        late = changes.improve(late, facts, rng, wide=True)[0]
    hand_in(script.render(late, facts), folder, TASKS["regression"][0])


def test_no_improvement_goes_back(stage):
    _, extras = stage("regression")
    facts = read_facts(extras)
    for seed in range(150):
        rng = random.Random(seed)
        parent = changes.random_recipe(facts, rng)
        child, plan = changes.improve(parent, facts, rng)
        again, _ = changes.improve(child, facts, rng, plan)
        assert again != parent or plan.startswith(("Average", "Weigh", "Learn", "Show", "Multiply"))


def test_texts_of_many_classes_are_learned_by_a_model_that_has_time_for_them(stage):
    """Of 8,000 texts of 40 kinds the first program took a whole minute: its cost was that of two kinds."""
    folder, extras = stage("probability", True)
    two = read_facts(extras)
    many = dataclasses.replace(two, rows=8000, pace=2.0, goals=(Goal("labels", outputs=40),))
    assert FAMILIES["words"].seconds(many) == pytest.approx(12.5, rel=0.5)  # measured, on one thread
    for facts, fits, not_so in ((two, "words", "words_sgd"), (many, "words_sgd", "words")):
        able = {family.name for family in suited(facts)}
        assert fits in able and not_so not in able
    (first,) = drafts.draft(many, random.Random(0), 0)[0].members
    assert first.family == "words_sgd" and FAMILIES["words_sgd"].seconds(many, first) < many.pace
    made = recipe.Recipe(members=(FAMILIES["words_sgd"].default(two),))
    hand_in(script.render(made, two), folder, "bit")


def test_models_of_words_alone_are_not_given_columns(stage):
    facts = read_facts(stage("probability", True)[1])
    parent = recipe.Recipe(members=(FAMILIES["bayes_words"].default(facts),))
    children = [changes.improve(parent, facts, random.Random(seed))[0] for seed in range(60)]
    assert all(child.features == () for child in children)


@pytest.mark.parametrize("task", ["probability", "classes", "labels"])
def test_the_shares_of_probabilities_are_no_more_than_1_together(stage, task):
    """0.1667 three times and 0.5 are 1.0001: where all models are sure of a class, graders refuse what they hand in."""
    _, extras = stage(task)
    facts = read_facts(extras)
    families = [FAMILIES[name].default(facts) for name in ("extra", "forest", "knn", "hgb")]
    members = tuple(dataclasses.replace(one, weight=w) for one, w in zip(families, (1.0, 1.0, 1.0, 3.0), strict=True))
    code = script.render(recipe.Recipe(members=members), facts)
    shares = [float(share) for share in re.findall(r"^        \(([\d.]+), ", code, re.MULTILINE)]
    assert shares == [0.1667, 0.1667, 0.1667, 0.5 if task == "labels" else 0.4999]
    assert recipe.find(code) is not None and own_recipe(code, facts) is not None


def test_a_merge_has_models_of_both_parents(stage):
    _, extras = stage("regression")
    facts = read_facts(extras)
    codes = [
        script.render(recipe.Recipe("log1p", (), "native", (FAMILIES[n].default(facts),)), facts)
        for n in ("hgb", "svm")
    ]
    child = own_recipe(code_of(CompetitionWriter().write(context(extras, "merge", *codes), random.Random(0))), facts)
    assert {member.family for member in child.members} == {"hgb", "svm"}


def test_changes_stay_affordable(stage):
    _, extras = stage("regression")
    big = json.loads(json.dumps(extras))
    big["data"]["rows"]["train"] = 40_000
    facts, rng = read_facts(big), random.Random(0)
    assert "svm" not in {family.name for family in suited(facts)}
    assert all(family.seconds(facts, family.default(facts)) <= facts.pace for family in suited(facts))
    facts = read_facts(extras)
    grown = drafts.draft(facts, rng, 0)[0]
    for _ in range(60):
        grown, _ = changes.improve(grown, facts, rng)
    assert drafts.cost(grown, facts) <= facts.pace


def test_a_recipe_survives_its_line_and_a_changed_script_has_none(stage):
    _, extras = stage("regression")
    facts = read_facts(extras)
    made = changes.random_recipe(facts, random.Random(5))
    code = script.render(made, facts)
    assert own_recipe(code, facts) == made
    assert own_recipe(code.replace("clip(prediction", "clip(1.01 * prediction"), facts) is None
    assert own_recipe("# recipe: [1, 2]\nprint(1)", facts) is None
    assert own_recipe('# recipe: {"members": [{"family": "__import__", "params": [], "weight": 1}]}', facts) is None


def test_the_control_knows_no_parents(stage):
    _, extras = stage("regression")
    writer = CompetitionWriter(random_draws=True)
    assert writer.write(context(extras, "improve", "x = 1"), random.Random(1)) == writer.write(
        context(extras, "draft"), random.Random(1)
    )


# ------------------------------------------------------------ parents of any origin

FOREIGN = """import os
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
# Größe: ein Kommentar mit Umlauten
columns = ["Lot_Area", "Year_Built"]; model = GradientBoostingRegressor(n_estimators=30, learning_rate=0.1, max_depth=3)
model.fit(train[columns], train["price"])
os.makedirs("submission", exist_ok=True)
pd.DataFrame({"Id": test["Id"], "price": model.predict(test[columns])}).to_csv("submission/submission.csv", index=False)
"""


def test_a_foreign_script_is_tuned_or_blended_and_still_runs(stage):
    folder, extras = stage("regression")
    replies = {
        code_of(CompetitionWriter().write(context(extras, "improve", FOREIGN), random.Random(i))) for i in range(12)
    }
    assert FOREIGN.strip() not in {code.strip() for code in replies}
    blended = [code for code in replies if foreign.JOIN in code]
    tuned = [code for code in replies if foreign.JOIN not in code]
    assert blended and tuned
    for code in (*tuned[:2], blended[0]):
        hand_in(code, folder, "price")


def test_a_foreign_blend_is_the_mean_of_both(stage):
    folder, extras = stage("regression")
    facts = read_facts(extras)
    dummy = baselines(extras)[0].code
    first, second = hand_in(FOREIGN, folder, "price"), hand_in(dummy, folder, "price")
    code, _ = foreign.join({"code": FOREIGN}, {"code": dummy}, facts, random.Random(0))[::-1]
    assert np.allclose(hand_in(code, folder, "price")["price"], (first["price"] + second["price"]) / 2)


ODD_SCRIPTS = [
    "from __future__ import (\n    annotations,\n)\nx: Later = 1",
    "'''What it does.'''\nfrom __future__ import annotations; import os",
    "usage = '''\nfrom __future__ import annotations\n# recipe: {}\n'''\nassert usage.count('recipe') == 1",
    "sep = 'a\fb\u2028c'\nassert len(sep) == 5",
    "x = 1\r\ny = dict(cv=30)\r\n",
    "x = 1\ry = dict(cv=30)\r",
    "x = 1  # end \\",
]


def test_two_scripts_of_any_form_are_joined_to_one_that_holds_both(stage):
    facts = read_facts(stage("regression")[1])
    for pair in itertools.product(ODD_SCRIPTS, repeat=2):
        plan, code = foreign.join({"code": pair[0]}, {"code": pair[1]}, facts, random.Random(0))
        assert "both parents" in plan
        compile(code, "joined", "exec", dont_inherit=True)
        for one in pair:
            assert words(one) <= words(code)
        ast.parse(foreign.lighten(code))


def words(code: str) -> set[object]:
    """Its names and constants."""
    return {getattr(node, "id", getattr(node, "value", None)) for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Name | ast.Constant)}  # fmt: skip


@pytest.mark.parametrize("code", ["", "def f(:", "x = 1", "while True: pass", "\x00", "import os\nos._exit(3)"])
@pytest.mark.parametrize("operator", ["improve", "debug", "merge"])
def test_whatever_the_parent_is_the_reply_is_a_script(stage, operator, code):
    for task in TASKS:
        _, extras = stage(task)
        codes = (code, FOREIGN) if operator == "merge" else (code,)
        text = CompetitionWriter().write(context(extras, operator, *codes), random.Random(0))
        assert "```python" in text and text.count("```") == 2


# ------------------------------------------------------------ repairs


def repaired(extras, code, failure, message="", term_out=""):
    made = context(extras, "debug", code, failure=failure, message=message, term_out=term_out)
    return code_of(CompetitionWriter().write(made, random.Random(0)))


BROKEN = {
    "NaN": (
        FOREIGN.replace('"Lot_Area"', '"Gap"'), "runtime",
        "ValueError: Input X contains NaN.\nGradientBoostingRegressor does not accept missing values",
    ),
    "words": (
        FOREIGN.replace('"Lot_Area"', '"Qual"'), "runtime", "ValueError: could not convert string to float: 'Fair'",
    ),
    "import": ("import catboost\n" + FOREIGN, "runtime", "ModuleNotFoundError: No module named 'catboost'"),
    "path": (
        FOREIGN.replace('os.makedirs("submission", exist_ok=True)', "").replace("submission/sub", "sub"),
        "no_submission", "the program ended without writing submission/submission.csv",
    ),
    "rows": (
        FOREIGN.replace('test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")',
                        'test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")[:20]'),
        "bad_submission", "needs 30 rows, has 20",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_known_fault_is_mended_in_place(stage, what):
    folder, extras = stage("regression")
    code, failure, message = BROKEN[what]
    for head in ("", "from __future__ import annotations\n"):
        mended = repaired(extras, head + code, failure, message)
        assert "GradientBoostingRegressor(n_estimators=30" in mended  # the parent's own model
        hand_in(mended, folder, "price")


def test_too_slow_means_less_work(stage):
    _, extras = stage("regression")
    assert "n_estimators=10," in repaired(extras, FOREIGN, "timeout")
    facts = read_facts(extras)
    both = recipe.Recipe(members=(FAMILIES["gb"].default(facts), FAMILIES["ridge"].default(facts)))
    lighter = own_recipe(repaired(extras, script.render(both, facts), "timeout"), facts)
    assert [member.family for member in lighter.members] == ["ridge"]
    single = recipe.Recipe(members=(FAMILIES["gb"].default(facts),))
    lighter = own_recipe(repaired(extras, script.render(single, facts), "memory"), facts)
    assert lighter.members[0].param("n_estimators") < single.members[0].param("n_estimators")


def test_an_unknown_fault_starts_again(stage):
    folder, extras = stage("regression")
    fresh = repaired(extras, "raise SystemError('what?')", "runtime", "SystemError: what?")
    assert own_recipe(fresh, read_facts(extras)) is not None
    hand_in(fresh, folder, "price")


# ------------------------------------------------------------ facts


def test_scales_are_recognised_and_others_are_not():
    assert ordered(["Good", "Very_Poor", "Average", "Fair"]) == ["Very_Poor", "Fair", "Average", "Good"]
    assert ordered(["TA", "Gd", "Ex", "No_Garage"]) == ["No_Garage", "TA", "Gd", "Ex"]
    assert ordered(["Ulm", "Bonn", "Köln"]) is None
    assert ordered(["Good", "Poor"]) is None


def test_facts_find_years_groups_and_tails(stage):
    facts = read_facts(stage("regression")[1])
    assert facts.years == ("Year_Built", "Year_Done")
    assert facts.groups == {"Area": ("Lot_Area", "Gr_Area", "Pool_Area")}
    assert "Pool_Area" in facts.skewed and facts.dates == ("When",) and facts.missing == ("Gap",)
    assert facts.scales["Qual"] == ("Poor", "Fair", "Typical", "Good", "Excellent")


def test_facts_without_values_still_draft(stage):
    _, extras = stage("regression")
    columns = [
        {"name": column["name"], "kind": column["kind"], "missing": 0.0, "unique": 0}
        for column in extras["data"]["columns"]
    ]
    bare = {"data": {**extras["data"], "columns": columns}}
    folder, _ = stage("regression")
    hand_in(
        code_of(CompetitionWriter().write({"operator": "draft", "extras": bare}, random.Random(0))), folder, "price"
    )


@pytest.mark.parametrize("target", ["log1p", "sqrt"])
def test_a_refit_may_learn_targets_below_all_that_were_shown(stage, tmp_path, target):
    """Shown rows had none below 0, hidden ones did: the winner's refit ended with "Input y contains NaN"."""
    folder, extras = stage("regression")
    for name in ("input", "submission"):
        (tmp_path / name).mkdir()
    train = pd.read_csv(folder / "input" / "train.csv").astype({"price": float})
    train.loc[::9, "price"] = -5.0
    train.to_csv(tmp_path / "input" / "train.csv", index=False)
    (tmp_path / "input" / "test.csv").write_bytes((folder / "input" / "test.csv").read_bytes())
    facts = read_facts(extras)
    hand_in(script.render(recipe.Recipe(target, members=(cheap(FAMILIES["hgb"], facts),)), facts), tmp_path, "price")
