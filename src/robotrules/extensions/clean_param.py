"""
Clean-param: query parameters that do not change a page (Yandex; REC-clean-param-01).

File scope, `p0[&p1...] [path]`. `clean_url()` removes them from a URL, so that two URLs of one page
become one. Names and paths are case-sensitive. A path is a prefix that may contain `*`; it is
matched like allow and disallow patterns. Several records add up.

It does not change verdicts: check the URL that is fetched. It does not verify that a parameter
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, AnyStr, NamedTuple
from urllib.parse import unquote_to_bytes

from robotrules._engine.url_type import url_type_error
from robotrules.extensions import require_robots_txt
from robotrules.extensions.codes import note
from robotrules.extensions.scoped import is_usable, profile_of
from robotrules.octets import to_octets, to_text
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import get_engine
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Note, Record

EXTENSION = Extension(
    "Clean-param",
    (),
    Role.OTHER,
    "file",
    "https://yandex.com/support/webmaster/robot-workings/clean-param.html",
)
# Yandex reads records of up to 500 characters. The limit of the file is enough here (§2.5).


class CleanParam(NamedTuple):
    """Query parameters that do not change pages below a path."""

    parameters: tuple[str, ...]
    path: str | None
    """Their path pattern, with a leading `/` or `*`; None: all paths."""
    record: Record

    @property
    def line(self) -> int:
        """The line it is written in."""
        return self.record.line

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"parameters": list(self.parameters), "path": self.path, "line": self.line}


class CleanParams:
    """The Clean-param records of one file, compiled. Immutable; share it between threads."""

    __slots__ = ("_everywhere", "_known", "_records", "_rules", "_scoped")

    def __init__(self, robots: RobotsTxt) -> None:
        self._records = tuple(part for part in _read(robots) if isinstance(part, CleanParam))
        everywhere: set[bytes] = set()
        scoped: dict[bytes, set[bytes]] = {}
        for clean_param in self._records:
            fields = clean_param.record.value.split()
            names = everywhere if len(fields) == 1 else scoped.setdefault(_rooted(fields[1]), set())
            names.update(_names(fields[0]))
        self._everywhere = frozenset(everywhere)
        self._scoped = tuple(scoped.values())
        self._known = everywhere.union(*self._scoped)
        self._rules = RuleSet.from_patterns(scoped, profile_of(robots), engine=get_engine(robots))

    @property
    def records(self) -> tuple[CleanParam, ...]:
        """The records that count, in the order of the file."""
        return self._records

    def clean(self, url: AnyStr) -> AnyStr:
        """
        Return a URL without the parameters that change nothing there.

        Everything else is unchanged: order, escapes, fragment. The `?` is removed with the last
        parameter. Cleaning is idempotent.
        """
        if isinstance(url, bytes):
            return self.clean(url.decode("utf-8", "surrogateescape")).encode(
                "utf-8", "surrogateescape"
            )
        if not isinstance(url, str):
            raise url_type_error(url)
        before, hash_sign, fragment = url.partition("#")
        path, question_mark, query = before.partition("?")
        if not question_mark or not self._known:
            return url
        pieces = [(piece, _form(piece.partition("=")[0])) for piece in query.split("&")]
        # The matcher is called only for URLs with one of these parameters.
        if self._known.isdisjoint(form for _, form in pieces):
            return url
        dropped = self._at(path)
        kept = [piece for piece, form in pieces if form not in dropped]
        if len(kept) == len(pieces):
            return url
        rest = "&".join(kept)
        return f"{path}{'?' if rest else ''}{rest}{hash_sign}{fragment}"

    def clean_many(self, urls: Iterable[AnyStr]) -> list[AnyStr]:
        """Return many URLs, each cleaned."""
        if isinstance(urls, (str, bytes)):
            raise TypeError(f"urls must be a list of str or bytes: pass [{urls!r}]")
        return [self.clean(url) for url in urls]

    def _at(self, path: str) -> frozenset[bytes]:
        # Only the path of a URL is matched. If patterns matched the query, cleaning would not be
        # idempotent, because it changes the query.
        _, matches = self._rules.matches(path)
        return self._everywhere.union(*(self._scoped[position] for position, _ in matches))

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        return f"<CleanParams: {len(self)} records, {len(self._known)} parameters>"


def clean_params(robots: RobotsTxt) -> CleanParams:
    """Return the Clean-param records of a file, compiled for many URLs."""
    require_robots_txt(robots)
    return CleanParams(robots)


def clean_url(robots: RobotsTxt, url: AnyStr) -> AnyStr:
    """Return a URL without the query parameters that the site says change nothing there."""
    require_robots_txt(robots)
    return CleanParams(robots).clean(url)


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield notes on the Clean-param records of a file."""
    return (part for part in _read(robots) if isinstance(part, Note))


def _read(robots: RobotsTxt) -> Iterator[CleanParam | Note]:
    for record in robots.records:
        if record.key != "clean-param":
            continue
        fields = record.value.split()
        names = [name for name in fields[0].split(b"&") if name] if fields else []
        if not names:
            yield note("bad-clean-param", record)
        elif len(fields) > 2 or (fields[1:] and not _is_path(fields[1], robots)):
            # Two paths, a query, a URL. A guess could merge pages that differ.
            paths = record.value.split(None, 1)[1]
            yield note("unusable-path", record, record.end - len(paths))
        else:
            path = to_text(_rooted(fields[1])) if fields[1:] else None
            yield CleanParam(tuple(map(to_text, names)), path, record)


def _is_path(path: bytes, robots: RobotsTxt) -> bool:
    return b"?" not in path and b"://" not in path and is_usable(_rooted(path), robots)


def _rooted(path: bytes) -> bytes:
    """Return a path pattern with a leading `/` for the matcher: `catalog/` means `/catalog/`."""
    return path if path.startswith((b"/", b"*")) else b"/" + path


def _names(field: bytes) -> Iterator[bytes]:
    return (unquote_to_bytes(name) for name in field.split(b"&") if name)


def _form(name: str) -> bytes:
    """Return a parameter's name without escapes, for comparison."""
    octets = to_octets(name)
    return unquote_to_bytes(octets) if b"%" in octets else octets
