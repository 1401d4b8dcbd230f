"""The outcome of a run: which program wins, and what is written beside the store."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.contracts import Evaluation, Problem, RepeatedEvaluation
from core.events import FinalScored
from core.search.final_choice import Choice, choose, looked_again
from core.state.node import Node
from core.storage.numbering import numbering_of
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from reports.conclusion import Conclusion, conclusion_of
from reports.ratings import NONE, Ratings, ratings_of
from reports.winner import leading, seeded_row
from runs.ending.final_part import as_list, claim_of, final_of, table_of
from runs.facts import RunFacts
from runs.parts.baselines import baseline_node, scored_as
from runs.recorded.files import BEST, DETAIL, of_another, record_files
from runs.run_folder import check_own
from runs.search import Search
from utils.direction import Direction
from utils.errors import StoreError, SwarmEvoError, is_of_the_disk
from utils.logger_system import log_msg

REPORT = "plots and report"
FOR_THE_CHOICE = 2 / 3
"""Of the time of a run's end, where the verdict needs some of it to look at winner and reference anew."""
OPENED = "final_opened"
"""Fact: how often this run opened the final part; stored before each time, and with what was found as `opened`."""
_ONCE_MORE = (
    "the final part is opened once more: a process that had opened it was ended before its scores were stored, and "
    "nobody was told them"
)


@dataclass(slots=True)
class Outcome:
    """What a run came to, as plain facts."""

    facts: RunFacts
    reason: str
    """Which limit ended the search."""
    best: Node | None = None
    """The winner, whole."""
    conclusion: Conclusion | None = None
    """Winner, second fact and verdict, as every surface shows them; known once the end is stored."""
    final: dict[str, Any] | None = None
    """The winner on the final part; None without a winner."""
    baselines: list[dict[str, Any]] = field(default_factory=list)
    failures: Mapping[str, int] = field(default_factory=dict)
    """FailureKind → nodes that ended so."""
    standings: list[dict[str, Any]] = field(default_factory=list)
    """The arena's last tournament, one object an engine; [] elsewhere."""
    written: list[Path] = field(default_factory=list)
    """Files of the exported winner."""
    lacking: list[str] = field(default_factory=list)
    """What of its files could not be written, in words."""
    journal_head: str = ""
    """The newest head of the journal's chain, when all is written."""
    final_seconds: float = 0.0
    """What choosing and scoring the winner took, after the search."""
    ratings: Ratings = NONE
    """The arena's newest ones; known once the end is stored."""

    @property
    def best_id(self) -> str | None:
        return self.best.id if self.best else None

    @property
    def best_metric(self) -> float | None:
        return self.best.metric_value if self.best else None

    @property
    def best_dir(self) -> Path:
        return self.facts.run_dir / BEST

    def read_conclusion(self) -> Conclusion:
        """From the store, as the page and the report read it."""
        with RunReader(self.facts.run_dir) as reader:
            self.conclusion, self.ratings = conclusion_of(reader), ratings_of(reader)
        return self.conclusion

    def write_files(self, store: RunStore, *, report: bool = True) -> None:
        """best_solution/ and its hashes, plots and report. A file that cannot be written keeps none of the others.

        Of a solution that is not whole no hash is kept: `export-best` and a resume make it anew. `lacking` names it,
        and whatever else the disk did not take.
        """
        is_whole = self._try({"best_solution": self._export})
        if report:
            head = store.journal_head
            self._try({REPORT: self._report})
            if store.journal_head != head:  # a warning of just now is part of the journal, and so of its report
                self._try({"report": self._report_alone})
        if is_whole:
            self._try({"hashes of the files": lambda: record_files(store)})
        self.journal_head = store.journal_head

    def _try(self, works: Mapping[str, Callable[[], None]]) -> bool:
        """True if all of them could be done."""
        done = True
        for name, work in works.items():
            try:
                work()
            except (OSError, SwarmEvoError, ValueError) as error:
                done = False
                if name != REPORT or isinstance(error, StoreError) or is_of_the_disk(error):
                    self.lacking.append(name)
                log_msg("WARNING", f"{name}: {error}")
        return done

    def _export(self) -> None:
        """StoreError where somebody laid a link into the run's folder while it went on: it may lead to any file."""
        if self.best is not None:
            check_own(self.facts.run_dir)
            self.written = write_solution(self.facts.problem, self.best, self.best_dir, self.facts.run_dir)

    def _report(self) -> None:
        from reports.child import write_all

        write_all(self.facts.run_dir)

    def _report_alone(self) -> None:
        from reports.html import write_report

        write_report(self.facts.run_dir, self.facts.run_dir / "report.html")


