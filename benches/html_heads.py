"""
The metas named robots in the head of a page: what it costs, and who gets it wrong.

One job for all: octets in, the contents of the metas named robots that stand in the head out. Four
shapes of a page of 2 MB, and beside them the cost of parsing the head alone, handed over already
cut out, which no reader can know beforehand. Then the hostile pages of the tests, whose answers a
browser confirmed, and how many each reader answers wrong.

Does not know: how good a whole tree is. Others build one that is good for more than this.
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
# Octets and the charset of the transport to contents.
Reader = Callable[[bytes, str | None], list[str]]
OURS, PURE = "robotrules, selectolax", "robotrules, justhtml"
ALONE = "selectolax, the head alone"
ROBOTS = b'<meta name="robots" content="noindex, nofollow">'


# --- Pages ----------------------------------------------------------------------------------------


def filled(octets: int, piece: Callable[[int], str]) -> bytes:
    """As many pieces as make that many octets."""
    pieces, size, number = [], 0, 0
    while size < octets:
        pieces.append(piece(number).encode())
        size += len(pieces[-1])
        number += 1
    return b"".join(pieces)


def word(number: int) -> str:
    """A word."""
    return WORDS[number % len(WORDS)]


def links(number: int) -> str:
    """Elements of a usual head."""
    return (
        f'<link rel="preload" href="/assets/{word(number)}/{number}.js" as="script">\n'
        f'<meta property="og:{word(number)}" content="Some words about {word(number + 7)}">\n'
    )


def script(number: int) -> str:
    """An inline script, with what looks like tags in it."""
    line = f"if (a < {number}) {{ render('<div class={word(number)}><p>' + b + '</p></div>'); }}\n"
    return f"<script>\n{line * 60}</script>\n<style>\n{'.a > .b { margin: 0 } ' * 60}</style>\n"


def paragraph(number: int) -> str:
    """A piece of a usual body."""
    return (
        f'<div class="row {word(number)}"><h2>{word(number)} {number}</h2>\n<p>Some text with '
        f'<a href="/{word(number + 3)}/{number}">a link</a> and <em>more</em> words.</p></div>\n'
    )


def shapes(octets: int) -> dict[str, tuple[bytes, bytes]]:
    """Name → the head of a page, and the page."""
    opening = (
        b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>A</title>\n'
    )
    pixel = b'<noscript><img height="1" width="1" src="/pixel.gif" alt=""></noscript>\n'
    usual = filled(9_000, links)
    heads = {
        "usual": opening + usual + ROBOTS + b"</head>\n<body>\n",
        "inline scripts": opening + filled(200_000, script) + ROBOTS + b"</head>\n<body>\n",
        "noscript pixel": opening + pixel + usual + ROBOTS + b"</head>\n<body>\n",
        "no head tags": b"<!doctype html>\n<title>A</title>\n" + usual + ROBOTS,
    }
    body = filled(octets, paragraph)
    return {name: (head, head + body[: octets - len(head)]) for name, head in heads.items()}


# --- Readers --------------------------------------------------------------------------------------


def ours(data: bytes, charset: str | None) -> list[str]:
    """robotrules, with the tree builder that is found."""
    from robotrules.tags.html import ElementPosition, read_page

    page = read_page(data, charset=charset)
    return [
        m.content or ""
        for m in page.metas
        if is_robots(m.name) and m.place is not ElementPosition.BODY
    ]


def lexbor(data: bytes, charset: str | None) -> list[str]:
    """selectolax alone, on all that it is given."""
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
    """lxml, fed until the body begins."""
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
    """Whether a meta is named robots."""
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
# Seconds up to which a reader is asked once untimed before it is timed.
QUICK = 0.05


def ask(name: str, data: bytes, charset: str | None = None) -> list[str]:
    """Ask one reader; for justhtml, selectolax is hidden as if it were not installed."""
    if name != PURE:
        return READERS[name](data, charset)
    from tests.tags.builders import only

    with only("justhtml"):
        return READERS[name](data, charset)


def installed(report: Any) -> list[str]:
    """The readers that can run here; says which cannot."""
    found, missing = [], []
    for name in READERS:
        try:
            ask(name, b"<p>")
        except ImportError:
            missing.append(name)
        else:
            found.append(name)
    if missing:
        report.say(f"Not installed here: {'; '.join(missing)}.", "")
    return found


# --- Figures --------------------------------------------------------------------------------------


def timed(names: list[str], plan: dict[str, Any], progress: Progress) -> dict[Any, list[float]]:
    """Seconds of every reader on every shape, round by round."""
    taken: dict[Any, list[float]] = {}
    for shape, (head, page) in shapes(plan["octets"]).items():
        for number in range(plan["rounds"]):
            for name in names:
                times = taken.setdefault((name, shape), [])
                if sum(times) > plan["seconds"]:
                    continue
                progress(f"{shape}, round {number + 1} of {plan['rounds']}: {name}")
                gc.collect()
                # The first call pays for the memory that the reader before it gave back.
                if not times or times[-1] < QUICK:
                    ask(name, head if name == ALONE else page)
                gc.disable()
                start = time.perf_counter()
                ask(name, head if name == ALONE else page)
                times.append(time.perf_counter() - start)
                gc.enable()
    return taken


class Wrong(NamedTuple):
    """How many hostile pages a reader answers wrong, and on how many of those it raises."""

    pages: int
    wrong: int
    raised: int


def wrong_answers(name: str) -> Wrong:
    """
    Ask a reader for every hostile page.

    Ours has to have the metas of the head with scripting on or off. From the others either is
    taken, the head with scripting or the union: they have no way to say which.
    """
    from tests.tags.pages import PAGES

    wrong = raised = 0
    for page in PAGES:
        metas = [(content or "", place) for n, content, place in page.metas if is_robots(n)]
        union = sorted(content for content, place in metas if place != "body")
        head = sorted(content for content, place in metas if place == "head")
        try:
            answer = sorted(ask(name, page.data, page.charset))
        except Exception:  # a wrong answer, whatever it is
            wrong, raised = wrong + 1, raised + 1
            continue
        wrong += answer != union and (name in (OURS, PURE) or answer != head)
    return Wrong(len(PAGES), wrong, raised)


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    report.say(f"## {plan['title']}", "")
    names = installed(report)
    taken = timed(names, plan, progress)
    every = list(shapes(plan["octets"]))
    medians = {key: statistics.median(times) * 1e3 for key, times in taken.items()}
    rows = []
    for name in names:
        cells = []
        for shape in every:
            ratio = medians[name, shape] / medians[OURS, shape] if OURS in names else 1.0
            cells.append(f"{table.milliseconds(medians[name, shape])} ({table.times(ratio)})")
        rows.append([name, *cells])
    report.say(
        f"Pages of {plan['octets'] / 1e6:g} MB with one head in four shapes: 9 KB of links and "
        "metas; 200 KB of inline scripts and styles; 9 KB with a pixel in a noscript, which is "
        "read with scripting on and off; and 9 KB without tags for head and body. Medians of up "
        f"to {plan['rounds']} rounds; in brackets, how many times {OURS} it is.",
        "",
        table.render(["reader", *every], rows),
        "",
    )
    report.figures["html"] = {
        "milliseconds": {f"{name}, {shape}": medians[name, shape] for name, shape in medians}
    }
    counted = []
    for name in names:
        if name in (ALONE, "selectolax, the whole"):
            continue
        progress(f"hostile pages: {name}")
        answer = wrong_answers(name)
        counted.append([name, str(answer.pages), str(answer.wrong), str(answer.raised)])
        report.figures["html"][f"wrong, {name}"] = answer._asdict()
    report.say(
        "The hostile pages of `tests/tags/pages`. From others the head with scripting is taken "
        "for right, and so is the union with the head without:",
        "",
        table.render(["reader", "pages", "wrong", "of them raised"], counted),
        "",
    )
    shape, most = plan["bar"]["shape"], plan["bar"]["milliseconds"]
    if OURS in names:
        each = medians[OURS, shape]
        report.bar(f"head of a 2 MB page, {shape}", f"< {most:g} ms", f"{each:.2f} ms", each < most)
