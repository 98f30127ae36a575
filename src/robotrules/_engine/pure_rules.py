"""
RFC 9309 §2.2.2 and §2.2.3 in plain Python: the matching half of the pure engine.

The percent-encoding normal form of URLs and path patterns, the match of a pattern with a path, and
the most specific match of a rule set. It corresponds to `normalize.rs`, `url_path.rs`, `pattern.rs`
and `ruleset.rs` of the native engine. A decision is linear in the rules: there is no index. It does
not parse lines, records or groups: `pure.py` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from robotrules._engine.pure_settings import Note, Settings, faults
from robotrules._engine.url_type import url_type_error

NO_MATCH, IMPLICIT = -1, -2


# --- The normal form (§2.2.2; RFC 3986 §2, §5.2.4, §6.2.2) ----------------------------------------

UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
PATH, QUERY, EITHER = "path", "query", "either"
# Delimiters are kept in the part that they delimit; elsewhere they are data and are escaped
# (AMB-33). After a `*` the part is unknown, so that all of them are kept.
DELIMITERS = {PATH: b"/?", QUERY: b"=&", EITHER: b"/?=&"}


def normalize(octets: bytes, part: str) -> tuple[bytes, str]:
    """Return the normal form of *octets*, and the part at their end."""
    form = bytearray()
    for found in re.finditer(rb"%([0-9A-Fa-f]{2})|(.)", octets, re.DOTALL):
        octet = int(found[1], 16) if found[1] else found[2][0]
        if octet in UNRESERVED or (not found[1] and octet in DELIMITERS[part]):
            form.append(octet)
            if octet == ord("?"):
                part = QUERY
        else:
            form += b"%%%02X" % octet
    return bytes(form), part


def normalize_minimal(octets: bytes) -> bytes:
    """Return the form of google/robotstxt: hex in upper case, octets above ASCII escaped."""
    octets = re.sub(rb"%[0-9A-Fa-f]{2}", lambda found: found[0].upper(), octets)
    return re.sub(rb"[\x80-\xff]", lambda found: b"%%%02X" % found[0][0], octets)


def is_as_given(settings: Settings) -> bool:
    """Tell whether paths are compared as they are written in the URL (AMB-46)."""
    return "url_as_given" in settings.switches


def path(url: bytes, settings: Settings) -> bytes:
    """Return path and query of a URL in normal form, or as given."""
    if is_as_given(settings):
        return path_as_given(url)
    # [scheme:]//authority, then path and query, then a fragment, which is not compared.
    found = re.match(rb"(?:[^/?#]*:)?//[^/?#]*|[^/?#]*", url)
    rest = url[found.end() if found else 0 :].split(b"#", 1)[0]
    form, _ = normalize(rest if rest.startswith(b"/") else b"/" + rest, PATH)
    before, mark, query = form.partition(b"?")
    return remove_dot_segments(before) + mark + query


def remove_dot_segments(before: bytes) -> bytes:
    """RFC 3986 §5.2.4, for a path that starts with `/`."""
    segments = before.split(b"/")[1:]
    kept: list[bytes] = []
    for segment in segments:
        if segment == b"..":
            del kept[-1:]
        elif segment != b".":
            kept.append(segment)
    if segments[-1] in (b".", b".."):
        kept.append(b"")  # a dot segment at the end keeps its slash
    return b"/" + b"/".join(kept)


def path_as_given(url: bytes) -> bytes:
    """Return the path as google/robotstxt extracts it: `;` starts a path too, no encoding."""
    first = 2 if url.startswith(b"//") else 0
    early = re.search(rb"[/?;]", url[first:])
    scheme = url.find(b"://", first)
    authority = scheme + 3 if scheme >= 0 else first
    if early and first + early.start() < scheme:
        authority = first
    start = re.search(rb"[/?;]", url[authority:])
    fragment = url.find(b"#", first)
    end = fragment if fragment >= 0 else len(url)
    if not start or end < authority + start.start():
        return b"/"
    given = url[authority + start.start() : end].split(b"\0", 1)[0]
    return given if given.startswith(b"/") else b"/" + given


# --- Units (AMB-43) -------------------------------------------------------------------------------

# An escape; or an incomplete escape at the end of a pattern, which is compared as written.
ESCAPE = re.compile(rb"%(?:[0-9A-F]{2}|[0-9A-Fa-f]\Z)")
# Translation tables that set and clear the highest bit, which no octet of a normal form has.
SET_DIGIT_BIT = bytes(octet | 0x80 for octet in range(256))
CLEAR_DIGIT_BIT = bytes(octet & 0x7F for octet in range(256))


def has_units(settings: Settings) -> bool:
    """
    Tell whether an escape is one unit: `*`, `$` and the end of a prefix never match inside it.

    A path as given has no normal form, so that `%` and two digits need not be an escape.
    """
    return not is_as_given(settings) and "split_escapes" not in settings.switches


def to_compared(form: bytes, settings: Settings) -> bytes:
    """
    Return a form as it is compared: the digits of escapes have their highest bit set.

    Equal octets are then equal units, and a search for octets never starts or ends in an escape.
    """
    if b"%" not in form or not has_units(settings):
        return form
    return ESCAPE.sub(lambda found: b"%" + found[0][1:].translate(SET_DIGIT_BIT), form)


def to_readable(form: bytes, settings: Settings) -> bytes:
    """Return a compared form without the marks of escape digits."""
    return form.translate(CLEAR_DIGIT_BIT) if has_units(settings) else form


# --- Patterns (§2.2.3) ----------------------------------------------------------------------------


class Pattern:
    """A path pattern, split at its wildcards; `prefix` and `pieces` are in the compared form."""

    def __init__(self, value: bytes, settings: Settings) -> None:
        self._settings = settings
        self.anchored = value.endswith(b"$")  # any other `$` is an ordinary octet (AMB-41)
        prefix, *others = value.removesuffix(b"$").split(b"*")
        minimal = "minimal_encoding" in settings.switches
        form, part = (normalize_minimal(prefix), PATH) if minimal else normalize(prefix, PATH)
        self.prefix = to_compared(form, settings)
        # The literal after each `*`, in the normal form of the path and of the query.
        self.pieces: list[tuple[bytes, bytes]] = []
        forms = [form]
        for piece in others:
            if minimal:
                in_path = in_query = form = normalize_minimal(piece)
            elif part == QUERY:
                in_path = in_query = form = normalize(piece, QUERY)[0]
            else:
                in_path, in_query = normalize(piece, PATH)[0], normalize(piece, QUERY)[0]
                form, part = normalize(piece, EITHER)
            self.pieces.append((to_compared(in_path, settings), to_compared(in_query, settings)))
            forms.append(form)
        self.form = b"*".join(forms) + (b"$" if self.anchored else b"")
        self.octets = len(self.form)  # the specificity: wildcards and `$` count (AMB-38, AMB-39)
        self.match_key = 0  # equal within a rule set for patterns that match the same paths

    def matches(self, path: bytes) -> bool:
        """Match a path in normal form from its first octet (§2.2.2)."""
        return self.matches_compared(to_compared(path, self._settings))

    def matches_compared(self, path: bytes) -> bool:
        """Match a path in the compared form; a leftmost match of each piece is never worse."""
        if not path.startswith(self.prefix):
            return False
        if not self.pieces:
            return not self.anchored or path == self.prefix
        at = len(self.prefix)
        query = path.find(b"?") + 1 or len(path) + 1
        for in_path, in_query in self.pieces[: -1 if self.anchored else None]:
            if in_path == in_query:
                found, piece = path.find(in_path, at), in_path
            else:
                found, piece = path.find(in_path, at, query - 1 + len(in_path)), in_path
                if found < 0 or at >= query:
                    found, piece = path.find(in_query, max(at, query)), in_query
            if found < 0:
                return False
            at = found + len(piece)
        if not self.anchored:
            return True
        in_path, in_query = self.pieces[-1]
        start = len(path) - len(in_path)
        if path.endswith(in_path) and at <= start and (start < query or in_path == in_query):
            return True
        start = len(path) - len(in_query)
        return path.endswith(in_query) and max(at, query) <= start


def pattern_notes(
    value: bytes, allow: bool, line: int, start: int, settings: Settings
) -> Iterator[Note]:
    _, found = faults(value, settings, pattern=True)
    if "control-character" not in found:
        if value[:1] not in (b"", b"/", b"*"):
            found.append("pattern-start")
        if index_page(value, allow, settings):
            found.append("index-page")
    yield from ((code, line, start, start + len(value)) for code in found)


def index_page(value: bytes, allow: bool, settings: Settings) -> bytes | None:
    """Return the pattern of the directory that a rule for its index page also allows (AMB-47)."""
    directory, slash, page = value.rpartition(b"/")
    if "index_page" in settings.switches and allow and slash + page[:9] == b"/index.htm":
        return directory + b"/$"
    return None


# --- The rule set (§2.2.2) ------------------------------------------------------------------------


class Patterns:
    """
    Patterns in order of precedence: the first that matches decides.

    `check()` calls the hook `_make_verdict()` of its subclass: see "Hooks" in `_native.pyi`.
    """

    __slots__ = ("_entries", "_implicit", "_settings", "_verdicts")

    if TYPE_CHECKING:

        def _make_verdict(self, number: int) -> Any:
            """Return the verdict on a decision. A hook: `RuleSet` has it, see `_native.pyi`."""

    def __init__(self, patterns: Sequence[tuple[bytes, bool]], settings: Settings) -> None:
        self._settings = settings
        self._implicit = "match_robots_txt" not in settings.switches
        self._verdicts: dict[int, Any] = {}
        found: list[tuple[Pattern, bool, int]] = []
        for rule, (value, allow) in enumerate(patterns):
            if not value and "empty_rules_match" not in settings.switches:
                continue  # no effect (AMB-42)
            if value and value[:1] not in b"/*":
                continue  # never matches (AMB-03)
            if not faults(value, settings, pattern=True)[0]:
                continue
            found.append((Pattern(value, settings), allow, rule))
            if (directory := index_page(value, allow, settings)) is not None:
                found.append((Pattern(directory, settings), allow, rule))
        # Of patterns that match the same paths one is matched.
        match_keys: dict[tuple[object, ...], int] = {}
        for pattern, _, _ in found:
            key = (pattern.prefix, *pattern.pieces, pattern.anchored)
            pattern.match_key = match_keys.setdefault(key, len(match_keys))
        # Specificity in octets; then allow (AMB-40); then the order of the file.
        self._entries = sorted(found, key=lambda entry: (-entry[0].octets, not entry[1], entry[2]))

    def count_usable(self) -> int:
        return len(self._entries)

    @property
    def as_given(self) -> bool:
        """Whether paths are compared as they are written in the URL (AMB-46)."""
        return is_as_given(self._settings)

    def entries(self) -> Iterator[tuple[Pattern, int, int]]:
        """Yield each pattern that can match, its rule, and the outcome of the rule."""
        if self._implicit:
            yield Pattern(b"/robots.txt$", self._settings), IMPLICIT, 1
        for pattern, allow, rule in self._entries:
            yield pattern, rule, allow if pattern.octets else 3

    def _matching(self, path: bytes) -> Iterator[tuple[Pattern, bool, int]]:
        form = to_compared(path, self._settings)
        results: dict[int, bool] = {}
        for entry in self._entries:
            pattern = entry[0]
            if pattern.match_key not in results:
                results[pattern.match_key] = pattern.matches_compared(form)
            if results[pattern.match_key]:
                yield entry

    def _winner(self, url: str | bytes) -> tuple[int, bool]:
        path_ = path(octets(url), self._settings)
        if path_ == b"/robots.txt" and self._implicit:
            return IMPLICIT, True  # AMB-45
        for pattern, allow, rule in self._matching(path_):
            # The number of the rule, with its outcome in the two lowest bits.
            empty = not pattern.octets
            return rule << 2 | (3 if empty else allow), allow or empty
        return NO_MATCH, True

    def allows(self, url: str | bytes) -> bool:
        return self._winner(url)[1]

    def decide(self, url: str | bytes) -> int:
        return self._winner(url)[0]

    def check(self, url: str | bytes) -> Any:
        return self._cached_verdict(self.decide(url))

    def _cached_verdict(self, number: int) -> Any:
        """Return the verdict on a decision; the subclass makes it once."""
        if number not in self._verdicts:
            self._verdicts[number] = self._make_verdict(number)
        return self._verdicts[number]

    def allows_many(self, urls: Iterable[str | bytes]) -> list[bool]:
        return [self.allows(url) for url in each_url(urls)]

    def decide_many(self, urls: Iterable[str | bytes]) -> list[int]:
        return [self.decide(url) for url in each_url(urls)]

    def check_many(self, urls: Iterable[str | bytes]) -> list[Any]:
        return [self.check(url) for url in each_url(urls)]

    def tied(self, url: str | bytes) -> list[int]:
        """Return the rules that tie for the greatest specificity."""
        _, matches = self.find_matches(url)
        return [rule for rule, octets in matches if octets == matches[0][1]]

    def find_matches(self, url: str | bytes) -> tuple[bytes, list[tuple[int, int]]]:
        """Return the path, and rule and specificity in octets of each match, by precedence."""
        path_ = path(octets(url), self._settings)
        return path_, [(rule, pattern.octets) for pattern, _, rule in self._matching(path_)]


def each_url(urls: Iterable[str | bytes]) -> Iterable[str | bytes]:
    if isinstance(urls, (str, bytes)):
        raise TypeError(
            "many URLs are a list or another iterable, not one str or bytes; pass [url]"
        )
    return map(octets_at, urls, count())


def octets_at(url: str | bytes, position: int) -> bytes:
    """Return the octets of a URL in a batch; an error names its position."""
    try:
        return octets(url)
    except TypeError as error:
        raise TypeError(f"urls[{position}]: {error}") from None


def octets(url: str | bytes) -> bytes:
    if isinstance(url, bytes):
        return url
    if not isinstance(url, str):
        raise url_type_error(url)
    try:
        return url.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return url.encode("utf-8", "surrogatepass")
