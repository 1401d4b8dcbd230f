"""What a caller of Python is told names arguments and calls, not options and verbs."""

from __future__ import annotations

import pytest

import swarm_evo
from swarm_evo.language import in_python


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("--problem: unknown preset 'x'", "problem: unknown preset 'x'"),
        ("say --data.train=FILE", "say data__train=FILE"),
        ("no runs; start one with `python main.py`", "no runs; start one with `swarm_evo.start(…)`"),
        ("no runs; start one with `swarm-evo run --problem tsp`", "no runs; start one with `swarm_evo.start(…)`"),
        (
            "unknown key 'search.polcy' (did you mean 'search.policy'?)",
            "unknown key 'search__polcy' (did you mean 'search__policy'?)",
        ),
        ("unknown key 'search.batch' in one word: a file's", "unknown key 'search.batch' in one word: a file's"),
        ("search.batch=x: not a number", "search__batch=x: not a number"),
        ("search.max_steps=6: allowed: 8 or more", 'budget={"steps": 6}: allowed: 8 or more'),
        ("search.batch='two words': not a number", "search__batch='two words': not a number"),
        ("data.target=['y', 'b']: no such column", "data__target=['y', 'b']: no such column"),
        ("budget.seconds=-1: below 0", 'budget={"seconds": -1}: below 0'),
        ("project.dir=/gone: no such folder", "project_dir=/gone: no such folder"),
        ("data.train=/a/b.csv: no rows", "data__train=/a/b.csv: no rows"),
        ("/tmp/a.b=c/run.db cannot be read", "/tmp/a.b=c/run.db cannot be read"),
        ("`swarm-evo resume r --search.max_steps=8`", "`swarm_evo.resume(…)`"),
        ("`swarm-evo export-best r --bundle DIR` writes one", "`swarm_evo.export_best(…)` writes one"),
        ("`swarm-evo config KEY`", "`the command line(…)`"),
        ("--seeds: only with --refit", "seeds: only with refit=True"),
        ("--out /a/b: cannot be written", "out=/a/b: cannot be written"),
        ("--bundle holds what is stored: leave out --out, or", "bundle= holds what is stored: leave out out=, or"),
        ("add --i-accept-unsandboxed to mean it", "add accept_unsandboxed=True to mean it"),
        ("--case a: KEY=VALUE", "cases=a: KEY=VALUE"),
        ("--folder-of x --names", "--folder-of x --names"),
    ],
)
def test_options_become_arguments_and_verbs_calls(typed, told):
    assert in_python(typed) == told


def test_an_error_of_the_child_is_told_so(tmp_path):
    with pytest.raises(swarm_evo.SearchError, match=r"^swarm-evo: problem: unknown preset 'nonsense'"):
        swarm_evo.open(problem="nonsense", project_dir=tmp_path)
    with pytest.raises(swarm_evo.SearchError, match=r"or say data__train=FILE"):
        swarm_evo.open(problem="competition", project_dir=tmp_path, data__dir=str(tmp_path))
