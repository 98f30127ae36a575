"""
Options that commands share, and functions that validate their values.

Each option is declared once, so it has the same name and help text in every command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

import robotrules
from robotrules.cli.client import ClientOptions
from robotrules.cli.console import CliError, quoted, report
from robotrules.cli.input_files import read_robots
from robotrules.cli.text import plural
from robotrules.errors import RegistryError
from robotrules.json_results.crawlers import (
    CrawlerChoice,
    choose_crawler,
    find_known,
    ignore_unread_purposes,
)
from robotrules.octets import visible
from robotrules.profile import PROFILES
from robotrules.registries import SHIPPED, Registries, load_registries
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.tokens import CrawlerNames, can_be_name, is_url, vet_name
from robotrules.robotstxt.values import Note
from robotrules.robotstxt.verdict import GroupMatch

Command = TypeVar("Command", bound=Callable[..., Any])

# Access profiles that are not parsing profiles; listed here to avoid an import at start-up.
ACCESS_ONLY = ("stale",)


def profile_option(command: Command) -> Command:
    """Add `--profile`."""
    return click.option(
        "--profile",
        type=click.Choice(list(PROFILES)),
        metavar="NAME",
        default="default",
        show_default=True,
        help="How to parse what RFC 9309 leaves open: 'default', 'strict' (the RFC's text only) "
        "or 'google' (as Google's parser does).",
    )(command)


def fetching_profile_option(command: Command) -> Command:
    """Add `--profile` to a command that fetches."""
    return click.option(
        "--profile",
        type=click.Choice([*PROFILES, *ACCESS_ONLY]),
        metavar="NAME",
        default="default",
        show_default=True,
        help="How to parse what RFC 9309 leaves open: 'default', 'strict' (the RFC's text only), "
        "'google' (as Google's parser does), or 'stale' (use an old copy while the file is "
        "unreachable).",
    )(command)


def parsing_profile(profile: str, *, fetches: bool) -> str:
    """Return the profile to parse with; refuse an access-only profile if nothing is fetched."""
    if profile not in ACCESS_ONLY:
        return profile
    if not fetches:
        raise CliError(
            f"--profile {profile} only affects fetching, and nothing is fetched when files are "
            "passed: remove it"
        )
    return "default"


def json_option(words: str) -> Callable[[Command], Command]:
    """Add `--json`; *words* are its help text."""
    return click.option("--json", "as_json", is_flag=True, help=words)


def robots_option(command: Command) -> Command:
    """Add `--robots`."""
    return click.option(
        "--robots",
        metavar="FILE",
        help="Use this robots.txt for all URLs instead of fetching; '-' is stdin.",
    )(command)


def token_option(command: Command) -> Command:
    """Add `--as`."""
    return click.option(
        "--as",
        "product_tokens",
        metavar="TOKEN",
        multiple=True,
        help="The crawler's product token, such as ExampleBot. For a crawler with several tokens, "
        "pass a list with commas, the preferred one first.",
    )(command)


def crawlers_option(command: Command) -> Command:
    """Add `--as` to a command that takes several crawlers."""
    return click.option(
        "--as",
        "product_tokens",
        metavar="TOKEN",
        multiple=True,
        help="The crawler's product token, such as ExampleBot. Repeat it for several crawlers. For "
        "a crawler with several tokens, pass a list with commas, the preferred one first.",
    )(command)


def crawler_purpose_option(words: str, more: str = "") -> Callable[[Command], Command]:
    """Return `--purpose` for well-known crawlers: *words* before the list of purposes."""
    return click.option(
        "--purpose",
        "purposes",
        type=click.Choice(list(CRAWLER_PURPOSES)),
        metavar="PURPOSE",
        multiple=True,
        help=f"{words}: {', '.join(CRAWLER_PURPOSES)}. Repeat it for several.{more}",
    )


def literal_option(command: Command) -> Command:
    """Add `--literal`."""
    return click.option(
        "--literal",
        is_flag=True,
        help="Select groups by the product token only, without the registry of well-known "
        "crawlers.",
    )(command)


def robots_options(command: Command) -> Command:
    """Add `--robots`, `--as`, `--literal` and `--profile` to a command that fetches."""
    return robots_option(token_option(literal_option(fetching_profile_option(command))))


def purpose_option(command: Command) -> Command:
    """Add `--purpose`."""
    return click.option(
        "--purpose",
        "purposes",
        metavar="PURPOSE",
        multiple=True,
        help="A purpose of the crawler (User-Agent-Purpose), such as EXAMPLE-PURPOSE-1. It is used "
        "if no group names the crawler. Repeat it for several.",
    )(command)


def parse_purposes(purposes: Sequence[str], profile: str) -> tuple[str, ...]:
    """Return the purposes of `--purpose`; report a hint if the profile does not read them."""
    if not all(purpose.strip() for purpose in purposes):
        raise CliError("--purpose is empty: pass a purpose, or remove the option")
    if ignore_unread_purposes(purposes, profile):
        report(
            f"profile {profile} does not read User-Agent-Purpose, so --purpose has no effect",
            label="hint",
            style="warning",
        )
    return tuple(purposes)


def read_robots_option(robots: str, profile: str) -> robotrules.RobotsTxt:
    """Return the parsed file that `--robots` names."""
    return read_robots(robots, profile)[0]


def read_or_fetch_robots(
    robots: str | None, profile: str, urls: Sequence[str], client_options: ClientOptions
) -> robotrules.RobotsTxt:
    """Return the file of `--robots`, or fetch the one of the origin that all URLs share."""
    if robots is None:
        from robotrules.cli.origin_lookup import fetched_robots

        return fetched_robots(urls, profile, client_options)
    client_options.hint_unused()
    return read_robots_option(robots, parsing_profile(profile, fetches=False))


def parse_crawlers(
    values: Sequence[str], profile: str, *, literal: bool, hints: bool = True
) -> list[CrawlerChoice]:
    """Return the crawlers of `--as`, one for each value; a list in a value is one crawler."""
    if not values:
        parse_tokens(values, profile)
    found = (
        parse_crawler([value], profile, literal=literal, hints=hints, hint_registry=False)
        for value in values
    )
    return list({crawler.name: crawler for crawler in found}.values())


def parse_crawler(
    values: Sequence[str],
    profile: str,
    *,
    literal: bool,
    hints: bool = True,
    hint_registry: bool = True,
) -> CrawlerChoice:
    """
    Return the crawler of `--as`, looked up in the registry of well-known crawlers unless *literal*.

    Only a single token is looked up; the tokens of a list with commas are used in their order. With
    *hint_registry*, a hint reports how a well-known crawler selects groups.
    """
    tokens = tokens_of_crawler(values)
    known = find_known(tokens, literal=literal)
    if known is None:
        parse_tokens(tokens, profile, hints)
    elif hints and hint_registry and known.departures:
        report(describe_crawler(known), label="hint")
    return choose_crawler(tokens, profile, literal=literal)


def tokens_of_crawler(values: Sequence[str]) -> list[str]:
    """Return the product tokens of the one crawler that `--as` names; refuse several crawlers."""
    if len(values) > 1:
        raise CliError(
            "this command answers for one crawler: pass --as once; the tokens of one crawler are a "
            f"list, as in --as {quoted(','.join(values))}"
        )
    return [token for value in values for token in _split_list(value)]


def _split_list(value: str) -> list[str]:
    """Return the product tokens of a list with commas; a User-Agent header is not one."""
    parts = [part.strip() for part in value.split(",")]
    return parts if len(parts) > 1 and all(map(can_be_name, parts)) else [value]


class CrawlerHint:
    """
    Reports once how a well-known crawler reads robots.txt files.

    That a crawler does not obey all rules is reported at once, for any file. That it obeys other
    groups than those of its product token is reported for the first file in which it does. A name
    that is probably misspelt is reported for the first file that does not name it.
    """

    def __init__(self, crawler: CrawlerChoice, purposes: Sequence[str] = ()) -> None:
        known = crawler.known
        self._waiting = known if known and (known.also or known.ignores_star) else None
        self._purposes = tuple(purposes)
        names = [crawler.names] if isinstance(crawler.names, str) else []
        self._misspelt = [name for name in names if not known and KNOWN_CRAWLERS.closest(name)]
        if known and known.obeys in ("partly", "no") and not known.ignores_star:
            self._say(known)

    def read(self, robots: RobotsTxt) -> None:
        """Report if the crawler obeys other groups of this file than those of its token."""
        if self._misspelt:
            hint_misspelt(self._misspelt, [robots])
            self._misspelt = []
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
        report(describe_crawler(known), label="hint")

    @property
    def is_pending(self) -> bool:
        """Whether another file may still cause a hint."""
        return self._waiting is not None or bool(self._misspelt)


def hint_misspelt(tokens: Sequence[str], files: Sequence[RobotsTxt]) -> None:
    """Report product tokens that are probably misspelt, unless one of the *files* names them."""
    for token in tokens:
        closest = KNOWN_CRAWLERS.closest(token)
        if closest and not any(
            choose_groups(robots, token).matched_by is GroupMatch.TOKEN for robots in files
        ):
            report(
                f"{quoted(token)} is not a well-known crawler: did you mean "
                f"{closest.product_token}?",
                label="hint",
                style="warning",
            )


def describe_crawler(known: KnownCrawler) -> str:
    """Return how a well-known crawler reads a robots.txt, with source and date."""
    described = f"{known.product_token} {' and '.join(known.departures)} ({known.source})"
    if known.also or known.ignores_star:
        return f"{described}; --literal uses the product token only"
    return f"{described}; the verdict is what the file requests"


def parse_tokens(tokens: Sequence[str], profile: str, hints: bool = True) -> tuple[str, ...]:
    """Return the product tokens of `--as`; refuse a User-Agent header or a list (AMB-22)."""
    if not tokens:
        raise CliError("missing --as: pass the crawler's product token, such as --as ExampleBot")
    for token in tokens:
        try:
            name = vet_name(token, PROFILES[profile])
        except robotrules.ProductTokenError:
            raise CliError(_explain_refusal(token)) from None
        if hints and name != token:
            report(
                f"{quoted(token)} is parsed as {quoted(name)} by profile {profile}",
                label="hint",
                style="warning",
            )
    return tuple(tokens)


def _explain_refusal(token: str) -> str:
    if not token.strip():
        return "--as is empty: pass the crawler's product token, such as ExampleBot"
    if is_url(token):
        return f"{quoted(token)} is a URL: pass it as an argument, and a product token with --as"
    suggestion = _suggest_token(token)
    if can_be_name(token):
        return (
            f"{quoted(token)} is not a product token: only letters, '_' and '-' are allowed "
            f"(RFC 9309 §2.2.1){suggestion or '; profile default compares other names literally'}"
        )
    if "," in token and all(can_be_name(part.strip()) for part in token.split(",")):
        return f"{quoted(token)} is a list: pass --as once for each token"
    return (
        f"{quoted(token)} is not a product token: it must not contain '/', '(', ';', ',', control "
        f"characters or white space{suggestion}"
    )


def _suggest_token(token: str) -> str:
    """Return a suggestion to use the product token of a User-Agent header, if there is one."""
    found = robotrules.product_token(token)
    return f"; use --as {visible(found)}" if found and found != token else ""


def parse_urls(urls: Sequence[str], profile: str, hints: bool = True) -> list[bytes]:
    """Return URLs of the command line as bytes; report a hint if one is only partly used."""
    octets = []
    for url in urls:
        if url == "-":
            raise CliError(
                "'-' is not a URL: to read URLs from stdin, use robotrules check --urls -"
            )
        octets.append(os.fsencode(url).strip())
        if hints and not url.startswith("/") and "://" not in url:
            path = robotrules.normalize_path(octets[-1], profile=profile)
            report(
                f"{quoted(url)} has no scheme and does not start with '/': only "
                f"{quoted(path)} of it is used",
                label="hint",
                style="warning",
            )
    return octets


def report_notes(notes: Sequence[Note], name: str) -> None:
    """Report warnings and errors about a file as a whole, which verdicts do not show."""
    for note in notes:
        if note.line is None and note.level != "info":
            where = "stdin" if name == "-" else quoted(name)
            report(f"{where}: {note.message}", label=note.level, style=note.level)


# --- Registries -----------------------------------------------------------------------------------


def load_registry_files(files: Sequence[str]) -> Registries:
    """Return the registries of `--registry`, later files overriding earlier ones."""
    registries = SHIPPED
    for name in files:
        if not name.lower().endswith((".json", ".csv")):
            raise CliError(f"{quoted(name)} is not a registry: pass a .json or .csv file")
        try:
            registries = load_registries(name, over=registries)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise CliError(
                f"cannot read the registry {quoted(name)}: {why}; check its name and mode"
            ) from None
        except RegistryError as error:
            first, *others = str(error).splitlines()
            more = f" ({plural(len(others), 'more reason')})" if others else ""
            raise CliError(f"{visible(first)}{more}") from None
    return registries
