"""
Usage rules: the rules of all carriers for one crawler (draft-illyes-repext §3.1.1 to §3.1.3).

Rules restrict and do not grant, so all rules for a crawler or for all crawlers are united, and the
more restrictive of two values counts (AMB-75, AMB-84). A carrier cannot lift the rules of another.
Tag rules are requests about use, not a form of access authorization (§1, §4).

It does not parse carriers: the caller passes their statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.http.caching import ResponseFreshness, require_aware, response_freshness
from robotrules.http.fields import Fields
from robotrules.tags.codes import Carrier, TagNote, TagSource, note
from robotrules.tags.header import TagStatement
from robotrules.tags.known_rules import (
    EMBEDS,
    EVERYONE,
    KNOWN,
    LIFTS,
    NO_LIMIT,
    NOCACHE,
    KnownTagRule,
    Value,
    ValueKind,
    permits,
    resembles_known_rule,
    stricter,
    to_json_value,
)
from robotrules.tags.profile import TagProfile

# A page may repeat a rule 100,000 times. Every mention counts; this many are kept.
MAX_MENTIONS = 1_000
# Codes of notes on carriers that were not read to their end, so that further rules are unknown.
UNREAD = frozenset(("field-cut", "head-not-final", "page-too-complex", "body-not-decoded"))
# Unknown rules that are compared with the known ones; the comparison is slow.
MAX_COMPARED = 20


class RuleStatus(StrEnum):
    """The effect of a mention."""

    IN_FORCE = "in-force"
    NO_EFFECT = "no-effect"
    """It restricts nothing: `index`, `max-snippet:-1`, or a rule that this profile ignores."""
    NOT_USED = "not-used"
    """
    Its value cannot be used, or is Boolean false; or it would permit something, and does not
    follow the grammar of its carrier (AMB-67).
    """
    UNKNOWN = "unknown"
    """Neither a draft nor a known vendor defines it; kept for inspection (AMB-78)."""


class Mention(NamedTuple):
    """One occurrence of a tag rule for this crawler, and its effect."""

    name: str
    value: Value | None
    standing: RuleStatus
    token: str
    """The product token that it is for, in lower case, or `*`."""
    text: str
    """The rule as written."""
    source: TagSource
    start: int
    """The position in its field line or in the content of its element."""
    end: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "rule": self.name,
            "value": None if self.value is None else to_json_value(self.value),
            "standing": str(self.standing),
            "token": self.token,
            "text": self.text,
            "source": self.source.as_dict(),
            "start": self.start,
            "end": self.end,
        }


class UsageRules(NamedTuple):
    """
    The tag rules in force for one crawler, each with its sources.

    A missing rule is no instruction (§3.1.1): `may_index` is true if nothing that was read says
    otherwise. If a carrier was not read to its end, and nothing that was read forbids it,
    `may_index` and similar properties are None: unknown.
    """

    product_tokens: tuple[str, ...]
    """The product tokens of the crawler; `*` alone: the rules for all crawlers."""
    values: tuple[tuple[str, Value], ...]
    """The rules in force with their values; True for a plain one."""
    mentions: tuple[Mention, ...]
    """Every occurrence of a rule for this crawler, in the order of reading."""
    others: tuple[str, ...]
    """Other product tokens that the carriers have rules for."""
    notes: tuple[TagNote, ...]
    read: tuple[str, ...]
    """The inputs that were read: `headers`, `html`, `dom`."""
    over_tls: bool | None
    """Whether the response came over TLS; None: unknown (§4)."""
    fields: Fields
    """The field lines that were read, for `response_freshness`."""
    received: datetime | None
    """When the response was received; None: unknown."""
    recrawl_interval: float | None
    """Seconds between fetches, for responses without explicit freshness."""

    @property
    def rules(self) -> dict[str, Value]:
        """The rules in force, by name."""
        return dict(self.values)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Unknown rules, for inspection; they have no effect (AMB-78)."""
        names = (
            mention.name for mention in self.mentions if mention.standing is RuleStatus.UNKNOWN
        )
        return tuple(dict.fromkeys(names))

    def get(self, name: str) -> Value | None:
        """Return the value of a rule in force, True for a plain one; None: it is not in force."""
        return self.rules.get(name.lower())

    def mentions_of(self, name: str) -> tuple[Mention, ...]:
        """Return the mentions that put a rule in force, with the value that counts."""
        value = self.get(name)
        if value is None:
            return ()
        return tuple(mention for mention in self.mentions if _sets(mention, name.lower(), value))

    # --- Effects of the rules ---

    @property
    def complete(self) -> bool:
        """False: a field, an element or the head of a page was not read to its end."""
        return not any(note.code in UNREAD for note in self.notes)

    def _may(self, *forbidding: str) -> bool | None:
        """Return False if one of these rules is in force, else None if not all was read."""
        if any(self.get(name) is not None for name in forbidding):
            return False
        return True if self.complete else None

    @property
    def may_index(self) -> bool | None:
        """False: `noindex` is in force; None: not all was read."""
        return self._may("noindex")

    @property
    def may_index_embedded(self) -> bool | None:
        """False: neither as a page nor embedded in another (XRT-14); None: not all was read."""
        return True if self.get(EMBEDS) is not None else self.may_index

    def may_index_at(self, moment: datetime) -> bool | None:
        """
        Return whether it may be in an index at a moment, with `unavailable_after` considered.

        None: not all was read.
        """
        after, moment = self.unavailable_after, require_aware(moment, "moment")
        return self.may_index if after is None or moment <= after else False

    @property
    def may_snippet(self) -> bool | None:
        """False: `nosnippet` is in force, or `max-snippet:0`; None: not all was read."""
        return self._may("nosnippet")

    @property
    def may_follow(self) -> bool | None:
        """False: `nofollow` is in force; None: not all was read."""
        return self._may("nofollow")

    @property
    def may_archive(self) -> bool | None:
        """False: `noarchive` or `nocache` is in force; None: not all was read."""
        return self._may("noarchive", NOCACHE)

    @property
    def may_translate(self) -> bool | None:
        """False: `notranslate` is in force; None: not all was read."""
        return self._may("notranslate")

    @property
    def may_index_images(self) -> bool | None:
        """False: `noimageindex` or `noindex` is in force; None: not all was read."""
        return self._may("noindex", "noimageindex")

    @property
    def max_snippet(self) -> int | None:
        """The maximum characters of an excerpt; None: no limit was read (XRT-08)."""
        limit = self.get("max-snippet")
        if self.may_snippet is False:
            return 0
        return limit if isinstance(limit, int) else None

    @property
    def max_video_preview(self) -> int | None:
        """The maximum seconds of a video; None: no limit was read (XRT-10)."""
        limit = self.get("max-video-preview")
        return limit if isinstance(limit, int) else None

    @property
    def max_image_preview(self) -> str | None:
        """`none`, `standard` or `large`; None: not stated (XRT-09)."""
        size = self.get("max-image-preview")
        return size if isinstance(size, str) else None

    @property
    def unavailable_after(self) -> datetime | None:
        """The moment after which it should not be shown; None: not stated (XRT-12)."""
        moment = self.get("unavailable_after")
        return moment if isinstance(moment, datetime) else None

    @property
    def freshness(self) -> ResponseFreshness:
        """How long the response is fresh; the rules do not expire with it (AMB-79)."""
        return response_freshness(
            self.fields, received=self.received, recrawl_interval=self.recrawl_interval
        )

    @property
    def fresh_until(self) -> datetime | None:
        """When to fetch again; the rules stay in force after that (§3.1.4, AMB-79)."""
        return self.freshness.fresh_until

    def __str__(self) -> str:
        if not self.values:
            return "no tag rule in force"
        return ", ".join(format_rule(name, value) for name, value in self.values)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `decided_by` has positions in `mentions`."""
        return {
            "product_tokens": list(self.product_tokens),
            "read": list(self.read),
            "over_tls": self.over_tls,
            "rules": {name: to_json_value(value) for name, value in self.values},
            "may_index": self.may_index,
            "may_index_embedded": self.may_index_embedded,
            "may_snippet": self.may_snippet,
            "may_follow": self.may_follow,
            "may_archive": self.may_archive,
            "max_snippet": self.max_snippet,
            "max_image_preview": self.max_image_preview,
            "max_video_preview": self.max_video_preview,
            "unavailable_after": to_json_value(self.unavailable_after)
            if self.unavailable_after
            else None,
            "decided_by": {
                name: [
                    index
                    for index, mention in enumerate(self.mentions)
                    if _sets(mention, name, value)
                ]
                for name, value in self.values
            },
            "unknown": list(self.unknown),
            "others": list(self.others),
            "mentions": [mention.as_dict() for mention in self.mentions],
            "freshness": self.freshness.as_dict(),
            "notes": [note.as_dict() for note in self.notes],
        }


def _sets(mention: Mention, name: str, value: Value) -> bool:
    in_force = mention.standing is RuleStatus.IN_FORCE
    return in_force and mention.name == name and mention.value == value


def format_rule(name: str, value: Value) -> str:
    """Return a rule with its value as readable text."""
    return name if value is True else f"{name}: {to_json_value(value)}"


# --- The union ----------------------------------------------------------------------------------


class UnitedRules(NamedTuple):
    """The statements for one crawler, united."""

    values: tuple[tuple[str, Value], ...] = ()
    mentions: tuple[Mention, ...] = ()
    others: tuple[str, ...] = ()
    notes: tuple[TagNote, ...] = ()


def unite(
    statements: Iterable[tuple[TagStatement, TagSource]],
    tokens: Sequence[str],
    profile: TagProfile,
    more: frozenset[str] = frozenset(),
) -> UnitedRules:
    """
    Unite the statements for any of *tokens*, in lower case, or for all crawlers (§3.1.1, §3.1.2).

    *more* are rules that a registry adds to the known ones. Takes linear time; of many mentions the
    first are kept, and at least one of each rule in force.
    """
    addressed = {EVERYONE, *tokens}
    values: dict[str, Value] = {}
    sure: set[str] = set()
    kept: list[Mention] = []
    others: dict[str, None] = {}
    unknown: dict[str, TagNote] = {}
    for statement, source in statements:
        if statement.token not in addressed:
            others[statement.token] = None
            continue
        mention = _make_mention(statement, source, profile, more)
        if mention.standing is RuleStatus.IN_FORCE and mention.value is not None:
            before = values.get(mention.name)
            after = mention.value if before is None else stricter(before, mention.value)
            changed = before is None or after != before
            values[mention.name] = after
            if not statement.recovered:
                sure.add(mention.name)
        else:
            changed = False
            if mention.standing is RuleStatus.UNKNOWN and len(unknown) < MAX_MENTIONS:
                if mention.name not in unknown:
                    close = len(unknown) < MAX_COMPARED and resembles_known_rule(mention.name)
                    code = "misspelt-rule" if close else "unknown-rule"
                    unknown[mention.name] = note(code, source, statement.start, statement.end)
        if changed or len(kept) < MAX_MENTIONS:
            kept.append(mention)
    lifted = _find_lifted(values, kept, sure, profile)
    if lifted:
        values = {name: value for name, value in values.items() if name not in lifted}
        kept = [m._replace(standing=_status_after_lift(m, lifted)) for m in kept]
    names = tuple(others)[:MAX_MENTIONS]
    return UnitedRules(tuple(values.items()), tuple(kept), names, tuple(unknown.values()))


def _make_mention(
    statement: TagStatement, source: TagSource, profile: TagProfile, more: frozenset[str]
) -> Mention:
    name, value = statement.name, statement.value
    known = KNOWN.get(name)
    if known is None and name not in more:
        standing = RuleStatus.UNKNOWN
    elif value is None or (statement.recovered and permits(name, value)):
        standing = RuleStatus.NOT_USED
    elif name in profile.without_effect or _restricts_nothing(known, value):
        standing = RuleStatus.NO_EFFECT
    else:
        standing = RuleStatus.IN_FORCE
        if name == "max-snippet" and value == 0:
            # XRT-08: an excerpt of 0 characters is no excerpt.
            name, value = "nosnippet", True
    token, text, start, end = statement.token, statement.text, statement.start, statement.end
    return Mention(name, value, standing, token, text, source, start, end)


def _status_after_lift(mention: Mention, lifted: set[str]) -> RuleStatus:
    in_force = mention.standing is RuleStatus.IN_FORCE
    return RuleStatus.NO_EFFECT if in_force and mention.name in lifted else mention.standing


def _restricts_nothing(known: KnownTagRule | None, value: Value) -> bool:
    kind = known.kind if known else ValueKind.PLAIN
    return kind is ValueKind.PERMITS or (kind is ValueKind.NUMBER and value == NO_LIMIT)


def _find_lifted(
    values: Mapping[str, Value],
    mentions: Sequence[Mention],
    sure: Set[str],
    profile: TagProfile,
) -> set[str]:
    """Return the rules that are lifted and so have no effect; *sure* rules may lift others."""
    lifted = set()
    if EMBEDS in values and "noindex" not in values:
        lifted.add(EMBEDS)  # XRT-14
    if profile.nocache_over_noarchive and NOCACHE in sure and "noarchive" in values:
        lifted.add("noarchive")  # VEN-05
    if profile.permitting_wins:
        # VEN-09: a permission in one element lifts a rule of another element, but not of a field.
        metas = [
            mention
            for mention in mentions
            if mention.source.carrier is Carrier.META
            and mention.standing is not RuleStatus.NOT_USED
        ]
        permitted = {name for mention in metas for name in LIFTS.get(mention.name, ())}
        in_fields = {m.name for m in mentions if m.source.carrier is not Carrier.META}
        lifted |= (permitted & values.keys()) - in_fields
    return lifted
