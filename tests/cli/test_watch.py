"""`robotrules watch` on real sites of the loopback; the transcripts show the output."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from robotrules.json_results.schemas import load_schema
from robotrules.operations.watch.events import EventKind
from robotrules.operations.watch.state import WatchState
from tests.cli.schema import problems
from tests.cli.shell import COMMAND, Ran, process_environment, robotrules
from tests.cli.sites import Site, response, site
from tests.client.fault_servers import closed_port, never_answers, serve
from tests.operations.watch.receivers import mail_server, webhook_endpoint

ROOT = Path(__file__).parents[2]
MANUAL = (ROOT / "docs" / "cli" / "watch.md").read_text(encoding="utf-8")
SCHEMA = load_schema("watch")
PLAIN = "Content-Type: text/plain"
OPEN = response("User-agent: *\nDisallow: /private/\n", PLAIN)
CLOSED = response("User-agent: *\nDisallow: /\n", PLAIN)
ALLOW = ("--allow-private", "127.0.0.1")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def example() -> Iterator[Site]:
    """A site with a robots.txt."""
    with site({"/robots.txt": OPEN}) as running:
        yield running


def watch(*more: str, **options: Any) -> Ran:
    """Look once, with the loopback allowed."""
    return robotrules("watch", *more, "--once", *ALLOW, **options)


def lines(ran: Ran) -> list[dict[str, Any]]:
    """Return the events of a run; each fits the schema."""
    found = [json.loads(line) for line in ran.out.splitlines()]
    for one in found:
        assert list(problems(one, SCHEMA)) == []
    return found


class TestOnce:
    """For cron."""

    def test_exit_codes(self, example: Site) -> None:
        """0 without news, 1 with news, each told once."""
        assert watch(example.origin).code == 0
        example.answers["/robots.txt"] = CLOSED
        ran = watch(example.origin)
        [event] = lines(ran)
        assert (ran.code, event["kind"], event["level"]) == (1, "crawlers-blocked", "error")
        assert watch(example.origin) == Ran(0, "", "")

    def test_every_kind_is_in_schema_and_manual(self) -> None:
        """A new kind is documented."""
        assert SCHEMA["properties"]["kind"]["enum"] == [str(kind) for kind in EventKind]
        for kind in EventKind:
            assert kind is EventKind.TEST or f"| `{kind}` |" in MANUAL

    def test_text_on_a_terminal_and_json_in_a_pipe(self, example: Site) -> None:
        """And the other way on request."""
        watch(example.origin)
        example.answers["/robots.txt"] = CLOSED
        ran = watch(example.origin, terminals=["stdout"])
        assert ran.out.count("\n") == 1
        assert " UTC  error    http://127.0.0.1:" in ran.out
        example.answers["/robots.txt"] = OPEN
        assert lines(watch(example.origin, "--json", terminals=["stdout"]))
        example.answers["/robots.txt"] = CLOSED
        assert "Z" not in watch(example.origin, "--text").out[:20]

    def test_a_level(self, example: Site) -> None:
        """What is less important is no news."""
        watch(example.origin)
        example.answers["/robots.txt"] = response(
            "# hi\nUser-agent: *\nDisallow: /private/\n", PLAIN
        )
        assert watch(example.origin, "--min-level", "warning") == Ran(0, "", "")

    def test_failures(self, example: Site) -> None:
        """A blip is said on stderr only; a private address says how to allow it."""
        watch(example.origin)
        example.answers["/robots.txt"] = response(status="503 No")
        ran = watch(example.origin)
        assert (ran.code, ran.out) == (0, "")
        assert "status 503 (failure 1 of 2 until it is told)" in ran.err
        assert watch(example.origin).code == 1
        ran = robotrules("watch", example.origin, "--once", "--name", "other")
        assert "add --allow-private 127.0.0.1" in ran.err

    def test_the_status_of_a_failure(self, example: Site) -> None:
        """How often and since when."""
        watch(example.origin)
        example.answers["/robots.txt"] = response(status="503 No")
        watch(example.origin)
        assert "status 503, 1 failure in a row" in robotrules("watch", "--status").out
        [target] = json.loads(robotrules("watch", "--status", "--json").out)["targets"]
        assert (target["failures"], target["failing_since"]) == (1, target["seen_at"])

    def test_a_page(self, example: Site) -> None:
        """Tags that are there at the first look are said on stderr."""
        example.answers["/a"] = response("", "X-Robots-Tag: noindex")
        ran = watch(f"{example.origin}/a")
        assert (ran.code, ran.out) == (0, "")
        assert "/a has robots tags: noindex" in ran.err

    def test_urls_of_a_file(self, example: Site, tmp_path: Path) -> None:
        """One per line."""
        file = tmp_path / "urls"
        file.write_text(f"{example.origin}\n\n{example.origin}/a\n")
        assert "first look at 2 targets" in watch("--urls", str(file)).err


class TestChannels:
    """From the command line to a receiver."""

    def test_a_webhook_and_the_verification_of_the_manual(
        self, example: Site, tmp_path: Path
    ) -> None:
        """The ten lines of the manual accept the request, and refuse another."""
        secret = tmp_path / "secret"
        secret.write_text(f"{SECRET}\n")
        with webhook_endpoint() as hook:
            given = ("--webhook", hook.url, "--webhook-secret-file", str(secret))
            watch(example.origin, *given)
            example.answers["/robots.txt"] = CLOSED
            assert watch(example.origin, *given).code == 1
            [(fields, body)] = hook.requests
        names: dict[str, Any] = {}
        (code,) = re.findall(r"^```python\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)
        exec(compile(code, "watch.md", "exec"), names)
        verify = names["verify"]
        assert verify(SECRET, fields, body)
        assert not verify(SECRET, fields, body + b" ")
        assert not verify("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", fields, body)
        assert not verify(SECRET, {**fields, "webhook-timestamp": "1614265330"}, body)
        assert list(problems(json.loads(body)["data"], SCHEMA)) == []

    def test_a_webhook_that_is_down(self, example: Site) -> None:
        """Exit code 2, and the event waits; stdout has it. Later it is delivered."""
        with webhook_endpoint() as hook:
            hook.status, hook.fields = 503, {"Retry-After": "0"}
            watch(example.origin, "--webhook", hook.url)
            example.answers["/robots.txt"] = CLOSED
            ran = watch(example.origin, "--webhook", hook.url, ROBOTRULES_WEBHOOK_SECRET=SECRET)
            assert (ran.code, len(lines(ran))) == (2, 1)
            assert "status 503; 1 event will be delivered later" in ran.err
            status = json.loads(robotrules("watch", "--status", "--json").out)
            waiting = {one["name"]: one["pending"] for one in status["channels"]}
            assert waiting == {"stdout": 0, f"webhook 127.0.0.1:{hook.port}": 1}
            assert "1 undelivered; last failure: status 503" in robotrules("watch", "--status").out
            # Without the channel, its events are not forgotten silently.
            assert "will not be delivered" in watch(example.origin).err
            hook.status = 200
            later = time.time() + 60
            with mock.patch("robotrules.cli.client.now", return_value=later):
                ran = watch(example.origin, ROBOTRULES_WEBHOOK=hook.url)
            assert (ran.code, ran.out) == (1, "")
            assert hook.refused == 1  # a Retry-After of 0 is not taken at its word
            assert len(hook.requests) == 1

    def test_mail(self, example: Site, tmp_path: Path) -> None:
        """To a server on this machine, without encryption."""
        with mail_server() as box:
            given = ("--mail-to", "ops@example.com", "--mail-from", "w@example.com")
            server = ("--smtp", f"127.0.0.1:{box.port}")
            watch(example.origin, *given, *server)
            example.answers["/robots.txt"] = CLOSED
            user = ("--smtp-user", "watch")
            assert "missing password" in watch(example.origin, *given, *server, *user).err
            ran = watch(example.origin, *given, *server, *user, ROBOTRULES_SMTP_PASSWORD="p")
            assert ran.code == 1
            assert b"No crawler may fetch any URL" in box.messages[0].replace(b"=\r\n", b"")
            assert any(one.startswith("AUTH") for one in box.commands)
            wrong = watch(example.origin, *given, "--smtp", "mail.example.com:x")
            assert (wrong.code, "port 'x' of --smtp" in wrong.err) == (2, True)

    def test_a_test_of_all(self, tmp_path: Path) -> None:
        """Each is tried, and the code is 2 if one fails."""
        feed = str(tmp_path / "f.atom")
        ran = robotrules("watch", "--test-channels", "--feed", feed, "--exec", "cat")
        assert (ran.code, lines(ran)[0]["kind"]) == (0, "test")
        assert "command cat: accepted" in ran.err
        with closed_port() as url:
            ran = robotrules("watch", "--test-channels", "-q", "--webhook", url)
        assert (ran.code, "no response" in ran.err) == (2, True)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (["--webhook", "ftp://example.org"], "the webhook is not a URL"),
            (["--webhook", "http://a..b/h"], "the host of the webhook is not a name"),
            (
                ["--webhook", "https://x/", "--webhook-secret-file", "none"],
                "cannot read the webhook",
            ),
            (["--mail-to", "ops", "--mail-from", "a@example.com"], "not a mail address"),
            (["--exec", ""], "the command is empty"),
            (["--exec", "'"], "cannot be split"),
            (["--feed", "no/such/folder/feed.atom"], "in an existing directory"),
            (["--as", "Bot/1.0"], "not a product token"),
            (["--json", "--text"], "cannot be combined"),
            (["--every", "often"], "not a duration"),
            (["--every", "99w"], "longer than a year"),
            (["--name", " "], "--name"),
            (["--store", "memory:"], "forgets it"),
            (["--state", "redis://127.0.0.1:1/"], "SQLite"),
            (["--quiet"], "tells nobody"),
        ],
    )
    def test_misuse(self, given: list[str], words: str) -> None:
        """Says what is wrong and what to pass, before anything is fetched."""
        ran = robotrules("watch", "https://example.com", "--once", *given)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err

    def test_a_secret_must_be_one_line(self, tmp_path: Path) -> None:
        """A file of another kind is refused, and a short secret."""
        file = tmp_path / "secret"
        given = ("--webhook", "https://x/", "--webhook-secret-file", str(file))
        for octets, words in ((b"a\nb", "one line"), (b"\xff", "UTF-8"), (b"short", "too short")):
            file.write_bytes(octets)
            ran = robotrules("watch", "https://example.com", "--once", *given)
            assert (ran.code, words in ran.err) == (2, True)


class TestSettings:
    """`[watch]` of a file."""

    def test_all_of_them(
        self, example: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Files are relative to the settings; options count more."""
        folder = tmp_path / "etc"
        folder.mkdir()
        code = "import sys; open('heard', 'ab').write(sys.stdin.buffer.read())"
        (folder / "watch.toml").write_text(
            f"""[watch]
            urls = ["{example.origin}"]
            name = "shop"
            every = "30m"
            after = 1
            crawlers = ["ExampleBot"]
            sitemaps = true
            min-level = "warning"
            feed = "robots.atom"
            exec = ["{sys.executable}", "-c", "{code}"]
            """
        )
        monkeypatch.chdir(folder)
        config = ("--config", "watch.toml")
        assert watch(*config).code == 0
        example.answers["/robots.txt"] = response(status="500 No")
        assert watch(*config).code == 1
        assert (folder / "robots.atom").read_text().count("<entry>") == 1
        assert json.loads((folder / "heard").read_text())["kind"] == "unreachable"
        assert json.loads(robotrules("watch", *config, "--status", "--json").out)["watch"] == "shop"
        monkeypatch.chdir(tmp_path)
        example.answers["/robots.txt"] = OPEN
        assert watch("--config", "etc/watch.toml", "--min-level", "info").code == 1

    def test_the_nearest_file_says_what_to_watch(
        self, example: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without --config: targets and levels, from a parent too."""
        (tmp_path / "robotrules.toml").write_text(
            f'[watch]\nurls = ["{example.origin}"]\nmin-level = "error"\n'
        )
        (tmp_path / "deep").mkdir()
        monkeypatch.chdir(tmp_path / "deep")
        assert watch().code == 0
        assert example.asked

    @pytest.mark.parametrize(
        "setting",
        [
            'exec = ["touch", "ran"]',
            'webhook = ["https://evil.example/"]',
            'webhook-secret-file = "../secret"',
            'feed = "victim.txt"',
            'mail-to = ["a@evil.example"]',
            'mail-from = "a@evil.example"',
            'smtp = "evil.example"',
            'smtp-security = "none"',
            'smtp-user = "evil"',
            'smtp-password-file = "../secret"',
        ],
    )
    @pytest.mark.parametrize("file", ["robotrules.toml", "pyproject.toml"])
    def test_the_nearest_file_has_no_channels(
        self,
        example: Site,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        file: str,
        setting: str,
    ) -> None:
        """A clone of somebody's repository runs nothing, sends nothing and replaces nothing."""
        table = "watch" if file == "robotrules.toml" else "tool.robotrules.watch"
        (tmp_path / file).write_text(f"[{table}]\n{setting}\n")
        (tmp_path / "victim.txt").write_text("precious")
        (tmp_path / "deep").mkdir()
        monkeypatch.chdir(tmp_path / "deep")
        for more in ([], ["--test-channels"]):
            ran = robotrules(
                "watch",
                example.origin,
                "--once",
                *ALLOW,
                *more,
                ROBOTRULES_WEBHOOK_SECRET=SECRET,
                ROBOTRULES_SMTP_PASSWORD="p",
            )
            assert (ran.code, ran.out, example.asked) == (2, "", [])
            assert f"has channels in [watch] ({setting.split()[0]})" in ran.err
            assert "pass --config " in ran.err
        assert (tmp_path / "victim.txt").read_text() == "precious"
        assert not list(tmp_path.rglob("ran"))

    def test_a_file_that_is_not_a_feed(self, example: Site, tmp_path: Path) -> None:
        """Is not replaced, whoever names it."""
        victim = tmp_path / "victim.txt"
        victim.write_text("precious")
        ran = watch(example.origin, "--feed", str(victim))
        assert (ran.code, "is not replaced: name another file" in ran.err) == (2, True)
        assert (victim.read_text(), example.asked) == ("precious", [])

    def test_a_file_without_settings(self, tmp_path: Path) -> None:
        """A hint, and the error about missing URLs."""
        file = tmp_path / "other.toml"
        file.write_text("[lint]\n")
        ran = watch("--config", str(file))
        assert (ran.code, "has no settings in [watch]" in ran.err) == (2, True)
        file.write_text("[watch]\nurl = 'x'\n")
        ran = watch("--config", str(file))
        assert 'no key "url" here; did you mean' in ran.err or "urls" in ran.err


class TestRunning:
    """As a process."""

    def start(self, *more: str, **streams: Any) -> subprocess.Popen[bytes]:
        """Start a watch that looks every second."""
        command = [*COMMAND, "watch", "--every", "1s", *ALLOW, *more]
        return subprocess.Popen(command, env=process_environment(), **streams)

    def test_it_tells_and_stops(self, example: Site, tmp_path: Path) -> None:
        """A change is told; a second watch is refused; SIGTERM ends it with 0, SIGINT with 130."""
        out = tmp_path / "out"
        with out.open("wb") as stream:
            process = self.start(example.origin, stdout=stream, stderr=subprocess.PIPE)
            wait_for(lambda: "/robots.txt" in example.asked)
            second = watch(example.origin)
            assert (second.code, f"process {process.pid} runs" in second.err) == (2, True)
            example.answers["/robots.txt"] = CLOSED
            wait_for(lambda: out.stat().st_size > 0)
            process.terminate()
            _, told = process.communicate(timeout=30)
        assert process.returncode == 0
        assert b"stopped; nothing is lost" in told
        assert [json.loads(line)["kind"] for line in out.read_bytes().splitlines()] == [
            "crawlers-blocked"
        ]
        process = self.start(example.origin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == b""
        assert process.returncode == 130

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_it_stops_during_a_delivery(
        self, example: Site, tmp_path: Path, number: signal.Signals
    ) -> None:
        """Of many events to a receiver that hangs; nothing is lost."""
        watch(example.origin)
        example.answers["/robots.txt"] = CLOSED
        with serve(never_answers) as dead:
            process = self.start(
                example.origin, "--webhook", dead.url, "-q", stderr=subprocess.PIPE
            )
            wait_for(lambda: dead.connections)
            began = time.monotonic()
            process.send_signal(number)
            _, told = process.communicate(timeout=60)
            assert time.monotonic() - began < 10
        assert process.returncode == (0 if number == signal.SIGTERM else 130)
        assert b"stopped; nothing is lost" in told
        status = json.loads(robotrules("watch", "--status", "--json").out)
        assert [one["pending"] for one in status["channels"]] == [1]

    def test_a_reader_that_is_gone(self, example: Site) -> None:
        """The command ends as others do, and the event is told by the next one."""
        watch(example.origin)
        example.answers["/robots.txt"] = CLOSED
        process = subprocess.Popen(
            [*COMMAND, "watch", example.origin, "--once", *ALLOW],
            env=process_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        process.stderr.read()
        process.stderr.close()
        assert process.wait(30) == 141
        assert [one["kind"] for one in lines(watch(example.origin))] == ["crawlers-blocked"]

    def test_too_often(self) -> None:
        """Sites of others are not asked every few seconds."""
        ran = robotrules("watch", "https://example.com", "--every", "5s")
        assert (ran.code, "shorter than a minute" in ran.err) == (2, True)


def wait_for(condition: Any) -> None:
    """Wait until something is true."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_unit_of_the_manual(tmp_path: Path) -> None:
    """systemd accepts it."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    (unit,) = re.findall(r"^```ini\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)
    file = tmp_path / "robotrules-watch.service"
    # The program of the manual is not installed here.
    file.write_text(unit.replace("/usr/local/bin/robotrules", "/bin/true"))
    ran = subprocess.run([program, "verify", str(file)], capture_output=True, text=True, timeout=60)
    assert "robotrules-watch" not in ran.stderr, ran.stderr


def test_hostile_files_reach_no_terminal(example: Site) -> None:
    """Neither events nor messages nor the status have a control character."""
    evil = "Evil\x1b[2J\x07"
    watch(f"{example.origin}/%1b")
    example.answers["/robots.txt"] = response(
        f"User-agent: {evil}\nDisallow: /{evil}\nSitemap: http://{evil}/\n", "Content-Type: \x1b[2J"
    )
    for ran in (
        watch(f"{example.origin}/%1b", terminals=["stdout"]),
        robotrules("watch", "--status"),
    ):
        assert ran.out
        assert ran.out.replace("\n", "").isprintable()
        assert ran.err.replace("\n", "").isprintable()


def test_the_state_is_not_readable_by_others(example: Site, cache_folder: Path) -> None:
    """It has what robots.txt files say, and where webhooks are not."""
    with webhook_endpoint() as hook:
        watch(example.origin, "--webhook", f"{hook.url}?token=SECRET")
        example.answers["/robots.txt"] = CLOSED
        watch(example.origin, "--webhook", f"{hook.url}?token=SECRET")
    [file] = cache_folder.glob("*.sqlite")
    assert file.stat().st_mode & 0o077 == 0
    assert b"SECRET" not in file.read_bytes()
    with WatchState(file) as state:
        assert [one.delivered for one in state.channels()] == [1, 1]
