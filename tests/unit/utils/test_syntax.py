from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.static_check import syntax_refusal
from core.state.failure import FailureKind
from utils.syntax import foreign_encoding, form_hash, parse, with_texts, without_future

SOURCE = Path(ast.__file__).read_text()


class Yielding:
    """Lets another thread in whenever it is collected: what any finaliser in a program may do."""

    def __init__(self):
        self.me = self

    def __del__(self):
        time.sleep(0)


@pytest.fixture
def busy_collector():
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-5)
    gc.set_threshold(50)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)
    gc.collect()


def test_many_threads_may_parse(busy_collector):
    """`ast.parse` itself raises SystemError here on CPython 3.11 in most runs."""
    errors: list[BaseException] = []

    def work() -> None:
        for _ in range(15):
            for _ in range(20):
                Yielding()
            try:
                parse(SOURCE[:12_000].rpartition("\n\n\n")[0])
            except SystemError as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_syntax_error_is_told_as_it_is():
    with pytest.raises(SyntaxError):
        parse("def (")
    assert isinstance(parse("x = 1").body[0], ast.Assign)


# ---------------------------------------------------------------- texts of a source

ODD = ("\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
"""What `str.splitlines` takes for the end of a line, and Python does not."""
PIECES = ("x = 1", "f(a=2, b=[\n3,\n-4])", "return_ = 5 if 6 else 7", "s = 'ä'; y = 8", "s = '''\n'''; y = 9",
          *(f"s = 'a{odd}b', 10" for odd in ODD), *(f"# a{odd}b" for odd in ODD))  # fmt: skip
sources = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["\n", "\r\n", "\r"])), max_size=6).map(
    lambda parts: "".join(text + end for text, end in parts)
)


def numbers(source):
    return [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant) and isinstance(n.value, int)]


@given(sources, st.data())
def test_other_texts_stand_where_the_old_ones_stood_and_nothing_else_changes(source, data):
    found = numbers(source)
    chosen = data.draw(st.lists(st.sampled_from(found), unique=True) if found else st.just([]))
    changed = with_texts(source, [(node, str(node.value * 100)) for node in chosen])
    expected = sorted(node.value * (100 if node in chosen else 1) for node in found)
    assert sorted(node.value for node in numbers(changed)) == expected
    assert re.sub(r"\d+", "", changed) == re.sub(r"\d+", "", source)
    assert with_texts(source, []) == source


def test_a_word_does_not_grow_into_the_one_before():
    source = "def f():\n    return-3\n"
    node = ast.parse(source).body[0].body[0].value
    assert with_texts(source, [(node, "K[0]")]) == "def f():\n    return K[0]\n"


@pytest.mark.parametrize(
    ("source", "future", "rest"),
    [
        ("from __future__ import (\n    division,\n)\ny = 1", "from __future__ import division", "\ny = 1"),
        ("'a'; from __future__ import division; y = 1", "from __future__ import division", "'a'; pass; y = 1"),
        ("'''\nfrom __future__ import division\n'''\n", "", "'''\nfrom __future__ import division\n'''\n"),
        ("def (", "", "def ("),
    ],
)
def test_imports_from_the_future_are_told_apart(source, future, rest):
    assert without_future(source) == (future, rest)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("x = a * 2", "x = a * 3.5", True), ("x = a * 2", "x = a * -2", True), ("x = a * 2", "x = a + 2", False),
     ("x = -a", "x = a", False), ("x = True", "x = 1", False), ("x = '2'", "x = '3'", False), ("a b", "a c", False)],
)  # fmt: skip
def test_a_form_is_a_program_without_its_numbers(one, other, same):
    assert (form_hash(one) == form_hash(other)) is same


OTHER_AS_A_FILE = [
    "# coding: unicode_escape\nprint(1) # \\u000aprint(2)\n",
    "#!/usr/bin/env python3\n# vim: set fileencoding=raw_unicode_escape :\nprint(1) # \\u000aprint(2)\n",
    "\r# coding: utf-7\nprint(1) # +AAo-print(2)\n",
    "# coding: utf-7\n# coding: utf-8\nprint(1) # +AAo-print(2)\n",
    "# coding: latin-1\nprint(ascii('\u00e4'))\n",
    "# coding: rot13\nprint(1)\n",
    "# coding: -punycode\nprint(1)\n",
    "# coding: none.such\nprint(1)\n",
]
THE_SAME_AS_A_FILE = [
    "# -*- coding: utf-8 -*-\nprint('\u00e4')\n",
    "# coding=UTF_8\nprint('\u00e4')\n",
    "# -*- coding: latin-1 -*-\nprint(1)\n",
    "print(1)\n\n# coding: utf-7\nprint(2) # +AAo-print(3)\n",
    "print('# coding: utf-7') # +AAo-print(2)\n",
]


@pytest.mark.parametrize("source", [*OTHER_AS_A_FILE, *THE_SAME_AS_A_FILE])
def test_a_program_that_its_file_would_not_be_is_told(source, tmp_path):
    """What was scored is a text, and a remark in it became a statement in the file that was handed over."""
    text, file = tmp_path / "run.py", tmp_path / "solution.py"
    text.write_text(f"exec(compile({source!r}, 'solution.py', 'exec', dont_inherit=True))\n")
    file.write_text(source, newline="")
    of_text, of_file = (subprocess.run([sys.executable, path], capture_output=True).stdout for path in (text, file))
    assert (of_text != of_file) is (source in OTHER_AS_A_FILE), (of_text, of_file)
    refused = syntax_refusal(source)
    assert (refused is not None) is (source in OTHER_AS_A_FILE)
    assert refused is None or (refused.failure is FailureKind.SYNTAX and "is declared" in refused.message)
    assert refused is None or foreign_encoding(source)
