"""Files that users name: what hinders reading them is one line."""

from __future__ import annotations

import os
import threading

import pytest

from utils.errors import ConfigError
from utils.user_text import user_text


def test_a_device_without_an_end_is_refused():
    """`/dev/zero` as a program was read until the machine had no memory left."""
    with pytest.raises(ConfigError, match="/dev/zero: is no file, and more than 64 MB"):
        user_text("/dev/zero", "problem.program=")


def test_a_pipe_is_read_as_a_shell_hands_it_over():
    read, write = os.pipe()
    with open(read, "rb"), open(write, "w") as file:
        threading.Thread(target=lambda: (file.write("x = 1\r\n"), file.close())).start()
        assert user_text(f"/dev/fd/{read}", "problem.program=") == "x = 1\n"
