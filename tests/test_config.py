"""Settings of a project: which file counts, what it may contain, and how errors are reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robotrules import profile
from robotrules.config import (
    LARGEST,
    PROFILES,
    Config,
    FmtConfig,
    LintConfig,
    MatrixConfig,
    TestConfig,
    WatchConfig,
    check_names,
    find_config,
    read_config,
)
from robotrules.errors import ConfigError, RobotrulesError

ALL = """\
[lint]
select = ["RR5", "dead-rule"]
ignore = "RR301"
per-file-ignores = { "staging/*" = ["RR702"], "*.old" = ["RR5"] }
profile = "google"
max-states = 1000
fail-on = "warning"
url = "https://example.com/"
min-level = "error"
format = "sarif"

[fmt]
max-states = 2000

[test]
files = ["checks/robots.test.toml"]
profile = "strict"
max-states = 3000

[matrix]
crawlers = ["Googlebot", "GPTBot"]
paths = ["/", "/search"]

[watch]
urls = ["https://example.com"]
name = "shop"
every = "30m"
after = 3
crawlers = ["ExampleBot"]
sitemaps = true
min-level = "warning"
webhook = "https://example.org/hook"
webhook-secret-file = "hook.secret"
exec = ["notify", "--to", "ops"]
feed = "robots.atom"
mail-to = ["ops@example.com"]
mail-from = "watch@example.com"
smtp = "mail.example.com"
smtp-security = "tls"
smtp-user = "watch"
smtp-password-file = "smtp.password"
"""


def put(path: Path, text: str) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refused(path: Path) -> str:
    """Return why the settings near a path cannot be used, in one line."""
    with pytest.raises(ConfigError) as caught:
        find_config(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_key_is_read(tmp_path: Path) -> None:
    """Lists may be one text; what is given arrives, each under its own name."""
    path = put(tmp_path / "robotrules.toml", ALL)
    assert find_config(tmp_path) == Config(
        str(path),
        LintConfig(
            ("RR5", "dead-rule"),
            ("RR301",),
            {"staging/*": ("RR702",), "*.old": ("RR5",)},
            "google",
            1000,
            "warning",
            "https://example.com/",
            "error",
            "sarif",
        ),
        FmtConfig(2000),
        TestConfig(("checks/robots.test.toml",), "strict", 3000),
        MatrixConfig(("Googlebot", "GPTBot"), ("/", "/search")),
        WatchConfig(
            ("https://example.com",),
            "shop",
            "30m",
            3,
            ("ExampleBot",),
            True,
            "warning",
            ("https://example.org/hook",),
            "hook.secret",
            ("notify", "--to", "ops"),
            "robots.atom",
            ("ops@example.com",),
            "watch@example.com",
            "mail.example.com",
            "tls",
            "watch",
            "smtp.password",
        ),
    )


def test_pyproject_has_the_same_in_its_own_table(tmp_path: Path) -> None:
    """Under `[tool.robotrules]` the keys are those of robotrules.toml."""
    text = ALL.replace("[", "[tool.robotrules.", 1)
    for name in ("fmt", "test", "matrix", "watch"):
        text = text.replace(f"[{name}]", f"[tool.robotrules.{name}]")
    put(tmp_path / "pyproject.toml", text)
    put(tmp_path / "other" / "robotrules.toml", ALL)
    assert find_config(tmp_path)[1:] == find_config(tmp_path / "other")[1:]


def test_without_a_file_settings_are_empty(tmp_path: Path) -> None:
    """No file: no path, empty lists, and None where a command has its own default."""
    put(tmp_path / "pyproject.toml", "[project]\nname = 'x'\n")
    config = read_config(tmp_path / "pyproject.toml")
    assert config[1:] == Config()[1:]
    assert Config().path is None
    assert Config().lint.fail_on is None
    assert Config().test.files == ()


# --- Which file counts ----------------------------------------------------------------------------


def test_the_nearest_file_wins(tmp_path: Path) -> None:
    """Searched upwards from the file's folder; files further up are ignored."""
    put(tmp_path / "robotrules.toml", "[lint]\nignore = ['far']\nprofile = 'strict'\n")
    near = put(tmp_path / "a" / "robotrules.toml", "[lint]\nignore = ['near']\n")
    robots = put(tmp_path / "a" / "b" / "robots.txt", "")
    config = find_config(robots)
    assert config.path == str(near)
    assert config.lint == LintConfig(ignore=("near",))
    assert config.folder == near.parent


