"""The form that starts a run: which model, at what price, what the whole would cost, and why a button does nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.command_line import Cli
from support.dashboard import serving
from support.pages import PATIENCE, expect

PLAN = ["--problem=bin_packing", "--problem.name=u120", "--llm=openai", "--search.max_steps=40"]


def open_form(page: Any, address: str, llm: str) -> None:
    page.goto(f"http://{address}/")
    page.get_by_role("button", name="Start a run").click()
    page.locator("select[name=problem]").select_option("bin_packing")
    page.locator("input[name=name]").fill("u120")
    page.locator("input[name=max_steps]").fill("40")
    page.locator("select[name=llm]").select_option(llm)


@pytest.mark.long
def test_a_model_is_chosen_by_its_price_and_the_run_is_quoted(page: Any, cli: Cli, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-asked")
    quoted = cli("run", "--plan", *PLAN, "--llm.code.model=gpt-4.1-mini").json
    with serving(cli.folder) as (address, _):
        open_form(page, address, "openai")
        page.locator("summary", has_text="Prices of openai").click()
        row = page.get_by_role("region", name="Prices of openai").get_by_role("row").filter(has_text="gpt-4.1-mini")
        for place, price in ((1, "$0.4000"), (2, "$1.60")):
            expect(row.locator("td").nth(place)).to_have_text(price)
        page.locator("input[name=model]").fill("gpt-4.1-mini")
        quote = page.get_by_label("Quote")
        quote.get_by_text("openai/gpt-4.1-mini").wait_for()
        for told in (f"About {quoted['proposals']} programs", "never more than $5.00",
                     f"about ${quoted['usd']:.4f}", f"(${quoted['usd_a_proposal']:.4f} each)"):  # fmt: skip
            expect(quote).to_contain_text(told)
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_enabled()
        assert not cli.runs, "a quote starts nothing"


@pytest.mark.long
def test_a_missing_key_and_what_cannot_be_are_told_beside_the_button(page: Any, cli: Cli, monkeypatch: Any) -> None:
    for name in ("OPENAI_API_KEY", "VLLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with serving(cli.folder) as (address, _):
        open_form(page, address, "openai")
        page.get_by_text(re.compile("Cannot start: .*OPENAI_API_KEY")).wait_for()
        start = page.get_by_role("button", name="Start", exact=True)
        expect(start).to_be_disabled()
        expect(start).to_have_attribute("title", re.compile("OPENAI_API_KEY"))
        page.locator("select[name=llm]").select_option("rules")
        page.get_by_label("Quote").get_by_text("No model is asked: no tokens, no cost").wait_for()
        expect(start).to_be_enabled()
        page.locator("select[name=llm]").select_option("vllm")
        page.get_by_text(re.compile("Cannot start: Model is not set")).wait_for()
        expect(start).to_be_disabled()
        page.locator("input[name=model]").fill("org/some-model")
        page.get_by_label("Quote").get_by_text("openai/org/some-model").wait_for()
        expect(start).to_be_enabled()


@pytest.mark.long
def test_what_is_still_to_be_chosen_is_asked_for_and_no_more_once_it_is(page: Any, cli: Cli) -> None:
    (cli.folder / "flats").mkdir()
    rows = "".join(f"{i},{i % 7},{3 * i + i % 7}\n" for i in range(60))
    (cli.folder / "flats" / "train.csv").write_text(f"rooms,floor,price\n{rows}")
    with serving(cli.folder) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_role("button", name="Start a run").click()
        page.locator("select[name=folder]").select_option("flats")
        page.get_by_text("Cannot start: choose a metric", exact=True).wait_for()
        page.locator("select[name=metric]").select_option("rmse")
        assert page.get_by_text("Cannot start").count() == 0, "it was told of the form as it was before"
        page.get_by_label("Classes, lowest first").fill("1,2")
        page.get_by_text(re.compile("Cannot start: Classes, lowest first 1,2: only metrics of classes")).wait_for()
        page.get_by_label("Classes, lowest first").fill("")
        page.get_by_label("Hidden rows").select_option("time:rooms")
        page.get_by_label("Quote").get_by_text("No model is asked").wait_for()
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_enabled()


@pytest.mark.long
def test_a_sweep_is_started_and_its_page_opened(page: Any, cli: Cli) -> None:
    with serving(cli.folder) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_role("button", name="Start a run").click()
        page.locator("select[name=problem]").select_option("tsp")
        page.locator("input[name=max_steps]").fill("1")
        page.locator("summary", has_text="Compare policies over seeds").click()
        for policy in ("mcts", "islands"):
            page.get_by_role("group", name="Policies of the sweep").get_by_label(policy, exact=True).check()
        page.locator("input[name='sweep.seeds']").fill("1")
        expect(page.locator("select[name=policy]")).to_be_disabled()
        page.locator("input[name=seed]").fill("7")
        page.locator("input[name='sweep.name']").fill("mine")
        page.get_by_role("button", name="Start the sweep").click()
        page.wait_for_url(re.compile(r"#/sweep\?name=mine"))
        page.get_by_text("policy=mcts").first.wait_for()
        runs = page.get_by_role("region", name="Runs of the sweep")
        runs.get_by_text("finished").nth(1).wait_for(timeout=2000 * PATIENCE)
        page.goto(f"http://{address}/#/")
        page.get_by_role("link", name="mine", exact=True).first.wait_for()
        expect(page.get_by_text("policy=mcts, seed 7")).to_have_count(1)
        page.get_by_role("link", name="mine", exact=True).first.click()
        gone = page.get_by_text("No sweeps yet")
        for _ in range(30):  # it is refused, with the reason, until the last run has closed its store
            page.get_by_role("button", name="Delete…").click()
            page.get_by_role("button", name="Remove").click()
            gone.or_(page.get_by_text("is running: stop it first")).wait_for()
            if gone.is_visible():
                break
            page.wait_for_timeout(1000)
            page.reload()
        gone.wait_for()
        assert not cli.runs


EVALUATOR = """\
import importlib.util


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"loss": abs(module.answer() - 41.0), "other": 1.0}
"""
PROGRAM = "# EVOLVE-BLOCK-START\ndef answer():\n    return 40.0\n# EVOLVE-BLOCK-END\n"


@pytest.mark.long
def test_a_program_and_its_evaluator_as_readme_names_them_are_started(page: Any, cli: Cli) -> None:
    folder = cli.folder / "mine"
    folder.mkdir()
    (folder / "evaluator.py").write_text(EVALUATOR)
    (folder / "program.py").write_text(PROGRAM)
    with serving(cli.folder) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_role("button", name="Start a run").click()
        page.locator("select[name=problem]").select_option("script")
        page.get_by_text("Cannot start: choose your folder").wait_for()
        expect(page.locator("select[name=folder] option")).to_have_text(["choose a folder", "mine"])
        page.locator("select[name=folder]").select_option("mine")
        for part in ("program", "evaluator"):
            expect(page.locator(f"select[name={part}]")).to_have_value(f"{part}.py")
        page.locator("input[name=metric]").fill("loss")
        page.locator("select[name=direction]").select_option("min")
        page.locator("input[name=max_steps]").fill("-2")
        page.get_by_text(re.compile("Cannot start: Steps: ")).wait_for()
        start = page.get_by_role("button", name="Start", exact=True)
        expect(start).to_be_disabled()
        expect(page.get_by_label("Quote")).to_have_text("")
        shade = "field => getComputedStyle(field).backgroundColor"
        shades = [page.locator(f"input[name={name}]").evaluate(shade) for name in ("max_steps", "seconds", "metric")]
        assert shades[0] != shades[1] == shades[2], "the field itself says that it is wrong"
        page.locator("input[name=max_steps]").fill("1")
        page.get_by_label("Quote").get_by_text("No model is asked").wait_for()
        start.click()
        page.wait_for_url(re.compile("#/run/"))
        page.get_by_test_id("stats").wait_for()


@pytest.mark.long
def test_escape_closes_the_form_from_its_fields_and_leaves_it_from_elsewhere(page: Any, cli: Cli) -> None:
    with serving(cli.folder) as (address, _):
        open_form(page, address, "rules")
        page.get_by_role("button", name="Start a run").focus()
        page.keyboard.press("?")
        page.get_by_role("dialog", name="Keys").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("dialog", name="Keys").wait_for(state="hidden")
        form = page.get_by_role("form", name="Start a run")
        assert form.is_visible(), "the dialog alone was closed"
        page.locator("input[name=max_steps]").focus()
        page.keyboard.press("Escape")
        form.wait_for(state="hidden")
