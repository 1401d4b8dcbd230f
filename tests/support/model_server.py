"""A model on loopback in the languages of coding agents, by a script: what it is asked decides what it says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = str | tuple[str, dict[str, Any]]
"""Text to say, or (tool, arguments) to call."""
Script = Callable[[dict[str, Any], int], Step]
"""(request, how many results of tools it holds) → what the model does."""


class ModelServer:
    """Anthropic Messages, OpenAI Chat and Responses, Gemini; streams where it is asked to.

    A reply takes 100 + 10 tokens.

    Args:
        script: decides by the request.
        plain: the answer to a request without tools: titles and the like.
    """

    def __init__(self, script: Script, plain: str = "ok") -> None:
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self.refusals = 0
        """So many of the next requests are answered with 429."""
        self._script, self._plain = script, plain
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def asked(self) -> list[dict[str, Any]]:
        """Requests of agents at work: those that come with tools."""
        return [request for request in self.requests if request.get("tools")]

    def step(self, request: dict[str, Any]) -> Step:
        text = json.dumps(request)
        marks = ('"tool_result"', '"function_call_output"', '"role": "tool"', '"functionResponse"')
        results = sum(map(text.count, marks))
        return self._script(request, results) if request.get("tools") else self._plain


def tool_named(request: dict[str, Any], *names: str) -> str:
    """The first of the request's tools whose name ends so."""
    return next((tool for name in names for tool in tools_of(request) if tool.endswith(name)), "")


def tools_of(request: dict[str, Any]) -> list[str]:
    """Names of the tools that a request offers, in any language; those of a name space as `space/name`."""
    found: list[str] = []
    for tool in request.get("tools", []):
        if tool.get("type") == "namespace":
            found += [f"{tool['name']}/{inner['name']}" for inner in tool["tools"]]
        elif "functionDeclarations" in tool:
            found += [one["name"] for one in tool["functionDeclarations"]]
        else:
            found.append(str(tool.get("name") or tool.get("function", {}).get("name", "")))
    return found


def _handler(models: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, "application/json", b'{"data": [], "models": []}')

        def do_HEAD(self) -> None:
            self._send(200, "application/json", b"")

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            headers = ("x-api-key", "x-goog-api-key", "authorization")
            models.keys.append(next((self.headers[name] for name in headers if name in self.headers), ""))
            models.paths.append(self.path)
            if "count_tokens" in self.path or ":countTokens" in self.path:
                self._send(
                    200, "application/json", b'{"totalTokens": 10}' if ":" in self.path else b'{"input_tokens": 10}'
                )
                return
            if models.refusals > 0:
                models.refusals -= 1
                self._send(429, "application/json", b'{"type": "error", "error": {"type": "rate_limit_error"}}')
                return
            models.requests.append(request)
            self._send(200, *spoken(self.path, request, models.step(request)))

        def _send(self, status: int, kind: str, body: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def spoken(path: str, request: dict[str, Any], said: Step) -> tuple[str, bytes]:
    """(content type, body) of an answer in the language that the path names."""
    if "/responses" in path:
        return _stream(_responses(said))
    if "/messages" in path:
        body = _message(request, said)
        return _stream(_message_events(body)) if request.get("stream") else _whole(body)
    if "GenerateContent" in path:
        return _stream([_generated(said)])
    if ":generateContent" in path:
        return _whole(_generated(said))
    body = _chat(said)
    return _stream(_chat_chunks(body), end="data: [DONE]\n\n") if request.get("stream") else _whole(body)


def _whole(body: dict[str, Any]) -> tuple[str, bytes]:
    return "application/json", json.dumps(body).encode()


def _stream(events: Sequence[dict[str, Any]], end: str = "") -> tuple[str, bytes]:
    named = ((f"event: {event['type']}\n" if "type" in event else "", event) for event in events)
    text = "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in named)
    return "text/event-stream", (text + end).encode()


USAGE = {"input_tokens": 100, "output_tokens": 10}


def _message(request: dict[str, Any], said: Step) -> dict[str, Any]:
    if isinstance(said, str):
        block: dict[str, Any] = {"type": "text", "text": said}
    else:
        block = {"type": "tool_use", "id": f"toolu_{len(json.dumps(request))}", "name": said[0], "input": said[1]}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"), "content": [block],
        "stop_reason": "end_turn" if isinstance(said, str) else "tool_use", "stop_sequence": None, "usage": USAGE,
    }  # fmt: skip


def _message_events(body: dict[str, Any]) -> list[dict[str, Any]]:
    (block,) = body["content"]
    is_text = block["type"] == "text"
    empty = {**block, "text": ""} if is_text else {**block, "input": {}}
    delta = (
        {"type": "text_delta", "text": block["text"]}
        if is_text
        else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    )
    return [
        {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": body["stop_reason"]}, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    ]


def _responses(said: Step) -> list[dict[str, Any]]:
    if isinstance(said, str):
        item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m1",
                                "content": [{"type": "output_text", "text": said, "annotations": []}]}  # fmt: skip
    else:
        space, _, name = said[0].rpartition("/")
        item = {"type": "function_call", "id": "f1", "call_id": f"call_{abs(hash(json.dumps(said[1])))}", "name": name,
                "arguments": json.dumps(said[1]), **({"namespace": space} if space else {})}  # fmt: skip
    done = {"id": "resp_1", "usage": {**USAGE, "input_tokens_details": None, "output_tokens_details": None,
                                      "total_tokens": 110}}  # fmt: skip
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]


def _chat(said: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said if isinstance(said, str) else None}
    if not isinstance(said, str):
        function = {"name": said[0], "arguments": json.dumps(said[1])}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "usage": usage,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip


def _chat_chunks(whole: dict[str, Any]) -> list[dict[str, Any]]:
    """A chat completion as the two chunks of a stream: what is said, and what it took."""
    (choice,) = whole["choices"]
    calls = [{**call, "index": 0} for call in choice["message"].get("tool_calls", [])]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    same = {"id": whole["id"], "object": "chat.completion.chunk", "created": 0, "model": whole["model"]}
    said = {**same, "choices": [{"index": 0, "delta": delta, "finish_reason": choice["finish_reason"]}]}
    return [said, {**same, "choices": [], "usage": whole["usage"]}]


def _generated(said: Step) -> dict[str, Any]:
    part = {"text": said} if isinstance(said, str) else {"functionCall": {"name": said[0], "args": said[1]}}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