def test_our_own_file_beats_pyproject_beside_it(tmp_path: Path) -> None:
    """In one folder robotrules.toml counts; pyproject.toml is not even read."""
    put(tmp_path / "pyproject.toml", "this is not valid TOML")
    own = put(tmp_path / "robotrules.toml", "")
    assert find_config(tmp_path).path == str(own)


def test_a_pyproject_without_our_table_is_passed_over(tmp_path: Path) -> None:
    """What is for others does not end the search, whatever it holds."""
    far = put(tmp_path / "robotrules.toml", "")
    for number, text in enumerate(("[project]\n", "tool = 1\n", "[tool.robotrulez]\n")):
        put(tmp_path / f"p{number}" / "pyproject.toml", text)
        assert find_config(tmp_path / f"p{number}").path == str(far)
    put(tmp_path / "p0" / "pyproject.toml", "[tool.robotrules]\n")
    assert find_config(tmp_path / "p0").path == str(tmp_path / "p0" / "pyproject.toml")


def test_a_place_that_does_not_exist_has_settings_too(tmp_path: Path) -> None:
    """A file that is about to be written is found settings for."""
    own = put(tmp_path / "robotrules.toml", "")
    assert find_config(tmp_path / "new" / ".." / "new" / "robots.txt").path == str(own)


def test_a_relative_path_starts_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`robots.txt` means the one here, and the search goes on above."""
    own = put(tmp_path / "robotrules.toml", "")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert find_config("robots.txt").path == str(own)


def test_a_folder_or_a_pipe_of_that_name_has_no_settings(tmp_path: Path) -> None:
    """Only a regular file is read; a pipe would never end."""
    own = put(tmp_path / "robotrules.toml", "")
    (tmp_path / "a" / "robotrules.toml").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b" / "robotrules.toml")
    assert find_config(tmp_path / "a").path == str(own)
    assert find_config(tmp_path / "b").path == str(own)


# --- What is not checked in some files ------------------------------------------------------------


def test_ignores_by_file(tmp_path: Path) -> None:
    """With a slash a pattern is about the path from the settings, without one about the name."""
    config = find_config(put(tmp_path / "robotrules.toml", ALL))
    assert config.ignored_in(tmp_path / "staging" / "robots.txt") == ("RR702",)
    assert config.ignored_in(tmp_path / "staging" / "robots.old") == ("RR702", "RR5")
    assert config.ignored_in(tmp_path / "deep" / "down" / "robots.old") == ("RR5",)
    assert config.ignored_in(tmp_path / "robots.txt") == ()
    assert config.ignored_in(tmp_path.parent / "staging" / "robots.txt") == ()


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[lintt]\n", 'line 1: lintt: there is no key "lintt" here; did you mean lint?'),
        (
            "[lint]\n\nselct = []\n",
            'line 3: lint.selct: there is no key "selct" here; did you mean select?',
        ),
        ("[lint]\nfail_on = 'error'\n", "did you mean fail-on?"),
        ("[lint]\nzzz = 1\n", "Known: select, ignore, per-file-ignores, profile, max-states"),
        ("lint = 3\n", "line 1: lint: expected a table, not 3"),
        ("[lint]\nselect = 3\n", 'line 2: lint.select: expected a list such as ["RR501"], not 3'),
        (
            "[lint]\nselect = [\n  'RR1',\n  2,\n]\n",
            'line 4: lint.select[2]: expected text in quotes such as "RR501", not 2',
        ),
        ("[lint]\nselect = ['']\n", "lint.select[1]: this is empty; write a value such as"),
        (
            "[lint]\nprofile = 'gogle'\n",
            'there is no "gogle"; did you mean google?',
        ),
        ("[lint]\nfail-on = 'never'\n", 'there is no "never". Known: error, warning, info'),
        ("[lint]\nurl = 'example.com'\n", "line 2: lint.url: expected a full URL such as"),
        ("[lint]\nmin-level = 'all'\n", 'there is no "all". Known: error, warning, info'),
        ("[lint]\nformat = 'xml'\n", "lint.format: there is no"),
        ("[lint]\nmax-states = 0\n", "expected an integer of at least 1, not 0"),
        ("[lint]\nmax-states = true\n", "expected an integer of at least 1, not true"),
        ("[lint.per-file-ignores]\n'a/*' = 1\n", 'line 2: lint.per-file-ignores."a/*": expected'),
        ("[lint\n", "line 1, column 6: this is not valid TOML"),
        ("[lint]\nselect = [\n", "this is not valid TOML"),
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply or out of range"),
        ("[fmt]\na" + ".a" * 100_000 + " = 1", "line 2: a key has more than 32 dotted names"),
        ("#" * (LARGEST + 1), "it is larger than 1,048,576 bytes"),
    ],
)
def test_errors_have_a_place_and_a_fix(tmp_path: Path, text: str, words: str) -> None:
    """File, line, key, the value, and what it should be."""
    path = put(tmp_path / "robotrules.toml", text)
    found = refused(tmp_path)
    assert found.startswith(str(path))
    assert words in found


def test_a_file_below_the_working_folder_is_named_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As whoever runs a command there would name it."""
    put(tmp_path / "a" / "robotrules.toml", "[lint\n")
    monkeypatch.chdir(tmp_path)
    assert refused(tmp_path / "a").startswith("a/robotrules.toml, line 1")


