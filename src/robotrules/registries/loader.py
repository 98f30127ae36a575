"""
Load registries from JSON and CSV files: a file is valid as a whole, or rejected with every reason.

JSON has any of the four registries in one file; CSV has one, which its header determines. The
result is merged over other registries, by default those of the package. A reason has the file, the
entry (JSON) or the line (CSV), the field, the problem, and how to fix it.

Sections: the registries of the package · entry points · JSON · CSV · merging.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.errors import RegistryError
from robotrules.registries.entries import (
    SCHEMAS,
    Application,
    DirectiveEntry,
    E,
    Entry,
    EntrySchema,
    Key,
    Purpose,
    TagRule,
    check_text,
    find_schema,
    quote,
)
from robotrules.registries.registry import Registries, Registry, find_conflict, merge_unchecked

if TYPE_CHECKING:
    from pathlib import Path


# --- The registries of the package ----------------------------------------------------------------


class _PackageRegistry(Registry[E]):
    """A registry of the package, read on first use. Equal to, and pickled as, a plain Registry."""

    __slots__ = ()

    def __init__(self, of: type[E]) -> None:
        object.__setattr__(self, "of", of)

    def __getattr__(self, name: str) -> Any:
        # Called only for an empty slot: all but `of`, until the file was read. Two threads may
        # both read it, with the same result.
        if name not in Registry.__slots__:
            raise AttributeError(f"a registry has no {name!r}")
        registry = read_package_file(self.of)
        self._fill(
            registry.of,
            registry._index,
            registry.title,
            registry.procedures,
            registry.reference,
        )
        return getattr(registry, name)


SHIPPED = Registries(
    _PackageRegistry(TagRule),
    _PackageRegistry(Purpose),
    _PackageRegistry(Application),
    _PackageRegistry(DirectiveEntry),
)


def read_package_file(of: type[E]) -> Registry[E]:
    """Read the data file of a registry of the package."""
    from importlib.resources import files

    section = find_schema(of).section
    file = files("robotrules.registries").joinpath("data", f"{section}.json")
    # App directives belong to applications, which have a file of their own (APP-3.2-03).
    owners = Registries(applications=SHIPPED.applications)
    over = owners if section == "directives" else Registries()
    registry: Registry[E] = getattr(parse_json(file.read_bytes(), file.name, over=over), section)
    return registry


# --- Entry points ---------------------------------------------------------------------------------


def load_registries(path: str | Path, *, over: Registries = SHIPPED) -> Registries:
    """
    Read a `.json` or `.csv` file and merge it over other registries.

    RegistryError has every reason why the file is rejected, one per line; OSError is raised if it
    cannot be read. To use several files, load each over the result of the one before.
    """
    if not isinstance(path, str) and not hasattr(path, "__fspath__"):
        raise TypeError(f"pass the path of a .json or .csv file, not {quote(path)}")
    name = path if isinstance(path, str) else path.__fspath__()
    ending = name.rpartition(".")[2].lower()
    if ending not in ("json", "csv"):
        fix = "name it .json or .csv, or pass its text to parse_json() or parse_csv()"
        raise RegistryError(f"{name}: unknown file type; {fix}")
    with open(path, "rb") as file:
        octets = file.read()
    return (parse_json if ending == "json" else parse_csv)(octets, name, over=over)


def parse_json(
    text: str | bytes, name: str = "registries.json", *, over: Registries = SHIPPED
) -> Registries:
    """Parse the text of a JSON file and merge it over other registries; *name* is for messages."""
    reasons: list[str] = []
    sections = list(_parse_json_sections(_decode(text, name), name, reasons))
    return _merge(over, sections, name, reasons)


def parse_csv(
    text: str | bytes, name: str = "registries.csv", *, over: Registries = SHIPPED
) -> Registries:
    """Parse the text of a CSV file and merge it over other registries; *name* is for messages."""
    reasons: list[str] = []
    section = _parse_csv_section(_decode(text, name), name, reasons)
    return _merge(over, [section] if section else [], name, reasons)


class _Section(NamedTuple):
    """The rows of one registry in a file: a place for messages, and values by field."""

    schema: EntrySchema
    rows: Sequence[tuple[str, dict[str, Any]]]
    about: dict[str, Any]


def _decode(text: str | bytes, name: str) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    if not isinstance(text, (bytes, bytearray, memoryview)):
        raise TypeError(f"pass the text of {name} as str or bytes, not {type(text).__name__}")
    try:
        return bytes(text).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"byte {error.start}"
        raise RegistryError(f"{name}, {where}: not UTF-8; save the file as UTF-8") from None


# --- JSON -----------------------------------------------------------------------------------------


class _Object(dict[str, Any]):
    """A JSON object with the set of its duplicate names."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.duplicates: set[str] = set()
        for name, value in pairs:
            if name in self:
                self.duplicates.add(name)
            self[name] = value


