"""
`robotrules guidance`: the combined answer of all carriers, for a URL or the documents of a HAR
file.

A wrapper around `robotrules.guidance`: may the URL be crawled, and how may its content be used,
according to robots.txt, headers and page. If robots.txt blocks the page, its tags are unknown. If
no file is passed, robots.txt and page are fetched; otherwise nothing is.

`json_results.guidance` makes the answers.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import click

import robotrules
from robotrules.access import FailureReason
from robotrules.cache import EffectivePolicy
from robotrules.cli.client import ClientOptions, with_client_options
from robotrules.cli.console import CliError, Output, quoted, report
from robotrules.cli.guidance_text import GuidancePage, GuidanceRows
from robotrules.cli.options import (
    ACCESS_ONLY,
    json_option,
    literal_option,
    parse_crawler,
    parse_purposes,
    parse_urls,
    parsing_profile,
    purpose_option,
    read_robots_option,
    report_notes,
    robots_option,
    token_option,
)
from robotrules.cli.origin_lookup import hint_private_address, host_of, refuse_paths
from robotrules.cli.page_inputs import (
    carrier_options,
    fetching_tag_profile_option,
    html_libraries,
    parse_headers,
    read_har_file,
    read_page,
    read_saved_response,
    read_tdmrep,
    refuse_repeated_stdin,
    warn_html_not_read,
)
from robotrules.cli.text import plural
from robotrules.errors import MissingExtraError
from robotrules.extensions.app_directives import directives_for
from robotrules.json_results.guidance import GuidanceQuery, GuidanceReport, origin_of
from robotrules.json_results.tags import join_fields, robots_profile
from robotrules.octets import to_octets, visible
from robotrules.robotstxt.tokens import CrawlerNames


@click.command()
@click.argument("url", required=False, metavar="[URL]")
@robots_option
@token_option
@literal_option
@purpose_option
@click.option("--page", metavar="FILE", help="The saved page (initial HTML); '-' is stdin.")
@carrier_options
@click.option(
    "--har",
    metavar="FILE",
    help="A HAR file exported by a browser; prints an answer for each document in it, or for the "
    "URL only.",
)
@click.option(
    "--robots-url",
    metavar="URL",
    help="The URL of the robots.txt, which applies to that origin only. Defaults to the origin of "
    "the URL, or of the first document of --har.",
)
@click.option(
    "--tdmrep", metavar="FILE", help="The saved /.well-known/tdmrep.json of the same origin."
)
@click.option(
    "--app",
    "application",
    metavar="NAME",
    help="An application identifier of App-Directives, such as examplesearch; case-sensitive.",
)
@fetching_tag_profile_option
@json_option("Print one JSON object per URL, described by docs/guidance.md.")
@with_client_options()
def guidance(
    url: str | None,
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    page: str | None,
    headers: tuple[str, ...],
    response: str | None,
    dom: str | None,
    har: str | None,
    robots_url: str | None,
    tdmrep: str | None,
    application: str | None,
    profile: str,
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Combine robots.txt, headers and page tags into one answer.

    May the URL be crawled, indexed, shown as a snippet, used to train AI? Reads robots.txt,
    headers, meta elements, Content-Usage, App-Directives and TDM reservations, and shows the source
    of each answer. Without files, the robots.txt is fetched, and the page if the rules allow it; if
    you pass files, nothing is fetched. If robots.txt blocks the URL, the tags of its page are
    unknown, because crawlers cannot read them. All of these are requests, not a form of access
    authorization. The exit code is 1 if crawling is disallowed for any document, otherwise 0.

    \b
    Examples:
      robotrules guidance https://example.com/a --as ExampleBot
      robotrules guidance https://example.com/a --as ExampleBot --robots robots.txt --page a.html
      robotrules guidance https://example.com/a --as ExampleBot --robots robots.txt \\
        --response saved.http --tdmrep tdmrep.json --json
      robotrules guidance --har example.har --as ExampleBot --robots robots.txt
    """
    about_page = [one for one in (page, response, dom) if one] + list(headers)
    if url is None and har is None:
        raise CliError("missing URL: pass one, such as https://example.com/a, or --har FILE")
    if har is not None and about_page:
        raise CliError("--har cannot be combined with --page, --response, --dom or --header")
    if page is not None and response is not None:
        raise CliError("--response includes the page: remove --page")
    live = not (about_page or har or robots or tdmrep)
    refuse_repeated_stdin(robots, page, response, dom, har, tdmrep)
    access, profile = profile, parsing_profile(profile, fetches=live)
    beside = robots_profile(profile)
    query = GuidanceQuery(
        parse_crawler(product_tokens, beside, literal=literal),
        parse_purposes(purposes, beside),
        None if robots is None else read_robots_option(robots, beside),
        None if tdmrep is None else read_tdmrep(tdmrep),
        _vet_application(application),
        profile,
        None if robots_url is None else _parse_origin(robots_url),
    )
    if live:
        if robots_url is not None:
            raise CliError("--robots-url needs --robots FILE: pass the file, or remove the option")
        access = access if access in ACCESS_ONLY else beside
        return _about_live(query, url or "", client_options, access, as_json)
    client_options.hint_unused()
    if query.robots is not None:
        report_notes(query.robots.notes, robots or "")
    if har is not None:
        return _about_har(query, har, url, as_json)
    address = parse_urls([url or ""], beside)[0]
    query = query.of_origin(origin_of(address))
    with ExitStack() as opened, html_libraries():
        saved = read_saved_response(response) if response is not None else None
        found = query.about(
            address,
            headers=join_fields((saved.fields if saved else None, parse_headers(headers))),
            html=read_page(page, opened) if page is not None else saved.body if saved else None,
            dom=None if dom is None else read_page(dom, opened, "the DOM"),
            saved=saved,
        )
    output = Output()
    if as_json:
        output.json(query.as_dict(found))
    else:
        output.lines(list(GuidancePage(found, output).lines()))
    output.flush()
    return int(found.guidance.may_crawl is False)


