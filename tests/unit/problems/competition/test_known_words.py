"""Words of long texts that name hidden rows: found at once as they are one by one, and what their lines say is told."""

import io
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.competition.grader.leaks import contents, known_words, named_lines
from problems.competition.grader.leaks.belongings import Left, copy_rest, may_tell
from problems.competition.grader.leaks.hidden_labels import HiddenLabels
from problems.competition.grader.leaks.known_words import KnownWords
from problems.competition.grader.leaks.named_lines import SPLITS, WAYS

TEXTS = st.text(st.sampled_from('ab1.-_ ,;|:="<>(){}[]\t\n\u00a0\u2003ä漢'), max_size=60)
DRAW = np.random.default_rng(5)
ROWS, LINES = 3000, 12_000
TABLE = pd.DataFrame({"id": DRAW.permutation(10**6)[:ROWS] + 10**6, "y": DRAW.integers(0, 2, ROWS)})
TABLE["amount"] = np.round(DRAW.gamma(2, 3000, ROWS), 2)
HIDDEN = DRAW.random(ROWS) < 0.3


@given(TEXTS, st.lists(TEXTS, max_size=6), st.integers(1, 8))
def test_known_words_are_found_at_once_as_they_are_one_by_one(text, words, block):
    rows = {word.strip(): place for place, word in enumerate([*words, *SPLITS[0].split(text)[:3]]) if word.strip()}
    before, known_words.BLOCK = known_words.BLOCK, block
    try:
        at_once = KnownWords(rows).found(text, WAYS)
    finally:
        known_words.BLOCK = before
    for found, split in zip(at_once, SPLITS, strict=True):
        one_by_one = KnownWords(rows).found_in_short(text, split)
        assert found.words == one_by_one.words
        assert found.places.tolist() == one_by_one.places.tolist()
        assert [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)] == [
            text[a:b] for a, b in zip(one_by_one.starts, one_by_one.ends, strict=True)
        ]


def payments(told: bool, target: str = "y") -> pd.DataFrame:
    """Rows of a long table, many for each of ours; `told`: one of its columns is the label in other words."""
    at = DRAW.integers(0, ROWS, LINES)
    rows = pd.DataFrame({"payment": np.arange(LINES) + 5 * 10**7, "of": TABLE["id"].to_numpy()[at]})
    for number in range(4):
        rows[f"n{number}"] = np.round(DRAW.gamma(2, 3000, LINES), 2)
    values = TABLE[target].to_numpy()[at]
    return rows.assign(said=np.where(values > 0, "late", "paid") if target == "y" else values) if told else rows


FORMS = {
    "CSV": lambda rows: rows.to_csv(index=False),
    "CSV with quoted lines": lambda rows: rows.assign(a='x "y"\nz').to_csv(index=False),
    "JSON lines": lambda rows: rows.to_json(orient="records", lines=True),
    "JSON over several lines": lambda rows: rows.to_json(orient="records", indent=1),
    "HTML": lambda rows: rows.head(2000).to_html(),
    "lying": lambda rows: rows.T.to_csv(),
}


@pytest.mark.parametrize("target", ["y", "amount"])
@pytest.mark.parametrize("form", FORMS)
def test_long_tables_of_which_not_all_lines_are_compared_tell_and_are_silent(form, target):
    labels = HiddenLabels.of(TABLE[["id", target]], HIDDEN, [target])
    told, silent = (FORMS[form](payments(told, target)).encode() for told in (True, False))
    assert may_tell(io.BytesIO(told), labels)
    assert not may_tell(io.BytesIO(silent), labels)


def test_how_many_lines_were_compared_is_told(tmp_path):
    labels = HiddenLabels.of(TABLE[["id", "y"]], HIDDEN, ["y"])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "payments.csv").write_text(payments(False).to_csv(index=False))
    (note,) = copy_rest(tmp_path / "mine", tmp_path / "public", lambda: labels, set()).notes()
    assert f"in long ones in {named_lines.MOST_OF_PLACE} of the {labels.looked.named} lines" in note
    assert 3000 < labels.looked.named < 4500 and Left().notes() == []


def test_a_long_table_is_looked_into_quickly(tmp_path):
    labels = HiddenLabels.of(TABLE, HIDDEN, ["y"])
    text, said = pd.concat([payments(False)] * 8).to_csv(index=False).encode(), []
    begin = time.process_time()
    assert not may_tell(io.BytesIO(text), labels, lambda: said.append(1))
    assert time.process_time() - begin < len(text) / 1e6 * 1.2 and said, "0.3 s a megabyte where nothing else runs"


def test_tables_that_are_no_text_are_written_out_in_pieces(monkeypatch):
    monkeypatch.setattr(contents, "PIECE", 30_000)
    rows = payments(False)
    written = [*contents._written(rows)]
    assert len(written) > 20 and max(map(len, written)) < 60_000
    assert "".join(written) == rows.to_csv(index=False)
