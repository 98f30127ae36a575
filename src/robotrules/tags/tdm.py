"""
TDM Reservation Protocol: whether rights to text and data mining are reserved (W3C CG report, 2024).

Three carriers say it: `/.well-known/tdmrep.json` of the origin, the fields `tdm-reservation` and
`tdm-policy`, and meta elements of these names. A later one supersedes an earlier one, and one that
is absent resets nothing (TDM-03). It is a statement about rights, and says nothing about fetching.
It does not know EPUB and PDF metadata, does not fetch a policy, and does not know what follows from
a reservation where you are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from robotrules._engine.url_type import url_type_error
from robotrules.http.fields import read_fields
from robotrules.robotstxt.ruleset import URL, RuleSet
from robotrules.robotstxt.values import SENTENCES

# A file of this size names thousands of places; nothing of a larger one is read, for half a JSON
# text is none.
MOST_OCTETS = 128 * 1024
MOST_ENTRIES = 1_000

FILE, FIELD, META = "tdmrep.json", "field", "meta"
RESERVATION, POLICY = "tdm-reservation", "tdm-policy"

CODES: dict[str, tuple[str, str]] = {
    "bad-tdmrep": ("error", "The file is no JSON array of objects, so it says nothing."),
    "tdmrep-too-large": ("error", "The file is larger than 128 KiB, so it was not read."),
    "tdmrep-cut": ("error", "Only the first 1,000 entries of the file were read."),
    "bad-tdmrep-entry": ("error", "The entry is no object with a location, so it says nothing."),
    "bad-location": ("error", "The location is no path pattern, so the entry says nothing."),
    "repeated-member": ("warning", "The entry has a member twice; the last one was read."),
    "bad-reservation": ("error", "The value is neither 1 nor 0, so nothing is said with it."),
    "two-reservations": ("warning", "Both 1 and 0 are said; 1 was read."),
    "bad-policy": ("warning", "The policy is no URL, so it was not kept."),
}
SENTENCES.update({code: sentence for code, (_, sentence) in CODES.items()})


class TdmNote(NamedTuple):
    """What was odd about a carrier, as data."""

    code: str
    level: str
    carrier: str
    entry: int | None = None
    """The position of the entry in the file, from 1."""

    @property
    def message(self) -> str:
        """One sentence for people."""
        return SENTENCES[self.code]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {**self._asdict(), "message": self.message}


class TdmReservation(NamedTuple):
    """Whether rights are reserved, where that stands, and where licences are to be had."""

    reserved: bool | None
    """None: nobody says."""
    policy: str | None
    """The URL of the policy, as written; only where rights are reserved (TDM-01)."""
    carrier: str | None
    """What decided: `tdmrep.json`, `field` or `meta`."""
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
    response in any form that `read_fields` takes, *metas* name and content of the page's meta
    elements.
    """
    if not isinstance(url, (str, bytes)):
        raise url_type_error(url)
    notes: list[TdmNote] = []
    reserved: bool | None = None
    policy: str | None = None
    carrier: str | None = None
    for name, said in (
        (FILE, _in_file(tdmrep, url, notes)),
        (FIELD, _in_fields(headers, notes)),
        (META, _in_metas(metas, notes)),
    ):
        if said.reserved is not None:
            reserved, carrier = said.reserved, name
        # Where a carrier says 0, its policy is not processed (TDM-01).
        if said.policy is not None and said.reserved is not False:
            policy = said.policy
    return TdmReservation(reserved, policy if reserved else None, carrier, tuple(notes))


class _Said(NamedTuple):
    """What one carrier says."""

    reserved: bool | None = None
    policy: str | None = None


def _note(code: str, carrier: str, entry: int | None = None) -> TdmNote:
    return TdmNote(code, CODES[code][0], carrier, entry)


# --- Fields and meta elements ---------------------------------------------------------------------


def _in_fields(headers: object, notes: list[TdmNote]) -> _Said:
    fields = read_fields(headers)
    # Lines of the same field may have been joined with commas on the way.
    lines = b",".join(fields.get(RESERVATION))[:MOST_OCTETS].decode("latin-1")
    values = lines.split(",") if fields.get(RESERVATION) else []
    policies = [line.decode("latin-1") for line in fields.get(POLICY)]
    return _from_texts(values, policies, FIELD, notes)


def _in_metas(metas: Iterable[tuple[str, str]], notes: list[TdmNote]) -> _Said:
    found: dict[str, list[str]] = {RESERVATION: [], POLICY: []}
    for pair in metas:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"metas are pairs of name and content, not {type(pair).__name__}")
        name, content = pair
        values = found.get(name.strip().lower()) if isinstance(name, str) else None
        if values is not None and isinstance(content, str):
            values.append(content)
    return _from_texts(found[RESERVATION], found[POLICY], META, notes)


