"""The configuration: precedence, messages, secrets."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from utils.config import (
    check_config,
    known_keys,
    load_config,
    merge_overrides,
    secrets_of,
    to_plain,
    with_environment,
)
from utils.config_places import CONFIG_DIR
from utils.config_schema import Config
from utils.errors import ConfigError


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


def test_precedence_from_low_to_high(here):
    """default < preset named in the file < file < preset on the command line < environment < command-line key."""
    in_file = write(here, "low.yaml", "search: {max_steps: 2, num_drafts: 2, batch: 7, max_debug_depth: 2}")
    on_line = write(here, "high.yaml", "search: {max_steps: 4, num_drafts: 4}")
    file = write(
        here,
        "mine.yaml",
        f"presets: {{problem: {in_file}}}\nsearch: {{max_steps: 3, num_drafts: 3, max_debug_depth: 6}}",
    )
    env = {"SWARM_EVO__SEARCH__MAX_STEPS": "5", "SWARM_EVO__SEARCH__DEBUG_PROB": "0.25"}
    assert load_config(env={}).search.options.merge_prob == 0.1

    low = load_config(file, env={}).search
    assert (low.max_steps, low.options.num_drafts, low.options.max_debug_depth, low.batch) == (3, 3, 6, 7)
    named = load_config(file, presets={"problem": on_line}, env={}).search
    assert (named.max_steps, named.options.num_drafts, named.options.max_debug_depth) == (4, 4, 6)
    assert named.batch == 2, "a preset on the command line replaces the one that the file names"
    from_env = load_config(file, presets={"problem": on_line}, env=env).search
    assert (from_env.max_steps, from_env.options.num_drafts, from_env.options.debug_prob) == (5, 4, 0.25)
    typed = load_config(file, ["search.max_steps=6"], presets={"problem": on_line}, env=env).search
    assert (typed.max_steps, typed.options.debug_prob) == (6, 0.25)


def test_time_limit_is_the_default_of_the_budgets_seconds():
    assert load_config(env={}).budget.seconds == 43200
    assert load_config(None, ["agent.time_limit=60"], env={}).budget.seconds == 60
    assert load_config(None, ["agent.time_limit=60", "budget.seconds=5"], env={}).budget.seconds == 5


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["search.num_draft=3"], ["search.num_draft'", "'search.num_drafts'"]),
        (["llm.code.api_kye=x"], ["llm.code.api_kye", "llm.code.api_key"]),
        (["search.max_steps=abc"], ["search.max_steps='abc': allowed: whole number >= 0 | null"]),
        (["search.max_steps=-1"], ["search.max_steps", "-1", "0"]),
        (["search.policy=annealing"], ["annealing", "three_phase", "islands"]),
        (["execution.sandbox=docker"], ["docker", "allowed: auto | warm | lite | bubblewrap | none"]),
        (["data.split=grouped"], ["grouped", "group:COLUMN"]),
        (["arena.limit=slow", "search.workers=0"], ["search.workers", "0"]),
        (["search=5"], ["search", "5"]),
        (["project.seed=1.5"], ["project.seed", "1.5"]),
        (["budget.usd=free"], ["budget.usd", "free"]),
        (["budget.usd="], ["'budget.usd=' gives no value", "null"]),
        (["search.max_steps= "], ["'search.max_steps= ' gives no value", "null"]),
        (["budget.usd=true"], ["budget.usd=True", "a number is needed"]),
        (["search.max_steps=yes"], ["search.max_steps=True", "a number is needed"]),
        (["search.islands.num_islands=true"], ["search.islands.num_islands", "a number is needed"]),
        (["search.selectors.softmax.temperature=.inf"], ["softmax.temperature", "finite"]),
        (["execution.timeout=3e6"], ["execution.timeout", "3000000", "2000000"]),
        (["budget.seconds=1e300"], ["budget.seconds", "1e+300", "1000000000"]),
        (["execution.memory_mb=99999999999999"], ["execution.memory_mb", "1000000000"]),
        (["search.islands.grid={a:{low:1}}"], ["found unexpected ':' (a blank is needed after it)"]),
        (["nonsense"], ["nonsense", "key=value"]),
        (["=3"], ["key=value"]),
    ],
)
def test_a_fault_is_one_line_with_key_value_and_remedy(overrides, said):
    with pytest.raises(ConfigError) as caught:
        load_config(None, overrides, env={})
    text = str(caught.value)
    assert "\n" not in text and len(text) < 400
    for words in said:
        assert words in text


def test_environment_variables_are_resolved_where_they_are_named():
    keys = ["llm.code.api_key=${env:MY_KEY}", "llm.code.base_url=${env:MY_URL,http://127.0.0.1:1/v1}"]
    code = load_config(None, keys, env={"MY_KEY": "sk-1"}).llm.code
    assert code.api_key.get_secret_value() == "sk-1" and code.base_url == "http://127.0.0.1:1/v1"
    unset = load_config(None, keys, env={"MY_URL": "http://[::1]/v1"}).llm.code
    assert unset.api_key is None and unset.base_url == "http://[::1]/v1"


@pytest.mark.parametrize("value", ["sk-secret-1", "12345678", "true", "1e5"])
def test_a_secret_is_masked_in_what_is_kept_and_in_what_is_said(value):
    config = load_config(None, [f"llm.code.api_key={value}", f"dashboard.token={value}"], env={})
    assert secrets_of(config).count(value) == 2
    assert value not in str(to_plain(config)) and value not in repr(config)
    assert to_plain(config, secrets=True)["llm"]["code"]["api_key"] == value


@pytest.mark.parametrize(
    "text", ["price: in dollars", "2024", "[a, b", "{x}", "no", "# all", "it's", 'a "b" c', "é\\n"]
)
def test_a_text_is_taken_as_it_is_typed(text):
    config = load_config(None, [f"data.goal={text}", f"data.target={text}"], env={"SWARM_EVO__PROJECT__NAME": text})
    assert config.data.goal == config.data.target == config.project.name == text


@pytest.mark.parametrize(
    "text",
    ["Make it fast # and short", "Task: pack circles", "one line\nand another", "# all of it", "what for:", "C# 9"],
)
def test_a_sentence_is_taken_as_it_is_typed_also_where_only_the_problem_knows_that_it_is_one(text):
    """YAML ends a text at ` #`, and nothing said so: half of what the program is for was in no prompt."""
    config = load_config(None, [f"problem.options.statement={text}"], env={})
    assert config.problem.options == {"statement": text}


def test_what_is_yaml_stays_yaml():
    words = ["problem.options.a=[x, 'y # z']", "problem.options.b={c: 1}", "problem.options.d='e: f'", "search.lag=3"]
    config = load_config(None, words, env={})
    assert config.problem.options == {"a": ["x", "y # z"], "b": {"c": 1}, "d": "e: f"} and config.search.lag == 3


def test_null_is_no_text():
    assert load_config(None, ["data.goal=null", "data.target="], env={}).data.goal is None


def test_a_fault_in_a_secret_does_not_quote_it(here):
    with pytest.raises(ConfigError) as caught:
        load_config(write(here, "x.yaml", "llm: {code: {api_key: {a: sk-secret-1}}}"), env={})
    assert "api_key" in str(caught.value) and "sk-secret-1" not in str(caught.value)


def test_files_that_cannot_be_read(here):
    for text, said in (
        ("- a\n- b\n", "mapping"),
        ("a: [1\n", "not valid YAML: line 2: did not find expected"),
        ("a: 1\nb:\n\tc: 2\n", "line 3: found character"),
        ("x: ${nope}\n", "nope"),
    ):
        with pytest.raises(ConfigError, match=said):
            load_config(write(here, "bad.yaml", text), env={})
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        load_config("nowhere.yaml", env={})
    (here / "latin.yaml").write_bytes(b"project: {name: \xff\xfe}\n")
    with pytest.raises(ConfigError, match=r"latin\.yaml"):
        load_config("latin.yaml", env={})
    assert load_config(write(here, "empty.yaml", ""), env={}).search.max_steps == 50


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("search: {max_steps: 2}\nsearch: {max_steps: 3}\n", "line 2: found duplicate key search"),
        ("search:\n\tmax_steps: 2\n", "line 2: found character .*is it a tab"),
        ("search.max_steps: 2\n", "unknown key 'search.max_steps' in one word: .* as in search: {max_steps: …}"),
        ("budget: {usd: '${env:CAP}'}\n", "budget.usd=.*{env:CAP}: that is not set in the environment"),
    ],
)
def test_a_fault_in_a_file_says_what_and_where(here, text, said):
    with pytest.raises(ConfigError, match=said) as caught:
        load_config(write(here, "bad.yaml", text), env={})
    assert "\n" not in str(caught.value)


def test_null_lifts_a_limit_and_a_variable_that_is_set_gives_it(here):
    assert load_config(None, ["budget.usd=null"], env={}).budget.usd is None
    file = write(here, "cap.yaml", "budget: {usd: '${env:CAP}'}\n")
    assert load_config(file, env={"CAP": "3"}).budget.usd == 3
    assert load_config(file, ["budget.usd=4"], env={}).budget.usd == 4


def test_every_preset_in_the_box_is_valid():
    for path in (CONFIG_DIR / "problem").glob("*.yaml"):
        assert load_config(presets={"problem": path.stem}, env={}).presets.problem == path.stem
    for path in (CONFIG_DIR / "llm").glob("*.yaml"):
        assert load_config(presets={"llm": path.stem}, env={}).presets.llm == path.stem


PROBLEM_PRESETS = sorted(path.stem for path in (CONFIG_DIR / "problem").glob("*.yaml"))


@pytest.mark.parametrize("kind", PROBLEM_PRESETS)
def test_a_kind_named_by_itself_is_searched_as_the_preset_of_its_name_says(here, kind):
    """Wherever it stands: on the command line, in the environment, in a file that names no preset."""
    want = to_plain(load_config(presets={"problem": kind}, env={}))
    assert to_plain(load_config(None, [f"problem.kind={kind}"], env={})) == want
    assert to_plain(load_config(env={"SWARM_EVO__PROBLEM__KIND": kind})) == want
    file = write(here, "mine.yaml", f"problem: {{kind: {kind}}}\nsearch: {{top_k: 7}}")
    mine = load_config(file, env={})
    assert mine.presets.problem == kind and mine.search.top_k == 7
    assert (mine.search.policy, mine.search.max_steps) == (want["search"]["policy"], want["search"]["max_steps"])


def test_a_preset_that_is_named_or_is_of_that_kind_already_stays(here):
    named = load_config(None, ["problem.kind=bin_packing"], presets={"problem": "tsp"}, env={})
    assert (named.presets.problem, named.problem.kind, named.search.max_steps) == ("tsp", "bin_packing", 200)
    own = write(here, "own.yaml", "problem: {kind: tsp}\nsearch: {max_steps: 9}")
    file = write(here, "mine.yaml", f"presets: {{problem: {own}}}")
    same = load_config(file, ["problem.kind=tsp"], env={})
    assert (same.presets.problem, same.search.max_steps) == (own, 9)


def test_what_is_stored_is_read_back_the_same():
    config = load_config(None, ["initial=a.py,b.py", "search.grid={x: {low: 0, high: 1, bins: 4}}"], env={})
    assert config.initial == ["a.py", "b.py"]
    assert check_config(to_plain(config)).model_dump() == config.model_dump()
    changed = check_config(merge_overrides(to_plain(config), ["search.max_steps=99"]))
    assert changed.search.max_steps == 99 and changed.initial == config.initial


NAMES = st.sampled_from(known_keys())


YAML_WORDS = st.sampled_from(["5", "-1", "1.5", "1e999", "true", "null", "[1]", "{a: 1}", "~", "2020-01-01", "9" * 400])


@given(NAMES, st.text(max_size=12) | YAML_WORDS)
@example("plugins", "5")
@example("plugins", "9" * 400)
def test_any_value_is_taken_or_refused_in_one_line(key, value):
    try:
        load_config(None, [f"{key}={value}"], env={}, check_presets=False)
    except ConfigError as error:
        assert "\n" not in str(error)


def test_plug_in_folders_have_a_key_and_an_older_name(here):
    for name in "abc":
        (here / name).mkdir()
    config = load_config(None, ["plugins=a,b", "problem.plugins=c"], env={})
    assert config.plugin_folders == ["a", "b", "c"]
    assert load_config(None, ["plugins=[a]"], env={}).plugin_folders == ["a"]


def test_what_the_environment_gave_is_stored_as_its_expression():
    keys = ["data.dir=${env:DATA}", "llm.code.model=${env:MODEL}", "llm.code.base_url=${env:URL,http://h/v1}"]
    env = {"DATA": "/secret/place", "MODEL": "qwen", "URL": "http://me:pw@h/v1"}
    config = load_config(None, keys, env=env)
    assert config.data.dir == "/secret/place"
    plain = to_plain(config)
    assert plain["data"]["dir"] == "${env:DATA}" and plain["llm"]["code"]["model"] == "qwen"
    assert "secret" not in str(plain) and "pw" not in str(plain)
    assert {"/secret/place", "me:pw", "http://me:pw@h/v1"} <= set(secrets_of(config))
    again = check_config(with_environment(plain, {"DATA": "/other", "URL": "http://i/v1"}))
    assert (again.data.dir, again.llm.code.base_url, again.llm.code.model) == ("/other", "http://i/v1", "qwen")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("SWARM_EVO__SERCH__MAX_STEPS", "2", "unknown key 'serch' (did you mean 'search'?)"),
        ("SWARM_EVO__SEARCH__MAX_STEP", "2", "unknown key 'search.max_step'"),
        ("SWARM_EVO__SEARCH__MAX_STEPS", "many", "search.max_steps='many'"),
        ("SWARM_EVO__SEARCH__MCTS__EXPLORATION", "-1", "search.mcts.exploration"),
        ("SWARM_EVO__SEARCH", "[", "'search=[': the value cannot be read as YAML"),
        ("SWARM_EVO__", "2", "=2"),
        ("SWARM_EVO__BUDGET__USD", "", "'budget.usd=' gives no value"),
    ],
)
def test_a_fault_of_the_environment_names_its_variable(variable, value, said):
    others = {"SWARM_EVO__PROJECT__SEED": "5", "SWARM_EVO__SEARCH__BATCH": "2", "HOME": "/"}
    with pytest.raises(ConfigError) as caught:
        load_config(None, ["search.workers=1"], env={**others, variable: value})
    assert str(caught.value).startswith(f"{variable} in the environment: ") and said in str(caught.value)


def test_the_environment_is_not_blamed_for_the_command_line():
    env = {"SWARM_EVO__SEARCH__MAX_STEPS": "2"}
    with pytest.raises(ConfigError, match=r"^search\.max_steps='x'"):
        load_config(None, ["search.max_steps=x"], env=env)
    with pytest.raises(ConfigError, match=r"^unknown key 'search\.bach'"):
        load_config(None, ["search.bach=1"], env=env)


def test_lists_are_taken_with_commas(here):
    config = load_config(None, ["execution.preload=numpy,scipy", "initial=a.py,b.py"], env={})
    assert config.execution.preload == ["numpy", "scipy"] and config.initial == ["a.py", "b.py"]
    assert load_config(None, ['execution.preload=["numpy"]'], env={}).execution.preload == ["numpy"]


def test_names_with_commas_are_taken_as_lists(here):
    """A list of classes, as Python's `data={"classes": […]}` and a file have it, was told as the class `["no"`."""

    def classes(file=None, *words):
        return load_config(file, words, env={}).data.classes

    file = write(here, "a.yaml", "data: {classes: ['no', high], target: [a, b]}\n")
    assert classes(file) == "no,high" and load_config(file, env={}).data.target == "a,b"
    assert classes(None, 'data.classes=["no", "yes"]') == "no,yes" and classes(None, "data.classes=[0, 1]") == "0,1"
    assert classes(None, "data.classes=[low]") == "[low]"
    for wrong, said in (('["a,b"]', "holds a comma"), ("[true, false]", "write it in quotes")):
        with pytest.raises(ConfigError, match=f"data.classes=.*{said}"):
            classes(None, f"data.classes={wrong}")


