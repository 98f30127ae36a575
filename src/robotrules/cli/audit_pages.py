"""
`robotrules audit` for many pages: where they come from, the run, and its outputs.

Pages are named on the command line, in files of URLs and in sitemaps. They are read one after the
other, and an interrupt gives the results until then. The audit is
`robotrules.client.auditing.site_audit`; the page for the browser is in `operations/site_audit`.

Sections: arguments · pages · the run · outputs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.access import FailureReason
from robotrules.cache import EffectivePolicy
from robotrules.cli.access_text import describe_state
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.audit_text import SiteAuditText
from robotrules.cli.client import ClientOptions, library_errors
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.csv_cells import csv_line
from robotrules.cli.options import CrawlerHint, parse_crawler, parse_purposes
from robotrules.cli.origin_lookup import host_of, refuse_paths
from robotrules.cli.page_inputs import can_read_html, warn_html_not_read
from robotrules.cli.progress import Progress
from robotrules.cli.text import is_terminal, plural, truncate
from robotrules.cli.url_files import UrlFile, refuse_empty, report_hint
from robotrules.client.auditing.page_audit import MAX_URL_LENGTH
from robotrules.http.origins import origin_of
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.json_results.tags import robots_profile
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.client.auditing.page_audit import PageAudit
    from robotrules.client.auditing.site_audit import SiteAuditor
    from robotrules.client.auditing.site_results import SiteAudit
    from robotrules.client.auditing.sitemap_reader import SitemapSet
    from robotrules.client.origin_state import OriginState
    from robotrules.client.sync import Client
    from robotrules.operations.site_audit.journal import AuditJournal

FORMATS = ("text", "json", "jsonl", "csv", "html")
SUFFIXES = {".html": "html", ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".txt": "text"}
MAX_PAGES = 500
# Distinct URLs that are counted beyond --max-pages.
MAX_COUNTED = 250_000
# Expected seconds from which a hint says how long it takes, and how to make it shorter.
LONG_RUN = 60.0
# The length of a quoted URL or origin.
MAX_NAME = 200


# --- Arguments ------------------------------------------------------------------------------------


class PagesRequest(NamedTuple):
    """The arguments of an audit of many pages."""

    urls: tuple[str, ...]
    files: tuple[str, ...]
    """Files of URLs; `-` is stdin."""
    sitemaps: tuple[str, ...]
    """URLs of sitemaps."""
    from_robots: bool
    """Whether the pages are those of the sitemaps that the robots.txt of *urls* names."""
    product_tokens: tuple[str, ...]
    literal: bool
    purposes: tuple[str, ...]
    ignore_disallow: bool
    max_pages: int
    max_sitemaps: int | None
    profile: str
    resume: str | None
    form: str | None
    targets: tuple[str, ...]
    """Files to write; none: stdout."""

    @property
    def is_wanted(self) -> bool:
        """Whether this is about many pages; else the command is about one URL."""
        lists = self.files or self.sitemaps or self.from_robots or self.resume
        return bool(lists or len(self.urls) > 1 or self.form or self.targets)

    def outputs(self) -> list[tuple[str, str]]:
        """Return the format and the file of each output; refuse what is ambiguous."""
        if not self.targets:
            return [(self.form or "text", STDIN)]
        if self.form and len(self.targets) > 1:
            raise CliError(
                "--format cannot be combined with several --output: name the files by their "
                f"format, such as report.html ({', '.join(SUFFIXES)})"
            )
        found = []
        for target in self.targets:
            suffix = os.path.splitext(target)[1].lower()
            form = self.form or SUFFIXES.get(suffix)
            if form is None and target != STDIN:
                raise CliError(
                    f"--output {quoted(target)} does not name a format: end it in one of "
                    f"{', '.join(SUFFIXES)}, or pass --format"
                )
            found.append((form or "text", target))
        if sum(target == STDIN for _, target in found) > 1:
            raise CliError("only one --output can be stdout: pass files for the others")
        return found


def audit_pages(request: PagesRequest, client_options: ClientOptions) -> int:
    """Audit many pages, write the outputs, and return the exit code."""
    outputs = request.outputs()
    for _, target in outputs:
        inputs = [*request.files, *([request.resume] if request.resume else [])]
        refuse_overwriting(target, [one for one in inputs if one != STDIN], "--output")
        _refuse_unwritable(target)
    refuse_paths([*request.urls, *request.sitemaps], files=False)
    for url in (*request.urls, *request.sitemaps):
        with library_errors():
            if origin_of(url) is None:
                raise CliError(
                    f"{quoted(url)} has no robots.txt: pass an http or https URL with a host"
                )
    if request.from_robots and not request.urls:
        raise CliError("--sitemaps needs a URL of the site: pass one, such as https://example.com/")
    beside = robots_profile(request.profile)
    crawlers = [
        parse_crawler([token], beside, literal=request.literal, hint_registry=False)
        for token in dict.fromkeys(request.product_tokens)
    ]
    purposes = parse_purposes(request.purposes, beside)
    if not crawlers:
        report("evaluating the group for '*'; pass --as to select a crawler", label="hint")
    with client_options.client(beside) as client, library_errors():
        run = _Run(request, client, crawlers, purposes)
        result = run.audit()
    # A file that cannot be written must not cost the others.
    errors: list[CliError] = []
    for form, target in outputs:
        try:
            _write(result, form, target)
        except CliError as error:
            errors.append(error)
    if errors:
        raise errors[0]
    if outputs[0][1] != STDIN:
        from robotrules.operations.site_audit.sentences import headline

        report(visible(headline(result)))
    if result.interrupted:
        done = plural(len(result.pages), "page")
        advice = "" if request.resume else "; with --resume FILE a run can be continued"
        report(f"stopped after {done}: the result is partial{advice}")
        raise KeyboardInterrupt
    return int(not result.is_clean)


# --- Pages ----------------------------------------------------------------------------------------


class _PageList:
    """The URLs to audit: each once, up to a limit, and how many there are beyond it."""

    def __init__(self, most: int) -> None:
        self.urls: list[str] = []
        self.left: int | None = 0
        self.without_host = 0
        self.too_long = 0
        self._most = most
        self._seen: set[int] = set()

    def add(self, url: str) -> None:
        """Take a URL, or count it."""
        if len(url) > MAX_URL_LENGTH:
            self.too_long += 1
            return
        key = hash(url)
        if key in self._seen:
            return
        if len(self._seen) < MAX_COUNTED + self._most:
            self._seen.add(key)
        if len(self.urls) < self._most:
            self.urls.append(url)
        elif self.left is not None:
            self.left = self.left + 1 if self.left < MAX_COUNTED else None

    def add_file(self, name: str, base: str | None) -> None:
        """Take the URLs of a file; paths are those of *base*, the origin of a site."""
        with UrlFile(name) as file:
            for chunk in file.chunks():
                for octets in chunk.urls:
                    url = octets.decode("utf-8", "backslashreplace")
                    if not url.startswith("/"):
                        self.add(url)
                    elif base is not None:
                        self.add(base + url)
                    else:
                        self.without_host += 1
            if not file.urls:
                refuse_empty(file)
            report_hint(file)
            if file.error:
                report(f"{file.where}: {file.error}", label="warning", style="warning")
            if file.skipped.lines:
                report(
                    f"{file.where}: {plural(file.skipped.lines, 'line')} without a URL skipped",
                    label="hint",
                )


def _collect(request: PagesRequest, auditor: SiteAuditor) -> _PageList:
    """Return the pages of all arguments, in order."""
    from robotrules.client.auditing.site_audit import listed_pages

    pages = _PageList(request.max_pages)
    for url in request.urls:
        pages.add(url)
    base = origin_of(request.urls[0]) if request.urls else None
    for name in request.files:
        pages.add_file(name, base)
    if pages.without_host:
        raise CliError(
            f"{plural(pages.without_host, 'URL')} without a host, such as the paths of a log: pass "
            "a URL of the site too, such as https://example.com/"
        )
    if pages.too_long:
        report(
            f"{plural(pages.too_long, 'URL')} of more than {MAX_URL_LENGTH:,} characters left out",
            label="warning",
            style="warning",
        )
    sets: list[SitemapSet] = []
    missing: list[str] = []
    if request.sitemaps:
        sets.append(auditor.sitemaps(request.sitemaps))
    if request.from_robots:
        for origin in dict.fromkeys(origin_of(url) or "" for url in request.urls):
            found = auditor.robots_sitemaps(origin)
            if found is not None:
                sets.append(found)
            state = auditor.robots_state(origin)
            if found is not None and not found.files and state is not None:
                missing.append(_why_no_sitemap(state))
    _report_sitemaps(sets, missing)
    for read in sets:
        urls, elsewhere = listed_pages(read, map(host_of, request.urls))
        for url in urls:
            pages.add(url)
        if elsewhere:
            report(
                f"{plural(elsewhere, 'URL')} of sitemaps left out, because the host is another "
                "one: audit that site by itself",
                label="hint",
            )
    return pages


def _why_no_sitemap(state: OriginState) -> str:
    """Return why a robots.txt has no sitemap: it was not read, there is none, or it names none."""
    name = truncate(visible(state.origin), MAX_NAME)
    cure = "pass --sitemap URL, or --urls FILE"
    if state.policy is EffectivePolicy.RULES:
        return f"the robots.txt names no sitemap: {cure}"
    if state.policy is EffectivePolicy.ALLOW:
        return f"{name}: {describe_state(state)}, so no sitemap is known: {cure}"
    record = state.entry.last_failure or state.fetch_record
    if record is not None and record.failure_reason is FailureReason.REFUSED:
        return _not_requested(record.url)
    return (
        f"{name}: its sitemaps are not known, because {describe_state(state)}: try again, or {cure}"
    )


def _not_requested(url: str) -> str:
    """Return that an address was refused, and how to allow it."""
    host = truncate(visible(host_of(url)), MAX_NAME)
    shown = truncate(visible(url), MAX_NAME)
    return (
        f"{shown} was not requested, because {host} has a private address: to allow it, add "
        f"--allow-private {host}"
    )


def _report_sitemaps(sets: Sequence[SitemapSet], missing: Sequence[str]) -> None:
    """
    Report sitemaps that could not be read, and limits that left some out.

    *missing* says why files have no sitemap.
    """
    if any(read.files for read in sets):
        for words in missing:
            report(words, label="warning", style="warning")
    for read in sets:
        for one in read.failed[:3]:
            report(
                f"the sitemap {visible(one.url)} was not read completely: {visible(one.trouble)}",
                label="warning",
                style="warning",
            )
        if read.not_read:
            report(
                f"{plural(read.not_read, 'sitemap file')} not read; raise --max-sitemaps to read "
                "more",
                label="hint",
            )
    if sets and not any(one.urls for read in sets for one in read.files):
        files = [one for read in sets for one in read.files]
        if not files:
            raise CliError(missing[0])
        if all(one.trouble for one in files):
            one = files[0]
            if one.page.failure_reason is FailureReason.REFUSED:
                raise CliError(_not_requested(one.page.url))
            raise CliError(
                f"no sitemap could be read: {visible(one.url)}: {visible(one.trouble)}; pass "
                "--urls FILE with a list of pages"
            )
        raise CliError("the sitemaps list no page: pass --urls FILE with a list of pages")


# --- The run --------------------------------------------------------------------------------------


class _Run:
    """One run: opens what is needed, and reads the pages."""

    def __init__(
        self,
        request: PagesRequest,
        client: Client,
        crawlers: Sequence[CrawlerChoice],
        purposes: tuple[str, ...],
    ) -> None:
        self._request = request
        self._client = client
        self.crawlers = crawlers
        self._purposes = purposes
        self._html = can_read_html()

    def audit(self) -> SiteAudit:
        """Read the pages; an interrupt ends it with the result until then."""
        from robotrules.client.auditing.site_audit import MAX_SITE_SITEMAPS, SiteAuditor

        request = self._request
        most = request.max_sitemaps
        with ExitStack() as opened:
            stream = sys.stderr if is_terminal(sys.stderr) else None
            auditor = SiteAuditor(
                self._client,
                [crawler.names for crawler in self.crawlers],
                self._purposes,
                names=[crawler.name for crawler in self.crawlers] or None,
                profile=request.profile,
                ignore_disallow=request.ignore_disallow,
                max_sitemaps=MAX_SITE_SITEMAPS if most is None else most,
                html=self._html,
            )
            journal = self._journal(opened, auditor)
            pages = _collect(request, auditor)
            if not pages.urls and (journal is None or not journal.pages):
                raise CliError("there is no page to audit: pass URLs, --urls FILE or --sitemap URL")
            todo = [url for url in pages.urls if not auditor.is_known(url)]
            self._hint_duration(auditor, todo)
            interrupted, done = False, 0
            progress = opened.enter_context(Progress(stream, len(todo), "page"))
            try:
                for page in auditor.pages(todo):
                    done += 1
                    progress.add(1, 1)
                    if journal is not None:
                        journal.add(page)
            except KeyboardInterrupt:
                interrupted = True
            progress.clear()
            left = pages.left
            if interrupted and left is not None:
                left += len(todo) - done
            result = auditor.result(not_audited=left, interrupted=interrupted)
        self._report(result)
        return result

    def _journal(self, opened: ExitStack, auditor: SiteAuditor) -> AuditJournal | None:
        """Open the journal of --resume, and take over its pages."""
        path = self._request.resume
        if path is None:
            return None
        from robotrules.operations.site_audit.journal import AuditJournal, JournalError

        try:
            journal = opened.enter_context(AuditJournal(path, self._settings()))
        except JournalError as error:
            raise CliError(f"cannot continue {quoted(path)}: {error}") from None
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise CliError(f"cannot use {quoted(path)} as journal: {why}; pass a file") from None
        taken = sum(auditor.add(page) for page in journal.pages)
        if taken:
            report(f"{plural(taken, 'page')} of an earlier run taken from {quoted(path)}")
        return journal

    def _settings(self) -> dict[str, Any]:
        request = self._request
        return {
            "crawlers": [one.name for one in self.crawlers] or ["*"],
            "literal": request.literal,
            "purposes": list(self._purposes),
            "profile": request.profile,
            "ignore_disallow": request.ignore_disallow,
            "html": self._html,
            "user_agent": self._client.user_agent,
        }

    @staticmethod
    def _hint_duration(auditor: SiteAuditor, urls: Sequence[str]) -> None:
        """Report how long a long run takes, and how it becomes shorter."""
        delay = auditor.delay(urls[0]) if len(urls) > 1 else None
        if delay is None:
            return
        seconds = delay.seconds * len(urls)
        if seconds < LONG_RUN:
            return
        time = plural(max(round(seconds / 60), 1), "minute")
        if seconds >= 7200:
            time = f"{seconds / 3600:,.1f} hours"
        interval = f"{delay.seconds:g} s"
        why = f"requests to a site are {interval} apart"
        faster = "; --min-delay 0 is faster, for your own site only"
        if delay.line is not None:
            why = f"the robots.txt asks for {interval} between requests (line {delay.line})"
            faster = ""
        report(
            f"{plural(len(urls), 'page')} take at least {time}, because {why}{faster}",
            label="hint",
        )

    def _report(self, result: SiteAudit) -> None:
        """Report what the reader has to know beside the result."""
        if not self._html and any(page.status == 200 for page in result.pages):
            warn_html_not_read()
        if result.skipped:
            report(
                f"{plural(result.skipped, 'input')} left out, because it is not an http or https "
                "URL with a host",
                label="warning",
                style="warning",
            )
        for crawler in self.crawlers:
            hint = CrawlerHint(crawler, self._purposes)
            for site in result.sites[:10]:
                state = self._client.cached(site.origin)
                if hint.is_pending and state is not None:
                    hint.read(state.robots)
        if result.not_audited != 0 and not result.interrupted:
            left = f"more than {MAX_COUNTED:,}"
            if result.not_audited is not None:
                left = f"{result.not_audited:,}"
            report(
                f"{left} further pages were not audited; raise --max-pages to read more",
                label="hint",
            )


# --- Outputs --------------------------------------------------------------------------------------


@contextmanager
def _output(target: str) -> Iterator[Output | None]:
    """Yield stdout, or None for a file."""
    output = Output() if target == STDIN else None
    yield output
    if output is not None:
        output.flush()


def _refuse_unwritable(target: str) -> None:
    """Refuse a file that cannot be written, before a run of several minutes."""
    folder = os.path.dirname(target) or os.curdir
    if target == STDIN:
        return
    if os.path.isdir(target):
        raise CliError(f"--output {quoted(target)} is a directory: pass a file")
    if not os.path.isdir(folder):
        raise CliError(f"--output {quoted(target)}: there is no directory {quoted(folder)}")
    if not os.access(folder, os.W_OK):
        raise CliError(f"--output {quoted(target)}: permission denied in {quoted(folder)}")


def _write(result: SiteAudit, form: str, target: str) -> None:
    """Write one output to a file or to stdout."""
    with _output(target) as output:
        if output is not None and form == "json":
            output.json(result.as_dict())
        elif output is not None:
            width = output.width
            for piece in _render(result, form, output if form == "text" else None, width):
                output.write(piece)
        else:
            octets = "".join(_render(result, form, None, 100)).encode("utf-8", "backslashreplace")
            write_atomically(target, octets)
            report(f"{quoted(target)} written")


def _render(result: SiteAudit, form: str, output: Output | None, width: int) -> Iterator[str]:
    """Yield an output in pieces."""
    if form == "json":
        yield json.dumps(result.as_dict()) + "\n"
    elif form == "jsonl":
        for page in result.pages:
            yield json.dumps(page.as_dict()) + "\n"
    elif form == "csv":
        yield from _csv_lines(result)
    elif form == "html":
        from robotrules.operations.site_audit.html_page import site_audit_page

        yield site_audit_page(result, _title(result))
    else:
        for line in SiteAuditText(result, output, width).lines():
            yield f"{line}\n"


def _title(result: SiteAudit) -> str:
    """Return the sites of an audit, for a heading."""
    hosts = list(
        dict.fromkeys((origin_of(page.url) or "").partition("://")[2] for page in result.pages)
    )
    if len(hosts) > 2:
        return f"{visible(hosts[0])} and {len(hosts) - 1:,} other sites"
    return " and ".join(map(visible, hosts)) or "no page"


def _csv_lines(result: SiteAudit) -> Iterator[str]:
    """Yield a line for each page; with several crawlers, columns are repeated for each."""
    many = len(result.crawlers) > 1
    suffixes = [f" {name}" if many else "" for name in result.crawlers]
    repeated = ("allowed", "indexable", "outcome", "noindex", "noindex_seen", "reason")
    yield csv_line(
        [
            *("url", "status", "final_url", "final_status", "failure"),
            *(f"{name}{suffix}" for suffix in suffixes for name in repeated),
            *("canonical", "in_sitemap", "sitemap", "worst", "findings"),
        ]
    )
    for page in result.pages:
        yield csv_line([*_first_cells(page), *_answer_cells(page), *_last_cells(page)])


def _first_cells(page: PageAudit) -> Iterable[str | int | None]:
    return page.url, page.first_status, page.final_url, page.status, page.failure


def _answer_cells(page: PageAudit) -> Iterator[str | bool | None]:
    for answer in page.answers:
        values = answer.as_dict()
        yield answer.allowed
        yield {True: "yes", False: "no", None: "unknown"}[answer.indexable]
        yield str(answer.outcome)
        yield "; ".join(answer.noindex)
        yield values["noindex_seen"]
        yield answer.reason


def _last_cells(page: PageAudit) -> Iterable[str | None]:
    listed = {True: "yes", False: "no", None: "unknown"}[page.in_sitemap]
    codes = " ".join(dict.fromkeys(one.code for one in page.findings))
    return "; ".join(page.canonicals), listed, page.sitemap, page.level, codes
