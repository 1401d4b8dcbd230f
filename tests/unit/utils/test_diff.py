"""SEARCH/REPLACE blocks as models write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.diff import Change, DiffError, apply_diff, has_blocks, parse_diff

CODE = "def f(x):\n    a = 1\n    b = 2\n\n    return a + b\n"


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def test_blocks_are_applied_in_order():
    reply = (
        "Plan.\n\n" + block("    a = 1\n", "    a = 10\n") + "and\n" + block("    return a + b\n", "    return a * b\n")
    )
    assert apply_diff(CODE, parse_diff(reply)) == "def f(x):\n    a = 10\n    b = 2\n\n    return a * b\n"


def test_later_blocks_see_earlier_changes():
    changes = parse_diff(block("    a = 1\n", "    c = 3\n") + block("    c = 3\n    b = 2\n", ""))
    assert apply_diff(CODE, changes) == "def f(x):\n\n    return a + b\n"


def test_trailing_blanks_and_lacking_indentation_are_forgiven():
    changes = parse_diff(block("a = 1   \nb = 2\n", "a = 5\nif a:\n    b = 6\n"))
    assert apply_diff(CODE, changes) == "def f(x):\n    a = 5\n    if a:\n        b = 6\n\n    return a + b\n"


def test_blank_lines_behind_what_is_to_be_found_are_forgiven():
    assert apply_diff(CODE, parse_diff(block("    a = 1\n\n\n", "    a = 5\n"))) == CODE.replace("a = 1", "a = 5")
    spaced = CODE.replace("    b = 2\n", "\n    b = 2\n")
    assert apply_diff(spaced, parse_diff(block("    a = 1\n\n", "    a = 5\n"))) == CODE.replace("a = 1", "a = 5")


def test_an_empty_search_inserts_at_the_top():
    assert apply_diff(CODE, parse_diff(block("", "import math\n"))).startswith("import math\ndef f")


@pytest.mark.parametrize("begin", ["<<<<<<<SEARCH", "<<<<<<< SEARCH:", "<<<<<<< Search"])
def test_marks_that_differ_by_a_blank_a_colon_or_their_case_are_marks(begin):
    """Such a reply was taken for one without any program: paid for, and not even asked for again."""
    reply = block("    a = 1\n", "    a = 7\n").replace("<<<<<<< SEARCH", begin).replace("> REPLACE", ">Replace")
    assert "a = 7" in apply_diff(CODE, parse_diff(reply))


def test_what_is_not_there_is_named():
    with pytest.raises(DiffError, match=r"block 2.*c = 9"):
        apply_diff(CODE, parse_diff(block("    a = 1\n", "    a = 2\n") + block("    c = 9\n", "")))


def test_all_blocks_that_do_not_fit_are_named_at_once():
    """A reply of five wrong blocks came back five times, and was given up before."""
    lost = [block(f"    lost{number}\n", "") for number in range(9)]
    with pytest.raises(DiffError) as told:
        apply_diff(CODE, parse_diff(lost[0] + block("    a = 1\n", "    a = 2\n") + "".join(lost[1:])))
    assert "block 1: the program has no line 'lost0'" in str(told.value) and "; block 3: " in str(told.value)
    assert "block 2" not in str(told.value) and str(told.value).endswith("; and 3 more do not fit")


@pytest.mark.parametrize("reply", ["", "no blocks", "```python\nx = 1\n```", "=======\nx\n>>>>>>> REPLACE\n"])
def test_no_blocks_no_changes(reply):
    assert parse_diff(reply) == []


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        ("<<<<<<< SEARCH\n    b = 2\n", "block 2 (from 'b = 2' on) has no line `=======` at the end of the reply"),
        ("<<<<<<< SEARCH\n    b = 2\n=======\n    b =", "block 2 (from 'b = 2' on) has no line `>>>>>>> REPLACE`"),
        ("<<<<<<< SEARCH\nb\n=======\nc\n```\n" + block("d\n", "e\n"), "`>>>>>>> REPLACE` before the next one begins"),
        ("<<<<<<< SEARCH\nb\n" + block("d\n", "e\n"), "block 2 (from 'b' on) has no line `=======` before the next"),
    ],
)
def test_a_block_without_its_end_is_told_and_nothing_is_applied(cut, said):
    reply = block("    a = 1\n", "    a = 10\n") + cut
    with pytest.raises(DiffError) as refused:
        parse_diff(reply)
    assert said in str(refused.value) and str(refused.value).endswith("no block was applied")
    assert has_blocks(reply)


HEADED = '"""\nTitle\n=====\n\nExample\n=======\none\n\nOthers\n======\ntwo\n"""\n'


@pytest.mark.parametrize(
    ("search", "replace", "then"),
    [
        ("Title\n=====\n", "Titles\n======\n", HEADED.replace("Title\n=====", "Titles\n======")),
        ("Example\n=======\none\n", "Example\n=======\n1\n", HEADED.replace("one", "1")),
        ("Example\n=======\n", "", HEADED.replace("Example\n=======\n", "")),
        ("=======\none\n\nOthers\n======\n", "---\n", HEADED.replace("=======\none\n\nOthers\n======", "---")),
        ("one\n", "one\n\nAnother\n=======\n", HEADED.replace("one\n", "one\n\nAnother\n=======\n")),
    ],
)
def test_a_heading_that_is_underlined_is_changed_like_any_line(search, replace, then):
    assert apply_diff(HEADED, parse_diff(block(search, replace))) == then


@pytest.mark.parametrize("search", ["Example\n=======\n1\n", "Example\n======\none\n"])
def test_a_heading_that_does_not_fit_is_told_and_nothing_is_put_elsewhere(search):
    with pytest.raises(DiffError, match=r"block 1: the program has no line '(1|Example)'|do not follow each other"):
        apply_diff(HEADED, parse_diff(block(search, "")))


def test_marks_of_any_length_are_read_where_the_program_has_no_such_lines():
    reply = "<<<<<<<< SEARCH\n    a = 1\n======\n    a = 2\n>>>>> REPLACE\n"
    assert apply_diff(CODE, parse_diff(reply)) == CODE.replace("a = 1", "a = 2")


text = st.text(alphabet="abc =()", min_size=1, max_size=8) | st.sampled_from(["=====", "========="])
text = text.filter(lambda line: line.rstrip() != "=======")
lines = st.lists(text, min_size=1, max_size=8)
headed = st.lists(text | st.just("======="), min_size=1, max_size=8)


@given(headed, st.integers(0, 7), st.integers(1, 3), lines)
def test_replacing_lines_that_are_there_always_fits(code, start, count, new):
    start = min(start, len(code) - 1)
    search = code[start : start + count]
    if not any(line.strip() for line in search):
        return
    reply = block("".join(f"{line}\n" for line in search), "".join(f"{line}\n" for line in new))
    result = apply_diff("\n".join(code) + "\n", parse_diff(reply)).splitlines()
    assert len(result) == len(code) + len(new) - len(search) + (0 if search[0].strip() else _leading_blank(search))
    assert "\n".join(line.strip() for line in new) in "\n".join(line.strip() for line in result)


def _leading_blank(search: list[str]) -> int:
    """Blank lines at the head of a search are not looked for, so they stay."""
    return next(i for i, line in enumerate(search) if line.strip())


@pytest.mark.parametrize("odd", ["\f", "\x1c", "\x85", "\u2028"])
def test_a_change_elsewhere_breaks_no_string_with_a_rare_separator(odd):
    code = f"sep = 'a{odd}b'\nx = 1\n"
    assert apply_diff(code, parse_diff(block("x = 1\n", "x = 2\n"))) == f"sep = 'a{odd}b'\nx = 2\n"


@pytest.mark.parametrize(
    ("search", "told"),
    [
        ("deadline=begin + 46)", "the nearest is 'result = f(x, deadline=begin + 46)'"),
        ("for  i in range(3):  # go", "the nearest is 'for i in range(3):    # go'"),
        ("return result\nfor i in range(3):    # go", "do not follow each other"),
    ],
)
def test_a_block_that_does_not_fit_is_told_what_stands_there(search, told):
    code = "for i in range(3):    # go\n    result = f(x, deadline=begin + 46)\n    return result\n"
    with pytest.raises(DiffError) as refused:
        apply_diff(code, [Change(search + "\n", "pass\n")])
    assert told in str(refused.value)
