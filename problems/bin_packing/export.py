"""`best_solution/solution.py`: the rule with everything that is needed to score it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from core.state.node import Node
from problems.bin_packing.instances import FAMILIES, stream
from problems.bin_packing.program import arity
from utils.syntax import without_future

if TYPE_CHECKING:
    from problems.bin_packing.data import DataSet

HEAD = '''\
"""A rule for online bin packing, found by search ({writer}, node {node}). Run it to print its score on the test split.

Data set {name}; excess = bins used / lower bound - 1, summed over {count} instances. Needs numpy.
"""

'''

LOADERS = {
    "weibull": '''\
def test_instances():
    """{count} instances of {items} Weibull(3, 45) sizes, rounded and clipped to 1..100."""
    import numpy as np

    draws = 45.0 * np.random.default_rng({seed}).weibull(3.0, ({count}, {items}))
    return np.clip(np.rint(draws), 1, 100).astype(int).tolist()
''',
    "uniform": '''\
def test_instances():
    """{count} instances of {items} integer sizes, uniform on 20..100."""
    import numpy as np

    return np.random.default_rng({seed}).integers(20, 101, ({count}, {items}), dtype=np.int64).tolist()
''',
    "file": '''\
def test_instances():
    """The test split of the file that was searched on."""
    return {sizes}
''',
}

TAIL = '''\
CAPACITY = {capacity}


def pack(rule, sizes, capacity=CAPACITY):
    """Bins used. The item goes to the bin of highest score; of equals to the one opened first; an unopened bin too."""
    import heapq

    levels = [[] for _ in range(capacity + 1)]
    histogram = [0] * (capacity + 1)
    opened = 0
    for item in sizes:
        best = None
        for room in range(item, capacity + 1):
            if room == capacity:
                first = opened
            elif levels[room]:
                first = levels[room][0]
            else:
                continue
            score = rule(item, room, histogram)
            if best is None or score > best[0] or (score == best[0] and first < best[1]):
                best = (score, first, room)
        _, index, room = best
        if room == capacity:
            opened += 1
        else:
            heapq.heappop(levels[room])
            histogram[room] -= 1
        heapq.heappush(levels[room - item], index)
        histogram[room - item] += 1
    return opened


def excess(instances, capacity=CAPACITY):
    """Fraction of bins above the lower bound, over the whole set."""
{rule}
    used = sum(pack(rule, sizes, capacity) for sizes in instances)
    return used / sum(-(-sum(sizes) // capacity) for sizes in instances) - 1


if __name__ == "__main__":
    print(f"test excess: {{excess(test_instances()):.6f}}")
'''

PAIR = """\
    from functools import lru_cache

    table = lru_cache(maxsize=None)(score_bin)

    def rule(item, room, histogram):
        return table(item, room)
"""
HISTOGRAM = "    rule = score_bin\n"


def write_solution(node: Node, out: Path, data: DataSet, name: str, data_seed: int) -> Path:
    """Write `solution.py` and return its path."""
    out.mkdir(parents=True, exist_ok=True)
    family = FAMILIES.get(name)
    count = len(data.test)
    if family is None:
        loader = LOADERS["file"].format(sizes=[instance.sizes.tolist() for instance in data.test])
    else:
        seed = stream(data_seed, name, "test")
        loader = LOADERS[family.kind].format(count=count, items=family.items, seed=seed)
    rule = HISTOGRAM if arity(node.code) == 3 else PAIR
    head = HEAD.format(writer=node.writer or node.operator, node=node.id, name=data.name, count=count)
    tail = TAIL.format(capacity=data.capacity, rule=rule)
    future, program = without_future(node.code)
    parts = [part.strip() for part in (head, future, program, loader, tail) if part.strip()]
    path = out / "solution.py"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path
