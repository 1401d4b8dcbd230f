"""`provider: rules` for the tour rule: sums of terms, their constants moved, terms added and dropped."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from typing import Any

from core.evaluation.tune import literals, with_values
from core.state.operators import doing
from utils.syntax import parse

TERMS = (
    "-distance", "{k} * home", "{k} * spread", "{k} * left * home", "{k} * distance ** 2", "{k} * distance * left",
    "{k} * spread * left", "{k} * distance / (spread + 0.1)", "({k} if distance < 0.1 else 0)",
)  # fmt: skip
NEAREST = '''\
def score_city(distance, home, spread, left):
    """Nearest neighbour."""
    return -distance
'''


class TourWriter:
    """Writes `score_city(distance, home, spread, left)`."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        parents = [parent["code"] for parent in context.get("parents") or () if parent.get("code")]
        terms = [term for code in parents for term in terms_of(code)]
        if not terms or doing(context) == "new":
            chosen, plan = ["-distance", *(_term(rng) for _ in range(rng.randint(1, 2)))], "Fresh terms."
        elif len(parents) > 1:
            chosen, plan = rng.sample(terms, max(1, min(len(terms), 4))), "Terms of both parents."
        elif rng.random() < 0.5 and len(terms) < 7:
            chosen, plan = [*terms, _term(rng)], "One more term."
        elif rng.random() < 0.2 and len(terms) > 1:
            chosen, plan = rng.sample(terms, len(terms) - 1), "One term less."
        else:
            chosen, plan = terms, "Moved constants."
        code = f"def score_city(distance, home, spread, left):\n    return {' + '.join(chosen)}\n"
        numbers = literals(code)
        moved = [float(f"{n * 2 ** rng.gauss(0, 0.5):.4g}") if rng.random() < 0.5 else n for n in numbers]
        return f"{plan}\n\n```python\n{with_values(code, moved)}\n```\n"


def terms_of(code: str) -> list[str]:
    """The summands of the last return."""
    returns = [node for node in ast.walk(parse(code)) if isinstance(node, ast.Return) and node.value]
    found, stack = [], [returns[-1].value] if returns else []
    while stack:
        node = stack.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            stack += [node.right, node.left]
        elif node is not None:
            found.append(ast.unparse(node))
    return found


def _term(rng: random.Random) -> str:
    return rng.choice(TERMS).format(k=f"{rng.choice((1, -1)) * 10 ** rng.uniform(-1.5, 0.5):.3g}")
