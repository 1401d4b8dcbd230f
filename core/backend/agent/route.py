"""The way from the gateway to a model: straight, or by the proxy that the environment names, as every client goes."""

from __future__ import annotations

import base64
import http.client
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from core.backend.network import proxy_for, shown_url
from utils.errors import BackendError


@dataclass(frozen=True, slots=True)
class Route:
    """To one address.

    Args:
        address: of the model.
        proxy: None for none.
    """

    address: SplitResult
    proxy: SplitResult | None = field(default=None, repr=False)
    """May hold user and password."""

    @classmethod
    def to(cls, url: str) -> Route:
        """Raises BackendError where the environment names a proxy that speaks no HTTP."""
        address = urlsplit(url)
        if not (proxy := proxy_for(url)):
            return cls(address)
        parts = urlsplit(proxy)
        if parts.scheme != "http" or not parts.hostname:
            why = f"the gateway asks proxies at http:// alone, and the environment names {shown_url(proxy)}"
            raise BackendError(f"{why} for {shown_url(url)}: name another, or the model's host in NO_PROXY")
        return cls(address, parts)

    def connection(self, seconds: float) -> http.client.HTTPConnection:
        """Not yet connected.

        Args:
            seconds: that an answer may keep us waiting.
        """
        made = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
        if self.proxy is None:
            return made(self.address.hostname or "", self.address.port, timeout=seconds)
        connection = made(self.proxy.hostname or "", self.proxy.port or 80, timeout=seconds)
        if self.address.scheme == "https":
            connection.set_tunnel(self.address.hostname or "", self.address.port, self.headers)
        return connection

    def target(self, path: str) -> str:
        """What is asked for: a proxy that sees the request is told the whole address."""
        below = self.address.path + path
        return below if self._is_straight else f"http://{self.address.netloc.rpartition('@')[2]}{below}"

    def of_request(self, headers: dict[str, str]) -> dict[str, str]:
        """The headers of a request, with what the proxy wants of one that it sees."""
        return headers if self._is_straight else {**headers, **self.headers}

    @property
    def headers(self) -> dict[str, str]:
        """By which we are known to the proxy."""
        if self.proxy is None or not self.proxy.username:
            return {}
        login = f"{unquote(self.proxy.username)}:{unquote(self.proxy.password or '')}"
        return {"Proxy-Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}

    @property
    def _is_straight(self) -> bool:
        return self.proxy is None or self.address.scheme == "https"
