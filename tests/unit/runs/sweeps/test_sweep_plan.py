"""Which runs a sweep has, and what its table makes of them."""

from __future__ import annotations

import json
import os
import random
import time
from datetime import UTC, datetime, timedelta

import pytest

from core.storage.repository import RunStore
from reports.sweeps.names import setting_names
from reports.sweeps.plan import Plan, note_of, noted_run, sweep_folder
from reports.sweeps.table import CellFacts, rows_of, table_of
from runs.run_folder import later_than_all, new_run
from runs.sweeps import cells
from runs.sweeps.adoption import READY, adopt
from runs.sweeps.words import check_runs, seeds_of, settings_of
from swarm_evo.child import HANDED
from utils.direction import Direction
from utils.errors import ConfigError
from utils.secrets import masked_word


def test_settings_are_all_combinations_and_then_the_cases():
    found = settings_of(["search.policy=mcts,islands", "--search.batch=1,2"], ["search.control=1,search.batch=4"])
    assert found == (
        ("search.policy=mcts", "search.batch=1"), ("search.policy=mcts", "search.batch=2"),
        ("search.policy=islands", "search.batch=1"), ("search.policy=islands", "search.batch=2"),
        ("search.control=1", "search.batch=4"),
    )  # fmt: skip
    lists = settings_of(["llm.code.extra={a: 1, b: 2},null"], [])
    assert lists == (("llm.code.extra={a: 1, b: 2}",), ("llm.code.extra=null",)), "commas inside of a value stay"


@pytest.mark.parametrize("word", ["policy=a,b", "search.policy="])
def test_what_is_no_key_with_values_is_refused(word):
    with pytest.raises(ConfigError):
        settings_of([word], [])


def test_what_does_not_vary_is_one_setting_and_one_run_is_no_sweep():
    assert settings_of([], []) == ((),) and settings_of(["search.policy=mcts"], []) == (("search.policy=mcts",),)
    check_runs(((),), (1, 2))
    with pytest.raises(ConfigError, match="two runs at least"):
        check_runs(((),), (1,))


@pytest.mark.parametrize(
    ("vary", "cases", "told"),
    [
        (["project.seed=1,2"], [], "--vary project.seed=1,2: a sweep has seeds of its own, --seeds"),
        ([], ["search.batch=1", "project.seed=3"], "--case project.seed=3: a sweep has seeds of its own"),
        (["project.dir=a,b"], [], "all runs of a sweep lie in one project"),
        (["problem.name=u120,u500"], [], "another problem has other scores"),
        (["search.batch=1,2", "search.batch=3,4"], [], "search.batch stands twice in one setting"),
    ],
)
def test_what_a_sweep_decides_itself_is_no_setting(vary, cases, told):
    with pytest.raises(ConfigError, match=told):
        settings_of(vary, cases)


def test_seeds():
    assert seeds_of("1..5") == (1, 2, 3, 4, 5) and seeds_of("7,2,7") == (7, 2)
    for wrong in ("5..1", "one", ""):
        with pytest.raises(ConfigError, match="--seeds"):
            seeds_of(wrong)


def test_a_name_is_kept_for_one_plan(tmp_path):
    plan = Plan(words=("--problem=tsp",), settings=(("search.batch=1",), ("search.batch=2",)), seeds=(1, 2))
    folder = sweep_folder(tmp_path, plan.default_name)
    plan.keep(folder)
    plan.keep(folder)
    assert Plan.read(folder) == plan and len({cell.name for cell in plan.cells}) == 4
    with pytest.raises(ConfigError, match="another sweep"):
        plan.model_copy(update={"words": ("--problem=bin_packing",)}).with_those_of(folder)
    with pytest.raises(ConfigError, match=plan.default_name):
        Plan.read(sweep_folder(tmp_path, "other"))


def test_seeds_are_added_to_a_sweep_that_began_when_it_did(tmp_path):
    plan = Plan(words=("--problem=tsp",), settings=((),), seeds=(1, 2))
    assert plan.with_those_of(tmp_path) == plan
    plan.keep(tmp_path)
    os.utime(tmp_path / "plan.json", (1_000_000, 1_000_000))
    more = plan.model_copy(update={"seeds": (5, 2)}).with_those_of(tmp_path)
    more.keep(tmp_path)
    assert Plan.read(tmp_path).seeds == (1, 2, 5) and (tmp_path / "plan.json").stat().st_mtime == 1_000_000


