"""
Policy files: an existing robots.txt that a policy names, wrong endings, limits, files to watch.

What a policy means once it is read is in `test_site_policy`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from robotrules.serving import PolicyError, SitePolicy, make_staging_robots
from robotrules.serving.policy_source import find_policy_files

ROBOTS = "# by hand\r\nUser-agent: *\r\nDisallow: /cart/\r\n"
NAMES_ROBOTS = 'robots-txt = "robots.txt"\n\n[[tags]]\npaths = "/drafts/"\nrules = "noindex"\n'
GENERATES = '[everyone]\nkeep-out = "/x/"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy that names a robots.txt; the process is in another one."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "robots.txt").write_bytes(ROBOTS.encode())
    (tmp_path / "site" / "policy.toml").write_text(NAMES_ROBOTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "site"


def refusal(source: str | Path) -> str:
    """Return the message of the PolicyError that a policy raises."""
    with pytest.raises(PolicyError) as caught:
        SitePolicy(source)
    return str(caught.value)


# --- An existing robots.txt -----------------------------------------------------------------------


def test_an_existing_robots_txt_is_served_as_it_is(folder: Path) -> None:
    """Byte by byte; the tags of the policy are sent too."""
    site = SitePolicy("site/policy.toml")
    assert site.robots_txt() == ROBOTS.encode()
    assert dict(site.response_fields("/drafts/x").add_to([]))["X-Robots-Tag"] == "noindex"
    assert not site.response_fields("/x")


def test_its_path_starts_at_the_policy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text has no folder, so it starts at the working directory. The author is trusted."""
    (folder / "deploy").mkdir()
    (folder / "deploy" / "policy.toml").write_text('robots-txt = "../robots.txt"\n')
    assert SitePolicy(folder / "deploy" / "policy.toml").robots_txt() == ROBOTS.encode()
    absolute = f"robots-txt = '{folder / 'robots.txt'}'\n"
    assert SitePolicy(absolute).robots_txt() == ROBOTS.encode()
    assert "cannot be read" in refusal(NAMES_ROBOTS)
    monkeypatch.chdir(folder)
    assert SitePolicy(NAMES_ROBOTS).robots_txt() == ROBOTS.encode()


def test_its_rules_are_those_of_the_site(folder: Path) -> None:
    """For counters, preferences and staging hosts, as with a generated robots.txt."""
    (folder / "robots.txt").write_text(ROBOTS + "Content-Usage: train-ai=n\n")
    site = SitePolicy(folder / "policy.toml", staging=["staging.example"])
    fields = site.record_request("/cart/1", user_agent="GPTBot/1.2")
    assert site.counters.get("GPTBot").disallowed == 1
    assert fields.add_to([]) == [("Content-Usage", "train-ai=n")]
    assert site.robots_txt("staging.example").decode() == make_staging_robots()


def test_notes_name_the_file_that_has_the_mistake(folder: Path) -> None:
    """Lines of the robots.txt are those of its file, lines of tags those of the policy."""
    policy = folder / "policy.toml"
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /drafts/\n")
    assert f"{policy}, line 3, tags for '/drafts/': warning RR861" in refusal(policy)
    (folder / "robots.txt").write_text("User-agent: *\n# c\nDisalow: /x\n")
    message = refusal(policy)
    assert message.startswith(f"{policy} is not served, because lint has 2 notes:\n")
    where = f"{folder / 'robots.txt'}, line 3 ('Disalow: /x'): warning"
    assert f"\n  {where} RR301 typo" in message
    site = SitePolicy(policy, min_level="error")
    assert [line.startswith(where) for line in site.note_messages] == [True, True]
    assert [note.line for note in site.notes] == [3, 3]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            'robots-txt = "missing.txt"\n',
            "the file 'missing.txt' cannot be read: No such file or directory; a relative path "
            "starts at '{folder}'",
        ),
        ('robots-txt = "/missing/robots.txt"\n', "cannot be read: No such file or directory"),
        ('robots-txt = "."\n', "the file '.' cannot be read: Is a directory"),
        (
            'robots-txt = "policy.toml"\n',
            "the file 'policy.toml' is a policy in TOML ('robots-txt = \"policy.toml\"'): name a "
            "robots.txt, or remove robots-txt",
        ),
        ('robots-txt = "large.txt"\n', "the file 'large.txt' is larger than 1 MiB"),
        ('robots-txt = "a\\u0000b"\n', "is not the name of a file"),
        ('robots-txt = ""\n', 'line 1: robots-txt: this is empty; write a value such as "robots'),
        ("robots-txt = ['robots.txt']\n", "line 1: robots-txt: expected text in quotes"),
        ('robots_txt = "robots.txt"\n', "did you mean robots-txt?"),
        (
            'sitemaps = []\nrobots-txt = "robots.txt"\n',
            "line 1: sitemaps: this cannot be combined with robots-txt",
        ),
        (
            'robots-txt = "robots.txt"\n[everyone]\n',
            "line 2: everyone: this cannot be combined with robots-txt",
        ),
    ],
)
def test_a_robots_txt_that_cannot_be_served(folder: Path, policy: str, words: str) -> None:
    """The message names the policy and the key."""
    (folder / "large.txt").write_bytes(b"#" * ((1 << 20) + 1))
    (folder / "policy.toml").write_text(policy)
    message = refusal(Path("site/policy.toml"))
    assert message.startswith("site/policy.toml")
    assert words.format(folder=folder) in message


