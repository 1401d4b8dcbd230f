"""docs/scripting.md: every field that the page names is there, in a run that has ended."""

from __future__ import annotations

import json
import re

import pytest
from support.command_line import ROOT, Cli, Ended

from core.state.failure import FailureKind

PAGE = (ROOT / "docs" / "scripting.md").read_text(encoding="utf-8")
_VALUES = {"running", "finished", "interrupted", "failed", "min", "max", "list-runs", "show RUN", "metrics.json"}


def fields(begins: str) -> list[str]:
    """The names in a paragraph of the page, up to its first sentence that is no list of them."""
    (paragraph,) = re.findall(rf"^({re.escape(begins)}.*?)\n\n", PAGE, re.DOTALL | re.MULTILINE)
    text = re.sub(r"\([^()]*\)|\[[^\]]*\]\([^)]*\)", "", re.sub(r"\[`[^\]]*\]\([^)]*\)", "", paragraph))
    return [name for name in re.findall(r"`([\w. -]+)`", text) if name not in _VALUES]


@pytest.fixture
def answers(finished: Ended, cli: Cli) -> dict[str, set[str]]:
    """Paragraph → what the command answers."""
    shown = cli.show()
    scored = shown["best_node_id"]
    steps = json.loads((cli.run_dir / "metrics.json").read_text())
    return {
        "A run of `list-runs`": set(cli.here("list-runs", "--json").json[0]),
        "`show RUN`": set(shown),
        "A node there": {*shown["nodes"][0], *cli.node(scored)},
        "A step of": set(steps[0]),
    }


def test_the_fields_of_the_page_are_there(answers):
    for begins, known in answers.items():
        named = fields(begins)
        if begins == "A step of":  # the toy's policy has no generations
            named = named[: named.index("elapsed") + 1]
        assert len(named) > 8 and not [name for name in named if name not in known], begins


def test_every_failure_is_explained():
    text = (ROOT / "docs" / "search.md").read_text(encoding="utf-8").partition("## How a program fails")[2]
    table = text.partition("\n## ")[0]
    assert {kind.value for kind in FailureKind} == set(re.findall(r"`([a-z_]+)`", table)) - {"execution"}
