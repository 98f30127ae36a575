"""
The server: open documents, their lint results, and the worker threads.

The event loop only dispatches messages. Lint runs in one thread and requests in two others, so a
request never waits for lint. If a request fails, the server logs the error, sends an empty
response and continues.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from robotrules.config import Config, find_config
from robotrules.errors import ConfigError, MissingExtraError
from robotrules.linting.note import LintNote
from robotrules.registries import SHIPPED, Registries

try:
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer
    from pygls.uris import to_fs_path
except ImportError:
    raise MissingExtraError(
        "the language server needs pygls, which is not installed: pip install 'robotrules[lsp]'"
    ) from None

from robotrules.editing.code_actions import EditTarget
from robotrules.editing.diagnostics import (
    TYPING_MAX_STATES,
    ClientSupport,
    lint_document,
    make_diagnostics,
)
from robotrules.editing.document import OpenDocument
from robotrules.editing.markdown import truncate
from robotrules.lsp.debounce import QUICK_DELAY, THOROUGH_DELAY, Debouncer
from robotrules.lsp.features import FEATURES

__all__ = ["Server", "make_server"]

logger = logging.getLogger(__name__)
T = TypeVar("T")
NOT_DECIDED = "not-decided"


class TextDocument(NamedTuple):
    """The text of one version of a document, as the editor has it."""

    uri: str
    version: int | None
    source: str


class ParsedDocument(NamedTuple):
    """A parsed document, with the settings of its project."""

    text: TextDocument
    document: OpenDocument
    config: Config
    path: str
    config_error: str
    """What is wrong with the settings; empty if they are valid."""


class Server(LanguageServer):
    """The language server, for one client."""

    def __init__(
        self,
        registries: Registries = SHIPPED,
        *,
        version: str = "",
        quick_delay: float = QUICK_DELAY,
        thorough_delay: float = THOROUGH_DELAY,
    ) -> None:
        """*version* is reported to the client; the delays are those of `Debouncer`."""
        # Full synchronization: pygls splits lines like Python, at form feeds and U+2028 too, so it
        # would apply incremental edits of such a text at the wrong place. A robots.txt is small.
        full = types.TextDocumentSyncKind.Full
        super().__init__("robotrules", version, text_document_sync_kind=full, max_workers=2)
        self.registries = registries
        self.debouncer = Debouncer(
            self._lint_and_publish, quick_delay=quick_delay, thorough_delay=thorough_delay
        )
        self._lint_thread = ThreadPoolExecutor(1, "robotrules-lint")
        self._request_threads = ThreadPoolExecutor(2, "robotrules-request")
        self._parsed: dict[str, ParsedDocument] = {}
        self._lint_results: dict[str, tuple[TextDocument, list[LintNote]]] = {}
        self._shown_warnings: set[str] = set()
        self._running_lints = 0

    # --- Documents --------------------------------------------------------------------------------

    def text(self, uri: str) -> TextDocument | None:
        """Return the text of an open document; None if it is not open."""
        document = self.workspace.text_documents.get(unquote(uri))
        return TextDocument(uri, document.version, document.source) if document else None

    def close(self, uri: str) -> None:
        """Discard a document, and clear its diagnostics."""
        self.debouncer.cancel(uri)
        self._parsed.pop(uri, None)
        self._lint_results.pop(uri, None)
        self._publish_diagnostics(uri, None, [])

    def _parse(self, text: TextDocument, reload_config: bool = False) -> ParsedDocument:
        """Return a parsed document, cached for each version. Called in threads."""
        cached = self._parsed.get(text.uri)
        if cached is not None and cached.text == text and not reload_config:
            return cached
        path, config, config_error = to_fs_path(text.uri) or "", Config(), ""
        try:
            config = find_config(path) if path else config
        except (ConfigError, OSError, ValueError) as error:
            config_error = str(error)
        encoding = self.workspace.position_encoding or "utf-16"
        document = OpenDocument(
            text.source,
            profile=config.lint.profile or "default",
            encoding=str(getattr(encoding, "value", encoding)),
            registries=self.registries,
        )
        parsed = ParsedDocument(text, document, config, path, config_error)
        self._parsed[text.uri] = parsed
        return parsed

    # --- Requests ---------------------------------------------------------------------------------

    async def respond(
        self, uri: str, make_response: Callable[[ParsedDocument], T], fallback: T
    ) -> T:
        """Return the response about an open document; *fallback* if it is not open, or on error."""
        text = self.text(uri)
        if text is None:
            return fallback
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(
                self._request_threads, lambda: make_response(self._parse(text))
            )
        except Exception:
            logger.exception("request about %s failed", uri)
            return fallback

    def notes(self, parsed: ParsedDocument, *, thorough: bool = False) -> list[LintNote]:
        """Return the lint notes of a document; lint it now if needed. Called in threads."""
        cached = self._lint_results.get(parsed.text.uri)
        if cached is not None and cached[0] == parsed.text:
            return cached[1]
        return self._lint(parsed, thorough)

    def known_notes(self, parsed: ParsedDocument) -> list[LintNote]:
        """Return the lint notes of a document; empty until lint has finished."""
        cached = self._lint_results.get(parsed.text.uri)
        return cached[1] if cached is not None and cached[0] == parsed.text else []

    def edit_target(self, parsed: ParsedDocument) -> EditTarget:
        """Return the target of workspace edits for a document."""
        workspace = self.client_capabilities.workspace
        workspace_edit = workspace.workspace_edit if workspace else None
        versioned = bool(workspace_edit and workspace_edit.document_changes)
        return EditTarget(parsed.text.uri, parsed.text.version, versioned, self.client_support)

    @property
    def client_support(self) -> ClientSupport:
        """The optional parts of a diagnostic that the client supports."""
        text_document = self.client_capabilities.text_document
        publish = text_document.publish_diagnostics if text_document else None
        if publish is None:
            return ClientSupport(False, False)
        return ClientSupport(bool(publish.related_information), publish.tag_support is not None)

    # --- Lint -------------------------------------------------------------------------------------

    async def _lint_and_publish(self, uri: str, quick: bool) -> bool:
        """Lint a document and publish its diagnostics; return whether everything was decided."""
        text = self.text(uri)
        if text is None:
            return True
        loop = asyncio.get_running_loop()
        try:
            work = loop.run_in_executor(self._lint_thread, self._run_lint, text, quick)
            parsed, notes, diagnostics = await work
        except Exception:
            logger.exception("lint of %s failed", uri)
            return True
        if self.text(uri) != text:
            return True  # the document was closed, or changed, which schedules another lint
        self._lint_results[uri] = text, notes
        self._publish_diagnostics(uri, text.version, diagnostics)
        if parsed.config_error:
            self.show_warning(parsed.config_error)
        else:
            self._shown_warnings.clear()
        return not any(note.slug == NOT_DECIDED for note in notes)

    def _run_lint(
        self, text: TextDocument, quick: bool
    ) -> tuple[ParsedDocument, list[LintNote], list[types.Diagnostic]]:
        self._running_lints += 1
        try:
            parsed = self._parse(text, reload_config=not quick)
            try:
                notes = self._lint(parsed, not quick)
            except ConfigError as error:
                parsed = parsed._replace(config_error=str(error), config=Config())
                notes = self._lint(parsed, not quick)
            diagnostics = make_diagnostics(parsed.document, text.uri, notes, self.client_support)
            return parsed, notes, diagnostics
        finally:
            self._running_lints -= 1

    @staticmethod
    def _lint(parsed: ParsedDocument, thorough: bool) -> list[LintNote]:
        max_states = None if thorough else TYPING_MAX_STATES
        return lint_document(parsed.document, parsed.config, parsed.path, max_states=max_states)

    def _publish_diagnostics(
        self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]
    ) -> None:
        """Send `textDocument/publishDiagnostics`."""
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=diagnostics)
        )

    # --- Messages and shutdown --------------------------------------------------------------------

    def show_warning(self, message: str, *, once: bool = True) -> None:
        """Show a message in the editor; with *once*, not again until the settings are valid."""
        if once and message in self._shown_warnings:
            return
        self._shown_warnings.add(message)
        text = f"robotrules: {truncate(message, 500)}"
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log an error; pygls would show each one to the user."""
        logger.error("%s", error)

    def shutdown(self) -> None:
        """Stop without waiting for running work."""
        for pool in (self._lint_thread, self._request_threads):
            pool.shutdown(wait=False, cancel_futures=True)
        super().shutdown()  # type: ignore[no-untyped-call]  # pygls has no annotation here

    @property
    def is_linting(self) -> bool:
        """Whether a lint is still running, even if its result is no longer needed."""
        return self._running_lints > 0

    @property
    def was_shut_down(self) -> bool:
        """Whether the client sent a shutdown request."""
        return bool(self.protocol._shutdown)


def make_server(registries: Registries = SHIPPED, *, version: str = "") -> Server:
    """Return a server with all features registered."""
    server = Server(registries, version=version)
    for method, handler, options in FEATURES:
        server.feature(method, options)(handler)
    return server
