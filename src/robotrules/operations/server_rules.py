"""
Server rules: a list of crawlers as configuration of nginx, Apache httpd, Caddy or HAProxy.

A robots.txt is a request. These snippets are for site owners who want to label crawlers in logs and
headers, or to refuse some in the server. They recognize a crawler by its User-Agent header, as
`KNOWN_CRAWLERS.find_in_header` does: by the product of the header, or by a name in the header of a
browser, and not by `like Googlebot`. Anyone can send any header, so this is not security, and each
snippet says so. Controls such as Google-Extended send no requests and are left out.

The patterns have no lookaround and no nested repetition: they work in PCRE and RE2, and take linear
time on any header.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence

from robotrules.registries.crawlers import KnownCrawler

__all__ = ["SERVERS", "header_pattern", "server_rules"]

# How the header of a browser or of a phone starts, with which crawlers begin theirs.
BROWSERS = r"(?:mozilla/|opera/|docomo/|nokia|samsung|\()"
# What precedes a name in such a header: a comment, a separator, or the end of another product.
BEFORE = r"(?:[;(] ?|[)0-9] )"
WIDTH = 90
VARIABLE, REFUSE = "robotrules_crawler", "robotrules_refuse"
FORGED = (
    "A User-Agent header can be forged: this recognizes crawlers that say who they are. It is not "
    "security, and it does not replace the robots.txt."
)
ROBOTS = (
    "Answer /robots.txt for everyone: crawlers that get 403 for it may read that as 'no rules' "
    "(RFC 9309 section 2.3.1.3)."
)


def header_pattern(names: Sequence[str], *, capture: bool = False) -> str:
    """
    Return a pattern for the User-Agent headers of crawlers, to be compared case-insensitively.

    With *capture*, group 1 is the name as the header spells it.
    """
    words = "|".join(sorted(map(_escape, names), key=lambda word: (-len(word), word)))
    group = f"({words})" if capture else f"(?:{words})" if len(names) > 1 else words
    return rf"^(?:{BROWSERS}.*?{BEFORE})?{group}(?:[^-\w]|$)"


def _escape(name: str) -> str:
    return re.sub(r"[^-\w ]", r"\\\g<0>", name, flags=re.ASCII)


def server_rules(server: str, crawlers: Sequence[KnownCrawler], written_by: str, day: str) -> str:
    """
    Return the configuration of a server, one of `SERVERS`, that recognizes crawlers.

    *written_by* is the command and *day* the date of the list, for the comment.
    """
    if server not in SERVERS:
        raise ValueError(f"there is no format for {server!r}: use {', '.join(SERVERS)}")
    sending = [crawler for crawler in crawlers if not crawler.is_control]
    if not sending:
        raise ValueError("none of these crawlers sends requests: pass at least one that does")
    controls = [crawler.product_token for crawler in crawlers if crawler.is_control]
    noun = "crawler" if len(sending) == 1 else "crawlers"
    comment = [
        f"{len(sending)} well-known {noun}, from robotrules' list of {day}.",
        f"Written by: {written_by}",
        FORGED,
    ]
    if controls:
        comment.append(f"Left out, because they send no requests: {', '.join(controls)}.")
    lines = [line for text in comment for line in _comment(text)]
    return "".join(f"{line}\n" for line in [*lines, *SERVERS[server](sending)])


def _comment(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"{indent}# ",
        subsequent_indent=f"{indent}# ",
        break_on_hyphens=False,
    )


def _longer_first(crawlers: Sequence[KnownCrawler]) -> list[KnownCrawler]:
    """Return crawlers with longer names first: some headers have two names."""
    return sorted(crawlers, key=lambda one: (-len(one.product_token), one.product_token.lower()))


def _nginx(crawlers: Sequence[KnownCrawler]) -> Iterator[str]:
    yield from _comment(ROBOTS)
    yield "#"
    yield "# Include this file in the http block. To label, in a server block:"
    yield f"#   add_header X-Crawler ${VARIABLE} always;        (proxy_set_header for a backend)"
    yield f"#   and ${VARIABLE} in a log_format"
    yield "# To refuse, in the server block and outside its locations, so that it covers all:"
    yield f"#   if (${REFUSE}) {{ return 403; }}"
    yield f"map $http_user_agent ${VARIABLE} {{"
    yield '    default "";'
    for crawler in _longer_first(crawlers):
        name = crawler.product_token
        yield f'    "~*{header_pattern([name])}" "{name}";'
    yield "}"
    yield "# 1 for these crawlers, but for /robots.txt."
    yield f'map "${VARIABLE}:$uri" ${REFUSE} {{'
    yield "    default 1;"
    yield '    "~^:" 0;'
    yield r'    "~^[^:]+:/robots\.txt\z" 0;'
    yield "}"


def _apache(crawlers: Sequence[KnownCrawler]) -> Iterator[str]:
    yield from _comment(ROBOTS)
    yield "#"
    yield "# For the server or a virtual host; needs mod_setenvif. To label (mod_headers):"
    yield f'#   Header always set X-Crawler "%{{{VARIABLE}}}e" env={VARIABLE}'
    yield f"#   and %{{{VARIABLE}}}e in a LogFormat"
    yield "# To refuse (mod_rewrite), in each virtual host, before its other RewriteRule lines and"
    yield "# outside of Directory and Location, so that it covers all of them and opens none:"
    yield "#   RewriteEngine On"
    yield "#   RewriteCond %{ENV:REDIRECT_STATUS} ^$"
    yield f"#   RewriteCond %{{ENV:{REFUSE}}} ."
    yield "#   RewriteRule ^ - [F]"
    # The last directive that matches decides.
    for crawler in reversed(_longer_first(crawlers)):
        name = crawler.product_token
        yield f'SetEnvIfNoCase User-Agent "{header_pattern([name])}" "{VARIABLE}={name}"'
    yield "# Set for these crawlers, but for /robots.txt."
    yield f'SetEnvIf {VARIABLE} "." {REFUSE}=1'
    yield rf'SetEnvIf Request_URI "^/robots\.txt$" !{REFUSE}'


def _caddy(crawlers: Sequence[KnownCrawler]) -> Iterator[str]:
    yield from _comment(
        "Import this file in a site block. /robots.txt is answered for everyone: crawlers that get "
        "403 for it may read that as 'no rules' (RFC 9309 section 2.3.1.3)."
    )
    yield "#"
    yield "# To label:  header @robotrules X-Crawler {re.robotrules.1}"
    yield "# To refuse, put all other directives that answer requests into a second handle:"
    yield "# Caddy runs redir, and handle with a path, before a respond beside them."
    yield "#   handle @robotrules {"
    yield "#       respond 403"
    yield "#   }"
    yield "#   handle {"
    yield "#       (the site)"
    yield "#   }"
    yield "@robotrules {"
    names = [crawler.product_token for crawler in crawlers]
    yield f"    header_regexp robotrules User-Agent `(?i){header_pattern(names, capture=True)}`"
    yield "    not path /robots.txt"
    yield "}"


def _haproxy(crawlers: Sequence[KnownCrawler]) -> Iterator[str]:
    variable = f"txn.{VARIABLE}"
    yield from _comment(ROBOTS)
    yield "#"
    yield "# Put these lines into each frontend, before its other http-request lines: one that"
    yield "# answers or allows a request ends the list. To label for the backend, after them:"
    yield "#   http-request del-header X-Crawler"
    yield f"#   http-request set-header X-Crawler %[var({variable})] if {VARIABLE}"
    yield f"#   and %[var({variable})] in a log-format"
    yield "# To refuse:"
    yield f"#   http-request deny deny_status 403 if {VARIABLE} !{{ path /robots.txt }}"
    # The last rule that matches decides. fhdr is the whole header, which hdr splits at commas.
    for crawler in reversed(_longer_first(crawlers)):
        name = crawler.product_token
        condition = f"{{ req.fhdr(User-Agent) -i -m reg '{header_pattern([name])}' }}"
        yield f"http-request set-var({variable}) 'str({name})' if {condition}"
    yield f"acl {VARIABLE} var({variable}) -m found"


SERVERS: dict[str, Callable[[Sequence[KnownCrawler]], Iterator[str]]] = {
    "nginx": _nginx,
    "apache": _apache,
    "caddy": _caddy,
    "haproxy": _haproxy,
}
