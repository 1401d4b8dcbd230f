"""The configuration's sections `search` and `budget`: how it is searched, and when that ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from utils.config_section import LONGEST, Section
from utils.processors import processors
from utils.strategies import POLICIES, SELECTORS, Options, PolicyOptions, checked_sections

USUAL_WORKERS = 2
"""Programs that run at once where the user says nothing, on two processors or more."""


class SearchConfig(Section):
    """What is common to all policies. A policy's own options stand below its name: `search.islands.per_island`."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PolicyOptions]

    policy: str = "three_phase"
    """three_phase, mcts, islands, portfolio, generations, or a policy of a plug-in."""
    max_steps: int | None = Field(50, ge=0)
    """Candidates after which the search ends."""
    max_generations: int | None = Field(None, ge=0)
    """Generations after which the search ends (islands, generations)."""
    control: float | None = Field(None, ge=0, le=1)
    """Share of the steps that are independent draws by the same writer: what the search is compared with. null: 0.1
    where a model writes 30 steps or more, else 0."""
    batch: int = Field(2, ge=1)
    """Proposals that are made from one state of the journal."""
    lag: int | None = Field(None, ge=1)
    """Proposals under way at once in a pipeline; null: twice the batch. A run of few steps with a model begins with
    less, like `batch` and the islands, unless these are set."""
    schedule: str = "pipeline"
    """rounds, pipeline or async: whether a proposal waits for those before it."""
    workers: int = Field(default_factory=lambda: min(USUAL_WORKERS, processors()), ge=1)
    """Programs that run at once: two, or one where there is one processor. A run keeps the number it began with."""
    selectors: dict[str, Options] = Field(default_factory=dict)
    """Options of the parent selectors: `search.selectors.tournament.size`, `search.selectors.softmax.temperature`."""
    top_k_for_full_eval: int = Field(10, ge=1)
    """bin_packing: programs of a round that get the full score, by their cheap one."""
    tune_trials: int = Field(40, ge=1)
    """Values of a program's constants that one `tune` tries."""
    repeats: int = Field(2, ge=0)
    """script, command: further evaluations of a program that may be the best, where scores are not the same twice."""
    top_k: int = Field(5, ge=1)
    """Candidates of the final choice."""
    ensemble: bool = True
    """At the end, let a blend of the best programs compete (competitions)."""
    smoke: bool = True
    """Competitions of at least 10,000 training rows: run a program on 2 % of them first, on all only if it passes."""

    @model_validator(mode="before")
    @classmethod
    def _options_of_strategies(cls, plain: Any, info: ValidationInfo) -> Any:
        """Every `search.<policy>` and `search.selectors.<selector>` is checked by that strategy's own options."""
        if not isinstance(plain, Mapping):
            return plain
        plugins = info.context or ()
        chosen = plain.get("policy", cls.model_fields["policy"].default)
        sections = {key: value for key, value in plain.items() if key not in cls.model_fields}
        if isinstance(chosen, str) and POLICIES.get(chosen, plugins):
            sections.setdefault(chosen, {})
        return {**plain, **checked_sections(POLICIES, sections, plugins)}

    @field_validator("selectors", mode="before")
    @classmethod
    def _options_of_selectors(cls, plain: Any, info: ValidationInfo) -> Any:
        return checked_sections(SELECTORS, plain, info.context or ()) if isinstance(plain, Mapping) else plain

    @property
    def options(self) -> PolicyOptions:
        """The chosen policy's own options."""
        return self.__pydantic_extra__[self.policy]

    def choose(self, policy: str) -> None:
        """Another policy of ours; its options are those that were given for it, else the usual ones."""
        self.policy = policy
        self.__pydantic_extra__.setdefault(policy, POLICIES.get(policy).options())

    def set_option(self, key: str, value: Any) -> None:
        """Change one of the chosen policy's own options."""
        self.__pydantic_extra__[self.policy] = self.options.model_copy(update={key: value})


class BudgetConfig(Section):
    seconds: float | None = Field(None, ge=0, le=LONGEST)
    """Active seconds of the run, resumes added up; null: agent.time_limit."""
    tokens: int | None = Field(None, ge=0)
    """Tokens of all models together."""
    usd: float | None = Field(5.0, ge=0)
    """Dollars of all models together; the bill never passes it."""
    target: float | None = None
    """The search ends when the best is at least as good as this."""
    stagnation: int | None = Field(None, ge=1)
    """Steps without a new best."""
    repeats: int | None = Field(100, ge=1)
    """Steps in a row whose programs were all known already: the writer has nothing new to say. null: go on."""
    nothing_left: int | None = Field(3, ge=1)
    """Steps in a row whose writers say that nothing is left to gain. null: go on."""
