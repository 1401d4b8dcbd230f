"""`run`: what is kept of the command that was typed, and what a plan says meanwhile."""

from __future__ import annotations

import io
import json

from cli.parser import main
from cli.run import origin_words


def test_the_words_of_a_run_are_kept_without_secrets():
    words = ["run", "llm.code.api_key=sk-1", "--LLM.code.API_KEY=sk-1", "dashboard.token=t", "search.max_steps=3"]
    words[1:1] = ["--llm.code.extra={headers: {Authorization: Bearer sk-1}}"]
    kept = origin_words(words)
    assert kept.pop(1) == "--llm.code.extra=********"
    assert "sk-1" not in str(kept) and kept[-1] == "search.max_steps=3" and kept[3] == "dashboard.token=********"


class Gone(io.StringIO):
    """A pipe that nobody reads any more."""

    def write(self, text):
        raise BrokenPipeError


def test_a_plan_says_on_stderr_what_takes_long_and_needs_nobody_who_reads_it(tmp_path, monkeypatch, capsys):
    def planned(config, *, accept_unsandboxed, doing):
        doing("train.csv is read: 200,000 rows")
        return {"note": config.data.dir}

    monkeypatch.setattr("cli.run.planned", planned)
    monkeypatch.setattr("cli.run.MOMENT_SECONDS", 0)
    words = ["--plan", f"--data.dir={tmp_path}", "--data.target=y", "--data.metric=mae"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"note": str(tmp_path)} and err == "… train.csv is read: 200,000 rows\n"
    monkeypatch.setattr("sys.stderr", Gone())
    assert main(words) == 0