def test_the_projects_folder_is_known_without_the_configuration(monkeypatch, tmp_path):
    from utils import config_places

    monkeypatch.delenv("SWARM_EVO__LOGGING__REPORT")
    assert config_places.plain_project_dir([]) == load_config(check_presets=False).project.dir
    assert config_places.plain_project_dir(["project.dir=/x"]) is None
    (tmp_path / "default.yaml").write_text("project:\n  dir: ${env:WHERE}\n")
    monkeypatch.setattr(config_places, "CONFIG_DIR", tmp_path)
    assert config_places.plain_project_dir([]) is None
    (tmp_path / "default.yaml").write_text("project:\n  dir: elsewhere\n")
    assert config_places.plain_project_dir([]) == "elsewhere"
    monkeypatch.setenv("SWARM_EVO__PROJECT__SEED", "3")
    assert config_places.plain_project_dir([]) is None


def test_where_there_is_one_processor_one_program_runs_at_a_time(monkeypatch):
    monkeypatch.setattr("utils.config_search.processors", lambda: 1)
    assert Config().search.workers == 1
    monkeypatch.setattr("utils.config_search.processors", lambda: 64)
    assert Config().search.workers == 2
    assert Config.model_validate({"search": {"workers": 5}}).search.workers == 5


SHELL = ["echo ${VAR}", "${X:-3}", "${X%.txt}", "$${X}", "${arr[@]}", "${X:-${Y}}", "$VAR $(pwd)", r"\${X}"]


