"""docs/prompts.md shows one real prompt of each operator: made here, from a small search, so that it stays true."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.builder_agent import BuilderAgent
from agents.coder_agent import CoderAgent
from agents.strategist_agent import StrategistAgent
from core.contracts import AgentContext, Prompt
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.state.task import Task
from utils.prompt_text import fence

PAGE = Path(__file__).resolve().parents[3] / "docs" / "prompts.md"
MARK = "## One prompt of each operator\n"
UPDATE = bool(os.environ.get("SWARM_EVO_UPDATE_GOLDEN"))
"""Set it to write the page's prompts anew after a template was changed on purpose."""

RIDGE = """\
import pandas as pd
from sklearn.linear_model import Ridge

train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
model = Ridge().fit(train[["Area", "Rooms"]], train["Price"])
out = pd.DataFrame({"Id": test["Id"], "Price": model.predict(test[["Area", "Rooms"]])})
out.to_csv("submission/submission.csv", index=False)
print("cv: 0.21")
"""
TRACE = """\
Traceback (most recent call last):
  File "/workspace/solution.py", line 5, in <module>
    model = Ridge().fit(train[["Area", "Room"]], train["Price"])
  File "<env>/lib/python3.11/site-packages/pandas/core/frame.py", line 4384, in __getitem__
    indexer = self.columns._get_indexer_strict(key, "columns")[1]
  File "<env>/lib/python3.11/site-packages/pandas/core/indexes/base.py", line 6302, in _get_indexer_strict
    self._raise_if_missing(keyarr, indexer, axis_name)
  File "<env>/lib/python3.11/site-packages/pandas/core/indexes/base.py", line 6355, in _raise_if_missing
    raise KeyError(f"{not_found} not in index")
KeyError: "['Room'] not in index"
"""
AT_WORK = {"ideas": ["Log of the price: errors are relative.", "Boosted trees: rooms and area act together."]}
RULE = "def score_bin(item, room):\n    return -(room - item)\n"


def scripts() -> Journal:
    """Four whole programs: a ridge, a crash, an improvement, a forest."""
    journal = Journal(lower_is_better=True, time_limit=300.0)
    for node in (
        Node(id="a", code=RIDGE, plan="Ridge on two columns. It is plain.", metric_value=0.21, operator="draft",
             signature=(0.20, 0.22, 0.21), term_out="cv: 0.21\n", claimed_metric=0.21, exec_time=3.0),
        Node(id="b", code=RIDGE.replace("Rooms", "Room", 1), plan="Ridge with scaled columns.", operator="draft",
             is_buggy=True, failure=FailureKind.RUNTIME, term_out=TRACE, message="KeyError: \"['Room'] not in index\""),
        Node(id="c", code=RIDGE.replace("Ridge()", "Ridge(alpha=10)"), plan="Raise alpha to 10.", metric_value=0.205,
             operator="improve", parent_ids=("a",), signature=(0.19, 0.22, 0.205), term_out="cv: 0.207\n",
             claimed_metric=0.207, exec_time=4.0),
        Node(id="d", code=RIDGE.replace("Ridge", "RandomForestRegressor").replace("linear_model", "ensemble"),
             plan="A forest finds what is not linear.", metric_value=0.208, operator="draft",
             signature=(0.21, 0.20, 0.214), term_out="cv: 0.212\n", claimed_metric=0.212, exec_time=120.0),
    ):  # fmt: skip
        journal.append(node)
    return journal


def functions() -> Journal:
    """Three functions: best fit, a child of it, and a rule that prefers full bins."""
    journal = Journal(lower_is_better=True)
    for node in (
        Node(id="e", code=RULE, plan="best_fit", metric_value=0.0416, operator="baseline", signature=(212, 208, 205),
             metrics={"excess over the bound": 0.0416, "lost in bins with 1 to 5 left": 0.036}),
        Node(id="f", code=RULE.replace("-(room - item)", "-(room - item) ** 2"), plan="Square the gap.",
             metric_value=0.0398, operator="mutate", parent_ids=("e",), signature=(211, 208, 204),
             metrics={"excess over the bound": 0.0398, "lost in bins with 1 to 5 left": 0.031}),
        Node(id="g", code=RULE.replace("-(room - item)", "item / room"), plan="Prefer bins that get full.",
             metric_value=0.0402, operator="generate", signature=(213, 206, 205)),
    ):  # fmt: skip
        journal.append(node)
    return journal


