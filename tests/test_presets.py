"""
Presets: what they say about each well-known crawler is what parsers read in the written file.

The rivals are asked with the name of the crawler alone. `KNOWN_DIFFERENCES` lists every answer that
differs, with its reason; one that is not listed fails, and so does one that is listed in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from unittest import mock
from urllib.robotparser import RobotFileParser

import pytest

from robotrules import parse
from robotrules.errors import WrongWitnessError
from robotrules.linting import lint
from robotrules.matrix import matrix
from robotrules.matrix.values import EVERYTHING, NOTHING
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.write import read_back, write
from robotrules.write.presets import PRESETS, Preset, verify

KNOWN = list(KNOWN_CRAWLERS)
NAMES = list(PRESETS)
PATHS = ("/", "/a", "/a/b.html", "/?q=1&r=%C3%A4", "/a%2Fb", "/%61", "/a?b=/robots.txt", "/*$")
ORIGIN = "https://example.com"
ROBOTS = "/robots.txt"
STAR_BLOCKED = ("search-only", "block-all", "archive-only")

# Preset, parser, crawler, path: "" stands for every path but /robots.txt.
KNOWN_DIFFERENCES = {
    # They read no name that starts with a digit, so its crawler obeys `*`: too strict.
    ("search-only", "jwm", "360Spider", ""),
    ("search-only", "robotspy", "360Spider", ""),
}
# They apply a rule such as `Disallow: /` to /robots.txt too (RFC 9309 §2.2.2 always allows it). No
# crawler asks its parser about that file, because it has to be read first.
READ_ROBOTS_AS_A_PAGE = ("urllib", "jwm", "robotspy")


def known(name: str) -> KnownCrawler:
    """Return a well-known crawler."""
    crawler = KNOWN_CRAWLERS.get(name)
    assert crawler is not None
    return crawler


def text_of(name: str) -> str:
    """Return the file of a preset."""
    return write(PRESETS[name].robots())


# --- What the presets say -------------------------------------------------------------------------


def test_the_names() -> None:
    """The six presets, in the order of the help."""
    expected = [
        *("block-ai-training", "block-ai-all", "search-only"),
        *("allow-all", "block-all", "archive-only"),
    ]
    assert expected == NAMES


@pytest.mark.parametrize(
    ("name", "blocked", "allowed"),
    [
        (
            "block-ai-training",
            # The second line has crawlers with other purposes too: one that is unwanted decides.
            "GPTBot ClaudeBot Google-Extended Applebot-Extended anthropic-ai "
            "CCBot Amazonbot Timpibot AI2Bot cohere-ai",
            "Googlebot Applebot bingbot OAI-SearchBot ChatGPT-User archive.org_bot AdsBot-Google",
        ),
        (
            "block-ai-all",
            "GPTBot CCBot OAI-SearchBot PerplexityBot ChatGPT-User Claude-User Google-NotebookLM",
            "Googlebot bingbot Wget Google-Site-Verification FeedFetcher-Google Twitterbot",
        ),
        (
            "search-only",
            "GPTBot Google-Extended Applebot-Extended AdsBot-Google Amazonbot AhrefsBot Wget "
            "YandexDirect YandexCalendar YandexAdditional facebookexternalhit archive.org_bot",
            # In-house crawlers that test what a search engine may fetch get its answer.
            "Googlebot Googlebot-Image Applebot bingbot YandexMobileBot Google-InspectionTool",
        ),
        ("allow-all", "", "GPTBot Googlebot AdsBot-Google archive.org_bot"),
        ("block-all", "GPTBot Googlebot AdsBot-Google YandexCalendar Google-Extended", ""),
        (
            "archive-only",
            "GPTBot Googlebot AdsBot-Google Google-Extended YandexMobileBot",
            "archive.org_bot ia_archiver heritrix Arquivo-web-crawler",
        ),
    ],
)
def test_what_a_preset_says(name: str, blocked: str, allowed: str) -> None:
    """Written by hand: the crawlers that a site owner would ask about first."""
    preset = PRESETS[name]
    assert not [one for one in blocked.split() if not preset.blocks(known(one))]
    assert not [one for one in allowed.split() if preset.blocks(known(one))]


@pytest.mark.parametrize("purpose", CRAWLER_PURPOSES)
def test_every_purpose_is_decided(purpose: str) -> None:
    """A crawler with only this purpose is blocked by exactly the presets that do not allow it."""
    crawler = KnownCrawler("X", "Y", (purpose,), "", "2026-01-01", "active")
    blocking = {name for name, preset in PRESETS.items() if preset.blocks(crawler)}
    expected = {"search-only", "block-all", "archive-only"}
    expected -= {"search": {"search-only"}, "archive": {"archive-only"}}.get(purpose, set())
    expected |= {"ai-training": {"block-ai-training", "block-ai-all"}}.get(purpose, set())
    expected |= {"ai-search": {"block-ai-all"}}.get(purpose, set())
    assert blocking == expected


def test_an_in_house_crawler_without_a_known_fallback() -> None:
    """It gets the answer of everyone else."""
    crawler = KnownCrawler("X", "Y", ("in-house",), "", "", "active", also=("Unknown",))
    assert PRESETS["search-only"].blocks(crawler)
    assert not PRESETS["block-ai-all"].blocks(crawler)


# --- The file -------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["default", "strict", "google"])
@pytest.mark.parametrize("name", NAMES)
def test_the_matrix_is_what_the_preset_says(name: str, profile: str) -> None:
    """For every well-known crawler, about all URLs; in the profiles, as far as names are read."""
    preset = PRESETS[name]
    rows = matrix(parse(text_of(name), profile), all_crawlers=True).rows
    found = {row.known.product_token: row.summary for row in rows if row.known}
    expected = {one.product_token: NOTHING if preset.blocks(one) else EVERYTHING for one in KNOWN}
    if profile != "default":
        # Names such as AI2Bot; `verify` asks with the part that the profile reads.
        for crawler in KNOWN:
            if not crawler.is_valid:
                del found[crawler.product_token], expected[crawler.product_token]
    assert found == expected
    others = [row.summary for row in rows if row.name == "everyone else"]
    assert others == [EVERYTHING if preset.allows_others else NOTHING]


@pytest.mark.parametrize("name", NAMES)
def test_the_file_has_source_and_date_and_can_be_read_back(name: str) -> None:
    """The comment says where the names come from; the values survive."""
    text = text_of(name)
    assert (KNOWN_CRAWLERS.checked in text) == (name != "allow-all")  # which names none
    assert f"--preset {name}" in text
    assert "not access control" in text
    assert read_back(parse(text)) == PRESETS[name].robots()


@pytest.mark.parametrize("name", NAMES)
def test_lint_has_no_objection(name: str) -> None:
    """Notes are for information, but for the warning that a site without visitors wants."""
    notes = [note.slug for note in lint(parse(text_of(name))) if note.level != "info"]
    assert notes == (["everything-disallowed"] if name == "block-all" else [])


@pytest.mark.parametrize("name", NAMES)
def test_robots_txt_itself_is_allowed(name: str) -> None:
    """RFC 9309 §2.2.2, under every profile that follows it."""
    for profile in ("default", "strict"):
        assert parse(text_of(name), profile).check(ROBOTS, "GPTBot").allowed


def test_content_usage_is_in_every_group() -> None:
    """A crawler with a group of its own reads the preferences there and nowhere else."""
    for name in NAMES:
        usage = dict(PRESETS[name].use)
        for group in PRESETS[name].robots().groups:
            values = [record.value for record in group.records]
            assert len(values) == bool(usage)
            assert all(("train-ai=n" in value) == ("train-ai" in usage) for value in values)


# --- Other parsers --------------------------------------------------------------------------------


def ask_urllib(text: str) -> Callable[[KnownCrawler, str], bool]:
    """Python's urllib.robotparser."""
    parser = RobotFileParser()
    parser.parse(text.splitlines())
    return lambda crawler, path: parser.can_fetch(crawler.product_token, ORIGIN + path)


