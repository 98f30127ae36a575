"""
What commands about pages are given: saved pages, header lines, saved responses and HAR files.

A page is handed on as it is read, block by block, so that of a large file only the head is read.
What is no page, no response or no HAR file ends the command with one line that says what to pass.
It does not know what a tag rule is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from typing import Any, BinaryIO, Protocol, TypeVar

import click

from robotrules.cli.options import ACCESS_ONLY
from robotrules.cli.streams import (
    BLOCK,
    STDIN,
    CliError,
    open_octets,
    quoted,
    say,
    size_of,
    unreadable,
)
from robotrules.cli.text import Paint, is_terminal
from robotrules.errors import MissingExtraError, SavedResponseError
from robotrules.octets import visible
from robotrules.profile import PROFILES
from robotrules.tags import TAG_PROFILES, Fields, UsageRules, read_fields
from robotrules.tags.saved_responses import SavedResponse, read_har, read_response
from robotrules.tags.tdm import MOST_OCTETS as MOST_TDMREP

Command = TypeVar("Command", bound=Callable[..., Any])

# Fields and a body, of which readers of HTML look at 2 MiB; a compressed body needs all of itself.
MOST_RESPONSE = 20 * 1024 * 1024
# A HAR file is read as a whole, and takes some times its size in memory.
MOST_HAR = 256 * 1024 * 1024
_MIB = 1024 * 1024

READ = {"headers": "headers", "html": "initial HTML", "dom": "final DOM"}
CARRIERS = {
    name.lower(): name
    for name in ("Robots-Tag", "X-Robots-Tag", "Content-Usage", "Content-Type", "tdm-reservation")
}
# RFC 9110 §5.1: what the name of a field is made of.
_FIELD_LINE = re.compile(rb"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:(.*)", re.DOTALL)


# --- Options --------------------------------------------------------------------------------------


def tag_profile_option(command: Command) -> Command:
    """Add `--profile` with the names of tag profiles."""
    return _profile_option(TAG_PROFILES, "")(command)


def fetching_tag_profile_option(command: Command) -> Command:
    """Add `--profile` with the names of tag profiles, and those that are about fetching alone."""
    words = " With 'stale', an old robots.txt counts while there is no new one."
    return _profile_option([*TAG_PROFILES, *ACCESS_ONLY], words)(command)


def _profile_option(names: Iterable[str], words: str) -> Callable[[Command], Command]:
    return click.option(
        "--profile",
        type=click.Choice(list(names)),
        metavar="NAME",
        default="default",
        show_default=True,
        help="How to read what the documents leave open: 'default', 'strict' (their text and no "
        f"more), or as a vendor documents it: 'google', 'bing', 'apple', 'yandex'.{words}",
    )


def carrier_options(command: Command) -> Command:
    """Add `--header`, `--response` and `--dom`."""
    header = click.option(
        "--header",
        "headers",
        metavar="LINE",
        multiple=True,
        help="A header line of the response, such as 'Robots-Tag: *;noindex'. Repeat it for "
        "several; they are added to those of --response.",
    )
    response = click.option(
        "--response",
        metavar="FILE",
        help="A saved response, headers and body, as 'curl -i -o FILE URL' saves one; '-' is "
        "stdin.",
    )
    dom = click.option(
        "--dom",
        metavar="FILE",
        help="The final DOM as HTML, saved after scripts were run; '-' is stdin.",
    )
    return header(response(dom(command)))


def robots_profile(profile: str) -> str:
    """Return the profile of robots.txt that goes with a tag profile: that of its name, if any."""
    return profile if profile in PROFILES else "default"


# --- What is given --------------------------------------------------------------------------------


def refuse_stdin_twice(*names: str | None) -> None:
    """Stdin can be read once."""
    if names.count(STDIN) > 1:
        raise CliError("stdin can only be one of the files: pass '-' once")


def given_headers(lines: Sequence[str]) -> Fields | None:
    """Return the field lines of `--header`; None: there is none."""
    pairs = []
    for line in lines:
        found = _FIELD_LINE.match(os.fsencode(line))
        if not found:
            raise CliError(
                f"{quoted(line)} is no header line: pass a name, ':' and a value, such as "
                "'Robots-Tag: *;noindex'"
            )
        pairs.append((found[1], found[2]))
        name = found[1].decode().lower()
        if name not in CARRIERS and (close := get_close_matches(name, CARRIERS, 1, 0.85)):
            _hint(f"{quoted(name)} is not read: did you mean {CARRIERS[close[0]]}?")
    return read_fields(pairs) if pairs else None


def given_page(name: str, opened: ExitStack, what: str = "the page") -> Iterator[bytes]:
    """
    Return the blocks of a saved page, the first of them read; hint if it is something else.

    *opened* closes the file: nobody may want the other blocks.
    """
    stream = _open(name, what, opened)
    first = _block(stream, name, what)
    if words := _something_else(first):
        raise CliError(f"{_named(name)} {words}")
    if words := _unlike_html(first):
        _hint(f"{_named(name)} {words}")
    return _blocks(stream, name, what, first)


def _something_else(first: bytes) -> str:
    """Return what a file is that another option wants; empty: none that is known."""
    start = first[:1024].lstrip()
    if start.startswith(b"HTTP/"):
        return "is a saved response: pass it with --response FILE"
    if start.startswith(b"{") and b'"log"' in start:
        return "is a HAR file: pass it to robotrules guidance --har FILE"
    return ""


def _unlike_html(first: bytes) -> str:
    """Return what a file looks like that is not HTML; empty: it may well be HTML."""
    start = first[:1024].lstrip()
    if not start:
        return "is empty, so it says nothing"
    # Every second octet of UTF-16 may be NUL.
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "does not look like HTML"
    return ""


def given_response(name: str) -> SavedResponse:
    """Return the saved response of a file; hint if its status makes it speak for something else."""
    octets, _ = _read(name, "a response", MOST_RESPONSE)
    with _troubles(name):
        saved = read_response(octets)
    if words := about_status(saved.status):
        _hint(f"{_named(name)} has {words}")
    return saved


def given_har(name: str) -> list[SavedResponse]:
    """Return the documents of a HAR file, of which there is at least one."""
    octets, complete = _read(name, "a HAR file", MOST_HAR, whole=True)
    if not complete:
        raise CliError(
            f"{_named(name)} is larger than {MOST_HAR // _MIB} MiB, and a HAR file is read as a "
            "whole: export fewer pages, or without images"
        )
    with _troubles(name):
        documents = [saved for saved in read_har(octets) if saved.url]
    if not documents:
        raise CliError(
            f"there is no document in {_named(name)}: export it after a page was loaded, or pass "
            "a page with --page FILE"
        )
    return documents


def given_tdmrep(name: str) -> bytes:
    """Return the octets of a tdmrep.json, or as many as show that it is too large."""
    return _read(name, "a tdmrep.json", MOST_TDMREP + 1)[0]


def with_headers(saved: Fields | None, typed: Fields | None) -> Fields | None:
    """Return the fields of a response, and after them those that were typed."""
    if saved is None or typed is None:
        return saved if typed is None else typed
    return Fields(saved.lines + typed.lines, saved.apart)


@contextmanager
def html_libraries() -> Iterator[None]:
    """Make the error about a missing library the end of the command."""
    try:
        yield
    except MissingExtraError as error:
        raise CliError(str(error)) from None


def can_read_html() -> bool:
    """Tell whether a library that reads HTML is installed."""
    from robotrules.tags.tree_builders import find_tree_builder

    try:
        find_tree_builder()
    except MissingExtraError:
        return False
    return True


def warn_html_unread() -> None:
    """Say that nothing installed here can read HTML, so that headers alone speak for a page."""
    _warn(
        "the HTML of the page is not read, for no library that can is installed, so its meta "
        "elements are not known: pip install 'robotrules[html]'"
    )


# --- Words ----------------------------------------------------------------------------------------


def was_read(rules: UsageRules | None, first: Sequence[str] = ()) -> str:
    """Return what was looked at, and whether it came over TLS (draft-illyes-repext §4)."""
    parts = [*first, *(READ[name] for name in rules.read)] if rules else list(first)
    words = " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "nothing"
    if rules is None or rules.over_tls is None:
        return words
    tls = "over TLS" if rules.over_tls else "not over TLS: anybody on the way may have changed it"
    return f"{words}, {tls}"


class Noted(Protocol):
    """What notes of all carriers have."""

    @property
    def code(self) -> str:
        """What was found."""

    @property
    def level(self) -> str:
        """How bad it is."""

    @property
    def message(self) -> str:
        """One sentence for people."""


def note_line(note: Noted, where: object, paint: Paint) -> str:
    """Return a note as a line; *where* is empty or None if it is about all of it."""
    place = f"{where}: " if where else ""
    return f"  {place}{paint(note.level, note.level)} {note.code}: {note.message}"


def about_status(status: int | None) -> str:
    """Return what a status other than a success does to tags (AMB-80); empty: nothing."""
    if status is None or status < 300:
        return ""
    words = "it speaks for this error page; what the last good response said goes on"
    if status == 304:
        words = "what it does not say is unchanged since the response before it"
    elif status < 400:
        words = "it speaks for the URL that redirects, and not for the target"
    return f"status {status}: {words}"


def _hint(words: str) -> None:
    say(words, label="hint", style="warning")


def _warn(words: str) -> None:
    say(words, label="warning", style="warning")


def _named(name: str) -> str:
    return "stdin" if name == STDIN else quoted(name)


# --- Files ----------------------------------------------------------------------------------------


def _open(name: str, what: str, opened: ExitStack) -> BinaryIO:
    if name == STDIN and is_terminal(sys.stdin):
        raise CliError(
            f"{what} would be read from this terminal: pass a file, or pipe it in from a program "
            "such as curl"
        )
    stream = open_octets(name, what)
    return stream if name == STDIN else opened.enter_context(stream)


def _block(stream: BinaryIO, name: str, what: str) -> bytes:
    try:
        return stream.read(BLOCK)
    except OSError as error:
        raise unreadable(name, what, error) from None


def _blocks(stream: BinaryIO, name: str, what: str, block: bytes) -> Iterator[bytes]:
    while block:
        yield block
        block = _block(stream, name, what)


def _read(name: str, what: str, most: int, *, whole: bool = False) -> tuple[bytes, bool]:
    """
    Return at most so many octets of a file, and whether that is all of it.

    *whole*: a part of it is of no use, so a file that is known to be larger is not read.
    """
    octets = bytearray()
    with ExitStack() as opened:
        stream = _open(name, what, opened)
        if whole and (size_of(stream) or 0) > most:
            return b"", False
        for block in _blocks(stream, name, what, _block(stream, name, what)):
            octets += block
            if len(octets) > most:
                return bytes(octets[:most]), False
    if not octets:
        raise CliError(f"{_named(name)} is empty: pass {what}")
    return bytes(octets), True


@contextmanager
def _troubles(name: str) -> Iterator[None]:
    try:
        yield
    except SavedResponseError as error:
        raise CliError(f"cannot use {_named(name)}: {visible(str(error))}") from None
