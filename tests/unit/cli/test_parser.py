"""Words → verb, options and configuration keys; what cannot be understood is one line."""

from __future__ import annotations

import errno
import gc
import importlib
import re

import pytest

from cli import parser
from cli.parser import VERBS, build_parser, main, parse
from utils.errors import ConfigError, RunBusyError


@pytest.mark.parametrize(
    ("words", "verb", "overrides"),
    [
        ([], "run", []),
        (["--search.max_steps=3"], "run", ["search.max_steps=3"]),
        (["search.max_steps=3", "--problem", "tsp"], "run", ["search.max_steps=3"]),
        (["resume", "latest", "--budget.usd=1"], "resume", ["budget.usd=1"]),
        (["--initial=a.py,b.py"], "run", ["initial=a.py,b.py"]),
        (["--plugins=mine"], "run", ["plugins=mine"]),
        (["--data.goal=price: in = dollars"], "run", ["data.goal=price: in = dollars"]),
        (["arena", "a.py", "stockfish --threads=1 x.y"], "arena", []),
    ],
)
def test_configuration_keys_stand_apart_from_options(words, verb, overrides):
    args = parse(words)
    assert (args.verb, args.overrides) == (verb, overrides)


@pytest.mark.parametrize("text", ["-5 % better", "search.workers=4 was slow", "plugins=mine", "a - b", ""])
def test_a_users_own_words_are_neither_keys_nor_options(text):
    tagged = parse(["tag", "r", "--title", text, "--note", text, "-draft"])
    assert (tagged.title, tagged.note, tagged.tags, tagged.overrides) == (text, text, ["~draft"], [])
    assert parse(["tell", "r", "t", "--plan", text]).plan == text
    assert parse(["run", "--plan", "search.workers=4"]).overrides == ["search.workers=4"]


def test_presets_are_options():
    args = parse(["--problem", "tsp", "--llm=rules"])
    assert (args.problem, args.llm, args.overrides) == ("tsp", "rules", [])


@pytest.mark.parametrize(
    ("words", "llm"),
    [
        (["--llm"], ""),
        (["--llm", "--json"], ""),
        (["--llm", "--llm.code.model=m"], ""),
        (["--llm=glm"], "glm"),
        (["--llm", "glm"], "glm"),
        (["--llm", "--llm=glm"], "glm"),
        (["--llm=glm", "--llm"], "glm"),
        ([], None),
    ],
)
def test_doctor_takes_the_models_with_or_without_a_preset(words, llm):
    assert parse(["doctor", *words]).llm == llm


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fly"], "unknown verb 'fly'; allowed: run, step"),
        (["--search.max_steps", "3"], "--search.max_steps=VALUE"),
        (["search.max_steps", "3"], "as in search.max_steps=VALUE"),
        (["resume"], "resume: the following arguments are required: RUN"),
        (["step", "--until", "fly"], "invalid choice"),
        (["show", "r", "--jsn"], "show: unrecognized arguments: --jsn"),
    ],
)
def test_what_cannot_be_understood_says_what_can(words, said):
    with pytest.raises(ConfigError) as caught:
        parse(words)
    assert said in str(caught.value)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_a_file_with_a_parser_and_a_run(verb, capsys):
    module = importlib.import_module(VERBS[verb])
    assert callable(module.run) and module.__doc__
    with pytest.raises(SystemExit) as left:
        parse([verb, "--help"])
    told = capsys.readouterr().out
    assert left.value.code == 0 and verb in told
    with pytest.raises(SystemExit):
        parse(["help", verb])
    assert capsys.readouterr().out == told


def test_the_overview_names_every_verb(capsys):
    with pytest.raises(SystemExit):
        parse(["help"])
    said = capsys.readouterr().out
    assert [verb for verb in VERBS if not re.search(rf"^    {verb}\s", said, re.MULTILINE)] == []
    assert "config [KEY]" in build_parser("run").format_help()


