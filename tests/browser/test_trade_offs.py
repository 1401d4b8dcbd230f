"""An evaluator with a second figure: the page shows which programs no other beats in both."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.dashboard import serving
from support.pages import expect

import swarm_evo

EVALUATOR = """
import importlib.util

def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    good, weight = program.found()
    return {"combined_score": good, "weight": weight}
"""
FOUND = ((3.0, 1.0), (5.0, 2.0), (4.0, 6.0), (9.0, 9.0))


def program(good: float, weight: float) -> str:
    return f"# EVOLVE-BLOCK-START\ndef found():\n    return {good}, {weight}\n# EVOLVE-BLOCK-END\n"


@pytest.mark.long
def test_programs_that_no_other_beats_in_both_stand_out(page: Any, tmp_path: Any) -> None:
    (tmp_path / "program.py").write_text(program(1.0, 5.0))
    (tmp_path / "evaluator.py").write_text(EVALUATOR)
    run = swarm_evo.open(
        program=tmp_path / "program.py", evaluate=tmp_path / "evaluator.py", direction="max",
        budget={"steps": len(FOUND)}, project_dir=tmp_path,
    )  # fmt: skip
    for good, weight in FOUND:
        ticket = run.ask()
        assert ticket and run.tell(ticket, code=program(good, weight))["metric"] == good
    run.result()
    run.close()
    with serving(tmp_path) as (host, _):
        page.goto(f"http://{host}/#/run/{run.name}/analysis")
        page.get_by_label("Figure").select_option("weight")
        front = page.get_by_role("region", name="Programs beaten by none in both").locator("tbody tr")
        expect(front.locator("td.num")).to_have_text(["1", "3", "2", "5", "9", "9"])
        page.get_by_label("Better").get_by_text("more is better").click()
        expect(front.locator("td.num")).to_have_text(["9", "9"])
        expect(page).to_have_url(re.compile(r"against=weight.*better=more|better=more.*against=weight"))
        page.reload()
        expect(front.locator("td.num")).to_have_text(["9", "9"])
        front.get_by_role("link").click()
        page.get_by_text("return 9.0, 9.0").first.wait_for()
