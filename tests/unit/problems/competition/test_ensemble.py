"""The ensemble: greedy selection finds what helps, and its program does what the selection promised."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.competition_stand import learned

from core.state.node import Node
from problems.competition.ensemble import program
from problems.competition.evaluator import CompetitionEvaluator
from problems.competition.grader.scoring.blend import Bounds, combine, powers_of, raised, scale_of, select


def test_errors_that_cancel_are_combined():
    truth = np.zeros(100)
    noise = np.random.default_rng(0).normal(size=100)
    columns = [noise, -noise, truth + 3]

    def rmse(column):
        return float(np.sqrt(np.mean((column - truth) ** 2)))

    found = select(columns, "mean", rmse, lower_is_better=True)
    assert found["picks"] == [0, 1] and found["score"] < 1e-9


def test_a_program_of_another_kind_is_found_behind_many_near_copies_of_the_best():
    """Of 87 programs the best twenty were of one kind: a blend of two gained a tenth of one with the 80th."""
    rng = np.random.default_rng(0)
    noise, other = rng.normal(size=(2, 400))
    copies = [noise + rng.normal(size=400) / 50 for _ in range(60)]
    calls = []

    def rmse(column):
        calls.append(1)
        return float(np.sqrt(np.mean(column**2)))

    found = select([*copies, 1.2 * other], "mean", rmse, lower_is_better=True)
    assert 60 in found["picks"] and found["score"] < 0.85
    assert len(calls) < 61 + 61 + 10 * 25, "later picks are tried of those that helped most"


def test_a_blend_stays_within_its_programs_and_their_seconds():
    truth = np.zeros(100)
    noise = np.random.default_rng(0).normal(size=(8, 100))

    def rmse(column):
        return float(np.sqrt(np.mean((column - truth) ** 2)))

    def blended(**bounds):
        return set(select(list(noise), "mean", rmse, True, [1.0, 2.0] * 4, Bounds(**bounds))["picks"])

    assert len(blended(most=8)) > 3 and len(blended(most=3)) == 3
    assert sum(1 + place % 2 for place in blended(most=8, seconds=4.0)) <= 4


def test_probabilities_of_several_classes_are_combined_row_by_row():
    one, other = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.4, 0.6]])
    assert np.allclose(combine([one, other], "mean"), [[0.7, 0.3], [0.3, 0.7]])


def test_nothing_is_added_to_a_perfect_program():
    truth = np.arange(50.0)
    found = select([truth, truth[::-1]], "mean", lambda c: float(np.mean(np.abs(c - truth))), lower_is_better=True)
    assert found == {"picks": [0], "power": 1.0, "score": 0.0}


@given(st.integers(0, 10_000), st.integers(2, 5), st.booleans())
def test_never_worse_than_the_best_alone(seed, count, lower):
    rng = np.random.default_rng(seed)
    truth, columns = rng.normal(size=30), [rng.normal(size=30) for _ in range(count)]

    def score(column):
        value = float(np.mean((column - truth) ** 2))
        return value if lower else -value

    alone = [score(column) for column in columns]
    best = min(alone) if lower else max(alone)
    found = select(columns, "mean", score, lower)["score"]
    assert found <= best + 1e-12 if lower else found >= best - 1e-12


@pytest.mark.parametrize(
    ("metric", "labels", "scale"),
    [("rmsle", False, "log"), ("auc", False, "rank"), ("accuracy", True, "vote"), ("rmse", False, "mean")],
)
def test_scales(metric, labels, scale):
    assert scale_of(metric, labels) == scale


@pytest.mark.parametrize("classes", [2, 4])
def test_a_mean_of_probabilities_is_made_as_sure_as_it_is_right(classes):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, classes, 400)
    near = np.eye(classes)[truth] * 2 + rng.normal(0, 1, (3, 400, classes))
    each = [np.exp(one) / np.exp(one).sum(axis=1, keepdims=True) for one in near]

    def loss(values):
        of_truth = values[np.arange(400), truth] if values.ndim > 1 else np.where(truth, values, 1 - values)
        return float(-np.log(of_truth).mean())

    columns = each if classes > 2 else [one[:, 1] for one in each]
    plain, surer = (select(columns, "mean", loss, True, powers=powers) for powers in ((1.0,), powers_of("logloss")))
    assert plain["power"] == 1 < surer["power"] and surer["score"] < 0.9 * plain["score"]
    assert powers_of("auc") == powers_of("") == (1.0,)


@pytest.mark.parametrize(("score", "power", "made"), [(0.5, 1.4, True), (0.5999, 1.4, False), (0.6, 1.0, False)])
def test_one_program_is_made_surer_where_that_is_worth_a_run(score, power, made):
    """What no other helped was handed in as it is, however far from as sure as it is right."""
    evaluator = CompetitionEvaluator.__new__(CompetitionEvaluator)
    evaluator._judge = SimpleNamespace(ask=lambda _: {"picks": [0], "power": power, "score": score, "scale": "mean"})
    evaluator._source = SimpleNamespace(lower_is_better=True)
    evaluator._prepared = SimpleNamespace(meta={"id": "id", "targets": ["y"]})
    evaluator._blend_seconds, evaluator.submission_of = None, lambda node: "a.csv"
    found = evaluator.ensemble([best := Node(id="a", code="pass", metric_value=0.6)])
    assert bool(found) == made
    if found:
        assert found[1] == [best] and found[2].startswith("The best program, its probabilities to the power 1.4, ")
        assert "POWER = 1.4" in found[0] and found[0].startswith('"""An ensemble by Swarm-Evo: 1 program, run as is,')