def conclude(search: Search, facts: RunFacts, reason: str) -> Outcome:
    """Choose the winner on validation, open the final part once for it and the baselines, and keep both as facts."""
    store = search.store
    outcome = ended_outcome(search, facts, reason)
    if outcome.best is not None:
        return outcome
    finalists, looks = _finalists(search)
    choice = choose(finalists, search.config.project.seed, simplest=search.evaluator.simplest)
    found = search.journal[choice.winner.id] if choice else None
    outcome.best = _appointed(search) or _ahead(search, outcome.baselines, choice) or found
    if looks and found is not None and outcome.best is found:
        looks = _looked_at_for_the_verdict(search, found, looks)
    if outcome.best is None:
        store.put_fact("final", {"node_id": None})
        return outcome
    rows = [row for row in outcome.baselines if row["failure"] is None and row["node_id"] != outcome.best.id]
    opened = _open_final(store)
    search.deps.doing("the final part is opened for the winner and the baselines")
    scores = search.evaluator.final([outcome.best, *(_node_of(search, row) for row in rows)])
    search.deps.doing("the verdict is reached")
    _tell_finals(outcome, rows, scores)
    outcome.final = {
        **final_of(outcome.best, scores[0]),
        "choice": choice.rows if choice else [],
        "looks": looks,
        "claim": None  # a baseline that won is not what the search gained
        if outcome.best.operator == "baseline"
        else claim_of(scores[0], rows, scores[1:], search.problem.lower_is_better),
    }
    outcome.final |= {"chosen_from": _chosen_from(search), "opened": opened}
    outcome.final["table"] = table_of(scores[0], rows, scores[1:], search.problem.lower_is_better)
    if search.journal.get_node_by_id(outcome.best.id) is None:  # scored beside the search: the journal lacks it
        outcome.final["program"] = outcome.best.model_dump(mode="json")
    event = FinalScored(
        node_id=outcome.best.id,
        metric=outcome.final["metric"],
        interval=outcome.final["interval"],
        detail=outcome.final["detail"],
    )
    told = {"baselines": outcome.baselines} if outcome.baselines else {}
    store.put_facts({**told, "final": outcome.final}, [event], kind="fact:final")
    return outcome


def _open_final(store: RunStore) -> int:
    """How often the final part was opened, this time included: noted before, so that a kill does not hide one."""
    before = store.get_fact(OPENED) or 0
    if before > ((store.get_fact("final") or {}).get("opened") or 0):
        log_msg("WARNING", _ONCE_MORE)
    store.put_fact(OPENED, before + 1)
    return int(before) + 1


def ended_outcome(search: Search, facts: RunFacts, reason: str) -> Outcome:
    """The outcome with the end that is stored, where nothing was added since: each look at the final part wears it out.

    Otherwise, and where no program was valid, it has no winner. Writes nothing.
    """
    outcome = Outcome(facts, reason, failures=dict(search.journal.failures), standings=_standings(search))
    outcome.baselines = _baseline_rows(search)
    final = search.store.get_fact("final") or {}
    if final.get("node_id") and is_chosen_as_now(search):
        program = final.get("program")
        outcome.best = Node.model_validate(program) if program else search.journal[final["node_id"]]
        outcome.final = final
    return outcome


