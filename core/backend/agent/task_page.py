"""TASK.md: what a model's prompt says, for a writer who changes files in a folder and hands in no reply."""

from __future__ import annotations

TASK = "TASK.md"
_SEE_END = "You hand in files, not a reply: the end of this page says which, and how."
_ALL_THE_SAME = "Whatever is said above of the form of a reply: "


def task_page(system: str, user: str, form: str, how: str) -> str:
    """The page.

    Args:
        form: the part of the prompt that says how a reply is written; '' where that is not known.
        how: what this door wants in its place: sentences, the first of which begins with a small letter.
    """
    task = f"{system}\n\n{user}\n".lstrip()
    begins = _ALL_THE_SAME
    if form and form in task:
        task, begins, how = task.replace(form, _SEE_END), "", how[:1].upper() + how[1:]
    return f"{task}\n---\n\n# How to hand in\n\n{begins}{how.strip()}\n"
