"""What the pages name is there: links, files, commands, options, keys, events, routes, variables, counts.

Runs nothing. That commands do what a page says is tested by whole runs (test_readme.py, test_library_page.py, …).
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from cli.parser import VERBS, build_parser, main, parse
from core.contracts.keeping import STAGES
from core.evaluation.isolation.cheat_sources import CHEATS
from core.events import Event
from core.loop.schedules import SCHEDULES
from core.state.failure import FailureKind
from core.state.operators import BUILTIN
from core.storage.migrations import SCHEMA_VERSION
from problems.registry import PROBLEMS
from runs.mcp.tools import ROLES
from utils.config import check_config, known_keys, merge_overrides
from utils.key_docs import key_docs, option_docs
from utils.metric_kinds import NAMES
from utils.strategies import POLICIES

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = sorted(ROOT.glob("docs/decisions/*.md"))
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "README.zh-CN", "CONTRIBUTING", "CLAUDE", "AGENTS")),
    *sorted(ROOT.glob("docs/*.md")),
    *(ROOT / folder / "README.md" for folder in ("tests", "examples", "examples/openevolve", "examples/repositories")),
    *sorted(ROOT.glob("config/**/*.yaml")),
]
"""What tells how things are now. Decisions and the changelog tell how they came about."""
OURS = {path.name for path in ROOT.iterdir()} - {"logs", "workspaces"}
MADE_UP = {"core/backend/backend_NAME.py", "docs/img"}
COMMAND = re.compile(r"(?:\w+=\S+ )*(?:\S*python )?(?:main\.py|-m swarm_evo|swarm-evo) (.*)")

page = pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))


def in_code(text: str) -> list[str]:
    """Pieces of a page's code: inline ones, and those of the lines of a block, between which stands prose."""
    text = text.replace("\\\n", " ")
    blocks = text.split("```")[1::2]
    lines = [line for block in blocks for line in block.splitlines()]
    pieces = [piece for line in lines for piece in re.split(r"\s{2,}#?|\s#\s", line)]
    return [piece.strip() for piece in [*pieces, *re.findall(r"`([^`\n]+)`", text)]]


def words_of(command: str) -> list[str]:
    """As they would be typed: nothing optional."""
    return shlex.split(re.sub(r"\s*\[[^\]]*\]|…", "", command))


@cache
def options() -> dict[str, set[str]]:
    """Verb → its options."""
    (verbs,) = [action.choices for action in build_parser()._actions if isinstance(action.choices, dict)]
    return {name: {word for action in verb._actions for word in action.option_strings} for name, verb in verbs.items()}


@cache
def keys() -> set[str]:
    """Every key, and every section of keys."""
    found = {*known_keys(), *(doc.key for doc in key_docs())}
    builders = [sys.modules[PROBLEMS.get(name).__module__] for name in PROBLEMS.names()]
    found |= {doc.key for module in builders for doc in option_docs(getattr(module, "OPTIONS", ()), "problem.options.")}
    return found | {key.rsplit(".", count)[0] for key in found for count in range(1, key.count(".") + 1)}


def anchor(heading: str) -> str:
    """What GitHub calls it in an address."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("path", [*PAGES, *DECISIONS], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        name, _, wanted = link.partition("#")
        target = path.parent / name if name else path
        if "://" in link:
            continue
        if not target.exists():
            lost.append(link)
        elif wanted:
            heads = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            lost += [] if wanted in map(anchor, heads) else [link]
    assert not lost


@page
def test_files_and_modules_that_are_named_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`([\w./-]+/[\w./-]*)`", text) if name.partition("/")[0] in OURS}
    gone = {name for name in named - MADE_UP if not ((ROOT / name).exists() or (path.parent / name).exists())}
    modules = {name.replace(".", "/") for name in re.findall(r"python -m ((?:benchmarks|tests)(?:\.\w+)?)", text)}
    gone |= {name for name in modules if not (ROOT / name).is_dir() and not (ROOT / f"{name}.py").is_file()}
    targets = {piece.split()[1] for piece in in_code(text) if re.match(r"make [a-z]", piece)}
    gone |= targets - set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert not gone


def test_every_example_is_named_by_the_page_of_examples() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("examples/**/README.md"))
    ours = (path for path in ROOT.glob("examples/*/*") if path.parent.name != "repositories")
    names = {path.name for path in ours if path.suffix != ".md"} | {"evolve.ipynb", "uci_games.py", "repositories/"}
    assert not {name for name in names if name not in text and not name.startswith("__")}


MADE_UP_VALUE = re.compile(r"[A-Z]{2,}|^N$|[<|…]|:$")
"""A name in a value's place, or a choice of values."""
MADE_ON_THE_WAY = ("plugins=", "search.policy=restarts", "search.restarts.")
"""What a page tells to write first."""


