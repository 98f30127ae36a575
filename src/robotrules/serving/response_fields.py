"""
Fields by path: Robots-Tag, X-Robots-Tag and Content-Usage for the URL of a request.

Tag rules come from the `[[tags]]` tables of a policy, Content-Usage from the records of its
robots.txt for all crawlers (`*`). Patterns are matched by the engine that matches Allow and
Disallow. Results are cached by what matched, not by URL, so memory is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from robotrules.analysis.crawlers import named_crawlers
from robotrules.extensions.content_usage import PreferenceSet, preferences_for
from robotrules.extensions.vocabulary import Preference
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.selection import choose_groups
from robotrules.tags.known_rules import EMBEDS, EVERYONE
from robotrules.write import content_usage_record, robots_tag_fields
from robotrules.write.tag_policy import PathTags, RulesByToken, combine_tags, require_writable

ROBOTS_TAG, X_ROBOTS_TAG, CONTENT_USAGE = "Robots-Tag", "X-Robots-Tag", "Content-Usage"
# Combinations of matching patterns that are remembered; a policy has a few.
REMEMBERED_COMBINATIONS = 1024

# A value of a tag field that asks not to index; `none` is also a size of previews.
_NOINDEX = re.compile(
    r'max-image-preview\s*[:=]\s*"?none|(?<![-\w])(noindex|none)(?![-\w])', re.IGNORECASE
)

Field = tuple[str, str]
RawField = tuple[bytes, bytes]


class ResponseFields(NamedTuple):
    """The fields to add to a response. What the application sends itself is never removed."""

    for_all: tuple[Field, ...] = ()
    """Robots-Tag, and the X-Robots-Tag line for all crawlers."""
    for_named: tuple[Field, ...] = ()
    """X-Robots-Tag lines for one crawler each."""
    content_usage: str = ""
    """The value of Content-Usage; empty: no field."""
    without_permissions: ResponseFields | None = None
    """The fields without `indexifembedded`, if they have it."""

    def add_to(self, headers: Iterable[Field]) -> list[Field]:
        """
        Return the fields of a response with these added.

        The X-Robots-Tag line for all crawlers comes before the application's, and lines for one
        crawler after it: where an intermediary joins lines with commas, the scope of one line does
        not extend to the rules of another (AMB-82). Rules of all lines apply; `indexifembedded`,
        which permits something, is left out if the application sends `noindex` itself. A
        Content-Usage of the application takes precedence: in a second line the last value of a key
        would count (RFC 9651 §4.2.2).
        """
        sent = list(headers)
        if self.without_permissions and _asks_not_to_index(sent):
            return self.without_permissions.add_to(sent)
        added = [*self.for_all, *sent, *self.for_named]
        if self.content_usage:
            if not any(name.lower() == "content-usage" for name, _ in sent):
                added.append((CONTENT_USAGE, self.content_usage))
        return added

    def add_to_raw(self, headers: Iterable[RawField]) -> list[RawField]:
        """Return the same for names and values in bytes, as ASGI has them."""
        sent = list(headers)
        if self.without_permissions and _asks_not_to_index(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in sent
        ):
            return self.without_permissions.add_to_raw(sent)
        added = [*_encode(self.for_all), *sent, *_encode(self.for_named)]
        if self.content_usage:
            if not any(name.lower() == b"content-usage" for name, _ in sent):
                added.append((b"content-usage", self.content_usage.encode("ascii")))
        return added

    def joined(self, sent: Sequence[Field]) -> list[Field]:
        """
        Return the fields to set, for frameworks that send one line for each field.

        *sent* are the tag fields and Content-Usage of the application; their rules are part of the
        result. Google documents several scopes in one X-Robots-Tag line.
        """
        values: dict[str, list[str]] = {}
        for name, value in self.add_to(sent):
            values.setdefault(_SPELLINGS.get(name.lower(), name), []).append(value)
        return [(name, ", ".join(lines)) for name, lines in values.items()]

    def __bool__(self) -> bool:
        return self != NO_FIELDS


NO_FIELDS = ResponseFields()
_SPELLINGS = {name.lower(): name for name in (ROBOTS_TAG, X_ROBOTS_TAG, CONTENT_USAGE)}


def _asks_not_to_index(headers: Iterable[Field]) -> bool:
    """Return whether tag fields have `noindex` or `none`, for any crawler."""
    return any(
        found[1]
        for name, value in headers
        if name.lower() in ("robots-tag", "x-robots-tag")
        for found in _NOINDEX.finditer(value)
    )


def _encode(fields: Iterable[Field]) -> list[RawField]:
    # ASGI requires names in lower case.
    return [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in fields]


class FieldTable:
    """The fields of a policy by path."""

    def __init__(self, robots: RobotsTxt, tags: Sequence[PathTags] = ()) -> None:
        require_writable(tags)
        self._tags = tags
        # The table of each pattern, by the pattern's position.
        self._owners = [at for at, table in enumerate(tags) for _ in table.patterns]
        patterns = [pattern for table in tags for pattern in table.patterns]
        self._patterns = RuleSet.from_patterns(patterns)
        self._usage = preferences_for(robots, EVERYONE)
        self._exceptions = _find_exceptions(robots) if len(self._usage) else ()
        self._is_empty = not patterns and not len(self._usage)
        self._cache: dict[object, ResponseFields] = {}

    def find(self, url: str | bytes) -> ResponseFields:
        """Return the fields for a URL."""
        if self._is_empty:
            return NO_FIELDS
        matched = self._patterns.matches(url)[1] if self._owners else ()
        stated = self._usage.stated_for_url(url).values if len(self._usage) else ()
        if self._exceptions and stated:
            stated = self._without_exceptions(url, stated)
        key = matched, stated
        fields = self._cache.get(key)
        if fields is None:
            if len(self._cache) >= REMEMBERED_COMBINATIONS:
                self._cache.clear()
            fields = self._cache[key] = self._make_fields(matched, stated)
        return fields

    def _without_exceptions(
        self, url: str | bytes, stated: tuple[tuple[str, Preference], ...]
    ) -> tuple[tuple[str, Preference], ...]:
        """
        Return preferences without those that the robots.txt lifts for some crawlers.

        A field applies to everyone, and any statement that disallows decides (vocab §5.1): with
        `train-ai=n` in the field, the robots.txt could not allow it to a named crawler.
        """
        disallowed = {label for label, value in stated if value is Preference.DISALLOWED}
        lifted: set[str] = set()
        for usage in self._exceptions:
            if lifted >= disallowed:
                break
            values = usage.stated_for_url(url).values
            lifted |= {label for label, value in values if value is Preference.ALLOWED}
        return tuple(
            (label, value)
            for label, value in stated
            if not (value is Preference.DISALLOWED and label in lifted)
        )

    def _make_fields(
        self,
        matched: Iterable[tuple[int, int]],
        stated: Iterable[tuple[str, Preference]],
    ) -> ResponseFields:
        tables = sorted({self._owners[position] for position, _ in matched})
        rules = combine_tags(self._tags[at] for at in tables)
        usage = {label: value for label, value in stated if value is not Preference.UNKNOWN}
        content_usage = content_usage_record(usage).value if usage else ""
        fields = _format_fields(rules, content_usage)
        if not any(EMBEDS in named for named in rules.values()):
            return fields
        restricting = {
            token: {name: value for name, value in named.items() if name != EMBEDS}
            for token, named in rules.items()
        }
        return fields._replace(without_permissions=_format_fields(restricting, content_usage))


def _format_fields(rules: RulesByToken, content_usage: str) -> ResponseFields:
    lines = robots_tag_fields(rules, legacy=True) if rules else []
    count = 1 + (EVERYONE in rules)  # Robots-Tag, and the line for all crawlers comes first
    return ResponseFields(tuple(lines[:count]), tuple(lines[count:]), content_usage)


def _find_exceptions(robots: RobotsTxt) -> tuple[PreferenceSet, ...]:
    """Return the preferences for some crawlers that allow a use, each set of records once."""
    regrouped = robots.grouped_for("content-usage")
    found: dict[tuple[bytes, ...], PreferenceSet] = {}
    for crawler in named_crawlers(robots):
        choice = choose_groups(regrouped, crawler.names, crawler.purposes)
        values = tuple(
            record.value
            for group in choice.groups
            for record in group.records
            if record.key == "content-usage"
        )
        if values not in found and any(b"=y" in value for value in values):
            found[values] = preferences_for(robots, crawler.names, crawler.purposes)
    return tuple(found.values())
