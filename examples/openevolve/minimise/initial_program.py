"""Search for the minimum of a wavy function of two variables."""

# EVOLVE-BLOCK-START
import random


def search(function, bounds, calls, seed):
    """The best point found with `calls` evaluations of `function`."""
    rng = random.Random(seed)
    low, high = bounds
    best, best_value = None, float("inf")
    step = 0.9
    for i in range(calls):
        if best is None or i % 3 == 0:
            point = (rng.uniform(low, high), rng.uniform(low, high))
        else:
            point = tuple(min(high, max(low, x + rng.gauss(0, step))) for x in best)
        value = function(*point)
        if value < best_value:
            best, best_value = point, value
    return best


# EVOLVE-BLOCK-END


def run_search(seed=0):
    """What the evaluator calls: (x, y, value)."""
    import math

    def function(x, y):
        return math.sin(x) * math.cos(y) + math.sin(x * y) + (x * x + y * y) / 20

    x, y = search(function, (-5.0, 5.0), 400, seed)
    return x, y, function(x, y)
