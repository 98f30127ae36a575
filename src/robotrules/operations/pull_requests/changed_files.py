"""
The files of a repository that differ from a base commit, with both contents.

The files of the working tree are compared, so a change need not be committed. Only tracked files
count. A symbolic link has no content here: in a pull request it could name any file of the machine.
Names are bytes to git, and are never interpreted.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from robotrules.operations.git_history import LARGEST_FILE, GitError, _contents, _git
from robotrules.operations.pull_requests.ci_environment import CiEnvironment

__all__ = ["ChangedFile", "changed_files", "repository_root", "resolve_base", "start_of_change"]

# More changed robots.txt files than this are counted, and not compared.
MOST_FILES = 200
# The clone is that of the CI server, which configured its remote.
PROTOCOLS = "https:http:ssh:file"
_LINK = "120000"
_REGULAR = ("100644", "100755")
# A named pipe must not make the command wait.
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_PARENT = re.compile(rb"^parent ([0-9a-f]+)$", re.MULTILINE)


class ChangedFile(NamedTuple):
    """A file that differs from the base."""

    path: str
    """Its name relative to the repository, now or, if it was deleted, in the base."""
    status: str
    """`added`, `modified`, `deleted` or `renamed`."""
    old: bytes | None
    """The content in the base; None if there was none."""
    new: bytes | None
    """The content now; None if there is none."""
    old_path: str
    """Its name in the base."""
    is_link: bool = False
    """Whether it is a symbolic link, which is not read."""


def repository_root(folder: str | os.PathLike[str]) -> Path:
    """Return the top folder of the repository that a folder is in; raises `GitError`."""
    answer = _git(Path(folder), "rev-parse", "--show-toplevel")
    return Path(os.fsdecode(answer.removesuffix(b"\n")))


def resolve_base(root: Path, given: CiEnvironment) -> str | None:
    """
    Return the commit to compare with, which is fetched if it is missing; None if there is none.

    A run for a pull request usually checks out its merge with the target branch: then it is the
    commit of the target branch in that merge, so that changes of others are not reported.
    """
    if given.base is None:
        return None
    base = given.base
    if given.number is not None and given.head is not None:
        # A shallow clone hides parents, except in the commit itself.
        head = _git(root, "cat-file", "commit", "HEAD").partition(b"\n\n")[0]
        parents = [parent.decode() for parent in _PARENT.findall(head)]
        if len(parents) == 2 and parents[1] == given.head:
            base = parents[0]
    if not _has_commit(root, base):
        _fetch(root, base)
    return start_of_change(root, base)


def start_of_change(root: Path, base: str) -> str:
    """Return the commit where a change left its base; the base itself in a shallow clone."""
    commit = _git(
        root,
        *("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}"),
        missing=f"git knows no revision {base!r}: pass a branch, a tag or a commit",
    ).decode()
    try:
        return _git(root, "merge-base", commit.strip(), "HEAD").decode().strip()
    except GitError:
        return commit.strip()


def changed_files(
    root: Path, base: str, is_wanted: Callable[[str], bool]
) -> tuple[list[ChangedFile], int]:
    """
    Return the wanted files that differ from the commit *base*, and how many more there are.

    *is_wanted* gets a name relative to the repository. Renames are followed. Raises `GitError`.
    """
    listed = _git(
        root,
        *("diff", "--raw", "-z", "-M", "--no-abbrev", "--no-color", "--no-relative"),
        *("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--end-of-options"),
        *(base, "--"),
    )
    entries = [entry for entry in _read_raw(listed) if is_wanted(entry[2]) or is_wanted(entry[3])]
    some = entries[:MOST_FILES]
    blobs = [blob for mode, blob, *_ in some if mode in _REGULAR]
    contents = _contents(root, blobs) if blobs else {}
    found = []
    for old_mode, blob, old_path, path, status, new_mode in some:
        old = contents[blob] if old_mode in _REGULAR else None
        new = None if status == "deleted" else _read(root, path)
        is_link = _LINK in (old_mode, new_mode)
        found.append(ChangedFile(path, status, old, new, old_path, is_link))
    return found, len(entries) - len(some)


def _read_raw(listed: bytes) -> list[tuple[str, str, str, str, str, str]]:
    """Return mode and blob in the base, both names, the status, and the mode now."""
    fields = iter(os.fsdecode(part) for part in listed.split(b"\0"))
    found = []
    for head in fields:
        if not head.startswith(":"):
            continue
        old_mode, new_mode, blob, _, status = head[1:].split(" ")
        old_path = next(fields)
        path = next(fields) if status[0] in "RC" else old_path
        word = {"A": "added", "D": "deleted", "R": "renamed"}.get(status[0], "modified")
        found.append((old_mode, blob, old_path, path, word, new_mode))
    return found


def _read(root: Path, path: str) -> bytes | None:
    """Return the content of a regular file of the working tree; None for anything else."""
    try:
        number = os.open(root / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _NONBLOCK)
    except OSError:
        return None
    with open(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return None
        return file.read(LARGEST_FILE)


def _has_commit(root: Path, commit: str) -> bool:
    try:
        _git(root, "cat-file", "-e", f"{commit}^{{commit}}")
    except GitError:
        return False
    return True


def _fetch(root: Path, commit: str) -> None:
    _git(
        root,
        *("fetch", "--quiet", "--no-tags", "--depth=1", "--no-recurse-submodules"),
        *("--no-write-fetch-head", "origin", commit),
        protocols=PROTOCOLS,
        missing=f"the base commit {commit[:10]} is not in this clone, and could not be fetched: "
        "set fetch-depth: 2 for actions/checkout, or GIT_DEPTH: 0 on GitLab",
    )
