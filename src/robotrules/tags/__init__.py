"""
Tags: what a response and a page say about their use (draft-illyes-repext, X-Robots-Tag, meta).

    >>> from robotrules.tags import usage_rules
    >>> rules = usage_rules(headers={"Robots-Tag": "*;nosnippet, ExampleBot;noindex"},
    ...                     product_token="ExampleBot")
    >>> print(rules)
    nosnippet, noindex
    >>> rules.may_index
    False

`usage_rules` unites all carriers for one crawler. It does no I/O and has no clock. What it says are
requests about use, and no form of access authorization.
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
    LONGEST_KEPT,
    MOST_KEPT,
    ParsedField,
    Said,
    robots_tag,
    x_robots_tag,
)
from robotrules.tags.html import Page, PageReader, read_page
from robotrules.tags.known import EVERYONE, KNOWN, Value
from robotrules.tags.meta import page_rules
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
from robotrules.tags.rules import Mention, RuleStatus, United, UsageRules, unite
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
    Return the tag rules in force for a crawler, from all that was fetched.

    *headers* are those of the final response, as you have them: a mapping, pairs, raw octets, or a
    response of httpx, requests, aiohttp or Scrapy. *html* is the initial HTML, octets or text,
    whole or in chunks; *dom* the final DOM as text, where scripts were run. All of it is united
    (§4). *product_token* may be several, and then counts what is said to any. *url* tells whether
    it came over TLS. *received* and *recrawl_interval* are for `response_freshness`. Not *complete*: *html*
    was cut before its end, so what its head says is known only if it is over by then; without
    *html*, nothing of a page was read that is there. Content never raises.
    """
    chosen = find_tag_profile(profile)
    tokens = validate_product_tokens(product_token)
    fields = read_fields(headers)
    over_tls = _over_tls(url if url is not None else _url_of(headers))
    more = _registered(registries)
    found = _from_fields(fields, tokens, chosen, more, over_tls)
    if isinstance(headers, (str, bytes)) and headers.strip() and not fields.lines:
        found = found._replace(notes=(note("no-field-line"),))
    if any(sign in token for token in tokens for sign in " /(;"):
        found = found._replace(notes=(note("odd-product-token"), *found.notes))
    read = [] if headers is None else ["headers"]
    if html is not None or dom is not None:
        found = _with_pages(
            found, html, dom, fields, tokens, chosen, more, over_tls, read, complete
        )
    if html is None and not complete and is_html(fields):
        found = found._replace(notes=(*found.notes, note("head-not-final")))
    return UsageRules(
        tokens,
        found.united.values,
        found.united.mentions,
        found.united.others,
        (*found.notes, *found.united.notes),
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
    Read a Robots-Tag field, one value or its lines in order, whomever it speaks to.

    With profile `strict` a field that fails to parse says nothing, as RFC 9651 §4.2 has it.
    """
    given = [lines] if isinstance(lines, (str, bytes)) else lines
    if not isinstance(given, Sequence):
        raise TypeError(f"Robots-Tag is str or bytes, or a list of its lines; not {lines!r:.60}")
    fields = read_fields([(str(FIELD), line) for line in given])
    return robots_tag(fields.get(FIELD), find_tag_profile(profile))


def validate_product_tokens(product_token: str | Sequence[str]) -> tuple[str, ...]:
    """Return product tokens as tags are compared with them: in lower case, each once."""
    if isinstance(product_token, str):
        return _kept_tokens((product_token,))
    given = product_token
    if (
        not isinstance(given, Sequence)
        or isinstance(given, bytes)
        or not all(isinstance(one, str) for one in given)
    ):
        raise TypeError(
            f"product_token is a str such as 'ExampleBot', or a list of them; not {product_token!r}"
        )
    return _kept_tokens(tuple(given))


@lru_cache(MOST_KEPT)
def _kept_tokens(given: tuple[str, ...]) -> tuple[str, ...]:
    if not given or not all(one.strip() for one in given):
        raise ProductTokenError("product_token is empty: pass a name such as 'ExampleBot', or '*'")
    return tuple(dict.fromkeys(one.strip().lower() for one in given))


def _url_of(response: object) -> object:
    """Return where a response is from, if it is one and says so."""
    try:
        return getattr(response, "url", None)
    except Exception:  # a property of somebody's class: httpx raises where no request is known
        return None


def _over_tls(url: object) -> bool | None:
    if url is None:
        return None
    text = url.decode("latin-1") if isinstance(url, bytes) else str(url)
    scheme = text[:8].lower()
    return True if scheme == "https://" else False if scheme.startswith("http://") else None


def _registered(registries: Registries | None) -> frozenset[str]:
    """Return the rules that a registry has beyond those that are known anyway."""
    if registries is None:
        return frozenset()
    return frozenset(entry.key for entry in registries.tag_rules if entry.key not in KNOWN)


class _Found(NamedTuple):
    """What carriers say to whomever, what is odd about them, and what it is to one crawler."""

    said: tuple[tuple[Said, TagSource], ...]
    notes: tuple[TagNote, ...]
    united: United


def _from_fields(
    fields: Fields,
    tokens: tuple[str, ...],
    profile: TagProfile,
    more: frozenset[str],
    over_tls: bool | None,
) -> _Found:
    new, old = tuple(fields.get(FIELD)), tuple(fields.get(LEGACY_FIELD))
    if not new and not old:
        return _NOTHING
    short = sum(map(len, new)) + sum(map(len, old)) <= LONGEST_KEPT
    # A crawl sees the same few values millions of times.
    read = _kept_headers if short else _read_headers
    return read(new, old, fields.apart, tokens, profile, more, over_tls)


def _read_headers(
    new: tuple[bytes, ...],
    old: tuple[bytes, ...],
    apart: bool,
    tokens: tuple[str, ...],
    profile: TagProfile,
    more: frozenset[str],
    over_tls: bool | None,
) -> _Found:
    notes: list[TagNote] = []
    if new and profile.x_robots_tag_only:
        notes.append(note("field-not-documented", TagSource(FIELD, over_tls=over_tls)))
        new = ()
    read = [(FIELD, robots_tag(new, profile, more))]
    if old and any(new) and profile.prefer_robots_tag:
        notes.append(note("field-not-read", TagSource(LEGACY_FIELD, over_tls=over_tls)))
    else:
        read.append((LEGACY_FIELD, x_robots_tag(old, profile, more, apart=apart)))
    said: list[tuple[Said, TagSource]] = []
    for carrier, field in read:
        lines = {one.line for one in field.said} | {one.line for one in field.odd}
        sources = {line: TagSource(carrier, line, over_tls=over_tls) for line in lines}
        said += [(one, sources[one.line]) for one in field.said]
        notes += [note(odd.code, sources[odd.line], odd.start, odd.end) for odd in field.odd]
    return _Found(tuple(said), tuple(notes), unite(said, tokens, profile, more))


_NOTHING = _Found((), (), United())
_kept_headers = lru_cache(MOST_KEPT)(_read_headers)


def _with_pages(
    found: _Found,
    html: Html | None,
    dom: Html | None,
    fields: Fields,
    tokens: tuple[str, ...],
    profile: TagProfile,
    more: frozenset[str],
    over_tls: bool | None,
    read: list[str],
    complete: bool,
) -> _Found:
    """Return what fields and pages say together; *read* learns which pages were looked at."""
    said, notes = list(found.said), list(found.notes)
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
        says = page_rules(page, state, tokens, profile, over_tls=over_tls, more=more)
        said += says.said
        notes += says.notes
    united = unite(said, tokens, profile, more)
    if "html" in read and "dom" in read:
        notes += _labelled(united.mentions)
    return _Found(tuple(said), tuple(notes), united)


def html_page(
    html: Html,
    headers: object,
    profile: str | TagProfile = "default",
    *,
    final_dom: bool = False,
    complete: bool = True,
) -> Page | None:
    """
    Return the meta elements of a page as a profile reads it; None: *headers* say it is no HTML.

    Headers name a charset that counts for the initial HTML. A final DOM has none, and is HTML
    whatever the response said. Not *complete*: *html* was cut before its end.
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


def _labelled(mentions: Sequence[Mention]) -> Iterator[TagNote]:
    """Yield a note for each rule that only one state of the page has (AMB-94)."""
    states: dict[PageState, dict[tuple[str, Value | None], TagSource]] = {
        PageState.INITIAL: {},
        PageState.FINAL: {},
    }
    for one in mentions:
        if one.source.state is not None and one.standing is RuleStatus.IN_FORCE:
            states[one.source.state].setdefault((one.name, one.value), one.source)
    initial, final = states[PageState.INITIAL], states[PageState.FINAL]
    for key, source in final.items():
        if key not in initial:
            yield note("only-in-final-dom", source)
    for key, source in initial.items():
        if key not in final:
            yield note("only-in-initial-html", source)
