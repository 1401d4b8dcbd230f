"""The OpenAPI document as a page. Drawn here, because the usual viewers load their scripts from other servers."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
code{font:13px ui-monospace,monospace}li{margin:.5rem 0}b{display:inline-block;min-width:3.2rem}small{opacity:.8}
"""


def api_page(app: FastAPI) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/api")
    def page() -> HTMLResponse:
        document = app.openapi()
        sections = "".join(
            _operation(method, path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        )
        return HTMLResponse(
            f"<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
            f"<title>Swarm-Evo API</title><style>{_STYLE}</style><h1>Swarm-Evo dashboard API</h1>"
            f"<p>{escape(document['info']['description'])} Machine-readable: "
            "<a href='/api/openapi.json'>/api/openapi.json</a>. Events: <code>/ws?run=…&amp;after=SEQ</code>, frames "
            f"<code>EventsFrame</code>, <code>GapFrame</code>, <code>StatusFrame</code>.</p><ul>{sections}</ul></html>"
        )

    return router


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    names = [parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"]
    query = f"<br><small>query: <code>{escape(', '.join(names))}</code></small>" if names else ""
    about = escape(operation.get("description") or operation.get("summary", ""))
    return f"<li><b>{method.upper()}</b> <code>{escape(path)}</code><br>{about}{query}</li>"
