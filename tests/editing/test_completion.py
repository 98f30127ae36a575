"""Completion: the items at the cursor, the most likely first."""

from __future__ import annotations

import pytest
from lsprotocol.types import CompletionItem, CompletionItemTag, MarkupContent, TextEdit

from robotrules.editing.completion import complete
from robotrules.editing.document import OpenDocument
from robotrules.linting.checks import CHECKS
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from tests.lsp.editor import apply_edits
from tests.lsp.samples import REGISTRIES


def complete_at(text: str) -> list[CompletionItem]:
    """Return the completion items at the `|` of a text."""
    before, _, after = text.partition("|")
    return complete(OpenDocument(before + after, registries=REGISTRIES), len(before.encode()))


def labels(text: str) -> list[str]:
    """Return the labels of the items, in the order an editor shows them."""
    items = sorted(complete_at(text), key=lambda item: item.sort_text or "")
    return [item.label for item in items]


def choose(text: str, label: str) -> str:
    """Return a text after the item with this label was chosen."""
    (item,) = [item for item in complete_at(text) if item.label == label]
    assert isinstance(item.text_edit, TextEdit)
    return apply_edits(text.replace("|", "", 1), [item.text_edit])


# --- Record names ---------------------------------------------------------------------------------


def test_in_a_group_rules_come_first() -> None:
    """After a user-agent line, rules; after an empty line, another group."""
    assert labels("User-agent: *\n|")[:2] == ["Disallow", "Allow"]
    assert labels("User-agent: *\nDisallow: /x\n|")[:2] == ["Disallow", "Allow"]
    assert labels("User-agent: *\nDisallow: /x\n\n|")[0] == "User-agent"
    assert labels("|")[:2] == ["User-agent", "Sitemap"]
    assert labels("# hello\n\n|\nUser-agent: *\n")[0] == "User-agent"


def test_records_that_no_crawler_reads_are_not_offered() -> None:
    """Such as Noindex and Host."""
    found = labels("|")
    assert "Noindex" not in found
    assert "Host" not in found
    assert {"Crawl-delay", "Content-Usage", "App-Directives", "User-Agent-Purpose"} <= {*found}


def test_each_record_has_a_description() -> None:
    """And a reference, in Markdown."""
    for item in complete_at("|"):
        assert isinstance(item.documentation, MarkupContent)
        assert len(item.documentation.value) > 40
        assert "\n\nReference: " in item.documentation.value


def test_a_name_is_inserted_with_its_colon() -> None:
    """It replaces the typed prefix; an existing colon is kept."""
    assert choose("User-agent: *\n  dis|\n", "Disallow") == "User-agent: *\n  Disallow: \n"
    assert choose("Dis|alow: /x", "Disallow") == "Disallow: /x"
    assert choose("\ufeffUs|", "User-agent") == "\ufeffUser-agent: "


# --- Values ---------------------------------------------------------------------------------------


def test_product_tokens_with_operator_and_purpose() -> None:
    """`*` first, then the main crawlers; retired ones last and deprecated."""
    found = complete_at("User-agent: |")
    assert found[0].label == "*"
    item = next(item for item in found if item.label == "GPTBot")
    known = KNOWN_CRAWLERS.get("GPTBot")
    assert known is not None
    assert item.detail == f"{known.operator}: {', '.join(known.purposes)}"
    assert isinstance(item.documentation, MarkupContent)
    assert known.documentation in item.documentation.value
    assert len(found) == len(KNOWN_CRAWLERS) + 1
    deprecated = [item.tags == [CompletionItemTag.Deprecated] for item in found]
    assert deprecated == sorted(deprecated)
    assert any(deprecated)


def test_names_of_the_file_are_offered_too() -> None:
    """Once each, without unprintable ones."""
    text = "User-agent: OurBot\nDisallow: /\nUser-agent: OurBot\nUser-agent: a\x07b\nUser-agent: |"
    found = labels(text)
    assert found.count("OurBot") == 1
    assert not any("\x07" in label for label in found)


def test_a_token_replaces_the_typed_word() -> None:
    """With its upper case, including the part after the cursor."""
    assert choose("User-agent: gpt|b", "GPTBot") == "User-agent: GPTBot"
    assert choose("useragent:  go|", "Googlebot") == "useragent:  Googlebot"


def test_purposes_of_the_registry_and_of_the_file() -> None:
    """Registered ones first."""
    text = "User-Agent-Purpose: OTHER\nDisallow: /\n\nUser-Agent-Purpose: EX|"
    assert labels(text) == ["EXAMPLE-PURPOSE-1", "OTHER"]
    assert choose(text, "EXAMPLE-PURPOSE-1").endswith("User-Agent-Purpose: EXAMPLE-PURPOSE-1")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("|", ["train-ai=n", "train-ai=y", "search=n", "search=y"]),
        ("/img/ |", ["train-ai=n", "train-ai=y", "search=n", "search=y"]),
        ("/img|", []),
        ("train-ai=n, |", ["search=n", "search=y"]),
        ("train-ai=|", ["n", "y"]),
    ],
)
def test_categories_of_use(value: str, found: list[str]) -> None:
    """Those not stated yet; after `=` the two values; nothing inside a path."""
    assert labels(f"User-agent: *\nContent-Usage: {value}") == found


def test_signals() -> None:
    """The keys that contentsignals.org defines."""
    assert labels("User-agent: *\nContent-Signal: search=yes, |")[0] == "ai-input=no"
    assert labels("User-agent: *\nContent-Signal: search=|") == ["no", "yes"]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("|", ["examplesearch"]),
        ("/news/ ex|", ["examplesearch"]),
        ("examplesearch;|", ["widgets", "widgets=?0", "teaser"]),
        ("examplesearch;widgets;|", ["teaser"]),
        ("other;|", []),
        ("other, |", ["examplesearch"]),
        ('other;a="x;|', []),
        ("/news|", []),
    ],
)
def test_applications_and_their_directives(value: str, found: list[str]) -> None:
    """Registered ones; a directive that is already stated is not offered again."""
    assert labels(f"User-agent: *\nApp-Directives: {value}") == found


def test_a_directive_with_a_value_is_inserted_up_to_it() -> None:
    """A number has no sensible default; a deprecated directive has the tag."""
    text = "User-agent: *\nApp-Directives: examplesearch;te|"
    assert choose(text, "teaser").endswith("examplesearch;teaser=")
    (item,) = [item for item in complete_at(text) if item.label == "teaser"]
    assert item.tags == [CompletionItemTag.Deprecated]


@pytest.mark.parametrize("line", ["Sitemap: |", "Disallow: /|", "Foo: |", "# Dis|", ": |"])
def test_nothing_is_offered_elsewhere(line: str) -> None:
    """Paths and URLs cannot be guessed."""
    assert complete_at(f"User-agent: *\n{line}") == []


def test_checks_in_suppression_comments() -> None:
    """Inside the brackets of `robotrules: ignore[…]`."""
    text = "User-agent: *\nDisallow: x # robotrules: ignore[RR|"
    assert labels(text) == [check.code for check in CHECKS]
    assert choose(text, "RR501").endswith("ignore[RR501")
    assert labels("# robotrules: ignore[RR501, |") == [check.code for check in CHECKS]
    assert labels("# robotrules: ignore[RR501] |") == []


def test_a_hostile_line_offers_nothing() -> None:
    """A line of 500,000 bytes was not typed."""
    assert complete_at("User-agent: " + "a" * 500_000 + "|") == []
