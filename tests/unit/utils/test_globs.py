import pytest

from utils.globs import matches


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("src/**/*.py", ["src/a.py", "src/b/c.py"], ["a.py", "src/a.txt", "xsrc/a.py"]),
        ("*.toml", ["a.toml"], ["b/a.toml"]),
        ("docs/", ["docs/a", "docs/b/c.md"], ["doc/a", "docsx"]),
        ("./src", ["src/a"], ["srcs/a"]),
        ("**", ["a", "b/c"], []),
        ("a?.py", ["ab.py"], ["a/.py", "abc.py"]),
        ("a[1].py", ["a[1].py"], ["a1.py"]),
    ],
)
def test_patterns(pattern, yes, no):
    assert all(matches(path, [pattern]) for path in yes)
    assert not any(matches(path, [pattern]) for path in no)
