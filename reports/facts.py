"""RunFacts: what plots and report show of a run, read once from its store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from core.events import Event, GenerationFinished, NoteAdded, RunFinished, RunStarted, Warned
from core.state.findings import Rung
from core.state.journal import Journal
from core.state.node import Node
from core.state.numbering import Numbering
from core.state.operators import BUILTIN, FREE_OPERATORS, OperatorSpec, known_operators
from core.storage.held import status_of
from core.storage.reader import RunReader
from reports.choice import choice_table, rule_of
from reports.conclusion import Conclusion, conclusion_of
from reports.outside import sessions, tickets
from reports.transcript import Turn, transcript
from reports.winner import OWN, baselines_of, is_concluded, ratings_in, winner_node

TRANSCRIPTS = 5
"""Newest sessions that a report tells turn by turn."""
PAGE = 2000
"""Events read at once."""

_KINDS = ("run.started", "run.finished", "generation.finished", "note.added", "warning")


@dataclass(slots=True)
class RunFacts:
    """One run, whole, but for the texts of its nodes."""

    run: str
    problem: str
    unit: str
    lower_is_better: bool
    writer: str
    status: str
    nodes: list[Node]
    """In journal order, without code and output."""
    best: Node | None
    """The winner, else the best so far; with its code."""
    conclusion: Conclusion
    numbers: Numbering
    """Which step of the search each node is."""
    line: list[Node]
    """From the first ancestor to the best, by first parents, with code."""
    policy: str = ""
    reason: str = ""
    final: dict[str, Any] = field(default_factory=dict)
    baselines: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    cost: dict[str, Any] = field(default_factory=dict)
    roles: list[dict[str, Any]] = field(default_factory=list)
    tickets: list[dict[str, Any]] = field(default_factory=list)
    choice: list[dict[str, Any]] = field(default_factory=list)
    """Those that the winner was chosen among, and baselines beside the search, each with why not it."""
    rule: str = ""
    """By which it was chosen."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    transcripts: dict[str, list[Turn]] = field(default_factory=dict)
    """Node → turns of its session: of the best, and of the newest ones."""
    ladder: dict[str, int] = field(default_factory=dict)
    """Rung → nodes that ended there. By the nodes: a round that a kill took and that is played again counts once."""
    generations: list[GenerationFinished] = field(default_factory=list)
    problem_note: str = ""
    """What the problem said of its scores before the search began."""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    """Secrets masked when it was stored."""
    environment: dict[str, Any] = field(default_factory=dict)
    sandbox: dict[str, Any] = field(default_factory=dict)
    origin: dict[str, Any] = field(default_factory=dict)
    started_at: str = ""
    seconds: float | None = None
    processes: int = 0
    """How often a process took the run up: 1 and its resumes."""
    journal_sha256: str = ""
    journal_head: str | None = None
    """The newest head of the chain; None for a run of an older version."""
    operators: Mapping[str, OperatorSpec] = field(default_factory=lambda: BUILTIN)

    def named(self, node_id: str, operator: str) -> str:
        """`step 7, improve`; of what is no step the operator alone, or `your program`."""
        if any(row.get("own") and row.get("node_id") == node_id for row in self.baselines):
            return OWN
        return ", ".join(filter(None, (self.numbers.name(node_id), operator)))

    @property
    def is_generational(self) -> bool:
        return any(node.generation is not None for node in self.nodes)

    @property
    def is_rated(self) -> bool:
        """True for an arena that has rated its engines."""
        return any(isinstance(row.get("elo"), int | float) for told in self.generations for row in told.ratings)

    @property
    def starting_champion(self) -> str | None:
        """Id of the engine that an arena's search began with; None elsewhere."""
        first = next((told for told in self.generations if told.generation == 0), None)
        return first.promoted[0] if first and first.promoted else None

    @property
    def is_rules(self) -> bool:
        return self.writer == "rules"

    @property
    def steps(self) -> list[Node]:
        """Nodes that count as steps."""
        return [node for node in self.nodes if node.operator not in FREE_OPERATORS]


