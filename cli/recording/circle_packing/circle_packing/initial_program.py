"""Twenty-six circles in the unit square: a plain grid, to be improved."""


# EVOLVE-BLOCK-START
def pack():
    """Centres and radii of 26 circles, as a list of (x, y, r)."""
    radius = 1 / 12
    places = [(column, row) for row in range(6) for column in range(6)]
    return [((2 * column + 1) * radius, (2 * row + 1) * radius, radius) for column, row in places[:26]]


# EVOLVE-BLOCK-END