def is_chosen_as_now(search: Search) -> bool:
    """True where the stored winner was chosen from what is there now, by the rules of now; True where there is none."""
    final = search.store.get_fact("final") or {}
    return not final.get("node_id") or final.get("chosen_from") == _chosen_from(search)


def _chosen_from(search: Search) -> dict[str, Any]:
    """What the final choice rests on; the same again chooses the same again."""
    return {"nodes": len(search.journal), "baselines": len(_baseline_rows(search)), "top_k": search.config.search.top_k}


def _standings(search: Search) -> list[dict[str, Any]]:
    """The newest table of an arena: a node's metric is frozen at its first verdict, here is what later games say."""
    newest = search.journal.newest(len(search.journal))
    return next((node.tournament.standings for node in newest if node.tournament), [])


def _finalists(search: Search) -> tuple[list[Node], list[dict[str, Any]] | None]:
    """The best on validation; in the order of a second look, where the evaluator has instances left for one.

    Beside them each look at those whose scores differed: `{node_id, first, again}`, and how many `failed`; None where
    there was no time for any, so that nobody knows.
    """
    top = search.journal.top(search.config.search.top_k)
    share = FOR_THE_CHOICE if any(node.operator == "baseline" for node in search.journal) else 1.0
    verdicts = _second_look(search, top, share) if top else None
    if not verdicts:
        return top, []
    if all(verdict.metric is None and verdict.failure is None for verdict in verdicts):
        return top, None
    for node, verdict in zip(top, verdicts, strict=True):
        if verdict.failure is not None:
            log_msg(
                "WARNING", f"{node.id[:12]} failed when it was scored again: {verdict.failure.value}, {verdict.message}"
            )
    return looked_again(top, verdicts, search.problem.lower_is_better) or top, _looks(top, verdicts)


def _second_look(search: Search, nodes: Sequence[Node], share: float = 1.0) -> list[Evaluation] | None:
    """As the evaluator's, in that share of what is left for the run's end: no look outlives it."""
    with search.deps.allowance.within(share):
        return search.evaluator.second_look(nodes)


def _looks(nodes: Sequence[Node], verdicts: Sequence[Evaluation]) -> list[dict[str, Any]]:
    return [
        {
            "node_id": node.id,
            "first": verdict.first,
            "again": list(verdict.again),
            **({"failed": verdict.failed} if verdict.failed else {}),
        }
        for node, verdict in zip(nodes, verdicts, strict=True)
        if isinstance(verdict, RepeatedEvaluation)
    ]


def _looked_at_for_the_verdict(search: Search, winner: Node, looks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The looks, those at the winner and at the best baseline, which the verdict compares, taken anew: `before` holds
    the scores that chose, which flatter whoever won by them."""
    known = [node for node in search.journal if node.operator == "baseline" and node.is_scored]
    best = Direction(search.problem.lower_is_better).best(known, lambda node: node.metric_value or 0.0)
    if best is None or best.id == winner.id:
        return list(looks)
    search.deps.doing("the winner and the best baseline are scored once more, to compare them")
    verdicts = _second_look(search, [winner, best])
    rows = {row["node_id"]: row for row in looks}
    for row in _looks([winner, best], verdicts or [Evaluation()] * 2):
        earlier = rows.get(row["node_id"], {})
        failed = earlier.get("failed", 0) + row.get("failed", 0)
        rows[row["node_id"]] = {**row, "before": earlier.get("again", []), **({"failed": failed} if failed else {})}
    return list(rows.values())


def _ahead(search: Search, rows: Sequence[dict[str, Any]], choice: Choice | None) -> Node | None:
    """The baseline beside the search that is better than every candidate on the part that chooses last, or None.

    Baselines that are nodes of the journal stand among the candidates already. Where the run ended before its first
    program, the best baseline is all there is; where every candidate failed, nothing was found.
    """
    direction = Direction(search.problem.lower_is_better)
    row = leading((row for row in rows if row["node_id"] not in search.journal), None, direction)
    best = None if row is None else _node_of(search, row)
    if best is None or choice is None:
        return None if len(search.journal) else best
    search.deps.doing("the baseline that leads is looked at once more")
    again = _second_look(search, [best])
    if again and again[0].metric is None and again[0].failure is None:  # no time for it: first scores tell
        return best if direction.better(best.metric_value, search.journal[choice.winner.id].metric_value) else None
    score = again[0].metric if again else best.metric_value
    return best if direction.better(score, choice.rows[0]["metric"]) else None


def _appointed(search: Search) -> Node | None:
    """The evaluator's own winner, where scores of different rounds cannot be compared (the arena's champion)."""
    node_id = search.evaluator.choice()
    return search.journal.get_node_by_id(node_id) if node_id else None


def _baseline_rows(search: Search) -> list[dict[str, Any]]:
    """The baselines, whether nodes of the journal or scored beside it; `own` marks the user's program."""
    own = {baseline.name for baseline in search.problem.baselines() if baseline.own}
    return [{**row, "own": row["name"] in own} for row in search.store.get_fact("baselines") or _seeded(search)]


