"""
Which visits count by where they come from: own fetches, imports, or one archive.

`Evidence`, archives and the command line choose visits by the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from robotrules.cache import FetchRecord

OWN, IMPORTED = "own", "imported"
# The first digits of a SHA-256 that are taken for all of it.
_DIGITS = re.compile("[0-9a-f]{8,64}")


def chosen_source(source: str | None) -> Callable[[FetchRecord], bool]:
    """
    Return a predicate of the visits that *source* names.

    `own` are fetches of the clients of this store, and `imported` those of all archives; a SHA-256,
    or its first eight digits or more, names one archive. None names all visits.
    """
    if source is None:
        return lambda visit: True
    if source == OWN:
        return lambda visit: visit.provenance is None
    if source == IMPORTED:
        return lambda visit: visit.provenance is not None
    digits = source.lower().removeprefix("sha256:") if isinstance(source, str) else ""
    if not _DIGITS.fullmatch(digits):
        raise ValueError(
            f"the source {source!r} is unknown: use 'own', 'imported', or at least 8 digits of the "
            "SHA-256 of an archive"
        )
    return lambda visit: visit.provenance is not None and visit.provenance.digest.startswith(digits)
