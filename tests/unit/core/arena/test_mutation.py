"""The rules' alphabet: changes of constants keep the rest of the file, and every gene's draw stays a literal."""

from __future__ import annotations

import ast
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arena.mutation import constants, cross, mutate, with_constants
from core.arena.validator import static_refusal
from problems.chess_engines.problem import spec as chess_spec
from problems.chess_engines.repertoire import GENES as CHESS
from problems.chess_engines.repertoire import RULES as CHESS_RULES
from problems.connect_four.problem import spec as four_spec
from problems.connect_four.repertoire import GENES as FOUR
from problems.connect_four.repertoire import RULES as FOUR_RULES

ALL = [(four_spec().anchor.code, FOUR), (chess_spec().anchor.code, CHESS)]


def test_constants_are_the_literals_in_capitals():
    code = "A = 1\nb = 2\nC = [1, 2]\nD = f()\nE: int = 3\nG: int\ndef f():\n    F = 1\n"
    assert constants(code) == {"A": 1, "C": [1, 2], "E": 3}
    assert with_constants(code, {"E": 4}) == code.replace("E: int = 3", "E: int = 4")
    assert constants("def (") == {}


def test_only_the_literal_changes():
    code = "Ä = 'ü'; A = 1  # why\nB = (1,\n     2)  # äöü\nprint(A, B)\n"
    changed = with_constants(code, {"A": -7, "B": (3, 4)})
    assert changed == "Ä = 'ü'; A = -7  # why\nB = (3, 4)  # äöü\nprint(A, B)\n"


@pytest.mark.parametrize(("code", "genes"), ALL)
def test_every_gene_is_in_the_champion(code, genes):
    assert {gene.name for gene in genes} <= set(constants(code))


@pytest.mark.parametrize(("code", "genes"), ALL)
@given(
    seed=st.integers(0, 2**32), count=st.integers(1, 3), category=st.sampled_from(["search", "evaluation", "book", ""])
)
def test_a_mutant_parses_and_differs_where_it_says(code, genes, seed, count, category):
    changed, notes = mutate(code, genes, random.Random(seed), category=category, count=count)
    before, after = constants(code), constants(changed)
    differing = {name for name in before if before[name] != after[name]}
    assert set(before) == set(after) and differing == {note.partition(":")[0] for note in notes}
    assert len(differing) <= count
    if category:
        assert differing <= {gene.name for gene in genes if gene.category == category}
    ast.parse(changed)


def test_a_file_of_other_writers_is_jittered_too():
    code = "WEIGHT = 10\nROWS = (1, 2, 3)\nNAME = 'x'\nFLAG = True\n"
    seen = set()
    for seed in range(30):
        _, notes = mutate(code, FOUR, random.Random(seed))
        seen |= {note.partition(":")[0] for note in notes}
    assert seen == {"WEIGHT", "ROWS"}


def test_crossing_takes_only_what_differs():
    donor = with_constants(ALL[0][0], {"EXTENSION": 6, "THREAT": 9})
    taken = set()
    for seed in range(20):
        child, notes = cross(ALL[0][0], donor, FOUR, random.Random(seed))
        differing = {name for name, value in constants(child).items() if value != constants(ALL[0][0])[name]}
        assert differing == {note.partition(":")[0] for note in notes}
        taken |= differing
    assert taken == {"EXTENSION", "THREAT"}


def test_a_name_used_for_something_else_is_left_alone():
    code = "ORDER = 5\nTABLE = (1, 2)\nBOOK = 'x'\nEXTENSION = 'deep'\n"
    for seed in range(30):
        assert mutate(code, FOUR, random.Random(seed), count=3) == (code, [])


@pytest.mark.parametrize(("rules", "spec"), [(FOUR_RULES, four_spec()), (CHESS_RULES, chess_spec())])
def test_what_rules_write_passes_the_static_check_and_is_named(rules, spec):
    for seed in range(20):
        context = {
            "parents": [{"code": spec.anchor.code}, {"code": spec.anchor.code}],
            "question": {"category": ("search", "evaluation")[seed % 2]},
            "generation": 3,
            "slot": 1,
        }
        reply = rules.write(context, random.Random(seed))
        plan, _, rest = reply.partition("```python\n")
        code = rest.partition("\n```")[0]
        assert "->" in plan and code != spec.anchor.code and 'name = "g3.1"' in code
        assert static_refusal(code, spec.packages) is None


def test_same_seed_same_engine():
    context = {"parents": [{"code": ALL[0][0]}]}
    assert FOUR_RULES.write(context, random.Random(4)) == FOUR_RULES.write(context, random.Random(4))


def test_a_slow_engine_is_made_cheaper():
    code = with_constants(ALL[0][0], {"EXTENSION": 6})
    cheaper = 0
    for seed in range(20):
        context = {"parents": [{"code": code}], "refusal": "time_forfeit at move 3: no answer"}
        after = constants(FOUR_RULES.write(context, random.Random(seed)).split("```python\n")[1].split("\n```")[0])
        cheaper += after["EXTENSION"] < 6
    assert cheaper == 20


def test_the_strategist_by_rules_asks_as_many_questions_as_wanted():
    found = json.loads(FOUR_RULES.write({"role": "strategist", "count": 3}, random.Random(1)))
    assert len(found["questions"]) == 3
    assert all(q["category"] in ("search", "evaluation", "book") and q["question"] for q in found["questions"])


def test_the_strategist_by_rules_asks_for_nothing_that_cannot_matter():
    asked = set()
    for seed in range(60):
        context = {"role": "strategist", "count": 2, "extras": {"categories": ["search", "evaluation"]}}
        asked |= {q["category"] for q in json.loads(FOUR_RULES.write(context, random.Random(seed)))["questions"]}
    assert asked == {"search", "evaluation"}


def test_an_engine_with_annotations_evolves_too():
    code = four_spec().anchor.code.replace("EXTENSION = 0", "EXTENSION: int = 2").replace('name = "', 'name: str = "')
    context = {"parents": [{"code": code}], "refusal": "time", "generation": 3, "slot": 1}
    assert "EXTENSION: int = 0" in FOUR_RULES.write(context, random.Random(0))
    assert 'name: str = "g3.1"' in FOUR_RULES.write({**context, "refusal": ""}, random.Random(0))


@pytest.mark.parametrize("odd", ["\f", "\x1c", "\x85", "\u2028"])
def test_a_rare_separator_in_a_string_does_not_move_the_constants(odd):
    code = f"# a{odd}b\nTEXT = 'x{odd}y'\nDEPTH = 3\nWIDTH = 4\n"
    assert with_constants(code, {"DEPTH": 5}) == code.replace("3", "5")
