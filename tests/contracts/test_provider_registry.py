"""What every provider's spec must hold, and that one from outside is as good as one of ours."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from core.backend import PROVIDERS, MemoryLog, ModelClient, ModelSettings, ProviderSpec, check, model_settings
from core.backend.preflight import check_model
from utils.config import load_config
from utils.config_llm import LLMConfig
from utils.config_search import BudgetConfig
from utils.errors import ConfigError, SwarmEvoError

ROOT = Path(__file__).parents[2]
PRESETS = sorted(path.stem for path in (ROOT / "config" / "llm").glob("*.yaml"))
ECHO = '''
"""A provider of a user's own: it answers with what it was asked."""

from core.backend.exchange import Reply, Usage
from core.backend.provider import ProviderSpec


def connect(settings):
    return settings.model


def query(client, request, settings, deadline):
    return Reply(text=f"{client}: {request.user}", finish_reason="stop", usage=Usage(3, 4))


PROVIDER = ProviderSpec(connect, query, sends_bills=False, model_name=lambda keys: "parrot"%s)
'''


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")
    for spec in PROVIDERS.all().values():
        for name in (*spec.key_variables, spec.url_variable):
            monkeypatch.delenv(name or "_", raising=False)


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    (tmp_path / "providers").mkdir()
    (tmp_path / "providers" / "echo.py").write_text(ECHO % "")
    return tmp_path


@pytest.mark.parametrize("name", PROVIDERS.names())
def test_a_provider_without_anything_set_is_asked_nothing_or_says_what_it_lacks(name: str) -> None:
    """Nothing leaves before a model is complete; what is missing is one line that begins with the key to set."""
    settings = ModelSettings(provider=name, model="m")
    spec = PROVIDERS.get(name)
    try:
        check_model(settings)
    except ConfigError as refusal:
        assert "\n" not in str(refusal)
        assert re.match(rf"llm\.code\.\w+(={name})?\b|provider '{name}'", str(refusal)), refusal
    else:
        assert not spec.sends_bills or not spec.key_variables, "a model that sends bills was not asked for its key"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_names_a_provider(preset: str) -> None:
    config = load_config(None, presets={"llm": preset}, env={"VLLM_MODEL": "qwen"})
    assert model_settings(config.llm, {})["code"].provider in PROVIDERS.names()


def test_no_file_outside_its_own_knows_a_providers_name() -> None:
    """A name that code compares with is a case that a provider from outside cannot have. `rules` alone is no model."""
    names = "|".join(name for name in PROVIDERS.names() if name != "rules")
    compared = re.compile(rf"provider\s*(==|!=|in|not in)\s*\(?\s*[\"']({names})[\"']")
    files = [*(ROOT / "core").rglob("*.py"), *(ROOT / "runs").rglob("*.py"), *(ROOT / "cli").rglob("*.py")]
    assert [str(file.relative_to(ROOT)) for file in files if compared.search(file.read_text("utf-8"))] == []


def test_a_provider_of_a_plug_in_folder_is_checked_priced_and_asked(plugins: Path) -> None:
    section = LLMConfig.model_validate({"code": {"provider": "echo"}})
    roles = model_settings(section, {}, [str(plugins)])
    check(roles, BudgetConfig(usd=5))
    client = ModelClient(roles, log=MemoryLog())
    assert client.bind("code", "n")("s", "hello") == "parrot: hello"
    used = client.usage_of("n")
    assert (used.writer, used.prompt_tokens, used.completion_tokens, used.cost_usd) == ("echo/parrot", 3, 4, 0.0)
    client.close()
    with pytest.raises(ConfigError, match=r"llm\.code\.provider=echo: unknown"):
        model_settings(section, {})


def test_its_spec_is_obeyed(plugins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = ', key_variables=("PARROT_KEY",), package="no_such_package"'
    (plugins / "providers" / "shy.py").write_text(ECHO.replace("sends_bills=False, ", "") % spec)
    section = LLMConfig.model_validate({"code": {"provider": "shy"}})
    with pytest.raises(ConfigError, match=r"provider=shy needs the package no_such_package.*pip install no_such"):
        check(model_settings(section, {}, [str(plugins)]), BudgetConfig(usd=5))
    with pytest.raises(ConfigError, match="no_such_package"):
        ModelClient(model_settings(section, {}, [str(plugins)]), log=MemoryLog()).bind("code")("s", "u")
    (plugins / "providers" / "shier.py").write_text(
        ECHO.replace("sends_bills=False, ", "") % spec.split(", package")[0]
    )
    section = LLMConfig.model_validate({"code": {"provider": "shier"}})
    with pytest.raises(ConfigError, match="needs a key: set PARROT_KEY"):
        check(model_settings(section, {}, [str(plugins)]), BudgetConfig(usd=5))
    keyed = model_settings(section, {"PARROT_KEY": "k-123456"}, [str(plugins)])
    assert keyed["code"].key_text == "k-123456"
    with pytest.raises(ConfigError, match="its price is not known"):
        check(keyed, BudgetConfig(usd=5))


def test_an_error_of_its_own_is_told_as_an_error_of_the_call(plugins: Path) -> None:
    (plugins / "providers" / "angry.py").write_text(
        ECHO.replace("return Reply(", "raise RuntimeError(request.user)\n    return Reply(") % ""
    )
    roles = model_settings(LLMConfig.model_validate({"code": {"provider": "angry"}}), {}, [str(plugins)])
    with pytest.raises(SwarmEvoError, match=r"angry/parrot: RuntimeError: hello"):
        ModelClient(roles, log=MemoryLog()).bind("code")("s", "hello")


@pytest.mark.parametrize(
    ("found", "instead", "told"),
    [
        ("query(client, request, settings, deadline)", "query(request)", "query cannot be called as query(client, req"),
        ("def connect(settings)", "def connect()", "connect cannot be called as connect(settings): too many"),
        ("ProviderSpec(connect, query", "ProviderSpec(connect, 5", "query=5: a function is needed"),
    ],
)
def test_a_provider_that_cannot_be_called_is_refused_before_anything_runs(plugins, found, instead, told) -> None:
    """It was taken for a server that does not answer, and tried again and again."""
    (plugins / "providers" / "echo.py").write_text((ECHO % "").replace(found, instead))
    with pytest.raises(ConfigError) as refused:
        check_model(ModelSettings(provider="echo", model="m", plugins=(str(plugins),)))
    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_a_reply_that_is_none_is_one_line(plugins: Path) -> None:
    (plugins / "providers" / "echo.py").write_text(re.sub(r"return Reply.*", "return 'a text'", ECHO % ""))
    roles = model_settings(LLMConfig.model_validate({"code": {"provider": "echo"}}), {}, [str(plugins)])
    with pytest.raises(SwarmEvoError, match=r"llm\.code\.provider=echo: query gives a str, not a Reply"):
        ModelClient(roles, log=MemoryLog()).bind("code")("s", "hello")


def test_an_installed_package_adds_one_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "parrots.py").write_text(ECHO % "")
    about = tmp_path / "parrots-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: parrots\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[swarm_evo.providers]\ncockatoo = parrots:PROVIDER\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert isinstance(PROVIDERS.get("cockatoo"), ProviderSpec)
        section = LLMConfig.model_validate({"code": {"provider": "cockatoo"}})
        client = ModelClient(model_settings(section, {}), log=MemoryLog())
        assert client.bind("code", "n")("s", "hello") == "parrot: hello"
    finally:
        sys.modules.pop("parrots", None)
