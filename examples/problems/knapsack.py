"""0/1 knapsack: the rule that orders the items of a greedy packing.

python main.py --problem.kind=knapsack --plugins=examples --search.max_steps=200
"""

import random

from core.evaluation.function_problem import FunctionProblem


class Knapsack(FunctionProblem):
    name, unit = "knapsack", "gap to the fractional bound"
    signature = "priority(weight: float, value: float, room: float) -> float"
    about = "Items of positive weight and value are packed greedily, highest priority first; room is the capacity."
    start = "def priority(weight, value, room):\n    return value\n"

    def cases(self, part):
        rng = random.Random(f"knapsack/{part}")
        items = [[(rng.randint(1, 100), rng.randint(1, 100)) for _ in range(60)] for _ in range(10)]
        return [(pairs, sum(weight for weight, _ in pairs) // 3) for pairs in items]

    def calls(self, case):
        return [(weight, value, case[1]) for weight, value in case[0]]

    def score(self, case, answers):
        pairs, room = case
        bound, left = 0.0, room
        for weight, value in sorted(pairs, key=lambda pair: -pair[1] / pair[0]):
            bound, left = bound + min(1.0, left / weight) * value, max(0, left - weight)
        packed = 0
        for _, (weight, value) in sorted(zip(answers, pairs, strict=True), key=lambda item: -item[0]):
            if weight <= room:
                room, packed = room - weight, packed + value
        return 1 - packed / bound


def build(cfg, project_dir):
    return Knapsack()