def context(journal: Journal, operator: str, *parents: str, steps_left: int = 12, **more) -> AgentContext:
    """What the loop gathers for a writer."""
    nodes = tuple(journal[name] for name in parents)
    task = Task(node_id="x", operator=operator, parent_ids=parents, round=2, slot=1, seed=1, generation=1)
    usual = {
        "statement": "Predict the price of a house, in dollars. Scored by RMSLE.", "steps_left": steps_left,
        "lower_is_better": True, "memory": journal.generate_summary(),
        "remembered": tuple(journal.told_programs(6000)), "writers": 2, "parents": nodes,
        "grandparents": tuple(journal[node.parent_id] for node in nodes if node.parent_id),
        "others": tuple(node for node in journal.top(9) if node.id not in parents), "time_limit": 300.0,
        "limits": "- wall clock 300 s a run or call; what still runs then is stopped and scores nothing\n"
                  "- memory 4,096 MB\n- no GPU",
    }  # fmt: skip
    return AgentContext(task=task, query=None, **{**usual, **more})


SCRIPT = {
    "preview": "train.csv: 1758 rows: Id, Area, Rooms, Price",
    "packages": "Python 3.12\nnumpy==2.4.6\nscikit-learn==1.9.1",
    "references": "- dummy: 0.41\n- ridge: 0.2",
    "extras": {"output_format": "submission/submission.csv with the columns Id, Price; last line `cv: NUMBER`"},
}  # fmt: skip
FUNCTION = {
    "statement": "Online bin packing: say how good it is to put an item into a bin. Metric: excess over the bound.",
    "extras": {
        "signature": "score_bin(item, room) -> float", "allowed_imports": ["math"],
        "cases": {"unit": "bins used", "names": ["first day (bound 203)", "second day (bound 200)"]},
    },
    "time_limit": None,
}  # fmt: skip
ENGINE = """\
class E:
    name = "two plies"

    def select_move(self, position, time_left_ms):
        ...


engine = E()
"""


def arena() -> AgentContext:
    journal = Journal()
    for name in ("champion", "runner-up"):
        journal.append(Node(id=name, code=ENGINE.replace("two plies", name), metric_value=12.0, operator="baseline"))
    asked = [{"category": "search", "question": "Order the moves by the killer heuristic?"}] * 2
    more = {"statement": "Write an engine for connect four. The metric is Elo.", "lower_is_better": False}
    game = {"extras": {"signature": "select_move(position, time_left_ms)"}, "shared": {"questions": asked}, **more}
    return context(journal, "build", "champion", "runner-up", time_limit=None, limits="", **game)


def prompts() -> dict[str, Prompt]:
    programs, single = CoderAgent(), CoderAgent(single_function=True)
    asked = {
        "draft": ((), scripts), "debug": (("b",), scripts),
        "improve": (("c",), scripts), "merge": (("c", "d"), scripts),
        "restart": (("c",), scripts), "control": ((), scripts),
        "generate": ((), functions), "mutate": (("f",), functions), "crossover": (("f", "g"), functions),
        "refine": (("f",), functions),
    }  # fmt: skip
    found = {}
    for name, (parents, made) in asked.items():
        of, coder = (SCRIPT, programs) if made is scripts else (FUNCTION, single)
        found[name] = coder.prompt(context(made(), name, *parents, **of))
    four = context(scripts(), "improve", "c", writers=4, ideas=4, shared=AT_WORK, **SCRIPT)
    found["ideas"] = CoderAgent().ideas_prompt(four)
    return {**found, "strategist": StrategistAgent().prompt(arena()), "build": BuilderAgent().prompt(arena())}


def page() -> str:
    """The part of the page below MARK: each system message once, each request whole."""
    parts, shown = [], set()
    for name, prompt in prompts().items():
        if prompt.system not in shown:
            shown.add(prompt.system)
            parts.append(f"### The system message of `{name}` and those that follow\n\n{fence(prompt.system, 'text')}")
        parts.append(f"### `{name}`\n\n{fence(prompt.user, 'text')}")
    return "\n\n".join(parts) + "\n"


def test_the_page_shows_the_prompts_as_they_are():
    text = PAGE.read_text(encoding="utf-8")
    head, _, below = text.partition(MARK)
    if UPDATE:
        below = f"\n{page()}"
        PAGE.write_text(head + MARK + below, encoding="utf-8")
    assert below.strip() == page().strip(), "a prompt changed; if on purpose, set SWARM_EVO_UPDATE_GOLDEN=1"


@pytest.mark.parametrize("name", ["draft", "debug", "improve", "merge", "generate", "mutate", "crossover", "refine"])
def test_every_prompt_of_a_family_begins_alike_and_ends_with_the_request(name):
    made = prompts()
    first = "draft" if name in ("draft", "debug", "improve", "merge") else "generate"
    assert made[name].system == made[first].system and "## What was tried so far" in made[name].user.splitlines()[0]
    assert made[name].user.rpartition("\n## ")[2].startswith("What you are to do")