def test_keys_of_pyproject_are_named_in_full(tmp_path: Path) -> None:
    """A reader of the message can search for the key that it names."""
    put(tmp_path / "pyproject.toml", "[project]\nname = 'x'\n[tool.robotrules.lint]\nselct = []\n")
    assert "line 4: tool.robotrules.lint.selct: " in refused(tmp_path)


def test_other_octets_than_utf8_are_refused(tmp_path: Path) -> None:
    """The error has the line of the first octet that is not UTF-8."""
    (tmp_path / "robotrules.toml").write_bytes(b"[lint]\nselect = ['\xff']\n")
    assert "line 2: this is not UTF-8" in refused(tmp_path)


def test_control_characters_of_a_file_do_not_reach_a_terminal(tmp_path: Path) -> None:
    """What a file holds is shown, and not done."""
    put(tmp_path / "robotrules.toml", '[lint]\nprofile = "\\u001b[2J"\n')
    assert "\x1b" not in refused(tmp_path)
    put(tmp_path / "robotrules.toml", '["\\u001b[2J"]\n')
    assert "\x1b" not in refused(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    """It is not ignored: its settings were intended."""
    put(tmp_path / "robotrules.toml", "").chmod(0)
    assert "cannot be read: Permission denied" in refused(tmp_path)


def test_one_file_by_name(tmp_path: Path) -> None:
    """A file that was named must be there; its name is free."""
    path = put(tmp_path / "mine.toml", "[fmt]\nmax-states = 7\n")
    assert read_config(path).fmt.max_states == 7
    with pytest.raises(ConfigError, match=r"none\.toml: no such file; check the name"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="it is a directory; pass a file"):
        read_config(tmp_path)


def test_where_checks_are_named(tmp_path: Path) -> None:
    """For the code that knows all checks: key, line, and the relative path of the file."""
    path = put(tmp_path / "robotrules.toml", ALL)
    found = [(place.key, place.line, place.value) for place in check_names(path)]
    assert found == [
        ("lint.select[1]", 2, "RR5"),
        ("lint.select[2]", 2, "dead-rule"),
        ("lint.ignore", 3, "RR301"),
        ('lint.per-file-ignores."staging/*"[1]', 4, "RR702"),
        ('lint.per-file-ignores."*.old"[1]', 4, "RR5"),
    ]
    assert list(check_names(put(tmp_path / "pyproject.toml", "[tool.other]\n"))) == []


def test_the_error_is_ours() -> None:
    """It can be caught as RobotrulesError or as ValueError."""
    assert issubclass(ConfigError, RobotrulesError)
    assert issubclass(ConfigError, ValueError)


def test_the_profiles_are_those_there_are() -> None:
    """Settings accept exactly the names of the existing profiles."""
    assert {getattr(profile, name.upper()).name for name in PROFILES} == set(PROFILES)
