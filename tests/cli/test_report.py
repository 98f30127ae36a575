"""`robotrules report`, and `matrix` with several sites: files, real servers, misuse, outputs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from selectolax.lexbor import LexborHTMLParser

from robotrules.cli.site_sources import MOST_SITES
from robotrules.json_results.schemas import load_schema
from tests.cli.schema import problems
from tests.cli.shell import Ran, robotrules
from tests.cli.sites import response, site
from tests.operations.repositories import Repository

BODY = b"User-agent: *\nDisallow: /search\n\nUser-agent: GPTBot\nDisallow: /\n"
SITEMAP = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    b"<url><loc>https://a.example/</loc></url><url><loc>https://a.example/search?q</loc></url>"
    b"</urlset>"
)
LOCAL = ("--allow-private", "127.0.0.1", "--allow-private", "localhost")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A robots.txt file."""
    path = tmp_path / "robots.txt"
    path.write_bytes(BODY)
    return path


def report(*arguments: object, **how: Any) -> Ran:
    """Run the command."""
    return robotrules("report", *map(str, arguments), **how)


def facts(*arguments: object, **how: Any) -> dict[str, Any]:
    """Return what the command prints with --json; it follows the schema."""
    ran = report(*arguments, "--json", **how)
    assert ran.code == 0, ran.err
    value: dict[str, Any] = json.loads(ran.out)
    assert list(problems(value, load_schema("report"))) == []
    return value


def refusal(*arguments: object, **how: Any) -> str:
    """Return the error of a command that ends with exit code 2."""
    ran = report(*arguments, **how)
    assert (ran.code, ran.out) == (2, "")
    return ran.err.removeprefix("robotrules report: ").removesuffix(
        "; see robotrules report --help\n"
    )


