"""`setup`: the entry is there, what others wrote stays, and all of it goes again."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from support.command_line import ROOT, Cli

from runs.mcp.entries import CLIENTS, NAME, command

FOREIGN = {"mcpServers": {"other": {"command": "x"}}, "mcp": {"other": {}}, "theme": "dark"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))


def settings(client: str, folder: Path) -> Path:
    return folder / "codex" / "config.toml" if client == "codex" else folder / CLIENTS[client].settings


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "codex"])
def test_an_entry_is_written_beside_others_and_taken_out_again(client, tmp_path):
    cli, path = Cli(tmp_path), settings(client, tmp_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(FOREIGN))
    for _ in range(2):
        said = cli.here("setup", client)
        assert said.code == 0 and str(path) in said.out
        written = json.loads(path.read_text())
        assert written["theme"] == "dark" and len(written[CLIENTS[client].section]) == 2
    entry = written[CLIENTS[client].section][NAME]
    words = entry["command"] if client == "opencode" else [entry["command"], *entry["args"]]
    assert words == command()
    assert entry.get("alwaysLoad") == (True if client == "claude-code" else None)
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}) + "\n"
    done = subprocess.run(words, input=hello, capture_output=True, text=True, cwd=tmp_path)
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "swarm-evo", "what is written starts"
    assert cli.here("setup", client, "--remove").code == 0
    assert json.loads(path.read_text()) == FOREIGN


def test_codex_keeps_its_own_lines(tmp_path):
    cli, path = Cli(tmp_path), settings("codex", tmp_path)
    path.parent.mkdir()
    before = 'model = "gpt-5"  # mine\n[mcp_servers.other]\ncommand = "x"\n'
    path.write_text(before)
    for _ in range(2):
        assert cli.here("setup", "codex").code == 0
        written = tomllib.loads(path.read_text())
        assert [written["mcp_servers"][NAME]["command"], *written["mcp_servers"][NAME]["args"]] == command()
    assert path.read_text().startswith(before)
    assert cli.here("setup", "codex", "--remove").code == 0 and path.read_text() == before


OWN = {
    "mcpServers": {NAME: {"command": "uvx", "args": ["swarm-evo", "mcp"], "env": {"A": "1"}}, "other": {}},
    "mcp": {},
}
OWN_TOML = f'model = "m"\n\n[mcp_servers.{NAME}]\ncommand = "own"\n\n[mcp_servers.{NAME}.env]\nA = "1"\n'


@pytest.mark.parametrize("client", ["claude-code", "opencode", "codex"])
def test_a_users_own_server_of_our_name_is_refused_then_kept_and_put_back(client, tmp_path):
    cli, path = Cli(tmp_path), settings(client, tmp_path)
    own = json.loads(json.dumps(OWN))
    own[CLIENTS[client].section] = own.pop("mcpServers")
    before = OWN_TOML if client == "codex" else json.dumps(own)
    read = tomllib.loads if client == "codex" else json.loads
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before)
    refused = cli.here("setup", client)
    assert refused.code == 2 and "did not write" in refused.line and f"setup {client} --force" in refused.line
    assert path.read_text() == before
    assert "stays" in cli.here("setup", client, "--remove").out and path.read_text() == before
    said = cli.here("setup", client, "--force")
    assert said.code == 0 and "replaced a server" in said.out and "--remove puts it back" in said.out
    assert cli.here("setup", client).code == 0, "ours is written again without a word"
    entry = read(path.read_text())[CLIENTS[client].section][NAME]
    assert command()[0] in (entry["command"], entry["command"][0])
    assert "put yours back" in cli.here("setup", client, "--remove").out
    assert read(path.read_text()) == read(before)
    assert not list(path.parent.glob(f"*before-{NAME}"))


def test_an_entry_of_another_checkout_is_ours(tmp_path):
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {NAME: {"command": "/old/python", "args": ["/old/main.py", "mcp"]}}}))
    assert Cli(tmp_path).here("setup", "cursor").code == 0
    assert json.loads(path.read_text())["mcpServers"][NAME]["command"] == command()[0]


def test_all_of_it_goes_and_leaves_nothing(tmp_path):
    cli = Cli(tmp_path)
    assert cli.here("setup", "all").code == 0
    assert (tmp_path / ".claude" / "skills" / "swarm-evo-write" / "SKILL.md").is_file()
    assert cli.here("setup", "all", "--remove").code == 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_skill_that_the_user_changed_stays(tmp_path):
    cli, skills = Cli(tmp_path), tmp_path / ".claude" / "skills"
    assert "wrote" in cli.here("setup", "claude-code").out
    again = cli.here("setup", "claude-code").out
    assert again.count("already in") == 2 and "wrote" not in again
    mine = skills / "swarm-evo-write" / "SKILL.md"
    mine.write_text(mine.read_text() + "Mind the tests.\n")
    said = cli.here("setup", "claude-code", "--remove").out
    assert f"{mine.parent} is not as `setup` writes it" in said and mine.read_text().endswith("Mind the tests.\n")
    assert [path.name for path in skills.iterdir()] == ["swarm-evo-write"]
    assert "nothing to take out" in cli.here("setup", "claude-code", "--remove").out
    mine.unlink()
    (tmp_path / "other").mkdir()
    there = Cli(tmp_path / "other")
    there.here("setup", "claude-code")
    there.here("setup", "claude-code", "--remove")
    assert not list((tmp_path / "other").iterdir()), "no empty folder of ours"


@pytest.mark.parametrize("broken", ["{", "[1]", "\xff", '{"mcpServers": []}'])
def test_settings_that_cannot_be_read_stay_as_they_are(tmp_path, broken):
    path = tmp_path / ".mcp.json"
    path.write_bytes(broken.encode("latin-1"))
    said = Cli(tmp_path).here("setup", "claude-code")
    assert said.code == 2 and ".mcp.json" in said.line
    assert path.read_bytes() == broken.encode("latin-1")


@pytest.mark.parametrize("removing", [(), ("--remove",)])
def test_all_goes_on_behind_a_client_whose_settings_cannot_be_read(tmp_path, removing):
    cli, broken = Cli(tmp_path), {name: settings(name, tmp_path) for name in ("claude-code", "codex", "cursor")}
    if removing:
        assert cli.here("setup", "all").code == 0
    for path in broken.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mcpServers = {")
    if removing:
        del broken["codex"]  # its own lines are found in any text
    said = cli.here("setup", "all", *removing)
    lines = said.err.splitlines()
    assert said.code == 2 and len(lines) == len(broken), "a line each"
    for line, (name, path) in zip(lines, broken.items(), strict=True):
        assert line.startswith(f"swarm-evo: {path}: ") and "mend it first" in line, name
        assert path.read_text() == "mcpServers = {"
    for name in ("gemini-cli", "opencode"):
        assert settings(name, tmp_path).is_file() != bool(removing) and f"{name}: " in said.out


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / ".claude").write_text("a file where a folder is to be")
    said = Cli(tmp_path).here("setup", "claude-code")
    assert said.code == 2 and ".claude" in said.line


def test_an_unknown_client_is_told_the_known_ones(tmp_path):
    said = Cli(tmp_path).here("setup", "vim")
    assert said.code == 2 and "claude-code" in said.line


def test_the_skills_and_the_plugin_have_the_form_that_clients_read():
    plugin = ROOT / "swarm_evo" / "plugin"
    skills = sorted(plugin.glob("skills/*/SKILL.md"))
    assert [path.parent.name for path in skills] == [
        f"swarm-evo-{word}" for word in ("inspect", "run", "setup", "write")
    ]
    for path in skills:
        head = re.fullmatch(r"---\nname: (\S+)\ndescription: (.+)\n---\n.*", path.read_text(), re.DOTALL)
        assert head and head[1] == path.parent.name
        assert "Use " in head[2].partition("\n")[0] and len(head[2].partition("\n")[0]) <= 1024
        assert path.read_text().count("\n") <= 200
    assert json.loads((plugin / ".claude-plugin" / "plugin.json").read_text())["name"] == "swarm-evo"
    assert json.loads((plugin / ".mcp.json").read_text())["mcpServers"]["swarm-evo"]["alwaysLoad"] is True
    (listed,) = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())["plugins"]
    assert (ROOT / listed["source"]).resolve() == plugin
