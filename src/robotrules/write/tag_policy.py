"""
Tag rules of a policy: the `[[tags]]` tables, with path patterns, rules and crawlers.

    [[tags]]
    paths = ["/drafts/", "/*.pdf$", "/*.pdf?"]
    rules = ["noindex", "max-snippet: 50"]
    crawlers = ["ExampleBot"]

The tables have no effect on the robots.txt: `robotrules.serving` sends the rules in Robots-Tag and
X-Robots-Tag fields. All tables that match a URL apply, and the strictest value of a rule counts, so
their order has no meaning. `indexifembedded` is the one rule that permits something: it lifts the
`noindex` beside it, and is dropped where another table has `noindex` without it. This module reads
and combines tables; it matches no URL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from robotrules.errors import WriteError
from robotrules.tags.known_rules import (
    EMBEDS,
    EVERYONE,
    KNOWN,
    VALUED,
    Value,
    ValueKind,
    read_text,
    stricter,
    to_json_value,
)
from robotrules.toml_positions import TomlValue
from robotrules.write.tag_values import robots_tag_fields
from robotrules.write.values import disallow, suggest_name

TAGS_KEYS = ("paths", "rules", "crawlers")

# The rules for each product token, with their values.
RulesByToken = dict[str, dict[str, Value]]


class PathTags(NamedTuple):
    """One `[[tags]]` table: tag rules for the URLs that path patterns match."""

    patterns: tuple[str, ...]
    """As in Disallow: `*` matches anything, and `$` at the end matches the end (RFC 9309 §2.2.3)"""
    rules: tuple[tuple[str, Value], ...]
    crawlers: tuple[str, ...] = (EVERYONE,)
    """Product tokens; `*` stands for all crawlers."""
    line: int | None = None
    """The line of the table in the policy."""

    def by_token(self) -> RulesByToken:
        """Return its rules for each product token, as `write.robots_tag` takes them."""
        return {token: dict(self.rules) for token in self.crawlers}

    def concerns(self, token: str) -> bool:
        """Return whether its rules apply to a crawler; to any crawler, if *token* is `*`."""
        names = {crawler.lower() for crawler in self.crawlers}
        return EVERYONE in (token, *names) or token.lower() in names

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "paths": list(self.patterns),
            "rules": {name: to_json_value(value) for name, value in self.rules},
            "crawlers": list(self.crawlers),
        }


def combine_tags(tables: Iterable[PathTags]) -> RulesByToken:
    """
    Return the rules of several tables together, `*` first; of two values the stricter one.

    Names of crawlers are compared without case, as readers of the fields do. `indexifembedded` is
    kept for a crawler if every table that has `noindex` for it, or for `*`, also has
    `indexifembedded`. Crawlers obey the rules for `*` too, so `*` keeps it if every table has it.
    """
    tables = tuple(tables)
    combined = _unite(tables, stricter)
    for token, rules in combined.items():
        if EMBEDS in rules and any(
            EMBEDS not in names
            for table in tables
            if "noindex" in (names := dict(table.rules)) and table.concerns(token)
        ):
            del rules[EMBEDS]
    return {token: rules for token, rules in combined.items() if rules}


def _unite(tables: Iterable[PathTags], choose: Callable[[Value, Value], Value]) -> RulesByToken:
    """Return the rules of all tables by product token, permissions included."""
    combined: RulesByToken = {}
    spellings: dict[str, str] = {EVERYONE: EVERYONE}
    for table in tables:
        for token, rules in table.by_token().items():
            named = combined.setdefault(spellings.setdefault(token.lower(), token), {})
            for name, value in rules.items():
                named[name] = choose(named[name], value) if name in named else value
    return dict(sorted(combined.items(), key=lambda item: item[0] != EVERYONE))


def read_tags(entries: TomlValue) -> tuple[PathTags, ...]:
    """
    Return the `[[tags]]` tables of a policy.

    Raises the error of *entries*, with the position, for a path, a rule or a crawler that the
    fields cannot express. If the fields of all tables together fit, so do those of any URL.
    """
    if not isinstance(entries.value, list):
        entries.refuse("this is a list of tables: write [[tags]] in two brackets")
    tables = tuple(map(_read_table, entries.parts()))
    try:
        require_writable(tables)
    except WriteError as error:
        raise entries.error(str(error)) from None
    return tables


def require_writable(tables: Iterable[PathTags]) -> None:
    """Raise WriteError unless the rules of any combination of tables fit in the fields."""
    robots_tag_fields(_unite(tables, _longer), legacy=True)


def _read_table(entry: TomlValue) -> PathTags:
    entry.table(TAGS_KEYS)
    for key, example in (("paths", '["/drafts/"]'), ("rules", '["noindex"]')):
        if not entry.at(key).value:
            entry.refuse(f"no {key}: add {key} = {example}")
    table = PathTags(
        _read_patterns(entry.at("paths")),
        tuple(_read_rules(entry.at("rules")).items()),
        _read_crawlers(entry.at("crawlers", [EVERYONE])),
        entry.line,
    )
    names = dict(table.rules)
    if EMBEDS in names and "noindex" not in names:
        entry.at("rules").refuse(
            f'{EMBEDS!r} has an effect only beside "noindex": write ["noindex", "{EMBEDS}"], or '
            "remove it"
        )
    _fields_at(entry.at("rules"), {EVERYONE: dict(table.rules)})
    _fields_at(entry.at("crawlers"), table.by_token())
    return table


def _fields_at(value: TomlValue, rules: RulesByToken, legacy: bool = True) -> None:
    """Write the fields of some rules, so that what cannot be written has its position."""
    try:
        robots_tag_fields(rules, legacy=legacy)
    except WriteError as error:
        raise value.error(str(error)) from None


def require_path(paths: TomlValue, pattern: str, *, example: str) -> None:
    """Raise the error of *paths* for a whole URL, and for several paths in one text."""
    if "://" in pattern:
        paths.refuse(f"{pattern!r} is a URL: write its path, such as {example!r}")
    # A URL has no blank, so one in a pattern is most likely a list that was meant.
    if " " in pattern or "\t" in pattern:
        each = ", ".join(f'"{part}"' for part in re.split(r",?[ \t]+", pattern.strip()))
        paths.refuse(
            f"{pattern!r} has a space: write each path in its own quotes, [{each}]; a space "
            "in a URL is written as %20"
        )


def _read_patterns(paths: TomlValue) -> tuple[str, ...]:
    patterns = []
    for pattern in paths.texts(example="/drafts/"):
        require_path(paths, pattern, example="/drafts/")
        try:
            patterns.append(disallow(pattern).pattern)
        except WriteError as error:
            raise paths.error(str(error)) from None
    return tuple(dict.fromkeys(patterns))


def _read_crawlers(crawlers: TomlValue) -> tuple[str, ...]:
    names = crawlers.texts(example="ExampleBot")
    if not names:
        crawlers.refuse('no crawler: add one, or leave the key out for all crawlers ("*")')
    for name in names:
        rules: RulesByToken = {name: {"noindex": True}}
        _fields_at(crawlers, rules, legacy=False)
        try:
            robots_tag_fields(rules, legacy=True)
        except WriteError:
            crawlers.refuse(
                f"X-Robots-Tag cannot name {name!r}: write the product token, such as "
                f"{suggest_name(name)!r}"
            )
    return tuple({name.lower(): name for name in names}.values())


def _read_rules(rules: TomlValue) -> dict[str, Value]:
    """Return rules with their values; text after a colon is the value: `max-snippet: 50`."""
    named: dict[str, Value] = {}
    for text in rules.texts(example="noindex"):
        if field := _FIELD.match(text):
            rest = text[field.end() :].strip().removeprefix("*;") or "noindex"
            rules.refuse(
                f"{text!r} has the name of the field, which the server adds: write {rest!r}"
            )
        name, colon, written = (part.strip() for part in text.partition(":"))
        if name != _DATED and "," in text:
            parts = ", ".join(f'"{part.strip()}"' for part in text.split(",") if part.strip())
            rules.refuse(f"{text!r} has several rules: write each in its own quotes, [{parts}]")
        before, equals, after = (part.strip() for part in name.partition("="))
        if equals and before in KNOWN:
            fix = f"{before}: {after}" if before in VALUED else before
            rules.refuse(f"{text!r} cannot be used: write {fix!r}, with a colon before a value")
        if name in KNOWN and KNOWN[name].kind is not ValueKind.PERMITS:
            parsed = read_text(name, written if colon else None)
            if parsed.value is None or parsed.note:
                rules.refuse(_describe_bad_value(text, name))
            value = parsed.value
        elif colon:
            rules.refuse(f"{text!r}: {name!r} takes no value, or is not a known tag rule")
        else:
            value = True
        named[name] = stricter(named[name], value) if name in named else value
    return named


_FIELD = re.compile(r"\s*(?:x-)?robots(?:-tag)?\s*:", re.IGNORECASE)
# Dates may have a comma: `Sun, 31 Jan 2027 12:00:00 GMT`.
_DATED = "unavailable_after"
_EXAMPLES = {
    ValueKind.NUMBER: "50",
    ValueKind.PREVIEW: "standard",
    ValueKind.DATE: "2027-01-31T12:00:00Z",
}


def _describe_bad_value(text: str, name: str) -> str:
    example = _EXAMPLES.get(KNOWN[name].kind)
    such = f"'{name}: {example}'" if example else f"'{name}', which takes no value"
    return f"{text!r} cannot be used: write {such}"


def _longer(one: Value, other: Value) -> Value:
    """Return the value with the longer text: a bound for the fields of any combination."""
    return max(one, other, key=lambda value: len(str(to_json_value(value))))
