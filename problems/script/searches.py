"""Asks the evaluator of a script that calls a search, as GEPA, LLaMEA and BLADE do (`up_to_search.py`).

The last part of the file that the isolated evaluator loads, below `harness.py` and `up_to_search.py`: standard library
only.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

HELD = "swarm_evo_program"
"""What a program is imported as by the text that stands in for it."""

HandedOver = Callable[[str], Any]
"""Path of a script → what it hands to its search."""


def of_search(
    path: str, options: Mapping[str, Any], refused: type[Exception], handed_over: HandedOver
) -> Callable[..., Any]:
    """What the script's own evaluator says of a program's text: its score, and what it says besides as artifacts.

    An exception of it is a failed program, as in their searches. Where the program is kept apart the text stands in for
    it: of its names those that the first program has too, each called over there. Others could take the place of names
    of the evaluator's own, which mostly executes the text among these.
    """
    handed, names = handed_over(path), options["template"]["names"]

    def evaluate(program_path: str, **_: Any) -> Any:
        text, is_used = text_of(program_path, names)
        try:
            answer = handed.evaluate(text, names[0] if names else "")
        except Exception as error:  # noqa: BLE001 - theirs or the program's
            raise refused(f"{type(error).__name__}: {error}") from None
        finally:
            if not is_used():
                text_in_file(program_path)
        if isinstance(answer, str):
            raise refused(answer)
        return answer

    return evaluate


def text_of(program_path: str, names: Collection[str]) -> tuple[str, Callable[[], bool]]:
    """The program's text, or that which stands in for one that is kept apart; whether the evaluator has used it yet."""
    spec = importlib.util.spec_from_file_location(HELD, program_path)
    assert spec is not None and spec.loader is not None
    if hasattr(spec.loader, "get_source"):
        return text_in_file(program_path), lambda: True
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    held = sys.modules[HELD] = Held(HELD, module)
    text = "".join(f'{name} = __import__("{HELD}").{name}\n' for name in names if hasattr(module, name))
    return text, held.is_used


class Held(types.ModuleType):
    """The program that is kept apart; it notes that it is used."""

    def __init__(self, name: str, program: types.ModuleType) -> None:
        super().__init__(name)
        self._program, self._used = program, False

    def __getattr__(self, name: str) -> Any:
        self.__dict__["_used"] = True
        return getattr(self.__dict__["_program"], name)

    def is_used(self) -> bool:
        return bool(self._used)


def text_in_file(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
