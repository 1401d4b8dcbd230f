"""The Model Context Protocol over lines of JSON, of both ages: with a handshake (2025-11-25) and without (2026-07-28).

Standard library only: a client that waits for its tools for a second sees none, and an SDK takes longer to import.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeGuard

from utils.clean_text import one_line
from utils.mcp_lines import Unreadable, message_of, readable
from utils.mcp_tool import Tool, shown, wrong

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions that begin with `initialize`, newest first."""
STATELESS = ("2026-07-28",)
"""Versions whose every request says its version itself."""
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
UNREADABLE, NO_REQUEST, NO_METHOD, WRONG_ARGUMENTS, WRONG_VERSION = -32700, -32600, -32601, -32602, -32022
_NOTICES = "notifications/"
"""Begins the name of what wants no answer; some clients write `"id": null` beside it."""
MOST_CALLS = 64
"""Calls under way: each has a thread, and some start a process."""
MOST_HELD = 64 * 1024 * 1024
"""Bytes of the requests whose calls are under way, where there are several."""
ANSWERS_WITHIN = 60.0
"""Seconds in which calls under way are still answered after the client has closed its end: clients wait a minute."""
_LISTS_FOR_MS = 3_600_000
"""What is listed never changes while a server lives."""


class Call:
    """One call of a tool while it runs: tells its client that it goes on, and hears that nobody waits any more."""

    def __init__(
        self, send: Callable[[dict[str, Any]], None], token: str | int | None, client: str = "", size: int = 0
    ) -> None:
        self._send = send
        self._token = token
        self.client = client
        """What the client calls itself; '' where it does not say. Untrusted text."""
        self.size = size
        """Bytes of its request."""
        self._told = 0
        self.cancelled = threading.Event()

    def progress(self, message: str) -> None:
        """Say what is under way, where the client asked for it. Call it at least every 10 seconds."""
        if self._token is None or self.cancelled.is_set():
            return
        self._told += 1
        params = {"progressToken": self._token, "progress": self._told, "message": message[:200]}
        self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


Handler = Callable[[str, dict[str, Any], Call], dict[str, Any]]
"""(tool, arguments, call) → result; an object with `error` is a failed call, and says what to do. What it raises is a
failed call as well: nobody else would answer, and its client waits."""


