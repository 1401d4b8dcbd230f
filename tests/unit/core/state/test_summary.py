from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts import Evaluation
from core.evaluation.repeats import averaged
from core.state.change import change_of, noise_of
from core.state.failed_attempt import FailedAttempt
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.memory import Memory, remember
from core.state.node import Node
from core.state.summary import first_sentence, numbers_in
from utils.direction import Direction
from utils.prompt_builder import PromptBuilder
from utils.prompt_parts import Parts
from utils.prompt_text import BYTES_PER_TOKEN

EIGHTHS = (0.4, 0.32, 0.39, 0.28, 0.2, 0.33, 0.42, 0.08)


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


def test_a_plan_that_is_a_list_is_told_by_its_first_item():
    assert first_sentence("1. A shorter loop. It saves time.\n2. A table.") == "A shorter loop."
    assert first_sentence("2.5 times as much. Really.") == "2.5 times as much."


def test_a_line_tells_in_the_evaluators_words_why_a_program_gained_nothing():
    """A score of -1 for an answer that is none says nothing: no later writer learned what was wrong with it."""
    journal = Journal(lower_is_better=False)
    measured = {"score": 0.4, "valid": True, "feasible": 1.0, "seconds": 2.5}
    journal.append(node("a", 0.4, operator="draft", artifacts={"stderr": "fine"}, metrics=measured))
    journal.append(node("b", -1.0, ("a",), metrics={"score": -1.0, "error": "not every shelf once"}))
    journal.append(node("c", -1.0, ("a",), artifacts={"stderr": "an item\nin two bins " + "x" * 300}))
    journal.append(node("d", 0.5, ("a",), artifacts={"stderr": "all is well"}))
    first, second, third, fourth = journal.generate_summary().splitlines()
    assert "Returned" not in first and "Returned" not in fourth
    assert second.endswith(" - Returned: error: not every shelf once")
    assert " - Returned: stderr: an item in two bins xxx" in third and third.endswith("x…")
    assert len(third.partition("Returned: ")[2]) == 200
    journal.append(node("e", 0.0, ("a",), metrics={"score": 0.0, "valid": False, "feasible": 0.0, "seconds": 1.0}))
    assert journal.generate_summary().endswith(" - Returned: valid: 0 | feasible: 0")


def test_of_a_program_that_gained_nothing_a_line_tells_what_was_done_with_its_reply():
    """That lines outside of the block were put back was told to who improved it, and to nobody else."""
    journal = Journal(nodes=[node("a", 0.2, operator="draft")])
    note = "lines outside of the block were put back: 3 of what was handed in"
    journal.append(node("b", 0.1, ("a",), message=note))
    journal.append(node("c", 0.3, ("a",), message=note))
    _, worse, better = journal.generate_summary().splitlines()
    assert worse.endswith(f" - Noted: {note}") and "Noted" not in better


def test_of_a_traceback_a_line_tells_what_was_raised():
    printed = (
        'x = 0.5\n  File "/workspace/solution.py", line 5, in f\n    grid = np.ones(3)\n           ^^\nNameError: no np'
    )
    assert numbers_in(printed) == ["x = 0.5", "grid = np.ones(3)", "NameError: no np"]


def test_large_changes_are_told_without_an_exponent():
    champion, other = node("a", 1500.0, interval=(1300.0, 1700.0)), node("b", 2734.5, ("a",), interval=(2500.0, 2900.0))
    assert change_of(other, champion, Direction(lower_is_better=False)) == "1230 better, noise 140"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((0.95, 1.05), (0.94, 1.02), "no clear change: 0.02 better, noise 0.033"),
        ((0.99, 1.01), (0.97, 0.99), "0.02 better, noise 0.0072"),
        ((0.95, 1.05), None, "no clear change: 0.02 better, noise 0.036"),
        (None, None, "0.02 better"),
    ],
)
def test_a_change_is_told_against_what_measuring_again_changes(before, after, told):
    assert change_of(node("b", 0.98, interval=after), node("a", 1.0, interval=before), Direction(True)) == told


def test_the_noise_of_a_mean_of_few_scores_is_its_standard_error():
    """Their interval is Student's: of three scores it is 4.3 standard errors wide each way, and not 1.96."""
    verdict = averaged(Evaluation(metric=1.0), (1.0, 2.0, 3.0))
    many = node("a", verdict.metric, interval=verdict.interval, repeats=verdict.repeats)
    assert noise_of(many) == pytest.approx(3**-0.5)


