from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.fences import split_blocks, strip_thinking, unlisted, up_to_last_block
from utils.response import bare_program, left_out, nothing_left_in, parse_json, parse_response
from utils.syntax import syntax_error

PROGRAM = "import math\n\nprint(math.pi)"


def test_plan_and_code():
    code, plan = parse_response(f"I will print pi.\n\n```python\n{PROGRAM}\n```\n")
    assert (code, plan) == (PROGRAM, "I will print pi.")


@pytest.mark.parametrize("label", ["", "py", "python3", "Python"])
def test_labels_that_mean_python(label):
    assert parse_response(f"```{label}\nx = 1\n```")[0] == "x = 1"


def test_no_block_is_none_and_an_empty_block_is_empty():
    assert parse_response("just prose, x = 1") == (None, "just prose, x = 1")
    assert parse_response("```python\n```")[0] == ""


def test_only_blocks_of_other_languages_are_no_code():
    assert parse_response("```bash\npip install x\n```")[0] is None


IN_TEXT = 'ASK = """\nAnswer so:\n```\n1\n```\n"""\n\n\ndef f(x):\n    return ASK'


def test_a_fence_in_a_text_of_the_program_closes_nothing():
    """The program was cut at the first one, and each further try of the model at the same place."""
    reply = f"Plan.\n\n```python\n{IN_TEXT}\n```\n\nThat is all.\n"
    assert parse_response(reply) == (IN_TEXT, "Plan.\n\n\nThat is all.")
    assert up_to_last_block(reply).endswith("```\n") and parse_response(up_to_last_block(reply))[0] == IN_TEXT
    cut = 'Plan.\n\n```python\nASK = """\n```\n\nWords behind it.\n'
    assert parse_response(cut)[0] == 'ASK = """', "what no later fence makes a program ends at the first"


def test_a_program_in_markdowns_quotes_is_a_program():
    quoted = "".join(f"> {line}".rstrip() + "\n" for line in f"```python\n{PROGRAM}\n```".split("\n"))
    assert parse_response(f"Plan.\n\n{quoted}\n> A word on it.\n") == (PROGRAM, "Plan.\n\n\n> A word on it.")
    assert unlisted("> <<<<<<< SEARCH\n> a\n> =======\n>     b\n> >>>>>>> REPLACE\n").split("\n")[3] == "    b"
    for kept in ("```\n> ```\n> x\n```", "<<<<<<< SEARCH\n> ```\n> x\n=======\n> y\n>>>>>>> REPLACE", "> no code"):
        assert unlisted(kept) == kept, "in a block they are lines of it"


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (f"{PROGRAM}\n\n\ndef f():\n    return 1\n", ""),
        ("I change f.\nfrom now on it adds.\n\ndef f():\n    return 1\n", "I change f.\nfrom now on it adds."),
        ("import nothing: I cannot do it.", None),
        ("def g():\n    return 1\n", None),
        ("def f():\n    return 1\n\nThat is the whole change.\n", None),
    ],
)
def test_a_program_without_a_fence_is_one_where_all_to_the_end_is(reply, found):
    code, plan = bare_program(reply, like="def f(): ...")
    assert (bool(code), plan) == (found is not None, found or "")
    assert not code or reply.endswith(f"{code}\n")


def test_the_whole_program_wins_over_snippets_and_over_what_does_not_parse():
    text = f"First:\n```python\nx = 1\n```\nthen\n```python\n{PROGRAM}\n```\nbroken\n```python\n{'def (' * 30}\n```"
    assert parse_response(text)[0] == PROGRAM


def test_imports_in_a_block_of_their_own_are_the_programs():
    """The longest block was run without them, and failed for a missing name."""
    parts = "```python\nimport math\n```\nand\n```python\ndef f(x):\n    return math.sqrt(x)\n```\n"
    assert parse_response(parts)[0] == "import math\ndef f(x):\n    return math.sqrt(x)"
    for kept in ("import math\n\nx = math.pi", "from __future__ import annotations\nx = 10 ** 5"):
        assert parse_response(f"```python\nimport math\n```\n```python\n{kept}\n```\n")[0] == kept


def test_what_does_not_parse_is_kept_when_there_is_nothing_else():
    assert parse_response("```python\ndef f(:\n```")[0] == "def f(:"


def test_a_fence_that_is_never_closed_runs_to_the_end():
    assert parse_response("plan\n```python\nx = 1\ny = 2")[0] == "x = 1\ny = 2"


@pytest.mark.parametrize(
    "reply",
    ["Plan.\n```python\n{}```\n", "Plan.\n```python\n{}``` \nThat is all.\n", "Plan. Here it is: ```python\n{}\n```\n"],
)
def test_a_fence_beside_words_or_code_is_a_fence(reply):
    found, plan = parse_response(reply.format(PROGRAM))
    assert found == PROGRAM and plan.startswith("Plan.") and "```" not in plan