class McpServer:
    """Answers one client. Every call of a tool has a thread of its own, so that nothing waits for a long one.

    Args:
        write: takes one line of text; called by one thread at a time.
        at_once: calls run in the thread of `serve`, which returns when all is answered.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        handle: Handler,
        write: Callable[[str], None],
        *,
        version: str,
        instructions: str = "",
        at_once: bool = False,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._handle = handle
        self._write = write
        self._about = {"name": "swarm-evo", "version": version}
        self._instructions = instructions
        self._at_once = at_once
        self._lock = threading.Lock()
        self._calls: dict[Any, Call] = {}
        self._under_way: dict[threading.Thread, Call] = {}
        self._client = ""
        self._size = 0
        """Bytes of the message that is read now."""

    def serve(self, lines: Iterable[str | bytes]) -> None:
        """Answer until the client closes its end, and then what it had asked before, within `ANSWERS_WITHIN`."""
        for line in lines:
            if line.strip():
                self._take(line)
        until = time.monotonic() + ANSWERS_WITHIN
        for thread, call in list(self._under_way.items()):
            if not call.cancelled.is_set():
                thread.join(max(0.0, until - time.monotonic()))

    # ------------------------------------------------------------ one message

    def _take(self, line: str | bytes) -> None:
        self._size = len(line)
        try:
            message = message_of(line)
        except Unreadable as error:
            self._send(_failed(error.number, UNREADABLE, str(error)))
            return
        if not isinstance(message, dict):
            self._send(_failed(None, NO_REQUEST, "a request is one object"))
            return
        method, params, number = message.get("method"), message.get("params") or {}, message.get("id")
        if not isinstance(method, str):
            if "id" in message and not {"result", "error"} & message.keys():  # else an answer to what we never ask
                self._send(_failed(number if _is_id(number) else None, NO_REQUEST, "no method is named"))
        elif number is None and ("id" not in message or method.startswith(_NOTICES)):
            self._hear(method, params)
        elif not _is_id(number):
            self._send(_failed(None, NO_REQUEST, "an id is a text or a whole number"))
        elif not isinstance(params, dict):
            self._send(_failed(number, WRONG_ARGUMENTS, "params are one object"))
        else:
            self._ask(number, method, params)

    def _hear(self, method: str, params: Any) -> None:
        """A notice, which nobody answers."""
        meant = params.get("requestId") if isinstance(params, dict) else None
        if method == f"{_NOTICES}cancelled" and _is_id(meant) and (call := self._calls.get(meant)):
            call.cancelled.set()

    def _ask(self, number: str | int, method: str, params: dict[str, Any]) -> None:
        meta = params.get("_meta")
        asked = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if asked is None or asked in STATELESS:
            self._answer(number, method, params, stateless=asked is not None)
            return
        data = {"supported": [*STATELESS, *HANDSHAKE], "requested": shown(asked)}
        self._send(_failed(number, WRONG_VERSION, "unsupported protocol version", data))

    def _answer(self, number: str | int, method: str, params: dict[str, Any], *, stateless: bool) -> None:
        if method == "tools/call":
            self._begin(number, params, stateless)
        elif method == "initialize":
            self._client = _named(params.get("clientInfo"))
            wanted = params.get("protocolVersion")
            version = wanted if wanted in HANDSHAKE else HANDSHAKE[0]
            self._succeed(
                number, {"protocolVersion": version, **self._capabilities(), "serverInfo": self._about}, False
            )
        elif method == "server/discover":
            found = {"supportedVersions": [*STATELESS, *HANDSHAKE], **self._capabilities()}
            self._succeed(number, {**found, "ttlMs": _LISTS_FOR_MS, "cacheScope": "public"}, True)
        elif method == "tools/list":
            listed: dict[str, Any] = {"tools": [tool.listed() for tool in self._tools.values()]}
            if stateless:
                listed |= {"ttlMs": _LISTS_FOR_MS, "cacheScope": "public"}
            self._succeed(number, listed, stateless)
        elif method == "ping":
            self._succeed(number, {}, stateless)
        else:
            self._send(_failed(number, NO_METHOD, f"there is no method '{shown(method)}'"))

    def _capabilities(self) -> dict[str, Any]:
        return {"capabilities": {"tools": {"listChanged": False}}, "instructions": self._instructions}

    # ------------------------------------------------------------ calls of tools

    def _begin(self, number: str | int, params: dict[str, Any], stateless: bool) -> None:
        name, arguments = params.get("name"), params.get("arguments")
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            there = f"there is no tool '{shown(name)}'; there are {', '.join(self._tools)}"
            self._send(_failed(number, WRONG_ARGUMENTS, there))
            return
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        client = _named(meta.get(CLIENT_KEY)) if isinstance(meta, dict) else ""
        call = Call(self._send, token if _is_id(token) else None, client or self._client, self._size)
        if self._is_full(call):
            busy = f"{tool.name}: too many calls are under way, or too large ones: again when one has its answer"
            self._tell(number, {"error": busy, "next": tool.name}, stateless)
            return
        self._calls[number] = call
        work = (number, tool, {} if arguments is None else arguments, call, stateless)
        if self._at_once:
            self._work(*work)
        else:
            thread = threading.Thread(target=self._work_apart, args=work, daemon=True, name=tool.name)
            self._under_way[thread] = call
            try:
                thread.start()
            except RuntimeError:  # the machine has no room for another one: the next message waits
                del self._under_way[thread]
                self._work(*work)

    def _is_full(self, call: Call) -> bool:
        """Whether this one is to wait: what a client asks for at once takes threads and memory."""
        others = list(self._under_way.values())
        return len(others) >= MOST_CALLS or (bool(others) and call.size + sum(one.size for one in others) > MOST_HELD)

    def _work_apart(self, *work: Any) -> None:
        try:
            self._work(*work)
        finally:
            self._under_way.pop(threading.current_thread(), None)

    def _work(self, number: str | int, tool: Tool, arguments: Any, call: Call, stateless: bool) -> None:
        try:
            result = readable(self._outcome(tool, arguments, call))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as `Handler` says
            result = {"error": one_line(f"{tool.name} failed inside: {type(error).__name__}: {error}")}
        if self._calls.get(number) is call:  # a client may have given the id away once more
            del self._calls[number]
        if not call.cancelled.is_set():
            self._tell(number, result, stateless)

    def _outcome(self, tool: Tool, arguments: Any, call: Call) -> dict[str, Any]:
        if fault := wrong(tool, arguments):
            return {"error": fault, "next": self._mends(tool, arguments)}
        return self._handle(tool.name, arguments, call)

    def _mends(self, tool: Tool, arguments: Any) -> str:
        """The tool that gives what is missing; else the same one, called otherwise."""
        missing = [name for name in tool.needed if not isinstance(arguments, dict) or name not in arguments]
        givers = (tool.given_by.get(name, "") for name in missing)
        return next((name for name in givers if name in self._tools), tool.name)

    # ------------------------------------------------------------ answers

    def _tell(self, number: str | int, result: dict[str, Any], stateless: bool) -> None:
        """What came of a call."""
        content = [{"type": "text", "text": json.dumps(result)}]
        whole_ = {"content": content, "structuredContent": result, "isError": "error" in result}
        self._succeed(number, whole_, stateless)

    def _succeed(self, number: str | int, result: dict[str, Any], stateless: bool) -> None:
        if stateless:
            result = {**result, "resultType": "complete", "_meta": {SERVER_KEY: self._about}}
        self._send({"jsonrpc": "2.0", "id": number, "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._write(json.dumps(message) + "\n")


def answered(tools: Sequence[Tool], handle: Handler, message: bytes, *, version: str) -> str:
    """The answer to one message, as HTTP carries them; '' to what wants none."""
    lines: list[str] = []
    McpServer(tools, handle, lines.append, version=version, at_once=True).serve([message])
    return "".join(lines)


def _is_id(value: Any) -> TypeGuard[str | int]:
    """What names a request or its progress: anything else a client may send, and no table can look it up (but for
    truths, which it would take for 1 and 0)."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _named(about: Any) -> str:
    """What a client says it is called; '' where it does not."""
    return shown(about.get("name", "")) if isinstance(about, dict) else ""


def _failed(number: str | int | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    return {"jsonrpc": "2.0", "id": number, "error": error}
