"""
The server: texts that are open, what was found in them, and threads that look.

The event loop only passes messages on; whatever costs time runs in threads, one for lint and two
for answers, so that an answer never waits for lint. An answer that fails is logged and left out:
an editor is not told of it, and the server goes on. It does not know what any answer is.
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

from robotrules.lsp.code_actions import EditTarget
from robotrules.lsp.debounce import PAUSE, REST, Debouncer
from robotrules.lsp.diagnostics import TYPING_BUDGET, Showing, diagnostics, notes
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.features import FEATURES
from robotrules.lsp.markup import brief

__all__ = ["Server", "make_server"]

logger = logging.getLogger(__name__)
T = TypeVar("T")
NOT_DECIDED = "not-decided"


class TextDocument(NamedTuple):
    """A text as an editor has it now."""

    uri: str
    version: int | None
    source: str


class Opened(NamedTuple):
    """A text that was read, with the settings of its project."""

    text: TextDocument
    document: OpenDocument
    config: Config
    path: str
    trouble: str
    """What is wrong with the settings; empty: nothing."""


class Server(LanguageServer):
    """One server for one client."""

    def __init__(
        self,
        registries: Registries = SHIPPED,
        *,
        version: str = "",
        pause: float = PAUSE,
        rest: float = REST,
    ) -> None:
        """*version* is what a client is told; *pause* and *rest* are those of `Debouncer`."""
        # Whole texts: pygls cuts lines where Python does, at form feeds and U+2028 too, and edits
        # of such a text would end up elsewhere. A robots.txt is small.
        full = types.TextDocumentSyncKind.Full
        super().__init__("robotrules", version, text_document_sync_kind=full, max_workers=2)
        self.registries = registries
        self.watch = Debouncer(self._look, pause=pause, rest=rest)
        self._lint_thread = ThreadPoolExecutor(1, "robotrules-lint")
        self._threads = ThreadPoolExecutor(2, "robotrules-answer")
        self._opened: dict[str, Opened] = {}
        self._found: dict[str, tuple[TextDocument, list[LintNote]]] = {}
        self._told: set[str] = set()
        self._looking = 0

    # --- Texts ------------------------------------------------------------------------------------

    def text(self, uri: str) -> TextDocument | None:
        """Return a text that is open; None: it is not."""
        found = self.workspace.text_documents.get(unquote(uri))
        return TextDocument(uri, found.version, found.source) if found else None

    def close(self, uri: str) -> None:
        """Forget a text."""
        self.watch.closed(uri)
        self._opened.pop(uri, None)
        self._found.pop(uri, None)
        self._publish(uri, None, [])

    def _read(self, text: TextDocument, afresh: bool = False) -> Opened:
        """Return a text as a document; made once for each version. Called in threads."""
        known = self._opened.get(text.uri)
        if known is not None and known.text == text and not afresh:
            return known
        path, config, trouble = to_fs_path(text.uri) or "", Config(), ""
        try:
            config = find_config(path) if path else config
        except (ConfigError, OSError, ValueError) as error:
            trouble = str(error)
        encoding = self.workspace.position_encoding or "utf-16"
        document = OpenDocument(
            text.source,
            profile=config.lint.profile or "default",
            encoding=str(getattr(encoding, "value", encoding)),
            registries=self.registries,
        )
        opened = Opened(text, document, config, path, trouble)
        self._opened[text.uri] = opened
        return opened

    # --- Answers ----------------------------------------------------------------------------------

    async def answer(self, uri: str, make: Callable[[Opened], T], otherwise: T) -> T:
        """Return what is made of a text that is open; *otherwise* if it is not, or that fails."""
        text = self.text(uri)
        if text is None:
            return otherwise
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, lambda: make(self._read(text)))
        except Exception:
            logger.exception("no answer about %s", uri)
            return otherwise

    def notes(self, opened: Opened, *, thorough: bool = False) -> list[LintNote]:
        """Return what lint found in a text, or finds now. Called in threads."""
        known = self._found.get(opened.text.uri)
        if known is not None and known[0] == opened.text:
            return known[1]
        return self._lint(opened, thorough)

    def known_notes(self, opened: Opened) -> list[LintNote]:
        """Return what lint found in a text; nothing while it is still looking."""
        known = self._found.get(opened.text.uri)
        return known[1] if known is not None and known[0] == opened.text else []

    def place(self, opened: Opened) -> EditTarget:
        """Return where edits of a text go."""
        about = self.client_capabilities.workspace
        able = about.workspace_edit if about else None
        versioned = bool(able and able.document_changes)
        return EditTarget(opened.text.uri, opened.text.version, versioned, self.showing)

    @property
    def showing(self) -> Showing:
        """What the client can show beside a message."""
        about = self.client_capabilities.text_document
        able = about.publish_diagnostics if about else None
        if able is None:
            return Showing(False, False)
        return Showing(bool(able.related_information), able.tag_support is not None)

    # --- Lint -------------------------------------------------------------------------------------

    async def _look(self, uri: str, quick: bool) -> bool:
        """Lint a text and show what was found; tell whether everything was decided."""
        text = self.text(uri)
        if text is None:
            return True
        loop = asyncio.get_running_loop()
        try:
            work = loop.run_in_executor(self._lint_thread, self._looked, text, quick)
            opened, found, shown = await work
        except Exception:
            logger.exception("lint of %s failed", uri)
            return True
        if self.text(uri) != text:
            return True  # it was closed, or changed: whoever changed it looks again
        self._found[uri] = text, found
        self._publish(uri, text.version, shown)
        if opened.trouble:
            self.tell(opened.trouble)
        else:
            self._told.clear()
        return not any(note.slug == NOT_DECIDED for note in found)

    def _looked(
        self, text: TextDocument, quick: bool
    ) -> tuple[Opened, list[LintNote], list[types.Diagnostic]]:
        self._looking += 1
        try:
            opened = self._read(text, afresh=not quick)
            try:
                found = self._lint(opened, not quick)
            except ConfigError as error:
                opened = opened._replace(trouble=str(error), config=Config())
                found = self._lint(opened, not quick)
            return opened, found, diagnostics(opened.document, text.uri, found, self.showing)
        finally:
            self._looking -= 1

    @staticmethod
    def _lint(opened: Opened, thorough: bool) -> list[LintNote]:
        budget = None if thorough else TYPING_BUDGET
        return notes(opened.document, opened.config, opened.path, budget=budget)

    def _publish(self, uri: str, version: int | None, shown: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=shown)
        )

    # --- Words ------------------------------------------------------------------------------------

    def tell(self, words: str, *, once: bool = True) -> None:
        """Show a message to whoever sits there; the same is not told twice in a row."""
        if once and words in self._told:
            return
        self._told.add(words)
        text = f"robotrules: {brief(words, 500)}"
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log what went wrong; pygls would show each to whoever sits there."""
        logger.error("%s", error)

    def shutdown(self) -> None:
        """Stop, and wait for nobody."""
        for pool in (self._lint_thread, self._threads):
            pool.shutdown(wait=False, cancel_futures=True)
        super().shutdown()  # type: ignore[no-untyped-call]  # pygls says nothing

    @property
    def is_looking(self) -> bool:
        """Whether lint is still at work, though nobody may want it any more."""
        return self._looking > 0

    @property
    def was_shut_down(self) -> bool:
        """Whether the client said goodbye as the protocol wants."""
        return bool(self.protocol._shutdown)


def make_server(registries: Registries = SHIPPED, *, version: str = "") -> Server:
    """Return a server that knows all features, ready to be started."""
    server = Server(registries, version=version)
    for name, feature, options in FEATURES:
        server.feature(name, options)(feature)
    return server
