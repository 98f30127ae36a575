"""All extensions together: what is declared, what is noted, what no reader takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import robotrules
from robotrules import RobotsTxt, Role, extensions
from robotrules.extensions.codes import CODES
from robotrules.robotstxt.values import NOTES

Read = Callable[..., RobotsTxt]


def test_what_is_declared() -> None:
    """Every record has one declaration; only one of them takes part in grouping."""
    keys = [extension.key.lower() for extension in extensions.ALL]
    assert len(set(keys)) == len(keys)
    assert {"app-directives", "content-usage", "sitemap", "clean-param"} <= set(keys)
    assert [e.key for e in extensions.ALL if e.role is not Role.OTHER] == ["User-Agent-Purpose"]
    assert all(e.reference and e.scope in ("file", "group") for e in extensions.ALL)


def test_codes_mean_one_thing() -> None:
    """A code of a reader is not a code of the parser; each has a level and a sentence."""
    assert not CODES.keys() & NOTES.keys()
    for level, sentence in CODES.values():
        assert level in ("error", "warning", "info")
        assert sentence.endswith(".")


def test_notes_of_all_readers(read: Read) -> None:
    """One call gives the notes of all readers, in the order of the file."""
    robots = read(
        "Sitemap: /s.xml\nUser-agent: *\nCrawl-delay: x\nContent-Usage: train-ai=\n"
        "App-Directives: x;=\nUser-agent-purpose: *\nAllow: /\n"
    )
    found = extensions.notes(robots)
    assert [note.line for note in found] == sorted(note.line or 0 for note in found)
    assert {note.code for note in found} >= {
        "relative-sitemap",
        "bad-crawl-delay",
        "bad-structure",
        "star-purpose",
    }


@pytest.mark.parametrize(
    "ask",
    [
        lambda robots: robotrules.sitemaps(robots),
        lambda robots: robotrules.crawl_delay(robots, "a"),
        lambda robots: robotrules.request_rates(robots, "a"),
        lambda robots: robotrules.visit_times(robots, "a"),
        lambda robots: robotrules.clean_params(robots),
        lambda robots: robotrules.clean_url(robots, "/"),
        lambda robots: robotrules.preferred_host(robots),
        lambda robots: robotrules.unused_records(robots),
        lambda robots: robotrules.content_signals(robots, "/", "a"),
        lambda robots: robotrules.preferences_for(robots, "a"),
        lambda robots: robotrules.directives_for(robots, "a"),
    ],
)
@pytest.mark.parametrize("given", ["User-agent: *", b"", None])
def test_a_reader_wants_a_parsed_file(ask: Any, given: Any) -> None:
    """Text is not a parsed file; the error states how to make one."""
    with pytest.raises(TypeError, match=r"pass robotrules\.parse\(body\)"):
        ask(given)


def test_answers_of_a_hostile_file_share_its_notes(read: Read) -> None:
    """Invalid lines add no cost to each answer (once they added all their notes)."""
    lines = [f"App-Directives: =\nApp-Directives: /{n}/ x;w" for n in range(500)]
    robots = read("User-agent: *\n" + "\n".join(lines))
    answers = robotrules.directives_for(robots, "x").for_urls([f"/{n}/" for n in range(500)])
    assert len({id(answer.unread) for answer in answers}) == 1
    assert len(answers[0].notes) > 500
