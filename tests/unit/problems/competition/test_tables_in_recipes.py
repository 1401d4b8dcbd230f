"""Further tables as a part of a recipe: the search takes and leaves them, and what is too large is left out."""

import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from problems.competition.rules import changes, drafts, recipe, repair, script, side_lines
from problems.competition.rules.facts import read_facts
from problems.competition.rules.recipe import Member, Recipe
from problems.competition.rules.writer import own_recipe

PAIR = {"mine": "shop", "side": "Shop", "way": "number", "mine_form": "", "side_form": ""}
SIDE = {"file": "shops.csv", "how": {"sep": ";"}, "by": [PAIR], "one": True, "rows": 40, "used": 40, "inner": [],
        "numbers": ["area"], "words": ["owner"], "dates": [["opened", "%d.%m.%Y"]]}  # fmt: skip
VISITS = {**SIDE, "file": "visits.csv", "one": False, "rows": 9000, "used": 9000, "inner": [SIDE]}


def facts(*sides, columns=("shop", "size"), **limits):
    known = [
        {"name": name, "kind": "number", "missing": 0, "unique": 99, "min": 0, "max": 9} for name in (*columns, "y")
    ]
    data = {"id": "id", "targets": ["y"], "label": None, "metric": "rmse", "columns": known, "side_tables": sides,
            "rows": {"train": 900, "test": 90}, "limits": {"budget": 60, **limits}}  # fmt: skip
    return read_facts({"data": data})


def test_the_first_draft_joins_all_and_the_search_takes_and_leaves_them():
    known, rng = facts(SIDE, VISITS), random.Random(0)
    first, plan = drafts.draft(known, rng, 0)
    assert first.tables == ("shops.csv", "visits.csv") and "what shops.csv tells of shop" in plan
    seen, plans = {first.tables}, set()
    for _ in range(200):
        made, plan = changes.improve(first, known, rng)
        seen.add(made.tables)
        plans.add(plan)
        assert own_recipe(script.render(made, known), known) == made
    assert {("shops.csv",), ("visits.csv",)} <= seen
    assert "Leave out: what all rows of visits.csv tell of shop." in plans


def test_children_of_two_recipes_join_what_the_first_does():
    known = facts(SIDE, VISITS)
    one, other = (Recipe(members=(Member("ridge"),), tables=tables) for tables in (("shops.csv",), ("visits.csv",)))
    found = {changes.merge(one, other, known, random.Random(seed))[0].tables for seed in range(20)}
    assert found == {("shops.csv",), ("shops.csv", "visits.csv")}


def test_what_is_too_large_for_time_or_memory_is_left_out():
    large = {**VISITS, "rows": 30_000_000, "used": 30_000_000}
    assert [side.file for side in facts(large, SIDE).sides] == ["shops.csv"]
    full = {**VISITS, "rows": 3_000_000, "used": 3_000_000}
    assert (
        facts(full, budget=7200, timeout=1000).sides and not facts(full, budget=7200, timeout=1000, memory_mb=500).sides
    )


def test_what_has_no_room_in_memory_is_summed_up_as_it_is_read():
    full = {**VISITS, "inner": [], "rows": 30_000_000, "used": 30_000_000, "names": 300_000}
    whole, pieces = (facts(full, budget=36000, timeout=3000, memory_mb=mb).sides[0] for mb in (64000, 2048))
    assert not whole.in_pieces and pieces.in_pieces and pieces.megabytes < 512 < whole.megabytes
    within = {**SIDE, "one": False, "file": "hours.csv", "rows": 20_000_000, "used": 20_000_000, "names": 9000}
    (outer,) = facts({**VISITS, "inner": [within]}, budget=36000, timeout=3000, memory_mb=1024).sides
    assert not outer.in_pieces and outer.inner[0].in_pieces


def test_a_program_that_took_too_long_reads_the_dearest_table_no_more():
    dear = {**VISITS, "rows": 600_000, "used": 600_000}
    known = facts(SIDE, dear)
    joins_all = Recipe(members=(Member("hgb"),), tables=("shops.csv", "visits.csv"))
    parent = {"failure": "timeout", "code": script.render(joins_all, known)}
    plan, code = repair.repair(parent, joins_all, known, random.Random(0))
    assert "leave out what all rows of visits.csv tell of shop" in plan and recipe.find(code).tables == ("shops.csv",)
    parent["failure"] = "runtime"
    plan, code = repair.repair(parent, replace(joins_all, features=("logs",)), known, random.Random(0))
    assert recipe.find(code).tables == ()


@pytest.mark.parametrize("tables", [("gone.csv",), ("../../etc/passwd",)])
def test_a_recipe_of_elsewhere_reads_no_file_that_the_facts_do_not_name(tables):
    made = Recipe(members=(Member("ridge"),), tables=tables)
    assert (
        "read_csv" in script.render(made, facts(SIDE))
        and tables[0] not in script.render(made, facts(SIDE)).partition("\n")[2]
    )


def test_where_nothing_else_is_there_some_table_is_always_joined():
    known, rng = facts({**SIDE, "by": [{**PAIR, "mine": "id"}]}, columns=()), random.Random(0)
    first, _ = drafts.draft(known, rng, 0)
    assert known.is_table and first.tables
    assert all(changes.improve(first, known, rng)[0].tables for _ in range(60))


def test_columns_of_further_tables_stay_where_all_that_is_known_lies_there_and_nothing_tells(capsys):
    """Of a table of ids and labels every program failed that was to learn from no column."""
    draw = np.random.default_rng(0)
    noise = pd.DataFrame({"a": draw.normal(size=90), "b": draw.normal(size=90)})
    for more, left in ((pd.DataFrame(), ["a", "b"]), (pd.DataFrame({"x": range(90)}), ["x"])):
        known = pd.concat([more, noise], axis=1)
        names = {"np": np, "pd": pd, "X": known, "X_test": known.copy(), "y": pd.Series(draw.normal(size=90))}
        names["further"] = ["a", "b"]
        exec("\n".join(side_lines.sifted(classifies=False)), names)
        assert list(names["X"]) == list(names["X_test"]) == left
