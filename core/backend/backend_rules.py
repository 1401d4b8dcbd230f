"""`provider: rules`: a problem's repertoire behind the same `query()`. Not a language model; no key, no cost."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from traceback import extract_tb
from typing import Any

from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Request, Tool
from core.backend.provider import ProviderSpec
from core.backend.settings import ModelSettings
from core.contracts import RulesWriter
from utils.clean_text import one_line
from utils.errors import ConfigError, ReplyError, SwarmEvoError, UnwantedPromptError


def write(request: Request, writer: RulesWriter | None, rng: random.Random) -> Reply:
    """A reply as a model would give it, a pure function of the request's context and `rng`.

    Raises:
        ConfigError: the caller gave no writer or no context.
        ReplyError: a tool is wanted that rules cannot fill in.
        UnwantedPromptError: the writer raised. A fault in it, and no reason to end a search of hours, which a resume
            would only bring back to the same place.
    """
    if request.tools:
        arguments = fill_in(request.tool, request.context or {})
        return Reply(tool=request.tool.name, arguments=json.dumps(arguments), finish_reason="tool")
    if writer is None or request.context is None:
        raise ConfigError(
            "provider 'rules' writes from a problem's repertoire; without one, name a model (llm.code.provider)"
        )
    try:
        return Reply(text=writer.write(request.context, rng), finish_reason="stop")
    except (SwarmEvoError, OSError, MemoryError):
        raise
    except Exception as error:
        last = extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
        raise UnwantedPromptError(one_line(f"the problem's own writer failed: {told}", 1000)) from error


def fill_in(tool: Tool, context: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `submit_review` read off the run's facts: no opinion on the code, no number out of its output."""
    if tool.name != "submit_review":
        raise ReplyError(f"provider 'rules' cannot fill in the tool '{tool.name}'; only submit_review")
    failure = context.get("failure")
    exception = context.get("exc_type")
    code = context.get("exit_code")
    is_bug = bool(failure) or bool(exception) or code not in (None, 0)
    review: dict[str, Any] = {
        "is_bug": is_bug,
        "has_csv_submission": _has_submission(context),
        "summary": _summary(failure, exception, code, str(context.get("message") or "")),
    }
    for name in ("metric", "lower_is_better"):
        if context.get(name) is not None and name in tool.parameters.get("properties", {}):
            review[name] = context[name]
    return review


def _has_submission(context: Mapping[str, Any]) -> bool:
    if "has_csv_submission" in context:
        return bool(context["has_csv_submission"])
    return any(str(name).endswith("submission.csv") for name in context.get("files") or ())


def _summary(failure: Any, exception: Any, code: Any, message: str) -> str:
    detail = f": {message}" if message else ""
    if failure:
        return f"Failed ({failure}){detail}"
    if exception:
        return f"Raised {exception}{detail}"
    if code not in (None, 0):
        return f"Ended with exit code {code}{detail}"
    return "Ran to its end" + detail


def _connect(settings: ModelSettings) -> None:
    """There is nothing to connect to: `write` gives the replies."""


def _query(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    raise ConfigError("provider 'rules' is no model and cannot be asked as one")


RULES = ProviderSpec(
    _connect, _query, sends_bills=False, is_model=False, has_tools=False, model_name=lambda keys: "rules"
)
