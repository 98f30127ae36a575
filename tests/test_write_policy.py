"""
The meaning of policies: each key, how rules for all and for some combine, and errors.

The layout of the robots.txt is tested with the writer; these tests are about rules of crawlers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from robotrules import RobotsTxt, crawl_delay, parse
from robotrules.errors import WriteError
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.write import write
from robotrules.write.policy import PURPOSE_COMMENT, compose, read_policy

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("policy-*.toml"))

Read = Callable[..., RobotsTxt]


def composed(policy: str) -> list[list[str]]:
    """Return the lines of each part of the robots.txt of a policy."""
    return [part.splitlines() for part in write(compose(policy)).split("\n\n")]


def only(policy: str) -> list[str]:
    """Return the lines of a file with one part."""
    (lines,) = composed(policy)
    return lines


# --- Words ----------------------------------------------------------------------------------------


def test_an_empty_policy() -> None:
    """An empty policy is an empty file; an empty `everyone` is a group without limits."""
    assert write(compose("")) == ""
    assert only("[everyone]") == ["User-agent: *", "Disallow:"]


def test_keep_out_and_welcome_are_rules() -> None:
    """The most specific comes first, for parsers that take the first match."""
    policy = '[everyone]\nkeep-out = ["/a", "/a/b/c"]\nwelcome = "/a/b"'
    assert only(policy) == ["User-agent: *", "Disallow: /a/b/c", "Allow: /a/b", "Disallow: /a"]


def test_use_is_content_usage() -> None:
    """Narrower paths repeat the preferences of wider paths: a reader uses only one (AMB-113)."""
    policy = """
        [everyone.use]
        train-ai = false
        "/a/" = { search = false }
        "/a/b/" = { train-ai = true }
        "/c d/" = { search = true }
        "/e/" = {}
    """
    assert only(policy)[2:] == [
        "Content-Usage: train-ai=n",
        "Content-Usage: /a/ train-ai=n, search=n",
        "Content-Usage: /a/b/ train-ai=y, search=n",
        "Content-Usage: /c%20d/ train-ai=n, search=y",
    ]


def test_applications_are_app_directives_in_the_star_group() -> None:
    """And in the group of every crawler that is named, where its application looks (AMB-106)."""
    policy = """
        [applications.a]
        on = true
        n = 5
        half = 0.5
        said = "x"
        until = 2026-01-01T00:00:00Z
        word = { token = "tok" }
        name = { text = "é" }
        raw = { bytes = "AQ==" }
        "/x/" = { n = 6 }
        [applications.b]
        "/x/" = { off = false }
        [[for]]
        crawlers = ["ExampleBot"]
        [[for]]
        purposes = ["P"]
    """
    wanted = [
        'App-Directives: a;on;n=5;half=0.5;said="x";until=@1767225600;word=tok;name=%"%c3%a9";'
        "raw=:AQ==:",
        'App-Directives: /x/ a;on;n=6;half=0.5;said="x";until=@1767225600;word=tok;name=%"%c3%a9";'
        "raw=:AQ==:, b;off=?0",
    ]
    named, purposed, star = composed(policy)
    assert named == ["User-agent: ExampleBot", "Disallow:", *wanted]
    assert purposed[1:] == ["User-agent: _purpose-only_", "User-Agent-Purpose: P", "Disallow:"]
    assert star == ["User-agent: *", "Disallow:", *wanted]


def test_other_records_comments_and_delays() -> None:
    """Other records are written with `records`."""
    policy = """
        comment = "top"
        sitemaps = "https://e.example/s.xml"
        records = { Host = "e.example", License = ["https://e.example/a", "https://e.example/b"] }
        [everyone]
        comment = "all"
        crawl-delay = 0.5
        records = { Request-rate = "1/10m" }
    """
    assert composed(policy) == [
        ["# top"],
        [
            "Sitemap: https://e.example/s.xml",
            "Host: e.example",
            "License: https://e.example/a",
            "License: https://e.example/b",
        ],
        ["# all", "User-agent: *", "Disallow:", "Crawl-delay: 0.5", "Request-rate: 1/10m"],
    ]


# --- Rules for all crawlers and for some ----------------------------------------------------------

EVERYONE = """
    [everyone]
    keep-out = ["/private/", "/x/"]
    welcome = ["/private/press/"]
    crawl-delay = 2
    records = { Visit-time = "0600-0845" }
    [everyone.use]
    train-ai = false
    "/a/" = { train-ai = true, search = false }
