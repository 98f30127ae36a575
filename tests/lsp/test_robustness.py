"""Robustness: broken and huge documents, edits during lint, invalid messages, shutdown."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lsprotocol import types

from robotrules.editing.diagnostics import MAX_DIAGNOSTICS
from robotrules.lsp import features
from robotrules.lsp.server import ParsedDocument, TextDocument, make_server
from tests.cli.shell import process_environment, robotrules
from tests.lsp.editor import COMMAND, Editor, connect, free_port


@pytest.fixture
def editor(as_process: Editor) -> Editor:
    """A server process."""
    return as_process


CLEAN = "User-agent: *\nDisallow: /x\n"
# The time limit of a request in seconds, on a busy machine.
REQUEST_LIMIT = 10

BROKEN = {
    "html": "<!DOCTYPE html>\n<html><body>Not found</body></html>\n",
    "nul": "User-agent: *\nDisallow: /\0\0\n\0",
    "surrogates": "User-agent: \ud800\nDisallow: /\udc80\udfff\n",
    "line ends": "\r\r\n\n\rUser-agent: *\x0b\x0c\x1c\x85\u2028Disallow: /\r",
    "wildcards": "Disallow: " + "*$" * 5_000 + "\n" + ":" * 5_000 + "\n#" + "[" * 5_000,
    "escapes": "User-agent: *\nDisallow: /%\nDisallow: /%zz\nAllow: /%E2%28%A1\n",
    "records": "\n".join(f'{name}: ;,="\\' for name in ("Content-Usage", "App-Directives")),
    "purposes": "User-agent-purpose: \u00a0\nUser-agent-purpose: \u3000\x1c\nDisallow: /a\n",
    "empty": "",
}


def send_all_requests(editor: Editor, uri: str, line: int, column: int) -> None:
    """Send one request of each kind; any response is accepted."""
    editor.hover(uri, line, column)
    editor.complete(uri, line, column)
    editor.actions(uri, line, column=column)
    editor.actions(uri, line, "source.fixAll", column=column)
    editor.format(uri)
    editor.symbols(uri)
    editor.folding_ranges(uri)
    editor.semantic_tokens(uri)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_documents_get_responses(editor: Editor, name: str) -> None:
    """Any text gets diagnostics, and a response to each request."""
    uri = editor.open(BROKEN[name], f"{name}.txt")
    editor.diagnostics(uri)
    for line, column in ((0, 0), (0, 9), (1, 12), (3, 99)):
        send_all_requests(editor, uri, line, column)
    editor.close(uri)


HUGE = {
    "groups": "".join(f"User-agent: a{n}\nDisallow: /{n}\n\n" for n in range(18_000)),
    "rules": "User-agent: *\n" + "".join(f"Disallow: /é{n}*x{n}$\n" for n in range(25_000)),
    "notes": "Disallow x\n" * 60_000,
    "line": "User-agent: *\nDisallow: /" + "é*" * 180_000 + "\n",
    "too long": CLEAN + "# 😀\n" * 120_000 + "Disallow: /y\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
def test_huge_documents_get_responses_in_time(editor: Editor, name: str) -> None:
    """More than 500,000 bytes; no request waits for lint."""
    assert len(HUGE[name].encode()) > 500_000
    uri = editor.open(HUGE[name], f"huge-{name}.txt")
    for line, column in ((1, 12), (9_000, 12)):
        before = time.monotonic()
        editor.hover(uri, line, column)
        editor.complete(uri, line, column)
        editor.symbols(uri)
        editor.folding_ranges(uri)
        editor.semantic_tokens(uri)
        assert time.monotonic() - before < REQUEST_LIMIT
    assert len(editor.diagnostics(uri, seconds=120)) <= MAX_DIAGNOSTICS + 1
    editor.close(uri)


def test_edits_during_lint(editor: Editor) -> None:
    """The last published diagnostics are for the last version."""
    rules = "".join(f"Disallow: /{n}*a*{n % 7}\n" for n in range(1_500))
    uri = editor.open(f"User-agent: *\n{rules}", "edits.txt")
    for number in range(20):
        editor.type(uri, f"User-agent: *\n{rules}Disallow: /{number}\n")
        editor.pause(0.02)
    editor.type(uri, "User-agent: *\nDisallow: x\n")
    diagnostics = editor.diagnostics(uri)
    assert "RR505" in [diagnostic.code for diagnostic in diagnostics]
    assert all(diagnostic.range.end.line <= 2 for diagnostic in diagnostics)
    editor.pause(0.3)
    assert editor.published[uri][-1].version == 22


def test_a_request_can_be_cancelled(editor: Editor) -> None:
    """It gets a response or is cancelled; the next request gets a response."""
    uri = editor.open(CLEAN, "cancelled.txt")
    for _ in range(5):
        editor.cancel_hover(uri, 1, 11)
    assert "Matches every URL" in editor.hover_text(uri, 1, 11)


def test_requests_about_documents_that_are_not_open(editor: Editor) -> None:
    """The response is empty, and the file is not read."""
    uri = "file:///etc/hostname"
    assert editor.hover(uri, 0, 0) is None
    assert editor.complete(uri, 0, 0) == []
    assert editor.actions(uri, 0) == []
    assert editor.symbols(uri) == []


def test_a_document_without_a_file(editor: Editor) -> None:
    """Such as an untitled document."""
    item = types.TextDocumentItem("untitled:Untitled-1", "robotstxt", 1, CLEAN)
    editor._versions[item.uri] = 1
    editor._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    editor.diagnostics(item.uri)
    assert "Matches every URL" in editor.hover_text(item.uri, 1, 11)


def test_bytes_that_are_not_a_message(tmp_path: Path) -> None:
    """They are logged on stderr, and the next request gets a response."""
    editor = Editor(tmp_path)
    editor.send(b"Content-Length: 5\r\n\r\n{nope")
    deep = b"[" * 100_000
    editor.send(b"Content-Length: %d\r\n\r\n%s" % (len(deep), deep))
    invalid = b'{"jsonrpc": "2.0", "id": 77, "method": "textDocument/hover", "params": {"x": 1}}'
    editor.send(b"Content-Length: %d\r\n\r\n%s" % (len(invalid), invalid))
    uri = editor.open(CLEAN)
    assert "Matches every URL" in editor.hover_text(uri, 1, 11)
    assert editor.stop() == 0
    assert editor.stderr


def test_a_failed_request_does_not_stop_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is logged, the response is empty, and other requests work."""
    import asyncio

    def _fail(*_: object) -> None:
        raise RecursionError("too deep")

    async def _scenario() -> tuple[object, object]:
        server = make_server()
        monkeypatch.setattr(features, "render_hover", _fail)
        monkeypatch.setattr(server, "text", lambda uri: TextDocument(uri, 1, CLEAN))
        monkeypatch.setattr(server, "_parse", lambda text, reload_config=False: _parse(text))
        position = types.Position(1, 11)
        document = types.TextDocumentIdentifier("file:///robots.txt")
        try:
            failed = await features._on_hover(server, types.HoverParams(document, position))
            symbols = await features._on_document_symbol(
                server, types.DocumentSymbolParams(document)
            )
        finally:
            server.shutdown()
        return failed, symbols

    def _parse(text: TextDocument) -> ParsedDocument:
        from robotrules.config import Config
        from robotrules.editing.document import OpenDocument

        return ParsedDocument(text, OpenDocument(text.source), Config(), "", "")

    failed, symbols = asyncio.run(_scenario())
    assert failed is None
    assert symbols