def test_another_limit_tells_all_shares_anew():
    journal = Journal(lower_is_better=True, time_limit=100.0)
    journal.append(node("a", 0.3, exec_time=60.0))
    assert "took 50 to 75 % of its time" in journal.generate_summary()
    journal.tell_time_limit(65.0)
    journal.append(node("b", 0.2, exec_time=1.0))
    first, second = journal.generate_summary().splitlines()
    assert "took over 90 % of its time" in first and second.startswith("[1] ")


def test_who_came_near_to_another_limit_than_the_problems_one_is_told_so():
    """26 s of 300 in six calls of at most 60 were `25 to 50 % of its time`."""
    journal = Journal(lower_is_better=True, time_limit=60.0)
    journal.append(node("a", 0.3, exec_time=26.0, limit_share=0.09))
    journal.append(node("b", 0.2, exec_time=26.0, limit_share=0.8))
    first, second = journal.generate_summary().splitlines()
    assert " of its time" not in first and "took 75 to 90 % of its time" in second


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


def test_the_best_of_what_is_left_out_are_told_however_many_came_after_them():
    """The earliest of the best hundred were told where those that came after were weak."""
    journal = Journal()
    asked_at_once = Journal()
    for i in range(300):
        made = node(f"{i:03}", 5.0 + i if i in (3, 40, 41, 60, 90) else 4.0 - i / 100)
        journal.append(made)
        journal.generate_summary(max_tokens=1000)
        asked_at_once.append(made)
    told = journal.generate_summary(max_tokens=1000)
    assert [line.split()[0] for line in told.splitlines()[:5]] == ["[3]", "[40]", "[41]", "[60]", "[90]"]
    assert told == asked_at_once.generate_summary(max_tokens=1000), "what was told before changes nothing"


def test_code_is_told_of_what_was_among_the_best_when_it_came_and_half_of_it_goes_at_once():
    journal, told = Journal(), []
    for i in range(60):
        journal.append(node(f"{i:03}", i % 5 + i / 100).model_copy(update={"code": f"x = {i}\n" + "#" * 390}))
        told.append([shown.step for shown in journal.told_programs(max_tokens=600)])
    assert told[6] == [0, 1, 2, 3, 4], "5 is no better than the third best when it came"
    kept = [told[i][: len(told[i - 1])] == told[i - 1] for i in range(1, 60)]
    assert kept.count(False) == 5, "from step to step the list only grows, but for the halves that go"
    assert all(len(steps) <= 6 for steps in told) and told[-1][-1] == 59


def test_an_equal_score_and_a_program_that_is_too_long_are_not_told():
    journal = Journal(nodes=[node("a", 1.0), node("b", 1.0), node("c", 2.0).model_copy(update={"code": "#" * 9000})])
    assert [shown.id for shown in journal.told_programs(max_tokens=2000)] == []
    journal.append(node("d", 3.0))
    assert [shown.id for shown in journal.told_programs(max_tokens=2000)] == ["d"]
    assert [shown.id for shown in journal.told_programs(max_tokens=20_000)] == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("scores", "cases", "told"),
    [
        ((2.635983084917, 2.635983084918), ((), ()), "no change beyond rounding"),
        ((2.635983084, 2.635983099), ((), ()), "1.5e-08 better"),
        ((2.63, 2.63), ((), ()), "no change"),
        ((2.6359, 2.6360), ((), ()), "0.0001 better"),
        ((0.30, 0.31), ((0.20, 0.30, 0.40), (0.25, 0.28, 0.40)), "no clear change: 0.01 better, noise 0.021"),
        ((0.001, 0.002), ((40.0, 41.0, 39.0), (42.0, 41.0, 38.0)), "0.001 better, 1 of 3 cases better, 1 worse"),
        # average precision of 43 positives among 645 rows, and of eighths of them
        (
            (0.2252, 0.2504),
            (EIGHTHS, (0.4, 0.33, 0.49, 0.28, 0.19, 0.21, 0.35, 0.12)),
            "no clear change: 0.0252 better, noise 0.023",
        ),
    ],
)
def test_what_rounding_or_noise_can_make_is_no_progress(scores, cases, told):
    parent, child = (node("a", score, signature=case) for score, case in zip(scores, cases, strict=True))
    assert change_of(child, parent, Direction(False)) == told