def _about_live(
    query: GuidanceQuery, url: str, client_options: ClientOptions, access: str, as_json: bool
) -> int:
    """Fetch the robots.txt and the page of a URL, and print the answer."""
    from robotrules.client.pages import make_guidance

    url = url.strip()
    refuse_paths([url])
    who = query.crawler.names, query.purposes
    # This command obeys the groups for '*', even if the crawler ignores them.
    polite = CrawlerNames(who[0]) if isinstance(who[0], CrawlerNames) else who[0]
    with client_options.client(access) as client:
        first = client.refresh(url) if client_options.refresh else client.lookup(url)
        page = client.fetch(url, polite, query.purposes)
    if (
        first is not None
        and page.origin_state is not None
        and page.origin_state.origin == first.origin
    ):
        page = page._replace(origin_state=page.origin_state._replace(source=first.source))
    if page.origin_state is None and not page.hops:
        raise CliError(f"{quoted(url)} has no robots.txt: pass an http or https URL with a host")
    record = page.origin_state.fetch_record if page.origin_state else None
    if FailureReason.REFUSED in (page.failure_reason, record.failure_reason if record else None):
        hint_private_address(host_of(page.url))
    find = partial(make_guidance, page, *who, application=query.application, profile=query.profile)
    try:
        found = find()
    except MissingExtraError:
        warn_html_not_read()
        found = find(html=False)
    if query.crawler.known is not None and page.origin_state is not None:
        found = found._replace(verdict=page.origin_state.check(page.url, *who))
    if page.origin_state is not None and page.origin_state.policy is EffectivePolicy.RULES:
        report_notes(page.origin_state.robots.notes, page.origin_state.origin)
    output = Output()
    answer = GuidanceReport(found, query.profile, None, None, page)
    if as_json:
        output.json(query.of_origin(page.origin_state and page.origin_state.origin).as_dict(answer))
    else:
        output.lines(list(GuidancePage(answer, output).lines()))
    output.flush()
    return int(not found.verdict)


def _about_har(query: GuidanceQuery, name: str, url: str | None, as_json: bool) -> int:
    """Print an answer for each document of a HAR file, or for those of one URL."""
    documents = read_har_file(name)
    if url is not None:
        wanted = url.strip().partition("#")[0]
        documents = [one for one in documents if (one.url or "").partition("#")[0] == wanted]
        if not documents:
            raise CliError(
                f"no document of the HAR file has the URL {quoted(url)}: remove it to see all "
                "documents"
            )
    origins = (origin_of(saved.url or "") for saved in documents)
    governing = query.of_origin(next(filter(None, origins), None))
    elsewhere = sum(not governing.governs(to_octets(saved.url or "")) for saved in documents)
    if elsewhere and query.robots is not None and query.origin is None:
        report(
            f"the robots.txt is used for {visible(governing.origin or '')}, the origin of the "
            f"first document, not for {plural(elsewhere, 'document')} of other origins; set its "
            "origin with --robots-url",
            label="hint",
            style="warning",
        )
    output = Output()
    many: list[GuidanceReport] = []
    for saved in documents:
        address = to_octets(saved.url or "")
        with html_libraries():
            many.append(
                governing.about(address, headers=saved.fields, html=saved.body, saved=saved)
            )
        if as_json:
            output.json(governing.as_dict(many[-1]))
    if not as_json:
        output.lines(list(GuidanceRows(many, output).lines()))
    output.flush()
    return int(any(found.guidance.may_crawl is False for found in many))


def _vet_application(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        directives_for(robotrules.parse(b""), name)
    except ValueError:
        raise CliError(
            f"{quoted(name)} is not an application identifier: pass a Token (RFC 9651 §3.3.4), "
            "which starts with a letter or '*' and has no spaces, such as examplesearch"
        ) from None
    return name


def _parse_origin(url: str) -> str:
    origin = origin_of(url.strip())
    if origin is None:
        raise CliError(
            f"{quoted(url)} has no origin: pass the URL of the robots.txt, such as "
            "--robots-url https://example.com/robots.txt"
        )
    return origin
