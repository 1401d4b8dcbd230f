"""What every evaluator does alike: turn a run's result into a verdict, round signatures, keep scores finite."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count, islice
from typing import TYPE_CHECKING, Any, TypeVar

from core.contracts import Evaluation, EvaluatorDeps, ExecutionResult
from core.state.failure import FailureKind
from core.state.node import MetricSource, Node
from utils.direction import as_score
from utils.errors import BudgetExhausted, JobLost
from utils.logger_system import log_msg
from utils.thread_pool import Pool

if TYPE_CHECKING:
    from core.state.journal import Journal

A = TypeVar("A")
B = TypeVar("B")

DIGITS = 12
"""Significant digits of a signature: beyond them, equal programs differ by the order of additions."""
CASES_NAMED = 1000
"""First cases that are told by their names."""
_LAST_LINE = 200
"""Characters of an output's last line in a message."""


def signature_of(scores: Iterable[Any]) -> tuple[float, ...]:
    """Per-case scores rounded to 12 significant digits; () if any of them is no score."""
    numbers = [as_score(score) for score in scores]
    if any(number is None for number in numbers):
        return ()
    return tuple(_rounded(number) for number in numbers if number is not None)


def told_cases(unit: str, names: Iterable[str]) -> dict[str, Any]:
    """`cases` of `Problem.prompt_extras`: prompts may tell what a program scored on each case of its signature.

    Args:
        unit: of a case's score, in words: `bins used`.
        names: what people call the cases, in order; '' for `case 3`.
    """
    known = [*islice(names, CASES_NAMED)]
    return {"unit": unit, "names": known if any(known) else []}


def side_by_side(deps: EvaluatorDeps, what: str, items: Sequence[A], work: Callable[[A], B]) -> list[B]:
    """`work` of each item, in order, as many at once as there are workers; tells whoever watches how many are done.

    Args:
        what: is done, for people: `final part: programs scored`; '': nobody is told.
    """
    done = count()

    def tell() -> None:
        if what:
            deps.doing(f"{what}: {next(done)} of {len(items)}{deps.allowance.told}")

    def one(item: A) -> B:
        found = work(item)
        tell()
        return found

    tell()
    pool = Pool(max(1, min(deps.jobs.slots, len(items))), thread_name_prefix="beside")
    try:
        return list(pool.map(one, items))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # nobody who wants to stop now waits for what still runs


def as_time_allows(
    deps: EvaluatorDeps,
    what: str,
    items: Sequence[A],
    work: Callable[[A], B],
    *,
    owed: bool = True,
    takes: float = 0.0,
) -> list[B | None]:
    """As `side_by_side`, but nothing is begun that does not fit in what is left of the run's allowance: None for it,
    and for what its end cut off.

    What one item takes is known from those before it. What was left out is a warning, where it is told `what` is done.

    Args:
        owed: the first is never left out.
        takes: seconds that the first is known to take.
    """
    longest = [takes]

    def one(place: int) -> B | None:
        left = deps.allowance.left
        if (place or not owed) and (left <= 0 or max(longest) > left):
            return None
        began = time.monotonic()
        try:
            found = work(items[place])
        except BudgetExhausted:
            if math.isinf(deps.allowance.until_cut):  # the budget of the search, not the end's
                raise
            return None
        longest.append(time.monotonic() - began)
        return found

    found = side_by_side(deps, what, range(len(items)), one)
    left_out = sum(one is None for one in found)
    if left_out and what and not math.isinf(deps.allowance.left):
        log_msg("WARNING", f"{what}: {left_out} of {len(items)} left out{deps.allowance.told}")
    return found


def or_lost(work: Callable[[], A]) -> A | Evaluation:
    """What `work` returns; where the worker of its job is lost or the user stops its program, that as a verdict."""
    try:
        return work()
    except JobLost as error:
        return Evaluation.of_lost(error)


def source_of(isolated: bool) -> MetricSource:
    """Who vouches for a score of ours: `verified` only if the candidate could not have reached the scoring."""
    return "verified" if isolated else "unisolated"


def failed_run(result: ExecutionResult) -> Evaluation:
    """The verdict on a program whose run failed by itself."""
    return Evaluation(
        failure=result.failure or FailureKind.RUNTIME,
        message=result.message,
        seconds=result.exec_time,
        term_out=result.term_out,
        exc_type=result.exc_type,
        exc_info=result.exc_info,
    )


def failed_command(result: ExecutionResult) -> Evaluation:
    """The same of a user's command: what a program of it failed with stands in its last line."""
    verdict, lines = failed_run(result), result.term_out.strip().splitlines()
    if verdict.failure is FailureKind.EXIT and lines:
        return verdict.model_copy(update={"message": f"{verdict.message}: {lines[-1].strip()[:_LAST_LINE]}"})
    return verdict


def refused(result: ExecutionResult, failure: FailureKind, message: str, **more: Any) -> Evaluation:
    """The verdict on a program that ran to its end, but whose result cannot be scored."""
    return Evaluation(failure=failure, message=message, seconds=result.exec_time, term_out=result.term_out, **more)


def parent_metric(node: Node, journal: Journal) -> float | None:
    """Score of the program that `node` is to better; None where its parent has none."""
    parent = scored_parent(node, journal)
    return parent.metric_value if parent else None


def scored_parent(node: Node, journal: Journal) -> Node | None:
    """The program that `node` is to better, where it has a score."""
    parent = journal.get_node_by_id(node.parent_ids[0]) if node.parent_ids else None
    return parent if parent is not None and parent.metric_value is not None else None


def nothing_better(node: Node, **more: Any) -> Evaluation:
    """The verdict on constants that were searched in vain: the program is its parent's again."""
    parent = node.parent_ids[0] if node.parent_ids else None
    return Evaluation(duplicate_of=parent, message="no better constants were found", **more)


def _rounded(number: float) -> float:
    if number == 0:
        return 0.0
    return round(number, DIGITS - 1 - math.floor(math.log10(abs(number))))
