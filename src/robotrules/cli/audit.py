"""
`robotrules audit`: check live pages, their headers, robots.txt and sitemaps for contradictions.

A wrapper around `robotrules.client.audit()`, for one URL. Many pages are in `audit_pages`.
Everything is fetched now.

Sections: the command · text.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from robotrules import Verdict
from robotrules.access import FailureReason
from robotrules.cache import EffectivePolicy
from robotrules.cli.access_text import access_lines, describe_page, describe_reason, describe_state
from robotrules.cli.audit_pages import FORMATS, MAX_PAGES, PagesRequest, audit_pages
from robotrules.cli.client import ClientOptions, library_errors, with_client_options
from robotrules.cli.console import CliError, Output, quoted, report
from robotrules.cli.guidance_text import STYLES, display_answers, unseen_mentions
from robotrules.cli.options import (
    CrawlerHint,
    json_option,
    literal_option,
    parse_crawler,
    parse_purposes,
    purpose_option,
)
from robotrules.cli.origin_lookup import hint_private_address, host_of, refuse_paths
from robotrules.cli.page_inputs import (
    can_read_html,
    tag_profile_option,
    warn_html_not_read,
)
from robotrules.cli.progress import StatusLine
from robotrules.cli.text import Paint, is_terminal, plural, truncate
from robotrules.cli.url_files import refuse_file_arguments
from robotrules.client.auditing.findings import LEVELS
from robotrules.client.auditing.site_audit import MAX_SITE_SITEMAPS
from robotrules.client.auditing.sitemap_reader import MAX_SITEMAPS
from robotrules.http.media_types import is_html, parse_media_type
from robotrules.http.origins import origin_of
from robotrules.json_results.guidance import GuidanceReport
from robotrules.json_results.tags import robots_profile
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.client.auditing import Audit, SitemapListing
    from robotrules.client.origin_state import OriginState

# A longer crawl delay makes an audit take minutes; a hint reports that.
LONG_PAUSE = 5.0
# What a person reads of a long list or text; JSON has all of it.
MOST = 40
LONGEST = 200


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--urls",
    "files",
    metavar="FILE",
    multiple=True,
    help="Also audit the URLs of FILE: a list, an access log, CSV, JSON lines or a sitemap, "
    "possibly gzipped; '-' is stdin. Paths are those of the first URL. Repeat it for several.",
)
@click.option(
    "--sitemap",
    "sitemap_urls",
    metavar="URL",
    multiple=True,
    help="Also audit the pages that the sitemap, or the index, at this URL lists. Repeat it for "
    "several.",
)
@click.option(
    "--sitemaps",
    "from_robots",
    is_flag=True,
    help="Also audit the pages of all sitemaps that the robots.txt of the URLs names.",
)
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="The crawler's product token, such as ExampleBot. With many pages, repeat it for several "
    "crawlers. For a crawler with several tokens, pass a list with commas.",
)
@literal_option
@purpose_option
@click.option(
    "--ignore-disallow",
    is_flag=True,
    help="Fetch pages once even if the rules disallow them, to find tags that no crawler sees, "
    "such as a noindex. Use it for your own site only.",
)
@click.option(
    "--max-sitemaps",
    type=click.IntRange(0, 1000),
    metavar="N",
    help="The maximum number of sitemap files to read; 0 for none. Defaults to "
    f"{MAX_SITEMAPS}, and to {MAX_SITE_SITEMAPS} of each site for many pages.",
)
@click.option(
    "--max-pages",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    default=MAX_PAGES,
    show_default=True,
    help="The maximum number of pages of a list or sitemap to read.",
)
@click.option(
    "--resume",
    metavar="FILE",
    help="Keep a journal of the pages in FILE; if it exists, continue after them.",
)
@tag_profile_option
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    metavar="NAME",
    help=f"The format for many pages: {', '.join(FORMATS)}.",
)
@click.option(
    "-o",
    "--output",
    "targets",
    metavar="FILE",
    multiple=True,
    help="Write to FILE, in the format of its name, such as report.html or pages.csv; '-' is "
    "stdout. Repeat it for several.",
)
@json_option("Print one JSON object, described in docs/cli/audit.md.")
@with_client_options(refresh=False, min_delay=True)
def audit(
    urls: tuple[str, ...],
    files: tuple[str, ...],
    sitemap_urls: tuple[str, ...],
    from_robots: bool,
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    ignore_disallow: bool,
    max_sitemaps: int | None,
    max_pages: int,
    resume: str | None,
    profile: str,
    form: str | None,
    targets: tuple[str, ...],
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Audit live pages.

    For one URL, fetches its robots.txt, the page if the rules allow it, the sitemaps of the
    robots.txt, and the robots.txt of the other scheme (http or https). Shows the responses and what
    they contain, and reports contradictions: a noindex that no crawler can read, a sitemap that
    lists blocked URLs, headers that contradict meta elements, differences between http and https.

    For many pages (several URLs, --urls, --sitemap or --sitemaps), reads each robots.txt and its
    sitemaps once, and the pages one after the other. Says how many may be indexed, and reports
    contradictions between pages, tags, canonical links and sitemaps; as text, CSV, JSON or a page
    for the browser. Ctrl-C gives the results so far.

    Evaluates the rules for the crawler of --as, or for crawlers that no group names. The exit code
    is 0 if there are no warnings or errors, 1 if there are, 2 for a usage or I/O error.

    \b
    Examples:
      robotrules audit https://example.com/prices --as ExampleBot
      robotrules audit https://example.com/drafts/1 --ignore-disallow
      robotrules audit https://example.com/ --max-sitemaps 20 --json
      robotrules audit https://example.com/ --sitemaps --as Googlebot -o report.html -o pages.csv
      robotrules audit --urls pages.txt --as Googlebot --as Bingbot --ignore-disallow
      robotrules audit https://example.com/ --urls access.log --resume audit.journal
    """
    if as_json and form not in (None, "json"):
        raise click.UsageError("--json and --format cannot be combined")
    refuse_file_arguments(urls, files)
    if any(not url.strip() for url in (*urls, *sitemap_urls)):
        raise CliError("missing URL: pass one, such as https://example.com/prices")
    many = PagesRequest(
        urls=tuple(url.strip() for url in urls),
        files=files,
        sitemaps=tuple(url.strip() for url in sitemap_urls),
        from_robots=from_robots,
        product_tokens=product_tokens,
        literal=literal,
        purposes=purposes,
        ignore_disallow=ignore_disallow,
        max_pages=max_pages,
        max_sitemaps=max_sitemaps,
        profile=profile,
        resume=resume,
        form=form,
        targets=targets,
    )
    if many.is_wanted:
        return audit_pages(many._replace(form="json" if as_json else form), client_options)
    if not urls:
        raise CliError("missing URL: pass one, such as https://example.com/prices")
    max_sitemaps = MAX_SITEMAPS if max_sitemaps is None else max_sitemaps
    url = urls[0].strip()
    refuse_paths([url], files=False)
    beside = robots_profile(profile)
    crawler = None
    if product_tokens:
        crawler = parse_crawler(product_tokens, beside, literal=literal, hint_registry=False)
    purposes = parse_purposes(purposes, beside)
    with library_errors():
        if origin_of(url) is None:
            raise CliError(
                f"{quoted(url)} has no robots.txt: pass an http or https URL with a host"
            )
    if crawler is None:
        report("evaluating the group for '*'; pass --as to select a crawler", label="hint")
    bar = sys.stderr if is_terminal(sys.stderr) else None
    with client_options.client(beside) as client, library_errors(), StatusLine(bar) as status:
        from robotrules.client.auditing import audit as find

        def progress(target: str) -> None:
            """Show the current request, and report long delays."""
            if target == url:  # its robots.txt has been fetched
                pause = client.delay(url)
                if pause.seconds > LONG_PAUSE:
                    status.clear()
                    report(
                        f"the robots.txt requests {pause.seconds:g} s between requests (line "
                        f"{pause.line}), so the audit is slow; --max-sitemaps 0 makes it faster",
                        label="hint",
                    )
            status.show(f"fetching {visible(target)}")

        html = can_read_html()
        found = find(
            client,
            url,
            crawler.names if crawler else None,
            purposes,
            profile=profile,
            ignore_disallow=ignore_disallow,
            max_sitemaps=max_sitemaps,
            progress=progress,
            html=html,
        )
    if not html and found.page.ok and is_html(found.page.fields):
        warn_html_not_read()
    record = found.origin_state.fetch_record
    if FailureReason.REFUSED in (
        found.page.failure_reason,
        record.failure_reason if record else None,
    ):
        hint_private_address(host_of(found.page.url))
    known = None
    if crawler is not None:
        CrawlerHint(crawler, purposes).read(found.origin_state.robots)
        if crawler.known is not None:
            # The other names are in `known`.
            found, known = found._replace(product_tokens=(crawler.name,)), crawler.known_dict
    output = Output()
    if as_json:
        output.json({**found.as_dict(), "known": known})
    else:
        output.lines(list(AuditPage(found, profile, output).lines()))
    output.flush()
    return int(not found.is_clean)


