"""Expectation files on disk: discovery, the files they are about, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from robotrules import Client
from robotrules.config import Config, TestConfig, find_config
from robotrules.errors import ExpectationError
from robotrules.expect.files import ClientFetcher, ExpectationFile, FileOptions, find_files
from tests.cli.sites import Site, response, site

ROBOTS = "User-agent: *\nDisallow: /private/\n"
EXPECT = '[[expect]]\ndisallowed = "/private/x"\n'


def put(path: Path, text: str | bytes) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def passed(path: Path, given: FileOptions = FileOptions(), config: Config = Config()) -> list[bool]:  # noqa: B008
    """Return which questions of a file passed."""
    return [result.passed for result in ExpectationFile(path, config, None, given).evaluate_all()]


def refused(path: Path, given: FileOptions = FileOptions()) -> str:  # noqa: B008
    """Return why a file cannot be evaluated, in one line."""
    with pytest.raises(ExpectationError) as caught:
        list(ExpectationFile(path, Config(), None, given).evaluate_all())
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- Which files ----------------------------------------------------------------------------------


def test_files_by_convention(tmp_path: Path) -> None:
    """Beside the robots.txt, and in the folder `tests` beside it."""
    assert find_files(tmp_path, Config()) == []
    beside = put(tmp_path / "robots.test.toml", EXPECT)
    inside = put(tmp_path / "tests" / "robots.test.toml", EXPECT)
    assert find_files(tmp_path, Config()) == [beside, inside]
    put(tmp_path / "robots.txt", ROBOTS)
    assert passed(beside) == [True]
    assert passed(inside) == [True]


def test_files_that_the_settings_name(tmp_path: Path) -> None:
    """Then no others; from the folder of the settings; with `*`; each once."""
    put(tmp_path / "robots.test.toml", EXPECT)
    one, two = (put(tmp_path / "checks" / f"{name}.toml", EXPECT) for name in ("one", "two"))
    put(tmp_path / "robotrules.toml", '[test]\nfiles = ["checks/two.toml", "checks/*.toml"]\n')
    assert find_files(tmp_path / "checks", find_config(tmp_path / "checks")) == [two, one]
    put(tmp_path / "robotrules.toml", '[test]\nfiles = ["nothing/*.toml"]\n')
    with pytest.raises(ExpectationError, match=r"no file is called 'nothing/\*\.toml'"):
        find_files(tmp_path, find_config(tmp_path))


def test_a_robots_txt_beside_the_file_comes_first(tmp_path: Path) -> None:
    """Above is looked only from the folder `tests`, and only where none is beside."""
    put(tmp_path / "robots.txt", ROBOTS)
    path = put(tmp_path / "tests" / "robots.test.toml", EXPECT)
    put(tmp_path / "tests" / "robots.txt", "")
    assert passed(path) == [False]
    elsewhere = put(tmp_path / "other" / "robots.test.toml", EXPECT)
    assert "there is no such file" in refused(elsewhere)


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    """In any working folder."""
    put(tmp_path / "build" / "r.txt", ROBOTS)
    put(tmp_path / "checks" / "page.html", '<meta name=robots content="noindex">')
    put(tmp_path / "checks" / "page.http", "HTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\n\r\n<p>x")
    path = put(
        tmp_path / "checks" / "x.toml",
        'robots = "../build/r.txt"\n'
        + EXPECT
        + '[[expect]]\npage = "page.html"\nheaders = "X-Robots-Tag: noai"\n'
        + 'only-tags = ["noindex", "noai"]\n'
        + '[[expect]]\nresponse = "page.http"\nheaders = "X-Robots-Tag: nofollow"\n'
        + 'only-tags = ["noai", "nofollow"]\n'
        + '[[expect]]\nheaders = "X-Robots-Tag: nofollow"\nonly-tags = "nofollow"\n',
    )
    assert passed(path) == [True, True, True, True]


def test_arguments_take_precedence(tmp_path: Path) -> None:
    """Robots.txt, profile and budget override those of the file and of the settings."""
    path = put(tmp_path / "robots.test.toml", 'profile = "strict"\n' + EXPECT)
    put(tmp_path / "robots.txt", "")
    other = put(tmp_path / "other.txt", ROBOTS)
    assert passed(path) == [False]
    assert passed(path, FileOptions(robots=str(other))) == [True]
    config = Config(test=TestConfig(profile="google", max_states=7))
    assert ExpectationFile(path, config).profile == "strict"
    assert ExpectationFile(path, config).max_states == 7
    assert (
        ExpectationFile(path, config, None, FileOptions(profile="google", max_states=8)).profile
        == "google"
    )
    assert ExpectationFile(path, config, None, FileOptions(max_states=8)).max_states == 8
    put(path, EXPECT)
    assert ExpectationFile(path, config).profile == "google"


# --- What cannot be read --------------------------------------------------------------------------


def test_unreadable_files_give_a_one_line_error(tmp_path: Path) -> None:
    """The file, the reason and the fix."""
    assert refused(tmp_path / "x.toml") == (
        f"{tmp_path}/x.toml: there is no such file; check the name"
    )
    assert "it is a folder; name a file in it" in refused(tmp_path)
    path = put(tmp_path / "robots.test.toml", EXPECT)
    assert refused(path) == (
        f"{tmp_path}/robots.txt: there is no such file; "
        f'create it, or set robots = "…" in {tmp_path}/robots.test.toml'
    )
    named = put(tmp_path / "named.toml", '# A comment.\nrobots = "a.txt"\n' + EXPECT)
    assert refused(named) == (
        f"{tmp_path}/a.txt: there is no such file; correct robots in {tmp_path}/named.toml, line 2"
    )
    assert (
        refused(named, FileOptions(robots="b.txt"))
        == "b.txt: there is no such file; check the name"
    )
    (tmp_path / "robots.txt").mkdir()
    assert "robots.txt: it is a folder" in refused(path)
    put(tmp_path / "robots.test.toml", b"\0\xff")
    assert "line 1: this is not UTF-8" in refused(path)
    page = put(tmp_path / "page.toml", '[[expect]]\npage = "none.html"\ntags = "noindex"\n')
    put(tmp_path / "r.txt", ROBOTS)
    given = FileOptions(robots=str(tmp_path / "r.txt"))
    assert "none.html: there is no such file" in refused(page, given)
    put(tmp_path / "none.html", b"")
    bad = put(tmp_path / "page.toml", '[[expect]]\nresponse = "none.html"\ntags = "noindex"\n')
    assert "none.html: " in refused(bad, given)


def test_a_live_file_needs_a_fetcher(tmp_path: Path) -> None:
    """A live file without a fetcher is refused."""
    path = put(tmp_path / "robots.test.toml", 'url = "https://example.com/"\n' + EXPECT)
    assert "cannot fetch here" in refused(path)


def test_a_file_of_any_octets_is_a_robots_txt(tmp_path: Path) -> None:
    """A binary file is evaluated like any other: every byte string is a robots.txt."""
    put(tmp_path / "robots.txt", bytes(range(256)) * 9000)
    path = put(tmp_path / "robots.test.toml", '[[expect]]\nall-allowed = "/"\n')
    assert passed(path) == [True]


# --- What is live ---------------------------------------------------------------------------------


@contextmanager
def live(running: Site) -> Iterator[ClientFetcher]:
    """Open a fetcher for a site on the loopback."""
    with Client("ExampleBot/1.0", store="memory:", allow_private=["127.0.0.1"]) as client:
        yield ClientFetcher(lambda: client)


def test_a_live_robots_txt_and_its_pages(tmp_path: Path) -> None:
    """Live files are fetched; the tags of a disallowed page are unknown."""
    answers = {
        "/robots.txt": response(ROBOTS),
        "/draft": response("<p>x", "Content-Type: text/html", "X-Robots-Tag: noindex"),
        "/private/x": response("<p>x", "Content-Type: text/html", "X-Robots-Tag: noindex"),
    }
    with site(answers) as running, live(running) as fetcher:
        origin = running.origin
        path = put(
            tmp_path / "robots.test.toml",
            f'url = "{origin}/robots.txt"\n{EXPECT}'
            f'[[expect]]\npage = "{origin}/draft"\ncrawlers = "ExampleBot"\ntags = "noindex"\n'
            f'[[expect]]\npage = "{origin}/private/x"\ncrawlers = "ExampleBot"\ntags = "noindex"\n',
        )
        trial = ExpectationFile(path, Config(), fetcher)
        assert running.asked == []
        found = list(trial.evaluate_all())
        assert [result.passed for result in found] == [True, True, False]
        assert "crawlers do not read its tags" in found[2].found
        assert "/private/x" not in running.asked
        missing = put(
            tmp_path / "missing.toml",
            f'[[expect]]\npage = "{origin}/none"\ncrawlers = "ExampleBot"\ntags = "noindex"\n',
        )
        with pytest.raises(ExpectationError, match="the page cannot be read: status 404"):
            list(
                ExpectationFile(missing, Config(), fetcher, FileOptions(live=origin)).evaluate_all()
            )


def test_a_live_file_in_place_of_the_one_that_is_named(tmp_path: Path) -> None:
    """The same expectations, for live files."""
    path = put(tmp_path / "robots.test.toml", EXPECT)
    put(tmp_path / "robots.txt", "")
    with site({"/robots.txt": response(ROBOTS)}) as running, live(running) as fetcher:
        trial = ExpectationFile(path, Config(), fetcher, FileOptions(live=running.origin))
        assert [result.passed for result in trial.evaluate_all()] == [True]
        assert trial.source == trial.origin == running.origin


def test_an_unreachable_robots_txt_is_an_error(tmp_path: Path) -> None:
    """Unreachable is a one-line error; a missing file allows everything."""
    path = put(tmp_path / "robots.test.toml", EXPECT)
    answers = {"/robots.txt": response(status="500 Broken")}
    with site(answers) as running, live(running) as fetcher:
        trial = ExpectationFile(path, Config(), fetcher, FileOptions(live=running.origin))
        with pytest.raises(ExpectationError, match=r"the robots\.txt is unreachable"):
            _ = trial.robots
    with site({}) as running, live(running) as fetcher:
        trial = ExpectationFile(path, Config(), fetcher, FileOptions(live=running.origin))
        assert [result.passed for result in trial.evaluate_all()] == [False]
        with pytest.raises(
            ExpectationError, match=r"not an http or https URL, so it has no robots\.txt"
        ):
            fetcher.robots("mailto:a@example.com", "default")
