"""A model's server for comparisons, in a process of its own: every framework gets the same programs in the same order.

`python benchmarks/_scripted_model.py PROGRAM`: prints its port, then answers chat completions. Answer n is PROGRAM
with `START` replaced by a number that only n decides. `GET /` gives the times at which it was asked. Standard library.
"""

from __future__ import annotations

import json
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

PROGRAM = Path(sys.argv[1]).read_text()
NUMBERS = count()
ASKED: list[float] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        self._send(json.dumps(ASKED))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        ASKED.append(time.time())
        number = random.Random(next(NUMBERS)).gauss(0, 3)
        text = "A step.\n```python\n" + PROGRAM.replace("START", repr(number)) + "\n```\n"
        message = {"role": "assistant", "content": text}
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