def test_runs_of_a_sweep_are_its_own_whatever_the_clock_says(tmp_path):
    """Set back while a sweep was killed, its run was one of before it: the cell ran twice."""
    now, plan = datetime(2026, 1, 2, tzinfo=UTC), Plan(words=(), settings=((),), seeds=(1, 2))
    folder = sweep_folder(tmp_path / "logs", "mine")
    before = new_run(tmp_path, "a", now)
    plan.keep(folder, later_than_all(tmp_path, now - timedelta(days=1)))
    run = new_run(tmp_path, "a", now - timedelta(days=2))
    for one in (before, run):
        store = RunStore(one)
        store.put_fact("origin", {"words": [f"{READY}{note_of(folder, plan.cells[1])}"]})
        store.close()
    adopt(plan, folder)
    assert noted_run(folder, plan.cells[1]) == run.name and noted_run(folder, plan.cells[0]) is None


def test_a_key_that_was_typed_is_not_stored_and_another_goes_on_with_the_same_sweep(tmp_path):
    settings = (("search.batch=1",), ("search.batch=2",))
    plans = [Plan(words=(f"--llm.code.api_key={key}", "--llm=openai"), settings=settings, seeds=(1,))
             for key in ("sk-planted", "sk-other")]  # fmt: skip
    folder = sweep_folder(tmp_path, plans[0].default_name)
    assert plans[1].default_name == folder.name
    for plan in plans:
        plan.keep(folder)
    assert "sk-" not in (folder / "plan.json").read_text()
    table = table_of(plans[0], folder, lambda run: False)
    assert table.words == ("--llm.code.api_key=********", "--llm=openai")
    with pytest.raises(ConfigError, match="settings are stored and shown; name a variable") as refused:
        settings_of(["llm.code.api_key=sk-one,sk-two"], [])
    assert "sk-" not in str(refused.value)
    assert settings_of(["llm.code.api_key=${env:ONE},${env:TWO}"], [])


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("--llm.code.api_key=sk-1", "--llm.code.api_key=********"),
        ("dashboard.token=abc", "dashboard.token=********"),
        ("--llm.code.base_url=https://me:pw@host/v1?k=1", "--llm.code.base_url=https://********@host/v1?********"),
        ("--llm.code.extra={headers: {Authorization: Bearer x}}", "--llm.code.extra=********"),
        ("--llm.code.extra={top_k: 5}", "--llm.code.extra={top_k: 5}"),
        ("--problem.name=u500", "--problem.name=u500"),
        ("--i-accept-unsandboxed", "--i-accept-unsandboxed"),
    ],
)
def test_words_are_shown_without_secrets(word, shown):
    assert masked_word(word) == shown


@pytest.mark.parametrize(
    ("second", "lower_is_better", "said"),
    [
        ([1.1, 2.2, 3.1, 4.2, 5.1], False, "better"),
        ([1.1, 2.2, 3.1, 4.2, 5.1], True, "worse"),
        ([1.1, 1.8, 3.3, 3.7, 5.1], False, "not told apart"),
        ([1.1, 2.2, 3.1, None, 5.1], False, "too few seeds"),
    ],
)
def test_gains_are_paired_by_seed(second, lower_is_better, said):
    """Between seeds the scores differ by 4, within a seed by tenths: only pairs tell."""
    a, b = ("search.batch=1",), ("search.batch=2",)
    plan = Plan(words=(), settings=(a, b), seeds=(1, 2, 3, 4, 5))
    scores = {(a, seed): float(seed) for seed in plan.seeds}
    scores |= {(b, seed): score for seed, score in zip(plan.seeds, second, strict=True) if score is not None}
    finished = [CellFacts(setting=s, name="", seed=seed, status="finished") for s in (a, b) for seed in plan.seeds]
    first, row = rows_of(plan, finished, scores, Direction(lower_is_better))
    assert row.verdict == said and row.pairs == 5 - second.count(None) and row.without == second.count(None)
    assert first.gain is None and first.verdict == ""


