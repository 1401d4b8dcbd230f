"""The configuration's section `llm`: which model serves a role, how it is asked, and what it costs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator

from utils.config_section import Section, comma_list


class PriceConfig(Section):
    input: float = Field(ge=0)
    """Dollars per million prompt tokens."""
    output: float = Field(ge=0)
    """Dollars per million completion tokens."""
    cached: float | None = Field(None, ge=0)
    """Dollars per million prompt tokens that the provider read from its own cache; null: as `input`."""


class ModelChoice(Section):
    """One of `models`; what it does not set is the role's."""

    model: str
    weight: float = Field(1.0, gt=0)
    """How often it is drawn, beside the others' weights."""
    provider: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    """Needed where `base_url` is another host than the role's: a key is not sent to a host it was not made for."""
    price: PriceConfig | None = None


class SessionConfig(Section):
    """What one session of a coding agent may take (provider agent); its seconds are `timeout`. null: no limit."""

    turns: int | None = Field(60, ge=1)
    """Replies of its models."""
    tokens: int | None = Field(2_000_000, ge=1)
    """Prompts and replies together, as the models count them."""
    usd: float | None = Field(None, ge=0)
    """Dollars; needed where budget.usd is set. Models whose price is not known are then refused."""


class ModelConfig(Section):
    """One role's model. `llm.feedback` and `llm.refine` inherit every key they do not set from `llm.code`; with another
    provider `timeout`, `attempts` and `backoff` alone, with another model neither `models`, `choice` nor `price`."""

    provider: str | None = None
    """rules, openai, openai-responses, anthropic, gemini, azure, bedrock, vertex, command, agent or external, or one of
    a plug-in."""
    model: str | None = None
    """The model's name at its provider."""
    models: list[ModelChoice] | None = None
    """Several models in place of `model`, each with `model` and maybe `weight` (1), `provider`, `base_url`, `api_key`,
    `price`; which one is asked, `choice` says."""
    choice: Literal["weighted", "bandit"] | None = None
    """How one of `models` is drawn: by weight (null, too), or by what its programs gained for their cost."""
    api_key: SecretStr | None = None
    """The provider's key; best as ${env:NAME}."""
    base_url: str | None = None
    """Another address of the provider's API, or your own server."""
    api_version: str | None = None
    """Azure's version of the API."""
    region: str | None = None
    """Of Bedrock and Vertex."""
    project: str | None = None
    """Of Vertex."""
    command: str | None = None
    """A program that reads the prompt from its standard input and prints the reply (provider command)."""
    network: Literal["gateway", "open"] | None = None
    """What a coding agent reaches (provider agent): our gateway alone, which holds the key and counts, or everything,
    with a login of its own and costs that nobody checks."""
    session: SessionConfig | None = None
    """Limits of one session of a coding agent (provider agent); null: the usual ones, and no limit of dollars."""
    env: list[str] | None = None
    """Environment variables that the command gets besides PATH, language, time zone and certificates."""
    files: list[str] | None = None
    """Files and folders that the command may read besides its own program."""
    temperature: float | None = Field(None, ge=0, le=2)
    """0 is greedy; null leaves it to the provider."""
    max_tokens: int | None = Field(None, ge=1)
    """Longest reply, in tokens; null: 8192, of models that reason 32768."""
    reasoning: bool | None = None
    """True for models without temperature and with `max_completion_tokens`; null: known by name."""
    stream: bool | None = None
    """Ask for the reply piece by piece, so that it is shown as it is written; null: no. Most presets say yes."""
    tools: Literal["tool", "schema", "fence"] | None = None
    """Where function calling starts: a forced tool (null, too), or a JSON schema or a fence where tools are ignored."""
    timeout: float | None = Field(None, gt=0)
    """Seconds for one call, retries apart; null: 300. Of a coding agent or a command, for one program."""
    attempts: int | None = Field(None, ge=1)
    """Tries of one call, the first included; null: 5."""
    backoff: float | None = Field(None, ge=0)
    """Seconds before the second attempt; doubles each time up to 8 times that. null: 10."""
    concurrency: int | None = Field(None, ge=1)
    """Calls of this role that may be open at once; null: 8."""
    requests_per_minute: float | None = Field(None, gt=0)
    """Calls that may begin in a minute; null: any number."""
    context: int | None = Field(None, ge=256)
    """Context size in tokens, for the prompt's budget."""
    price: PriceConfig | None = None
    """What a million tokens costs; null: from the table of known models."""
    extra: dict[str, Any] | None = None
    """Passed to the provider as they are."""

    @field_validator("env", "files", mode="before")
    @classmethod
    def _comma_list(cls, value: Any) -> Any:
        return comma_list(value)


class LLMConfig(Section):
    code: ModelConfig = Field(default_factory=ModelConfig)
    feedback: ModelConfig = Field(default_factory=ModelConfig)
    refine: ModelConfig = Field(default_factory=ModelConfig)
    cache: bool = True
    """Answer repeated requests from `logs/llm_cache.db`."""
    ticket_seconds: float = Field(3600.0, gt=0)
    """After so long an external writer's ticket expires: its slot is free again, and no step is taken."""
