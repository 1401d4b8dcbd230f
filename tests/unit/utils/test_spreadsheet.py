import pytest

from utils.spreadsheet import inert


@pytest.mark.parametrize("cell", ["=1", "+A1", "-A1", "@SUM(1)", "\t=1", "\r=1", "-", "+", "-1_000", "-1 2", "--1"])
def test_what_a_spreadsheet_would_run_begins_with_an_apostrophe(cell):
    assert inert(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "a", "-1", "+1.5", "-1e-9", "-.5", "3.", "1=2", " ", -1, 2.5, None, True])
def test_numbers_and_other_texts_stay(cell):
    assert inert(cell) == cell
