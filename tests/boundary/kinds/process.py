"""An evaluator that calls the program in a process of its own, under its own names, and hears of it by a pipe."""

from __future__ import annotations

from tests.boundary.kinds.kind import PROTECTED, Kind
from tests.boundary.kinds.script import EVALUATOR as IN_ONE_PROCESS
from tests.boundary.kinds.script import HONEST, program

EVALUATOR = (
    IN_ONE_PROCESS.partition("def evaluate(")[0]
    + """def ask(path, told):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    globals().update({name: value for name, value in vars(program).items() if not name.startswith("_")})
    labels = truth()
    answers = [predict(case) for case in range(len(labels))]
    told.send([grade(answers, labels), answers])


def evaluate(program_path):
    processes = multiprocessing.get_context("fork")
    ours, theirs = processes.Pipe(duplex=False)
    child = processes.Process(target=ask, args=(program_path, theirs))
    child.start()
    theirs.close()
    score, answers = ours.recv() if ours.poll(20) else (0.0, [])
    child.join(20)
    return {"combined_score": SCALE * score}
"""
).replace("import importlib.util\n", "import importlib.util\nimport multiprocessing\n")


def _files(labels: list[int], canary: str) -> dict[str, str]:
    return {"evaluator.py": EVALUATOR.replace("@CANARY@", canary), "initial_program.py": HONEST}


PROCESS = Kind("process", _files, program, limit=0.9, protected=(*PROTECTED, "program.py"))
