"""The command `serve`: settings that it refuses, and what it prints."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.cli.shell import robotrules
from tests.service.running import serving, until

TOKEN = "a-token-of-the-tests"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "pass --token-file FILE, so that only holders of a token"),
        (["--host", "::"], "can be reached from other machines"),
        (["--host", "0.0.0.0"], "or --public"),
        (["--host", "example.com"], "can be reached from other machines"),
        (["--host", "0.0.0.0", "--public", "--token-file", "x"], "cannot be combined"),
        (["--no-fetch", "--fetch-host", "example.com"], "cannot be combined"),
        (["--token-file", "missing"], "cannot read the token file 'missing': No such file"),
        (["--user-agent", "(x)"], "does not start with a product token"),
        (["--limit", "max_body"], "is not a limit: pass NAME=VALUE; the names are max_body, "),
        (["--limit", "nothing=1"], "'nothing=1' is not a limit"),
        (["--limit", "max_body=0"], "pass a whole number above 0"),
        (["--limit", "max_body=1.5"], "pass a whole number above 0"),
        (["--limit", "body_timeout=nan"], "pass a number above 0"),
        (["--limit", "body_timeout=inf"], "pass a number above 0"),
        (["--limit", "body_timeout=-1"], "pass a number above 0"),
        (["--workers", "0"], "is not in the range"),
        (["--port", "65536"], "is not in the range"),
        (["--host", "127.0.0.999", "--public"], "cannot listen on 127.0.0.999 port 8080"),
    ],
)
def test_settings_that_are_refused(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that says what to do; nothing is started."""
    monkeypatch.chdir(tmp_path)
    ran = robotrules("serve", *options)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_a_bad_token_file_is_refused_without_showing_it(tmp_path: Path) -> None:
    """The message has the number of the line."""
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\nsecret\n", encoding="utf-8")
    ran = robotrules("serve", "--token-file", str(path))
    assert ran.code == 2
    assert "line 2: the token is shorter than 16 characters" in ran.err
    assert "secret\n" not in ran.err.replace("import secrets", "")
    assert TOKEN not in ran.err


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_token_file_that_others_can_read(tmp_path: Path, mode: int, warned: bool) -> None:
    """It is used, with a hint."""
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    path.chmod(mode)
    with serving(tmp_path, "--token-file", str(path)) as service:
        assert service.ask("GET", "/v1/crawlers").status == 401
        assert until(lambda: "listening at" in service.log, 5)
        assert ("chmod 600" in service.log) == warned


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_it_prints_the_url_and_nothing_else(tmp_path: Path, log_format: str) -> None:
    """A script reads the port from stdout; words and the log are on stderr, JSON if it is that."""
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    path.chmod(0o644)
    options = ("--token-file", str(path), "--log-format", log_format)
    with serving(tmp_path, *options) as service:
        url = f"http://127.0.0.1:{service.port}/"
        assert service.ask("GET", "/v1/crawlers").status == 401
        assert until(lambda: "/v1/crawlers" in service.log, 5)
        if log_format == "json":
            lines = [json.loads(line) for line in service.log.splitlines()]
            [hint] = [line["hint"] for line in lines if line["event"] == "token-file"]
        else:
            hint = service.log
            assert f"robotrules serve: listening at {url}; press Ctrl-C to stop\n" in hint
        assert "chmod 600" in hint
        service.signal(signal.SIGTERM)
        assert service.wait() == 0
        assert service.process.stdout is not None
        assert service.process.stdout.read() == b""


def test_another_address_with_a_token(tmp_path: Path) -> None:
    """All addresses; the URL that is printed is one that works."""
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    options = ["--host", "0.0.0.0", "--allowed-host", "robots.internal"]
    with serving(tmp_path, *options, "--token-file", str(path)) as service:
        fields = {"Authorization": f"Bearer {TOKEN}", "Host": "robots.internal"}
        assert service.ask("GET", "/v1/crawlers", headers=fields).status == 200
        fields["Host"] = "other.internal"
        assert service.ask("GET", "/v1/crawlers", headers=fields).status == 421


def test_a_browser_is_opened_once_it_listens(tmp_path: Path) -> None:
    """With the URL; here the browser is a program that writes down what it is given."""
    browser, seen = tmp_path / "xdg-open", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" >"{seen}"\n', encoding="utf-8")
    browser.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        import os

        patch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        with serving(tmp_path, "--open", "--no-fetch") as service:
            assert until(seen.exists, 10)
            assert until(lambda: seen.read_text(encoding="utf-8") != "", 5)
            url = seen.read_text(encoding="utf-8").strip()
            assert url == f"http://127.0.0.1:{service.port}/"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the package and how to install it."""
    import sys

    for name in [name for name in sys.modules if name.startswith("robotrules.service")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ran = robotrules("serve")
    assert ran.code == 2
    assert "the service needs uvicorn, which is not installed" in ran.err
    assert "pip install 'robotrules[serve]'" in ran.err
