"""Sum of the radii of 26 circles that lie in the unit square and do not overlap; more is better.

`pack()` returns a list of 26 triples (x, y, r). A packing counts if every number is finite, every radius is at least 0,
and no circle leaves the square or overlaps another by more than 1e-9; else the score is 0. The tolerance is meant for
rounding: a solver's result should be shrunk until it holds. The best packing that is known has a sum of about 2.63598.
`pack()` is called once. numpy and scipy are there. Let it do a fixed amount of work, of a few seconds at most, with
fixed seeds.
"""

import importlib.util
import math

COUNT = 26
TOLERANCE = 1e-9


def evaluate(program_path):
    """Run the program and measure its packing."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    circles = [tuple(float(value) for value in circle) for circle in module.pack()]
    worst = violation(circles)
    valid = worst <= TOLERANCE
    total = sum(radius for _, _, radius in circles) if math.isfinite(worst) else 0.0
    return {
        "score": total if valid else 0.0,
        "sum_of_radii": total,
        "largest_violation": worst if math.isfinite(worst) else -1.0,
    }


def violation(circles):
    """By how much the worst circle leaves the square or overlaps; infinite for what is no packing."""
    if len(circles) != COUNT or any(len(circle) != 3 for circle in circles):
        return math.inf
    if not all(math.isfinite(value) for circle in circles for value in circle) or min(r for _, _, r in circles) < 0:
        return math.inf
    outside = max(max(r - x, x + r - 1, r - y, y + r - 1) for x, y, r in circles)
    overlap = max(
        a[2] + b[2] - math.hypot(a[0] - b[0], a[1] - b[1]) for i, a in enumerate(circles) for b in circles[:i]
    )
    return max(outside, overlap, 0.0)
