"""The search policies and the parent selectors that a configuration can name, each with its own options.

A strategy's file holds its options beside its class, and a spec that binds the two; here it is one line. Nothing is
loaded before it is chosen. `search.<policy>.<option>` and `search.selectors.<selector>.<option>` set the options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from utils.config_section import Section
from utils.registry import Registry


class Options(Section):
    """The settings of one strategy. A line of text under a field is its documentation, on the dashboard too: who shows
    it reads it (`utils.key_docs.meanings`), since pydantic would read every file again at each start.
    """

    model_config = ConfigDict(frozen=True)


class PolicyOptions(Options):
    """The settings of a search policy."""

    @property
    def generation_size(self) -> int | None:
        """Nodes of one generation; None for a policy that goes step by step."""
        return None


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """A search policy that a configuration can name (`search.policy`)."""

    options: type[PolicyOptions]
    build: Callable[[Any, Any], Any]
    """(options, `core.contracts.PolicyDeps`) → `core.contracts.SearchPolicy`."""
    operators: tuple[str, ...]
    """Every operator that it may propose."""
    whole_rounds: bool = False
    """True: a round must be over before the next is asked for, so a schedule without rounds gives way or is refused."""
    keeps_statistics: bool = False
    """True: `tell` counts visits and rewards by `Journal.record_reward`, a function of the nodes told alone."""

    def __post_init__(self) -> None:
        _check(self, PolicyOptions)
        if isinstance(self.operators, str) or not all(isinstance(name, str) for name in self.operators):
            raise TypeError(f"operators={self.operators!r:.60}: a tuple of names is needed, as ('draft',)")


@dataclass(frozen=True, slots=True)
class SelectorSpec:
    """A way to choose parents that a configuration can name (`search.islands.selection`)."""

    options: type[Options]
    build: Callable[[Any], Any]
    """options → `core.contracts.ParentSelector`."""

    def __post_init__(self) -> None:
        _check(self, Options)


def _check(spec: PolicySpec | SelectorSpec, kind: type[Options]) -> None:
    """TypeError: what a plug-in's spec was given cannot be used."""
    if not (isinstance(spec.options, type) and issubclass(spec.options, kind)):
        raise TypeError(f"options={spec.options!r:.60}: a class of {kind.__name__} is needed")
    if not callable(spec.build):
        raise TypeError(f"build={spec.build!r:.60}: a function is needed")


POLICIES: Registry[PolicySpec] = Registry(
    key="search.policy",
    kind="policies",
    attribute="POLICY",
    spec=PolicySpec,
    builtin={
        "three_phase": "core.search.three_phase:POLICY",
        "mcts": "core.search.mcts:POLICY",
        "islands": "core.search.islands:POLICY",
        "portfolio": "core.search.portfolio:POLICY",
        "generations": "core.search.generations:POLICY",
    },
)

SELECTORS: Registry[SelectorSpec] = Registry(
    key="search.islands.selection",
    kind="selectors",
    attribute="SELECTOR",
    spec=SelectorSpec,
    builtin={
        "tournament": "core.search.selectors.tournament:SELECTOR",
        "rank": "core.search.selectors.rank:SELECTOR",
        "softmax": "core.search.selectors.softmax:SELECTOR",
    },
)


def checked_sections(
    registry: Registry[Any], sections: Mapping[str, Any], plugins: Sequence[str | Path]
) -> dict[str, Options]:
    """Each section as the options of the strategy that it is named after.

    Raises:
        ValidationError: every fault, at its place below the sections; a section of no strategy is an unknown key.
    """
    checked: dict[str, Options] = {}
    faults: list[InitErrorDetails] = []
    known = registry.names(plugins)
    for name, section in sections.items():
        if name not in known:
            unknown = PydanticCustomError("extra_forbidden", "Extra inputs are not permitted")
            faults.append({"type": unknown, "loc": (name,), "input": section})
            continue
        try:
            checked[name] = registry.get(name, plugins).options.model_validate({} if section is None else section)
        except ValidationError as error:
            faults += [_below(name, fault) for fault in error.errors(include_url=False)]
    if faults:
        raise ValidationError.from_exception_data(registry.kind, faults)
    return checked


def _below(name: str, fault: Any) -> InitErrorDetails:
    message = fault["msg"].removeprefix("Value error, ").replace("{", "{{").replace("}", "}}")
    kind = PydanticCustomError(fault["type"], message)
    return {"type": kind, "loc": (name, *fault["loc"]), "input": fault["input"]}


def option_keys(plugins: Sequence[str | Path] = ()) -> list[str]:
    """Every dotted key that sets an option of a policy or a selector. Loads them all."""
    keys = [f"search.{name}.{key}" for name, spec in POLICIES.all(plugins).items() for key in spec.options.model_fields]
    for name, selector in SELECTORS.all(plugins).items():
        keys += [f"search.selectors.{name}.{key}" for key in selector.options.model_fields]
    return keys
