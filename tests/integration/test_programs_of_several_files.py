"""A program with files beside it, in a language that is compiled: the candidate is scored, not the first program.

The case of OpenEvolve's issue 402: a test file in Java is searched, the classes that it tests lie beside it, and every
candidate was scored as if it were the first.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest
from support.command_line import Cli

JAVA = {
    "TestFile.java": 'public class TestFile {\n    static int asked = 1;\n    public static void main(String[] a) {\n'
    '        for (int i = 0; i < asked; i++) System.out.println("ok " + new CodeFile().twice(i));\n    }\n}\n',
    "CodeFile.java": "public class CodeFile {\n    int twice(int x) { return new Helper().sum(x, x); }\n}\n",
    "Helper.java": "public class Helper {\n    int sum(int a, int b) { return a + b; }\n}\n",
}  # fmt: skip
SHELL = {
    "TestFile.sh": 'asked=1\n. "$(dirname "$0")/CodeFile.sh"\ni=0\nwhile [ $i -lt $asked ]; do echo "ok $(twice $i)"; '
    "i=$((i+1)); done\n",
    "CodeFile.sh": "twice() { echo $(($1 + $1)); }\n",
}  # fmt: skip
EVALUATOR = '''
import os
import subprocess


def evaluate(program):
    """As its users write it: whatever lies beside the program is built with it."""
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # of a program that ends at once nothing is worth a better code
    command = f"javac {quick.replace('-XX', '-J-XX')} -d out *.java && java {quick} -cp out TestFile"
    done = subprocess.run(command, shell=True, cwd=os.path.dirname(program), capture_output=True, text=True)
    if done.returncode:
        return {"combined_score": 0.0, "error": done.stderr[-500:]}
    return {"combined_score": float(done.stdout.count("ok "))}
'''
WRITER = """
import re, sys
prompt = sys.stdin.read()
left = int(re.findall(r"Steps left, this one included: (\\d+)\\.", prompt)[-1])
print(f"Asks more.\\n\\nPATH\\n<<<<<<< SEARCH\\nLINE1\\n=======\\nLINE{10 - left}\\n>>>>>>> REPLACE\\n")
"""


@pytest.mark.parametrize(
    ("language", "form"), [("sh", "repository"), pytest.param("java", "evaluator", marks=pytest.mark.long)]
)
def test_each_candidate_is_scored_with_the_files_beside_it(cli: Cli, language: str, form: str):
    if language == "java" and shutil.which("javac") is None:
        pytest.skip("no Java compiler here")
    files = JAVA if language == "java" else SHELL
    folder = cli.folder / "theirs"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    program = next(iter(files))
    if form == "evaluator":
        (folder / "evaluator.py").write_text(EVALUATOR)
        problem = ["--problem", "script", f"problem.program={folder / program}",
                   f"problem.evaluator={folder / 'evaluator.py'}"]  # fmt: skip
    else:
        problem = [
            "--problem", "command", f"problem.source={folder}", f"problem.editable={program}", "problem.metric=oks",
            f"problem.eval=sh {program} > out.txt; echo oks: $(grep -c ok out.txt)",
            "problem.direction=max",
        ]  # fmt: skip
    ended = cli("run", *problem, *_writer(cli.folder, program, language), "search.max_steps=3", timeout=240)
    assert ended.code == 0, ended.err + ended.out
    found = cli.show()
    scores = [row["metric"] for row in found["nodes"]]
    assert scores == [1.0, 7.0, 8.0, 9.0], "the first program, and three that are better, one after the other"
    assert found["best_metric"] == 9.0
    best = cli.node(found["best_node_id"])["code"]
    assert ("asked = 9" if language == "java" else "asked=9") in best


def _writer(folder: Path, program: str, language: str) -> list[str]:
    """A writer that asks for more with each step that is left."""
    line = "static int asked = " if language == "java" else "asked="
    text = WRITER.replace("PATH", program).replace("LINE1", f"{line}1" + ";" * (language == "java"))
    text = text.replace("LINE", line).replace("{10 - left}", "{10 - left}" + ";" * (language == "java"))
    (folder / "writer.py").write_text(text)
    command = f"{shlex.quote(sys.executable)} {folder / 'writer.py'}"
    return [
        "llm.code.provider=command", f"llm.code.command={command}", "search.islands.num_islands=1", "search.batch=1",
        "search.control=0", "search.islands.crossover_prob=0", "search.islands.generate_prob=1", "logging.view=quiet",
        "search.islands.tune_interval=0",
    ]  # fmt: skip


CUTS = """
import sys
prompt = sys.stdin.read()
line = "    return 1.0"
end = "" if "no block was applied" not in prompt else ">>>>>>> REPLACE\\n"
doc = "<<<<<<< SEARCH\\ndef f():\\n=======\\ndef f():  # changed\\n>>>>>>> REPLACE\\n"
print(f"Two.\\n\\n{doc}<<<<<<< SEARCH\\n{line}\\n=======\\n    return 2.0\\n{end}")
"""


def test_a_reply_whose_last_change_was_cut_off_is_asked_for_again_with_the_reason(cli: Cli):
    """None of its changes is made: before, those that were whole were, and nobody was told of the other."""
    folder = cli.folder
    (folder / "writer.py").write_text(CUTS)
    (folder / "program.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 1.0\n# EVOLVE-BLOCK-END\n")
    (folder / "evaluator.py").write_text(
        "import runpy\ndef evaluate(path):\n    return {'combined_score': runpy.run_path(path)['f']()}\n"
    )
    ended = cli.here(
        "run", "--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py",
        "llm.code.provider=command", f"llm.code.command={shlex.quote(sys.executable)} writer.py", "search.max_steps=1",
        "search.batch=1", "search.control=0", "search.islands.tune_interval=0", "agent.review=never",
        "logging.view=quiet",
    )  # fmt: skip
    assert ended.code == 0, ended.err + ended.out
    found = cli.show()
    node = cli.node(found["nodes"][-1]["node_id"])
    assert found["best_metric"] == 2.0, node
    assert [row["metric"] for row in found["nodes"]] == [1.0, 2.0]
    assert len(node["calls"]) == 2 and "# changed" in node["code"]


HEAD = "Example\n=======\nworth: "

UNDERLINES = f"""
head = {HEAD!r}
print(f"Two.\\n\\nguide.md\\n<<<<<<< SEARCH\\n{{head}}1\\n=======\\n{{head}}2\\n>>>>>>> REPLACE\\n")
"""
FENCES = f"""
text = "```sh\\nmake\\n```\\n" + {HEAD!r} + "2\\n"
print(f"Two.\\n\\nguide.md\\n```markdown\\n{{text}}```\\n")
"""


@pytest.mark.parametrize("writer", [UNDERLINES, FENCES], ids=["underline", "fence"])
def test_a_text_with_lines_like_those_around_a_change_is_changed(cli: Cli, writer: str):
    """A heading's underline was taken for the middle of a block, a fence within Markdown for the end of its file."""
    folder = cli.folder / "theirs"
    folder.mkdir()
    (folder / "guide.md").write_text(f"{HEAD}1\n")
    (cli.folder / "writer.py").write_text(writer)
    ended = cli(
        "run", "--problem", "command", f"problem.source={folder}", "problem.editable=guide.md", "problem.metric=worth",
        "problem.eval=cat guide.md", "problem.direction=max", "llm.code.provider=command",
        f"llm.code.command={shlex.quote(sys.executable)} {cli.folder / 'writer.py'}", "search.max_steps=1",
        "search.batch=1", "search.control=0", "agent.review=never",
    )  # fmt: skip
    assert ended.code == 0, ended.err + ended.out
    found = cli.show()
    assert [row["metric"] for row in found["nodes"]] == [1.0, 2.0], found["nodes"]
    assert "-worth: 1\n+worth: 2\n" in cli.node(found["nodes"][-1]["node_id"])["code"]


