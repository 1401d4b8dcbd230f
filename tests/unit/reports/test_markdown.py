"""The report as Markdown: whole, and nothing in it that a program could have set free."""

from __future__ import annotations

import re
import time

from support.synthetic_runs import competition

from core.state.node import Node
from reports.facts import read_facts
from reports.markdown import render_markdown, write_markdown


def test_it_says_the_verdict_the_scores_and_the_change(tmp_path):
    made = competition(tmp_path / "logs", 30, run="told")
    made.finish()
    text = write_markdown(tmp_path / "logs" / "told", tmp_path / "report.md").read_text()
    assert made.best is not None
    assert text.startswith("## competition/diabetes: ") and "| baseline mean | 77.1 |" in text
    assert re.search(rf"\| winner, {made.best.id}, step \d+ \| {made.best.metric_value:.6g} \|", text)
    assert (
        made.best.code.strip().splitlines()[-1] in text
        and "```diff" in text
        and "30 steps: " in text
        and ", written by rules" in text
    )


def test_a_program_stands_in_a_fence_of_its_own_language(write_run):
    node = Node(id="a" * 12, code="fn main() {}\n", metric_value=1.0, metric_source="verified")
    final = {"node_id": node.id, "metric": None}
    folder = write_run([node], final=final, config={"problem": {"program": "solve.rs"}})
    assert "```rust\nfn main() {}" in render_markdown(read_facts(folder))


def test_texts_of_programs_stay_in_their_fences(tmp_path):
    made = competition(tmp_path / "logs", 0, run="hostile")
    made.store.put_fact("problem", "<img src=x> [a](http://b) @all")
    for _ in range(6):
        made.step(code="x = 1\n````\n# free <script>alert(1)</script>\n```\n")
    made.finish()
    text = write_markdown(tmp_path / "logs" / "hostile", tmp_path / "report.md").read_text()
    fences = re.findall(r"^(`{3,})(\w*)$", text, re.MULTILINE)
    outside = re.sub(r"(?ms)^(`{5,})\w*\n.*?^\1$", "", text)
    assert ("`````", "python") in fences and "<script>" not in outside
    assert "<img" not in outside.replace("\\<", "") and "[a](" not in outside and "\\@all" in outside


def test_programs_of_many_lines_are_compared_by_their_beginnings(write_run):
    """Lines that all occur elsewhere, in another order, are what a comparison takes longest for."""
    codes = ["\n".join(f"x{i * step % 19_997 % 997}" for i in range(20_000)) for step in (1, 7)]
    line = [
        Node(id=str(i) * 12, code=code, metric_value=2.0 - i, metric_source="verified", parent_ids=("0" * 12,) * i)
        for i, code in enumerate(codes)
    ]
    facts = read_facts(write_run(line))
    began = time.process_time()
    text = render_markdown(facts)
    assert time.process_time() - began < 3
    assert "```diff\n--- first ancestor" in text and "Only the first 1500 lines are compared." in text
