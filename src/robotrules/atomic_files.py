"""
Atomic writes: a file is replaced by another in one step.

A reader sees the old file or the new one, never a part of either. Symbolic links stay links, and
mode and owner are kept.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


class ChangedFileError(OSError):
    """The file does not have the content that it was expected to have."""


def replace_file(path: str, octets: bytes, before: bytes | None = None) -> None:
    """
    Replace a file, or create it; *before* is the content that it must still have.

    Raises OSError if that fails, and ChangedFileError for another content; then the file is as it
    was.
    """
    with open_atomically(path) as file:
        file.write(octets)
        if before is not None:
            with open(path, "rb") as old:
                if old.read() != before:
                    raise ChangedFileError(f"{path} was changed in the meantime")


@contextmanager
def open_atomically(path: str) -> Iterator[BinaryIO]:
    """
    Open a file for writing; it gets its name at the end of the block, and never after an exception.

    Raises OSError if that fails; then the file is as it was.
    """
    # A symbolic link stays a link.
    path = os.path.realpath(path)
    number, temporary = tempfile.mkstemp(prefix=".robotrules-", dir=os.path.dirname(path))
    try:
        with open(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _copy_mode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _copy_mode(path: str, temporary: str) -> None:
    """Give a new file the mode and owner of the old one, or those of a newly created file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        return
    # Only root may change the owner.
    with suppress(OSError, AttributeError):
        os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))