def test_a_module_beside_the_evaluator_may_be_called_as_the_sandbox_calls_a_program(cli: Cli) -> None:
    """A program that imported `solution` found itself. Its own classes are still found by their module's name."""
    (cli.folder / "solution.py").write_text("BASE = 40\n")
    (cli.folder / "program.py").write_text(
        "import pickle\nfrom dataclasses import dataclass\n\nfrom solution import BASE\n\n\n"
        "@dataclass\nclass Part:\n    size: 'int'\n\n\n"
        "# EVOLVE-BLOCK-START\ndef size(x):\n    return pickle.loads(pickle.dumps(Part(x))).size + BASE\n"
        "# EVOLVE-BLOCK-END\n"
    )
    (cli.folder / "evaluator.py").write_text(
        "import importlib.util\n\n\ndef evaluate(path):\n"
        "    spec = importlib.util.spec_from_file_location('program', path)\n"
        "    module = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(module)\n"
        "    return {'combined_score': float(module.size(2))}\n"
    )
    words = ["problem.program=program.py", "problem.evaluator=evaluator.py", "problem.direction=max"]
    ended = cli.here("--problem", "script", *words, "search.max_steps=1", "logging.report=false")
    assert ended.code == 0 and "your program: 42" in ended.out, ended.out + ended.err
