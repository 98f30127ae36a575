"""
Validators: which ETag and Last-Modified are stored and sent back, and which file a 304 confirms.

A bad validator is worse than none. `If-None-Match: *` matches any file, and a date in the future is
later than any change: either produces 304 responses for ever, and crawlers then use an outdated
file. An entity-tag must therefore have the form of RFC 9110 §8.8.3, and a Last-Modified must not be
later than its response (§8.8.2.1). Other values are dropped before a response is stored and before
a conditional request is sent. Which file a 304 confirms follows RFC 9111 §4.3.4.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from robotrules.http.dates import parse_http_date
from robotrules.http.fields import Fields

# A tag is sent back unchanged; real ones have about 40 bytes.
MAX_VALIDATOR_LENGTH = 1024
# RFC 9110 §8.8.3. It also allows bytes from 0x80 on, but libraries disagree about how to send them;
# without such a tag the file is fetched again, which is always correct.
_ENTITY_TAG = re.compile(rb'(W/)?("[\x21\x23-\x7e]*")')


class EntityTag(NamedTuple):
    """An entity-tag: opaque bytes including the quotes, and whether it is weak (§8.8.3)."""

    opaque: bytes
    weak: bool

    def strongly_equals(self, other: EntityTag) -> bool:
        """Strong comparison (§8.8.3.2): the bodies are byte-for-byte identical."""
        return self == other and not self.weak

    def weakly_equals(self, other: EntityTag) -> bool:
        """Weak comparison (§8.8.3.2): the bodies are equivalent."""
        return self.opaque == other.opaque


def parse_etag(fields: Fields) -> EntityTag | None:
    """Return the ETag of a response; None if it is absent, malformed, or several differ."""
    value = _single_value(fields, "etag")
    match = _ENTITY_TAG.fullmatch(value) if value is not None else None
    return EntityTag(match[2], match[1] is not None) if match else None


def parse_last_modified(fields: Fields) -> float | None:
    """Return the Last-Modified of a response in seconds since 1970; None: no valid date."""
    return _parse_date_field(fields, "last-modified")


def drop_invalid_validators(fields: Fields, received: float | None = None) -> Fields:
    """
    Return *fields* without an ETag or Last-Modified that must not be sent back.

    *received* is the time of the response, in seconds since 1970. A Last-Modified after it, or
    after the Date of the response, is in the future and dropped. Without *received* it is dropped
    as well: Date alone is not reliable.
    """
    dropped = set()
    if parse_etag(fields) is None:
        dropped.add("etag")
    if not _is_not_future(parse_last_modified(fields), _parse_date_field(fields, "date"), received):
        dropped.add("last-modified")
    if not dropped:
        return fields
    return Fields(tuple(line for line in fields.lines if line[0] not in dropped), fields.apart)


def conditional_headers(fields: Fields) -> tuple[tuple[str, str], ...]:
    """Return the condition fields that ask whether a stored file changed (RFC 9110 §13.1)."""
    return tuple(
        (condition, fields.get(name)[0].decode("ascii"))
        for name, condition, validator in (
            ("etag", "If-None-Match", parse_etag(fields)),
            ("last-modified", "If-Modified-Since", parse_last_modified(fields)),
        )
        if validator is not None
    )


def confirms_stored(stored: Fields, newer: Fields) -> bool:
    """
    Return whether a 304 with the fields *newer* confirms the file stored with *stored*.

    RFC 9111 §4.3.4: a strong validator must equal that of the stored file; a weak one must equal it
    by weak comparison. If there is an ETag, it decides, since the server evaluated the condition
    with it (RFC 9110 §13.2.2). A malformed ETag, or several that differ, identify no file: the 304
    may be about any file, and another request is cheap. A 304 without validators answers the
    condition that was sent, and confirms the file.
    """
    tag, known = parse_etag(newer), parse_etag(stored)
    if newer.get("etag"):
        if tag is None or known is None:
            return False
        return tag.weakly_equals(known) if tag.weak else tag.strongly_equals(known)
    changed = parse_last_modified(newer)
    return changed is None or changed == parse_last_modified(stored)


def _is_not_future(moment: float | None, date: float | None, received: float | None) -> bool:
    if moment is None or received is None:
        return False
    return moment <= (received if date is None else min(date, received))


def _parse_date_field(fields: Fields, name: str) -> float | None:
    value = _single_value(fields, name)
    date = parse_http_date(value.decode("latin-1")) if value is not None else None
    return date.timestamp() if date else None


def _single_value(fields: Fields, name: str) -> bytes | None:
    """Return the value of a singleton field; None if it is absent, too long, or several differ."""
    values = set(fields.get(name))
    value = values.pop() if len(values) == 1 else None
    return value if value is not None and len(value) <= MAX_VALIDATOR_LENGTH else None