@page
def test_commands_are_understood_and_values_allowed(path: Path) -> None:
    """Those of whole commands, and where `--key=value` stands by itself."""
    for piece in in_code(path.read_text(encoding="utf-8")):
        found = COMMAND.fullmatch(piece)
        if (found and not found[1].startswith("-h")) or re.match(r"(--)?[a-z_]+(\.[a-z_]+)+=\S", piece):
            set_here = parse(words_of(found[1])).overrides if found else shlex.split(piece)
            words = [word.removeprefix("--") for word in set_here if re.match(r"(--)?[a-z_]+\.[a-z_.]+=", word)]
            words = [word for word in words if not MADE_UP_VALUE.search(word.partition("=")[2])]
            check_config(merge_overrides({}, [word for word in words if not word.startswith(MADE_ON_THE_WAY)]))


@page
def test_options_that_are_named_beside_a_verb_are_its_own(path: Path) -> None:
    for piece in in_code(path.read_text(encoding="utf-8")):
        verb, _, rest = piece.partition(" ")
        if verb in VERBS and rest:
            named = set(re.findall(r"(?<!\S)\[?--([\w.-]+)", rest))
            assert {f"--{name}" for name in named if name not in keys()} <= options()[verb], piece


def test_every_verb_and_option_is_told_on_a_page() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    words = {*VERBS, *(word for own in options().values() for word in own if word.startswith("--"))}
    assert {
        word for word in words - {"--help"} if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)
    } == set()