def _from_texts(
    values: list[str], policies: list[str], carrier: str, notes: list[TdmNote]
) -> _Said:
    """Return what texts say; the first policy that is one counts."""
    stated = {text.strip(" \t\r\n\f") for text in values}
    if stated - {"0", "1"}:
        notes.append(_note("bad-reservation", carrier))
    if {"0", "1"} <= stated:
        # The report does not say. As everywhere in robotrules the statement that keeps more counts.
        notes.append(_note("two-reservations", carrier))
    reserved = True if "1" in stated else False if "0" in stated else None
    texts = [text.strip(" \t\r\n\f") for text in policies]
    kept = [text for text in texts if _is_url(text)]
    if len(kept) < len(texts):
        notes.append(_note("bad-policy", carrier))
    return _Said(reserved, kept[0] if kept else None)


def _is_url(text: str) -> bool:
    """Tell whether a text may be a URL at all; it is not fetched here, so no more is asked."""
    return bool(text) and len(text) <= 8192 and text.isprintable() and " " not in text


# --- The file -------------------------------------------------------------------------------------


class _Entry(dict[str, Any]):
    """A JSON object that knows whether it has a member twice."""

    is_repeated = False

    @classmethod
    def of(cls, pairs: list[tuple[str, Any]]) -> _Entry:
        """Make it; of two members the last counts, as for most readers of JSON."""
        made = cls(pairs)
        made.is_repeated = len(made) < len(pairs)
        return made


def _in_file(tdmrep: bytes | str | None, url: URL, notes: list[TdmNote]) -> _Said:
    if tdmrep is None:
        return _Said()
    if not isinstance(tdmrep, (bytes, str)):
        name = type(tdmrep).__name__
        raise TypeError(f"a tdmrep.json is bytes or str, not {name}: pass response.content")
    if len(tdmrep) > MOST_OCTETS:
        notes.append(_note("tdmrep-too-large", FILE))
        return _Said()
    entries = _parse(tdmrep)
    if not isinstance(entries, list):
        notes.append(_note("bad-tdmrep", FILE))
        return _Said()
    if len(entries) > MOST_ENTRIES:
        notes.append(_note("tdmrep-cut", FILE))
    placed = list(_placed(entries[:MOST_ENTRIES], notes))
    # All patterns cross into the engine at once; the first in sequence decides, not the longest.
    rules = RuleSet.from_patterns([entry["location"] for _, entry in placed])
    _, matching = rules.matches(url)
    if not matching:
        return _Said()
    at, entry = placed[min(position for position, _ in matching)]
    return _stated(at, entry, notes)


def _parse(text: bytes | str) -> Any:
    """Return the value of a JSON text; None if it is not one, or not to be read."""

    def refuse(constant: str) -> None:
        """Refuse NaN and Infinity, which JSON does not have (RFC 8259 §6)."""
        raise ValueError(f"{constant} is not JSON")

    try:
        text = text.removeprefix("\ufeff") if isinstance(text, str) else text
        return json.loads(text, object_pairs_hook=_Entry.of, parse_constant=refuse)
    except (ValueError, RecursionError):
        # Among them: octets that are no text, and numbers of more digits than Python reads.
        return None


def _placed(entries: list[Any], notes: list[TdmNote]) -> Iterator[tuple[int, _Entry]]:
    """Yield position and entry of those that have a usable location."""
    for at, entry in enumerate(entries, 1):
        if not isinstance(entry, _Entry) or not isinstance(entry.get("location"), str):
            notes.append(_note("bad-tdmrep-entry", FILE, at))
        elif not entry["location"].startswith(("/", "*")):
            notes.append(_note("bad-location", FILE, at))
        else:
            yield at, entry


def _stated(at: int, entry: _Entry, notes: list[TdmNote]) -> _Said:
    """Return what the entry says that decides."""
    if entry.is_repeated:
        notes.append(_note("repeated-member", FILE, at))
    value, policy = entry.get(RESERVATION), entry.get(POLICY)
    # Exactly the numbers: to Python `true` and 1.0 are equal to 1.
    reserved = bool(value) if type(value) is int and value in (0, 1) else None
    if reserved is None:
        notes.append(_note("bad-reservation", FILE, at))
    if policy is not None and not (isinstance(policy, str) and _is_url(policy)):
        notes.append(_note("bad-policy", FILE, at))
        policy = None
    return _Said(reserved, policy)
