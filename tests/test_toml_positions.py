"""Places in a TOML text: the line of everything that `tomllib` found."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from robotrules.toml_positions import Path, TomlValue, read, written_at

TEXT = """\
# a comment = 1
top = 1
"quoted key" . 'b' = 2

[a.b]  # [not.a.table]
list = [ # [
  "one]",
  'two#', [ 3,
   4 ],
  { x = 5,  "y" = 6 },
]
long = \"\"\"
z = 1 "" \\\"\"\"
[c]
\"\"\"
raw = '''
w = 2 ''
'''
after = 2026-01-01T00:00:00Z

[[many]]
k = 1
[[many]]

k = 2
[many.inner]
k = { a.b = 3 }
[[many.deep]]
k = 4
"""
WHERE: dict[Path, int] = {
    ("top",): 2,
    ("quoted key",): 3,
    ("quoted key", "b"): 3,
    ("a", "b"): 5,
    ("a", "b", "list"): 6,
    ("a", "b", "list", 0): 7,
    ("a", "b", "list", 1): 8,
    ("a", "b", "list", 2): 8,
    ("a", "b", "list", 2, 0): 8,
    ("a", "b", "list", 2, 1): 9,
    ("a", "b", "list", 3): 10,
    ("a", "b", "list", 3, "x"): 10,
    ("a", "b", "list", 3, "y"): 10,
    ("a", "b", "long"): 12,
    ("a", "b", "raw"): 16,
    ("a", "b", "after"): 19,
    ("many",): 21,
    ("many", 0): 21,
    ("many", 0, "k"): 22,
    ("many", 1): 23,
    ("many", 1, "k"): 25,
    ("many", 1, "inner"): 26,
    ("many", 1, "inner", "k"): 27,
    ("many", 1, "inner", "k", "a"): 27,
    ("many", 1, "inner", "k", "a", "b"): 27,
    ("many", 1, "deep"): 28,
    ("many", 1, "deep", 0): 28,
    ("many", 1, "deep", 0, "k"): 29,
}


def test_every_key_has_its_line() -> None:
    """Tables, keys, items of lists, quoted or not; no keys within a string or a comment."""
    assert written_at(TEXT) == WHERE


def everything(value: Any, path: Path = ()) -> set[Path]:
    """Return the path of every value in what `tomllib` found."""
    found = {path} if path else set()
    keys = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, (dict, list)) else ():
        found |= everything(value[key], (*path, key))
    return found


def test_the_keys_are_those_that_tomllib_finds() -> None:
    """The second reading finds what the first did, but for tables that only others name."""
    assert everything(tomllib.loads(TEXT)) - set(written_at(TEXT)) == {("a",)}
    assert set(written_at(TEXT)) <= everything(tomllib.loads(TEXT))


def test_a_missing_key_has_the_line_of_its_table() -> None:
    """A key that is missing is reported where it should be."""
    place = TomlValue(tomllib.loads(TEXT), "x.toml", ValueError, written_at(TEXT))
    assert place.line is None
    assert place.at("many").at(1).at("missing").line == 23
    assert str(place.error("odd")) == "x.toml: odd"
    assert str(place.at("many").at(1).at("k").error("odd")) == "x.toml, line 25: many[2].k: odd"


def test_line_ends_of_another_system_count_once() -> None:
    """CRLF is one line end, in strings too."""
    place = read(TEXT.replace("\n", "\r\n").encode(), "x", ValueError, 10_000)
    assert place.at("many").at(1).at("k").line == 25
    assert read(b"\xef\xbb\xbfa = 1", "x", ValueError, 100).at("a").line == 1


def test_deeply_nested_values_have_the_line_of_a_parent() -> None:
    """Lines are recorded up to a depth: a hostile file must not fill the memory."""
    text = "a = " + "[" * 100 + "\n1" + "]" * 100
    assert max(map(len, written_at(text))) == 32
    place = read(text.encode(), "x", ValueError, 1000).at("a")
    for _ in range(100):
        place = place.at(0)
    assert place.line == 1


def test_dots_in_text_are_not_keys() -> None:
    """Hosts in a list, or a line of dots in a comment, are not a long key."""
    hosts = ", ".join(f'"www{number}.example.com"' for number in range(50))
    for text in (f"a = [{hosts}]", "# " + "." * 100 + "\na = 1"):
        assert read(text.encode(), "x", ValueError, 10_000).at("a").line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1", "expected true or false, not 1"),
        ('a = "' + "x" * 100 + '"', "…"),
        ("a = []", "expected true or false, not []"),
    ],
)
def test_a_switch_is_true_or_false(text: str, said: str) -> None:
    """A value that is not a switch is shown as written, cut if it is long."""
    with pytest.raises(ValueError, match="expected true or false") as caught:
        read(text.encode(), "x", ValueError, 1000).at("a").switch()
    assert said in str(caught.value)
    assert len(str(caught.value)) < 120
    assert read(b"a = true", "x", ValueError, 1000).at("a").switch()
