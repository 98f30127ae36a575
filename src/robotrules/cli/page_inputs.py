"""
The inputs of commands about pages: saved pages, header lines, saved responses and HAR files.

A page is read block by block on demand, so that only the head of a large file is read. Input of
another kind ends the command with one line that says what to pass.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from typing import Any, BinaryIO, Protocol, TypeVar

import click

from robotrules.cli.console import STDIN, CliError, quoted, report
from robotrules.cli.input_files import open_octets, read_error, size_of
from robotrules.cli.options import ACCESS_ONLY
from robotrules.cli.text import Paint, is_terminal
from robotrules.errors import MissingExtraError, SavedResponseError
from robotrules.json_results.tags import split_header
from robotrules.octets import visible
from robotrules.tags import TAG_PROFILES, Fields, UsageRules, read_fields
from robotrules.tags.saved_responses import SavedResponse, read_har, read_response
from robotrules.tags.tdm import MOST_OCTETS as MOST_TDMREP
from robotrules.url_lists import BLOCK

Command = TypeVar("Command", bound=Callable[..., Any])

# Headers and body. HTML readers use 2 MiB, but a compressed body is needed completely.
MOST_RESPONSE = 20 * 1024 * 1024
# A HAR file is parsed as a whole and takes several times its size in memory.
MOST_HAR = 256 * 1024 * 1024
_MIB = 1024 * 1024

READ = {"headers": "headers", "html": "initial HTML", "dom": "final DOM"}
CARRIERS = {
    name.lower(): name
    for name in ("Robots-Tag", "X-Robots-Tag", "Content-Usage", "Content-Type", "tdm-reservation")
}


# --- Options --------------------------------------------------------------------------------------


def tag_profile_option(command: Command) -> Command:
    """Add `--profile` with the names of tag profiles."""
    return _profile_option(TAG_PROFILES, "")(command)


def fetching_tag_profile_option(command: Command) -> Command:
    """Add `--profile` with the names of tag profiles and access-only profiles."""
    words = " With 'stale', an old robots.txt is used while the file is unreachable."
    return _profile_option([*TAG_PROFILES, *ACCESS_ONLY], words)(command)


def _profile_option(names: Iterable[str], words: str) -> Callable[[Command], Command]:
    return click.option(
        "--profile",
        type=click.Choice(list(names)),
        metavar="NAME",
        default="default",
        show_default=True,
        help="How to parse what the specifications leave open: 'default', 'strict' (their text "
        f"only), or as a vendor documents it: 'google', 'bing', 'apple', 'yandex'.{words}",
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
        help="A saved response with headers and body, as written by 'curl -i -o FILE URL'; '-' "
        "is stdin.",
    )
    dom = click.option(
        "--dom",
        metavar="FILE",
        help="The final DOM as HTML, saved after scripts ran; '-' is stdin.",
    )
    return header(response(dom(command)))


# --- Inputs ---------------------------------------------------------------------------------------


def refuse_repeated_stdin(*names: str | None) -> None:
    """Refuse to read stdin twice."""
    if names.count(STDIN) > 1:
        raise CliError("stdin can be read only once: pass '-' once")


def parse_headers(lines: Sequence[str]) -> Fields | None:
    """Return the field lines of `--header`; None if there are none."""
    pairs = []
    for line in lines:
        pair = split_header(os.fsencode(line))
        if pair is None:
            raise CliError(
                f"{quoted(line)} is not a header line: pass a name, ':' and a value, such as "
                "'Robots-Tag: *;noindex'"
            )
        pairs.append(pair)
        name = pair[0].decode().lower()
        if name not in CARRIERS and (close := get_close_matches(name, CARRIERS, 1, 0.85)):
            _hint(f"{quoted(name)} is not read: did you mean {CARRIERS[close[0]]}?")
    return read_fields(pairs) if pairs else None


def read_page(name: str, opened: ExitStack, what: str = "the page") -> Iterator[bytes]:
    """
    Return the blocks of a saved page; report a hint if it does not look like HTML.

    *opened* closes the file, because not all blocks may be read.
    """
    stream = _open(name, what, opened)
    first = _block(stream, name, what)
    if words := _describe_other_file(first):
        raise CliError(f"{_named(name)} {words}")
    if words := _describe_non_html(first):
        _hint(f"{_named(name)} {words}")
    return _blocks(stream, name, what, first)


def _describe_other_file(first: bytes) -> str:
    """Return the advice for a file that needs another option; empty if there is none."""
    start = first[:1024].lstrip()
    if start.startswith(b"HTTP/"):
        return "is a saved response: pass it with --response FILE"
    if start.startswith(b"{") and b'"log"' in start:
        return "is a HAR file: pass it to robotrules guidance --har FILE"
    return ""


def _describe_non_html(first: bytes) -> str:
    """Return what is wrong with a file that is not HTML; empty if it may be HTML."""
    start = first[:1024].lstrip()
    if not start:
        return "is empty"
    # UTF-16 contains NUL bytes.
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "does not look like HTML"
    return ""


def read_saved_response(name: str) -> SavedResponse:
    """Return a saved response; report a hint if its status is not a success."""
    octets, _ = _read(name, "a response", MOST_RESPONSE)
    with _saved_response_errors(name):
        saved = read_response(octets)
    if words := describe_status(saved.status):
        _hint(f"{_named(name)} has {words}")
    return saved


def read_har_file(name: str) -> list[SavedResponse]:
    """Return the documents of a HAR file, of which there is at least one."""
    octets, complete = _read(name, "a HAR file", MOST_HAR, whole=True)
    if not complete:
        raise CliError(
            f"{_named(name)} is larger than {MOST_HAR // _MIB} MiB: export fewer pages, or without "
            "images"
        )
    with _saved_response_errors(name):
        documents = [saved for saved in read_har(octets) if saved.url]
    if not documents:
        raise CliError(
            f"there is no document in {_named(name)}: export it after a page has loaded, or pass "
            "a page with --page FILE"
        )
    return documents


def read_tdmrep(name: str) -> bytes:
    """Return the bytes of a tdmrep.json, up to one more than the limit."""
    return _read(name, "a tdmrep.json", MOST_TDMREP + 1)[0]


@contextmanager
def html_libraries() -> Iterator[None]:
    """Convert the error about a missing library to `CliError`."""
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


def warn_html_not_read() -> None:
    """Warn that no library for HTML is installed, so only headers are used."""
    _warn(
        "the HTML of the page was not read, so its meta elements are unknown: install a parser "
        "with pip install 'robotrules[html]'"
    )


# --- Text -----------------------------------------------------------------------------------------


def describe_sources(rules: UsageRules | None, first: Sequence[str] = ()) -> str:
    """Return what was read, and whether it came over TLS (draft-illyes-repext §4)."""
    parts = [*first, *(READ[name] for name in rules.read)] if rules else list(first)
    words = " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "nothing"
    if rules is None or rules.over_tls is None:
        return words
    tls = "over TLS" if rules.over_tls else "not over TLS: intermediaries may have changed it"
    return f"{words}, {tls}"


class Noted(Protocol):
    """The common attributes of notes."""

    @property
    def code(self) -> str:
        """The code."""

    @property
    def level(self) -> str:
        """The level."""

    @property
    def message(self) -> str:
        """One sentence."""


def note_line(note: Noted, where: object, paint: Paint) -> str:
    """Return a note as a line; *where* is its source, empty or None for all."""
    place = f"{where}: " if where else ""
    return f"  {place}{paint(note.level, note.level)} {note.code}: {note.message}"


def describe_status(status: int | None) -> str:
    """Return what an unsuccessful status means for tags (AMB-80); empty for success."""
    if status is None or status < 300:
        return ""
    words = "its tags apply to this error page; those of the last successful response stay in force"
    if status == 304:
        words = "fields that it does not have are unchanged since the previous response"
    elif status < 400:
        words = "its tags apply to the redirecting URL, not to the target"
    return f"status {status}: {words}"


def _hint(words: str) -> None:
    report(words, label="hint", style="warning")


def _warn(words: str) -> None:
    report(words, label="warning", style="warning")


def _named(name: str) -> str:
    return "stdin" if name == STDIN else quoted(name)


# --- Files ----------------------------------------------------------------------------------------


def _open(name: str, what: str, opened: ExitStack) -> BinaryIO:
    if name == STDIN and is_terminal(sys.stdin):
        raise CliError(
            f"cannot read {what}: stdin is a terminal; pass a file, or pipe it in, for example "
            f"from "
            "curl"
        )
    stream = open_octets(name, what)
    return stream if name == STDIN else opened.enter_context(stream)


def _block(stream: BinaryIO, name: str, what: str) -> bytes:
    try:
        return stream.read(BLOCK)
    except OSError as error:
        raise read_error(name, what, error) from None


def _blocks(stream: BinaryIO, name: str, what: str, block: bytes) -> Iterator[bytes]:
    while block:
        yield block
        block = _block(stream, name, what)


def _read(name: str, what: str, most: int, *, whole: bool = False) -> tuple[bytes, bool]:
    """
    Return at most *most* bytes of a file, and whether that is all of it.

    *whole*: a part is useless, so a file that is known to be larger is not read.
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
def _saved_response_errors(name: str) -> Iterator[None]:
    try:
        yield
    except SavedResponseError as error:
        raise CliError(f"cannot use {_named(name)}: {visible(str(error))}") from None
