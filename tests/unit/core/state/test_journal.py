from __future__ import annotations

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from core.state.task import Task, derive_seed, node_id


def node(id, metric=None, parents=(), operator="draft", **fields):
    return Node(id=str(id), code=fields.pop("code", f"x = {id!r}"), metric_value=metric, parent_ids=parents,
                operator=operator, is_buggy=fields.pop("is_buggy", metric is None), **fields)  # fmt: skip


# ---------------------------------------------------------------- single facts


def test_append_returns_the_node_as_stored():
    journal = Journal(lower_is_better=True)
    first = journal.append(node("a", 2.0, lower_is_better=False))
    second = journal.append(node("b", 1.0, ("a",), "improve"))
    assert (first.step, second.step, second.parent_id, first.parent_id) == (0, 1, "a", None)
    assert first.fitness == -2.0 and first.lower_is_better is True, "the direction is the problem's"


def test_the_seeds_node_has_one_parent_and_names_itself():
    journal = Journal()
    first = journal.append(Node(code="x = 1", metric_value=1.0))
    second = journal.append(Node(code="x = 2", metric_value=2.0, parent_id=first.id))
    assert first.id != second.id and second.parent_ids == (first.id,) and second.parent_id == first.id
    assert [n.id for n in journal.get_children(first.id)] == [second.id] and journal.nodes[0].children_ids == (
        second.id,
    )
    assert [n.id for n in journal.draft_nodes] == [first.id] and len(journal.nodes) == 2
    with pytest.raises(ValueError, match="nobody"):
        journal.append(Node(code="x = 3", parent_id="nobody"))


def test_a_node_of_another_journal_begins_anew():
    other = Journal(nodes=[node("a", 1.0), node("b", 2.0, ("a",), "improve")])
    other.record_reward(["a"], 1.0)
    journal = Journal(nodes=[other["a"]])
    assert (journal["a"].children_ids, journal["a"].visits, journal["a"].total_reward) == ((), 0, 0.0)


def test_a_read_makes_no_copy_until_something_changes():
    journal = Journal(nodes=[node("a", 1.0), node("b", 2.0, ("a",), "improve")])
    read = journal["a"]
    assert read.children_ids == ("b",) and journal["a"] is read and journal.top(2)[1] is read
    journal.append(node("c", 3.0, ("a",), "improve"))
    assert journal["a"].children_ids == ("b", "c") and read.children_ids == ("b",)


