"""
Positions in a TOML text: values with their keys and line numbers.

`tomllib` returns values without positions. `written_at` scans a text that `tomllib` has accepted
for the line of each key, and `TomlValue` combines both: it validates a value as text, list or
number, and reports errors with file, line, key and the expected value.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

# The path of a key: names in tables, and indexes from 0 in lists.
Path = tuple[str | int, ...]

# The maximum depth. Deeper lines are not recorded, and a key with more dots is refused, because the
# time of `tomllib` grows with the square of their number.
DEEPEST = 32

_NO_KEY = re.compile(r"[^A-Za-z0-9_.\"' \t-]+")
_DOT = re.compile(r"[A-Za-z0-9_\"'-][ \t]*\.")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_PLAIN = re.compile(r"[^,\]}\r\n#]*")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)


class TomlValue:
    """A value of a TOML file, with its position."""

    def __init__(
        self,
        value: Any,
        name: str,
        error: type[ValueError],
        lines: Mapping[Path, int],
        path: Path = (),
    ) -> None:
        self.value = value
        self.path = path
        self._name = name
        self._error = error
        self._lines = lines

    @property
    def line(self) -> int | None:
        """Its line, or that of the innermost enclosing value."""
        for end in range(len(self.path), 0, -1):
            if (line := self._lines.get(self.path[:end])) is not None:
                return line
        return None

    @property
    def key(self) -> str:
        """Its key for messages: names with dots, list indexes from 1."""
        key = ""
        for part in self.path:
            if isinstance(part, int):
                key += f"[{part + 1}]"
            else:
                key += f"{'.' if key else ''}{_shown_key(part)}"
        return key

    def error(self, words: str) -> ValueError:
        """Return an error about this value."""
        where = f"{self._name}, line {self.line}" if self.line else self._name
        return self._error(f"{where}: {self.key + ': ' if self.key else ''}{words}")

    def refuse(self, words: str) -> NoReturn:
        """Raise an error about this value."""
        raise self.error(words)

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def at(self, key: str | int, usual: Any = None) -> TomlValue:
        """Return a member: of a table by name, of a list by index."""
        value = self.value[key] if isinstance(key, int) else self.value.get(key, usual)
        return TomlValue(value, self._name, self._error, self._lines, (*self.path, key))

    def parts(self) -> Iterator[TomlValue]:
        """Yield the items of a list, or the values of a table."""
        for key in range(len(self.value)) if isinstance(self.value, list) else self.value:
            yield self.at(key)

    def table(self, known: tuple[str, ...] = ()) -> TomlValue:
        """Return it if it is a table; other keys than *known* are refused."""
        if not isinstance(self.value, dict):
            self.refuse(f"expected a table, not {_shown(self.value)}")
        for key in self.value if known else ():
            if key not in known:
                hint = _likely(key.lower().replace("_", "-"), known)
                self.at(key).refuse(f"there is no key {_shown(key)} here{hint}")
        return self

    def text(self, *, among: tuple[str, ...] = (), example: str = "") -> str:
        """Return it as non-empty text; if *among* is given, one of these."""
        value = self.value
        if not isinstance(value, str) or not value.strip():
            such = f" such as {_shown(example or among[0])}" if example or among else ""
            if isinstance(value, str):
                self.refuse(f"this is empty; write a value{such}, or remove the key")
            self.refuse(f"expected text in quotes{such}, not {_shown(value)}")
        if among and value not in among:
            self.refuse_name(value, among)
        return value

    def refuse_name(self, name: str, known: tuple[str, ...]) -> NoReturn:
        """Raise an error about an unknown name, with a suggestion or the known names."""
        self.refuse(f"there is no {_shown(name)}{_likely(name.lower(), known)}")

    def texts(self, *, example: str) -> tuple[str, ...]:
        """Return it as a list of texts; a single text is a list of one."""
        if isinstance(self.value, str):
            return (self.text(example=example),)
        if not isinstance(self.value, list):
            self.refuse(f"expected a list such as [{_shown(example)}], not {_shown(self.value)}")
        return tuple(part.text(example=example) for part in self.parts())

    def count(self, *, least: int = 1) -> int:
        """Return it as a whole number of at least *least*."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < least:
            self.refuse(f"expected an integer of at least {least}, not {_shown(self.value)}")
        return self.value

    def switch(self) -> bool:
        """Return it as true or false."""
        if not isinstance(self.value, bool):
            self.refuse(f"expected true or false, not {_shown(self.value)}")
        return self.value


