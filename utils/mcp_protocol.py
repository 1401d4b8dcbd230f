"""The Model Context Protocol over lines of JSON, of both ages: with a handshake (2025-11-25) and without (2026-07-28).

Standard library only: a client that waits for its tools for a second sees none, and an SDK takes longer to import.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from utils.counts import counted

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions that begin with `initialize`, newest first."""
STATELESS = ("2026-07-28",)
"""Versions whose every request says its version itself."""
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
UNREADABLE, NO_REQUEST, NO_METHOD, WRONG_ARGUMENTS, WRONG_VERSION = -32700, -32600, -32601, -32602, -32022
ANSWERS_WITHIN = 60.0
"""Seconds in which calls under way are still answered after the client has closed its end: clients wait a minute."""
_LISTS_FOR_MS = 3_600_000
"""What is listed never changes while a server lives."""
LONGEST_TEXT = 30_000
"""Characters of an argument that is a text: Linux hands over no word of 128 KiB to another program."""

LARGEST_NUMBER = 2**53
"""Whole numbers up to it are floats as well; whatever counts steps, seconds or dollars is far below."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a client is told of a tool. `arguments` and `answer` are the properties of two JSON schemas."""

    name: str
    text: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any]
    needed: tuple[str, ...] = ()
    given_by: Mapping[str, str] = field(default_factory=dict)
    """Argument → the tool whose answer holds it."""
    reads: bool = False
    """True if it changes nothing."""
    repeats: bool = False
    """True if a second call with the same arguments changes nothing more."""

    def listed(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": dict(self.arguments), "additionalProperties": False}
        return {
            "name": self.name,
            "description": self.text,
            "inputSchema": {**schema, "required": list(self.needed)} if self.needed else schema,
            "outputSchema": {"type": "object", "properties": dict(self.answer)},
            "annotations": {
                "readOnlyHint": self.reads,
                "destructiveHint": False,
                "idempotentHint": self.reads or self.repeats,
                "openWorldHint": False,
            },
        }


class Call:
    """One call of a tool while it runs: tells its client that it goes on, and hears that nobody waits any more."""

    def __init__(self, send: Callable[[dict[str, Any]], None], token: str | int | None, client: str = "") -> None:
        self._send = send
        self._token = token
        self.client = client
        """What the client calls itself; '' where it does not say. Untrusted text."""
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
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._send(_failed(None, UNREADABLE, "not a line of JSON"))
            return
        if not isinstance(message, dict) or not isinstance(message.get("params") or {}, dict):
            self._send(_failed(None, NO_REQUEST, "a request is one object, and so are its params"))
            return
        method, params, number = message.get("method"), message.get("params") or {}, message.get("id")
        if not isinstance(method, str):
            if "id" in message and not {"result", "error"} & message.keys():  # else an answer to what we never ask
                self._send(_failed(number if _is_id(number) else None, NO_REQUEST, "no method is named"))
            return
        if number is None:
            meant = params.get("requestId")
            if method == "notifications/cancelled" and _is_id(meant) and (call := self._calls.get(meant)):
                call.cancelled.set()
            return
        if not _is_id(number):
            self._send(_failed(None, NO_REQUEST, "an id is a text or a whole number"))
            return
        meta = params.get("_meta")
        asked = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if asked is not None and asked not in STATELESS:
            data = {"supported": [*STATELESS, *HANDSHAKE], "requested": str(asked)}
            self._send(_failed(number, WRONG_VERSION, "unsupported protocol version", data))
            return
        self._answer(number, method, params, stateless=asked is not None)

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
            self._send(_failed(number, NO_METHOD, f"there is no method '{method[:80]}'"))

    def _capabilities(self) -> dict[str, Any]:
        return {"capabilities": {"tools": {"listChanged": False}}, "instructions": self._instructions}

    # ------------------------------------------------------------ calls of tools

    def _begin(self, number: str | int, params: dict[str, Any], stateless: bool) -> None:
        tool, arguments = self._tools.get(str(params.get("name"))), params.get("arguments")
        if tool is None:
            names = ", ".join(self._tools)
            self._send(_failed(number, WRONG_ARGUMENTS, f"there is no tool '{params.get('name')}'; there are {names}"))
            return
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        client = _named(meta.get(CLIENT_KEY)) if isinstance(meta, dict) else ""
        call = Call(self._send, token if _is_id(token) else None, client or self._client)
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

    def _work_apart(self, *work: Any) -> None:
        try:
            self._work(*work)
        finally:
            self._under_way.pop(threading.current_thread(), None)

    def _work(self, number: str | int, tool: Tool, arguments: Any, call: Call, stateless: bool) -> None:
        fault = wrong(tool, arguments)
        if fault:
            result = {"error": fault, "next": self._mends(tool, arguments)}
        else:
            try:
                result = self._handle(tool.name, arguments, call)
            except Exception as error:  # noqa: BLE001 - as `Handler` says
                result = {"error": f"{tool.name} failed inside: {type(error).__name__}: {error}"}
        self._calls.pop(number, None)
        if not call.cancelled.is_set():
            text = json.dumps(result)
            failed = "error" in result
            whole = {"content": [{"type": "text", "text": text}], "structuredContent": result, "isError": failed}
            self._succeed(number, whole, stateless)

    def _mends(self, tool: Tool, arguments: Any) -> str:
        """The tool that gives what is missing; else the same one, called otherwise."""
        missing = [name for name in tool.needed if not isinstance(arguments, dict) or name not in arguments]
        givers = (tool.given_by.get(name, "") for name in missing)
        return next((name for name in givers if name in self._tools), tool.name)

    # ------------------------------------------------------------ answers

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
    """What names a request or its progress: anything else a client may send, and no table can look it up."""
    return isinstance(value, str | int)


def _named(about: Any) -> str:
    """What a client says it is called; '' where it does not."""
    return str(about.get("name", ""))[:80] if isinstance(about, dict) else ""


def _failed(number: str | int | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    return {"jsonrpc": "2.0", "id": number, "error": error}


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "object": (dict,), "array": (list,)
}  # fmt: skip


def wrong(tool: Tool, arguments: Any) -> str:
    """What is wrong with a call's arguments, as one sentence for the model that wrote them; '' if nothing is."""
    if not isinstance(arguments, dict):
        return f"{tool.name}: arguments are an object"
    missing = [name for name in tool.needed if name not in arguments]
    if missing:
        return f"{tool.name}: {', '.join(missing)} is missing"
    for name, value in arguments.items():
        schema = tool.arguments.get(name)
        if schema is None:
            return f"{tool.name}: there is no argument '{name[:80]}'; there are {', '.join(tool.arguments) or 'none'}"
        kind = schema["type"]
        is_flag = isinstance(value, bool) and kind != "boolean"
        if is_flag or not isinstance(value, _TYPES[kind]):
            return f"{tool.name}: {name} is to be of type {kind}"
        if "enum" in schema and value not in schema["enum"]:
            return f"{tool.name}: {name}={value}; allowed: {', '.join(schema['enum'])}"
        if isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:
            return f"{tool.name}: {name} is no number that a computer counts with; allowed: at most {LARGEST_NUMBER}"
        if "minimum" in schema and not value >= schema["minimum"]:
            return f"{tool.name}: {name}={value}; allowed: {schema['minimum']} or more"
        if isinstance(value, str) and (fault := _unfit(value, schema.get("maxLength", LONGEST_TEXT))):
            return f"{tool.name}: {name} {fault}"
    return ""


def _unfit(text: str, most: int) -> str:
    """Why no file, name or note can be this text; '' if nothing is wrong."""
    if len(text) > most:
        return f"has {counted(len(text), 'character')}; allowed: at most {most}"
    odd = next((char for char in text if char == "\0" or "\ud800" <= char <= "\udfff"), None)
    return f"holds the character U+{ord(odd):04X}, which is no text: leave it out" if odd else ""
