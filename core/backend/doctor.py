"""`doctor --llm`: tiny calls of every configured model, and the servers on this machine that could be used."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from core.backend.call_pipeline import CallPipeline
from core.backend.exchange import Usage
from core.backend.ladder import Rung, on_rung
from core.backend.memory import MemoryLog
from core.backend.messages import build_request
from core.backend.network import host_of, is_loopback, shown_url
from core.backend.preflight import check_model
from core.backend.prices import context_size, cost_of, is_free
from core.backend.providers import spec_of
from core.backend.records import CallKey, reply_of
from core.backend.retry import Retrier
from core.backend.schema import SchemaError, read_arguments
from core.backend.settings import ModelSettings
from core.backend.usage import Ledger
from core.contracts import CallRecord
from utils.check import Check
from utils.counts import counted
from utils.errors import ConfigError, SwarmEvoError

PROBE = {
    "name": "report",
    "description": "Report the result of an addition.",
    "parameters": {
        "type": "object",
        "properties": {"sum": {"type": "integer"}},
        "required": ["sum"],
        "additionalProperties": False,
    },
}
_SILENT_SECONDS = 1.0
"""After which nothing listens at an address."""
SERVERS = (("ollama", 11434, "ollama"), ("vllm", 8000, "vllm"), ("llama-server", 8080, "openai"))
"""(name, usual port, preset)."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server of models that answers on this machine."""

    name: str
    base_url: str
    preset: str
    models: tuple[str, ...]

    @property
    def offer(self) -> str:
        """What to type to use it."""
        model = self.models[0] if self.models else "NAME"
        return f"--llm={self.preset} --llm.code.base_url={self.base_url} --llm.code.model={model}"


def check_models(roles: Mapping[str, ModelSettings]) -> list[Check]:
    """Ask every configured model three tiny questions: a text, a forced tool, a JSON schema."""
    checks: list[Check] = []
    seen: set[tuple[str, str]] = set()
    for settings in roles.values():
        for model in settings.alternatives:
            if (model.writer, model.base_url) not in seen:
                seen.add((model.writer, model.base_url))
                checks += _check_model(model)
    return checks


def find_local_servers(
    ports: Iterable[tuple[str, int, str]] = SERVERS, host: str = "127.0.0.1", timeout: float = 0.5
) -> list[LocalServer]:
    """Servers on loopback that list their models; a port where nothing listens answers at once."""
    found = []
    for name, port, preset in ports:
        base_url = f"http://{host}:{port}/v1"
        listed = _get_json(f"{base_url}/models", timeout)
        if isinstance(listed, dict) and isinstance(listed.get("data"), list):
            names = tuple(str(item["id"]) for item in listed["data"] if isinstance(item, dict) and "id" in item)
            found.append(LocalServer(name, base_url, preset, names))
    return found


def silent_servers(roles: Mapping[str, ModelSettings]) -> list[str]:
    """Addresses on this machine that a model is set to and where nothing listens; no request is made."""
    urls = [model.base_url for role in roles.values() for model in role.alternatives if model.is_local]
    return [shown_url(url) for url in dict.fromkeys(urls) if not _listens(url)]


def _listens(url: str) -> bool:
    parts = urlsplit(url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), _SILENT_SECONDS):
            return True
    except (OSError, ValueError):
        return False


def _check_model(settings: ModelSettings) -> list[Check]:
    name = f"llm {settings.writer}"
    if not spec_of(settings).is_model:
        return [Check(name, True, "the embedded writer: no model, no key, no network")]
    tiny = replace(settings, max_tokens=4096 if settings.reasoning else 256, attempts=1, models=(), stream=False)
    retrier = Retrier(threading.Event())
    pipeline = CallPipeline(MemoryLog(), Ledger(), None, None, retrier, lambda reason, seconds: None)
    try:
        check_model(settings)
        asked = build_request("Answer shortly.", "What is 2 + 3? Answer with the number.")
        reach = _reached(name, settings, pipeline.exchange(asked, tiny, CallKey(0, "reach", settings.role, 0), 0))
        return [
            reach,
            *_check_forms(name, tiny, pipeline),
            _check_context(name, settings),
            _check_price(name, settings),
        ]
    except ConfigError as error:  # its line says what to set
        return [Check(name, False, str(error))]
    except SwarmEvoError as error:
        return [Check(name, False, str(error), _remedy(settings))]
    finally:
        pipeline.close()


