"""Pays an amount with few coins."""

# EVOLVE-BLOCK-START
ORDER = (1, 5, 10, 25)


def coins(amount):
    """The coins that are handed over, a list of their values."""
    paid = []
    for coin in ORDER:
        while amount >= coin:
            paid.append(coin)
            amount -= coin
    return paid


# EVOLVE-BLOCK-END


def run_experiment(amounts):
    return [coins(amount) for amount in amounts]
