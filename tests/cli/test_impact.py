"""How far a change reaches: counts that are right, in constant memory, and read well."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import RuleSet, parse
from robotrules.cli.console import CliError
from robotrules.cli.impact import impact_lines, impact_markdown, measure_impact
from robotrules.cli.text import Paint
from robotrules.cli.url_files import UrlFile
from robotrules.json_results.impact import (
    MOST_SEGMENTS,
    SEGMENTS_APART,
    Compared,
    CrawlerImpact,
    Impact,
    ImpactCounter,
    ImpactSource,
    Segment,
)
from robotrules.url_lists.line_formats import Example, Skipped, UrlFileFormat
from tests.cli.shell import process_environment

OLD = """\
User-agent: *
Disallow: /cart

User-agent: ExampleBot
Disallow: /shop/
"""
NEW = """\
User-agent: *
Disallow: /cart
Disallow: /search

User-agent: ExampleBot
Disallow: /shop/*?
Disallow: /blog/
Disallow: /$
"""
URLS = """\
https://example.com/
https://example.com/cart
https://example.com/search?q=a/b
/search
https://example.com/shop/1
https://example.com/shop/2?size=3
/shop/1
/blog/2024/10/
https://example.com
/about
"""


def rules(text: str, token: str = "ExampleBot", engine: ModuleType | None = None) -> RuleSet:
    """Return the rules of a file for a crawler."""
    return parse(text, engine=engine).rules_for(token)


def compared(old: str = OLD, new: str = NEW) -> list[Compared]:
    """Return both rule sets of both crawlers."""
    return [
        Compared("ExampleBot", rules(old), rules(new)),
        Compared("everyone else", rules(old, "*"), rules(new, "*")),
    ]


@pytest.fixture
def urls(tmp_path: Path) -> str:
    """A list of URLs."""
    path = tmp_path / "urls.txt"
    path.write_text(URLS, encoding="utf-8")
    return str(path)


class TestCounts:
    """The crawlers and URLs of which verdicts change."""

    def test_by_hand(self, urls: str, engine: ModuleType) -> None:
        """Ten URLs, two crawlers, both directions: each number was counted on paper."""
        pairs = [
            (name, rules(OLD, token, engine), rules(NEW, token, engine))
            for name, token in (("ExampleBot", "ExampleBot"), ("everyone else", "*"))
        ]
        found = measure_impact([urls], pairs)
        assert found == Impact(
            sources=(source(urls)._replace(urls=10),),
            urls=10,
            # All but /cart, /about and /shop/2?size=3.
            changed=7,
            crawlers=(
                CrawlerImpact(
                    "ExampleBot",
                    disallowed=3,
                    allowed=2,
                    segments=(Segment("/", 2, 0), Segment("/shop/", 0, 2), Segment("/blog/", 1, 0)),
                    disallowed_examples=(
                        "https://example.com/",
                        "/blog/2024/10/",
                        "https://example.com",
                    ),
                    allowed_examples=("https://example.com/shop/1", "/shop/1"),
                ),
                CrawlerImpact(
                    "everyone else",
                    disallowed=2,
                    allowed=0,
                    segments=(Segment("/search", 2, 0),),
                    disallowed_examples=("https://example.com/search?q=a/b", "/search"),
                    allowed_examples=(),
                ),
            ),
        )

    def test_no_changes(self, urls: str) -> None:
        found = measure_impact([urls], compared(OLD, OLD))
        assert (found.urls, found.changed) == (10, 0)
        assert [one.changed for one in found.crawlers] == [0, 0]
        assert measure_impact([urls], []).urls == 10

    def test_a_log_counts_requests(self, tmp_path: Path) -> None:
        """Each as often as it was made, gzipped or not; the examples are different URLs."""
        line = '192.0.2.7 - - [10/Oct/2024:13:55:36 +0000] "GET {} HTTP/1.1" 200 9\n'
        text = line.format("/shop/1") * 5 + line.format("/shop/2") + line.format("*")
        path = tmp_path / "access.log.1.gz"
        path.write_bytes(gzip.compress(text.encode()))
        found = measure_impact([str(path)], compared())
        assert (
            found.sources[0].form,
            found.urls,
            found.changed,
            found.sources[0].skipped.lines,
        ) == (
            UrlFileFormat.LOG,
            6,
            6,
            1,
        )
        assert found.crawlers[0].segments == (Segment("/shop/", 0, 6),)
        assert found.crawlers[0].allowed_examples == ("/shop/1", "/shop/2")

    @pytest.mark.parametrize(
        ("url", "segment"),
        [
            (b"/", "/"),
            (b"https://example.com", "/"),
            (b"https://example.com?a/b", "/"),
            (b"HTTPS://example.com:80/#a/b", "/"),
            (b"/a", "/a"),
            (b"/a/", "/a/"),
            (b"/a/b/c", "/a/"),
            (b"https://jo@example.com/a?b/c", "/a"),
            (b"/a#b/c", "/a"),
            (b"/a:b/c", "/a:b/"),
            (b"//example.com/a/b", "/a/"),
            (b"https://example.com//a/b", "//"),
            (b"/%61/\xff", "/%61/"),
            (b"/\xff/", "/\\xff/"),
            (b"/" + b"a" * 80 + b"/b", "/" + "a" * 80 + "/"),
            (b"/" + b"a" * 2000 + b"/b", "/" + "a" * 80 + "…"),
        ],
    )
    def test_segments(self, url: bytes, segment: str) -> None:
        """The first segment as written: with a trailing slash it includes the paths below it."""
        counting = ImpactCounter([Compared("x", rules(""), rules("User-agent: *\nDisallow: /"))])
        counting.add([url])
        assert counted(counting).crawlers[0].segments == (Segment(segment, 1, 0),)

    def test_more_segments_than_are_kept(self) -> None:
        """Sums are exact, and frequent segments are found even if they occur late."""
        counting = ImpactCounter([Compared("x", rules(""), rules("User-agent: *\nDisallow: /"))])
        counting.add([b"/early/"] * 40)
        for start in range(0, 5 * SEGMENTS_APART, 1000):
            counting.add([b"/page-%d" % n for n in range(start, start + 1000)])
        counting.add([b"/late/"] * 50)
        crawler = counted(counting).crawlers[0]
        assert crawler.disallowed == 5 * SEGMENTS_APART + 90
        assert crawler.segments[:2] == (Segment("/late/", 50, 0), Segment("/early/", 40, 0))
        assert len(crawler.segments) == MOST_SEGMENTS
        listed = sum(one.disallowed for one in crawler.segments)
        assert crawler.others().disallowed == crawler.disallowed - listed
        assert crawler.others(2).disallowed == 5 * SEGMENTS_APART

    def test_examples(self) -> None:
        """The first few that are not long, and none twice, in whatever batch."""
        counting = ImpactCounter([Compared("x", rules(""), rules("User-agent: *\nDisallow: /"))])
        counting.add([b"/" + b"x" * 5000, b"/a", b"/a"])
        counting.add([b"/a", b"/b", b"/a", b"/c", b"/d"])
        assert counted(counting).crawlers[0].disallowed_examples == ("/a", "/b", "/c")

    def test_as_dict(self, urls: str) -> None:
        values = measure_impact([urls], compared()).as_dict()
        assert json.loads(json.dumps(values)) == values
        assert list(values) == [
            *("file", "files", "form", "counted", "urls", "changed", "crawlers", "skipped"),
            *("complete", "error"),
        ]
        assert (values["counted"], values["complete"], values["error"]) == ("URLs", True, None)
        assert values["crawlers"][1] == {
            "crawlers": "everyone else",
            "newly_disallowed": 2,
            "newly_allowed": 0,
            "segments": [{"segment": "/search", "newly_disallowed": 2, "newly_allowed": 0}],
            "other_segments": {"newly_disallowed": 0, "newly_allowed": 0},
            "newly_disallowed_examples": ["https://example.com/search?q=a/b", "/search"],
            "newly_allowed_examples": [],
        }

    @given(
        files=st.tuples(*[st.lists(st.sampled_from(["/", "/a", "/a/b", "/*c", "/b$"]))] * 4),
        paths=st.lists(st.sampled_from([b"/", b"/a", b"/a/b", b"/a/bc", b"/b", b"/c", b"/b/c"])),
        size=st.integers(1, 5),
    )
    def test_as_one_by_one(
        self, files: tuple[list[str], ...], paths: list[bytes], size: int
    ) -> None:
        """For any batch size, the result equals checking each URL alone."""
        sets = [
            rules("User-agent: *\n" + "".join(f"Disallow: {one}\n" for one in file))
            for file in files
        ]
        pairs = [Compared("1", sets[0], sets[1]), Compared("2", sets[2], sets[3])]
        counting = ImpactCounter(pairs)
        for start in range(0, len(paths), size):
            counting.add(paths[start : start + size])
        found = counted(counting)
        moved = [[(p.old.allows(path), p.new.allows(path)) for path in paths] for p in pairs]
        for crawler, one in zip(found.crawlers, moved, strict=True):
            assert crawler.disallowed == one.count((True, False))
            assert crawler.allowed == one.count((False, True))
            assert sum(segment.changed for segment in crawler.segments) == crawler.changed
        either = [a[0] != a[1] or b[0] != b[1] for a, b in zip(*moved, strict=True)]
        assert (found.urls, found.changed) == (len(paths), sum(either))


def counted(counting: ImpactCounter) -> Impact:
    """Return the counts of URLs as if they were read from a file."""
    with UrlFile(os.devnull) as file:
        return counting.impact(file)


class TestFiles:
    """Files that have no URLs, or not all of them."""

    @pytest.mark.parametrize(
        ("octets", "words"),
        [
            (b"<sitemapindex/>", r"cannot read URLs from '.*': it is a sitemap index, which"),
            (b"one\ntwo\n", r"there is no URL in '.*': line 1 is 'one'; pass a list of URLs"),
            (b"\x1b[2J\n", r"line 1 is '\\x1b\[2J'"),
            (b"\x1f\x8b", "the gzip data is truncated"),
        ],
    )
    def test_something_else(self, tmp_path: Path, octets: bytes, words: str) -> None:
        """A file of another kind is refused with a fix."""
        path = tmp_path / "file"
        path.write_bytes(octets)
        with pytest.raises(CliError, match=words):
            measure_impact([str(path)], compared())

    def test_an_empty_file(self, tmp_path: Path) -> None:
        """An empty file has no URL that changes."""
        path = tmp_path / "file"
        path.touch()
        found = measure_impact([str(path)], compared())
        assert (found.urls, found.changed, found.sources[0].error) == (0, 0, "")
        assert text(named(found, "file")) == "There is no URL in 'file'."

    def test_a_partial_file(self, tmp_path: Path) -> None:
        """The readable part is counted, and a message reports the missing part."""
        path = tmp_path / "file"
        path.write_bytes(b"<urlset><url><loc>/blog/</loc></url>")
        found = measure_impact([str(path)], compared())
        assert (found.urls, found.changed) == (1, 1)
        assert found.as_dict()["complete"] is False
        assert "\nThe file was not read completely: it is not well-formed XML" in text(found)
        assert "\n\nThe file was not read completely: it is not well-formed XML" in markdown(found)

    def test_several_files(self, tmp_path: Path, urls: str) -> None:
        """All are counted, and what is missing is said of each; JSON has each file."""
        log, partial = tmp_path / "access.log", tmp_path / "a.xml"
        log.write_bytes(b'- - - [01/May/2026] "GET /blog/ HTTP/1.1" 200 5 "-" "x"\nnonsense\n')
        partial.write_bytes(b"<urlset><url><loc>/blog/</loc></url>")
        found = measure_impact([urls, str(log), str(partial)], compared())
        alone = measure_impact([urls], compared())
        assert (found.urls, found.changed) == (12, alone.changed + 2)
        values = found.as_dict()
        assert [one["urls"] for one in values["files"]] == [10, 1, 1]
        assert (values["file"], values["form"], values["counted"]) == (
            None,
            "several formats",
            "URLs",
        )
        assert (values["complete"], values["skipped"]) == (False, {"lines": 1, "examples": []})
        for page in (text(found, 1000), markdown(found)):
            assert page.count("access.log") == 2
            assert "a.xml" in page.partition("was not read completely")[0]

    def test_one_file_that_is_missing(self, tmp_path: Path, urls: str) -> None:
        """Is an error, although another is there."""
        with pytest.raises(CliError, match="no such file"):
            measure_impact([urls, str(tmp_path / "none")], compared())


def named(impact: Impact, name: str) -> Impact:
    """Return it with another name of its file."""
    return impact._replace(sources=(impact.sources[0]._replace(name=name),))


def source(name: str, form: UrlFileFormat = UrlFileFormat.LIST) -> ImpactSource:
    """Return a complete file."""
    return ImpactSource(name, form, 1, Skipped(0, ()), "")


def text(impact: Impact, width: int = 100) -> str:
    """Return it as text."""
    return "\n".join(impact_lines(impact, Paint(False), width))


def markdown(impact: Impact) -> str:
    """Return it as Markdown."""
    return "\n".join(impact_markdown(impact))


class TestText:
    """The text report."""

    def test_a_page(self, urls: str) -> None:
        found = named(measure_impact([urls], compared()), "urls.txt")
        assert text(found) == (
            "Of 10 URLs in 'urls.txt', 7 (70.0%) get another verdict for at least one crawler.\n"
            "\n"
            "  crawlers       newly disallowed  newly allowed\n"
            "  ExampleBot            3   30.0%      2   20.0%\n"
            "  everyone else         2   20.0%      0\n"
            "\n"
            "ExampleBot, by first path segment\n"
            "          newly disallowed  newly allowed\n"
            "  /                      2              0\n"
            "  /shop/                 0              2\n"
            "  /blog/                 1              0\n"
            "  now disallowed: https://example.com/\n"
            "  now disallowed: /blog/2024/10/\n"
            "  now allowed: https://example.com/shop/1\n"
            "  now allowed: /shop/1\n"
            "\n"
            "everyone else, by first path segment\n"
            "           newly disallowed\n"
            "  /search                 2\n"
            "  now disallowed: https://example.com/search?q=a/b\n"
            "  now disallowed: /search"
        )

    def test_markdown(self, urls: str) -> None:
        found = named(measure_impact([urls], compared()), "urls.txt")
        assert markdown(found) == (
            "Of 10 URLs in `urls.txt`, 7 (70.0%) get another verdict for at least one crawler.\n"
            "\n"
            "| crawlers | newly disallowed | newly allowed |\n"
            "|---|---:|---:|\n"
            "| ExampleBot | 3 (30.0%) | 2 (20.0%) |\n"
            "| everyone else | 2 (20.0%) | 0 |\n"
            "\n"
            "<details><summary>By first path segment</summary>\n"
            "\n"
            "**ExampleBot**\n"
            "\n"
            "| segment | newly disallowed | newly allowed |\n"
            "|---|---:|---:|\n"
            "| `/` | 2 | 0 |\n"
            "| `/shop/` | 0 | 2 |\n"
            "| `/blog/` | 1 | 0 |\n"
            "\n"
            "- now disallowed: `https://example.com/`\n"
            "- now disallowed: `/blog/2024/10/`\n"
            "- now allowed: `https://example.com/shop/1`\n"
            "- now allowed: `/shop/1`\n"
            "\n"
            "**everyone else**\n"
            "\n"
            "| segment | newly disallowed | newly allowed |\n"
            "|---|---:|---:|\n"
            "| `/search` | 2 | 0 |\n"
            "\n"
            "- now disallowed: `https://example.com/search?q=a/b`\n"
            "- now disallowed: `/search`\n"
            "\n"
            "</details>"
        )

    def test_colours_match_the_words(self, urls: str) -> None:
        found = measure_impact([urls], compared())
        coloured = "\n".join(impact_lines(found, Paint(True)))
        assert re.search(r"\x1b\[31m +3 ", coloured)
        assert re.search(r"\x1b\[32m +2 ", coloured)
        assert re.search(r"\x1b\[2m +0", coloured)  # what does not change is not coloured
        plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
        assert [line.rstrip() for line in plain.split("\n")] == text(found).split("\n")

    @pytest.mark.parametrize(
        ("part", "whole", "share"),
        [
            (1, 1_000_000, "(<0.1%)"),
            (12_408, 1_000_000, "(1.2%)"),
            (999_999, 1_000_000, "(>99.9%)"),
            (5, 5, "(100%)"),
        ],
    )
    def test_shares(self, part: int, whole: int, share: str) -> None:
        """A small share is not 0 %, and a large one is not 100 %."""
        impact = Impact((source("f", UrlFileFormat.LOG),), whole, part, ())
        noun = "request" if whole == 1 else "requests"
        assert text(impact).startswith(f"Of {whole:,} {noun} in 'f', {part:,} {share} get")

    def test_nothing_changes(self, urls: str) -> None:
        found = named(measure_impact([urls], compared(OLD, OLD)), "-")
        assert text(found) == "Of 10 URLs in 'stdin', no verdict changes."
        assert markdown(found) == "Of 10 URLs in `stdin`, no verdict changes."

    def test_long_tables_end(self) -> None:
        """Tables are truncated to a screen, and report the omitted rows."""
        segments = tuple(Segment(f"/{n}/", 100 - n, 1) for n in range(30))
        many = tuple(
            CrawlerImpact(f"Bot{n:02}", 3000 - n, 100, segments, ("/0/",), ("/0/",))
            for n in range(40)
        )
        found = Impact((source("f"),), 10_000, 3000, many)
        lines = text(found).split("\n")
        assert "  and 20 more (see --json)" in lines
        assert sum(line.endswith("by first path segment") for line in lines) == 5
        # Ten segments, the other twenty, and those that were not kept.
        others = 3000 - sum(100 - n for n in range(10))
        assert f"  others             {others:,}             90" in lines
        assert len(lines) < 110
        assert "| and 20 more | | |" in markdown(found)

    def test_untrusted_text(self) -> None:
        """No control character reaches a terminal, and Markdown is escaped."""
        bad = "\x1b[2J`|</code><b>@jo _x_\n"
        crawler = CrawlerImpact(bad, 1, 0, (Segment(bad, 1, 0),), (bad,), ())
        skipped = Skipped(1, (Example(7, bad.encode()),))
        found = Impact((source(bad)._replace(skipped=skipped),), 1, 1, (crawler,))
        shown = text(found)
        assert "\x1b" not in shown
        assert shown.count("\\x1b[2J`|</code><b>@jo _x_\\x0a") == 6
        lines = markdown(found).split("\n")
        assert not any("\x1b" in line or "<b>" in line or "@" in line for line in lines)
        for line in lines:
            if line.startswith("|"):
                assert line.count("|") == 4
        assert "1 line without a URL was skipped:" in shown

    def test_a_narrow_terminal(self, urls: str) -> None:
        found = named(measure_impact([urls], compared()), "urls.txt")
        assert max(map(len, text(found, 50).split("\n"))) <= 50


class Measured(NamedTuple):
    """The resources that a run used."""

    kilobytes: int
    urls: int
    changed: int


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak")
def test_a_million_urls_take_the_memory_of_a_few(tmp_path: Path) -> None:
    """Memory does not grow with the file, even if every URL is different and changes."""
    (tmp_path / "old.txt").write_text("", encoding="utf-8")
    (tmp_path / "new.txt").write_text("User-agent: *\nDisallow: /", encoding="utf-8")
    program = (
        "import re, sys, robotrules\n"
        "from robotrules.cli.impact import measure_impact\n"
        "old, new = (robotrules.parse(open(n).read()).rules_for('*') for n in sys.argv[1:])\n"
        "found = measure_impact(['-'], [(str(n), old, new) for n in range(3)])\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())\n"
        "print(peak[1], found.urls, found.changed)"
    )

    def run(count: int) -> Measured:
        path = tmp_path / "urls"
        with path.open("wb") as file:
            for start in range(0, count, 10_000):
                file.write(b"".join(b"/page-%d?a=b\n" % n for n in range(start, start + 10_000)))
        with path.open("rb") as file:
            done = subprocess.run(
                [sys.executable, "-c", program, "old.txt", "new.txt"],
                stdin=file,
                stdout=subprocess.PIPE,
                cwd=tmp_path,
                env=process_environment(),
                check=True,
                timeout=300,
            )
        return Measured(*map(int, done.stdout.split()))

    some, many = run(200_000), run(1_000_000)
    assert (many.urls, many.changed) == (1_000_000, 1_000_000)
    assert many.kilobytes < some.kilobytes + 10_000
