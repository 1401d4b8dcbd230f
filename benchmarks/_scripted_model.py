"""A model's server for comparisons, in a process of its own: every framework gets the same programs in the same order.

`python benchmarks/_scripted_model.py PROGRAM [SECONDS]`: prints its port, then answers chat completions, each after
SECONDS. Answer n is PROGRAM with `START` replaced by a number that only n decides. A request with a tool is a review of
what a program printed: the last `score:` in it is taken as its metric. `GET /` gives when it was asked, for what and
with how many characters, how many of them as an earlier request began: those a provider may have in its cache. Standard
library.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

PROGRAM = Path(sys.argv[1]).read_text()
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
NUMBERS = count()
ASKED: list[dict[str, float | bool]] = []
BLOCK = 1024
"""Characters; providers keep beginnings of some hundred tokens' length."""
BEGINNINGS: set[bytes] = set()
"""Digests of all beginnings of whole blocks."""
SCORE = re.compile(r"score: (-?[\d.]+(?:e[+-]?\d+)?)")


def _known(told: str) -> int:
    """Characters with which an earlier request began as well, in whole blocks."""
    digest, found, known = blake2b(digest_size=16), 0, True
    for start in range(0, len(told) - BLOCK + 1, BLOCK):
        digest.update(told[start : start + BLOCK].encode())
        known = known and digest.digest() in BEGINNINGS
        found += BLOCK * known
        BEGINNINGS.add(digest.digest())
    return found


def _program() -> dict[str, object]:
    number = random.Random(next(NUMBERS)).gauss(0, 3)
    text = "A step.\n```python\n" + PROGRAM.replace("START", repr(number)) + "\n```\n"
    return {"role": "assistant", "content": text}


def _review(tool: str, told: str) -> dict[str, object]:
    scores = SCORE.findall(told)
    found = {"is_bug": not scores, "summary": "It ran.", "metric": None, "lower_is_better": False}
    found |= {"metric": float(scores[-1])} if scores else {}
    call = {"id": "t", "type": "function", "function": {"name": tool, "arguments": json.dumps(found)}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        self._send(json.dumps(ASKED))

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = "\n".join(str(message["content"]) for message in request.get("messages", []))
        tools = request.get("tools")
        at, known = time.time(), _known(told)
        ASKED.append({"at": at, "program": not tools, "characters": len(told), "known": known})
        time.sleep(SECONDS)
        message = _review(tools[0]["function"]["name"], told) if tools else _program()
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        whole = {"id": "c", "object": "chat.completion", "created": 0, "model": "scripted"}
        self._send(json.dumps({**whole, "choices": choices, "usage": usage}))

    def _send(self, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever(0.05)
