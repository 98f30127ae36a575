"""
Well-known crawlers: who runs them, what for, what they are called, and where that is documented.

Facts that this project compiled, each with the day it was checked; the file is read when somebody
first asks. A crawler that is not here is a crawler all the same: nothing depends on being known.
It is no part of the four registries that drafts ask for, and does not know any robots.txt.

Sections: values · looking up · names that are nearly known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from robotrules.robotstxt.tokens import CrawlerNames, is_product_token, leading_name

# What crawlers are for, in the order in which people are shown them.
CRAWLER_PURPOSES: dict[str, str] = {
    "search": "Builds the index of a search engine that people use.",
    "ai-search": "Builds an index, or fetches pages, from which an AI product answers and cites.",
    "user-triggered": "Fetches a page because a person asked for it just now.",
    "ai-training": "Collects what AI models are trained on.",
    "research": "Collects pages for science, for teaching, or for a public data set.",
    "archive": "Keeps copies of pages for the future.",
    "preview": "Makes the card that a chat, a social network or a search shows for a link.",
    "feed": "Reads feeds that people subscribed to.",
    "shopping": "Collects products and prices.",
    "seo": "Maps links and audits pages for those who work on how sites are found.",
    "ads": "Reads pages to place advertisements, or to see where they lead.",
    "monitoring": "Watches pages for whoever asked: what they mention, or whether they work.",
    "data": "Collects pages and hands on what is in them, as data or as software for it.",
    "in-house": "Serves tests, research or products inside the company that runs it.",
}
# Whether its operator says that it obeys robots.txt.
OBEYS = ("yes", "partly", "no", "not said")
CRAWLER_STATUSES = ("active", "retired")
# No name is longer; what is compared with all of them is cut before.
LONGEST_NAME = 64
_COMMON_ENDINGS = ("bot", "spider", "crawler")


# --- Values ---------------------------------------------------------------------------------------


class KnownCrawler(NamedTuple):
    """A crawler that is known, as its operator documents it."""

    product_token: str
    """What a robots.txt calls it."""
    operator: str
    purposes: tuple[str, ...]
    """Of `CRAWLER_PURPOSES`, the main one first."""
    documentation: str
    """The operator's page about it, a URL; empty where there is none that we know of."""
    checked: str
    """The day on which this was compiled, such as `2026-11-16`."""
    status: str
    """`active`, or `retired`: files name it, and nobody comes."""
    remarks: str = ""
    also: tuple[str, ...] = ()
    """Product tokens whose groups it obeys where none names it, in its order of preference."""
    obeys: str = "not said"
    """Whether its operator says that it obeys robots.txt: one of `OBEYS`."""
    is_control: bool = False
    """Whether it fetches nothing: the token says what may be done with what others fetched."""
    is_main: bool = False
    """Whether it is one of the few that most people ask about."""
    ignores_star: bool = False
    """Whether its operator says that groups for everyone (`*`) are not for it."""

    @property
    def names(self) -> CrawlerNames:
        """
        All tokens it answers to, its own first, to be passed where a product token is.

        The first one that a group names decides, under any profile (AMB-30); where none does, a
        crawler that `ignores_star` obeys no group.
        """
        return CrawlerNames((self.product_token, *self.also), ignores_star=self.ignores_star)

    @property
    def is_valid(self) -> bool:
        """Whether its name is a product token by the grammar of RFC 9309 §2.2.1."""
        return is_product_token(self.product_token)

    @property
    def read_as(self) -> str:
        """What a parser that keeps to the grammar makes of its name: MJ12bot becomes `MJ`."""
        return leading_name(self.product_token)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        lists = {"purposes": list(self.purposes), "also": list(self.also)}
        lists["names"] = list(self.names)
        return self._asdict() | lists | {"is_valid": self.is_valid, "read_as": self.read_as}

    @property
    def departures(self) -> tuple[str, ...]:
        """How it reads a robots.txt otherwise than by its name alone; nothing for most."""
        words = []
        if self.also:
            others = " or else ".join(self.also)
            words.append(f"obeys the group of {others} where no group names it")
        if self.ignores_star:
            words.append("ignores groups for '*'")
        elif self.obeys == "partly":
            words.append("does not always obey robots.txt")
        if self.obeys == "no":
            words.append("does not obey robots.txt")
        return tuple(words)

    @property
    def source(self) -> str:
        """Where that is documented, and the day it was checked, for people."""
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


