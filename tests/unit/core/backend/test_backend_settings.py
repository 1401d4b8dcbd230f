"""Which model a role talks to: inheritance, usual keys, and nothing secret in sight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.backend.backend_command import FreshFolder
from core.backend.exchange import Usage
from core.backend.preflight import check, quote
from core.backend.prices import cost_of
from core.backend.roles import model_settings
from core.backend.settings import ModelSettings
from utils.config import check_config, load_config
from utils.config_llm import LLMConfig
from utils.config_search import BudgetConfig
from utils.errors import ConfigError

PRESETS = ("openai", "openai-responses", "anthropic", "gemini", "deepseek", "glm", "ollama", "vllm")
KEY = "sk-planted-0123456789"
UNPRICED: dict[str, object] = {"provider": "openai", "model": "nobody-knows-it", "base_url": "https://h.example/v1"}


def settings(env: dict[str, str] | None = None, **roles: object) -> dict[str, ModelSettings]:
    return model_settings(LLMConfig.model_validate(roles), env or {})


def test_feedback_and_refine_inherit_what_they_do_not_set() -> None:
    code = {"provider": "openai", "model": "gpt-4o", "temperature": 0.5, "timeout": 60, "api_key": KEY}
    roles = settings(code=code, feedback={"model": "gpt-4o-mini"})
    assert (roles["feedback"].model, roles["feedback"].provider) == ("gpt-4o-mini", "openai")
    assert (roles["feedback"].temperature, roles["feedback"].timeout, roles["feedback"].key_text) == (0.5, 60, KEY)
    assert (roles["refine"].model, roles["refine"].role) == ("gpt-4o", "refine")


def test_a_role_with_another_provider_inherits_neither_key_nor_address() -> None:
    code = {"provider": "openai", "model": "m", "base_url": "https://llm.example/v1", "api_key": KEY}
    roles = settings({"ANTHROPIC_API_KEY": "sk-ant-1"}, code=code, feedback={"provider": "anthropic", "model": "c"})
    assert roles["feedback"].base_url == ""
    assert roles["feedback"].key_text == "sk-ant-1"


def test_a_role_or_choice_on_another_host_does_not_get_the_key() -> None:
    code = {"provider": "openai", "model": "m", "base_url": "https://one.example/v1", "api_key": KEY}
    away = {"base_url": "https://two.example/v1"}
    roles = settings(code=code, feedback=away, refine=away | {"api_key": "sk-two"})
    assert [roles[role].key_text for role in ("code", "feedback", "refine")] == [KEY, "", "sk-two"]
    assert settings(code=code, feedback={"base_url": "https://one.example/v2"})["feedback"].key_text == KEY
    models = [{"model": "a"}, {"model": "b", **away}, {"model": "c", **away, "api_key": "sk-two"}]
    arms = settings(code={**code, "models": models})["code"].models
    assert [arm.key_text for arm in arms] == [KEY, "", "sk-two"]


@pytest.mark.parametrize(
    ("provider", "base_url", "variable", "found"),
    [
        ("openai", None, "OPENAI_API_KEY", True),
        ("anthropic", None, "ANTHROPIC_API_KEY", True),
        ("gemini", None, "GEMINI_API_KEY", True),
        ("gemini", None, "GOOGLE_API_KEY", True),
        ("openai", "https://api.deepseek.com", "DEEPSEEK_API_KEY", True),
        ("openai", "https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY", True),
        ("openai", "https://api.deepseek.com", "OPENAI_API_KEY", False),
        ("openai", "https://elsewhere.example/v1", "OPENAI_API_KEY", False),
        ("openai", "http://127.0.0.1:8000/v1", "OPENAI_API_KEY", False),
    ],
)
def test_a_key_goes_only_to_the_host_it_was_made_for(
    provider: str, base_url: str | None, variable: str, found: bool
) -> None:
    code = {"provider": provider, "model": "m", "base_url": base_url}
    assert settings({variable: KEY}, code=code)["code"].key_text == (KEY if found else "")


def test_the_default_presets_word_names_no_model() -> None:
    """`--llm.code.provider=command --llm.code.command=…` on top of the preset `rules`, which says `model: rules`."""
    found = load_config(None, ["llm.code.provider=command", "llm.code.command=/opt/bin/my-model --quiet"], env={})
    assert model_settings(found.llm, {})["code"].writer == "command/my-model"
    with pytest.raises(ConfigError, match=r"llm\.code\.model is not set"):
        model_settings(load_config(None, ["llm.code.provider=openai"], env={}).llm, {})
    with pytest.raises(ConfigError, match=r"set llm\.feedback\.model=rules, or the model's llm\.feedback\.provider"):
        model_settings(load_config(None, ["llm.feedback.model=gpt-4o"], env={}).llm, {})


def test_reasoning_models_are_known_by_name() -> None:
    for model, reasons in (("o3-mini", True), ("gpt-5-mini", True), ("gpt-4o", False), ("claude-sonnet-5", False)):
        found = settings(code={"provider": "openai", "model": model})["code"]
        assert found.reasoning is reasons
        assert found.max_tokens == (32768 if reasons else 8192)


def test_no_secret_in_repr() -> None:
    code = {"provider": "openai", "model": "m", "api_key": KEY, "base_url": "https://me:hunter2@h.example/v1?k=s3cret"}
    shown = repr(settings(code=code))
    assert KEY not in shown
    assert "hunter2" not in shown
    assert "s3cret" not in shown


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_finds_its_key_and_passes_the_check(preset: str) -> None:
    keys = ("OPENAI", "ANTHROPIC", "GEMINI", "DEEPSEEK", "ZAI")
    env = {f"{name}_API_KEY": f"{KEY}-{name}" for name in keys} | {"VLLM_MODEL": "qwen"}
    config = load_config(None, presets={"llm": preset}, env=env)
    roles = model_settings(config.llm, env)
    check(roles, config.budget)
    needs_key = preset not in ("ollama", "vllm")
    assert bool(roles["code"].key_text) is needs_key
    name = {"glm": "ZAI", "openai-responses": "OPENAI"}.get(preset, preset.upper())
    assert not needs_key or roles["code"].key_text == f"{KEY}-{name}"
    assert roles["feedback"].model == roles["code"].model


@pytest.mark.parametrize("preset", ["openai", "openai-responses", "anthropic", "gemini", "deepseek", "glm"])
def test_a_missing_key_is_one_line_that_names_the_variable(preset: str) -> None:
    config = load_config(None, presets={"llm": preset}, env={})
    with pytest.raises(ConfigError, match="_API_KEY in the environment") as caught:
        check(model_settings(config.llm, {}), config.budget)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "usd", "line"),
    [
        (
            UNPRICED,
            5.0,
            r"llm\.\*\.price",
        ),
        (
            UNPRICED,
            5.0,
            "budget.usd=null",
        ),
        ({"provider": "openia", "model": "m"}, 5.0, "openai"),
        ({"provider": "command", "command": "no-such-program --flag"}, 5.0, "no-such-program"),
        ({"provider": "command"}, 5.0, "command is not set"),
        ({"provider": "azure", "model": "m", "api_key": KEY}, None, "base_url"),
    ],
)
def test_what_cannot_be_asked_or_paid_is_refused_before_the_run(
    code: dict[str, object], usd: float | None, line: str
) -> None:
    with pytest.raises(ConfigError, match=line):
        check(settings(code=code), BudgetConfig(usd=usd))


@pytest.mark.parametrize(
    ("code", "usd"),
    [
        (UNPRICED, None),
        (
            UNPRICED | {"price": {"input": 1, "output": 2}},
            5,
        ),
        ({"provider": "openai", "model": "x", "base_url": "http://localhost:1234/v1"}, 5),
        ({"provider": "command", "command": "cat"}, 5),
        ({"provider": "rules"}, 0),
    ],
)
def test_what_can_be_paid_passes(code: dict[str, object], usd: float | None) -> None:
    check(settings(code=code), BudgetConfig(usd=usd))


def test_missing_sdk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.backend.provider.is_installed", lambda module: False)
    with pytest.raises(ConfigError, match=r"pip install .*\[gemini\]"):
        check(settings(code={"provider": "gemini", "model": "m", "api_key": KEY}), BudgetConfig())


SEED = """
llm:
  code: {provider: openai, model: gpt-4-turbo, api_key: "${env:OPENAI_API_KEY}"}
  feedback:
    provider: openai
    model: glm-4.6
    api_key: "${env:OPENAI_API_KEY}"
    base_url: https://open.bigmodel.cn/api/coding/paas/v4
