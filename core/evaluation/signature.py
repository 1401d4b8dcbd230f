"""The signature of a searched function, as its problem writes it: `priority(weight, value, room) -> float`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

_NUMBERS = {"float": (int, float), "int": (int,), "bool": (bool,)}


@dataclass(frozen=True, slots=True)
class Signature:
    """Name, parameters in order, and the names of their types; '' where none is written."""

    name: str
    parameters: tuple[str, ...]
    types: tuple[str, ...]
    returns: str

    @classmethod
    def read(cls, text: str) -> Signature:
        """From its text. ValueError for what is not a signature of positional parameters."""
        try:
            (function,) = ast.parse(f"def {text}: ...").body
        except (SyntaxError, ValueError) as error:
            raise ValueError(f"{text!r} is no signature; one looks so: priority(weight, value) -> float") from error
        if not isinstance(function, ast.FunctionDef) or function.args.kwonlyargs or function.args.vararg:
            raise ValueError(f"{text!r}: only positional parameters are called")
        arguments = [*function.args.posonlyargs, *function.args.args]
        types = tuple(ast.unparse(a.annotation) if a.annotation else "" for a in arguments)
        returns = ast.unparse(function.returns) if function.returns else ""
        return cls(function.name, tuple(a.arg for a in arguments), types, returns)

    def numbers(self) -> list[str]:
        """The parameters that may be numbers, by what is written."""
        return [name for name, kind in zip(self.parameters, self.types, strict=True) if kind in ("", "float", "int")]

    def fits(self, answer: object) -> bool:
        """False for an answer that is not of the type that is promised; any is right where none is written."""
        kinds = _NUMBERS.get(self.returns)
        if kinds is None:
            return True
        return isinstance(answer, kinds) and (self.returns == "bool" or not isinstance(answer, bool))

    def as_promised(self, answer: Any) -> Any:
        """An answer that fits, as a float where one is promised: a problem may count with numpy's whole numbers, whose
        large squares wrap round below zero."""
        return float(answer) if self.returns == "float" and type(answer) is int else answer
