"""
Reading registries from JSON and CSV: all of a file is used, or it is rejected with every reason.

JSON has any of the four registries in one file; CSV has one, which its header names. What is read
is laid over other registries, by default those of the package. A reason says the file, the entry
(JSON) or the line (CSV), the field, what is wrong, and the cure. This is the one place where
registries touch files; it does not know what the fields mean.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.errors import RegistryError
from robotrules.registries.entries import (
    FORMS,
    Application,
    DirectiveEntry,
    Entry,
    EntrySchema,
    Key,
    not_text,
    shown,
)
from robotrules.registries.registry import Registries, Registry, conflict, laid_under
from robotrules.registries.shipped import SHIPPED

if TYPE_CHECKING:
    from pathlib import Path


def load_registries(path: str | Path, *, over: Registries = SHIPPED) -> Registries:
    """
    Read a `.json` or `.csv` file and lay it over other registries.

    RegistryError has every reason why the file is rejected, one on each line; OSError says that it
    could not be read at all. To use several files, load each over what the one before gave.
    """
    if not isinstance(path, str) and not hasattr(path, "__fspath__"):
        raise TypeError(f"pass the path of a .json or .csv file, not {shown(path)}")
    name = path if isinstance(path, str) else path.__fspath__()
    ending = name.rpartition(".")[2].lower()
    if ending not in ("json", "csv"):
        cure = "name it .json or .csv, or pass its text to read_json() or read_csv()"
        raise RegistryError(f"{name}: the name does not say what the file holds; {cure}")
    with open(path, "rb") as file:
        octets = file.read()
    return (parse_json if ending == "json" else parse_csv)(octets, name, over=over)


def parse_json(
    text: str | bytes, name: str = "registries.json", *, over: Registries = SHIPPED
) -> Registries:
    """Read the text of a JSON file and lay it over other registries; *name* is for messages."""
    reasons: list[str] = []
    found = list(_json_sections(_decoded(text, name), name, reasons))
    return _laid_over(over, found, name, reasons)


def parse_csv(
    text: str | bytes, name: str = "registries.csv", *, over: Registries = SHIPPED
) -> Registries:
    """Read the text of a CSV file and lay it over other registries; *name* is for messages."""
    reasons: list[str] = []
    found = _csv_section(_decoded(text, name), name, reasons)
    return _laid_over(over, [found] if found else [], name, reasons)


class _Section(NamedTuple):
    """What a file says of one registry: values by field, each with where it stands."""

    form: EntrySchema
    rows: Sequence[tuple[str, dict[str, Any]]]
    about: dict[str, Any]


def _decoded(text: str | bytes, name: str) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    if not isinstance(text, (bytes, bytearray, memoryview)):
        raise TypeError(f"pass the text of {name} as str or bytes, not {type(text).__name__}")
    try:
        return bytes(text).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"octet {error.start}"
        raise RegistryError(f"{name}, {where}: this is not UTF-8; save the file as that") from None


# --- JSON -----------------------------------------------------------------------------------------


class _Object(dict[str, Any]):
    """A JSON object that knows which of its keys were written twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.twice: set[str] = set()
        for name, value in pairs:
            if name in self:
                self.twice.add(name)
            self[name] = value


def _json_sections(text: str, name: str, reasons: list[str]) -> Iterator[_Section]:
    import json

    try:
        whole = json.loads(text, object_pairs_hook=_Object)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        cure = "correct the syntax there"
        raise RegistryError(f"{name}, {where}: not JSON ({error.msg}); {cure}") from None
    except (ValueError, RecursionError):  # a number or a depth that the parser refuses
        cure = "see the form in docs/registries.md"
        raise RegistryError(f"{name}: not JSON that registries are made of; {cure}") from None
    if not isinstance(whole, _Object):
        sections = ", ".join(form.section for form in FORMS)
        cure = f"write an object with any of {sections}"
        raise RegistryError(f"{name}: {shown(whole)} is no object; {cure}")
    _names(whole, {form.section for form in FORMS}, name, reasons)
    for form in FORMS:
        if form.section not in whole:
            continue
        section, place = whole[form.section], f"{name}, {form.section}"
        entries, about = section, {}
        if isinstance(section, _Object):
            _names(section, {"title", "procedures", "reference", "entries"}, place, reasons)
            entries = section.get("entries")
            about = dict(_about(section, place, reasons))
        if not isinstance(entries, list):
            cure = 'write a list of entries, or an object that has it as "entries"'
            reasons.append(f"{place}: there is no list of entries; {cure}")
            continue
        rows = []
        for number, entry in enumerate(entries, start=1):
            where = f"{place}, entry {number}"
            if isinstance(entry, _Object):
                _names(entry, set(form.fields), where, reasons)
                rows.append((where, entry))
            else:
                cure = f"write an object with {', '.join(form.fields)}"
                reasons.append(f"{where}: {shown(entry)} is no object; {cure}")
        yield _Section(form, rows, about)