"""


def test_the_seeds_own_models_have_prices(tmp_path: Path) -> None:
    """glm-4.6 is no longer on the list of its first address, but on that of the same company's other one."""
    (tmp_path / "seed.yaml").write_text(SEED)
    config = load_config(tmp_path / "seed.yaml", env={"OPENAI_API_KEY": KEY})
    roles = model_settings(config.llm, {})
    check(roles, config.budget)
    million = Usage(1_000_000, 1_000_000)
    assert (cost_of(roles["code"], million), cost_of(roles["feedback"], million)) == (
        pytest.approx(40.0),
        pytest.approx(2.8),
    )


def test_the_quote_is_steps_times_expected_tokens_and_price() -> None:
    code = {"provider": "openai", "model": "m", "price": {"input": 1.0, "output": 10.0}}
    ten, twenty = quote(settings(code=code), 10), quote(settings(code=code), 20)
    assert (twenty.tokens, twenty.calls) == (2 * (ten.tokens or 0), 2 * ten.calls)
    expected = 10 * ((7000 + 4000) * 1.0 + (2500 + 300) * 10.0) / 1e6
    assert ten.usd == pytest.approx(expected)
    assert "$5.00 by budget.usd" in ten.text(5.0)
    plain, with_ideas = (quote(settings(code=code), 10, reviews=False, ideas=row) for row in (0, 4))
    assert (plain.calls, with_ideas.calls) == (10, 13)
    assert with_ideas.usd == pytest.approx((plain.usd or 0) + 3 * (7000 * 1.0 + 400 * 10.0) / 1e6)
    assert quote(settings(), 10).tokens is None and "rules write" in quote(settings(), 10).text(None)
    outside = quote(settings(code={"provider": "external"}), 10)
    assert outside.usd is None and outside.text(5.0) == (
        "10 steps, written outside of the run: what that costs is not known here"
    ), "it said about $0.00"
    here = {**code, "base_url": "http://127.0.0.1:4000/v1"}
    unpriced = quote(settings(code={**here, "price": None}), 10).text(5.0)
    assert "no cost counted, set llm.*.price" in unpriced and "$" not in unpriced, "such a server may bill elsewhere"
    assert "capped at $5.00" in quote(settings(code=here), 10).text(5.0)


