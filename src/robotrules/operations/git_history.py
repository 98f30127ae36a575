"""
The versions of a file in its git repository, oldest first, with renames followed.

`git` is run as a program: with a list of arguments, without a shell, without filters, external
diffs, hooks, prompts or a pager of a repository, and with a limit on time and bytes. Nothing is
written. The history is what `git log --follow` shows for the file: changes that exist only in other
branches are not in it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["FileVersion", "GitError", "file_at", "file_versions"]

# A history of 20 years with a change a day has 7,300 versions.
MOST_VERSIONS = 20_000
# A larger robots.txt is read up to 500 KiB by crawlers; this leaves room for any mistake.
LARGEST_FILE = 16 << 20
TIMEOUT = 60.0
# Separate the fields and the records of a log; neither may be in a name or a subject.
_FIELD, _RECORD = "\x1f", "\x1e"
_FORMAT = _RECORD + _FIELD.join(("%H", "%ct", "%an", "%s")) + _FIELD
# A repository may have been downloaded: none of its settings may start a program.
_SAFE = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.devnull),
    *("-c", "log.showSignature=false", "-c", "core.quotePath=false"),
)


class GitError(Exception):
    """A history could not be read; the message says why and what to do."""


class FileVersion(NamedTuple):
    """A version of a file: a commit that changed it."""

    commit: str
    """The full id."""
    at: float
    """The time of the commit, in seconds since 1970: when it entered this history."""
    author: str
    subject: str
    path: str
    """The name of the file in this commit, relative to the repository."""
    octets: bytes | None
    """The content; None if this commit deleted the file."""

    @property
    def short(self) -> str:
        """The first digits of the id, as `git log` shows them."""
        return self.commit[:10]


def file_versions(file: str | os.PathLike[str], revisions: str = "HEAD") -> list[FileVersion]:
    """
    Return the versions of a file in order, the oldest first; *revisions* as `git log` takes them.

    Raises `GitError` if there is no git, no repository, no such revision or no history of the file.
    """
    path = Path(file)
    folder = _folder(path)
    log = _git(
        folder,
        *("log", "--follow", f"--max-count={MOST_VERSIONS}", f"--format={_FORMAT}"),
        *("--raw", "--no-abbrev", "-z", "--no-ext-diff", "--no-textconv", "--no-color"),
        *("--end-of-options", revisions, "--", path.name),
    )
    found = list(_read_log(log))
    if not found:
        raise GitError(
            f"git knows no version of {str(path)!r} in {revisions}: commit it, or pass another file"
        )
    contents = _contents(folder, [blob for *_, blob in found if blob is not None])
    versions = [
        FileVersion(
            commit, int(at), author, subject, name, None if blob is None else contents[blob]
        )
        for commit, at, author, subject, name, blob in found
    ]
    return versions[::-1]


def file_at(file: str | os.PathLike[str], revision: str) -> bytes:
    """Return the content of a file in a revision, such as `main` or `v1.2`; raises `GitError`."""
    path = Path(file)
    folder = _folder(path)
    _git(
        folder,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{revision}^{{commit}}",
        missing=f"git knows no revision {revision!r}: pass a branch, a tag or a commit",
    )
    return _git(
        folder,
        *("cat-file", "blob", f"{revision}:./{path.name}"),
        missing=f"{str(path)!r} is not in {revision}: pass another file or revision",
    )


def _folder(path: Path) -> Path:
    folder = path.parent if str(path.parent) else Path()
    if not folder.is_dir():
        raise GitError(f"{str(folder)!r} is not a folder: pass the path of a file in a repository")
    return folder


def _read_log(log: bytes) -> Iterator[tuple[str, str, str, str, str, str | None]]:
    """Yield commit, time, author, subject, path and blob, as `--raw -z` lists them."""
    text = log.decode("utf-8", "surrogateescape")
    for record in text.split(_RECORD)[1:]:
        commit, at, author, subject, raw = record.split(_FIELD, 4)
        # `:100644 100644 OLD NEW M` NUL `path` NUL, and a second path for a rename or a copy.
        parts = raw.strip("\0\n").split("\0")
        if not parts[0].startswith(":"):
            continue  # a merge without a change of its own
        _, mode, _, blob, status = parts[0].lstrip(":").split(" ")
        # 120000 is a symbolic link, whose content is a name.
        is_gone = status.startswith("D") or mode == "120000"
        yield commit, at, author, subject, parts[-1], None if is_gone else blob


def _contents(folder: Path, blobs: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of blobs, read with one process."""
    wanted = list(dict.fromkeys(blobs))
    answer = _git(folder, "cat-file", "--batch", stdin="\n".join([*wanted, ""]).encode())
    found: dict[str, bytes] = {}
    start = 0
    for blob in wanted:
        end = answer.index(b"\n", start)
        fields = answer[start:end].split(b" ")
        if len(fields) != 3:
            raise GitError(
                f"git has no content of {blob[:10]}: fetch the whole history, without --depth"
            )
        size = int(fields[2])
        found[blob] = answer[end + 1 : end + 1 + min(size, LARGEST_FILE)]
        start = end + 1 + size + 1
    return found


def _git(folder: Path, *arguments: str, stdin: bytes = b"", missing: str = "") -> bytes:
    """Run git in a folder and return its output; *missing* is the error if it finds nothing."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("GIT_")
    } | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }
    try:
        ran = subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT,
            env=environment,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is not installed, and the history is read with it") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git did not answer within {TIMEOUT:g} seconds") from None
    if ran.returncode == 0:
        return ran.stdout
    words = ran.stderr.decode("utf-8", "replace").strip().splitlines()
    why = words[0].removeprefix("fatal: ") if words else f"git failed with {ran.returncode}"
    if "not a git repository" in why:
        raise GitError(f"{str(folder)!r} is not in a git repository: pass a file of one")
    raise GitError(missing or why)
