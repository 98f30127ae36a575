"""`robotrules prefetch` on real sites of the loopback; the transcripts show the output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any
from unittest import mock

import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.cli.progress import Progress, StatusLine
from robotrules.client import aio, memory_cache
from robotrules.client.stores.sqlite import SQLiteStore
from tests.cli.shell import COMMAND, Ran, Stream, Terminal, process_environment, robotrules
from tests.cli.sites import Site, response, site

ALLOW = ("--allow-private", "127.0.0.1")


@pytest.fixture
def example() -> Iterator[Site]:
    """A site with a robots.txt."""
    with site({"/robots.txt": response("User-agent: *\nDisallow: /x\n")}) as running:
        yield running


def prefetch(
    *more: str, stdin: bytes = b"", terminals: tuple[str, ...] = (), **variables: str
) -> Ran:
    """Run the command, with the loopback allowed."""
    return robotrules("prefetch", *more, *ALLOW, stdin=stdin, terminals=terminals, **variables)


class TestLines:
    """One line for each origin, and a summary."""

    def test_a_pipe_gets_tabs(self, example: Site) -> None:
        """State, origin, status, octets and until; the summary is on stderr."""
        ran = prefetch(example.origin)
        state, origin, status, octets, until = ran.out.rstrip("\n").split("\t")
        assert (state, origin, status, octets) == ("success", example.origin, "200", "27")
        assert until.endswith("+00:00")
        assert ran.code == 0
        assert ran.err.startswith(
            "robotrules prefetch: 1 origin: 1 success, 0 unavailable, 0 unreachable, in "
        )

    def test_json_lines(self, example: Site) -> None:
        """One object a line, on a terminal too."""
        for terminals in ((), ("stdout",)):
            ran = prefetch(example.origin, "--json", terminals=terminals)
            found = json.loads(ran.out)
            assert (found["state"], found["status"], found["size"]) == ("success", 200, 27)
            assert found["url"] == f"{example.origin}/robots.txt"
            assert ran.out.count("\n") == 1

    def test_exit_codes(self, example: Site) -> None:
        """1 if any is unreachable or is none."""
        with site({}) as empty, site({"/robots.txt": response(status="500 No")}) as down:
            assert prefetch(example.origin, empty.origin).code == 0
            assert prefetch(example.origin, down.origin).code == 1
        ran = prefetch(example.origin, "mailto:x")
        assert (ran.code, "1 no-origin" in ran.err) == (1, True)
        assert prefetch("--origins", "no-such-file").code == 2

    def test_quiet(self, example: Site) -> None:
        """Only the summary."""
        ran = prefetch(example.origin, "--quiet")
        assert (ran.code, ran.out, ran.err.count("\n")) == (0, "", 1)

    def test_the_store_is_warm(self, example: Site) -> None:
        """Fetched files are not fetched again, by this command or by others."""
        prefetch(example.origin)
        assert json.loads(prefetch(example.origin, "--json").out)["source"] == "store"
        asked = ("--as", "ExampleBot", *ALLOW)
        assert robotrules("check", f"{example.origin}/x", *asked).code == 1
        assert example.asked == ["/robots.txt"]
        prefetch(example.origin, "--refresh")
        assert example.asked == ["/robots.txt"] * 2

    def test_a_failing_server_with_a_valid_copy(self, example: Site) -> None:
        """With `--refresh` it is unreachable, and the line reports that the copy is still valid."""
        prefetch(example.origin)
        example.answers["/robots.txt"] = response(status="503 No")
        ran = prefetch(example.origin, "--refresh")
        state, origin, status, octets, until = ran.out.splitlines()[0].split("\t")
        assert (state, origin, status, octets) == ("unreachable", example.origin, "503", "")
        assert "0 success, 0 unavailable, 1 unreachable" in ran.err
        assert ran.code == 1
        found = json.loads(prefetch(example.origin, "--refresh", "--json").out)
        assert (found["state"], found["status"], found["until"]) == ("unreachable", 503, until)
        assert found["copy_at"] < found["fetched_at"]
        out = prefetch(example.origin, "--refresh", terminals=("stdout",), NO_COLOR="1").out
        assert "status 503, the copy of " in out
        # Without --refresh the copy is still valid.
        assert prefetch(example.origin).code == 0

    def test_help_is_about_this_command(self) -> None:
        """It has no --as."""
        assert "--as" not in robotrules("prefetch", "--help").out

    def test_a_list_in_a_pipe(self, example: Site) -> None:
        """Blank lines are ignored, URLs have origins, and each origin is fetched once."""
        urls = f"\n{example.origin}/a\n  {example.origin}/b?c \n\n{example.origin}".encode()
        ran = prefetch("--origins", "-", stdin=urls)
        assert ran.out.count("success") == 1
        assert "fetch: 1 origin: 1 success, 0 unavailable, 0 unreachable, in" in ran.err
        assert example.asked == ["/robots.txt"]

    def test_a_file_that_is_not_a_list(self, tmp_path: Path) -> None:
        """A line of a mebibyte gives a one-line error."""
        path = tmp_path / "list"
        path.write_bytes(b"a" * 1_100_000)
        ran = prefetch("--origins", str(path))
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("robotrules prefetch: line 1 of '")

    def test_bare_hosts(self) -> None:
        """A bare host is read with https, and one message reports this."""
        ran = robotrules("prefetch", "127.0.0.1:9", "127.0.0.1:10/x", *ALLOW)
        assert "https://127.0.0.1:9\tconnect" in ran.out
        assert "https://127.0.0.1:10\tconnect" in ran.out
        assert ran.err.count("hint: ") == 1

    def test_a_private_address(self, example: Site) -> None:
        """The message explains once per host how to allow it."""
        origins = [f"http://localhost:{port}" for port in (example.port, 9)]
        ran = robotrules("prefetch", *origins)
        assert (ran.code, ran.err.count("--allow-private localhost")) == (1, 1)
        assert example.asked == []

    def test_colour_and_columns_on_a_terminal(self, example: Site) -> None:
        """States are coloured; in a pipe they are not."""
        out = prefetch(example.origin, terminals=("stdout",)).out
        assert out.startswith("\x1b[32msuccess\x1b[0m      http://127.0.0.1:")
        assert "\x1b" not in prefetch(example.origin).out

    def test_without_a_library_the_message_names_the_extra(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Either of two is enough, and a one-line message names them."""
        for name in ("httpx2", "aiohttp"):
            monkeypatch.setitem(sys.modules, name, None)
            monkeypatch.delitem(sys.modules, f"robotrules.client.transports.{name}", raising=False)
        ran = prefetch("https://127.0.0.1:9")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "pip install 'robotrules[" in ran.err

    def test_a_reader_that_went_away(self, example: Site) -> None:
        """It ends quietly."""
        with mock.patch("robotrules.cli.console.Output.flush", side_effect=BrokenPipeError):
            assert prefetch(example.origin).code == 141

    def test_no_origin(self) -> None:
        """Without an origin, the error explains the usage."""
        assert "add --origins -" in robotrules("prefetch").err
        assert "pass some, such as" in robotrules("prefetch", terminals=("stdin",)).err


