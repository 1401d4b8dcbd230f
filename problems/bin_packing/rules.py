"""A rule that is ready to pack: tabulated, as arithmetic, or kept in the sandbox. All three pack alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from core.contracts import Evaluation, ExecutionResult
from core.evaluation.base import failed_run
from problems.bin_packing.instances import Instance

T = TypeVar("T")
UNLIMITED = 1 << 60
Pack = Callable[[str, Sequence[Instance]], dict[str, Any]]
"""(code, instances) → what `job.pack` answers for one program."""


class RuleFailed(Exception):
    """The program failed while packing; `verdict` says how."""

    def __init__(self, verdict: Evaluation) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict


class Rule(Protocol):
    """Packs instances."""

    @property
    def output(self) -> str:
        """What the program has printed in the sandbox."""

    def used(self, instances: Sequence[Instance], most: int = UNLIMITED) -> list[int] | None:
        """Bins used, one count an instance; None once their sum is sure to exceed `most`. May raise RuleFailed."""

    def packed(self, instances: Sequence[Instance], told: Callable[[Instance, Any], T]) -> list[T]:
        """What `told` makes of each instance and the bin of each of its items, an int64 array. May raise RuleFailed."""


@dataclass(frozen=True, slots=True)
class TableRule:
    """A rule of (item, room), as a ranked table of its scores."""

    order: Any
    tied: Any
    row: Any
    """Of each size that occurs, its row of the table."""
    output: str = ""

    @classmethod
    def of(cls, answer: dict[str, Any], items: Sequence[int], capacity: int) -> TableRule:
        """From what `job.tabulate` answered."""
        import numpy as np

        from problems.bin_packing.compiled import rank_table

        sizes = np.array(items)
        table, row = np.zeros((len(items), capacity + 1)), np.full(capacity + 1, -1)
        table[np.arange(capacity + 1) >= sizes[:, None]] = np.frombuffer(bytes.fromhex(answer["table"]))
        row[sizes] = np.arange(len(sizes))
        return cls(*rank_table(table, sizes), row, answer.get("output", ""))

    def used(self, instances: Sequence[Instance], most: int = UNLIMITED) -> list[int] | None:
        return _in_turn(self._pack, instances, most)

    def packed(self, instances: Sequence[Instance], told: Callable[[Instance, Any], T]) -> list[T]:
        return [told(instance, _bins(self._pack, instance)) for instance in instances]

    def _pack(self, instance: Instance, chosen: Any, most: int) -> int:
        from problems.bin_packing.compiled import pack_ranked

        rows, sizes = self.row[instance.sizes], instance.sizes
        return int(pack_ranked(self.order, self.tied, rows, sizes, instance.capacity, chosen, most))


@dataclass(frozen=True, slots=True)
class ArithmeticRule:
    """A rule that is arithmetic; where Python would raise, the sandboxed program has the last word."""

    ops: Any
    constants: Any
    result: int
    otherwise: Rule

    @property
    def output(self) -> str:
        return self.otherwise.output

    def used(self, instances: Sequence[Instance], most: int = UNLIMITED) -> list[int] | None:
        try:
            return _in_turn(self._pack, instances, most)
        except ArithmeticError:
            return self.otherwise.used(instances, most)

    def packed(self, instances: Sequence[Instance], told: Callable[[Instance, Any], T]) -> list[T]:
        try:
            return [told(instance, _bins(self._pack, instance)) for instance in instances]
        except ArithmeticError:
            return self.otherwise.packed(instances, told)

    def _pack(self, instance: Instance, chosen: Any, most: int) -> int:
        from problems.bin_packing.machine import pack_program

        used = pack_program(self.ops, self.constants, self.result, instance.sizes, instance.capacity, chosen, most)
        if used < 0:
            raise ArithmeticError("the program leaves plain arithmetic")
        return int(used)


@dataclass(slots=True)
class SandboxedRule:
    """A rule asked for its scores item by item."""

    code: str
    pack: Pack
    output: str = ""

    def used(self, instances: Sequence[Instance], most: int = UNLIMITED) -> list[int] | None:
        used = [len(set(chosen)) for chosen in self._all(instances)]
        return used if sum(used) <= most else None

    def packed(self, instances: Sequence[Instance], told: Callable[[Instance, Any], T]) -> list[T]:
        import numpy as np

        bins = self._all(instances)
        return [told(instance, np.array(one)) for instance, one in zip(instances, bins, strict=True)]

    def _all(self, instances: Sequence[Instance]) -> list[list[int]]:
        answer = self.pack(self.code, instances)
        if "chosen" not in answer:
            raise RuleFailed(failed_run(ExecutionResult.model_validate(answer)))
        self.output = answer["output"]
        return [list(map(int, chosen)) for chosen in answer["chosen"]]


def _in_turn(pack: Callable[[Instance, Any, int], int], instances: Sequence[Instance], most: int) -> list[int] | None:
    """Pack one after the other; what is left of `most` allows for the lower bounds of those to come."""
    import numpy as np

    to_come = sum(instance.lower_bound for instance in instances) if most < UNLIMITED else 0
    left, used = most, []
    for instance in instances:
        to_come -= instance.lower_bound if most < UNLIMITED else 0
        used.append(pack(instance, np.empty(len(instance.sizes), dtype=np.int64), left - to_come))
        left -= used[-1]
        if left < to_come:
            return None
    return used


def _bins(pack: Callable[[Instance, Any, int], int], instance: Instance) -> Any:
    import numpy as np

    bins = np.empty(len(instance.sizes), dtype=np.int64)
    pack(instance, bins, UNLIMITED)
    return bins
