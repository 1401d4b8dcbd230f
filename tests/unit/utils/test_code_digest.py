"""A file by its code: what may be written otherwise, and what may not."""

from __future__ import annotations

import pytest

from utils.code_digest import code_digest

PLAIN = b'def evaluate(path):\n    return {"score": len(path)}\n'


@pytest.mark.parametrize(
    "text",
    [
        b'# why\ndef evaluate(path):  # how\n\n    return {"score": len(path)}',
        b'"""Of the file."""\ndef evaluate(path):\n    """Of it."""\n    return {"score": len(path)}\n',
        b"\xef\xbb\xbfdef evaluate( path ) :\n  return {'score': (len(path))}\n",
    ],
)
def test_comments_docstrings_and_layout_do_nothing(text):
    assert code_digest(text) == code_digest(PLAIN) != ""


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace(b"len", b"sum"),
        PLAIN.replace(b"score", b"Score"),
        PLAIN + b"evaluate = None\n",
        PLAIN.replace(b"return", b"'a text'\n    'another'\n    return"),
    ],
)
def test_everything_else_does_something(text):
    assert code_digest(text) not in ("", code_digest(PLAIN))


@pytest.mark.parametrize(
    "text", [PLAIN + b"print(__doc__)\n", b"import inspect\ninspect.getsource(f)\n", b"def f(:\n", b"\xff"]
)
def test_where_the_text_itself_may_matter_nothing_is_said(text):
    assert code_digest(text) == ""
