"""What a prompt is made of: rendered texts, and the earlier programs that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PRINTED = "What it printed"
TOLD = "What its evaluator tells of it"
BOTH = "What it printed, and behind names in brackets what its evaluator tells of it"


@dataclass(frozen=True, slots=True)
class Attempt:
    """An earlier program as a prompt shows it: rendered text."""

    code: str
    label: str = ""
    """Its number in the memory and where it came from: `[7], improve of [4]`."""
    outcome: str = ""
    """Metric or kind of failure, in our own words; everything else is somebody else's and stands in a fence."""
    message: str = ""
    """What it failed with."""
    note: str = ""
    """Of one that did not fail: what is to be known of it beside the metric."""
    review: str = ""
    plan: str = ""
    output: str = ""
    measured_of: str = ""
    """What the lines of `measured` tell."""
    measured: str = ""
    """Everything else that the evaluator measured."""
    cases_of: str = ""
    """What the lines of `cases` tell."""
    cases: str = ""
    """A line a case: what it scored there."""
    code_at: str = ""
    """The label below which the memory shows its code."""
    files: str = ""
    """Where a program is a tree of files, and `code` its difference to the base: the files that matter, rendered."""
    output_of: str = PRINTED
    """What `output` tells."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a prompt is made of."""

    task: str
    scoring: str = ""
    """Who scores the program, and what it must print for that."""
    printing: str = ""
    """Who reads what a program prints, as an item of a list."""
    interface: str = ""
    """Signature, allowed imports, required output."""
    data: str = ""
    references: str = ""
    """Scores of reference programs."""
    packages: str = ""
    limits: str = ""
    memory: str = ""
    """A line an attempt, each beginning with its label."""
    programs: tuple[Attempt, ...] = ()
    """Programs whose code stands in the memory, below the line that begins with their label."""
    others: tuple[Attempt, ...] = ()
    """Other good programs, shown as code alone."""
    attempts: tuple[Attempt, ...] = ()
    refusal: str = ""
    notes: tuple[str, ...] = ()
    steps_left: int | None = None
    generations_left: int | None = None
    asked: Mapping[str, str] = field(default_factory=dict)
    """Further sections of this prompt alone: title → text."""
    boldness: str = ""
    """How large a step is wanted."""
    focus: str = ""
    """What this one of several writers is to work on."""
    writers: int = 0
    """How many directions are asked for."""
    given: str = ""
    """Directions that others are at work on while these are asked for."""
    format: str = ""
    language: str = "python"
    extra: Mapping[str, str] = field(default_factory=dict)
    """Further sections of the problem, the same in every prompt: title → text, shown below the interface."""