def _parse_json_sections(text: str, name: str, reasons: list[str]) -> Iterator[_Section]:
    import json

    try:
        whole = json.loads(text, object_pairs_hook=_Object)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        fix = "correct the syntax there"
        raise RegistryError(f"{name}, {where}: not JSON ({error.msg}); {fix}") from None
    except (ValueError, RecursionError):  # a number or a depth that the parser refuses
        fix = "see the format in docs/registries.md"
        raise RegistryError(f"{name}: not the JSON of a registry file; {fix}") from None
    if not isinstance(whole, _Object):
        sections = ", ".join(schema.section for schema in SCHEMAS)
        fix = f"write an object with any of {sections}"
        raise RegistryError(f"{name}: {quote(whole)} is not an object; {fix}")
    _check_names(whole, {schema.section for schema in SCHEMAS}, name, reasons)
    for schema in SCHEMAS:
        if schema.section not in whole:
            continue
        section, place = whole[schema.section], f"{name}, {schema.section}"
        entries, about = section, {}
        if isinstance(section, _Object):
            _check_names(section, {"title", "procedures", "reference", "entries"}, place, reasons)
            entries = section.get("entries")
            about = dict(_read_about(section, place, reasons))
        if not isinstance(entries, list):
            fix = 'write a list of entries, or an object that has it as "entries"'
            reasons.append(f"{place}: there is no list of entries; {fix}")
            continue
        rows = []
        for number, entry in enumerate(entries, start=1):
            where = f"{place}, entry {number}"
            if isinstance(entry, _Object):
                _check_names(entry, set(schema.fields), where, reasons)
                rows.append((where, entry))
            else:
                fix = f"write an object with {', '.join(schema.fields)}"
                reasons.append(f"{where}: {quote(entry)} is not an object; {fix}")
        yield _Section(schema, rows, about)


def _check_names(found: _Object, known: set[str], place: str, reasons: list[str]) -> None:
    for name in sorted(found.duplicates):
        reasons.append(f"{place}, {quote(name)}: duplicate name; remove one")
    for name in found:
        if name not in known:
            fix = f"write one of {', '.join(sorted(known))}"
            reasons.append(f"{place}, {quote(name)}: unknown name; {fix}")


def _read_about(section: _Object, place: str, reasons: list[str]) -> Iterator[tuple[str, Any]]:
    for name in ("title", "reference", "procedures"):
        value = section.get(name, [] if name == "procedures" else "")
        texts = value if name == "procedures" else [value]
        if isinstance(texts, list) and not any(text != "" and check_text(text) for text in texts):
            yield name, value
        else:
            fix = "write a list of strings" if name == "procedures" else "write one line of text"
            reasons.append(f"{place}, {name}: {quote(value)} is not valid; {fix}")


# --- CSV ------------------------------------------------------------------------------------------


