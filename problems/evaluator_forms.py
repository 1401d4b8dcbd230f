"""Evaluators that hold the program they judge, or say what it has to look like, in the forms of other frameworks."""

from __future__ import annotations

from pathlib import Path

from problems.answer_form import answer_template
from problems.candidate_form import candidate_template
from problems.evaluator_template import SPECIFICATION, Template, parsed
from problems.function_forms import class_template, specification, takes_path
from problems.instance_forms import config_template, files_template
from problems.interface_form import interface_template
from problems.marked_form import marked_template
from problems.printed_form import printed_template
from problems.reference_form import reference_template
from problems.search_form import search_template
from problems.written_form import written_template

__all__ = ["SPECIFICATION", "Template", "template_of"]


def template_of(evaluator: Path) -> Template | None:
    """The template that an evaluator's file holds; None for a file of another form, or that cannot be read."""
    if evaluator.suffix not in (".py", SPECIFICATION):
        return None
    module, text = parsed(evaluator)
    if module is None:
        return None
    found = (
        specification(module, text)
        or class_template(module, evaluator)
        or config_template(module, text, evaluator)
        or files_template(module, evaluator)
        or reference_template(module, text, evaluator)
        or answer_template(module, evaluator)
        or interface_template(module, evaluator)
        or written_template(module)
    )
    if found or any(map(takes_path, module.body)):
        return found
    return (
        search_template(module)
        or candidate_template(module, evaluator)
        or printed_template(module, evaluator)
        or marked_template(module, text)
    )
