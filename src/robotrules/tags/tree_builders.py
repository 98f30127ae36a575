"""
HTML tree builders: selectolax and justhtml behind one interface.

`find_tree_builder()` returns the one that is installed; selectolax first, because it is faster. A
`Tree` has whether the head has ended, and the `meta` elements of the document. Both build the tree
of the HTML Standard: comments, the contents of a `template`, the text of a `script` and nested
documents contain no elements of the document (AMB-89).

It does not decode octets, apply limits or interpret `meta` elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from robotrules.errors import MissingExtraError
from robotrules.tags.parser_limits import MARKUP, RAW_ENDS

if TYPE_CHECKING:
    from justhtml.dom import Node
    from selectolax.lexbor import LexborNode

__all__ = [
    "Attributes",
    "Builder",
    "Element",
    "Tree",
    "find_tree_builder",
    "remove_ignored_end_tags",
]

MISSING = (
    "reading HTML needs selectolax or justhtml, and neither is installed: "
    "pip install 'robotrules[html]', or pip install selectolax; headers alone need neither"
)
# Bit of selectolax's options: no copies of elements for `selectedcontent`.
WITHOUT_EVENTS = 1
ATTRIBUTES = ("name", "content", "http-equiv", "property", "itemprop")
# HTML Standard 13.2.6.4.5: elements allowed in a noscript in the head, and end tags ignored in it.
OF_NOSCRIPT = frozenset(
    ("basefont", "bgsound", "link", "meta", "noframes", "style", "html", "head", "noscript")
)
IGNORED_ENDS = frozenset(("head", "body", "html"))
WHITESPACE = "\t\n\f\r "
# Elements with text that is not shown.
SILENT = frozenset(("script", "style", "template", "noscript", "iframe", "textarea", "title"))


class Attributes(NamedTuple):
    """The attributes of a `meta` that may hold a rule, right or wrong. None: missing."""

    name: str | None
    content: str | None
    http_equiv: str | None
    property: str | None
    itemprop: str | None

    @classmethod
    def of(cls, attributes: Mapping[str, str | None]) -> Attributes:
        """Select them; an attribute without a value is empty (HTML Standard 13.1.2.3)."""
        return cls(
            *[(attributes[name] or "") if name in attributes else None for name in ATTRIBUTES]
        )


class Element(NamedTuple):
    """A `meta` element: its attributes and its position."""

    attributes: Attributes
    in_head: bool
    in_noscript: bool


class Tree(Protocol):
    """A parsed document."""

    def head_is_over(self) -> bool:
        """Return whether the body has content, or there is a frameset in its place."""

    def metas(self) -> list[Element]:
        """Return the `meta` elements in document order."""

    def texts(self, names: Sequence[str], attribute: str) -> list[str]:
        """Return the text of the outermost elements that have one of *names* and *attribute*."""

    def in_head(self, name: str) -> list[Mapping[str, str | None]]:
        """Return the attributes of each element of that name that is a child of the head."""


Builder = Callable[[str, bool], Tree]


def find_tree_builder() -> Builder:
    """
    Return the installed tree builder; raise MissingExtraError if there is none.

    It parses a text as a document, with scripting on or off. Each call makes a parser: parsers are
    not thread-safe.
    """
    try:
        import selectolax.lexbor  # noqa: F401

        return _LexborTree
    except ImportError:
        pass
    try:
        import justhtml  # noqa: F401

        return _JustHtmlTree
    except ImportError:
        raise MissingExtraError(MISSING) from None


class _LexborTree:
    """selectolax, on lexbor."""

    def __init__(self, text: str, scripting: bool) -> None:
        from selectolax.lexbor import LexborHTMLParser

        self._parser = LexborHTMLParser(text, options=WITHOUT_EVENTS, scripting=scripting)

    def head_is_over(self) -> bool:
        """Whether the body has a child, or there is a frameset."""
        body = self._parser.body
        if body is not None and body.first_child is not None:
            return True
        root = self._parser.root
        return root is not None and any(child.tag == "frameset" for child in root.iter())

    def metas(self) -> list[Element]:
        """All `meta` elements of the document."""
        return [self._element(node) for node in self._parser.tags("meta")]

    @staticmethod
    def _element(node: LexborNode) -> Element:
        # In a head, a meta is a child of the head or of a noscript in it: no other element there
        # has child elements. So two ancestors are enough, at any depth.
        parent = node.parent
        in_noscript = parent is not None and parent.tag == "noscript"
        outer = parent.parent if parent is not None and in_noscript else parent
        in_head = outer is not None and outer.tag == "head"
        return Element(Attributes.of(node.attributes), in_head, in_noscript)

    def texts(self, names: Sequence[str], attribute: str) -> list[str]:
        """The texts of marked elements."""
        marked = self._parser.css(", ".join(f"{name}[{attribute}]" for name in names))
        inside = {node.mem_id for node in marked}
        outside: set[int] = set()
        outermost = [node for node in marked if not self._is_in(node, inside, outside)]
        return ["".join(self._text(node)) for node in outermost]

    def in_head(self, name: str) -> list[Mapping[str, str | None]]:
        """Children of the head."""
        nodes = self._parser.tags(name)
        return [node.attributes for node in nodes if node.parent and node.parent.tag == "head"]

    @staticmethod
    def _is_in(node: LexborNode, inside: set[int], outside: set[int]) -> bool:
        """Return whether a node is in one of *inside*; add ancestors that are not to *outside*."""
        passed = []
        parent = node.parent
        while parent is not None and parent.mem_id not in outside:
            if parent.mem_id in inside:
                return True
            passed.append(parent.mem_id)
            parent = parent.parent
        outside.update(passed)
        return False

    @staticmethod
    def _text(top: LexborNode) -> Iterator[str]:
        waiting = [top]
        while waiting:
            node = waiting.pop()
            if node.is_text_node:
                yield node.text_content or ""
            elif node.tag not in SILENT:
                child = node.last_child
                while child is not None:
                    waiting.append(child)
                    child = child.prev


def remove_ignored_end_tags(text: str) -> str:
    """
    Return a document without the end tags that are ignored in a `noscript` in the head.

    HTML Standard 13.2.6.4.5: with scripting off, `</head>`, `</body>` and `</html>` are ignored
    there. In justhtml 3.16 they end the head, so that a `meta` after them is not in it. In the body
    they do not change the position of a `meta`, so a `noscript` there needs no distinction. Takes
    one pass over the text.
    """
    kept: list[str] = []
    done = position = 0
    inside = False
    while found := MARKUP.search(text, position):
        start, end = found.span()
        name = (found["name"] or "").lower()
        if found["bare"] is not None or text[position:start].strip(WHITESPACE):
            inside = False  # text belongs to the body
        position = end
        if found["end"]:
            if inside and name in IGNORED_ENDS:
                kept.append(text[done:start])
                done = end
            elif name in ("noscript", "br"):
                inside = False
        elif name:
            inside = name == "noscript" or (inside and name in OF_NOSCRIPT)
            if raw_end := RAW_ENDS.get(name) if name != "noscript" else None:
                closing = raw_end.search(text, end)
                position = closing.start() if closing else len(text)
    return "".join((*kept, text[done:]))


class _JustHtmlTree:
    """justhtml, in pure Python."""

    def __init__(self, text: str, scripting: bool) -> None:
        from justhtml import JustHTML

        if not scripting:
            text = remove_ignored_end_tags(text)
        # It removes a byte order mark, so one is added; a second one is text.
        text = "\ufeff" + text
        self._root: Node = JustHTML(text, sanitize=False, scripting_enabled=scripting).root

    def head_is_over(self) -> bool:
        """Whether the body has a child, or there is a frameset."""
        for html in self._root.children or ():
            for child in html.children or ():
                if child.name == "frameset" or (child.name == "body" and child.children):
                    return True
        return False

    def metas(self) -> list[Element]:
        """All `meta` elements of the document."""
        found: list[Element] = []
        # An explicit stack: the document may be deeper than Python's recursion limit.
        waiting: list[tuple[Node, bool, bool]] = [(self._root, False, False)]
        while waiting:
            node, in_head, in_noscript = waiting.pop()
            if node.name == "meta":
                found.append(Element(Attributes.of(node.attrs or {}), in_head, in_noscript))
            in_head = in_head or node.name == "head"
            in_noscript = node.name == "noscript"
            # The contents of a template are not among its children.
            waiting += [(child, in_head, in_noscript) for child in reversed(node.children or ())]
        return found

    def texts(self, names: Sequence[str], attribute: str) -> list[str]:
        """The texts of marked elements."""
        found: list[str] = []
        waiting: list[Node] = [self._root]
        while waiting:
            node = waiting.pop()
            if node.name in names and attribute in (node.attrs or {}):
                found.append("".join(self._text(node)))
            else:
                waiting += reversed(node.children or ())
        return found

    def in_head(self, name: str) -> list[Mapping[str, str | None]]:
        """Children of the head."""
        tops = [child for html in self._root.children or () for child in html.children or ()]
        heads = [child for child in tops if child.name == "head"]
        return [
            node.attrs or {} for head in heads for node in head.children or () if node.name == name
        ]

    @staticmethod
    def _text(top: Node) -> Iterator[str]:
        waiting = [top]
        while waiting:
            node = waiting.pop()
            if node.name == "#text":
                yield str(node.data or "")
            elif node.name not in SILENT:
                waiting += reversed(node.children or ())
