"""Secrets in a configuration, wherever they stand: no file, no page and no output of a run holds one of them."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.command_line import Cli

import swarm_evo

SECRET = "PLANTED-4f9a2c"
CONFIG = """
presets: {{problem: bin_packing, llm: openai}}
problem: {{name: u120}}
llm:
  cache: true
  code:
    provider: openai
    model: scripted
    base_url: "{url}"
    api_key: PLANTED-4f9a2c-key
    attempts: 1
    timeout: 5
    price: {{input: 0, output: 0}}
    extra: {{n: 1, extra_headers: {{Authorization: "Bearer PLANTED-4f9a2c-header"}}}}
dashboard: {{token: PLANTED-4f9a2c-token}}
notify: {{url: "http://127.0.0.1:9/PLANTED-4f9a2c-hook"}}
search: {{max_steps: 2, batch: 1, num_islands: 1}}
agent: {{review: never, repairs: 0}}
"""
PROGRAM = "```python\ndef score_bin(item, remaining_capacity):\n    return item - remaining_capacity - %d\n```"


@pytest.fixture(scope="module")
def server():
    with ChatServer(lambda request, number: PROGRAM % number) as running:
        yield running


@pytest.fixture(scope="module")
def planted_run(tmp_path_factory, server):
    """(its folder, how it ended, what it asked first) of a finished run with secrets in every place."""
    cli = Cli(tmp_path_factory.mktemp("planted"))
    url = server.url.replace("http://", f"http://me:{SECRET}-password@") + f"?api_key={SECRET}-query"
    config = CONFIG.format(url=url)
    (cli.folder / "seed.yaml").write_text(config)
    words = ["--config", "seed.yaml", "logging.report=true", "logging.level=DEBUG", "project.name=${env:PLANTED_NAME}"]
    ended = cli(*words, f"llm.feedback.base_url={url}", PLANTED_NAME="planted-name-7d1", timeout=400)
    (cli.folder / "seed.yaml").unlink()
    assert ended.code == 0, ended.err
    return cli.folder, ended, (server.headers[-2], server.requests[-2])


@pytest.fixture
def planted(cli, planted_run):
    """How that run ended, whose folder is the one of `cli`."""
    shutil.copytree(planted_run[0], cli.folder, symlinks=True, dirs_exist_ok=True)
    return planted_run[1]


def test_no_command_line_holds_a_secret_that_python_was_given(tmp_path, server):
    """Every user of the machine reads them: `ps` showed the key as long as the search went on."""
    shown = []

    def look(step):
        for line in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                shown.append(line.read_bytes())

    model = {"provider": "openai", "model": "scripted", "base_url": server.url, "api_key": f"{SECRET}-key"}
    result = swarm_evo.search(
        "bin_packing", problem__name="u120", budget={"steps": 1}, project_dir=tmp_path, on_step=look, llm__code=model,
        llm__code__price={"input": 0, "output": 0}, agent__review="never",
        llm__code__extra={"extra_headers": {"Authorization": f"Bearer {SECRET}-header"}},
    )  # fmt: skip
    assert server.headers[-1]["Authorization"] == f"Bearer {SECRET}-key", "it came there all the same"
    assert server.requests[-1]["extra_headers"]["Authorization"].endswith(f"{SECRET}-header")
    assert any(b"main.py" in line for line in shown) and not any(SECRET.encode() in line for line in shown)
    assert result.nodes


@pytest.mark.long
def test_no_file_and_no_output_holds_a_secret(cli, planted, planted_run):
    headers, request = planted_run[2]
    asked = request["extra_headers"]["Authorization"]
    assert asked == f"Bearer {SECRET}-header" and headers["Authorization"].startswith("Basic "), "all was used"
    run = cli.run_dir.name
    outputs = [planted.out + planted.err]
    for words in (
        ["show", run, "--json"],
        ["show", run],
        ["list-runs"],
        ["report", run],
        ["replay", run, "--speed=1000"],
    ):
        ended = cli.here(*words)
        assert ended.code == 0, ended.err
        outputs.append(ended.out + ended.err)
    export = ["export-best", run, "--recording", str(cli.folder / "recording"), "--out", str(cli.folder / "out")]
    assert cli.here(*export).code == 0  # what the run stored: no value of the environment is needed
    unset = cli.here("export-best", run)
    assert unset.code == 2 and "project.name is stored as ${env:PLANTED_NAME}, and that variable" in unset.line
    assert cli.here("export-best", run, PLANTED_NAME="again").code == 0
    assert all(SECRET not in text for text in outputs)
    files = [path for path in cli.folder.rglob("*") if path.is_file()]
    assert {"report.html", "config.yaml", "run.db", "manifest.json", "system.log"} <= {path.name for path in files}
    assert [str(path) for path in files if SECRET.encode() in path.read_bytes()] == []


@pytest.mark.long
def test_a_value_of_the_environment_is_stored_as_its_name(cli, planted):
    stored = cli.show(cli.run_dir.name)["config"]
    assert stored["project"]["name"] == "${env:PLANTED_NAME}"
    assert stored["llm"]["code"]["extra"] == {"n": 1, "extra_headers": {"Authorization": "********"}}
    assert stored["llm"]["code"]["base_url"].startswith("http://********@127.0.0.1:")
    assert "planted-name-7d1" not in (cli.run_dir / "config.yaml").read_text()


@pytest.mark.long
def test_a_resume_says_which_secret_it_lacks_and_takes_it(cli, planted, server):
    run = cli.run_dir.name
    given = {"PLANTED_NAME": "planted-name-7d1", "OPENAI_API_KEY": f"{SECRET}-key"}
    words = ["resume", run, "search.max_steps=3"]
    for key in ("llm.code.base_url", "llm.code.extra.extra_headers.Authorization", "llm.feedback.base_url"):
        refused = cli.here(*words, **given)
        assert refused.code == 2 and f"{key} is stored as" in refused.line and SECRET not in refused.line
        value = f"Bearer {SECRET}-header" if "extra" in key else server.url
        words.append(f"{key}={value}")
    refused = cli.here(*words, **given)
    assert refused.code == 2 and "notify.url is stored as" in refused.line
    ended = cli(*words, "llm.code.api_key=k", "notify.url=null", timeout=120, **given)
    assert ended.code == 0, ended.err
    shown = cli.show(run)
    assert shown["steps"] == 3 and shown["config"]["project"]["name"] == "${env:PLANTED_NAME}"
    assert SECRET not in json.dumps(shown) + ended.out
