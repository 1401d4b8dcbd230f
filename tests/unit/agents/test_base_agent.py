"""Templates: ours, the problem's, the user's; and the golden prompts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.coder_agent import CoderAgent
from agents.reviewer_agent import ReviewerAgent
from agents.templates import OWN, SPECIAL, load_templates
from core.state.failure import FailureKind
from core.state.node import Node
from core.state.operators import BUILTIN, OperatorSpec, doing
from utils.errors import ConfigError
from utils.prompt_builder import PLACEHOLDERS, check_template

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "prompts"
UPDATE = bool(os.environ.get("SWARM_EVO_UPDATE_GOLDEN"))
"""Set it to write the golden files anew after a template was changed on purpose."""


def test_the_users_template_wins_over_the_problems_and_ours(tmp_path, context):
    problem, user = tmp_path / "problem", tmp_path / "user"
    for folder in (problem, user):
        folder.mkdir()
    (problem / "draft.md").write_text("PROBLEM ${task}")
    (problem / "build.md").write_text("BUILD ${task}")
    assert CoderAgent(problem_prompts=[problem]).prompt(context()).user.startswith("PROBLEM ## Task")
    (user / "draft.md").write_text("MINE ${task}")
    coder = CoderAgent(prompts_dir=user, problem_prompts=[problem])
    assert coder.prompt(context()).user.startswith("MINE")
    assert coder.prompt(context(operator="build")).user.startswith("BUILD")


def test_an_operator_that_no_writer_is_asked_for_is_refused(context):
    for name in ("tune", "baseline", "simplfy"):
        with pytest.raises(ConfigError, match=rf"operator {name}: no writer is asked for it; allowed: draft, debug"):
            CoderAgent().prompt(context(operator=name))


def test_an_operator_may_borrow_the_template_of_another(context):
    assert "Write a program from scratch" in CoderAgent().prompt(context(operator="build")).user
    parent = Node(id="p", code="x = 1", metric_value=1.0)
    assert "The program above works" in CoderAgent().prompt(context(operator="build", parents=(parent,))).user


def simplify(**more):
    fields = {"meaning": "shorter", "parents": 1, "rules": "change", "colour": "teal", "marker": "v", **more}
    return {**BUILTIN, "simplify": OperatorSpec.model_validate(fields)}


def test_an_operator_of_a_plug_in_brings_its_template_and_says_what_rules_do(context):
    coder = CoderAgent(operators=simplify(prompt="Say the same in fewer words.\n\n${attempt}\n\n${format}\n"))
    parent = Node(id="p", code="x = 1 + 1", metric_value=1.0)
    prompt = coder.prompt(context(operator="simplify", parents=(parent,)))
    assert prompt.user.startswith("Say the same in fewer words.") and "x = 1 + 1" in prompt.user
    assert prompt.context["rules"] == "change" and doing(prompt.context) == "change"
    assert "rules" not in coder.prompt(context(operator="improve", parents=(parent,))).context, "hashes stay"


def test_an_operator_without_a_template_is_an_error_at_the_start(tmp_path):
    with pytest.raises(ConfigError, match=r"operator simplify: there is no prompt template 'simplify\.md'"):
        CoderAgent(operators=simplify())
    with pytest.raises(ConfigError, match=r"simplify\.md.*colour"):
        CoderAgent(operators=simplify(prompt="${colour}"))
    (tmp_path / "simplify.md").write_text("SHORTER ${attempt} ${format}")
    assert CoderAgent(operators=simplify(), problem_prompts=[tmp_path]).templates["simplify"].startswith("SHORTER")


def test_faults_of_the_users_folder_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"prompts\.dir=.*no such folder"):
        load_templates(tmp_path / "none")
    (tmp_path / "drafts.md").write_text("x")
    with pytest.raises(ConfigError, match=r"drafts\.md.*did you mean 'draft\.md'"):
        load_templates(tmp_path)
    (tmp_path / "drafts.md").unlink()
    (tmp_path / "improve.md").write_text("${parnet}")
    (tmp_path / "README.md").write_text("not a template: ${anything}")
    with pytest.raises(ConfigError, match=r"improve\.md.*\$\{parnet\}"):
        load_templates(tmp_path)


@pytest.mark.parametrize("path", sorted(OWN.glob("*.md")), ids=lambda path: path.stem)
def test_our_own_templates_hold_only_known_placeholders(path):
    known = frozenset().union(*SPECIAL.values(), PLACEHOLDERS, {"champion", "question", "signature"})
    check_template(path.read_text(), path.name, SPECIAL.get(path.stem, known))


CASES = {
    "draft": ("draft", False, ()),
    "debug": ("debug", False, ("failed",)),
    "improve": ("improve", False, ("good",)),
    "merge": ("merge", False, ("good", "other")),
    "mutate": ("mutate", True, ("function",)),
    "crossover": ("crossover", True, ("function", "function2")),
}

NODES = {
    "failed": Node(
        id="f", code="import pandas as pd\n\npd.read_csv('input/train.csv')['prise']\n", plan="Read the target.",
        is_buggy=True, failure=FailureKind.RUNTIME, message="line 3: KeyError: 'prise'",
        term_out="Traceback (most recent call last):\n  File \"/workspace/solution.py\", line 3\nKeyError: 'prise'\n",
    ),
    "good": Node(
        id="g", code="# [SECTION: MODEL]\nmodel = 1\n", plan="A constant.", metric_value=0.25, term_out="done\n",
        genes={"MODEL": "model = 1"}, analysis="It predicts a constant.",
    ),
    "other": Node(id="o", code="# [SECTION: MODEL]\nmodel = 2\n", metric_value=0.5, genes={"MODEL": "model = 2"}),
    "function": Node(id="h", code="def priority(item, bins):\n    return -(bins - item)\n", metric_value=0.04),
    "function2": Node(id="i", code="def priority(item, bins):\n    return bins\n", metric_value=0.05),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_golden_prompts(name, context):
    operator, single, parents = CASES[name]
    task = context(
        operator=operator,
        parents=tuple(NODES[p] for p in parents),
        preview="" if single else "train.csv: 100 rows, columns Id, price",
        packages="" if single else "numpy 2.4.6\npandas 3.1.1",
        memory="[0] draft: metric 0.3\nPlan: ridge",
        notes=("prefer simple models",),
        extras={
            "signature": "priority(item: float, bins: list[float]) -> list[float]" if single else "",
            "output_format": "" if single else "submission/submission.csv with the columns Id, price",
            "allowed_imports": ["math", "numpy"] if single else "",
        },
    )
    prompt = CoderAgent(single_function=single).prompt(task)
    text = f"--- system\n{prompt.system}\n--- user\n{prompt.user}"
    check_golden(name, text)


def test_golden_review(context):
    task = context(['{"is_bug": true, "has_csv_submission": false, "summary": "s"}'], claims_only=True)
    ReviewerAgent().review(task, NODES["failed"])
    (call,) = task.query.calls
    check_golden("review", f"--- system\n{call['system']}\n--- user\n{call['user']}")


def check_golden(name, text):
    path = GOLDEN / f"{name}.txt"
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), "a prompt changed; if on purpose, set SWARM_EVO_UPDATE_GOLDEN=1 and read the diff"
