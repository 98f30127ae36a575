"""
Policy sources: a policy file, a robots.txt, or the text of either, read and parsed.

A `Path`, or a str without a line end that ends in `.toml` or `.txt`, is a file; a str with a line
end is the text itself. A file that ends in `.toml` is a policy, any other file is a robots.txt. A
text is a policy if its first line that is neither blank nor a comment is a table header, or has a
`=` before any colon: the records of a robots.txt have a colon first. A policy with the key
`robots-txt` names a robots.txt, relative to its own file. Files are read once: a changed file takes
effect after a restart.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

from robotrules.errors import PolicyError, WriteError
from robotrules.octets import to_octets
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.write import write
from robotrules.write.policy import EXISTING, LARGEST, POLICY_KEYS, read_policy
from robotrules.write.tag_policy import PathTags

# What `policy=` and the values of `hosts=` may be.
PolicySource = str | os.PathLike[str]

_FILES = (".toml", ".txt")
_TEXT_NAME = "the policy text"
# The first line of a text that is neither blank nor a comment.
_FIRST_LINE = re.compile(r"\A(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*[ \t]*([^\r\n]*)")
_TOML_LINE = re.compile(r"\[|[^:=]*=")
# First lines of files with the wrong ending: a record, and a key or table of a policy.
_RECORD = re.compile(r"[A-Za-z][\w -]*:", re.ASCII)
_POLICY_LINE = re.compile(rf"\[{{0,2}}\s*(?:{'|'.join(POLICY_KEYS)})\b[^:=\]]*[=\]]")
# A policy with a byte order mark is a policy.
_BOM = "\ufeff"


class LoadedPolicy(NamedTuple):
    """A policy that was read: the robots.txt to serve, and tag rules by path."""

    name: str
    """The policy's file, for messages."""
    robots_name: str
    """The robots.txt, for messages about its lines."""
    body: bytes
    robots: RobotsTxt
    tags: tuple[PathTags, ...] = ()
    is_generated: bool = False
    """Whether the robots.txt is written from the policy, and not a file or text of its own."""


def require_source(source: object, argument: str) -> None:
    """Raise TypeError unless the value of an argument can be a policy source."""
    if not isinstance(source, (str, os.PathLike)):
        name = type(source).__name__
        raise TypeError(f"{argument} is the path of a file, or its text as str; not {name}")


def load_policy(source: PolicySource, host: str | None = None) -> LoadedPolicy:
    """Return a policy, of a host; raise PolicyError if it cannot be read or is not valid."""
    if _is_text(source):
        name = _TEXT_NAME if host is None else f"{_TEXT_NAME} of host {host!r}"
        text = str(source)
        if _TOML_LINE.match(_first_line(text)):
            return _parse_policy(to_octets(text), name, Path())
        return _parse_robots(to_octets(text), name)
    argument = "policy" if host is None else f"hosts[{host!r}]"
    if isinstance(source, str) and not source.lower().endswith(_FILES):
        raise PolicyError(
            f"{argument} {source[:60]!r} ends in neither .toml nor .txt: correct the name, or pass "
            "pathlib.Path(...) for a file with another name; end a text of one line with '\\n'"
        )
    path, name = Path(source), str(source)
    octets = _read_file(path, Path(), f"{argument} {name!r}")
    if not _is_policy_file(path):
        if line := _find_policy_line(octets):
            raise PolicyError(
                f"{name} is read as a robots.txt, but {line!r} is a line of a policy in TOML: give "
                "the file a name that ends in .toml"
            )
        return _parse_robots(octets, name)
    line = _first_line(octets.decode("utf-8", "replace"))
    if _RECORD.match(line):
        raise PolicyError(
            f"{name} ends in .toml, but {line[:40]!r} is a line of a robots.txt: rename the file "
            f'to {path.stem}.txt. A policy can name it: {EXISTING} = "{path.stem}.txt"'
        )
    loaded = _parse_policy(octets, name, path.parent)
    if not line or line.startswith("#"):
        # A deployment that was cut off must not open the site.
        raise PolicyError(
            f"{name} is empty, which would allow everything: deploy the whole file. If everything "
            "is allowed on purpose, write [everyone]"
        )
    return loaded


def find_policy_files(source: PolicySource) -> list[Path]:
    """
    Return the files that a policy is read from, also if it is not valid; a text has none itself.

    For programs that watch files. The robots.txt of a policy is only found if the policy is TOML.
    """
    files: list[Path] = []
    if _is_text(source):
        text, folder = str(source), Path()
    else:
        path = Path(source)
        files.append(path)
        if not _is_policy_file(path):
            return files
        try:
            text, folder = path.read_bytes()[:LARGEST].decode("utf-8-sig"), path.parent
        except (OSError, ValueError):
            return files
    try:
        existing = tomllib.loads(text.removeprefix(_BOM)).get(EXISTING)
    except (ValueError, RecursionError):
        return files
    return [*files, folder / existing] if isinstance(existing, str) else files


def _is_text(source: PolicySource) -> bool:
    return isinstance(source, str) and "\n" in source


def _is_policy_file(path: Path) -> bool:
    return path.suffix.lower() == ".toml"


def _first_line(text: str) -> str:
    first = _FIRST_LINE.match(text.removeprefix(_BOM))
    return first[1] if first else ""


def _read_file(path: Path, folder: Path, what: str) -> bytes:
    """Return the content of a file; a relative path starts at *folder*."""
    try:
        with (folder / path).open("rb") as file:
            octets = file.read(LARGEST + 1)
    except OSError as error:
        start = str(folder.absolute())
        hint = "" if path.is_absolute() else f"; a relative path starts at {start!r}"
        raise PolicyError(f"{what} cannot be read: {error.strerror or error}{hint}") from None
    except ValueError as error:  # a NUL in the name
        raise PolicyError(f"{what} is not the name of a file: {error}") from None
    if len(octets) > LARGEST:
        raise PolicyError(f"{what} is larger than 1 MiB: make it smaller")
    return octets


def _find_policy_line(octets: bytes) -> str:
    """Return the first line of a file that should be a robots.txt if it is one of a policy."""
    line = _first_line(octets.decode("utf-8", "replace"))
    return line[:40] if _POLICY_LINE.match(line) else ""


def _parse_robots(octets: bytes, name: str) -> LoadedPolicy:
    return LoadedPolicy(name, name, octets, parse(octets))


def _parse_policy(octets: bytes, name: str, folder: Path) -> LoadedPolicy:
    """Return a policy in TOML; a robots.txt that it names starts at *folder*."""
    try:
        policy = read_policy(octets.decode("utf-8-sig"), name)
        body = write(policy.robots).encode("ascii")
    except UnicodeDecodeError as error:
        line = octets.count(b"\n", 0, error.start) + 1
        raise PolicyError(f"{name}, line {line}: this is not UTF-8; save it as UTF-8") from None
    except WriteError as error:
        raise PolicyError(str(error)) from None
    is_generated = policy.robots_txt is None
    generated = f"the robots.txt generated from {name}"
    if policy.robots_txt is not None:
        generated = str(folder / policy.robots_txt)
        what = f"{name}: {EXISTING}: the file {policy.robots_txt!r}"
        body = _read_file(Path(policy.robots_txt), folder, what)
        if found := _find_policy_line(body):
            raise PolicyError(
                f"{what} is a policy in TOML ({found!r}): name a robots.txt, or remove {EXISTING}"
            )
    return LoadedPolicy(name, generated, body, parse(body), policy.tags, is_generated)
