"""
`guidance.schema.json` describes every guidance, and describes it completely.

The checker here knows the words of JSON Schema that our schema uses, and fails on any other, so
the schema cannot say more than is tested.
"""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import robotrules
from robotrules.extensions.app_lines import Registration
from robotrules.extensions.vocabulary import Preference, StatementSource
from robotrules.guide import SCHEMA_VERSION, TagsSeen
from robotrules.json_results.schemas import load_schema
from robotrules.robotstxt.verdict import GroupMatch, Reason
from robotrules.tags import TAG_PROFILES, Carrier, PageState, RuleStatus
from robotrules.tags.codes import CODES
from robotrules.tags.known_rules import PREVIEWS
from tests.cli import test_transcripts as transcripts
from tests.cli.schema import objects, problems
from tests.cli.shell import robotrules as run

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = load_schema("guidance")
# What the command line adds to `as_dict()`.
ADDED = ["status", "robots_origin", "access", "known"]

ROBOTS = b"""\xef\xbb\xbfUser-agent: *
Disallow: /private/
Allow: /\xe9
Content-Usage: train-ai=n, search=y
Content-Usage: /a x y
App-Directives: examplesearch;a=?0;b=1;c=1.5;d=tok;e="s";f=:AQ==:;g=@1767225600;h=%"x"
App-Directives: /a examplesearch;A

User-agent: ExampleBot
User-agent: NoRules
"""
HEADERS: list[list[tuple[str, str]] | None] = [
    None,
    [],
    [
        ("Robots-Tag", "*;nosnippet, ExampleBot;noindex;x, OtherBot;noindex"),
        ("Robots-Tag", "noindex, *;max-snippet=5;max-video-preview=9;max-image-preview=none"),
        ("X-Robots-Tag", "unavailable_after: 2030-01-01, index, otherbot: noarchive"),
        ("Cache-Control", "max-age=60, no-cache, no-store"),
        ("Age", "5"),
        ("Content-Usage", "train-ai=y, search=n"),
        ("tdm-reservation", "2"),
    ],
    [("Robots-Tag", "*;Noindex, ((("), ("Content-Usage", "a b"), ("tdm-reservation", "1")],
    [("Content-Type", "application/pdf"), ("Expires", "0")],
]
HTML = [
    None,
    b"",
    b"""<meta name=robots content="max-snippet:x, noai noimageai, max-snippet:5">
    <meta name=examplebot content="noindex, noyodel"><meta name=tdm-reservation content=1>
    <noscript><meta name=robots content=notranslate></noscript>
    <p><meta name=robots content=noindex>""",
]
URLS: list[str | bytes] = ["https://example.com/a", "/private/x", b"/\xe9"]
TDMREP = [None, b'[{"location": "/*", "tdm-reservation": 1, "tdm-policy": "https://a/"}, 1]', b"{"]


def told(value: Any) -> Any:
    """Return a value after a round trip through JSON."""
    return json.loads(json.dumps(value, allow_nan=False))


def asked(**more: Any) -> dict[str, Any]:
    """Return guidance about `/a` with all optional parts."""
    found = robotrules.guidance(
        "https://example.com/a",
        "ExampleSearch",
        **{
            "robots": robotrules.parse(ROBOTS),
            "headers": HEADERS[2],
            "html": HTML[2],
            "tdmrep": TDMREP[1],
            "application": "examplesearch",
            **more,
        },
    )
    values: dict[str, Any] = told(found.as_dict())
    return values


@pytest.mark.filterwarnings("ignore::robotrules.PurposeWarning")
@pytest.mark.parametrize("profile", TAG_PROFILES)
def test_guidance_is_as_described(profile: str) -> None:
    """Whatever is given, and whatever is not, the answer follows the schema."""
    name = profile if profile in ("default", "strict", "google") else "default"
    robots = [None, robotrules.parse(ROBOTS, name)]
    seen = set()
    for url, file, headers, html, tdmrep in itertools.product(URLS, robots, HEADERS, HTML, TDMREP):
        found = robotrules.guidance(
            url,
            ["ExampleBot", "AnyBot"] if html else "AnyBot",
            robots=file,
            headers=headers,
            html=html,
            dom=html and "<meta name=robots content=nofollow>",
            tdmrep=tdmrep,
            purposes=["EXAMPLE-PURPOSE-1"] if headers else [],
            application="examplesearch" if headers else None,
            agreement={"search": "allowed"} if tdmrep else None,
            received=datetime(2026, 1, 1, tzinfo=UTC) if html else None,
            profile=profile,
        )
        values = told(found.as_dict())
        assert list(problems(values, SCHEMA)) == []
        assert sorted(values) == sorted(SCHEMA["required"])
        assert (values["verdict"] is None) == (values["may_crawl"] is None)
        assert (values["usage"] is None) == (values["may_index"] is None)
        seen.add(values["tags"])
    assert seen == set(TagsSeen)


