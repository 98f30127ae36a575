"""
The vocabulary of usage preferences (draft-ietf-aipref-vocab-07): read, combined, and kept apart.

A statement gives each category of use one of three preferences: allowed, disallowed or unknown
(§3). Several statements combine for each category alone (§5.1), and what each of them said stays
to be seen. A preference is what somebody states. It enforces nothing and authorizes nothing.

It does not know robots.txt rules or paths; `content_usage` does.
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
    """What is stated about a category of use (§3)."""

    ALLOWED = "allowed"
    DISALLOWED = "disallowed"
    UNKNOWN = "unknown"
    """Nothing usable is stated. What that means is the reader's decision: §5 has no default."""


# §6.2: two Tokens of one octet; anything else is unknown.
LABELS = {"y": Preference.ALLOWED, "n": Preference.DISALLOWED}

Values = tuple[tuple[str, Preference], ...]
NOTHING: Values = tuple((category, Preference.UNKNOWN) for category in CATEGORIES)


class StatementSource(StrEnum):
    """Where a statement was made."""

    ROBOTS = "robots.txt"
    FIELD = "field"
    """A Content-Usage field: about the content of one HTTP message (attach-05 §2)."""
    AGREEMENT = "agreement"
    """What two parties arranged: overrides what is stated (§5.2)."""


class Statement(NamedTuple):
    """One statement of preference, and where it was made."""

    source: StatementSource
    values: Values
    """Each category of the vocabulary with its preference."""
    text: str = ""
    """The statement as written; several field lines joined as RFC 9651 §4.2 wants."""
    record: Record | None = None
    """The Content-Usage record, where it is in a robots.txt."""
    path: str | None = None
    """Its path pattern as written; None: it covers every path."""
    error: str | None = None
    """Why it could not be read, so that all is unknown; None: it could."""

    @property
    def line(self) -> int | None:
        """The line of its record."""
        return self.record.line if self.record else None

    def get(self, category: str) -> Preference:
        """Return what it states about a category."""
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
    What all statements about one piece of content come to.

    Keep it with the content: what counts is what was stated when the content was fetched
    (attach-05 §3.3), and a value like this one does not change when a robots.txt does.
    """

    applicable: bool
    """False: the rules disallow the URL, so its robots.txt states no preference (attach §3.1)."""
    values: Values
    """Each category of the vocabulary with its preference."""
    statements: tuple[Statement, ...]
    """All that was combined, in the order robots.txt, field, agreement."""
    notes: tuple[Note, ...] = ()
    """What is odd about the Content-Usage records of the groups that count."""

    def get(self, category: str) -> Preference:
        """Return the preference for a category, such as `train-ai`."""
        return _value(self.values, category)

    def decide(self, category: str, default: Preference | None = None) -> Preference:
        """Return the preference for a category; *default* where it is unknown (vocab §5)."""
        if default is not None:
            default = _preference(default, "default")
        found = self.get(category)
        return default if default is not None and found is Preference.UNKNOWN else found

    def statements_for(self, category: str) -> tuple[Statement, ...]:
        """Return the statements that the preference for a category follows from."""
        found = self.get(category)
        if found is Preference.UNKNOWN:
            return ()
        heard = _heard(self.statements, category)
        return tuple(statement for statement in heard if statement.get(category) is found)

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
        """Return the positions of the statements that decide."""
        deciding = set(map(id, self.statements_for(category)))
        return [at for at, statement in enumerate(self.statements) if id(statement) in deciding]


def combine_preferences(statements: Iterable[Statement]) -> dict[str, Preference]:
    """
    Combine statements, for each category alone (vocab §5.1).

    Any that disallows decides; else any that allows; else the preference is unknown. Where an
    agreement says something about a category, only agreements count (§5.2).
    """
    statements = tuple(statements)
    combined = {}
    for category in CATEGORIES:
        said = {statement.get(category) for statement in _heard(statements, category)}
        if Preference.DISALLOWED in said:
            combined[category] = Preference.DISALLOWED
        elif Preference.ALLOWED in said:
            combined[category] = Preference.ALLOWED
        else:
            combined[category] = Preference.UNKNOWN
    return combined


def _heard(statements: Sequence[Statement], category: str) -> Sequence[Statement]:
    """Return the statements that count for a category."""
    agreed = [
        statement
        for statement in statements
        if statement.source is StatementSource.AGREEMENT
        and statement.get(category) is not Preference.UNKNOWN
    ]
    return agreed or statements


# --- Reading ----------------------------------------------------------------------------------


def read_values(parsed: Parsed) -> Values:
    """
    Return the preferences of a Dictionary (vocab §6.5).

    A Dictionary that fails to parse leaves all unknown. Unknown labels and all parameters are
    ignored (§6.4); the parser has seen to it that the last value of a key counts (§6.5.1).
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

    The lines are one Dictionary (RFC 9651 §4.2): the last value of a key counts, and where it fails
    to parse all is unknown and `error` says why; nothing of it is salvaged (AMB-67).
    """
    given = [lines] if isinstance(lines, (str, bytes)) else lines
    if not isinstance(given, Sequence) or not all(isinstance(one, (str, bytes)) for one in given):
        raise TypeError(
            "a Content-Usage field is str or bytes such as 'train-ai=n', or a list of its lines; "
            f"not {lines!r}"
        )
    # Whitespace at the ends of a line is not part of its value (RFC 9110 §5.5).
    octets = b", ".join(to_octets(line).strip(b" \t") for line in given)
    parsed = parse_dictionary(octets)
    return Statement(
        StatementSource.FIELD, read_values(parsed), to_text(octets), error=parsed.error
    )


def agreed(values: Mapping[str, Preference | str]) -> Statement:
    """Return what was agreed on as a statement; categories left out stay as they are stated."""
    if not isinstance(values, Mapping):
        raise TypeError(
            "an agreement maps categories to preferences, such as {'train-ai': 'allowed'}; "
            f"not {type(values).__name__}"
        )
    for category in values:
        _value(NOTHING, category)
    given = {category: _preference(value, category) for category, value in values.items()}
    found = tuple((one, given.get(one, Preference.UNKNOWN)) for one in CATEGORIES)
    return Statement(StatementSource.AGREEMENT, found)


def _value(values: Values, category: str) -> Preference:
    for name, value in values:
        if name == category:
            return value
    known = ", ".join(CATEGORIES)
    raise ValueError(f"there is no category {category!r}: draft-ietf-aipref-vocab-07 has {known}")


def _preference(value: Preference | str, what: str) -> Preference:
    try:
        return Preference(value)
    except ValueError:
        known = ", ".join(map(repr, map(str, Preference)))
        raise ValueError(f"{what} is {value!r}: a preference is one of {known}") from None