def read(octets: bytes, name: str, error: type[ValueError], limit: int) -> TomlValue:
    """
    Read a TOML text of at most *limit* bytes; *name* and *error* are for error messages.

    Text that is too large, not UTF-8 or not TOML is refused in one line.
    """
    if len(octets) > limit:
        raise error(f"{name}: it is larger than {limit:,} bytes; make it smaller")
    try:
        text = octets.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as wrong:
        line = octets.count(b"\n", 0, wrong.start) + 1
        raise error(f"{name}, line {line}: this is not UTF-8; save the file as UTF-8") from None
    for number, written in enumerate(text.split("\n"), 1):
        if written.count(".") > DEEPEST:
            if any(len(_DOT.findall(part)) > DEEPEST for part in _NO_KEY.split(written)):
                words = f"a key has more than {DEEPEST} dotted names; simplify it"
                raise error(f"{name}, line {number}: {words}")
    try:
        return TomlValue(tomllib.loads(text), name, error, written_at(text))
    except tomllib.TOMLDecodeError as wrong:
        why, _, where = str(wrong).partition(" (at ")
        numbers = re.search(r"line (\d+), column (\d+)", where)
        at = f", line {numbers[1]}, column {numbers[2]}" if numbers else ""
        end = f", line {text.count(chr(10)) + 1}" if "end of document" in where else at
        raise error(f"{name}{end}: this is not valid TOML: {why}") from None
    except (RecursionError, ValueError):  # too deep, or a number or date out of range
        raise error(
            f"{name}: this TOML cannot be read: a value is nested too deeply or out of range"
        ) from None


def written_at(text: str) -> dict[Path, int]:
    """Return the line of every table, key and list item in a valid TOML text."""
    return _Lines(text).found


class _Lines:
    """A scan of a valid TOML text that records line numbers."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted, self._line = 0, 1
        self._tables: dict[Path, int] = {}
        self.found: dict[Path, int] = {}
        here: Path = ()
        self._skip(_GAP)
        while self._at < len(text):
            if text[self._at] == "[":
                here = self._header()
            else:
                self._pair(here)
            self._skip(_GAP)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        """Skip what a pattern matches here, and return it."""
        found = pattern.match(self._text, self._at)
        start, self._at = self._at, found.end() if found else self._at + 1
        return self._text[start : self._at]

    def _note(self, path: Path) -> None:
        if len(path) > DEEPEST:
            return
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        self.found.setdefault(path, self._line)

    def _key(self) -> Path:
        """Skip a dotted key, and return its names."""
        names: list[str] = []
        while True:
            self._skip(_BLANK)
            quoted = self._text[self._at] in "\"'"
            name = self._skip(_STRING if quoted else _BARE)
            names.append(tomllib.loads(f"k={name}")["k"] if quoted else name)
            self._skip(_BLANK)
            if self._text[self._at] != ".":
                return tuple(names)
            self._at += 1

    def _header(self) -> Path:
        """Skip `[a.b]` or `[[a.b]]`, and return the path of the table."""
        start, several = self._at, self._text.startswith("[[", self._at)
        self._at += 1 + several
        names = self._key()
        end, self._at = self._at + 1 + several, start
        path: Path = ()
        for number, name in enumerate(names):
            path = (*path, name)
            if several and number == len(names) - 1:
                self._note(path)
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                path = (*path, self._tables[path])
        self._note(path)
        self._at = end
        return path

    def _pair(self, table: Path) -> None:
        """Skip `key = value`, and record both."""
        start = self._at
        names = self._key()
        after, self._at = self._at, start
        for end in range(1, len(names) + 1):
            self._note((*table, *names[:end]))
        self._at = after + 1  # the equals sign
        self._skip(_BLANK)
        self._value((*table, *names))

    def _value(self, path: Path) -> None:
        """Skip a value; record the items of lists and inline tables."""
        first = self._text[self._at]
        if first in "\"'":
            self._skip(_STRING)
        elif first == "[":
            self._list(path)
        elif first == "{":
            self._braces(path)
        else:
            self._skip(_PLAIN)

    def _list(self, path: Path) -> None:
        self._at += 1
        number = 0
        self._skip(_GAP)
        while self._text[self._at] != "]":
            if self._text[self._at] == ",":
                self._at += 1
            else:
                self._note((*path, number))
                self._value((*path, number))
                number += 1
            self._skip(_GAP)
        self._at += 1

    def _braces(self, path: Path) -> None:
        self._at += 1
        self._skip(_GAP)
        while self._text[self._at] != "}":
            if self._text[self._at] == ",":
                self._at += 1
            else:
                self._pair(path)
            self._skip(_GAP)
        self._at += 1


def _likely(name: str, known: tuple[str, ...]) -> str:
    """Return a similar name as a suggestion, or all known names."""
    likely = get_close_matches(name, known, 1)
    return f"; did you mean {likely[0]}?" if likely else f". Known: {', '.join(known)}"


def _shown(value: Any) -> str:
    """Return a value as TOML would write it, truncated."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= 60 else f"{text[:57]}…"


def _shown_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _shown(key)