"""


def test_everyone_includes_named_crawlers(read: Read) -> None:
    """Rules for all apply also to a crawler with a separate group (RFC 9309 §2.2.1)."""
    robots = read(write(compose(EVERYONE + '[[for]]\ncrawlers = ["A"]\nkeep-out = ["/y/"]')))
    for token in ("A", "other"):
        assert not robots.check("/private/", token)
        assert robots.check("/private/press/", token)
    assert not robots.check("/y/", "A")
    assert robots.check("/y/", "other")


def test_rules_of_a_crawler_come_first() -> None:
    """Its rule for a path replaces the rules for everyone on that path, and below."""
    own = """
        [[for]]
        crawlers = ["A"]
        keep-out = ["/private/"]
        welcome = ["/x/*.gif"]
        crawl-delay = 0
        records = { Visit-time = "0000-2359" }
        use = { train-ai = true }
    """
    group, _ = composed(EVERYONE + own)
    assert group == [
        "User-agent: A",
        "Disallow: /private/",
        "Allow: /x/*.gif",
        "Disallow: /x/",
        "Crawl-delay: 0",
        "Content-Usage: train-ai=y",
        "Content-Usage: /a/ train-ai=y, search=n",
        "Visit-time: 0000-2359",
    ]


def test_instead_of_everyone() -> None:
    """A crawler may have only its specific rules."""
    group, _ = composed(EVERYONE + '[[for]]\ncrawlers = "A"\ninstead-of-everyone = true')
    assert group == ["User-agent: A", "Disallow:"]


def test_names_and_purposes_have_their_own_groups(read: Read) -> None:
    """robotspy would mix up groups that have both; to a reader of purposes it is the same."""
    policy = '[[for]]\ncrawlers = ["A", "B"]\npurposes = ["P"]\nkeep-out = ["/"]'
    named, purposed = composed(policy)
    assert named == ["User-agent: A", "User-agent: B", "Disallow: /"]
    assert purposed == [
        f"# {PURPOSE_COMMENT}",
        "User-agent: _purpose-only_",
        "User-Agent-Purpose: P",
        "Disallow: /",
    ]
    robots = read(write(compose(policy)))
    assert not robots.check("/", "B")
    assert not robots.check("/", "C", purposes=["P"])
    assert robots.check("/", "C")


def test_order_of_groups() -> None:
    """Names before those they contain, purposes, everyone: for parsers that use the first match."""
    policy = """
        [everyone]
        [[for]]
        purposes = ["P"]
        [[for]]
        crawlers = ["Zed"]
        [[for]]
        crawlers = ["Bot"]
        [[for]]
        crawlers = ["BotNews"]
    """
    robots = compose(policy)
    assert [group.user_agents for group in robots.groups] == [
        ("Zed",),
        ("BotNews",),
        ("Bot",),
        (),
        ("*",),
    ]


# --- Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("x = ]", "line 1, column 5: this is not valid TOML: "),
        (
            "everybody = 1",
            'p.toml, line 1: everybody: there is no key "everybody" here; did you mean everyone',
        ),
        ("[everyone]\ndisallow = ['/x']", "line 2: everyone.disallow: Disallow is called keep-out"),
        ("[[for]]\ncrawlers = 'a'\nAllow = '/x'", "line 3: .*Allow is called welcome in a policy$"),
        (
            "disallow = '/x'",
            r"called keep-out in a policy; write it below \[everyone\], or below a",
        ),
        (
            "keep-out = '/x'",
            r"line 1: keep-out: write it below \[everyone\], or below a \[\[for\]\]$",
        ),
        ("[[for]]\nuser-agent = 'a'", "for.1..user-agent: User-agent is called crawlers"),
        ("[everyone]\ncrawlers = 'a'", r"everyone.crawlers: write it below a \[\[for\]\]$"),
        ("[[for]]\ncrawlers = 'Google Extended'", "that all parsers read: pass 'Google-Extended'$"),
        ("[[for]]\ncrawlers = 'Googlebot/2.1'", "that all parsers read: pass 'Googlebot'$"),
        ("[[for]]\ncrawlers = '%'", "that all parsers read: pass 'ExampleBot'$"),
        (
            "[[tags]]\npaths = '/x'\nrules = 'X-Robots-Tag: noindex'",
            "line 3: .*has the name of the field, which the server adds: write 'noindex'$",
        ),
        (
            "[[tags]]\npaths = '/x'\nrules = 'robots-tag: *;max-snippet=5'",
            "which the server adds: write 'max-snippet=5'$",
        ),
        (
            "[[tags]]\npaths = '/x'\nrules = 'noindex'\ncrawlers = 'Google Extended'",
            "line 4: .*write the product token, such as 'Google-Extended'$",
        ),
        ("zzz = 1", r"zzz: there is no key \"zzz\" here\. Known: comment, sitemaps"),
        ("everyone = 1", "everyone: expected a table, not 1"),
        (
            "[everyone]\nkeepout = 1",
            'everyone.keepout: there is no key "keepout" here; did you mean keep-out',
        ),
        ("[everyone]\nkeep-out = 1", "everyone.keep-out: expected a list such as"),
        ("[everyone]\nkeep-out = [1]", r"everyone.keep-out\[1\]: expected text in quotes"),
        ('[everyone]\nkeep-out = ["x"]', "everyone.keep-out: .*write '/x'"),
        ('[everyone]\nkeep-out = ["https://e/x"]', "is a URL: write its path"),
        ('[everyone]\nkeep-out = "/a"\nwelcome = "/%61"', "everyone.welcome: .*keep-out too"),
        ("[everyone]\ncrawl-delay = -1", "everyone.crawl-delay: .*0 or more"),
        ("[everyone]\ncrawl-delay = nan", "everyone.crawl-delay: .*0 or more"),
        ("[everyone]\ncrawl-delay = true", "everyone.crawl-delay: .*number of seconds"),
        ('[everyone]\nrecords = { Sitemap = "x" }', "everyone: .*applies to the whole file"),
        ('[everyone]\nrecords = { x = "a#" }', "everyone.records.x: .*starts a comment"),
        ("[everyone]\ncomment = 'é'", "everyone: .*visible ASCII"),
        (
            "[everyone.use]\nai = false",
            'line 2: everyone.use.ai: there is no "ai". Known: train-ai, ',
        ),
        ("[everyone.use]\nsearch = 'y'", "everyone.use.search: expected true or false"),
        ("[everyone.use]\n'/x' = { ai = false }", 'everyone.use."/x".ai: there is no "ai"'),
        ("[everyone.use]\n'*.pdf' = {}", 'everyone.use."\\*.pdf": there is no "\\*.pdf"'),
        ("for = {}", "for: this is a list of tables: write \\[\\[for\\]\\]"),
        ("[[for]]", r"for\[1\]: no crawler or purpose"),
        ("[[for]]\ncrawlers = '*'", r"for\[1\]: '\*' stands for all crawlers"),
        ("[[for]]\ncrawlers = 'a b'", r"for\[1\]: 'a b' is not a product token"),
        ("[[for]]\ncrawlers = 'a'\n[[for]]\ncrawlers = 'A'", r"for\[2\]: .* for\[1\] too"),
        ("[[for]]\npurposes = ['a', 'A']", r"purpose A is in for\[1\] too"),
        ("[[for]]\ncrawlers = 'a'\ninstead-of-everyone = 1", "instead-of-everyone: expected true"),
        ("sitemaps = '/s.xml'", "sitemaps: .*not an absolute URL"),
        ("sitemaps = 'https://e/#x'", "sitemaps: .*starts a comment"),
        ("records = { Crawl-delay = '5' }", "p.toml: .*applies to no crawler"),
        ("[applications]\na = 1", "applications.a: expected a table"),
        ("[applications.a]\nB = 1", "applications.a: .*Structured Field"),
        ("[applications.1]\nb = 1", "applications.1: .*Structured Field"),
        ("robots-txt = 'a'\n[everyone]", "line 2: everyone: .* cannot be combined with robots-txt"),
        ("robots-txt = 'a'\n[[for]]", "line 2: for\\[1\\]: no crawler or purpose"),
        ("robots-txt = 'a'\n[applications]", "applications: .* cannot be combined with"),
        ("robots-txt = 'a'\nrecords = {}", "records: .* cannot be combined with robots-txt"),
        ("robots-txt = 'a'\ncomment = ''", "comment: .* cannot be combined with robots-txt"),
        ("robots-txt = true", 'robots-txt: expected text in quotes such as "robots.txt", not true'),
        ("[applications.a]\nb = 'é'", "applications.a.b: a String is ASCII: write { text"),
        ("[applications.a]\nb = [1]", "applications.a.b: write true, a number"),
        ("[applications.a]\nb = 2026-01-01", "applications.a.b: .*date with time"),
        ("[applications.a]\nb = 2026-01-01T00:00:00", "applications.a.b: .*offset"),
        ("[applications.a]\nb = {}", "applications.a.b: write one of"),
        ("[applications.a]\nb = { key = 'x' }", 'there is no key "key" here.* token, text, bytes'),
        ("[applications.a]\nb = { bytes = 'x' }", "applications.a.b: 'x' is not base64"),
        ("[applications.a]\n'/x' = { b = 'é' }", 'applications.a."/x".b: '),
    ],
)
def test_errors_have_the_file_the_key_and_the_known_values(policy: str, words: str) -> None:
    """One line for the author of a policy file."""
    with pytest.raises(WriteError, match=words) as caught:
        compose(policy, "p.toml")
    assert str(caught.value).startswith("p.toml")
    assert "\n" not in str(caught.value)


def test_an_existing_robots_txt() -> None:
    """It is named and not read; its tags are those of the policy, and nothing is written."""
    text = 'robots-txt = "../robots.txt"\n[[tags]]\npaths = "/a/"\nrules = "noindex"\n'
    policy = read_policy(text)
    assert policy.robots_txt == "../robots.txt"
    assert [table.patterns for table in policy.tags] == [("/a/",)]
    assert write(policy.robots) == ""
    assert read_policy("").robots_txt is None
    with pytest.raises(
        WriteError, match=r"p\.toml: there is nothing to write: .*'\.\./robots\.txt'"
    ):
        compose(text, "p.toml")


# --- Examples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_give_their_robots_txt(example: Path) -> None:
    """`examples/policy-NAME.toml` gives `examples/policy-NAME.txt`, without any note."""
    written = write(compose(example.read_text(encoding="utf-8")), strict=True)
    assert written == example.with_suffix(".txt").read_text(encoding="utf-8")
    assert parse(written).notes == ()


def test_there_are_examples() -> None:
    """The three that the documentation shows."""
    assert [path.stem for path in EXAMPLES] == [
        "policy-no-training",
        "policy-private",
        "policy-purposes",
    ]


@pytest.mark.parametrize(
    ("seconds", "written"),
    [("0.00001", "0.00001"), ("1e20", "1" + "0" * 20), ("-0.0", "0.0"), ("5", "5")],
)
def test_a_crawl_delay_has_no_exponent(seconds: str, written: str) -> None:
    """What is written is what our reader, and others, read."""
    text = write(compose(f"[everyone]\ncrawl-delay = {seconds}\n"))
    assert f"Crawl-delay: {written}\n" in text
    assert crawl_delay(parse(text), "x") is not None


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            "x = " + "[" * 5_000,
            "this TOML cannot be read: a value is nested too deeply or out of range",
        ),
        (
            "x = " + "{y = " * 5_000,
            "this TOML cannot be read: a value is nested too deeply or out of range",
        ),
        (".".join("a" * 40_000) + " = 1", "line 1: a key has more than 32 dotted names"),
        (
            "comment = 'x'\n[" + ".".join("a" * 99) + "]",
            "line 2: a key has more than 32 dotted names",
        ),
        (
            "x = " + "9" * 9_999,
            "this TOML cannot be read: a value is nested too deeply or out of range",
        ),
        ("x = 2026-02-31", "no TOML|Invalid"),
        ("# " + "x" * 2**20, "larger than 1,048,576 bytes"),
        ("comment = '\ud800'", "line 1: this is not UTF-8"),
    ],
    ids=["lists", "tables", "dots", "header", "number", "date", "size", "surrogate"],
)
def test_limits(policy: str, words: str) -> None:
    """What is large, deep or odd is refused in one line, as settings of a project are."""
    with pytest.raises(WriteError, match=words) as caught:
        compose(policy, "p.toml")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("p.toml")


@pytest.mark.parametrize("line", ["keep-out = '{}'", "welcome = ['{}']"])
@pytest.mark.parametrize("paths", ["/cart/ /search", "/cart/, /search", "/cart/\\t/search"])
def test_several_paths_in_one_text(line: str, paths: str) -> None:
    """A list was meant: the message shows it, for requests and for tags."""
    written = line.format(paths).replace("'", '"')
    each = r'has a space: write each path in its own quotes, \["/cart/", "/search"\]; .* %20$'
    with pytest.raises(WriteError, match="line 2: everyone.*" + each):
        compose(f"[everyone]\n{written}\n")
    with pytest.raises(WriteError, match="line 2: tags.*" + each):
        compose(f'[[tags]]\npaths = "{paths}"\nrules = "noindex"\n')


def test_the_suggested_url_of_a_sitemap() -> None:
    """A host gets a scheme; a path needs the host too."""
    for url, fix in (
        ("shop.example/s.xml", "https://shop.example/s.xml"),
        ("//shop.example/s.xml", "https://shop.example/s.xml"),
        ("/s.xml", "https://…/s.xml"),
    ):
        with pytest.raises(WriteError, match=f"is not an absolute URL: write {fix}$"):
            compose(f"sitemaps = ['{url}']\n")


class TestForPurpose:
    """`for-purpose` stands for the well-known crawlers with a purpose."""

    def test_names_source_and_purpose(self) -> None:
        """All names with the purpose, a comment with the date, and a group for the purpose."""
        robots = compose('[[for]]\nfor-purpose = ["ai-training"]\nkeep-out = ["/"]')
        names, purposes = robots.groups
        expected = [c.written_as for c in KNOWN_CRAWLERS if "ai-training" in c.purposes]
        assert list(names.user_agents) == expected
        assert {"GPTBot", "CCBot", "Google-Extended"} <= set(expected)
        assert KNOWN_CRAWLERS.checked in names.comment
        assert "ai-training" in names.comment
        assert purposes.purposes == ("ai-training",)
        assert purposes.comment == PURPOSE_COMMENT
        parsed = parse(write(robots))
        assert not parsed.check("/", "GPTBot").allowed
        assert parsed.check("/", "Googlebot").allowed
        assert not parsed.check("/", "NewBot", ["ai-training"]).allowed

    def test_a_text_and_an_own_comment(self) -> None:
        """One purpose needs no list; a comment comes first."""
        robots = compose('[[for]]\nfor-purpose = "archive"\ncomment = "Not us."\nkeep-out = "/"')
        assert robots.groups[0].comment.startswith("Not us.\nCrawlers with the purpose archive.")

    def test_a_name_with_a_space_is_written_as_parsers_read_it(self) -> None:
        """`Sogou web spider` is Sogou."""
        robots = compose('[[for]]\nfor-purpose = "search"\nkeep-out = "/"')
        assert "Sogou" in robots.groups[0].user_agents

    def test_a_named_crawler_is_left_to_its_table(self) -> None:
        """Whatever the order of the tables and the case of the name."""
        robots = compose(
            '[[for]]\nfor-purpose = "ai-training"\nkeep-out = "/"\n'
            '[[for]]\ncrawlers = ["ccbot"]\nwelcome = "/"'
        )
        parsed = parse(write(robots))
        assert parsed.check("/", "CCBot").allowed
        assert not parsed.check("/", "GPTBot").allowed

    @pytest.mark.parametrize("is_swapped", [False, True])
    def test_one_unwanted_purpose_is_enough(self, is_swapped: bool) -> None:
        """Amazonbot is for search too; the table with keep-out has it, in either order."""
        tables = [
            '[[for]]\nfor-purpose = "search"\nwelcome = "/"\n',
            '[[for]]\nfor-purpose = "ai-training"\nkeep-out = "/"\n',
        ]
        parsed = parse(write(compose("".join(reversed(tables) if is_swapped else tables))))
        assert not parsed.check("/", "Amazonbot").allowed
        assert parsed.check("/", "Googlebot").allowed

    def test_everyone_applies_too(self) -> None:
        """As in every group of a named crawler."""
        robots = compose(
            '[everyone]\nkeep-out = "/cart/"\n[[for]]\nfor-purpose = "seo"\ncrawl-delay = 5'
        )
        parsed = parse(write(robots))
        assert not parsed.check("/cart/", "MJ12bot").allowed
        delay = crawl_delay(parsed, "MJ12bot")
        assert delay is not None
        assert delay.seconds == 5

    def test_purposes_are_written_once(self) -> None:
        """Also if the table has the purpose in both keys."""
        robots = compose('[[for]]\nfor-purpose = "feed"\npurposes = "FEED"\nkeep-out = "/"')
        assert robots.groups[1].purposes == ("FEED",)

    def test_two_tables_for_one_purpose(self) -> None:
        """Their names cannot be told apart, so they are one table."""
        with pytest.raises(WriteError, match=r"purpose seo is in .* merge the two tables"):
            compose('[[for]]\nfor-purpose = "seo"\n[[for]]\nfor-purpose = "seo"\ncrawl-delay=1')

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ('"ai-trainin"', "did you mean ai-training?"),
            ('["x"]', "Known: search, ai-search, .*in-house"),
            ("3", "expected a list such as"),
            ("[]", "add crawlers = .* or for-purpose"),
        ],
    )
    def test_errors(self, value: str, words: str) -> None:
        """They name the key and the known purposes."""
        with pytest.raises(WriteError, match=f"line .*{words}"):
            compose(f"[[for]]\nfor-purpose = {value}\nkeep-out = '/'")
