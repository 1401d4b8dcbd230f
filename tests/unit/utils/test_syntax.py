from __future__ import annotations

import ast
import gc
import sys
import threading
import time
from pathlib import Path

import pytest

from utils.syntax import parse

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
