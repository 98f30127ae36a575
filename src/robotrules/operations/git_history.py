"""
The versions of a file in its git repository, oldest first, with renames followed.

`git` is run as a program: with a list of arguments, without a shell, without filters, external
diffs, hooks, prompts, fetches or a pager of a repository, and with limits on time and bytes.
Nothing is written. The history is that of the main line: a change that was made in a branch is the
change of the commit that merged it, because it was in force from then on; `merged_commits` names
the commits of the branch. Changes that exist only in other branches are not in it.

Sections: values · versions · one version · running git.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, NamedTuple

from robotrules.octets import visible

__all__ = [
    "FileVersion",
    "GitError",
    "MergedCommit",
    "NoRepositoryError",
    "Revision",
    "commit_message",
    "file_at",
    "file_versions",
    "find_revision",
    "is_shallow",
    "merged_commits",
]

# A history of 20 years with a change a day has 7,300 versions.
MOST_VERSIONS = 20_000
# The commits of a branch that a merge brought.
MOST_MERGED = 1_000
# Crawlers read up to 500 KiB of a robots.txt; of a larger one, this much is kept.
LARGEST_FILE = 2 << 20
# A larger file is no robots.txt, and git would need the memory.
LARGEST_BLOB = 64 << 20
# All versions together, which are kept in memory.
MOST_BYTES = 256 << 20
# The list of commits; a subject may be long.
MOST_OUTPUT = 64 << 20
LONGEST_SUBJECT = 500
TIMEOUT = 60.0
INCOMPLETE = (
    "git does not have the content of all versions, and nothing is fetched: clone the repository "
    "without --filter"
)
NO_PROTOCOL = "none"
# What counts as a date: git itself takes any text for one, and a misspelt branch for today.
_AGO = re.compile(
    r"yesterday|\d{1,4}[ .](?:minute|hour|day|week|month|year)s?[ .]ago", re.ASCII | re.IGNORECASE
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?", re.ASCII)
# `main@{2026-08-01}` in a clone whose reflog starts later: git warns, and answers with the oldest.
_NO_REFLOG = re.compile(rb"^(?:warning|fatal): log for .*", re.MULTILINE)
# Lines such as `Signed-off-by: NAME <MAIL>`.
_TRAILER = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*-by: .*@")
_BAD_REVISION = re.compile(r"bad revision ('.*')")
# Fields end with NUL, which is in no name, subject or path.
_FORMAT = "%x00".join(("%H", "%ct", "%an", "%P", "%s"))
# A repository may have been downloaded: none of its settings may start a program.
_SAFE = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.devnull),
    *("-c", "log.showSignature=false", "-c", "core.quotePath=false"),
    "--literal-pathspecs",
)


# --- Values ---------------------------------------------------------------------------------------


class GitError(Exception):
    """A history could not be read; the message says why and what to do."""


class NoRepositoryError(GitError):
    """A folder is not in a git repository."""


class FileVersion(NamedTuple):
    """A version of a file: a commit that changed it."""

    commit: str
    """The full id; empty for a file that is not committed."""
    at: float
    """The time of the commit, in seconds since 1970: when it entered this history."""
    author: str
    subject: str
    path: str
    """The name of the file in this commit, relative to the repository."""
    octets: bytes | None
    """The content; None if this commit deleted the file."""
    parents: tuple[str, ...] = ()
    """The full ids; more than one for a merge."""

    @property
    def short(self) -> str:
        """The first digits of the id, as `git log` shows them."""
        return self.commit[:10]


class MergedCommit(NamedTuple):
    """A commit of a branch, which a merge brought into the main line."""

    commit: str
    at: float
    author: str
    subject: str


class Revision(NamedTuple):
    """The commit that a branch, a tag, a commit or a date stands for."""

    commit: str
    at: float
    is_date: bool = False

    @property
    def short(self) -> str:
        """The first digits of the id, as `git log` shows them."""
        return self.commit[:10]


# --- Versions -------------------------------------------------------------------------------------


def file_versions(file: str | os.PathLike[str], revisions: str = "HEAD") -> list[FileVersion]:
    """
    Return the versions of a file in order, the oldest first; *revisions* as `git log` takes them.

    A date stands for a commit, as for `find_revision()`.

    Raises `GitError` if there is no git, no repository, no such revision or no history of the file.
    """
    path = Path(file)
    folder = _folder(path)
    given, revisions = revisions, _resolve_dates(folder, revisions)
    log = _git(
        folder,
        *("log", "--follow", "--first-parent", "--diff-merges=first-parent"),
        *(f"--max-count={MOST_VERSIONS}", f"--format={_FORMAT}"),
        *("--raw", "--no-abbrev", "-z", "--no-ext-diff", "--no-textconv", "--no-color"),
        *("--no-relative", "-O" + os.devnull, "--end-of-options", revisions, "--", path.name),
    )
    found = list(_read_log(log))
    if not found:
        raise GitError(
            f"git knows no version of '{visible(str(path))}' in {visible(given)}: commit it, "
            "or pass another file"
        )
    contents = _contents(folder, [blob for _, blob in found if blob is not None])
    versions = [
        version if blob is None else version._replace(octets=contents[blob])
        for version, blob in found
    ]
    return versions[::-1]


def merged_commits(file: str | os.PathLike[str], version: FileVersion) -> list[MergedCommit]:
    """Return what changed the file in the branch that *version* merged, the newest first."""
    if len(version.parents) < 2:
        return []
    log = _git(
        _folder(Path(file)),
        *("log", f"--max-count={MOST_MERGED}", f"--format={_FORMAT}", "-z", "--no-color"),
        *("--end-of-options", f"{version.parents[0]}..{version.commit}", "--"),
        # From any folder of the repository, and with no other magic.
        f":(top,literal){version.path}",
        literal=False,
    )
    fields = log.decode("utf-8", "surrogateescape").split("\0")
    rows = (fields[i : i + 5] for i in range(0, len(fields) - 4, 5))
    return [
        MergedCommit(commit, _seconds(at), author, subject[:LONGEST_SUBJECT])
        for commit, at, author, parents, subject in rows
        if " " not in parents and commit != version.commit
    ]


def commit_message(file: str | os.PathLike[str], version: FileVersion) -> list[str]:
    """Return the lines of a commit's message below its subject, without those of addresses."""
    if not version.commit:
        return []
    log = _git(
        _folder(Path(file)),
        *("log", "--max-count=1", "--format=%b", "--no-color", "--end-of-options"),
        *(version.commit, "--"),
    )
    lines = log.decode("utf-8", "surrogateescape").splitlines()
    return [line for line in lines if line.strip() and not _TRAILER.match(line)]


