"""
Known crawlers: their product tokens, operators, purposes and documentation.

Facts that this project compiled, each with the day of the check; the file is read on first use.
Other crawlers work as well: nothing depends on being listed. It is separate from the four
registries of the drafts, and does not read robots.txt files.

Sections: values · lookup · similar names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from robotrules.robotstxt.tokens import (
    CrawlerNames,
    is_product_token,
    leading_name,
    product_token,
)

# The purposes of crawlers, in display order.
CRAWLER_PURPOSES: dict[str, str] = {
    "search": "Builds the index of a search engine that people use.",
    "ai-search": "Builds an index, or fetches pages, from which an AI product answers and cites.",
    "user-triggered": "Fetches a page because a person requested it.",
    "ai-training": "Collects content to train AI models.",
    "research": "Collects pages for science, for teaching, or for a public data set.",
    "archive": "Keeps copies of pages for the future.",
    "preview": "Makes the preview that a chat, a social network or a search shows for a link.",
    "feed": "Reads feeds that people subscribed to.",
    "shopping": "Collects products and prices.",
    "seo": "Maps links and audits pages for search engine optimization.",
    "ads": "Reads pages to place advertisements, or to check where they lead.",
    "monitoring": "Monitors pages for customers: what they mention, or whether they work.",
    "data": "Collects pages and provides their content as data, or software that does.",
    "in-house": "Serves tests, research or products inside the company that runs it.",
}
# Whether its operator says that it obeys robots.txt.
OBEYS = ("yes", "partly", "no", "not said")
CRAWLER_STATUSES = ("active", "retired")
# No name is longer; longer texts are not compared.
LONGEST_NAME = 64
# How much of a User-Agent header is read, and how many headers are remembered: they come from
# anyone. Headers of crawlers have less than 300 characters.
LONGEST_HEADER, REMEMBERED_HEADERS = 512, 2048
# What precedes a name that is not claimed, and its characters that are looked at.
_LIKE = re.compile(r"\blike\W{1,4}\Z", re.ASCII | re.IGNORECASE)
LONGEST_LIKE = 10
# More comments are not the header of a crawler, and finding the end of each takes time.
MOST_COMMENTS = 16
_COMMON_ENDINGS = ("bot", "spider", "crawler")


# --- Values ---------------------------------------------------------------------------------------


class KnownCrawler(NamedTuple):
    """A known crawler, as its operator documents it."""

    product_token: str
    """Its name in a robots.txt."""
    operator: str
    purposes: tuple[str, ...]
    """Of `CRAWLER_PURPOSES`, the main one first."""
    documentation: str
    """The URL of the operator's page about it; empty if no page is known."""
    checked: str
    """The day on which this was compiled, such as `2026-11-16`."""
    status: str
    """`active`, or `retired`: files name it, but it no longer crawls."""
    remarks: str = ""
    also: tuple[str, ...] = ()
    """Product tokens whose groups it obeys if no group names it, in order of preference."""
    obeys: str = "not said"
    """Whether its operator says that it obeys robots.txt: one of `OBEYS`."""
    is_control: bool = False
    """Whether it fetches nothing: the token controls the use of pages that others fetched."""
    is_main: bool = False
    """Whether it is one of the few most important crawlers."""
    ignores_star: bool = False
    """Whether its operator says that it ignores groups for all crawlers (`*`)."""
    reverse_dns: tuple[str, ...] = ()
    """
    The domains in which its operator says that the names of its addresses end; may be empty.
    """

    @property
    def names(self) -> CrawlerNames:
        """
        All tokens whose groups it obeys, its own first, for use as a product token.

        The first one that a group names decides, under any profile (AMB-30). If no group names any
        of them, a crawler that `ignores_star` obeys no group.
        """
        return CrawlerNames((self.product_token, *self.also), ignores_star=self.ignores_star)

    @property
    def is_valid(self) -> bool:
        """Whether its name is a product token in the grammar of RFC 9309 §2.2.1."""
        return is_product_token(self.product_token)

    @property
    def read_as(self) -> str:
        """The name as a parser that follows the grammar reads it: MJ12bot becomes `MJ`."""
        return leading_name(self.product_token)

    @property
    def written_as(self) -> str:
        """The name for a user-agent line: without the part after a space (AMB-21)."""
        return self.product_token.split()[0]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        names = ("purposes", "also", "reverse_dns", "names")
        lists = {name: list(getattr(self, name)) for name in names}
        return self._asdict() | lists | {"is_valid": self.is_valid, "read_as": self.read_as}

    @property
    def departures(self) -> tuple[str, ...]:
        """How it departs from obeying the group of its name; empty for most."""
        departures = []
        if self.also:
            others = " or else ".join(self.also)
            departures.append(f"obeys the group of {others} where no group names it")
        if self.ignores_star:
            departures.append("ignores groups for '*'")
        elif self.obeys == "partly":
            departures.append("does not always obey robots.txt")
        if self.obeys == "no":
            departures.append("does not obey robots.txt")
        return tuple(departures)

    @property
    def source(self) -> str:
        """The documentation and the day of the check, as text."""
        return f"{self.documentation or 'reported by others'}, checked {self.checked}"

    def short_dict(self) -> dict[str, Any]:
        """Return how it reads a robots.txt as plain values for JSON, with source and day."""
        return {
            "product_token": self.product_token,
            "operator": self.operator,
            "names": list(self.names),
            "ignores_star": self.ignores_star,
            "obeys": self.obeys,
            "documentation": self.documentation,
            "checked": self.checked,
        }


