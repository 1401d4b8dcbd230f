"""A round: write all, drop duplicates in slot order, check, judge, review. What it returns is ready to commit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

from core.contracts import Evaluation, Evaluator, Store
from core.events import LadderCounted, StageDone
from core.loop.attempt import Attempt, RoundContext
from core.loop.commit_events import tournament_of
from core.loop.stages import Stages
from core.state.journal import Journal
from core.state.memory import Memory
from core.state.node import Node
from core.state.task import derive_seed, node_id
from utils.errors import BudgetExhausted, Interrupted, TicketGone


class RoundRunner:
    """Takes the attempts of one round to their verdicts.

    Whatever runs in parallel, every decision that depends on other slots is made in slot order, so the result is the
    same for any number of threads.

    Args:
        withdrawn: proposals that nobody will write.
        is_ending: True once the user wants the end: then nothing more is written, and no round is judged that is not
            judged already. Interrupted is raised; what was under way stays open, its stages stored.

    Attributes:
        exhausted: the reason, once the budget refused a call: what it did not reach stays open, the run ends.
    """

    def __init__(
        self,
        *,
        seed: int,
        stages: Stages,
        evaluator: Evaluator,
        store: Store,
        journal: Journal,
        withdrawn: Collection[str] = (),
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self._withdrawn = withdrawn
        self.exhausted = ""
        self._is_ending = is_ending
        self._seed = seed
        self._stages = stages
        self._evaluator = evaluator
        self._store = store
        self._journal = journal

    def play(self, attempts: list[Attempt], notes: RoundContext, pool: ThreadPoolExecutor) -> list[Attempt]:
        """From task to verdict; the attempts that have one, in slot order, repairs behind what they repair.

        An evaluator that judges the round together may begin with those that are written.
        """
        if self.together:
            self._evaluator.expect([attempt.task for attempt in attempts])
        return self.judge_round(self.write(attempts, pool), notes, pool)

    def judge_round(self, attempts: list[Attempt], notes: RoundContext, pool: ThreadPoolExecutor) -> list[Attempt]:
        """What is written, to its verdict: the second half of `play`."""
        self.drop_duplicates(attempts)
        attempts = self.check(attempts, notes, pool)
        self._drop_repaired(attempts)
        attempts = self.judge(attempts, pool)
        self._drop_repaired(attempts)
        return self.review(attempts, pool)

    def one(self, attempt: Attempt, notes: RoundContext) -> list[Attempt]:
        """What one thread does under `async`: all of an attempt but review and commit.

        What repeats a program is not run; that it does is for `settle` to say.
        """
        try:
            self.draft(attempt)
        except TicketGone:
            self._journal.withdraw(attempt.task.node_id)
            raise
        if self.may_repeat(attempt) and attempt.node and self._journal.find_duplicate(attempt.node.code):
            return [attempt]
        return self.judge_alone(attempt, notes)

    def judge_alone(self, attempt: Attempt, notes: RoundContext) -> list[Attempt]:
        """Check one attempt, with the repairs of what is refused, and run what passes."""
        chain = self._checked(attempt, notes)
        for checked in chain:
            if checked.is_alive:
                self._stages.execute(checked)
        return chain

    def settle(self, chain: list[Attempt], notes: RoundContext) -> list[Attempt]:
        """Decide whether the first of `chain` repeats a program, now that all before it are committed.

        It may have been run meanwhile, because that was not known: then its verdict gives way, and what repaired it.
        Where it was not run because another seemed to be before it that never came, it is run now.
        """
        first = chain[0]
        if self._repeats(first, first.first_node or first.node):
            first.repaired_from = first.first_node = None
            return [first]
        chain = chain if first.verdict is not None else self.judge_alone(first, notes)
        self._drop_repaired(chain[:1])
        return chain if first.verdict is None or not first.verdict.duplicate_of else [first]

    def _drop_repaired(self, attempts: Sequence[Attempt]) -> None:
        """A repair may have come to a program that is committed."""
        for attempt in attempts:
            if attempt.first_node is not None and not (attempt.verdict and attempt.verdict.duplicate_of):
                self._repeats(attempt, attempt.node)

    def _repeats(self, attempt: Attempt, written: Node | None) -> bool:
        """True if that program of the attempt is a committed one: it is a duplicate then, whatever was found of it."""
        verdict, node = attempt.verdict, attempt.node
        attempt.verdict, attempt.node = None, written
        self.drop_duplicates([attempt])
        if attempt.verdict is not None:
            attempt.review, attempt.review_error = None, ""
            return True
        attempt.verdict, attempt.node = verdict, node
        return False

    @property
    def together(self) -> bool:
        """True if a round's candidates are judged together."""
        return self._evaluator.together

    def write(self, attempts: list[Attempt], pool: ThreadPoolExecutor) -> list[Attempt]:
        """Write all; what the budget did not reach stays open, and the run ends after this round."""
        written: list[Attempt] = []
        for attempt, future in [(attempt, pool.submit(self._lead, attempt)) for attempt in attempts]:
            try:
                future.result()
                written.append(attempt)
            except TicketGone:
                self._journal.withdraw(attempt.task.node_id)
            except BudgetExhausted as error:
                self.exhausted = str(error)
        return written

    def _lead(self, attempt: Attempt) -> None:
        self.draft(attempt)
        if self.together:
            with suppress(BudgetExhausted):  # the same is found when the round is judged
                self.look_ahead(attempt)

    def draft(self, attempt: Attempt) -> None:
        """Write it, and take its fingerprint while its tree is still at hand: few trees are kept.

        Raises TicketGone where nobody will. The schedule then withdraws the proposal, when its turn has come: what is
        asked for meanwhile must not depend on when its ticket expired.
        """
        self._check_ending()
        if attempt.task.node_id in self._withdrawn:
            raise TicketGone(f"{attempt.task.node_id} was withdrawn")
        self._stages.write(attempt)
        if attempt.node is not None and attempt.node.code and attempt.is_alive:
            self._journal.fingerprint(attempt.node.code)

    def _check_ending(self) -> None:
        if self._is_ending():
            raise Interrupted("interrupted")

    def look_ahead(self, attempt: Attempt) -> None:
        """Let the evaluator begin with a program whose round is judged later, unless its verdict is known without."""
        node = attempt.node
        if node is None or not self.may_repeat(attempt) or "execute" in self._store.stages(node.id):
            return
        if self._journal.find_duplicate(node.code) is None and self._evaluator.check(node) is None:
            attempt.passed = node
            self._evaluator.look_ahead(node)

    def may_repeat(self, attempt: Attempt) -> bool:
        """True if it is written, not judged yet, and a program of its own: `tune` begins with its parent's."""
        return attempt.is_alive and attempt.task.operator != "tune" and bool(attempt.node and attempt.node.code)

    def drop_duplicates(self, attempts: Sequence[Attempt]) -> None:
        """In slot order, against the journal and the slots before: a duplicate takes a step and no evaluation."""
        texts: dict[str, str] = {}
        normals: dict[str, str] = {}
        counts: dict[str, int] = {}
        for attempt in attempts:
            if not self.may_repeat(attempt) or attempt.node is None:
                continue
            text, normal = self._journal.fingerprint(attempt.node.code)
            found = self._journal.find_duplicate(attempt.node.code)
            if found is None and text in texts:
                found = texts[text], "text"
            elif found is None and normal in normals:
                found = normals[normal], "ast"
            if found is not None:
                earlier, rung = found
                counts[rung] = counts.get(rung, 0) + 1
                attempt.verdict = Evaluation(duplicate_of=earlier, message=f"same program as {earlier}", rung=rung)
            else:
                texts[text] = attempt.node.id
                normals |= {normal: attempt.node.id} if normal else {}
        if counts:
            self._store.append([LadderCounted(round=attempts[0].task.round, counts=counts)])

    def check(self, attempts: list[Attempt], notes: RoundContext, pool: ThreadPoolExecutor) -> list[Attempt]:
        """`Evaluator.check`, and the repairs of what it refuses: each attempt is a node of its own."""
        chains = pool.map(lambda attempt: self._checked(attempt, notes), attempts)
        return [attempt for chain in chains for attempt in chain]

    def _checked(self, attempt: Attempt, notes: RoundContext) -> list[Attempt]:
        chain = [attempt]
        while chain[-1].is_alive:
            self._stages.check(chain[-1])
            refused = chain[-1]
            if refused.is_alive or len(chain) > attempt.task.repairs:
                break
            try:
                chain.append(self._repair(refused, notes))
            except TicketGone:  # what was refused stays as it is
                break
            except BudgetExhausted as error:
                self.exhausted = str(error)
                break
        return chain

    def _repair(self, refused: Attempt, notes: RoundContext) -> Attempt:
        """The next attempt of a refused slot: a child of the refused node, told the reason, with the same memory."""
        old = refused.task
        assert refused.verdict is not None
        task = old.model_copy(
            update={
                "node_id": node_id(self._seed, old.round, old.slot, old.attempt + 1),
                "operator": "debug",
                "parent_ids": (old.node_id,),
                "attempt": old.attempt + 1,
                "seed": derive_seed(self._seed, "task", old.round, old.slot, old.attempt + 1),
            }
        )
        known = Memory(refused.context.memory, refused.context.remembered)  # the journal has grown, or lacks its parent
        notes = replace(notes, memory=lambda _: known)
        attempt = self._stages.begin(
            task, notes, refusal=refused.verdict.message, parents=(self._stages.finished(refused),)
        )
        self._stages.write(attempt)
        return attempt

    def judge(self, attempts: Sequence[Attempt], pool: ThreadPoolExecutor) -> list[Attempt]:
        """Verdicts for what is alive: one by one in parallel, or all together where scores are relative.

        Returns the attempts with a verdict; what the budget cut off stays open.
        """
        alive = [attempt for attempt in attempts if attempt.is_alive]
        single = [attempt for attempt in alive if not self._evaluator.together or attempt.task.operator == "tune"]
        for future in [pool.submit(self._stages.execute, attempt) for attempt in single]:
            try:
                future.result()
            except BudgetExhausted as error:
                self.exhausted = str(error)
        rest = [attempt for attempt in alive if attempt.verdict is None and attempt not in single]
        if rest:
            try:
                self._judge_together(rest)
            except BudgetExhausted as error:
                self.exhausted = str(error)
        return [attempt for attempt in attempts if attempt.verdict is not None]

    def _judge_together(self, attempts: Sequence[Attempt]) -> None:
        """One verdict of the whole batch, stored as one: a run that dies during the reviews need not judge again."""
        stored = [self._store.stages(attempt.task.node_id).get("execute") for attempt in attempts]
        verdicts = [Evaluation.model_validate(payload) for payload in stored if payload is not None]
        if len(verdicts) < len(attempts):
            self._check_ending()
            ids = [attempt.task.node_id for attempt in attempts]
            with self._stages.under_way("execute", *ids):
                verdicts = self._evaluator.evaluate([attempt.node for attempt in attempts if attempt.node is not None])
            payloads = [verdict.model_dump(mode="json") for verdict in verdicts]
            done = [
                StageDone(node_id=node_id, stage="execute", seconds=verdict.seconds)
                for node_id, verdict in zip(ids, verdicts, strict=True)
            ]
            generations = (attempt.task.generation for attempt in attempts)
            told = tournament_of(verdicts, next((n for n in generations if n is not None), None))
            self._store.save_stages("execute", dict(zip(ids, payloads, strict=True)), [*done, *told])
        for attempt, verdict in zip(attempts, verdicts, strict=True):
            attempt.verdict = verdict
            attempt.seconds["execute"] = verdict.seconds

    def review(self, attempts: Sequence[Attempt], pool: ThreadPoolExecutor) -> list[Attempt]:
        """The reviews that are wanted, side by side.

        Returns the attempts with a verdict: a slot whose score the budget kept from being read stays open.
        """
        wanted = [attempt for attempt in attempts if self._stages.wants_review(attempt)]
        unread: set[int] = set()
        for attempt, future in [(attempt, pool.submit(self._review, attempt)) for attempt in wanted]:
            try:
                future.result()
            except BudgetExhausted as error:
                self.exhausted = str(error)
                unread.add(attempt.task.slot)
        return [attempt for attempt in attempts if attempt.task.slot not in unread]

    def review_alone(self, attempts: Sequence[Attempt]) -> None:
        """Review one slot's attempts in this thread, as far as they are not yet.

        Raises BudgetExhausted where a score was not read for it.
        """
        for attempt in attempts:
            if self.awaits_review([attempt]):
                self._review(attempt)

    def awaits_review(self, attempts: Sequence[Attempt]) -> bool:
        """True if one of them is to be reviewed and is not yet."""
        return any(
            attempt.review is None and not attempt.review_error and self._stages.wants_review(attempt)
            for attempt in attempts
        )

    def _review(self, attempt: Attempt) -> None:
        """BudgetExhausted: nobody read its score. A review that is no more than a comment may be missing."""
        try:
            self._stages.reviewed(attempt)
        except BudgetExhausted as error:
            if self._stages.is_scored_by_review(attempt):
                raise
            self.exhausted = str(error)
