"""What is masked of a configuration, and what is not."""

from __future__ import annotations

import pytest

from utils.secrets import MASK, masked, masked_address, secret_parts


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://user:pw@127.0.0.1:9/v1?api_key=K#f", f"http://{MASK}@127.0.0.1:9/v1?{MASK}"),
        ("postgres://user@h/db", f"postgres://{MASK}@h/db"),
        ("https://h?x=1", f"https://h?{MASK}"),
        ("https://h/a@b", "https://h/a@b"),
        ("http://user:pwd@[::1", f"http://{MASK}@[::1"),
        ("https://h.example/v1", "https://h.example/v1"),
        ("look at http://a?b", "look at http://a?b"),
        ("C:/x?y", "C:/x?y"),
    ],
)
def test_addresses_lose_user_password_and_query(address, shown):
    assert masked_address(address) == shown
    hidden = [part for part in secret_parts(address) if part]
    assert bool(hidden) == (shown != address) and all(part not in shown for part in hidden)


def test_keys_tokens_and_every_text_below_extra_are_masked():
    plain = {
        "llm": {"code": {"api_key": "k1", "model": "m", "extra": {"h": {"A": "Bearer b1"}, "n": 1.5, "l": ["s1", 2]}}},
        "execution": {"ray": {"address": "ray://u:p1@h", "Password": "p2"}},
        "budget": {"tokens": 5}, "dashboard": {"token": "t1"},
    }  # fmt: skip
    shown = masked(plain)
    assert shown["llm"]["code"]["extra"] == {"h": {"A": MASK}, "n": 1.5, "l": [MASK, 2]}
    assert shown["llm"]["code"]["model"] == "m" and shown["budget"] == {"tokens": 5}
    assert shown["execution"]["ray"] == {"address": f"ray://{MASK}@h", "Password": MASK}
    found = {"k1", "Bearer b1", "s1", "p1", "p2", "t1"}
    assert found <= set(secret_parts(plain)) and not any(part in str(shown) for part in found)
    assert masked(shown) == shown
