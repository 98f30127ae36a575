"""
The reader of expectation files: TOML in, questions out.

An error names the file, the line, the key, the value, and what to write instead. An unknown key is
an error too: an expectation that is not evaluated is worse than none. The module does no I/O, and
does not read robots.txt.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from robotrules.errors import ExpectationError, ProductTokenError, RobotrulesError
from robotrules.expect.report_lines import truncate
from robotrules.expect.values import (
    EVERYONE,
    KEYS,
    OBEYED,
    Expectation,
    Expectations,
    PageSource,
    Question,
)
from robotrules.extensions.app_directives import directives_for
from robotrules.extensions.vocabulary import CATEGORIES, Preference
from robotrules.http.origins import origin_of
from robotrules.octets import visible
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import parse
from robotrules.robotstxt.tokens import can_be_name, leading_name, product_token
from robotrules.tags.known_rules import KNOWN, NO_LIMIT, NONE, VALUED, ValueKind, read_text
from robotrules.toml_positions import TomlValue, read

# Files written by hand have some kilobytes, and some hundred questions.
MAX_BYTES = 1 << 20
MAX_QUESTIONS = 100_000

IN_A_FILE = ("robots", "url", "origin", "profile", "expect")
OF_PAGES = ("tags", "no-tags", "only-tags")
OF_VERDICTS = ("allowed", "disallowed")
OF_APPLICATIONS = ("app-directives", "no-app-directives")
OF_FILE = ("sitemaps", "records", "no-records")
ALL_URLS = ("all-allowed", "all-disallowed")
BESIDE = ("crawlers", "purposes", "at", "page", "response", "headers", "application")
IN_AN_EXPECTATION = (*BESIDE[:2], *KEYS, "by-line", "by-rule", *BESIDE[2:], "why")


def read_expectations(text: str | bytes, name: str = "robots.test.toml") -> Expectations:
    """
    Read the text of an expectation file; *name* is for messages.

    Raises `ExpectationError` with the line, what is wrong and how to fix it.
    """
    octets = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
    whole = read(octets, name, ExpectationError, MAX_BYTES).table(IN_A_FILE)
    if "robots" in whole and "url" in whole:
        whole.at("url").refuse("robots names a file and url a live one: remove one of them")
    robots = whole.at("robots").text(example="robots.txt") if "robots" in whole else None
    if robots is not None and "://" in robots:
        whole.at("robots").refuse(
            f'this must be a file; for a live robots.txt set url = "{robots}"'
        )
    return _Reader(name, whole, robots).read()


class _Reader:
    """The state of reading one file."""

    def __init__(self, name: str, whole: TomlValue, robots: str | None) -> None:
        self._whole = whole
        self._name, self._robots = name, robots
        self._url = self._live(whole.at("url")) if "url" in whole else None
        self._profile = _profile(whole)
        self._origin = self._given_origin()
        self._questions: list[Question] = []

    def read(self) -> Expectations:
        """Return the expectations of the file."""
        tables = self._whole.at("expect", [])
        if not isinstance(tables.value, list):
            tables.refuse("this must be a list of tables: write [[expect]] with two brackets")
        for table in tables.parts():
            self._expectation(table.table(IN_AN_EXPECTATION))
        if not self._questions:
            self._whole.refuse("this file has no expectations: add a table [[expect]]")
        return Expectations(
            self._name,
            self._robots,
            self._url,
            self._origin,
            self._profile,
            # In the order of the file; keys are read in another order.
            tuple(
                question._replace(number=number)
                for number, question in enumerate(sorted(self._questions, key=_line), 1)
            ),
            self._whole.at("robots").line,
        )

    # --- The file ---

    def _live(self, place: TomlValue) -> str:
        url = place.text(example="https://example.com/robots.txt")
        if _origin(place, url) is None:
            place.refuse('this must be a whole URL such as "https://example.com/robots.txt"')
        return url

    def _given_origin(self) -> str | None:
        if "origin" not in self._whole:
            return _origin(self._whole.at("url"), self._url) if self._url else None
        place = self._whole.at("origin")
        origin = _origin(place, place.text(example="https://example.com"))
        if origin is None:
            place.refuse('this must be a scheme and a host such as "https://example.com"')
        if self._url and origin != _origin(self._whole.at("url"), self._url):
            place.refuse("url has another origin, and a robots.txt applies to its own: remove this")
        return origin

    # --- One expectation ---

    def _expectation(self, table: TomlValue) -> None:
        about = self._about(table)
        keys = [key for key in KEYS if key in table]
        if not keys:
            table.refuse(f"this table expects nothing: add one of {', '.join(KEYS)}")
        self._check_combinations(table, about)
        for key in keys:
            place = table.at(key)
            for crawler in _crawlers_for(key, about):
                for line, url, value in self._read_key(key, place, about):
                    number = len(self._questions) + 1
                    if number > MAX_QUESTIONS:
                        place.refuse(f"these are more than {MAX_QUESTIONS:,} questions: use fewer")
                    self._questions.append(Question(number, key, line, about, crawler, url, value))

    def _about(self, table: TomlValue) -> Expectation:
        by_line = table.at("by-line").count() if "by-line" in table else None
        by_rule = _text(table, "by-rule", "Disallow: /search")
        if by_rule is not None and _rule(by_rule) not in RULES:
            table.at("by-rule").refuse('this must be a rule as written, such as "Disallow: /a"')
        return Expectation(
            table.line or 1,
            self._crawlers(table),
            _texts(table, "purposes", "EXAMPLE-PURPOSE-1"),
            tuple(self._address(place) for place in _each(table, "at", "/news")),
            self._page(table),
            self._application(table),
            by_line,
            by_rule,
            _text(table, "why", "search engines see the news") or "",
        )

    def _crawlers(self, table: TomlValue) -> tuple[tuple[str, ...], ...]:
        found = []
        for place in _parts(table, "crawlers"):
            several = isinstance(place.value, list)
            names = place.texts(example=EXAMPLE) if several else (place.text(example=EXAMPLE),)
            if not names:
                place.refuse('a crawler needs a name: ["Googlebot-News", "Googlebot"]')
            for part, name in zip(place.parts() if several else [place], names, strict=True):
                if message := _explain_wrong_name(name):
                    part.refuse(message)
            try:
                parse(b"", self._profile or "default").check("/", names)
            except ProductTokenError as error:
                place.refuse(str(error))
            found.append(names)
        return tuple(dict.fromkeys(found))

    def _page(self, table: TomlValue) -> PageSource | None:
        headers = _texts(table, "headers", "X-Robots-Tag: noindex")
        for place in _each(table, "headers", "X-Robots-Tag: noindex"):
            if ":" not in place.text():
                place.refuse('this must be a header line such as "X-Robots-Tag: noindex"')
        page = _text(table, "page", "pages/draft.html")
        response = _text(table, "response", "pages/draft.http")
        if page and response:
            table.at("page").refuse("response includes the page: remove one of them")
        if not (page or response or headers):
            return None
        if page and "://" in page:
            if headers:
                table.at("headers").refuse("a live page has its own headers: remove these")
            if "at" in table:
                table.at("at").refuse("a live page has its own URL: remove this")
            return PageSource(url=self._address(table.at("page")))
        return PageSource(page, None, response, headers)

    def _application(self, table: TomlValue) -> str | None:
        application = _text(table, "application", "examplesearch")
        if application is not None:
            try:
                directives_for(parse(b""), application)
            except ValueError as error:
                table.at("application").refuse(str(error))
        return application

    def _check_combinations(self, table: TomlValue, about: Expectation) -> None:
        """Refuse keys that have no effect without others, or contradict them."""
        for key, needs in NEEDS.items():
            if key in table and not any(other in table for other in needs):
                table.at(key).refuse(f"this has no effect without {' or '.join(needs)}")
        if about.by_line and about.by_rule:
            table.at("by-rule").refuse("by-line names the rule already: remove one of them")
        for rule, word in RULES.items() if about.by_rule else ():
            if _rule(about.by_rule or "") != rule and word in table:
                table.at("by-rule").refuse(
                    f"this rule makes no URL {word}: name one with {rule.capitalize()}, or remove "
                    f"{word} here"
                )
        for key in ("page", "response", "headers"):
            if key in table and not any(other in table for other in (*OF_PAGES, "preferences")):
                table.at(key).refuse("this is used for tags: add tags, no-tags or only-tags")

    # --- Questions ---

    def _read_key(
        self, key: str, place: TomlValue, about: Expectation
    ) -> Iterator[tuple[int, str | None, Any]]:
        """Yield line, URL and expected value of each question of a key."""
        line = place.line or about.line
        if key in OF_VERDICTS:
            for part in _whole(place, "/news"):
                yield part.line or line, self._plain_url(part), key == "allowed"
        elif key in ALL_URLS:
            for part in _whole(place, "/private/*"):
                yield part.line or line, _pattern(part), key == "all-allowed"
        elif key in OF_PAGES:
            urls = about.at or (about.page.url if about.page else None,)
            tags = [(part.line or line, _tag(part)) for part in _whole(place, "noindex")]
            found = [(line, tuple(tag for _, tag in tags))] if key == "only-tags" else tags
            yield from ((where, url, tag) for url in urls for where, tag in found)
        elif key == "preferences":
            for part in place.table(CATEGORIES).parts():
                value = part.text(among=tuple(map(str, Preference)))
                urls = about.at or ((about.page.url or "/") if about.page else "/",)
                yield from ((part.line or line, url, (str(part.path[-1]), value)) for url in urls)
        elif key == "app-directives":
            for part in place.table().parts():
                value = _directive(part)
                for url in about.at or ("/",):
                    yield part.line or line, url, (str(part.path[-1]), value)
        elif key == "no-app-directives":
            for part in _whole(place, "widgets"):
                yield from ((part.line or line, url, part.text()) for url in about.at or ("/",))
        elif key == "sitemaps":
            yield line, None, place.texts(example="https://example.com/sitemap.xml")
        elif key in ("records", "no-records"):
            for part in _whole(place, "Host: example.com"):
                if key == "records" and ":" not in part.text():
                    part.refuse('this must be a record as written, such as "Host: example.com"')
                yield part.line or line, None, part.text()
        elif key == "obeys":
            yield line, None, place.text(among=tuple(OBEYED))
        else:
            yield line, None, _delay(place)

    def _plain_url(self, place: TomlValue) -> str:
        url = self._address(place)
        if "*" in url or url.endswith("$"):
            key = f"all-{place.path[-2] if isinstance(place.path[-1], int) else place.path[-1]}"
            place.refuse(
                f"this must be one URL, without '*' and '$': for all URLs that a pattern matches "
                f"use {key}; for the characters themselves write %2A and %24"
            )
        return url

    def _address(self, place: TomlValue) -> str:
        """Return a URL or path of the origin; the first URL sets the origin, if it is not set."""
        url = place.text(example="/news")
        if url.startswith("/") and not url.startswith("//"):
            return url
        origin = _origin(place, url)
        if origin is None:
            place.refuse('this must be a path such as "/news", or a whole URL')
        if self._origin is None:
            self._origin = origin
        if origin != self._origin:
            place.refuse(
                f"this robots.txt applies to {self._origin} only: use its URLs here, and another "
                "file for other origins"
            )
        return url


EXAMPLE = "Googlebot"
# The rule that gives a URL the expected verdict.
RULES = {"allow": "allowed", "disallow": "disallowed"}
NEEDS = {
    "by-line": OF_VERDICTS,
    "by-rule": OF_VERDICTS,
    "tags": ("page", "response", "headers"),
    "no-tags": ("page", "response", "headers"),
    "only-tags": ("page", "response", "headers"),
    "app-directives": ("application",),
    "no-app-directives": ("application",),
    "application": OF_APPLICATIONS,
    "at": (*OF_PAGES, "preferences", *OF_APPLICATIONS),
}


def _line(question: Question) -> int:
    return question.line


def _crawlers_for(key: str, about: Expectation) -> tuple[tuple[str, ...], ...]:
    """Return the crawlers that a key applies to; none for records of the file."""
    if key in OF_FILE:
        return ((),)
    # An application has its own groups, unless crawlers are named.
    return about.crawlers or (() if key in OF_APPLICATIONS else EVERYONE,)


def _rule(written: str) -> str:
    return written.partition(":")[0].strip().lower()


def _profile(whole: TomlValue) -> str | None:
    return whole.at("profile").text(among=tuple(PROFILES)) if "profile" in whole else None


def _origin(place: TomlValue, url: str) -> str | None:
    try:
        return origin_of(url)
    except RobotrulesError as error:
        place.refuse(str(error))


def _parts(table: TomlValue, key: str) -> Iterator[TomlValue]:
    """Yield the parts of a list; a single value counts as a list of one."""
    place = table.at(key, [])
    yield from place.parts() if isinstance(place.value, list) else [place]


def _whole(place: TomlValue, example: str) -> Iterator[TomlValue]:
    """Yield the texts of a list that is not empty; a single text counts as a list of one."""
    if not place.texts(example=example):
        place.refuse(f'this is empty, so nothing is expected: add values such as "{example}"')
    yield from place.parts() if isinstance(place.value, list) else [place]


def _each(table: TomlValue, key: str, example: str) -> Iterator[TomlValue]:
    if key in table:
        yield from _whole(table.at(key), example)


def _texts(table: TomlValue, key: str, example: str) -> tuple[str, ...]:
    return table.at(key, []).texts(example=example)


def _text(table: TomlValue, key: str, example: str) -> str | None:
    return table.at(key).text(example=example) if key in table else None


def _pattern(place: TomlValue) -> str:
    pattern = place.text()
    if not pattern.startswith(("/", "*")):
        place.refuse('this must be a path pattern, which starts with "/" or "*": "/private/*"')
    return pattern


def _tag(place: TomlValue) -> str:
    """Return a tag rule as `name` or `name: value`."""
    name, colon, value = place.text().partition(":")
    name, value = name.strip().lower(), value.strip()
    if name == NONE:
        place.refuse("none stands for noindex and nofollow: use these")
    if name not in KNOWN:
        place.refuse_name(name, tuple(KNOWN))
    if KNOWN[name].kind is ValueKind.PERMITS:
        place.refuse(f"{name} restricts nothing: use no-tags for tags that should be absent")
    if not colon:
        return name
    found = read_text(name, value).value if name in VALUED else None
    if found is None:
        place.refuse(f"{name} has no such value: remove or correct it")
    if found == NO_LIMIT:
        place.refuse("-1 means no limit, so it restricts nothing: use no-tags instead")
    return f"{name}: {value}"


def _directive(place: TomlValue) -> Any:
    if isinstance(place.value, (bool, int, str)):
        return place.value
    if isinstance(place.value, float):
        return Decimal(str(place.value))
    raise place.error("the value of an app directive must be text, a number, true or false")


def _delay(place: TomlValue) -> float | bool:
    value = place.value
    if value is False:
        return False
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        place.refuse("this must be a number of seconds, or false for none")
    return float(value)


def _explain_wrong_name(name: str) -> str:
    """
    Return why a name is not a product token, and which one to write; empty if it may be one.

    A robots.txt has an answer for every name: with a misspelt one it is that for everyone, and the
    expectation may pass although it checks nothing.
    """
    if can_be_name(name) or not name.strip():
        return ""
    # The first of two words is not the name, but may be part of one.
    known = KNOWN_CRAWLERS.get(name) or KNOWN_CRAWLERS.closest(name)
    token = known.product_token if known else product_token(name)
    if known and not can_be_name(known.product_token):
        token = leading_name(known.product_token)  # the part that parsers read
    fix = f'write "{token}"' if token else 'write its product token, such as "Googlebot"'
    return f'"{truncate(visible(name), 60)}" is not a product token: {fix}'
