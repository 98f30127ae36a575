"""
The interface of an engine.

An engine is a robots.txt implementation behind its simplest calls. The methods that are timed for a
list of URLs contain the loop, written as a user of that engine would write it, so that the adapter
adds no cost to each check.

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

    The attributes are needed for a fair comparison. *reparses*: there is no parsed form, every
    check parses the whole body again. *binds_token*: parsing is for one product token, and does
    less than parsing for all. *batches*: there is a call for many URLs. *environment*: the
    variables that select this engine in a new process.
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
        """Return the version of the installed distribution."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return "unknown version"

    @property
    def import_statement(self) -> str:
        """Return the statement whose time is the import time."""
        return f"import {self.module}"

    def available(self) -> tuple[bool, str]:
        """Return whether the engine can run, and if not, the reason."""
        try:
            library = importlib.import_module(self.module)
        except Exception as error:
            return False, f"{type(error).__name__}: {error}"
        reason = self.bind(library)
        return not reason, reason

    def bind(self, library: Any) -> str:
        """Take the functions from the imported module; return the problem, or an empty string."""
        return ""

    def prepare_body(self, octets: bytes) -> Any:
        """
        Return the body in the form that the engine takes; never timed.

        Engines that take text get it decoded without its byte order mark and without octets that
        are not UTF-8, as Scrapy does before it calls Protego.
        """
        return octets if self.reads == "bytes" else octets.decode("utf-8-sig", errors="ignore")

    def parse(self, body: Any, token: str) -> Any:
        """Return a parsed robots.txt; *token* is for engines that parse for one token."""
        raise NotImplementedError

    def rules_for(self, parsed: Any, token: str) -> Any:
        """Return what a crawler with one product token keeps for its next check."""
        return parsed

    def check(self, parsed: Any, url: str, token: str) -> Any:
        """Return a verdict that is true if the URL is allowed."""
        raise NotImplementedError

    def parse_and_check(self, body: Any, url: str, token: str) -> Any:
        """Parse, then check one URL."""
        return self.check(self.parse(body, token), url, token)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        """Check each URL by the engine's most prominent call."""
        raise NotImplementedError

    def allows_each(self, rules: Any, urls: Sequence[str], token: str) -> None:
        """Check each URL by the engine's fastest call for one URL."""
        self.check_each(rules, urls, token)

    def check_batch(self, rules: Any, urls: Sequence[str], token: str) -> Any:
        """Check all URLs in one call if the engine has one, else one by one."""
        return self.allows_each(rules, urls, token)
