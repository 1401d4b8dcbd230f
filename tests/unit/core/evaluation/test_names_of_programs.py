"""Names of a program behind the proxy: those that the user's own has are copied, others only found."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from core.evaluation.isolation import elsewhere, usual_forms
from core.evaluation.isolation.elsewhere import Caller
from core.evaluation.isolation.proxy import Proxy
from core.evaluation.isolation.usual_numbers import usual
from core.executor.inside import plain

OFFERED = {
    "predict": {"callable": True}, "grade": {"callable": True}, "helper": {"callable": True}, "N": {"value": 3},
    "json": {"object": "module"},
}  # fmt: skip


class Raised(Exception):
    kind = text = ""


def proxy(classes: list[str] | None, offered: dict[str, Any] = OFFERED) -> Proxy:
    made = Proxy(lambda name, *_: name, Raised, usual, usual_forms, plain.with_tensors)
    made.expect(classes)
    made.begin(offered)
    made.taken = [{"grade": len, "os": 1}, {"json": 1}]
    return made


def copied(module: ModuleType) -> set[str]:
    """What `from module import *` gives."""
    return {name for name in vars(module) if not name.startswith("_")}


def test_the_users_own_program_has_all_its_names_and_they_are_known_from_then_on():
    own = proxy(None, {"predict": {"callable": True}, "N": {"value": 3}})
    module = ModuleType("program")
    assert own.fill(module) == {} and copied(module) == {"predict", "N"}
    assert {"import:predict", "import:N"} <= set(own.classes)


def test_one_that_the_evaluator_has_is_found_and_not_copied():
    """`from program import *` put a candidate's own `grade` in the place of the evaluator's."""
    module = ModuleType("program")
    further = proxy(["import:predict", "import:N"]).fill(module)
    assert copied(module) == {"predict", "N", "helper"} and set(further) == {"grade", "helper", "json"}
    assert module.grade() == "grade" and hasattr(module, "json"), "an evaluator may ask for what only some have"
    with pytest.raises(AttributeError, match="module 'program' has no attribute 'other'"):
        module.other  # noqa: B018


def test_a_run_that_was_decided_before_names_were_known_goes_on_as_it_began():
    module = ModuleType("program")
    assert proxy(["Model", "predict list"]).fill(module) == {} and "grade" in copied(module)


def test_so_it_is_in_other_processes(tmp_path, monkeypatch):
    """There it is what their own modules have, and Python's own names."""
    callers = []
    monkeypatch.setattr(elsewhere, "_begun", lambda path: plain)
    monkeypatch.setattr(elsewhere, "_is_users", lambda module: getattr(module, "__name__", "") == __name__)
    monkeypatch.setattr(elsewhere, "Caller", lambda *given: callers.append(Caller(*given)) or callers[-1])
    offered = {**OFFERED, "sum": {"callable": True}, "copied": {"callable": True}}
    stand = proxy(["import:predict", "import:N", "import:json"], offered)
    relay = elsewhere.Relay(str(tmp_path), "", stand.fill, stand.call, stand.refuse, RuntimeError, plain)
    module = ModuleType("candidate")
    elsewhere.fill(vars(module), relay.address, "")
    assert copied(module) == {"predict", "N", "helper", "grade"}, "`json` cannot cross, and `copied` is one of ours"
    assert (module.N, module.predict(), module.sum(), module.copied()) == (3, "predict", "sum", "copied")
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        module.other  # noqa: B018
    for caller in callers[1:]:  # the first is the evaluator's own, which asks nobody
        caller._connection.close()
