"""A list of runs opens only the stores that changed, and never shows what was."""

from __future__ import annotations

import json
import shutil

import pytest
from support.synthetic_runs import competition

from reports import run_index
from reports.run_index import FILE, RunIndex


@pytest.fixture
def logs(tmp_path):
    made = competition(tmp_path / "logs", 4, run="one")
    made.finish()
    shutil.copytree(tmp_path / "logs" / "one", tmp_path / "logs" / "two")
    return tmp_path / "logs"


@pytest.fixture
def opened(monkeypatch):
    """Names of the runs whose stores were opened."""
    names: list[str] = []
    read = run_index.read_line
    monkeypatch.setattr(run_index, "read_line", lambda folder: names.append(folder.name) or read(folder))
    return names


def listed(logs, index=None):
    folders = sorted(path for path in logs.iterdir() if path.is_dir())
    return [run.line for run in (index or RunIndex(logs)).lines(folders).values()]


def test_a_store_is_opened_once_for_all_processes(logs, opened):
    first = listed(logs)
    assert opened == ["one", "two"] and first[0].status == "finished" and first[0].steps == 4
    assert listed(logs) == first and opened == ["one", "two"], "another process reads the file"


def test_what_changed_is_read_again(logs, opened):
    index = RunIndex(logs)
    listed(logs, index)
    made = competition(logs, 6, run="three")
    assert [line.steps for line in listed(logs, index)] == [4, 6, 4]
    made.step()
    assert [line.steps for line in listed(logs, index)] == [4, 7, 4]
    assert opened == ["one", "two", "three", "three"]
    made.close()
    shutil.rmtree(logs / "one")
    assert [line.steps for line in listed(logs, index)] == [7, 4]
    assert set(json.loads((logs / FILE).read_text())["runs"]) == {"three", "two"}


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"version": 0, "runs": {}}', "\x00", "[" * 100_000,
     *(f'{{"version": {run_index.VERSION}, "runs": {runs}}}'
       for runs in ('{"one": [[], {"run": "one"}]}', '{"one": []}', '{"one": [1, {"run": "one"}]}', "[1]",
                    '{"one": [[0], {}]}', '{"one": [{"a": 1}, {"run": "one"}]}', "null", "7"))],
)  # fmt: skip
def test_a_damaged_file_is_made_anew(logs, text):
    first = listed(logs)
    (logs / FILE).write_text(text)
    assert listed(logs) == first == listed(logs)


def test_what_cannot_be_read_is_tried_again(logs, opened):
    store = (logs / "two" / "run.db").read_bytes()
    (logs / "two" / "run.db").write_bytes(b"no database" * 100)
    assert [line.status for line in listed(logs)] == ["finished", "unreadable"]
    listed(logs)
    assert opened == ["one", "two", "two"]
    (logs / "two" / "run.db").write_bytes(store)
    assert [line.status for line in listed(logs)] == ["finished", "finished"]
