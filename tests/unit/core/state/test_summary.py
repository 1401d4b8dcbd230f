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


def test_a_line_tells_parent_change_noise_and_the_last_numbers():
    journal = Journal(lower_is_better=True, time_limit=100.0)
    ridge = node("a", 0.30, operator="draft", signature=(0.30, 0.32, 0.28))
    journal.append(ridge.model_copy(update={"plan": "Ridge. It is plain."}))
    printed = "loading\nfold 1: 0.27\nfold 2: 0.26\ndone\ncv: 0.265"
    ran = {"exec_time": 60.0, "term_out": printed, "claimed_metric": 0.265}
    journal.append(node("b", 0.26, ("a",), signature=(0.25, 0.29, 0.24), **ran))
    first, second = journal.generate_summary().splitlines()
    assert first == "[0] draft: 0.3 - Ridge."
    assert second == (
        "[1] improve of [0]: 0.26 (0.04 better, noise 0.0058), own estimate 0.265, took 50 to 75 % of its time"
        " - plan of b - Printed: fold 1: 0.27 | fold 2: 0.26 | cv: 0.265"
    )


def test_the_summary_only_grows_at_its_end_and_drops_a_quarter_at_once():
    journal, texts = Journal(), []
    for i in range(200):
        journal.append(node(f"{i:03}", float(i == 7) + i / 1000))
        texts.append(journal.generate_summary(max_tokens=1000))
    breaks = [i for i in range(1, 200) if not texts[i].startswith(texts[i - 1])]
    assert len(breaks) == 3, "each drops a quarter of the budget"
    assert all(len(text.encode()) <= 4000 for text in texts)
    assert texts[-1].startswith("[7] improve: 1.007") and "earlier attempts are left out" in texts[-1]
    assert texts[-1].endswith("plan of 199"), "the best of what is left out, then the newest"


def test_outcomes_are_told_with_their_reason():
    journal = Journal(nodes=[node("a", 1.0, operator="draft")])
    journal.append(node("b", None, ("a",), failure=FailureKind.TIMEOUT, message="past\n5 s"))
    journal.append(node("c", None, ("a",), is_valid=False, duplicate_of="a").model_copy(update={"is_buggy": False}))
    text = journal.generate_summary()
    assert "failed (timeout): past 5 s" in text and "the same program as [0], not run" in text


def test_code_is_shown_only_when_asked_for(family):
    assert "code of child" not in family.generate_summary()
    assert "code of child" in family.generate_summary(include_code=True)


def test_no_memory(family):
    assert remember(family, ("parent",), kind="none") == ""
    assert all(remember(Journal(), kind=kind) == "" for kind in ("none", "related", "all"))


def test_related_memory_is_children_ancestors_and_siblings_but_no_strangers(family):
    text = remember(family, ("parent",), kind="related")
    assert text.count("plan of") == 4
    assert text.index("plan of twin") < text.index("plan of grandparent") < text.index("plan of uncle")
    assert "plan of stranger" not in text and "plan of far" not in text and "plan of parent" not in text


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
    st.integers(100, 600),
    st.sampled_from(["related", "all"]),
)
def test_the_budget_is_a_law(entries, max_tokens, kind):
    journal = Journal()
    for i, (metric, text) in enumerate(entries):
        parents = (str(i // 2),) if i else ()
        journal.append(node(str(i), metric, parents).model_copy(update={"plan": text, "analysis": text}))
    parents = ("0",) if entries else ()
    assert len(remember(journal, parents, kind=kind, max_tokens=max_tokens).encode()) <= max_tokens * BYTES_PER_TOKEN
