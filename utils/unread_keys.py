"""Keys of `search` and `execution` that only some problems read: key → who reads it, or what holds in its place.

A problem's `unread` is made of these; all else of the two sections the loop, its writers and its workers read.
"""

from __future__ import annotations

OF_COMPETITIONS = dict.fromkeys(
    ("search.ensemble", "search.smoke", "execution.archive_best", "execution.archive_newest", "execution.archive_mb"),
    "only competitions do",
)
OF_REPEATS = {"search.repeats": "only script and command do, whose scores may differ from one run to the next"}
OF_RUNGS = {"search.top_k_for_full_eval": "only bin_packing does, which has a cheap look before the full score"}
OF_TUNING = {"search.tune_trials": "this problem tunes no constants"}
OF_LIMITS = dict.fromkeys(
    (
        "execution.timeout", "execution.cpu_seconds", "execution.memory_mb", "execution.processes",
        "execution.file_mb", "execution.disk_mb", "execution.output_kb", "execution.threads",
    ),
    "an engine has one process of 512 MB, and a move arena.limit and arena.deadline",
)  # fmt: skip
"""Of one run of a program."""
