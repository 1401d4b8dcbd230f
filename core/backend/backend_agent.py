"""`provider: agent`: a coding agent writes each program in a folder of its own, and asks models through our gateway."""

from __future__ import annotations

import os
import secrets
import shlex
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from core.backend import backend_command
from core.backend.agent.folder import Handed, lay_out, left_behind
from core.backend.agent.gateway import Gateway
from core.backend.agent.last_words import plan_of
from core.backend.agent.session import AgentProcess
from core.backend.agent.session_access import Check
from core.backend.backend_command import FreshFolder, environment, link_named, named_files, own_words, unseen_hint
from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Request
from core.backend.hosts import key_names
from core.backend.provider import ProviderSpec
from core.backend.settings import ModelSettings
from core.backend.stream import within_size
from core.contracts import GATEWAY_PORT, NO_PROGRAM, Confined
from utils.clean_text import clean, one_line
from utils.errors import BackendError, ConfigError
from utils.response import NOTHING_LEFT, nothing_left_in

GRACE = 30.0
"""Seconds for taking in what an agent left when its time was over."""
PACKAGES = {
    "claude": "@anthropic-ai/claude-code", "codex": "@openai/codex", "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}  # fmt: skip
"""Program of a preset → what npm calls it."""
UNCHANGED = "the agent changed none of the files that it may change"
_STARTED = 20.0
"""Seconds in which its view must be there."""


def connect(settings: ModelSettings) -> str:
    """The command line, with its places for {model}, {url} and {turns} still open."""
    backend_command.connect(settings)
    return settings.command or ""


def query(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """One session: the task as a folder, the agent, and what lies there when it has ended, however it ended.

    What an agent does wrong is in the reply: no files, a limit reached, a program that fails.

    Raises:
        ConfigError: no such program. NoSandboxError: nothing here can keep it to the gateway.
        BackendError: it could not begin, by its own words.
    """
    named = named_files(settings)
    with _door(settings) as door:
        words = own_words(shlex.split(_filled(client, settings, door.url)))
        files = [*named.values(), sys.executable]
        box = settings.box or FreshFolder()
        with box.open(words, files, door.inside.fileno() if door.inside else None) as view:
            handed = lay_out(view.folder, request, settings.desk, url=door.url, token=door.token)
            link_named(named, view.folder)
            return _run(view, handed, settings, deadline, door)


@dataclass(slots=True)
class _Door:
    """How the agent reaches the gateway, and the gateway the agent."""

    url: str
    token: str
    metered: bool
    listener: socket.socket | None = None
    """Of this machine's own network, where nothing confines the agent."""
    inside: socket.socket | None = None
    outside: socket.socket | None = None

    def listen(self) -> socket.socket:
        """The listening socket. Raises BackendError if the view does not come about."""
        if self.listener is not None:
            return self.listener.dup()
        assert self.inside is not None and self.outside is not None
        self.inside.close()
        self.outside.settimeout(_STARTED)
        try:
            _, descriptors, _, _ = socket.recv_fds(self.outside, 1, 1)
            return socket.socket(fileno=descriptors[0])
        except (OSError, IndexError) as error:
            raise BackendError("the agent's view could not be set up") from error


@contextmanager
def _door(settings: ModelSettings) -> Iterator[_Door]:
    token = secrets.token_hex(24)
    if settings.network == "open":
        yield _Door("", token, metered=False)
    elif settings.box is not None and settings.box.confines:
        inside, outside = socket.socketpair()
        with inside, outside:
            yield _Door(f"http://127.0.0.1:{GATEWAY_PORT}", token, True, inside=inside, outside=outside)
    else:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            yield _Door(f"http://127.0.0.1:{listener.getsockname()[1]}", token, True, listener=listener)


def _run(view: Confined, handed: Handed, settings: ModelSettings, deadline: Deadline, door: _Door) -> Reply:
    seconds = max(1.0, deadline.seconds - GRACE)
    variables = environment(settings, view)
    if door.metered:
        variables |= Gateway.environment(door.url, door.token)
    descriptors = (door.inside.fileno(),) if door.inside else ()
    try:
        agent = AgentProcess(view.line, view.folder, variables, descriptors)
    except OSError as error:
        raise ConfigError(f"llm.{settings.role}.command: cannot start it: {error.strerror}") from error
    gateway = None
    try:
        with agent:
            if door.metered:
                gateway = Gateway(door.listen(), settings, door.token, _key_of(settings), _check_of(handed, settings))
            ended = agent.wait(deadline, seconds, gateway.over.is_set if gateway else lambda: False)
            code = agent.code
    except BackendError as error:
        raise BackendError(f"{error}: {one_line(clean(agent.complaint()), 300)}") from error
    finally:
        if gateway is not None:
            gateway.close()
    return _reply(handed, settings, agent, gateway, (gateway.why if gateway else "") or ended, code)


def _reply(
    handed: Handed, settings: ModelSettings, agent: AgentProcess, gateway: Gateway | None, ended: str, code: int | None
) -> Reply:
    """What the session came to, as the reply of a model that wrote the same."""
    if gateway is not None and gateway.broken and not gateway.spent.turns:  # else it is to be counted
        raise BackendError(gateway.broken)
    said, complaint = clean(agent.last_words()), one_line(clean(agent.complaint()), 300)
    plan = plan_of(said)
    files, fault = left_behind(handed)
    if not files and not fault and code and not ended and not (gateway and (gateway.spent.turns or gateway.exchanges)):
        hint = unseen_hint(backend_command.connect(settings), settings)
        raise BackendError(f"the agent ended with code {code} before it asked a model: {complaint}{hint}")
    if settings.desk is None and said:
        text = said  # it was asked for no program, but for an answer
    elif settings.desk is not None and files and not fault:
        why = f"(the session ended: {ended})" if ended else ""
        text = settings.desk.take_in(files, "\n\n".join(part for part in (plan, why) if part))
    elif not (files or fault or ended or code) and (reason := nothing_left_in(said)) is not None:
        text = f"{NOTHING_LEFT} {reason}"
    else:
        crash = f"the agent ended with code {code}: {complaint or 'it said nothing'}" if code else ""
        text = f"{NO_PROGRAM}{one_line(fault or ended or crash or UNCHANGED, 500)}\n\n{plan}"
    spent = gateway.spent if gateway else None
    reply = Reply(
        text=text,
        finish_reason="stop",
        usage=spent.usage if spent else None,
        usd=spent.usd if spent else None,
        exchanges=tuple(gateway.exchanges) if gateway else (),
        words="" if text == said or one_line(said, len(said) + 1) == plan else said,
    )
    return within_size(reply)


def _filled(line: str, settings: ModelSettings, url: str) -> str:
    """The command line with this session's values."""
    values = {"model": settings.model, "url": url, "turns": str(settings.session.turns or 1000)}
    for name, value in values.items():
        line = line.replace(f"{{{name}}}", shlex.quote(value))
    return line


def _key_of(settings: ModelSettings) -> Any:
    """The key for a provider: the one that is set, or the one in its usual variable."""
    from core.backend.providers import PROVIDERS

    def key(provider: str) -> str:
        names = key_names(PROVIDERS.get(provider), settings.base_url)
        found = [os.environ[name] for name in names if os.environ.get(name)]
        return settings.key_text or (found[0] if found else "")

    return key


def _check_of(handed: Handed, settings: ModelSettings) -> Check | None:
    desk = settings.desk
    if desk is None:
        return None

    def check() -> dict[str, Any]:
        files, fault = left_behind(handed)
        if fault or not files:
            remedy = fault or "nothing was changed yet"
            return {
                "ok": False,
                "problems": [{"path": "", "line": None, "kind": "files", "remedy": remedy}],
                "warnings": [],
            }
        return desk.look(files, handed.code)

    return check


def _check(settings: ModelSettings) -> None:
    if settings.command is None:
        presets = "--llm=claude-code, codex, gemini-cli or opencode"
        raise ConfigError(f"llm.{settings.role}.command is not set; take {presets}, or give one")
    try:
        backend_command.check(settings)
    except ConfigError as error:
        package = PACKAGES.get(_program({"command": settings.command}))
        raise ConfigError(f"{error}; npm install -g {package}" if package else str(error)) from error


def _program(keys: Mapping[str, Any]) -> str:
    return PurePath((keys.get("command") or "agent").split()[0]).name


AGENT = ProviderSpec(
    connect,
    query,
    has_tools=False,
    starts_program=True,
    by_session=True,
    grace=GRACE,
    model_name=_program,
    check=_check,
)