# --- Looking up -----------------------------------------------------------------------------------


class KnownCrawlers:
    """The crawlers that are known, in the order of their names; found without regard to case."""

    @cached_property
    def _read(self) -> tuple[str, str, dict[str, KnownCrawler]]:
        # Two threads may both read the file, and find the same.
        from importlib.resources import files

        file = files("robotrules.registries").joinpath("data", "crawlers.json")
        found = json.loads(file.read_bytes())
        crawlers = [_crawler(entry) for entry in found["crawlers"]]
        by_name = {crawler.product_token.lower(): crawler for crawler in crawlers}
        return found["checked"], found["source"], by_name

    @property
    def checked(self) -> str:
        """The day on which the list was compiled."""
        return self._read[0]

    @property
    def source(self) -> str:
        """Where the facts come from, in a sentence."""
        return self._read[1]

    def get(self, product_token: str) -> KnownCrawler | None:
        """Return the crawler of that name, whatever its case; None: nobody knows it."""
        return self._read[2].get(product_token.lower())

    def __contains__(self, product_token: str) -> bool:
        return self.get(product_token) is not None

    def __iter__(self) -> Iterator[KnownCrawler]:
        return iter(self._read[2].values())

    def __len__(self) -> int:
        return len(self._read[2])

    def __repr__(self) -> str:
        return f"<KnownCrawlers: {len(self)}, checked {self.checked}>"

    def closest(self, product_token: str) -> KnownCrawler | None:
        """
        Return the crawler that a name is probably meant for, by a slip of the pen.

        One or two letters are wrong, missing, too many or swapped, or the name is parted otherwise,
        as in `GPT-Bot`. None for a name that is known, and where two crawlers are as near.
        """
        name = product_token.strip().lower()
        if not name or len(name) > LONGEST_NAME or name in self:
            return None
        best: list[tuple[int, str]] = []
        for known in self._read[2]:
            slips = _slips(name, known)
            if slips is not None:
                best.append((slips, known))
        best.sort()
        if not best or (len(best) > 1 and best[0][0] == best[1][0]):
            return None
        return self._read[2][best[0][1]]


def _crawler(entry: dict[str, Any]) -> KnownCrawler:
    lists = {name: tuple(entry.get(name, ())) for name in ("purposes", "also")}
    return KnownCrawler(**entry | lists)


KNOWN_CRAWLERS = KnownCrawlers()


def crawler(product_token: str) -> KnownCrawler | None:
    """
    Return the well-known crawler of that name, whatever its case; None: the registry has none.

    `RobotsTxt.check()` compares the name that it is given and no other. To ask as the crawler reads
    a file, pass its names: `robots.check(url, crawler("Googlebot-News").names)`.
    """
    if not isinstance(product_token, str):
        name = type(product_token).__name__
        raise TypeError(f"a product token is a str such as 'Googlebot-News', not {name}")
    return KNOWN_CRAWLERS.get(product_token.strip())


# --- Names that are nearly known ------------------------------------------------------------------


def _slips(name: str, known: str) -> int | None:
    """Return how many slips of the pen part two names; None: too many to be one."""
    if name[0] != known[0]:
        return None  # few slip there, and many names differ there alone
    if re.sub(r"[-_. ]", "", name) == re.sub(r"[-_. ]", "", known):
        return 0
    # Families have short endings, such as SemrushBot-SA and -BA, which are no slips.
    stem, dash, ending = name.rpartition("-")
    known_stem, known_dash, known_ending = known.rpartition("-")
    if dash and known_dash and stem == known_stem:
        name, known = ending, known_ending
    # Half of all names end in `bot`, so it is what stands before it that has to be alike.
    for common in _COMMON_ENDINGS:
        if name.endswith(common) and known.endswith(common):
            name, known = name.removesuffix(common), known.removesuffix(common)
            break
    longer = max(len(name), len(known))
    most = 0 if longer < 6 else 1 if longer < 9 else 2
    if abs(len(name) - len(known)) > most:
        return None
    slips = _distance(name, known)
    return slips if slips <= most else None


def _distance(a: str, b: str) -> int:
    """Return how many letters are wrong, missing, too many or swapped with their neighbour."""
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
