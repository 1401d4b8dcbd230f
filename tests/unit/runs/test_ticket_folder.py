"""What comes back of a folder in which a writer worked."""

from __future__ import annotations

import os

from runs.tickets.folder import TICKET, read_folder


def test_a_pipe_in_place_of_the_tickets_file_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / TICKET)
    (tmp_path / "program.py").write_text("x = 1\n")
    assert read_folder(tmp_path) == {"program.py": "x = 1\n"}
