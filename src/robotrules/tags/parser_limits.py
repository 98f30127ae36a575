"""
Parser limits: how much of a document a tree builder can parse in bounded time and memory.

Tree builders take linear time on ordinary pages and worse than quadratic time on hostile ones:
64 KB of unclosed `b` elements, each with another attribute and followed by a `p`, become millions
of elements and gigabytes, because open formatting elements are reconstructed in every paragraph
(HTML Standard 13.2.4.3). Elements nested 100,000 deep, or a tag with as many attributes, take
minutes. Browsers limit the depth to 512. `safe_length()` scans the tags, keeps a stack about as
deep as the builder's or deeper, and returns where to cut.

Where the tree cannot be predicted (markup in `svg` or `math`, framesets, a script in a script's
comment), it no longer closes or skips elements and only counts. It errs on the safe side: a cut
document is never final because of the cut.

It does not build a tree.
"""

from __future__ import annotations

import re
from itertools import islice

__all__ = [
    "BODY_TAGS",
    "MARKUP",
    "MAX_HEAD_TAGS",
    "MAX_TAGS",
    "RAW_ENDS",
    "safe_length",
    "unchecked_length",
]

# Below these limits no hostile input needs a check: 600 tags are 300 levels at most.
FEW_TAGS = 600
FEW_CHARACTERS = 16 * 1024
# Chromium's limit on the depth of a tree.
MAX_DEPTH = 512
# Reconstructed formatting elements over all tags; a usual page has fewer than three open at a time.
MAX_FORMATTING = 400_000
MAX_ATTRIBUTES = 500
# Different names of tags and attributes; large pages have hundreds.
MAX_NAMES = 3_000
# A tag shorter than this has fewer than MAX_ATTRIBUTES attributes.
LONG_TAG = 2 * MAX_ATTRIBUTES
# Tags that are still parsed after the scan can no longer predict the tree.
UNSURE_TAGS = 500
# More than a page of 2 MB has; justhtml takes about 50 microseconds for each.
MAX_TAGS = 200_000
# More than any head has.
MAX_HEAD_TAGS = 110_000
# Tags after the head that are parsed to confirm that the head has ended.
BODY_TAGS = 30
# `<` characters that start no tag: justhtml makes a text node of each and appends it to the last.
MAX_BARE = 2000

_NAME = r"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_VALUE = (
    r"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    r"(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+"
)
_ATTRIBUTES = r"(?:[\t\n\f\r /]*+" + _NAME + _VALUE + ")"
# Used with search(), so it does not start with a run: search() would try each position of the run.
_ATTRIBUTE = re.compile(f"({_NAME}){_VALUE}")
# All markup, as the tokeniser of the HTML Standard splits it (13.2.5). Every quantifier is
# possessive or bounded by its delimiter, so the scan takes linear time.
MARKUP = re.compile(
    r"<(?:(?P<bare>(?![a-zA-Z!?/]))|!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))|[!?][^>]*+>?|/(?=[^a-zA-Z])[^>]*+>?"
    r"|(?P<end>/?)(?P<name>[a-zA-Z][^\t\n\f\r />]*+)" + _ATTRIBUTES + r"*+[\t\n\f\r /]*+(?:>|\Z))"
)
# An `svg` with shapes only: it does not change the stack.
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
# Both cases are spelled out instead of using IGNORECASE, so that `</` is searched for literally.
RAW_ENDS = {
    name: re.compile("</" + "".join(f"[{c}{c.upper()}]" for c in name) + r"(?=[\t\n\f\r />])")
    for name in _RAW
}
_VOID = _words(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source "
    "track wbr html head body"
)
_FORMATTING = _words("a b big code em font i nobr s small strike strong tt u")
# A start tag closes these elements where they are the innermost (13.2.6.4.7, .13-.15).
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
# The end tag of a block closes these too (13.2.6.3).
_IMPLIED = frozenset(("p", "li", "dd", "dt", "option"))
_BLOCKS = _words(
    "address article aside blockquote button center details dialog div dl fieldset figcaption "
    "figure footer header main menu nav ol pre section select summary ul li dd dt"
)
# Outside a table these are not elements, unless in a template (13.2.6.4.7).
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


def unchecked_length(text: str) -> int:
    """Return the length of a prefix that needs no check of its tags; it ends before a `<`."""
    if text.count("<") <= FEW_TAGS and len(text) <= FEW_CHARACTERS:
        return len(text)
    pieces = text[:FEW_CHARACTERS].split("<", FEW_TAGS)
    return sum(map(len, pieces[:-1])) + len(pieces) - 2 if len(pieces) > 1 else 0


