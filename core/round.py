"""A round: write all, drop duplicates in slot order, gate, judge, review. What it returns is ready to commit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from core.contracts import Evaluation, Evaluator, Store
from core.events import LadderCounted
from core.node_life import Life, NodeLife, RoundNotes
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.state.task import Task, derive_seed, node_id
from utils.errors import BudgetExhausted


class RoundPlayer:
    """Takes the lives of one round to their verdicts.

    Whatever runs in parallel, every decision that depends on other slots is made in slot order, so the result is the
    same for any number of threads.

    Attributes:
        exhausted: the reason, once the budget refused a call: what it did not reach stays open, the run ends.
    """

    def __init__(self, *, seed: int, life: NodeLife, evaluator: Evaluator, store: Store, journal: Journal) -> None:
        self.exhausted = ""
        self._seed = seed
        self._life = life
        self._evaluator = evaluator
        self._store = store
        self._journal = journal

    def play(self, lives: list[Life], notes: RoundNotes, pool: ThreadPoolExecutor) -> list[Life]:
        """From task to verdict; the lives that have one, in slot order, repairs behind what they repair."""
        lives = self.write(lives, pool)
        self.drop_duplicates(lives)
        lives = self.gate(lives, notes, pool)
        lives = self.judge(lives, pool)
        self.review(lives, pool)
        return lives

    def one(self, life: Life, notes: RoundNotes) -> list[Life]:
        """All of a life but review and commit: what one thread does under `async`."""
        self._life.write(life)
        self.drop_duplicates([life])
        chain = self._checked(life, notes)
        for attempt in chain:
            if attempt.is_alive:
                self._life.execute(attempt)
        return chain

    def write(self, lives: list[Life], pool: ThreadPoolExecutor) -> list[Life]:
        """Write all; what the budget did not reach stays open, and the run ends after this round."""
        written: list[Life] = []
        for life, future in [(life, pool.submit(self._draft, life)) for life in lives]:
            try:
                future.result()
                written.append(life)
            except BudgetExhausted as error:
                self.exhausted = str(error)
        return written

    def _draft(self, life: Life) -> None:
        """Write it, and take its fingerprint while its tree is still at hand: few trees are kept."""
        self._life.write(life)
        if life.node is not None and life.node.code and life.is_alive:
            self._journal.fingerprint(life.node.code)

    def drop_duplicates(self, lives: Sequence[Life]) -> None:
        """In slot order, against the journal and the slots before: a duplicate takes a step and no evaluation."""
        texts: dict[str, str] = {}
        normals: dict[str, str] = {}
        counts: dict[str, int] = {}
        for life in lives:
            if not life.is_alive or life.task.operator == "tune" or life.node is None or not life.node.code:
                continue
            text, normal = self._journal.fingerprint(life.node.code)
            found = self._journal.find_duplicate(life.node.code)
            if found is None and text in texts:
                found = texts[text], "text"
            elif found is None and normal in normals:
                found = normals[normal], "ast"
            if found is not None:
                earlier, rung = found
                counts[rung] = counts.get(rung, 0) + 1
                life.verdict = Evaluation(
                    duplicate_of=earlier, message=f"same program as {earlier}", metadata={"rung": rung}
                )
            else:
                texts[text] = life.node.id
                normals |= {normal: life.node.id} if normal else {}
        if counts:
            self._store.append([LadderCounted(round=lives[0].task.round, counts=counts)])

    def gate(self, lives: list[Life], notes: RoundNotes, pool: ThreadPoolExecutor) -> list[Life]:
        """`Evaluator.check`, and the repairs of what it refuses: each attempt is a node of its own."""
        chains = pool.map(lambda life: self._checked(life, notes), lives)
        return [life for chain in chains for life in chain]

    def _checked(self, life: Life, notes: RoundNotes) -> list[Life]:
        chain = [life]
        repairs = self._repairs(life.task)
        while chain[-1].is_alive:
            self._life.check(chain[-1])
            refused = chain[-1]
            if refused.is_alive or len(chain) > repairs:
                break
            chain.append(self._repair(refused, notes))
        return chain

    def _repairs(self, task: Task) -> int:
        return int(self._store.why(task.node_id).get("repairs", 0))

    def _repair(self, refused: Life, notes: RoundNotes) -> Life:
        """The next attempt of a refused slot: a child of the refused node, told the reason."""
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
        life = self._life.begin(task, notes, refusal=refused.verdict.message, parents=(self._life.finished(refused),))
        try:
            self._life.write(life)
        except BudgetExhausted as error:
            self.exhausted = str(error)
            life.node = Node(id=task.node_id, code="", operator="debug", parent_ids=task.parent_ids)
            life.verdict = Evaluation(failure=FailureKind.REPLY_ERROR, message=str(error))
        return life

    def judge(self, lives: Sequence[Life], pool: ThreadPoolExecutor) -> list[Life]:
        """Verdicts for what is alive: one by one in parallel, or all together where scores are relative.

        Returns the lives with a verdict; what the budget cut off stays open.
        """
        alive = [life for life in lives if life.is_alive]
        single = [life for life in alive if not self._evaluator.together or life.task.operator == "tune"]
        for future in [pool.submit(self._life.execute, life) for life in single]:
            try:
                future.result()
            except BudgetExhausted as error:
                self.exhausted = str(error)
        rest = [life for life in alive if life.verdict is None and life not in single]
        if rest:
            try:
                self._judge_together(rest)
            except BudgetExhausted as error:
                self.exhausted = str(error)
        return [life for life in lives if life.verdict is not None]

    def _judge_together(self, lives: Sequence[Life]) -> None:
        """One verdict of the whole batch, stored as one: a run that dies during the reviews need not judge again."""
        stored = [self._store.stages(life.task.node_id).get("execute") for life in lives]
        verdicts = [Evaluation.model_validate(payload) for payload in stored if payload is not None]
        if len(verdicts) < len(lives):
            verdicts = self._evaluator.evaluate([life.node for life in lives if life.node is not None])
            ids = [life.task.node_id for life in lives]
            payloads = [verdict.model_dump(mode="json") for verdict in verdicts]
            self._store.save_stages("execute", dict(zip(ids, payloads, strict=True)))
        for life, verdict in zip(lives, verdicts, strict=True):
            life.verdict = verdict
            life.seconds["execute"] = verdict.seconds

    def review(self, lives: Sequence[Life], pool: ThreadPoolExecutor) -> None:
        """Which nodes are reviewed is decided in slot order; the reviews themselves run side by side."""
        best = self._journal.get_best_node()
        leader = best.fitness if best else None
        wanted = []
        for life in lives:
            if self._life.wants_review(life, leader):
                wanted.append(life)
            fitness = self._life.fitness(life.verdict) if life.verdict else None
            if fitness is not None and (leader is None or fitness > leader):
                leader = fitness
        for future in [pool.submit(self._life.reviewed, life) for life in wanted]:
            try:
                future.result()
            except BudgetExhausted as error:
                self.exhausted = str(error)
