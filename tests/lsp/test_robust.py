"""A server that lives: broken documents, huge ones, edits while it lints, and how it ends."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lsprotocol import types

from robotrules.lsp import features
from robotrules.lsp.diagnostics import MOST_SHOWN
from robotrules.lsp.server import TextDocument, make_server
from tests.cli.shell import process_environment, robotrules
from tests.lsp.editor import COMMAND, Editor, connected, free_port


@pytest.fixture
def editor(as_process: Editor) -> Editor:
    """A server that is a process."""
    return as_process


CLEAN = "User-agent: *\nDisallow: /x\n"
# Seconds that an answer may take on a machine that does much else: a person waits for it.
SOON = 10

BROKEN = {
    "html": "<!DOCTYPE html>\n<html><body>Not found</body></html>\n",
    "nul": "User-agent: *\nDisallow: /\0\0\n\0",
    "surrogates": "User-agent: \ud800\nDisallow: /\udc80\udfff\n",
    "line ends": "\r\r\n\n\rUser-agent: *\x0b\x0c\x1c\x85\u2028Disallow: /\r",
    "signs": "Disallow: " + "*$" * 5_000 + "\n" + ":" * 5_000 + "\n#" + "[" * 5_000,
    "escapes": "User-agent: *\nDisallow: /%\nDisallow: /%zz\nAllow: /%E2%28%A1\n",
    "records": "\n".join(f'{name}: ;,="\\' for name in ("Content-Usage", "App-Directives")),
    "purposes": "User-agent-purpose: \u00a0\nUser-agent-purpose: \u3000\x1c\nDisallow: /a\n",
    "empty": "",
}


def ask_everything(editor: Editor, uri: str, line: int, column: int) -> None:
    """Ask for each feature at a place; any answer will do."""
    editor.hover(uri, line, column)
    editor.complete(uri, line, column)
    editor.actions(uri, line, column=column)
    editor.actions(uri, line, "source.fixAll", column=column)
    editor.format(uri)
    editor.symbols(uri)
    editor.foldings(uri)
    editor.colours(uri)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_documents_have_answers(editor: Editor, name: str) -> None:
    """Whatever is in a text, there are notes, and an answer to each question."""
    uri = editor.open(BROKEN[name], f"{name}.txt")
    editor.notes(uri)
    for line, column in ((0, 0), (0, 9), (1, 12), (3, 99)):
        ask_everything(editor, uri, line, column)
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
def test_huge_documents_have_answers_soon(editor: Editor, name: str) -> None:
    """Half a mebibyte and more; no answer waits for lint."""
    assert len(HUGE[name].encode()) > 500_000
    uri = editor.open(HUGE[name], f"huge-{name}.txt")
    for line, column in ((1, 12), (9_000, 12)):
        before = time.monotonic()
        editor.hover(uri, line, column)
        editor.complete(uri, line, column)
        editor.symbols(uri)
        editor.foldings(uri)
        editor.colours(uri)
        assert time.monotonic() - before < SOON
    assert len(editor.notes(uri, seconds=120)) <= MOST_SHOWN + 1
    editor.close(uri)


def test_edits_while_it_lints(editor: Editor) -> None:
    """Only what is found in the last text is shown last."""
    rules = "".join(f"Disallow: /{n}*a*{n % 7}\n" for n in range(1_500))
    uri = editor.open(f"User-agent: *\n{rules}", "edits.txt")
    for number in range(20):
        editor.type(uri, f"User-agent: *\n{rules}Disallow: /{number}\n")
        editor.pause(0.02)
    editor.type(uri, "User-agent: *\nDisallow: x\n")
    found = editor.notes(uri)
    assert "RR505" in [one.code for one in found]
    assert all(one.range.end.line <= 2 for one in found)
    editor.pause(0.3)
    assert editor.published[uri][-1].version == 22


def test_a_question_can_be_taken_back(editor: Editor) -> None:
    """It is answered or cancelled, as it happens; the next one is answered."""
    uri = editor.open(CLEAN, "cancelled.txt")
    for _ in range(5):
        editor.cancelled(uri, 1, 11)
    assert "Matches every URL" in editor.words(uri, 1, 11)


def test_questions_about_texts_that_are_not_open(editor: Editor) -> None:
    """There is an empty answer, and no file is read for it."""
    uri = "file:///etc/hostname"
    assert editor.hover(uri, 0, 0) is None
    assert editor.complete(uri, 0, 0) == []
    assert editor.actions(uri, 0) == []
    assert editor.symbols(uri) == []


def test_a_name_that_is_no_file(editor: Editor) -> None:
    """An editor may hold a text that has no file yet."""
    item = types.TextDocumentItem("untitled:Untitled-1", "robotstxt", 1, CLEAN)
    editor._versions[item.uri] = 1
    editor._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    editor.notes(item.uri)
    assert "Matches every URL" in editor.words(item.uri, 1, 11)


def test_octets_that_are_no_message(tmp_path: Path) -> None:
    """They are logged on stderr, and the next message is answered."""
    editor = Editor(tmp_path)
    editor.send(b"Content-Length: 5\r\n\r\n{nope")
    deep = b"[" * 100_000
    editor.send(b"Content-Length: %d\r\n\r\n%s" % (len(deep), deep))
    lie = b'{"jsonrpc": "2.0", "id": 77, "method": "textDocument/hover", "params": {"x": 1}}'
    editor.send(b"Content-Length: %d\r\n\r\n%s" % (len(lie), lie))
    uri = editor.open(CLEAN)
    assert "Matches every URL" in editor.words(uri, 1, 11)
    assert editor.leave() == 0
    assert editor.said


def test_a_feature_that_fails_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is logged, the answer is empty, and other features answer."""
    import asyncio

    def _fail(*_: object) -> None:
        raise RecursionError("too deep")

    async def _story() -> tuple[object, object]:
        server = make_server()
        monkeypatch.setattr(features, "hover", _fail)
        monkeypatch.setattr(server, "text", lambda uri: TextDocument(uri, 1, CLEAN))
        monkeypatch.setattr(server, "_read", lambda text, afresh=False: _opened(text))
        position = types.Position(1, 11)
        document = types.TextDocumentIdentifier("file:///robots.txt")
        try:
            failed = await features._hover(server, types.HoverParams(document, position))
            found = await features._symbols(server, types.DocumentSymbolParams(document))
        finally:
            server.shutdown()
        return failed, found

    def _opened(text: TextDocument) -> object:
        from robotrules.config import Config
        from robotrules.lsp.document import OpenDocument
        from robotrules.lsp.server import Opened

        return Opened(text, OpenDocument(text.source), Config(), "", "")

    failed, found = asyncio.run(_story())
    assert failed is None
    assert found


