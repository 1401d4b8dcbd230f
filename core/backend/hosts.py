"""Well-known addresses: where their key usually is, and under whose name their prices are listed."""

from __future__ import annotations

from dataclasses import dataclass

from core.backend.network import host_of
from core.backend.provider import ProviderSpec


@dataclass(frozen=True, slots=True)
class Host:
    """What is known of one address."""

    key_variables: tuple[str, ...]
    """Environment variables where its key usually is. A key is never sent to a host it was not made for."""
    publishers: tuple[str, ...]
    """Names under which `genai-prices` lists its models, best first."""
    tells_bill: bool = False
    """True where the cost that it tells with a reply is what it bills, in dollars: a list has one of several prices."""


HOSTS = {
    "api.openai.com": Host(("OPENAI_API_KEY",), ("openai",)),
    "api.deepseek.com": Host(("DEEPSEEK_API_KEY",), ("deepseek",)),
    # One company, two addresses. What is not listed for the one is priced as at the other, which is never cheaper.
    "open.bigmodel.cn": Host(("ZHIPUAI_API_KEY",), ("zhipuai", "zai")),
    "api.z.ai": Host(("ZAI_API_KEY",), ("zai",)),
    "openrouter.ai": Host(("OPENROUTER_API_KEY",), ("openrouter",), tells_bill=True),
}


def key_names(spec: ProviderSpec, base_url: str) -> tuple[str, ...]:
    """Environment variables where the key of this address usually is; () where none is usual."""
    if not spec.key_variables or not base_url or spec.owns_address:
        return spec.key_variables
    host = HOSTS.get(host_of(base_url))
    return host.key_variables if host else ()


def tells_bill(base_url: str) -> bool:
    """True where the cost that comes with a reply is the bill."""
    host = HOSTS.get(host_of(base_url))
    return host is not None and host.tells_bill


def publishers(spec: ProviderSpec, base_url: str) -> tuple[str, ...]:
    """Names under which the prices of this address are listed; () for an address that nobody knows."""
    if not base_url or spec.owns_address:
        return spec.publishers
    host = HOSTS.get(host_of(base_url))
    return host.publishers if host else ()
