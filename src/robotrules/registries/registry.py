"""
Registry and Registries: one registry with lookup by key, and the four registries together.

Both are immutable, hashable and compare by value. All entries of a registry are valid, and keys are
unique. Files are read by `loader`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple

from robotrules.errors import RegistryError
from robotrules.registries.entries import (
    SCHEMAS,
    Application,
    DirectiveEntry,
    E,
    Fault,
    Key,
    Purpose,
    TagRule,
    find_schema,
    quote,
)


class Registry(Generic[E]):
    """
    Entries of one class, in order, with lookup by key.

    `title`, `procedures` and `reference` are its name, its registration procedures, and the
    document that defines it. Registration is never a condition for use: unregistered names are read
    as well (APP-1.1-01).
    """

    __slots__ = ("_hash", "_index", "of", "procedures", "reference", "title")

    of: type[E]
    title: str
    procedures: tuple[str, ...]
    reference: str
    _index: dict[Key, E]
    _hash: int

    def __init__(
        self,
        of: type[E],
        entries: Iterable[E] = (),
        *,
        title: str = "",
        procedures: Iterable[str] = (),
        reference: str = "",
    ) -> None:
        """Make a registry of entries of the class *of*; RegistryError says what is wrong."""
        schema = find_schema(of)
        if isinstance(procedures, str):
            raise TypeError(f"procedures must be a list of str: pass [{procedures!r}]")
        index: dict[Key, E] = {}
        reasons: list[str] = []
        for number, entry in enumerate(entries, start=1):
            if not isinstance(entry, of):
                name = type(entry).__name__
                raise TypeError(f"entry {number} is a {name}: pass entries of {of.__name__}")
            place = f"{schema.section}, entry {number}"
            faults = [f"{place}, {fault}" for fault in schema.faults(entry)]
            if not faults and entry.key in index:
                faults = [f"{place}: {quote(entry.key)} is a duplicate; remove one"]
            reasons += faults
            if not faults:
                index[entry.key] = entry
        if reasons:
            raise RegistryError("\n".join(reasons))
        self._fill(of, index, title, tuple(procedures), reference)

    def _fill(
        self,
        of: type[E],
        index: dict[Key, E],
        title: str,
        procedures: tuple[str, ...],
        reference: str,
    ) -> None:
        put = object.__setattr__
        put(self, "of", of)
        put(self, "title", title)
        put(self, "procedures", procedures)
        put(self, "reference", reference)
        put(self, "_index", index)
        put(self, "_hash", hash((of, tuple(index.values()), title, procedures, reference)))

    def get(self, key: Key) -> E | None:
        """Return the entry of that key, or None; see the entry's `key` for case sensitivity."""
        return self._index.get(find_schema(self.of).key(key))

    def __contains__(self, key: Key) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[E]:
        return iter(self._index.values())

    def __len__(self) -> int:
        return len(self._index)

    def merged(self, other: Registry[E]) -> Registry[E]:
        """Return a registry with the entries of both; entries of *other* replace those of self."""
        if not isinstance(other, Registry) or other.of is not self.of:
            raise TypeError(f"pass a registry of {self.of.__name__}, not {quote(other)}")
        both: Registry[E] = Registry.__new__(Registry)
        both._fill(
            self.of,
            self._index | other._index,
            other.title or self.title,
            other.procedures or self.procedures,
            other.reference or self.reference,
        )
        return both

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, in the format that `parse_json` reads."""
        return {
            "title": self.title,
            "procedures": list(self.procedures),
            "reference": self.reference,
            "entries": [entry.as_dict() for entry in self],
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Registry):
            return NotImplemented
        return self is other or self._parts() == other._parts()

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        entries = "1 entry" if len(self) == 1 else f"{len(self)} entries"
        return f"<Registry of {self.of.__name__}: {entries}>"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a registry is immutable: make another with merged()")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a registry is immutable: make another with merged()")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, self._parts()

    def _parts(self) -> tuple[Any, ...]:
        return self.of, tuple(self), self.title, self.procedures, self.reference


def _rebuild(
    of: type[Any], entries: tuple[Any, ...], title: str, procedures: tuple[str, ...], reference: str
) -> Registry[Any]:
    return Registry(of, entries, title=title, procedures=procedures, reference=reference)


class Registries(NamedTuple):
    """The four registries; `Registries()` has no entries at all."""

    tag_rules: Registry[TagRule] = Registry(TagRule)
    purposes: Registry[Purpose] = Registry(Purpose)
    applications: Registry[Application] = Registry(Application)
    directives: Registry[DirectiveEntry] = Registry(DirectiveEntry)

    def merged(self, other: Registries) -> Registries:
        """
        Return the entries of both; entries of *other* replace those of self.

        RegistryError if an app directive is then without an application, or has another change
        controller than its application (APP-3.2-03).
        """
        both = merge_unchecked(self, other)
        reasons = [
            f"directives, {quote(entry.key)}, {fault}"
            for entry in both.directives
            if (fault := find_conflict(entry, both.applications))
        ]
        if reasons:
            raise RegistryError("\n".join(reasons))
        return both

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain values for JSON, in the format that `parse_json` reads."""
        return {schema.section: getattr(self, schema.section).as_dict() for schema in SCHEMAS}


def merge_unchecked(under: Registries, over: Registries) -> Registries:
    """Return the result of `under.merged(over)`, without the check for conflicts."""
    if not isinstance(over, Registries):
        raise TypeError(f"pass Registries, as from load_registries(), not {quote(over)}")
    return Registries(
        under.tag_rules.merged(over.tag_rules),
        under.purposes.merged(over.purposes),
        under.applications.merged(over.applications),
        under.directives.merged(over.directives),
    )


def find_conflict(entry: DirectiveEntry, applications: Registry[Application]) -> Fault | None:
    """Return a missing application or wrong change controller of an app directive (APP-3.2-03)."""
    owner = applications.get(entry.application)
    if owner is None:
        problem = f"{quote(entry.application)} is not a registered application"
        fix = "add it to applications, here or in a file that is loaded before"
        return Fault("application", problem, fix)
    if entry.change_controller in (None, owner.change_controller):
        return None
    problem = (
        f"{quote(entry.change_controller)} is not the change controller of "
        f"{quote(owner.identifier)}"
    )
    fix = f"write {quote(owner.change_controller)}, or leave it out"
    return Fault("change_controller", problem, fix)
