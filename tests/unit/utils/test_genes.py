from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from utils.genes import SECTIONS, combine_genes, has_sections, join_genes, split_genes

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
    assert has_sections(MARKED) and not has_sections(PLAIN)
    genes = split_genes(MARKED)
    assert list(genes) == ["HEAD", "DATA", "MODEL", "PREDICT"]
    assert genes["MODEL"] == "model = data"


def test_sections_by_what_the_statements_do():
    genes = split_genes(PLAIN)
    assert list(genes) == list(SECTIONS)
    assert "read_csv" in genes["DATA"] and "import pandas" in genes["DATA"]
    assert genes["FEATURES"] == '# a new feature\ntrain["x2"] = train["x"] ** 2'
    assert genes["MODEL"] == "model = Ridge(alpha=1.0); other = 1", "two statements on one line stay together"
    assert genes["TRAIN"].startswith("model.fit") and "to_csv" in genes["PREDICT"]


def test_nothing_of_the_program_is_lost_or_doubled_by_the_ast_split():
    lines = sorted(line for text in split_genes(PLAIN).values() for line in text.splitlines() if line)
    assert lines == sorted(line for line in PLAIN.splitlines() if line)


def test_what_neither_parses_nor_names_sections_has_no_genes():
    assert split_genes("def (") == {} and split_genes("") == {} and split_genes("(" * 9999) == {}


def test_merging_two_parents():
    other = MARKED.replace("model = data", "model = data * 2")
    child = combine_genes(split_genes(MARKED), split_genes(other), {"MODEL", "TRAIN"})
    code = join_genes(child)
    ast.parse(code)
    assert "model = data * 2" in code and "TRAIN" not in code and code.startswith("import os")


names = st.lists(st.sampled_from([*SECTIONS, "EXTRA"]), unique=True, min_size=1)
bodies = st.lists(st.sampled_from(["x = 1", "", "# note", "def f():\n    return 2", "    indented"]), min_size=1)


@given(names, st.data())
def test_joining_and_splitting_are_inverse(sections, data):
    genes = {name: "\n".join(data.draw(bodies)).strip("\n") for name in sections}
    assert split_genes(join_genes(genes)) == genes
