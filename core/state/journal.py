"""Journal: the DAG of everything tried, with an index that keeps every question cheap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from threading import Lock
from typing import Any

from core.state.findings import Rung
from core.state.fingerprint import ast_hash
from core.state.journal_digest import JournalDigest
from core.state.lineage import Lineage
from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from core.state.program_index import Fingerprint, ProgramIndex
from core.state.ranking import Ranking
from core.state.stored_node import Read, StoredNode
from core.state.summary import BEST_SHOWN, Summary, within
from core.state.task import Task
from utils.direction import Direction
from utils.prompt_text import BYTES_PER_TOKEN, fence

WHOLE = 64
"""So many of the newest nodes, and of those whose texts were read last, are kept whole in memory."""


class Journal:
    """Nodes in commit order. Append-only; append and look-up O(1), best and rank O(log n); no recursion anywhere.

    A node read from the journal carries the current `children_ids`, `visits` and `total_reward`.

    Args:
        nodes: the first ones, in their order.
        lower_is_better: the problem's direction; the only one the journal obeys.
        normal_hash: equal for programs that behave alike although their texts differ, or None; see `ProgramIndex`.
        time_limit: seconds that a program's run is told against in summaries; None: they say nothing of time.
        read: reads a stored node's texts; with it, older nodes take little memory (`stored`). None keeps all whole.
    """

    def __init__(
        self,
        nodes: Iterable[Node] = (),
        *,
        lower_is_better: bool = False,
        normal_hash: Callable[[str], str | None] = ast_hash,
        time_limit: float | None = None,
        read: Read | None = None,
    ) -> None:
        self.lower_is_better = lower_is_better
        self.direction = Direction(lower_is_better)
        self._nodes: list[Node] = []
        self._outdated: set[int] = set()
        """Positions of nodes whose children, visits or reward have changed since they were read last."""
        self._updating = Lock()
        self._read = None if read is None else lru_cache(maxsize=WHOLE)(read)
        self._kept_small = 0
        """So many of the first nodes are `StoredNode`s."""
        self._position: dict[str, int] = {}
        self._visits: dict[str, int] = {}
        self._rewards: dict[str, float] = {}
        self._ranking = Ranking()
        self._lineage = Lineage()
        self._buggy: list[int] = []
        self._good: list[int] = []
        self._programs = ProgramIndex(normal_hash)
        self._summary = Summary(lower_is_better, self._told_of, self._place_of, time_limit)
        self._steps = 0
        self._digest = JournalDigest()
        """Nodes that were read back come in when it is asked for."""
        self._open: dict[str, Task] = {}
        self.marks: dict[str, str] = {}
        """node id → `pinned` or `banned`, as the user said."""
        for node in nodes:
            self.append(node)

    # ------------------------------------------------------------ the seed's methods

    def append(self, node: Node) -> Node:
        """Add a node and return it as stored (`step`, `fitness`, `lower_is_better`, both forms of its parents set).

        Parents must be present; `parent_id` alone is enough.
        """
        parents = node.parent_ids or ((node.parent_id,) if node.parent_id else ())
        self._check_place(node, parents)
        position = len(self._nodes)
        node = node.model_copy(
            update={
                "step": position,
                "lower_is_better": self.lower_is_better,
                "fitness": self.direction.fitness(node.metric_value),
                "parent_ids": parents,
                "parent_id": parents[0] if parents else None,
                "children_ids": (),
                "visits": 0,
                "total_reward": 0.0,
                "fingerprint": self._programs.stored_form(node),
            }
        )
        self._add(node, position)
        self._programs.add(node)
        if self._digest.count == position:
            self._digest.catch_up(self._nodes)
        return node

    def restore(self, node: Node) -> Node:
        """Add a node that the store has, as it was appended when it was new: no text of it is read."""
        position = len(self._nodes)
        fitness = self.direction.fitness(node.metric_value)
        if not isinstance(node, StoredNode) or node.step != position or node.fitness != fitness:
            return self.append(node)
        self._check_place(node, node.parent_ids)
        node = node.as_of(self.lower_is_better, self._read)
        self._add(node, position)
        self._programs.add_known(node, node.code_hash)
        return node

    def restored(self) -> None:
        """All nodes of the store are there: the newest are kept whole, as they are in a run that was not stopped."""
        with self._updating:
            self._kept_small = max(len(self._nodes) - WHOLE, 0)
            for position in range(self._kept_small, len(self._nodes)):
                node = self._nodes[position]
                self._nodes[position] = node.whole() if isinstance(node, StoredNode) else node

    def _check_place(self, node: Node, parents: Sequence[str]) -> None:
        if node.id in self._position:
            raise ValueError(f"node {node.id} is already in the journal")
        for parent in parents:
            if parent not in self._position:
                raise ValueError(f"node {node.id}: its parent {parent} is not in the journal")

    def _add(self, node: Node, position: int) -> None:
        if self._open:
            self._open.pop(node.id, None)
        self._nodes.append(node)
        self._position[node.id] = position
        self._index(node, position)

    def stored(self) -> None:
        """All nodes so far are in the store: of all but the newest, the texts are read from there when asked for."""
        if self._read is None:
            return
        self._summarise()
        with self._updating:
            for position in range(self._kept_small, len(self._nodes) - WHOLE):
                self._nodes[position] = StoredNode.of(self._nodes[position], self._read)
                self._kept_small = position + 1

    def get_node_by_id(self, node_id: str) -> Node | None:
        """The node with current index values, or None."""
        position = self._position.get(node_id)
        return None if position is None else self._current(position)

    def get_children(self, node_id: str) -> list[Node]:
        """The node's children in commit order."""
        return [self[child] for child in self._lineage.children(node_id)]

    def children_ids(self, node_id: str) -> Sequence[str]:
        """Ids of the children in commit order, without building a node."""
        return self._lineage.children(node_id)

    def get_siblings(self, node_id: str) -> list[Node]:
        """Other children of the node's first parent; for a draft, the other drafts."""
        parent = self[node_id].parent_id
        peers = self.get_children(parent) if parent else self.draft_nodes
        return [node for node in peers if node.id != node_id]

    def get_best_node(self, only_good: bool = True) -> Node | None:
        """The best scored node, the earliest of equals; pinned and banned marks do not change what is best.

        With `only_good` False, the newest node where none has a score.
        """
        best = self._ranking.best
        if best is not None:
            return self._current(best)
        return self._current(len(self._nodes) - 1) if self._nodes and not only_good else None

    @property
    def leader(self) -> Node | None:
        """The best scored node; its `children_ids`, `visits` and `total_reward` may be out of date: a best program may
        have thousands of children, which no step should list."""
        best = self._ranking.best
        return None if best is None else self._nodes[best]

    def is_best(self, node_id: str) -> bool:
        """True for the id of the best scored node."""
        return self.leader is not None and self.leader.id == node_id

    def build_dag(self) -> dict[str, tuple[str, ...]]:
        """Node id → ids of its children, in commit order."""
        return {node.id: self._lineage.children(node.id) for node in self._nodes}

    @property
    def nodes(self) -> list[Node]:
        """All nodes in commit order."""
        return list(self)

    @property
    def draft_nodes(self) -> list[Node]:
        """Nodes without a parent that the search itself wrote."""
        return [self[node_id] for node_id in self._lineage.drafts]

    @property
    def buggy_nodes(self) -> list[Node]:
        """Nodes that failed."""
        return [self._current(i) for i in self._buggy]

    @property
    def good_nodes(self) -> list[Node]:
        """Nodes that did not fail and are no duplicates."""
        return [self._current(i) for i in self._good]

    def generate_summary(self, include_code: bool = False, max_tokens: int = 4000) -> str:
        """What was tried and what came of it, a line a node, oldest first, within `max_tokens`; says what it left out.

        With `include_code`, the best programs follow, as many as fit into half of the budget.
        """
        self._summarise()
        if not include_code:
            return self._summary.text(max_tokens, self.top)
        half = max_tokens // 2
        best = [f"[{node.step}]:\n{fence(node.code)}\n" for node in self.top(BEST_SHOWN)]
        return "\n\n".join([self._summary.text(half, self.top), *within(best, half * BYTES_PER_TOKEN)])

    def told_programs(self, max_tokens: int) -> list[Node]:
        """Programs that were among the best when they came, in commit order: the newest within `max_tokens` of code.

        From one step to the next the list grows at its end or stays; when the budget is spent, half of it goes.
        """
        self._summarise()
        return [self._current(i) for i in self._summary.programs(max_tokens)]

    def summary_line(self, node_id: str) -> str:
        """What `generate_summary` tells of one node."""
        self._summarise()
        return self._summary.line(self._position[node_id])

    def tell_time_limit(self, seconds: float | None) -> None:
        """Summaries tell what programs took against this limit: all lines are written anew where it is another."""
        if seconds != self._summary.time_limit:
            self._summary = Summary(self.lower_is_better, self._told_of, self._place_of, seconds)

    def summary_state(self) -> dict[str, Any]:
        """What `restore_summary` takes, over all nodes so far: plain JSON of a few hundred bytes."""
        self._summarise()
        return self._summary.state()

    def restore_summary(self, state: Mapping[str, Any]) -> bool:
        """Take over what was told of the first nodes, so that not all their lines are written anew.

        False, and nothing is changed, where it is not for just the nodes that are there or was made in another way.
        """
        if state["nodes"] != len(self._nodes) or not Summary.knows(state):
            return False
        self._summary = Summary(self.lower_is_better, self._told_of, self._place_of, state["time_limit"], state)
        return True

    def _summarise(self) -> None:
        """Count in the lines of the nodes that came since the last time."""
        for _ in range(len(self._summary), len(self._nodes)):
            self._summary.add()

    def _told_of(self, position: int) -> tuple[Node, list[Node], int | None]:
        """What the summary tells of a place: the node, its parents, and of a duplicate the place of its original."""
        node = self._nodes[position]
        parents = [self._nodes[self._position[parent]] for parent in node.parent_ids]
        return node, parents, self._position.get(node.duplicate_of or "")

    def _place_of(self, node_id: str) -> int | None:
        return self._position.get(node_id)

    # ------------------------------------------------------------ further look-ups

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        return map(self._current, range(len(self._nodes)))

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._position

    def __getitem__(self, node_id: str) -> Node:
        """The node, or KeyError."""
        return self._current(self._position[node_id])

    @property
    def open_tasks(self) -> Sequence[Task]:
        """What is proposed and not committed yet, in the order of the proposals: policies take it into account."""
        return tuple(self._open.values())

    def propose(self, task: Task) -> None:
        """Note that `task` is under way; the node with its id ends that when it is appended."""
        self._open[task.node_id] = task

    def withdraw(self, node_id: str) -> None:
        """Forget a proposal that nobody will write."""
        self._open.pop(node_id, None)

    @property
    def steps(self) -> int:
        """Committed nodes that count towards `max_steps`."""
        return self._steps

    def latest(self, count: int) -> list[Node]:
        """The last `count` nodes in commit order."""
        return [self._current(i) for i in range(max(0, len(self._nodes) - count), len(self._nodes))]

    def from_place(self, place: int) -> Iterator[Node]:
        """The nodes from that place on, in commit order; what the index knows of them may be out of date."""
        return map(self._nodes.__getitem__, range(place, len(self._nodes)))

    def newest(self, count: int) -> Iterator[Node]:
        """The newest nodes, newest first; their `children_ids`, `visits` and `total_reward` may be out of date."""
        return islice(reversed(self._nodes), count)

    def ranked(self) -> Iterator[Node]:
        """Scored nodes, best first, the earliest of equals; as many as are asked for; out of date like `leader`."""
        return map(self._nodes.__getitem__, self._ranking)

    def top(self, k: int) -> list[Node]:
        """The k best scored nodes, best first; equals in commit order; out of date like `leader`."""
        return [self._nodes[i] for i in self._ranking.top(k)]

    @property
    def roots(self) -> int:
        """How many programs were started from nothing: drafts of the search and of the user, baselines apart."""
        return self._lineage.roots

    def root(self, node_id: str) -> str:
        """Id of the node without parents from which the node descends by first parents (itself, if it has none)."""
        return self._lineage.root(node_id)

    def buggy_leaves(self, max_debug_depth: int | None = None, newest: int | None = None) -> list[Node]:
        """Buggy nodes without children whose chain of debugging is shorter than `max_debug_depth`, in commit order.

        With `newest`, only that many of the last; the cost is then independent of the journal's length.
        """
        ids = sorted(self._lineage.buggy_leaves(max_debug_depth, newest), key=self._position.__getitem__)
        return [self[node_id] for node_id in (ids if newest is None else ids[-newest:] if newest else [])]

    def find_duplicate(self, code: str) -> tuple[str, Rung] | None:
        """(node id, rung) of an earlier node with the same program: rung `text` or `ast`. None if it is new."""
        return self._programs.find(code)

    def has_program(self, program: Fingerprint) -> bool:
        """True if `find_duplicate` would find one."""
        return self._programs.has(program)

    def fingerprint(self, code: str) -> Fingerprint:
        """The newest are remembered: a program is looked up before it is appended."""
        return self._programs.fingerprint(code)

    def record_reward(self, node_ids: Iterable[str], reward: float) -> None:
        """MCTS back-propagation: one visit and `reward` for each of the nodes."""
        for node_id in node_ids:
            self._visits[node_id] = self._visits.get(node_id, 0) + 1
            self._rewards[node_id] = self._rewards.get(node_id, 0.0) + reward
            self._outdated.add(self._position[node_id])

    def visits(self, node_id: str) -> tuple[int, float]:
        """(visits, total reward) without building a node."""
        return self._visits.get(node_id, 0), self._rewards.get(node_id, 0.0)

    def ancestors(self, node_id: str) -> list[str]:
        """First-parent line from the node's parent up to its draft."""
        line: list[str] = []
        parent = self._nodes[self._position[node_id]].parent_id
        while parent is not None:
            line.append(parent)
            parent = self._nodes[self._position[parent]].parent_id
        return line

    @property
    def failures(self) -> Mapping[str, int]:
        """FailureKind → how many nodes; what was repaired in its step has not failed (`RunReader.repaired`)."""
        kinds = [self._nodes[i].failure for i in self._buggy]
        return Counter(kind.value for kind in kinds if kind is not None)

    @property
    def sha256(self) -> str:
        """Hash over the non-volatile fields of all nodes in order (`journal_sha256`).

        After a resume the programs of the nodes that were read back are read for it, once.
        """
        return self._digest.catch_up(self._nodes)

    @property
    def is_digested(self) -> bool:
        """True if `sha256` reads nothing."""
        return self._digest.count == len(self._nodes)

    # ------------------------------------------------------------ the index

    def _index(self, node: Node, position: int) -> None:
        self._steps += node.operator not in FREE_OPERATORS
        self._lineage.add(node)
        self._outdated.update(self._position[parent] for parent in node.parent_ids)
        if node.is_buggy:
            self._buggy.append(position)
        elif node.is_valid:
            self._good.append(position)
        if node.is_scored:
            assert node.fitness is not None
            self._ranking.add(node.fitness, position)

    def _current(self, position: int) -> Node:
        """The node with what the index knows of it; a copy is made only after a change."""
        node = self._nodes[position]
        if position not in self._outdated:
            return node
        with self._updating:
            self._outdated.discard(position)  # before the look: what comes in meanwhile marks it again
            children = self._lineage.children(node.id)
            visits, reward = self.visits(node.id)
            node = node.model_copy(update={"children_ids": children, "visits": visits, "total_reward": reward})
            self._nodes[position] = node
        return node
