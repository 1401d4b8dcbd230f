"""Prompt templates: ours, then a problem's, then the user's (`prompts.dir`); a later file of the same name wins."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from utils.errors import ConfigError
from utils.prompt_builder import PLACEHOLDERS, check_template
from utils.user_text import user_text

OWN = Path(__file__).resolve().parent / "prompts"

SPECIAL: Mapping[str, frozenset[str]] = {
    "format_program": frozenset({"language"}),
    "format_function": frozenset({"language"}),
    "format_diff": frozenset({"language"}),
    "look": frozenset({"calls"}),
    "repair": frozenset({"prompt", "reason", "reply"}),
    "review": frozenset({"task", "code", "outcome", "output"}),
    "lesson": frozenset({"task", "parent", "code", "outcome", "output"}),
    "review_system": frozenset(),
}
"""Templates that take placeholders other than those of an operator's prompt."""


def load_templates(
    user_dir: Path | None = None,
    problem_dirs: Sequence[Path] = (),
    prompts: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Template name (file name without `.md`) → text.

    Args:
        user_dir: `prompts.dir`; None for none.
        problem_dirs: folders that a problem brings along.
        prompts: template name → text, those that plug-ins bring along.
    Raises:
        ConfigError: the folder is missing, a file is nearly named like a template, or a placeholder is unknown.
    """
    templates: dict[str, str] = {}
    for name, text in (prompts or {}).items():
        templates[name] = check_template(text, f"{name}.md", SPECIAL.get(name, PLACEHOLDERS))
    for folder in (OWN, *problem_dirs):
        templates |= {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    if user_dir is None:
        return templates
    if not user_dir.is_dir():
        raise ConfigError(f"prompts.dir={user_dir}: there is no such folder")
    for path in sorted(user_dir.glob("*.md")):
        if path.stem not in templates:
            _refuse_typo(path, sorted(templates))
            continue
        text = user_text(path, "prompts.dir: ")
        templates[path.stem] = check_template(text, path.name, SPECIAL.get(path.stem, PLACEHOLDERS))
    return templates


def _refuse_typo(path: Path, known: Sequence[str]) -> None:
    """A misspelt template would be ignored in silence; other files may belong to another problem."""
    close = difflib.get_close_matches(path.stem, known, n=1, cutoff=0.75)
    if close:
        raise ConfigError(f"prompts.dir: no template is called '{path.name}' (did you mean '{close[0]}.md'?)")
