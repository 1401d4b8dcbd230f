"""One table of operators: whoever speaks of them reads it, and each has what everybody needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from core.state.operators import (
    BUILTIN,
    FREE_OPERATORS,
    OPERATORS,
    Colour,
    OperatorSpec,
    doing,
    further_operators,
    known_operators,
)
from reports.evolution import PALETTE
from utils.errors import ConfigError

ROOT = Path(__file__).resolve().parents[4]
SIMPLIFY = {"meaning": "shorter", "parents": 1, "rules": "change", "colour": "teal", "marker": "v"}


def test_what_is_given_is_no_step_and_nobody_writes_it():
    assert {"baseline", "user", "ensemble"} == FREE_OPERATORS
    assert all(BUILTIN[name].rules is None for name in FREE_OPERATORS)


@pytest.mark.parametrize("sheet", ["reports/report.css", "dashboard/web/src/style.css"])
def test_every_colour_is_in_every_palette(sheet):
    text = (ROOT / sheet).read_text()
    for colour in get_args(Colour):
        assert colour in PALETTE
        assert len(re.findall(rf"--{colour}: #", text)) == 2, f"{colour} in light and in dark"
        assert f".op-{colour} " in text


def test_no_other_file_keeps_a_list_of_operators():
    """Five names close together are a list, which would be silent about a new operator. A policy says its own."""
    quoted = re.compile(rf"(?:[\"'.]|op-|\b(?=\w+: [\"'\d]))({'|'.join(BUILTIN)})\b")
    for folder in ("agents", "core", "dashboard/server", "dashboard/web/src", "reports", "runs", "cli", "problems"):
        for path in [path for kind in ("py", "ts", "tsx", "css") for path in (ROOT / folder).rglob(f"*.{kind}")]:
            if path.name in ("operators.py", "schema.ts") or ".test." in path.name:
                continue
            text = re.sub(r"operators=\([^)]*\)", "", path.read_text(encoding="utf-8"))
            lines = text.splitlines()
            for number in range(len(lines)):
                found = set(quoted.findall("\n".join(lines[number : number + 3])))
                assert len(found) < 5, f"{path.relative_to(ROOT)}:{number + 1}: {sorted(found)}"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"colour": "red"}, "colour"),
        ({"marker": ">"}, "marker"),
        ({"rules": "shrink"}, "rules"),
        ({"prompt": "x", "template": "improve"}, "give one of them"),
    ],
)
def test_a_spec_that_could_not_be_shown_or_written_is_refused(change, told):
    with pytest.raises(ValidationError, match=told):
        OperatorSpec.model_validate({**SIMPLIFY, **change})


def test_what_rules_do_is_told_by_the_operator_or_by_the_plug_in():
    assert [doing({"operator": name}) for name in ("generate", "refine", "merge", "debug")] == [
        "new", "change", "cross", "repair",
    ]  # fmt: skip
    assert doing({"operator": "simplify", "rules": "cross"}) == "cross"
    assert (doing({"parents": [{}]}), doing({})) == ("change", "new")
    with pytest.raises(ConfigError, match="operator=simplify: unknown"):
        doing({"operator": "simplify"})


def test_a_run_is_shown_without_its_plug_ins():
    stored = {"simplify": OperatorSpec.model_validate(SIMPLIFY).model_dump()}
    assert known_operators(stored)["simplify"].colour == "teal"
    assert known_operators(None) == OPERATORS.all() == dict(BUILTIN)


def test_an_operator_of_a_plug_in_folder(tmp_path):
    (tmp_path / "operators").mkdir()
    head = "from core.state.operators import OperatorSpec\n"
    fields = ", ".join(f"{key}={value!r}" for key, value in SIMPLIFY.items())
    (tmp_path / "operators" / "simplify.py").write_text(f"{head}OPERATOR = OperatorSpec({fields}, prompt='x')\n")
    assert further_operators([str(tmp_path)])["simplify"].prompt == "x"
    (tmp_path / "operators" / "given.py").write_text(
        f"{head}OPERATOR = OperatorSpec({fields.replace(repr('change'), 'None')})"
    )
    with pytest.raises(ConfigError, match="operator=given: an operator of a plug-in is written"):
        further_operators([str(tmp_path)])
    (tmp_path / "operators" / "given.py").rename(tmp_path / "operators" / "red.py")
    (tmp_path / "operators" / "red.py").write_text(f"{head}OPERATOR = OperatorSpec(colour='red')\n")
    with pytest.raises(ConfigError, match=r"operator=red: .*red\.py cannot be loaded: ValidationError") as refused:
        further_operators([str(tmp_path)])
    assert "\n" not in str(refused.value)