# --- Names of files -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    ["User-agent: *", "# a = b\n\nUser-agent: *", "\ufeff  sitemap : https://example.com/?a=b"],
)
def test_a_robots_txt_that_is_called_toml(tmp_path: Path, first: str) -> None:
    """The message shows the line, and how to name the file."""
    file = tmp_path / "rules.toml"
    file.write_text(f"{first}\nDisallow: /x\n", encoding="utf-8")
    message = refusal(file)
    assert f"{file} ends in .toml, but" in message
    assert 'rename the file to rules.txt. A policy can name it: robots-txt = "rules.txt"' in message


@pytest.mark.parametrize(
    "first",
    [
        "[everyone]",
        "[[for]]",
        "# c\r\n\r\n[ applications.x ]",
        "\ufeff[[tags]]",
        'comment = "x: y"',
        "everyone.keep-out = '/x'",
        'robots-txt = "x"',
    ],
)
def test_a_policy_that_is_called_txt(tmp_path: Path, first: str) -> None:
    """It would be a robots.txt without rules, which allows everything."""
    for name in ("policy.txt", "policy"):
        file = tmp_path / name
        file.write_text(f"{first}\n", encoding="utf-8", newline="")
        assert "is a line of a policy in TOML: give the file a name that" in refusal(file)


@pytest.mark.parametrize(
    "text", ["[everybody]\n", "Comment: [everyone]\n", "everyone: x = y\n", "# [everyone]\n"]
)
def test_other_files_are_not_policies(tmp_path: Path, text: str) -> None:
    """They are a robots.txt, which lint reads."""
    (tmp_path / "robots.txt").write_text(text)
    assert SitePolicy(tmp_path / "robots.txt", ignore=["all"]).robots_txt() == text.encode()


def test_a_byte_order_mark(tmp_path: Path) -> None:
    """Editors write it: a policy may have it, and a robots.txt is sent with it."""
    (tmp_path / "a.toml").write_text("\ufeff" + GENERATES, encoding="utf-8")
    (tmp_path / "A.TOML").write_text("\ufeff" + GENERATES, encoding="utf-8")
    (tmp_path / "a.txt").write_text("\ufeff" + ROBOTS, encoding="utf-8", newline="")
    assert SitePolicy(tmp_path / "a.toml").robots_txt() == SitePolicy(GENERATES).robots_txt()
    assert SitePolicy(f"{tmp_path}/A.TOML").robots_txt() == SitePolicy(GENERATES).robots_txt()
    site = SitePolicy(tmp_path / "a.txt")
    assert site.robots_txt() == b"\xef\xbb\xbf" + ROBOTS.encode()
    assert [note.slug for note in site.notes] == ["bom"]


@pytest.mark.parametrize("source", ["a\0b.toml", Path("a\0b.txt")])
def test_a_name_with_nul(source: str | Path) -> None:
    """It cannot be a file."""
    assert "is not the name of a file" in refusal(source)


def test_a_missing_file(folder: Path) -> None:
    """For a relative path, the message says where it starts."""
    start = str(folder.parent)
    assert refusal("policy.toml") == (
        "policy 'policy.toml' cannot be read: No such file or directory; "
        f"a relative path starts at {start!r}"
    )
    assert refusal(folder / "none.toml").endswith("cannot be read: No such file or directory")


@pytest.mark.parametrize("text", ["", "# c", "\ufeff\n # c\r\n\n", "\n# [everyone]\n"])
def test_an_empty_policy(tmp_path: Path, text: str) -> None:
    """A truncated deployment would allow everything; a table says it on purpose."""
    file = tmp_path / "policy.toml"
    file.write_text(text, encoding="utf-8", newline="")
    assert "is empty, which would allow everything: deploy the whole file." in refusal(file)
    file.write_text(text + "\n[everyone]\n", encoding="utf-8", newline="")
    assert SitePolicy(file).robots_txt() == b"User-agent: *\nDisallow:\n"


@pytest.mark.parametrize("text", ["", "\n", "\ufeff\r\n"])
def test_an_empty_robots_txt(folder: Path, text: str) -> None:
    """A warning that can be accepted like others; a policy with tags only has no robots.txt."""
    (folder / "robots.txt").write_text(text, encoding="utf-8", newline="")
    for file in (folder / "robots.txt", folder / "policy.toml"):
        assert "warning RR114 empty-file" in refusal(file)
        assert SitePolicy(file, ignore=["empty-file"]).robots_txt() == text.encode()
        assert SitePolicy(file, min_level="error").robots_txt() == text.encode()
    tags = NAMES_ROBOTS.partition("\n")[2]
    assert SitePolicy(tags).robots_txt() == b""


def test_a_misspelled_ending() -> None:
    """The message starts with what is wrong."""
    assert refusal("policy.tml").startswith("policy 'policy.tml' ends in neither .toml nor .txt: ")


# --- Files to watch -------------------------------------------------------------------------------


def test_files_of_a_policy(folder: Path) -> None:
    """The policy and the robots.txt that it names; a text has no file itself."""
    policy, robots = folder / "policy.toml", folder / "robots.txt"
    assert find_policy_files(policy) == find_policy_files(str(policy)) == [policy, robots]
    assert find_policy_files(robots) == [robots]
    assert find_policy_files(NAMES_ROBOTS) == [Path("robots.txt")]
    assert find_policy_files(GENERATES) == find_policy_files(ROBOTS) == []
    # After a mistake is corrected, there is something to read again.
    for mistake in ("robots-txt = ", "robots-txt = 1", "[", "a.b" * 9_000, "\udcff"):
        policy.write_text(mistake, errors="surrogateescape")
        assert find_policy_files(policy) == [policy]
    assert find_policy_files(folder / "none.toml") == [folder / "none.toml"]
    policy.write_text('robots-txt = "none.txt"\nx = 1\n')
    assert find_policy_files(policy) == [policy, folder / "none.txt"]