def safe_length(
    text: str, scripting: bool, body_tags: int | None = None, most_tags: int = MAX_TAGS
) -> int:
    """
    Return how many characters of *text* may be parsed: all of them, except on a hostile page.

    With *body_tags*, at most that many tags after the first one that seems to end the head.
    """
    if len(text) <= FEW_CHARACTERS and text.count("<") <= FEW_TAGS:
        return len(text)
    stack: list[str] = []
    names = _Names()
    # Counts of open elements: searching the stack at each tag would take quadratic time.
    opened = dict.fromkeys(_COUNTED, 0)
    formatting = made = bare = tags = position = 0
    while found := MARKUP.search(text, position):
        position = found.end()
        name = found["name"]
        if name is None:
            # A comment in a table splits texts, which are then joined one by one before the table.
            bare += found["bare"] is not None or opened["table"] > 0
            if bare > MAX_BARE:
                return found.start()
            continue
        if position - found.start() > LONG_TAG and _has_many_attributes(found[0]):
            return found.start()
        made += formatting
        tags += 1
        if made > MAX_FORMATTING or len(stack) > MAX_DEPTH or tags > most_tags:
            return found.start()
        if body_tags is not None and stack and stack[0] != "template":
            body_tags -= 1
            if body_tags < 0:
                return found.start()
        name = name.lower()
        if names.add_and_check(name, found, tags > FEW_TAGS or position > FEW_CHARACTERS):
            return found.start()
        if name == "input" and opened["table"]:
            bare += 1  # a hidden input splits texts as a comment does
            if bare > MAX_BARE:
                return found.start()
        if name in _OF_TABLES and not (opened["table"] or opened["template"]):
            continue
        if found["end"]:
            depth = _depth_after_end_tag(stack, name)
            for one in stack[depth:]:
                formatting -= one in _FORMATTING
                if one in _COUNTED:
                    opened[one] -= 1
            del stack[depth:]
            continue
        if name in _RAW and (name != "noscript" or scripting):
            is_raw = not (opened["select"] or opened["template"])
            after = _find_raw_end(text, position, name, is_raw)
            if after is None:
                return _cut_unsure(text, position)
            position = after
        elif name == "svg":
            shapes = _SHAPES.match(text, position)
            if shapes is None:
                return _cut_unsure(text, position)
            position = shapes.end()
        elif name in ("math", "frameset", "plaintext"):
            return _cut_unsure(text, position)
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

    A tree builder keeps them in a table that slows down as it grows, and compares the attributes of
    every further `html` and `body` tag with the existing ones (13.2.6.4.7).
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._given = 0

    def add_and_check(self, name: str, tag: re.Match[str], is_far: bool) -> bool:
        """Add a tag and return whether there are too many names; count attributes if *is_far*."""
        self._names.add(name)
        start, end = tag.end("name"), tag.end()
        if end - start > 2:  # a shorter tag has no attribute
            attributes = _ATTRIBUTE.finditer(tag.string, start, end)
            if name in ("html", "body"):
                self._given += sum(1 for _ in attributes)
            elif is_far:
                self._names.update(attribute[1] for attribute in attributes)
        return self._given > MAX_ATTRIBUTES or len(self._names) > MAX_NAMES


def _depth_after_end_tag(stack: list[str], name: str) -> int:
    """Return how many elements stay open after an end tag."""
    depth = len(stack)
    if name == "template":  # 13.2.6.4.4: it closes everything open in it
        while depth and stack[depth - 1] != name:
            depth -= 1
        return depth - 1 if depth else len(stack)
    closes = _CLOSES.get(name, _NONE)
    while depth and stack[depth - 1] != name and stack[depth - 1] in closes:
        depth -= 1
    return depth - 1 if depth and stack[depth - 1] == name else len(stack)


def _find_raw_end(text: str, position: int, name: str, is_raw: bool) -> int | None:
    """Return where the text of a raw element ends, or None if that cannot be predicted."""
    found = RAW_ENDS[name].search(text, position)
    end = found.start() if found else len(text)
    inside = text.find("<", position, end)
    if inside < 0:
        return end
    # In a select, or after a col in a template, some start tags are ignored.
    if not is_raw:
        return None
    # 13.2.5.17: in `<!-- <script>` the next `</script>` does not end the script.
    comment = text.find("<!--", inside, end) if name == "script" else -1
    return end if comment < 0 or "<script" not in text[comment:end].lower() else None


def _has_many_attributes(tag: str) -> bool:
    # The first match is the name of the tag.
    return next(islice(_ATTRIBUTE.finditer(tag), MAX_ATTRIBUTES, None), None) is not None


def _cut_unsure(text: str, position: int) -> int:
    """Return where to cut if every further `<` may be a tag that stays open."""
    for _ in range(UNSURE_TAGS):
        position = text.find("<", position + 1)
        if position < 0:
            return len(text)
    return position
