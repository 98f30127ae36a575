"""
A report on one or many sites: facts about each robots.txt, sentences about them, and one page.

    from robotrules.operations.site_report import SiteReport
    from robotrules.operations.site_report.facts import SiteSource, host_facts
    from robotrules.operations.site_report.pages import report_page

    facts = host_facts(SiteSource("example.com", robots=robotrules.parse(body)))
    page = report_page(SiteReport("Example", (facts,)))

`facts` has what is known about a host, `history` how it changed, `sitemap_coverage` which URLs of
sitemaps are blocked, `sentences` the words, and `pages` the HTML. Nothing is fetched here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.matrix.text import FOOTNOTE
from robotrules.operations.site_report.facts import HostFacts
from robotrules.operations.site_report.sentences import (
    host_sentence,
    hosts_sentence,
    purpose_clause,
    sentence,
)
from robotrules.registries.crawlers import KNOWN_CRAWLERS

if TYPE_CHECKING:
    from robotrules.html_document import Html

__all__ = ["SCHEMA_VERSION", "SiteReport"]

# Increased when a key of `SiteReport.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1


class SiteReport(NamedTuple):
    """A report on one or many hosts."""

    title: str
    hosts: tuple[HostFacts, ...]
    profile: str = "default"
    date: str | None = None
    purposes: tuple[str, ...] = ()
    """The purposes that the first sentence is about; empty: AI training and search."""
    crawlers: tuple[str, ...] = ()
    """The crawlers that were asked for; empty: the main ones."""
    logs: tuple[Html, ...] = ()
    """Sections about access logs."""
    log_values: dict[str, Any] | None = None
    """The same for JSON; None: no logs."""

    @property
    def sentence(self) -> str:
        """The sentence for a reader who reads nothing else."""
        if len(self.hosts) == 1:
            return self.sentence_of(self.hosts[0])
        return hosts_sentence(self.hosts, self.purposes, selected=bool(self.crawlers))

    def sentence_of(self, host: HostFacts) -> str:
        """Return the sentence about one host."""
        return host_sentence(host, self.purposes, selected=bool(self.crawlers))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "schema": SCHEMA_VERSION,
            "title": self.title,
            "date": self.date,
            "profile": self.profile,
            "crawlers_checked": KNOWN_CRAWLERS.checked,
            "sentence": self.sentence,
            "footnote": FOOTNOTE,
            "hosts": [
                {
                    **host.as_dict(),
                    "sentence": self.sentence_of(host),
                    "purposes": _purposes(host),
                }
                for host in self.hosts
            ],
            "logs": self.log_values,
        }


def _purposes(host: HostFacts) -> Sequence[dict[str, Any]]:
    """Return the facts by purpose, each with its sentence."""
    return [{**one.as_dict(), "sentence": sentence(purpose_clause(one))} for one in host.purposes]
