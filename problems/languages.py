"""Languages of programs, by how their files are called."""

from __future__ import annotations

from pathlib import Path

LANGUAGES = {
    ".py": "python", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".rs": "rust", ".go": "go", ".js": "javascript",
    ".ts": "typescript", ".sh": "sh", ".jl": "julia", ".java": "java", ".rb": "ruby", ".pl": "perl", ".lua": "lua",
    ".r": "r", ".R": "r", ".sql": "sql",
}  # fmt: skip


def language_of(path: Path) -> str:
    """The language as a fenced block names it; `text` for what is none that is known."""
    return LANGUAGES.get(path.suffix, "text")
