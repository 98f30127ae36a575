"""
The AIPREF vocabulary of usage preferences (draft-ietf-aipref-vocab-07): parsing and combining.

A statement gives each category of use one of three preferences: allowed, disallowed or unknown
(§3). Several statements combine for each category separately (§5.1); the statements are kept beside
the result. A preference is a statement: it enforces nothing and authorizes nothing.

It does not handle robots.txt rules or paths; `content_usage` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.http.structured_fields import Parsed, is_token, parse_dictionary
from robotrules.octets import to_octets, to_text
from robotrules.robotstxt.values import Note, Record

# §6.1. Case matters. Labels of other drafts and revisions (`ai`, `bots`, `genai`, `train-genai`,
# `ai-output`) are unknown labels, which are ignored (§6.4).
CATEGORIES = ("train-ai", "search")


class Preference(StrEnum):
    """The stated preference for a category of use (§3)."""

    ALLOWED = "allowed"
    DISALLOWED = "disallowed"
    UNKNOWN = "unknown"
    """Nothing usable is stated. The application decides what that means: §5 has no default."""


# §6.2: two Tokens of one octet; anything else is unknown.
LABELS = {"y": Preference.ALLOWED, "n": Preference.DISALLOWED}

Values = tuple[tuple[str, Preference], ...]
NOTHING: Values = tuple((category, Preference.UNKNOWN) for category in CATEGORIES)


class StatementSource(StrEnum):
    """The source of a statement."""

    ROBOTS = "robots.txt"
    FIELD = "field"
    """A Content-Usage field: about the content of one HTTP message (attach-05 §2)."""
    AGREEMENT = "agreement"
    """An arrangement between two parties: it overrides other statements (§5.2)."""


class Statement(NamedTuple):
    """One statement of preference, and its source."""

    source: StatementSource
    values: Values
    """Each category of the vocabulary with its preference."""
    text: str = ""
    """The statement as written; several field lines joined as in RFC 9651 §4.2."""
    record: Record | None = None
    """The Content-Usage record, if it is in a robots.txt."""
    path: str | None = None
    """Its path pattern as written; None: it covers every path."""
    error: str | None = None
    """Why it fails to parse, so that all preferences are unknown; None if it parses."""

    @property
    def line(self) -> int | None:
        """The line of its record."""
        return self.record.line if self.record else None

    def get(self, category: str) -> Preference:
        """Return the preference that it states for a category."""
        return _value(self.values, category)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "source": str(self.source),
            "line": self.line,
            "path": self.path,
            "text": self.text,
            "preferences": {category: str(value) for category, value in self.values},
            "error": self.error,
        }


class Preferences(NamedTuple):
    """
    The combined preferences of all statements about one piece of content.

    Keep it with the content: the statements at the time of the fetch count (attach-05 §3.3), and
    this value does not change when a robots.txt does.
    """

    applicable: bool
    """False: the rules disallow the URL, so its robots.txt states no preference (attach §3.1)."""
    values: Values
    """Each category of the vocabulary with its preference."""
    statements: tuple[Statement, ...]
    """All combined statements, in the order robots.txt, field, agreement."""
    notes: tuple[Note, ...] = ()
    """Notes on the Content-Usage records of the selected groups."""

    def get(self, category: str) -> Preference:
        """Return the preference for a category, such as `train-ai`."""
        return _value(self.values, category)

    def decide(self, category: str, default: Preference | None = None) -> Preference:
        """Return the preference for a category; *default* if it is unknown (vocab §5)."""
        if default is not None:
            default = _validate_preference(default, "default")
        preference = self.get(category)
        unknown = preference is Preference.UNKNOWN
        return default if default is not None and unknown else preference

    def statements_for(self, category: str) -> tuple[Statement, ...]:
        """Return the statements that decide the preference for a category."""
        preference = self.get(category)
        if preference is Preference.UNKNOWN:
            return ()
        effective = _select_effective(self.statements, category)
        return tuple(one for one in effective if one.get(category) is preference)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `decided_by` has positions in `statements`."""
        return {
            "applicable": self.applicable,
            "preferences": {category: str(value) for category, value in self.values},
            "decided_by": {category: self._positions(category) for category, _ in self.values},
            "statements": [statement.as_dict() for statement in self.statements],
            "notes": [note.as_dict() for note in self.notes],
        }

    def _positions(self, category: str) -> list[int]:
        """Return the indexes of the statements that decide."""
        deciding = set(map(id, self.statements_for(category)))
        return [at for at, statement in enumerate(self.statements) if id(statement) in deciding]


