"""The lint reports the problems of a vector file, and none in the suite."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import lint
import pytest
import suite

VALID: dict[str, Any] = {
    "id": "sample/one",
    "requirement": ["REP-2.2-04"],
    "section": "2.2",
    "level": "GRAM",
    "robotstxt": "User-agent: a\nDisallow: /x\n",
    "comment": "A line feed ends a line.",
    "checks": [{"url": "/x", "product_token": "a", "allowed": False, "line": 2}],
}


def problems(folder: Path, *vectors: dict[str, Any], text: str | None = None) -> list[str]:
    """Lint a folder with one file."""
    path = folder / "lines" / "sample.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(lint.format_vectors(list(vectors)) if text is None else text, encoding="utf-8")
    return lint.lint(folder)


def test_our_vectors_are_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """The suite has no problem, and the lint prints that in its last line."""

    assert lint.main([]) == 0
    assert f"{len(suite.load())} vectors, 0 problems\n" == capsys.readouterr().out


def test_valid_sample(tmp_path: Path) -> None:
    """The sample that the other tests change is valid."""

    assert problems(tmp_path, VALID) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "other/one"}, "name of its file"),
        ({"id": "Sample/One"}, "does not match"),
        ({"requirement": ["REP-9.9-99"]}, "not in requirements.json"),
        ({"requirement": []}, "wrong number of items"),
        ({"section": "2.9"}, "not a section of RFC 9309"),
        ({"level": "MUST"}, "that of REP-2.2-04 is GRAM"),
        ({"ambiguity": ["AMB-999"]}, "not in decisions.json"),
        ({"comment": "no sentence"}, "does not match"),
        ({"comment": "Two words."}, "one sentence"),
        ({"profile": "google"}, "about profile default"),
        ({"profile": "bing"}, "must be one of"),
        ({"robotstxt": 5}, "fits none"),
        ({"robotstxt": {"parts": [["a", 0]]}}, "fits none"),
        ({"checks": []}, "wrong number of items"),
        ({"checks": [{"url": "/x", "product_token": "a"}]}, "'allowed' is missing"),
        ({"checks": [{**VALID["checks"][0], "line": None}]}, "name its line"),
        ({"checks": [{**VALID["checks"][0], "line": 0}]}, "fits none"),
        ({"checks": [{**VALID["checks"][0], "line": True}]}, "fits none"),
        ({"checks": [{**VALID["checks"][0], "product_token": [""]}]}, "fits none"),
        ({"surprise": 1}, "is unknown"),
    ],
)
def test_invalid_sample(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    """Each change of the sample is one problem."""

    found = problems(tmp_path, copy.deepcopy(VALID) | change)

    assert len(found) == 1
    assert words in found[0]


def test_vector_without_parts(tmp_path: Path) -> None:
    """A vector without expectations is a problem."""

    vector = {name: value for name, value in VALID.items() if name != "checks"}

    assert "fits none of 35 alternatives" in problems(tmp_path, vector)[0]


def test_extension_sample(tmp_path: Path) -> None:
    """A vector about an extension has the section of its requirement, and any profile."""

    vector = VALID | {
        "requirement": ["CU-A3.1-01"],
        "level": "DEF",
        "section": "attach 3.1",
        "profile": "google",
        "content_usage": [
            {"url": "/", "product_token": "a", "preferences": {"train-ai": "allowed"}}
        ],
    }
    path = tmp_path / "extensions" / "sample.json"
    path.parent.mkdir()

    for change, words in (
        ({}, ""),
        ({"section": "3.1"}, "that of CU-A3.1-01 is attach 3.1"),
        ({"content_usage": [{"url": "/", "product_token": "a"}]}, "'preferences' is missing"),
        (
            {"content_usage": [vector["content_usage"][0] | {"preferences": {"x": "perhaps"}}]},
            "must be one of",
        ),
        ({"crawl_delays": [{"product_token": "a", "seconds": True}]}, "fits none"),
    ):
        path.write_text(lint.format_vectors([vector | change]), encoding="utf-8")
        found = lint.lint(tmp_path)
        assert len(found) == bool(words)
        assert not words or words in found[0]


def test_order_and_duplicates(tmp_path: Path) -> None:
    """Ids are sorted within a file and unique in the suite."""

    assert "not sorted" in problems(tmp_path, VALID | {"id": "sample/two"}, VALID)[0]
    assert "is also in" in problems(tmp_path, VALID, VALID)[0]


def test_files(tmp_path: Path) -> None:
    """A file is JSON in canonical form, in the folder of a topic."""

    assert "not JSON" in problems(tmp_path, text="[")[0]
    assert "not canonical" in problems(tmp_path, text=json.dumps([VALID]))[0]
    (tmp_path / "lines").rename(tmp_path / "elsewhere")
    assert "not a topic" in lint.lint(tmp_path)[0]


def test_write_fixes_order_and_formatting(tmp_path: Path) -> None:
    """Writing sorts the ids and formats the file."""

    assert problems(tmp_path, text=json.dumps([VALID | {"id": "sample/two"}, VALID]))
    lint.write(tmp_path)
    assert lint.lint(tmp_path) == []


def test_canonical_form_escapes_invisible_characters() -> None:
    """Invisible characters, and those that look like others, are escaped."""

    text = lint.format_vectors([{"id": "é\u2028\u212a\x7f\ufeff"}])

    assert '"é\\u2028\\u212a\\u007f\\ufeff"' in text
    assert json.loads(text) == [{"id": "é\u2028\u212a\x7f\ufeff"}]


def test_unknown_keyword() -> None:
    """The validator refuses a schema with unsupported keywords."""

    with pytest.raises(ValueError, match="does not support"):
        list(lint.find_schema_problems({"oneOf": []}, 1, {}, "file"))


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong argument exits with 2, a problem with 1."""

    assert lint.main(["--help-me"]) == 2
    assert "usage" in capsys.readouterr().err
