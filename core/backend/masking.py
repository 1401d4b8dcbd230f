"""What no text about a model may show: its key, and the secrets of its address, of `extra` and of the environment."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, urlsplit

from core.backend.settings import ModelSettings
from utils.secrets import MASK, secret_parts

_SECRET_VARIABLE = re.compile(r"(?:key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
"""Names of environment variables that hold one."""
_NO_KEY = re.compile(r"\w{1,7}|[A-Za-z_]{1,11}", re.ASCII)
"""No key that anybody was given: a short word or number."""


def mask(text: str, settings: ModelSettings) -> str:
    """`text` without the key, also where it was quoted for a URL, and without the secrets of address, `extra` and the
    environment that a command is handed."""
    for secret in secrets_of(settings):
        text = text.replace(secret, MASK)
    return text


def secrets_of(settings: ModelSettings) -> list[str]:
    """What no text of this model may show, the longest first."""
    found = [settings.key_text] if tells(settings.key_text) else []
    try:
        parts = urlsplit(settings.base_url)
        found += [parts.password or "", parts.query]
    except ValueError:
        found.append(settings.base_url)
    found = [secret for secret in found if len(secret) >= 4]
    found += [text for text in secret_parts({"extra": settings.extra}) if len(text) >= 12]  # a header, not a word
    handed = [os.environ.get(name, "") for name in settings.env if _SECRET_VARIABLE.search(name)]
    found += [value for value in handed if len(value) >= 8]
    return sorted({*found, *map(quote, found)}, key=len, reverse=True)


def tells(key: str) -> bool:
    """False for what stands in a key's place where a server wants none: `EMPTY`, `ollama`, `none`. Programs hold such
    words, too, and one that is masked does not run."""
    return bool(key) and _NO_KEY.fullmatch(key) is None