def is_shallow(file: str | os.PathLike[str]) -> bool:
    """Tell whether a repository has only the last commits, such as a clone with `--depth`."""
    answer = _git(_folder(Path(file)), "rev-parse", "--is-shallow-repository")
    return answer.strip() == b"true"


def _folder(path: Path) -> Path:
    folder = path.parent if str(path.parent) else Path()
    if path.is_dir():
        raise GitError(f"'{visible(str(path))}' is a folder: pass a file in it")
    if not folder.is_dir():
        raise GitError(
            f"'{visible(str(folder))}' is not a folder: pass the path of a file in a repository"
        )
    return folder


def _read_log(log: bytes) -> Iterator[tuple[FileVersion, str | None]]:
    """Yield versions without content, each with its blob, as `--raw -z` lists them."""
    tokens = log.decode("utf-8", "surrogateescape").split("\0")
    place = 0
    while place + 5 < len(tokens):
        commit, at, author, parents, subject = tokens[place : place + 5]
        place += 5
        raw = tokens[place].lstrip("\n")
        if not raw.startswith(":"):
            continue  # without a change of the file
        # `:100644 100644 OLD NEW M` NUL `path` NUL, and a second path for a rename or a copy.
        _, mode, _, blob, status = raw.lstrip(":").split(" ")
        count = 2 if status[:1] in "RC" else 1
        path = tokens[place + count]
        place += 1 + count
        # 120000 is a symbolic link, whose content is a name; 160000 a submodule.
        is_gone = status.startswith("D") or mode in ("120000", "160000")
        version = FileVersion(
            commit,
            _seconds(at),
            author,
            subject[:LONGEST_SUBJECT],
            path,
            None,
            tuple(parents.split()),
        )
        yield version, None if is_gone else blob
        if status.startswith("C"):
            return  # git goes on with the file that was copied, which is another one


def _seconds(text: str) -> float:
    try:
        return float(int(text))
    except ValueError:
        return 0.0