def test_what_a_program_failed_with_before_it_was_repaired_is_told():
    """An argument that a library no longer takes was written again: its traceback went to one writer alone."""
    raised = "TypeError: LogisticRegression() got an unexpected keyword argument 'multi_class'"
    first = FailedAttempt(code="x", failure=FailureKind.RUNTIME, message=raised, term_out="")
    journal = Journal(nodes=[node("a", 0.2, operator="draft", attempts=(first,))])
    line = f"[0] draft: 0.2 - plan of a - Repaired, had failed (runtime): {raised}"
    assert journal.generate_summary() == line
    said = first.model_copy(update={"repair": "Without the argument. It was not needed."})
    journal = Journal(nodes=[node("a", 0.2, operator="draft", attempts=(said,))])
    assert journal.generate_summary() == f"{line}; mended: Without the argument."


def test_outcomes_are_told_with_their_reason():
    journal = Journal(nodes=[node("a", 1.0, operator="draft")])
    journal.append(node("b", None, ("a",), failure=FailureKind.TIMEOUT, message="past\n5 s"))
    journal.append(node("c", None, ("a",), is_valid=False, duplicate_of="a").model_copy(update={"is_buggy": False}))
    text = journal.generate_summary()
    assert "failed (timeout): past 5 s" in text and "the same program as [0], not run" in text
    told = {"failure": FailureKind.BAD_SUBMISSION, "message": "10 rows lack", "term_out": "cv: 0.31\n"}
    journal.append(node("d", None, **told))
    journal.append(node("e", None, **told | {"failure": FailureKind.EXIT}))
    text = journal.generate_summary()
    assert "failed (bad_submission): 10 rows lack - plan of d - Printed: cv: 0.31" in text
    assert text.count("Printed") == 1


def test_a_program_that_a_message_names_by_its_id_is_told_by_its_number():
    journal = Journal(nodes=[node("a5015e8e01d7", 1.0, operator="draft")])
    said = "on the probe states it decides as a5015e8e01d7 does, unlike f00000000000"
    journal.append(node("b", None, ("a5015e8e01d7",), message=said).model_copy(update={"is_buggy": False}))
    assert "it decides as [0] does, unlike f00000000000" in journal.generate_summary()


def test_code_is_shown_only_when_asked_for(family):
    assert "code of child" not in family.generate_summary()
    assert "code of child" in family.generate_summary(include_code=True)


def test_no_memory(family):
    assert remember(family, ("parent",), kind="none") == Memory()
    assert all(remember(Journal(), kind=kind) == Memory() for kind in ("none", "related", "all"))


def test_related_memory_is_children_ancestors_and_siblings_but_no_strangers(family):
    text = remember(family, ("parent",), kind="related").text
    assert text.count("plan of") == 4
    assert text.index("plan of uncle") < text.index("plan of grandparent") < text.index("plan of twin")
    assert "plan of stranger" not in text and "plan of far" not in text and "plan of parent" not in text


def test_a_prompt_that_is_short_of_room_keeps_the_nearest_relatives(family):
    """It kept the end of the memory, where the furthest stood."""
    parts = Parts(task="t" * 650, memory=remember(family, ("parent",), kind="related").text)
    prompt = PromptBuilder(215).build_explore_prompt("${task}\n\n${memory}", parts)
    lines = prompt.partition("```\n")[2].splitlines()
    assert lines[0].endswith("left out, since there is no room for them.)") and lines[-1] == "```"
    assert lines[1:-1] == parts.memory.splitlines()[-len(lines[1:-1]) :], "no line is cut in its middle"


def test_related_memory_of_a_draft_is_the_other_drafts_and_of_a_merge_both_families(family):
    draft = remember(family, (), kind="related").text
    assert "plan of grandparent" in draft and "plan of stranger" in draft and "plan of child" not in draft
    merged = remember(family, ("parent", "stranger"), kind="related").text
    assert "plan of child" in merged and "plan of far" in merged


def test_all_is_the_summary(family):
    assert remember(family, ("parent",), kind="all").text == family.generate_summary()


def test_the_cost_is_bounded_however_large_the_family():
    journal = Journal(nodes=[node("0", operator="draft")])
    for i in range(1, 3000):
        journal.append(node(str(i), 1.0, (str(i - 1),)))
        journal.append(node(f"s{i}", 1.0, ("0",)))
    text = remember(journal, ("2999",), kind="related", max_tokens=10_000).text
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
    memory = remember(journal, parents, kind=kind, max_tokens=max_tokens, code_tokens=max_tokens)
    assert len(memory.text.encode()) <= max_tokens * BYTES_PER_TOKEN
    assert sum(len(node.code.encode()) for node in memory.programs) <= max_tokens * BYTES_PER_TOKEN
