"""`robotrules audit` for many pages, on a real site of the loopback; see also the transcripts."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from robotrules.cli.console import CliError
from robotrules.client.auditing.site_audit import SiteAuditor
from robotrules.json_results.schemas import load_schema
from tests.cli.schema import problems
from tests.cli.shell import COMMAND, Ran, robotrules
from tests.cli.sites import Site, response, site
from tests.client.site_of_pages import HTML, site_of_pages, urlset

FAST = ("--allow-private", "127.0.0.1", "--min-delay", "0")
PLAIN = "Content-Type: text/plain"


@pytest.fixture(scope="module")
def example() -> Iterator[Site]:
    """The site of some sixty pages."""
    with site_of_pages() as running:
        yield running


def audit(*more: str, stdin: bytes = b"", terminals: tuple[str, ...] = ()) -> Ran:
    """Run the command as ExampleBot on the loopback, without pauses."""
    return robotrules("audit", *more, "--as", "ExampleBot", *FAST, stdin=stdin, terminals=terminals)


def whole(example: Site, *more: str) -> Ran:
    """Audit all pages of the sitemaps."""
    return audit(f"{example.origin}/", "--sitemaps", *more)


class TestWhichPages:
    """Where the pages come from."""

    def test_several_urls(self, example: Site) -> None:
        """One request for each, and one for the robots.txt."""
        with site_of_pages() as own:
            ran = audit(f"{own.origin}/plain/1", f"{own.origin}/meta", "--max-sitemaps", "0")
            assert own.asked == ["/robots.txt", "/plain/1", "/meta"]
        assert ran.out.startswith("Of 2 pages, 1 may be indexed by ExampleBot; 1 says noindex.\n")
        assert ran.code == 0

    def test_sitemaps_of_the_robots_txt(self, example: Site) -> None:
        """All pages that they list; warnings are exit code 1."""
        ran = whole(example)
        assert ran.out.startswith("Of 64 pages, 50 may be indexed by ExampleBot; 4 say noindex, ")
        assert ran.code == 1

    def test_a_sitemap(self, example: Site) -> None:
        """By its URL, also gzipped."""
        ran = audit("--sitemap", f"{example.origin}/2.xml.gz")
        assert ran.out.startswith("Of 34 pages, ")

    def test_files_of_the_site_are_requested_once(self) -> None:
        """One robots.txt and one reading of each sitemap, wherever the pages come from."""
        for more in (["--sitemaps"], ["--sitemap", "{}/index.xml"], ["{}/meta"]):
            with site_of_pages() as own:
                audit(f"{own.origin}/", *(one.format(own.origin) for one in more))
                for path in ("/robots.txt", "/index.xml", "/1.xml", "/2.xml.gz", "/"):
                    assert own.asked.count(path) == 1, (more, path)

    @pytest.mark.parametrize("packed", [False, True])
    def test_files(self, example: Site, tmp_path: Path, packed: bool) -> None:
        """Lists, sitemaps and logs; paths are those of the URL of the site."""
        listed = "\n".join(f"{example.origin}/plain/{number}" for number in range(3)).encode()
        saved = urlset(example.origin, ["/meta"])
        log = b'1.2.3.4 - - [01/May/2026:12:00:00 +0000] "GET /header HTTP/1.1" 200 1 "-" "-"\n'
        names = []
        for number, octets in enumerate((listed, saved, log)):
            path = tmp_path / str(number)
            path.write_bytes(gzip.compress(octets) if packed else octets)
            names += ["--urls", str(path)]
        ran = audit(f"{example.origin}/", *names, "--format", "jsonl", "--max-sitemaps", "0")
        urls = [json.loads(line)["url"] for line in ran.out.splitlines()]
        assert [one.removeprefix(example.origin) for one in urls] == [
            *("/", "/plain/0", "/plain/1", "/plain/2", "/meta", "/header")
        ]

    def test_stdin(self, example: Site) -> None:
        """`-` is stdin."""
        ran = audit("--urls", "-", "--json", stdin=f"{example.origin}/plain/1\n".encode())
        assert [one["status"] for one in json.loads(ran.out)["pages"]] == [200]

    def test_max_pages(self, example: Site) -> None:
        """Pages beyond the limit are counted, in the result and on stderr."""
        ran = whole(example, "--max-pages", "3")
        assert "because of the limit on pages: 3 of 64 pages were read." in " ".join(
            ran.out.split()
        )
        assert "61 further pages were not audited; raise --max-pages" in ran.err
        assert json.loads(whole(example, "--max-pages", "3", "--json").out)["not_audited"] == 61

    def test_pages_of_other_hosts(self, example: Site) -> None:
        """A sitemap must not make the audit ask other sites."""
        with site({}) as other, site_of_pages() as own:
            own.answers["/1.xml"] = response(
                urlset(other.origin, ["/a", "/b"]), "Content-Type: application/xml"
            )
            ran = whole(own)
            assert other.asked == []
        assert "2 URLs of sitemaps left out, because the host is another one" in ran.err

    def test_sitemaps_that_fail(self) -> None:
        """They are reported; the pages of the others are audited."""
        with site_of_pages({"/2.xml.gz": response(status="500 No")}) as own:
            ran = whole(own)
        assert f"the sitemap {own.origin}/2.xml.gz was not read completely: status 500" in ran.err
        assert "sitemap-unreachable" in ran.out
        assert "not-listed" not in ran.out

    def test_max_sitemaps(self, example: Site) -> None:
        """Files beyond the limit are reported."""
        assert (
            "1 sitemap file not read; raise --max-sitemaps"
            in whole(example, "--max-sitemaps", "2").err
        )


class TestOutputs:
    """Text, JSON, JSON lines, CSV and HTML."""

    def test_text(self, example: Site) -> None:
        """The sentence, the sites, numbers, then findings with examples."""
        out = whole(example, "--ignore-disallow").out
        flat = " ".join(out.split())
        assert (
            "4 say noindex, 2 are blocked by robots.txt (1 of them says noindex, which ExampleBot "
            "cannot see), 3 redirect, " in flat
        )
        assert re.search(r"    robots.txt status 200, \d+ bytes, fetched for this audit 20", out)
        assert "    3 sitemap files, 64 URLs\n" in out
        assert "  blocked by robots.txt           2\n" in out
        assert "  warning noindex-not-seen, 1 page: " in out
        assert out.index("error page-unreachable") < out.index("warning noindex-not-seen")

    def test_json(self, example: Site) -> None:
        """One object, as its schema describes it."""
        found = json.loads(whole(example, "--json").out)
        assert list(problems(found, load_schema("site-audit"))) == []
        assert found["summary"][0]["outcomes"]["blocked"] == 2
        assert found["sites"][0]["sitemaps_complete"] is True

    def test_csv(self, example: Site, tmp_path: Path) -> None:
        """A row for each page, with names of columns."""
        ran = whole(example, "--format", "csv")
        rows = list(csv.DictReader(ran.out.splitlines()))
        assert len(rows) == 64
        by_url = {row["url"].removeprefix(example.origin): row for row in rows}
        assert by_url["/meta"] == {
            "url": f"{example.origin}/meta",
            "status": "200",
            "final_url": f"{example.origin}/meta",
            "final_status": "200",
            "failure": "",
            "allowed": "true",
            "indexable": "no",
            "outcome": "noindex",
            "noindex": "meta element 1: noindex",
            "noindex_seen": "true",
            "reason": "no rule matches",
            "canonical": "",
            "in_sitemap": "yes",
            "sitemap": f"{example.origin}/2.xml.gz",
            "worst": "warning",
            "findings": "listed-and-noindex noindex",
        }
        # Of a redirect, the status of the URL itself and that of its target.
        moved = by_url["/moved"]
        assert (moved["status"], moved["final_status"]) == ("301", "200")

    def test_csv_of_several_crawlers(self, example: Site) -> None:
        """Columns are repeated for each."""
        url = f"{example.origin}/news/1"
        ran = audit(url, "--as", "OtherBot", "--format", "csv", "--max-sitemaps", "0")
        [row] = csv.DictReader(ran.out.splitlines())
        assert (row["allowed OtherBot"], row["allowed ExampleBot"]) == ("false", "true")

    def test_cells_are_no_formulas(self) -> None:
        """A page cannot name a formula, or break a row."""
        link = "<link rel=canonical href='=cmd()'><link rel=canonical href=',\"\n+1'>"
        with site({"/=1": response(link, HTML, "X-Robots-Tag: noindex")}) as own:
            ran = audit(f"{own.origin}/=1", "--format", "csv")
        [row] = csv.DictReader(ran.out.splitlines())
        assert not [cell for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]

    def test_several_files(self, example: Site, tmp_path: Path) -> None:
        """One run, an output by the name of each file; the sentence is on stderr."""
        names = [
            str(tmp_path / f"r.{suffix}") for suffix in ("html", "csv", "json", "jsonl", "txt")
        ]
        ran = whole(example, *(part for name in names for part in ("-o", name)))
        assert (ran.out, ran.code) == ("", 1)
        assert "Of 64 pages, 50 may be indexed by ExampleBot" in ran.err
        assert all(Path(name).stat().st_size > 500 for name in names)
        assert json.loads(Path(names[2]).read_text())["crawlers"] == ["ExampleBot"]
        assert Path(names[4]).read_text().startswith("Of 64 pages")

    def test_html(self, example: Site) -> None:
        """The sentence first; findings, then a row for each page; no script."""
        out = whole(example, "--ignore-disallow", "--format", "html").out
        assert out.startswith("<!DOCTYPE html>")
        assert "<script" not in out
        assert out.index("(1 of them says noindex") < out.index("What to do")
        assert out.count("<tr>") > 64

    def test_hostile_text(self, tmp_path: Path) -> None:
        """Control characters and markup of a site reach neither a terminal nor a page."""
        pages = {
            "/robots.txt": response("User-agent: *\nDisallow: /<b>\x1b[31m\n", PLAIN),
            "/<b>\x1b[31mx": response(),
            "/a": response(
                "<link rel=canonical href='/\x1b]0;x\x07<script>'>", HTML, "X-Robots-Tag: noindex"
            ),
        }
        with site(pages) as own:
            urls = f"{own.origin}/a\n{own.origin}/<b>\x1b[31mx\n".encode()
            for form in ("text", "html", "csv"):
                ran = audit("--urls", "-", "--format", form, stdin=urls)
                assert ran.out.replace("\n", "").isprintable(), form
                assert "<script>" not in ran.out or form != "html"

    def test_a_terminal(self, example: Site) -> None:
        """Colours, and a bar that is removed."""
        drawn: list[str] = []
        with (
            mock.patch("robotrules.cli.progress.FIRST_AFTER", 0),
            mock.patch("robotrules.cli.progress.AGAIN_AFTER", 0),
            mock.patch(
                "robotrules.cli.progress._draw", side_effect=lambda stream, text: drawn.append(text)
            ),
        ):
            out = audit(f"{example.origin}/", "--sitemaps", terminals=("stdout", "stderr")).out
        assert "64 pages" in [one for one in drawn if one][-1]
        assert "left" in drawn[3]
        assert drawn[-1] == ""
        assert "\x1b[33mwarning\x1b[0m listed-and-noindex" in out


class TestResume:
    """A journal that a later run continues."""

    def test_a_second_run(self, tmp_path: Path) -> None:
        """Pages of the journal are not requested again, and count."""
        journal = str(tmp_path / "journal")
        with site_of_pages() as own:
            whole(own, "--resume", journal, "--max-pages", "10")
            asked = len(own.asked)
            ran = whole(own, "--resume", journal)
            pages = [path for path in own.asked[asked:] if path.startswith("/plain/")]
            # Thirty that the first run did not reach, and targets of redirects.
            assert len(pages) == 33
            assert own.asked.count("/plain/1") == 1
        assert "10 pages of an earlier run taken from" in ran.err
        assert ran.out.startswith("Of 64 pages, 50 may be indexed")

    def test_a_line_that_was_cut(self, tmp_path: Path, example: Site) -> None:
        """What a crash left is ignored, and the file stays usable."""
        journal = tmp_path / "journal"
        whole(example, "--resume", str(journal), "--max-pages", "3")
        octets = journal.read_bytes()
        journal.write_bytes(octets[:-20])
        ran = whole(example, "--resume", str(journal), "--max-pages", "3")
        assert "2 pages of an earlier run" in ran.err
        assert len(journal.read_bytes().splitlines()) == 4

    def test_the_report_of_a_journal(self, tmp_path: Path, example: Site) -> None:
        """Without pages to read, the result is that of the journal."""
        journal = str(tmp_path / "journal")
        whole(example, "--resume", journal)
        assert audit("--resume", journal).out.startswith("Of 64 pages, 50 may be indexed")

    @pytest.mark.parametrize(
        ("octets", "words"),
        [
            (b"User-agent: *\n", "it is not the journal of an audit"),
            (b"[]\n", "it is not the journal of an audit"),
            (b'{"journal": 1, "crawlers": ["Other"]}\n', "crawlers, html"),
            (None, "it is a directory"),
        ],
    )
    def test_other_files(
        self, tmp_path: Path, example: Site, octets: bytes | None, words: str
    ) -> None:
        """A file that is something else is refused, and is not changed."""
        path = tmp_path / "file"
        if octets is None:
            path.mkdir()
        else:
            path.write_bytes(octets)
        ran = whole(example, "--resume", str(path))
        assert (ran.code, ran.out) == (2, "")
        assert words.split(" is a ")[0] in ran.err
        assert octets is None or path.read_bytes() == octets

    def test_a_damaged_line(self, tmp_path: Path, example: Site) -> None:
        """It is named."""
        journal = tmp_path / "journal"
        whole(example, "--resume", str(journal), "--max-pages", "2")
        journal.write_bytes(journal.read_bytes() + b'{"url": 1}\n')
        ran = whole(example, "--resume", str(journal))
        assert (ran.code, "line 4 of the journal is damaged" in ran.err) == (2, True)


class TestInterrupt:
    """Ctrl-C gives the results until then."""

    def test_the_result_is_partial(self, example: Site, tmp_path: Path) -> None:
        """Outputs are written, and say so."""
        read = SiteAuditor._audit

        def interrupted(self: SiteAuditor, url: str, *more: object) -> object:
            """Interrupt at the sixth page."""
            if len(self._pages) == 5:
                raise KeyboardInterrupt
            return read(self, url, *more)  # type: ignore[arg-type]

        target = tmp_path / "r.json"
        with mock.patch.object(SiteAuditor, "_audit", interrupted):
            ran = whole(example, "-o", str(target))
        assert ran.code == 130
        found = json.loads(target.read_text())
        assert (len(found["pages"]), found["interrupted"], found["not_audited"]) == (5, True, 59)
        assert "because it was interrupted: 5 of 64 pages were read." in ran.err
        assert "with --resume FILE a run can be continued" in ran.err

    @pytest.mark.slow
    def test_a_process(self, tmp_path: Path) -> None:
        """A signal ends the wait between pages at once."""
        target, journal = tmp_path / "r.csv", tmp_path / "journal"
        with site_of_pages() as own:
            process = subprocess.Popen(
                [
                    *COMMAND[:-1],
                    "from robotrules.cli import main; main()",
                    *("audit", f"{own.origin}/", "--sitemaps", "--allow-private", "127.0.0.1"),
                    *("-o", str(target), "--resume", str(journal), "--no-store"),
                ],
                stderr=subprocess.PIPE,
                env={**os.environ, "NO_COLOR": "1"},
            )
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                if journal.exists() and journal.read_bytes().count(b"\n") >= 3:
                    break
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert b"the result is partial" in err
        assert len(target.read_text().splitlines()) == journal.read_bytes().count(b"\n")


class TestHints:
    """What the reader has to know beside the result."""

    def test_how_long_it_takes(self, example: Site) -> None:
        """Before a long run, with the way to make it shorter."""
        urls = [f"{example.origin}/plain/{number}" for number in range(3)]
        with mock.patch("robotrules.cli.audit_pages.LONG_RUN", 0.001):
            ran = robotrules("audit", *urls, "--as", "ExampleBot", *FAST[:2], "--min-delay", "0.05")
        assert "3 pages take at least 1 minute, because requests to a site are 0.05 s" in ran.err
        assert "--min-delay 0 is faster, for your own site only" in ran.err

    def test_a_crawl_delay(self) -> None:
        """The line of the robots.txt that asks for it is named."""
        robots = response("User-agent: *\nCrawl-delay: 0.2\n", PLAIN)
        with (
            site({"/robots.txt": robots}) as own,
            mock.patch("robotrules.cli.audit_pages.LONG_RUN", 0.1),
        ):
            began = time.monotonic()
            ran = audit(f"{own.origin}/a", f"{own.origin}/b", f"{own.origin}/c")
        assert "because the robots.txt asks for 0.2 s between requests (line 2)\n" in ran.err
        assert time.monotonic() - began > 0.35

    def test_urls_that_are_none(self, example: Site) -> None:
        """They are counted."""
        ran = audit("--urls", "-", stdin=f"{example.origin}/plain/1\nhttp://\n".encode())
        assert "1 input left out" in ran.err or "1 line without a URL skipped" in ran.err

    def test_urls_that_are_too_long(self, example: Site) -> None:
        """They are left out, so that a hostile list does not fill memory."""
        urls = f"{example.origin}/plain/1\n{example.origin}/{'a' * 9000}\n".encode()
        ran = audit("--urls", "-", stdin=urls)
        assert ran.out.startswith("Of one page, ")
        assert "1 URL of more than 8,192 characters left out" in ran.err

    def test_without_a_crawler(self, example: Site) -> None:
        """The audit is for crawlers that no group names."""
        ran = robotrules("audit", f"{example.origin}/", "--format", "text", *FAST)
        assert "evaluating the group for '*'" in ran.err
        assert ran.out.startswith("Of one page, 1 may be indexed by crawlers that no group names.")


class TestMisuse:
    """One line that says how to fix it, and exit code 2."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--sitemaps"], "--sitemaps needs a URL of the site"),
            (["--urls", "missing.txt"], "no such file"),
            (["https://example.com/", "-o", "report"], "does not name a format"),
            (["https://example.com/", "-o", "a.csv", "-o", "b", "--format", "csv"], "--format"),
            (["https://example.com/", "-o", "-", "-o", "-"], "only one --output can be stdout"),
            (["https://example.com/", "--json", "--format", "csv"], "cannot be combined"),
            (["https://example.com/", "--sitemap", "/s.xml"], "has no scheme and host"),
            (["https://example.com/", "--sitemap", ""], "missing URL"),
            (["https://example.com/", "--max-pages", "0"], "--max-pages"),
            (["https://example.com/", "/a"], "has no scheme and host"),
            (["ftp://example.com/", "https://example.com/"], "has no robots.txt"),
        ],
    )
    def test_misuse(self, arguments: list[str], words: str) -> None:
        """Nothing is fetched."""
        ran = audit(*arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert words in ran.err

    def test_an_output_that_cannot_be_written(self, tmp_path: Path, example: Site) -> None:
        """It is refused before the run; if it fails at the end, the other files are written."""
        asked = len(example.asked)
        for target in (tmp_path, tmp_path / "missing" / "r.csv"):
            ran = whole(example, "-o", str(target), "--format", "csv")
            assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert len(example.asked) == asked

        def fails(path: str, octets: bytes) -> None:
            """Fail for one of the files."""
            if path.endswith(".csv"):
                raise CliError("cannot write: no space left")
            Path(path).write_bytes(octets)

        with mock.patch("robotrules.cli.audit_pages.write_atomically", fails):
            names = (str(tmp_path / "r.csv"), str(tmp_path / "r.json"))
            ran = whole(example, "-o", names[0], "-o", names[1])
        assert (ran.code, "no space left" in ran.err) == (2, True)
        assert json.loads(Path(names[1]).read_text())["pages"]

    def test_paths_without_a_site(self) -> None:
        """A log has paths, so the site has to be named."""
        ran = audit("--urls", "-", stdin=b"/a\n/b\n")
        assert (ran.code, "2 URLs without a host" in ran.err) == (2, True)

    def test_no_pages(self) -> None:
        """An empty list is not an audit."""
        assert "there is no page to audit" in audit("--urls", "-", stdin=b"\n").err
        with site({}) as own:
            own.answers["/robots.txt"] = response("User-agent: *\n", PLAIN)
            assert "the robots.txt names no sitemap" in whole(own).err
            own.answers["/robots.txt"] = response("Sitemap: /s.xml\n", PLAIN)
            own.answers["/s.xml"] = response(urlset(own.origin, []), "Content-Type: text/xml")
            assert "the sitemaps list no page" in whole(own).err

    @pytest.mark.parametrize(
        ("answers", "words"),
        [
            ({}, "there is no robots.txt (status 404), so no sitemap is known: pass --sitemap URL"),
            (
                {"/robots.txt": response(status="503 No")},
                "its sitemaps are not known, because the robots.txt is unreachable (status 503)",
            ),
            (
                {"/robots.txt": response("Sitemap: /s.xml\n", PLAIN)},
                "/s.xml: status 404; pass --urls FILE",
            ),
        ],
    )
    def test_why_there_is_no_sitemap(self, answers: dict[str, bytes], words: str) -> None:
        """Only a robots.txt that was read can name none."""
        with site(answers) as own:
            ran = whole(own)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
        assert "names no sitemap" not in ran.err

    def test_a_refused_address(self) -> None:
        """The reason is the address, and the option that allows it is named."""
        with site({"/robots.txt": response("Sitemap: /s.xml\n", PLAIN)}) as own:
            ran = robotrules("audit", own.origin, "--sitemaps", "--as", "ExampleBot")
            assert own.asked == []
        assert (ran.code, ran.out) == (2, "")
        assert "127.0.0.1 has a private address: to allow it, add --allow-private" in ran.err

    def test_one_of_two_sites_without_a_robots_txt(self, example: Site) -> None:
        """The pages of the other are audited, and a warning says which is missing."""
        with site({}) as own:
            ran = audit(f"{example.origin}/", f"{own.origin}/", "--sitemaps")
        assert ran.out.startswith("Of 65 pages, ")
        assert f"warning: {own.origin}: there is no robots.txt (status 404)" in ran.err

    def test_a_given_sitemap_is_counted(self, example: Site) -> None:
        """Beside a list of pages, as the findings use it."""
        given = ("--sitemap", f"{example.origin}/index.xml")
        ran = audit("--urls", "-", *given, "--json", stdin=f"{example.origin}/meta\n".encode())
        [found] = json.loads(ran.out)["sites"]
        assert (found["sitemap_urls"], len(found["sitemaps"])) == (64, 3)
        assert found["sitemaps_complete"] is True

    def test_an_output_is_not_an_input(self, tmp_path: Path, example: Site) -> None:
        """A list must not be replaced by its audit."""
        path = tmp_path / "urls.csv"
        path.write_text(f"{example.origin}/\n")
        ran = audit("--urls", str(path), "-o", str(path))
        assert (ran.code, "would overwrite an input file" in ran.err) == (2, True)
