"""
The files of a repository that differ from a base commit, with both contents.

The files of the working tree are compared, so a change need not be committed. Only tracked files
count. A symbolic link has no content here: in a pull request it could name any file of the machine.
Names are bytes to git, and are never interpreted.

git only lists names and ids, and returns the contents of the base. It never reads the working tree,
because it would run the filters that settings of the repository name.

Sections: values · the base · the changes · listings · the working tree · renames ·
commits.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from robotrules.octets import visible
from robotrules.operations.git_history import (
    LARGEST_BLOB,
    LARGEST_FILE,
    GitError,
    _contents,
    _git,
    _running,
)
from robotrules.operations.pull_requests.ci_environment import CiEnvironment

__all__ = ["ChangedFile", "changed_files", "repository_root", "resolve_base", "start_of_change"]

# More changed robots.txt files than this are counted, and not compared.
MOST_FILES = 200
# The clone is that of the CI server, which configured its remote.
PROTOCOLS = "https:http:ssh:file"
# A path is limited to 4,096 bytes by the systems that git runs on.
LONGEST_ENTRY = 1 << 16
# A renamed file may be changed, too: half of it must be the same, as for git. Larger files, and
# files beyond the number of comparisons, are renamed only if nothing else changes.
LARGEST_SIMILAR = 64 << 10
MOST_COMPARISONS = 1_000
_LINK = "120000"
_REGULAR = ("100644", "100755")
# A named pipe must not make the command wait.
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_PARENT = re.compile(rb"^parent ([0-9a-f]+)$", re.MULTILINE)


# --- Values ---------------------------------------------------------------------------------------


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


# --- The base -------------------------------------------------------------------------------------


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


# --- The changes ----------------------------------------------------------------------------------


def changed_files(
    root: Path, base: str, is_wanted: Callable[[str], bool]
) -> tuple[list[ChangedFile], int]:
    """
    Return the wanted files that differ from the commit *base*, and how many more there are.

    *is_wanted* gets a name relative to the repository. Renames between wanted names are found.
    Raises `GitError`.
    """
    before = {path: entry for path, entry in _in_commit(root, base) if is_wanted(path)}
    tracked = {path: entry for path, entry in _in_index(root) if is_wanted(path)}
    changed = []
    for path in sorted({*before, *tracked}):
        old = before.get(path)
        new = _now(root, path, tracked[path]) if path in tracked else None
        if (old or new) and not _is_same(old, new):
            changed.append(_Change(path, old, new))
    some = changed[:MOST_FILES]
    blobs = [entry.blob for one in some for entry in (one.old, one.new) if entry and entry.blob]
    contents = _contents(root, blobs) if blobs else {}
    found = []
    for path, old, new in some:
        status = "added" if old is None else "deleted" if new is None else "modified"
        is_link = _LINK in (old and old.mode, new and new.mode)
        before_octets = _content(root, path, old, contents)
        octets = _content(root, path, new, contents)
        found.append(ChangedFile(path, status, before_octets, octets, path, is_link))
    return _join_renames(found), len(changed) - len(some)


class _Entry(NamedTuple):
    """A file in the base, in the index, or now."""

    mode: str
    digest: str
    """Its id for git; empty for a file that is too large for one."""
    blob: str = ""
    """Where git has the content; empty: it is that of the working tree, or there is none."""
    is_skipped: bool = False
    """Whether a sparse checkout leaves it out."""


class _Change(NamedTuple):
    path: str
    old: _Entry | None
    new: _Entry | None


def _is_same(old: _Entry | None, new: _Entry | None) -> bool:
    """Tell whether a file is unchanged; whether it is executable does not matter."""
    if old is None or new is None or not new.digest:
        return False
    return old.digest == new.digest and (old.mode == _LINK) == (new.mode == _LINK)


def _content(
    root: Path, path: str, entry: _Entry | None, contents: dict[str, bytes]
) -> bytes | None:
    if entry is None or entry.mode not in _REGULAR:
        return None
    return contents[entry.blob] if entry.blob else _read(root, path, LARGEST_FILE)


# --- Listings -------------------------------------------------------------------------------------


def _in_commit(root: Path, commit: str) -> Iterator[tuple[str, _Entry]]:
    """Yield the files and links of a commit."""
    listed = _list(root, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
    for head, path in listed:
        mode, _, blob = head.split(" ")  # `100644 blob ID`
        if mode in _REGULAR:
            yield path, _Entry(mode, blob, blob)
        elif mode == _LINK:
            yield path, _Entry(mode, blob)


def _in_index(root: Path) -> Iterator[tuple[str, _Entry]]:
    """Yield the files and links that git tracks."""
    for head, path in _list(root, "ls-files", "--stage", "-t", "-z", "--full-name"):
        tag, mode, blob, _ = head.split(" ")  # `H 100644 ID 0`
        if mode in (*_REGULAR, _LINK):
            yield path, _Entry(mode, blob, is_skipped=tag == "S")


def _list(root: Path, *arguments: str) -> Iterator[tuple[str, str]]:
    """Yield what is before and after the tab in each entry of a list, which may be long."""
    rest = b""
    with _running(root, arguments) as stream:
        while block := stream.read(1 << 16):
            *entries, rest = (rest + block).split(b"\0")
            if len(rest) > LONGEST_ENTRY:
                raise GitError("git listed a name that is too long")
            for entry in entries:
                head, _, path = os.fsdecode(entry).partition("\t")
                yield head, path


# --- The working tree -----------------------------------------------------------------------------


def _now(root: Path, path: str, tracked: _Entry) -> _Entry | None:
    """Return what a tracked file is in the working tree; None if it is gone."""
    place = root / path
    try:
        # A folder that became a link leads to files that are not tracked under this name.
        is_here = place.parent.resolve() == root.resolve() / Path(path).parent
        mode = place.lstat().st_mode if is_here else 0
    except (FileNotFoundError, NotADirectoryError):
        mode = 0
    except (OSError, RuntimeError) as error:
        raise _unreadable(path, error) from None
    if not mode and tracked.is_skipped:
        return tracked._replace(blob=tracked.digest if tracked.mode in _REGULAR else "")
    if stat.S_ISLNK(mode):
        return _Entry(_LINK, _digest(os.fsencode(place.readlink()), tracked.digest))
    if not stat.S_ISREG(mode):
        return None
    octets = _read(root, path, LARGEST_BLOB + 1)
    if octets is None:
        return None
    if len(octets) > LARGEST_BLOB:
        return _Entry(_REGULAR[0], "")
    digest = _digest(octets, tracked.digest)
    if digest != tracked.digest and b"\r\n" in octets:
        # git may have changed line ends when it wrote the file, so they are not a change.
        digest = _digest(octets.replace(b"\r\n", b"\n"), tracked.digest)
    if digest == tracked.digest:
        return _Entry(_REGULAR[0], tracked.digest, tracked.digest)
    return _Entry(_REGULAR[0], _digest(octets, tracked.digest))


def _digest(octets: bytes, like: str) -> str:
    """Return the id that git gives to a content, with the hash function of another id."""
    # An id is compared, and protects nothing.
    new = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    return new(b"blob %d\0" % len(octets) + octets, usedforsecurity=False).hexdigest()


def _read(root: Path, path: str, most: int) -> bytes | None:
    """Return the content of a regular file of the working tree; None for anything else."""
    try:
        number = os.open(root / path, os.O_RDONLY | _NO_FOLLOW | _NONBLOCK)
        with open(number, "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(number).st_mode) else None
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> GitError:
    why = getattr(error, "strerror", None) or type(error).__name__
    return GitError(f"cannot read '{visible(path)}': {why}")


# --- Renames --------------------------------------------------------------------------------------


def _join_renames(found: Sequence[ChangedFile]) -> list[ChangedFile]:
    """Return changes in which a deleted file and an added one like it are one renamed file."""
    gone = [one for one in found if one.status == "deleted" and one.old]
    added = [one for one in found if one.status == "added" and one.new]
    renamed: dict[str, ChangedFile] = {}
    for is_like in (_is_equal, _Likeness()):
        for new in [one for one in added if one.path not in renamed]:
            old = next((one for one in gone if is_like(one.old or b"", new.new or b"")), None)
            if old is not None:
                gone.remove(old)
                renamed[new.path] = ChangedFile(new.path, "renamed", old.old, new.new, old.path)
    left = {one.old_path for one in renamed.values()}
    return [
        renamed.get(one.path, one)
        for one in found
        if one.status != "deleted" or one.path not in left
    ]


def _is_equal(one: bytes, other: bytes) -> bool:
    return one == other


class _Likeness:
    """Tells whether most bytes of two contents are in equal lines; not for many or long ones."""

    def __init__(self) -> None:
        self._left = MOST_COMPARISONS

    def __call__(self, one: bytes, other: bytes) -> bool:
        """Return whether the contents are alike."""
        most = max(len(one), len(other))
        if most > LARGEST_SIMILAR or self._left <= 0:
            return False
        self._left -= 1
        shared = Counter(one.splitlines(True)) & Counter(other.splitlines(True))
        return 2 * sum(len(line) * count for line, count in shared.items()) >= most


# --- Commits --------------------------------------------------------------------------------------


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
