"""The entry of our server in the settings of coding agents: where it stands, how it is written and taken out again."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from runs.mcp.kept_entries import KeptEntry, is_ours, without_tables
from utils.errors import ConfigError
from utils.file_utils import in_place_of
from utils.user_path import user_path

NAME = "swarm-evo"
MAIN = Path(__file__).resolve().parents[2] / "main.py"
_BEGIN, _END = f"# {NAME}: begin (written by `setup`)", f"# {NAME}: end"


@dataclass(frozen=True, slots=True)
class Client:
    """One coding agent.

    Args:
        program: what it is called on the command line.
        settings: its file, below the project; `~` is the user's home.
        section: the key of the settings under which servers stand.
        skills: folder of its skills, as `settings`; '' where it has none.
    """

    program: str
    settings: str
    section: str
    skills: str = ""
    form: Literal["json", "toml"] = "json"


CLIENTS: dict[str, Client] = {
    "claude-code": Client("claude", ".mcp.json", "mcpServers", ".claude/skills"),
    "codex": Client("codex", "~/.codex/config.toml", "mcp_servers", ".agents/skills", "toml"),
    "gemini-cli": Client("gemini", ".gemini/settings.json", "mcpServers", ".gemini/skills"),
    "opencode": Client("opencode", "opencode.json", "mcp", ".opencode/skills"),
    "cursor": Client("cursor-agent", ".cursor/mcp.json", "mcpServers"),
}


def command() -> list[str]:
    """The server's command line, which holds in any folder."""
    return [sys.executable, str(MAIN), "mcp"]


def write(name: str, project: Path, *, force: bool = False) -> Iterator[str]:
    """Write one client's entry and skills; tells what was written, a line each.

    Args:
        force: replace a server of our name that somebody else wrote; it is kept, and `remove` puts it back.
    Raises:
        ConfigError: its settings cannot be read or written, or hold such a server; they stay as they are.
    """
    client = CLIENTS[name]
    path = _settings_of(client, project)
    if client.form == "toml":
        text, others = _with_toml(_text(path), path)
    else:
        plain = _json(path)
        servers = _servers(plain, client, path)
        other = servers.get(NAME)
        others = "" if other is None or is_ours(other, _entry(name)) else json.dumps(other, indent=2) + "\n"
        plain[client.section] = {**servers, NAME: _entry(name)}
        text = json.dumps(plain, indent=2) + "\n"
    if others:
        yield _keep(name, path, others, force=force)
    is_there = _text(path) == text
    if not is_there:
        _replace(path, text)
    yield (
        f"{name}: the server '{NAME}' is already in {path}"
        if is_there
        else (f"{name}: wrote the server '{NAME}' into {path}")
    )
    if client.skills:
        yield from _write_skills(name, _place(client.skills, project))
    if shutil.which(client.program) is None:
        yield f"{name}: there is no program '{client.program}' here yet; it will find the entry when it is installed"


def _write_skills(name: str, folder: Path) -> Iterator[str]:
    new = [skill for skill in _skills() if not _is_as_shipped(folder / skill.name, skill)]
    for skill in new:
        with _kept_as_it_is(folder / skill.name):
            shutil.copytree(skill, folder / skill.name, dirs_exist_ok=True)
    there = ", ".join(skill.name for skill in new or _skills())
    yield f"{name}: wrote {there} into {folder}" if new else f"{name}: {there} are already in {folder}"


def _remove_skills(name: str, folder: Path) -> Iterator[str]:
    """Take out those that nobody changed, and the folders that are empty then."""
    found = [(folder / skill.name, skill) for skill in _skills() if (folder / skill.name).is_dir()]
    for place, skill in found:
        if not _is_as_shipped(place, skill):
            yield f"{name}: {place} is not as `setup` writes it (somebody changed it); it stays"
            continue
        with _kept_as_it_is(place):
            shutil.rmtree(place)
        yield f"{name}: removed {place}"
    for empty in (folder, folder.parent) if found else ():
        with suppress(OSError):  # it holds something of somebody else
            empty.rmdir()


def _is_as_shipped(place: Path, skill: Path) -> bool:
    """True if the folder holds the skill's files and no other."""
    ours, theirs = (
        {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}
        for top in (skill, place)
    )
    return ours == theirs


def _keep(name: str, path: Path, others: str, *, force: bool) -> str:
    """Keep a server that is not ours before it is replaced; says where."""
    if not force:
        raise ConfigError(
            f"{path}: there is a server '{NAME}' that `setup` did not write; rename it, or let "
            f"`setup {name} --force` replace it: it is kept, and `--remove` puts it back"
        )
    kept = KeptEntry(path, NAME)
    with _kept_as_it_is(kept.path):
        kept.keep(others)
    return f"{name}: replaced a server '{NAME}' of your own; it is kept in {kept.path}, and --remove puts it back"