class TestFiles:
    """Without a network."""

    def test_a_page_is_written(self, file: Path, tmp_path: Path) -> None:
        """The message has the sentence; in a pipe, the page goes to stdout."""
        target = tmp_path / "report.html"
        ran = report(file, "-o", target, "--title", "Ours", "--date", "May")
        assert (ran.code, ran.out) == (0, "")
        assert "written: One of the eight main AI-training crawlers (GPTBot) may not" in ran.err
        tree = LexborHTMLParser(target.read_text(encoding="utf-8"))
        assert [node.text() for node in tree.css("h1, title")] == ["Ours", "Ours"]
        assert "May" in tree.css(".subtitle")[0].text()
        piped = report(file)
        assert piped.out.startswith("<!DOCTYPE html>")
        assert report(file, "-o", "-").out == piped.out

    def test_json(self, file: Path) -> None:
        """The same facts."""
        value = facts(file, "--date", "May")
        [host] = value["hosts"]
        assert (host["name"], host["origin"], value["date"]) == ("robots.txt", None, "May")
        assert value["sentence"] == host["sentence"]
        assert (host["sitemaps"], host["history"], value["logs"]) == (None, None, None)

    def test_crawlers_purposes_and_paths(self, file: Path) -> None:
        """What the sentence and the table are about."""
        value = facts(file, "--as", "GPTBot", "--as", "Own", "--path", "/search/x")
        assert value["sentence"] == "GPTBot may not fetch anything; Own may fetch some URLs."
        found = value["hosts"][0]["matrix"]
        assert [row["name"] for row in found["crawlers"]] == ["GPTBot", "Own"]
        assert [path["path"] for path in found["paths"]] == ["/search/x"]
        seo = facts(file, "--purpose", "seo")
        assert seo["sentence"] == "All three main SEO crawlers may read the home page."

    def test_several_files(self, file: Path, tmp_path: Path) -> None:
        """Files of the same name are told apart by their paths."""
        other = tmp_path / "b" / "robots.txt"
        other.parent.mkdir()
        other.write_bytes(b"")
        value = facts(file, other)
        assert [host["name"] for host in value["hosts"]] == [str(file), str(other)]
        assert value["title"] == "robots.txt report"
        assert value["sentence"].startswith("One of two files blocks some of the known AI-training")

    def test_where_a_file_is_served(self, file: Path, tmp_path: Path) -> None:
        """`--url` names the host; its sitemap may be a local file, also compressed."""
        plain, packed = tmp_path / "s.xml", tmp_path / "s.xml.gz"
        plain.write_bytes(SITEMAP)
        packed.write_bytes(gzip.compress(SITEMAP))
        for path in (plain, packed):
            value = facts(file, "--url", "https://a.example/x", "--sitemap", path)
            assert value["title"] == "robots.txt of https://a.example"
            found = value["hosts"][0]["sitemaps"]
            assert found["files"] == [{"name": path.name, "urls": 2, "problem": ""}]
            assert (found["checked"], found["crawlers"][0]["blocked"]) == (2, 2)
        other = facts(file, "--url", "https://b.example", "--sitemap", plain)
        assert other["hosts"][0]["sitemaps"]["elsewhere"] == 2

    def test_history_of_git(self, tmp_path: Path) -> None:
        """Commits, the latest first."""
        repository = Repository(tmp_path)
        repository.commit("open", robots_txt=b"")
        repository.commit("close", robots_txt=b"User-agent: *\nDisallow: /\n")
        path = repository.folder / "robots.txt"
        [host] = facts(path, "--git", path)["hosts"]
        assert [change["source"].partition(": ")[2] for change in host["history"]] == [
            *("close", "open")
        ]
        assert "from everything to nothing" in host["history"][0]["effects"][0]

    def test_impostors_in_logs(self, file: Path, tmp_path: Path) -> None:
        """With --ranges, they are told apart as in robotrules logs, also by versions in git."""
        ranges, log = tmp_path / "ranges.json", tmp_path / "access.log"
        ranges.write_text('{"prefixes": [{"ipv4Prefix": "192.0.2.0/28"}]}')
        log.write_text(
            "".join(
                f'{address} - - [02/May/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 9 "-" "GPTBot"\n'
                for address in ("192.0.2.1", "203.0.113.1", "203.0.113.1")
            )
        )
        options = ["--logs", log, "--ranges", f"GPTBot={ranges}"]
        rows = facts(file, *options)["logs"]["crawlers"]
        assert [(one["name"], one["violations"]) for one in rows] == [
            *(("impostors of GPTBot", 2), ("GPTBot", 1))
        ]
        page = report(file, *options).out
        assert "2 more such requests only claimed to be GPTBot." in page
        folder = tmp_path / "git"
        folder.mkdir()
        repository = Repository(folder)
        repository.commit("open", robots_txt=b"")
        rows = facts(file, *options, "--git", repository.folder / "robots.txt")["logs"]["crawlers"]
        assert [one["violations"] for one in rows] == [0, 0]
        assert "cannot read address ranges" in refusal(file, "--logs", log, "--ranges", "no.json")
        assert "--ranges and --verify are for --logs" in refusal(file, "--verify")

    def test_logs_of_several_hosts(self, file: Path, tmp_path: Path) -> None:
        """With --url, requests for other hosts are not judged by the rules of this one."""
        log = tmp_path / "vhosts.log"
        agent = '"-" "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"'
        log.write_text(
            "".join(
                f"{host}:443 192.0.2.1 - - [01/Oct/2026:00:00:0{n} +0000] "
                f'"GET /search?q=1 HTTP/1.1" 200 9 {agent}\n'
                for n, host in enumerate(("shop.example", "other.example", "other.example"))
            ),
            encoding="utf-8",
        )
        all_hosts = robotrules("report", str(file), "--logs", str(log), "--json")
        [one] = json.loads(all_hosts.out)["logs"]["crawlers"]
        assert one["requests"] == 3
        assert "the log has several hosts" in all_hosts.err
        site = ("--url", "https://shop.example")
        chosen = robotrules("report", str(file), *site, "--logs", str(log), "--json")
        [one] = json.loads(chosen.out)["logs"]["crawlers"]
        assert (one["requests"], "several hosts" in chosen.err) == (1, False)

    def test_logs_of_a_shell_pattern(self, file: Path, tmp_path: Path) -> None:
        """`--logs access.log*` gives the second log as a robots.txt, which is told."""
        logs = [tmp_path / "access.log", tmp_path / "access.log.1", tmp_path / "access.log.2.gz"]
        line = '192.0.2.1 - - [02/May/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 9 "-" "GPTBot/1"\n'
        for log in logs[:2]:
            log.write_text(line * 3)
        logs[2].write_bytes(gzip.compress(line.encode()))
        words = refusal(file, "--logs", *logs)
        assert f"'{logs[1]}' is an access log or compressed, and not a robots.txt" in words
        assert f"as in --logs {logs[1]} --logs {logs[2]}" in words
        empty = tmp_path / "empty.txt"
        empty.write_text("")
        assert facts(empty)["hosts"]

    def test_logs(self, file: Path, tmp_path: Path) -> None:
        """What crawlers did, judged by the file; or by git at the time of the request."""
        log = tmp_path / "access.log"
        line = (
            '192.0.2.1 - - [02/May/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 9 "-" "GPTBot/1.2"\n'
        )
        log.write_text(line * 3)
        value = facts(file, "--logs", log)
        assert value["logs"]["crawlers"][0]["violations"] == 3
        tree = LexborHTMLParser(report(file, "--logs", log).out)
        assert "Crawlers in the access log" in [node.text() for node in tree.css("h2")]
        folder = tmp_path / "git"
        folder.mkdir()
        repository = Repository(folder)
        repository.commit("open", robots_txt=b"")
        robots = repository.folder / "robots.txt"
        found = facts(file, "--logs", log, "--git", robots)
        assert found["logs"]["crawlers"][0]["violations"] == 0