def ask_protego(text: str) -> Callable[[KnownCrawler, str], bool]:
    """Protego, the parser of Scrapy."""
    parser = pytest.importorskip("protego").Protego.parse(text)
    return lambda crawler, path: parser.can_fetch(ORIGIN + path, crawler.product_token)


def ask_google(text: str) -> Callable[[KnownCrawler, str], bool]:
    """Google's parser. It compares only names of the grammar, so callers pass that part."""
    googlebot = pytest.importorskip("jwm.robotstxt.googlebot")

    def ask(crawler: KnownCrawler, path: str) -> bool:
        """Return the answer of a new matcher."""
        matcher, name = googlebot.RobotsMatcher(), crawler.read_as or "-"
        allowed: bool = matcher.OneAgentAllowedByRobots(text, name, ORIGIN + path)
        return allowed

    return ask


def ask_robotspy(text: str) -> Callable[[KnownCrawler, str], bool]:
    """robotspy, which reads names in a file as the grammar does, and not the crawler's own."""
    parser = pytest.importorskip("robots").RobotsParser.from_string(text)
    return lambda crawler, path: parser.can_fetch(crawler.read_as or "-", ORIGIN + path)


RIVALS = {
    "urllib": ask_urllib,
    "protego": ask_protego,
    "jwm": ask_google,
    "robotspy": ask_robotspy,
}


