"""What a newcomer types first: version, help, keys, completion, the list of runs in a narrow terminal, tags."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from support.command_line import ROOT, toy_words

from utils.config import known_keys
from utils.key_docs import key_docs


def test_the_version(cli):
    said = cli.here("--version")
    assert said.code == 0 and re.fullmatch(r"swarm-evo \d+\.\d+\.\d+\n", said.out)


def test_a_mistyped_verb_is_guessed(cli):
    ended = cli.here("shwo", "latest")
    assert ended.code == 2 and "unknown verb 'shwo' (did you mean 'show'?)" in ended.line


def test_help_lists_every_key_with_its_default_and_meaning(cli):
    text = cli.here("run", "-h").out
    for key in known_keys():
        assert re.search(rf"^{re.escape(key)} = ", text, re.MULTILINE), key
    assert "search.islands." in text and "Interpreter for programs and evaluators" in text


def test_every_key_has_a_meaning():
    docs = key_docs()
    assert {doc.key for doc in docs} >= set(known_keys())
    assert [doc.key for doc in docs if not doc.meaning] == []


def test_config_tells_what_these_words_give(cli):
    said = cli.here("config", "search", "--problem", "tsp", "search.max_steps=7").out
    fitted = cli.here("config", "search.batch", "--problem=script", "--llm=openai", "search.max_steps=12").out
    assert fitted.startswith("search.batch = 2\n"), "what a run would take: of the preset's 8, that many see nothing"
    assert "search.max_steps = 7   (default 50)" in said and "budget." not in said
    (row,) = cli.here("config", "budget.usd", "--json").json
    assert (row["key"], row["value"], row["default"]) == ("budget.usd", 5.0, 5.0) and "Dollars" in row["meaning"]
    ended = cli.here("config", "serch.max_steps")
    assert ended.code == 2 and "did you mean 'search.max_steps'" in ended.line
    assert "sk-secret" not in cli.here("config", "llm.code", "llm.code.api_key=sk-secret").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(cli, shell):
    assert "swarm-evo completion words" in cli.here("completion", shell).out


@pytest.mark.long
def test_bash_completes_verbs_keys_and_runs(cli, tmp_path):
    assert cli.here(*toy_words(2)).code == 0
    (tmp_path / "swarm-evo").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT / "main.py"}" "$@"\n')
    (tmp_path / "swarm-evo").chmod(0o755)
    (tmp_path / "complete.sh").write_text(cli.here("completion", "bash").out)

    def complete(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        script = f"source ./complete.sh; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _swarm_evo; " + (
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        path = f"{tmp_path}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        return done.stdout.split()

    assert complete("swarm-evo", "sho") == ["show"]
    assert complete("swarm-evo", "run", "--search.max_s") == ["--search.max_steps="]
    assert complete("swarm-evo", "show", cli.run_dir.name[:4]) == [cli.run_dir.name]


def test_the_list_of_runs_fits_a_narrow_terminal_sorted_and_filtered(cli):
    for steps, name in ((2, "a_run_with_quite_a_long_name"), (5, "b_run_with_quite_a_long_name")):
        assert cli.here(*toy_words(steps, f"project.name={name}")).code == 0
    runs = [path.name for path in cli.runs]
    said = cli.here("list-runs", COLUMNS="80").out
    assert all(run in said for run in runs), "ids can be copied"
    assert max(map(len, said.splitlines())) <= 80
    assert [row["run"] for row in cli.here("list-runs", "--json", "--sort", "steps").json] == runs
    assert [row["run"] for row in cli.here("list-runs", "--json", "--sort", "name", "--last", "1").json] == runs[1:]

    assert cli.here("tag", runs[0], "+paper", "+draft").out == "draft paper\n"
    assert cli.here("tag", runs[0], "-draft").out == "paper\n"
    assert [row["run"] for row in cli.here("list-runs", "--json", "--tag", "paper").json] == [runs[0]]
    assert cli.here("list-runs", "--json", "--problem", "tsp").json == []
    assert cli.here("tag", runs[0], "+größe", "+हिन्दी").out == "größe paper हिन्दी\n"
    assert runs[0] in cli.here("list-runs", "--tag", "gro\u0308ße").out, "as a Mac types it"
    assert cli.here("tag", runs[0], "-gro\u0308ße", "-हिन्दी").out == "paper\n"
    assert cli.here("tag", runs[0], "+two words").code == 2 and cli.here("tag", runs[0], "paper").code == 2
    assert cli.here("verify", runs[0]).code == 0, "a tag is no part of the journal"


def test_a_run_is_removed_when_it_is_meant(cli):
    assert cli.here(*toy_words(2)).code == 0
    run_dir = cli.run_dir
    refused = cli.here("rm", "latest")
    assert refused.code == 2 and "--yes" in refused.line and run_dir.is_dir()
    assert cli.here("rm", "latest", "--yes").out == f"removed {run_dir.name}\n"
    assert not run_dir.exists() and not (run_dir.parent / "metrics.json").is_symlink()
    assert cli.here("rm", "nosuch", "--yes").code == 2


@pytest.mark.long
def test_a_run_that_goes_on_is_not_removed(cli):
    child = cli.start(*toy_words(400, seconds=0.1))
    for line in child.stdout:
        if line.startswith("step 2/"):
            break
    refused = cli.here("rm", "latest", "--yes")
    assert refused.code == 2 and "held by another process" in refused.line and cli.run_dir.is_dir()


@pytest.mark.long
def test_compiling_comes_before_the_clock_and_is_told_once(cli, tmp_path):
    """With an empty cache the loops are compiled; a budget of a few seconds is still the search's own."""
    words = ("--problem", "bin_packing", "problem.name=u120", "budget.seconds=4", "search.max_generations=null")
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    first = cli(*words, timeout=280, **environment)
    assert first.code == 0 and "compiling the packing loops, once on this machine" in first.out
    shown = cli.show()
    rows = json.loads((cli.run_dir / "metrics.json").read_text())
    assert shown["steps"] > 0 and rows[0]["elapsed"] < 10, "the first generation is there soon after the clock starts"
    assert "compiling" not in cli(*words[:-1], "search.max_generations=1", timeout=200, **environment).out
