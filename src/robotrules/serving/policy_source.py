"""
Policy sources: a policy file, a robots.txt, or the text of either, read and parsed.

A `Path`, or a str without a line end that ends in `.toml` or `.txt`, is a file; a str with a line
end is the text itself. A file that ends in `.toml` is a policy, any other file is a robots.txt. A
text is a policy if its first line that is neither blank nor a comment is a table header, or has a
`=` before any colon: the records of a robots.txt have a colon first. Files are read once:
a changed file takes effect after a restart.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from robotrules.errors import PolicyError, WriteError
from robotrules.octets import to_octets
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.write import write
from robotrules.write.policy import LARGEST, read_policy
from robotrules.write.tag_policy import PathTags

# What `policy=` and the values of `hosts=` may be.
PolicySource = str | os.PathLike[str]

_FILES = (".toml", ".txt")
_TEXT_NAME = "the policy text"
# The first line of a text that is neither blank nor a comment.
_FIRST_LINE = re.compile(r"\A(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*[ \t]*([^\r\n]*)")
_TOML_LINE = re.compile(r"\[|[^:=]*=")
# A policy with a byte order mark is a policy.
_BOM = "\ufeff"


class LoadedPolicy(NamedTuple):
    """A policy that was read: the robots.txt to serve, and tag rules by path."""

    name: str
    """The file, for messages."""
    is_toml: bool
    body: bytes
    robots: RobotsTxt
    tags: tuple[PathTags, ...] = ()


def require_source(source: object) -> None:
    """Raise TypeError unless a value can be a policy source."""
    if not isinstance(source, (str, os.PathLike)):
        name = type(source).__name__
        raise TypeError(f"policy is the path of a file, or its text as str; not {name}")


def load_policy(source: PolicySource, host: str | None = None) -> LoadedPolicy:
    """Return a policy, of a host; raise PolicyError if it cannot be read or is not valid."""
    if isinstance(source, str) and "\n" in source:
        first = _FIRST_LINE.match(source.removeprefix(_BOM))
        is_toml = first is not None and _TOML_LINE.match(first[1]) is not None
        name = _TEXT_NAME if host is None else f"{_TEXT_NAME} of host {host!r}"
        return _parse_policy(to_octets(source), name, is_toml)
    if isinstance(source, str) and not source.lower().endswith(_FILES):
        raise PolicyError(
            f"policy {source[:60]!r} is neither a file that ends in .toml or .txt nor a text: pass "
            "pathlib.Path(...) for a file with another name, or end a text of one line with '\\n'"
        )
    path = Path(source)
    return _parse_policy(_read_file(path), str(source), path.suffix.lower() == ".toml")


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            octets = file.read(LARGEST + 1)
    except OSError as error:
        raise PolicyError(
            f"the policy {str(path)!r} cannot be read: {error.strerror or error}; a relative path "
            f"starts at {str(Path.cwd())!r}"
        ) from None
    if len(octets) > LARGEST:
        raise PolicyError(f"the policy {str(path)!r} is larger than 1 MiB: make it smaller")
    return octets


def _parse_policy(octets: bytes, name: str, is_toml: bool) -> LoadedPolicy:
    if not is_toml:
        return LoadedPolicy(name, False, octets, parse(octets))
    try:
        policy = read_policy(octets.decode("utf-8-sig"), name)
        body = write(policy.robots).encode("ascii")
    except UnicodeDecodeError as error:
        line = octets.count(b"\n", 0, error.start) + 1
        raise PolicyError(f"{name}, line {line}: this is not UTF-8; save it as UTF-8") from None
    except WriteError as error:
        raise PolicyError(str(error)) from None
    return LoadedPolicy(name, True, body, parse(body), policy.tags)
