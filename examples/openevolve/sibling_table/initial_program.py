"""Predict boiling points of alkanes from the number of carbon atoms."""


# EVOLVE-BLOCK-START
def predict(carbons: int) -> float:
    """Degrees Celsius."""
    return 30.0 * carbons - 110.0


# EVOLVE-BLOCK-END
