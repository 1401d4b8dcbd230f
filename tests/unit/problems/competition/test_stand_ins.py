"""What stands in for `mlebench.metrics` and for packages that single competitions need."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.competition.grader.mlebench import metrics, shim
from problems.competition.grader.mlebench.stand_ins import distance, get_ids_from_tf_records

WORDS = st.text("abc", max_size=6)


@pytest.mark.parametrize(("one", "other", "edits"), [("kitten", "sitting", 3), ("", "abc", 3), ("flaw", "lawn", 2)])
def test_known_distances(one, other, edits):
    assert distance(one, other) == edits


@given(WORDS, WORDS, WORDS)
def test_distance_is_a_metric(a, b, c):
    assert (distance(a, b) == 0) == (a == b) and distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)


def test_ranked_guesses():
    assert metrics.average_precision_at_k({1, 2}, [1, 3, 2], 3) == pytest.approx((1 + 2 / 3) / 2)
    assert metrics.average_precision_at_k({1}, [1, 1, 1], 3) == 1.0
    assert metrics.average_precision_at_k(set(), [1], 3) == 0
    assert metrics.mean_average_precision_at_k([{1}, {2}], [[1], [1, 2]], 1) == 0.5
    with pytest.raises(ValueError, match="shorter"):  # else the mean of the cases that it knows is its score
        metrics.mean_average_precision_at_k([{1}, {2}], [[1]], 1)


def test_masks():
    one, half, none = np.array([[1, 1]]), np.array([[1, 0]]), np.array([[0, 0]])
    assert metrics.dice_coefficient(half, one) == pytest.approx(2 / 3)
    assert np.isnan(metrics.dice_coefficient(none, none)) and metrics.dice_coefficient(none, none, 1.0) == 1.0


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


def record(name):
    feature = field(1, b"image_name") + field(2, field(1, field(1, name)))
    number = field(1, b"width") + field(2, field(3, field(1, b"\x07")))
    example = field(1, field(1, number) + field(1, feature))
    return struct.pack("<Q", len(example)) + b"crc1" + example + b"crc2"


def test_ids_of_a_tfrecord_file(tmp_path):
    (tmp_path / "x.tfrec").write_bytes(record(b"ISIC_1") + record(b"ISIC_22"))
    assert get_ids_from_tf_records(tmp_path / "x.tfrec") == ["ISIC_1", "ISIC_22"]


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "some-competition"
    found.mkdir()
    known = set(sys.modules)
    yield found
    for name in set(sys.modules) - known:
        if name.startswith(("absent_package", "Levenshtein")):
            del sys.modules[name]


def test_a_package_that_is_not_needed_for_the_score_may_be_missing(folder):
    (folder / "grade.py").write_text(
        "from absent_package.deep import Reader\nimport absent_package.other as other\n"
        "def old(file: Reader) -> 'Reader': return other.parse(file)\n"
        "def grade(submission, answers): return 0.5\n"
    )
    assert shim.import_function(folder, "x.grade:grade")(None, None) == 0.5
    with pytest.raises(ImportError, match="this competition needs the package absent_package, which is not installed"):
        shim.import_function(folder, "x.grade:old")(None)


def test_a_module_of_mlebench_that_is_not_known_is_no_missing_package(folder):
    (folder / "grade.py").write_text("import mlebench.unknown_part\n")
    with pytest.raises(ModuleNotFoundError, match="unknown_part"):
        shim.import_function(folder, "x.grade:grade")
