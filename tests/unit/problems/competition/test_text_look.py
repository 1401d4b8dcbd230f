"""Where the head of a text table stands."""

import pytest

from problems.competition.grader.tables.text_look import ESCAPED, QUOTED, decimal_mark, head_row, lines_above, quoting

BODY = ["id,size,street,rent", *(f"{i},{i * 2.5},Au,{i * 7}" for i in range(30))]
ABOVE = {
    "a title": ["Rents of Berlin"],
    "a title with a comma, and a blank line": ["Rents of Berlin, 2021", ""],
    "a title as a spreadsheet exports it": ["Rents,,,", ",,,"],
    "comments": ["# made by a, b, c, d, e", "# in May"],
    "a title that fills nearly all columns, and a blank line": ["Rents,Berlin,2021", ""],
    "many lines": ["Statistical office", "", "Rents", "Source: own survey", ""],
}


@pytest.mark.parametrize("case", ABOVE)
def test_lines_of_words_above_the_head_are_counted(case):
    assert lines_above([*ABOVE[case], *BODY]) == len(ABOVE[case])


@pytest.mark.parametrize("lines", [
    BODY, ["", "", *BODY], [], [""], ["Rents"], BODY[:3],
    [",a,b,c", *(f"r{i},x,y,z" for i in range(30))],
    ["value", *(f"r{i},red" for i in range(30))],
    ["x,y", *(f"{i},{i}" for i in range(30))],
    ["flat id,size,text", *(f"F{i},{i},big | red" for i in range(30))],
    ["Export,of,May", "1,,,", *BODY], ["Rents of Berlin", *BODY[1:]], ["Rents of Berlin", *BODY[:4]],
])  # fmt: skip
def test_a_table_that_begins_at_once_or_is_not_clear_is_left_as_it_is(lines):
    assert lines_above(lines) == 0


@pytest.mark.parametrize(("column", "other", "decimal"), [
    (["0,1257", "3,5", "10"], "x", ","), (["0,1257", "3,5", "10"], "1.5", "."), (["1,250", "2,300", "900"], "x", "."),
    (["1,250", "2,300", "12,100"], "x", "."), (["1,2,3", "3,5", "1"], "x", "."), (["1,250.5", "2,3"], "x", "."),
    (["-1,5", "+2,25", ""], "7", ","), (["a", "1,5"], "7", "."),
])  # fmt: skip
def test_decimal_commas_in_quotes_between_commas(column, other, decimal):
    lines = ["a,b", *(f'"{value}",{other}' for value in column)]
    assert decimal_mark(lines, ",") == decimal


def test_the_separator_of_the_table_counts_and_not_that_of_the_title():
    assert lines_above(["Umsatz, Mai", "", "Monat;Betrag", *(f"M{i};{i},5" for i in range(30))]) == 2


def test_rows_of_a_spreadsheet():
    rows = [["Rents", "", ""], ["", "", ""], ["flat", "size", "rent"], *([f"F{i}", "1", "2"] for i in range(9))]
    assert head_row(rows) == 2 and head_row(rows[2:]) == 0 and head_row([]) == 0


@pytest.mark.parametrize(("rows", "how"), [
    (["'a',1", "'b',2"], ""), (["'a, b',1", "'c',2"], QUOTED), (["'t Hof,1", "O'Neil,2"], ""),
    ([r'"say \"a, b\"",1', '"c",2'], ESCAPED), (['"say ""a, b""",1', '"c",2'], ""), (["a, b,1", "c,2"], ""), ([], ""),
])  # fmt: skip
def test_another_way_to_quote_is_one_where_rows_fit_the_head_in_that_way_alone(rows, how):
    assert quoting(["name,size", *rows], ",") == how
