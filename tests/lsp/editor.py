"""
An editor for tests: a real client that starts the server as a process and speaks the protocol.

Everything waits for an answer and for no longer than some seconds. It does not know what answers
should be.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.cli.shell import process_environment

COMMAND = [sys.executable, "-m", "robotrules", "lsp"]
SECONDS = 30
T = TypeVar("T")

Found = list[types.Diagnostic]


def capabilities(
    *encodings: str, markup: types.MarkupKind = types.MarkupKind.Markdown
) -> types.ClientCapabilities:
    """Return what a full editor can do; *encodings* are what it counts columns in."""
    tags = types.ClientDiagnosticsTagOptions([types.DiagnosticTag.Unnecessary])
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=list(encodings) or None),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=False)
        ),
        text_document=types.TextDocumentClientCapabilities(
            hover=types.HoverClientCapabilities(content_format=[markup]),
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True, tag_support=tags
            ),
        ),
    )


class Editor:
    """A client with its server. Texts are files of a folder, though nothing writes them there."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        able: types.ClientCapabilities | None = None,
        port: int | None = None,
    ) -> None:
        self._folder = folder
        self._runner = asyncio.Runner()
        self._client = LanguageClient("test", "1")
        self._news: asyncio.Event | None = None
        self._versions: dict[str, int] = {}
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(self._receiver())
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(self._listener())
        self.said = ""
        try:
            self.welcome = self._run(self._start(arguments, able or capabilities(), port))
        except BaseException:
            self._abandon()
            raise

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        self._abandon()

    def _abandon(self) -> None:
        """Leave nothing behind, whatever happened."""
        server = self._client._server
        if server is not None and server.returncode is None:
            server.kill()
            with suppress(TimeoutError):
                self._run(server.wait())
        self._runner.close()

    def _run(self, work: Coroutine[Any, Any, T], seconds: float = SECONDS) -> T:
        return self._runner.run(asyncio.wait_for(work, seconds))

    def _receiver(self) -> Callable[[types.PublishDiagnosticsParams], None]:
        def _receive(params: types.PublishDiagnosticsParams) -> None:
            self.published.setdefault(params.uri, []).append(params)
            self._tell()

        return _receive

    def _listener(self) -> Callable[[types.ShowMessageParams], None]:
        def _hear(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._tell()

        return _hear

    def _tell(self) -> None:
        if self._news:
            self._news.set()

    async def _start(
        self, arguments: Sequence[str], able: types.ClientCapabilities, port: int | None
    ) -> types.InitializeResult:
        self._news = asyncio.Event()
        if port is None:
            await self._client.start_io(*COMMAND, *arguments, env=process_environment())
        else:
            await self._client.start_tcp("127.0.0.1", port)
        welcome = await self._client.initialize_async(
            types.InitializeParams(capabilities=able, root_uri=self._folder.as_uri())
        )
        self._client.initialized(types.InitializedParams())
        return welcome

    # --- Writing ----------------------------------------------------------------------------------

    def open(self, text: str, name: str = "robots.txt") -> str:
        """Open a text; return its URI."""
        uri = (self._folder / name).as_uri()
        self._versions[uri] = 1
        self.published.pop(uri, None)
        item = types.TextDocumentItem(uri, "robotstxt", 1, text)
        self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, text: str) -> None:
        """Change a text as a keyboard does."""
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def save(self, uri: str) -> None:
        """Say that a text was saved."""
        self._client.text_document_did_save(types.DidSaveTextDocumentParams(_of(uri)))

    def settings_changed(self, name: str) -> None:
        """Say that a file of settings was changed."""
        change = types.FileEvent((self._folder / name).as_uri(), types.FileChangeType.Changed)
        params = types.DidChangeWatchedFilesParams([change])
        self._client.workspace_did_change_watched_files(params)

    def close(self, uri: str) -> None:
        """Close a text."""
        self._client.text_document_did_close(types.DidCloseTextDocumentParams(_of(uri)))

    # --- Waiting ----------------------------------------------------------------------------------

    def wait(self, what: Callable[[], bool], seconds: float = SECONDS) -> None:
        """Wait until something is so."""
        self._run(self._until(what), seconds)

    async def _until(self, what: Callable[[], bool]) -> None:
        assert self._news is not None
        while not what():
            self._news.clear()
            await self._news.wait()

    def pause(self, seconds: float) -> None:
        """Let the server do what it likes."""
        self._run(asyncio.sleep(seconds))

    def notes(self, uri: str, seconds: float = SECONDS) -> Found:
        """Return what is shown of the newest version of a text, once it is."""
        newest = self._versions[uri]
        self.wait(
            lambda: any(one.version == newest for one in self.published.get(uri, ())), seconds
        )
        return list(self.published[uri][-1].diagnostics)

    # --- Asking -----------------------------------------------------------------------------------

    def hover(self, uri: str, line: int, column: int) -> types.Hover | None:
        """Ask what stands at a position."""
        params = types.HoverParams(_of(uri), types.Position(line, column))
        return self._run(self._client.text_document_hover_async(params))

    def words(self, uri: str, line: int, column: int) -> str:
        """Return the words of a hover."""
        found = self.hover(uri, line, column)
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def complete(self, uri: str, line: int, column: int) -> list[types.CompletionItem]:
        """Ask what could stand at a position."""
        params = types.CompletionParams(_of(uri), types.Position(line, column))
        found = self._run(self._client.text_document_completion_async(params))
        assert isinstance(found, types.CompletionList)
        return list(found.items)

    def actions(self, uri: str, line: int, *only: str, column: int = 0) -> list[types.CodeAction]:
        """Ask what can be done at a place."""
        here = types.Position(line, column)
        context = types.CodeActionContext([], list(only) or None)
        params = types.CodeActionParams(_of(uri), types.Range(here, here), context)
        found = self._run(self._client.text_document_code_action_async(params))
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    def format(self, uri: str) -> Sequence[types.TextEdit] | None:
        """Ask for the canonical form."""
        options = types.FormattingOptions(4, True)
        params = types.DocumentFormattingParams(_of(uri), options)
        return self._run(self._client.text_document_formatting_async(params))

    def symbols(self, uri: str) -> list[types.DocumentSymbol]:
        """Ask for the outline."""
        params = types.DocumentSymbolParams(_of(uri))
        found = self._run(self._client.text_document_document_symbol_async(params))
        return [one for one in found or () if isinstance(one, types.DocumentSymbol)]

    def foldings(self, uri: str) -> list[tuple[int, int]]:
        """Ask what can be folded; return first and last lines."""
        params = types.FoldingRangeParams(_of(uri))
        found = self._run(self._client.text_document_folding_range_async(params))
        return [(one.start_line, one.end_line) for one in found or ()]

    def some_colours(self, uri: str, first: int, last: int) -> Sequence[int]:
        """Ask for semantic tokens of some lines."""
        lines = types.Range(types.Position(first, 0), types.Position(last, 0))
        params = types.SemanticTokensRangeParams(_of(uri), lines)
        found = self._run(self._client.text_document_semantic_tokens_range_async(params))
        return found.data if found else []

    def colours(self, uri: str) -> Sequence[int]:
        """Ask for semantic tokens."""
        params = types.SemanticTokensParams(_of(uri))
        found = self._run(self._client.text_document_semantic_tokens_full_async(params))
        return found.data if found else []

    def cancelled(self, uri: str, line: int, column: int) -> BaseException | None:
        """Ask for a hover, and take the question back at once; return what came of it."""

        async def _ask() -> BaseException | None:
            params = types.HoverParams(_of(uri), types.Position(line, column))
            asked = self._client.text_document_hover(params)
            (number,) = self._client.protocol._request_futures
            self._client.cancel_request(types.CancelParams(number))
            try:
                await asyncio.wrap_future(asked)
            except Exception as error:
                return error
            return None

        return self._run(_ask())

    def send(self, octets: bytes) -> None:
        """Send octets as they are."""
        server = self._client._server
        assert server is not None
        assert server.stdin is not None
        server.stdin.write(octets)

    # --- Going ------------------------------------------------------------------------------------

    def leave(self, *, politely: bool = True) -> int | None:
        """Say goodbye, or just go; return the exit code of the server."""
        try:
            return self._run(self._end(politely))
        finally:
            self._abandon()

    async def _end(self, politely: bool) -> int | None:
        server = self._client._server
        if politely:
            await self._client.shutdown_async(None)
            self._client.exit(None)
        elif server is not None and server.stdin is not None:
            server.stdin.close()
        if server is not None:
            assert server.stderr is not None
            self.said = (await server.stderr.read()).decode()
            await server.wait()
            await self._client.stop()  # type: ignore[no-untyped-call]
            return server.returncode
        writer: Any = self._client.protocol.writer
        await asyncio.gather(*self._client._async_tasks)
        writer.close()
        return None


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def connected(folder: Path, port: int) -> Editor:
    """Return an editor, once a server listens on a port."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            return Editor(folder, port=port)
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)


def _of(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


# --- Edits ----------------------------------------------------------------------------------------


def applied(text: str, edits: Sequence[types.TextEdit]) -> str:
    """Return a text after edits, as an editor makes them: columns count UTF-16."""
    units = text.encode("utf-16-le", "surrogatepass")
    starts, at = [0], 0
    while at < len(units):
        if units[at : at + 4] == b"\r\0\n\0":
            at += 2
        if units[at : at + 2] in (b"\r\0", b"\n\0"):
            starts.append(at + 2)
        at += 2

    def _octet(position: types.Position) -> int:
        if position.line >= len(starts):
            return len(units)
        return starts[position.line] + 2 * position.character

    spans = sorted((_octet(one.range.start), _octet(one.range.end), one.new_text) for one in edits)
    parts, done = [], 0
    for start, end, new in spans:
        assert done <= start <= end, "edits overlap"
        parts += [units[done:start], new.encode("utf-16-le", "surrogatepass")]
        done = end
    return b"".join([*parts, units[done:]]).decode("utf-16-le", "surrogatepass")


def done(text: str, action: types.CodeAction) -> str:
    """Return a text after an action."""
    assert action.edit is not None
    if action.edit.changes is not None:
        ((_, edits),) = action.edit.changes.items()
        return applied(text, edits)
    assert action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    return applied(text, [one for one in change.edits if isinstance(one, types.TextEdit)])
