"""Atomic writes of the command line: `atomic_files`, with errors that say what to do."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from robotrules.atomic_files import ChangedFileError, open_atomically, replace_file
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
        refuse_special_file(whole)
        replace_file(whole, octets, before)
    except ChangedFileError:
        raise CliError(
            f"{quoted(os.path.realpath(path))} was changed in the meantime and is left unchanged"
        ) from None
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
        refuse_special_file(os.path.realpath(path))
        with open_atomically(path) as file:
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


def refuse_special_file(path: str) -> None:
    """Refuse to replace a directory or a device."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise CliError(f"{quoted(path)} is not a regular file: pass one, or use -o - for stdout")