def test_each_setting_is_compared_with_the_best_of_the_others():
    settings = tuple((f"search.batch={number}",) for number in (1, 2, 3))
    plan = Plan(words=(), settings=settings, seeds=(1, 2, 3, 4, 5))
    scores = {(setting, seed): 10.0 * place + seed + 0.1 * (seed % 2) * place
              for place, setting in enumerate(settings) for seed in plan.seeds}  # fmt: skip
    rows = rows_of(plan, [], scores, Direction(False))
    assert [row.rival for row in rows] == [settings[2], settings[2], settings[1]]
    assert [row.lead_verdict for row in rows] == ["worse", "worse", "better"]
    assert rows[2].lead == pytest.approx(10.06) and rows[2].gain == pytest.approx(20.12)
    assert [row.rival for row in rows_of(plan, [], scores, Direction(True))[:2]] == [settings[1], settings[0]]
    assert rows[0].rival_name == "batch=3"


def test_the_best_of_many_equal_settings_is_seldom_told_better():
    """Of ten settings that are the same one was told better or worse than the luckiest other in every second sweep, and
    better or worse than the first in every third one."""
    settings = tuple((f"search.batch={number}",) for number in range(10))
    plan = Plan(words=(), settings=settings, seeds=(1, 2, 3, 4, 5, 6))
    rng, told, over_first = random.Random(1), 0, 0
    for _ in range(40):
        scores = {(setting, seed): rng.gauss(0, 1) for setting in settings for seed in plan.seeds}
        rows = rows_of(plan, [], scores, Direction(False))
        told += any(row.lead_verdict in ("better", "worse") for row in rows)
        over_first += any(row.verdict in ("better", "worse") for row in rows)
    assert max(told, over_first) <= 6, "95 % mean two of forty"


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ([(), ("search.control=1",)], ["the defaults", "independent draws"]),
        ([("search.policy=mcts", "llm=rules", "llm.code.base_url=http://a.b/c", "search.control=0.1")],
         ["policy=mcts llm=rules base_url=http://a.b/c control=0.1"]),
        ([("llm.code.model=a", "llm.feedback.model=b"), ("llm.code.model=b", "llm.feedback.model=a")],
         ["code.model=a feedback.model=b", "code.model=b feedback.model=a"]),
        ([("search.mcts.c=1",), ("search.portfolio.mcts.c=1",)], ["search.mcts.c=1", "portfolio.mcts.c=1"]),
    ],
)  # fmt: skip
def test_settings_are_named_so_that_they_are_told_apart(settings, names):
    """Whose model is which: both keys were shown as `model=`, in the terminal and on the page."""
    assert list(setting_names(settings).values()) == names


def test_a_large_sweep_has_its_table_in_time_that_grows_as_its_runs():
    """The best of the others was looked for anew for each setting: 26 CPU-seconds at each look of the page."""
    settings = tuple((f"search.batch={number}",) for number in range(4000))
    plan = Plan(words=(), settings=settings, seeds=(1, 2))
    scores = {(setting, seed): float(place) for place, setting in enumerate(settings) for seed in plan.seeds}
    finished = [CellFacts(setting=setting, name="", seed=1, status="finished") for setting in settings]
    began = time.process_time()
    assert rows_of(plan, finished, scores, Direction(True))[0].rival == settings[1]
    assert time.process_time() - began < 5


def test_a_key_that_was_typed_is_on_no_command_line_of_a_run(monkeypatch):
    """Every user of the machine sees those."""
    begun = []

    class Process:
        pid, returncode = 1, 0

        def __init__(self, command, *, env, **more):
            begun.append((command, json.loads(env[HANDED])))

        def communicate(self):
            return "", ""

    monkeypatch.setattr(cells.subprocess, "Popen", Process)
    words = ["run", "--llm.code.api_key=sk-planted-7", "--search.batch=2", "--project.seed=1"]
    assert cells._UnderWay(lambda: None).run(words, claim=0) == (0, "")
    ((command, handed),) = begun
    assert command[2:] == ["run", "--search.batch=2", "--project.seed=1"] and handed == [
        "llm.code.api_key=sk-planted-7"
    ]
