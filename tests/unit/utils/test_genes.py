from __future__ import annotations

import ast

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from utils.genes import split_genes
from utils.syntax import source_lines

MARKED = """import os
# [SECTION: DATA]
data = 1
# [SECTION: Model]
model = data
  # [SECTION: PREDICT ]
print(model)
"""

PLAIN = """# reads the data
import pandas as pd
from sklearn.linear_model import Ridge

train = pd.read_csv("train.csv")
# a new feature
train["x2"] = train["x"] ** 2
model = Ridge(alpha=1.0); other = 1
model.fit(train[["x2"]], train["y"])
pred = model.predict(train[["x2"]])
pd.DataFrame({"y": pred}).to_csv("submission/submission.csv")
"""


def test_named_sections():
    genes = split_genes(MARKED)
    assert list(genes) == ["HEAD", "DATA", "MODEL", "PREDICT"]
    assert genes["MODEL"] == "# [SECTION: Model]\nmodel = data\n"
    assert list(split_genes(MARKED.replace("\n", "\r\n"))) == list(genes)


def test_sections_by_what_the_statements_do():
    genes = split_genes(PLAIN)
    assert list(genes) == ["DATA", "FEATURES", "MODEL", "TRAIN", "PREDICT"]
    assert "read_csv" in genes["DATA"] and "import pandas" in genes["DATA"]
    assert genes["FEATURES"] == '# a new feature\ntrain["x2"] = train["x"] ** 2\n'
    assert genes["MODEL"] == "model = Ridge(alpha=1.0); other = 1\n", "two statements on one line stay together"
    assert genes["TRAIN"].startswith("model.fit") and "to_csv" in genes["PREDICT"]


def test_what_tells_nothing_goes_with_what_stands_before():
    code = "import os\nSEED = 1\nimport sys\nrows = [1]\nn = 2\nmodel = Ridge()\nprint(n)\nmodel.fit(rows)\n"
    assert list(split_genes(code)) == ["DATA", "FEATURES", "MODEL", "TRAIN"]


def test_a_section_that_comes_back_is_another_one():
    assert list(split_genes(PLAIN + PLAIN))[5:7] == ["DATA 2", "FEATURES 2"]
    twice = "# [SECTION: DATA]\na = 1\n# [SECTION: DATA 2]\nb = 1\n# [SECTION: DATA]\nc = 1\n"
    assert list(split_genes(twice)) == ["DATA", "DATA 2", "DATA 3"]


@pytest.mark.parametrize(
    "code",
    [
        'x = """\n# [SECTION: DATA]\n"""\n# [SECTION: MODEL]\ny = 1\n',
        "def f():\n    x = 1\n    # [SECTION: DATA]\n    return x\n# [SECTION: MODEL]\ny = 1\n",
        "@f\n# [SECTION: DATA]\ndef g():\n    pass\n# [SECTION: MODEL]\ny = 1\n",
    ],
)
def test_a_marker_inside_of_a_statement_is_none(code):
    assert list(split_genes(code)) == ["HEAD", "MODEL"]


def test_what_does_not_parse_has_no_genes():
    assert split_genes("def (") == {} and split_genes("") == {} and split_genes("(" * 9999) == {}
    assert split_genes("# [SECTION: DATA]\ndef (") == {}
    assert split_genes("# nothing yet\n") == {"HEAD": "# nothing yet\n"}


ENDS = ("\n", "\r\n", "\r", "\f\n", "\\\n", "\\\r\n", " \\\n\n", "; ", "")
ODD = ("\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
"""What `str.splitlines` takes for the end of a line, and Python does not."""
PIECES = (
    "x = 1", "y = [\n1,\n2]", "z = '''\n# [SECTION: DATA]\n'''", "import os", "model = Ridge()", "model.fit(x)",
    "# note", "# [SECTION: DATA]", "  # [SECTION: Model 2 ]", "def f():\n  # [SECTION: IN]\n  return 2",
    "@f\n# [SECTION: IN]\nclass A:\n  x = 1", "if x:\n  pass\nelse:\n  y = 2", "pd.read_csv('a')", "p = m.predict(x)",
    "", *(f"s = 'a{odd}b'" for odd in ODD), *(f"# a{odd}b" for odd in ODD),
)  # fmt: skip
programs = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(ENDS)), max_size=8).map(
    lambda parts: "".join(text + end for text, end in parts)
)


def parses(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


@given(programs)
@example("s = 'a\x1cb\x1cc'\nmodel.fit(x)\ny = 2\n")
@example("x = 1\\\n\nmodel.fit(x)\n")
@example("x = 1\n\\\n# [SECTION: DATA]\ny = 2\n")
def test_cutting_is_lossless_and_never_in_the_middle(code):
    assume(parses(code))
    genes = split_genes(code)
    assert "".join(genes.values()) == code
    for text in genes.values():
        assert parses(text), repr(text)


@given(st.text(st.sampled_from(["a", " ", "\n", "\r", *ODD, "\\"]), max_size=12))
def test_lines_are_those_that_the_parser_counts(text):
    lines = source_lines(text, keepends=True)
    assert "".join(lines) == text
    body = ast.parse(f"'''{text.replace(chr(92), '')}'''\nx = 1").body
    assert len(source_lines(text.replace("\\", "") + "|")) == body[1].lineno - 1
