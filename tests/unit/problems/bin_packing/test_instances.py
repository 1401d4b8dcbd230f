import json

import numpy as np
import pytest

from problems.bin_packing.data import build_data
from problems.bin_packing.instances import (
    FAMILIES,
    Instance,
    excess_interval,
    excess_over_bound,
    excess_shares,
    generate_split,
    generate_uniform_dataset,
    generate_weibull_dataset,
    load_file,
    load_orlib_dataset,
    load_orlib_large,
    load_orlib_small,
)
from utils.errors import ConfigError

ORLIB = " 2\n u4_00\n 150 4 3\n 60\n100\n 20\n 70\n u4_01\n 150.0 4 2\n 20.0\n 20\n 20\n 20\n"


def test_weibull_sizes_are_whole_clipped_and_of_the_right_mean():
    (one,) = generate_weibull_dataset(1, 50_000, seed=1)
    assert one.capacity == 100
    assert one.sizes.min() >= 1 and one.sizes.max() <= 100
    assert one.sizes.dtype == np.int64
    assert abs(one.sizes.mean() - 45 * 0.89298) < 0.3  # scale times Γ(1 + 1/3)


def test_uniform_sizes_cover_20_to_100():
    (one,) = generate_uniform_dataset(1, 20_000, seed=1)
    assert (one.sizes.min(), one.sizes.max(), one.capacity) == (20, 100, 150)


def test_splits_share_no_instance_and_repeat():
    splits = {name: generate_split("u120", name, 5) for name in ("train", "validation", "test")}
    texts = {one.sizes.tobytes() for split in splits.values() for one in split}
    assert len(texts) == 15
    assert np.array_equal(splits["test"][3].sizes, generate_split("u120", "test", 5)[3].sizes)
    assert not np.array_equal(splits["test"][0].sizes, generate_split("u120", "test", 5, seed=1)[0].sizes)


@pytest.mark.parametrize("name", ["u120", "weibull_1k"])
def test_a_data_set_has_three_splits_and_a_probe(name):
    data = build_data(name, test=7)
    assert len(data.test) == 7
    assert len(data.validation) == FAMILIES[name].validation
    assert len(data.probe.sizes) <= 400
    assert set(data.items) <= set(range(1, data.capacity + 1))


def test_loader_accepts_blanks_and_decimals(tmp_path):
    (tmp_path / "binpack1.txt").write_text(ORLIB)
    first, second = load_file(tmp_path / "binpack1.txt")
    assert (first.name, first.capacity, first.sizes.tolist()) == ("u4_00", 150, [60, 100, 20, 70])
    assert (second.capacity, second.lower_bound) == (150, 1)


def test_sizes_with_decimals_are_scaled_to_whole_numbers(tmp_path):
    (tmp_path / "binpack5.txt").write_text("1\nt3_00\n100.0 3 2\n33.3\n49.9\n25.0\n")
    (one,) = load_file(tmp_path / "binpack5.txt")
    assert (one.capacity, one.sizes.tolist()) == (1000, [333, 499, 250])


def test_folder_loaders_take_what_is_there(tmp_path):
    (tmp_path / "binpack1.txt").write_text(ORLIB)
    (tmp_path / "binpack3.txt").write_text(ORLIB)
    assert len(load_orlib_dataset(tmp_path)) == 4
    assert len(load_orlib_small(tmp_path)) == len(load_orlib_large(tmp_path)) == 2
    with pytest.raises(ConfigError, match=r"binpack7\.txt"):
        load_orlib_dataset(tmp_path, ["binpack7"])


def test_json_may_be_nested_as_published(tmp_path):
    inner = {"a": {"capacity": 10, "num_items": 2, "items": [4, 7]}}
    for number, data in enumerate((inner, {"Set": {**inner, "b": inner["a"]}})):
        (tmp_path / f"{number}.json").write_text(json.dumps(data))
    assert [len(load_file(tmp_path / f"{n}.json")) for n in (0, 1)] == [1, 2]


@pytest.mark.parametrize("text", ["2\nu\n150 3 1\n5\n", "x", "", "1\nu\n10 1 1\n11\n", "1\nu\n10 1 1\n0\n"])
def test_a_broken_file_is_a_config_error(tmp_path, text):
    (tmp_path / "broken.txt").write_text(text)
    with pytest.raises(ConfigError, match=r"broken\.txt"):
        load_file(tmp_path / "broken.txt")


def test_a_file_is_split_in_turns(tmp_path):
    (tmp_path / "six.txt").write_text("6\n" + "".join(f"i{n}\n10 1 1\n{n + 1}\n" for n in range(6)))
    data = build_data(str(tmp_path / "six.txt"))
    assert [[int(one.sizes[0]) for one in split] for split in (data.train, data.validation, data.test)] == [
        [1, 4], [2, 5], [3, 6],
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=r"unknown data set|no such file"):
        build_data("u17")


def test_what_each_instance_adds_has_the_excess_as_its_mean():
    instances = [Instance("a", np.array([5, 5, 5]), 10), Instance("b", np.array([10] * 8), 10)]
    assert np.mean(excess_shares([3, 9], instances)) == pytest.approx(excess_over_bound([3, 9], instances))


def test_the_measure_is_over_the_whole_set():
    instances = [Instance("a", np.array([5, 5, 5]), 10), Instance("b", np.array([10] * 8), 10)]
    assert excess_over_bound([2, 8], instances) == 0
    assert excess_over_bound([3, 8], instances) == pytest.approx(0.1)
    low, high = excess_interval([3, 8], instances)
    assert low <= 0.1 <= high
    assert excess_interval([3], instances[:1]) is None, "one instance says nothing of others"
