"""What is masked of a configuration, and what is not."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, SecretStr

from utils.config_schema import Config
from utils.config_section import kinds_of
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


@pytest.mark.parametrize(
    "name", ["WANDB_API_KEY", "token_secret", "access_token", "X-Api-Key", "db_password", "aws_secret_access_key"]
)
def test_a_secret_is_known_by_the_end_of_its_name(name):
    plain = {"execution": {"ray": {"runtime_env": {"env_vars": {name: "s3cret"}}}}}
    assert "s3cret" not in str(masked(plain)) and list(secret_parts(plain)) == ["s3cret"]


@pytest.mark.parametrize("name", ["tokenizer", "keyboard", "secrets_file", "passwords", "monkey"])
def test_a_word_that_only_begins_like_one_is_shown(name):
    assert masked({"problem": {"options": {name: "plain"}}}) == {"problem": {"options": {name: "plain"}}}


def test_whatever_the_schema_keeps_secret_is_masked_where_it_is_stored():
    """A web hook's address lets whoever has it post, by its path alone; its name tells nothing of that."""
    secret = list(_secret_keys(Config))
    assert {"notify.url", "dashboard.token", "llm.code.api_key"} <= set(secret)
    value = "https://hooks.example/services/T0/B0/planted"
    assert all(masked(value, tuple(key.split("."))) == MASK for key in secret)


def _secret_keys(model, prefix=""):
    for name, info in model.model_fields.items():
        if SecretStr in kinds_of(info.annotation):
            yield prefix + name
        elif isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from _secret_keys(info.annotation, f"{prefix}{name}.")
