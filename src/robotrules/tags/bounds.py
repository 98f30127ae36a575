"""
How much of a document may be handed to a tree builder without trouble.

A tree builder is linear on what people write and worse than quadratic on what an enemy writes:
64 KB of unclosed `b` elements, each with another attribute and a `p` behind it, become millions of
elements and gigabytes, because the open formatting is made anew in every paragraph (HTML Standard
13.2.4.3); elements nested 100,000 deep, or a tag with as many attributes, take minutes. Browsers
cap the depth at 512. `bounded()` reads the tags, keeps a stack that is at least about as deep as
the builder's, and says where to cut.

Where it cannot be sure what the builder will see (markup in `svg` or `math`, framesets, a script in
a script's comment), it stops closing and skipping anything and just counts. It errs to one side:
a cut document is never called final on the strength of the cut.

It does not know what is in the tree: that is for the builder to say.
"""

from __future__ import annotations

import re
from itertools import islice

__all__ = [
    "BODY_TAGS",
    "MARKUP",
    "MOST_HEAD_TAGS",
    "MOST_TAGS",
    "RAW_ENDS",
    "beginning",
    "bounded",
]

# Up to here nothing an enemy can do is worth looking for: 600 tags are 300 levels at most.
FEW_TAGS = 600
FEW_CHARACTERS = 16 * 1024
# Chromium's cap on the depth of a tree.
MOST_DEEP = 512
# Formatting elements that may be made anew, over all tags; a usual page has under three at a time.
MOST_FORMATTING = 400_000
MOST_ATTRIBUTES = 500
# Names of tags and attributes; a page that has hundreds is a large one.
MOST_NAMES = 3_000
# A tag shorter than this has fewer attributes than that.
LONG_TAG = 2 * MOST_ATTRIBUTES
# Tags that are still handed over once nothing is sure.
UNSURE_TAGS = 500
# More than a page of 2 MB has; to justhtml each is some 50 microseconds.
MOST_TAGS = 200_000
# And more than any head has.
MOST_HEAD_TAGS = 110_000
# Tags behind the head that are parsed to see that it is over.
BODY_TAGS = 30
# Signs that begin no tag: each is a text of its own to justhtml, and appended to the last.
MOST_BARE = 2000