# --- Beginning and end ----------------------------------------------------------------------------


def test_an_editor_that_dies(tmp_path: Path) -> None:
    """The server ends with it, even while it lints; the exit code says that nobody said goodbye."""
    editor = Editor(tmp_path)
    editor.open(HUGE["rules"])
    before = time.monotonic()
    assert editor.leave(politely=False) == 1
    assert time.monotonic() - before < 2 * SOON


def test_over_tcp(tmp_path: Path) -> None:
    """One client on a port of this machine, and then the end."""
    port = free_port()
    server = subprocess.Popen(
        [*COMMAND, "--tcp", str(port)],
        stderr=subprocess.PIPE,
        env=process_environment(),
        text=True,
    )
    try:
        editor = connected(tmp_path, port)
        editor.notes(editor.open(CLEAN))
        editor.leave()
        _, said = server.communicate(timeout=30)
    finally:
        server.kill()
        server.wait()
    assert server.returncode == 0
    assert said == f"robotrules lsp: waiting for one client on 127.0.0.1 port {port}\n"


def test_nobody_speaks() -> None:
    """Without an editor it ends at once; a person at a terminal is told what is expected."""
    assert robotrules("lsp") == (1, "", "")
    ran = robotrules("lsp", "--stdio", terminals=["stdin"])
    assert (ran.code, ran.out) == (1, "")
    assert "an editor is expected on stdin" in ran.err


def test_a_port_that_others_can_reach() -> None:
    """Whoever names another host is told what that means; 192.0.2.1 is nobody's (RFC 5737)."""
    ran = robotrules("lsp", "--tcp", "192.0.2.1:2087")
    assert ran.code == 2
    assert "whoever reaches 192.0.2.1 can speak to this server" in ran.err
    assert "cannot listen on 192.0.2.1 port 2087" in ran.err


def test_a_port_that_is_taken() -> None:
    """One line says where, why, and the cure."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = robotrules("lsp", "--tcp", str(port))
    assert ran.code == 2
    assert f"cannot listen on 127.0.0.1 port {port}: " in ran.err
    assert ran.err.endswith("; name another with --tcp\n")


@pytest.mark.parametrize("address", ["", "x", "0", "99999", "a:b:1", "[::1]", "127.0.0.1:"])
def test_what_is_no_port(address: str) -> None:
    """Usage is exit code 2 with one line."""
    ran = robotrules("lsp", "--tcp", address)
    assert (ran.code, ran.out) == (2, "")
    assert "is no port of a machine: pass a number up to 65535" in ran.err


def test_two_ways_to_speak_are_one_too_many() -> None:
    """So are registries that are none."""
    ran = robotrules("lsp", "--stdio", "--tcp", "2087")
    assert (ran.code, ran.out) == (2, "")
    assert "leave out one" in ran.err
    ran = robotrules("lsp", "--registry", "nothing.json")
    assert ran.code == 2
    assert "cannot read the registry" in ran.err


def test_without_pygls_one_line_says_how_to_get_it() -> None:
    """The extra is named, and nothing else is said."""
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
