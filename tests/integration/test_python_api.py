"""`import swarm_evo`: a search from a script, in a child process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support.command_line import PLUGINS, ROOT

import swarm_evo

pytestmark = pytest.mark.usefixtures("forked_children")

TOY = {"problem__kind": "toy", "problem__plugins": str(PLUGINS), "logging__report": False}


def test_search_returns_the_best_program_and_its_run(tmp_path):
    result = swarm_evo.search(budget={"steps": 4}, project_dir=tmp_path, seed=3, **TOY)
    assert result.folder == tmp_path / "logs" / result.run
    assert result.best.code.startswith("x = ") and result.best.metric >= 0
    assert result.best.metric_source in ("verified", "unisolated")
    assert result.facts["steps"] == 4 and result.facts["config"]["project"]["seed"] == 3
    assert result.final_metric == pytest.approx(abs(float(result.best.code[4:]) - 2.001))
    same = swarm_evo.search(search={"max_steps": 4}, project_dir=tmp_path, seed=3, **TOY)
    assert same.facts["journal_sha256"] == result.facts["journal_sha256"], "a section as a dict"
    with pytest.warns(UserWarning, match=r"has ended already .*give it more: `swarm_evo.resume\(…\)`"):
        again = swarm_evo.resume(same.run, project_dir=tmp_path)
    assert again.facts == same.facts
    with pytest.raises(swarm_evo.SearchError, match=r'budget=\{"steps": 2\}: the run has begun 4 .* 4 or more'):
        swarm_evo.resume(same.run, budget={"steps": 2}, project_dir=tmp_path)
    frame = result.frame()
    assert list(frame["step"]) == [1, 2, 3, 4]
    assert frame["best_metric"].iloc[-1] == result.best.metric


def test_settings_may_come_from_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("search: {max_steps: 3, batch: 1}\nproject: {seed: 5}\n")
    with swarm_evo.start(config="mine.yaml", budget={"steps": 1}, **TOY) as run:
        facts = run.wait(600).facts
    assert facts["steps"] == 1 and facts["config"]["search"]["batch"] == 1 and facts["config"]["project"]["seed"] == 5


def test_a_section_is_a_mapping_whatever_its_name(tmp_path):
    """`problem` and `llm` are arguments of their own, and a mapping was taken for the name of a preset."""
    more = {"problem": {"kind": "toy", "plugins": str(PLUGINS)}, "llm": {"code": {"provider": "rules"}}}
    result = swarm_evo.search(**more, budget={"steps": 1}, project_dir=tmp_path, logging={"report": False})
    assert result.facts["steps"] == 1 and result.facts["writer"] == "rules"


def test_an_error_is_the_command_lines_own_line(tmp_path):
    with pytest.raises(swarm_evo.SearchError, match="did you mean 'search__num_drafts'"):
        swarm_evo.search(project_dir=tmp_path, search__num_draft=3, **TOY)
    with pytest.raises(swarm_evo.SearchError, match="evaluate="):
        swarm_evo.search(program="f.py", project_dir=tmp_path)


def test_what_cannot_be_pickled_is_one_clear_error(tmp_path):
    lock = __import__("threading").Lock()
    with pytest.raises(swarm_evo.SearchError, match="cannot be sent to another process"):
        swarm_evo.search(program="f.py", evaluate=lambda path: lock, direction="max", project_dir=tmp_path)


def test_importing_it_loads_nothing_else_of_ours(tmp_path):
    code = (
        "import sys, swarm_evo, json\n"
        "print(json.dumps(sorted({m.split('.')[0] for m in sys.modules} & "
        "{'core', 'utils', 'agents', 'cli', 'problems', 'pandas', 'sklearn', 'numpy', 'pydantic', 'cloudpickle'})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
