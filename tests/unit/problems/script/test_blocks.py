import pytest

from problems.script.blocks import graft, line_ranges

FRAME = "import os\n# EVOLVE-BLOCK-START\nx = 1\ny = 2\n# EVOLVE-BLOCK-END\ndef main():\n    return x\n"


def test_ranges_are_the_lines_between_the_marks():
    assert line_ranges(FRAME) == [range(3, 5)]
    assert line_ranges("a\nb\n") == [range(1, 3)]
    assert line_ranges("# EVOLVE-BLOCK-START\na\n# EVOLVE-BLOCK-END\n#EVOLVE-BLOCK-START\nb\n") == [
        range(2, 3),
        range(5, 6),
    ]


def test_only_the_inside_of_the_blocks_is_taken():
    new = "import sys\n# EVOLVE-BLOCK-START\nx = 5\n# EVOLVE-BLOCK-END\ndef main():\n    return 99\n"
    grafted = graft(FRAME, new)
    assert grafted == FRAME.replace("x = 1\ny = 2", "x = 5")


def test_a_bare_block_is_put_into_the_frame():
    assert graft(FRAME, "x = 7\n") == FRAME.replace("x = 1\ny = 2", "x = 7")


@pytest.mark.parametrize(
    "new",
    [
        "import os\nx = 5\ndef main():\n    return x\n",
        FRAME + "# EVOLVE-BLOCK-START\nz = 1\n# EVOLVE-BLOCK-END\n",
    ],
)
def test_lost_or_additional_marks_are_refused(new):
    assert graft(FRAME, new) is None


def test_without_marks_the_program_is_taken_whole():
    assert graft("x = 1\n", "y = 2\n") == "y = 2\n"


@pytest.mark.parametrize("odd", ["\f", "\x1c", "\x85", "\u2028"])
def test_a_rare_separator_outside_of_the_blocks_stays(odd):
    frame = f"s = 'a{odd}b'\n# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n"
    assert list(line_ranges(frame)[0]) == [3]
    assert graft(frame, frame.replace("1", "2")) == frame.replace("1", "2")
