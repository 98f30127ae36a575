"""
Record names: the known records, and the known name that a misspelt name is closest to.

RFC 9309 §2.2.4 allows unknown records, so only a name within an edit distance of one or two from a
known name counts as a misspelling. This module does not know what the records mean.
"""

from __future__ import annotations

import re

from robotrules import extensions
from robotrules.profile import MORE_SPELLINGS

PROTOCOL = ("User-agent", "Disallow", "Allow", "Sitemap")
KNOWN = {name.lower(): name for name in (*PROTOCOL, *(known.key for known in extensions.ALL))}
# Names that are close to another name, or so short that many words are close to them.
_NOT_GUESSED = frozenset({"host", "domain", "license", "noindex", "nofollow", "noarchive"})
_TARGETS = tuple(name for name in KNOWN if name not in _NOT_GUESSED)
_SPELLINGS = dict(MORE_SPELLINGS)
# A longer name is not a misspelling of a record's name.
LONGEST_NAME = 24
_JUNK = re.compile(r"^[^a-z]+|[^a-z]+$")
_GAPS = re.compile(r"[ \t_.-]+")
_JOINED = {_GAPS.sub("", name): name for name in _TARGETS}


def guess_record_name(key: str) -> str | None:
    """Return the known record that a name in lower case misspells, in its usual spelling."""
    if key in KNOWN or not 3 <= len(key) <= LONGEST_NAME or not key.isascii():
        return None
    plain = _JUNK.sub("", key)
    if plain in KNOWN and plain not in _NOT_GUESSED:
        return KNOWN[plain]
    joined = _SPELLINGS.get(plain) or _JOINED.get(_GAPS.sub("", plain))
    if joined:
        return KNOWN[joined]
    if len(plain) < 4:
        return None
    close = [(_edit_distance(plain, name), name) for name in _TARGETS if _may_be_close(plain, name)]
    distance, name = min(close, default=(9, ""))
    return KNOWN[name] if distance <= _max_distance(name) else None


def _max_distance(name: str) -> int:
    """Return the edit distance within which a word is a misspelling; short names allow less."""
    return 1 if len(name) < 8 else 2


def _may_be_close(word: str, name: str) -> bool:
    """Return whether the edit distance may be small enough, by length and letters alone."""
    most = _max_distance(name)
    return abs(len(word) - len(name)) <= most and len(set(word) ^ set(name)) <= 2 * most


def _edit_distance(word: str, other: str) -> int:
    """Return the Damerau-Levenshtein distance (optimal string alignment) of two words."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(word, 1):
        current = [row]
        for column, expected in enumerate(other, 1):
            substituted = last[column - 1] + (letter != expected)
            cost = min(last[column] + 1, current[-1] + 1, substituted)
            swapped = row > 1 and column > 1 and letter == other[column - 2]
            if swapped and word[row - 2] == expected:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, last = last, current
    return last[-1]
