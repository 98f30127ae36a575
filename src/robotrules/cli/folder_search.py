"""
Folders as arguments: the robots.txt files, or other files, in a folder and all folders below.

Folders that are not part of a site are skipped: those whose name begins with a dot, and those in
`SKIPPED_FOLDERS`. `.gitignore` is not read, because the robots.txt of a build is often ignored, and
is the one that goes live. Symbolic links to folders are not followed, so loops end.

A folder that cannot be searched, or that has no such file, stays in the list: the command reports
it like a file that cannot be read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from robotrules.cli.console import CliError, quoted

__all__ = [
    "Exclusion",
    "describe_folder_error",
    "expand_folders",
    "is_in_search",
    "is_robots_name",
    "search_folder",
]

SKIPPED_FOLDERS = frozenset(("node_modules", "bower_components", "site-packages", "__pycache__"))
MOST_FILES = 100_000
MOST_FOLDERS = 1_000_000
ROBOTS_NAMES = "robots.txt or *.robots.txt"


def is_robots_name(name: str) -> bool:
    """Return whether a file in a folder is taken for a robots.txt, by its name."""
    return name == "robots.txt" or name.endswith(".robots.txt")


def is_in_search(path: str, folder: str) -> bool:
    """Return whether a search of a folder reaches a path; both are relative, with slashes."""
    if folder != ".":
        if not path.startswith(f"{folder}/"):
            return False
        path = path[len(folder) + 1 :]
    return not any(map(_is_skipped, path.split("/")[:-1]))


class Exclusion(NamedTuple):
    """What is left out of folders: patterns, as in `per-file-ignores` of the settings."""

    patterns: tuple[str, ...] = ()
    """Names, or with a slash paths relative to *base*."""
    base: str = "."

    def covers(self, path: str) -> bool:
        """Return whether a path, or a folder that it is in, is left out."""
        parts = self._relative(path).split("/") if self.patterns else []
        return any(self._matches("/".join(parts[: end + 1])) for end in range(len(parts)))

    def matches(self, path: str) -> bool:
        """Return whether a file or folder itself is left out."""
        return bool(self.patterns) and self._matches(self._relative(path))

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.base).replace(os.sep, "/")

    def _matches(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        return any(
            fnmatchcase(path if "/" in pattern else name, pattern)
            for pattern in (pattern.rstrip("/") for pattern in self.patterns)
        )


def expand_folders(files: Sequence[str], exclude: Callable[[str], Exclusion]) -> list[str]:
    """
    Return the arguments, with the robots.txt files in it for each folder.

    *exclude* returns what is left out of a folder.
    """
    found: list[str] = []
    seen: set[str] = set()
    for file in files:
        if not os.path.isdir(file):
            found.append(file)
            seen.add(file)
            continue
        below = list(search_folder(file, is_robots_name, exclude(file))) or [file]
        found += [one for one in below if one not in seen]
        seen.update(below)
    return found


def search_folder(
    folder: str,
    is_wanted: Callable[[str], bool],
    exclude: Exclusion = Exclusion(),  # noqa: B008  # an immutable value
) -> Iterator[str]:
    """
    Yield the files below a folder whose names are wanted, and folders that cannot be read.

    Raises `CliError` beyond the limits of files and folders.
    """
    waiting = [folder]
    files = folders = 0
    while waiting:
        here = waiting.pop()
        folders += 1
        if folders > MOST_FOLDERS:
            raise CliError(
                f"{quoted(folder)} has more than {MOST_FOLDERS:,} folders: pass a part of it"
            )
        try:
            with os.scandir(here) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            yield here
            continue
        below = []
        for entry in listed:
            if _is_folder(entry):
                if not _is_skipped(entry.name) and not exclude.matches(entry.path):
                    below.append(entry.path)
            elif is_wanted(entry.name) and entry.is_file() and not exclude.matches(entry.path):
                files += 1
                if files > MOST_FILES:
                    raise CliError(
                        f"{quoted(folder)} has more than {MOST_FILES:,} files to read: pass a part "
                        "of it"
                    )
                # As people write it: `a/robots.txt`, not `./a/robots.txt`.
                yield os.path.normpath(entry.path)
        waiting += reversed(below)


def describe_folder_error(folder: str, wanted: str = ROBOTS_NAMES) -> str:
    """Return why a folder is still in the list of files: nothing in it, or it cannot be read."""
    try:
        with os.scandir(folder):
            pass
    except OSError as error:
        why = error.strerror or type(error).__name__
        return f"cannot read the folder {quoted(folder)}: {why}; change its mode, or exclude it"
    return (
        f"there is no {wanted} in {quoted(folder)} or below: pass a file, or another folder "
        "(hidden folders and node_modules are not searched)"
    )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in SKIPPED_FOLDERS
