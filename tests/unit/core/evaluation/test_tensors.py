"""Programs that answer with tensors of PyTorch are scored out of their reach, like those that answer with arrays.

Nothing of them crossed: each such score was `unisolated`, and an evaluator apart was loaded anew for each program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy
import pytest
from support import small_torch
from support.sandboxes import opened_tier

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart, program_failure
from core.evaluation.isolation.evaluator import EvaluatorServer
from core.evaluation.isolation.usual_forms import forms_of, in_form, known_of
from core.executor.inside import plain

EVALUATOR = """import importlib.util

import numpy
import torch

X = torch.tensor([1.0, 2.0, 3.0])


def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.Layer(module.SCALE)(X) if hasattr(module, "Layer") else module.f(X)["y"]
    assert isinstance(found, torch.Tensor), type(found)
    return {"combined_score": -abs((found - X * 2).sum().item())}
"""
OWN = "import torch\nSCALE = torch.tensor(1.5)\ndef f(x): return {'y': x * SCALE}"
LAYER = """import torch
SCALE = torch.tensor(1.5)
class Layer:
    def __init__(self, scale): self.scale = scale
    def __call__(self, x): return x * self.scale"""


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The real one, where it is installed."""
    try:
        import torch as found
    except ImportError:
        found = small_torch
    monkeypatch.setitem(sys.modules, "torch", found)
    return found


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("tensors")
    (folder / "evaluator.py").write_text(EVALUATOR)
    source = Path(small_torch.__file__).read_text()
    (folder / "torch.py").write_text(source)
    with opened_tier("warm", folder / "state") as sandbox:

        def run(code: str, classes: tuple[str, ...] | None = None) -> Any:
            how = Apart(folder / "evaluator.py", classes=classes, modules={"torch": source}, timeout=30)
            return how.run(sandbox, code, limits=Limits(seconds=20))

        yield run


@pytest.mark.parametrize("own", [OWN, LAYER], ids=["function", "object"])
def test_tensors_cross_both_ways(apart: Any, own: str) -> None:
    first = apart(own)
    assert first.value == {"combined_score": -3.0} and not first.refused
    assert apart(own.replace("1.5", "2.0"), first.classes).value == {"combined_score": 0.0}


def test_what_has_no_tensors_there_fails_alone(apart: Any) -> None:
    known = apart(OWN).classes
    found = apart("import numpy\ndef f(x): return {'y': x.numpy() * 2}", known)
    assert (
        found.value is None
        and program_failure(found) is None
        and "where the initial program has a tensor" in found.line
    )
    found = apart("def f(x): return {'y': (x * 2).bfloat16()}", known)
    assert "a tensor of bfloat16 on cpu, strided, is not plain data" in found.refused and found.by_program


def test_a_tensor_is_the_same_on_the_other_side(torch: Any) -> None:
    row = torch.tensor([[0.5, 2.0]])
    sent = plain.encode(plain.wrap({"a": [row], "one": torch.tensor(2.5)}))
    seen = plain.unwrap(json.loads(sent))
    assert seen["a"][0].is_tensor and seen["one"].shape == (), "looked at as arrays"
    for back in (
        plain.with_tensors(seen),
        plain.unwrap_given(json.loads(plain.encode(plain.wrap_given({"a": [row], "one": torch.tensor(2.5)})))),
    ):
        assert type(back["a"][0]) is type(row) and back["a"][0].numpy().tolist() == [[0.5, 2.0]]
        assert back["a"][0].numpy().dtype == numpy.float32 and back["one"].item() == 2.5


def test_where_the_users_program_has_arrays_or_lists_tensors_become_these(torch: Any) -> None:
    found = plain.unwrap(json.loads(plain.encode(plain.wrap(torch.tensor([0.5, 2.0])))))
    for own, kind in ((numpy.ones(2), numpy.ndarray), ([1.5, 2.5], list), (torch.tensor([1.0]), torch.Tensor)):
        marks = forms_of(plain.unwrap(json.loads(plain.encode(plain.wrap(own)))), "f")
        answer = plain.with_tensors(in_form(found, "f", known_of(marks)))
        assert type(answer) is kind and [
            float(number.item() if kind is torch.Tensor else number) for number in getattr(answer, "_numbers", answer)
        ] == [0.5, 2.0]


@pytest.mark.parametrize("worked", [False, True])
def test_an_evaluator_whose_torch_has_worked_serves_no_forks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worked: bool
) -> None:
    """A fork that computes then waits for ever for threads that it has not."""
    (tmp_path / "torch.py").write_text(Path(small_torch.__file__).read_text())
    (tmp_path / "evaluator.py").write_text(f"import torch\ntorch.working = {worked}\n{EVALUATOR}")
    with closing(EvaluatorServer(tmp_path / "evaluator.py", "evaluate", sys.executable)) as server:
        server.load(60)
        assert server.hinders == ("it has computed with torch" if worked else "")
