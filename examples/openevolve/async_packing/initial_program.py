# EVOLVE-BLOCK-START
def radius_of_ring(count, ring):
    """Place `count` equal circles of a ring at this distance from the centre."""
    return 0.28 + 0.31 * ring


def counts():
    """How many circles each ring holds, from the inside."""
    return [1, 5]


# EVOLVE-BLOCK-END
