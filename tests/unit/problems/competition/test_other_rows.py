"""Answers of hidden rows in other rows: what is told, and what is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problems.competition.grader.leaks.leaks import order_tells
from problems.competition.grader.leaks.other_rows import told_elsewhere

COUNT = 1200


def walk(seed=0):
    return np.cumsum(np.random.default_rng(seed).normal(0, 1, COUNT)).round(3)


def before(values, rows=1):
    return np.r_[np.full(rows, np.nan), values[:-rows]]


def told(column, target, hidden):
    rows = pd.DataFrame({"column": column, "y": target})
    return [
        line.partition(": it tells ")[2].partition(" hidden")[0]
        for line in told_elsewhere(rows, ["column"], "y", hidden)
    ]


LATE = np.arange(COUNT) >= 900
DRAWN = np.random.default_rng(1).random(COUNT) < 0.25


@pytest.mark.parametrize("hidden", [LATE, DRAWN], ids=["newest", "drawn"])
@pytest.mark.parametrize(
    "kind", ["the row before", "a week before", "of two stores", "a running total", "a class", "counts", "rain"]
)
def test_a_column_that_holds_the_target_of_another_row_is_told(kind, hidden):
    random = np.random.default_rng(2)
    y = walk()
    column = before(y)
    if kind == "a week before":
        column = before(y, 7)
    elif kind == "of two stores":
        y[1::2] = walk(3)[1::2]
        column = before(y, 2)
    elif kind == "a running total":
        column = np.cumsum(y)
    elif kind == "a class":
        y = random.choice(["low", "mid", "high"], COUNT)
        column = np.r_[["low"], y[:-1]]
    elif kind == "counts":
        y = random.poisson(40, COUNT)
        column = before(y.astype(float))
    elif kind == "rain":
        y = np.where(random.random(COUNT) < 0.2, "Yes", "No")
        column = np.r_[["No"], y[:-1]]
    (line,) = told(column, y, hidden)
    found, of = map(int, line.split(" of "))
    assert of == hidden.sum() and of - 8 <= found <= of


def test_a_lag_that_is_longer_than_what_is_hidden_tells_nothing():
    y = walk()
    assert told(before(y, 300), y, LATE) == []
    assert told(before(y, 280), y, LATE) == [], "20 of 300"
    assert told(before(y, 200), y, LATE) == ["100 of 300"]


def test_a_target_that_is_mostly_one_class_is_told_by_what_knows_the_others():
    """All but 2 % agree with a column that misses a quarter of the few: most of it is "No" beside "No"."""
    y = np.where(np.arange(COUNT) % 20 == 7, "Yes", "No")
    knows = np.r_[["No"], y[:-1]]
    misses = np.where(np.arange(COUNT) % 80 == 8, "No", knows)
    assert (np.r_[["No"], y[:-1]] == misses).mean() > 0.98
    assert told(misses, y, LATE) == [] and told(knows, y, LATE) == ["299 of 300"]


def test_a_target_that_seldom_changes_is_told_by_its_own_row_as_well():
    y = np.where(np.arange(COUNT) // 240 % 2, "on", "off")
    seen = np.where(np.arange(COUNT) % 500 == 499, "on", y)
    assert (np.r_[y[1:], ["off"]] == seen).mean() > 0.99
    assert told(seen, y, LATE) == told(seen, y, DRAWN) == []


@pytest.mark.parametrize("seed", range(20))
def test_what_agrees_by_chance_is_not_told(seed):
    random = np.random.default_rng(seed)
    y = walk(seed)
    rare = (random.random(COUNT) < 0.002).astype(int)
    slow = np.repeat(random.integers(0, 2, COUNT // 60), 60)
    price = np.round(100 + y, 1)
    words, few = random.choice(list("abc"), COUNT), random.poisson(3, COUNT)
    coins = random.integers(0, 2, (2, COUNT))
    pairs = [
        (random.normal(0, 1, COUNT), y),
        (y + random.normal(0, 0.1, COUNT), y),
        (np.roll(price, 1) + 0.1, price),
        (rare, (random.random(COUNT) < 0.002).astype(int)),
        (coins[0], coins[1]),
        (np.where(random.random(COUNT) < 0.02, 1 - slow, slow), slow),
        (np.zeros(COUNT), y),
        (np.full(COUNT, np.nan), y),
        (np.full(COUNT, np.inf), y),
        (random.permutation(few), few),
        (np.arange(COUNT), y),
        (words, y),
        (words, random.permutation(words)),
        (np.arange(COUNT) * 1.0, np.full(COUNT, 30.0)),
    ]
    for hidden in (LATE, DRAWN):
        for column, target in pairs:
            assert told(column, target, hidden) == [], (column, target)


@pytest.mark.parametrize(
    ("classes", "told"),
    [(["b", "c", "a"], True), ([2, 3, 1], True), (["rare", *["usual"] * 19], False), ([1, 2, 3], True)],
)
def test_ids_tell_the_classes_that_stand_in_blocks_along_them(classes, told):
    alike = pd.Series(np.repeat(classes, 30))
    target = alike if told else alike.sample(frac=1, random_state=1)
    shown = np.random.default_rng(0).permutation(len(target))[: len(target) // 2]
    ids = pd.Series(shown)
    assert order_tells(ids, target.iloc[shown].reset_index(drop=True)) is told