def combine_preferences(statements: Iterable[Statement]) -> dict[str, Preference]:
    """
    Combine statements for each category separately (vocab §5.1).

    Disallowed wins over allowed, allowed over unknown. If an agreement states a preference for a
    category, only agreements count (§5.2).
    """
    statements = tuple(statements)
    combined = {}
    for category in CATEGORIES:
        stated = {one.get(category) for one in _select_effective(statements, category)}
        if Preference.DISALLOWED in stated:
            combined[category] = Preference.DISALLOWED
        elif Preference.ALLOWED in stated:
            combined[category] = Preference.ALLOWED
        else:
            combined[category] = Preference.UNKNOWN
    return combined


def _select_effective(statements: Sequence[Statement], category: str) -> Sequence[Statement]:
    """Return the statements that count for a category."""
    agreements = [
        statement
        for statement in statements
        if statement.source is StatementSource.AGREEMENT
        and statement.get(category) is not Preference.UNKNOWN
    ]
    return agreements or statements


# --- Reading ----------------------------------------------------------------------------------


def read_values(parsed: Parsed) -> Values:
    """
    Return the preferences of a Dictionary (vocab §6.5).

    If it fails to parse, all preferences are unknown. Unknown labels and all parameters are ignored
    (§6.4); the parser keeps the last value of a key (§6.5.1).
    """
    if parsed.value is None:
        return NOTHING
    return tuple((category, _read(parsed.value.get(category))) for category in CATEGORIES)


def _read(member: tuple[Any, Any] | None) -> Preference:
    if member is None or not is_token(member[0]):
        return Preference.UNKNOWN
    return LABELS.get(str(member[0]), Preference.UNKNOWN)


def content_usage_field(lines: str | bytes | Sequence[str | bytes]) -> Statement:
    """
    Read a Content-Usage field: one value, or its field lines in order (attach-05 §2).

    The lines are one Dictionary (RFC 9651 §4.2): the last value of a key counts. If it fails to
    parse, all preferences are unknown and `error` says why; nothing is recovered (AMB-67).
    """
    given = [lines] if isinstance(lines, (str, bytes)) else lines
    if not isinstance(given, Sequence) or not all(isinstance(line, (str, bytes)) for line in given):
        raise TypeError(
            "a Content-Usage field must be str or bytes such as 'train-ai=n', or a list of its "
            f"lines; not {lines!r}"
        )
    # Whitespace at the ends of a line is not part of its value (RFC 9110 §5.5).
    octets = b", ".join(to_octets(line).strip(b" \t") for line in given)
    parsed = parse_dictionary(octets)
    return Statement(
        StatementSource.FIELD, read_values(parsed), to_text(octets), error=parsed.error
    )


def make_agreement(values: Mapping[str, Preference | str]) -> Statement:
    """Return an agreement as a statement; it does not affect categories that are left out."""
    if not isinstance(values, Mapping):
        raise TypeError(
            "an agreement must map categories to preferences, such as {'train-ai': 'allowed'}; "
            f"not {type(values).__name__}"
        )
    for category in values:
        _value(NOTHING, category)
    given = {category: _validate_preference(value, category) for category, value in values.items()}
    stated = tuple((category, given.get(category, Preference.UNKNOWN)) for category in CATEGORIES)
    return Statement(StatementSource.AGREEMENT, stated)


def _value(values: Values, category: str) -> Preference:
    for name, value in values:
        if name == category:
            return value
    known = ", ".join(CATEGORIES)
    raise ValueError(f"unknown category {category!r}: draft-ietf-aipref-vocab-07 has {known}")


def _validate_preference(value: Preference | str, what: str) -> Preference:
    try:
        return Preference(value)
    except ValueError:
        known = ", ".join(map(repr, map(str, Preference)))
        raise ValueError(f"{what} is {value!r}: use one of {known}") from None
