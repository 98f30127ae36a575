"""Completion: what could stand at the cursor, the likeliest first."""

from __future__ import annotations

import pytest
from lsprotocol.types import CompletionItem, CompletionItemTag, MarkupContent, TextEdit

from robotrules.linting.checks import CHECKS
from robotrules.lsp.completion import complete
from robotrules.lsp.document import OpenDocument
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from tests.lsp.editor import applied
from tests.lsp.samples import REGISTRIES


def offered(text: str) -> list[CompletionItem]:
    """Return what is offered at the `|` of a text."""
    before, _, after = text.partition("|")
    return complete(OpenDocument(before + after, registries=REGISTRIES), len(before.encode()))


def labels(text: str) -> list[str]:
    """Return what is offered by its labels, in the order it is shown in."""
    found = sorted(offered(text), key=lambda one: one.sort_text or "")
    return [one.label for one in found]


def written(text: str, label: str) -> str:
    """Return a text after one thing was chosen."""
    (item,) = [one for one in offered(text) if one.label == label]
    assert isinstance(item.text_edit, TextEdit)
    return applied(text.replace("|", "", 1), [item.text_edit])


# --- Names of records -----------------------------------------------------------------------------


def test_in_a_group_rules_come_first() -> None:
    """Behind a user-agent line come rules; after an empty line, another group."""
    assert labels("User-agent: *\n|")[:2] == ["Disallow", "Allow"]
    assert labels("User-agent: *\nDisallow: /x\n|")[:2] == ["Disallow", "Allow"]
    assert labels("User-agent: *\nDisallow: /x\n\n|")[0] == "User-agent"
    assert labels("|")[:2] == ["User-agent", "Sitemap"]
    assert labels("# hello\n\n|\nUser-agent: *\n")[0] == "User-agent"


def test_what_nobody_reads_is_not_offered() -> None:
    """Noindex in a robots.txt helps nobody."""
    found = labels("|")
    assert "Noindex" not in found
    assert "Host" not in found
    assert {"Crawl-delay", "Content-Usage", "App-Directives", "User-Agent-Purpose"} <= {*found}


def test_each_record_has_a_sentence() -> None:
    """And its reference, as markdown."""
    for item in offered("|"):
        assert isinstance(item.documentation, MarkupContent)
        assert len(item.documentation.value) > 40
        assert "\n\nReference: " in item.documentation.value


def test_a_name_is_written_with_its_colon() -> None:
    """In place of what was typed of it; a colon that is there is not written twice."""
    assert written("User-agent: *\n  dis|\n", "Disallow") == "User-agent: *\n  Disallow: \n"
    assert written("Dis|alow: /x", "Disallow") == "Disallow: /x"
    assert written("\ufeffUs|", "User-agent") == "\ufeffUser-agent: "


# --- Values ---------------------------------------------------------------------------------------


def test_product_tokens_with_operator_and_purpose() -> None:
    """Everyone first, the main ones next, retired ones struck out and last."""
    found = offered("User-agent: |")
    assert found[0].label == "*"
    item = next(one for one in found if one.label == "GPTBot")
    known = KNOWN_CRAWLERS.get("GPTBot")
    assert known is not None
    assert item.detail == f"{known.operator}: {', '.join(known.purposes)}"
    assert isinstance(item.documentation, MarkupContent)
    assert known.documentation in item.documentation.value
    assert len(found) == len(KNOWN_CRAWLERS) + 1
    gone = [one.tags == [CompletionItemTag.Deprecated] for one in found]
    assert gone == sorted(gone)
    assert any(gone)


def test_names_of_the_file_are_offered_too() -> None:
    """Once, and only such as can be shown."""
    text = "User-agent: OurBot\nDisallow: /\nUser-agent: OurBot\nUser-agent: a\x07b\nUser-agent: |"
    found = labels(text)
    assert found.count("OurBot") == 1
    assert not any("\x07" in label for label in found)


def test_a_token_takes_the_place_of_what_was_typed() -> None:
    """Upper case and all, behind the cursor too."""
    assert written("User-agent: gpt|b", "GPTBot") == "User-agent: GPTBot"
    assert written("useragent:  go|", "Googlebot") == "useragent:  Googlebot"


def test_purposes_of_the_registry_and_of_the_file() -> None:
    """Registered ones first."""
    text = "User-Agent-Purpose: OTHER\nDisallow: /\n\nUser-Agent-Purpose: EX|"
    assert labels(text) == ["EXAMPLE-PURPOSE-1", "OTHER"]
    assert written(text, "EXAMPLE-PURPOSE-1").endswith("User-Agent-Purpose: EXAMPLE-PURPOSE-1")


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
    """What is not stated yet; behind `=` the two values; in a path nothing."""
    assert labels(f"User-agent: *\nContent-Usage: {value}") == found


def test_signals() -> None:
    """The keys that its policy defines."""
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
    """What is registered; what was said already is not offered again."""
    assert labels(f"User-agent: *\nApp-Directives: {value}") == found


def test_a_directive_with_a_value_waits_for_it() -> None:
    """A number has no sensible default, and what is deprecated is struck out."""
    text = "User-agent: *\nApp-Directives: examplesearch;te|"
    assert written(text, "teaser").endswith("examplesearch;teaser=")
    (item,) = [one for one in offered(text) if one.label == "teaser"]
    assert item.tags == [CompletionItemTag.Deprecated]


@pytest.mark.parametrize("line", ["Sitemap: |", "Disallow: /|", "Foo: |", "# Dis|", ": |"])
def test_elsewhere_nothing(line: str) -> None:
    """A path or an address is nobody's to guess."""
    assert offered(f"User-agent: *\n{line}") == []


def test_checks_where_they_are_silenced() -> None:
    """In the comment that asks lint to be quiet."""
    text = "User-agent: *\nDisallow: x # robotrules: ignore[RR|"
    assert labels(text) == [check.code for check in CHECKS]
    assert written(text, "RR501").endswith("ignore[RR501")
    assert labels("# robotrules: ignore[RR501, |") == [check.code for check in CHECKS]
    assert labels("# robotrules: ignore[RR501] |") == []


def test_a_hostile_line_offers_nothing() -> None:
    """Nobody types a line of half a mebibyte."""
    assert offered("User-agent: " + "a" * 500_000 + "|") == []
