from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import pytest

from core.events import GenerationFinished, LadderCounted, Warned
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.storage.reader import RunReader
from reports.facts import read_facts
from reports.html import render, write_facts, write_report
from reports.markup import table

VOID = {"meta"}


class Outline(HTMLParser):
    """Checks that tags are balanced and gathers what could load or run something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.values: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values += [value or "" for _, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


def outline_of(run_dir):
    return Outline(render(read_facts(run_dir)))


def test_it_shows_all_that_a_reader_needs(full_run):
    text = outline_of(full_run).text
    for words in (
        "0.2 RMSLE", "verified", "lower is better", "0.25", "0.2 … 0.3", "best of 3", "revealed 3 times", "claimed 0.1",
        "baseline ridge", "failed: timeout",
        "0.25 against 0.41 RMSLE (lower is better), and their 95 % intervals do not overlap",
        "openai/gpt", "policy: three_phase", "5 steps", "sandbox: warm", "max_steps: 5 of 5 steps",
        "double x", "-x = 2", "+x = 3", "also from draft0", "ran past 5 s", "wall-clock limit",
        "Of 5 candidates, 1 needed no full evaluation", "1 call, cost $0.0123", "1,000", "Rook", "After generation 4",
        "of the scores: 6 rows are hidden",
        "note: try trees", "claimed 0.1, scored 0.2", "python main.py run '--data.goal=a b'", "replay run-1 --verify",
        "packages.numpy", "search.max_steps: 5", "llm.code.api_key: ********", "12.5 s",
    ):  # fmt: skip
        assert words in text, words
    with RunReader(full_run) as reader:
        assert reader.journal().sha256 in text


def test_it_says_which_attacks_the_sandbox_withstood(write_run, small_nodes):
    probes = [{"name": "network", "ok": True, "detail": ""}, {"name": "file_size", "ok": False, "detail": EVIL}]
    text = outline_of(write_run(small_nodes, sandbox={"tier": "lite", "probes": probes})).text
    assert "sandbox tier lite" in text and "1 of 2 attacks and checks passed" in text
    assert "network held" in text and "file size broken" in text and "alert(1)" in text


@pytest.mark.long
def test_three_thousand_programs_take_less_than_two_seconds_and_what_they_printed_is_not_read(write_run):
    """A real run stores its fingerprints; what a program printed is not part of the report."""
    journal = Journal(lower_is_better=True)
    for i in range(3_000):
        parents = (str(i // 2),) if i else ()
        code = "\n".join(f"x{k} = {i * k}" for k in range(40))
        node = Node(
            id=str(i), code=code, term_out=f"{i} printed\n" * 50, metric_value=1 + 1 / (i + 1), parent_ids=parents
        )
        journal.append(node)
    run_dir = write_run(list(journal))
    started = time.process_time()
    page = render(read_facts(run_dir))
    assert time.process_time() - started < 2.0
    assert len(page) < 2_000_000 and "printed" not in page


@pytest.mark.long
def test_the_file_stays_small_whatever_programs_and_models_wrote(write_run):
    flood = "word " * 80_000
    nodes = [
        Node(
            id=str(i), code=f"x = {i}  # {flood}\n", plan=flood, analysis=flood, metric_value=1.0 / (i + 1),
            parent_ids=(str(i - 1),) if i else (), message=flood,
        )
        for i in range(20)
    ]  # fmt: skip
    events = [Warned(text=flood) for _ in range(80)]
    page = render(read_facts(write_run(nodes, events=events)))
    assert len(page) < 1_500_000 and "more characters)" in page and "30 older ones are not shown" in page


def test_it_is_one_file_that_loads_and_runs_nothing(full_run, tmp_path):
    out = write_report(full_run, tmp_path / "out.html")
    page = out.read_text()
    outline = Outline(page)
    assert not outline.tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "a"}
    assert not {name for name in outline.attributes if name.startswith("on") or name in ("src", "href", "srcset")}
    assert "default-src 'none'" in page and "url(" not in page and "@import" not in page
    assert "prefers-color-scheme: dark" in page and [p.name for p in tmp_path.glob(".*")] == []


EVIL = "</code></pre></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\x1b[2J"


def test_nothing_that_a_program_or_model_wrote_becomes_markup(write_run):
    good = Node(
        id="a", code=EVIL, plan=EVIL, analysis=EVIL, metric_value=1.0, metric_source="claimed", writer=EVIL,
        message=EVIL, name=EVIL, operator="user", genes={EVIL: EVIL}, term_out=EVIL,
    )  # fmt: skip
    bad = Node(id="b", code=EVIL, is_buggy=True, failure=FailureKind.RUNTIME, message=EVIL, exc_type=EVIL)
    child = good.model_copy(update={"id": "c", "parent_ids": ("a",), "metric_value": 0.5, "code": "x\n" + EVIL})
    run_dir = write_run(
        [good, bad, child], problem=EVIL, unit=EVIL, writer=EVIL, baselines=[{"name": EVIL, "metric": 0.7}],
        environment={EVIL: EVIL}, config={EVIL: {"x": EVIL}}, origin={"words": [EVIL], EVIL: EVIL},
        final={"node_id": "c", "metric": None, "message": EVIL},
    )  # fmt: skip
    page = render(read_facts(run_dir))
    outline = Outline(page)
    assert not outline.tags & {"script", "img"} and "onerror" not in outline.attributes
    assert "\u202e" not in page and "\x1b" not in page
    assert outline.text.count("alert(1)") >= 10, "it is shown, as text"


def test_a_run_without_a_valid_program_says_so(write_run):
    failed = [
        Node(id=str(i), code="x", is_buggy=True, failure=FailureKind.NO_SUBMISSION, message="none") for i in range(3)
    ]
    text = outline_of(write_run(failed, final={"node_id": None})).text
    assert "No valid program found in 3 steps; the commonest failure is no_submission (3 of them)." in text
    assert "3 of 3 programs failed (100 %)" in text and "Line of descent" not in text


def test_a_baseline_that_failed_is_no_failed_step(write_run):
    broken = {"code": "x", "is_buggy": True, "failure": FailureKind.EXIT, "message": "none"}
    nodes = [Node(id="base", operator="baseline", name="old", **broken), Node(id="mine", operator="draft", **broken)]
    text = outline_of(write_run(nodes, final={"node_id": None})).text
    assert "No valid program found in 1 step; the commonest failure is exit (1 of them)." in text


def test_a_baseline_that_won_is_listed_among_the_baselines_too(write_run):
    nodes = [Node(id="base", operator="baseline", name="best_fit", code="x", metric_value=1.0, is_valid=True)]
    baselines = [
        {"name": name, "node_id": node_id, "metric": metric, "final": metric, "failure": None}
        for name, node_id, metric in (("best_fit", "base", 1.0), ("first_fit", "other", 2.0))
    ]
    text = outline_of(write_run(nodes, final={"node_id": "base", "metric": 1.0}, baselines=baselines)).text
    assert "winner: best_fit" in text and "baseline best_fit" in text and "baseline first_fit" in text


def test_a_run_that_has_just_begun_has_a_report(write_run):
    text = outline_of(write_run([], status="running", active_seconds=None)).text
    assert "No valid program yet." in text and "interrupted" in text


def test_rules_has_no_tokens_and_no_cost_rather_than_zero(write_run, small_nodes):
    outline = outline_of(write_run(small_nodes, writer="rules"))
    assert "no tokens, no cost" in outline.text and "writer: rules: not a language model" in outline.text
    assert "$0" not in outline.text


@pytest.mark.parametrize(
    ("source", "words"), [("unisolated", "could have reached the scoring"), ("claimed", "Nobody checked it")]
)
def test_who_vouches_for_the_score_is_said(write_run, source, words):
    run_dir = write_run([Node(id="a", code="x", metric_value=1.0, metric_source=source)], sandbox={"tier": "none"})
    text = outline_of(run_dir).text
    assert words in text and "The run had no sandbox" in text and "no separate final score" in text


def test_the_verdict_is_the_runs_and_the_choice_is_shown(write_run, small_nodes):
    final = {
        "node_id": "merged", "metric": 0.25, "interval": [0.2, 0.3], "cases": 400,
        "claim": {"baseline": "ridge", "gain": 0.16, "interval": [0.05, 0.27], "holds": True},
        "choice": [
            {"node_id": "better", "metric": 0.19, "size": 900, "difference": 0.0, "error": 0.0, "tie": True},
            {"node_id": "merged", "metric": 0.2, "size": 100, "difference": 0.01, "error": 0.02, "tie": True},
        ],
    }  # fmt: skip
    baselines = [{"name": "ridge", "metric": 0.4, "final": 0.41, "failure": None}]
    text = outline_of(write_run(small_nodes, final=final, baselines=baselines)).text
    said = "0.25 against 0.41 RMSLE (lower is better); it gains 0.16 (95 %, over draws of the rows: a gain of"
    assert f"Better than ridge on unseen rows: {said}" in text
    assert "second look" in text, "a score that is not the one on validation has a name"
    assert "merged (chosen)" in text and "the chosen one is simpler: 100 against 900" in text


def test_the_arena_says_what_its_games_carry(write_run):
    duel = {"wins_draws_losses": [6, 2, 4], "los": 0.74}
    final = {
        "node_id": "a", "metric": 30.0, "interval": [-5, 65.0], "message": "+30 Elo above the starting champion",
        "detail": {"games": 80, "head_to_head": duel},
    }  # fmt: skip
    nodes = [Node(id="a", code="x", metric_value=40.0, metric_source="verified", generation=0)]
    text = outline_of(write_run(nodes, unit="Elo", lower_is_better=False, family="arena", final=final)).text
    assert "Final: +30 Elo above the starting champion." in text
    assert "Not told apart from the starting champion on unseen games: +30 Elo (95 % -5 to +65)" in text
    assert "6 won, 2 drawn, 4 lost" in text and "head_to_head · los" in text


def test_a_stored_secret_is_masked_once_more(write_run):
    run_dir = write_run(
        [], config={"llm": {"code": {"api_key": "sk-very-secret"}}, "dashboard": {"token": "tok-secret"}}
    )
    page = render(read_facts(run_dir))
    assert "very-secret" not in page and "tok-secret" not in page and "llm.code.api_key: ********" in page


def test_a_wild_score_is_marked_at_the_edge(write_run):
    nodes = [
        Node(id=str(i), code=f"{i}", metric_value=m, metric_source="verified") for i, m in enumerate([1, 1.1, 1.2, 9e9])
    ]
    page = render(read_facts(write_run(nodes)))
    assert page.count('class="beyond op-violet"') == 1 and "step 4, draft 3: 9e+09" in page


def test_generations_draw_programs_the_best_and_the_average_of_the_best(write_run):
    nodes = [
        Node(id=f"{g}.{i}", code=f"x={g}{i}", metric_value=1.0 / (g + i + 1), metric_source="verified", generation=g)
        for g in range(4)
        for i in range(6)
    ]
    page = render(read_facts(write_run(nodes)))
    assert "average of the best five" in page and page.count('class="top-line"') == 1
    assert len(re.findall(r'class="(?:beyond )?op-grey"><title>step \d+, ', page)) >= 24


def test_rules_are_named_as_code_and_not_in_backticks(write_run, small_nodes):
    page = render(read_facts(write_run(small_nodes, writer="rules")))
    assert "The writer was <code>rules</code>, which" in page and "`" not in Outline(page).text


def test_the_rating_of_the_first_engines_is_no_generation_played(write_run, small_nodes):
    rated = [GenerationFinished(generation=n, ratings=[], promoted=[]) for n in (0, 1)]
    text = outline_of(write_run(small_nodes, events=rated)).text
    assert "After generation 1. Generation 0 rated the engines that the search began with." in text
    assert "were played" not in text


def test_a_column_of_numbers_stands_right_and_a_number_among_words_does_not():
    shown = table(["name", "score"], [["a", 1.5], ["b", None], ["c", 2], [3, "failed"]]).text
    assert shown.count('class="number"') == 5 and '<th scope="col" class="number">score</th>' in shown
    assert "<td>3</td>" in shown
    assert table(["name"], []).text.count("<th") == 2  # thead and its one cell


def test_a_curve_of_one_step_stands_in_the_middle(write_run):
    alone = Node(id="only", code="x = 1\n", metric_value=0.106993, metric_source="verified", operator="draft")
    page = render(read_facts(write_run([alone])))
    assert 'cx="414.0"' in page and page.count('class="tick middle"') == 1
    ticks = re.findall(r'class="tick end">([\d.]+)<', page)
    assert len(ticks) == len(set(ticks)) >= 4, ticks
    assert ">1 step<" in page


def test_a_baseline_that_wins_is_not_the_best_of_the_search(write_run, small_nodes):
    """`the best of 6` was said of a score that was none of the six, and the list of the chosen lacked the chosen."""
    ridge = Node(id="base-1", code="x = 0\n", operator="baseline", name="ridge", metric_value=0.1, writer="baseline",
                 metric_source="verified")  # fmt: skip
    rows = [{"node_id": n, "metric": m, "size": 9, "difference": 0, "error": 0, "tie": True}
            for n, m in (("merged", 0.2), ("better", 0.3))]  # fmt: skip
    final = {"node_id": "base-1", "metric": 0.15, "program": ridge.model_dump(mode="json"), "choice": rows}
    baselines = [{"name": "ridge", "node_id": "base-1", "metric": 0.1, "final": 0.15, "failure": None}]
    text = outline_of(write_run(small_nodes, final=final, baselines=baselines)).text
    assert "It differs by +0.05 from its own validation score." in text and "best of 3" not in text
    assert "ridge (chosen)" in text and "scored beside the search" in text


def test_a_run_that_broke_off_says_why_in_its_report(write_run, small_nodes):
    for nodes in ([], small_nodes):
        text = outline_of(write_run(nodes, status="failed", final=None)).text
        assert "The run failed after" in text


def _ended_at(*rungs: str | None) -> list[Node]:
    return [Node(id=f"n{at}", operator="draft", code=f"x = {at}", rung=rung) for at, rung in enumerate(rungs)]


@pytest.mark.parametrize(
    ("rungs", "told"),
    [([], None), ([None, None], None), (["text", "ast"], "Of 2 candidates, 2 needed"),
     (["text", None, None], "Of 3 candidates, 1 needed"), (["full", "text", "full"], "Of 3 candidates, 1 needed")],
)  # fmt: skip
def test_the_ladder_is_told_by_the_nodes(write_run, rungs, told):
    page = render(read_facts(write_run(_ended_at(*rungs))))
    assert told in page if told else "What the ladder saved" not in page


def test_a_round_that_a_kill_took_and_that_was_played_again_counts_once_on_the_ladder(write_run):
    twice = [LadderCounted(round=0, counts={"cheap": 2, "full": 1})] * 2
    assert "Of 3 candidates, 2 needed" in render(read_facts(write_run(_ended_at("full", "cheap", "cheap"), twice)))


def test_two_that_write_a_report_at_once_do_not_meet(tmp_path, monkeypatch):
    """Both wrote the same new file beside it: the second found that it was gone, and `report` was an error."""
    monkeypatch.setattr("reports.html.render", lambda facts: "x" * 100_000)
    with ThreadPoolExecutor(4) as pool:
        for written in pool.map(lambda number: write_facts(None, tmp_path / "report.html"), range(40)):
            assert written.stat().st_size == 100_000
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