@pytest.mark.parametrize("targets", [["y"], ["a", "b", "c"]])
@pytest.mark.parametrize("picks", [[0, 1, 1], [1]])
def test_the_program_raises_what_it_combined_as_the_grader_did(tmp_path, targets, picks):
    (tmp_path / "input").mkdir()
    tables = []
    for seed in (1, 2):
        drawn = np.random.default_rng(seed).dirichlet(np.ones(max(2, len(targets))), 9)[:, : len(targets)]
        tables.append(pd.DataFrame(drawn, columns=targets).assign(id=range(9)))
        tables[-1].to_csv(tmp_path / "input" / f"{seed}.csv", index=False)
    copies = "import shutil\nshutil.copyfile('input/%s.csv', 'submission/submission.csv')\n"
    members = [Node(id=f"n{seed}", code=copies % seed) for seed in (1, 2)]
    code = program(members, picks, scale="mean", power=1.7, key="id", targets=targets)
    done = learned(code, tmp_path)
    assert done.returncode == 0, done.stderr
    written = pd.read_csv(tmp_path / "submission" / "submission.csv")[targets].to_numpy()
    given = [table[targets].to_numpy().squeeze() for table in tables]
    assert np.allclose(written.squeeze(), raised(combine([given[one] for one in picks], "mean"), 1.7))


def test_votes_and_ranks():
    votes = combine([["a", "b"], ["a", "c"], ["b", "c"]], "vote")
    assert list(votes) == ["a", "c"]
    ranks = combine([[0.1, 0.2, 0.3], [10, 20, 30]], "rank")
    assert np.allclose(ranks, [1 / 6, 3 / 6, 5 / 6])


MEMBER = """
import os, pandas as pd
test = pd.read_csv("input/test.csv")
os.makedirs("submission", exist_ok=True)
pd.DataFrame({"id": test["id"], "y": test["x"] * %s}).to_csv("submission/submission.csv", index=False)
print("member %s")
"""


@pytest.mark.parametrize("classes", [["b", "a", "c"], [10, 2, 3], [True, False], [0.5, 1.5]])
def test_many_rows_are_voted_on_quickly_and_the_first_class_wins_a_tie(classes):
    draw = np.random.default_rng(0)
    nodes = [Node(id=f"n{i}", code="") for i in range(4)]
    code = program(nodes, [0, 1, 1, 2, 3], scale="vote", key="id", targets=["y"])
    names = {"np": np, "pd": pd, "SCALE": "vote", "WEIGHTS": [1, 2, 1, 1]}
    exec(code.split("# [SECTION: PREDICT]\n")[1].split("\n\n\nresult =")[0], names)
    columns = [pd.Series(draw.choice(classes, 200_000), index=np.arange(7, 200_007)) for _ in range(4)]
    begun = time.process_time()
    found = names["combine"](columns)
    assert time.process_time() - begun < 3, "a vote row by row takes a minute"
    few = [column.head(300) for column in (columns[0], *columns[1:2] * 2, *columns[2:])]
    assert found.dtype == columns[0].dtype and list(found.index) == list(columns[0].index)
    assert found.head(300).tolist() == pd.concat(few, axis=1).mode(axis=1)[0].tolist()