def test_a_double_id_and_an_unknown_parent_are_refused_and_change_nothing():
    journal = Journal(nodes=[node("a", 1.0)])
    before = journal.sha256
    with pytest.raises(ValueError, match="already"):
        journal.append(node("a", 2.0))
    with pytest.raises(ValueError, match="nobody"):
        journal.append(node("b", 2.0, ("nobody",)))
    assert (len(journal), journal.sha256, journal.get_best_node().metric_value) == (1, before, 1.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("lower", [True, False])
def test_what_is_not_finite_is_never_best(value, lower):
    journal = Journal([node("good", 1.0)], lower_is_better=lower)
    journal.append(node("wild", value, is_buggy=False).model_copy(update={"is_buggy": True}))
    assert journal.get_best_node().id == "good"


def test_integers_count_as_numbers_and_the_earliest_of_equals_is_best():
    journal = Journal(nodes=[node("a", 1), node("b", 3), node("c", 3.0)])
    assert journal.get_best_node().id == "b" and [n.id for n in journal.top(5)] == ["b", "c", "a"]


def test_the_leader_is_the_best_without_a_list_of_its_children():
    """A best program of a long run has thousands of children: a step that listed them took longer and longer."""
    journal = Journal(nodes=[node("a", 1.0), *(node(f"c{i}", 0.5, ("a",)) for i in range(3))])
    assert journal.leader.id == journal.top(1)[0].id == next(journal.ranked()).id == "a"
    assert journal.leader.children_ids == () and journal.get_best_node().children_ids == ("c0", "c1", "c2")
    assert Journal().leader is None


def test_without_a_score_there_is_no_best_but_there_may_be_a_newest():
    journal = Journal()
    assert journal.get_best_node() is None and journal.get_best_node(only_good=False) is None
    journal.append(node("a"))
    assert journal.get_best_node() is None and journal.get_best_node(only_good=False).id == "a"


def test_families():
    journal = Journal(
        nodes=[node("a", 1.0), node("b", 2.0), node("u", 3.0, operator="user"), node("base", 1.0, operator="baseline")]
    )
    for child, parents in (("c", ("a",)), ("d", ("a", "b")), ("e", ("d",))):
        journal.append(node(child, 1.0, parents, "improve"))
    assert [n.id for n in journal.get_children("a")] == ["c", "d"] and journal.children_ids("b") == ("d",)
    assert [n.id for n in journal.get_siblings("c")] == ["d"] and [n.id for n in journal.get_siblings("a")] == ["b"]
    assert journal.ancestors("e") == ["d", "a"] and journal.root("e") == "a" and journal.root("u") == "u"
    assert [n.id for n in journal.draft_nodes] == ["a", "b"] and journal.roots == 3 and journal.steps == 5
    assert journal.build_dag() == {"a": ("c", "d"), "b": ("d",), "u": (), "base": (), "c": (), "d": ("e",), "e": ()}
    assert journal.get_node_by_id("a").children_ids == ("c", "d") and journal.get_node_by_id("zz") is None
    assert "a" in journal and "zz" not in journal and journal["d"].parent_id == "a"


def test_a_node_that_was_handed_out_does_not_change():
    journal = Journal(nodes=[node("a", 1.0)])
    before = journal["a"]
    journal.append(node("b", 1.0, ("a",)))
    journal.record_reward(["a"], 0.5)
    assert (before.children_ids, before.visits) == ((), 0)
    assert (journal["a"].children_ids, journal["a"].visits, journal["a"].total_reward) == (("b",), 1, 0.5)


def test_debug_chains_end_at_the_depth_and_leaves_are_leaves():
    journal = Journal(nodes=[node("a"), node("other")])
    for i, parent in enumerate(["a", "d0", "d1"]):
        journal.append(node(f"d{i}", None, (parent,), "debug"))
    assert [n.id for n in journal.buggy_leaves()] == ["other", "d2"]
    assert [n.id for n in journal.buggy_leaves(3)] == ["other"] and [n.id for n in journal.buggy_leaves(4)] == [
        "other",
        "d2",
    ]
    assert [n.id for n in journal.buggy_leaves(newest=1)] == ["d2"] and journal.buggy_leaves(newest=0) == []
    journal.append(node("improved", None, ("other",), "improve"))
    assert [n.id for n in journal.buggy_leaves(1)] == ["improved"], "a new idea that fails begins a chain of its own"


def test_duplicates_are_found_by_text_and_by_meaning():
    journal = Journal(nodes=[node("a", 1.0, code="def f(x):\n    y = x\n    return y\n")])
    assert journal.find_duplicate("def f(x):\n    y = x\n    return y\n") == ("a", "text")
    assert journal.find_duplicate("def f(x):\n    z = x  # note\n    return z\n") == ("a", "ast")
    assert journal.find_duplicate("def f(x):\n    return x\n") is None
    assert journal.find_duplicate("def (") is None and journal.find_duplicate("") is None


def test_a_program_that_was_lost_with_its_worker_may_come_again():
    lost = node("a", failure=FailureKind.LOST_WORKER, code="x = 1\n")
    assert Journal(nodes=[lost]).find_duplicate("x = 1\n") is None


def test_failures_are_counted():
    kinds = [FailureKind.TIMEOUT, FailureKind.SYNTAX, FailureKind.TIMEOUT]
    journal = Journal(nodes=[node(i, failure=kind) for i, kind in enumerate(kinds)])
    assert journal.failures == {"timeout": 2, "syntax": 1}


def _chain_of_ten_thousand() -> tuple[Journal, float, float]:
    """The journal, and CPU seconds of its second and of its last thousand."""
    journal = Journal()
    marks = []
    for i in range(10_000):
        if i in (1000, 2000, 9000, 10_000 - 1):
            marks.append(time.process_time())
        journal.append(node(i, float(i), (str(i - 1),) if i else (), "improve" if i else "draft"))
    return journal, marks[1] - marks[0], marks[3] - marks[2]


def test_no_recursion_and_constant_cost_over_a_chain_of_ten_thousand():
    ratios = []
    for _ in range(3):  # a collection of garbage may fall into one of them
        journal, early, late = _chain_of_ten_thousand()
        ratios.append(late / early)
        if ratios[-1] < 4:
            break
    assert min(ratios) < 4, ratios
    assert len(journal.ancestors("9999")) == 9999 and journal.root("9999") == "0"
    assert len(journal.build_dag()) == 10_000 and journal.get_best_node().id == "9999"
    assert len(journal.generate_summary(max_tokens=500)) <= 2000


# ---------------------------------------------------------------- the hash


def test_the_hash_is_of_what_is_not_volatile():
    def sha(**changes):
        return Journal(nodes=[node("a", 1.0).model_copy(update=changes)]).sha256

    assert sha() == sha(
        ctime=1.0, exec_time=9.0, term_out="x", analysis="y", plan="z", stages={"code": 1.0}, metadata={"own": 1}
    )
    different = [
        sha(), sha(code="other"), sha(metric_value=2.0), sha(operator="user"), sha(signature=(1.0,)), sha(id="b"),
        sha(is_buggy=True, metric_value=None, failure=FailureKind.EXIT), sha(is_valid=False),
    ]  # fmt: skip
    assert len(set(different)) == len(different)


def test_a_journal_read_back_is_the_same_journal():
    journal = Journal([node("a", 1.0), node("b"), node("c", 0.5, ("a", "b"), "merge")], lower_is_better=True)
    journal.record_reward(["a"], 1.0)
    again = Journal([Node.model_validate_json(n.model_dump_json()) for n in journal], lower_is_better=True)
    assert again.sha256 == journal.sha256
    order = Journal([node("b"), node("a", 1.0), node("c", 0.5, ("a", "b"), "merge")], lower_is_better=True)
    assert order.sha256 != journal.sha256


# ---------------------------------------------------------------- against a naive model


class NaiveJournal(RuleBasedStateMachine):
    """Every answer of the index equals what a walk over all nodes would say."""

    @initialize(lower=st.booleans())
    def start(self, lower):
        self.journal = Journal(lower_is_better=lower)
        self.nodes: list[Node] = []

    @rule(
        metric=st.none() | st.integers(-3, 3) | st.floats(-5, 5),
        operator=st.sampled_from(["draft", "debug", "improve", "merge", "user", "baseline"]),
        picks=st.lists(st.integers(0, 10**6), max_size=2),
        valid=st.booleans(),
    )
    def grow(self, metric, operator, picks, valid):
        parents = tuple(dict.fromkeys(self.nodes[p % len(self.nodes)].id for p in picks)) if self.nodes else ()
        new = node(len(self.nodes), metric, parents, operator, is_valid=valid)
        self.nodes.append(self.journal.append(new))

    @rule(pick=st.integers(0, 10**6), reward=st.floats(0, 1))
    def visit(self, pick, reward):
        if self.nodes:
            line = [self.nodes[pick % len(self.nodes)].id]
            line += self.journal.ancestors(line[0])
            before = [self.journal.visits(i) for i in line]
            self.journal.record_reward(line, reward)
            assert [self.journal.visits(i) for i in line] == [(v + 1, r + reward) for v, r in before]

    @invariant()
    def agrees(self):
        journal, nodes = self.journal, self.nodes
        children = {n.id: tuple(m.id for m in nodes if n.id in m.parent_ids) for n in nodes}
        scored = [n for n in nodes if n.is_valid and not n.is_buggy and n.metric_value is not None]
        ranked = sorted(scored, key=lambda n: (n.metric_value if journal.lower_is_better else -n.metric_value, n.step))
        assert [n.id for n in journal.top(len(nodes))] == [n.id for n in ranked]
        assert journal.build_dag() == children
        assert [n.id for n in journal] == [n.id for n in nodes] and len(journal) == len(nodes)
        assert {n.id: n.children_ids for n in journal} == children
        assert [n.id for n in journal.buggy_nodes] == [n.id for n in nodes if n.is_buggy]
        assert [n.id for n in journal.good_nodes] == [n.id for n in nodes if not n.is_buggy and n.is_valid]
        assert [n.id for n in journal.buggy_leaves()] == [n.id for n in nodes if n.is_buggy and not children[n.id]]
        assert [n.id for n in journal.buggy_leaves(2)] == [
            n.id for n in nodes if n.is_buggy and not children[n.id] and self.depth(n) < 2
        ]
        assert journal.steps == sum(n.operator not in FREE_OPERATORS for n in nodes)
        assert journal.roots == sum(not n.parent_ids and n.operator != "baseline" for n in nodes)
        assert [n.id for n in journal.latest(3)] == [n.id for n in nodes[-3:]]

    def depth(self, n):
        """Repairs in a row that ended in failure, above and with this node."""
        count = 0
        while n.is_buggy and n.operator == "debug":
            count += 1
            if n.parent_id is None:
                return count
            n = self.journal[n.parent_id]
        return count


TestAgainstANaiveModel = NaiveJournal.TestCase
TestAgainstANaiveModel.settings = settings(stateful_step_count=25)


# ---------------------------------------------------------------- node, task


def test_a_node_has_every_field_of_the_seed_and_is_frozen():
    fields = """code plan genes step id ctime parent_id children_ids task_type metadata logs term_out exec_time exc_type
    exc_info analysis metric_value is_buggy is_valid lower_is_better visits total_reward generation fitness"""
    assert set(fields.split()) <= set(Node.model_fields)
    with pytest.raises(ValueError):
        node("a").code = "y"
    with pytest.raises(ValueError):
        Node(id="a", code="", colour="red")


@given(st.integers(0, 2**63), st.integers(0, 10**6), st.integers(0, 64), st.integers(0, 4))
def test_ids_and_seeds_are_functions_of_counters(seed, round_, slot, attempt):
    assert node_id(seed, round_, slot, attempt) == node_id(seed, round_, slot, attempt)
    assert len(node_id(seed, round_, slot, attempt)) == 12
    assert 0 <= derive_seed(seed, round_, slot) < 2**63


def test_no_two_places_share_an_id_or_a_seed():
    places = [(s, r, k, a) for s in range(3) for r in range(60) for k in range(12) for a in range(4)]
    assert len({node_id(*place) for place in places}) == len(places)
    assert len({derive_seed(*place) for place in places}) == len(places)


def test_a_draw_for_one_purpose_moves_no_other():
    task = Task(node_id="n", operator="draft", round=0, slot=0, seed=5)
    first = task.rng("write").random()
    task.rng("other").random()
    assert task.rng("write").random() == first != task.rng("other").random()


def test_every_failure_has_advice():
    assert all(kind.advice.endswith(".") for kind in FailureKind)


def test_a_journal_that_is_read_back_parses_no_program_again():
    journal = Journal(nodes=[node("a", 1.0, code="def f():\n    x = 1\n    return x\n"), node("b", code="def (")])
    stored = [Node.model_validate_json(n.model_dump_json()) for n in journal]
    again = Journal(nodes=stored, normal_hash=lambda code: pytest.fail("parsed again"))
    assert list(again) == stored and again.sha256 == journal.sha256
    again._programs._tree_hash = Journal()._programs._tree_hash
    assert again.find_duplicate("def f():\n    y = 1\n    return y\n") == ("a", "ast")
    assert again.find_duplicate("def (") == ("b", "text")


def test_a_fingerprint_of_another_program_is_not_believed():
    stored = Journal(nodes=[node("a", 1.0, code="x = 1")])["a"]
    journal = Journal(nodes=[stored.model_copy(update={"code": "x = 2"})])
    assert journal.find_duplicate("x = 1") is None and journal.find_duplicate("x = 2  # same") == ("a", "ast")


def test_what_is_not_python_is_compared_by_its_text():
    """To Python's parser a C header of `#define` lines is an empty module, whatever it defines."""
    journal = Journal(normal_hash=lambda code: None, nodes=[Node(id="a", code="#define DEPTH 4\n")])
    assert journal.find_duplicate("#define DEPTH 9\n") is None
    assert journal.find_duplicate("#define DEPTH 4\n") == ("a", "text")


class NeverWalked(list):
    """Nodes that are asked for by their place: who walks past all of them is slower the longer the journal."""

    def __iter__(self):
        raise AssertionError("all older nodes were passed")


def test_a_step_passes_no_older_nodes():
    journal = Journal(lower_is_better=True)
    journal._nodes = NeverWalked()
    for number in range(300):
        journal.append(node(number, 1 / (number + 1)))
        assert [one.id for one in journal.from_place(number)] == [str(number)]
    assert journal.is_digested and len(journal.sha256) == 64