class TestInterrupt:
    """Ctrl-C."""

    def test_in_this_process(self, example: Site) -> None:
        """The completed origins are reported, and the exit code is that of an interrupt."""
        with mock.patch("robotrules.cli.prefetch._Lines.add", side_effect=KeyboardInterrupt):
            ran = prefetch(example.origin)
        assert ran.code == 130
        assert "interrupted; fetched files are stored: 0 origins" in ran.err

    def test_completed_fetches_are_stored(self, example: Site, cache_folder: Path) -> None:
        """It ends at once, although a server does not respond and stdin is open."""
        pytest.importorskip("pty", reason="signals of terminals are a matter of Unix")
        answered = Event()

        class Slow(Site):
            def response(self, path: str, moment: str | None) -> bytes:
                answered.wait(20)
                return super().response(path, moment)

        with mock.patch("tests.cli.sites.Site", Slow), site({}) as slow:
            command = [*COMMAND, "prefetch", "--origins", "-", *ALLOW]
            with subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=process_environment(),
            ) as process:
                assert process.stdin
                assert process.stdout
                process.stdin.write(f"{example.origin}\n{slow.origin}\n".encode())
                process.stdin.flush()
                line = process.stdout.readline()
                process.send_signal(signal.SIGINT)
                code = process.wait(timeout=10)
                assert process.stderr
                err = process.stderr.read().decode()
            answered.set()
        assert line.startswith(b"success\t")
        assert code == 130
        assert "interrupted; fetched files are stored: 1 origin: 1 success" in err
        assert "Traceback" not in err
        [path] = cache_folder.glob("*.sqlite")
        store = SQLiteStore(path)
        assert store.get(example.origin, "robotrules") is not None
        store.close()


