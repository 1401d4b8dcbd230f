"""CoderAgent: writes programs and functions; one class, a template an operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack

from agents.base_agent import UNREADABLE, AgentOptions, BaseAgent
from agents.focus import focus_of
from agents.ideas import ROLE, asked_ideas, first_start, idea_of, told_given, told_idea
from agents.node_text import attempt_of, other_of, remembered
from agents.wording import PRINTING, boldness, scoring
from core.contracts import FORM, NO_PROGRAM, AgentContext, AgentResult, Prompt
from core.state.failure import FailureKind
from core.state.node import Node
from core.state.operators import BUILTIN, OperatorSpec
from utils.clean_text import clean, whole
from utils.counts import counted
from utils.diff import DiffError, apply_diff, has_blocks, parse_diff
from utils.direction import Direction
from utils.errors import ConfigError
from utils.fences import split_blocks, strip_thinking, unlisted, up_to_last_block
from utils.genes import split_genes
from utils.patch import PatchError, apply_patch, read_patch
from utils.prompt_builder import fill_template
from utils.prompt_parts import Attempt, Parts
from utils.response import bare_program, further_programs, left_out, nothing_left_in, parse_response
from utils.syntax import syntax_error

SHORTEST_PROGRAM = 50
"""Characters: a whole program below this is not an answer. Single functions and diffs may be shorter."""


PASSED_OVER = "the reply that it came in held {} beside this one: only this one was run"
OTHERS = 3
"""Other good programs in a prompt."""


class CoderAgent(BaseAgent):
    """Draft, debug, improve, merge whole programs; generate, mutate, crossover, refine functions.

    Of `AgentContext.extras` it reads, all optional: `signature`, `allowed_imports` (text or list), `output_format`,
    `sections` ({title: text}), `language` (default python), `program` (what a writer without parents starts from),
    `reply_format` (`program`: never SEARCH/REPLACE blocks), `cases` (`{unit, names}`: what a parent scored on each case
    may be told).

    Args:
        single_function: the searched code is one function or a diff: no rule of length, function templates.
        options: as for BaseAgent.
    Raises:
        ConfigError: an operator has no template.
    """

    def __init__(self, *, single_function: bool = False, **options: Unpack[AgentOptions]) -> None:
        super().__init__(**options)
        self.single_function = single_function
        for name, spec in self.operators.items():
            if spec.rules and (template := self._template_of(name, spec)) not in self.templates:
                raise ConfigError(f"operator {name}: there is no prompt template '{template}.md'")

    # ------------------------------------------------------------ asking

    def begin_round(self, context: AgentContext) -> dict[str, Any]:
        """A direction for each of the next `context.ideas` writers, asked for once; {} where the task takes none."""
        if not self.takes_shared(context):
            return {}
        return {"ideas": asked_ideas(context, self.ideas_prompt(context), context.ideas)}

    def takes_shared(self, context: AgentContext) -> bool:
        return context.ideas >= 2 and self._takes_focus(context)

    def ideas_prompt(self, context: AgentContext) -> Prompt:
        """Begins as those of the writers do, so that a provider's cache answers for the beginning of both.

        `context.shared` holds what the writers were given who are at work meanwhile.
        """
        starts = tuple(map(first_start, self._attempts(context)[:1]))
        parts = replace(self._parts(context), attempts=starts, writers=context.ideas, given=told_given(context))
        system, user = self.builder.build_messages(self.templates["system"], self.templates["ideas"], parts)
        return Prompt(system, user, {**facts(context, self.operators), "role": ROLE, "count": context.ideas})

    def prompt(self, context: AgentContext) -> Prompt:
        templates = self.templates["system"], self.templates[self._template(context)]
        system, user = self.builder.build_messages(*templates, self._parts(context))
        if context.toolbox is not None:
            look = fill_template(self.templates["look"], {"calls": str(context.toolbox.most_calls)})
            user = f"{user.rstrip()}\n\n{look}"
        form = {} if self.answers else {FORM: self._format(context)}
        return Prompt(system=system, user=user, context={**facts(context, self.operators), **form})

    def fault(self, context: AgentContext, reply: str) -> str | None:
        """Unusable but worth another try. A reply without any code is not: it is a hard failure."""
        found = self._found(context, reply)
        return None if found.failure is FailureKind.NO_CODE else found.message or None

    def whole_in(self, context: AgentContext, cut: str) -> str:
        """The reply up to the end of its program, where that is one closed block that can be used.

        Changes to parts of a program are no answer: others may have been to come.
        """
        text = up_to_last_block(whole(cut))
        if len(split_blocks(text)[1]) != 1 or has_blocks(text):
            return ""
        return text if self._read(context, text).failure is None else ""

    def shorter(self, context: AgentContext) -> str:
        changes = context.parents and context.extras.get("reply_format") != "program"
        return "; give only the changes to the program that is shown, not all of it" if changes else ""

    # ------------------------------------------------------------ reading

    def code(self, context: AgentContext, reply: str) -> AgentResult:
        found = self._found(context, reply)
        task = context.task
        node = Node(
            id=task.node_id,
            code=found.code,
            plan=found.plan,
            genes=split_genes(found.code) if self._is_python(context) and not self.single_function else {},
            operator=task.operator,
            parent_ids=task.parent_ids,
            parent_id=task.parent_ids[0] if task.parent_ids else None,
            task_type=task.task_type,
            generation=task.generation,
            island=task.island,
            slot=task.slot,
            lower_is_better=context.lower_is_better,
            is_buggy=found.failure is not None,
            failure=found.failure,
            message=found.message if found.failure else found.note,
        )
        if found.nothing_left:
            return AgentResult(node=node, success=False, error=found.plan, nothing_left=True)
        return AgentResult(node=node, success=found.failure is None, error=found.message, failure=found.failure)

    def _found(self, context: AgentContext, reply: str) -> Found:
        """What a reply holds; where that is no program, it may say that nothing is left to gain."""
        found = self._read(context, whole(reply))
        reason = nothing_left_in(whole(reply)) if found.failure is FailureKind.NO_CODE else None
        return found if reason is None else Found("", clean(reason), nothing_left=True)

    def _read(self, context: AgentContext, reply: str) -> Found:
        if (nothing := nothing_in(reply)) is not None:
            return nothing
        reply = unlisted(strip_thinking(reply))
        if context.parents and has_blocks(reply):
            return self._changed(context, reply)
        block, plan = parse_response(reply, str(context.extras.get("language", "python")), wanted_form(context))
        if block is None and self._is_python(context):
            bare, said = bare_program(reply, wanted_form(context))
            block, plan = (bare, said) if bare else (block, plan)
        if block is None or not block.strip():
            return self._patched(context, reply, plan)
        found = self._judge(context, block.rstrip() + "\n", plan, whole=not self.single_function)
        others = further_programs(reply, block, str(context.extras.get("language", "python")))
        return replace(found, note=PASSED_OVER.format(counted(others, "further program"))) if others else found

    def _changed(self, context: AgentContext, reply: str) -> Found:
        """The first parent's code with the reply's SEARCH/REPLACE blocks applied. The plan is what precedes them."""
        plan = split_blocks(reply.partition("<<<<<")[0])[0].strip()
        try:
            code = apply_diff(context.parents[0].code, parse_diff(reply))
        except DiffError as error:
            return Found("", plan, FailureKind.REPLY_ERROR, str(error))
        return self._judge(context, code, plan, whole=False)

    def _patched(self, context: AgentContext, reply: str, plan: str) -> Found:
        """The first parent's code with a unified diff applied: nobody asks for one, and models write it."""
        plan = f"\n{plan}".partition("\ndiff --git ")[0].partition("\n--- ")[0].strip()
        none = Found("", plan, FailureKind.NO_CODE, "the reply held no code block")
        if not context.parents:
            return none
        try:
            patches = [patch for patch in read_patch(reply.replace("\r\n", "\n")) if patch.hunks]
            if len(patches) > 1:
                raise PatchError("a diff of several files, and the program is one: write the whole program")
            code = apply_patch(patches[0], context.parents[0].code) if patches else None
        except PatchError as error:
            return Found("", plan, FailureKind.REPLY_ERROR, str(error))
        return none if code is None else self._judge(context, code, plan, whole=False)

    def _judge(self, context: AgentContext, code: str, plan: str, *, whole: bool) -> Found:
        size = len(code.strip())
        if whole and size < SHORTEST_PROGRAM:
            message = f"the program has {counted(size, 'character')}; a whole program is needed, not a part of one"
            return Found(code, plan, FailureKind.REPLY_ERROR, message)
        shown = [*(parent.code for parent in context.parents), str(context.extras.get("program", ""))]
        if lacking := left_out(code, shown):
            message = f"the program has a comment in place of lines ({lacking[:80]!r}): nobody puts them there"
            return Found(code, plan, FailureKind.REPLY_ERROR, f"{message}; write every line that is to be run")
        error = syntax_error(code) if self._is_python(context) else None
        if error is not None:
            return Found(code, plan, FailureKind.SYNTAX, f"the program does not parse: {error}")
        return Found(code, plan)

    # ------------------------------------------------------------ what the prompt holds

    def _template(self, context: AgentContext) -> str:
        """The template of the task's operator; a draft's, where it borrows another's and its parents are missing."""
        name = context.task.operator
        spec = self.operators.get(name)
        if spec is None or spec.rules is None:
            raise ConfigError(f"operator {name}: no writer is asked for it; allowed: {', '.join(self._written())}")
        if spec.template and name not in self.templates and not context.parents:
            name, spec = "draft", self.operators["draft"]
        return self._template_of(name, spec)

    def _template_of(self, name: str, spec: OperatorSpec) -> str:
        if self.single_function and spec.for_functions:
            return spec.for_functions
        return name if name in self.templates else spec.template or name

    def _written(self) -> list[str]:
        return [name for name, spec in self.operators.items() if spec.rules]

    shows_output: ClassVar[bool] = True
    """What programs print stands in prompts."""
    kind: ClassVar[str] = ""
    """Of FOCI; '' takes the one for programs or for functions."""
    format_template: ClassVar[str] = ""
    """Name of the template of the reply's form; '' takes the one for programs or for functions."""

    def _parts(self, context: AgentContext) -> Parts:
        extras = context.extras
        better = Direction(context.lower_is_better).word
        return Parts(
            task=f"{context.statement.strip()}\n\nOf the score, {better} is better.",
            scoring=scoring(context),
            printing=PRINTING if self.shows_output else "",
            interface=interface_of(extras),
            data=context.preview,
            references=context.references,
            packages="" if extras.get("allowed_imports") else context.packages,
            limits=context.limits,
            memory=context.memory,
            programs=self._remembered(context),
            others=self._others(context),
            attempts=self._attempts(context),
            refusal=context.refusal,
            notes=context.notes,
            steps_left=context.steps_left,
            generations_left=context.generations_left,
            boldness=boldness(context),
            focus=self._focus(context),
            format=self._format(context),
            language=str(extras.get("language", "python")),
            extra={str(k): str(v) for k, v in dict(extras.get("sections") or {}).items()},
        )

    def _remembered(self, context: AgentContext) -> tuple[Attempt, ...]:
        """The programs whose code stands in the memory."""
        return tuple(map(remembered, context.remembered))

    def _attempts(self, context: AgentContext) -> tuple[Attempt, ...]:
        """The parents; without any, the program that the problem starts from, where there is one."""
        start = str(context.extras.get("program", ""))
        if not context.parents and start:
            return (Attempt(start, label="the one that the search starts from; its form must stay"),)
        return tuple(attempt_of(node, context) for node in context.parents)

    def _others(self, context: AgentContext) -> tuple[Attempt, ...]:
        """The code of the best other programs, where one is changed and the memory shows no code."""
        if context.remembered or len(context.parents) != 1 or context.parents[0].failure is not None:
            return ()
        return tuple(other_of(node, context) for node in context.others[:OTHERS])

    def _focus(self, context: AgentContext) -> str:
        """What this one of several writers is to work on: an idea of its own, or the focus of its number."""
        if context.writers < 2 or not self._takes_focus(context):
            return ""
        if idea := idea_of(context):
            return told_idea(idea)
        number = context.task.round + context.task.slot
        return focus_of(number, self.kind or ("function" if self.single_function else "program"))

    def _takes_focus(self, context: AgentContext) -> bool:
        """True if somebody writes it, and its prompt has a place for a direction. A repair has its work."""
        name = context.task.operator
        spec = self.operators.get(name)
        written = name != "debug" and spec is not None and spec.rules is not None
        return written and "${focus}" in self.templates[self._template(context)]

    def _format(self, context: AgentContext) -> str:
        name = self.format_template or ("format_function" if self.single_function else "format_program")
        diff = ["format_diff"] if context.extras.get("reply_format") != "program" else []
        forms = [name, *diff, "format_nothing"]
        values = {"language": str(context.extras.get("language", "python"))}
        return "\n".join(fill_template(self.templates[form], values) for form in forms)

    def _is_python(self, context: AgentContext) -> bool:
        return str(context.extras.get("language", "python")) == "python"