# --- Lookup ---------------------------------------------------------------------------------------


class KnownCrawlers:
    """The known crawlers in the order of their names; lookup is case-insensitive."""

    @cached_property
    def _data(self) -> tuple[str, str, dict[str, KnownCrawler]]:
        # Two threads may both read the file, with the same result.
        from importlib.resources import files

        file = files("robotrules.registries").joinpath("data", "crawlers.json")
        data = json.loads(file.read_bytes())
        crawlers = [_make_crawler(entry) for entry in data["crawlers"]]
        by_name = {crawler.product_token.lower(): crawler for crawler in crawlers}
        return data["checked"], data["source"], by_name

    @property
    def checked(self) -> str:
        """The day on which the list was compiled."""
        return self._data[0]

    @property
    def source(self) -> str:
        """The source of the facts, in a sentence."""
        return self._data[1]

    def get(self, product_token: str) -> KnownCrawler | None:
        """Return the crawler of that name, case-insensitive; None if it is not listed."""
        return self._data[2].get(product_token.lower())

    def with_purposes(self, purposes: Iterable[str]) -> tuple[KnownCrawler, ...]:
        """
        Return the crawlers that have one of these purposes, main or not, in the order of names.

        A crawler cannot be asked to fetch for one of its purposes only, so each of them counts.
        Retired names are included: files that name them lose nothing.
        """
        wanted = frozenset(purposes)
        return tuple(crawler for crawler in self if not wanted.isdisjoint(crawler.purposes))

    def split_by_naming(
        self, purpose: str, names: Collection[str]
    ) -> tuple[tuple[KnownCrawler, ...], tuple[KnownCrawler, ...]]:
        """
        Return the active crawlers with a purpose that a file names, and those that it does not.

        *names* are those of its user-agent lines, in lower case.
        """
        active = [one for one in self.with_purposes([purpose]) if one.status == "active"]
        named = [
            crawler
            for crawler in active
            if crawler.product_token.lower() in names or crawler.written_as.lower() in names
        ]
        return tuple(named), tuple(crawler for crawler in active if crawler not in named)

    @property
    def citation(self) -> str:
        """The list and its date in one line, for a comment in a file that names its crawlers."""
        return f"Names: well-known crawlers of robotrules, from operators' pages, {self.checked}."

    def find_in_header(self, user_agent: str) -> KnownCrawler | None:
        """
        Return the crawler that a User-Agent header claims to be; None if it names none of these.

        The claim is not verified: anyone can send any header. Only the first 512 characters are
        read. Results are cached, so the header of every request can be looked up.
        """
        return _find_in_header(user_agent[:LONGEST_HEADER])

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """A pattern for all names, longer ones first; a control sends no requests."""
        names = sorted(
            (crawler.product_token for crawler in self if not crawler.is_control),
            key=lambda name: (-len(name), name),
        )
        words = "|".join(map(re.escape, names))
        return re.compile(rf"(?<![-\w.])(?:{words})(?![-\w])", re.ASCII | re.IGNORECASE)

    def _search_header(self, user_agent: str) -> KnownCrawler | None:
        """Return the crawler whose name is the header's product, or a known name in it."""
        if user_agent.count("(") > MOST_COMMENTS:
            return None
        product = product_token(user_agent)
        claimed = self.get(product or "")
        if claimed is None:
            # A name with spaces, or in an unusual position. `ExampleBot (like Googlebot)` is
            # another crawler, so a name inside the header counts only if it has no product, and
            # `like Googlebot` is none in any header.
            named = next(
                (
                    found
                    for found in self._pattern.finditer(user_agent)
                    if not _LIKE.search(
                        user_agent, max(found.start() - LONGEST_LIKE, 0), found.start()
                    )
                ),
                None,
            )
            if named and named[0].lower().startswith((product or "").lower()):
                claimed = self.get(named[0])
        return None if claimed is None or claimed.is_control else claimed

    def __contains__(self, product_token: str) -> bool:
        return self.get(product_token) is not None

    def __iter__(self) -> Iterator[KnownCrawler]:
        return iter(self._data[2].values())

    def __len__(self) -> int:
        return len(self._data[2])

    def __repr__(self) -> str:
        return f"<KnownCrawlers: {len(self)}, checked {self.checked}>"

    def closest(self, product_token: str) -> KnownCrawler | None:
        """
        Return the crawler that a misspelt name probably stands for.

        One or two letters are wrong, missing, extra or swapped, or the name is divided differently,
        as in `GPT-Bot`; in short names only two neighbouring letters are swapped. None for a known
        name, and if two crawlers are equally close.
        """
        name = product_token.strip().lower()
        if not name or len(name) > LONGEST_NAME or name in self:
            return None
        best: list[tuple[int, str]] = []
        for known in self._data[2]:
            distance = _name_distance(name, known)
            if distance is not None:
                best.append((distance, known))
        best.sort()
        if not best or (len(best) > 1 and best[0][0] == best[1][0]):
            return None
        return self._data[2][best[0][1]]


