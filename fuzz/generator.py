"""
Generator of hostile robots.txt files, URLs and profiles: a vocabulary, and a mutator of octets.

All choices come from `random.Random`, so that a seed always produces the same case. The property
tests share the vocabulary. It does not check results: the targets do.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from robotrules.errors import ProductTokenError
from robotrules.profile import MORE_SPELLINGS, PROFILES, STRICT, Extension, Profile, Role
from robotrules.robotstxt.tokens import vet_name

# Record names in unusual case, spelling and whitespace. The last ones are longer than sixteen
# octets, for which the native engine has a separate lookup.
KEYS = (
    *(b"User-agent", b"user-agent", b"USER-AGENT", b"uSeR-aGeNt", b" User-agent\t", b"Useragent"),
    *(b"user agent", b"User-agent-purpose", b"user_agent", b"Allow", b"ALLOW", b"allow ", b"Allo"),
    *(b"Disallow", b"disALLOW", b"\tDisallow", b"Dissallow", b"disalow", b"Disallow-foo"),
    *(b"Disallow\xc2\xa0", b"\xef\xbb\xbfDisallow", b"Dis allow", b"Sitemap", b"site-map", b"Host"),
    *(b"Crawl-delay", b"Purpose", b"Usage", b"use", b"Close", b"", b" ", b"\0", b"a\0", b"caf\xe9"),
    *(b"x-sixteen-octets", b"x-seventeen-octet", b"x-name-that-is-long", b"<html>", b"Allow\v"),
)
SEPARATORS = (b":", b": ", b" : ", b"\t:\t", b" ", b"\t \t", b"", b"::", b"\v:\f", b":\0", b"=")
TERMINATORS = (b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b"\r\r\n", b"\v", b"\xc2\x85", b"")
COMMENTS = (b"", b"", b"", b" # c", b"#", b"#\0", b" ## Allow: /", b"\t#\xff")
USER_AGENTS = (
    *(b"*", b"a", b"A", b"b", b"ExampleBot", b"examplebot", b"EXAMPLEBOT/1.0", b"ExampleBot text"),
    *(b"* text", b"*\ttext", b"*\vtext", b"*a", b"a*", b"**", b"MJ12bot", b"360Spider", b"a,b"),
    *(b"a , b", b"b,*", b",", b"*, a", b", * x", b"", b"-", b"_", b"a-b_c", b"caf\xc3\xa9"),
    *(b"\xc2\xa0", b"\xe3\x80\x80", b"\xe2\x80\x83", b"\xc2\x85", b"\v", b"\x1c"),
    *(b"caf\xe9", b"a\0b", b"a\x01", b"a\x7f", b"\xe2\x84\xaaite", b"a.b", b"a:b", b"a  ", b"A\v"),
)
TOKENS = (
    *("*", "a", "A", "b", "ExampleBot", "mj", "MJ12bot", "360Spider", "a-b_c", "a,b", "kite"),
    *("café", "caf", "caf\udce9", "* text", "a b", "-", "nobody"),
)
# The pieces of patterns and URLs: delimiters, wildcards, complete and broken escapes, UTF-8,
# Latin-1, controls, dot segments, and repeated words, so that patterns match.
PIECES = (
    *(b"/", b"/", b"/", b"a", b"b", b"ab", b"aab", b"abab", b"c.gif", b"index.html", b"index.htm"),
    *(b"*", b"*", b"*", b"$", b"$", b"?", b"?", b"=", b"&", b"/*/", b"*/", b"*?", b"*=", b"*&"),
    *(b"*a*", b"**", b"*$", b"%2F", b"%2f", b"%61", b"%41", b"%", b"%4", b"%zz", b"%%41", b"%2A"),
    *(b"%24", b"%3F", b"%3d", b"%26", b"%23", b"%00", b"%25", b"%C3%A9", b"%e9", b"\xc3\xa9"),
    *(b"\xe9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf0\x9f\x8d\xb0", b" ", b"\t", b".", b"..", b"/."),
    *(b"/./", b"/../", b"/..", b"%2e", b"%2E%2e", b"//", b";", b":", b"://", b"http://", b"~"),
    *(b"-", b"_", b"+", b"@", b"!", b'"', b"^", b"|", b"\\", b"\x7f", b"\x01", b"\0", b"\v"),
    *(b"robots.txt", b"?a=1&b=2", b"x=http://y", b"longer-words-", b"A", b"0"),
)
PREFIXES = (
    *(b"", b"", b"", b"https://example.com", b"http://example.com:80", b"//example.com"),
    *(b"ftp://a@b", b"HTTPS://e", b"http:", b"x:", b"https:///", b"://", b"a:b://c", b"e.example"),
    *(b"https://e?", b"https://e#", b";", b"https://e;x", b"\0", b"https://\xc3\xa9"),
)
BOMS = (b"",) * 8 + (
    b"\xef\xbb\xbf",
    b"\xef\xbb",
    b"\xef",
    b"\xef\xbb\xbf\xef\xbb\xbf",
    b"\xef\x11",
)
UTF16 = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))

SWITCHES = tuple(name for name, value in STRICT._asdict().items() if value is False)
EXTENSIONS = (
    Extension("Purpose", ("user-agent-purpose",), Role.START, "group", "a test"),
    Extension("Usage", ("use",), Role.OTHER, "group", "a test"),
    Extension("Close", (), Role.RULE, "group", "a test"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """An input: a file, a profile, a product token and a URL."""

    body: bytes
    url: str | bytes = "/"
    token: str = "a"
    base: str = "default"
    changes: tuple[tuple[str, Any], ...] = ()
    """The differences from the profile named *base*."""
    complete: bool = True

    def profile(self) -> Profile:
        """Return the profile to parse the file with."""
        named = {"extensions": EXTENSIONS, "spellings": MORE_SPELLINGS}
        changes = {name: named.get(name, value) for name, value in self.changes}
        return PROFILES[self.base].replace(**changes) if changes else PROFILES[self.base]

    def is_askable(self, profile: Profile | None = None) -> bool:
        """Tell whether the token is valid under a profile; others are misuse."""
        try:
            vet_name(self.token, profile or self.profile())
        except ProductTokenError:
            return False
        return True

    def dump(self, **more: str) -> str:
        """Return the case as JSON, for `regressions/`."""
        url = self.url
        values = {
            **more,
            "body": base64.b64encode(self.body).decode(),
            "url": url if isinstance(url, str) else {"base64": base64.b64encode(url).decode()},
            "token": self.token,
            "profile": {"base": self.base, **dict(self.changes)},
            "complete": self.complete,
        }
        return json.dumps(values, indent=2) + "\n"

    @staticmethod
    def load(text: str) -> Case:
        """Return the case that `dump()` wrote."""
        values = json.loads(text)
        profile, url = dict(values["profile"]), values["url"]
        return Case(
            base64.b64decode(values["body"]),
            url if isinstance(url, str) else base64.b64decode(url["base64"]),
            values["token"],
            profile.pop("base"),
            tuple(profile.items()),
            values["complete"],
        )


def pieces(random: Random, most: int = 6) -> bytes:
    """Return a few pieces, concatenated."""
    return b"".join(random.choices(PIECES, k=random.randint(0, most)))


def pattern(random: Random) -> bytes:
    """Return a path pattern; most of them follow the grammar."""
    first = random.choice((b"/", b"/", b"/", b"/", b"*", b"", b"/*"))
    return first + pieces(random) + random.choice((b"", b"", b"", b"$", b"*", b"*$"))


def url_from(random: Random, value: bytes) -> bytes:
    """Return a URL that the pattern *value* matches, or almost matches."""
    filled = b"".join(
        pieces(random, 2) if octet == b"*" else octet
        for octet in (value[at : at + 1] for at in range(len(value)))
    )
    path = filled.removesuffix(b"$") + random.choice((b"", b"", pieces(random, 2)))
    for _ in range(random.choice((0, 0, 1, 1, 2, 4))):
        path = respell(random, path)
    return random.choice(PREFIXES) + path


def respell(random: Random, path: bytes) -> bytes:
    """Change one octet of a path: encode it, decode it, replace it, drop it."""
    if not path:
        return random.choice(PIECES)
    at = random.randrange(len(path))
    octet, escape = path[at : at + 1], b"%%%02x" % path[at]
    change = random.choice((escape, escape, escape.upper(), b"", octet * 2, random.choice(PIECES)))
    return path[:at] + change + path[at + 1 :]


def line(random: Random, values: Sequence[bytes]) -> bytes:
    """Return one line of a file, without a terminator."""
    if random.random() < 0.08:
        return pieces(random, 8)  # not a record, or an unusual one
    key = random.choice(KEYS)
    separator = random.choice((b":", b": ", b": ", b": ", random.choice(SEPARATORS)))
    name = key.strip().lower()
    if b"agent" in name or name == b"purpose":
        value = random.choice(USER_AGENTS)
    else:
        value = random.choice(values) if values and random.random() < 0.7 else pattern(random)
    return key + separator + value + random.choice(COMMENTS)


def file(random: Random) -> tuple[bytes, list[bytes]]:
    """Return a robots.txt and its patterns."""
    large = random.random() < 0.1
    patterns = [pattern(random) for _ in range(random.randint(60, 150) if large else 5)]
    if large:
        keys = (b"Allow: ", b"Disallow: ")
        lines = [b"User-agent: " + random.choice(USER_AGENTS)]
        lines += [random.choice(keys) + value for value in patterns]
    else:
        lines = [line(random, patterns) for _ in range(random.randint(0, 12))]
        if random.random() < 0.7:
            lines.insert(random.randint(0, min(2, len(lines))), b"User-agent: *")
    usual = random.choice(TERMINATORS[:3])
    body = b"".join(
        part + (usual if random.random() < 0.9 else random.choice(TERMINATORS)) for part in lines
    )
    if random.random() < 0.2:
        body = body[: len(body) - random.randint(0, 2)]
    if random.random() < 0.05:
        mark, codec = random.choice(UTF16)
        return mark + body.decode("latin-1").encode(codec), patterns
    return random.choice(BOMS) + body, patterns


def mutate(random: Random, body: bytes, times: int | None = None) -> bytes:
    """Change a few octets at random positions: flip, drop, double, insert, move."""
    changed = bytearray(body)
    for _ in range(times or random.choice((1, 1, 2, 4, 8))):
        start = random.randint(0, len(changed))
        end = min(len(changed), start + random.choice((1, 1, 2, 5, 20)))
        match random.randrange(6):
            case 0 if changed:
                changed[start % len(changed)] = random.randrange(256)
            case 1:
                del changed[start:end]
            case 2:
                changed[start:start] = changed[start:end]
            case 3:
                changed[start:start] = random.choice(PIECES + TERMINATORS + SEPARATORS)
            case 4:
                changed[start:start] = random.choice(KEYS) + b": " + random.choice(PIECES)
            case _:
                changed[start:end] = bytes(random.choices(b"\0\r\n#:*$%/ \xef\xff\xfe", k=2))
    return bytes(changed)


def changes(random: Random) -> tuple[tuple[str, Any], ...]:
    """Return differences from a named profile: none, or any switches."""
    if random.random() < 0.6:
        return ()
    chosen = random.sample(SWITCHES, k=random.choice((1, 1, 2, 3, len(SWITCHES))))
    found: list[tuple[str, Any]] = [(name, random.random() < 0.6) for name in chosen]
    if random.random() < 0.3:
        found.append(("extensions", True))
    if random.random() < 0.3:
        found.append(("spellings", True))
    if random.random() < 0.3:
        found.append(("max_line", random.choice((1, 3, 10, 20, 40))))
    return tuple(found)


def generate_case(random: Random, seeds: Sequence[bytes] = ()) -> Case:
    """Return a case; *seeds* are files that some cases start from."""
    if seeds and random.random() < 0.3:
        body = random.choice(seeds)
        patterns = [text.split(b":", 1)[-1].strip() for text in body.split(b"\n")][:50]
    else:
        body, patterns = file(random)
    if random.random() < 0.4:
        body = mutate(random, body)
    value = random.choice(patterns) if patterns and random.random() < 0.85 else pattern(random)
    octets = url_from(random, value)
    url = octets.decode("utf-8", "surrogateescape") if random.random() < 0.5 else octets
    base = random.choice(("default", "default", "google", "strict"))
    token = random.choice(TOKENS)
    return Case(body, url, token, base, changes(random), random.random() < 0.9)
