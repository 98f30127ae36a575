"""
Literate tests of checks: Markdown pages whose blocks are files with marks on lines with notes.

    ```robots                     a robots.txt; `# note: slug` marks the lines that have the note
    ```robots profile=strict      options: profile, url, status, media_type, charset, cache_control,
                                  redirects (with commas), complete=no, notes=SLUG,SLUG for notes
                                  about the file as a whole; `bytes` reads \\xNN, \\t, \\r, \\n and
                                  `{text x 1000}` as 1,000 times text; `all` compares all checks and
                                  not only that of the page; `with=SLUG` runs another check beside
                                  it; registries=example: those below
    ```fixed                      the block before it after its fixes; `fixed verdicts`: also after
                                  those that change verdicts
    ```page url=… notes=SLUG      a page: field lines, an empty line, HTML, and behind a line
                                  `%%% dom` the final DOM; `joined`: the lines of a field come as
                                  one; a ```robots block before it with `beside` is the robots.txt
                                  of its origin

This module does not know the checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import robotrules
from robotrules.linting import LintNote, ServedResponse, fix, lint, lint_page
from robotrules.registries import (
    SHIPPED,
    Application,
    DirectiveEntry,
    Purpose,
    Registries,
    Registry,
)

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(rb"[ \t]*# note: ([a-z0-9, -]+?)[ \t]*$")
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|[trn])")
_TIMES = re.compile(rb"\{(.*?) x (\d+)\}", re.DOTALL)
DOM = b"%%% dom\n"
_WHERE = "https://search.example/directives"
# The registries that come with the package have no entries but those of tag rules.
EXAMPLES = Registries(
    SHIPPED.tag_rules,
    Registry(Purpose, [Purpose(f"EXAMPLE-PURPOSE-{n}", "for tests", "none") for n in (1, 2)]),
    Registry(Application, [Application("examplesearch", "ExampleSearch", "Example Inc.")]),
    Registry(
        DirectiveEntry,
        [
            DirectiveEntry("examplesearch", "widgets", "Boolean", "tests", _WHERE, "active"),
            DirectiveEntry("examplesearch", "teaser", "Integer", "tests", _WHERE, "deprecated"),
        ],
    ),
)
RECEIVED = ("url", "status", "media_type", "charset", "cache_control", "redirects")


class Block(NamedTuple):
    """One block of a page."""

    name: str
    options: dict[str, str]
    text: str
    line: int


def blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a page."""
    text = path.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        given = (one.partition("=") for one in found[2].split())
        options = {name: value for name, _, value in given}
        yield Block(found[1], options, found[3], text.count("\n", 0, found.start()) + 1)


def octets(block: Block) -> bytes:
    """Return the octets of a block."""
    text = block.text.encode()
    if "bytes" not in block.options:
        return text
    if re.search(rb"\\[rn]", text):  # then line ends are written out
        text = text.replace(b"\n", b"")
    return unescape(_TIMES.sub(lambda found: found[1] * int(found[2]), text))


def unescape(text: bytes) -> bytes:
    """Return octets with `\\xNN`, `\\t`, `\\r` and `\\n` unescaped."""
    signs = {b"t": b"\t", b"r": b"\r", b"n": b"\n"}
    return _ESCAPE.sub(
        lambda found: signs.get(found[1]) or bytes.fromhex(found[1][1:].decode()), text
    )


def served(text: bytes) -> tuple[bytes, ServedResponse]:
    """Return the body of a response, and how it was served."""
    head, _, body = text.partition(b"\n\n")
    status, *lines = head.decode().split("\n")
    fields = {
        name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)
    }
    media_type, _, parameters = fields.get("content-type", "").partition(";")
    charset = parameters.partition("charset=")[2] or None
    location = tuple(filter(None, [fields.get("location")]))
    return body, ServedResponse(
        fields.get("url", "https://example.com/robots.txt"),
        int(status.split()[1]),
        media_type.strip().lower(),
        charset,
        location,
        fields.get("cache-control"),
    )


class Marked(NamedTuple):
    """A robots.txt without its marks, and the notes that they expect."""

    body: bytes
    promised: list[tuple[int | None, str]]


def read_marks(block: Block) -> Marked:
    """
    Remove the marks from a block; those of a line are at its end, those of the file in the options.
    """
    promised: list[tuple[int | None, str]] = [
        (None, slug) for slug in block.options.get("notes", "").split(",") if slug
    ]
    lines = octets(block).split(b"\n")
    for number, line in enumerate(lines, 1):
        if found := _MARK.search(line):
            lines[number - 1] = line[: found.start()]
            promised += [(number, slug.strip()) for slug in found[1].decode().split(",")]
    return Marked(b"\n".join(lines), promised)


def parse_block(block: Block, body: bytes) -> robotrules.RobotsTxt:
    """Parse a block's body with its options."""
    profile = block.options.get("profile", "default")
    return robotrules.parse(body, profile, complete=block.options.get("complete") != "no")


def received(block: Block) -> ServedResponse:
    """Return how a block was served, by its options."""
    given = {name: block.options[name] for name in RECEIVED if name in block.options}
    status = int(given["status"]) if "status" in given else None
    redirects = tuple(filter(None, given.get("redirects", "").split(",")))
    plain = {name: value for name, value in given.items() if name not in ("status", "redirects")}
    return ServedResponse(status=status, redirects=redirects, **plain)


def notes_of(block: Block, body: bytes, slug: str) -> list[LintNote]:
    """Return the notes of a block: those of one check, or with `all` those of all checks."""
    beside = block.options.get("with")
    select = () if "all" in block.options else (slug, beside) if beside else (slug,)
    known = EXAMPLES if block.options.get("registries") == "example" else SHIPPED
    notes = lint(
        parse_block(block, body), received=received(block), select=select, registries=known
    )
    return [note for note in notes if note.slug != beside]


def apply_fixes(block: Block, body: bytes, slug: str, *, unsafe: bool) -> bytes:
    """Return a body after the fixes of its notes."""
    return fix(parse_block(block, body), notes_of(block, body, slug), unsafe=unsafe).body


def page_notes(block: Block, beside: bytes | None, slug: str) -> list[LintNote]:
    """Return the notes of a page."""
    initial, _, dom = octets(block).partition(DOM)
    fields, _, html = initial.partition(b"\n\n")
    robots = None if beside is None else robotrules.parse(beside)
    headers: object = fields or None
    if "joined" in block.options:  # a mapping has one value for each name
        headers = dict(line.split(": ", 1) for line in fields.decode().splitlines())
    return lint_page(
        block.options.get("url", "https://example.com/page"),
        headers=headers,
        html=html or None,
        dom=dom.decode() or None,
        robots=robots,
        product_token=block.options.get("as", "*"),
        select=() if "all" in block.options else (slug,),
    )