@pytest.mark.parametrize("disallowed", [False, True])
def test_the_command_prints_it(disallowed: bool) -> None:
    """The output of the command line always has two more keys."""
    url = "/private/x" if disallowed else "https://example.com/a"
    line = ["--header", "Robots-Tag: *;noindex"]
    ran = run("guidance", url, "--as", "A", "--robots", "-", "--json", *line, stdin=ROBOTS)
    values = json.loads(ran.out)
    assert list(problems(values, SCHEMA)) == []
    assert list(values) == [*SCHEMA["required"], *ADDED]
    assert list(SCHEMA["properties"]) == [*SCHEMA["required"], *ADDED]


def test_tags_print_the_same() -> None:
    """`robotrules tags --json` is the part about tags, and the sources."""
    ran = run("tags", "--header", "Robots-Tag: *;noindex", "-", "--json", stdin=HTML[2] or b"")
    values = json.loads(ran.out)
    for name in ("file", "url", "status", "profile"):
        del values[name]
    assert list(problems(values, {**SCHEMA["$defs"]["usage"], "$defs": SCHEMA["$defs"]})) == []


def test_the_checker_finds_errors() -> None:
    """A checker without findings would prove nothing."""
    good = asked()
    assert list(problems(good, SCHEMA)) == []
    usage, preferences = good["usage"], good["preferences"]
    wrongs: list[dict[str, Any]] = [
        {"schema_version": 2},
        {"schema_version": True},
        {"url": None},
        {"may_crawl": 1},
        {"may_index": "no"},
        {"tags": "seen"},
        {"verdict": {}},
        {"verdict": {**good["verdict"], "reason": "because"}},
        {"usage": {**usage, "rules": {"noindex": None}}},
        {"usage": {**usage, "decided_by": {"noindex": [-1]}}},
        {"usage": {**usage, "max_image_preview": "huge"}},
        {"usage": {**usage, "mentions": [{**usage["mentions"][0], "standing": "lost"}]}},
        {"usage": {**usage, "notes": [{**usage["notes"][0], "level": "fatal"}]}},
        {"usage": {**usage, "freshness": {**usage["freshness"], "age": None}}},
        {"preferences": {**preferences, "preferences": {"search": "yes"}}},
        {"preferences": None},
        {"reservation": {**good["reservation"], "carrier": "epub"}},
        {"app_directives": {**good["app_directives"], "notes": [{"code": ""}]}},
        {"status": "200"},
        {"status": 0},
        {"more": 1},
    ]
    for wrong in wrongs:
        assert list(problems({**good, **wrong}, SCHEMA)), wrong
    for name in good:
        assert list(problems({key: good[key] for key in good if key != name}, SCHEMA)), name


def test_everything_is_required_described_and_closed() -> None:
    """Every object lists its keys and allows no others; every key has a description."""
    for schema in objects(SCHEMA):
        assert schema["additionalProperties"] is False
        added = ADDED if schema is SCHEMA else []
        assert [*schema["required"], *added] == list(schema["properties"])
        assert all(len(value["description"]) > 10 for value in schema["properties"].values())


def test_every_part_is_used_and_seen() -> None:
    """Every part of the schema occurs in an answer."""
    text = json.dumps(SCHEMA)
    assert [name for name in SCHEMA["$defs"] if f'"#/$defs/{name}"' not in text] == []
    good = asked()
    assert good["app_directives"]["directives"]
    assert good["app_directives"]["notes"]
    assert good["app_directives"]["content_usage"]
    assert good["preferences"]["statements"]
    assert good["reservation"]["notes"]
    assert asked(robots=robotrules.parse(b"User-agent: *\nDisallow: /"))["verdict"]["rule"]


def test_codes_are_those_of_the_library() -> None:
    """The schema knows every code, and no other."""
    parts = {name: part["properties"] for name, part in SCHEMA["$defs"].items()}
    assert SCHEMA["properties"]["schema_version"]["const"] == SCHEMA_VERSION
    for schema, codes in [
        (SCHEMA["properties"]["tags"], TagsSeen),
        (parts["verdict"]["reason"], Reason),
        (parts["mention"]["standing"], RuleStatus),
        (parts["source"]["carrier"], Carrier),
        (parts["app_directives"]["matched_by"], GroupMatch),
        (parts["app_directive"]["status"], Registration),
        (parts["statement"]["source"], StatementSource),
        (parts["preferences"]["preferences"]["additionalProperties"], Preference),
    ]:
        assert set(schema["enum"]) == set(codes)
    assert set(parts["source"]["state"]["enum"]) == {*PageState, None}
    assert set(parts["usage"]["max_image_preview"]["enum"]) == {*PREVIEWS, None}
    assert {level for level, _ in CODES.values()} == set(parts["tag_note"]["level"]["enum"])


def test_the_page_shows_the_output(tmp_path: Path) -> None:
    """The commands on `docs/guidance.md` have the output shown there."""
    transcripts.test_what_is_typed_shows_what_is_printed(DOCS / "guidance.md", tmp_path)


def test_the_page_names_every_key() -> None:
    """`docs/guidance.md` describes every key at the top."""
    text = (DOCS / "guidance.md").read_text(encoding="utf-8").partition("## Keys")[2]
    known = ("product_tokens", "purposes")
    unsaid = [name for name in SCHEMA["properties"] if f"`{name}`" not in text]
    assert unsaid == list(known)
