"""Every key of the configuration with its default, what is allowed and what it means, read from the models."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from utils.config_schema import Config
from utils.config_section import section_of
from utils.strategies import POLICIES, SELECTORS


@dataclass(frozen=True, slots=True)
class KeyDoc:
    """One dotted key."""

    key: str
    default: Any
    """As JSON has it; None for null and where the preset decides."""
    allowed: str
    """A type's name, or the words that may stand there."""
    meaning: str


def key_docs(plugins: Sequence[str | Path] = ()) -> list[KeyDoc]:
    """All keys, sections in the order of the schema, then the options of every policy and selector."""
    found = list(_of(Config, ""))
    for name, spec in POLICIES.all(plugins).items():
        found += _of(spec.options, f"search.{name}.")
    for name, selector in SELECTORS.all(plugins).items():
        found += _of(selector.options, f"search.selectors.{name}.")
    return list({doc.key: doc for doc in found}.values())


def option_docs(models: Sequence[type[BaseModel]], prefix: str) -> list[KeyDoc]:
    """The keys that these sections have below a prefix, which ends with a dot if there is one; of two of a name the
    first counts."""
    found: dict[str, KeyDoc] = {}
    for doc in (doc for model in models for doc in _of(model, prefix)):
        found.setdefault(doc.key, doc)
    return list(found.values())


def refusal(fault: Mapping[str, Any], key: str, docs: Sequence[KeyDoc]) -> str:
    """What is wrong with a value, in the words of `config KEY` where pydantic has only its own.

    Args:
        fault: one of a ValidationError's.
        docs: of all keys that there are; a part of a list's or mapping's value is none of them.
    """
    allowed = next((doc.allowed for doc in docs if doc.key == key), None)
    if allowed and fault["type"] != "finite_number" and fault["msg"].startswith("Input should be"):
        return f"allowed: {allowed}"
    return str(fault["msg"]).removeprefix("Value error, ")


def _of(model: type[BaseModel], prefix: str) -> Iterator[KeyDoc]:
    texts = meanings(model)
    for name, info in model.model_fields.items():
        section = section_of(info.annotation)
        if section is not info.annotation:
            yield KeyDoc(prefix + name, _default(info), _allowed(info.annotation, info), texts.get(name, ""))
        if section is not None:
            yield from _of(section, f"{prefix}{name}.")


def _default(info: FieldInfo) -> Any:
    value = info.get_default(call_default_factory=True) if not info.is_required() else None
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return None if value is PydanticUndefined or isinstance(value, SecretStr) else value


def _allowed(kind: Any, info: FieldInfo) -> str:
    limits = [f"{sign} {value}" for sign, value in _limits(info)]
    words = dict.fromkeys(_words(kind))
    return " | ".join(" ".join([word, *limits]) if word.endswith("number") else word for word in words)


def _words(kind: Any) -> Iterator[str]:
    if kind is type(None):
        yield "null"
    elif str(get_origin(kind)) == "typing.Literal":
        yield from map(str, get_args(kind))
    elif get_origin(kind) is not None and get_origin(kind) not in (list, dict, tuple, set):
        for part in get_args(kind):
            yield from _words(part)
    else:
        names = {SecretStr: "text", str: "text", int: "whole number", float: "number", bool: "true | false"}
        origin = get_origin(kind) or kind
        containers = {list: "list", dict: "mapping", tuple: "list", set: "list"}
        yield names.get(origin) or containers.get(origin) or ("mapping" if section_of(kind) else "value")


def _limits(info: FieldInfo) -> Iterator[tuple[str, Any]]:
    for part in info.metadata:
        for name, sign in (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<=")):
            if getattr(part, name, None) is not None:
                yield sign, getattr(part, name)


@cache
def meanings(model: type[BaseModel]) -> Mapping[str, str]:
    """Field → what it means, in one line: its description, else the docstring below it, inherited ones included."""
    found: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, BaseModel) and cls is not BaseModel:
            found |= _docstrings(cls)
    found |= {name: info.description for name, info in model.model_fields.items() if info.description}
    return {name: " ".join(text.split()) for name, text in found.items()}


def _docstrings(cls: type) -> dict[str, str]:
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            found[field.target.id] = below.value.value
    return found