@pytest.mark.parametrize("label", ["python", ""])
def test_a_fence_that_is_only_spoken_of_is_none(label):
    """A prompt says so itself, and plans repeat it: the block then began in their middle."""
    said = "I answer in one block that starts with ```python"
    assert parse_response(f"{said}\n\n```{label}\n{PROGRAM}\n```\n") == (PROGRAM, said)


def test_two_fences_behind_words_are_two_blocks():
    reply = f"First: ```python\nimport math\n```\nThe program: ```python\n{PROGRAM}\n```\n"
    assert [block.text for block in split_blocks(reply)[1]] == ["import math", PROGRAM]


def test_what_looks_like_a_fence_in_a_block_is_a_line_of_it():
    code = '"""As in: ```python\nx\n"""\nx = "```"'
    assert parse_response(f"Plan.\n\n```python\n{code}\n```\n") == (code, "Plan.")


def test_a_longer_fence_may_hold_a_shorter_one():
    code = 's = """\n```\nnot the end\n```\n"""'
    assert parse_response(f"````python\n{code}\n````")[0] == code


def test_thinking_is_no_part_of_the_reply():
    text = "<think>maybe\n```python\nwrong = 1\n```\n</think>The plan.\n```python\nright = 1\n```"
    assert parse_response(text) == ("right = 1", "The plan.")
    assert parse_response("<think>never ends ```python\nx = 1\n```")[0] is None
    for tag in ("thought", "reasoning"):
        assert parse_response(text.replace("think", tag)) == ("right = 1", "The plan.")


@pytest.mark.parametrize("item", ["2. ", "2) ", "- ", "   ", "2. The program:\n   ", "2. The program:\n\n    "])
@pytest.mark.parametrize("inner", ["", "   ", "    "])
def test_a_block_in_a_list_is_a_program(item, inner):
    """Prompts ask for two numbered parts: of `2. ```python` the block's end was taken for the beginning of an empty
    one, and the paid reply for one without a program."""
    program = ["def f(x):", '    """As', "", "        ```", '    """', "    return x", ""]
    lines = [f"{inner}{line}" if line else line for line in program]
    text = "\n".join(["1. I change x.", f"{item}```python", *lines, f"{inner[:3]}```", "Done."])
    code, plan = parse_response(text)
    left = inner[min(len(inner), len(item.rpartition("\n")[2])) :]
    assert code == "\n".join(f"{left}{line}" if line.strip() else "" for line in program[:-1]) + "\n"
    assert plan == "I change x.\nDone."
    assert up_to_last_block(text).endswith("```\n")


@pytest.mark.parametrize(
    ("prose", "plan"),
    [
        ("1. I change x. It helps.\n2. ", "I change x. It helps."),
        ("1) I change x.\n\n**2) Program**\n", "I change x."),
        ("**1. Plan**: I change x.\n\n2. The whole program:\n\n   ", "**Plan**: I change x."),
        ("I change:\n1. the order,\n2. the sizes.\n", "I change:\n1. the order,\n2. the sizes."),
        ("1. A shorter loop.\n2. A table.\n", "1. A shorter loop.\n2. A table."),
    ],
)
def test_the_numbers_of_a_replys_parts_are_none_of_the_plan(prose, plan):
    """Later prompts told of such a program `1.`, the first sentence of its plan."""
    found = parse_response(f"{prose}```python\nx = 1\n```")
    assert found == ("x = 1", plan)


@pytest.mark.parametrize("indent", ["   ", "    "])
@pytest.mark.parametrize("fence", ["", "```\n"])
def test_changes_of_a_part_in_a_list_stand_at_the_margin(indent, fence):
    block = f"{fence}<<<<<<< SEARCH\nx = 1\n=======\nif x:\n    x = 2\n>>>>>>> REPLACE\n{fence}"
    listed = "".join(f"{indent}{line}\n" for line in block.splitlines())
    assert (
        unlisted(f"1. I change x.\n2. The change:\n{listed}Done.\n")
        == f"1. I change x.\n2. The change:\n{block}Done.\n"
    )
    assert unlisted(f"I change x.\n{block}") == f"I change x.\n{block}"


def test_of_several_blocks_an_example_of_use_is_not_the_program():
    program = "def f(x):\n    return x + 1"
    use = "from program import f\nfor x in range(10):\n    print(f(x), f(x + 1), f(x + 2))"
    reply = f"The plan.\n```python\n{program}\n```\nHow it is used:\n```python\n{use}\n```"
    assert parse_response(reply, like="def f(x): ...")[0] == program
    assert parse_response(reply, like="x = 1")[0] == use, "where nothing tells them apart, the longest"
    whole = f"import math\n\n\ndef g():\n    return 2\n\n\n{program}"
    parts = f"I change f:\n```python\n{program}\n```\nThe whole:\n```python\n{whole}\n```"
    assert parse_response(parts, like=whole.replace("+ 1", "- 1"))[0] == whole


