"""A node that the store has: it answers as the whole one, and takes a tenth of its memory."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.state.failed_attempt import FailedAttempt
from core.state.failure import FailureKind
from core.state.journal import WHOLE, Journal
from core.state.node import Node
from core.state.stored_node import AT_HAND, StoredNode
from core.storage.repository import RunStore

texts = st.text(max_size=40)
nodes = st.builds(
    Node,
    id=st.just("a" * 12),
    code=texts,
    term_out=texts,
    plan=texts,
    genes=st.dictionaries(texts, texts, max_size=2),
    metric_value=st.none() | st.floats(-9, 9),
    signature=st.tuples(st.floats(0, 1)),
    stages=st.dictionaries(texts, st.floats(0, 1), max_size=3),
    failure=st.none() | st.sampled_from(FailureKind),
    parent_ids=st.tuples() | st.just(("b",)),
    is_buggy=st.booleans(),
    lower_is_better=st.booleans(),
    island=st.none() | st.integers(0, 3),
)


@given(nodes)
def test_it_answers_as_the_whole_node(node: Node) -> None:
    small = StoredNode.of(node, lambda node_id: (node.code, node.term_out))
    assert isinstance(small, Node)
    assert {name: getattr(small, name) for name in Node.model_fields} == dict(node)
    assert small == node and small.whole() == node
    assert small.model_dump(mode="json") == node.model_dump(mode="json")
    assert small.model_dump_json(exclude_defaults=True) == node.model_dump_json(exclude_defaults=True)
    assert small.is_scored == node.is_scored
    changed = small.model_copy(update={"visits": 3})
    assert changed == node.model_copy(update={"visits": 3}) and changed.code == node.code
    assert small.visits == node.visits


@given(st.lists(texts, min_size=1, max_size=4))
def test_its_sections_are_read_with_its_program(sections: list[str]) -> None:
    genes = {f"SECTION {number}": text for number, text in enumerate(sections)}
    node = Node(code="".join(sections), genes=genes)
    small = StoredNode.of(node, lambda node_id: (node.code, ""))
    assert small.genes == genes and small == node and (len(node.code) == 0 or "genes" not in vars(small))


def test_a_word_that_is_no_field_is_an_error() -> None:
    small = StoredNode.of(Node(code="x = 1\n"), lambda node_id: ("", ""))
    with pytest.raises(AttributeError, match="codes"):
        _ = small.codes  # type: ignore[attr-defined]


def made(number: int) -> Node:
    code = "".join(f"x{number}_{line} = {line * 37 + number}\n" for line in range(250))
    output = "".join(f"fold {line} loss {(line * number) % 97 / 7:.9f}\n" for line in range(300))
    parents = (f"n{number - 1}",) if number % 3 else ()
    return Node(
        id=f"n{number}",
        ctime=1.0,
        code=code,
        term_out=output,
        plan="A plan.",
        metric_value=number / 7,
        parent_ids=parents,
    )


RICH = Node(
    id="rich", ctime=2.0, code="x = 1\ny = 2\n", term_out="printed", plan="A plan.", metric_value=0.5, is_buggy=False,
    genes={"DATA": "x = 1\n", "MODEL": "y = 2\n"}, signature=(0.1, 0.2), interval=(0.4, 0.6), behaviour="beef",
    cheap_score=0.25, message="fine", stages={"prompt": 0.1}, prompt_tokens=3, cost_usd=0.5, generation=2, island=1,
    attempts=(FailedAttempt(code="x =\n", failure=FailureKind.SYNTAX, message="no"),), metadata={"a": [1]},
    features={"f": 1.0}, duplicate_of="other", artifacts={"log": "text"},
)  # fmt: skip


def test_a_node_that_is_read_back_unpacks_its_row_when_it_is_asked_for_more(tmp_path: Path) -> None:
    store, journal = RunStore(tmp_path / "run"), Journal()
    plain = RICH.model_copy(update={"id": "plain", "code": "z = 3\n", "genes": {}, "attempts": (), "failure": None})
    committed = [journal.append(RICH), journal.append(plain)]
    store.commit(committed, [])
    for whole, small in zip(committed, store.stored_nodes(), strict=True):
        assert isinstance(small, StoredNode) and type(small.failure) is type(whole.failure)
        assert {name: getattr(small, name) for name in AT_HAND} == {name: getattr(whole, name) for name in AT_HAND}
        assert "stages" not in vars(small), "nothing was unpacked for that"
        changed = small.model_copy(update={"stages": {}, "visits": 2})
        assert changed.stages == {} and changed.visits == 2 and changed.plan == "A plan.", "what a copy was given stays"
        assert small == whole and small.genes == whole.genes and small.signature == (0.1, 0.2)
    store.close()


@pytest.mark.long
def test_a_long_journal_keeps_few_texts_and_answers_all_the_same(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    read: Counter[str] = Counter()

    def reading(node_id: str) -> tuple[str, str]:
        read[node_id] += 1
        return store.texts(node_id)

    whole, small = Journal(), Journal(read=reading)
    count = 4 * WHOLE
    for number in range(count):
        whole.append(made(number))
        store.commit([small.append(made(number))], [])
        small.stored()
    assert small.sha256 == whole.sha256
    assert small.generate_summary() == whole.generate_summary()
    assert not read, "nothing was asked for yet"
    assert list(small) == list(whole)
    assert small.find_duplicate(made(3).code) == ("n3", "text")
    small.record_reward(["n5"], 0.5)
    whole.record_reward(["n5"], 0.5)
    assert small["n5"] == whole["n5"] and small["n5"].visits == 1
    read.clear()
    assert [small["n9"].code for _ in range(5)] == [made(9).code] * 5
    assert read == {"n9": 1}, "what was read last is at hand"
    kept = sum(isinstance(node, StoredNode) for node in small._nodes)
    assert kept == count - WHOLE
    assert sys.getsizeof(vars(small._nodes[0])) < 1000
    store.close()


def test_a_node_that_is_not_stored_yet_is_not_asked_for_in_the_store() -> None:
    def nothing(node_id: str) -> tuple[str, str]:
        raise AssertionError(f"{node_id} is not stored")

    journal = Journal(read=nothing)
    for number in range(2 * WHOLE):
        journal.append(made(number))
    assert [node.code for node in journal] == [made(number).code for number in range(2 * WHOLE)]
