"""What ranks programs by their times best: seconds, or ratios to the parent measured by turns? A simulation.

    python -m benchmarks.timed_chains

Twenty generations of eight children of the best. A child's true time differs from its parent's by a normal change; its
seconds are seen through the machine's mood (5 %, or 2 %, another one each time), a ratio by turns to 1 %. Told is what
the search believes that it gained, true what it gained, means of 2,000 searches.

- `seconds`: as it is: what was measured.
- `chain`: the parent's value times the ratio.
- `clear`: the parent's value times that end of the ratio's 95 % interval that is nearer to 1; its own where that
  holds 1.
"""

from __future__ import annotations

from math import exp
from random import Random
from statistics import fmean

GENERATIONS, CHILDREN, SEARCHES, BY_TURNS = 20, 8, 2_000, 0.01


def searched(draw: Random, rule: str, change: float, mood: float) -> tuple[float, float]:
    """(the true log time of the last best, what is believed of it); the first program's is 0."""
    truth, value = 0.0, draw.gauss(0, mood) if rule == "seconds" else 0.0
    for _ in range(GENERATIONS):
        steps = [draw.gauss(0, change) for _ in range(CHILDREN)]
        seen = [_seen(draw, rule, truth + step, step, value, mood) for step in steps]
        best = min(range(CHILDREN), key=seen.__getitem__)
        if seen[best] < value:
            truth, value = truth + steps[best], seen[best]
    return truth, value


def _seen(draw: Random, rule: str, truth: float, step: float, value: float, mood: float) -> float:
    if rule == "seconds":
        return truth + draw.gauss(0, mood)
    ratio = step + draw.gauss(0, BY_TURNS)
    if rule == "chain":
        return value + ratio
    low, high = ratio - 2 * BY_TURNS, ratio + 2 * BY_TURNS
    return value + (high if high < 0 else low if low > 0 else 0.0)


def main() -> None:
    for change in (0.0, 0.01, 0.03):
        for rule, mood in (("seconds", 0.02), ("seconds", 0.05), ("chain", 0.0), ("clear", 0.0)):
            found = [searched(Random(seed), rule, change, mood) for seed in range(SEARCHES)]
            true, told = (1 - fmean(exp(one[at]) for one in found) for at in (0, 1))
            print(f"changes of {change:.0%}, mood {mood:.0%}, {rule:7}: true {true:6.1%}, told {told:6.1%}")


if __name__ == "__main__":
    main()
