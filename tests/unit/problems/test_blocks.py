import textwrap

import pytest

from problems.blocks import BlockError, graft, line_ranges, put_back

FRAME = "import os\n# EVOLVE-BLOCK-START\nx = 1\ny = 2\n# EVOLVE-BLOCK-END\ndef main():\n    return x\n"


def test_ranges_are_the_lines_between_the_marks():
    assert line_ranges(FRAME) == [range(3, 5)]
    assert line_ranges("a\nb\n") == [range(1, 3)]
    assert line_ranges("# EVOLVE-BLOCK-START\na\n# EVOLVE-BLOCK-END\n#EVOLVE-BLOCK-START\nb\n") == [
        range(2, 3),
        range(5, 6),
    ]


def test_only_the_inside_of_the_blocks_is_taken():
    new = "os = None\n# EVOLVE-BLOCK-START\nx = 5\n# EVOLVE-BLOCK-END\ndef main():\n    return 99\n"
    grafted = graft(FRAME, new)
    assert grafted == FRAME.replace("x = 1\ny = 2", "x = 5")


def test_a_bare_block_is_put_into_the_frame():
    assert graft(FRAME, "x = 7\n") == FRAME.replace("x = 1\ny = 2", "x = 7")


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("import os\nx = 5\ndef main():\n    return x\n", "keep the two marks where they stand"),
        (FRAME + "# EVOLVE-BLOCK-START\nz = 1\n# EVOLVE-BLOCK-END\n", "each once"),
    ],
)
def test_lost_or_additional_marks_are_refused(new, words):
    with pytest.raises(BlockError, match=words):
        graft(FRAME, new)


FUNCTION = "# EVOLVE-BLOCK-START\ndef f():\n    return 1\ndef g():\n    return f()\n# EVOLVE-BLOCK-END\nprint(g())\n"


def test_a_fragment_is_not_taken_for_the_block():
    """A model that wants to change one line may show that line alone: it was scored as the whole program."""
    for fragment in ("for k in range(2):\n    x = k\n", "    return 2\n", "x = 1\n"):
        with pytest.raises(BlockError, match=r"defines nothing of what stands there \(f, g\): .* SEARCH/REPLACE"):
            graft(FUNCTION, fragment)
    assert "return 3" in graft(FUNCTION, "def g():\n    return 3\n")
    assert "g = len" in graft(FUNCTION, "def h(): pass\ng = len\n")


SCRIPT = "import os\nN = 26\nprint('begin')\n# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\nprint(x, N)\n"


@pytest.mark.parametrize("new", ["import os\nx = 2\n", "# begin\nimport os\nx = 2\n", "N = 26\nx = 2\n"])
def test_a_bare_block_may_say_an_import_or_a_single_line_again(new):
    assert "x = 2\n# EVOLVE-BLOCK-END\nprint(x, N)\n" in graft(SCRIPT, new)


def test_a_whole_program_without_functions_that_lost_its_marks_is_seen_by_most_of_its_lines():
    bare = "\n".join(line for line in SCRIPT.replace("x = 1", "x = 2").splitlines() if "EVOLVE" not in line)
    with pytest.raises(BlockError, match="N = 26"):
        graft(SCRIPT, bare)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (FRAME.replace("x = 1", "x = 5"), ""),
        (FRAME.replace("x = 1", "x = 5") + "\n\n", ""),
        ("x = 5", ""),
        (FRAME.replace("import os", "os = 1").replace("return x", "return 99"), ": 1, 7 of what was handed in"),
        (FRAME + "print(1)\nx += 2\nx = 3\n", ": 8-10 of what was handed in"),
        (FRAME.replace("import os\n", ""), "that were left out are there again: 'import os'"),
    ],
)
def test_what_was_put_back_outside_of_the_block_is_told(new, said):
    told = put_back(graft(FRAME, new), new)
    assert told.endswith(said) if said.startswith(":") else (said in told and bool(told) == bool(said))


NEW = """import os
import math
from statistics import (
    mean,
)
# EVOLVE-BLOCK-START
x = mean([LIMIT, double(math.pi)])
# EVOLVE-BLOCK-END
LIMIT = 4
@staticmethod
def double(v): return 2 * v
def main():
    return x
"""


