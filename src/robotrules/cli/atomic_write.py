"""
Atomic writes: a file is replaced by another in one step.

A reader sees the old file or the new one, never a part of either. Symbolic links stay links, and
mode and owner are kept.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from robotrules.cli.console import CliError, quoted

ANY_WRITE_BIT = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def write_atomically(path: str, octets: bytes, before: bytes | None = None) -> None:
    """
    Write a file; *before* is the content that it must still have.

    A file that was changed in the meantime is left unchanged. Raises `CliError` on failure.
    """
    try:
        # A symbolic link stays a link.
        whole = os.path.realpath(path)
        # A rename would replace a read-only file in a writable directory: respect its mode.
        if before is not None and not _is_writable(whole):
            raise PermissionError(errno.EACCES, "it is read-only")
        _replace(whole, octets, before)
    except OSError as error:
        why = error.strerror or type(error).__name__
        advice = "pass another file" if before is None else "the file is unchanged"
        raise CliError(f"cannot write {quoted(path)}: {why}; {advice}") from None


@contextmanager
def atomic_file(path: str) -> Iterator[BinaryIO]:
    """
    Open a file for writing; it gets its name at the end of the block, and never after an exception.

    Raises `CliError` on failure.
    """
    try:
        with _temporary_file(os.path.realpath(path)) as file:
            yield file
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CliError(f"cannot write {quoted(path)}: {why}; pass another file") from None


def _is_writable(path: str) -> bool:
    """Tell whether a file has a write bit and this user may write it; root may write any."""
    return bool(os.stat(path).st_mode & ANY_WRITE_BIT) and os.access(path, os.W_OK)


def refuse_overwriting(target: str, files: Iterable[str], option: str) -> None:
    """Refuse to write over an input file."""
    for file in files:
        with suppress(OSError, ValueError):  # a missing file is a different one
            if os.path.samefile(target, file):
                raise CliError(
                    f"{option} {quoted(target)} would overwrite an input file: pass another file"
                )


def _replace(path: str, octets: bytes, before: bytes | None) -> None:
    """Replace a file by renaming a temporary one."""
    with _temporary_file(path) as file:
        file.write(octets)
        if before is not None:
            with open(path, "rb") as old:
                if old.read() != before:
                    raise CliError(
                        f"{quoted(path)} was changed in the meantime and is left unchanged"
                    )


@contextmanager
def _temporary_file(path: str) -> Iterator[BinaryIO]:
    """Open a temporary file, which is renamed at the end of the block."""
    refuse_special_file(path)
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


def refuse_special_file(path: str) -> None:
    """Refuse to replace a directory or a device."""
    with suppress(FileNotFoundError):
        _refuse_special_file(os.stat(path).st_mode, path)


def _refuse_special_file(mode: int, path: str) -> None:
    if not stat.S_ISREG(mode):
        raise CliError(f"{quoted(path)} is not a regular file: pass one, or use -o - for stdout")


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
