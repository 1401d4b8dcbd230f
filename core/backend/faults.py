"""Turns an error of a provider into one of our error tree, without the key in its text.

The SDKs differ: some raise errors of their own, some let `httpx2`, JSON and socket errors through. So an error is read
by its status code where it has one, and by where it comes from where it has none; no SDK is imported for that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from socket import EAI_NODATA, EAI_NONAME, gaierror
from ssl import SSLCertVerificationError, SSLError
from time import time
from typing import Any

from core.backend.hosts import key_names
from core.backend.masking import mask
from core.backend.network import is_same_server, proxy_for, shown_url
from core.backend.providers import spec_of
from core.backend.settings import ModelSettings
from utils.clean_text import one_line
from utils.errors import (
    BackendAuthError,
    BackendBusyError,
    BackendError,
    ConfigError,
    LostReplyError,
    RefusedError,
    SwarmEvoError,
    UnwantedPromptError,
    WrongAddressError,
)

BUSY_STATUS = frozenset({408, 409, 425, 429})
UNHEARD_STATUS = frozenset({504, 524})
"""Of a gateway that has sent the request on and waits for the answer no longer: the model may write it, for money."""
_NO_CREDIT = (
    "insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "credit balance is too low",
    "insufficient balance", "exceeded_current_quota", "arrearage", "specified api usage limits",
)  # fmt: skip
"""Not `billing` alone: a limit of requests a minute, too, is told with a link to the page where it can be raised."""
_NO_ACCESS = ("api key not valid", "api_key_invalid")
"""Google's words for a wrong key, with a 400."""
_UNSUPPORTED = ("not supported", "unsupported", "--jinja")
"""llama.cpp and others say with a 500 that they know no tools."""
_UNWANTED = (
    "context_length", "context length", "context window", "context size", "context limit", "too long",
    "input token count", "maximum prompt length", "model token limit", "prompt exceeds max length",
    "more than max tokens allowed", "range of input length", "prompt token count",
    "content_filter", "content filtering policy", "content management policy", "usage policy", "safety system",
    "content exists risk", "data_inspection_failed", "sensitive content",
    "invalid_prompt", "bio_policy", "cyber_policy",
)  # fmt: skip
"""What providers say of one prompt, to its length or to what it tells."""
_FLAGGED = "flagged"
"""What OpenRouter says with a 403 of a prompt that a model's moderation refuses."""
_TOO_LARGE = "request too large"
"""What OpenAI says with a 429 of one request that takes more than all the tokens of a minute: waiting helps nothing."""
_HINTS = {
    "max_completion_tokens": "reasoning",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "api-version": "api_version",
    r"\bstream": "stream",
    "model": "model",
}
"""Key of ours by what a server says of one of its own."""
_WORDS = ("message", "detail", "msg", "error")
"""Where servers say in words what is wrong."""
_MARKUP = re.compile(r"<(script|style)\b(?:(?!</\1).)*|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_SHOWN = 400
"""Characters of what a server says."""
_TRANSPORT = ("httpx", "httpx2", "httpcore", "httpcore2", "ssl", "socket", "urllib3", "requests", "h11")
_SDK = ("anthropic", "google")
_OF_CONNECTIONS = frozenset({"SSL_CERT_FILE", "SSL_CERT_DIR", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"})
"""Variables that every client of HTTP goes by."""
_NO_SUCH_HOST = frozenset({EAI_NONAME, EAI_NODATA})
"""Not `EAI_AGAIN`, which a machine without a network gets."""
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"})
_NO_CONNECTION = frozenset({"ConnectError", "ConnectTimeout", "ProxyError"})
"""Of every client of HTTP; the last one where a proxy makes no way to the server."""
_DELAY = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_UNREADABLE = AttributeError | TypeError | LookupError | ArithmeticError | RecursionError
"""What reading an answer raises whose parts are not what the SDKs take them for: they check none."""
_READING = (ValueError, EOFError, TimeoutError)
"""What we raise ourselves where an answer is none: its words say all."""


def read_fault(error: BaseException, settings: ModelSettings) -> Exception:
    """The error of ours that `error` stands for. It must be raised outside the `except` block: the original's text
    and the request it carries may hold the key, and a chained traceback would print them."""
    if isinstance(error, SwarmEvoError):  # it may quote what a command said
        error.args = (mask(str(error), settings),)
        return error
    status = _status(error)
    if status is not None:
        return _by_status(status, error, settings)
    origin = type(error).__module__.partition(".")[0]
    kind = "" if type(error) in _READING or type(error).__module__.startswith("core.") else f"{type(error).__name__}: "
    text = f"{_name(settings)}: {kind}{_with_cause(error, settings)}"
    proxy = _proxy(settings)
    if wrong := next(filter(None, (_wrong_address(cause, proxy) for cause in _causes(error))), ""):
        return WrongAddressError(text + wrong.format(key=f"llm.{settings.role}.base_url"))
    if _never_sent(error):
        return BackendBusyError(f"{text} (no connection{' by ' * bool(proxy)}{proxy})")
    if isinstance(error, OSError | ValueError | EOFError | _UNREADABLE) or origin in _TRANSPORT or origin in _SDK:
        return LostReplyError(text)
    return BackendError(text)


def not_made(error: Exception, settings: ModelSettings) -> ConfigError:
    """A client that cannot be made: nothing was sent, and another try would end alike."""
    told = [name for name in os.environ if name.upper() in _OF_CONNECTIONS]
    look = f"; look at {' and '.join(sorted(told))} in the environment" if told else ""
    text = _first_line(error, settings)
    return ConfigError(
        f"llm.{settings.role}.provider={settings.provider}: no client can be made: {type(error).__name__}: {text}{look}"
    )


def _by_status(status: int, error: BaseException, settings: ModelSettings) -> Exception:
    said, moved = _said(error, settings), _moved(error, settings)
    text = f"{_name(settings)}: HTTP {status}: {said}{moved}"
    if status == 403 and _FLAGGED in str(error).lower():
        return UnwantedPromptError(text)
    if status in (401, 403) or (status == 400 and any(word in str(error).lower() for word in _NO_ACCESS)):
        names = " or ".join([f"llm.{settings.role}.api_key", *key_names(spec_of(settings), settings.base_url)])
        key = "" if moved else f"; the key comes from {names}"
        return BackendAuthError(text + key)
    if status == 402 or (status in (400, 429) and any(word in str(error).lower() for word in _NO_CREDIT)):
        return BackendAuthError(f"{text}; the account has no credit left")
    unsupported = status in (500, 501) and any(word in str(error).lower() for word in _UNSUPPORTED)
    unwanted = _UNWANTED if status in (400, 422) else (_TOO_LARGE,) if status == 429 else ()
    if status == 413 or any(word in str(error).lower() for word in unwanted):
        return UnwantedPromptError(text)
    if status in UNHEARD_STATUS:
        return LostReplyError(text, retry_after=retry_after(_headers(error)))
    if status in BUSY_STATUS or (status >= 500 and not unsupported):
        return BackendBusyError(text, retry_after=retry_after(_headers(error)) or _told_delay(error))
    return RefusedError(text + ("" if moved else _hint(status, said, settings)), status)


def _moved(error: BaseException, settings: ModelSettings) -> str:
    """What to set where another server answers, to which ours sent us on; '' where it is the one that was asked."""
    place = str(getattr(getattr(error, "response", error), "url", ""))
    if not (place and settings.base_url) or is_same_server(settings.base_url, place):
        return ""
    key = f"llm.{settings.role}.base_url"
    return f", says {shown_url(place)}, to which it sends us on; the key goes nowhere else than to {key}: set that"


def _hint(status: int, said: str, settings: ModelSettings) -> str:
    """The key to set, where the server's words tell it; an address that says of nothing that it is missing is wrong."""
    keys = [key for word, key in _HINTS.items() if re.search(word, said.lower())]
    keys += ["base_url"] if status in (404, 405) and settings.base_url else []
    return f"; see llm.{settings.role}.{keys[0]}" if keys else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks us to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date."""
    try:
        if headers.get("retry-after-ms"):
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after") or headers.get("Retry-After")
        if value is None:
            return None
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, TypeError):
        return None


def _told_delay(error: BaseException) -> float | None:
    """Seconds that Google asks us to wait: it says so in the body alone, as `retryDelay: "34.4s"`."""
    body: Any = getattr(error, "details", None)
    inner = body.get("error") if isinstance(body, Mapping) else None
    parts = inner.get("details") if isinstance(inner, Mapping) else None
    told = [part.get("retryDelay") for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    found = [_DELAY.fullmatch(text) for text in told if isinstance(text, str)]
    return next((float(delay[1]) for delay in found if delay), None)


def _status(error: BaseException) -> int | None:
    for name in ("status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return value
    return None


def _headers(error: BaseException) -> Mapping[str, str]:
    headers: Any = getattr(getattr(error, "response", error), "headers", None)
    return headers if headers is not None else {}


def _never_sent(error: BaseException) -> bool:
    """True if the connection was not even made, so that nothing can have been billed."""
    return any(
        isinstance(cause, ConnectionRefusedError) or type(cause).__name__ in _NO_CONNECTION for cause in _causes(error)
    )


def _proxy(settings: ModelSettings) -> str:
    """Whom we ask for the way, in words; '' where nobody."""
    proxy = "" if settings.is_local else proxy_for(settings.base_url or "https://")
    return f"the proxy {shown_url(proxy)} that the environment names" if proxy else ""


def _wrong_address(cause: BaseException, proxy: str) -> str:
    """What to look at where `cause` tells that an address is wrong; '' for any other one."""
    if isinstance(cause, gaierror) and cause.errno in _NO_SUCH_HOST:
        return f" (no server has the name of {proxy})" if proxy else " (no server has this name); see {key}"
    if isinstance(cause, SSLCertVerificationError):
        return "; SSL_CERT_FILE in the environment names a file of certificates to trust; see {key}"
    if isinstance(cause, SSLError) and getattr(cause, "reason", None) in _NO_TLS:
        return " (the server speaks no TLS: http://?); see {key}"
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came of, as far as five steps back."""
    chain: BaseException | None = error
    for _ in range(5):
        if chain is None:
            return
        yield chain
        chain = chain.__cause__ or chain.__context__


def _with_cause(error: BaseException, settings: ModelSettings) -> str:
    """What it says; of an SDK's own, which is `Connection error.` whatever broke, also what it came of."""
    told, last = _said(error, settings), list(_causes(error))[-1]
    said = _first_line(last, settings)
    is_vague = type(error).__module__.partition(".")[0] in _SDK and last is not error and said not in told
    return f"{told.rstrip('.')}: {said[:200]}" if is_vague else told


def _name(settings: ModelSettings) -> str:
    place = f" at {shown_url(settings.base_url)}" if settings.base_url else ""
    return f"{settings.writer}{place}"


def _said(error: BaseException, settings: ModelSettings) -> str:
    """What the server says, out of the body where it is kept, else the first line of the error's text."""
    words = _words(getattr(error, "body", None) or getattr(error, "details", None))
    return one_line(mask(words, settings), _SHOWN) or _first_line(error, settings)


def _words(body: Any) -> str:
    """The words of an error's body, of a page without its markup; '' where there are none.

    A gateway that says no more than that a provider failed has the provider's own words beside it (OpenRouter).
    """
    if isinstance(body, str):
        return _MARKUP.sub(" ", body)
    if not isinstance(body, Mapping):
        return ""
    inner = body.get("error", body)
    if not isinstance(inner, Mapping):
        return _words(inner)
    told = [text for name in _WORDS if isinstance(text := inner.get(name), str) and text.strip()][:1]
    more = inner.get("metadata")
    raw = more.get("raw") if isinstance(more, Mapping) else None
    return ": ".join(told + ([raw] if told and isinstance(raw, str) else [])) or str(dict(inner))


def _first_line(error: BaseException, settings: ModelSettings) -> str:
    """Masked before it is cut: half a key tells much of it."""
    lines = mask(str(error), settings).strip().splitlines()
    return one_line(lines[0], _SHOWN) if lines else "(no message)"
