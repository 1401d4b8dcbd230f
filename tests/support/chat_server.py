"""A model's server on loopback that speaks OpenAI's chat completions and answers by a script."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[dict[str, Any], int], "str | dict[str, Any]"]
"""(request, its number from 0) → text, or the arguments of the tool that is asked for."""

REVIEW = {"is_bug": False, "has_csv_submission": True, "summary": "It ran.", "metric": None}


STREAMED = 20
"""Pieces of a text."""


class ChatServer:
    """Use as a context manager. `asked` counts equal requests, `answered` those whose answer left whole."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.reviews = False
        """True: the script answers reviews too."""
        self.pauses = 0.0
        """Seconds before each of the STREAMED pieces in which a text is sent to who asks for a stream."""
        self.ends = threading.Event()
        """While it is not set, the last of these pieces is held back."""
        self.ends.set()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def words(self) -> list[str]:
        """What a command line needs to ask this server."""
        price = ["llm.code.price.input=1", "llm.code.price.output=2"]
        return [f"llm.code.base_url={self.url}", "llm.code.provider=openai", "llm.code.model=scripted", *price]

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(60)

    def _answer(self, request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.asked[key] += 1
        wants_review = bool(request.get("tools")) and not self.reviews
        reply = REVIEW if wants_review else self.script(request, number)
        message: dict[str, Any] = {"role": "assistant", "content": reply if isinstance(reply, str) else None}
        if isinstance(reply, dict):
            name = request["tools"][0]["function"]["name"]
            call = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(reply)}}
            message["tool_calls"] = [call]
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if request.get("tools") else "stop"}
        whole = {"id": "c", "object": "chat.completion", "created": 0, "model": "scripted"}
        return key, {**whole, "choices": [choice], "usage": usage}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one segment an answer: two would wait for a delayed acknowledgement

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    server.headers.append(dict(self.headers))
                key, answer = server._answer(request)
                try:
                    self._stream(answer) if request.get("stream") else self._whole(answer)
                except OSError:  # the client was killed
                    return
                with server._lock:
                    server.answered[key] += 1

            def _whole(self, answer: dict[str, Any]) -> None:
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()

            def _stream(self, answer: dict[str, Any]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                chunks = list(_chunks(answer))
                for left, chunk in zip(range(len(chunks), 0, -1), chunks, strict=True):
                    time.sleep(server.pauses)
                    if left == 3:  # the last of what is said, before its end and what it took
                        server.ends.wait()
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                    self.wfile.flush()
                self.wfile.write(b"data: [DONE]\n\n")
                self.wfile.flush()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def _chunks(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A chat completion as the chunks of a stream: what is said piece by piece, its end, and what it took."""
    (choice,) = whole["choices"]
    same = {**whole, "object": "chat.completion.chunk", "usage": None}
    text = choice["message"]["content"] or ""
    size = -(-len(text) // STREAMED) or 1
    calls = [{**call, "index": 0} for call in choice["message"].get("tool_calls", [])]
    deltas: list[dict[str, Any]] = [{"content": text[at : at + size]} for at in range(0, len(text), size)]
    for delta in deltas + ([{"tool_calls": calls}] if calls else []):
        yield {**same, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**same, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield {**same, "choices": [], "usage": whole["usage"]}
