"""
Names: the records that are known, and which of them a misspelt name is near to.

RFC 9309 §2.2.4 welcomes records that nobody knows, so only what is one or two slips away from a
known name is taken for it. It does not know what any record means.
"""

from __future__ import annotations

import re

from robotrules import extensions
from robotrules.profile import MORE_SPELLINGS

PROTOCOL = ("User-agent", "Disallow", "Allow", "Sitemap")
KNOWN = {name.lower(): name for name in (*PROTOCOL, *(one.key for one in extensions.ALL))}
# Names that are near to another one, or so short that much is near to them.
_NOT_GUESSED = frozenset({"host", "domain", "license", "noindex", "nofollow", "noarchive"})
_TARGETS = tuple(name for name in KNOWN if name not in _NOT_GUESSED)
_SPELLINGS = dict(MORE_SPELLINGS)
# Longer ones are no slip of a record's name.
LONGEST = 24
_JUNK = re.compile(r"^[^a-z]+|[^a-z]+$")
_GAPS = re.compile(r"[ \t_.-]+")
_CLOSED = {_GAPS.sub("", name): name for name in _TARGETS}


def meant(key: str) -> str | None:
    """Return the known record that a name in lower case is a slip of, as it is written best."""
    if key in KNOWN or not 3 <= len(key) <= LONGEST or not key.isascii():
        return None
    plain = _JUNK.sub("", key)
    if plain in KNOWN and plain not in _NOT_GUESSED:
        return KNOWN[plain]
    closed = _SPELLINGS.get(plain) or _CLOSED.get(_GAPS.sub("", plain))
    if closed:
        return KNOWN[closed]
    if len(plain) < 4:
        return None
    near = [(_slips(plain, name), name) for name in _TARGETS if _may_be_near(plain, name)]
    best = min(near, default=(9, ""))
    return KNOWN[best[1]] if best[0] <= _allowed(best[1]) else None


def _allowed(name: str) -> int:
    """Return how many slips a name bears: a short one soon is another word."""
    return 1 if len(name) < 8 else 2


def _may_be_near(one: str, name: str) -> bool:
    slips = _allowed(name)
    return abs(len(one) - len(name)) <= slips and len(set(one) ^ set(name)) <= 2 * slips


def _slips(one: str, other: str) -> int:
    """Return how many letters are missing, too many, wrong or swapped with the next."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for above, letter in enumerate(one, 1):
        now = [above]
        for beside, wanted in enumerate(other, 1):
            cost = min(last[beside] + 1, now[-1] + 1, last[beside - 1] + (letter != wanted))
            swapped = above > 1 and beside > 1 and letter == other[beside - 2]
            if swapped and one[above - 2] == wanted:
                cost = min(cost, before[beside - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]
