"""
Validators: which ETag and Last-Modified are kept and sent back, and which file a 304 renews.

A bad validator is worse than none. `If-None-Match: *` matches whatever file there is, and a date in
the future is later than any change: both get a 304 for ever, and an outdated file is obeyed for as
long. So an entity-tag has the form of RFC 9110 §8.8.3, a Last-Modified is not later than the answer
that it came with (§8.8.2.1), and what is neither is dropped before an answer is stored and before a
condition is sent. What a 304 renews is RFC 9111 §4.3.4. It knows fields and no flow.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from robotrules.http.dates import parse_http_date
from robotrules.http.fields import Fields

# A tag is sent back as it came; real ones have some 40 octets.
LONGEST_VALIDATOR = 1024
# RFC 9110 §8.8.3. Octets from 0x80 on are allowed there, and libraries disagree about how to send
# them: without such a tag the file is fetched again, which is always right.
_ENTITY_TAG = re.compile(rb'(W/)?("[\x21\x23-\x7e]*")')


class EntityTag(NamedTuple):
    """An entity-tag: opaque octets, with their quotes, and whether it is weak (§8.8.3)."""

    opaque: bytes
    weak: bool

    def strongly_equals(self, other: EntityTag) -> bool:
        """Compare as §8.8.3.2 does where the octets of a body have to be the same."""
        return self == other and not self.weak

    def weakly_equals(self, other: EntityTag) -> bool:
        """Compare as §8.8.3.2 does where the same meaning is enough."""
        return self.opaque == other.opaque


def parse_etag(fields: Fields) -> EntityTag | None:
    """Return the ETag of an answer; None: there is none, it is malformed, or there are several."""
    value = _single(fields, "etag")
    found = _ENTITY_TAG.fullmatch(value) if value is not None else None
    return EntityTag(found[2], found[1] is not None) if found else None


def parse_last_modified(fields: Fields) -> float | None:
    """Return the Last-Modified of an answer in seconds since 1970; None: there is no such date."""
    return _date(fields, "last-modified")


def drop_invalid_validators(fields: Fields, received: float | None = None) -> Fields:
    """
    Return *fields* without an ETag or Last-Modified that must not be sent back.

    *received* is when the answer came, in seconds since 1970. A Last-Modified later than that, or
    than the Date of the answer, is of the future. It counts as such, too, if nobody says when the
    answer came: that its Date is right is only the server's word.
    """
    dropped = set()
    if parse_etag(fields) is None:
        dropped.add("etag")
    if not _is_past(parse_last_modified(fields), _date(fields, "date"), received):
        dropped.add("last-modified")
    if not dropped:
        return fields
    return Fields(tuple(line for line in fields.lines if line[0] not in dropped), fields.apart)


def conditional_headers(fields: Fields) -> tuple[tuple[str, str], ...]:
    """Return the conditions that ask whether a stored file changed (RFC 9110 §13.1)."""
    return tuple(
        (condition, fields.get(name)[0].decode("ascii"))
        for name, condition, found in (
            ("etag", "If-None-Match", parse_etag(fields)),
            ("last-modified", "If-Modified-Since", parse_last_modified(fields)),
        )
        if found is not None
    )


def confirms_stored(stored: Fields, newer: Fields) -> bool:
    """
    Tell whether a 304 with the fields *newer* is about the file stored with *stored*.

    RFC 9111 §4.3.4: a strong validator has to be that of the stored file; so has a weak one, by
    weak comparison. The ETag decides where there is one, since a condition with it is the one that
    the server looked at (RFC 9110 §13.2.2). One that is malformed, or several that differ, names no
    file: then the 304 may be about any, and to ask again costs one request. A 304 without
    validators answers the condition that was sent, and that is enough.
    """
    tag, known = parse_etag(newer), parse_etag(stored)
    if newer.get("etag"):
        if tag is None or known is None:
            return False
        return tag.weakly_equals(known) if tag.weak else tag.strongly_equals(known)
    changed = parse_last_modified(newer)
    return changed is None or changed == parse_last_modified(stored)


def _is_past(moment: float | None, date: float | None, received: float | None) -> bool:
    if moment is None or received is None:
        return False
    return moment <= (received if date is None else min(date, received))


def _date(fields: Fields, name: str) -> float | None:
    value = _single(fields, name)
    found = parse_http_date(value.decode("latin-1")) if value is not None else None
    return found.timestamp() if found else None


def _single(fields: Fields, name: str) -> bytes | None:
    """Return the value of a field that may come once; None: there is none, or several differ."""
    values = set(fields.get(name))
    value = values.pop() if len(values) == 1 else None
    return value if value is not None and len(value) <= LONGEST_VALIDATOR else None
