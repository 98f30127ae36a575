"""Tags, preferences, app directives and records: expectations other than verdicts."""

from __future__ import annotations

import pytest

from robotrules.expect import Carriers
from tests.expect.evaluation import evaluate_one, passed

HTML = b'<!doctype html><meta name="robots" content="noindex, max-snippet:20"><p>Draft'
PAGE = Carriers([("X-Robots-Tag", "googlebot: nofollow")], HTML)
ABOUT = 'page = "draft.html"\n'

# --- Tags -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "holds"),
    [
        ('tags = ["noindex"]', True),
        ('tags = ["NoIndex"]', True),
        ('tags = ["max-snippet"]', True),
        ('tags = ["max-snippet: 20"]', True),
        ('tags = ["max-snippet:20"]', True),
        ('tags = ["max-snippet: 30"]', False),
        ('tags = ["nosnippet"]', False),
        ('tags = ["nofollow"]', False),
        ('crawlers = "Googlebot"\ntags = ["nofollow"]', True),
        ('no-tags = ["nosnippet"]', True),
        ('no-tags = ["noindex"]', False),
        ('no-tags = ["max-snippet: 30"]', True),
        ('only-tags = ["noindex", "max-snippet: 20"]', True),
        ('only-tags = ["noindex", "max-snippet"]', True),
        ('only-tags = ["noindex"]', False),
        ('only-tags = ["noindex", "max-snippet", "noarchive"]', False),
    ],
)
def test_tags_of_a_page(toml: str, holds: bool) -> None:
    """Headers and meta elements together, for the crawler of the question."""
    assert passed(ABOUT + toml, carriers=PAGE) == [holds]


def test_an_empty_snippet_is_nosnippet() -> None:
    """`max-snippet: 0` is in force as `nosnippet` (XRT-08)."""
    page = Carriers([("X-Robots-Tag", "max-snippet:0")])
    assert passed('headers = "a: b"\ntags = ["max-snippet: 0", "nosnippet"]', carriers=page) == [
        True,
        True,
    ]
    assert passed('headers = "a: b"\nonly-tags = ["max-snippet: 0"]', carriers=page) == [True]


def test_a_failure_shows_the_place_of_tags() -> None:
    """With what to add or remove."""
    result = evaluate_one(
        ABOUT + 'crawlers = "Googlebot"\nonly-tags = ["noindex", "noai"]', carriers=PAGE
    )
    assert result.found == "nofollow, noindex, max-snippet: 20"
    assert "          nofollow: X-Robots-Tag line 1: nofollow" in [
        line.text for line in result.told
    ]
    assert result.cure == (
        "add noai to a robots meta element or X-Robots-Tag; remove nofollow, max-snippet, or "
        "expect it"
    )


@pytest.mark.parametrize("key", ['tags = ["noindex"]', 'no-tags = "noai"', "only-tags = 'noai'"])
def test_the_tags_of_a_disallowed_page_are_unknown(key: str) -> None:
    """Crawlers do not read a noindex on a disallowed page (AMB-119)."""
    result = evaluate_one(f'{ABOUT}at = "/private/draft"\n{key}', carriers=PAGE)
    assert result.passed is False
    assert result.found == (
        "unknown: the page is disallowed by line 2: Disallow: /private/, so crawlers do not read "
        "its tags"
    )
    assert passed(f'{ABOUT}at = "/news/draft"\ntags = ["noindex"]', carriers=PAGE) == [True]


def test_a_page_without_content_passes_nothing() -> None:
    """Not even the expectation that a tag is absent."""
    result = evaluate_one(ABOUT + 'no-tags = "noai"', carriers=Carriers())
    assert (result.passed, result.found) == (False, "no part of the page was read")


# --- Preferences ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "holds"),
    [
        ('train-ai = "disallowed"', [True]),
        ('train-ai = "allowed"', [False]),
        ('search = "unknown"', [True]),
        ('search = "allowed", train-ai = "disallowed"', [False, True]),
    ],
)
def test_preferences(toml: str, holds: list[bool]) -> None:
    """The preferences of Content-Usage, at `/` unless a URL is named."""
    assert passed(f"preferences = {{ {toml} }}") == holds


