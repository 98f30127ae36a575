"""
Hypothesis strategies for hostile robots.txt files, URLs, product tokens and profiles.

The vocabulary is that of `fuzz/generator.py`. Files are made of records, not of octets, so most
of them have an effect; URLs are made of the patterns of their file, so that most of them match or
nearly match.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from fuzz import generator
from hypothesis import strategies as st

from robotrules.profile import MORE_SPELLINGS, PROFILES, Profile

# Parts of patterns that attack an index: few words that share prefixes and n-grams, pieces shorter
# than an n-gram, n-grams that repeat, literals with `$`, only wildcards.
SHARED = (
    *("a", "b", "ab", "abc", "abcd", "aaaa", "aaaaaaaa", "abab", "shop", "shopping", "/", "//"),
    *(
        "*",
        "**",
        "*a",
        "*a*",
        "*/",
        "*?",
        "*=",
        "*&",
        "*.",
        "?",
        "=",
        "&",
        "%2F",
        "%61",
        "é",
        ".gif",
    ),
)


def join(parts: st.SearchStrategy[bytes], most: int) -> st.SearchStrategy[bytes]:
    """Return up to *most* parts in a row."""
    return st.lists(parts, max_size=most).map(b"".join)


pieces = st.sampled_from(generator.PIECES)
values = join(pieces, 6)
patterns: st.SearchStrategy[bytes] = st.tuples(
    st.sampled_from([b"/", b"/", b"/", b"*", b"/*", b""]),
    values,
    st.sampled_from([b"", b"", b"", b"$", b"*", b"*$"]),
).map(b"".join)
tokens = st.sampled_from(generator.TOKENS)
good_tokens = st.sampled_from(["a", "A", "b", "ExampleBot", "a-b_c"])


@st.composite
def urls(draw: st.DrawFn, near: st.SearchStrategy[bytes] = patterns) -> bytes:
    """Draw a URL that a pattern of *near* matches or nearly matches."""
    value = draw(near)
    gaps = value.removesuffix(b"$").split(b"*")
    path = gaps[0]
    for gap in gaps[1:]:
        path += draw(join(pieces, 2)) + gap
    path += draw(st.sampled_from([b"", b"", b"", b"x", b"/", b"?", b"$"]))
    if draw(st.integers(0, 3)) == 0:
        random = Random(draw(st.integers(0, 2**32)))
        path = generator.respell(random, path)
    return draw(st.sampled_from(generator.PREFIXES)) + path


@st.composite
def lines(draw: st.DrawFn, values: st.SearchStrategy[bytes]) -> bytes:
    """Draw one line with or without a record, without a terminator."""
    key = draw(st.sampled_from(generator.KEYS))
    usual = draw(st.integers(0, 5)) > 0
    separator = draw(st.sampled_from([b":", b": "] if usual else generator.SEPARATORS))
    names = b"agent" in key.lower() or key == b"Purpose"
    value = draw(st.sampled_from(generator.USER_AGENTS) if names else values)
    return key + separator + value + draw(st.sampled_from(generator.COMMENTS))


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """Draw a robots.txt and the patterns it is made of."""
    known = draw(st.lists(patterns, min_size=1, max_size=4))
    drawn = draw(st.lists(lines(st.sampled_from(known) | patterns), max_size=10))
    if draw(st.integers(0, 3)):
        agent = draw(st.sampled_from([b"User-agent: *", b"User-agent: a"]))
        drawn.insert(draw(st.integers(0, len(drawn))), agent)
    usual = draw(st.sampled_from(generator.TERMINATORS[:3]))
    body = b""
    for line in drawn:
        odd = draw(st.integers(0, 9)) == 0
        body += line + (draw(st.sampled_from(generator.TERMINATORS)) if odd else usual)
    if draw(st.booleans()):
        body = body.removesuffix(usual)
    if draw(st.integers(0, 19)) == 0:
        mark, codec = draw(st.sampled_from(generator.UTF16))
        return mark + body.decode("latin-1").encode(codec), known
    return draw(st.sampled_from(generator.BOMS)) + body, known


bodies = files().map(lambda found: found[0]) | st.binary(max_size=60)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Draw a named profile, or a variant with other switches, tables and limits."""
    base = PROFILES[draw(st.sampled_from(["default", "google", "strict"]))]
    if draw(st.booleans()):
        return base
    chosen = draw(st.lists(st.sampled_from(generator.SWITCHES), unique=True, max_size=8))
    changes: dict[str, Any] = {name: not getattr(base, name) for name in chosen}
    if draw(st.integers(0, 3)) == 0:
        changes["extensions"] = generator.EXTENSIONS
    if draw(st.integers(0, 3)) == 0:
        changes["spellings"] = MORE_SPELLINGS
    if draw(st.integers(0, 3)) == 0:
        changes["max_line"] = draw(st.integers(1, 40))
    return base.replace(**changes)


@st.composite
def cases(draw: st.DrawFn) -> generator.Case:
    """Draw a file, a URL near its patterns and a token; the profile is drawn separately."""
    body, known = draw(files())
    octets = draw(urls(st.sampled_from(known)))
    url = octets.decode("utf-8", "surrogateescape") if draw(st.booleans()) else octets
    return generator.Case(body, url, draw(tokens), complete=draw(st.integers(0, 9)) > 0)


# --- Rule sets that attack an index ---------------------------------------------------------------

shared_patterns = st.lists(st.sampled_from(SHARED), min_size=0, max_size=5).map(
    lambda parts: ("/" + "".join(parts)).encode()
)


@st.composite
def large_rules(
    draw: st.DrawFn, least: int = 130, most: int = 160
) -> tuple[list[tuple[bytes, bool]], list[bytes]]:
    """Draw many rules whose patterns share words, and URLs near them."""
    random = Random(draw(st.integers(0, 2**32)))
    words: Callable[[], str] = lambda: random.choice(SHARED)  # noqa: E731
    few = [words() for _ in range(draw(st.integers(1, 4)))]
    found = []
    for _ in range(draw(st.integers(least, most))):
        count = random.randint(0, 4)
        parts = [random.choice(few) if random.random() < 0.5 else words() for _ in range(count)]
        end = random.choice(["", "", "", "$", "*", "*$", "**"])
        first = random.choice(["/", "/", "/", "/*", "*"])
        found.append(((first + "".join(parts) + end).encode(), random.random() < 0.5))
    asked = []
    for _ in range(12):
        value, _ = random.choice(found)
        path = value.decode().removesuffix("$")
        while "*" in path:
            path = path.replace("*", random.choice(["", "a", "x/", "?b=", "&", words()]), 1)
            if len(path) > 200:
                path = path.replace("*", "")
        asked.append((path + random.choice(["", "", "a", "/", "?x"])).encode())
    return found, asked


# Line ends of files.
ENDS = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n", b""])


@st.composite
def odd_files(
    draw: st.DrawFn, odd: st.SearchStrategy[bytes], marks: st.SearchStrategy[bytes]
) -> bytes:
    """Draw a file of odd and usual lines, which may start with a mark."""
    found = draw(st.lists(st.tuples(odd | lines(patterns), ENDS), max_size=12))
    return draw(marks) + b"".join(line + end for line, end in found)
