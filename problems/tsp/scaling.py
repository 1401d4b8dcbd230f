"""The scale on which a rule sees an instance of a user's own. An export holds this file's text, so it imports nothing
of ours."""

from __future__ import annotations

from collections.abc import Sequence

MEAN_DISTANCE = 0.5214
"""Of two random points of the unit square: the scale of distances that have no coordinates."""


def on_scale(
    points: Sequence[Sequence[float]], matrix: Sequence[Sequence[float]] | None = None
) -> tuple[list[list[float]], list[list[float]] | None]:
    """(coordinates in the unit square, None), or ([], distances on that scale) where the distances are told.

    Args:
        points: an x and a y for each city; of no meaning where there is a `matrix`.
        matrix: all distances; what stands there from a city to itself is no distance.
    """
    if matrix:
        table = [[cell if a != b else 0.0 for b, cell in enumerate(row)] for a, row in enumerate(matrix)]
        total = sum(map(sum, table)) / (len(table) * (len(table) - 1)) or 1.0
        return [], [[cell / total * MEAN_DISTANCE for cell in row] for row in table]
    low = [min(point[axis] for point in points) for axis in (0, 1)]
    high = [max(point[axis] for point in points) for axis in (0, 1)]
    extent = max(high[0] - low[0], high[1] - low[1]) or 1.0
    return [[(point[axis] - low[axis]) / extent for axis in (0, 1)] for point in points], None
