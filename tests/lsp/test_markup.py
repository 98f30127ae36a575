"""Markdown in which nothing of a file is taken for markdown."""

from __future__ import annotations

import pytest

from robotrules.lsp.markup import brief, bulleted, code, linked, many, named, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/a*b", "`/a*b`"),
        ("`", "`` ` ``"),
        ("a`b``c", "```a`b``c```"),
        ("a\nb\x1b[31m", "`a\\x0ab\\x1b[31m`"),
        ("\u202e", "`\\u202e`"),
        (b"/\xff", "`/\\xff`"),
        ("", "(empty)"),
        (" ", "(empty)"),
    ],
)
def test_a_code_span_holds_anything(text: str | bytes, shown: str) -> None:
    """More backticks around than inside, and nothing that cannot be seen."""
    assert code(text) == shown


def test_long_texts_are_cut() -> None:
    """Half a mebibyte on a line is not shown."""
    assert len(code("x" * 500_000)) < 130
    assert len(code(b"\xff" * 500_000)) < 1_000
    assert brief("x" * 200, 10) == "xxxxxxxxx…"


def test_a_sentence_has_no_signs() -> None:
    """Links, emphasis and elements are shown as they were written."""
    assert plain("[x](y) <b> *a* _b_ `c` !") == "\\[x\\](y) \\<b\\> \\*a\\* \\_b\\_ \\`c\\` \\!"


def test_references_are_links() -> None:
    """To the section of an RFC, and to a draft; our own list of open questions is not shown."""
    rfc = "https://www.rfc-editor.org/rfc/rfc9309"
    assert linked("RFC 9309 §2.2.1") == f"[RFC 9309 §2.2.1]({rfc}#section-2.2.1)"
    assert linked("RFC 9309") == f"[RFC 9309]({rfc})"
    draft = "draft-ietf-aipref-attach-05"
    assert linked(f"{draft} §3") == f"[{draft}](https://datatracker.ietf.org/doc/{draft}/) §3"
    assert linked("https://www.sitemaps.org/protocol.html").startswith("<https://www.")
    assert linked("Bing (AMB-118)") == "Bing"


def test_lists_and_numbers() -> None:
    """Few names are named, and the rest counted."""
    assert named(["a", "b", "c"], most=2) == "`a`, `b` and 1 more"
    assert named(["a"]) == "`a`"
    assert (many(1, "rule"), many(2_000, "rule")) == ("1 rule", "2,000 rules")
    assert bulleted(["a", "b"]) == "- a\n- b"
