"""What of a repository grades, and is shown to nobody who is graded."""

from __future__ import annotations

import pytest

from problems.command.tree.base import snapshot
from problems.command.tree.hidden_files import grading_files
from problems.command.tree.prompt_view import readable
from problems.command.tree.tree import Ground, Tree

MORE = {
    "tools/grade.py": "import json, os\nright = json.load(open(os.path.join('tools', 'answers.json')))\n",
    "tools/bench.py": "open('tools/inputs.txt')\n",
    "tools/answers.json": "[1]",
    "tools/inputs.txt": "1 2",
    "checks/run.py": "from checks.right import R\nimport src.lib, shared\nopen(f'{R}.ans')\n",
    "checks/right.py": "import os",
    "checks/one.ans": "1",
    "checks/plan.txt": "1",
    "checks/run.py.orig": "1",
    "shared.py": "open('shared data.txt')",
    "shared data.txt": "1",
    "main.py": "import shared",
    "answers.md": "1",
}
BOTH = ["tools/answers.json", "tools/grade.py"]
CHECKS = ["checks/one.ans", "checks/right.py", "checks/run.py", "checks/run.py.orig"]
CASES = {
    "the grader and its answers": (
        "python3 tools/grade.py {output}",
        ["sh x"],
        ["tools/answers.json", "tools/grade.py"],
    ),
    "also behind ./": ("python3 ./tools/grade.py", ["sh x"], BOTH),
    "not what candidates run": ("python3 tools/bench.py", ["python3 tools/bench.py"], []),
    "nor what other code names": ("python3 tools/grade.py", ["cat tools/answers.json"], ["tools/grade.py"]),
    "nor what may change": ("python3 src/a.py", ["sh x"], []),
    "a grader's modules and patterns": ("python3 checks/run.py", ["sh x"], CHECKS),
    "a grader that is a module": ("python3 -m checks.run {output}", ["sh x"], CHECKS),
    "a grader in its folder": ("sh -c 'cd checks && python3 run.py {output}'", ["sh x"], CHECKS),
    "nor a grader elsewhere": ("python3 ../grade.py", ["sh x"], []),
}


@pytest.mark.parametrize(("grader", "commands", "hidden"), CASES.values(), ids=CASES)
def test_the_grader_and_what_it_alone_leads_to_are_hidden(repository, tmp_path, grader, commands, hidden):
    for name, text in MORE.items():
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(text)
    ground = Ground(snapshot(repository, tmp_path / "bases"), ("src/**",))
    found = grading_files(ground, grader, commands)
    assert list(found) == hidden
    shown = Ground(ground.base, ground.editable, hidden=found)
    assert not {*readable(Tree(shown), list(ground.base.files))} & {*hidden}
    assert not any(shown.may_change(path) for path in hidden)
