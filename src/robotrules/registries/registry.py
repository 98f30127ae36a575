"""
Registry and Registries: entries that can be found, and the four registries together.

Both are immutable, hashable and compare by value. A registry never holds an entry that its form
rejects, nor two with one key. It does not know files: `reading` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple

from robotrules.errors import RegistryError
from robotrules.registries.entries import (
    FORMS,
    Application,
    DirectiveEntry,
    E,
    Fault,
    Key,
    Purpose,
    TagRule,
    form_of,
    shown,
)


class Registry(Generic[E]):
    """
    Entries of one class, in order, each found by its key.

    `title`, `procedures` and `reference` say what the registry is called, how one registers, and
    which document asks for it. Registration is never a condition for use: what no registry knows
    is read all the same (APP-1.1-01).
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
        form = form_of(of)
        if isinstance(procedures, str):
            raise TypeError(f"procedures are a list of texts, not one: pass [{procedures!r}]")
        index: dict[Key, E] = {}
        reasons: list[str] = []
        for number, entry in enumerate(entries, start=1):
            if not isinstance(entry, of):
                name = type(entry).__name__
                raise TypeError(f"entry {number} is a {name}: pass entries of {of.__name__}")
            faults = [f"{form.section}, entry {number}, {fault}" for fault in form.faults(entry)]
            if not faults and entry.key in index:
                what = f"{shown(entry.key)} is there twice; leave one out"
                faults = [f"{form.section}, entry {number}: {what}"]
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
        """Return the entry of that key, or None; case matters as the entry's `key` says."""
        return self._index.get(form_of(self.of).key(key))

    def __contains__(self, key: Key) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[E]:
        return iter(self._index.values())

    def __len__(self) -> int:
        return len(self._index)

    def merged(self, other: Registry[E]) -> Registry[E]:
        """Return a registry with the entries of both; where both have one, that of *other*."""
        if not isinstance(other, Registry) or other.of is not self.of:
            raise TypeError(f"pass a registry of {self.of.__name__}, not {shown(other)}")
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
        """Return it as plain values for JSON, in the form that `read_json` reads."""
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
        Return the entries of both; where both have one, that of *other*.

        RegistryError if an app directive is then left with no application, or with another change
        controller than its application has (APP-3.2-03).
        """
        both = laid_under(self, other)
        reasons = [
            f"directives, {shown(entry.key)}, {fault}"
            for entry in both.directives
            if (fault := conflict(entry, both.applications))
        ]
        if reasons:
            raise RegistryError("\n".join(reasons))
        return both

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain values for JSON, in the form that `read_json` reads."""
        return {form.section: getattr(self, form.section).as_dict() for form in FORMS}


def laid_under(under: Registries, over: Registries) -> Registries:
    """Return what `under.merged(over)` does, conflicts and all."""
    if not isinstance(over, Registries):
        raise TypeError(f"pass Registries, such as load() returns, not {shown(over)}")
    return Registries(
        under.tag_rules.merged(over.tag_rules),
        under.purposes.merged(over.purposes),
        under.applications.merged(over.applications),
        under.directives.merged(over.directives),
    )


def conflict(entry: DirectiveEntry, applications: Registry[Application]) -> Fault | None:
    """Say what is wrong with who registers an app directive, if anything (APP-3.2-03)."""
    owner = applications.get(entry.application)
    if owner is None:
        what = f"{shown(entry.application)} is no registered application"
        cure = "add it to applications, here or in a file that is loaded before"
        return Fault("application", what, cure)
    if entry.change_controller in (None, owner.change_controller):
        return None
    what = (
        f"{shown(entry.change_controller)} does not control {shown(owner.identifier)}, "
        f"{shown(owner.change_controller)} does"
    )
    return Fault("change_controller", what, "write that, or leave it out")