def _contents(folder: Path, blobs: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of blobs, read with one process."""
    wanted = list(dict.fromkeys(blobs))
    listed = "\n".join([*wanted, ""]).encode()
    _check_sizes(_git(folder, "cat-file", "--batch-check", stdin=listed))
    found: dict[str, bytes] = {}
    total = 0
    with _running(folder, ("cat-file", "--batch"), stdin=listed) as stream:
        for blob in wanted:
            fields = stream.readline(1_000).split(b" ")
            if len(fields) != 3:
                raise GitError("git stopped before the last version: try again")
            size = int(fields[2])
            found[blob] = stream.read(min(size, LARGEST_FILE))
            rest = size - len(found[blob]) + 1  # and the line end
            while rest > 0 and (block := stream.read(min(rest, 1 << 20))):
                rest -= len(block)
            total += len(found[blob])
            if total > MOST_BYTES:
                raise GitError(
                    f"all versions together have more than {MOST_BYTES >> 20} MiB: pass a part of "
                    "the history with --rev, such as v2.0..HEAD"
                )
    return found


def _check_sizes(listing: bytes) -> None:
    """Raise `GitError` for a version that is missing or too large."""
    for line in listing.splitlines():
        fields = line.split(b" ")
        if len(fields) != 3:
            raise GitError(INCOMPLETE)
        size = int(fields[2])
        if size > LARGEST_BLOB:
            raise GitError(
                f"a version has {size >> 20:,} MiB ({visible(fields[0][:10])}), so it is no "
                "robots.txt: pass a part of the history with --rev, such as v2.0..HEAD"
            )


# --- One version ----------------------------------------------------------------------------------


def find_revision(file: str | os.PathLike[str], revision: str) -> Revision:
    """
    Return the commit of a revision: a branch, a tag, a commit, or a date; raises `GitError`.

    A date is the last commit of the main line of HEAD before it: a day, `2026-08-01`, starts at
    00:00 UTC; a time has an offset or is UTC; `2 weeks ago` and `yesterday` count from now.
    """
    folder = _folder(Path(file))
    is_date = False
    try:
        commit = _commit_of(folder, revision)
    except GitError:
        if (limit := _date_limit(revision)) is None:
            raise
        is_date = True
        found = _git(
            folder,
            *("rev-list", "--max-count=1", "--first-parent", f"--before={limit}", "HEAD", "--"),
        )
        commit = found.decode().strip()
        if not commit:
            cure = "pass a later date"
            if is_shallow(file):
                cure = "the clone is shallow, so run git fetch --unshallow first"
            raise GitError(f"there is no commit before {visible(revision)}: {cure}") from None
    at = _git(folder, "log", "--max-count=1", "--format=%ct", "--end-of-options", commit, "--")
    return Revision(commit, _seconds(at.decode().strip()), is_date)


def _commit_of(folder: Path, revision: str) -> str:
    """Return the full id of a revision that git knows."""
    if not revision.strip():
        raise GitError("the revision is empty: pass a branch, a tag, a commit or a date")
    # Not --quiet, which suppresses the warning that a reflog starts later.
    found = _git(
        folder,
        *("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"),
        missing=f"git knows no revision '{visible(revision)}': pass a branch, a tag, a commit or "
        "a date such as 2026-08-01",
    )
    return found.decode().split()[-1]


def _date_limit(text: str) -> str | None:
    """Return a date as git reads it without doubt; None if it is not one."""
    if _AGO.fullmatch(text):
        return text
    if not _DAY.fullmatch(text):
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
    return f"@{max(int(when.timestamp()) - 1, 0)} +0000"


def _resolve_dates(folder: Path, revisions: str) -> str:
    """Return a revision or a range with commits in place of dates."""
    if not revisions.strip():
        raise GitError("the revision is empty: pass a branch, a tag, a commit or a date")
    parts = revisions.split("..")
    if len(parts) > 2 or all(_date_limit(part) is None for part in parts):
        return revisions
    file = folder / "robots.txt"
    return "..".join(find_revision(file, part).commit if part else "" for part in parts)


def file_at(file: str | os.PathLike[str], revision: str) -> bytes:
    """Return the content of a file in a revision, as `find_revision()` takes it."""
    path = Path(file)
    folder = _folder(path)
    commit = find_revision(path, revision).commit
    # Not `./name`, which a bare repository refuses.
    prefix = os.fsdecode(_git(folder, "rev-parse", "--show-prefix").removesuffix(b"\n"))
    entry = _git(
        folder,
        *("ls-tree", "-z", "--full-tree", commit, "--", prefix + path.name),
    )
    # `100644 blob ID` TAB `path` NUL; 120000 is a symbolic link.
    mode, _, of = entry.partition(b"\t")[0].decode().partition(" ")
    kind, _, blob = of.partition(" ")
    if kind != "blob" or mode == "120000":
        raise GitError(
            f"'{visible(str(path))}' is not in {visible(revision)}: pass another file or revision"
        )
    return _contents(folder, [blob])[blob]


# --- Running git ----------------------------------------------------------------------------------


def _git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    missing: str = "",
    literal: bool = True,
    protocols: str = NO_PROTOCOL,
) -> bytes:
    """
    Run git in a folder and return its output; *missing* is the error if it finds nothing.

    *protocols* are those with which it may fetch.
    """
    with _running(
        folder, arguments, stdin=stdin, missing=missing, literal=literal, protocols=protocols
    ) as stream:
        output = stream.read(MOST_OUTPUT + 1)
        if len(output) > MOST_OUTPUT:
            raise GitError(
                f"git answered more than {MOST_OUTPUT >> 20} MiB: pass a part of the history with "
                "--rev, such as v2.0..HEAD"
            )
    return output


@contextmanager
def _running(
    folder: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes = b"",
    missing: str = "",
    literal: bool = True,
    protocols: str = NO_PROTOCOL,
) -> Iterator[IO[bytes]]:
    """Run git and yield its output as a stream; raise `GitError` if it fails."""
    safe = _SAFE if literal else _SAFE[:-1]
    with TemporaryFile() as given, TemporaryFile() as errors:
        given.write(stdin)
        given.seek(0)
        try:
            process = subprocess.Popen(
                ["git", *safe, *arguments],
                cwd=folder,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(protocols),
            )
        except FileNotFoundError:
            raise GitError("git is not installed, and the history is read with it") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise GitError(f"git cannot be run in '{visible(str(folder))}': {why}") from None
        assert process.stdout is not None
        timer = Timer(TIMEOUT, process.kill)
        timer.daemon = True
        timer.start()
        try:
            with process.stdout:
                yield process.stdout
        except BaseException:
            process.kill()
            raise
        finally:
            code = process.wait()
            timed_out = timer.finished.is_set()
            timer.cancel()
        if code != 0:
            if timed_out:
                raise GitError(f"git did not answer within {TIMEOUT:g} seconds")
            errors.seek(0)
            raise _failure(errors.read(10_000), code, folder, missing)
        errors.seek(0)
        if warning := _NO_REFLOG.search(errors.read(10_000)):
            raise _reflog_error(warning[0])


def _environment(protocols: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # A partial clone fetches what it lacks, and its settings name a program for it.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def _failure(stderr: bytes, code: int, folder: Path, missing: str) -> GitError:
    words = stderr.decode("utf-8", "replace").strip().splitlines()
    errors = [line for line in words if not line.startswith("warning: ")]
    why = visible(errors[0].removeprefix("fatal: ")) if errors else f"git failed with {code}"
    if warning := _NO_REFLOG.search(stderr):
        return _reflog_error(warning[0])
    if any("lazy fetching" in line or "promisor" in line for line in words):
        return GitError(INCOMPLETE)
    if "dubious ownership" in why:
        return GitError(
            f"{why}; if you trust it, run git config --global --add safe.directory FOLDER"
        )
    if found := _BAD_REVISION.search(why):
        if found[1] == "'HEAD'":
            return GitError("the repository has no commit yet: commit the file first")
        return GitError(
            f"git knows no revision {found[1]}: pass a branch, a tag, a commit or a date such as "
            "2026-08-01"
        )
    if "not a git repository" in why:
        return NoRepositoryError(
            f"'{visible(str(folder))}' is not in a git repository: pass a file of one"
        )
    return GitError(missing or why)


def _reflog_error(line: bytes) -> GitError:
    """Return the error for `@{…}` beyond the reflog, which every clone starts anew."""
    why = visible(line.partition(b": ")[2][:300])
    return GitError(
        f"the reflog does not go back so far ({why}): for the commit before a date, pass the date "
        "alone, such as 2026-08-01"
    )