def test_preferences_at_urls() -> None:
    """The longest path decides; a URL that is disallowed has none (attach-05 §3.1)."""
    toml = 'at = ["/", "/news/x", "/private/x"]\npreferences = { train-ai = "disallowed" }'
    assert passed(toml) == [True, False, False]
    result = evaluate_one('at = "/private/x"\npreferences = { train-ai = "disallowed" }')
    assert result.found == "train-ai unknown (not applicable: disallowed)"
    result = evaluate_one('at = "/news/x"\npreferences = { train-ai = "disallowed" }')
    assert [line.text for line in result.told] == [
        "     5 | Content-Usage: /news/ train-ai=y",
        "       |                ^^^^^^^^^^^^^^^^^",
        "       | this statement applies here",
    ]


def test_a_longer_path_takes_over_whole() -> None:
    """The fix explains it, because it is a common mistake (AMB-113)."""
    robots = "User-agent: *\nContent-Usage: search=n\nContent-Usage: /news/ train-ai=y\n"
    result = evaluate_one('at = "/news/x"\npreferences = { search = "disallowed" }', robots)
    assert result.passed is False
    assert "a longer path replaces shorter ones" in result.cure


def test_a_field_counts_as_well() -> None:
    """Headers that are given are combined with the robots.txt."""
    page = Carriers([("Content-Usage", "search=n")])
    toml = 'headers = "Content-Usage: search=n"\npreferences = { search = "disallowed" }'
    assert passed(toml, carriers=page) == [True]
    result = evaluate_one(toml.replace('= "disallowed"', '= "allowed"'), carriers=page)
    assert result.told[0].text == "          field: search=n"


# --- App directives -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "holds"),
    [
        ("app-directives = { widgets = true }", [True]),
        ("app-directives = { widgets = 1 }", [False]),
        ("app-directives = { depth = 3, widgets = false }", [True, False]),
        ("app-directives = { depth = 3.0 }", [True]),
        ('app-directives = { tone = "plain" }', [True]),
        ('app-directives = { tone = "loud" }', [False]),
        ("app-directives = { colour = 1 }", [False]),
        ('no-app-directives = ["colour"]', [True]),
        ('no-app-directives = ["depth"]', [False]),
        ('crawlers = "Googlebot"\napp-directives = { depth = 3 }', [False]),
    ],
)
def test_app_directives(toml: str, holds: list[bool]) -> None:
    """Values as TOML has them: true is not 1, a Token is a text."""
    assert passed(f'application = "examplesearch"\n{toml}') == holds


def test_an_app_directive_is_shown_with_its_line() -> None:
    """With its value."""
    result = evaluate_one('application = "examplesearch"\napp-directives = { depth = 4 }')
    assert (result.expected, result.found) == ("depth 4", "depth 3 by line 6")
    assert result.cure == "correct line 6"
    result = evaluate_one('application = "examplesearch"\napp-directives = { colour = 4 }')
    assert result.found == "only widgets, depth, tone"


# --- The file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "cure"),
    [
        ('sitemaps = ["https://example.com/sitemap.xml"]', ""),
        ("sitemaps = []", "remove line 15, or expect it"),
        (
            'sitemaps = ["https://example.com/sitemap.xml", "https://example.com/b.xml"]',
            "add Sitemap: https://example.com/b.xml",
        ),
        (
            'sitemaps = ["https://example.com/b.xml"]',
            "add Sitemap: https://example.com/b.xml; remove line 15, or expect it",
        ),
    ],
)
def test_sitemaps_are_these_and_no_others(toml: str, cure: str) -> None:
    """A stale one is as wrong as a missing one."""
    result = evaluate_one(toml)
    assert (result.passed, result.cure) == (not cure, cure)


@pytest.mark.parametrize(
    ("toml", "holds"),
    [
        ('records = ["Crawl-delay: 5"]', True),
        ('records = ["crawl-delay:5"]', True),
        ('records = ["Crawl-delay: 6"]', False),
        ('records = ["Host: example.com"]', False),
        ('no-records = ["Host"]', True),
        ('no-records = ["Crawl-delay"]', False),
        ('no-records = ["Crawl-delay: 6"]', True),
    ],
)
def test_records(toml: str, holds: bool) -> None:
    """Any record, by name or by name and value, anywhere in the file."""
    result = evaluate_one(toml)
    assert result.passed is holds
    assert bool(result.cure) is not holds
