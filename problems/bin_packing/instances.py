"""Instances of one-dimensional bin packing: generators, the OR-Library format, and the splits of a data set.

Sizes and capacities are integers. Train gives the cheap looks, validation the metric, choice decides among the best at
the end, test is opened once, after that; each is drawn from a seed of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np

from problems.bin_packing.reading import Written, written
from problems.file_numbers import unread
from utils.errors import ConfigError
from utils.stats import proper_interval
from utils.user_path import user_path

Split = Literal["train", "validation", "test", "choice"]

WEIBULL_SHAPE, WEIBULL_SCALE, WEIBULL_CAPACITY = 3.0, 45.0, 100
UNIFORM_LOW, UNIFORM_HIGH, UNIFORM_CAPACITY = 20, 100, 150
MOST_UNITS = 10_000
"""Of a capacity: a rule's table has an entry a size that occurs and unit of it, of 25 bytes while it is ranked."""
_DRAWS = 2000
"""Of a bootstrap."""


@dataclass(frozen=True, slots=True)
class Instance:
    """Items in arrival order.

    `sizes`: int64 array, every entry in 1..capacity.
    """

    name: str
    sizes: np.ndarray
    capacity: int
    best: int | None = None
    """Bins of the best known packing, where the file tells it."""

    @property
    def lower_bound(self) -> int:
        """L1 of Martello & Toth 1990: the total size in whole bins, rounded up."""
        return -(-int(self.sizes.sum()) // self.capacity)


@dataclass(frozen=True, slots=True)
class Family:
    """A named data set: how its instances are drawn."""

    kind: Literal["weibull", "uniform"]
    items: int
    validation: int
    """Validation instances: fewer where they are long."""

    @property
    def capacity(self) -> int:
        return WEIBULL_CAPACITY if self.kind == "weibull" else UNIFORM_CAPACITY


FAMILIES: dict[str, Family] = {
    "weibull_1k": Family("weibull", 1_000, 20),
    "weibull_5k": Family("weibull", 5_000, 10),
    "weibull_10k": Family("weibull", 10_000, 5),
    "weibull_100k": Family("weibull", 100_000, 2),
    "u120": Family("uniform", 120, 100),
    "u250": Family("uniform", 250, 60),
    "u500": Family("uniform", 500, 60),
    "u1000": Family("uniform", 1_000, 30),
}


def generate_weibull_dataset(num_instances: int, num_items: int, seed: int, prefix: str = "weibull") -> list[Instance]:
    """Weibull(shape 3, scale 45) sizes, rounded and clipped to 1..100; capacity 100.

    Source: Castiñeiras et al. 2012; parameters of Romera-Paredes et al. 2024.
    """
    rng = np.random.default_rng(seed)
    draws = WEIBULL_SCALE * rng.weibull(WEIBULL_SHAPE, (num_instances, num_items))
    sizes = np.clip(np.rint(draws), 1, WEIBULL_CAPACITY).astype(np.int64)
    return [Instance(f"{prefix}_{i:03d}", row, WEIBULL_CAPACITY) for i, row in enumerate(sizes)]


def generate_uniform_dataset(num_instances: int, num_items: int, seed: int, prefix: str = "u") -> list[Instance]:
    """Integer sizes uniform on 20..100, capacity 150: the OR-Library class u (Falkenauer 1996)."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(UNIFORM_LOW, UNIFORM_HIGH + 1, (num_instances, num_items), dtype=np.int64)
    return [Instance(f"{prefix}_{i:03d}", row, UNIFORM_CAPACITY) for i, row in enumerate(sizes)]


def generate_split(name: str, split: Split, count: int, seed: int = 0) -> list[Instance]:
    """`count` instances of a named family; different splits never share a generator's seed."""
    family = FAMILIES.get(name)
    if family is None:
        raise ConfigError(f"problem.name={name}: unknown data set; allowed: {', '.join(FAMILIES)} or a file")
    draw = generate_weibull_dataset if family.kind == "weibull" else generate_uniform_dataset
    return draw(count, family.items, stream(seed, name, split), f"{name}_{split}")


def stream(seed: int, *path: str) -> int:
    """The generator's seed for one split of one data set."""
    text = "/".join([str(seed), *path])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


# ---------------------------------------------------------------- files

ORLIB_SMALL = ("binpack1", "binpack2", "binpack5", "binpack6")
ORLIB_LARGE = ("binpack3", "binpack4", "binpack7", "binpack8")


def load_orlib_dataset(folder: str | Path, names: Sequence[str] = (*ORLIB_SMALL, *ORLIB_LARGE)) -> list[Instance]:
    """Instances of the OR-Library files `binpack1.txt` … `binpack8.txt` in `folder` (160 if all eight are there)."""
    paths = [Path(folder) / f"{name}.txt" for name in sorted(names)]
    found = [path for path in paths if path.is_file()]
    if not found:
        raise ConfigError(f"'{folder}': none of {', '.join(p.name for p in paths)} is there")
    return [instance for path in found for instance in load_file(path)]


def load_orlib_small(folder: str | Path) -> list[Instance]:
    """binpack1, 2, 5 and 6: 120 or 250 items, triplets of 60 and 120."""
    return load_orlib_dataset(folder, ORLIB_SMALL)


def load_orlib_large(folder: str | Path) -> list[Instance]:
    """binpack3, 4, 7 and 8: 500 or 1000 items, triplets of 249 and 501."""
    return load_orlib_dataset(folder, ORLIB_LARGE)


def load_file(path: str | Path, key: str = "problem.name") -> list[Instance]:
    """An OR-Library or BPPLIB file, a CSV of `instance`, `capacity` and `size`, JSON `{name: {capacity, items, …}}`
    (or one level deeper, as FunSearch published) or a list of such; packed or not; or a folder of them.

    Sizes with decimals are scaled to integers. ConfigError: one line with `key`, by which the user gave the file, the
    file, the place and the value.
    """
    path = user_path(path)
    if not path.exists():
        raise ConfigError(
            f"{key}={path}: no such file; allowed: {', '.join(FAMILIES)}, or a file or folder of instances"
        )
    try:
        return scaled(written(path))
    except (ValueError, OSError) as error:
        raise ConfigError(f"{key}={path}: {unread(error)}") from error


def scaled(found: Sequence[Written]) -> list[Instance]:
    """The instances of a file, all multiplied by the power of ten that makes every number of it an integer.

    ValueError: that makes a capacity larger than MOST_UNITS.
    """
    numbers = (number for one in found for number in (one.capacity, *one.sizes))
    factor = 10 ** max((-int(number.normalize().as_tuple().exponent) for number in numbers), default=0)
    factor = max(1, factor)
    for one in found:
        if one.capacity * factor > MOST_UNITS:
            unit = (
                "" if factor == 1 else f" in units of {Decimal(1) / factor}, the last decimal of a number in the file"
            )
            raise ValueError(
                f"{one.name}: capacity {one.capacity}{unit}; at most {MOST_UNITS:,} units: round the sizes"
            )
    return [
        Instance(
            one.name,
            np.array([int(size * factor) for size in one.sizes], dtype=np.int64),
            int(one.capacity * factor),
            one.best,
        )
        for one in found
    ]


# ---------------------------------------------------------------- the measure


def excess_over_bound(used: Sequence[int], instances: Sequence[Instance]) -> float:
    """Fraction of bins used above the L1 lower bound, over a whole set: Σ used / Σ ceil(Σ sizes / capacity) − 1.

    0 is perfect, lower is better.

    Args:
        used: bins that hold at least one item, one count an instance.
        instances: item sizes in the instance's integer unit, in arrival order.

    Source: bound L1 of Martello & Toth 1990; the measure of Romera-Paredes et al. 2024.
    """
    return sum(used) / sum(instance.lower_bound for instance in instances) - 1


def excess_shares(used: Sequence[int], instances: Sequence[Instance]) -> tuple[float, ...]:
    """What each instance adds to the excess of the set: their mean is `excess_over_bound`."""
    mean_bound = sum(instance.lower_bound for instance in instances) / len(instances)
    return tuple(count / mean_bound - 1 for count in used)


def excess_interval(used: Sequence[int], instances: Sequence[Instance]) -> tuple[float, float] | None:
    """95 % interval of the excess over draws of the instances: percentile bootstrap, seeded, same for every rule.

    None where the draws do not differ, as with one instance: that says nothing of others.
    """
    count = np.asarray(used, dtype=float)
    bound = np.array([instance.lower_bound for instance in instances], dtype=float)
    picks = np.random.default_rng(0).integers(0, len(count), (_DRAWS, len(count)))
    excess = count[picks].sum(1) / bound[picks].sum(1) - 1
    low, high = np.percentile(excess, [2.5, 97.5])
    return proper_interval((float(low), float(high)))
