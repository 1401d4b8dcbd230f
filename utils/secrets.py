"""What of a configuration is a secret, and how it looks without it wherever it is stored or shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

MASK = "********"
_SECRET_KEY = re.compile(
    r"(?:(?:api|access|private|secret)[_-]?key|token|passw(?:or)?d|secret|authorization|credentials?)$", re.IGNORECASE
)
"""Ends of the last parts of keys whose values are secrets: `api_key`, `token_secret`, `WANDB_API_KEY`."""
_SECRET_PLACES = frozenset({("notify", "url")})
"""Keys whose names do not tell: a chat service's web hook lets whoever has the address post, by its path alone."""
OPEN_KEY = "extra"
"""Below it anything goes to a provider as it is, headers too: every text there counts as a secret."""

_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]*://)(?P<user>[^/?#\s]*@)?(?P<place>[^?#\s]*)(?P<query>[?#]\S*)?")


def masked(value: Any, path: tuple[str, ...] = ()) -> Any:
    """Plain JSON of a configuration without its secrets.

    Masked are keys, tokens and web hooks, user, password and query of addresses, and every text below `extra`.

    Args:
        path: keys that lead to `value`.
    """
    if isinstance(value, Mapping):
        return {name: masked(item, (*path, str(name))) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item, path) for item in value]
    if not isinstance(value, str) or not value:
        return value
    if path and (_SECRET_KEY.search(path[-1]) or path in _SECRET_PLACES or OPEN_KEY in path[:-1]):
        return MASK
    return masked_address(value)


def masked_word(word: str) -> str:
    """A word of the command line, `--key.of.it=value`, as it may be stored and shown."""
    key, equals, value = word.partition("=")
    if not equals:
        return masked_address(word)
    path = tuple(key.lstrip("-").split("."))
    return f"{key}={MASK if _holds_secret(value, path) else masked(value, path)}"


def _holds_secret(value: str, path: tuple[str, ...]) -> bool:
    """True for an object or a list with something to mask in it."""
    if value[:1] not in ("{", "["):
        return False
    import yaml  # as a configuration reads it

    try:
        found = yaml.safe_load(value)
    except yaml.YAMLError:
        return False
    return bool(masked(found, path) != found)


def masked_address(text: str) -> str:
    """An address without user, password, query and fragment; any other text as it is."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return text
    user, query = f"{MASK}@" if found["user"] else "", f"?{MASK}" if found["query"] else ""
    return f"{found['scheme']}{user}{found['place']}{query}"


def secret_parts(value: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every text that `masked` takes away, for masking logs."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from secret_parts(item, (*path, str(name)))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secret_parts(item, path)
    elif isinstance(value, str) and masked(value, path) == MASK:
        yield value
    elif isinstance(value, str) and (found := _ADDRESS.fullmatch(value)):
        user, query = (found["user"] or "").rstrip("@"), (found["query"] or "").lstrip("?#")
        yield from (user, user.partition(":")[2], query)
        yield from (pair.partition("=")[2] for pair in query.split("&"))