class TestHosts:
    """Real servers on the loopback."""

    def test_one_host(self) -> None:
        """How it was served is known to lint, and its sitemaps are fetched."""
        answers = {"/robots.txt": response(BODY, "Content-Type: text/html")}
        with site(answers) as running:
            sitemap = SITEMAP.replace(b"https://a.example", running.origin.encode())
            running.answers["/sitemap.xml"] = response(sitemap, "Content-Type: text/xml")
            with_sitemap = BODY + f"Sitemap: {running.origin}/sitemap.xml\n".encode()
            running.answers["/robots.txt"] = response(with_sitemap, "Content-Type: text/html")
            value = facts(running.origin, "--sitemaps", *LOCAL, "--no-store")
        [host] = value["hosts"]
        assert host["name"] == host["origin"] == running.origin
        assert host["status"].startswith("status 200, fetched ")
        assert "wrong-media-type" in [group["slug"] for group in host["notes"]]
        assert (host["sitemaps"]["checked"], host["history"]) == (2, None)
        assert running.asked == ["/robots.txt", "/sitemap.xml"]

    def test_a_refused_sitemap(self, tmp_path: Path) -> None:
        """With the robots.txt in the store: the count is not known, and the option is named."""
        store = ("--store", str(tmp_path / "store"))
        body = BODY + b"Sitemap: /sitemap.xml\n"
        with site({"/robots.txt": response(body, "Cache-Control: max-age=3600")}) as running:
            robotrules("check", f"{running.origin}/", "--as", "GPTBot", *LOCAL, *store)
            target = tmp_path / "r.html"
            ran = robotrules("report", running.origin, "--sitemaps", "-o", str(target), *store)
            value = facts(running.origin, "--sitemaps", *store)
            assert running.asked == ["/robots.txt"]
        words = "not requested: 127.0.0.1 has a private address (--allow-private 127.0.0.1)"
        found = value["hosts"][0]["sitemaps"]
        assert (found["known"], found["unread"], found["crawlers"]) == (False, 1, [])
        assert found["files"][0]["problem"] == words
        assert words in ran.err
        page = target.read_text()
        assert words in page
        assert "allow_private" not in page
        assert "Not known: no sitemap could be read." in page
        assert "No URL of the sitemaps is blocked" not in page

    def test_too_many_sitemaps(self) -> None:
        """What is not fetched is counted."""
        with site({}) as running:
            listed = "".join(f"Sitemap: {running.origin}/s{n}.xml\n" for n in range(3))
            running.answers["/robots.txt"] = response(listed)
            more = ("--sitemaps", "--max-sitemaps", "1")
            value = facts(running.origin, *more, *LOCAL, "--no-store")
        files = value["hosts"][0]["sitemaps"]["files"]
        assert [one["name"] for one in files] == [f"{running.origin}/s0.xml", "2 more files"]
        assert files[0]["problem"] == "status 404"

    def test_history_of_the_store(self, tmp_path: Path) -> None:
        """Each fetch is remembered, and the next report shows what changed."""
        store = ("--store", str(tmp_path / "store.db"), *LOCAL)
        with site({"/robots.txt": response(b"")}) as running:
            first = facts(running.origin, *store)["hosts"][0]
            running.answers["/robots.txt"] = response(b"User-agent: *\nDisallow: /\n")
            second = facts(running.origin, *store, "--refresh")["hosts"][0]
            without = facts(running.origin, *store, "--no-history")["hosts"][0]
            log = tmp_path / "access.log"
            log.write_text(
                '192.0.2.1 - - [02/May/2020:10:00:00 +0000] "GET /a HTTP/1.1" 200 9 "-" "GPTBot"\n'
            )
            judged = facts(running.origin, *store, "--logs", log)["logs"]
        assert [change["title"] for change in first["history"]] == ["first known version"]
        assert [change["title"] for change in second["history"]] == [
            *("the file changed", "first known version")
        ]
        assert without["history"] is None
        # Nothing is known about the time before the first fetch, so no crawler is accused.
        assert judged["crawlers"][0]["violations"] == 0

    def test_many_hosts(self, tmp_path: Path, file: Path) -> None:
        """One that cannot be fetched has a section that says so; the exit code is 0."""
        with (
            site({"/robots.txt": response(BODY)}) as open_site,
            site({"/robots.txt": response(status="503 Down")}) as down,
            site({}) as empty,
        ):
            origins = tmp_path / "origins.txt"
            listed = ["# ours", down.origin, empty.origin, "", open_site.origin]
            origins.write_text("\n".join(listed))
            target = tmp_path / "report.html"
            where = (file, open_site.origin, "--origins", origins, *LOCAL, "--no-store")
            value = facts(*where)
            ran = report(*where, "-o", target)
        assert ran.code == 0
        names = [host["name"] for host in value["hosts"]]
        assert names == ["robots.txt", open_site.origin, down.origin, empty.origin]
        assert [host["known"] for host in value["hosts"]] == [True, True, False, True]
        assert "unreachable (status 503)" in value["hosts"][2]["problem"]
        assert value["hosts"][2]["sentence"].startswith(
            "The robots.txt is unreachable (status 503)"
        )
        assert value["hosts"][3]["sentence"].startswith("There is no robots.txt (status 404)")
        assert value["sentence"] == (
            "Two of three hosts block some of the known AI-training crawlers and one blocks none "
            "of "
            "them; all six main search engines may read the home page of all three hosts; the "
            "robots.txt of one more could not be read."
        )
        tree = LexborHTMLParser(target.read_text(encoding="utf-8"))
        assert len(tree.css("section.host")) == 4

    def test_no_host_can_be_fetched(self) -> None:
        """That is a result, and the page says so; a private address has a hint."""
        value = facts("http://127.0.0.1:1", "--no-store")
        assert value["hosts"][0]["purposes"] == []
        assert "unreachable" in value["sentence"]
        assert "--allow-private 127.0.0.1" in report("http://127.0.0.1:1", "--no-store").err

    def test_an_unreachable_host_and_its_log(self, tmp_path: Path) -> None:
        """Without rules, requests are counted and not judged."""
        log = tmp_path / "access.log"
        log.write_text(
            '192.0.2.1 - - [02/May/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 9 "-" "GPTBot"\n'
        )
        value = facts("http://127.0.0.1:1", "--no-store", *LOCAL, "--logs", log)
        assert value["logs"]["crawlers"][0]["requests"] == 1
        assert value["logs"]["rules"] == ""


