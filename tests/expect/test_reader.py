"""Reading an expectation file: valid keys and values, and errors."""

from __future__ import annotations

import pytest

from robotrules.errors import ExpectationError, RobotrulesError
from robotrules.expect import PageSource, read_expectations
from robotrules.expect.reader import IN_AN_EXPECTATION, MAX_BYTES, MAX_QUESTIONS
from robotrules.expect.values import KEYS

FILE = """\
# What we want crawlers to do.
robots = "public/robots.txt"
origin = "https://example.com"
profile = "google"

[[expect]]
crawlers = ["Googlebot", "bingbot"]
allowed = [
  "/",
  "/news/today",
]
by-line = 7
why = "search engines see the news"

[[expect]]
page = "pages/draft.html"
headers = ["X-Robots-Tag: noindex"]
tags = ["noindex"]
"""


def refused(text: str) -> str:
    """Return why a file is refused, in one line."""
    with pytest.raises(ExpectationError) as caught:
        read_expectations(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_is_read() -> None:
    """Each question knows its line, its crawler, and its table."""
    found = read_expectations(FILE, "some.toml")
    assert found[:5] == (
        "some.toml",
        "public/robots.txt",
        None,
        "https://example.com",
        "google",
    )
    asked = [(one.line, one.key, one.crawler, one.url, one.value) for one in found.questions]
    assert asked == [
        (9, "allowed", ("Googlebot",), "/", True),
        (9, "allowed", ("bingbot",), "/", True),
        (10, "allowed", ("Googlebot",), "/news/today", True),
        (10, "allowed", ("bingbot",), "/news/today", True),
        (18, "tags", ("*",), None, "noindex"),
    ]
    first, last = found.questions[0].about, found.questions[-1].about
    assert (first.line, first.by_line, first.why) == (6, 7, "search engines see the news")
    assert last.page == PageSource("pages/draft.html", headers=("X-Robots-Tag: noindex",))


def test_questions_are_in_the_order_of_the_file() -> None:
    """Whatever the order in which keys are looked at; numbers follow."""
    text = '[[expect]]\nobeys = "star"\ndisallowed = "/a"\nallowed = "/b"\n'
    asked = read_expectations(text).questions
    assert [(one.number, one.line) for one in asked] == [(1, 2), (2, 3), (3, 4)]


def test_the_first_word_of_known_names_with_spaces_counts() -> None:
    """Parsers read only that word of such a user-agent line (AMB-21, AMB-22)."""
    text = '[[expect]]\ncrawlers = "Sogou web spider"\nallowed = "/"\n'
    with pytest.raises(ExpectationError, match='write "Sogou"'):
        read_expectations(text)


def test_a_live_robots_txt_is_of_its_origin() -> None:
    """Paths are then there."""
    found = read_expectations('url = "https://example.com/robots.txt"\n[[expect]]\nallowed = "/"\n')
    assert (found.url, found.origin) == ("https://example.com/robots.txt", "https://example.com")


def test_the_first_url_sets_the_origin_by_default() -> None:
    """A robots.txt governs one origin, so it applies to the other URLs too."""
    found = read_expectations('[[expect]]\nallowed = ["/a", "https://example.com/b"]\n')
    assert found.origin == "https://example.com"


def test_a_live_page_is_named_by_its_url() -> None:
    """It is fetched only from there."""
    toml = '[[expect]]\npage = "https://example.com/draft"\ntags = "noindex"\n'
    [question] = read_expectations(toml).questions
    assert question.about.page == PageSource(url="https://example.com/draft")
    assert question.url == "https://example.com/draft"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "robots.test.toml: this file has no expectations: add a table [[expect]]"),
        ("[[expect]\n", "line 1, column 9: this is not valid TOML"),
        (
            "[expect]\nallowed = '/'\n",
            "line 1: expect: this must be a list of tables: write [[expect]]",
        ),
        ("robot = 'x'\n", 'line 1: robot: there is no key "robot" here; did you mean robots?'),
        ("robots = 'a'\nurl = 'https://b'\n", "line 2: url: robots names a file and url a live"),
        ("robots = 'https://b/robots.txt'\n", 'set url = "https://b/robots.txt"'),
        ("url = 'example.com'\n", "line 1: url: this must be a whole URL such as"),
        ("origin = '/'\n", "this must be a scheme and a host"),
        ("url = 'https://a'\norigin = 'https://b'\n", "url has another origin"),
        ("profile = 'gogle'\n", 'there is no "gogle"; did you mean google?'),
        ("[[expect]]\n", "line 1: expect[1]: this table expects nothing: add one of allowed"),
        (
            "[[expect]]\nallowed = '/'\n[[expect]]\ndisalowed = '/x'\n",
            'line 4: expect[2].disalowed: there is no key "disalowed" here; did you mean disal',
        ),
        ("[[expect]]\nby_line = 3\nallowed = '/'\n", "did you mean by-line?"),
        (
            "[[expect]]\nallowed = 3\n",
            'line 2: expect[1].allowed: expected a list such as ["/news"]',
        ),
        ("[[expect]]\nallowed = []\n", "this is empty, so nothing is expected"),
        (
            "[[expect]]\nallowed = [\n'/',\n'news']\n",
            "line 4: expect[1].allowed[2]: this must be a path",
        ),
        ("[[expect]]\nallowed = '//x'\n", "this must be a path such as"),
        (
            "[[expect]]\nallowed = '/news/*'\n",
            "for all URLs that a pattern matches use all-allowed",
        ),
        (
            "[[expect]]\ndisallowed = ['/a$']\n",
            "for all URLs that a pattern matches use all-disallowed",
        ),
        ("[[expect]]\nall-allowed = 'x'\n", "this must be a path pattern, which starts with"),
        (
            "origin = 'https://a.example'\n[[expect]]\nallowed = 'https://b.example/'\n",
            "line 3: expect[1].allowed: this robots.txt applies to https://a.example only",
        ),
        ("[[expect]]\ncrawlers = ['']\nallowed = '/'\n", "crawlers[1]: this is empty; write"),
        ("[[expect]]\ncrawlers = [[]]\nallowed = '/'\n", "a crawler needs a name"),
        (
            "profile = 'strict'\n[[expect]]\ncrawlers = 'Googlebot/2.1'\nallowed = '/'\n",
            'line 3: expect[1].crawlers: "Googlebot/2.1" is not a product token',
        ),
        (
            "[[expect]]\ncrawlers = ['Mozilla/5.0 (compatible; Googlebot/2.1)']\nallowed = '/'\n",
            'line 2: expect[1].crawlers[1]: "Mozilla/5.0 (compatible; Googlebot/2.1)" is not a '
            "product token",
        ),
        (
            "[[expect]]\ncrawlers = 'compatible; Googlebot/2.1'\nallowed = '/'\n",
            "is not a product token: write",
        ),
        ("[[expect]]\ncrawlers = [['A', 'Google bot']]\nallowed = '/'\n", 'write "Googlebot"'),
        ("[[expect]]\ncrawlers = '(+https://x)'\nallowed = '/'\n", "write its product token, such"),
        ("[[expect]]\ncrawlers = 'Googlebot/1\\n2'\nallowed = '/'\n", 'write "Googlebot"'),
        (
            "profile = 'strict'\n[[expect]]\ncrawlers = 'MJ12bot'\nallowed = '/'\n",
            "line 3: expect[1].crawlers: invalid product token 'MJ12bot'",
        ),
        (
            "[[expect]]\nby-line = 1\nall-allowed = '/'\n",
            "this has no effect without allowed or dis",
        ),
        ("[[expect]]\nby-line = 0\nallowed = '/'\n", "expected an integer of at least 1, not 0"),
        ("[[expect]]\nby-rule = '/x'\nallowed = '/'\n", "this must be a rule as written"),
        (
            "[[expect]]\nby-rule = 'Allow: /'\nby-line = 1\nallowed = '/'\n",
            "by-line names the rule already",
        ),
        (
            "[[expect]]\nby-rule = 'Disallow: /'\nallowed = '/'\n",
            "line 2: expect[1].by-rule: this rule makes no URL allowed: name one with Allow",
        ),
        (
            "[[expect]]\nby-rule = 'allow:/'\nallowed = '/'\ndisallowed = '/a'\n",
            "this rule makes no URL disallowed: name one with Disallow, or remove disallowed",
        ),
        (
            "[[expect]]\ntags = 'noindex'\n",
            "this has no effect without page or response or headers",
        ),
        ("[[expect]]\nheaders = 'x'\ntags = 'noindex'\n", "this must be a header line such as"),
        ("[[expect]]\nheaders = 'a: b'\ntags = 'noidex'\n", "did you mean noindex?"),
        ("[[expect]]\nheaders = 'a: b'\ntags = 'none'\n", "none stands for noindex and nofollow"),
        ("[[expect]]\nheaders = 'a: b'\ntags = 'index'\n", "index restricts nothing"),
        ("[[expect]]\nheaders = 'a: b'\ntags = 'max-snippet: x'\n", "has no such value"),
        ("[[expect]]\nheaders = 'a: b'\ntags = 'max-snippet: -1'\n", "-1 means no limit"),
        ("[[expect]]\nheaders = 'a: b'\ntags = 'noindex: 1'\n", "noindex has no such value"),
        ("[[expect]]\npage = 'a'\nallowed = '/'\n", "this is used for tags"),
        (
            "[[expect]]\npage = 'a'\nresponse = 'b'\ntags = 'noai'\n",
            "response includes the page",
        ),
        (
            "[[expect]]\npage = 'https://a/b'\nheaders = 'a: b'\ntags = 'noai'\n",
            "a live page has its own headers",
        ),
        (
            "[[expect]]\npage = 'https://a/b'\nat = '/c'\ntags = 'noai'\n",
            "a live page has its own URL",
        ),
        ("[[expect]]\nat = '/'\nallowed = '/'\n", "expect[1].at: this has no effect without tags"),
        ("[[expect]]\npreferences = { trainai = 'allowed' }\n", "did you mean train-ai?"),
        ("[[expect]]\npreferences = { train-ai = 'no' }\n", "Known: allowed, disallowed, unknown"),
        ("[[expect]]\napp-directives = { a = 1 }\n", "this has no effect without application"),
        (
            "[[expect]]\napplication = 'a b'\napp-directives = { a = 1 }\n",
            "not an application ident",
        ),
        ("[[expect]]\napplication = 'a'\napp-directives = { a = [] }\n", "text, a number, true or"),
        ("[[expect]]\nrecords = 'Host'\n", "this must be a record as written"),
        ("[[expect]]\nobeys = 'all'\n", "Known: own, purpose, star, none"),
        ("[[expect]]\ncrawl-delay = true\n", "this must be a number of seconds, or false for none"),
        ("[[expect]]\ncrawl-delay = -1\n", "this must be a number of seconds, or false for none"),
        ("[[expect]]\ncrawl-delay = inf\n", "this must be a number of seconds, or false for none"),
        ("#" * (MAX_BYTES + 1), "it is larger than 1,048,576 bytes"),
    ],
)
def test_errors_have_a_line_and_a_fix(text: str, words: str) -> None:
    """The file, the line, the key, the actual value, and the expected one."""
    found = refused(text)
    assert found.startswith("robots.test.toml")
    assert words in found


def test_so_many_questions_are_refused() -> None:
    """Every crawler times every URL is soon more than anyone waits for."""
    names = [
        f'"Crawler{"".join(chr(97 + int(digit)) for digit in str(number))}"'
        for number in range(400)
    ]
    urls = [f'"/{number}"' for number in range(400)]
    text = f"[[expect]]\ncrawlers = [{','.join(names)}]\nallowed = [{','.join(urls)}]\n"
    assert f"these are more than {MAX_QUESTIONS:,} questions" in refused(text)


def test_every_key_is_known_and_documented() -> None:
    """Every key has a title, once."""
    assert set(KEYS) < set(IN_AN_EXPECTATION)
    assert len(set(IN_AN_EXPECTATION)) == len(IN_AN_EXPECTATION)


def test_the_error_is_ours() -> None:
    """It is a RobotrulesError and a ValueError."""
    assert issubclass(ExpectationError, RobotrulesError)
    assert issubclass(ExpectationError, ValueError)


def test_octets_will_do() -> None:
    """A file is read as octets."""
    assert read_expectations(FILE.encode(), "some.toml") == read_expectations(FILE, "some.toml")
