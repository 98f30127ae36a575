"""Markdown: quoted text is never interpreted as Markdown."""

from __future__ import annotations

import pytest

from robotrules.editing.markdown import (
    bullet_list,
    code_list,
    code_span,
    escape,
    link_reference,
    pluralize,
    truncate,
)


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
    """The fence has more backticks than the text; invisible characters are escaped."""
    assert code_span(text) == shown


def test_long_texts_are_truncated() -> None:
    """A line of 500,000 characters is not shown in full."""
    assert len(code_span("x" * 500_000)) < 130
    assert len(code_span(b"\xff" * 500_000)) < 1_000
    assert truncate("x" * 200, 10) == "xxxxxxxxx…"


def test_a_sentence_has_no_syntax() -> None:
    """Links, emphasis and elements are shown as written."""
    assert escape("[x](y) <b> *a* _b_ `c` !") == "\\[x\\](y) \\<b\\> \\*a\\* \\_b\\_ \\`c\\` \\!"


def test_references_are_links() -> None:
    """To the section of an RFC, and to a draft; decision ids are not shown."""
    rfc = "https://www.rfc-editor.org/rfc/rfc9309"
    assert link_reference("RFC 9309 §2.2.1") == f"[RFC 9309 §2.2.1]({rfc}#section-2.2.1)"
    assert link_reference("RFC 9309") == f"[RFC 9309]({rfc})"
    draft = "draft-ietf-aipref-attach-05"
    assert (
        link_reference(f"{draft} §3") == f"[{draft}](https://datatracker.ietf.org/doc/{draft}/) §3"
    )
    assert link_reference("https://www.sitemaps.org/protocol.html").startswith("<https://www.")
    assert link_reference("Bing (AMB-118)") == "Bing"


def test_lists_and_numbers() -> None:
    """The first names are listed, and the rest counted."""
    assert code_list(["a", "b", "c"], max_items=2) == "`a`, `b` and 1 more"
    assert code_list(["a"]) == "`a`"
    assert (pluralize(1, "rule"), pluralize(2_000, "rule")) == ("1 rule", "2,000 rules")
    assert bullet_list(["a", "b"]) == "- a\n- b"
