"""
Tags: rules of a response and a page about their use (draft-illyes-repext, X-Robots-Tag, meta).

    >>> from robotrules.tags import usage_rules
    >>> rules = usage_rules(headers={"Robots-Tag": "*;nosnippet, ExampleBot;noindex"},
    ...                     product_token="ExampleBot")
    >>> print(rules)
    nosnippet, noindex
    >>> rules.may_index
    False

`usage_rules` unites all carriers for one crawler. It does no I/O and reads no clock. Tag rules are
requests about use, not a form of access authorization.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from robotrules.errors import ProductTokenError
from robotrules.http.caching import (
    ResponseFreshness,
    merge_fields,
    require_aware,
    response_freshness,
    to_seconds,
    update_stored_fields,
)
from robotrules.http.fields import Fields, read_fields
from robotrules.http.media_types import is_html, parse_charset
from robotrules.profile import Profile
from robotrules.tags.codes import Carrier, PageState, TagNote, TagSource, note
from robotrules.tags.header import (
    CACHE_SIZE,
    MAX_CACHED_LENGTH,
    ParsedField,
    TagStatement,
    parse_robots_tag,
    parse_x_robots_tag,
)
from robotrules.tags.html import Page, PageReader, read_page
from robotrules.tags.known_rules import EVERYONE, KNOWN, Value
from robotrules.tags.meta import read_page_rules
from robotrules.tags.profile import (
    APPLE,
    BING,
    DEFAULT,
    GOOGLE,
    STRICT,
    TAG_PROFILES,
    YANDEX,
    TagProfile,
    find_tag_profile,
)
from robotrules.tags.rules import Mention, RuleStatus, UnitedRules, UsageRules, unite
from robotrules.tags.tdm import TdmReservation, tdm_reservation

if TYPE_CHECKING:
    from robotrules.registries import Registries

__all__ = [
    "APPLE",
    "BING",
    "DEFAULT",
    "GOOGLE",
    "KNOWN",
    "STRICT",
    "TAG_PROFILES",
    "YANDEX",
    "Carrier",
    "Fields",
    "Mention",
    "Page",
    "PageReader",
    "PageState",
    "ParsedField",
    "ResponseFreshness",
    "RuleStatus",
    "TagNote",
    "TagProfile",
    "TagSource",
    "TdmReservation",
    "UsageRules",
    "Value",
    "find_tag_profile",
    "html_page",
    "merge_fields",
    "read_fields",
    "read_page",
    "read_robots_tag",
    "response_freshness",
    "tdm_reservation",
    "update_stored_fields",
    "usage_rules",
    "validate_product_tokens",
]

FIELD, LEGACY_FIELD = Carrier.ROBOTS_TAG, Carrier.X_ROBOTS_TAG
Html = bytes | str | Page | Iterable[bytes] | Iterable[str]


def usage_rules(
    *,
    headers: object = None,
    html: Html | None = None,
    dom: Html | None = None,
    product_token: str | Sequence[str] = EVERYONE,
    url: str | bytes | None = None,
    profile: str | TagProfile | Profile = "default",
    received: datetime | None = None,
    recrawl_interval: timedelta | float | None = None,
    registries: Registries | None = None,
    complete: bool = True,
) -> UsageRules:
    """
    Return the tag rules in force for a crawler, from headers, initial HTML and final DOM.

    *headers* are the headers of the final response: a mapping, pairs, raw octets, or a response of
    httpx, requests, aiohttp or Scrapy. *html* is the initial HTML as octets or text, whole or in
    chunks; *dom* is the final DOM as text, if scripts were run. The rules of all of them are united
    (§4). *product_token* may be a list; rules for any of its tokens then count. *url* shows whether
    the response came over TLS. *received* and *recrawl_interval* are for `response_freshness`.
    Set *complete* to False if *html* was cut before its end, or if there is a page that was not
    read and *html* is not given; rules that were not read are then unknown. Content never raises.
    """
    chosen = find_tag_profile(profile)
    tokens = validate_product_tokens(product_token)
    fields = read_fields(headers)
    over_tls = _is_over_tls(url if url is not None else _find_url(headers))
    more = _registered_rules(registries)
    carried = _rules_of_fields(fields, tokens, chosen, more, over_tls)
    if isinstance(headers, (str, bytes)) and headers.strip() and not fields.lines:
        carried = carried._replace(notes=(note("no-field-line"),))
    if any(sign in token for token in tokens for sign in " /(;"):
        carried = carried._replace(notes=(note("odd-product-token"), *carried.notes))
    read = [] if headers is None else ["headers"]
    if html is not None or dom is not None:
        carried = _add_pages(
            carried, html, dom, fields, tokens, chosen, more, over_tls, read, complete
        )
    if html is None and not complete and is_html(fields):
        carried = carried._replace(notes=(*carried.notes, note("head-not-final")))
    return UsageRules(
        tokens,
        carried.united.values,
        carried.united.mentions,
        carried.united.others,
        (*carried.notes, *carried.united.notes),
        tuple(read),
        over_tls,
        fields,
        None if received is None else require_aware(received, "received"),
        None if recrawl_interval is None else to_seconds(recrawl_interval),
    )


def read_robots_tag(
    lines: str | bytes | Sequence[str | bytes], profile: str | TagProfile = "default"
) -> ParsedField:
    """
    Read a Robots-Tag field, one value or its lines in order, with the rules for all crawlers.

    With profile `strict`, a field that fails to parse is ignored as a whole (RFC 9651 §4.2).
    """
    given = [lines] if isinstance(lines, (str, bytes)) else lines
    if not isinstance(given, Sequence):
        raise TypeError(f"Robots-Tag is str or bytes, or a list of its lines; not {lines!r:.60}")
    fields = read_fields([(str(FIELD), line) for line in given])
    return parse_robots_tag(fields.get(FIELD), find_tag_profile(profile))


def validate_product_tokens(product_token: str | Sequence[str]) -> tuple[str, ...]:
    """Return product tokens in the form that tags are compared with: lower case, each once."""
    if isinstance(product_token, str):
        return _normalize_tokens((product_token,))
    given = product_token
    if (
        not isinstance(given, Sequence)
        or isinstance(given, bytes)
        or not all(isinstance(token, str) for token in given)
    ):
        raise TypeError(
            f"product_token is a str such as 'ExampleBot', or a list of them; not {product_token!r}"
        )
    return _normalize_tokens(tuple(given))


@lru_cache(CACHE_SIZE)
def _normalize_tokens(given: tuple[str, ...]) -> tuple[str, ...]:
    if not given or not all(token.strip() for token in given):
        raise ProductTokenError("product_token is empty: pass a name such as 'ExampleBot', or '*'")
    return tuple(dict.fromkeys(token.strip().lower() for token in given))


def _find_url(response: object) -> object:
    """Return the URL of a response object, or None if it has none."""
    try:
        return getattr(response, "url", None)
    except Exception:  # a property of another library's class: httpx raises without a request
        return None


def _is_over_tls(url: object) -> bool | None:
    if url is None:
        return None
    text = url.decode("latin-1") if isinstance(url, bytes) else str(url)
    scheme = text[:8].lower()
    return True if scheme == "https://" else False if scheme.startswith("http://") else None


def _registered_rules(registries: Registries | None) -> frozenset[str]:
    """Return the rules that a registry has in addition to the known ones."""
    if registries is None:
        return frozenset()
    return frozenset(entry.key for entry in registries.tag_rules if entry.key not in KNOWN)


class _CarrierRules(NamedTuple):
    """The statements of carriers for all crawlers, notes, and the rules for one crawler."""

    statements: tuple[tuple[TagStatement, TagSource], ...]
    notes: tuple[TagNote, ...]
    united: UnitedRules


def _rules_of_fields(
    fields: Fields,
    tokens: tuple[str, ...],
    profile: TagProfile,
    more: frozenset[str],
    over_tls: bool | None,
) -> _CarrierRules:
    new, old = tuple(fields.get(FIELD)), tuple(fields.get(LEGACY_FIELD))
    if not new and not old:
        return _NO_RULES
    short = sum(map(len, new)) + sum(map(len, old)) <= MAX_CACHED_LENGTH
    # A crawl sees the same few values millions of times.
    read = _read_headers_cached if short else _read_headers
    return read(new, old, fields.apart, tokens, profile, more, over_tls)


def _read_headers(
    new: tuple[bytes, ...],
    old: tuple[bytes, ...],
    apart: bool,
    tokens: tuple[str, ...],
    profile: TagProfile,
    more: frozenset[str],
    over_tls: bool | None,
) -> _CarrierRules:
    notes: list[TagNote] = []
    if new and profile.x_robots_tag_only:
        notes.append(note("field-not-documented", TagSource(FIELD, over_tls=over_tls)))
        new = ()
    parsed = [(FIELD, parse_robots_tag(new, profile, more))]
    if old and any(new) and profile.prefer_robots_tag:
        notes.append(note("field-not-read", TagSource(LEGACY_FIELD, over_tls=over_tls)))
    else:
        parsed.append((LEGACY_FIELD, parse_x_robots_tag(old, profile, more, apart=apart)))
    statements: list[tuple[TagStatement, TagSource]] = []
    for carrier, field in parsed:
        lines = {one.line for one in field.statements} | {one.line for one in field.notes}
        sources = {line: TagSource(carrier, line, over_tls=over_tls) for line in lines}
        statements += [(statement, sources[statement.line]) for statement in field.statements]
        notes += [
            note(problem.code, sources[problem.line], problem.start, problem.end)
            for problem in field.notes
        ]
    united = unite(statements, tokens, profile, more)
    return _CarrierRules(tuple(statements), tuple(notes), united)


_NO_RULES = _CarrierRules((), (), UnitedRules())
_read_headers_cached = lru_cache(CACHE_SIZE)(_read_headers)


def _add_pages(
    carried: _CarrierRules,
    html: Html | None,
    dom: Html | None,
    fields: Fields,
    tokens: tuple[str, ...],
    profile: TagProfile,
    more: frozenset[str],
    over_tls: bool | None,
    read: list[str],
    complete: bool,
) -> _CarrierRules:
    """Return the rules of fields and pages together; add the names of pages read to *read*."""
    statements, notes = list(carried.statements), list(carried.notes)
    for state, given in ((PageState.INITIAL, html), (PageState.FINAL, dom)):
        if given is None:
            continue
        final_dom = state is PageState.FINAL
        whole = complete or final_dom
        page = html_page(given, fields, profile, final_dom=final_dom, complete=whole)
        if page is None:
            notes.append(note("not-html"))
            continue
        read.append("html" if state is PageState.INITIAL else "dom")
        rules = read_page_rules(page, state, tokens, profile, over_tls=over_tls, more=more)
        statements += rules.statements
        notes += rules.notes
    united = unite(statements, tokens, profile, more)
    if "html" in read and "dom" in read:
        notes += _compare_states(united.mentions)
    return _CarrierRules(tuple(statements), tuple(notes), united)


def html_page(
    html: Html,
    headers: object,
    profile: str | TagProfile = "default",
    *,
    final_dom: bool = False,
    complete: bool = True,
) -> Page | None:
    """
    Return the meta elements of a page as a profile reads it; None if *headers* say it is not HTML.

    The charset of the headers counts for the initial HTML. A final DOM has no charset, and is HTML
    whatever the Content-Type is. Set *complete* to False if *html* was cut before its end.
    """
    chosen, fields = find_tag_profile(profile), read_fields(headers)
    if not final_dom and not is_html(fields):
        return None
    if isinstance(html, Page):
        return html
    return read_page(
        html,
        charset=None if final_dom else parse_charset(fields),
        final_dom=final_dom,
        whole=chosen.body_metas,
        limit=chosen.max_html_bytes,
        complete=complete,
    )


def _compare_states(mentions: Sequence[Mention]) -> Iterator[TagNote]:
    """Yield a note for each rule that only one state of the page has (AMB-94)."""
    states: dict[PageState, dict[tuple[str, Value | None], TagSource]] = {
        PageState.INITIAL: {},
        PageState.FINAL: {},
    }
    for mention in mentions:
        if mention.source.state is not None and mention.standing is RuleStatus.IN_FORCE:
            rule = mention.name, mention.value
            states[mention.source.state].setdefault(rule, mention.source)
    initial, final = states[PageState.INITIAL], states[PageState.FINAL]
    for key, source in final.items():
        if key not in initial:
            yield note("only-in-final-dom", source)
    for key, source in initial.items():
        if key not in final:
            yield note("only-in-initial-html", source)
