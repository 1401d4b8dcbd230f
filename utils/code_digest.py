"""A Python file by what it does: the same for texts that differ in comments, docstrings and layout alone."""

from __future__ import annotations

import ast
from hashlib import sha256

from utils.syntax import parse

READS_ITSELF = (
    b"__doc__",
    b"doctest",
    b"getdoc",
    b"getsource",
    b"getcomments",
    b"findsource",
    b"linecache",
    b"tokenize",
)
"""Words of a file whose comments, docstrings or lines may decide what it does."""
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_digest(source: bytes) -> str:
    """Of a file's syntax tree without docstrings, for one version of Python; '' where the text itself may matter."""
    if any(word in source for word in READS_ITSELF):
        return ""
    try:
        tree = parse(source.decode("utf-8-sig"))
        for node in ast.walk(tree):
            if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        return sha256(ast.dump(tree).encode(errors="surrogatepass")).hexdigest()[:32]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