class TestMany:
    """A long list, with a transport that is none."""

    @pytest.fixture
    def everywhere(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
        """The limit of concurrent requests, and the highest number that was reached."""
        seen = {"now": 0, "most": 0, "all": 0}

        class Everywhere:
            async def send(self, request: Request) -> Response | Failure:
                import asyncio

                seen["now"] += 1
                seen["all"] += 1
                seen["most"] = max(seen["most"], seen["now"])
                await asyncio.sleep(0)
                seen["now"] -= 1
                if "broken" in request.url:
                    return Failure(FailureReason.TLS, "no certificate")
                body = f"User-agent: *\nDisallow: /{request.url}\n" + "#" * 4_000
                return Response(200, {}, body.encode())

            async def aclose(self) -> None:
                pass

        real = aio.AsyncClient

        def opened(user_agent: str, allow_private: Any = (), **options: Any) -> aio.AsyncClient:
            return real(user_agent, transport=Everywhere(), **options)

        monkeypatch.setattr(aio, "AsyncClient", opened)
        return seen

    def test_concurrency(self, everywhere: dict[str, int]) -> None:
        """The number of concurrent requests stays within the limit."""
        origins = "\n".join(f"https://h{n}.example" for n in range(200)).encode()
        assert (
            robotrules("prefetch", "--origins", "-", "--concurrency", "7", stdin=origins).code == 0
        )
        assert (everywhere["most"], everywhere["all"]) == (7, 200)

    def test_memory_does_not_grow(
        self, everywhere: dict[str, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Twice as many origins take no more memory."""
        monkeypatch.setattr(memory_cache, "MAX_ORIGINS", 30)
        peaks = []
        for count in (150, 300):
            origins = "\n".join(f"https://h{n}.{count}.example" for n in range(count)).encode()
            tracemalloc.start()
            robotrules("prefetch", "--origins", "-", "--quiet", stdin=origins)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < peaks[0] * 1.5
        assert everywhere["all"] == 450

    def test_a_bar_on_a_terminal(self, everywhere: dict[str, int]) -> None:
        """The bar counts origins, and lines appear above it."""
        pytest.importorskip("pty", reason="pseudo-terminals are a matter of Unix")
        origins = "\n".join(f"https://h{n}.example" for n in range(50)).encode()
        drawn: list[str] = []

        def draw(stream: object, text: str) -> None:
            drawn.append(text)

        with (
            mock.patch("robotrules.cli.progress.FIRST_AFTER", 0.0),
            mock.patch("robotrules.cli.progress.AGAIN_AFTER", 0.0),
            mock.patch("robotrules.cli.progress._draw", draw),
        ):
            robotrules("prefetch", "--origins", "-", stdin=origins, terminals=("stdout", "stderr"))
        assert any("50 origins" in text and "/s" in text for text in drawn)
        # Wiped before each line, and at the end.
        assert drawn.count("") >= 50
        assert drawn[-1] == ""

    def test_a_failure_on_a_terminal(self, everywhere: dict[str, int]) -> None:
        """A failure is described, with the time of the next attempt."""
        ran = robotrules("prefetch", "https://broken.example", terminals=("stdout",), NO_COLOR="1")
        assert (
            "unreachable  https://broken.example  no secure connection: no certificate, next"
            in (ran.out)
        )


class TestProgress:
    """Progress lines on a terminal."""

    def test_stepping_aside(self) -> None:
        """A bar that was never shown is not wiped."""
        out = Stream(terminal=True)
        progress = Progress(out, None, "origin", clock=lambda: 0.0)
        progress.clear()
        assert out.text() == ""

    def test_one(self) -> None:
        """One origin is one."""
        progress = Progress(None, None, "origin", clock=lambda: 0.0)
        progress.add(1, 0)
        assert progress.line().startswith("1 origin  ")

    def test_doing(self) -> None:
        """It shows the current step, and is removed at the end; without a stream it is silent."""
        with StatusLine(None) as doing:
            doing.show("asking")
        with Terminal() as terminal, open(os.dup(terminal.theirs), "w") as stream:
            with StatusLine(stream) as doing:
                doing.show("fetching /robots.txt")
                doing.clear()
                doing.clear()
            stream.close()
            shown = terminal.read()
        assert shown == "\rfetching /robots.txt\x1b[K\r\x1b[K"
