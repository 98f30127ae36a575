"""The branches of `robotrules crawlers`, run in this process; the transcript shows the output."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from robotrules import parse
from robotrules.json_results.schemas import load_schema
from robotrules.operations.crawler_lists import count_crawlers
from robotrules.operations.server_rules import SERVERS
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.write.presets import PRESETS
from tests.cli.schema import problems
from tests.cli.shell import Ran, robotrules

KNOWN = list(KNOWN_CRAWLERS)


def tokens(*arguments: str) -> list[str]:
    """Return the product tokens that a command lists."""
    found = json.loads(robotrules("crawlers", "--json", *arguments).out)
    return [crawler["product_token"] for crawler in found["crawlers"]]


def test_everything() -> None:
    """Without filters, the whole list."""
    assert tokens() == [crawler.product_token for crawler in KNOWN]
    out = robotrules("crawlers").out
    assert all(crawler.product_token in out for crawler in KNOWN)


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        (("--purpose", "archive"), lambda c: "archive" in c.purposes),
        (
            ("--purpose", "archive", "--purpose", "feed"),
            lambda c: not {"archive", "feed"}.isdisjoint(c.purposes),
        ),
        (("--operator", "YANDEX"), lambda c: c.operator == "Yandex"),
        (("--status", "retired"), lambda c: c.status == "retired"),
        (
            ("--obeys", "no", "--obeys", "partly", "--operator", "google"),
            lambda c: c.obeys in ("no", "partly") and c.operator == "Google",
        ),
        (
            ("semrush",),
            lambda c: "semrush" in f"{c.product_token} {c.operator} {c.remarks}".lower(),
        ),
        (("gptbot", "CCBOT"), lambda c: c.product_token in ("GPTBot", "CCBot")),
        (("--preset", "block-ai-all"), PRESETS["block-ai-all"].blocks),
        (
            ("--purpose", "archive", "--exclude", "HERITRIX", "--exclude", "ia_archiver"),
            lambda c: (
                "archive" in c.purposes and c.product_token not in ("heritrix", "ia_archiver")
            ),
        ),
        (("gptbot", "--purpose", "ai-training"), lambda c: c.product_token == "GPTBot"),
    ],
)
def test_filters(arguments: tuple[str, ...], chosen: object) -> None:
    """They combine: a crawler has to pass all of them."""
    assert callable(chosen)
    expected = {crawler.product_token for crawler in KNOWN if chosen(crawler)}
    assert expected
    assert set(tokens(*arguments)) == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("GTPBot",), "did you mean GPTBot?"),
        (("zzz", "yyy"), "for 'zzz' 'yyy': pass a part of a name or of an operator"),
        (("\x1b[2J",), r"\x1b[2J"),
        (("--purpose", "feed", "--status", "retired"), "leave out an option"),
    ],
)
def test_nothing_found(arguments: tuple[str, ...], words: str) -> None:
    """Exit code 1, and a hint; nothing on stdout."""
    ran = robotrules("crawlers", *arguments)
    assert (ran.code, ran.out) == (1, "")
    assert words in ran.err
    assert "\x1b" not in ran.err


def test_json_follows_its_schema() -> None:
    """The same shape as the resource of the HTTP API."""
    found = json.loads(robotrules("crawlers", "--format", "json", "GPTBot").out)
    assert list(problems(found, load_schema("crawlers"))) == []


def test_csv() -> None:
    """One row for each crawler; lists have semicolons."""
    rows = list(csv.DictReader(io.StringIO(robotrules("crawlers", "--format", "csv").out)))
    assert len(rows) == len(KNOWN)
    by_name = {row["product_token"]: row for row in rows}
    assert by_name["Amazonbot"]["purposes"] == "ai-training;search"
    assert by_name["Google-Extended"]["is_control"] == "true"


def test_robots_format_blocks_each_of_them() -> None:
    """A group of a robots.txt, with source and date; names with spaces as parsers read them."""
    out = robotrules("crawlers", "--purpose", "search", "--format", "robots").out
    robots = parse(out)
    assert KNOWN_CRAWLERS.checked in out
    for crawler in KNOWN_CRAWLERS.with_purposes(["search"]):
        assert not robots.check("/", crawler.names).allowed


def test_an_appended_group_is_apart() -> None:
    """`>>` does not glue its comment to the last group; a file has no empty line at its start."""
    ran = robotrules("crawlers", "GPTBot", "--format", "robots")
    assert ran.out.startswith("\n# Names")
    for end in ("", "\n"):
        robots = parse(f"User-agent: *\nDisallow: /a{end}{ran.out}")
        assert [record.value for record in robots.groups[0].records] == [b"*", b"/a"]


def test_ai_crawlers_of_a_preset_for_a_server() -> None:
    """Without crawlers that fetch for people or to verify a site; the comment has the command."""
    ran = robotrules(
        "crawlers", "--preset", "block-ai-all", "--exclude", "CCBot", "--format", "nginx"
    )
    assert "--preset block-ai-all --exclude CCBot --format nginx" in ran.out
    assert '"GPTBot"' in ran.out
    for name in ("Wget", "Google-Site-Verification", "FeedFetcher-Google", "CCBot"):
        assert f'"{name}"' not in ran.out
    assert "crawlers written; Applebot-Extended" in ran.err


def test_numbers_say_of_what() -> None:
    """Controls and retired names are counted apart."""
    known = {crawler.product_token: crawler for crawler in KNOWN}
    for names, words in (
        ("GPTBot", "1 crawler of 9"),
        ("GPTBot CCBot", "2 crawlers of 9"),
        ("GPTBot anthropic-ai", "2 crawlers of 9; 1 retired"),
        ("Google-Extended", "1 name of 9: 0 crawlers that send requests, 1 control"),
        (
            "GPTBot Google-Extended Applebot-Extended anthropic-ai",
            "4 names of 9: 2 crawlers that send requests, 2 controls; 1 retired",
        ),
    ):
        assert count_crawlers([known[name] for name in names.split()], 9) == words
    assert count_crawlers(KNOWN[:1]) == "1 crawler"


@pytest.mark.parametrize("server", SERVERS)
def test_server_formats(server: str, tmp_path: Path) -> None:
    """To a file; the comment has the command that writes it again, safe for any argument."""
    target = tmp_path / "rules"
    operator = "o\n}\x1b é"
    ran = robotrules("crawlers", "--operator", "o", "--format", server, "-o", str(target))
    assert (ran.code, ran.out) == (0, "")
    assert f"--operator o --format {server}" in target.read_text()
    assert robotrules("crawlers", "--operator", operator, "--format", server).code == 1
    ran = robotrules("crawlers", "Google-Extended", "GPTBot", "--format", server)
    assert "Google-Extended sends no requests and is left out" in ran.err
    ran = robotrules("crawlers", "--purpose", "ai-training", "--format", server)
    assert "Webzio-Extended send no requests and are left out" in ran.err
    assert "GPTBot" in ran.out
    ran = robotrules("crawlers", "Google-Extended", "--format", server)
    assert ran.code == 2
    assert "use --format robots" in ran.err


def test_a_comment_cannot_be_left() -> None:
    """A line break in an argument does not end the comment."""
    ran = robotrules("crawlers", "GPTBot", "--operator", "open", "--format", "robots")
    assert ran.out.startswith("\n# ")
    text = "a\nUser-agent: *\n"
    ran = robotrules("crawlers", text, "--format", "robots")
    assert ran.code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "--format", "csv"),
        ("--compare", "x", "--format", "nginx"),
        ("--compare", "x", "-o", "x"),
        ("--format", "iis"),
        ("--purpose", "x"),
        ("--compare", "/nonexistent/list"),
        ("--exclude", "GTPBot"),
        ("--preset", "x"),
    ],
)
def test_misuse(arguments: tuple[str, ...]) -> None:
    """Exit code 2, one line."""
    ran = robotrules("crawlers", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


# --- Comparison -----------------------------------------------------------------------------------


def test_compare(tmp_path: Path) -> None:
    """Exit code 1 and the differences, as text and as JSON."""
    path = tmp_path / "list"
    path.write_bytes(b'{"GPTBot": {"function": "AI search"}, "Foo\\u001b": {}, "GTPBot": {}}')
    ran = robotrules("crawlers", "--purpose", "ai-training", "--compare", str(path))
    assert ran.code == 1
    assert "\x1b" not in ran.out
    for words in (r"Foo\x1b", "GTPBot (meant GPTBot?)", "the list says: AI search", "ClaudeBot"):
        assert words in ran.out
    ran = robotrules("crawlers", "--purpose", "ai-training", "--compare", str(path), "--json")
    found = json.loads(ran.out)
    assert list(problems(found, load_schema("crawler-comparison"))) == []
    assert (found["names"], found["form"], ran.code) == (3, "ai.robots.txt", 1)


def test_compare_without_a_difference(tmp_path: Path) -> None:
    """The list that the command prints; from stdin, to a file."""
    own = robotrules("crawlers", "--json").out.encode()
    ran = robotrules("crawlers", "--compare", "-", stdin=own)
    assert (ran.code, ran.err) == (0, "")
    assert "No differences." in ran.out
    target = tmp_path / "found.json"
    ran = robotrules("crawlers", "--compare", "-", "--json", "-o", str(target), stdin=own)
    assert ran == Ran(0, "", f"robotrules crawlers: '{target}' written\n")
    assert json.loads(target.read_text())["file"] is None


def test_compare_counts_what_it_skips(tmp_path: Path) -> None:
    """Entries without a name; an unreadable file says what to pass."""
    path = tmp_path / "list"
    path.write_bytes(b'["GPTBot", 3]')
    ran = robotrules("crawlers", "GPTBot", "--compare", str(path))
    assert "Skipped, without a name that can be compared: 1." in ran.out
    path.write_bytes(b"\xff")
    ran = robotrules("crawlers", "--compare", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert "not UTF-8" in ran.err


# --- A terminal -----------------------------------------------------------------------------------


def test_a_page_has_what_is_known() -> None:
    """Names, presets, the source, and a group to paste."""
    out = robotrules("crawlers", "AdsBot-Google", "Sogou web spider", "YandexCalendar").out
    for words in (
        "ignores *",
        "User-agent: Sogou\n",
        "read it as 'Sogou'",
        "YandexCalendar, else Yandex:",
        "block-all",
    ):
        assert words in out
