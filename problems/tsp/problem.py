"""Travelling salesman: search the rule that picks the next city, a FunctionProblem whose calls depend on each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from core.contracts import Baseline, CaseScore, RulesWriter
from core.evaluation.function_problem import FunctionProblem, Part
from core.state.node import Node
from problems.highs import Clock, Solved, SolverOptions, shortest_tour
from problems.instance_copies import without_copies
from problems.instance_text import instances_title
from problems.options import checked_options
from problems.tsp.files import deciding_files, load, tours_of_none
from problems.tsp.instances import BHH, Point, excess, generate
from problems.tsp.published import length_of_some_tour
from problems.tsp.tour_instance import TourInstance
from problems.tsp.tour_parts import tour_parts
from problems.tsp.writer import NEAREST, TourWriter
from utils.config_schema import Config
from utils.config_section import Section
from utils.counts import counted
from utils.logger_system import log_msg
from utils.syntax import without_future

DRIVER = """
from math import dist as dist__

measures__ = {
    "MAN_2D": lambda p, q: abs(p[0] - q[0]) + abs(p[1] - q[1]),
    "MAX_2D": lambda p, q: max(abs(p[0] - q[0]), abs(p[1] - q[1])),
}

def drive(points, matrix=None, kind=""):
    cities = range(len(matrix or points))
    measure = measures__.get(kind, dist__)
    between = (lambda a, b: matrix[a][b]) if matrix else (lambda a, b: measure(points[a], points[b]))
    left = set(cities[1:])
    far = [sum(between(a, b) for b in cities) for a in cities]
    tour, here = [0], 0
    while left:
        near = lambda city: far[city] / max(1, len(left))
        best = max(sorted(left), key=lambda city: float(score_city(
            between(here, city), between(0, city), near(city), len(left) / len(cities))))
        for city in left:
            far[city] -= between(here, city)
        left.discard(best)
        tour.append(best)
        here = best
    return tour
"""
MAIN = """\
if __name__ == "__main__":
    held_out = generate({count}, {cities}, "tsp/test")
    print(f"test excess: {{sum(excess(points, drive(points)) for points in held_out) / len(held_out):.6f}}")
