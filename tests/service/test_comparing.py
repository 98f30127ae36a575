"""diff, simplify and matrix answer what the commands print, for any bytes."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from robotrules.service.verbs import load_verbs
from tests.cli.shell import robotrules
from tests.service.verb_calls import HOSTILE, call, encoded, every_file, refused, schema_of, without

PAIRS = Path(__file__).parents[2] / "examples" / "diffs"
OLD = "User-agent: *\nDisallow: /private\n\nUser-agent: GPTBot\nDisallow: /\n"
NEW = (
    "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nAllow: /\nSitemap: https://e.com/s\n"
)


def printed(*arguments: str, stdin: bytes = b"") -> Any:
    """Return the JSON that a command prints."""
    ran = robotrules(*arguments, "--json", stdin=stdin)
    assert ran.out, ran.err
    return json.loads(ran.out)


@pytest.mark.parametrize("verb", load_verbs().values(), ids=lambda verb: verb.path)
def test_examples_of_verbs_are_answered(verb: Any) -> None:
    """The body that the OpenAPI document shows is answered as the schema says."""
    assert call(verb.path.removeprefix("/v1/"), **verb.example)


@pytest.mark.parametrize(
    "name",
    [
        *("simplify", "matrix", "fmt", "write", "editor-notes", "editor-tokens"),
        *("editor-fix", "editor-hover", "editor-completion", "editor-pattern"),
    ],
)
def test_schemas_are_valid_and_closed(name: str) -> None:
    """Objects have no other members than those described, and each member is described."""
    schema = schema_of(name)
    import_module("jsonschema").Draft202012Validator.check_schema(schema)
    objects = 0

    def walk(value: Any) -> None:
        nonlocal objects
        if isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            if value.get("type") == "object":
                objects += 1
                assert "additionalProperties" in value
                assert value.get("description")
                for member in value.get("properties", {}).values():
                    assert member.get("description") or "$ref" in member or "type" in member
            for item in value.values():
                walk(item)

    walk(schema)
    assert objects


# --- diff -----------------------------------------------------------------------------------------


def diff_of(tmp_path: Path, old: bytes, new: bytes, *options: str, stdin: bytes = b"") -> Any:
    """Return the JSON of the command for two files, without their names."""
    for name, body in (("old", old), ("new", new)):
        (tmp_path / name).write_bytes(body)
    values = printed("diff", str(tmp_path / "old"), str(tmp_path / "new"), *options, stdin=stdin)
    return values | {"old": None, "new": None}


@every_file
def test_diff_is_that_of_the_command(tmp_path: Path, octets: bytes) -> None:
    """For any bytes, in both directions."""
    base = HOSTILE["groups"]
    fields = {"old_base64": encoded(octets), "new_base64": encoded(base), "max_regions": 20}
    expected = diff_of(tmp_path, octets, base, "--max-regions", "20")
    assert call("diff", **fields) == expected
    fields = {"old_base64": encoded(base), "new_base64": encoded(octets), "max_regions": 20}
    assert call("diff", **fields) == diff_of(tmp_path, base, octets, "--max-regions", "20")


@pytest.mark.parametrize("pair", sorted(PAIRS.glob("*/*")), ids=lambda pair: pair.name)
def test_diff_of_pairs(pair: Path) -> None:
    """The twenty pairs that look alike or different."""
    old, new = (pair / name for name in ("old.txt", "new.txt"))
    expected = printed("diff", str(old), str(new)) | {"old": None, "new": None}
    assert call("diff", old=old.read_text("utf-8"), new=new.read_text("utf-8")) == expected


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"as": "GPTBot"}, ["--as", "GPTBot"]),
        ({"as": ["GPTBot", "*"]}, ["--as", "GPTBot", "--as", "*"]),
        ({"as": "Googlebot-News", "literal": True}, ["--as", "Googlebot-News", "--literal"]),
        ({"purpose": ["EXAMPLE-PURPOSE-1"]}, ["--purpose", "EXAMPLE-PURPOSE-1"]),
        ({"profile": "google"}, ["--profile", "google"]),
        ({"profile": "strict", "literal": True}, ["--profile", "strict", "--literal"]),
        ({"max_regions": 1}, ["--max-regions", "1"]),
        ({"max_states": 1}, ["--max-states", "1"]),
    ],
)
def test_options_of_diff(tmp_path: Path, fields: dict[str, Any], options: list[str]) -> None:
    """Fields have the names of the options."""
    expected = diff_of(tmp_path, OLD.encode(), NEW.encode(), *options)
    assert call("diff", old=OLD, new=NEW, **fields) == expected


def test_urls_of_diff(tmp_path: Path) -> None:
    """URLs are counted as the command counts those of a list."""
    urls = ["https://e.com/private", "/private.html", "/private/x", "/", "/é", "/"]
    stdin = "".join(f"{url}\n" for url in urls).encode()
    expected = diff_of(tmp_path, OLD.encode(), NEW.encode(), "--urls", "-", stdin=stdin)
    answer = call("diff", old=OLD, new=NEW, urls=urls)
    assert answer == expected
    assert answer["impact"]["changed"] == 6
    assert call("diff", old=OLD, new=NEW, urls=[])["impact"]["urls"] == 0
    assert call("diff", old=OLD, new=NEW)["impact"] is None


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"new": ""}, "$.old"),
        ({"old": "", "old_base64": "", "new": ""}, "$.old"),
        ({"old": ""}, "$.new"),
        ({"old": "", "new": "", "as": "https://example.com/"}, "$.as"),
        ({"old": "", "new": "", "as": ["a", "Mozilla/5.0 (x)"]}, "$.as[1]"),
        ({"old": "", "new": "", "purpose": [" "]}, "$.purpose[0]"),
    ],
)
def test_misuse_of_diff_is_located(fields: dict[str, Any], at: str) -> None:
    """A problem says which field is wrong."""
    assert refused("diff", **fields).extra["at"] == at


@pytest.mark.parametrize(
    "fields",
    [
        {"old": "", "new": "", "max_states": 0},
        {"old": "", "new": "", "max_states": 100_001},
        {"old": "", "new": "", "max_regions": 10**9},
        {"old": "", "new": "", "robots": ""},
        {"old": 1, "new": ""},
        {"old": "", "new": "", "as": ["a"] * 201},
        {"old_base64": "?", "new": ""},
    ],
)
def test_invalid_bodies_of_diff(fields: dict[str, Any]) -> None:
    """Limits, unknown fields and other types are refused before anything is compared."""
    assert "$" in refused("diff", **fields).detail or "unknown" in refused("diff", **fields).detail


# --- simplify -------------------------------------------------------------------------------------


@every_file
def test_simplify_is_that_of_the_command(tmp_path: Path, octets: bytes) -> None:
    """For any bytes; the body is the file that the command writes."""
    answer = call("simplify", robots_base64=encoded(octets), max_states=2_000)
    ran = robotrules("simplify", "-", "--json", "--max-states", "2000", stdin=octets)
    body = written_body(answer)
    if ran.code == 2:
        assert answer["refused"] in ran.err
        assert body == octets
        return
    assert without(answer, "body", "body_base64") == json.loads(ran.out)
    target = tmp_path / "smaller.txt"
    robotrules("simplify", "-", "-o", str(target), "--max-states", "2000", stdin=octets)
    assert body == target.read_bytes()


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"remove_groups": True}, ["--remove-groups"]),
        ({"single_profile": True, "profile": "google"}, ["--single-profile", "--profile=google"]),
        ({"max_states": 1}, ["--max-states", "1"]),
    ],
)
def test_options_of_simplify(fields: dict[str, Any], options: list[str]) -> None:
    """Fields have the names of the options."""
    text = "User-agent: *\nDisallow: /a\nDisallow: /a/b\n\nUser-agent: x\nDisallow: /a\n"
    answer = call("simplify", robots=text, **fields)
    expected = printed("simplify", "-", *options, stdin=text.encode())
    assert without(answer, "body", "body_base64") == expected


def written_body(answer: dict[str, Any]) -> bytes:
    """Return the file of an answer."""
    from base64 import b64decode

    if answer["body_base64"] is not None:
        octets = b64decode(answer["body_base64"])
        assert octets.decode("utf-8", "replace") == answer["body"]
        return octets
    body: str = answer["body"]
    return body.encode()


# --- matrix ---------------------------------------------------------------------------------------


@every_file
def test_matrix_is_that_of_the_command(octets: bytes) -> None:
    """For any bytes; the command refuses binary files, the service reads them as crawlers do."""
    answer = call("matrix", robots_base64=encoded(octets))
    ran = robotrules("matrix", "-", "--json", stdin=octets)
    if ran.code == 2:
        assert "is binary" in ran.err
        return
    assert answer == json.loads(ran.out)


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"as": "GPTBot"}, ["--as", "GPTBot"]),
        ({"as": ["GPTBot", "*", "MJ12bot"]}, ["--as=GPTBot", "--as=*", "--as=MJ12bot"]),
        ({"purpose": ["ai-training", "seo"]}, ["--purpose=ai-training", "--purpose=seo"]),
        ({"all": True}, ["--all"]),
        ({"literal": True, "all": True}, ["--literal", "--all"]),
        ({"path": ["/", "/private/é"]}, ["--path=/", "--path=/private/é"]),
        ({"title": "https://example.com"}, ["--title", "https://example.com"]),
        ({"profile": "google"}, ["--profile=google"]),
        ({"max_states": 1}, ["--max-states=1"]),
    ],
)
def test_options_of_matrix(fields: dict[str, Any], options: list[str]) -> None:
    """Fields have the names of the options."""
    expected = printed("matrix", "-", *options, stdin=HOSTILE["groups"])
    assert call("matrix", robots_base64=encoded(HOSTILE["groups"]), **fields) == expected


@pytest.mark.parametrize("form", ["svg", "html"])
def test_picture_and_page_of_a_matrix(form: str) -> None:
    """They are those of the command; without a title, they name no file."""
    fields = {"robots": OLD, "format": form, "date": "2026-11-19"}
    ran = robotrules(
        *("matrix", "-", f"--{form}", "-", "--title", "Example", "--date", "2026-11-19"),
        stdin=OLD.encode(),
    )
    assert call("matrix", **fields, title="Example")["body"] == ran.out
    assert "stdin" not in call("matrix", **fields)["body"]


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"robots": "", "as": "a", "all": True}, "$.as"),
        ({"robots": "", "as": "a b"}, "$.as"),
        ({"robots": "", "purpose": ["nothing"]}, "$.purpose[0]"),
        ({"robots": "", "path": ["/", "private"]}, "$.path[1]"),
        ({}, "$.robots"),
    ],
)
def test_misuse_of_matrix_is_located(fields: dict[str, Any], at: str) -> None:
    """A problem says which field is wrong."""
    assert refused("matrix", **fields).extra["at"] == at
