"""An agent's last words become a short plan."""

from __future__ import annotations

import subprocess

import pytest

from core.backend.agent.folder import lay_out
from core.backend.agent.last_words import LONGEST, plan_of
from core.backend.agent.task_page import task_page
from core.backend.exchange import Message, Request


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("I sorted the bins first.", "I sorted the bins first."),
        ("Done.\n\nlots of prose\nPLAN: best fit with a reserve.", "best fit with a reserve."),
        ("PLAN: an old one\nmore\n**Plan:** a new one", "a new one"),
        ("# Summary\n\nI replaced the loop\nby a table.\n\n- tests pass", "I replaced the loop by a table."),
        ('{"ok": true}\n\nI took the mean.', "I took the mean."),
        ("My planning: none", "My planning: none"),
        ("", ""),
    ],
)
def test_the_plan_line_else_the_first_paragraph(said, plan):
    assert plan_of(said) == plan


def test_it_is_bounded_at_the_end_of_a_sentence():
    assert plan_of("A first sentence. " + "word " * 500) == "A first sentence."
    long = plan_of("word " * 500)
    assert len(long) <= LONGEST and long.endswith("word …")


def test_a_page_for_files_holds_no_form_of_a_reply():
    form = "Answer in two parts and nothing else:\n1. the plan\n2. the program"
    page = task_page("Rules.\n\n## Output format\n\n" + form + "\n", "The task.", form, "change a.py.")
    assert "two parts" not in page and page.endswith("# How to hand in\n\nChange a.py.\n")
    own = task_page("My own template: print it.", "The task.", form, "change a.py.")
    assert own.endswith("Whatever is said above of the form of a reply: change a.py.\n")


class Desk:
    def hand_out(self, code):
        return {"program.py": code}, ["program.py"]


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:1"])
def test_an_agent_is_told_of_what_is_there_only(tmp_path, url):
    request = Request("Rules.", (Message("user", "Find x."),), context={"form": "Rules."})
    lay_out(tmp_path, request, Desk(), url=url, token="t")
    page = (tmp_path / "TASK.md").read_text()
    assert ("./check" in page) == ("no network" in page) == (tmp_path / "check").exists() == bool(url)
    assert "change these files: program.py" in page and "PLAN:" in page and "Rules." not in page


def test_its_scripts_run_wherever_the_interpreter_lies(tmp_path, monkeypatch):
    """A line that begins with `#!` ends at a blank, and after 127 bytes for older kernels."""
    python = tmp_path / ("my ü'x " + "long" * 40) / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$@"; grep -c urlopen')
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    folder = tmp_path / "session"
    folder.mkdir()
    request = Request("Rules.", (Message("user", "Find x."),), context={"form": "Rules."})
    lay_out(folder, request, Desk(), url="http://127.0.0.1:1", token="t")
    done = subprocess.run(["./give-up", "too hard"], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "-I - too hard\n1\n"
