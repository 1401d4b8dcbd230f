"""A registry's names come from its table, from entry points and from plug-in folders; nothing else is loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType

import pytest

from utils.config import known_keys
from utils.errors import ConfigError
from utils.registry import Registry, nearest


@pytest.fixture
def words() -> Registry[Callable[[], str]]:
    """Functions by name, for a made-up key."""
    return Registry(
        key="test.word",
        kind="words",
        attribute="WORD",
        spec=FunctionType,
        builtin={"dedent": "textwrap:dedent", "broken": "no_such_module:x"},
    )


@pytest.fixture
def folder(tmp_path):
    """A plug-in folder; writes `words/<name>.py`."""

    def write(name, text):
        path = tmp_path / "words" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return tmp_path

    return write


def refusal(registry, name, *folders) -> str:
    with pytest.raises(ConfigError) as refused:
        registry.get(name, folders)
    assert "\n" not in str(refused.value) and str(refused.value).startswith(f"test.word={name}")
    return str(refused.value)


def test_a_built_in_part_is_loaded_when_it_is_asked_for(words):
    sys.modules.pop("textwrap", None)
    assert words.names() == ["dedent", "broken"] and "textwrap" not in sys.modules
    assert words.get("dedent")(" x") == "x"


def test_a_fault_in_a_built_in_part_is_ours(words):
    with pytest.raises(ModuleNotFoundError):
        words.get("broken")


def test_an_unknown_name_is_told_with_the_nearest_and_where_further_ones_go(words):
    said = refusal(words, "dedant")
    assert "did you mean 'dedent'?" in said and "swarm_evo.words" in said and "words/dedant.py" in said
    assert nearest("zzz", ["dedent"]) == nearest("foo", ["portfolio"]) == ""


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("search.seed", "project.seed"),
        ("budget.steps", "search.max_steps"),
        ("llm.model", "llm.code.model"),
        ("agent.provider", "llm.code.provider"),
        ("search.usd", "budget.usd"),
        ("serch.max_steps", "search.max_steps"),
        ("search.num_island", "search.num_islands"),
    ],
)
def test_a_key_of_another_section_is_nearer_than_a_like_looking_one_of_the_same(word, meant):
    known = [*known_keys(), "search.num_islands"]
    assert nearest(word, known) == f" (did you mean '{meant}'?)"


def test_a_file_of_a_plug_in_folder_is_a_part(words, folder):
    plugins = folder("hello", "def WORD():\n    return 'hello'\n")
    assert words.names([plugins, plugins]) == ["dedent", "broken", "hello"]
    assert words.get("hello", [plugins, str(plugins)])() == "hello"
    assert words.get("hello", [plugins]) is words.get("hello", [plugins]), "executed once"


def test_threads_that_ask_at_once_all_get_the_whole_part(words, folder):
    where = folder("slow", "import time\ntime.sleep(0.2)\ndef make(): return 'slow'\nWORD = make\n")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: words.get("slow", [where]), range(4)))
    assert len(set(found)) == 1 and found[0]() == "slow"


def test_files_of_other_folders_and_names_are_passed_over(words, folder, tmp_path):
    plugins = folder("1st try", "1/0")
    (tmp_path / "hello.py").write_text("1/0")
    assert words.names([plugins]) == ["dedent", "broken"]


def test_tests_in_a_plug_in_folder_are_no_parts(words, folder):
    """`init` writes one beside a problem of one's own."""
    plugins = folder("hello", "WORD = None")
    for name in ("test_hello", "conftest"):
        folder(name, "1/0")
    assert words.names([plugins]) == ["dedent", "broken", "hello"]


def test_files_may_stand_elsewhere(folder, tmp_path):
    registry = Registry(
        key="k", kind="words", attribute="W", spec=int, builtin={}, files=("words/*.py", "*/word.py", "*.py")
    )
    folder("one", "W = 1")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "word.py").write_text("W = 2")
    (tmp_path / "three.py").write_text("W = 3")
    assert registry.all([tmp_path]) == {"one": 1, "two": 2, "three": 3}


def test_a_name_that_stands_for_two_is_refused_but_harms_no_other(words, folder, tmp_path):
    plugins = folder("dedent", "WORD = print")
    assert "built in and" in refusal(words, "dedent", plugins)
    folder("hello", "def WORD(): ...")
    assert words.get("hello", [plugins])
    with pytest.raises(ConfigError, match="stands for two"):
        words.all([plugins])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def WORD(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("word = 1", "no `WORD`"),
        ("WORD = 1", "gives a int, not a function"),
    ],
)
def test_a_file_that_is_no_part_is_told_in_one_line(words, folder, text, told):
    said = refusal(words, "odd", folder("odd", text))
    assert told in said and "words/odd.py" in said


def test_a_folder_that_is_not_there_is_told(words, tmp_path):
    with pytest.raises(ConfigError, match=r"plugins=.*nowhere: no such folder"):
        words.get("dedent", [tmp_path / "nowhere"])


def test_an_installed_package_adds_a_part(words, tmp_path, monkeypatch):
    """A real distribution on the path: its metadata name the entry point."""
    info = tmp_path / "greetings-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[swarm_evo.words_of_a_package]\nhi = greetings:hi\nall = greetings\n")
    (tmp_path / "greetings.py").write_text("def hi():\n    return 'hi'\ndef WORD():\n    return 'all'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = Registry(
        key="k", kind="words_of_a_package", attribute="WORD", spec=FunctionType, builtin={"a": "textwrap:dedent"}
    )
    assert registry.names() == ["a", "hi", "all"]
    assert registry.get("hi")() == "hi" and registry.get("all")() == "all"