# --- Text -----------------------------------------------------------------------------------------


class AuditPage:
    """An audit as lines of text."""

    def __init__(self, audit: Audit, profile: str, output: Output) -> None:
        self._audit = audit
        self._profile = profile
        self._paint: Paint = output.paint
        self._room = max(output.width - 2, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        audit = self._audit
        yield self._paint("heading", _cut(audit.url))
        names = " or ".join(map(visible, audit.product_tokens))
        who = "crawlers that no group names ('*')" if names == "*" else names
        purposes = "".join(f", purpose {visible(one)}" for one in audit.purposes)
        yield f"  for {who}{purposes}, profile {self._profile}"
        yield f"  fetched as {visible(audit.user_agent)}"
        yield from self._part("robots.txt", self._robots())
        yield from self._part("Page", self._page())
        if audit.sitemaps:
            yield from self._part("Sitemaps", self._sitemaps())
        yield from self._part("Findings", self._findings())
        yield ""
        yield ", ".join(plural(audit.count(level), level) for level in LEVELS[:2]) + (
            f", {audit.count('info'):,} info"
        )

    def _part(self, name: str, lines: Iterator[str]) -> Iterator[str]:
        yield ""
        yield self._paint("heading", name)
        yield from lines

    def _robots(self) -> Iterator[str]:
        audit = self._audit
        yield from (f"  {line}" for line in access_lines(audit.origin_state))
        if audit.origin_state.policy is EffectivePolicy.RULES:
            robots = audit.origin_state.robots
            rules = sum(len(group.rules) for group in robots.groups)
            yield f"  {plural(len(robots.groups), 'group')}, {plural(rules, 'rule')}"
        if audit.other_scheme is not None:
            yield f"  {audit.other_scheme.origin}: {self._other(audit.other_scheme)}"

    def _other(self, other: OriginState) -> str:
        ours, theirs = self._audit.origin_state.fetch_record, other.fetch_record
        if ours and theirs and ours.digest and ours.digest == theirs.digest:
            return "the same robots.txt"
        return (
            "another robots.txt" if other.policy is EffectivePolicy.RULES else describe_state(other)
        )

    def _verdict(self, verdict: Verdict, origin_state: OriginState | None) -> str:
        word = "allowed" if verdict else "disallowed"
        why = describe_reason(verdict, origin_state)
        if verdict.rule is not None:
            why = f"line {verdict.rule.line}: {_cut(str(verdict.rule))}"
        return f"{self._paint(word, word)}, {why}"

    def _page(self) -> Iterator[str]:
        audit, page = self._audit, self._audit.page
        for number, step in enumerate(audit.steps[:MOST]):
            origin_state = audit.origin_state if number == 0 else page.origin_state
            last = number == len(audit.steps) - 1
            status = "" if last or step.status is None else f"status {step.status}; "
            yield f"  {_cut(step.url)}: {status}{self._verdict(step.verdict, origin_state)}"
        yield from self._more(len(audit.steps))
        # The failure may be that of the robots.txt; then the page was not requested.
        if page.status is None and (page.failure_reason is None or not page.verdict):
            yield "  not fetched, so its tags are unknown; on your own site use --ignore-disallow"
            return
        named = parse_media_type(page.fields)
        yield f"  {describe_page(page)}{f', {_cut(named)}' if named else ''}"
        for link in audit.canonicals[:MOST]:
            yield f"  canonical in a {link.carrier}: {_cut(link.url)}"
        yield from self._answers()

    def _answers(self) -> Iterator[str]:
        audit = self._audit
        found = GuidanceReport(audit.guidance, self._profile, None, None, audit.page)
        answers = [one for one in display_answers(found) if one.subject != "crawl"]
        width = max(len(one.subject) for one in answers)
        for subject, answer, because in answers[:MOST]:
            shown = self._paint(STYLES[answer], answer) if answer in STYLES else answer
            gap, first = " " * (12 - len(answer)), "".join(because[:1])
            yield f"  {subject}{' ' * (width - len(subject))}  {shown}{gap}  {first}".rstrip()
        yield from self._more(len(answers))
        for one in unseen_mentions(audit.guidance)[:MOST]:
            yield f"  {self._paint('faint', 'not seen:')} {one.source}: {_cut(one.text)}"

    def _sitemaps(self) -> Iterator[str]:
        for one in self._audit.sitemaps[:MOST]:
            yield f"  {_cut(one.url)}"
            yield f"    {'; '.join(_about(one))}"
        yield from self._more(len(self._audit.sitemaps))

    def _findings(self) -> Iterator[str]:
        findings = self._audit.findings
        if not findings:
            yield "  none"
        for one in findings[:MOST]:
            level = self._paint(one.level, one.level)
            line = f"  {level} {one.code}, {_cut(one.where)}: {visible(one.message)}"
            yield from textwrap.wrap(line, self._room, subsequent_indent="    ")
        yield from self._more(len(findings))

    def _more(self, count: int) -> Sequence[str]:
        return [f"  and {count - MOST:,} more (see --json)"] if count > MOST else []


def _about(one: SitemapListing) -> Iterator[str]:
    """Yield facts about a sitemap."""
    yield f"named by {_cut(one.named_by)}"
    if not one.page.verdict:
        yield "disallowed, so not fetched"
        return
    yield describe_page(one.page)
    if one.file is None:
        return
    form = f"{one.file.form}, gzipped" if one.file.gzipped else str(one.file.form)
    yield f"{form}, {plural(len(one.file.urls), 'URL')}{'' if one.file.complete else ' and more'}"
    if one.lists_page is not None:
        yield "lists the page" if one.lists_page else "does not list the page"


def _cut(text: str) -> str:
    return truncate(visible(text), LONGEST)
