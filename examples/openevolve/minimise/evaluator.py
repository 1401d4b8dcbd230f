"""A cascade with artifacts: one quick run first, the mean of many after it."""

import importlib.util
import math
import time

from openevolve.evaluation_result import EvaluationResult

BEST_KNOWN = -1.5187


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value_at(x, y):
    return math.sin(x) * math.cos(y) + math.sin(x * y) + (x * x + y * y) / 20


def score(program, seed):
    x, y, claimed = program.run_search(seed=seed)
    value = value_at(float(x), float(y))
    return 1.0 / (1.0 + max(0.0, value - BEST_KNOWN)), abs(value - float(claimed))


def evaluate_stage1(program_path):
    try:
        good, lie = score(load(program_path), 0)
    except Exception as error:  # noqa: BLE001  (the candidate may raise anything)
        return EvaluationResult(
            metrics={"combined_score": 0.0, "runs": 0.0},
            artifacts={"error_type": type(error).__name__, "error_message": str(error)},
        )
    return EvaluationResult(metrics={"combined_score": good, "honesty": 1.0 if lie < 1e-9 else 0.0})


def evaluate_stage2(program_path):
    program = load(program_path)
    start = time.time()
    results = [score(program, seed)[0] for seed in range(10)]
    worst = min(range(10), key=results.__getitem__)
    return EvaluationResult(
        metrics={"combined_score": sum(results) / 10, "reliability": sum(r > 0.99 for r in results) / 10},
        artifacts={
            "worst_seed": f"seed {worst} reached only {results[worst]:.4f}",
            "seconds": f"{time.time() - start:.2f}",
        },
    )


def evaluate(program_path):
    return evaluate_stage2(program_path)
