"""Addresses: which are on this machine, how they are shown, and a switch for tests that forbids all others."""

from __future__ import annotations

import ipaddress
import os
import sys
import threading
from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from utils.errors import BackendError

NO_NETWORK = "SWARM_EVO_TEST_NO_NETWORK"
"""Environment variable: `1` makes any call to a non-loopback address an error."""

_guard = threading.Lock()
_guarded: list[bool] = []


def host_of(url: str) -> str:
    """Host name of a URL in lower case; '' if it has none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def is_address(url: str) -> bool:
    """Whether something can be asked there: http or https, a host, and a port that can be."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and " " not in url
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """True for `localhost`, names below it, 127.0.0.0/8 and ::1."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def shown_url(url: str) -> str:
    """The address without user, password, query and fragment, where secrets travel."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(unreadable address)"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return urlunsplit((parts.scheme, host + port, parts.path, "", ""))


def proxy_for(url: str) -> str:
    """The proxy that the environment names for an address, as every client of HTTP reads it; '' for none."""
    from urllib.request import getproxies, proxy_bypass  # loads HTTP

    found, parts = getproxies(), urlsplit(url)
    host = parts.hostname or ""
    proxy = found.get(parts.scheme) or found.get("all") or ""
    if not proxy or is_loopback(host) or (host and proxy_bypass(host)):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def is_same_server(asked: str, other: str) -> bool:
    """True where `other` may know what was sent to `asked`: the same scheme, host and port, or the same host by TLS."""
    scheme, host, port = _origin(asked)
    return _origin(other) in ((scheme, host, port), ("https", host, 443) if (scheme, port) == ("http", 80) else None)


def _origin(url: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(url)
        return parts.scheme, (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "", "", 0


def direct(url: str) -> dict[str, Any]:
    """Options of an HTTP client for a server on this machine: HTTP_PROXY is for the world outside. Whose certificates
    are trusted, the environment says for all."""
    import httpx2

    return {"trust_env": False} | ({"verify": httpx2.create_ssl_context()} if url.startswith("https:") else {})


def key_keeper(url: str, names: Collection[str]) -> Callable[[Any], None]:
    """A hook for an HTTP client, called with each request, also with those that follow a redirect: it takes the headers
    `names` from one that goes to another server than `url`'s. HTTP's client takes one key's name away."""

    def keep(request: Any) -> None:
        if not is_same_server(url, str(request.url)):
            for name in names:
                request.headers.pop(name, None)

    return keep


def check_address(url: str) -> None:
    """Raise BackendError if the switch is on and `url` is not on this machine."""
    if os.environ.get(NO_NETWORK) != "1":
        return
    _guard_sockets()
    if not is_loopback(host_of(url)):
        raise BackendError(f"{NO_NETWORK}=1 forbids the call to {shown_url(url)}")


def _guard_sockets() -> None:
    """Refuse other addresses at the socket too, whatever an SDK resolves or follows. The hook obeys the switch."""
    with _guard:
        if not _guarded:
            _guarded.append(True)
            sys.addaudithook(_refuse_connect)


def _refuse_connect(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect" and os.environ.get(NO_NETWORK) == "1":
        address = args[1]
        if isinstance(address, tuple) and not is_loopback(str(address[0])):
            raise PermissionError(f"{NO_NETWORK}=1 forbids a connection to {address[0]}")
