"""
Registry files of the command line: what `--registry` names, laid over what is shipped.

It does not know what is looked up in them.
"""

from __future__ import annotations

from collections.abc import Sequence

from robotrules.cli.streams import CliError, quoted
from robotrules.cli.text import plural
from robotrules.errors import RegistryError
from robotrules.octets import visible
from robotrules.registries import SHIPPED, Registries, load_registries


def given_registries(files: Sequence[str]) -> Registries:
    """Return the registries of `--registry`, each laid over those before."""
    registries = SHIPPED
    for name in files:
        if not name.lower().endswith((".json", ".csv")):
            raise CliError(
                f"{quoted(name)} is no registry: pass a file that ends with .json or .csv"
            )
        try:
            registries = load_registries(name, over=registries)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise CliError(
                f"cannot read the registry {quoted(name)}: {why}; check its name and mode"
            ) from None
        except RegistryError as error:
            first, *others = str(error).splitlines()
            more = f" ({plural(len(others), 'more reason')})" if others else ""
            raise CliError(f"{visible(first)}{more}") from None
    return registries