# --- Start and shutdown ---------------------------------------------------------------------------


def test_an_editor_that_disappears(tmp_path: Path) -> None:
    """The server exits too, even during lint, with exit code 1."""
    editor = Editor(tmp_path)
    editor.open(HUGE["rules"])
    before = time.monotonic()
    assert editor.stop(shutdown=False) == 1
    assert time.monotonic() - before < 2 * REQUEST_LIMIT


def test_over_tcp(tmp_path: Path) -> None:
    """The server serves one client on a local port, and exits."""
    port = free_port()
    server = subprocess.Popen(
        [*COMMAND, "--tcp", str(port)],
        stderr=subprocess.PIPE,
        env=process_environment(),
        text=True,
    )
    try:
        editor = connect(tmp_path, port)
        editor.diagnostics(editor.open(CLEAN))
        editor.stop()
        _, stderr = server.communicate(timeout=30)
    finally:
        server.kill()
        server.wait()
    assert server.returncode == 0
    assert stderr == f"robotrules lsp: waiting for one client on 127.0.0.1 port {port}\n"


def test_without_a_client() -> None:
    """At the end of stdin it exits; on a terminal it prints a hint."""
    assert robotrules("lsp") == (1, "", "")
    ran = robotrules("lsp", "--stdio", terminals=["stdin"])
    assert (ran.code, ran.out) == (1, "")
    assert "waiting for an editor on stdin" in ran.err


def test_a_public_address() -> None:
    """A hint warns about an address that is not local; 192.0.2.1 is reserved (RFC 5737)."""
    ran = robotrules("lsp", "--tcp", "192.0.2.1:2087")
    assert ran.code == 2
    assert "everyone who can reach 192.0.2.1 can use it" in ran.err
    assert "cannot listen on 192.0.2.1 port 2087" in ran.err


def test_a_port_in_use() -> None:
    """The message says where, why, and how to fix it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = robotrules("lsp", "--tcp", str(port))
    assert ran.code == 2
    assert f"cannot listen on 127.0.0.1 port {port}: " in ran.err
    assert ran.err.endswith("; pass another address to --tcp\n")


@pytest.mark.parametrize("address", ["", "x", "0", "99999", "a:b:1", "[::1]", "127.0.0.1:"])
def test_an_invalid_port(address: str) -> None:
    """Usage errors have exit code 2 and a one-line message."""
    ran = robotrules("lsp", "--tcp", address)
    assert (ran.code, ran.out) == (2, "")
    assert "is not a TCP address: pass a port up to 65535" in ran.err


def test_conflicting_and_invalid_options() -> None:
    """--stdio with --tcp, and a registry that does not exist."""
    ran = robotrules("lsp", "--stdio", "--tcp", "2087")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot be combined" in ran.err
    ran = robotrules("lsp", "--registry", "nothing.json")
    assert ran.code == 2
    assert "cannot read the registry" in ran.err


def test_without_pygls_the_message_says_how_to_install_it() -> None:
    """It names the extra."""
    code = (
        "import sys; sys.modules['pygls'] = None\n"
        "from robotrules.cli import run; sys.exit(run(['lsp']))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env=process_environment(),
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "robotrules lsp: the language server needs pygls, which is not installed: pip install "
        "'robotrules[lsp]'\n"
    )
