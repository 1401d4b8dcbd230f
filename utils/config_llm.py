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
    model: str
    weight: float = Field(1.0, gt=0)
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
    """One role's model. `llm.feedback` and `llm.refine` inherit every key they do not set from `llm.code`."""

    provider: str | None = None
    """rules, openai, anthropic, gemini, azure, bedrock, vertex, command or agent."""
    model: str | None = None
    """The model's name at its provider."""
    models: list[ModelChoice] | None = None
    """Several models; drawn by weight or by the bandit."""
    choice: Literal["weighted", "bandit"] | None = None
    """How one of `models` is drawn; bandit: by what its programs gained for their cost."""
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
    """Limits of one session of a coding agent (provider agent): `turns` (60), `tokens` (2,000,000), `usd` (none)."""
    env: list[str] | None = None
    """Environment variables that the command gets besides PATH, language, time zone and certificates."""
    files: list[str] | None = None
    """Files and folders that the command may read besides its own program."""
    temperature: float | None = Field(None, ge=0, le=2)
    """0 is greedy; null leaves it to the provider."""
    max_tokens: int | None = Field(None, ge=1)
    """Longest reply, in tokens."""
    reasoning: bool | None = None
    """True for models without temperature and with `max_completion_tokens`; null: known by name."""
    stream: bool | None = None
    """Ask for the reply piece by piece; null: where the provider does it well."""
    tools: Literal["tool", "schema", "fence"] | None = None
    """Where function calling starts: a forced tool (default), or a JSON schema or a fence where tools are ignored."""
    timeout: float | None = Field(None, gt=0)
    """Seconds for one call, retries apart."""
    attempts: int | None = Field(None, ge=1)
    """Tries of one call, the first included."""
    backoff: float | None = Field(None, ge=0)
    """Seconds before the second attempt; doubles each time up to 8 times that."""
    concurrency: int | None = Field(None, ge=1)
    """Calls of this role that may be open at once."""
    requests_per_minute: float | None = Field(None, gt=0)
    """Calls that may begin in a minute."""
    context: int | None = Field(None, ge=256)
    """Context size in tokens, for the prompt's budget."""
    price: PriceConfig | None = None
    """Dollars for a million tokens: input and output; null: from the table of known models."""
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
