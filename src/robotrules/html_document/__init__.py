"""
Self-contained HTML pages for reports: no script, no font, no other file, no network.

Pages are built from `Html` values. `element()` escapes every child and attribute that is not
`Html`, so text of a log line, a URL or a robots.txt cannot become markup; a content security policy
limits the effect of a mistake. The pages follow the reader's preference for light or dark, adapt to
small screens, and print. The module knows nothing about robots.txt files, and opens no file.

Sections: markup · pages. `tables` has tables, `charts` has pictures, `style` the style sheet.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from robotrules.html_document.style import STYLE
from robotrules.octets import visible

__all__ = ["Html", "document", "element", "fragment", "section", "text"]

# Longer text of others is truncated.
MAX_LENGTH = 300
# Elements without content (HTML §13.1.2).
_VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "wbr"})
# Scripts, frames and requests are refused, also those that a mistake lets in.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


# --- Markup ---------------------------------------------------------------------------------------


class Html(str):
    """Markup whose text is escaped; all other strings are escaped before they are shown."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def text(value: str | bytes, most: int = MAX_LENGTH) -> Html:
    """Return text of others: control characters escaped, truncated to *most* characters."""
    # An octet may become four characters; cutting first keeps hostile lines of a megabyte cheap.
    shown = visible(value[: most + 1])
    return Html(escape(shown if len(shown) <= most else shown[: most - 1] + "…", quote=True))


def fragment(*children: Child) -> Html:
    """Return children as one piece of markup; strings are escaped, None is left out."""
    return Html("".join(_pieces(children)))


def _pieces(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            yield child
        elif isinstance(child, str):
            yield escape(visible(child), quote=True)
        elif isinstance(child, int):
            yield f"{child:,}"
        else:
            yield from _pieces(child)


def element(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Html:
    """
    Return an element; strings in *children* and *attributes* are escaped.

    In the name of an attribute, `_` becomes `-` and one at the end is left out: `class_`. True
    gives an attribute without a value; None and False leave it out.
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{escape(visible(str(value)), quote=True)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{fragment(*children)}</{name}>")


# --- Pages ----------------------------------------------------------------------------------------


def section(title: str, *children: Child, intro: Child = None, id_: str | None = None) -> Html:
    """Return a section with a heading, and an introduction in faint text."""
    return element(
        "section",
        element("h2", title),
        None if intro is None else element("p", intro, class_="intro"),
        *children,
        id=id_,
    )


def document(
    title: str,
    *children: Child,
    heading: Child = None,
    subtitle: Child = None,
    headline: Child = None,
    footer: Child = None,
    style: str = "",
    before: Child = None,
) -> str:
    """
    Return a page. *headline* is the sentence that a reader in a hurry takes away.

    *heading* is shown in place of the title. *style* is added to the style sheet; it comes from
    this project, not from others. *before* is put before the content, such as symbols of marks.
    """
    head = fragment(
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html(f"\n{(STYLE + style).strip()}\n")),
    )
    body = element(
        "main",
        element(
            "header",
            element("h1", title if heading is None else heading),
            None if subtitle is None else element("p", subtitle, class_="subtitle"),
            None if headline is None else element("p", headline, class_="headline"),
        ),
        *children,
        element("footer", footer, element("p", "Made by robotrules.")),
    )
    # Line ends of the markup; those in text of others are escaped.
    end = Html("\n")
    page = fragment(end, element("head", head), end, element("body", end, before, body, end), end)
    return f"<!DOCTYPE html>\n{element('html', page, lang='en')}\n"