@dataclass(frozen=True, slots=True)
class Found:
    """What a reply held. `message` is '' where there is nothing to complain of."""

    code: str
    plan: str
    failure: FailureKind | None = None
    message: str = ""
    note: str = ""
    """What was done to a program that can be used: said where it is shown."""
    nothing_left: bool = False
    """There is no program, since none can score better; `plan` is the reason."""


def wanted_form(context: AgentContext) -> str:
    """A program of the form that a reply is to have: the one that is changed, else the signature's."""
    if context.parents:
        return context.parents[0].code
    signature = str(context.extras.get("signature", ""))
    return str(context.extras.get("program", "")) or (f"def {signature}: ..." if signature else "")


def nothing_in(reply: str) -> Found | None:
    """What a reply comes to that only says why there is none; None for any other."""
    if reply.startswith(UNREADABLE):
        return Found("", "", FailureKind.REPLY_ERROR, reply.removeprefix(UNREADABLE))
    if reply.startswith(NO_PROGRAM):
        reason, _, said = reply.removeprefix(NO_PROGRAM).partition("\n")
        return Found("", said.strip(), FailureKind.NO_CODE, reason.strip() or "its writer handed in nothing")
    return None


def facts(context: AgentContext, operators: Mapping[str, OperatorSpec] | None = None) -> dict[str, Any]:
    """The prompt's facts as plain JSON, for `rules`; what they are to do is told where the operator is a plug-in's."""
    name = context.task.operator
    further = (operators or {}).get(name) if name not in BUILTIN else None
    return {
        "operator": name,
        **({"rules": further.rules} if further else {}),
        "task": {"round": context.task.round, "slot": context.task.slot},
        "parents": [_parent(node) for node in context.parents],
        "statement": context.statement,
        "preview": context.preview,
        "refusal": context.refusal,
        "notes": list(context.notes),
        "steps_left": context.steps_left,
        "shared": {name: value for name, value in context.shared.items() if name != "ideas"},  # prompts tell these
        "lower_is_better": context.lower_is_better,
        "extras": dict(context.extras),
    }


def _parent(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "code": node.code,
        "plan": node.plan,
        "genes": dict(node.genes),
        "metric": node.metric_value,
        "failure": node.failure.value if node.failure else None,
        "message": node.message,
        "term_out": node.term_out,
        "analysis": node.analysis,
    }


def interface_of(extras: Mapping[str, Any]) -> str:
    """What a program must look like: signature, imports, output."""
    lines: list[str] = []
    if extras.get("signature"):
        lines.append(f"Required signature:\n{extras['signature']}")
    allowed = extras.get("allowed_imports")
    if allowed:
        lines.append(f"Allowed imports: {allowed if isinstance(allowed, str) else ', '.join(map(str, allowed))}")
    if extras.get("output_format"):
        lines.append(f"Required output:\n{extras['output_format']}")
    return "\n\n".join(lines)
