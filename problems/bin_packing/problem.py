"""Online bin packing: search the rule that says into which bin an item goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from core.contracts import Baseline, Evaluator, EvaluatorDeps, Limits, Problem, RulesWriter
from core.evaluation.base import told_cases
from core.state.node import Node
from problems.bin_packing.program import FUNCTION, IMPORTS, UNIT
from problems.highs import SolverOptions
from problems.instance_text import files_of_instances, instances_title
from problems.options import checked_options
from utils.config_schema import Config
from utils.shared_property import shared_property
from utils.unread_keys import OF_COMPETITIONS, OF_REPEATS

if TYPE_CHECKING:
    from problems.bin_packing.data import DataSet
    from problems.bin_packing.instances import Instance


class Options(SolverOptions):
    """`problem.options` of this problem."""

    signature: Literal["pair", "histogram"] = "histogram"
    """`pair`: score_bin(item, remaining_capacity). `histogram`: the open bins by room may be a third parameter."""
    data_seed: int = Field(0, ge=0)
    """Seed of the generated instances; apart from the run's seed, so that runs are compared on the same instances."""
    validation: int | None = Field(None, ge=1, le=100_000)
    """Validation instances; null takes the data set's own number."""
    test: int = Field(100, ge=2, le=100_000)
    """Held-out instances, opened once at the end."""


OPTIONS = (Options,)


class BinPackingProblem(Problem):
    """Online bin packing on a named data set or a file; see `Problem`."""

    lower_is_better = True
    unit = UNIT
    family: Literal["heuristic"] = "heuristic"
    preload: tuple[str, ...] = ("math",)
    seeds_search = True
    claims_only = False
    single_function = True

    def __init__(self, data_name: str, options: Options, *, top_k: int = 10, key: str = "problem.name") -> None:
        self.data_name, self.options, self._key = data_name, options, key
        self.name = f"bin_packing/{instances_title(data_name)}"
        self._top_k = top_k

    @property
    def reads(self) -> tuple[str, ...]:
        """Only instances that are drawn have a seed and numbers, and only a solver has seconds."""
        drawn = () if self.scoring_files else ("data_seed", "validation", "test")
        options = ("signature", *drawn, *self.options.read)
        return ("problem.name", "problem.path", *(f"problem.options.{name}" for name in options))

    @property
    def unread(self) -> Mapping[str, str]:
        found = {**OF_COMPETITIONS, **OF_REPEATS}
        other = {} if self._key == "problem.name" else {"problem.name": f"{self._key}={self.data_name} is packed"}
        return found | other

    @shared_property
    def data(self) -> DataSet:
        from problems.bin_packing.data import build_data

        o = self.options
        return build_data(self.data_name, seed=o.data_seed, validation=o.validation, test=o.test, key=self._key)

    @property
    def scoring_files(self) -> Mapping[str, Path]:
        from problems.bin_packing.instances import FAMILIES
        from problems.bin_packing.reading import SUFFIXES

        return {} if self.data_name in FAMILIES else files_of_instances(self.data_name, SUFFIXES)

    @property
    def optimum(self) -> tuple[float, str]:
        return 0.0, "no packing can use fewer bins than the lower bound"

    @property
    def note(self) -> str:
        return self.data.note

    def prepare(self) -> None:
        assert self.data.train

    def warm_up(self, tell: Callable[[str], None]) -> None:
        from problems.bin_packing.warm_up import warm_up

        warm_up(tell)

    def statement(self) -> str:
        return STATEMENT.format(capacity=self.data.capacity, name=self.data.name, signature=self._form())

    def preview(self) -> str:
        from problems.bin_packing.data import describe

        return "\n".join(f"{key}: {value}" for key, value in describe(self.data).items())

    def prompt_extras(self) -> dict[str, Any]:
        return {
            "function": FUNCTION,
            "signature": f"{self._form()} -> float",
            "histogram": self.options.signature == "histogram",
            "capacity": self.data.capacity,
            "allowed_imports": sorted(IMPORTS.modules),
            "output_format": f"One Python code block that defines {self._form()} at the top level.",
            "cases": told_cases("bins used", map(_told, self.data.validation)),
        }

    def baselines(self) -> Sequence[Baseline]:
        from problems.bin_packing.references import BEST_FIT, FIRST_FIT

        return [Baseline("first_fit", FIRST_FIT), Baseline("best_fit", BEST_FIT)]

    def rules(self) -> RulesWriter:
        from problems.bin_packing.writer import PackingWriter

        return PackingWriter()

    def time_limit(self, limits: Limits) -> float | None:
        """None: what is measured is our packing with the rule, not the rule."""
        return None

    def limits(self, limits: Limits) -> Sequence[str]:
        return [f"all that the function is asked, over all instances, {limits.seconds:g} s together: it is one run"]

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        from problems.bin_packing.evaluator import PackingEvaluator

        return PackingEvaluator(
            self.data,
            deps,
            signature=self.options.signature,
            top_k=self._top_k,
            solver=self.options,
        )

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        from problems.bin_packing.export import write_solution

        return [write_solution(node, out, self.data, self.data_name, self.options.data_seed)]

    def _form(self) -> str:
        extra = ", histogram" if self.options.signature == "histogram" else ""
        return f"{FUNCTION}(item, remaining_capacity{extra})"


def _told(instance: Instance) -> str:
    return f"{instance.name} (bound {instance.lower_bound})"


STATEMENT = """\
Online bin packing. Items arrive one by one and must be put at once into a bin of capacity {capacity}; the goal is to
use few bins. Write the Python function

    {signature}

that says how good it is to put `item` (an int, its size) into a bin that has `remaining_capacity` (an int >= item)
left.
The item goes into the bin of highest score, the first of equals in the order in which the bins were opened. An
unopened bin is scored too, as one with remaining_capacity == {capacity}; so a rule may prefer to open one.
`histogram`, where it is a parameter, is a list: histogram[r] is the number of open bins that have r left, before the
item is packed (unopened bins are not counted; full ones are histogram[0]). The function must be deterministic and
return a finite number; it knows nothing of later items. It is asked for many states in any order: keep nothing
between calls. Tables that are made once, at the top of the program, are fine.

Data set: {name}. Metric: bins used over the lower bound ceil(total size / capacity), summed over all instances,
minus 1; 0 is perfect.
"""


def build(cfg: Config, project_dir: Path) -> BinPackingProblem:
    """The problem of a configuration: `problem.name` is a data set or a file, `problem.options` as in Options."""
    options = checked_options(Options, cfg.problem.options)
    key = "problem.path" if cfg.problem.path else "problem.name"
    name = cfg.problem.path or cfg.problem.name or "weibull_5k"
    return BinPackingProblem(name, options, top_k=cfg.search.top_k_for_full_eval, key=key)
