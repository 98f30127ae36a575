"""
fastwarc, imported on first use: what to install if it is missing.

Its package warns about its own old classes when it is imported; a program that makes errors of
warnings could not use it.
"""

from __future__ import annotations

import warnings

from robotrules.errors import MissingExtraError

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc.stream_io import BrotliReader, GzipReader, ZstdReader
        from fastwarc.warc import ArchiveIterator, WarcHeader, WarcRecordType
except ImportError:
    raise MissingExtraError(
        "fastwarc is not installed, and WARC files need it: pip install 'robotrules[bulk]'"
    ) from None

__all__ = [
    "ArchiveIterator",
    "BrotliReader",
    "GzipReader",
    "WarcHeader",
    "WarcRecordType",
    "ZstdReader",
]
