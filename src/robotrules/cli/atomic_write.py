"""
Saving: a file put in the place of another, in one piece.

Whatever happens, there is the old file or the new one: a reader never sees half of either. A link
stays a link, and mode and owner stay as they were. It does not know what it writes.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from robotrules.cli.streams import CliError, quoted

ANYBODY = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def save(path: str, octets: bytes, before: bytes | None = None) -> None:
    """
    Write a file; *before* is what stands there and should still.

    What was changed meanwhile is left alone. Raises `CliError` that says what became of the file.
    """
    try:
        # A link stays one.
        whole = os.path.realpath(path)
        # A folder that may be written lets go of any file in it; who took the right away meant it.
        if before is not None and not _may_be_written(whole):
            raise PermissionError(errno.EACCES, "it is read-only")
        _replace(whole, octets, before)
    except OSError as error:
        why = error.strerror or type(error).__name__
        cure = "name another file" if before is None else "it is as it was"
        raise CliError(f"cannot write {quoted(path)}: {why}; {cure}") from None


def _may_be_written(path: str) -> bool:
    """Tell whether somebody may write a file, and this user too; the superuser may everything."""
    return bool(os.stat(path).st_mode & ANYBODY) and os.access(path, os.W_OK)


def refuse_overwriting(target: str, files: Iterable[str], option: str) -> None:
    """End where something would be written over a file that is read."""
    for file in files:
        with suppress(OSError, ValueError):  # what is not there is not the same
            if os.path.samefile(target, file):
                raise CliError(
                    f"{option} {quoted(target)} would be written over what is read: name another "
                    "file"
                )


def _replace(path: str, octets: bytes, before: bytes | None) -> None:
    """Put a new file in the place of an old one; a reader sees the one or the other."""
    with suppress(FileNotFoundError):
        _refuse_odd_files(os.stat(path).st_mode, path)
    number, temporary = tempfile.mkstemp(prefix=".robotrules-", dir=os.path.dirname(path))
    try:
        with open(number, "wb") as file:
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())
        _copy_mode(path, temporary)
        if before is not None:
            with open(path, "rb") as old:
                if old.read() != before:
                    raise CliError(f"{quoted(path)} was changed meanwhile, and is left alone")
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _refuse_odd_files(mode: int, path: str) -> None:
    if not stat.S_ISREG(mode):
        raise CliError(f"{quoted(path)} is no regular file: name one, or use -o - for stdout")


def _copy_mode(path: str, temporary: str) -> None:
    """Give a new file the mode and the owner of the old one, or of a file that is made anew."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        return
    # Only the superuser may give files away.
    with suppress(OSError, AttributeError):
        os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))