def read_facts(run_dir: Path) -> RunFacts:
    """Read `logs/<run>`. Works while the run goes on; a run without nodes is fine."""
    with RunReader(run_dir) as reader:
        facts = reader.facts()
        journal = Journal(_programs(reader), lower_is_better=bool(facts.get("lower_is_better", False)))
        final = (facts.get("final") or {}) if is_concluded(facts) else {}
        ratings, found_best = ratings_in(reader, facts), winner_node(reader, facts)
        best = ratings.now(found_best) if found_best else None
        line = (
            [ratings.now(journal[i]) for i in reversed(journal.ancestors(best.id))] + [best]
            if best and best.id in journal
            else []
        )
        wrote, conclusion = sessions(reader), conclusion_of(reader, facts)
        found = RunFacts(
            run=run_dir.name,
            problem=str(facts.get("problem", "")),
            unit=str(facts.get("unit") or "metric"),
            lower_is_better=bool(facts.get("lower_is_better", False)),
            writer=str(facts.get("writer", "")),
            status=status_of(run_dir, facts),
            nodes=[ratings.now(node).model_copy(update={"code": ""}) for node in journal],
            best=best,
            conclusion=conclusion,
            choice=choice_table(conclusion.winner, facts) if final else [],
            rule=rule_of(conclusion.winner, facts) if final else "",
            numbers=Numbering((node.id, node.operator) for node in journal),
            line=line,
            final=final,
            baselines=baselines_of(reader, facts),
            failures=dict(journal.failures),
            ladder=_ladder(journal),
            cost=reader.cost(),
            roles=reader.cost_by_role(),
            tickets=tickets(reader),
            sessions=wrote,
            transcripts=_transcripts(reader, wrote, best),
            config=facts.get("config") or {},
            environment=facts.get("environment") or {},
            sandbox=facts.get("sandbox") or {},
            problem_note=str(facts.get("problem_note") or ""),
            origin=facts.get("origin") or {},
            started_at=str(facts.get("started_at") or ""),
            seconds=facts.get("active_seconds"),
            journal_sha256=journal.sha256,
            journal_head=reader.journal_head(),
            operators=known_operators(facts.get("operators")),
        )
        for event in _events(reader):
            _learn(found, event)
    return found


def _ladder(nodes: Iterable[Node]) -> dict[str, int]:
    ended = Counter(node.rung for node in nodes if node.rung is not None and node.failure is None)
    return {rung: ended[rung] for rung in get_args(Rung) if rung in ended}


def _transcripts(reader: RunReader, wrote: list[dict[str, Any]], best: Node | None) -> dict[str, list[Turn]]:
    ids = [str(one["node_id"]) for one in wrote]
    shown = [node_id for node_id in ids if node_id in ids[-TRANSCRIPTS:] or (best and node_id == best.id)]
    return {node_id: transcript(reader.calls(node_id)) for node_id in shown}


def _programs(reader: RunReader) -> Iterator[Node]:
    """The nodes in journal order with their code, which the journal's hash needs, and without what they printed.

    All programs come by one query: asking for each text by itself would take longer than everything else.
    """
    codes = dict(reader.db.select("SELECT nodes.step, texts.body FROM nodes JOIN texts ON texts.hash = nodes.code"))
    for node in reader.nodes(texts=False):
        stored = codes.pop(node.step, None)
        yield node if stored is None else node.model_copy(update={"code": reader.db.texts.text_of(stored)})


def _events(reader: RunReader) -> Iterator[Event]:
    after = 0
    while True:
        page = reader.events(after, PAGE, types=_KINDS)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].seq


def _learn(found: RunFacts, event: Event) -> None:
    if isinstance(event, RunStarted):
        found.policy, found.reason = event.policy, ""
        found.processes += 1
    elif isinstance(event, RunFinished):
        found.reason = event.reason
    elif isinstance(event, GenerationFinished):
        found.generations.append(event)
    elif isinstance(event, NoteAdded):
        found.notes.append(event.text)
    elif isinstance(event, Warned):
        found.warnings.append(event.text)