def _names(found: _Object, known: set[str], place: str, reasons: list[str]) -> None:
    for name in sorted(found.twice):
        reasons.append(f"{place}, {shown(name)}: it is there twice; leave one out")
    for name in found:
        if name not in known:
            cure = f"write one of {', '.join(sorted(known))}"
            reasons.append(f"{place}, {shown(name)}: there is no such name; {cure}")


def _about(section: _Object, place: str, reasons: list[str]) -> Iterator[tuple[str, Any]]:
    for name in ("title", "reference", "procedures"):
        value = section.get(name, [] if name == "procedures" else "")
        texts = value if name == "procedures" else [value]
        if isinstance(texts, list) and not any(text != "" and not_text(text) for text in texts):
            yield name, value
        else:
            cure = "write a list of strings" if name == "procedures" else "write one line of text"
            reasons.append(f"{place}, {name}: {shown(value)} does not belong there; {cure}")


# --- CSV ------------------------------------------------------------------------------------------


def _csv_section(text: str, name: str, reasons: list[str]) -> _Section | None:
    import csv

    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    form: EntrySchema | None = None
    rows: list[tuple[str, dict[str, Any]]] = []
    before = 0  # the last line of the entry before: a quoted text may have several
    try:
        for cells in lines:
            place, before = f"{name}, line {before + 1}", lines.line_num
            if not cells:  # an empty line
                continue
            if form is None:
                header, form = cells, _named_by(cells)
                if form is None:
                    forms = " or ".join(",".join(form.fields) for form in FORMS)
                    what = f"{shown(','.join(cells))} is the header of no registry"
                    reasons.append(f"{place}: {what}; write {forms}")
                    return None
            elif len(cells) != len(header):
                what = f"there are {len(cells)} cells, and {len(header)} columns"
                cure = "put text that has commas in double quotes"
                reasons.append(f"{place}: {what}; {cure}")
            else:
                given = dict(zip(header, cells, strict=True))
                rows.append((place, {field: cell for field, cell in given.items() if cell}))
    except csv.Error as error:
        cure = "close every double quote, and write one inside a text twice"
        reasons.append(f"{name}, line {lines.line_num}: not CSV ({error}); {cure}")
        return None
    if form is None:
        forms = " or ".join(",".join(form.fields) for form in FORMS)
        reasons.append(f"{name}, line 1: there is no header; write {forms}")
        return None
    return _Section(form, rows, {})


def _named_by(header: list[str]) -> EntrySchema | None:
    names = set(header)
    for form in FORMS:
        every = set(form.fields)
        if every - form.optional <= names <= every and len(names) == len(header):
            return form
    return None


# --- Both -----------------------------------------------------------------------------------------


def _laid_over(
    over: Registries, found: list[_Section], name: str, reasons: list[str]
) -> Registries:
    if not isinstance(over, Registries):
        raise TypeError(f"over is Registries, such as load() returns, not {shown(over)}")
    places: dict[tuple[type, Key], str] = {}
    read: dict[str, Registry[Any]] = {}
    rejected: set[str] = set()
    asking: list[tuple[str, DirectiveEntry]] = []
    for form, rows, about in found:
        good: list[Entry] = []
        for place, values in rows:
            entry = form.of(*(values.get(field) for field in form.fields))
            faults = {fault.field: fault for fault in form.faults(entry)}
            reasons += [f"{place}, {fault}" for fault in faults.values()]
            if not faults.keys() & set(form.key_fields):
                first = places.setdefault((form.of, entry.key), place)
                if first != place:
                    first = first.removeprefix(f"{name}, ")
                    what = f"{shown(entry.key)} is there twice, first in {first}"
                    reasons.append(f"{place}: {what}; leave one out")
                    continue
                if faults and form.of is Application:
                    rejected.add(entry.identifier)
            if form.of is DirectiveEntry and not faults.keys() & {"application", _CONTROLLER}:
                asking.append((place, entry))
            if not faults:
                good.append(entry)
        read[form.section] = Registry(form.of, good, **about)
    both = laid_under(over, Registries(**read))
    # Where the entry of an application is rejected, that is reason enough.
    asking = [(place, entry) for place, entry in asking if entry.application not in rejected]
    reasons += _conflicts(both, asking, places)
    if reasons:
        raise RegistryError("\n".join(reasons))
    return both


_CONTROLLER = "change_controller"


def _conflicts(
    both: Registries,
    asking: list[tuple[str, DirectiveEntry]],
    places: dict[tuple[type, Key], str],
) -> Iterator[str]:
    for place, entry in asking:
        if fault := conflict(entry, both.applications):
            yield f"{place}, {fault}"
    for entry in both.directives:
        # An app directive that was there before, and a file that gives its application to
        # somebody else: the application's entry is to blame.
        blamed = places.get((Application, entry.application))
        if blamed and (DirectiveEntry, entry.key) not in places:
            if fault := conflict(entry, both.applications):
                what = f"{shown(entry.name)} was registered by another: {fault.what}"
                cure = "keep the change controller, or give that app directive again here"
                yield f"{blamed}, {fault.field}: {what}; {cure}"
