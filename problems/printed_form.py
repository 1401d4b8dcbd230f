"""The form of ReEvo, and of what was made from it (HSEvo, MCTS-AHD): a script that prints what a function is worth.

printed  `problems/NAME/eval.py` (`eval_black_box.py`), which imports the program as `gpt`, is given a size and prints
         the score on its last line. Elsewhere in the checkout stand `cfg/problem/NAME.yaml` (what the function is
         called, which way the score goes, the size) and `prompts/NAME/` (`seed_func.txt`, `func_desc.txt`)
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from problems.evaluator_template import Template, bound_in, names_read
from utils.clean_text import clean
from utils.errors import ConfigError
from utils.user_yaml import user_yaml

_BLACK_BOX = "_black_box"
_IMPORTS = {"np": "import numpy as np", **{name: f"import {name}" for name in ("math", "random", "scipy", "torch")}}
"""What ReEvo puts before every program; here as far as the first one uses it."""


def printed_template(module: ast.Module, path: Path) -> Template | None:
    """None for another file, or one that lies in no such checkout."""
    if not _imports_gpt(module) or len(path.resolve().parents) < 3:
        return None
    name = path.parent.name + (_BLACK_BOX if path.stem.endswith(_BLACK_BOX) else "")
    root = path.resolve().parents[2]
    said = _settings(root / "cfg" / "problem" / f"{name}.yaml")
    seed, described = (_text(root / "prompts" / name / file) for file in ("seed_func.txt", "func_desc.txt"))
    function, way = said.get("func_name"), said.get("obj_type")
    if not (isinstance(function, str) and seed):
        return None
    about = f"{said.get('description') or ''}\n\n{described}"
    return Template(
        "printed",
        _program(seed),
        {"size": _whole(said.get("problem_size"))},
        about=clean(about).strip(),
        lower_is_better={"min": True, "max": False}.get(str(way)),
        arguments=("problem_size",),
        data=tuple(folder for folder in (path.parent / "dataset",) if folder.is_dir()),
    )


def _imports_gpt(module: ast.Module) -> bool:
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "gpt" and not node.level:
            return True
        if isinstance(node, ast.Import) and any(name.name == "gpt" for name in node.names):
            return True
    return False


def _settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        plain = user_yaml(path)
    except ConfigError:
        return {}
    return plain if isinstance(plain, dict) else {}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _program(seed: str) -> str:
    """Its first function under the name that ReEvo gives it, `…_v2`."""
    text = seed.replace("v1", "v2").strip() + "\n"
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    needed = names_read(tree) - bound_in(tree)
    above = "\n".join(line for name, line in _IMPORTS.items() if name in needed)
    return f"{above}\n\n\n{text}" if above else text


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
