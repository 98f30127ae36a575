"""The bounds of a tree: no page makes the tree deep or large."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.tags import parser_limits

NAMES = (
    *("a", "b", "font", "p", "div", "li", "dd", "dt", "ul", "table", "tr", "td", "tbody", "col"),
    *("colgroup", "caption", "option", "optgroup", "select", "button", "form", "h1", "span", "rt"),
    *("svg", "g", "path", "title", "style", "script", "template", "object", "textarea", "x-y"),
    *("noscript", "frameset", "math", "mtext", "annotation-xml", "foreignObject", "desc", "nobr"),
)
MARKUP = st.sampled_from(
    [
        *(f"<{name}>" for name in NAMES),
        *(f"</{name}>" for name in NAMES),
        *(f"<{name} id=%>" for name in NAMES[:8]),
        *(f"<{name}/>" for name in ("div", "path", "script", "svg", "title")),
        *("x", "<!--", "-->", "<![CDATA[", "]]>", "<a title='", "'>", "<!", ">"),
        "<script><!--<script></script>",
    ]
)
PATTERNS = st.lists(MARKUP, min_size=1, max_size=6).map("".join)
DEEP, MANY = 30, 5000


def measure_tree(text: str, scripting: bool) -> tuple[int, int]:
    """Return the depth and the number of nodes of a tree, templates included."""
    lexbor = pytest.importorskip("selectolax.lexbor")
    root = lexbor.LexborHTMLParser(text, scripting=scripting).root
    deepest = nodes = 0
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest, nodes = max(deepest, depth), nodes + 1
        child = node.first_child
        while child is not None:
            waiting.append((child, depth + 1))
            child = child.next
        if node.tag == "template":
            waiting += [(inner, depth + 1) for inner in node.template_fragments()]
    return deepest, nodes


@given(before=PATTERNS, again=PATTERNS, scripting=st.booleans())
def test_repeated_markup_is_cut(before: str, again: str, scripting: bool) -> None:
    """
    Markup that is repeated a hundred times does not make a tree a hundred times deeper.

    The bounds are small here. A tree may be somewhat deeper: a cell implies its row and its table.
    """
    text = before.replace("%", "x") + "".join(again.replace("%", str(n)) for n in range(120))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("FEW_TAGS", 0), ("FEW_CHARACTERS", 0), ("MAX_DEPTH", DEEP)):
            patch.setattr(parser_limits, name, value)
        patch.setattr(parser_limits, "UNSURE_TAGS", DEEP)
        patch.setattr(parser_limits, "MAX_FORMATTING", MANY)
        length = parser_limits.safe_length(text, scripting)
    deepest, nodes = measure_tree(text[:length], scripting)
    assert deepest <= 3 * DEEP
    assert nodes <= 2 * MANY


@given(text=st.lists(MARKUP, max_size=60).map("".join))
def test_cut_is_before_a_tag(text: str) -> None:
    """Short texts are never cut; a long one is cut just before a `<`, or not at all."""
    assert parser_limits.safe_length(text, True) == len(text)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FEW_TAGS", "FEW_CHARACTERS", "MAX_DEPTH", "UNSURE_TAGS"):
            patch.setattr(parser_limits, name, 1)
        for length in (parser_limits.safe_length(text, True), parser_limits.unchecked_length(text)):
            assert length in (0, len(text)) or text[length] == "<"
