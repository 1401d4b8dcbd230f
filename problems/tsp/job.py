"""Builds tours with a candidate's rule, in the sandbox; the tours are checked and measured by the caller."""

from __future__ import annotations

from typing import Any

from core.contracts import JobContext, Limits, SessionFailure

PRELUDE = """
from math import dist as dist__

def tour__(points):
    left = set(range(1, len(points)))
    far = [sum(dist__(a, b) for b in points) for a in points]
    tour, here = [0], 0
    while left:
        near = lambda city: far[city] / max(1, len(left))
        best = max(sorted(left), key=lambda city: float(score_city(
            dist__(points[here], points[city]), dist__(points[0], points[city]), near(city), len(left) / len(points))))
        for city in left:
            far[city] -= dist__(points[here], points[city])
        left.discard(best)
        tour.append(best)
        here = best
    return tour
"""


def tours(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry. Payload: `code`, `instances` (lists of points), `limits`, `seed`. Returns `{tours}` or a failure."""
    limits = Limits.model_validate(payload["limits"])
    session = context.sandbox.session(payload["code"], limits=limits, seed=payload["seed"], prelude=PRELUDE)
    try:
        batch = [[points] for points in payload["instances"]]
        return {"tours": session.call_many("tour__", batch, timeout=limits.seconds)}
    except SessionFailure as failure:
        return failure.result.model_dump(mode="json")
    finally:
        session.close()
