"""
`robotrules audit`: one live page, with all that speaks about it and where that does not fit.

A few lines over `robotrules.client.audit()`: robots.txt and how it is served, the page and its
tags, the sitemaps, and what contradicts what. Everything is asked for now. It does not decide
anything, and changes nothing anywhere.
"""

from __future__ import annotations

import sys

import click

from robotrules.access import FailureReason as AccessTrouble
from robotrules.cli.client import Opening, client_options, told
from robotrules.cli.options import (
    KnownHint,
    given_crawler,
    given_purposes,
    json_option,
    literal_option,
    purpose_option,
    token_option,
)
from robotrules.cli.origin_lookup import hint_private, host_of, refuse_paths
from robotrules.cli.page_inputs import (
    can_read_html,
    robots_profile,
    tag_profile_option,
    warn_html_unread,
)
from robotrules.cli.progress import Doing
from robotrules.cli.streams import CliError, Output, quoted, say
from robotrules.cli.text import is_terminal
from robotrules.http.media_types import is_html
from robotrules.http.origins import origin_of
from robotrules.octets import visible

# A robots.txt that asks for longer pauses makes this a matter of minutes, and that is said.
LONG_PAUSE = 5.0


@click.command()
@click.argument("urls", nargs=-1, metavar="URL")
@token_option
@literal_option
@purpose_option
@click.option(
    "--own",
    is_flag=True,
    help="The site is yours: read the page once even where the rules disallow it, to see what no "
    "crawler sees, such as a noindex.",
)
@click.option(
    "--sitemaps",
    "most_sitemaps",
    type=click.IntRange(0, 1000),
    metavar="N",
    default=5,
    show_default=True,
    help="How many sitemap files are read at most; 0 for none.",
)
@tag_profile_option
@json_option("Print one JSON object; docs/cli/audit.md describes it.")
@client_options(fresh=False)
def audit(
    urls: tuple[str, ...],
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    own: bool,
    most_sitemaps: int,
    profile: str,
    as_json: bool,
    opening: Opening,
) -> int:
    """
    Audit one live page.

    Asks for its robots.txt, the page if the rules allow that, the sitemaps that the robots.txt
    names, and the robots.txt of the other scheme, all of it now. Shows how they answer and what
    they say, and finds what contradicts something else: a noindex that no crawler can read, a
    sitemap that lists what is disallowed, headers against meta elements, http against https. With
    --as for that crawler, else for all that no group names. The exit code is 0 if nothing worse
    than information was found, 1 for warnings or errors, 2 for usage or I/O.

    \b
    Examples:
      robotrules audit https://example.com/prices --as ExampleBot
      robotrules audit https://example.com/drafts/1 --own
      robotrules audit https://example.com/ --sitemaps 20 --json
    """
    if not urls or not urls[0].strip():
        raise CliError("no URL was given: pass one, such as https://example.com/prices")
    if len(urls) > 1:
        raise CliError(f"an audit takes one URL: leave out {quoted(urls[1])}, or run it twice")
    url = urls[0].strip()
    refuse_paths([url], files=False)
    beside = robots_profile(profile)
    crawler = None
    if product_tokens:
        crawler = given_crawler(product_tokens, beside, literal=literal, says_known=False)
    purposes = given_purposes(purposes, beside)
    with told():
        if origin_of(url) is None:
            raise CliError(
                f"{quoted(url)} has no robots.txt: pass an http or https URL with a host"
            )
    if crawler is None:
        say("no crawler was named, so this is for '*'; --as names one", label="hint")
    bar = sys.stderr if is_terminal(sys.stderr) else None
    with opening.client(beside) as client, told(), Doing(bar) as doing:
        from robotrules.client.auditing import audit as find

        def progress(target: str) -> None:
            """Say what is asked for, and why that may take long."""
            if target == url:  # its robots.txt is known by now
                pause = client.delay(url)
                if pause.seconds > LONG_PAUSE:
                    doing.step_aside()
                    say(
                        f"the robots.txt asks for {pause.seconds:g} s between requests (line "
                        f"{pause.line}), so this takes a while; --sitemaps 0 makes it shorter",
                        label="hint",
                    )
            doing.now(f"asking for {visible(target)}")

        html = can_read_html()
        found = find(
            client,
            url,
            crawler.names if crawler else None,
            purposes,
            profile=profile,
            ignore_disallow=own,
            max_sitemaps=most_sitemaps,
            progress=progress,
            html=html,
        )
    if not html and found.page.ok and is_html(found.page.fields):
        warn_html_unread()
    visit = found.origin_state.fetch_record
    if AccessTrouble.REFUSED in (
        found.page.failure_reason,
        visit.failure_reason if visit else None,
    ):
        hint_private(host_of(found.page.url))
    known = None
    if crawler is not None:
        KnownHint(crawler, purposes).read(found.origin_state.robots)
        if crawler.known is not None:
            # The names are those of the registry, and `known` has them.
            found, known = found._replace(product_tokens=(crawler.name,)), crawler.known_dict
    output = Output()
    if as_json:
        output.json({**found.as_dict(), "known": known})
    else:
        from robotrules.cli.audit_text import AuditPage

        output.lines(list(AuditPage(found, profile, output).lines()))
    output.flush()
    return int(not found.is_clean)
