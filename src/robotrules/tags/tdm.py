"""
TDM Reservation Protocol: whether rights to text and data mining are reserved (W3C CG report, 2024).

It has three carriers: `/.well-known/tdmrep.json` of the origin, the fields `tdm-reservation` and
`tdm-policy`, and meta elements of these names. A later carrier supersedes an earlier one, and an
absent one resets nothing (TDM-03). A reservation is a statement about rights, not about fetching.
This module does not read EPUB and PDF metadata, does not fetch policies, and does not state the
legal effect of a reservation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from robotrules._engine.url_type import url_type_error
from robotrules.http.fields import read_fields
from robotrules.robotstxt.ruleset import URL, RuleSet
from robotrules.robotstxt.values import SENTENCES

# A file of this size has thousands of entries; a larger one is not read, because part of a JSON
# text does not parse.
MOST_OCTETS = 128 * 1024
MAX_ENTRIES = 1_000

FILE, FIELD, META = "tdmrep.json", "field", "meta"
RESERVATION, POLICY = "tdm-reservation", "tdm-policy"

CODES: dict[str, tuple[str, str]] = {
    "bad-tdmrep": ("error", "The file is not a JSON array of objects, so it is ignored."),
    "tdmrep-too-large": ("error", "The file is larger than 128 KiB, so it was not read."),
    "tdmrep-cut": ("error", "Only the first 1,000 entries of the file were read."),
    "bad-tdmrep-entry": ("error", "The entry is not an object with a location, so it is ignored."),
    "bad-location": ("error", "The location is not a path pattern, so the entry is ignored."),
    "repeated-member": ("warning", "The entry has a member twice; the last value was used."),
    "bad-reservation": ("error", "The value is neither 1 nor 0, so it is ignored."),
    "two-reservations": ("warning", "Both 1 and 0 are given; 1 was used."),
    "bad-policy": ("warning", "The policy is not a URL, so it is ignored."),
}
SENTENCES.update({code: sentence for code, (_, sentence) in CODES.items()})


class TdmNote(NamedTuple):
    """A note on a carrier."""

    code: str
    level: str
    carrier: str
    entry: int | None = None
    """The position of the entry in the file, from 1."""

    @property
    def message(self) -> str:
        """The message of its code, a sentence."""
        return SENTENCES[self.code]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {**self._asdict(), "message": self.message}


class TdmReservation(NamedTuple):
    """Whether rights are reserved, which carrier states it, and the URL of the policy."""

    reserved: bool | None
    """None: not stated."""
    policy: str | None
    """The URL of the policy, as written; only where rights are reserved (TDM-01)."""
    carrier: str | None
    """The carrier that decides: `tdmrep.json`, `field` or `meta`."""
    notes: tuple[TdmNote, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "reserved": self.reserved,
            "policy": self.policy,
            "carrier": self.carrier,
            "notes": [note.as_dict() for note in self.notes],
        }


def tdm_reservation(
    url: URL,
    *,
    tdmrep: bytes | str | None = None,
    headers: object = None,
    metas: Iterable[tuple[str, str]] = (),
) -> TdmReservation:
    """
    Return whether rights to mine the content of *url* are reserved.

    *tdmrep* is the body of `/.well-known/tdmrep.json` of its origin, *headers* are those of the
    response in any form that `read_fields` accepts, *metas* are pairs of name and content of the
    page's meta elements.
    """
    if not isinstance(url, (str, bytes)):
        raise url_type_error(url)
    notes: list[TdmNote] = []
    reserved: bool | None = None
    policy: str | None = None
    carrier: str | None = None
    for name, statement in (
        (FILE, _read_file(tdmrep, url, notes)),
        (FIELD, _read_header_fields(headers, notes)),
        (META, _read_metas(metas, notes)),
    ):
        if statement.reserved is not None:
            reserved, carrier = statement.reserved, name
        # If a carrier has 0, its policy is not processed (TDM-01).
        if statement.policy is not None and statement.reserved is not False:
            policy = statement.policy
    return TdmReservation(reserved, policy if reserved else None, carrier, tuple(notes))


class _Statement(NamedTuple):
    """The statement of one carrier."""

    reserved: bool | None = None
    policy: str | None = None


def _note(code: str, carrier: str, entry: int | None = None) -> TdmNote:
    return TdmNote(code, CODES[code][0], carrier, entry)


# --- Fields and meta elements ---------------------------------------------------------------------


def _read_header_fields(headers: object, notes: list[TdmNote]) -> _Statement:
    fields = read_fields(headers)
    # Lines of the same field may have been joined with commas in transit.
    lines = b",".join(fields.get(RESERVATION))[:MOST_OCTETS].decode("latin-1")
    values = lines.split(",") if fields.get(RESERVATION) else []
    policies = [line.decode("latin-1") for line in fields.get(POLICY)]
    return _read_texts(values, policies, FIELD, notes)


def _read_metas(metas: Iterable[tuple[str, str]], notes: list[TdmNote]) -> _Statement:
    contents: dict[str, list[str]] = {RESERVATION: [], POLICY: []}
    for pair in metas:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"metas are pairs of name and content, not {type(pair).__name__}")
        name, content = pair
        values = contents.get(name.strip().lower()) if isinstance(name, str) else None
        if values is not None and isinstance(content, str):
            values.append(content)
    return _read_texts(contents[RESERVATION], contents[POLICY], META, notes)


def _read_texts(
    values: list[str], policies: list[str], carrier: str, notes: list[TdmNote]
) -> _Statement:
    """Return the statement of some texts; the first valid policy counts."""
    stated = {text.strip(" \t\r\n\f") for text in values}
    if stated - {"0", "1"}:
        notes.append(_note("bad-reservation", carrier))
    if {"0", "1"} <= stated:
        # The report leaves this open. As everywhere in robotrules, the more restrictive one counts.
        notes.append(_note("two-reservations", carrier))
    reserved = True if "1" in stated else False if "0" in stated else None
    texts = [text.strip(" \t\r\n\f") for text in policies]
    kept = [text for text in texts if _is_url(text)]
    if len(kept) < len(texts):
        notes.append(_note("bad-policy", carrier))
    return _Statement(reserved, kept[0] if kept else None)


def _is_url(text: str) -> bool:
    """Return whether a text may be a URL; it is not fetched, so a loose check is enough."""
    return bool(text) and len(text) <= 8192 and text.isprintable() and " " not in text


# --- The file -------------------------------------------------------------------------------------


class _Entry(dict[str, Any]):
    """A JSON object with a flag for a repeated member."""

    is_repeated = False

    @classmethod
    def of(cls, pairs: list[tuple[str, Any]]) -> _Entry:
        """Make it; of two members the last counts, as in most JSON parsers."""
        entry = cls(pairs)
        entry.is_repeated = len(entry) < len(pairs)
        return entry


def _read_file(tdmrep: bytes | str | None, url: URL, notes: list[TdmNote]) -> _Statement:
    if tdmrep is None:
        return _Statement()
    if not isinstance(tdmrep, (bytes, str)):
        name = type(tdmrep).__name__
        raise TypeError(f"a tdmrep.json is bytes or str, not {name}: pass response.content")
    if len(tdmrep) > MOST_OCTETS:
        notes.append(_note("tdmrep-too-large", FILE))
        return _Statement()
    entries = _parse(tdmrep)
    if not isinstance(entries, list):
        notes.append(_note("bad-tdmrep", FILE))
        return _Statement()
    if len(entries) > MAX_ENTRIES:
        notes.append(_note("tdmrep-cut", FILE))
    placed = list(_usable_entries(entries[:MAX_ENTRIES], notes))
    # One call into the engine for all patterns; the first in sequence decides, not the longest.
    rules = RuleSet.from_patterns([entry["location"] for _, entry in placed])
    _, matching = rules.matches(url)
    if not matching:
        return _Statement()
    at, entry = placed[min(position for position, _ in matching)]
    return _read_statement(at, entry, notes)


def _parse(text: bytes | str) -> Any:
    """Return the value of a JSON text; None if it does not parse."""

    def refuse(constant: str) -> None:
        """Refuse NaN and Infinity, which JSON does not have (RFC 8259 §6)."""
        raise ValueError(f"{constant} is not JSON")

    try:
        text = text.removeprefix("\ufeff") if isinstance(text, str) else text
        return json.loads(text, object_pairs_hook=_Entry.of, parse_constant=refuse)
    except (ValueError, RecursionError):
        # Also for octets that are not text, and numbers with more digits than Python accepts.
        return None


def _usable_entries(entries: list[Any], notes: list[TdmNote]) -> Iterator[tuple[int, _Entry]]:
    """Yield position and entry of those with a usable location."""
    for at, entry in enumerate(entries, 1):
        if not isinstance(entry, _Entry) or not isinstance(entry.get("location"), str):
            notes.append(_note("bad-tdmrep-entry", FILE, at))
        elif not entry["location"].startswith(("/", "*")):
            notes.append(_note("bad-location", FILE, at))
        else:
            yield at, entry


def _read_statement(at: int, entry: _Entry, notes: list[TdmNote]) -> _Statement:
    """Return the statement of the entry that decides."""
    if entry.is_repeated:
        notes.append(_note("repeated-member", FILE, at))
    value, policy = entry.get(RESERVATION), entry.get(POLICY)
    # Only the integers: in Python `true` and 1.0 are equal to 1.
    reserved = bool(value) if type(value) is int and value in (0, 1) else None
    if reserved is None:
        notes.append(_note("bad-reservation", FILE, at))
    if policy is not None and not (isinstance(policy, str) and _is_url(policy)):
        notes.append(_note("bad-policy", FILE, at))
        policy = None
    return _Statement(reserved, policy)