def test_models_are_complete_settings_with_their_own_prices() -> None:
    code = {
        "provider": "openai", "base_url": "https://h.example/v1", "api_key": KEY, "choice": "bandit",
        "models": [{"model": "a", "price": {"input": 1, "output": 1}}, {"model": "c", "provider": "anthropic"}],
    }  # fmt: skip
    found = settings(code=code)["code"]
    assert [arm.writer for arm in found.models] == ["openai/a", "anthropic/c"]
    assert found.models[0].key_text == KEY
    assert found.models[1].key_text == ""
    assert found.models[1].base_url == ""
    assert found.choice == "bandit"


def test_a_reviewer_is_handed_no_files_also_where_several_may_be_asked() -> None:
    code = {"provider": "command", "command": "a", "models": [{"model": "x"}, {"model": "y"}]}
    desk: Any = object()
    roles = model_settings(LLMConfig.model_validate({"code": code}), {}, box=FreshFolder, desk=desk)
    assert {arm.desk for arm in roles["code"].alternatives} == {desk}
    assert {arm.desk for arm in (roles["feedback"], *roles["feedback"].models)} == {None}


def test_unknown_tools_start_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"llm\.code\.tools"):
        check_config({"llm": {"code": {"tools": "magic"}}})


def test_presets_are_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'openai'"):
        load_config(None, presets={"llm": "opnai"}, env={})


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"n": 4}, r"llm\.code\.extra\.n=4: each reply would be billed"),
        ({"candidate_count": 2}, "each reply would be billed"),
        ({"max_tokens": 100_000}, r"set llm\.code\.max_tokens \(8192 now\)"),
        ({"max_completion_tokens": "many"}, r"set llm\.code\.max_tokens"),
        ({"model": "gpt-5-pro"}, r"set llm\.code\.model"),
        ({"stream": True}, r"set llm\.code\.stream"),
        ({"service_tier": "priority"}, r"its price with llm\.code\.extra\.service_tier=priority is not known"),
        ({"speed": "fast"}, "speed=fast is not known"),
        ({"inference_geo": "us"}, "inference_geo=us is not known"),
    ],
)
def test_what_goes_to_a_provider_as_it_is_cannot_cost_more_than_is_reserved(extra: dict[str, Any], said: str) -> None:
    roles = settings(code={"provider": "openai", "model": "gpt-4o", "api_key": KEY, "extra": extra})
    with pytest.raises(ConfigError, match=said):
        check(roles, BudgetConfig(usd=5.0))


@pytest.mark.parametrize(
    "extra",
    [{"n": 1}, {"max_tokens": 100}, {"model": "gpt-4o", "stream": False}, {"service_tier": "flex"}, {"top_p": 0.5}],
)
def test_what_costs_no_more_may_go_to_a_provider(extra: dict[str, Any]) -> None:
    roles = settings(code={"provider": "openai", "model": "gpt-4o", "api_key": KEY, "extra": extra})
    check(roles, BudgetConfig(usd=5.0))
    assert cost_of(roles["code"], Usage(1000, 1000))


def test_a_price_that_is_set_holds_for_a_dearer_service_too() -> None:
    price = {"input": 5.0, "output": 20.0}
    code = {"provider": "openai", "model": "gpt-4o", "api_key": KEY, "price": price}
    roles = settings(code={**code, "extra": {"service_tier": "priority"}})
    check(roles, BudgetConfig(usd=5.0))
    assert cost_of(roles["code"], Usage(1_000_000, 0)) == 5.0
