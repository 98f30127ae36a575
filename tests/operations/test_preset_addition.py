"""
Preset addition: the crawlers of a preset may fetch nothing, and nothing changes for all others.

The module proves its results itself; these tests ask the parser about crawlers one by one, and show
that a result that cannot be proved is not returned.
"""

from __future__ import annotations

from unittest import mock

import pytest

from robotrules import parse
from robotrules.errors import WriteError
from robotrules.operations import preset_addition
from robotrules.operations.preset_addition import add_preset
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.write.presets import PRESETS

TRAINING, AI = PRESETS["block-ai-training"], PRESETS["block-ai-all"]
BY_PURPOSE = [TRAINING, AI]
PATHS = ("/", "/a", "/cart/x", "/drafts/b?c=d", "/x")
FILES = {
    "empty": b"",
    "none named": b"User-agent: *\nDisallow: /cart/\n\nSitemap: https://example.com/s.xml\n",
    "blocked": b"User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n",
    "other rules": b"User-agent: GPTBot\nUser-agent: ExampleBot\nDisallow: /x\nCrawl-delay: 3\n",
    "welcome": b"User-agent: *\nDisallow: /a\n\n# Welcome.\nUser-agent: CCBot\nAllow: /\n",
    "two groups": b"User-agent: GPTBot\nDisallow: /\n\nUser-agent: gptbot/1.0\nAllow: /x\n",
    "everyone blocked": b"User-agent: *\nDisallow: /",
    "open": b"User-agent: *\nDisallow: /a\n\nUser-agent: ExampleBot\nCrawl-delay: 5",
    "open after removal": b"User-agent: ExampleBot\nUser-agent: GPTBot\n",
    "outside groups": b"Disallow: /a\n",
    "no line end": b"\xef\xbb\xbfuser-agent:*\r\ndisallow:/a\r\nsitemap: https://example.com/s.xml",
    "fallbacks": b"User-agent: Googlebot\nDisallow: /a\n\nUser-agent: Yandex\nDisallow: /x\n",
    "records": b"User-agent: GPTBot\nContent-Usage: train-ai=y\nUser-agent: *\nDisallow: /a\n",
    "purposes": b"User-agent: *\nDisallow: /a\nUser-Agent-Purpose: shopping\nDisallow: /x\n",
}


@pytest.mark.parametrize("preset", BY_PURPOSE, ids=lambda preset: preset.name)
@pytest.mark.parametrize("name", FILES)
def test_the_crawlers_of_the_preset_change_and_no_others(name: str, preset: object) -> None:
    """Asked one by one, under every profile; a second run adds nothing."""
    assert preset in BY_PURPOSE
    chosen = TRAINING if preset == TRAINING else AI
    octets = FILES[name]
    found = add_preset(octets, chosen)
    assert add_preset(found.body, chosen).body == found.body
    for profile in PROFILES.values():
        was, now = parse(octets, profile), parse(found.body, profile)
        assert {record.value for record in was.records if record.key == "sitemap"} == {
            record.value for record in now.records if record.key == "sitemap"
        }
        for crawler in KNOWN_CRAWLERS:
            if not crawler.is_valid and not profile.literal_tokens:
                continue
            old, new = was.rules_for(crawler.names), now.rules_for(crawler.names)
            for path in PATHS:
                expected = not chosen.blocks(crawler) and old.allows(path)
                assert new.allows(path) is expected, (crawler.product_token, path)
        for token in ("ExampleBot", "OtherBot"):
            for path in PATHS:
                assert now.check(path, token).allowed is was.check(path, token).allowed


def test_what_is_kept_added_and_replaced() -> None:
    """Names that are blocked stay; others move, with the group if it names no one else."""
    found = add_preset(FILES["blocked"], TRAINING)
    assert found.kept == ("CCBot", "GPTBot")
    assert found.body.startswith(FILES["blocked"])
    assert found.replaced == ()
    assert found.purposes == ("ai-training",)
    found = add_preset(FILES["welcome"], TRAINING)
    assert [one.as_dict() for one in found.replaced] == [
        {"name": "CCBot", "lines": [5], "removed_lines": [6]}
    ]
    assert b"Welcome" not in found.body
    found = add_preset(FILES["other rules"], TRAINING)
    assert found.body.startswith(b"User-agent: ExampleBot\nDisallow: /x\nCrawl-delay: 3\n\n#")
    assert found.replaced[0].lines == (1,)
    found = add_preset(FILES["two groups"], TRAINING)
    assert found.replaced[0].lines == (1, 4)


def test_line_ends_and_other_bytes_are_kept() -> None:
    """CRLF stays CRLF, and an open group is ended by a rule without effect."""
    found = add_preset(FILES["no line end"], TRAINING)
    assert found.body.startswith(FILES["no line end"] + b"\r\n\r\n# block-ai-training")
    assert found.body.count(b"\n") == found.body.count(b"\r\n")
    found = add_preset(FILES["open"], TRAINING)
    assert found.is_ended
    assert found.body.startswith(FILES["open"] + b"\nDisallow:\n\n# block-ai-training")


def test_all_that_is_in_the_new_group_is_blocked_by_the_preset() -> None:
    """The names of the registry, once each, and the statement of the preset."""
    found = add_preset(b"", AI)
    expected = dict.fromkeys(one.written_as for one in KNOWN_CRAWLERS if AI.blocks(one))
    assert found.added == tuple(expected)
    assert b"Content-Usage: train-ai=n" in found.body
    assert b"User-agent: *" not in found.body


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        # Parsers that follow the grammar read AI2Bot as AI.
        (b"User-agent: AI\nDisallow: /x\n", "nothing changes for AI"),
        (
            b"User-agent: *\nUser-Agent-Purpose: ai-training\nDisallow: /x\nAllow: /y\n",
            "other rules for the purpose ai-training",
        ),
        ("User-agent: *\nDisallow: /\n".encode("utf-16"), "not UTF-8"),
        (b"User-agent: *\n" + b"Disallow: /a\n" * 45_000, "500 KiB"),
        (b"User-agent: *\n" + b"Disallow: /a\n" * 39_370, "would have more than 500 KiB"),
    ],
)
def test_what_cannot_be_proved_is_refused(octets: bytes, words: str) -> None:
    """An error says why, and nothing is returned."""
    with pytest.raises(WriteError, match=words):
        add_preset(octets, TRAINING)


@pytest.mark.parametrize("name", [name for name in PRESETS if not PRESETS[name].purposes])
def test_presets_about_everyone_are_refused(name: str) -> None:
    """They say what every crawler may do."""
    with pytest.raises(WriteError, match=f"preset {name} says what every crawler may do"):
        add_preset(b"", PRESETS[name])


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        # It forgets the file, or the group.
        (lambda body, robots, is_open: str(robots).encode(), "nothing changes for"),
        (lambda body, robots, is_open: body, "could not be proved to be blocked"),
        # It blocks one more.
        (
            lambda body, robots, is_open: (
                body + str(robots).encode() + b"User-agent: X\nDisallow: /"
            ),
            "nothing changes for X",
        ),
        # It drops a sitemap.
        (
            lambda body, robots, is_open: body.replace(b"Sitemap", b"#") + str(robots).encode(),
            "nothing changes for other crawlers",
        ),
    ],
)
def test_a_broken_edit_is_never_returned(broken: object, words: str) -> None:
    """The proof does not use the code that edits."""
    with (
        mock.patch.object(preset_addition, "_append", broken),
        pytest.raises(WriteError, match=words),
    ):
        add_preset(FILES["none named"], TRAINING)