def test_a_word_on_thinking_is_no_thought():
    """All behind it was dropped, the program too."""
    reply = f"I add a `<think>` tag to the prompt.\n\n```python\n{PROGRAM}\n```\n"
    assert parse_response(reply) == (PROGRAM, "I add a `<think>` tag to the prompt.")


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("# ... existing code ...", True), ("    # … rest of the function unchanged", True),
        ("# (rest of code omitted)", True), ("// ... the remaining cases", True),
        ("# the rest of the file stays the same", True), ("# existing imports here", True),
        ("# ... and so on", False), ("# the rest of the cities", False), ("x = 1  # ... as before", False),
        ("# same code as in the paper", False),
    ],
)  # fmt: skip
def test_a_comment_in_place_of_lines(line, lacks):
    code = f"def f(x):\n{line}\n    return x\n"
    assert left_out(code, []) == (line.strip() if lacks else "") and left_out(code, ["x = 1", code]) == ""


def test_thinking_that_the_chat_template_has_opened_is_no_part_of_the_reply_either():
    """vLLM and llama.cpp hand on what DeepSeek-R1 and Qwen write after a `<think>` that is part of the prompt: the
    longest program of such a reply was a draft that its writer had thrown away."""
    draft = "```python\nwrong = 1\nwrong += 1\n```\nNo, better:"
    assert parse_response(f"Let me see.\n{draft}\n</think>\n\nThe plan.\n```python\nright = 1\n```") == (
        "right = 1",
        "The plan.",
    )
    assert parse_json('{"a": 1}, or\n</think>\n{"a": 2}') == {"a": 2}
    program = 'TAG = """\n</think>\n"""'
    assert parse_response(f"The plan.\n```python\n{program}\n```\nIt tells </think> apart.") == (
        program,
        "The plan.\nIt tells </think> apart.",
    )


def test_words_of_thinking_in_a_program_are_its_own():
    program = "ASK = '<think>why</think>'\nSAY = '<think>never ends'\n"
    reply = f"<think>```\nwrong\n```</think>The plan.\n```python\n{program}```\n<thinking>more</thinking>Done."
    assert strip_thinking(reply) == f"The plan.\n```python\n{program}```\nDone."


def test_the_seeds_plan_inside_of_the_code():
    code = "# Implementation Plan\n# Use ridge.\n# Then blend.\n# Code\nx = 1"
    assert parse_response(f"```python\n{code}\n```")[1] == "Use ridge.\nThen blend."


@pytest.mark.parametrize(
    "text",
    ['{"a": {"b": [1]}}', 'Here:\n```json\n{"a": {"b": [1]}}\n```', 'so {not json} but {"a": {"b": [1]}} ok'],
)
def test_json_bare_fenced_and_embedded(text):
    assert parse_json(text) == {"a": {"b": [1]}}


def test_half_a_character_in_json_is_replaced():
    assert parse_json('{"a\\ud800": ["\\udfff", "\\ud83d\\ude00"]}') == {"a?": ["?", "😀"]}


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", "null", "{'a': 1}", "[" * 100_000, '{"a":' * 20_000])
def test_no_object_is_none(text):
    assert parse_json(text) is None


def test_syntax_errors_name_line_and_text():
    assert syntax_error("x = 1") is None
    assert syntax_error("x = 1\ny = (").startswith("line 2")
    assert syntax_error("a\0b") is not None
    assert syntax_error("(" * 5000 + ")" * 5000) is not None


@given(st.text(alphabet='`~ax{}\n<think>/"', max_size=300))
def test_never_raises(text):
    code, plan = parse_response(text)
    assert code is None or isinstance(code, str)
    assert isinstance(plan, str)
    parse_json(text)


@given(
    st.text(alphabet=st.characters(exclude_characters="`\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", exclude_categories=["Cs"]))
)
def test_what_stands_in_a_fence_comes_out_unchanged(code):
    _, blocks = split_blocks(f"a\n```\n{code}\n```\nb")
    assert blocks[0].text == code.removesuffix("\n") or blocks[0].text == code


def test_linear_in_the_length():
    started = time.process_time()
    parse_response("```\n" * 50_000)
    parse_json("{" * 200_000)
    unlisted("  <<<<<<< SEARCH\n" * 50_000)
    unlisted("  <<<<<<< SEARCH\n  >>>>>>> REPLACE\n" * 25_000)
    parse_response("1. x\n" + "2.\n \n" * 50_000)
    parse_response("   ```\n" * 50_000)
    assert time.process_time() - started < 4


@pytest.mark.parametrize("odd", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_a_string_with_a_rare_separator_arrives_whole(odd):
    assert parse_response(f"Plan.\n```python\nsep = 'a{odd}b'\n```\n")[0] == f"sep = 'a{odd}b'"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("NOTHING LEFT: all bins are full", "all bins are full"),
        ("I looked.\n\n**NOTHING LEFT:** all bins are full.**", "all bins are full."),
        ("> NOTHING LEFT: `full`\n", "full"),
        ("NOTHING LEFT: first\nNOTHING LEFT: second\n", "second"),
        ("NOTHING LEFT:", ""),
        ("<think>NOTHING LEFT: no, wait</think>I go on.", None),
        ("There is nothing left: I am done.", None),
        ("", None),
    ],
)
def test_the_last_line_that_says_that_nothing_is_left(said, reason):
    assert nothing_left_in(said) == reason
