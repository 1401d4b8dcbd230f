"""CLAUDE.md's table "where a new thing goes" is true: each thing is one new file and one line, and then it runs.

A copy of the checkout gets one of each kind, exactly as the table says; a folder of plug-ins brings the same.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import new_things as new
from support.command_line import ROOT

TABLE = (ROOT / "CLAUDE.md").read_text(encoding="utf-8").partition("## Where a new thing goes")[2].partition("\n## ")[0]
KNAPSACK = (ROOT / "examples" / "problems" / "knapsack.py").read_text(encoding="utf-8")
SEARCH = ["--search.max_steps=9", "--search.batch=3", "--logging.report=false", "--logging.view=quiet"]


def row(kind: str) -> str:
    """The table's line of that kind."""
    (found,) = [line for line in TABLE.splitlines() if line.startswith(f"| {kind} |")]
    return found


class Copy:
    """The files that git knows, in another folder; `add` does what a line of the table says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
        for name in names.decode().split("\0"):
            if name and not name.startswith(("tests/", "docs/", "dashboard/web/")) and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)

    def add(self, kind: str, file: str, text: str, table: str, line: str, *, after: str) -> None:
        """One new file and one line, both where the table says.

        Args:
            table: the file that the line goes into.
            after: the text of that file that the line follows.
        """
        said = row(kind)
        name = Path(file).stem.removesuffix("_schedule").removeprefix("backend_")
        assert file.replace(name, f"<{'kind' if '<kind>' in said else 'verb' if '<verb>' in said else 'name'}>") in said
        assert table in said
        (self.folder / file).parent.mkdir(exist_ok=True)
        (self.folder / file).write_text(text, encoding="utf-8")
        self.insert(table, line, after=after)

    def insert(self, file: str, line: str, *, after: str) -> None:
        text = (self.folder / file).read_text(encoding="utf-8")
        assert text.count(after) == 1, f"{after!r} in {file}"
        (self.folder / file).write_text(text.replace(after, after + line), encoding="utf-8")


def run(app: Path, folder: Path, *words: str) -> str:
    """`python main.py …` of that copy, in a folder; its standard output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SWARM_EVO")}
    ended = subprocess.run(
        [sys.executable, str(app / "main.py"), *words], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert ended.returncode == 0, f"{' '.join(words)}\n{ended.stdout[-2000:]}\n{ended.stderr[-3000:]}"
    return ended.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The checkout with one more of each."""
    made = Copy(tmp_path_factory.mktemp("checkout"))
    made.add(
        "search policy", "core/search/restarts.py", new.POLICY, "utils/strategies.py",
        '        "restarts": "core.search.restarts:POLICY",\n', after='"core.search.generations:POLICY",\n',
    )  # fmt: skip
    made.add(
        "parent selector", "core/search/selectors/newest.py", new.SELECTOR, "utils/strategies.py",
        '        "newest": "core.search.selectors.newest:SELECTOR",\n', after='rank:SELECTOR",\n',
    )  # fmt: skip
    made.add(
        "operator", "agents/prompts/simplify.md", new.PROMPT, "core/state/operators.py", new.OPERATOR_LINE,
        after="BUILTIN: dict[str, OperatorSpec] = {\n",
    )  # fmt: skip
    made.add(
        "LLM provider", "core/backend/backend_echo.py", new.PROVIDER, "core/backend/providers.py",
        '        "echo": "core.backend.backend_echo:PROVIDER",\n', after='"core.backend.backend_command:COMMAND",\n',
    )  # fmt: skip
    made.add(
        "verb", "cli/hello.py", new.VERB, "cli/parser.py", '    "hello": "cli.hello",\n', after='"demo": "cli.demo",\n'
    )
    made.add(
        "schedule", "core/loop/one_schedule.py", new.SCHEDULE, "core/loop/schedules.py", '    "one": OneSchedule,\n',
        after='    "async": AsyncSchedule,\n',
    )  # fmt: skip
    made.insert(
        "core/loop/schedules.py", "from core.loop.one_schedule import OneSchedule\n",
        after="from core.loop.async_schedule import AsyncSchedule\n",
    )  # fmt: skip
    assert "heuristic" in row("heuristic (one function)") and "problems/<kind>/problem.py" in row("problem")
    problem = made.folder / "problems" / "knapsack" / "problem.py"
    problem.parent.mkdir()
    problem.write_text(KNAPSACK, encoding="utf-8")
    made.insert(
        "problems/registry.py", '        "knapsack": "problems.knapsack.problem:build",\n',
        after='"problems.tsp.problem:build",\n',
    )  # fmt: skip
    (made.folder / "config/problem/knapsack.yaml").write_text("problem: {kind: knapsack}\nsearch: {policy: restarts}\n")
    (made.folder / "config/llm/echo.yaml").write_text("llm: {code: {provider: echo}}\n")
    assert "core/events.py" in row("event")
    made.insert("core/events.py", new.EVENT, after="    node_id: str | None = None\n\n\n")
    made.insert("core/events.py", " | PolicyRestarted", after="| TicketLeased | TicketClosed | Warned")
    policy = made.folder / "core/search/restarts.py"
    before, _, after = policy.read_text().partition("    def tell(")
    text = f"from core.events import PolicyRestarted\n{before}{new.TELLS}\n\n{after[after.index('POLICY =') :]}"
    policy.write_text(text.replace("self.options = options", "self.options, self._events = options, []"))
    return made


@pytest.fixture(scope="module")
def shown(copy: Copy, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    """A search with the new problem, policy, operator and provider; what `show --json` tells of it."""
    folder = tmp_path_factory.mktemp("run")
    run(copy.folder, folder, "--problem=knapsack", "--llm=echo", "--search.restarts.every=3", *SEARCH)
    return json.loads(run(copy.folder, folder, "show", "latest", "--json")), folder


@pytest.mark.long
def test_a_search_with_a_new_problem_policy_operator_and_provider(shown):
    found, _ = shown
    assert found["problem"] == "knapsack" and found["status"] == "finished" and found["best_metric"] is not None
    assert found["config"]["search"]["restarts"] == {"every": 3}
    operators = [node["operator"] for node in found["nodes"] if node["operator"] != "baseline"]
    assert operators.count("generate") == 3 and operators.count("simplify") == 6
    assert found["tokens"], "the provider's usage is counted"


@pytest.mark.long
def test_a_new_prompt_is_sent_and_a_new_verb_answers(copy, shown):
    found, folder = shown
    simplified = next(node["node_id"] for node in found["nodes"] if node["operator"] == "simplify")
    node = json.loads(run(copy.folder, folder, "show", "latest", simplified, "--json"))
    assert any("Say the same with fewer terms." in json.dumps(call) for call in node["calls"])
    assert run(copy.folder, folder, "hello") == "hello: 1 runs\n"


@pytest.mark.long
def test_a_new_event_is_stored(copy, shown):
    _, folder = shown
    code = (
        "import sys; from pathlib import Path; from core.storage.reader import RunReader\n"
        "with RunReader(next(Path(sys.argv[1]).glob('logs/*/run.db')).parent) as reader:\n"
        "    print(sum(event.type == 'policy.restarted' for event in reader.events(0, 999)))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=copy.folder, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "3"


@pytest.mark.long
def test_a_new_selector_and_schedule_and_the_operator_written_by_rules(copy, tmp_path):
    """`rules` needs to be told nothing of the operator: its spec says what they do."""
    words = ["--problem.kind=knapsack", "--search.policy=islands", "--search.islands.selection=newest",
             "--search.selectors.newest.among=2", "--search.schedule=one", *SEARCH]  # fmt: skip
    run(copy.folder, tmp_path, *words)
    run(copy.folder, tmp_path, "step", "latest", "--operator=simplify")
    found = json.loads(run(copy.folder, tmp_path, "show", "latest", "--json"))
    assert found["nodes"][-1]["operator"] == "simplify" and found["writer"] == "rules"
    assert found["config"]["search"]["selectors"] == {"newest": {"among": 2}}
    drawn = next(node["node_id"] for node in found["nodes"] if node["operator"] == "mutate")
    assert "NewestSelector" in run(copy.folder, tmp_path, "show", "latest", drawn, "--why")


@pytest.mark.long
def test_a_new_game_is_what_init_writes(copy, tmp_path):
    """Its folder beside the games that are there, its preset, and a problem's line."""
    assert all(name in row("game") for name in ("problems/<kind>/", "`init NAME --game`", "| as a problem |"))
    run(copy.folder, tmp_path, "init", "pawn_race", "--game", "--out=made")
    shutil.copytree(tmp_path / "made" / "problems" / "pawn_race", copy.folder / "problems" / "pawn_race")
    written = (tmp_path / "made" / "pawn_race.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    preset = "".join(line for line in written if not line.startswith("plugins:"))
    (copy.folder / "config/problem/pawn_race.yaml").write_text(preset, encoding="utf-8")
    copy.insert(
        "problems/registry.py", '        "pawn_race": "problems.pawn_race.problem:build",\n',
        after='"problems.tsp.problem:build",\n',
    )  # fmt: skip
    run(copy.folder, tmp_path, "--problem=pawn_race", "--search.max_generations=1", "--arena.openings=1",
        "--arena.limit=nodes:30", "--arena.gauntlet=2", "--logging.view=quiet")  # fmt: skip
    found = json.loads(run(copy.folder, tmp_path, "show", "latest", "--json"))
    assert (found["problem"], found["status"], found["unit"]) == ("pawn_race", "finished", "Elo")
    engines = [str(copy.folder / "problems/pawn_race/engines" / name) for name in ("random_mover.py", "greedy.py")]
    assert "greedy" in run(copy.folder, tmp_path, "arena", "--problem=pawn_race", *engines, "--games=2")


@pytest.mark.long
def test_the_report_and_the_page_know_the_new_things(copy, shown):
    """Plots, report and the server's answers read the same table; the page needs nothing made anew."""
    _, folder = shown
    run(copy.folder, folder, "report", "latest", "--out=report.html")
    assert "op-teal" in (folder / "report.html").read_text() and "restarts" in (folder / "report.html").read_text()
    code = (
        "import sys; from pathlib import Path; from dashboard.server import overview, presets\n"
        "from dashboard.server.catalog import RunCatalog\n"
        "known = presets.presets(); catalog = RunCatalog(Path(sys.argv[1]))\n"
        "style = overview.detail(catalog, catalog.run_ids()[0]).operators['simplify']\n"
        "print([option.name for option in known.policy_options['restarts']], style.colour,"
        " 'newest' in next(o for o in known.policy_options['islands'] if o.name == 'selection').choices)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=copy.folder, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "['every'] teal True"


def test_every_kind_of_the_table_is_tried_here():
    kinds = {line.split("|")[1].strip() for line in TABLE.splitlines() if line.startswith("| ")} - {"new"}
    assert kinds == {
        "search policy", "problem", "heuristic (one function)", "game", "LLM provider", "verb", "event", "schedule",
        "operator", "parent selector",
    }  # fmt: skip


# ---------------------------------------------------------------- from outside


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """The same things as files of one folder."""
    for kind, name, text in (
        ("policies", "restarts", new.POLICY),
        ("selectors", "newest", new.SELECTOR),
        ("operators", "simplify", new.OPERATOR),
        ("providers", "echo", new.PROVIDER),
        ("problems", "knapsack", KNAPSACK),
    ):
        (tmp_path / "more" / kind).mkdir(parents=True)
        (tmp_path / "more" / kind / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path / "more"


@pytest.mark.long
def test_a_folder_of_plug_ins_brings_the_same_without_a_change(plugins, tmp_path):
    words = ["--plugins=more", "--problem.kind=knapsack", "--search.policy=restarts", "--search.restarts.every=3"]
    run(ROOT, tmp_path, *words, "--llm.code.provider=echo", *SEARCH)
    found = json.loads(run(ROOT, tmp_path, "show", "latest", "--json"))
    operators = [node["operator"] for node in found["nodes"] if node["operator"] != "baseline"]
    assert operators.count("generate") == 3 and operators.count("simplify") == 6 and found["tokens"]
    run(ROOT, tmp_path, "step", "latest", "--operator=simplify", "--llm.code.provider=rules")
    found = json.loads(run(ROOT, tmp_path, "show", "latest", "--json"))
    stepped = json.loads(run(ROOT, tmp_path, "show", "latest", found["nodes"][-1]["node_id"], "--json"))
    assert (stepped["operator"], stepped["writer"]) == ("simplify", "rules")
    shutil.rmtree(plugins)
    run(ROOT, tmp_path, "report", "latest", "--out=report.html")
    assert "op-teal" in (tmp_path / "report.html").read_text(), "a run is shown without its plug-ins"
