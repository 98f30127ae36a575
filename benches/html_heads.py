"""
Reading the robots meta elements in the head of a page: time, and wrong results.

The task is the same for all readers: octets in, the contents of the robots meta elements of the
head out. Four shapes of a page of 2 MB, and next to them the time for the head alone, cut out
beforehand, which no reader can do. Then the hostile pages of the tests, whose results a browser
confirmed, and the number that each reader gets wrong.

Does not know: the quality of a whole tree. Other libraries build one, for more purposes.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import table
from corpora.words import WORDS

Progress = Callable[[str], None]
# (octets, charset of the transport) → contents.
Reader = Callable[[bytes, str | None], list[str]]
OURS, PURE = "robotrules, selectolax", "robotrules, justhtml"
ALONE = "selectolax, the head alone"
ROBOTS = b'<meta name="robots" content="noindex, nofollow">'


# --- Pages ----------------------------------------------------------------------------------------


def fill(octets: int, piece: Callable[[int], str]) -> bytes:
    """Return enough pieces for that many octets."""
    pieces, size, number = [], 0, 0
    while size < octets:
        pieces.append(piece(number).encode())
        size += len(pieces[-1])
        number += 1
    return b"".join(pieces)


def word(number: int) -> str:
    """Return a word."""
    return WORDS[number % len(WORDS)]


def make_links(number: int) -> str:
    """Return elements of a usual head."""
    return (
        f'<link rel="preload" href="/assets/{word(number)}/{number}.js" as="script">\n'
        f'<meta property="og:{word(number)}" content="Some words about {word(number + 7)}">\n'
    )


def make_script(number: int) -> str:
    """Return an inline script that contains text like tags."""
    line = f"if (a < {number}) {{ render('<div class={word(number)}><p>' + b + '</p></div>'); }}\n"
    return f"<script>\n{line * 60}</script>\n<style>\n{'.a > .b { margin: 0 } ' * 60}</style>\n"


def make_paragraph(number: int) -> str:
    """Return a piece of a usual body."""
    return (
        f'<div class="row {word(number)}"><h2>{word(number)} {number}</h2>\n<p>Some text with '
        f'<a href="/{word(number + 3)}/{number}">a link</a> and <em>more</em> words.</p></div>\n'
    )


def make_pages(octets: int) -> dict[str, tuple[bytes, bytes]]:
    """Return shape → the head of a page, and the page."""
    opening = (
        b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>A</title>\n'
    )
    pixel = b'<noscript><img height="1" width="1" src="/pixel.gif" alt=""></noscript>\n'
    usual = fill(9_000, make_links)
    heads = {
        "usual": opening + usual + ROBOTS + b"</head>\n<body>\n",
        "inline scripts": opening + fill(200_000, make_script) + ROBOTS + b"</head>\n<body>\n",
        "noscript pixel": opening + pixel + usual + ROBOTS + b"</head>\n<body>\n",
        "no head tags": b"<!doctype html>\n<title>A</title>\n" + usual + ROBOTS,
    }
    body = fill(octets, make_paragraph)
    return {name: (head, head + body[: octets - len(head)]) for name, head in heads.items()}


# --- Readers --------------------------------------------------------------------------------------


def ours(data: bytes, charset: str | None) -> list[str]:
    """robotrules, with the tree builder that is installed."""
    from robotrules.tags.html import ElementPosition, read_page

    page = read_page(data, charset=charset)
    return [
        m.content or ""
        for m in page.metas
        if is_robots(m.name) and m.place is not ElementPosition.BODY
    ]


def lexbor(data: bytes, charset: str | None) -> list[str]:
    """selectolax alone."""
    from selectolax.lexbor import LexborHTMLParser

    parser = LexborHTMLParser(data, scripting=True)
    found = [node.attributes for node in parser.css("head meta")]
    return [one.get("content") or "" for one in found if is_robots(one.get("name"))]


def lxml_whole(data: bytes, charset: str | None) -> list[str]:
    """lxml, the whole page."""
    etree = import_module("lxml.etree")
    root = etree.HTML(data, etree.HTMLParser(encoding=charset))
    found = root.iterfind("head//meta") if root is not None else ()
    return [one.get("content", "") for one in found if is_robots(one.get("name"))]


def lxml_pull(data: bytes, charset: str | None) -> list[str]:
    """lxml, fed until the start of the body."""
    etree = import_module("lxml.etree")
    parser = etree.HTMLPullParser(events=("start",), encoding=charset)
    found: list[str] = []
    for at in range(0, len(data), 16_384):
        parser.feed(data[at : at + 16_384])
        for _, node in parser.read_events():
            if node.tag == "body":
                return found
            parent = node.getparent()
            if node.tag == "meta" and parent is not None and parent.tag in ("head", "noscript"):
                found += [node.get("content", "")] if is_robots(node.get("name")) else []
    return found


def soup(features: str) -> Reader:
    """BeautifulSoup on one of its parsers."""

    def read(data: bytes, charset: str | None) -> list[str]:
        make = import_module("bs4").BeautifulSoup
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pages that look like XML or like a file name
            document = make(data, features, from_encoding=charset)
        found = document.head.find_all("meta") if document.head else ()
        return [str(one.get("content", "")) for one in found if is_robots(one.get("name"))]

    return read


def html5lib(data: bytes, charset: str | None) -> list[str]:
    """html5lib, the whole page."""
    root = import_module("html5lib").parse(
        data, transport_encoding=charset, namespaceHTMLElements=False
    )
    return [m.get("content", "") for m in root.iterfind("head//meta") if is_robots(m.get("name"))]


def is_robots(name: object) -> bool:
    """Return whether a meta element is named robots."""
    return isinstance(name, str) and name.strip().lower() == "robots"


READERS: dict[str, Reader] = {
    OURS: ours,
    PURE: ours,
    ALONE: lexbor,
    "selectolax, the whole": lexbor,
    "lxml, until the body": lxml_pull,
    "lxml, the whole": lxml_whole,
    "BeautifulSoup, lxml": soup("lxml"),
    "BeautifulSoup, html.parser": soup("html.parser"),
    "html5lib": html5lib,
}
# Seconds: a faster reader is warmed up before each timed call.
MAX_WARMUP = 0.05


def read(name: str, data: bytes, charset: str | None = None) -> list[str]:
    """Call a reader; for justhtml, selectolax is hidden as if it were not installed."""
    if name != PURE:
        return READERS[name](data, charset)
    from tests.tags.builders import only

    with only("justhtml"):
        return READERS[name](data, charset)


def find_readers(report: Any) -> list[str]:
    """Return the readers that are installed; report the others."""
    installed, missing = [], []
    for name in READERS:
        try:
            read(name, b"<p>")
        except ImportError:
            missing.append(name)
        else:
            installed.append(name)
    if missing:
        report.say(f"Not installed: {'; '.join(missing)}.", "")
    return installed


# --- Figures --------------------------------------------------------------------------------------


def time_readers(
    names: list[str], plan: dict[str, Any], progress: Progress
) -> dict[Any, list[float]]:
    """Return the seconds of every reader on every shape, round by round."""
    taken: dict[Any, list[float]] = {}
    for shape, (head, page) in make_pages(plan["octets"]).items():
        for number in range(plan["rounds"]):
            for name in names:
                times = taken.setdefault((name, shape), [])
                if sum(times) > plan["seconds"]:
                    continue
                progress(f"{shape}, round {number + 1} of {plan['rounds']}: {name}")
                gc.collect()
                # The first call pays for memory that the previous reader has freed.
                if not times or times[-1] < MAX_WARMUP:
                    read(name, head if name == ALONE else page)
                gc.disable()
                start = time.perf_counter()
                read(name, head if name == ALONE else page)
                times.append(time.perf_counter() - start)
                gc.enable()
    return taken


class ErrorCount(NamedTuple):
    """The number of hostile pages, of wrong results, and of exceptions among them."""

    pages: int
    wrong: int
    raised: int


def count_errors(name: str) -> ErrorCount:
    """
    Run a reader on every hostile page.

    robotrules has to return the meta elements of the head with scripting on or off. From the others
    either is accepted, the head with scripting or the union: they cannot express the difference.
    """
    from tests.tags.pages import PAGES

    wrong = raised = 0
    for page in PAGES:
        metas = [(content or "", place) for n, content, place in page.metas if is_robots(n)]
        union = sorted(content for content, place in metas if place != "body")
        head = sorted(content for content, place in metas if place == "head")
        try:
            answer = sorted(read(name, page.data, page.charset))
        except Exception:  # any exception is a wrong result
            wrong, raised = wrong + 1, raised + 1
            continue
        wrong += answer != union and (name in (OURS, PURE) or answer != head)
    return ErrorCount(len(PAGES), wrong, raised)


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    report.say(f"## {plan['title']}", "")
    names = find_readers(report)
    taken = time_readers(names, plan, progress)
    page_shapes = list(make_pages(plan["octets"]))
    medians = {key: statistics.median(times) * 1e3 for key, times in taken.items()}
    rows = []
    for name in names:
        cells = []
        for shape in page_shapes:
            ratio = medians[name, shape] / medians[OURS, shape] if OURS in names else 1.0
            cells.append(
                f"{table.format_milliseconds(medians[name, shape])} ({table.format_factor(ratio)})"
            )
        rows.append([name, *cells])
    report.say(
        f"Pages of {plan['octets'] / 1e6:g} MB with one head in four shapes: 9 KB of links and "
        "metas; 200 KB of inline scripts and styles; 9 KB with a pixel in a noscript, which is "
        "read with scripting on and off; and 9 KB without tags for head and body. Medians of up "
        f"to {plan['rounds']} rounds; in brackets, the ratio to {OURS}.",
        "",
        table.render(["reader", *page_shapes], rows),
        "",
    )
    report.figures["html"] = {
        "milliseconds": {f"{name}, {shape}": medians[name, shape] for name, shape in medians}
    }
    counts = []
    for name in names:
        if name in (ALONE, "selectolax, the whole"):
            continue
        progress(f"hostile pages: {name}")
        answer = count_errors(name)
        counts.append([name, str(answer.pages), str(answer.wrong), str(answer.raised)])
        report.figures["html"][f"wrong, {name}"] = answer._asdict()
    report.say(
        "The hostile pages of `tests/tags/pages`. For other readers, both the head with scripting "
        "and its union with the head without scripting count as correct:",
        "",
        table.render(["reader", "pages", "wrong", "exceptions"], counts),
        "",
    )
    shape, most = plan["bar"]["shape"], plan["bar"]["milliseconds"]
    if OURS in names:
        each = medians[OURS, shape]
        report.add_bar(
            f"head of a 2 MB page, {shape}", f"< {most:g} ms", f"{each:.2f} ms", each < most
        )
