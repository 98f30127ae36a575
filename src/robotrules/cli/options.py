"""
Options that commands share, and what is read from them: the file, the profile, the crawler's names.

Each option is declared once, so it has one name and one help text everywhere. It does not know what
a command does with them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import click

import robotrules
from robotrules.cli.client import Opening
from robotrules.cli.streams import CliError, quoted, read_robots, say
from robotrules.octets import visible
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.tokens import CrawlerNames, can_be_name, is_url, vet_name
from robotrules.robotstxt.values import Note

Command = TypeVar("Command", bound=Callable[..., Any])

# Access profiles that are no profiles of parsing; named here, so that no command waits for them.
ACCESS_ONLY = ("stale",)


def profile_option(command: Command) -> Command:
    """Add `--profile`."""
    return click.option(
        "--profile",
        type=click.Choice(list(PROFILES)),
        metavar="NAME",
        default="default",
        show_default=True,
        help="How to read what RFC 9309 leaves open: 'default', 'strict' (its text and no more) or "
        "'google' (as google/robotstxt does).",
    )(command)


def fetching_profile_option(command: Command) -> Command:
    """Add `--profile` to a command that fetches."""
    return click.option(
        "--profile",
        type=click.Choice([*PROFILES, *ACCESS_ONLY]),
        metavar="NAME",
        default="default",
        show_default=True,
        help="How to read what RFC 9309 leaves open: 'default', 'strict' (its text and no more), "
        "'google' (as google/robotstxt does), or 'stale' (an old copy counts while a file is "
        "unreachable).",
    )(command)


def parsing_profile(profile: str, *, fetches: bool) -> str:
    """Return the profile to parse with; one that is about fetching alone is of no use to files."""
    if profile not in ACCESS_ONLY:
        return profile
    if not fetches:
        raise CliError(
            f"--profile {profile} is about fetching, and nothing is fetched where files are given: "
            "leave it out"
        )
    return "default"


def json_option(words: str) -> Callable[[Command], Command]:
    """Add `--json`; *words* say what it prints."""
    return click.option("--json", "as_json", is_flag=True, help=words)


def robots_option(command: Command) -> Command:
    """Add `--robots`."""
    return click.option(
        "--robots",
        metavar="FILE",
        help="A robots.txt that governs the URLs, so that none is fetched; '-' is stdin.",
    )(command)


def token_option(command: Command) -> Command:
    """Add `--as`."""
    return click.option(
        "--as",
        "product_tokens",
        metavar="TOKEN",
        multiple=True,
        help="The crawler's product token, such as ExampleBot. Repeat it for a crawler with "
        "several, the preferred one first.",
    )(command)


def literal_option(command: Command) -> Command:
    """Add `--literal`."""
    return click.option(
        "--literal",
        is_flag=True,
        help="Choose groups by a crawler's name alone, and not as the registry of well-known "
        "crawlers says that it does.",
    )(command)


def robots_options(command: Command) -> Command:
    """Add `--robots`, `--as`, `--literal` and `--profile`, with the profiles of what fetches."""
    return robots_option(token_option(literal_option(fetching_profile_option(command))))


def purpose_option(command: Command) -> Command:
    """Add `--purpose`."""
    return click.option(
        "--purpose",
        "purposes",
        metavar="PURPOSE",
        multiple=True,
        help="A purpose the crawler has (User-Agent-Purpose), such as EXAMPLE-PURPOSE-1; it counts "
        "where no group names the crawler. Repeat it for several.",
    )(command)


def given_purposes(purposes: Sequence[str], profile: str) -> tuple[str, ...]:
    """Return the purposes of `--purpose`; hint if the profile does not know the record."""
    if not all(purpose.strip() for purpose in purposes):
        raise CliError("--purpose is empty: pass a purpose, or leave it out")
    if purposes and not PROFILES[profile].reads_purposes():
        # Said here in the words of the command line.
        warnings.filterwarnings("ignore", category=robotrules.PurposeWarning)
        say(
            f"profile {profile} does not read User-Agent-Purpose, so --purpose changes nothing",
            label="hint",
            style="warning",
        )
    return tuple(purposes)


def given_robots(robots: str, profile: str) -> robotrules.RobotsTxt:
    """Return the parsed file that `--robots` names."""
    return read_robots(robots, profile)[0]


def given_or_fetched(
    robots: str | None, profile: str, urls: Sequence[str], opening: Opening
) -> robotrules.RobotsTxt:
    """Return the file that `--robots` names, else that of the one origin that URLs have."""
    if robots is None:
        from robotrules.cli.origin_lookup import fetched_robots

        return fetched_robots(urls, profile, opening)
    opening.hint_unused()
    return given_robots(robots, parsing_profile(profile, fetches=False))


class GivenCrawler(NamedTuple):
    """Who asks, as `--as` says it."""

    names: Tokens
    """What to ask with: one name, several, or those of a well-known crawler."""
    name: str
    """The same for people and for JSON."""
    known: KnownCrawler | None = None
    """As the registry has it, if the groups are chosen by that."""

    @property
    def known_dict(self) -> dict[str, Any] | None:
        """The entry of the registry as plain values for JSON."""
        return self.known.short_dict() if self.known else None


def given_crawler(
    tokens: Sequence[str],
    profile: str,
    *,
    literal: bool,
    hints: bool = True,
    says_known: bool = True,
) -> GivenCrawler:
    """
    Return the crawler of `--as`: by the registry of well-known ones, unless *literal*.

    The registry is about one name; several are taken in the order in which they are given. A hint
    says how the crawler chooses, unless the command itself does (*says_known*).
    """
    known = KNOWN_CRAWLERS.get(tokens[0]) if len(tokens) == 1 and not literal else None
    if known is not None:
        if hints and says_known and known.departures:
            say(known_words(known), label="hint")
        return GivenCrawler(known.names, known.product_token, known)
    tokens = given_tokens(tokens, profile, hints)
    return GivenCrawler(single_or_many(tokens), ", ".join(tokens))


class KnownHint:
    """
    Says once how a well-known crawler reads robots.txt files, where its name alone would say less.

    That it does not obey all of them holds for any file. That it obeys other groups than its name
    alone chooses is said when a file comes in which it does.
    """

    def __init__(self, crawler: GivenCrawler, purposes: Sequence[str] = ()) -> None:
        known = crawler.known
        self._waiting = known if known and (known.also or known.ignores_star) else None
        self._purposes = tuple(purposes)
        if known and known.obeys in ("partly", "no") and not known.ignores_star:
            self._say(known)

    def read(self, robots: RobotsTxt) -> None:
        """Say it if the crawler obeys other groups of this file than its name alone chooses."""
        if self._waiting is not None:
            alone = CrawlerNames(self._waiting.names[:1])
            by_name, chosen = (
                choose_groups(robots, names, self._purposes).indices
                for names in (alone, self._waiting.names)
            )
            if by_name != chosen:
                self._say(self._waiting)

    def _say(self, known: KnownCrawler) -> None:
        self._waiting = None
        say(known_words(known), label="hint")

    @property
    def is_waiting(self) -> bool:
        """Whether a file may still make it say something."""
        return self._waiting is not None


def known_words(known: KnownCrawler) -> str:
    """Return how a well-known crawler reads a robots.txt, with source and day."""
    told = f"{known.product_token} {' and '.join(known.departures)} ({known.source})"
    if known.also or known.ignores_star:
        return f"{told}; --literal asks by the name alone"
    return f"{told}; the verdict is what the file asks of it"


def given_tokens(tokens: Sequence[str], profile: str, hints: bool = True) -> tuple[str, ...]:
    """Return the product tokens of `--as`; refuse a User-Agent header or a list (AMB-22)."""
    if not tokens:
        raise CliError("who asks? Pass the crawler's product token, such as --as ExampleBot")
    for token in tokens:
        try:
            name = vet_name(token, PROFILES[profile])
        except robotrules.ProductTokenError:
            raise CliError(_why_refused(token)) from None
        if hints and name != token:
            say(
                f"{quoted(token)} is read as {quoted(name)} in profile {profile}",
                label="hint",
                style="warning",
            )
    return tuple(tokens)


def _why_refused(token: str) -> str:
    if not token.strip():
        return "--as is empty: pass the crawler's product token, such as ExampleBot"
    if is_url(token):
        return f"{quoted(token)} is a URL: pass it as an argument, and the crawler's name with --as"
    cure = _likely(token)
    if can_be_name(token):
        return (
            f"{quoted(token)} is no product token: RFC 9309 §2.2.1 knows letters, '_' and '-' only"
            f"{cure or '; profile default compares other names literally'}"
        )
    if "," in token and all(can_be_name(part.strip()) for part in token.split(",")):
        return f"{quoted(token)} is a list: pass --as once for each name"
    return (
        f"{quoted(token)} is not a product token: a name has no '/', '(', ';', ',', no control "
        f"character and no white space{cure}"
    )


def _likely(token: str) -> str:
    """Return the advice to use the product token that a User-Agent header holds, if any."""
    found = robotrules.product_token(token)
    return f"; use --as {visible(found)}" if found and found != token else ""


def single_or_many(tokens: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return one product token as itself, as the library's answers then name it."""
    return tokens[0] if len(tokens) == 1 else tokens


def given_urls(urls: Sequence[str], profile: str, hints: bool = True) -> list[bytes]:
    """Return URLs of the command line as octets; hint if one is read in a surprising way."""
    octets = []
    for url in urls:
        if url == "-":
            raise CliError("'-' is no URL: robotrules check reads URLs from stdin with --urls -")
        octets.append(os.fsencode(url).strip())
        if hints and not url.startswith("/") and "://" not in url:
            path = robotrules.normalize_path(octets[-1], profile=profile)
            say(
                f"{quoted(url)} has no scheme and does not start with '/': only "
                f"{quoted(path)} of it is compared",
                label="hint",
                style="warning",
            )
    return octets


def say_notes(notes: Sequence[Note], name: str) -> None:
    """Say what is odd about a file as a whole, because verdicts alone would hide it."""
    for note in notes:
        if note.line is None and note.level != "info":
            where = "stdin" if name == "-" else quoted(name)
            say(f"{where}: {note.message}", label=note.level, style=note.level)