def _make_crawler(entry: dict[str, Any]) -> KnownCrawler:
    lists = {name: tuple(entry.get(name, ())) for name in ("purposes", "also", "reverse_dns")}
    return KnownCrawler(**entry | lists)


KNOWN_CRAWLERS = KnownCrawlers()


@lru_cache(REMEMBERED_HEADERS)
def _find_in_header(user_agent: str) -> KnownCrawler | None:
    return KNOWN_CRAWLERS._search_header(user_agent)


def crawler(product_token: str) -> KnownCrawler | None:
    """
    Return the known crawler of that name, case-insensitive; None if it is not listed.

    `RobotsTxt.check()` compares only the name that it is given. To check as the crawler itself
    reads a file, pass its names: `robots.check(url, crawler("Googlebot-News").names)`.
    """
    if not isinstance(product_token, str):
        name = type(product_token).__name__
        raise TypeError(f"product_token must be a str such as 'Googlebot-News', not {name}")
    return KNOWN_CRAWLERS.get(product_token.strip())


# --- Similar names --------------------------------------------------------------------------------


def _name_distance(name: str, known: str) -> int | None:
    """Return the edit distance of two names; None if it is too large for a misspelling."""
    if name[0] != known[0]:
        return None  # misspellings are rare there, and many names differ only there
    if re.sub(r"[-_. ]", "", name) == re.sub(r"[-_. ]", "", known):
        return 0
    # Families have short endings, such as SemrushBot-SA and -BA, which are not misspellings.
    stem, dash, ending = name.rpartition("-")
    known_stem, known_dash, known_ending = known.rpartition("-")
    if dash and known_dash and stem == known_stem:
        name, known = ending, known_ending
        if len(name) > 5 and known.startswith(name) and len(known) - len(name) < 3:
            return len(known) - len(name)  # Google-Extend
    # Two swapped letters are a misspelling in shorter names too; a missing one is not, because most
    # names of two letters and `bot` are in use.
    if len(name) > 4 and sorted(name) == sorted(known) and _edit_distance(name, known) == 1:
        return 1
    # Half of all names end in `bot`, so the part before it has to be similar.
    for common in _COMMON_ENDINGS:
        if name.endswith(common) and known.endswith(common):
            name, known = name.removesuffix(common), known.removesuffix(common)
            break
    longer = max(len(name), len(known))
    most = 0 if longer < 6 else 1 if longer < 9 else 2
    if abs(len(name) - len(known)) > most:
        return None
    distance = _edit_distance(name, known)
    return distance if distance <= most else None


def _edit_distance(a: str, b: str) -> int:
    """Return the number of substituted, missing, extra or transposed letters."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        line = [i]
        for j, other in enumerate(b, start=1):
            cost = min(last[j] + 1, line[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            line.append(cost)
        before, last = last, line
    return last[-1]