@page
def test_keys_that_are_named_are_known(path: Path) -> None:
    sections = {key.partition(".")[0] for key in known_keys() if "." in key}
    text = re.sub(r"```python\n.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = set(re.findall(rf"(?<![\w./-])((?:{'|'.join(sorted(sections))})(?:\.[A-Za-z_]\w*)+)", text))
    free = tuple(f"llm.{role}.extra." for role in ("code", "feedback", "refine"))
    others = {
        "docs/library.md": {"search.journal", "search.outcome"},  # a Python object
        "docs/neighbours.md": {"llm.primary_model", "llm.temperature"},  # OpenEvolve's
    }.get(str(path.relative_to(ROOT)), set())
    unknown = {name for name in named if name not in keys() and not name.startswith(free)}
    assert unknown - others - events() <= {name for name in unknown if name.endswith((".py", ".md", ".yaml"))}


@pytest.mark.parametrize(
    ("name", "words", "count"),
    [
        ("agents", ["--llm=claude-code"], 7),
        ("competitions", [], 2),
        ("evaluators", ["--problem=script"], 8),
        ("search", ["--problem=command", "search.batch=2", "search.workers=2"], 10),
    ],
)
def test_defaults_that_are_told_are_those_of_the_configuration(
    name: str, words: list[str], count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a table's second or last column, under the preset that it is about."""
    assert main(["config", "--json", *words]) == 0
    values = {doc["key"]: doc["value"] for doc in json.loads(capsys.readouterr().out)}
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.*) \|$", (ROOT / f"docs/{name}.md").read_text("utf-8"), re.MULTILINE)
    told = [(key, stated) for key, cells in rows for cell in cells.split(" |") if (stated := default(cell)) != ""]
    wrong = [
        (key, stated, values[key])
        for key, stated in told
        if stated != (None if values[key] in ([], {}) else values[key])
    ]
    assert len(told) == count and not wrong


def default(cell: str) -> object:
    """The value that a cell begins with; '' where it holds words."""
    if number := re.match(r"([\d,.]+)( hours)?(?:$|, by| in this)", cell.strip()):
        return float(number[1].replace(",", "")) * (3600 if number[2] else 1)
    word = re.fullmatch(r"`([a-z]+)`", cell.strip())
    return word[1] if word else None if cell.strip() == "none" else ""


@cache
def events() -> set[str]:
    union = get_args(Event)[0]
    return {kind.model_fields["type"].default for kind in get_args(union)}


@page
def test_events_that_are_named_are_told(path: Path) -> None:
    kinds = {name.partition(".")[0] for name in events()} - {"run", "llm"}  # an object in Python; keys
    named = re.findall(rf"`((?:{'|'.join(sorted(kinds))})\.[a-z_]+)`", path.read_text(encoding="utf-8"))
    assert {name for name in named if not name.endswith((".py", ".md"))} <= events() | keys() | {"node.json"}


@page
def test_routes_that_are_named_are_served(path: Path) -> None:
    document = json.loads((ROOT / "dashboard/web/openapi.json").read_text(encoding="utf-8"))
    served = {re.sub(r"\{\w+\}", "*", route) for route in document["paths"]} | {"/api", "/api/openapi.json"}
    named = re.findall(r"(?<!\w)(/api(?:/[\w./]+)?)", path.read_text(encoding="utf-8"))
    assert {re.sub(r"[A-Z]{2,}", "*", route.rstrip("./")) for route in named} <= served


@cache
def sources() -> str:
    """All our Python, and the Makefile."""
    parts = ("core", "cli", "runs", "utils", "problems", "dashboard/server", "swarm_evo", "tests", "benchmarks")
    files = [ROOT / "Makefile", *(file for part in parts for file in (ROOT / part).rglob("*.py"))]
    return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)


@page
def test_variables_of_the_environment_that_are_named_are_read(path: Path) -> None:
    named = set(re.findall(r"\bSWARM_EVO_[A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8")))
    own = {name for name in named if not name.startswith("SWARM_EVO__")}
    assert {name for name in own if name not in sources()} == set()


@pytest.mark.parametrize(
    ("name", "pattern", "count"),
    [
        ("README.md", r"(\d+) named kinds of failure", len(FailureKind)),
        ("README.zh-CN.md", r"(\d+) 种有名称的失败", len(FailureKind)),
        ("docs/security.md", r"tries (\d+) known cheats", len(CHEATS)),
        ("docs/schema.md", r"version of the\s+schema, now (\d+)", SCHEMA_VERSION),
        ("docs/tickets.md", r"our (\d+) tools", sum(map(len, ROLES.values()))),
    ],
)
def test_counts_are_those_of_the_code(name: str, pattern: str, count: int) -> None:
    assert re.findall(pattern, (ROOT / name).read_text(encoding="utf-8")) == [str(count)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("competitions", NAMES),
        ("search", [*BUILTIN, *POLICIES.names(), *SCHEDULES, *STAGES]),
        ("tickets", [tool.name for tools in ROLES.values() for tool in tools]),
    ],
)
def test_what_there_is_is_told(name: str, words: Sequence[str]) -> None:
    told = set(re.findall(r"`([^`\n]+)`", (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")))
    assert len(words) > 10 and not {*words} - told


def test_these_checks_can_fail() -> None:
    assert (
        "search.polcy" not in keys() and "node.commited" not in events() and "--refti" not in options()["export-best"]
    )
    assert "problem.options.citeis" not in keys() and "problem.options.cities" in keys() and default("60 in this") == 60
    assert {"search.policy", "llm.code.price.input", "search.islands.per_island"} <= keys() and len(events()) > 20
    assert anchor("## What `rules` does, 100 %".lstrip("# ")) == "what-rules-does-100-"
    assert len([piece for path in PAGES for piece in in_code(path.read_text("utf-8")) if COMMAND.fullmatch(piece)]) > 90
