"""The verdict's kind and words, from plain facts."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from reports.counts import Counts, effort
from reports.verdict import verdict_of
from reports.verdict_kind import IN_WORDS
from reports.winner import Winner

PAGE = (Path(__file__).parents[3] / "docs" / "search.md").read_text(encoding="utf-8")
BEGINNINGS = {
    kind: [".*".join(map(re.escape, words.split("…"))) for words in re.findall(r"`([^`]+)`", told)]
    for told, kind in re.findall(r"^\| (`.*`) \| [a-z ]+ \| `(\w+)` \|", PAGE, re.MULTILINE)
}
"""Kind → patterns of how its sentence begins, as docs/search.md tells."""
unchecked = verdict_of


@pytest.fixture(autouse=True)
def _sentences_begin_as_the_page_says(monkeypatch):
    def checked(*args):
        found = unchecked(*args)
        assert any(re.match(words, found.text) for words in BEGINNINGS[found.kind]), (found.kind, found.text)
        return found

    monkeypatch.setattr(sys.modules[__name__], "verdict_of", checked)


GOOD = {"node_id": "b1", "name": "best_fit", "metric": 2.0, "final": 2.1, "failure": None, "own": False}


def winner(**more):
    facts = {
        "node_id": "w", "name": "w", "role": "candidate", "chosen": True, "operator": "improve", "writer": "rules",
        "step": 4, "metric": 1.5, "interval": None, "metric_source": "verified", "final_metric": 1.6,
        "final_interval": None,
    }  # fmt: skip
    return Winner(**{**facts, **more})


def facts(**final):
    return {
        "status": "finished", "unit": "excess", "lower_is_better": True, "family": "heuristic", "writer": "rules",
        "rules_reach": "only changes numbers", "baselines": [GOOD], "final": {"node_id": "w", **final},
    }  # fmt: skip


def claim(gain, low, high):
    return {"baseline": "best_fit", "gain": gain, "interval": [low, high], "holds": low > 0}


def test_a_baseline_that_cannot_be_beaten_is_told_as_that_and_no_evaluator_is_blamed():
    best = winner(node_id="b1", name="best_fit", role="baseline", metric=0.0, final_metric=None)
    known = {**facts(), "optimum": [0.0, "no packing can use fewer bins"]}
    alike = Counts(steps=5, duplicates=1, scored=6, all_alike=True)
    told = verdict_of(best, known, alike)
    assert told.kind == "no_gain" and told.text.endswith("0 is the best score there is: no packing can use fewer bins.")
    assert "nothing to go by" not in told.text + "".join(told.warnings)
    assert "nothing to go by" in verdict_of(best, facts(), alike).text
    assert "best score there is" not in verdict_of(best.model_copy(update={"metric": 0.1}), known, alike).text


@pytest.mark.parametrize(
    ("made", "kind", "words"),
    [
        (claim(0.5, 0.2, 0.8), "better", "Better than best_fit on unseen cases: 1.6 against 2.1 excess (lower is "
         "better); it gains 0.5 (95 %, case by case: a gain of 0.2 to a gain of 0.8)."),
        (claim(0.1, -0.2, 0.4), "unclear", "Not told apart from best_fit on unseen cases: 2 against 2.1"),
        (claim(-0.5, -0.8, -0.2), "worse", "it loses 0.5 (95 %, case by case: a loss of 0.8 to a loss of 0.2): do not "
         "use it, keep best_fit."),
        (claim(0.0, 0.0, 0.0), "unclear", "the same on each case"),
        (claim(1.0, 1.0, 1.0), "better", "it gains 1 on each case"),
    ],
)  # fmt: skip
def test_a_comparison_case_by_case(made, kind, words):
    verdict = verdict_of(winner(final_metric=2.1 - made["gain"]), facts(claim=made), Counts())
    assert verdict.kind == kind and words in verdict.text
    assert verdict.interval is None or verdict.interval[0] < verdict.interval[1]


def test_the_whole_test_set_and_its_medal_are_told_where_others_publish_theirs():
    detail = {"whole_test": 0.25, "medal": "silver", "thresholds": {"gold": 0.1}}
    (told,) = verdict_of(winner(), facts(claim=claim(1, 0.5, 1.5), detail=detail), Counts()).warnings
    assert "whole test set" in told and told.endswith("0.25 excess; medal: silver")


def test_the_gain_is_the_difference_of_the_scores_that_are_shown():
    """A user subtracts. What an older version stored, a mean over cases in a unit of theirs, is left out."""
    told = verdict_of(winner(), facts(claim=claim(0.5, 0.2, 0.8)), Counts())
    assert told.gain == pytest.approx(2.1 - 1.6)
    rows = {**facts(claim=claim(0.5, 0.2, 0.8)), "family": "competition"}
    assert "it gains 0.5 (95 %, over draws of the rows: " in verdict_of(winner(), rows, Counts()).text
    rows["final"] = {**rows["final"], "detail": {"drawn": "whole groups"}}
    assert "it gains 0.5 (95 %, over draws of whole groups: " in verdict_of(winner(), rows, Counts()).text
    bins = verdict_of(winner(), facts(claim=claim(1.77, 0.9, 2.6)), Counts())
    assert "1.77" not in bins.text and bins.kind == "unclear" and "by the scores alone" in bins.text


@pytest.mark.parametrize(
    ("final", "interval", "other", "kind"),
    [
        (1.6, None, None, "unclear"),
        (2.5, None, None, "worse"),
        (2.1 + 1e-15, None, None, "unclear"),
        (1.6, (1.5, 1.7), (2.0, 2.2), "better"),
        (1.6, (1.5, 1.7), (1.6, 2.6), "unclear"),
        (1.6, (1.5, 1.7), None, "unclear"),
        (2.5, (2.4, 2.6), (2.0, 2.2), "worse"),
        (1.6, (1.5, 2.2), (2.0, 2.2), "unclear"),
    ],
)
def test_scores_alone_where_the_cases_cannot_be_paired(final, interval, other, kind):
    """One unseen instance on which first fit is better: worse, whatever validation said. Both scores are uncertain."""
    told = {**facts(cases=1), "baselines": [{**row, "final_interval": other} for row in facts()["baselines"]]}
    verdict = verdict_of(winner(final_metric=final, final_interval=interval), told, Counts())
    assert verdict.kind == kind and "2.1 excess (lower is better)" in verdict.text
    assert "the final part has only 1 case: little can be said of others" in verdict.warnings


def test_a_baseline_for_which_the_end_had_no_time_is_not_called_missing():
    told = {**facts(), "baselines": [{**row, "final": None, "final_interval": None} for row in facts()["baselines"]]}
    text = verdict_of(winner(), told, Counts()).text
    assert text.endswith("no baseline was scored there.") and "there is no baseline" not in text
    alone = verdict_of(winner(), {**facts(), "baselines": []}, Counts()).text
    assert alone.endswith("there is no baseline to compare with.")


def test_a_gain_over_the_baseline_without_an_unseen_part_is_not_confirmed():
    own = {**GOOD, "own": True, "final": None}
    verdict = verdict_of(winner(final_metric=None), {**facts(), "baselines": [own]}, Counts())
    assert (
        verdict.kind == "unconfirmed" and "Better than your program by 0.5 on the cases that chose it" in verdict.text
    )
    assert "No unseen part confirms it." in verdict.text


@pytest.mark.parametrize(("role", "named"), [("user", "your program"), ("baseline", "the baseline best_fit")])
def test_nothing_better_says_why(role, named):
    counts = Counts(steps=12, duplicates=10, failures={"timeout": 1})
    won = winner(role=role, node_id="b1", name="best_fit")
    verdict = verdict_of(won, facts(), counts)
    assert verdict.kind == "no_gain"
    assert verdict.text.startswith(f"Nothing beat {named}: it is still the best on the parts that choose, 1.5 excess")
    assert "10 of 12 steps were duplicates and 1 program failed. `rules` only changes numbers here" in verdict.text
    counts = Counts(steps=4, failures={"runtime": 2}, repaired=1)
    assert "2 programs failed in 4 steps." in verdict_of(won, facts(), counts).text
    assert effort(counts) == "4 steps: no duplicates, 2 programs failed (runtime 2), 1 repaired in its step"


def test_what_the_unseen_part_says_against_the_winner_is_told():
    rival = {**GOOD, "node_id": "b2", "name": "first_fit", "final": 1.0}
    won = winner(role="baseline", node_id="b1", name="best_fit", final_metric=2.1)
    verdict = verdict_of(won, {**facts(), "baselines": [GOOD, rival]}, Counts())
    assert verdict.kind == "no_gain" and "first_fit did better; the unseen part never chooses" in verdict.text


@pytest.mark.parametrize(("interval", "kind"), [((5, 80), "better"), ((-5, 80), "unclear"), ((-80, -5), "worse")])
def test_an_arena_is_measured_against_the_starting_champion(interval, kind):
    detail = {"head_to_head": {"wins_draws_losses": [6, 2, 4]}}
    told = {**facts(detail=detail), "family": "arena", "lower_is_better": False, "unit": "Elo"}
    verdict = verdict_of(winner(final_metric=30.0, final_interval=interval), told, Counts())
    assert verdict.kind == kind and "the starting champion on unseen games: +30 Elo (95 %" in verdict.text
    assert "6 won, 2 drawn, 4 lost" in verdict.text


def test_no_program_and_no_end():
    none = verdict_of(None, facts(), Counts(steps=5, failures={"runtime": 1, "timeout": 4}))
    assert none.kind == "none" and none.text == (
        "No valid program found in 5 steps; the commonest failure is timeout (4 of them)."
    )
    going = verdict_of(winner(), {**facts(), "status": "running", "baselines": []}, Counts())
    assert going.kind == "open" and "the best is 1.5 excess (lower is better), by validation alone." in going.text


@pytest.mark.parametrize("source", ["claimed", "unisolated"])
def test_who_vouches_is_told_where_nobody_independent_does(source):
    verdict = verdict_of(winner(metric_source=source), facts(claim=claim(0.5, 0.2, 0.8)), Counts())
    assert any(re.search("nobody checked|could have reached", warning) for warning in verdict.warnings)


# ---------------------------------------------------------------- what a stranger misread


OWN = {**GOOD, "own": True, "name": "seed", "metric": 2.0, "final": None}


def of_script(**final):
    return {**facts(**final), "lower_is_better": False, "unit": "score", "baselines": [OWN]}


def looks(*rows):
    return [{"node_id": name, "first": first, "again": again} for name, first, again in rows]


def test_a_winner_by_luck_is_not_told_apart_and_the_numbers_are_named():
    """A random evaluator: 0.996 chose it, 0.375 is what it scored next."""
    again = looks(("w", 0.996, [0.375, 0.61]), ("x", 0.98, [0.1, 0.9]), ("y", 0.97, [0.5, 0.2]))
    verdict = verdict_of(winner(metric=0.996, final_metric=None), of_script(looks=again), Counts(steps=40))
    assert verdict.kind == "worse", "the stored score of the own program is 2.0"
    fair = {**of_script(looks=again), "baselines": [{**OWN, "metric": 0.4}]}
    verdict = verdict_of(winner(metric=0.996, final_metric=None), fair, Counts(steps=40))
    assert verdict.kind == "unclear" and verdict.text.startswith("Not told apart from your program when scored again:")
    assert "0.4925 against 0.4 score (higher is better), the mean of 2 further scores against 1 score;" in verdict.text
    assert "(95 %: a loss of " in verdict.text and "No unseen part confirms it." in verdict.text
    (warning,) = verdict.warnings
    assert "does not give the same program the same score: the winner had 0.996, then 0.375, 0.61" in warning
    assert "a standard deviation of 0.3" in warning
    again[0]["failed"] = 1
    (warning,) = verdict_of(winner(metric=0.996, final_metric=None), of_script(looks=again), Counts(steps=40)).warnings
    assert "then 0.375, 0.61 and failed 1 time; one score" in warning


def test_scores_that_chose_nothing_are_compared_as_they_are():
    """Those by which the winner was the best of five need an interval that holds for all five."""
    again = looks(("w", 5.1, [5.0, 5.2]), ("b1", 2.0, [2.1, 2.05]), *((name, 4.0, [4.0, 4.1]) for name in "xyz"))
    among = choice(*((name, 4.0, False) for name in ("w", "b1", "x", "y", "z")))
    found = [
        verdict_of(winner(metric=5.1, final_metric=None), of_script(looks=rows, choice=among), Counts(steps=4))
        for rows in (again, [{**row, "before": [5.3]} if row["node_id"] == "w" else row for row in again])
    ]
    assert found[0].gain == found[1].gain == pytest.approx(3.025)
    wide, narrow = (verdict.interval[1] - verdict.interval[0] for verdict in found)
    assert narrow < 0.7 * wide and "then 5.3, 5, 5.2" in found[1].warnings[0]


def test_what_wins_by_its_mean_says_so_and_no_model_is_advised():
    again = looks(("b1", 0.71, [0.9, 0.55]), ("x", 0.6, [0.1, 0.9]))
    won = winner(role="user", node_id="b1", metric=0.71, final_metric=None)
    text = verdict_of(won, of_script(looks=again, choice=choice(("b1", 0.72, True))), Counts(steps=8)).text
    said = "0.71 score (higher is better) on validation and 0.72 by the mean of several scores."
    assert text.endswith(said), "the first is the one that all surfaces show"


def test_a_gain_far_beyond_the_spread_is_one():
    again = looks(("w", 5.1, [5.0, 5.2]), ("x", 4.1, [4.0, 4.1]), ("b1", 2.0, [2.1, 2.05]))
    verdict = verdict_of(winner(metric=5.1, final_metric=None), of_script(looks=again), Counts(steps=4))
    assert verdict.kind == "unconfirmed" and verdict.text.startswith("Better than your program when scored again")
    assert "5.1 against 2.075" in verdict.text and len(verdict.warnings) == 1
    low, high = verdict.interval
    assert verdict.gain == pytest.approx(3.025) and low < verdict.gain < high
    assert f"it gains 3.025 (95 %: a gain of {low:.4g} to a gain of {high:.4g})" in verdict.text


def test_a_score_that_is_a_mean_already_is_called_one():
    again = looks(("w", 5.0, [5.0, 5.2]), ("x", 4.1, [4.0, 4.1]))
    told = verdict_of(
        winner(metric=5.0, final_metric=None), of_script(looks=again), Counts(repeated={"w": (4.0, 5.0, 6.0)})
    )
    assert "the winner had 5 (mean of 3 scores), then 5, 5.2; one score has" in told.warnings[0]


@pytest.mark.parametrize("role", ["user", "candidate"])
def test_one_score_for_all_is_said_and_no_model_advised(role):
    counts = Counts(steps=12, scored=9, all_alike=True, duplicates=2)
    won = winner(role=role, node_id="b1" if role == "user" else "w", metric=2.0, final_metric=None)
    verdict = verdict_of(won, of_script(), counts)
    assert verdict.kind == "no_gain" and "language model" not in verdict.text
    assert (
        "Your evaluator gave the same score, 2 score (higher is better), to all 9 programs that have one"
        in verdict.text
    )
    few = verdict_of(won, of_script(), Counts(steps=1, scored=2, all_alike=True))
    assert "the same score" not in few.text


def choice(*rows):
    return [{"node_id": name, "metric": metric, "size": 1, "tie": tie} for name, metric, tie in rows]


def test_what_was_better_but_not_told_apart_is_no_nothing():
    """tsp, 3 steps: validation 0.324247 against 0.331354, and the simpler baseline was kept."""
    won = winner(role="baseline", node_id="b1", name="nearest_neighbour", metric=0.331354)
    among = choice(("n1", 0.324247, True), ("b1", 0.331354, True))
    verdict = verdict_of(won, facts(choice=among), Counts(steps=3))
    assert verdict.kind == "no_gain" and "Nothing beat" not in verdict.text and "still the best" not in verdict.text
    assert verdict.text.startswith(
        "Nothing was surely better than the baseline nearest_neighbour: one program had 0.324247 against 0.331354 "
        "excess (lower is better) on the parts that choose, but the two cannot be told apart"
    )
    alike = choice(("n1", 0.331354, True), ("b1", 0.331354, True))
    assert "scores the same" in verdict_of(won, facts(choice=alike), Counts(steps=3)).text
    arena = {**facts(choice=among), "family": "arena"}
    assert "cannot be told apart" not in verdict_of(won, arena, Counts(steps=3)).text, "no rule of the arena"


def test_the_score_of_the_second_look_is_named_beside_the_one_that_all_surfaces_show():
    won = winner(role="baseline", node_id="b1", name="best_fit", metric=9.0)
    among = choice(("b1", 2.5, True), ("n1", 3.0, False))
    told = verdict_of(won, facts(choice=among), Counts(steps=3)).text
    both = "9 excess (lower is better) on validation and 2.5 on the second look, at fresh cases too."
    assert f"still the best on the parts that choose, {both}" in told
    tied = choice(("n1", 2.4, True), ("b1", 2.5, True))
    told = verdict_of(won, facts(choice=tied), Counts(steps=3)).text
    assert (
        "one program had 2.4 against 2.5 excess (lower is better) on the second look, at fresh cases too, but" in told
    )


def test_a_run_that_broke_off_says_why():
    counts = Counts(steps=1, ended="ValueError: the table is gone")
    verdict = verdict_of(winner(), {**facts(), "status": "failed"}, counts)
    assert verdict.kind == "failed"
    assert verdict.text.startswith("The run failed after 1 step: ValueError: the table is gone. It can be resumed;")
    assert "no program has a score" in verdict_of(None, {**facts(), "status": "failed"}, counts).text


def test_a_run_without_a_step_did_not_fail_to_beat_anything():
    counts = Counts(ended="budget.seconds: 3 of 1 s")
    won = winner(role="baseline", node_id="b1", name="ridge", step=None)
    told = verdict_of(won, facts(), counts).text
    assert told.startswith("No step was taken: the run ended before the first one (budget.seconds: 3 of 1 s). The best")
    assert "the baseline ridge, 1.5 excess" in told and "Nothing beat" not in told
    assert "No baseline got a score either." in verdict_of(None, facts(), counts).text


def test_the_direct_match_says_what_it_is_about():
    """`Not told apart` stood beside `LOS 99.2 %`: one is of games against others, the other of the two alone."""
    duel = {"wins_draws_losses": [18, 2, 4], "los": 0.992, "elo": 200.0, "low": 60.0, "high": None}
    told = {**facts(detail={"head_to_head": duel}), "family": "arena", "lower_is_better": False, "unit": "Elo"}
    text = verdict_of(winner(final_metric=30.0, final_interval=(-5, 80)), told, Counts()).text
    assert "+30 Elo (95 % -5 to +80) by games of both against the same rivals, which decide; their direct" in text
    assert (
        "18 won, 2 drawn, 4 lost: +200 Elo (95 % +60 to no upper end), is one pairing alone and may say otherwise."
        in text
    )
    assert "better" not in text


def test_every_word_for_a_verdict_is_explained():
    """`unclear` and `no gain` stood in every list of runs, and nowhere in the documents."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "search.md").read_text(encoding="utf-8")
    for kind, words in IN_WORDS.items():
        assert f"| {words} | `{kind}` |" in page, kind
