from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.memory import remember
from core.state.node import Node
from utils.prompt_builder import BYTES_PER_TOKEN


def node(id, metric=1.0, parents=(), operator="improve", **fields):
    return Node(id=id, code=f"code of {id}", plan=f"plan of {id}", metric_value=metric, parent_ids=parents,
                operator=operator, is_buggy=metric is None, **fields)  # fmt: skip


@pytest.fixture
def family():
    """grandparent → parent → {child, twin}; parent's sibling uncle; a stranger's line."""
    journal = Journal()
    for id, parents in [
        ("grandparent", ()), ("stranger", ()), ("parent", ("grandparent",)), ("uncle", ("grandparent",)),
        ("child", ("parent",)), ("twin", ("parent",)), ("far", ("stranger",)),
    ]:  # fmt: skip
        journal.append(node(id, 1.0, parents, "improve" if parents else "draft"))
    return journal


def test_the_summary_tells_the_best_first_then_the_newest_and_what_it_left_out(family):
    family.append(node("best", 9.0, ("far",)))
    text = family.generate_summary()
    assert text.startswith("[7] improve: metric 9") and "plan of grandparent" in text and "not shown" not in text
    short = family.generate_summary(max_tokens=60)
    assert "plan of best" in short and "(5 of 8 attempts are not shown.)" in short


def test_outcomes_are_told_with_their_reason():
    journal = Journal(nodes=[node("a", 1.0, operator="draft")])
    journal.append(node("b", None, ("a",), failure=FailureKind.TIMEOUT, message="past\n5 s"))
    journal.append(node("c", None, ("a",), is_valid=False, duplicate_of="a").model_copy(update={"is_buggy": False}))
    text = journal.generate_summary()
    assert "failed (timeout): past 5 s" in text and "duplicate of a" in text


def test_code_is_shown_only_when_asked_for(family):
    assert "code of child" not in family.generate_summary()
    assert "code of child" in family.generate_summary(include_code=True)


def test_no_memory(family):
    assert remember(family, ("parent",), kind="none") == ""
    assert all(remember(Journal(), kind=kind) == "" for kind in ("none", "related", "all"))


def test_related_memory_is_children_ancestors_and_siblings_but_no_strangers(family):
    text = remember(family, ("parent",), kind="related")
    assert [word for word in ("twin", "child", "grandparent", "uncle") if f"plan of {word}" in text] == [
        "twin", "child", "grandparent", "uncle",
    ]  # fmt: skip
    assert text.index("plan of twin") < text.index("plan of grandparent") < text.index("plan of uncle")
    for stranger in ("stranger", "far", "parent\n"):
        assert f"plan of {stranger}" not in text
    assert not text.endswith("plan of parent")


def test_related_memory_of_a_draft_is_the_other_drafts_and_of_a_merge_both_families(family):
    draft = remember(family, (), kind="related")
    assert "plan of grandparent" in draft and "plan of stranger" in draft and "plan of child" not in draft
    merged = remember(family, ("parent", "stranger"), kind="related")
    assert "plan of child" in merged and "plan of far" in merged


def test_all_is_the_summary(family):
    assert remember(family, ("parent",), kind="all") == family.generate_summary()


def test_the_cost_is_bounded_however_large_the_family():
    journal = Journal(nodes=[node("0", operator="draft")])
    for i in range(1, 3000):
        journal.append(node(str(i), 1.0, (str(i - 1),)))
        journal.append(node(f"s{i}", 1.0, ("0",)))
    text = remember(journal, ("2999",), kind="related", max_tokens=10_000)
    assert text.count("plan of") == 40 and "plan of 2998" in text and "plan of 2900\n" not in text


@given(
    st.lists(st.tuples(st.none() | st.floats(-1e9, 1e9), st.text(max_size=200)), max_size=30),
    st.integers(60, 600),
    st.sampled_from(["related", "all"]),
)
def test_the_budget_is_a_law(entries, max_tokens, kind):
    journal = Journal()
    for i, (metric, text) in enumerate(entries):
        parents = (str(i // 2),) if i else ()
        journal.append(node(str(i), metric, parents).model_copy(update={"plan": text, "analysis": text}))
    parents = ("0",) if entries else ()
    assert len(remember(journal, parents, kind=kind, max_tokens=max_tokens)) <= max_tokens * BYTES_PER_TOKEN