class TestMisuse:
    """The error says what to do."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["no.txt"], "cannot read robots.txt from 'no.txt': no such file"),
            (["ftp://a.example/"], "'ftp://a.example/' has no robots.txt: pass an http"),
            (["FILE", "--as", "GPTBot", "--purpose", "seo"], "--as and --purpose cannot be"),
            (["FILE", "--as", "a/b"], "'a/b' is not a product token"),
            (["FILE", "--path", "x"], "'x' is not a path: pass one that starts with '/'"),
            (["FILE", *["--path=/"] * 101], "101 paths are too many: pass at most 100"),
            (["FILE", "--url", "x"], "--url 'x' has no origin: pass an http or https URL"),
            (["FILE", "--json", "-o", "x"], "--json and -o cannot be combined"),
            (["FILE", "-o", "FILE"], "would overwrite an input file"),
            (["FILE", "--sitemaps"], "--sitemaps is for URLs; pass sitemap files with"),
            (["FILE", "FILE2", "--url", "x"], "--url is for one site, and there are 2"),
            (["FILE", "FILE2", "--git", "x"], "--git is for one site, and there are 2"),
            (["FILE", "FILE2", "--logs", "x"], "--logs is for one site, and there are 2"),
            (["FILE", "--git", "FILE"], "--git: "),
            (["FILE", "--sitemap", "FILE"], "is not a sitemap: neither XML nor a list of URLs"),
            (["FILE", "--sitemap", "no.xml"], "cannot read the sitemap from 'no.xml'"),
            (["FILE", "--sitemap", "INDEX"], "is a sitemap index, which lists sitemaps"),
            (["FILE", "--logs", "no.log"], "cannot read the access log from 'no.log'"),
            (["FILE", "--profile", "stale"], "--profile stale only affects fetching"),
            (["--origins", "EMPTY"], "has no origin: put one per line"),
            (["--origins", "FILE"], "is not an origin: put one per line, such as https://example.com"),
            (["--origins", "no"], "cannot read origins from 'no': no such file"),
            (["-", "-"], ""),
        ],
    )  # fmt: skip
    def test_messages(self, arguments: list[str], words: str, file: Path, tmp_path: Path) -> None:
        """One line on stderr, and exit code 2."""
        (tmp_path / "two.txt").write_bytes(BODY)
        (tmp_path / "empty.txt").write_bytes(b"\n")
        index = SITEMAP.replace(b"urlset", b"sitemapindex").replace(b"url>", b"sitemap>")
        (tmp_path / "index.xml").write_bytes(index)
        names = {
            "FILE": file,
            "FILE2": tmp_path / "two.txt",
            "EMPTY": tmp_path / "empty.txt",
            "INDEX": tmp_path / "index.xml",
        }
        if not words:  # stdin twice is one input
            assert report("-", "-", stdin=BODY).code == 0
            return
        assert words in refusal(*[names.get(name, name) for name in arguments])

    def test_a_terminal_gets_no_page(self, file: Path) -> None:
        """HTML on a terminal helps no one."""
        words = refusal(file, terminals=["stdout"]).strip()
        assert words == "missing -o: pass the file to write, such as -o report.html"

    def test_too_many_sites(self, tmp_path: Path) -> None:
        """A list of thousands is refused before anything is fetched."""
        origins = tmp_path / "origins.txt"
        origins.write_text("".join(f"h{n}.example\n" for n in range(MOST_SITES + 1)))
        assert "has more than 2,000 origins" in refusal("--origins", origins)
        names = [f"h{n}.example" for n in range(MOST_SITES + 1)]
        assert "2,001 sites are too many: pass at most 2,000" in refusal(*names)

    def test_a_log_without_a_known_format(self, file: Path, tmp_path: Path) -> None:
        """The error says what to do, and the option that it names is there."""
        log = tmp_path / "access.log"
        log.write_text("192.0.2.1|2026-05-02T10:00:00+00:00|GET /a HTTP/1.1|GPTBot\n" * 50)
        assert "its format is not known: pass --log-format" in refusal(file, "--logs", log)
        template = "$remote_addr|$time_iso8601|$request|$http_user_agent"
        found = facts(file, "--logs", log, "--log-format", template)["logs"]
        assert found["crawlers"][0]["requests"] == 50


class TestMatrixOfHosts:
    """One table for several sites."""

    def test_text(self, file: Path, tmp_path: Path) -> None:
        """Hosts in lines if there are more of them; else crawlers, by purpose."""
        other = tmp_path / "open.txt"
        other.write_bytes(b"")
        ran = robotrules("matrix", str(file), str(other), "--as", "GPTBot")
        assert ran.out.splitlines()[:6] == [
            "Who may fetch what: 2 files",
            "What GPTBot may fetch under 2 files: 1 everything, 1 nothing.",
            "",
            "  file        GPTBot",
            "  robots.txt  nothing     ✗",
            "  open.txt    everything  ✓",
        ]
        wide = robotrules("matrix", str(file), str(other)).out.splitlines()
        assert ["crawler", "robots.txt", "open.txt"] in [line.split() for line in wide]
        assert "AI training" in wide
        assert " ".join(wide[1:3]).strip() == (
            "Of 33 crawlers, 1 (GPTBot) may fetch nothing under one of them, and 32 may fetch "
            "something under both."
        )

    def test_it_fits(self, file: Path) -> None:
        """Columns that do not fit are continued in a second table."""
        files = [str(file)]
        for number in range(8):
            path = file.with_name(f"{number}-{'x' * 20}.txt")
            path.write_bytes(BODY)
            files.append(str(path))
        lines = robotrules("matrix", *files).out.splitlines()
        assert max(map(len, lines)) <= 100
        assert sum(line.startswith("  crawler") for line in lines) > 1

    def test_live(self, file: Path, tmp_path: Path) -> None:
        """A host that cannot be reached has a column that says so."""
        with site({"/robots.txt": response(BODY)}) as one, site({}) as none:
            origins = tmp_path / "origins.txt"
            origins.write_text(f"{one.origin}\n{none.origin}\n")
            more = ("--as", "GPTBot", "--path", "/", "--path", "/a", *LOCAL, "--no-store")
            where = ("http://127.0.0.1:1", "--origins", str(origins), *more)
            ran = robotrules("matrix", *where)
            value = json.loads(robotrules("matrix", *where, "--json").out)
        assert ran.code == 0
        assert "  http://127.0.0.1:1      not known" in ran.out
        assert "http://127.0.0.1:1: the robots.txt is unreachable" in ran.out
        assert f"{none.origin}: there is no robots.txt (status 404)" in ran.out
        assert "1 could not be read." in ran.out
        assert list(problems(value, load_schema("matrix-hosts"))) == []
        assert value["paths"] == ["/", "/a"]
        assert [host["matrix"] is None for host in value["hosts"]] == [True, False, False]

    @pytest.mark.parametrize("crawlers", [(), ("--as=GPTBot", "--as=*"), ("--purpose=seo",)])
    def test_pages_and_pictures(
        self, file: Path, tmp_path: Path, crawlers: tuple[str, ...]
    ) -> None:
        """HTML and SVG, with reasons in view and hostile names escaped."""
        odd = tmp_path / "a<b>&\x1b.txt"
        odd.write_bytes(b"User-agent: *\nDisallow: /<script>\n")
        page, picture = tmp_path / "m.html", tmp_path / "m.svg"
        targets = ("--html", str(page), "--svg", str(picture), "--title", "T<b>", "--date", "May")
        files = [str(file), str(odd)]
        for number in range(12):
            path = tmp_path / f"{number}.txt"
            path.write_bytes(BODY)
            files.append(str(path))
        paths = ("--path", "/<script>", "--path", "/")
        ran = robotrules("matrix", *files, *crawlers, *paths, *targets)
        assert (ran.code, ran.out) == (0, "")
        text = page.read_text(encoding="utf-8")
        assert all(c.isprintable() or c == "\n" for c in text)
        tree = LexborHTMLParser(text)
        assert not tree.css("script, b:not(.tiles b)")
        assert len(tree.css(".matrix thead th[scope=col]")) > 1
        assert "Disallow: /<script>" in tree.css(".reasons")[0].text()
        root = ElementTree.parse(picture).getroot()
        told = "".join(root.itertext())
        assert "a<b>&\\x1b.txt" in told
        assert ("more column" in told) == (not crawlers or len(crawlers) == 1)

    def test_warnings_about_files(self, tmp_path: Path) -> None:
        """Those about the first files are printed; a report has them on its page."""
        files = []
        for number in range(8):
            path = tmp_path / f"{number}.txt"
            path.write_bytes(b"<!DOCTYPE html><p>not found")
            files.append(str(path))
        told = robotrules("matrix", *files, "--as=GPTBot").err.splitlines()
        assert len(told) == 6
        assert told[-1].endswith("warnings about 3 more files; robotrules lint shows them")
        assert report(*files).err == ""

    def test_misuse(self, file: Path, tmp_path: Path) -> None:
        """Paths among the files, several outputs, an input that would be overwritten."""
        for arguments, words in (
            ([file, "/news"], "there is no file '/news'; pass paths with --path"),
            ([file, tmp_path, "--html", file], "would overwrite an input file"),
            ([file, "--origins", tmp_path / "no"], "cannot read origins from"),
            (["ftp://x", "ftp://y"], "'ftp://x' has no robots.txt"),
        ):
            ran = robotrules("matrix", *map(str, arguments))
            assert (ran.code, ran.out) == (2, "")
            assert words in ran.err
        empty = tmp_path / "empty"
        empty.write_bytes(b"")
        assert (
            "has no origin: put one per line" in robotrules("matrix", "--origins", str(empty)).err
        )

    def test_a_bare_host_is_a_host(self) -> None:
        """One host without a scheme is fetched as https."""
        ran = robotrules("matrix", "nothing.invalid", "--no-store")
        assert ran.code == 2
        assert "https://nothing.invalid: the robots.txt is unreachable" in ran.err
