"""A session may open few files: fewer programs run side by side, and where there is no room for one that is told."""

from __future__ import annotations

import errno
import os
import resource

import pytest

from core.contracts import JobContext, JobSpec
from core.executor.open_files import most_kept, most_open_files, slots_with_room
from core.executor.slot import lost_by
from core.workers.local import run_job
from utils.errors import ConfigError, JobLost


@pytest.fixture
def limited(monkeypatch):
    """Set how many files may be open."""

    def limit(soft: int, hard: int | None = None) -> None:
        monkeypatch.setattr("resource.getrlimit", lambda _: (soft, soft if hard is None else hard))

    return limit


@pytest.mark.parametrize(
    "files, programs, slots", [(39, 1, 1), (45, 1, 1), (46, 1, 2), (46, 2, 1), (60, 2, 2), (1024, 1, 64)]
)
def test_as_many_run_side_by_side_as_there_are_files_for(limited, files, programs, slots):
    limited(files)
    assert slots_with_room(64, programs) == slots and slots_with_room(1, programs) == 1


@pytest.mark.parametrize("files, programs, needed", [(8, 1, 39), (38, 1, 39), (45, 2, 46)])
def test_no_room_for_one_is_told_with_the_limit_and_what_is_needed(limited, files, programs, needed):
    limited(files)
    with pytest.raises(ConfigError, match=f"ulimit -n is {files}: a run needs {needed} open files"):
        slots_with_room(1, programs)


def test_what_the_session_may_raise_by_itself_counts(limited):
    limited(32, 4096)
    assert most_open_files() == 4096
    limited(32, resource.RLIM_INFINITY)
    assert most_open_files() == slots_with_room(1 << 20) * 7 + 32 + (most_open_files() - 32) % 7 == 1 << 16


@pytest.mark.parametrize("files, kept", [(40, 0), (64, 0), (128, 4), (1024, 16)])
def test_little_is_kept_open_where_files_are_scarce(limited, files, kept):
    limited(files)
    assert most_kept() == kept


def refused(payload, context):
    assert context.sandbox is None and context.is_begun
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "/dev/null")


def test_a_job_that_is_lost_for_want_of_files_names_the_limit(limited, tmp_path):
    """It said `Too many open files` and nothing of what to raise."""
    limited(40)
    spec = JobSpec(entry=f"{__name__}:refused", payload={}, seconds=1)
    with pytest.raises(JobLost, match=r"Too many open files: '/dev/null'; .*ulimit -n is 40"):
        run_job(spec, JobContext(None, tmp_path))  # type: ignore[arg-type]
    assert "ulimit -n is 40" in str(lost_by(OSError(errno.EMFILE, os.strerror(errno.EMFILE))))
