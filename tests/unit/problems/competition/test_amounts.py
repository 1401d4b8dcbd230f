"""Numbers that are written for people."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.competition.grader.tables.amounts import amounts_in, told
from problems.competition.grader.tables.cell_forms import converted
from problems.competition.grader.tables.table_forms import plain
from problems.competition.grader.tables.text_look import decimal_mark


def form_of(cells, **known):
    return amounts_in(lambda: [pd.Series(cells, dtype="str")], **known)


@pytest.mark.parametrize(("cells", "numbers"), [
    (["$1,200", "$ 950", "-$3,000.50"], [1200, 950, -3000.5]),
    (["1.234,50 €", "12 €"], [1234.5, 12]),
    (["7.999,00", "2.336,50"], [7999, 2336.5]),
    (["-7.999,00", "12,5", "3"], [-7999, 12.5, 3]),
    (["4 551,00", "2 068,60"], [4551, 2068.6]),
    (["4'551.00", "2'068.60"], [4551, 2068.6]),
    (["1 234,5 kr", "3 kr."], [1234.5, 3]),
    (["1'234.50 CHF", "20.00 CHF"], [1234.5, 20]),
    (["EUR 3", "EUR 4,50"], [3, 4.5]),
    (["72 kg", "80.5kg"], [72, 80.5]),
    (["12 m2", "13 m2"], [12, 13]),
    (["12㎡", "13.5㎡"], [12, 13.5]),
    (["1,000+", "10+"], [1000, 10]),
    (["3 sq ft", "4 sq ft"], [3, 4]),
    (["5%", "6.5 %"], [5, 6.5]),
    (["1 day", "3 days"], [1, 3]),
    (["1,234", "950"], [1234, 950]),
    (["12 345", "980"], [12345, 980]),
    (["1\u202f234,5", "74\u202f340,0"], [1234.5, 74340]),
    (["0,500 kg", "2,250 kg"], [0.5, 2.25]),
    (["\u22125 °C", "3 °C"], [-5, 3]),
    (["12:30", "09:05"], [750, 545]),
    (["59:59", "1:00:05.5"], [3599, 3605.5]),
    (["0 days 03:00:01", "-1 days +23:00:00", "2 days, 1:00:00"], [10801, -3600, 176400]),
    (["-0:30", "\u22121:10", "+2:00"], [-30, -70, 120]),
    (["1.234 €", "980 €", "12.500 €"], [1234, 980, 12500]),
    (["€1.459", "€2", "€1.5"], [1.459, 2, 1.5]),
    (["1.250 kg", "0.500 kg", "3 kg"], [1.25, 0.5, 3]),
    (["(46.54)", "12.3", "1,234"], [-46.54, 12.3, 1234]),
    (["($1,234.50)", "$ 12", "$(3)", "$( 4.5 )"], [-1234.5, 12, -3, -4.5]),
    (["(3 kg)", "4 kg"], [-3, 4]),
    (["1:05 PM", "12:00 a.m.", "12:30pm", "9:15 AM", "23:10"], [785, 0, 750, 555, 1390]),
    (["1:05:30 PM", "01:00:00 AM"], [47130, 3600]),
])  # fmt: skip
def test_a_column_of_one_form_is_numbers(cells, numbers):
    form = form_of([*cells, None])
    assert form.read(pd.Series(cells)).tolist() == numbers
    assert converted(pd.DataFrame({"x": [*cells, None]}), {"x": form})["x"].isna().tolist() == [False] * len(cells) + [
        True
    ]


@pytest.mark.parametrize("cells", [
    ["5 kg", "5 lb"], ["$1", "€1"], ["5 kg", "5"], ["F1", "F22"], ["SKU 1", "SKU 2"], ["12A", "13B"], ["1,2", "3,4"],
    ["1,2", "30,4"], ["123 456", "789 012"], ["1.234", "5.678,9,1"], ["110 00", "7 100"],
    ["007 kg", "8 kg"], ["10.1.2.3"], ["2021-03"], ["1st", "2nd"], ["3 Feb 2021"], ["5-10 kg"],
    ["5M", "3"], ["2 Cr", "3"], ["1,23,456 INR"], ["abc"], [""], [None], [], ["1,500.5 kg", "1.500,5 kg"],
    ["(1)", "(2)"], ["(1)", "a"], ["(-3)", "4"], ["(3", "4"], ["()", "4"], ["f(3)", "4"], ["((3))", "4"],
    ["13:05 PM", "1:05 PM"], ["0:05 AM"], ["-1:05 PM"],
    ["12:30", "noon"], ["16:9"], ["81:117:1"], ["3", "3:00"], ["2 days 3:00"],
])  # fmt: skip
def test_codes_dates_and_mixed_forms_stay_text(cells):
    assert form_of(cells) is None


@pytest.mark.parametrize(("cells", "numbers"), [
    (["8.259", "409"], [8259, 409]),
    (["8.259", "9.001"], [8259, 9001]),
    (["1.234,5", "7"], [1234.5, 7]),
    (["8.25", "9.5"], [8.25, 9.5]),
    (["$1,234.50", "$7"], [1234.5, 7]),
])  # fmt: skip
def test_points_stand_between_thousands_in_a_text_with_commas_before_fractions(cells, numbers):
    assert form_of(cells, decimal=",").read(pd.Series(cells)).tolist() == numbers


@pytest.mark.parametrize(("values", "mark"), [
    (["12,345", "987", "1,002"], "."),
    (["-12,345", "987", "0"], "."),
    (["1,234,567", "987"], "."),
    (["12,345", "987", "1,5"], ","),
    (["12,345", "987", "0,002"], ","),
    (["12,345", "98700"], ","),
    (["1,234", "5,678"], ","),
    (["1.200", "980", "9.001", "12.500"], ","),
    (["1.200", "980", "9.001", "12.500", "0.5"], "."),
    (["1.125", "3", "2.375", "7.625", "4.25"], "."),
    (["1.200", "980"], "."),
    (["1.200", "9.001", "12.500", "14.000"], "."),
])  # fmt: skip
def test_commas_between_thousands_are_no_decimal_commas(values, mark):
    assert decimal_mark(["id;price", *(f"{number};{value}" for number, value in enumerate(values))], ";") == mark


def test_a_test_of_few_rows_may_hold_no_mark_between_thousands():
    few = pd.Series([409, 12, None])
    assert form_of(["1,234", "950"]).read(few).tolist()[:2] == [409, 12]
    assert form_of(["$1,234", "$950"]).read(few) is None and form_of(["12:30", "1:00"]).read(few) is None


def test_a_column_that_holds_numbers_for_sure_may_have_any_style():
    assert form_of(["79117,73", "3,5"], are_numbers=True).read(pd.Series(["3,5"])).tolist() == [3.5]
    assert form_of(["123 456", "789 012"], are_numbers=True).style == "1 234.5"
    assert form_of(["1,2", "3;4"], are_numbers=True) is None


@pytest.mark.parametrize(("cells", "numbers", "missing"), [
    (["?", "3", "-1.5", ".5", "2.", "1e-05"], [None, 3, -1.5, 0.5, 2, 1e-05], ("?",)),
    (["k.A.", "1.234,50 €", " - ", "12 €"], [None, 1234.5, None, 12], ("-", "k.A.")),
    (["Missing", "Not  Available", "1,200", "3"], [None, None, 1200, 3], ("Missing", "Not  Available")),
    (["29.85", " ", "1889.5"], [29.85, None, 1889.5], ("",)),
    (["12:30", "—"], [750, None], ("—",)),
])  # fmt: skip
def test_words_for_missing_values_leave_a_column_of_numbers(cells, numbers, missing):
    form = form_of(cells)
    assert form.missing == missing and form.also(pd.Series(["不明", "3"])).missing == tuple(sorted({*missing, "不明"}))
    found = form.read(pd.Series(cells))
    assert found.astype(object).where(found.notna(), None).tolist() == numbers


@pytest.mark.parametrize("cells", [
    ["?", "free", "3"], ["?", "007"], ["?", "1234567890123456789"], ["?", "-"], ["3", "unknown", "A4"],
])  # fmt: skip
def test_a_word_with_a_meaning_of_its_own_and_codes_stay_text(cells):
    assert form_of(cells) is None


def test_numbers_of_a_spreadsheet_amid_words_are_numbers():
    form = amounts_in(lambda: [pd.Series([1.5, "n.a.", 3, "4"], dtype=object)])
    assert form.read(pd.Series([1.5, "n.a.", 3, "4"], dtype=object)).tolist()[2:] == [3, 4]
    assert amounts_in(lambda: [pd.Series([True, "n.a."], dtype=object)]) is None


@pytest.mark.parametrize(("cells", "numbers"), [
    (["€110.5M", "€565K", "€0"], [110.5e6, 565e3, 0]),
    (["1.2k", "3M"], [1200, 3e6]),
    (["980", "1.2K", "2 millions"], [980, 1200, 2e6]),
    (["1.2万", "3亿"], [12000, 3e8]),
    (["5 k", "7 k"], [5, 7]),
])  # fmt: skip
def test_units_that_say_how_many_count_where_there_are_several(cells, numbers):
    assert form_of(cells).read(pd.Series(cells)).tolist() == numbers


def test_words_for_missing_values_are_told():
    forms = {"a": form_of(["?", " ", "3"]), "b": form_of(["$3", "tbd"])}
    assert told(forms, 5) == [
        "amounts are read as numbers: b ('$3' as 3)", "missing among numbers are: a (blanks, '?'), b ('tbd')"
    ]  # fmt: skip


def test_a_form_that_another_table_lacks_converts_nothing_of_it():
    form = form_of(["5 kg", "6 kg"])
    assert form.read(pd.Series(["7 kg", "heavy"])) is None
    assert told({"weight": form}, 5) == ["amounts are read as numbers: weight ('5 kg' as 5)"] and told({}, 5) == []


WAYS = {
    "${:,.2f}": lambda text: text,
    "{:,.2f} €": lambda text: text.translate(str.maketrans(",.", ".,")),
    "{:,.2f} kr": lambda text: text.replace(",", "\u00a0").replace(".", ","),
    "{:.2f} kg": lambda text: text,
}


@given(st.lists(st.integers(0, 10**9), min_size=1), st.sampled_from(list(WAYS)))
def test_whatever_is_written_with_two_places_is_read_back(cents, way):
    cells = [WAYS[way](way.format(cent / 100)) for cent in cents]
    assert form_of(cells).read(pd.Series(cells)).tolist() == [cent / 100 for cent in cents]


def test_a_label_is_the_same_with_and_without_its_unit_where_a_leak_is_looked_for():
    assert plain("$1,200") == plain("1200.0 ") == plain(1200) and plain("1,200") == "1200"
    assert plain("Red") == "red" and plain("F12") == "f12"
