"""A run or a recording that somebody sent can be looked at; what it names is executed only on the user's word."""

from __future__ import annotations

import json
import shutil
import sqlite3

import pytest
from support.chat_server import ChatServer
from support.command_line import PLUGINS, toy_words

from cli.demo import PACKAGED

FLAG = "--i-trust-this-run"
PLUGIN = f"""
from pathlib import Path
Path(r"RAN").touch()
exec(Path(r"{PLUGINS / "toy.py"}").read_text())
"""


@pytest.fixture
def ran(tmp_path):
    """A file that the plug-in leaves when it is executed."""
    return tmp_path / "ran"


@pytest.fixture
def project(cli_at, tmp_path, ran):
    """A project with a run that came from elsewhere and names a plug-in."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "toy.py").write_text(PLUGIN.replace("RAN", str(ran)))
    author = cli_at("author")
    ended = author.here("problem.kind=toy", f"problem.plugins={tmp_path / 'theirs'}", "search.max_steps=3")
    assert ended.code == 0 and ran.exists(), ended.err
    ran.unlink()
    mine = cli_at("mine")
    shutil.copytree(author.run_dir, mine.folder / "logs" / author.run_dir.name)
    return mine


LOOKED_AT = [("show", "latest"), ("list-runs",), ("report", "latest"), ("replay", "latest", "--speed=1000")]
EXECUTING = [
    ("resume", "latest", "search.max_steps=4"), ("replay", "latest", "--verify"), ("export-best", "latest"),
    ("step", "latest"), ("fork", "latest", "--node", "NODE"),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("words", LOOKED_AT, ids=lambda words: words[0])
def test_it_can_be_looked_at(project, ran, words):
    ended = project(*real(project, words))
    assert ended.code == 0 and not ran.exists(), ended.err


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [EXECUTING[0], *(pytest.param(words, marks=pytest.mark.long) for words in EXECUTING[1:])],
    ids=lambda words: " ".join(words[:3:2]),
)
def test_what_would_execute_its_code_asks_first(project, ran, words):
    refused = project(*real(project, words))
    assert refused.code == 2 and not ran.exists()
    assert "problem.plugins=" in refused.line and FLAG in refused.line
    meant = project(*real(project, words), FLAG)
    assert meant.code == 0 and ran.exists(), meant.err


@pytest.mark.long
def test_a_run_that_was_trusted_once_goes_on(project):
    assert project(*real(project, ("resume", "latest", "search.max_steps=4")), FLAG).code == 0
    again = project(*real(project, ("resume", "latest", "search.max_steps=5")))
    assert again.code == 0, again.err


@pytest.mark.long
def test_ones_own_run_needs_no_word_until_it_names_other_code(cli, finished, tmp_path, ran):
    assert cli("export-best", "latest").code == 0, "it began in this project"
    (tmp_path / "toy.py").write_text(PLUGIN.replace("RAN", str(ran)))
    with sqlite3.connect(cli.run_dir / "run.db") as store:
        text = store.execute("SELECT value FROM facts WHERE key = 'config'").fetchone()[0]
        changed = json.loads(text)
        changed["problem"]["plugins"] = str(tmp_path)
        store.execute("UPDATE facts SET value = ? WHERE key = 'config'", (json.dumps(changed),))
    refused = cli("export-best", "latest")
    assert refused.code == 2 and FLAG in refused.line and not ran.exists()


@pytest.mark.long
def test_words_of_ones_own_replace_what_it_names(project, ran):
    ended = project(*real(project, ("export-best", "latest")), f"problem.plugins={PLUGINS}")
    assert ended.code == 0 and not ran.exists(), ended.err


@pytest.mark.long
def test_who_is_asked_by_a_run_from_elsewhere_is_trusted_first(cli_at):
    """Its address would have got the prompts, and with a masked key the one of this machine."""
    author, mine = cli_at("author"), cli_at("mine")
    with ChatServer(lambda request, number: f"```python\nx = {number}\n```") as server:
        ended = author.here(*toy_words(2, *server.words(), "agent.review=never", "search.batch=1"))
        assert ended.code in (0, 3), ended.err
        asked = len(server.requests)
        shutil.copytree(author.run_dir, mine.folder / "logs" / author.run_dir.name)
        name = author.run_dir.name
        trust = f"problem.plugins={PLUGINS}"
        refused = mine.here("resume", name, "search.max_steps=4", trust)
        assert refused.code == 2 and "llm.code.base_url=" in refused.line and FLAG in refused.line
        assert len(server.requests) == asked, "nobody was asked"
        assert mine.here("replay", name, "--verify", trust).code == 0, "every answer is in the record"
        assert mine.here("resume", name, "search.max_steps=3", trust, "--llm=rules").code in (0, 3)
        assert len(server.requests) == asked
        assert author.here("resume", name, "search.max_steps=3").code in (0, 3), "one's own asks on"
        assert len(server.requests) > asked


@pytest.mark.parametrize("key", ["problem.plugins", "problem.evaluator", "problem.grade", "execution.python"])
def test_a_recording_names_built_in_problems_only(cli, tmp_path, ran, key):
    (tmp_path / "toy.py").write_text(PLUGIN.replace("RAN", str(ran)))
    manifest = json.loads((PACKAGED / "weak" / "manifest.json").read_text())
    section, name = key.split(".")
    manifest["config"][section][name] = str(tmp_path if name == "plugins" else tmp_path / "toy.py")
    folder = tmp_path / "recording"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    shutil.copy(PACKAGED / "weak" / "calls.jsonl", folder)
    ended = cli.here("demo", "--recording", str(folder))
    assert ended.code == 2 and f"{key}=" in ended.line and not ran.exists()


def real(project, words):
    """The words with the run's own name: there is no `latest` in a folder where nothing began."""
    node = project.show(project.run_dir.name)["nodes"][0]["node_id"]
    return [{"latest": project.run_dir.name, "NODE": node}.get(word, word) for word in words]