"""
"""Ends `best_solution/solution.py`: run by itself, the rule prints its score on the held-out instances."""
TOUR = '''
def tour_of(points, matrix=None, kind=""):
    """The cities in the order in which the rule visits them, on the scale on which it was scored.

    Args:
        points: an x and a y for each city, in any unit; [] with a matrix.
        matrix: all distances, where coordinates do not tell them (also of TSPLIB's GEO).
        kind: TSPLIB's `MAN_2D` or `MAX_2D`; straight lines are measured without.
    """
    return drive(*on_scale(points, matrix), kind)
'''
"""Ends it for instances of the user's own."""
HELD_OUT = 100
MANY_CITIES = 2_000
"""Of all instances together: their lower bounds take more than a moment."""


QUICK_CITIES = 300
"""Of one instance: a tour of them is found in less than a second."""


class Options(Section):
    """`problem.options` of this problem."""

    cities: int = Field(60, ge=3)
    """Cities of a random instance."""
    instances: int = Field(10, ge=1, le=10_000)
    """Random instances that steer the search; the final part has its own."""


class TourProblem(FunctionProblem):
    """`score_city` on random instances."""

    name = "tsp/euclidean"
    unit = "excess over the expected shortest tour"
    signature = "score_city(distance, home, spread, left) -> float"
    start = NEAREST
    driver = DRIVER

    def __init__(self, options: Options) -> None:
        self.options = options

    @property
    def reads(self) -> tuple[str, ...]:
        return ("problem.name", "problem.options")

    def statement(self) -> str:
        return (
            f"Build short round trips through {self.options.cities} random points of the unit square, city by city. "
            "Write\n\n"
            "    score_city(distance, home, spread, left)\n\n"
            "the unvisited city of highest score is next. `distance`: from here; `home`: from the start;\n"
            "`spread`: its mean distance to the present city and the other unvisited ones; `left`: share unvisited.\n"
            f"Metric: tour length over 0.7124·√n, minus 1, mean over instances.{self.decided}"
        )

    def baselines(self) -> Sequence[Baseline]:
        return [Baseline("nearest_neighbour", NEAREST)]

    def rules(self) -> RulesWriter:
        return TourWriter()

    def cases(self, part: Part) -> Sequence[list[Point]]:
        count = self.options.instances if part == "validation" else HELD_OUT
        return generate(count, self.options.cities, f"tsp/{part}")

    def calls(self, case: list[Point]) -> Sequence[Sequence[Any]]:
        return [[[list(point) for point in case]]]

    def score(self, case: list[Point], answers: list[Any]) -> float:
        return excess(case, answers[0])

    def measures(self, case: list[Point], answers: list[Any]) -> Mapping[str, float]:
        return tour_parts(answers[0], lambda a, b: math.dist(case[a], case[b]), BHH * math.sqrt(len(case)))

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        """`solution.py`: rule, driver and instances; run by itself it prints its score on the held-out ones."""
        out.mkdir(parents=True, exist_ok=True)
        measuring = (
            Path(__file__).with_name("instances.py").read_text(encoding="utf-8").partition("annotations\n")[2].strip()
        )
        main = MAIN.format(count=HELD_OUT, cities=self.options.cities)
        parts = ["from __future__ import annotations", without_future(node.code)[1], measuring, DRIVER, main]
        (out / "solution.py").write_text("\n\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
        return [out / "solution.py"]


class OwnToursProblem(TourProblem):
    """`score_city` on instances of a user's own: every second one steers the search, the others are the test part.

    A single instance steers the search and nothing is held out.
    """

    unit = "excess over the best known tour or a lower bound"

    def __init__(self, name: str, solver: SolverOptions) -> None:
        super().__init__(Options())
        self._instances, self._copies = without_copies(load(name), TourInstance.content)
        self._solver, self._solved = solver, dict[int, Solved | None]()
        self.name = f"tsp/{instances_title(name)}"
        self._file = name

    @property
    def reads(self) -> tuple[str, ...]:
        return ("problem.name", *(f"problem.options.{name}" for name in self._solver.read))

    @property
    def scoring_files(self) -> Mapping[str, Path]:
        return deciding_files(self._file)

    @property
    def note(self) -> str:
        alone = "one instance: the rule is searched and scored on it, and nothing is held out"
        alone = alone if len(self._instances) == 1 else ""
        notes = [alone, self._copies, tours_of_none(self._file), *(one.note for one in self._instances)]
        return "; ".join(filter(None, notes))

    def warm_up(self, tell: Callable[[str], None]) -> None:
        """The lower bounds that tours, and what the user calls the best of them, are compared with: their seconds are
        none of the search's."""
        needed = [one for one in self._instances if one.best is None or one.is_claimed]
        if sum(map(len, needed)) > MANY_CITIES:
            tell(f"lower bounds of {counted(len(needed), 'instance')} are computed")
        for one in needed:
            bound = one.know_bound()
            if one.best is not None and one.best < bound * (1 - 1e-9):
                log_msg("WARNING", f"{one.name}: best is {one.best:g}, but no tour is shorter than {bound:.6g}")
        for one in self._instances:
            if one.best is not None and len(one) <= QUICK_CITIES:
                length = length_of_some_tour(one.table())
                if length < one.best * (1 - 1e-9):
                    log_msg("WARNING", f"{one.name}: best is {one.best:g}, but a tour of {length:.6g} is soon found")

    @property
    def optimum(self) -> tuple[float, str] | None:
        """None where the user told a length: a best known tour may be undercut."""
        if any(one.best is not None for one in self._instances):
            return None
        return 0.0, "no tour can be shorter than the lower bound"

    def statement(self) -> str:
        told = ", ".join(self.case_name(one, 0) for one in self._instances[:10])
        return (
            f"Build short round trips, city by city, for instances such as {told}. Write\n\n"
            "    score_city(distance, home, spread, left)\n\n"
            "the unvisited city of highest score is next. `distance`: from here; `home`: from the start;\n"
            "`spread`: its mean distance to the present city and the other unvisited ones; `left`: share unvisited.\n"
            "Distances are scaled so that the cities fill the unit square, or that their mean is what it is there.\n"
            "Metric: tour length over the best known one (or a lower bound), minus 1, mean over instances."
            f"{self.decided}"
        )

    def cases(self, part: Part) -> Sequence[Any]:
        return self._instances[0::2] if part == "validation" else self._instances[1::2]

    def calls(self, case: Any) -> Sequence[Sequence[Any]]:
        points, matrix = case.view()
        if matrix:
            return [[points, matrix]]
        return [[points, None, case.kind] if case.kind in ("MAN_2D", "MAX_2D") else [points]]

    def score(self, case: Any, answers: list[Any]) -> float:
        return float(case.length(answers[0]) / case.reference - 1)

    def measures(self, case: Any, answers: list[Any]) -> Mapping[str, float]:
        return tour_parts(answers[0], case.between, case.reference)

    def case_name(self, case: Any, number: int) -> str:
        return f"{case.name} ({counted(len(case), 'city', 'cities')})"

    def case_score(self, case: Any, number: int, score: float) -> CaseScore:
        """Against the best known tour where the file tells it or a solver found it, else against a lower bound."""
        value, found = (1 + score) * case.reference, self._solution(case)
        known = f"{case.name} (best known)" if case.best is not None else case.name
        bound = found.value if found else case.reference
        name = found.told(case.name) if found else known
        return CaseScore(case=name, value=round(value, 6), bound=round(bound, 6), gap=value / bound - 1)

    def _solution(self, case: Any) -> Solved | None:
        """What HiGHS finds, where that is asked for; asked once."""
        if self._solver.solver is None or case.best is not None:
            return None
        if not self._solved:
            unknown = [one for one in self.cases("test") if one.best is None]
            clock = Clock(self._solver.solver_seconds, len(unknown))
            for one in unknown:
                self._solved[id(one)] = shortest_tour(one.table(), clock.share())
        return self._solved.get(id(case))

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        """`solution.py`: driver and rule; `tour_of(points)` gives the tour that was scored."""
        out.mkdir(parents=True, exist_ok=True)
        source = (Path(__file__).parent / "scaling.py").read_text(encoding="utf-8").partition("annotations\n")[2]
        parts = ["from __future__ import annotations", source, DRIVER, without_future(node.code)[1], TOUR]
        text = "\n\n\n".join(part.strip() for part in parts)
        (out / "solution.py").write_text(f"{text}\n", encoding="utf-8")
        return [out / "solution.py"]


OPTIONS = (Options, SolverOptions)


def build(cfg: Config, project_dir: Path) -> TourProblem:
    """The problem of a configuration: `problem.name` is a file or a folder of instances, else they are random.

    `problem.options` are those of the random instances, or say whether the user's own are solved.
    """
    name = cfg.problem.name
    if name is not None:
        return OwnToursProblem(name, checked_options(SolverOptions, cfg.problem.options))
    return TourProblem(checked_options(Options, cfg.problem.options))
