"""
The registries that come with the package: data files, read when somebody first asks.

Importing them costs nothing, and a program that never asks never reads a file. It does not know
what is in the files.
"""

from __future__ import annotations

from typing import Any

from robotrules.registries.entries import Application, DirectiveEntry, E, Purpose, TagRule, form_of
from robotrules.registries.registry import Registries, Registry


class _Shipped(Registry[E]):
    """A registry of the package. Equal to, and pickled as, a plain one with its entries."""

    __slots__ = ()

    def __init__(self, of: type[E]) -> None:
        object.__setattr__(self, "of", of)

    def __getattr__(self, name: str) -> Any:
        # Only asked where a slot is empty: all but `of`, until the file was read. Two threads may
        # both read it, and fill in the same.
        if name not in Registry.__slots__:
            raise AttributeError(f"a registry has no {name!r}")
        read = read_shipped(self.of)
        self._fill(read.of, read._index, read.title, read.procedures, read.reference)
        return getattr(read, name)


def read_shipped(of: type[E]) -> Registry[E]:
    """Read the data file of a registry."""
    from importlib.resources import files

    from robotrules.registries.loader import parse_json

    section = form_of(of).section
    file = files("robotrules.registries").joinpath("data", f"{section}.json")
    # App directives are for applications, which have a file of their own (APP-3.2-03).
    owners = Registries(applications=SHIPPED.applications)
    over = owners if section == "directives" else Registries()
    registry: Registry[E] = getattr(parse_json(file.read_bytes(), file.name, over=over), section)
    return registry


SHIPPED = Registries(
    _Shipped(TagRule), _Shipped(Purpose), _Shipped(Application), _Shipped(DirectiveEntry)
)