_NAME = r"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_VALUE = (
    r"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    r"(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+"
)
_ATTRIBUTES = r"(?:[\t\n\f\r /]*+" + _NAME + _VALUE + ")"
# To be searched for, so it does not begin with a run: each place of one would be tried.
_ATTRIBUTE = re.compile(f"({_NAME}){_VALUE}")
# All markup, as the tokeniser of the HTML Standard cuts it (13.2.5). Every quantifier is possessive
# or bounded by what it looks for, so that one pass over the text is one pass.
MARKUP = re.compile(
    r"<(?:(?P<bare>(?![a-zA-Z!?/]))|!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))|[!?][^>]*+>?|/(?=[^a-zA-Z])[^>]*+>?"
    r"|(?P<end>/?)(?P<name>[a-zA-Z][^\t\n\f\r />]*+)" + _ATTRIBUTES + r"*+[\t\n\f\r /]*+(?:>|\Z))"
)
# An `svg` that holds nothing but shapes: it is left as it was entered.
_SHAPES = re.compile(
    r"(?:[^<]++|</?+(?:a|g|circle|clippath|defs|ellipse|fe[a-z]+|filter|image|line|lineargradient|"
    r"marker|mask|path|pattern|polygon|polyline|radialgradient|rect|stop|symbol|text|tspan|use)"
    r"(?=[\t\n\f\r />])"
    + _ATTRIBUTES
    + r"*+[\t\n\f\r /]*+>|<(title|desc|style)>[^<]*+</\1>)*+</svg>",
    re.IGNORECASE,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RAW = _words("script style title textarea xmp iframe noembed noframes noscript")
# Letters in both cases, and no flag for it: so the search for `</` is a search for octets.
RAW_ENDS = {
    name: re.compile("</" + "".join(f"[{c}{c.upper()}]" for c in name) + r"(?=[\t\n\f\r />])")
    for name in _RAW
}
_VOID = _words(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source "
    "track wbr html head body"
)
_FORMATTING = _words("a b big code em font i nobr s small strike strong tt u")
# A start tag closes these where they are the innermost (13.2.6.4.7, .13-.15).
_CELLS = frozenset(("td", "th"))
_ROWS = _CELLS | {"tr"}
_CLOSED_BY = {
    "p": frozenset(("p",)),
    "li": frozenset(("li", "p")),
    "dd": frozenset(("dd", "dt", "p")),
    "dt": frozenset(("dd", "dt", "p")),
    "option": frozenset(("option",)),
    "td": _CELLS,
    "th": _CELLS,
    "tr": _ROWS,
    "tbody": _ROWS | {"tbody", "thead", "tfoot"},
}
# The end tag of a block closes these on its way (13.2.6.3).
_IMPLIED = frozenset(("p", "li", "dd", "dt", "option"))
_BLOCKS = _words(
    "address article aside blockquote button center details dialog div dl fieldset figcaption "
    "figure footer header main menu nav ol pre section select summary ul li dd dt"
)
# Outside a table these are no elements, unless in a template (13.2.6.4.7).
_OF_TABLES = _ROWS | {"tbody", "thead", "tfoot", "caption", "colgroup"}
_CLOSES = {
    **dict.fromkeys(_BLOCKS, _IMPLIED),
    **dict.fromkeys(("td", "th"), _IMPLIED),
    "tr": _IMPLIED | _CELLS,
    **dict.fromkeys(("tbody", "thead", "tfoot"), _IMPLIED | _ROWS),
    "table": _IMPLIED | _OF_TABLES,
}
_NONE: frozenset[str] = frozenset()
_COUNTED = frozenset(("table", "template", "select"))


def beginning(text: str) -> int:
    """Return the length of a beginning that needs no look at its tags, cut just before a `<`."""
    if text.count("<") <= FEW_TAGS and len(text) <= FEW_CHARACTERS:
        return len(text)
    pieces = text[:FEW_CHARACTERS].split("<", FEW_TAGS)
    return sum(map(len, pieces[:-1])) + len(pieces) - 2 if len(pieces) > 1 else 0


def bounded(
    text: str, scripting: bool, body_tags: int | None = None, most_tags: int = MOST_TAGS
) -> int:
    """
    Return how many characters of *text* may be parsed: all of them, but for a hostile page.

    With *body_tags*, fewer: no more than that many tags behind the first that looks as if it had
    ended the head.
    """
    if len(text) <= FEW_CHARACTERS and text.count("<") <= FEW_TAGS:
        return len(text)
    stack: list[str] = []
    names = _Names()
    # Elements of these names that are open: looking for them in the stack at each tag is quadratic.
    opened = dict.fromkeys(_COUNTED, 0)
    formatting = made = bare = tags = position = 0
    while found := MARKUP.search(text, position):
        position = found.end()
        name = found["name"]
        if name is None:
            # A comment in a table parts texts, which are then joined one by one before the table.
            bare += found["bare"] is not None or opened["table"] > 0
            if bare > MOST_BARE:
                return found.start()
            continue
        if position - found.start() > LONG_TAG and _many_attributes(found[0]):
            return found.start()
        made += formatting
        tags += 1
        if made > MOST_FORMATTING or len(stack) > MOST_DEEP or tags > most_tags:
            return found.start()
        if body_tags is not None and stack and stack[0] != "template":
            body_tags -= 1
            if body_tags < 0:
                return found.start()
        name = name.lower()
        if names.are_too_many(name, found, tags > FEW_TAGS or position > FEW_CHARACTERS):
            return found.start()
        if name == "input" and opened["table"]:
            bare += 1  # a hidden one parts texts as a comment does
            if bare > MOST_BARE:
                return found.start()
        if name in _OF_TABLES and not (opened["table"] or opened["template"]):
            continue
        if found["end"]:
            depth = _closed(stack, name)
            for one in stack[depth:]:
                formatting -= one in _FORMATTING
                if one in _COUNTED:
                    opened[one] -= 1
            del stack[depth:]
            continue
        if name in _RAW and (name != "noscript" or scripting):
            is_raw = not (opened["select"] or opened["template"])
            after = _after_raw(text, position, name, is_raw)
            if after is None:
                return _unsure(text, position)
            position = after
        elif name == "svg":
            shapes = _SHAPES.match(text, position)
            if shapes is None:
                return _unsure(text, position)
            position = shapes.end()
        elif name in ("math", "frameset", "plaintext"):
            return _unsure(text, position)
        elif name not in _VOID:
            closed = _CLOSED_BY.get(name, _NONE)
            while stack and stack[-1] in closed:
                stack.pop()
            stack.append(name)
            formatting += name in _FORMATTING
            if name in _COUNTED:
                opened[name] += 1
    return len(text)


class _Names:
    """
    The names of tags and attributes so far.

    A tree builder keeps each in a table that slows down with their number, and compares the
    attributes of every further `html` and `body` tag with those that are there (13.2.6.4.7).
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._given = 0

    def are_too_many(self, name: str, tag: re.Match[str], is_far: bool) -> bool:
        """Take in a tag; what is *is_far* in a text is looked at more closely."""
        self._names.add(name)
        start, end = tag.end("name"), tag.end()
        if end - start > 2:  # less has no room for an attribute
            attributes = _ATTRIBUTE.finditer(tag.string, start, end)
            if name in ("html", "body"):
                self._given += sum(1 for _ in attributes)
            elif is_far:
                self._names.update(attribute[1] for attribute in attributes)
        return self._given > MOST_ATTRIBUTES or len(self._names) > MOST_NAMES


def _closed(stack: list[str], name: str) -> int:
    """Return how many elements stay open at an end tag."""
    depth = len(stack)
    if name == "template":  # 13.2.6.4.4: whatever is open in it
        while depth and stack[depth - 1] != name:
            depth -= 1
        return depth - 1 if depth else len(stack)
    closes = _CLOSES.get(name, _NONE)
    while depth and stack[depth - 1] != name and stack[depth - 1] in closes:
        depth -= 1
    return depth - 1 if depth and stack[depth - 1] == name else len(stack)


def _after_raw(text: str, position: int, name: str, is_raw: bool) -> int | None:
    """Return where the text of a raw element ends, or None where that is not sure."""
    found = RAW_ENDS[name].search(text, position)
    end = found.start() if found else len(text)
    inside = text.find("<", position, end)
    if inside < 0:
        return end
    # In a select, or after a col in a template, some start tags are taken for nothing.
    if not is_raw:
        return None
    # 13.2.5.17: in `<!-- <script>` the next `</script>` ends nothing.
    comment = text.find("<!--", inside, end) if name == "script" else -1
    return end if comment < 0 or "<script" not in text[comment:end].lower() else None


def _many_attributes(tag: str) -> bool:
    # The name of the tag is found as the first of them.
    return next(islice(_ATTRIBUTE.finditer(tag), MOST_ATTRIBUTES, None), None) is not None


def _unsure(text: str, position: int) -> int:
    """Return where the last `<` begins that may be parsed if every one is a tag that stays open."""
    for _ in range(UNSURE_TAGS):
        position = text.find("<", position + 1)
        if position < 0:
            return len(text)
    return position
