"""DataSet: the instances of one problem by split, and the probe that tells rules apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from problems.bin_packing.instances import FAMILIES, Instance, generate_split, load_file
from problems.instance_copies import without_copies
from problems.instance_text import instances_title
from utils.counts import counted
from utils.errors import ConfigError

CHEAP_ITEMS = 4_000
"""Items of the cheap look, about; the full score has ten times as many."""
PROBE_ITEMS = 400
TEST_INSTANCES = 100
SECOND_LOOK = 3
"""How many times as many further instances as there are for validation decide among the best at the end."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """What a run is scored on. No two splits share an instance."""

    name: str
    capacity: int
    train: list[Instance]
    validation: list[Instance]
    test: list[Instance]
    choice: list[Instance]
    """For the final choice alone; no step of the search has seen them. Empty for a file."""
    note: str = ""
    """What its user should know of it."""

    @property
    def probe(self) -> Instance:
        """The first items of the first train instance: of rules that pack them alike, the later waits."""
        first = self.train[0]
        return Instance("probe", first.sizes[:PROBE_ITEMS], first.capacity)

    @property
    def items(self) -> list[int]:
        """Sizes that occur, in ascending order."""
        import numpy as np

        parts = [
            instance.sizes for split in (self.train, self.validation, self.test, self.choice) for instance in split
        ]
        return [int(size) for size in np.unique(np.concatenate(parts))]


def build_data(
    name: str, *, seed: int = 0, validation: int | None = None, test: int = TEST_INSTANCES, key: str = "problem.name"
) -> DataSet:
    """The data set of that name, or of the file of that name.

    Args:
        seed: of the generators; the instances do not depend on the run's seed, so that runs can be compared.
        validation, test: how many instances; not for files.
        key: by which the user gave the name, for messages.
    """
    family = FAMILIES.get(name)
    if family is None:
        return _from_file(Path(name), key)
    train = max(2, -(-CHEAP_ITEMS // family.items))
    cheap = [_head(x, CHEAP_ITEMS // train) for x in generate_split(name, "train", train, seed)]
    valid = generate_split(name, "validation", validation or family.validation, seed)
    choice = generate_split(name, "choice", SECOND_LOOK * len(valid), seed)
    return DataSet(name, family.capacity, cheap, valid, generate_split(name, "test", test, seed), choice)


def _from_file(path: Path, key: str) -> DataSet:
    """Instances of a file in turns: the first of three is train, the second validation, the third test."""
    instances, copies = without_copies(load_file(path, key), lambda one: (one.capacity, one.sizes.tobytes()))
    if len(instances) < 3:
        left = f" ({copies})" if copies else ""
        raise ConfigError(f"{key}={path}: {counted(len(instances), 'instance')}; three splits need at least 3{left}")
    capacities = {instance.capacity for instance in instances}
    if len(capacities) > 1:
        raise ConfigError(f"{key}={path}: capacities {sorted(capacities)}; one file, one capacity")
    train = [_head(x, max(50, CHEAP_ITEMS * 3 // len(instances))) for x in instances[0::3]]
    return DataSet(instances_title(str(path)), capacities.pop(), train, instances[1::3], instances[2::3], [], copies)


def _head(instance: Instance, items: int) -> Instance:
    return Instance(instance.name, instance.sizes[:items], instance.capacity)


def describe(data: DataSet) -> dict[str, Any]:
    """Facts for prompts and previews."""
    import numpy as np

    sizes = np.concatenate([instance.sizes for instance in data.train])
    marks = [int(value) for value in np.percentile(sizes, [0, 10, 25, 50, 75, 90, 100])]
    return {
        "name": data.name,
        "capacity": data.capacity,
        "items": len(data.validation[0].sizes),
        "validation_instances": len(data.validation),
        "test_instances": f"{len(data.test)} of this kind that no step has seen; the program that is handed in is "
        "scored on them once, at the end",
        "size_percentiles_0_10_25_50_75_90_100": marks,
    }