def test_what_python_adds_outside_of_the_block_is_moved_into_it():
    """A model writes its imports at the top of the file; they were gone, and the block failed for want of them."""
    whole = graft(FRAME, NEW.replace("x = mean", "def run(): return mean"))
    assert put_back(whole, NEW) == "" and "put back" not in put_back(whole, NEW.replace("return x", "return x  "))
    names: dict = {}
    exec(whole, names)
    assert round(names["run"](), 3) == 5.142
    before, block, after = (
        whole.partition("# EVOLVE-BLOCK-START\n")[0],
        *whole.partition("T\n")[2].split("# EVOLVE-BLOCK-END\n"),
    )
    assert (before, after) == ("import os\n", "def main():\n    return x\n")
    assert block.startswith("import math\nfrom statistics import (\n") and block.endswith(
        "def double(v): return 2 * v\n"
    )


@pytest.mark.parametrize("added", [
    "os = 1", "def main(): return 99", "x = 99", "import sys as os", "from x import main",
    "from __future__ import annotations", "print(1)", "os.path = 1", "if x:\n    import re", "def broken(:",
    "a, os = 1, 2",
])  # fmt: skip
def test_nothing_that_the_frame_names_is_moved(added):
    new = f"{FRAME}{added}\n"
    assert graft(FRAME, new) == FRAME and ": 8" in put_back(FRAME, new)


def test_of_several_blocks_each_takes_what_stands_nearest():
    frame = (
        "# EVOLVE-BLOCK-START\na = 1\n# EVOLVE-BLOCK-END\nprint(a)\n# EVOLVE-BLOCK-START\nb = 2\n# EVOLVE-BLOCK-END\n"
    )
    new = "import re\n" + frame.replace("print(a)\n", "print(a)\nimport math\n") + "import json\n"
    found = graft(frame, new).replace("# EVOLVE-BLOCK-", "")
    assert found == "START\nimport re\na = 1\nimport math\nEND\nprint(a)\nSTART\nb = 2\nimport json\nEND\n"


def test_into_a_block_within_a_function_nothing_is_moved():
    new = METHOD.replace("total += one", "total += math.pi")
    assert graft(METHOD, "import math\n" + new) == new


def test_what_a_block_loses_to_the_top_of_the_file_comes_back_into_it():
    frame = FRAME.replace("x = 1", "import math\nx = math.pi")
    new = "import math\n" + frame.replace("import math\n", "").replace("x = math.pi", "x = math.e")
    assert graft(frame, new) == frame.replace("math.pi", "math.e")


def test_a_program_made_to_be_slow_to_compare_is_not_compared_line_by_line():
    new = FRAME + "a\nb\n" * 200_000
    assert put_back(graft(FRAME, new), new) == "lines outside of the block were put back"


def test_without_marks_the_program_is_taken_whole():
    assert graft("x = 1\n", "y = 2\n") == "y = 2\n"


@pytest.mark.parametrize("odd", ["\f", "\x1c", "\x85", "\u2028"])
def test_a_rare_separator_outside_of_the_blocks_stays(odd):
    frame = f"s = 'a{odd}b'\n# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n"
    assert list(line_ranges(frame)[0]) == [3]
    assert graft(frame, frame.replace("1", "2")) == frame.replace("1", "2")


METHOD = """class Heuristic:
    def score(self, items):
        # EVOLVE-BLOCK-START
        total = 0
        for one in items:
            total += one
        # EVOLVE-BLOCK-END
        return total
"""
AT_MARGIN = "total = 1\nfor one in items:\n    total *= one\n"


@pytest.mark.parametrize("new", [
    AT_MARGIN,
    f"# EVOLVE-BLOCK-START\n{AT_MARGIN}# EVOLVE-BLOCK-END\n",
    f"\n{textwrap.indent(AT_MARGIN, ' ' * 8).lstrip()}",
    textwrap.indent(AT_MARGIN, " " * 4),
    textwrap.indent(AT_MARGIN, " " * 8),
])  # fmt: skip
def test_a_block_within_a_function_is_moved_to_where_it_stands(new):
    """Models write a part at the margin, or lose the blanks of its first line."""
    whole = graft(METHOD, new)
    names: dict = {}
    exec(whole, names)
    assert names["Heuristic"]().score([2, 3]) == 6
    assert "put back" not in put_back(whole, new)


def test_a_block_that_is_wrong_wherever_it_stands_stays_as_it_was_written():
    assert "\ntotal = (\n" in graft(METHOD, "total = (\n")
