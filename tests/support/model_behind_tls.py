"""A scripted model at an address that a program of others has built in: a proxy that ends the TLS itself.

`environment` is what the program is started with; nothing of it has to be changed.
"""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class ModelBehindTls:
    """Answers every chat request for `host` with `reply`, and keeps what it was asked.

    Args:
        host: the name that requests go to.
        folder: for the certificate.
    """

    def __init__(self, host: str, reply: str, folder: Path) -> None:
        key, certificate = folder / "key.pem", folder / "certificate.pem"
        words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={host}"]
        words += ["-addext", f"subjectAltName=DNS:{host}", "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(words, check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.asked: list[dict[str, object]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(context, reply, self.asked))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.environment = {
            "HTTPS_PROXY": f"http://127.0.0.1:{self._server.server_address[1]}", "SSL_CERT_FILE": str(certificate),
            "OPENAI_API_KEY": "none",
        }  # fmt: skip

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(context: ssl.SSLContext, reply: str, asked: list[dict[str, object]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_CONNECT(self) -> None:
            self.send_response(200, "Connection established")
            self.end_headers()
            self.connection = context.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb", -1)
            self.wfile = self.connection.makefile("wb", 0)
            self.close_connection = False

        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": reply}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def finish(self) -> None:
            super().finish()
            self.connection.close()

    return Handler
