"""
Places in a TOML text: a value, the key it stands under, and the line it is written on.

`tomllib` gives values and forgets where they stood. `written_at` reads a text that `tomllib` has
accepted a second time, for lines only, and `TomlValue` puts both together: whoever reads settings asks
a place for text, a list or a number, and what is wrong is refused with file, line, key and cure.
It touches no file, and does not know what any key means.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

# A key as it is walked to: names of tables, and numbers from 0 in lists.
Path = tuple[str | int, ...]

# Deeper than this nobody writes settings. A line is noted that deep, and a key with more dots is
# refused: `tomllib` takes time that grows with the square of their number.
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
    """A value of a TOML file, and where it stands."""

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
        """The line it is written on, or that of the nearest thing it stands in."""
        for end in range(len(self.path), 0, -1):
            if (line := self._lines.get(self.path[:end])) is not None:
                return line
        return None

    @property
    def key(self) -> str:
        """Its key for people: names with dots, numbers of lists from 1."""
        key = ""
        for part in self.path:
            if isinstance(part, int):
                key += f"[{part + 1}]"
            else:
                key += f"{'.' if key else ''}{_shown_key(part)}"
        return key

    def error(self, words: str) -> ValueError:
        """Return an error about this place."""
        where = f"{self._name}, line {self.line}" if self.line else self._name
        return self._error(f"{where}: {self.key + ': ' if self.key else ''}{words}")

    def refuse(self, words: str) -> NoReturn:
        """Raise an error about this place."""
        raise self.error(words)

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def at(self, key: str | int, usual: Any = None) -> TomlValue:
        """Return a part: of a table by name, of a list by number."""
        value = self.value[key] if isinstance(key, int) else self.value.get(key, usual)
        return TomlValue(value, self._name, self._error, self._lines, (*self.path, key))

    def parts(self) -> Iterator[TomlValue]:
        """Yield what a list has, or the values of a table."""
        for key in range(len(self.value)) if isinstance(self.value, list) else self.value:
            yield self.at(key)

    def table(self, known: tuple[str, ...] = ()) -> TomlValue:
        """Return it if it is a table; with *known* keys it has no others."""
        if not isinstance(self.value, dict):
            self.refuse(f"this is a table, not {_shown(self.value)}")
        for key in self.value if known else ():
            if key not in known:
                cure = _likely(key.lower().replace("_", "-"), known)
                self.at(key).refuse(f"there is no key {_shown(key)} here{cure}")
        return self

    def text(self, *, among: tuple[str, ...] = (), example: str = "") -> str:
        """Return it as text that is not empty; if *among* is given, one of these."""
        value = self.value
        if not isinstance(value, str) or not value.strip():
            such = f" such as {_shown(example or among[0])}" if example or among else ""
            if isinstance(value, str):
                self.refuse(f"this is empty; write something{such}, or leave it out")
            self.refuse(f"this is text in quotes{such}, not {_shown(value)}")
        if among and value not in among:
            self.refuse_name(value, among)
        return value

    def refuse_name(self, name: str, known: tuple[str, ...]) -> NoReturn:
        """Raise an error about a name that nobody knows: what it looks like, and what is known."""
        self.refuse(f"there is no {_shown(name)}{_likely(name.lower(), known)}")

    def texts(self, *, example: str) -> tuple[str, ...]:
        """Return it as a list of texts; one text will do."""
        if isinstance(self.value, str):
            return (self.text(example=example),)
        if not isinstance(self.value, list):
            self.refuse(f"this is a list such as [{_shown(example)}], not {_shown(self.value)}")
        return tuple(part.text(example=example) for part in self.parts())

    def count(self, *, least: int = 1) -> int:
        """Return it as a whole number of at least *least*."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < least:
            self.refuse(f"this is a whole number from {least}, not {_shown(self.value)}")
        return self.value

    def switch(self) -> bool:
        """Return it as true or false."""
        if not isinstance(self.value, bool):
            self.refuse(f"say true or false, not {_shown(self.value)}")
        return self.value


def read(octets: bytes, name: str, error: type[ValueError], limit: int) -> TomlValue:
    """
    Read a TOML text of at most *limit* octets; *name* and *error* are for what is wrong in it.

    What is too large, not UTF-8 or not TOML is refused in one line.
    """
    if len(octets) > limit:
        words = f"it is larger than {limit:,} octets, which is all that is read"
        raise error(f"{name}: {words}; make it smaller")
    try:
        text = octets.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as wrong:
        line = octets.count(b"\n", 0, wrong.start) + 1
        raise error(f"{name}, line {line}: this is not UTF-8; save the file as that") from None
    for number, written in enumerate(text.split("\n"), 1):
        if written.count(".") > DEEPEST:
            if any(len(_DOT.findall(part)) > DEEPEST for part in _NO_KEY.split(written)):
                words = f"more than {DEEPEST} names with dots between them; make it plainer"
                raise error(f"{name}, line {number}: {words}")
    try:
        return TomlValue(tomllib.loads(text), name, error, written_at(text))
    except tomllib.TOMLDecodeError as wrong:
        why, _, where = str(wrong).partition(" (at ")
        numbers = re.search(r"line (\d+), column (\d+)", where)
        at = f", line {numbers[1]}, column {numbers[2]}" if numbers else ""
        end = f", line {text.count(chr(10)) + 1}" if "end of document" in where else at
        raise error(f"{name}{end}: this is no TOML: {why}; correct it there") from None
    except (RecursionError, ValueError):  # depth, or a number or date that nothing can hold
        raise error(f"{name}: this is no TOML that settings are made of; make it plainer") from None


def written_at(text: str) -> dict[Path, int]:
    """Return the line of every table, key and part of a list in a text that is TOML."""
    return _Lines(text).found


class _Lines:
    """One walk over a text that is known to be TOML, which notes where things stand."""

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
        """Go past what a pattern matches here, and return it."""
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
        """Go past a key with its dots, and return its names."""
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
        """Go past `[a.b]` or `[[a.b]]`, and return the table it opens."""
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
        """Go past `key = value`, and note both."""
        start = self._at
        names = self._key()
        after, self._at = self._at, start
        for end in range(1, len(names) + 1):
            self._note((*table, *names[:end]))
        self._at = after + 1  # the equals sign
        self._skip(_BLANK)
        self._value((*table, *names))

    def _value(self, path: Path) -> None:
        """Go past a value; of a list and of a table in braces, note every part."""
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
    """Return the name that was probably meant, or all there are."""
    likely = get_close_matches(name, known, 1)
    return f"; did you mean {likely[0]}?" if likely else f". Known: {', '.join(known)}"


def _shown(value: Any) -> str:
    """Return a value as it would be written, cut where it is long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= 60 else f"{text[:57]}…"


def _shown_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _shown(key)
