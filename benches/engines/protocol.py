"""
What the benches ask of an engine, and nothing more.

An engine is a robots.txt implementation under its own plainest calls. The methods that are
timed for a list of URLs hold the loop themselves, written the way a user of that engine would
write it, so that no adapter cost is added to each question.

Does not know: corpora, clocks, tables.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal


class Engine:
    """
    One implementation, ours or a rival.

    The attributes say what a reader must know to compare fairly. *reparses*: there is no parsed
    value, every question reads the whole body again. *binds_token*: parsing is for one product
    token, and does less than parsing for all. *batches*: there is a call for many URLs.
    *environment*: variables that a process of its own needs to get this engine.
    """

    name: str
    package: str
    module: str
    reads: Literal["bytes", "str"] = "str"
    reparses: bool = False
    binds_token: bool = False
    batches: bool = False
    environment: Mapping[str, str] = MappingProxyType({})

    @property
    def version(self) -> str:
        """The version of the distribution under test."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return "unknown version"

    @property
    def import_statement(self) -> str:
        """What a program writes to use the engine; its time is the import time."""
        return f"import {self.module}"

    def available(self) -> tuple[bool, str]:
        """Whether the engine can run here, and if not, why."""
        try:
            library = importlib.import_module(self.module)
        except Exception as error:
            return False, f"{type(error).__name__}: {error}"
        reason = self.bind(library)
        return not reason, reason

    def bind(self, library: Any) -> str:
        """Take what is called from the imported module; what is wrong with it, or nothing."""
        return ""

    def body(self, octets: bytes) -> Any:
        """
        The body in the form the engine takes; made outside every timed part.

        Engines that take text get it decoded without its byte order mark, and with what is not
        UTF-8 dropped, as Scrapy does before it calls Protego.
        """
        return octets if self.reads == "bytes" else octets.decode("utf-8-sig", errors="ignore")

    def parse(self, body: Any, token: str) -> Any:
        """A parsed robots.txt; *token* is for engines that bind one."""
        raise NotImplementedError

    def hold(self, parsed: Any, token: str) -> Any:
        """What a crawler with one product token would keep for its next question."""
        return parsed

    def check(self, parsed: Any, url: str, token: str) -> Any:
        """One verdict; true when the URL is allowed."""
        raise NotImplementedError

    def first(self, body: Any, url: str, token: str) -> Any:
        """Parse, then one verdict."""
        return self.check(self.parse(body, token), url, token)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        """One question for each URL, by the call a newcomer finds first."""
        raise NotImplementedError

    def allows_each(self, held: Any, urls: Sequence[str], token: str) -> None:
        """One question for each URL, by the engine's fastest call that takes one."""
        self.check_each(held, urls, token)

    def batch(self, held: Any, urls: Sequence[str], token: str) -> Any:
        """All URLs at once where the engine has such a call, else one by one."""
        return self.allows_each(held, urls, token)
