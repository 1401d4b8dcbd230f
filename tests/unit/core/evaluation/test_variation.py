"""What a varied program needs is imported once, where it may stand."""

from __future__ import annotations

import ast

import pytest

from core.evaluation.variation import finish

RULE = "def f(x):\n    return math.sqrt(x)\n"


@pytest.mark.parametrize(
    "code",
    [
        RULE,
        f"from __future__ import annotations\n{RULE}",
        f'"""Text."""\nfrom __future__ import annotations, division\nimport os\n{RULE}',
        f'"""With import math it is math.sqrt."""\n{RULE}',
        f"import os as import_math\n{RULE}",
        f"def g(x):\n    import math\n    return math.exp(x)\n{RULE}",
    ],
)
def test_a_program_that_uses_math_imports_it(code):
    text = finish(ast.parse(code))
    names: dict = {}
    exec(compile(text, "program", "exec"), names)
    assert names["f"](9) == 3
    assert finish(ast.parse(text)).count("import math") == text.count("import math")


@pytest.mark.parametrize(
    "code",
    [
        f"import math\n\n{RULE}",
        f"import math as m, cmath as math\n\n{RULE}",
        "def f(x):\n    import math\n    return math.sqrt(x)",
        "try:\n    import math\nexcept ImportError:\n    pass\n\n" + RULE,
        'def f(x):\n    """As math.sqrt."""\n    return x ** 0.5',
    ],
)
def test_nothing_is_added_where_math_is_there_or_not_used(code):
    assert finish(ast.parse(code)) == ast.unparse(ast.parse(code))


def test_the_usual_text_is_what_it_was():
    """Stored runs hold it."""
    assert finish(ast.parse(RULE)) == f"import math\n\n\n{RULE.rstrip()}"
