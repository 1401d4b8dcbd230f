"""The built page, or how to build it."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

from utils.program import INSTALLED

DIST = Path(__file__).resolve().parents[1] / "web" / "dist"
IN_CHECKOUT = """<p>The page is built once, with Node 20.19 or newer:</p>
<pre><code>make dashboard</code></pre>
<p>or <code>cd dashboard/web &amp;&amp; npm ci &amp;&amp; npm run build</code>, then reload.</p>"""
IN_WHEEL = """<p>This copy was installed without it. In the checkout that it came from, with Node 20.19 or newer:</p>
<pre><code>make page &amp;&amp; pip install .</code></pre>"""
NOT_BUILT = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Swarm-Evo</title>
<style>
body{{font:16px/1.5 system-ui;max-width:42rem;margin:4rem auto;padding:0 1rem}}
code{{background:#8882;padding:.1em .3em}}
</style>
<h1>The page is not built</h1>
<p>The server runs, and its API answers below <a href="/api">/api</a>.</p>
{IN_WHEEL if INSTALLED else IN_CHECKOUT}</html>
"""
_FOREVER = "public, max-age=31536000, immutable"


def not_built(dist: Path) -> str:
    """What to tell who starts the server while there is no page; '' where there is one."""
    if (dist / "index.html").is_file():
        return ""
    how = "`make page && pip install .` in the checkout" if INSTALLED else "`make dashboard`"
    return f"warning: the page is not built, so that only its API answers; {how} builds it"


def page_routes(dist: Path) -> APIRouter:
    """`/` and the files that the build made; their list is read from the folder, never from the request."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def index() -> Response:
        if not (dist / "index.html").is_file():
            return HTMLResponse(NOT_BUILT, 503)
        return FileResponse(dist / "index.html", headers={"cache-control": "no-cache"})

    @router.get("/assets/{name}")
    def asset(name: str) -> Response:
        known = {path.name: path for path in (dist / "assets").glob("*") if path.is_file()}
        if name not in known:
            return Response("no such file", 404, media_type="text/plain")
        return FileResponse(known[name], headers={"cache-control": _FOREVER})

    @router.get("/favicon.svg")
    def icon() -> Response:
        found = dist / "favicon.svg"
        return FileResponse(found) if found.is_file() else Response(status_code=404)

    return router
