from __future__ import annotations

import pytest

from utils.number_text import told_apart


@pytest.mark.parametrize(
    ("value", "others", "told"),
    [
        (1.5052939684, (), "1.505294"),
        (1.5052939684, (1.6,), "1.505294"),
        (1.5052939684, (1.5052939712,), "1.505293968"),
        (1.5052939712, (1.5052939684, None), "1.505293971"),
        (2.635983084917, (2.635983084918,), "2.635983"),  # rounding is no other number
        (3.0, (3.0,), "3"),
        (-0.0, (0.0,), "-0"),
    ],
)
def test_a_number_has_so_many_digits_that_another_one_does_not_read_the_same(value, others, told):
    assert told_apart(value, *others) == told