def raised_by(module: str, text: str) -> ImportError:
    try:
        exec(f"raise ImportError({text!r})", {"__name__": module})
    except ImportError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ImportError("libm.so.6: version `GLIBC_2.29' not found", name="scipy.x"), 2, "swarm-evo: the package 'scipy'"),
        (raised_by("numba.core", "Numba needs\nNumPy 2.3"), 2, "swarm-evo: the package 'numba' cannot be imported"),
        (ModuleNotFoundError("No module named 'rich'", name="rich"), 2, "swarm-evo: the package 'rich' is not"),
        (RunBusyError("run 'r' is held\nby another"), 2, "swarm-evo: run 'r' is held by another"),
        (OSError(errno.ENOSPC, "No space left on device", "/x/run.db"), 1, "swarm-evo: /x/run.db: No space left"),
        (KeyboardInterrupt(), 130, "swarm-evo: interrupted"),
    ],
)
def test_an_error_is_one_line_and_its_exit_code(monkeypatch, capsys, error, code, said):
    def fail(words):
        raise error

    monkeypatch.setattr(parser, "parse", fail)
    monkeypatch.setattr("threading.active_count", lambda: 1)  # threads of other tests: main would end this process
    assert main([]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(said)


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOENT, "No such file"), ImportError("cannot import name 'x'", name="cli.run")]
)
def test_a_fault_of_ours_is_not_hidden(monkeypatch, error):
    def fail(words):
        raise error

    monkeypatch.setattr(parser, "parse", fail)
    with pytest.raises(type(error)) as told:
        main([])
    assert told.value is error


def test_an_unknown_option_names_the_key_that_ends_so():
    with pytest.raises(ConfigError, match=r"unrecognized arguments: --seed=5; did you mean --project\.seed=…\?"):
        parse(["run", "--seed=5"])


@pytest.mark.parametrize(
    "words",
    [
        ["latest", "3", "--json"],
        ["latest", "--json", "3"],
        ["--json", "latest", "3"],
        ["--json", "latest", "--why", "3"],
    ],
)
def test_options_may_stand_between_the_names(words):
    args = parse(["show", *words])
    assert (args.run, args.node, args.json) == ("latest", "3", True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["list-runs", "--limit", "1"], "; did you mean --last?"),
        (["show", "latest", "--jsn"], "; did you mean --json?"),
        (["show", "latest", "--limit=1"], "--limit=1"),
        (["resume", "latest", "--steps=5"], "; did you mean --search.max_steps=…?"),
        (["resume", "latest", "--seed=5"], "--seed=5"),
        (["resume", "latest", "--problem=tsp"], "--problem=tsp"),
        (["export-best", "latest", "--llm=rules"], "--llm=rules"),
    ],
)
def test_a_hint_names_only_what_the_verb_takes(words, said):
    """Not the keys of others, not those that a run keeps: who follows a hint gets what he wants."""
    with pytest.raises(ConfigError) as caught:
        parse(words)
    assert str(caught.value).endswith(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["resume", "latest", "--project.name=x"], "project.name=…: `resume` does not read it; a run keeps its name"),
        (["step", "latest", "--project.name=x"], "project.name=…: `step` does not read it"),
        (["fork", "latest", "--node=1", "--initial=x.py"], "`--edit FILE`"),
        (["replay", "latest", "--search.max_steps=3"], "`replay` does not read it; it reads project.dir"),
        (["replay", "latest", "--serve", "--llm.cache=false"], "it reads project.dir, dashboard.*"),
        (["replay", "latest", "--verify", "--presets.llm=rules"], "no model is asked again"),
        (["export-best", "latest", "--bundle=x", "--search.max_steps=3"], "`export-best --bundle` does not read it"),
        (["sweep", "show", "x", "--search.max_steps=3"], "`sweep show` does not read it"),
        (["serve", "--search.max_steps=3"], "`serve` does not read it"),
        (["doctor", "--evaluator=x.py", "--search.max_steps=3"], "it reads problem.direction, problem.metric"),
    ],
)
def test_a_key_that_does_nothing_is_refused(words, said):
    with pytest.raises(ConfigError) as caught:
        parse(words)
    assert said in str(caught.value)


def test_keys_that_do_something_are_taken():
    assert parse(["step", "--project.name=x"]).overrides == ["project.name=x"]
    assert parse(["serve", "--dashboard.port=0", "--plugins=x"]).overrides == ["dashboard.port=0", "plugins=x"]
    assert parse(["replay", "latest", "--verify", "--llm.code.api_key=x"]).overrides == ["llm.code.api_key=x"]


def test_a_verb_is_imported_without_looks_for_garbage(monkeypatch):
    """A tenth of a start's own imports was such looks."""
    told = []
    monkeypatch.setattr(parser, "parse", lambda words: told.append(gc.isenabled()) or parse(words))
    assert main(["completion", "bash"]) == 0
    assert told == [False] and gc.isenabled()