def differences(name: str, rival: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the answers of a parser that are not what the preset says."""
    ask = RIVALS[rival](text_of(name))
    for crawler in KNOWN:
        expected = not PRESETS[name].blocks(crawler)
        wrong = [path for path in PATHS if ask(crawler, path) is not expected]
        if wrong:
            every = "" if len(wrong) == len(PATHS) else ", ".join(wrong)
            yield name, rival, crawler.product_token, every


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("name", NAMES)
def test_other_parsers_agree(name: str, rival: str) -> None:
    """For every well-known crawler and path; the known differences are all that there are."""
    expected = {one for one in KNOWN_DIFFERENCES if one[:2] == (name, rival)}
    assert set(differences(name, rival)) == expected


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("name", NAMES)
def test_other_parsers_and_robots_txt(name: str, rival: str) -> None:
    """Two of them apply rules to the file itself, where everyone is blocked."""
    ask = RIVALS[rival](text_of(name))
    unknown = KnownCrawler("ExampleBot", "", ("data",), "", "", "active")
    too_strict = rival in READ_ROBOTS_AS_A_PAGE and name in STAR_BLOCKED
    assert ask(unknown, ROBOTS) is not too_strict


# --- Verification ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("block-ai-training", "User-agent: GPTBot\n", ""),
        ("block-ai-training", "User-agent: AI2Bot\n", ""),
        ("search-only", "User-agent: Applebot-Extended\n", "User-agent: Yandex\n"),
        ("search-only", "User-agent: AdsBot-Google\n", ""),
        ("search-only", "User-agent: *\nDisallow: /\n", "User-agent: *\nDisallow:\n"),
        ("archive-only", "User-agent: archive.org_bot\n", ""),
        ("allow-all", "Disallow:\n", "Disallow: /a\n"),
    ],
)
def test_a_wrong_file_is_never_written(name: str, old: str, new: str) -> None:
    """A mismatch with what the preset says is an error that asks for a report."""
    text = text_of(name)
    assert old in text
    with pytest.raises(WrongWitnessError, match=f"preset {name}: .* please report this"):
        verify(PRESETS[name], text.replace(old, new))


def test_writing_verifies() -> None:
    """`robots()` runs the verification: a preset whose groups are wrong raises."""
    preset = PRESETS["block-all"]
    with (
        mock.patch.object(Preset, "_named", return_value=[]),
        pytest.raises(WrongWitnessError, match="AdsBot-Google is not blocked"),
    ):
        preset.robots()


def test_an_allowed_crawler_that_would_obey_a_blocked_one_gets_a_group() -> None:
    """Googlebot-News obeys Googlebot where it is not named, and urllib compares parts of names."""
    preset = Preset("x", "y.", frozenset(CRAWLER_PURPOSES) - {"research"})
    with mock.patch.object(
        Preset, "blocks", lambda self, crawler: crawler.product_token == "Googlebot"
    ):
        text = write(preset.robots())
    assert text.index("Googlebot-News") < text.index("User-agent: Googlebot\n")
    ask = ask_urllib(text)
    assert not ask(known("Googlebot"), "/")
    assert ask(known("Googlebot-News"), "/")
