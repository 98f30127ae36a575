"""
Filter fetch records by source: fetched by a client, imported, or imported from one archive.

`Evidence`, WARC export and the command line accept the same names of sources.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from robotrules.cache import FetchRecord

OWN, IMPORTED = "own", "imported"
# A prefix of a SHA-256 that identifies an archive.
_DIGITS = re.compile("[0-9a-f]{8,64}")


def make_source_filter(source: str | None) -> Callable[[FetchRecord], bool]:
    """
    Return a predicate for the fetch records of *source*.

    `own` selects fetches by clients of this store, `imported` those of all archives; a SHA-256, or
    at least its first eight digits, selects one archive. None selects all records.
    """
    if source is None:
        return lambda fetch_record: True
    if source == OWN:
        return lambda fetch_record: fetch_record.provenance is None
    if source == IMPORTED:
        return lambda fetch_record: fetch_record.provenance is not None
    digits = source.lower().removeprefix("sha256:") if isinstance(source, str) else ""
    if not _DIGITS.fullmatch(digits):
        raise ValueError(
            f"unknown source {source!r}: use 'own', 'imported', or at least 8 digits of the "
            "SHA-256 of an archive"
        )
    return lambda fetch_record: (
        fetch_record.provenance is not None and fetch_record.provenance.digest.startswith(digits)
    )