def test_the_program_combines_its_members_with_their_weights(tmp_path):
    (tmp_path / "input").mkdir()
    pd.DataFrame({"id": [3, 1, 2], "x": [1.0, 2.0, 3.0]}).to_csv(tmp_path / "input" / "test.csv", index=False)
    members = [Node(id=f"n{i}", code=MEMBER % (i, i)) for i in (1, 4, 9)]
    code = program(members, [0, 0, 1], scale="mean", key="id", targets=["y"])
    done = learned(code, tmp_path)
    assert done.returncode == 0, done.stderr
    written = pd.read_csv(tmp_path / "submission" / "submission.csv")
    assert list(written["id"]) == [3, 1, 2]
    assert np.allclose(written["y"], np.array([1.0, 2.0, 3.0]) * (1 + 1 + 4) / 3)
    assert "member 9" not in done.stdout


MODULE = """
# [SECTION: DATA]
import os
import pandas as pd

FACTOR = 2.0
test = pd.read_csv("input/test.csv")


def scaled(column):
    return [FACTOR * value + offset for value in column]


# [SECTION: PREDICT]
offset = 1.0
os.makedirs("submission", exist_ok=True)
pd.DataFrame({"id": test["id"], "y": scaled(test["x"])}).to_csv("submission/submission.csv", index=False)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("factor", "readable"),
    [
        ("FACTOR = 2.0", True),
        (
            MODULE.replace(
                "FACTOR = 2.0", "FACTOR = 0.0\ndef set_it():\n    global FACTOR\n    FACTOR = 2.0\nset_it()"
            ),
            False,
        ),
        (MODULE.replace("FACTOR = 2.0", 'FACTOR = len("""\n\n""")'), False),
        ("from math import *\nFACTOR = sqrt(4.0)", False),
        ("FACTOR = globals().get('x', 2.0)", False),
    ],
)
def test_members_are_functions_where_that_changes_nothing(tmp_path, factor, readable):
    code = MODULE.replace("FACTOR = 2.0", factor)
    (tmp_path / "input").mkdir()
    pd.DataFrame({"id": [3, 1, 2], "x": [1.0, 2.0, 3.0]}).to_csv(tmp_path / "input" / "test.csv", index=False)
    made = program([Node(id="a", code=code), Node(id="b", code=MODULE)], [0, 1], scale="mean", key="id", targets=["y"])
    assert ("def member_0():\n    # DATA\n    import os" in made) == readable
    done = learned(made, tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(pd.read_csv(tmp_path / "submission" / "submission.csv")["y"]) == [3.0, 5.0, 7.0]


@pytest.mark.parametrize(
    "member",
    [
        *(f"SAID.append('a{mark}b')" for mark in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"),
        *(f"if 1:\n    SAID.append('a{mark}b')\n" for mark in "\x0c\x1e\u2028"),
        "SAID.append('a')\rSAID.append('b')\r\nSAID.append('c')\n",
        "\x0cSAID.append('a')\n  \x0cSAID.append('b')\n",
        "SAID.append('# [SECTION: DATA]')",
        'SAID.append("""a\n# recipe: b""")',
        "# nothing",
    ],
    ids=repr,
)
def test_a_member_keeps_every_character(member):
    """`str.splitlines` and `textwrap.indent` end lines that Python does not end."""
    code = program([Node(id="a", code=member)], [0], scale="mean", key="id", targets=["y"])
    function = code[code.index("def member_0") : code.index("MEMBERS = [")]
    alone, blended = {"SAID": []}, {"SAID": []}
    exec(member, alone)
    exec(function.replace('{"__name__"', '{"SAID": SAID, "__name__"'), blended)
    blended["member_0"]()
    assert blended["SAID"] == alone["SAID"]


def test_a_member_that_fails_fails_the_ensemble(tmp_path):
    (tmp_path / "input").mkdir()
    members = [Node(id="a", code="raise ValueError('no')"), Node(id="b", code="pass")]
    code = program(members, [0, 1], scale="mean", key="id", targets=["y"])
    done = learned(code, tmp_path)
    assert done.returncode != 0 and "ended without a submission" in done.stderr
