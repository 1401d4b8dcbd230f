"""A program that is no Python: a shell script, judged by what it prints."""

import subprocess


def evaluate(program_path):
    done = subprocess.run(["sh", program_path], capture_output=True, text=True, timeout=10)
    total = sum(int(line) for line in done.stdout.split())
    return {"combined_score": -abs(total - 2026), "total": total}
