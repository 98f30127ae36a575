"""
Policies: a short TOML file with the requests of a site to crawlers, converted to a robots.txt.

A policy has `keep-out` and `welcome` paths, allowed uses of content, and directives for single
applications; `compose` makes groups of them. Requests to everyone apply to all crawlers: they are
repeated in the groups of named crawlers, because RFC 9309 §2.2.1 makes these obey their own group
only. Requests to a named crawler take precedence. `for-purpose` stands for all well-known crawlers
with a purpose, which are written by name: User-Agent-Purpose is a draft that they do not know. Tag
rules by path are not part of a robots.txt: `tag_policy` reads them, and `read_policy` returns both.
A policy with the key `robots-txt` names a file that is served as it is, and generates none. This
module does not read files; `write` lays out the robots.txt.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

from robotrules.errors import WriteError
from robotrules.http import structured_fields
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS
from robotrules.robotstxt import normalize_path
from robotrules.toml_positions import TomlValue, read
from robotrules.write import (
    NewGroup,
    NewRecord,
    NewRobotsTxt,
    NewRule,
    app_directives_record,
    content_usage_record,
    display_string_value,
    most_specific_first,
    token_value,
)
from robotrules.write.tag_policy import PathTags, read_tags, require_path
from robotrules.write.values import longer_names_first

# A policy is written by hand; a larger file is not a policy.
LARGEST = 1 << 20
# Keys whose content is written to the robots.txt.
ROBOTS_KEYS = ("comment", "sitemaps", "records", "everyone", "for", "applications")
EXISTING = "robots-txt"
POLICY_KEYS = (*ROBOTS_KEYS, EXISTING, "tags")
EVERYONE_KEYS = ("comment", "keep-out", "welcome", "use", "crawl-delay", "records")
FOR_KEYS = ("crawlers", "for-purpose", "purposes", "instead-of-everyone", *EVERYONE_KEYS)
# What a robots.txt calls them.
RECORD_KEYS = {"disallow": "keep-out", "allow": "welcome", "user-agent": "crawlers"}
REQUEST_KEYS = ("keep-out", "welcome", "crawlers")
# The categories of draft-ietf-aipref-vocab-07 §6.1.
USES = ("train-ai", "search")
# Types that TOML does not have (RFC 9651 §3.3).
SPECIAL = ("token", "text", "bytes")
PURPOSE_COMMENT = "Crawlers that do not know User-Agent-Purpose skip this group."

# Statements by path; those of None apply if no path matches.
ByPath = dict[str | None, dict[str, Any]]


class Policy(NamedTuple):
    """A policy: the robots.txt, and the tag rules that responses have by path."""

    robots: NewRobotsTxt
    """The robots.txt to write; empty if there is a file in its place."""
    tags: tuple[PathTags, ...]
    robots_txt: str | None = None
    """The file that is served as it is, relative to the policy; None: *robots* is served."""


def read_policy(text: str, name: str = "policy.toml") -> Policy:
    """
    Return the robots.txt and the tag rules of a policy; *name* is for its errors.

    Raises `WriteError` with the file, the line, the key and the known values. A policy of more than
    1 MiB, or with too deep nesting, is rejected.
    """
    # A lone surrogate is not valid UTF-8, and rejected as such.
    octets = text.encode("utf-8", "surrogatepass")
    policy = read(octets, name, WriteError, LARGEST)
    robots = _make_robots(policy)
    return Policy(robots, read_tags(policy.at("tags", [])), _read_existing(policy))


def compose(text: str, name: str = "policy.toml") -> NewRobotsTxt:
    """Return the robots.txt for a policy; see `read_policy`."""
    policy = read_policy(text, name)
    require_generated(policy, name)
    return policy.robots


def require_generated(policy: Policy, name: str) -> None:
    """Raise `WriteError` if a policy has a file in place of a robots.txt that can be written."""
    if policy.robots_txt is not None:
        raise WriteError(
            f"{name}: there is nothing to write: the robots.txt of this policy is the existing "
            f"file {policy.robots_txt!r} ({EXISTING}); `robotrules write --check` checks both"
        )


@contextmanager
def _errors_at(value: TomlValue) -> Iterator[None]:
    """Add the position of a value to a WriteError."""
    try:
        yield
    except WriteError as error:
        raise value.error(str(error)) from None


class _Requests(NamedTuple):
    """The requests to some crawlers."""

    rules: dict[str, NewRule]
    """By the normal form of the path pattern."""
    use: ByPath
    delay: str | None
    records: list[NewRecord]
    comment: str

    def over(self, everyone: _Requests) -> _Requests:
        """
        Return these requests together with those to everyone.

        A request about a path replaces the requests to everyone about that path and paths below it.
        """
        own = {record.key for record in self.records}
        rules = {
            form: rule
            for form, rule in everyone.rules.items()
            if not any(_covers(mine, form) for mine in self.rules)
        }
        use = {
            path: {label: value for label, value in values.items() if not self._states(label, path)}
            for path, values in everyone.use.items()
        }
        return _Requests(
            rules | self.rules,
            {path: use.get(path, {}) | self.use.get(path, {}) for path in use | self.use},
            self.delay or everyone.delay,
            [*(record for record in everyone.records if record.key not in own), *self.records],
            self.comment,
        )

    def _states(self, label: str, path: str | None) -> bool:
        return any(
            label in values and (mine is None or (path or "").startswith(mine))
            for mine, values in self.use.items()
        )

    def group(
        self, user_agents: list[str], purposes: list[str], directives: list[NewRecord]
    ) -> NewGroup:
        """Return a group with these requests, ordered for first-match parsers."""
        records = [content_usage_record(use, path) for path, use in _inherit(self.use).items()]
        delay = [NewRecord("Crawl-delay", self.delay)] if self.delay else []
        rules = most_specific_first(self.rules.values())
        comment = self.comment or ("" if user_agents else PURPOSE_COMMENT)
        others = [*delay, *records, *directives, *self.records]
        return NewGroup(user_agents, purposes, rules, others, comment)


def _covers(mine: str, other: str) -> bool:
    """Return whether a path pattern without wildcards matches all that another one does."""
    plain = "*" not in mine and not mine.endswith("$")
    return mine == other or (plain and other.startswith(mine))


def _inherit(statements: ByPath) -> ByPath:
    """
    Return statements with those of shorter paths repeated.

    Readers use only the longest matching path (AMB-104, AMB-113); authors mean shorter ones too.
    """
    inherited: ByPath = {}
    for path in sorted(statements, key=lambda path: (path is not None, len(path or ""))):
        shorter = (other for other in inherited if other is None or (path or "").startswith(other))
        merged: dict[str, Any] = {}
        for other in shorter:
            merged |= inherited[other]
        inherited[path] = merged | statements[path]
    return {path: inherited[path] for path in statements if inherited[path]}


# --- Reading --------------------------------------------------------------------------------------


def _refuse_record_names(table: TomlValue, keys: tuple[str, ...]) -> None:
    """Refuse keys with the names of records, and keys of requests outside of their tables."""
    for key in table.table().value:
        meant = RECORD_KEYS.get(key.lower(), key)
        if meant not in REQUEST_KEYS or key in keys:
            continue
        words = [f"{key.capitalize()} is called {meant} in a policy"] if key != meant else []
        place = "a [[for]]" if meant == "crawlers" else "[everyone], or below a [[for]]"
        words += [] if meant in keys else [f"write it below {place}"]
        table.at(key).refuse("; ".join(words))


def _make_robots(policy: TomlValue) -> NewRobotsTxt:
    _refuse_record_names(policy, POLICY_KEYS)
    policy.table(POLICY_KEYS)
    everyone = _read_requests(policy.at("everyone", {}), EVERYONE_KEYS)
    directives = list(_read_directives(policy.at("applications", {})))
    entries = policy.at("for", [])
    if not isinstance(entries.value, list):
        entries.refuse("this is a list of tables: write [[for]] in two brackets")
    named: list[NewGroup] = []
    purposed: list[NewGroup] = []
    keys_by_name: dict[str, str] = {}
    audiences = _read_audiences(entries)
    for entry, audience in zip(entries.parts(), audiences, strict=True):
        requests = _read_requests(entry, FOR_KEYS)
        if not entry.at("instead-of-everyone", False).switch():
            requests = requests.over(everyone)
        crawlers, purposes = audience.crawlers, audience.purposes
        if not crawlers and not purposes:
            entry.refuse('no crawler or purpose: add crawlers = ["ExampleBot"], or for-purpose')
        if "*" in crawlers:
            entry.refuse("'*' stands for all crawlers: use [everyone]")
        for name in [f"crawler {name}" for name in crawlers] + [f"purpose {p}" for p in purposes]:
            if name.lower() in keys_by_name:
                # Some parsers obey only the first of two groups, others mix up groups with the
                # same name.
                entry.refuse(f"{name} is in {keys_by_name[name.lower()]} too: merge the two tables")
            keys_by_name[name.lower()] = entry.key
        with _errors_at(entry):
            # Separate groups for names and for purposes: robotspy reads a purpose line as a name,
            # and then mixes up the groups that have it.
            described = requests._replace(comment=audience.describe(requests.comment))
            named += [described.group(crawlers, [], directives)] if crawlers else []
            purposed += [requests.group([], purposes, [])] if purposes else []
    groups = [*longer_names_first(named), *purposed]
    if "everyone" in policy or directives:
        with _errors_at(policy.at("everyone")):
            # Last, for parsers that use the first matching group.
            groups.append(everyone.group(["*"], [], directives))
    records = [*_read_sitemaps(policy.at("sitemaps", [])), *_read_records(policy.at("records", {}))]
    with _errors_at(policy):
        return NewRobotsTxt(groups, records, _read_text(policy.at("comment", "")))


class _Audience(NamedTuple):
    """The crawlers of a `[[for]]` table."""

    crawlers: list[str]
    purposes: list[str]
    for_purpose: tuple[str, ...]

    def describe(self, comment: str) -> str:
        """Return the comment of its group: who is named, by which list, of which day."""
        if not self.for_purpose:
            return comment
        words = f"Crawlers with the purpose {' or '.join(self.for_purpose)}."
        return "\n".join(filter(None, (comment, words, KNOWN_CRAWLERS.citation)))


def _read_audiences(entries: TomlValue) -> list[_Audience]:
    """
    Return the crawlers of each `[[for]]` table; `for-purpose` becomes names of well-known crawlers.

    A crawler that a table names is left to that table. One that several tables reach by purpose
    belongs to the first of them that has `keep-out`, or else to the first: a crawler with an
    unwanted purpose cannot be asked to fetch for the others only.
    """
    audiences = []
    for entry in entries.parts():
        for_purpose = entry.table().at("for-purpose", [])
        wanted = tuple(dict.fromkeys(for_purpose.texts(example="ai-training")))
        for purpose in wanted:
            if purpose not in CRAWLER_PURPOSES:
                for_purpose.refuse_name(purpose, tuple(CRAWLER_PURPOSES))
        crawlers = [*entry.at("crawlers", []).texts(example="ExampleBot")]
        purposes = [*entry.at("purposes", []).texts(example="EXAMPLE-PURPOSE-1")]
        listed = {purpose.lower() for purpose in purposes}
        purposes += [purpose for purpose in wanted if purpose not in listed]
        audiences.append(_Audience(crawlers, purposes, wanted))
    taken = {name.lower() for audience in audiences for name in audience.crawlers}
    order = sorted(range(len(audiences)), key=lambda at: not entries.at(at).value.get("keep-out"))
    for at in order:
        crawlers, _, wanted = audiences[at]
        for known in KNOWN_CRAWLERS.with_purposes(wanted):
            names = {known.product_token.lower(), known.written_as.lower()}
            if taken.isdisjoint(names):
                taken |= names
                crawlers.append(known.written_as)
    return audiences


def _read_existing(policy: TomlValue) -> str | None:
    """Return the file of the key `robots-txt`; with it, no other key makes a robots.txt."""
    if EXISTING not in policy:
        return None
    for key in ROBOTS_KEYS:
        if key in policy:
            policy.at(key).refuse(
                f"this cannot be combined with {EXISTING}, whose file is the whole robots.txt: "
                f"write it in that file, or remove {EXISTING}"
            )
    return policy.at(EXISTING).text(example="robots.txt")


def _read_requests(table: TomlValue, known: tuple[str, ...]) -> _Requests:
    _refuse_record_names(table, known)
    table.table(known)
    rules: dict[str, NewRule] = {}
    for key in ("keep-out", "welcome"):
        paths = table.at(key, [])
        for pattern in paths.texts(example="/private/"):
            require_path(paths, pattern, example="/private/")
            with _errors_at(paths):
                rule = NewRule(key == "welcome", pattern)
            form = normalize_path(rule.pattern, pattern=True)
            if form in rules and rules[form] != rule:
                paths.refuse(f"{pattern!r} is in keep-out too: remove one of them")
            rules[form] = rule
    delay = table.at("crawl-delay", 0)
    seconds = delay.value
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        delay.refuse(f"this is a number of seconds, not {seconds!r}")
    if not 0 <= seconds < math.inf:
        delay.refuse(f"this is a number of seconds, 0 or more, not {seconds!r}")
    return _Requests(
        rules,
        _read_use(table.at("use", {})),
        # Without exponent and sign, as readers require (REC-crawl-delay-01).
        f"{Decimal(repr(abs(seconds))):f}" if "crawl-delay" in table else None,
        list(_read_records(table.at("records", {}))),
        _read_text(table.at("comment", "")),
    )


def _read_text(value: TomlValue) -> str:
    """Return a text, which may be empty."""
    return "" if value.value == "" else value.text()


def _read_use(table: TomlValue) -> ByPath:
    """Return the allowed uses of content, by path."""
    uses: ByPath = {}
    for path, part, labels in _split_by_path(table):
        for label in labels:
            if label not in USES:
                part.at(label).refuse_name(label, USES)
            uses.setdefault(path, {})[label] = part.at(label).switch()
    return uses


def _split_by_path(table: TomlValue) -> Iterator[tuple[str | None, TomlValue, list[str]]]:
    """Yield the table for all paths, then each table for a path, with the keys of statements."""
    table.table()
    yield None, table, [key for key in table.value if not key.startswith("/")]
    for key in table.value:
        if key.startswith("/"):
            part = table.at(key).table()
            yield key, part, list(part.value)


def _read_directives(applications: TomlValue) -> Iterator[NewRecord]:
    """Yield the App-Directives records: one for each path, with all applications that have it."""
    paths: dict[str | None, dict[str, dict[str, Any]]] = {}
    for application in applications.table().value:
        statements: ByPath = {}
        for path, part, names in _split_by_path(applications.at(application)):
            statements[path] = {name: _read_directive_value(part.at(name)) for name in names}
            with _errors_at(part):
                app_directives_record({application: statements[path]}, path)
        for path, values in _inherit(statements).items():
            paths.setdefault(path, {})[application] = values
    with _errors_at(applications):
        records = [app_directives_record(by_name, path) for path, by_name in paths.items()]
    yield from records


def _read_directive_value(toml: TomlValue) -> Any:
    """Return the value of an app directive as a value of a Structured Field."""
    value = toml.value
    if isinstance(value, dict):
        toml.table(SPECIAL)
        if len(value) != 1:
            toml.refuse('write one of { token = "…" }, { text = "…" }, { bytes = "…" }')
        (key,) = value
        given = _read_text(toml.at(key))
        if key == "bytes":
            try:
                return base64.b64decode(given, validate=True)
            except ValueError:
                toml.refuse(f"{given!r} is not base64")
        return token_value(given) if key == "token" else display_string_value(given)
    if isinstance(value, str) and not value.isascii():
        toml.refuse(f"a String is ASCII: write {{ text = {value!r} }}")
    if structured_fields.value_type(value) in ("Inner List", "Date") and not getattr(
        value, "tzinfo", None
    ):
        toml.refuse(f"write true, a number, text, or a date with time and offset, not {value}")
    return value


def _read_sitemaps(urls: TomlValue) -> Iterator[NewRecord]:
    for url in urls.texts(example="https://example.com/sitemap.xml"):
        if not url.startswith(("https://", "http://")):
            example = f"https://{url.lstrip('/')}" if not _is_path(url) else f"https://…{url}"
            urls.refuse(f"{url!r} is not an absolute URL: write {example}")
        with _errors_at(urls):
            record = NewRecord("Sitemap", url)
        yield record


def _is_path(url: str) -> bool:
    return url.startswith("/") and not url.startswith("//")


def _read_records(table: TomlValue) -> Iterator[NewRecord]:
    for key in table.table().value:
        values = table.at(key)
        for value in values.texts(example="value"):
            with _errors_at(values):
                record = NewRecord(key, value)
            yield record