def _reached(name: str, settings: ModelSettings, record: CallRecord) -> Check:
    where = f" at {shown_url(settings.base_url)}" if settings.base_url else ""
    tokens = f"{record.prompt_tokens} + {record.completion_tokens} tokens"
    return Check(name, True, f"answers{where} in {record.seconds:.1f} s, {tokens}")


def _check_forms(name: str, tiny: ModelSettings, pipeline: CallPipeline) -> list[Check]:
    """Forced tools and JSON schema, one exchange each."""
    if not spec_of(tiny).has_tools:
        return [Check(f"{name} tools", True, f"{tiny.provider} has no tools: arguments come as JSON in its text")]
    tool, schema = _works(pipeline, tiny, "tool"), _works(pipeline, tiny, "schema")
    start = "schema" if schema else "fence"
    remedy = "" if tool else f"set llm.{tiny.role}.tools={start} to save a call a review"
    said = {True: "honoured", False: "ignored or refused"}
    return [
        Check(f"{name} tools", True, f"a forced tool is {said[tool]}" + (remedy and f"; {remedy}"), remedy),
        Check(f"{name} schema", True, f"a JSON schema is {said[schema]}"),
    ]


def _works(pipeline: CallPipeline, tiny: ModelSettings, form: Rung) -> bool:
    """True if one exchange gives usable arguments in the form that was asked for: a call, or nothing but JSON."""
    asked = build_request("You add numbers.", "Report the sum of 2 and 3.", [PROBE], "report")
    request = on_rung(asked, form)
    try:
        reply = reply_of(pipeline.exchange(request, tiny, CallKey(0, form, tiny.role, 0), 0))
        read_arguments(reply.arguments if form == "tool" else reply.text, request.tool.parameters)
    except (SwarmEvoError, SchemaError):
        return False
    return True


def _check_context(name: str, settings: ModelSettings) -> Check:
    size = context_size(settings) or _told_context(settings)
    if size:
        return Check(f"{name} context", True, counted(size, "token"))
    return Check(f"{name} context", True, "size not known", f"set llm.{settings.role}.context to the model's size")


def _told_context(settings: ModelSettings) -> int | None:
    """What a server on this machine says of its model: vLLM's `max_model_len`, llama-server's `n_ctx`."""
    if not settings.is_local:
        return None
    listed = _get_json(f"{settings.base_url.rstrip('/')}/models", 2.0)
    models = listed.get("data") if isinstance(listed, dict) else None
    models = models if isinstance(models, list) else []
    for model in models:  # a server of a single model, as llama-server is, answers to any name
        if isinstance(model, dict) and (len(models) == 1 or model.get("id") in (settings.model, None)):
            meta: Any = model["meta"] if isinstance(model.get("meta"), dict) else {}
            size = model.get("max_model_len") or meta.get("n_ctx") or meta.get("n_ctx_train")
            return size if isinstance(size, int) else None
    return None


def _check_price(name: str, settings: ModelSettings) -> Check:
    price = cost_of(settings, Usage(1_000_000, 0)), cost_of(settings, Usage(0, 1_000_000))
    if is_free(settings):
        return Check(f"{name} price", True, "free: it runs on this machine")
    if price[0] is None or price[1] is None:
        remedy = f"set llm.{settings.role}.price.input and .output, or budget.usd=null"
        return Check(f"{name} price", False, "not known, so a dollar cap cannot be kept", remedy)
    return Check(f"{name} price", True, f"${price[0]:g} in, ${price[1]:g} out a million tokens")


def _remedy(settings: ModelSettings) -> str:
    prefix = f"llm.{settings.role}"
    if settings.base_url and is_loopback(host_of(settings.base_url)):
        return f"start the server, or set {prefix}.base_url and {prefix}.model to what it serves"
    return f"check {prefix}.api_key, {prefix}.base_url and {prefix}.model"


def _get_json(url: str, timeout: float) -> Any:
    """The JSON at a loopback address, None if there is none. No proxy, no redirect."""
    parts = urlsplit(url)
    if not is_loopback(parts.hostname or ""):
        return None
    connection = HTTPConnection(parts.hostname or "", parts.port or 80, timeout=timeout)
    try:
        connection.request("GET", parts.path)
        answer = connection.getresponse()
        return json.loads(answer.read(1_000_000)) if answer.status == 200 else None
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
