"""`robotrules logs`: options, outputs, errors, and the schema of its JSON."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from robotrules.client.stores import open_store
from robotrules.json_results.schemas import load_schema
from tests.cli.schema import objects, problems
from tests.cli.shell import Ran, modules_loaded_by, robotrules
from tests.cli.sites import site
from tests.operations import log_lines
from tests.operations.log_lines import BINGBOT, GPTBOT, NOON, PERSON, ROBOTS, Seen, combined

SCHEMA = load_schema("logs")
LINES = [
    Seen("/robots.txt"),
    Seen("/private/a?b=c"),
    Seen("/private/a", address="203.0.113.1"),
    Seen("/x", GPTBOT, at=NOON + 86400),
    Seen("/blog/", BINGBOT),
    Seen(agent=PERSON),
    Seen("/", "Foo-bot/1.0 (+http://foo.example)"),
]


@pytest.fixture(name="log")
def fixture_log(tmp_path: Path) -> Path:
    """Return a log; robots.txt is beside it."""
    (tmp_path / "robots.txt").write_text(ROBOTS)
    log = tmp_path / "access.log"
    log.write_text("".join(f"{combined(line)}\n" for line in LINES))
    return log


def logs(log: Path, *options: str, stdin: bytes = b"", terminals: tuple[str, ...] = ()) -> Ran:
    """Run with the robots.txt beside the log."""
    robots = str(log.parent / "robots.txt")
    return robotrules(
        *("logs", str(log), "--robots", robots, *options), stdin=stdin, terminals=terminals
    )


def test_exit_codes(log: Path) -> None:
    """0 without violations or rules, 1 with one, 2 if nothing was read."""
    assert logs(log).code == 1
    assert logs(log, "--as", "bingbot").code == 0
    ran = robotrules("logs", str(log))
    assert ran.code == 0
    assert "counted, and not judged: pass --robots" in ran.err
    empty = log.parent / "empty"
    empty.write_text("")
    ran = robotrules("logs", str(empty))
    assert (ran.code, ran.out) == (2, "No request was found in the log.\n")
    assert f"'{empty}' is empty" in ran.err


def test_json_follows_the_schema(log: Path, tmp_path: Path) -> None:
    """All kinds of values are described, and every object lists all of its keys."""
    ranges = tmp_path / "ranges.json"
    ranges.write_text('{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}')
    urls = tmp_path / "urls.txt"
    urls.write_text("/blog/\n/x\n")
    with log.open("a") as file:
        file.write("what\n")
    seen = [
        logs(log, "--json", "--ranges", f"Googlebot={ranges}", "--urls", str(urls)),
        logs(log, "--format", "json", "--top", "1"),
        robotrules("logs", str(log), "--json", "--since", "2027-01-01"),
    ]
    for ran in seen:
        assert ran.out.isascii()
        found = json.loads(ran.out)
        assert list(problems(found, SCHEMA)) == []
    for schema in objects(SCHEMA):
        assert sorted(schema["required"]) == sorted(schema["properties"])
    first = json.loads(seen[0].out)
    assert first["violations"] == 3
    google = next(one for one in first["crawlers"] if one["name"] == "Googlebot")
    assert google["identities"] == {"verified": 1, "not_verified": 0, "impostor": 0}
    fake = next(one for one in first["crawlers"] if one["impostor_of"])
    assert (fake["name"], fake["violations"]) == ("impostors of Googlebot", 1)
    assert first["impostor_requests"] == 1
    assert google["missing"] == {"allowed": 2, "never": 2, "examples": ["/blog/", "/x"]}
    assert "1 line of" in seen[0].err


def test_csv_tables(log: Path) -> None:
    """Each table has a header and records of the same length."""
    tables = {}
    for name in ("days", "crawlers", "violations", "missing"):
        ran = logs(log, "--table", name)
        tables[name] = list(csv.reader(io.StringIO(ran.out)))
        assert len({len(record) for record in tables[name]}) == 1
    assert logs(log, "--format", "csv").out == logs(log, "--table", "days").out
    assert [record[:4] for record in tables["days"][1:]] == [
        ["2026-10-01", "Googlebot", "yes", "3"],
        ["2026-10-01", "Foo-bot", "no", "1"],
        ["2026-10-02", "GPTBot", "yes", "1"],
        ["2026-10-01", "bingbot", "yes", "1"],
    ]
    assert [record[0] for record in tables["violations"][1:]] == ["Googlebot"] * 2 + ["GPTBot"]


def test_the_table_of_violations_is_complete(tmp_path: Path) -> None:
    """All URLs are in it, or their number; its own words are in ASCII, and JSON has ten."""
    (tmp_path / "robots.txt").write_text(ROBOTS)
    log = tmp_path / "access.log"
    lines = [Seen(f"/private/{number}?a={number}") for number in range(1500)]
    lines += [Seen("/private/0?a=1"), Seen("/private/" + "a" * 400)]
    log.write_text("".join(f"{combined(line)}\n" for line in lines))
    ran = logs(log, "--table", "violations")
    assert ran.err == ""
    assert ran.out.isascii()
    found = list(csv.DictReader(io.StringIO(ran.out)))
    assert len(found) == 1501
    assert sum(int(one["url_requests"]) for one in found) == 1502
    assert found[1]["url"] == "/private/1000?a=..."
    ran = logs(log, "--table", "violations", "--top", "7")
    found = list(csv.DictReader(io.StringIO(ran.out)))
    assert [one["url_requests"] for one in found] == ["2", *["1"] * 6, "1494"]
    assert found[-1]["url"] == "(other URLs)"
    assert "1,494 requests are in rows without a URL" in ran.err
    [google] = json.loads(logs(log, "--json").out)["crawlers"]
    assert len(google["rules"][0]["urls"]) == 10
    (tmp_path / "robots.txt").write_text(
        "User-agent: *\n" + "".join(f"Disallow: /private/{number}\n" for number in range(1, 10))
    )
    ran = logs(log, "--table", "violations", "--top", "2")
    found = list(csv.DictReader(io.StringIO(ran.out)))
    assert (found[-1]["rule"], found[-1]["url"]) == ("(other rules)", "(other URLs)")
    total = json.loads(logs(log, "--json").out)["violations"]
    assert sum(int(one["url_requests"]) for one in found) == total


def test_several_files_are_written_at_once(log: Path, tmp_path: Path) -> None:
    """Each has the format of its extension; the log is read once, and no input is overwritten."""
    names = [tmp_path / f"out.{kind}" for kind in ("html", "csv", "json", "txt")]
    options = [text for name in names for text in ("-o", str(name))]
    ran = logs(log, *options, "--table", "crawlers", "--title", "Our <logs>", "-o", "-")
    assert ran.code == 1
    page, table, data, text = (name.read_text() for name in names)
    assert "<title>Our &lt;logs&gt;</title>" in page
    assert table.startswith("crawler,impostor_of,")
    assert json.loads(data)["violations"] == 3
    assert "Googlebot" in text
    assert ran.err.count("' written\n") == 4
    ranges = tmp_path / "ranges.json"
    ranges.write_text('{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}')
    ran = logs(
        log, "--ranges", f"Googlebot={ranges}", "-o", str(tmp_path / "a.csv"), "-o", str(ranges)
    )
    assert (ran.code, "would overwrite an input file" in ran.err) == (2, True)
    assert not (tmp_path / "a.csv").exists()


def test_files_are_written(log: Path, tmp_path: Path) -> None:
    """The extension chooses the format; an input is not overwritten."""
    for name, start in (
        ("a.html", "<!DOCTYPE html>"),
        ("a.csv", "day,crawler"),
        ("a.json", "{\n"),
        ("a.txt", "From 2026-10-01 to 2026-10-02, 3 well-known crawlers made 5 requests"),
    ):
        ran = logs(log, "-o", str(tmp_path / name))
        assert (ran.code, ran.out) == (1, "")
        assert (tmp_path / name).read_text().startswith(start)
        assert ran.err.endswith(f"'{tmp_path / name}' written\n")
    assert logs(log, "--format", "html", "-o", "-").out.startswith("<!DOCTYPE html>")
    assert "no known extension" in logs(log, "-o", str(tmp_path / "a.xyz")).err
    ran = logs(log, "--format", "text", "-o", str(log))
    assert (ran.code, "would overwrite an input file" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--git", "robots.txt"], "--robots and --git cannot be combined"),
        (["--evidence"], "--robots and --evidence cannot be combined"),
        (["--since", "2026-10-02", "--until", "2026-10-01"], "--since is not before --until"),
        (["--since", "soon"], "--since 'soon' is not a date or time"),
        (["--timezone", "Mars/Base"], "--timezone 'Mars/Base' is not known: pass an offset"),
        (["--timezone", "../../etc/passwd"], "is not known"),
        (["--table", "days", "--json"], "--table is for --format csv"),
        (["--json", "--format", "csv"], "--json and --format csv cannot be combined"),
        (["--log-format", "nginx"], "no log format is called 'nginx': pass one of combined"),
        (["--log-format", "$status"], "the log format has no time: add $time_local"),
        (["--ranges", "missing.json"], "cannot read address ranges from 'missing.json'"),
        (["--origin", "example"], "--origin 'example' is not an origin"),
        (["--urls", "missing"], "cannot read URLs from 'missing'"),
        (["--purpose", "all"], "'all' is not one of"),
        (["missing.log"], "cannot read a log from 'missing.log': no such file"),
        (["."], "it is a directory"),
        (["-", "--urls", "-"], "only one input can be stdin"),
        (["-"], "stdin is a terminal"),
    ],
)
def test_errors_say_what_to_do(log: Path, options: list[str], words: str) -> None:
    """Each is one line, with exit code 2."""
    ran = logs(log, *options, terminals=("stdin",))
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc")
def test_a_file_that_cannot_be_read(log: Path) -> None:
    """A read error names the file; it is not taken for one of the output."""
    ran = logs(log, "/proc/self/mem")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot read a log from '/proc/self/mem'" in ran.err


def test_missing_arguments() -> None:
    """The command says what to pass."""
    assert "missing LOG: pass access logs" in robotrules("logs").err
    assert "missing --origin" in robotrules("logs", "-", "--evidence").err


def test_hints(log: Path) -> None:
    """A misspelt crawler, several hosts, and lines that do not fit are told."""
    assert "did you mean GPTBot?" in logs(log, "--as", "GPT-Bot").err
    assert logs(log, "--as", "GPTBot").err == ""
    hosts = log.parent / "hosts.log"
    lines = [log_lines.caddy(Seen(host=f"{name}.example")) for name in "abcd"]
    hosts.write_text("\n".join(lines))
    assert "several hosts (a.example, b.example, c.example and more)" in logs(hosts).err
    ran = logs(hosts, "--origin", "https://b.example:8443", "--json")
    assert json.loads(ran.out)["requests"] == 1
    hosts.write_text(f"{combined(Seen())}\n" + "what\n" * 9)
    ran = logs(hosts, "--log-format", "combined")
    assert "9 lines of" in ran.err
    assert "without --log-format, the format is detected" in ran.err
    hosts.write_text(f"{combined(Seen())}\nwhat\n" + f"{combined(Seen())}\n" * 98 + "what\n" * 200)
    assert "if the format is another one, pass --log-format" in logs(hosts).err


def test_stdin_and_zones(log: Path) -> None:
    """A log may come from a pipe, with times of a zone."""
    octets = (log_lines.IIS_HEAD + log_lines.iis(Seen(at=NOON + 11 * 3600))).encode()
    for zone, day in (("UTC", "01"), ("+02:00", "01"), ("-0130", "01"), ("Europe/Berlin", "01")):
        ran = robotrules("logs", "-", "--json", "--timezone", zone, stdin=octets)
        assert json.loads(ran.out)["crawlers"][0]["days"][0]["day"] == f"2026-10-{day}"
    ran = robotrules("logs", "-", "--json", "--timezone", "+02:00", stdin=octets)
    assert json.loads(ran.out)["first"] == "2026-10-01T21:00:00Z"


def test_a_terminal_gets_colour_and_a_bar_is_erased(log: Path) -> None:
    """The text has the same words with colour, and names are cut to the width."""
    ran = logs(log, terminals=("stdout", "stderr"))
    assert "\x1b[31m" in ran.out
    assert "Disallow: /private/" in ran.out


def test_rules_of_a_git_history(log: Path) -> None:
    """Each request is judged by the version in force at its time."""
    folder = log.parent

    def git(*arguments: str, day: int = 0) -> None:
        stamp = f"2026-{day:02}-01T00:00:00Z"
        subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *arguments],
            cwd=folder,
            check=True,
            capture_output=True,
            env={"PATH": "/usr/bin:/bin", "GIT_COMMITTER_DATE": stamp, "GIT_AUTHOR_DATE": stamp},
        )

    robots = folder / "robots.txt"
    git("init", "-q")
    for day, text in ((8, "User-agent: *\nDisallow: /private/\n"), (11, "User-agent: *\nAllow: /")):
        robots.write_text(text)
        git("add", "robots.txt", day=day)
        git("commit", "-q", "-m", "x", day=day)
    ran = robotrules("logs", str(log), "--git", str(robots))
    assert ran.code == 1
    assert "Judged by 2 versions of robots.txt in git." in ran.out
    assert "line 2 of robots.txt of commit " in ran.out
    ran = robotrules("logs", str(log), "--git", str(log))
    assert (ran.code, "--git" in ran.err) == (2, True)


def test_rules_that_are_fetched_now_and_evidence(log: Path, tmp_path: Path) -> None:
    """With --origin the file is fetched, which the text says; --evidence uses the store."""
    answer = b"HTTP/1.1 200 OK\nContent-Type: text/plain\n\nUser-agent: *\nDisallow: /private/\n"
    store = str(tmp_path / "store.sqlite")
    with site({"/robots.txt": answer}) as running:
        origin = running.origin
        options = ["--origin", origin, "--store", store, "--allow-private", "127.0.0.1"]
        ran = robotrules("logs", str(log), *options)
    assert ran.code == 1
    assert f"Judged by today's robots.txt of {origin}." in " ".join(ran.out.split("\n"))
    ran = robotrules("logs", str(log), "--origin", origin, "--store", store, "--evidence")
    # The fetch was made after all requests of the log.
    assert ran.code == 0
    assert "requests were made when the rules were not known" in ran.err
    open_store(str(tmp_path / "empty.sqlite")).close()
    empty = ["--store", str(tmp_path / "empty.sqlite")]
    ran = robotrules("logs", str(log), "--origin", origin, "--evidence", *empty)
    assert (ran.code, f"the store has no fetch of {origin}" in ran.err) == (2, True)


def test_a_closed_pipe_ends_the_command(log: Path) -> None:
    """The reader of the output may go."""
    command = f"{sys.executable} -m robotrules logs {log} --table days | head -n 0"
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert ran.returncode in (0, 141)
    assert "Traceback" not in ran.stderr


def test_what_is_loaded(log: Path) -> None:
    """A log with a file loads neither the client's transports nor the pages."""
    loaded = modules_loaded_by("logs", str(log), "--robots", str(log.parent / "robots.txt"))
    assert "robotrules.operations.logs" in loaded
    assert not {"httpx", "urllib3", "robotrules.operations.logs.pages"} & loaded


def test_since_and_until_are_in_the_zone(tmp_path: Path) -> None:
    """A day or time without a zone is in that of --timezone, as the times of the log are."""
    path = tmp_path / "access.log"
    hours = ("30/Sep/2026:21:59:59", "30/Sep/2026:22:00:00", "01/Oct/2026:21:59:59")
    path.write_text(
        "".join(
            f'192.0.2.1 - - [{at} +0000] "GET / HTTP/1.1" 200 1 "-" "CCBot/2"\n' for at in hours
        )
    )
    for since, until in (
        ("2026-10-01", "2026-10-02"),
        ("2026-10-01T00:00", "2026-10-01T23:59:59Z"),
    ):
        options = ["--timezone", "+02:00", "--since", since, "--until", until]
        ran = robotrules("logs", str(path), "--json", *options)
        assert json.loads(ran.out)["requests"] == 2
        assert "is read as UTC" not in ran.err
    assert "is read as UTC" in robotrules("logs", str(path), "--since", "2026-10-01T00:00").err
