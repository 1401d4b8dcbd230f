"""In ShinkaEvolve's form, without its package: writes metrics.json and correct.json into --results_dir."""

import argparse
import importlib.util
import json
import os

AMOUNTS = (3, 17, 30, 41, 99)


def main(program_path, results_dir):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    paid = program.run_experiment(AMOUNTS)
    correct = [sum(coins) for coins in paid] == list(AMOUNTS)
    os.makedirs(results_dir, exist_ok=True)
    with open(os.path.join(results_dir, "metrics.json"), "w") as file:
        json.dump({"combined_score": -sum(map(len, paid)), "public": {"amounts": len(AMOUNTS)}}, file)
    with open(os.path.join(results_dir, "correct.json"), "w") as file:
        json.dump({"correct": correct, "error": None if correct else "an amount is not paid"}, file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program_path", default="initial.py")
    parser.add_argument("--results_dir", default="results")
    main(**vars(parser.parse_args()))
