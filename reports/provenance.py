"""Where a result comes from: the command that repeats it, the sandbox and the machine, the configuration."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from core.storage.origin import RESUMED, commands
from reports.facts import RunFacts
from reports.markup import EMPTY, Content, Markup, clip, code, join, table, tag
from utils.counts import counted
from utils.program import INSTALLED
from utils.secrets import masked


def reproduce(facts: RunFacts) -> Markup:
    """The commands that search, repeat and check it again, and the hash by which an equal search is known."""
    typed = "swarm-evo" if INSTALLED else "python main.py"
    lines = [f"{typed} {shlex.join(words)}".strip() for words in commands(facts.origin, facts.run)]
    lines += [f"{typed} --config logs/{facts.run}/config.yaml", f"{typed} replay {facts.run} --verify"]
    text = "Keys are masked in what is stored: give them by environment variable." if not facts.is_rules else ""
    other = {key: value for key, value in facts.origin.items() if key not in ("words", RESUMED)}
    return join(
        [
            code("\n".join(lines)),
            tag(
                "p", f"journal_sha256 {facts.journal_sha256}: an equal search has an equal hash. {text}", class_="quiet"
            ),
            tag(
                "p",
                f"journal_head {facts.journal_head} when this page was written: ",
                tag("code", f"verify {facts.run} --head HASH"),
                " tells whether the run is still the one with this head, and extended by what came later: at least by "
                "the hashes of this page and the other files. The newest head is told at the end of the run and by ",
                tag("code", f"show {facts.run}"),
                ".",
                class_="quiet",
            )
            if facts.journal_head
            else EMPTY,
            tag("p", "Origin: " + ", ".join(f"{k} {v}" for k, v in other.items()), class_="quiet") if other else EMPTY,
        ]
    )


def environment(facts: RunFacts) -> Markup:
    """Sandbox, system, cores and versions."""
    rows = list(flat(facts.environment))
    shown = [table(["setting", "value"], [[key, cell(value)] for key, value in rows])] if rows else []
    return join([_sandbox(facts), *shown])


def _sandbox(facts: RunFacts) -> Markup:
    """The tier, and what it withstood when the run began (or was last taken up)."""
    tier = str(facts.sandbox.get("tier", ""))
    probes = facts.sandbox.get("probes") or []
    if not tier:
        return EMPTY
    text = "Programs ran in the sandbox tier " if tier != "none" else "Programs ran without a sandbox: tier "
    parts = [tag("p", text, tag("b", tier), ".")]
    if probes:
        passed = sum(bool(probe.get("ok")) for probe in probes)
        rows: list[list[Content]] = [
            [
                str(probe.get("name", "")).replace("_", " "),
                _badge(bool(probe.get("ok"))),
                clip(str(probe.get("detail") or ""), 300),
            ]
            for probe in probes
        ]
        tried = counted(len(probes), "attack or check", "attacks and checks")
        summary = f"probed when the run began: {passed} of {tried} passed"
        parts.append(tag("details", tag("summary", summary), table(["attack or check", "outcome", "detail"], rows)))
    return join(parts)


def _badge(held: bool) -> Markup:
    return tag("span", "held", class_="badge good") if held else tag("span", "broken", class_="badge bad")


def settings(config: Mapping[str, Any]) -> str:
    """Dotted keys with their values, unset ones left out; masked once more whatever was stored."""
    return "\n".join(f"{key}: {value}" for key, value in flat(masked(config)) if value is not None)


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested facts as (dotted key, value)."""
    for key, item in value.items():
        if isinstance(item, Mapping) and item:
            yield from flat(item, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", item


def cell(value: Any) -> Content:
    """A value from outside as the content of a table's cell."""
    return value if isinstance(value, int | float | str) or value is None else str(value)
