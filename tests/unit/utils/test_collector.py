from __future__ import annotations

import ast
import gc

import pytest

from utils.collector import rare_collections


def test_programs_come_and_go_without_a_collection():
    rounds: list[str] = []

    def count(phase: str, info: dict[str, int]) -> None:
        rounds.append(phase)

    gc.collect()  # what other tests left is counted too
    gc.callbacks.append(count)
    try:
        with rare_collections():
            for _ in range(20):
                ast.parse("x = [1, 2, 3]\n" * 300)
    finally:
        gc.callbacks.remove(count)
    assert rounds == [], "trees are freed by their reference counts"


def test_the_collector_is_left_as_it_was():
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rare_collections():
        assert gc.get_threshold() != before
        raise ZeroDivisionError
    assert gc.get_threshold() == before
