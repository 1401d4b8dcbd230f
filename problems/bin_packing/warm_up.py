"""The compiled loops, made ready before the clock of a search starts: once on a machine, then read from a cache."""

from __future__ import annotations

from collections.abc import Callable

COMPILING = "compiling the packing loops, once on this machine: up to a minute"


def warm_up(tell: Callable[[str], None]) -> None:
    """Compile the loops, or load them from the cache."""
    import numpy as np

    from problems.bin_packing.arithmetic import translate
    from problems.bin_packing.compiled import pack_neighbours, pack_ranked, rank_table
    from problems.bin_packing.jit import is_cached
    from problems.bin_packing.machine import arrays, pack_program

    if not is_cached():
        tell(COMPILING)
    sizes = np.array([1, 2], dtype=np.int64)
    order, tied = rank_table(np.zeros((4, 4)), np.arange(4))
    pack_ranked(order, tied, sizes, sizes, 3, np.empty(2, dtype=np.int64), 9)
    pack_neighbours(sizes, 3, np.empty(2, dtype=np.int64))
    program = translate(
        "def score_bin(item, remaining_capacity, histogram):\n    return histogram[remaining_capacity]\n"
    )
    assert program is not None
    pack_program(*arrays(program), sizes, 3, np.empty(2, dtype=np.int64), 9)
