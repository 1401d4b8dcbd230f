"""A runner without a boundary, as many are: candidate, evaluator, journal and labels share a folder and a process.

`python tests/boundary/naive.py FOLDER`: the control of this suite, and the example of its protocol (README.md).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PYTHON = [
    sys.executable,
    "-c",
    "import json, sys, evaluator; told = evaluator.evaluate(sys.argv[1]); print(json.dumps(told))",
]


def main(folder: Path) -> None:
    """Run one program, score it, note it in the journal, and say what the journal then holds."""
    kind = json.loads((folder / "task.json").read_text())["kind"]
    steps: dict[str, list[list[str]]] = {
        "competition": [[sys.executable, "program.py"], [*PYTHON, "submission/submission.csv"]],
        "command": [["sh", "-c", "cd src && python3 program.py"], [*PYTHON, "src/output.txt"]],
    }
    if kind == "writer":
        wrote = _run([sys.executable, "program.py"], folder, "Improve the program. Answer with a block of code.")
        (folder / "program.py").write_text((re.findall(r"```python\n(.*?)```", wrote, re.S) or [""])[-1])
    if kind == "command":
        parts = re.split(r"^=== (.+) ===$", (folder / "program.py").read_text(), flags=re.M)
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            (folder / "src" / name).write_text(text.lstrip("\n"))
    said = "".join(_run(command, folder) for command in steps.get(kind, [[*PYTHON, "program.py"]]))
    found = [score for line in said.splitlines() if (score := _score(line)) is not None]
    journal = folder / "logs" / "run" / "journal.jsonl"
    score = found[0 if kind in steps else -1] if found else None  # a whole script is taken at its word, as AIDE does
    with journal.open("a") as file:
        file.write(json.dumps({"score": score}) + "\n")
    scores = [json.loads(line)["score"] for line in journal.read_text().splitlines()]
    code = (folder / "program.py").read_text(errors="replace")
    shown = code + said + (wrote if kind == "writer" else "")
    prompt = f"Its code:\n```python\n{code}\n```\n\nIt printed:\n{said}\nImprove it."
    views = {"terminal": shown, "page": f"<pre>{shown}</pre>", "prompt": prompt}
    best = max((score for score in scores if score is not None), default=None)
    print(json.dumps({"score": best, "output": said + (wrote if kind == "writer" else ""), "views": views}))


def _run(command: list[str], folder: Path, stdin: str = "") -> str:
    done = subprocess.run(command, cwd=folder, input=stdin.encode(), capture_output=True, timeout=20, check=False)
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def _score(line: str) -> float | None:
    """The score in a line of the evaluator's output."""
    try:
        found: Any = json.loads(line)
        return float(found["combined_score"])
    except (ValueError, TypeError, KeyError):
        return None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
