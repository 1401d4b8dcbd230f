"""An asynchronous evaluator that returns a plain dict: equal circles in the unit circle, as large as they can be."""

import asyncio
import importlib.util
import math


async def centres_of(program):
    await asyncio.sleep(0)
    points = []
    for ring, count in enumerate(program.counts()):
        distance = float(program.radius_of_ring(count, ring)) if ring else 0.0
        points += [
            (distance * math.cos(2 * math.pi * k / count), distance * math.sin(2 * math.pi * k / count))
            for k in range(count)
        ]
    return points


async def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("candidate_program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    points = await centres_of(program)
    if len(points) != 6:
        return {"combined_score": 0.0, "circles": float(len(points))}
    half = min(math.dist(a, b) for i, a in enumerate(points) for b in points[:i]) / 2
    edge = min(1 - math.hypot(*point) for point in points)
    radius = max(0.0, min(half, edge))
    return {"combined_score": radius * 3, "radius": radius}