@pytest.mark.parametrize("text", [*SHELL, '${X:-"a b"} # c: d'])
@pytest.mark.parametrize("key", ["problem.eval", "problem.build", "problem.grade", "notify.command"])
def test_what_a_shell_replaces_is_left_to_it(here, key, text):
    """`${VAR}` was an error of OmegaConf's, which named no remedy."""
    section, _, name = key.partition(".")
    kept = text.replace("\\$", "$")
    config = load_config(None, [f"{key}={text}"], env={"HOME": "/h"})
    assert getattr(getattr(config, section), name) == kept
    plain = to_plain(config)
    assert merge_overrides(plain, ["search.batch=3"])[section][name] == kept, "taken up again"
    assert merge_overrides(plain, [f"{key}={text}"])[section][name] == kept
    if text in SHELL:
        file = write(here, "shell.yaml", yaml.safe_dump({section: {name: f"{text} ${{env:HOME}}"}}))
        assert getattr(getattr(load_config(file, env={"HOME": "/h"}), section), name) == f"{kept} /h"


@pytest.mark.parametrize(
    ("key", "text"), [("data.goal", "a ${x} b"), ("data.goal", "a ${x:-'c'} b"), ("problem.eval", "${search.nothing}")]
)
def test_an_expression_that_stands_for_nothing_is_told_with_the_way_to_write_it(here, key, text):
    file = write(here, "odd.yaml", yaml.safe_dump({key.partition(".")[0]: {key.partition(".")[2]: text}}))
    for load in (lambda: load_config(None, [f"{key}={text}"]), lambda: load_config(file)):
        with pytest.raises(
            ConfigError, match=r"write \\\$\{…\} for the text itself, \$\{env:NAME\} for an env"
        ) as caught:
            load()
        assert "\n" not in str(caught.value)