def _seeded(search: Search) -> list[dict[str, Any]]:
    """Baselines that are nodes of the journal, as the same rows."""
    return [seeded_row(node) for node in search.journal if node.operator == "baseline"]


def _node_of(search: Search, row: Mapping[str, Any]) -> Node:
    """The node behind a row: the journal's, or for a baseline beside the search the one it was scored as."""
    found = search.journal.get_node_by_id(row["node_id"])
    if found is not None:
        return found
    seed = search.config.project.seed
    own = enumerate(search.problem.baselines())
    made = next((baseline_node(seed, slot, b.name, b.code) for slot, b in own if b.name == row["name"]), None)
    isolated = "verified" if search.deps.isolated else "unisolated"
    alone = Node(id=row["node_id"], code="", operator="baseline", name=row["name"])
    told = {**row, "source": row.get("source") or isolated}
    return scored_as(made or alone, told, Direction(search.problem.lower_is_better))


def _tell_finals(outcome: Outcome, rows: Sequence[dict[str, Any]], scores: Sequence[Evaluation | None]) -> None:
    """Note final scores in the rows of baselines.

    Args:
        scores: the winner's, then those of `rows`. A winner that is a baseline keeps its own in its row too.
    """
    assert outcome.best is not None
    own = [row for row in outcome.baselines if row["node_id"] == outcome.best.id]
    for row, score in [*zip(rows, scores[1:], strict=True), *((row, scores[0]) for row in own)]:
        row["final"] = score.metric if score else None
        row["final_interval"] = as_list(score.interval) if score else None


def _artifacts(node: Node, folder: Path) -> list[Path]:
    """The texts that came back with the winner's score (the packing, the route), a file each, in names of our own."""
    written = []
    for number, (name, text) in enumerate(node.artifacts.items()):
        folder.mkdir(exist_ok=True)
        word = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
        written.append(folder / f"{number}-{word or 'text'}.txt")
        written[-1].write_text(text, encoding="utf-8")
    return written


def write_solution(problem: Problem, node: Node, out: Path, run_dir: Path) -> list[Path]:
    """Write a node as a standalone solution, with `node.json` beside it, and what its run left as texts.

    In the run's own folder nothing is left of another program.
    """
    out.mkdir(parents=True, exist_ok=True)
    others = of_another(run_dir, node.id) if out == run_dir / BEST else []
    written = [*problem.export(node, out, run_dir), *_artifacts(node, out / "artifacts")]
    for path in others:
        if path not in written:
            path.unlink(missing_ok=True)
    detail = out / DETAIL
    with RunReader(run_dir) as reader:
        step, node = numbering_of(reader).step(node.id), ratings_of(reader).now(node)
    told = {"run": run_dir.name, **node.model_dump(mode="json"), "metric": node.metric_value, "step": step}
    detail.write_text(json.dumps(told, indent=2) + "\n")
    return [*written, detail]
