"""The operators: how a program comes to be. One table for prompts, rules, plots, report, page and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from utils.errors import ConfigError
from utils.registry import Registry

Operator = str
"""The name of an operator. Any can be read from a store; what a search may use stands in OPERATORS and in plug-ins."""

Colour = Literal["violet", "blue", "orange", "teal", "pink", "gold", "grey"]
"""Colours that plots, report and page know, in light and dark. Red and green are kept for bad and good."""
Marker = Literal["o", "^", "v", "D", "x", "P", "s", "*", "h", "_"]
"""Marks of points in plots, as matplotlib calls them."""
Doing = Literal["new", "change", "repair", "cross"]
"""What a writer does: a program from nothing, a changed parent, a repaired one, a child of two."""


class OperatorSpec(BaseModel):
    """One operator. Everything that speaks of operators reads it here; nothing keeps a list of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    meaning: str
    """What it does, in half a sentence."""
    parents: int = Field(ge=0, le=2)
    """Programs that it starts from."""
    rules: Doing | None
    """What `provider: rules` does for it; None: no writer is asked, the program is given or searched by optuna."""
    colour: Colour
    marker: Marker
    template: str = ""
    """Prompt template, a file's name without `.md`, where none has the operator's own name."""
    for_functions: str = ""
    """Template where a single function is searched, if that is another."""
    prompt: str = ""
    """The template's text, where it is no file of `agents/prompts`: a plug-in brings it along."""
    role: Literal["code", "refine"] = "code"
    """Which model writes: `llm.code` or `llm.refine`."""
    is_step: bool = True
    """False: the program is given, not written; it does not count towards `search.max_steps`."""

    @model_validator(mode="after")
    def _has_one_template(self) -> Self:
        if self.prompt and self.template:
            raise ValueError("`prompt` is the operator's own template, `template` names another: give one of them")
        return self


def _step(meaning: str, parents: int, rules: Doing | None, colour: Colour, marker: Marker, **more: Any) -> OperatorSpec:
    return OperatorSpec(meaning=meaning, parents=parents, rules=rules, colour=colour, marker=marker, **more)


def _given(meaning: str, colour: Colour, marker: Marker) -> OperatorSpec:
    return OperatorSpec(meaning=meaning, parents=0, rules=None, colour=colour, marker=marker, is_step=False)


BUILTIN: dict[str, OperatorSpec] = {
    "draft": _step("a program from nothing", 0, "new", "violet", "o", for_functions="generate"),
    "debug": _step("a failed program repaired", 1, "repair", "orange", "x"),
    "improve": _step("one change of a good program", 1, "change", "blue", "^", for_functions="mutate"),
    "merge": _step("the best of two programs", 2, "cross", "teal", "D", for_functions="crossover"),
    "generate": _step("a function from nothing", 0, "new", "violet", "o"),
    "mutate": _step("a changed function", 1, "change", "blue", "^"),
    "crossover": _step("a child of two functions", 2, "cross", "teal", "D"),
    "refine": _step("a good program in the hands of llm.refine", 1, "change", "orange", "P", role="refine"),
    "restart": _step("another way from the best program", 1, "new", "violet", "v"),
    "control": _step("an independent program, the control", 0, "new", "gold", "o"),
    "tune": _step("better numbers for a program, found without a model", 1, None, "pink", "s"),
    "build": _step(
        "a challenger of the champion", 2, "change", "violet", "v", template="improve", for_functions="mutate"
    ),
    "ensemble": _given("a blend of the best programs", "gold", "*"),
    "baseline": _given("a reference of the problem", "grey", "_"),
    "user": _given("a program of the user", "grey", "h"),
}

OPERATORS: Registry[OperatorSpec] = Registry(
    key="operator", kind="operators", attribute="OPERATOR", spec=OperatorSpec, builtin=BUILTIN
)

FREE_OPERATORS: frozenset[str] = frozenset(name for name, spec in BUILTIN.items() if not spec.is_step)
"""Nodes of these operators do not count as steps of the search."""


def known_operators(stored: Mapping[str, Any] | None) -> dict[str, OperatorSpec]:
    """The built-in operators and those that a run says it used (its fact `operators`); no plug-in is loaded."""
    further = {name: OperatorSpec.model_validate(spec) for name, spec in (stored or {}).items()}
    return {**BUILTIN, **further}


def further_operators(plugins: Sequence[str]) -> dict[str, OperatorSpec]:
    """The operators of plug-ins alone, which a run stores. Raises ConfigError for one that cannot be used."""
    found = {name: spec for name, spec in OPERATORS.all(plugins).items() if name not in BUILTIN}
    for name, spec in found.items():
        if spec.rules is None or not spec.is_step:
            raise ConfigError(f"operator={name}: an operator of a plug-in is written: it needs `rules`, and is a step")
    return found


def doing(context: Mapping[str, Any]) -> Doing:
    """What a writer of rules is to do, from the facts of a prompt (`RulesWriter.write`).

    Args:
        context: `operator`; `rules` too where the operator is a plug-in's; `parents` where neither is told.
    """
    told: Doing | None = context.get("rules")
    if told is None and context.get("operator"):
        name = str(context["operator"])
        told = (BUILTIN.get(name) or OPERATORS.get(name)).rules
    return told or ("change" if context.get("parents") else "new")
