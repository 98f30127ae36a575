"""
Sentences of an audit of many pages: the headline, and what a kind of finding means.

They are for site owners, so they count pages and say what to do; quoted URLs are in the examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robotrules.client.auditing.checks import name_crawlers
from robotrules.client.auditing.page_audit import PageOutcome
from robotrules.client.auditing.site_results import FindingGroup, SiteAudit

__all__ = [
    "OUTCOME_WORDS",
    "count_places",
    "crawler_name",
    "describe_group",
    "example_lines",
    "headline",
    "partial_sentence",
    "robots_words",
]

# What became of a page, as a heading of its number.
OUTCOME_WORDS = {
    PageOutcome.INDEXABLE: "may be indexed",
    PageOutcome.NOINDEX: "noindex, seen by crawlers",
    PageOutcome.BLOCKED: "blocked by robots.txt",
    PageOutcome.REDIRECTED: "redirect",
    PageOutcome.MISSING: "missing (400 to 499)",
    PageOutcome.FAILED: "could not be read",
    PageOutcome.UNKNOWN: "unknown",
}
# In sentences: for one page, and for several.
_CLAUSES = {
    PageOutcome.NOINDEX: ("says noindex", "say noindex"),
    PageOutcome.BLOCKED: ("is blocked by robots.txt", "are blocked by robots.txt"),
    PageOutcome.REDIRECTED: ("redirects", "redirect"),
    PageOutcome.MISSING: ("is missing (status 400 to 499)", "are missing (status 400 to 499)"),
    PageOutcome.FAILED: ("could not be read", "could not be read"),
    PageOutcome.UNKNOWN: ("is unknown", "are unknown"),
}
# Findings of many pages in one sentence; other codes are described by their first message.
_GROUPS = {
    "robots-unreachable": "The robots.txt of these sites is unreachable: crawlers then assume that "
    "everything is disallowed.",
    "page-unreachable": "Pages cannot be read: there is no response, or a redirect leads nowhere.",
    "page-skipped": "Pages were not requested, because several requests to their site failed in a "
    "row: run the audit again.",
    "page-status": "Pages respond with an error, so there is nothing to index.",
    "page-redirected": "URLs redirect; the page they lead to is indexed instead.",
    "redirect-to-disallowed": "URLs redirect to a URL that robots.txt blocks: crawlers stop there.",
    "not-crawled": "robots.txt blocks these pages, so crawlers do not read their tags. A URL that "
    "other pages link to may still be listed: to keep it out, allow the crawl and use noindex.",
    "noindex-not-seen": "These pages say noindex, and crawlers cannot see it, because robots.txt "
    "blocks them: allow the crawl, or remove the noindex.",
    "tags-not-seen": "These pages have robots tags, and crawlers cannot see them, because "
    "robots.txt blocks the pages.",
    "redirect-unreachable": "URLs redirect to a site whose robots.txt cannot be read: crawlers "
    "that cannot read it either stop there.",
    "canonical-not-http": "Pages name a canonical URL that is not an http or https URL: no crawler "
    "can read it.",
    "canonical-unreachable": "Pages name a canonical URL of a site whose robots.txt cannot be "
    "read: crawlers that cannot read it either do not fetch that page.",
    "canonical-disallowed": "Pages name a canonical URL that robots.txt blocks: {who} cannot read "
    "it.",
    "canonicals-differ": "Pages name several canonical URLs: crawlers choose among them.",
    "canonical-noindex": "Pages name a canonical page that says noindex: crawlers may show "
    "neither.",
    "canonical-redirected": "Pages name a canonical URL that redirects: name its target.",
    "canonical-missing": "Pages name a canonical URL that responds with an error.",
    "canonical-elsewhere": "Pages name another URL as canonical: crawlers may show that one "
    "instead.",
    "noindex-and-canonical": "Pages say noindex and name another page as canonical: one asks to "
    "drop the page, the other to merge it. Do one of them.",
    "tags-disagree": "Tags of one page contradict each other, such as a header and a meta element: "
    "the stricter one counts.",
    "usage-disagrees": "robots.txt and the Content-Usage field of pages contradict each other: "
    "what disallows counts.",
    "listed-and-disallowed": "Sitemaps list pages that robots.txt blocks: list them or block them, "
    "not both. Crawlers do not read them, and a URL that other pages link to may still be listed: "
    "to keep it out, allow the crawl and use noindex.",
    "listed-and-noindex": "Sitemaps list pages that say noindex: do one of them.",
    "listed-and-redirected": "Sitemaps list URLs that redirect: list where they lead.",
    "listed-and-missing": "Sitemaps list URLs that respond with an error: remove them, or repair "
    "the pages.",
    "listed-and-canonical-elsewhere": "Sitemaps list pages that name another URL as canonical: "
    "list that one.",
    "lists-disallowed": "Sitemaps list URLs that robots.txt blocks.",
    "not-listed": "No sitemap lists these pages, which may be indexed.",
    "noindex": "Pages say noindex, so they are not indexed.",
    "crawlers-differ": "Not all of the crawlers of this audit get the same from these pages.",
    "sitemap-unreachable": "Sitemaps cannot be read.",
    "sitemap-unreadable": "Files that are named as sitemaps are not readable sitemaps.",
    "sitemap-disallowed": "Sitemaps themselves are blocked by robots.txt: crawlers may not fetch "
    "them.",
}


def crawler_name(name: str) -> str:
    """Return the name of a crawler for a sentence."""
    return name_crawlers([name])


def headline(result: SiteAudit) -> str:
    """Return what the audit found, in a few sentences: first how many pages may be indexed."""
    sentences = list(_sentences(result))
    if result.is_partial:
        sentences.append(partial_sentence(result))
    return " ".join(sentences)


def _sentences(result: SiteAudit) -> Iterator[str]:
    total = len(result.pages)
    if not total:
        yield "No page was audited."
        return
    for number, name in enumerate(result.crawlers):
        counts = result.outcomes(number)
        unseen = result.count_unseen_noindex(number)
        may = _count(counts[PageOutcome.INDEXABLE], total)
        pages = "one page" if total == 1 else f"{total:,} pages"
        words = f"Of {pages}, {may} may be indexed by {crawler_name(name)}"
        clauses = [
            f"{count:,} {several if count > 1 else one}{_unseen(unseen[outcome], count, name)}"
            for outcome, (one, several) in _CLAUSES.items()
            if (count := counts[outcome])
        ]
        yield f"{words}; {_joined(clauses)}." if clauses else f"{words}."


def _unseen(unseen: int, count: int, crawler: str) -> str:
    """Return how many of some blocked pages say noindex, in parentheses."""
    if not unseen:
        return ""
    who = "these crawlers" if crawler == "*" else crawler
    if unseen < count:
        which = f"{unseen:,} of them {'says' if unseen == 1 else 'say'}"
    else:
        which = "it says" if count == 1 else f"all {count:,} say"
    return f" ({which} noindex, which {who} cannot see)"


def partial_sentence(result: SiteAudit) -> str:
    """Return why pages are missing."""
    done = f"{len(result.pages):,}"
    left = result.not_audited
    why = "it was interrupted" if result.interrupted else "of the limit on pages"
    if not left:
        return f"This audit is partial, because {why}."
    of = f"{len(result.pages) + left:,}"
    return f"This audit is partial, because {why}: {done} of {of} pages were read."


def describe_group(group: FindingGroup, crawlers: Sequence[str] = ()) -> str:
    """
    Return what a group of findings means, for all of its pages; it is untrusted text.

    *crawlers* are those of the audit.
    """
    if group.places == 1 or group.code not in _GROUPS:
        return group.message
    names = group.crawlers or crawlers
    return _GROUPS[group.code].format(who=name_crawlers(names) if names else "crawlers")


def example_lines(group: FindingGroup) -> Iterator[str]:
    """Yield the examples of a group, with the canonical URLs that it is about."""
    for number, place in enumerate(group.examples):
        target = group.targets[number] if group.targets else ""
        yield f"{place} names {target}" if target else place


def count_places(group: FindingGroup) -> str:
    """Return how many pages have a finding, or other places, and for which of the crawlers."""
    noun = "page" if group.of_pages else "place"
    names = f" for {' and '.join(group.crawlers)}" if group.crawlers else ""
    return f"{group.places:,} {noun}{'' if group.places == 1 else 's'}{names}"


def robots_words(robots: Mapping[str, Any]) -> str:
    """
    Return which robots.txt the audit used, as `OriginState.as_dict()` describes it.

    Its size, and when it was fetched; that it is an older copy, if it is.
    """
    state, record = str(robots["state"]), robots.get("fetch_record") or {}
    at = str(record.get("at") or "")
    time = f"{at[:10]} {at[11:16]} UTC" if len(at) >= 16 else "an unknown time"
    status = f"status {record['status']}, " if record.get("status") is not None else ""
    if robots.get("policy") == "rules" and record.get("octets") is not None:
        size = f"{record['octets']:,} byte{'' if record['octets'] == 1 else 's'}"
        if robots.get("failing_since"):
            return f"robots.txt unreachable now; a stored copy of {time} was used ({size})"
        return f"robots.txt {status}{size}, fetched for this audit {time}"
    if state == "unavailable":
        return f"no robots.txt ({status}{time})"
    return "robots.txt unreachable" if state != "success" else "robots.txt read"


def _count(part: int, whole: int) -> str:
    if part == whole and whole > 1:
        return "all"
    return f"{part:,}" if part else "none"


def _joined(clauses: list[str]) -> str:
    *some, last = clauses
    return f"{', '.join(some)} and {last}" if some else last