def remove(name: str, project: Path) -> Iterator[str]:
    """Take out what `write` wrote, and put back what it replaced; what others wrote stays."""
    client = CLIENTS[name]
    path = _settings_of(client, project)
    if path.is_file():
        kept = KeptEntry(path, NAME)
        back = kept.take()
        text = _text(path)
        rest = _without_toml(text) + back if client.form == "toml" else _without_json(name, client, path, kept)
        if rest is None or (client.form == "toml" and _BEGIN not in text):
            yield f"{name}: in {path} is no server '{NAME}' that `setup` wrote; what is there stays"
        else:
            if rest.strip():
                _replace(path, rest)
            else:
                with _kept_as_it_is(path):
                    path.unlink()
            kept.done()
            yield f"{name}: took the server '{NAME}' out of {path}" + (", and put yours back" if back else "")
    else:
        yield f"{name}: there is no {path}; nothing to take out"
    if client.skills:
        yield from _remove_skills(name, _place(client.skills, project))


def _without_json(name: str, client: Client, path: Path, kept: KeptEntry) -> str | None:
    """The settings without our server, or with what it had replaced; None where the server there is another's."""
    plain = _json(path)
    servers = _servers(plain, client, path)
    if NAME in servers and not is_ours(servers[NAME], _entry(name)):
        return None
    servers.pop(NAME, None)
    if (entry := kept.entry()) is not None:
        servers[NAME] = entry
    if not servers:
        plain.pop(client.section, None)
    return json.dumps(plain, indent=2) + "\n" if plain else ""


def _entry(name: str) -> dict[str, Any]:
    words = command()
    if name == "opencode":
        return {"type": "local", "command": words, "enabled": True}
    plain: dict[str, Any] = {"command": words[0], "args": words[1:]}
    if name == "claude-code":  # without it, headless runs on a busy machine begin without our tools
        return {"type": "stdio", **plain, "alwaysLoad": True}
    return plain


def _with_toml(text: str, path: Path) -> tuple[str, str]:
    """(the settings with our block at the end, a server of our name that others wrote).

    The standard library writes no TOML, so the rest stays as text.
    """
    rest, others, section = _without_toml(text), "", CLIENTS["codex"].section
    try:
        known = tomllib.loads(rest)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is no TOML ({error}); mend it first") from error
    if NAME in _servers(known, CLIENTS["codex"], path):
        rest, others = without_tables(rest, section, NAME, path)
    words = command()
    # `required`: without it, runs on a busy machine begin without our tools
    block = [_BEGIN, f"[mcp_servers.{NAME}]", f"command = {json.dumps(words[0])}", f"args = {json.dumps(words[1:])}",
             "required = true", "startup_timeout_sec = 20", "tool_timeout_sec = 60", _END]  # fmt: skip
    return (rest.rstrip("\n") + "\n\n" if rest.strip() else "") + "\n".join(block) + "\n", others


def _without_toml(text: str) -> str:
    return re.sub(rf"\n?{re.escape(_BEGIN)}\n.*?{re.escape(_END)}\n?", "", text, flags=re.DOTALL)


def _json(path: Path) -> dict[str, Any]:
    text = _text(path)
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path}: is no JSON ({error}); mend it first") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: holds no JSON object; mend it first")
    return found


def _servers(settings: dict[str, Any], client: Client, path: Path) -> dict[str, Any]:
    """The servers that stand in a client's settings. Raises ConfigError where something else stands there."""
    found = settings.get(client.section, {})
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: {client.section} holds no table of servers; mend it first")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def _replace(path: Path, text: str) -> None:
    """All or nothing: a settings file is never half written."""
    with _kept_as_it_is(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with in_place_of(path) as new:
            new.write_text(text, encoding="utf-8")


@contextmanager
def _kept_as_it_is(path: Path) -> Iterator[None]:
    """ConfigError where the disk refuses; of a tree that is copied, with the first reason."""
    try:
        yield
    except shutil.Error as error:
        raise ConfigError(f"{path}: cannot be written ({error.args[0][0][2]})") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error


def _settings_of(client: Client, project: Path) -> Path:
    if client.program == "codex" and os.environ.get("CODEX_HOME"):
        return Path(os.environ["CODEX_HOME"]) / "config.toml"
    return _place(client.settings, project)


def _place(name: str, project: Path) -> Path:
    return user_path(name) if name.startswith("~") else project / name


def _skills() -> list[Path]:
    """The skills that ship with the package, in the order of their names."""
    inside = MAIN.parent.parent if MAIN.parent.name == "_app" else MAIN.parent / "swarm_evo"
    return sorted(path.parent for path in (inside / "plugin" / "skills").glob("*/SKILL.md"))