def _parse_csv_section(text: str, name: str, reasons: list[str]) -> _Section | None:
    import csv

    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    schema: EntrySchema | None = None
    rows: list[tuple[str, dict[str, Any]]] = []
    before = 0  # the last line of the entry before: a quoted text may have several lines
    try:
        for cells in lines:
            place, before = f"{name}, line {before + 1}", lines.line_num
            if not cells:  # an empty line
                continue
            if schema is None:
                header, schema = cells, _find_schema_of_header(cells)
                if schema is None:
                    problem = f"unknown header {quote(','.join(cells))}"
                    reasons.append(f"{place}: {problem}; write {_headers()}")
                    return None
            elif len(cells) != len(header):
                problem = f"{len(cells)} cells in {len(header)} columns"
                fix = "put text that has commas in double quotes"
                reasons.append(f"{place}: {problem}; {fix}")
            else:
                given = dict(zip(header, cells, strict=True))
                rows.append((place, {field: cell for field, cell in given.items() if cell}))
    except csv.Error as error:
        fix = "close every double quote, and double each one inside a text"
        reasons.append(f"{name}, line {lines.line_num}: not CSV ({error}); {fix}")
        return None
    if schema is None:
        reasons.append(f"{name}, line 1: there is no header; write {_headers()}")
        return None
    return _Section(schema, rows, {})


def _headers() -> str:
    return " or ".join(",".join(schema.fields) for schema in SCHEMAS)


def _find_schema_of_header(header: list[str]) -> EntrySchema | None:
    names = set(header)
    for schema in SCHEMAS:
        every = set(schema.fields)
        if every - schema.optional <= names <= every and len(names) == len(header):
            return schema
    return None


# --- Merging --------------------------------------------------------------------------------------


def _merge(over: Registries, sections: list[_Section], name: str, reasons: list[str]) -> Registries:
    if not isinstance(over, Registries):
        raise TypeError(f"over must be Registries, as from load_registries(), not {quote(over)}")
    places: dict[tuple[type, Key], str] = {}
    registries: dict[str, Registry[Any]] = {}
    rejected: set[str] = set()
    directives: list[tuple[str, DirectiveEntry]] = []
    for schema, rows, about in sections:
        valid: list[Entry] = []
        for place, values in rows:
            entry = schema.of(*(values.get(field) for field in schema.fields))
            faults = {fault.field: fault for fault in schema.faults(entry)}
            reasons += [f"{place}, {fault}" for fault in faults.values()]
            if not faults.keys() & set(schema.key_fields):
                first = places.setdefault((schema.of, entry.key), place)
                if first != place:
                    first = first.removeprefix(f"{name}, ")
                    problem = f"{quote(entry.key)} is a duplicate of {first}"
                    reasons.append(f"{place}: {problem}; remove one")
                    continue
                if faults and schema.of is Application:
                    rejected.add(entry.identifier)
            if schema.of is DirectiveEntry and not faults.keys() & {"application", _CONTROLLER}:
                directives.append((place, entry))
            if not faults:
                valid.append(entry)
        registries[schema.section] = Registry(schema.of, valid, **about)
    both = merge_unchecked(over, Registries(**registries))
    # If the entry of an application is rejected, its directives need no further reason.
    directives = [(place, one) for place, one in directives if one.application not in rejected]
    reasons += _find_conflicts(both, directives, places)
    if reasons:
        raise RegistryError("\n".join(reasons))
    return both


_CONTROLLER = "change_controller"


def _find_conflicts(
    both: Registries,
    directives: list[tuple[str, DirectiveEntry]],
    places: dict[tuple[type, Key], str],
) -> Iterator[str]:
    for place, entry in directives:
        if fault := find_conflict(entry, both.applications):
            yield f"{place}, {fault}"
    for entry in both.directives:
        # An earlier app directive, and a file with another change controller for its application:
        # the fault is in the entry of the application.
        place_of_owner = places.get((Application, entry.application))
        if place_of_owner and (DirectiveEntry, entry.key) not in places:
            if fault := find_conflict(entry, both.applications):
                problem = f"conflict with app directive {quote(entry.name)}: {fault.problem}"
                fix = "keep the change controller, or list that app directive here too"
                yield f"{place_of_owner}, {fault.field}: {problem}; {fix}"
