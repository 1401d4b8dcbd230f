"""Names of columns and files as lists tell them."""

from problems.competition.grader.tables.columns import MOST_LETTERS, listed


def test_a_long_name_keeps_its_end_which_tells_files_of_one_folder_apart():
    names = [f"book_train.parquet/stock_id={place}/c439ef22282f412ba39e9137a3fdabac.parquet" for place in range(3)]
    told = listed(names)
    assert all(len(name) <= MOST_LETTERS for name in told.split(", ")) and told.endswith("fdabac.parquet")
    assert "stock_id=0" in told and listed(["holidays.csv (has hardly any of the rows of your test at all)"])[-1] == ")"
    assert listed(["a", "b"]) == "a, b"
