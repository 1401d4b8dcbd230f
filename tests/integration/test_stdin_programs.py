"""Programs that read standard input, judged on several instances by one graded file, as docs/neighbours.md says."""

from __future__ import annotations

from support.command_line import ROOT, Cli

JUDGE = """
import base64, glob, sys
lines = open(sys.argv[1]).read().split("\\n")
total = 0
for name, line in zip(sorted(glob.glob("in_*.txt")), lines):
    answer = base64.b64decode(line).decode().split()
    assert answer == sorted(open(name).read().split()), f"{name} is not sorted"
    total += len(answer)
print("bins:", total)
"""
SORTS = "print(*sorted(input().split()), sep='\\n')\n"
FORGES = "import sys\nwords = input().split()\nprint(*sorted(words) if len(words) < 3 else words, sep='\\n')\nprint()\n"


def recipe() -> str:
    """The command of the page, as it stands there."""
    page = (ROOT / "docs/neighbours.md").read_text(encoding="utf-8")
    return page.partition("--problem.eval='for i in")[2].partition("'\n")[0]


def test_each_instance_is_a_line_that_no_answer_can_forge(cli: Cli):
    command = f"problem.eval=for i in{recipe()}"
    assert "base64 -w0" in command
    (cli.folder / "task").mkdir()
    files = {"in_1.txt": "3 1 2 5\n", "in_2.txt": "9 8\n", "judge.py": JUDGE}
    for name, text in files.items():
        (cli.folder / "task" / name).write_text(text)
    words = ["run", "--problem", "command", f"problem.source={cli.folder / 'task' / 'main.py'}", command]
    words += ["problem.direction=max", "problem.metric=bins", "problem.grade=python3 judge.py", "search.max_steps=1"]
    (cli.folder / "task" / "main.py").write_text(SORTS)
    ended = cli.here(*words, "--json", "logging.report=false")
    assert ended.code == 0 and ended.json["metric_source"] == "verified", ended.err
    assert ended.json["baselines"][0]["metric"] == 6
    (cli.folder / "task" / "main.py").write_text(FORGES)
    ended = cli.here(*words, "logging.report=false")
    assert ended.code == 2 and "AssertionError: in_1.txt is not sorted" in ended.err
