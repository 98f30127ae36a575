"""
Usage rules: what all carriers together say to one crawler (draft-illyes-repext §3.1.1 to §3.1.3).

Every rule restricts and none grants, so all that is for a crawler or for everyone is united, and
of two values the one that restricts more counts (AMB-75, AMB-84). A carrier cannot take back what
another said. These rules are requests about use, and no form of access authorization (§1, §4).

It does not read any carrier: what they say is handed to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.http.caching import ResponseFreshness, require_aware, response_freshness
from robotrules.http.fields import Fields
from robotrules.tags.codes import Carrier, TagNote, TagSource, note
from robotrules.tags.header import Said
from robotrules.tags.known import (
    EMBEDS,
    EVERYONE,
    KNOWN,
    LIFTS,
    NO_LIMIT,
    NOCACHE,
    KnownTagRule,
    Value,
    ValueKind,
    looks_known,
    permits,
    plain,
    stricter,
)
from robotrules.tags.profile import TagProfile

# A page may say one thing 100,000 times. All of it counts; this much of it is kept to be looked at.
MOST_MENTIONS = 1_000
# Notes that say that a carrier was not read to its end: what it says there is unknown.
UNREAD = frozenset(("field-cut", "head-not-final", "page-too-complex", "body-not-decoded"))
# Unknown rules that are compared with the known ones; that is slow, and nobody misspells more.
MOST_COMPARED = 20


class RuleStatus(StrEnum):
    """What became of a mention."""

    IN_FORCE = "in-force"
    NO_EFFECT = "no-effect"
    """It restricts nothing: `index`, `max-snippet:-1`, or what this profile does not act on."""
    NOT_USED = "not-used"
    """
    Its value cannot be used, or is Boolean false; or it would permit something, and its carrier
    does not say it by its own grammar (AMB-67).
    """
    UNKNOWN = "unknown"
    """Nobody that is known has defined it; kept for inspection (AMB-78)."""


class Mention(NamedTuple):
    """One place where a tag rule is said to this crawler, and what became of it."""

    name: str
    value: Value | None
    standing: RuleStatus
    token: str
    """Whom it is for: a product token in lower case, or `*`."""
    text: str
    """The rule as written."""
    source: TagSource
    start: int
    """Where it stands in its field line or in the content of its element."""
    end: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "rule": self.name,
            "value": None if self.value is None else plain(self.value),
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

    A rule that is not here is no instruction (§3.1.1): `may_index` being true says that nobody
    asked otherwise in what was read. Where a carrier was not read to its end, and nothing that was
    read forbids it, `may_index` and its like are None: unknown.
    """

    product_tokens: tuple[str, ...]
    """Who asked; `*` alone: what holds for every crawler."""
    values: tuple[tuple[str, Value], ...]
    """The rules in force with their values; True for a plain one."""
    mentions: tuple[Mention, ...]
    """Every place that says a rule to this crawler, in the order it was read."""
    others: tuple[str, ...]
    """Other product tokens that the carriers speak to."""
    notes: tuple[TagNote, ...]
    read: tuple[str, ...]
    """What was looked at: `headers`, `html`, `dom`."""
    over_tls: bool | None
    """Whether the response came over TLS; None: nobody said (§4)."""
    fields: Fields
    """The field lines that were read, for `response_freshness`."""
    received: datetime | None
    """When the response was received; None: nobody said."""
    recrawl_interval: float | None
    """Seconds between visits, for responses that do not say how long they hold."""

    @property
    def rules(self) -> dict[str, Value]:
        """The rules in force, by name."""
        return dict(self.values)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Rules that nobody knows, for inspection; they have no effect (AMB-78)."""
        names = (one.name for one in self.mentions if one.standing is RuleStatus.UNKNOWN)
        return tuple(dict.fromkeys(names))

    def get(self, name: str) -> Value | None:
        """Return the value of a rule in force, True for a plain one; None: it is not in force."""
        return self.rules.get(name.lower())

    def mentions_of(self, name: str) -> tuple[Mention, ...]:
        """Return the mentions that put a rule in force, with the value that counts."""
        value = self.get(name)
        if value is None:
            return ()
        return tuple(one for one in self.mentions if _says(one, name.lower(), value))

    # --- What the rules come to ---

    @property
    def complete(self) -> bool:
        """False: a field, an element or the head of a page was not read to its end."""
        return not any(one.code in UNREAD for one in self.notes)

    def _may(self, *forbidding: str) -> bool | None:
        """Return False where one of these is in force, and None where more could be to read."""
        if any(self.get(name) is not None for name in forbidding):
            return False
        return True if self.complete else None

    @property
    def may_index(self) -> bool | None:
        """False: `noindex` is in force; None: not all was read."""
        return self._may("noindex")

    @property
    def may_index_embedded(self) -> bool | None:
        """False: neither as a page nor embedded in another one (XRT-14); None: not all was read."""
        return True if self.get(EMBEDS) is not None else self.may_index

    def may_index_at(self, moment: datetime) -> bool | None:
        """
        Return whether it may be in an index at a moment: `unavailable_after` counts as well.

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
        """The most characters of an excerpt; None: no limit that was read (XRT-08)."""
        limit = self.get("max-snippet")
        if self.may_snippet is False:
            return 0
        return limit if isinstance(limit, int) else None

    @property
    def max_video_preview(self) -> int | None:
        """The most seconds of a video; None: no limit that was read (XRT-10)."""
        limit = self.get("max-video-preview")
        return limit if isinstance(limit, int) else None

    @property
    def max_image_preview(self) -> str | None:
        """`none`, `standard` or `large`; None: nobody says (XRT-09)."""
        size = self.get("max-image-preview")
        return size if isinstance(size, str) else None

    @property
    def unavailable_after(self) -> datetime | None:
        """The moment after which it should not be shown; None: there is none (XRT-12)."""
        moment = self.get("unavailable_after")
        return moment if isinstance(moment, datetime) else None

    @property
    def freshness(self) -> ResponseFreshness:
        """How long this may be taken for current; rules do not lapse with it (AMB-79)."""
        return response_freshness(
            self.fields, received=self.received, recrawl_interval=self.recrawl_interval
        )

    @property
    def fresh_until(self) -> datetime | None:
        """When to fetch again; the rules go on until then and beyond (§3.1.4, AMB-79)."""
        return self.freshness.fresh_until

    def __str__(self) -> str:
        if not self.values:
            return "no tag rule in force"
        return ", ".join(written(name, value) for name, value in self.values)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `decided_by` has positions in `mentions`."""
        return {
            "product_tokens": list(self.product_tokens),
            "read": list(self.read),
            "over_tls": self.over_tls,
            "rules": {name: plain(value) for name, value in self.values},
            "may_index": self.may_index,
            "may_index_embedded": self.may_index_embedded,
            "may_snippet": self.may_snippet,
            "may_follow": self.may_follow,
            "may_archive": self.may_archive,
            "max_snippet": self.max_snippet,
            "max_image_preview": self.max_image_preview,
            "max_video_preview": self.max_video_preview,
            "unavailable_after": plain(self.unavailable_after) if self.unavailable_after else None,
            "decided_by": {
                name: [at for at, one in enumerate(self.mentions) if _says(one, name, value)]
                for name, value in self.values
            },
            "unknown": list(self.unknown),
            "others": list(self.others),
            "mentions": [one.as_dict() for one in self.mentions],
            "freshness": self.freshness.as_dict(),
            "notes": [one.as_dict() for one in self.notes],
        }


def _says(one: Mention, name: str, value: Value) -> bool:
    return one.standing is RuleStatus.IN_FORCE and one.name == name and one.value == value


def written(name: str, value: Value) -> str:
    """Return a rule with its value, for people."""
    return name if value is True else f"{name}: {plain(value)}"


# --- The union ----------------------------------------------------------------------------------


class United(NamedTuple):
    """What was said to one crawler, united."""

    values: tuple[tuple[str, Value], ...] = ()
    mentions: tuple[Mention, ...] = ()
    others: tuple[str, ...] = ()
    notes: tuple[TagNote, ...] = ()


def unite(
    said: Iterable[tuple[Said, TagSource]],
    tokens: Sequence[str],
    profile: TagProfile,
    more: frozenset[str] = frozenset(),
) -> United:
    """
    Unite what is said to any of *tokens*, in lower case, or to everyone (§3.1.1, §3.1.2).

    *more* are names that a registry adds to those that are known. The cost grows with what is
    said; of many mentions the first are kept, and of each rule in force at least one.
    """
    mine = {EVERYONE, *tokens}
    values: dict[str, Value] = {}
    sure: set[str] = set()
    kept: list[Mention] = []
    others: dict[str, None] = {}
    unknown: dict[str, TagNote] = {}
    for one, source in said:
        if one.token not in mine:
            others[one.token] = None
            continue
        mention = _mention(one, source, profile, more)
        if mention.standing is RuleStatus.IN_FORCE and mention.value is not None:
            before = values.get(mention.name)
            after = mention.value if before is None else stricter(before, mention.value)
            changed = before is None or after != before
            values[mention.name] = after
            if not one.recovered:
                sure.add(mention.name)
        else:
            changed = False
            if mention.standing is RuleStatus.UNKNOWN and len(unknown) < MOST_MENTIONS:
                if mention.name not in unknown:
                    close = len(unknown) < MOST_COMPARED and looks_known(mention.name)
                    code = "misspelt-rule" if close else "unknown-rule"
                    unknown[mention.name] = note(code, source, one.start, one.end)
        if changed or len(kept) < MOST_MENTIONS:
            kept.append(mention)
    lifted = _lifted(values, kept, sure, profile)
    if lifted:
        values = {name: value for name, value in values.items() if name not in lifted}
        kept = [one._replace(standing=_less(one, lifted)) for one in kept]
    names = tuple(others)[:MOST_MENTIONS]
    return United(tuple(values.items()), tuple(kept), names, tuple(unknown.values()))


def _mention(one: Said, source: TagSource, profile: TagProfile, more: frozenset[str]) -> Mention:
    name, value = one.name, one.value
    known = KNOWN.get(name)
    if known is None and name not in more:
        standing = RuleStatus.UNKNOWN
    elif value is None or (one.recovered and permits(name, value)):
        standing = RuleStatus.NOT_USED
    elif name in profile.without_effect or _restricts_nothing(known, value):
        standing = RuleStatus.NO_EFFECT
    else:
        standing = RuleStatus.IN_FORCE
        if name == "max-snippet" and value == 0:
            # XRT-08: no character of an excerpt is no excerpt.
            name, value = "nosnippet", True
    return Mention(name, value, standing, one.token, one.text, source, one.start, one.end)


def _less(one: Mention, lifted: set[str]) -> RuleStatus:
    in_force = one.standing is RuleStatus.IN_FORCE
    return RuleStatus.NO_EFFECT if in_force and one.name in lifted else one.standing


def _restricts_nothing(known: KnownTagRule | None, value: Value) -> bool:
    kind = known.kind if known else ValueKind.PLAIN
    return kind is ValueKind.PERMITS or (kind is ValueKind.NUMBER and value == NO_LIMIT)


def _lifted(
    values: Mapping[str, Value],
    mentions: Sequence[Mention],
    sure: Set[str],
    profile: TagProfile,
) -> set[str]:
    """Return the rules that have no effect after all; *sure* are those that may lift others."""
    lifted = set()
    if EMBEDS in values and "noindex" not in values:
        lifted.add(EMBEDS)  # XRT-14
    if profile.nocache_over_noarchive and NOCACHE in sure and "noarchive" in values:
        lifted.add("noarchive")  # VEN-05
    if profile.permitting_wins:
        # VEN-09: what one element permits lifts what another forbids; a field stays as it is.
        metas = [
            one
            for one in mentions
            if one.source.carrier is Carrier.META and one.standing is not RuleStatus.NOT_USED
        ]
        permitted = {name for one in metas for name in LIFTS.get(one.name, ())}
        firm = {one.name for one in mentions if one.source.carrier is not Carrier.META}
        lifted |= (permitted & values.keys()) - firm
    return lifted
