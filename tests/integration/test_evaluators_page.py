"""docs/evaluators.md: the program and the evaluator of the page, searched by the page's own command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.command_line import ROOT, Cli

PAGE = (ROOT / "docs" / "evaluators.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_example_of_the_page_runs(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    for name, text in re.findall(r"```python\n# (\w+\.py)(.*?)```", PAGE, re.DOTALL):
        (cli.folder / name).write_text(f"# {name}{text}")
    search, cheats = re.findall(r"^python main\.py (.*evaluator.*)$", PAGE, re.MULTILINE)
    monkeypatch.chdir(cli.folder)
    ended = cli.here(*shlex.split(search), "search.max_steps=2", "logging.report=false")
    assert ended.code == 0, ended.err
    shown = cli.show()
    assert (shown["best_metric"], shown["metric_source"], shown["direction"]) == (1, "verified", "max")
    assert Path(cli.run_dir, "best_solution", "solution.py").is_file()
    said = cli.here(*shlex.split(cheats))
    assert said.code == 0 and "in a run none of them wins" in said.out and "in a run none of them wins" in PAGE
