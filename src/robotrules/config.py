"""
Settings of a project: the nearest `robotrules.toml`, or `[tool.robotrules]` of `pyproject.toml`.

    [lint]
    select = ["RR5"]
    ignore = ["path-disclosure"]
    per-file-ignores = { "staging/*" = ["RR702"] }
    profile = "google"
    fail-on = "warning"
    url = "https://example.com/"

    [test]
    files = ["checks/robots.test.toml"]

    [matrix]
    crawlers = ["Googlebot", "GPTBot"]
    paths = ["/", "/search"]

    [watch]
    urls = ["https://example.com", "https://example.com/shop/"]
    webhook = "https://example.org/hook"

A setting that is not given is None or empty; the command has the default. This module reads one
file and validates its structure, not the names of checks or crawlers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import NamedTuple

from robotrules.errors import ConfigError
from robotrules.toml_positions import TomlValue, read

OWN, SHARED = "robotrules.toml", "pyproject.toml"
# Settings are written by hand; a megabyte is a safe limit.
LARGEST = 1 << 20
PROFILES = ("default", "strict", "google")
LEVELS = ("error", "warning", "info")
FORMATS = ("text", "concise", "json", "sarif", "github", "junit")
KNOWN = {
    "lint": (
        *("select", "ignore", "per-file-ignores", "profile", "max-states", "fail-on"),
        *("url", "min-level", "format", "exclude", "baseline"),
    ),
    "fmt": ("max-states",),
    "test": ("files", "profile", "max-states"),
    "matrix": ("crawlers", "paths"),
    "watch": (
        *("urls", "name", "every", "after", "crawlers", "sitemaps", "min-level"),
        *("webhook", "webhook-secret-file", "exec", "feed", "mail-to", "mail-from"),
        *("smtp", "smtp-security", "smtp-user", "smtp-password-file"),
    ),
}
# How a watch talks to a mail server.
SMTP_SECURITY = ("starttls", "tls", "none")


class LintConfig(NamedTuple):
    """The settings of `robotrules lint`."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = {}
    """By file name pattern, with `*`: the checks to skip in matching files."""
    profile: str | None = None
    max_states: int | None = None
    fail_on: str | None = None
    """The lowest level that makes the exit code 1."""
    url: str | None = None
    """The URL at which the file is served."""
    min_level: str | None = None
    """The lowest level that counts."""
    format: str | None = None
    """The output format: one of `FORMATS`."""
    exclude: tuple[str, ...] = ()
    """Patterns of files and folders that are left out when a folder is linted."""
    baseline: str | None = None
    """The file with known notes, relative to the directory of the settings."""


class FmtConfig(NamedTuple):
    """The settings of `robotrules fmt`."""

    max_states: int | None = None


class TestConfig(NamedTuple):
    """The settings of `robotrules test`."""

    files: tuple[str, ...] = ()
    """Expectation files, relative to the directory of the settings; may contain `*`."""
    profile: str | None = None
    max_states: int | None = None


# pytest collects classes called Test…; a NamedTuple cannot opt out in its body.
setattr(TestConfig, "__test__", False)  # noqa: B010


class MatrixConfig(NamedTuple):
    """The settings of `robotrules matrix`."""

    crawlers: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class WatchConfig(NamedTuple):
    """The settings of `robotrules watch`; files are relative to the directory of the settings."""

    urls: tuple[str, ...] = ()
    """Origins, and URLs of pages."""
    name: str | None = None
    every: str | None = None
    """A duration such as `1h`."""
    after: int | None = None
    crawlers: tuple[str, ...] = ()
    sitemaps: bool | None = None
    min_level: str | None = None
    webhook: tuple[str, ...] = ()
    webhook_secret_file: str | None = None
    exec: tuple[str, ...] = ()
    """A program and its arguments; a single text is split as a shell does."""
    feed: str | None = None
    mail_to: tuple[str, ...] = ()
    mail_from: str | None = None
    smtp: str | None = None
    smtp_security: str | None = None
    smtp_user: str | None = None
    smtp_password_file: str | None = None


class Config(NamedTuple):
    """The settings of a project; all empty without a file."""

    path: str | None = None
    """The settings file."""
    lint: LintConfig = LintConfig()
    fmt: FmtConfig = FmtConfig()
    test: TestConfig = TestConfig()
    matrix: MatrixConfig = MatrixConfig()
    watch: WatchConfig = WatchConfig()

    @property
    def folder(self) -> Path:
        """The directory of that file; file names in settings are relative to it."""
        return Path(self.path).parent if self.path else Path()

    def ignored_in(self, file: str | Path) -> tuple[str, ...]:
        """
        Return the checks that the settings skip in a file.

        A pattern is matched with the file's path relative to the directory of the settings, or with
        its name if the pattern has no `/`.
        """
        from_here = _from_folder(Path(file), self.folder)
        found: dict[str, None] = {}
        for pattern, codes in self.lint.per_file_ignores.items():
            if fnmatchcase(from_here if "/" in pattern else PurePath(from_here).name, pattern):
                found |= dict.fromkeys(codes)
        return tuple(found)


def _from_folder(file: Path, folder: Path) -> str:
    """Return a path relative to a directory, with slashes; absolute if it is elsewhere."""
    whole, start = Path(os.path.abspath(file)), Path(os.path.abspath(folder))
    return (whole.relative_to(start) if whole.is_relative_to(start) else whole).as_posix()


def find_config(near: str | Path) -> Config:
    """
    Return the settings nearest to a file or directory, which need not exist.

    The directory and its parents are searched. `robotrules.toml` takes precedence over a
    `pyproject.toml` in the same directory, and a `pyproject.toml` without `[tool.robotrules]` is
    skipped. Without any, all settings are empty. An invalid file raises ConfigError, which says how
    to fix it.
    """
    start = Path(os.path.abspath(near))
    for folder in (start, *start.parents) if start.is_dir() else start.parents:
        for name in (OWN, SHARED):
            # Ignore directories and pipes of that name.
            if os.path.isfile(folder / name):
                found = _read(folder / name)
                if found is not None:
                    return found
    return Config()


def read_config(path: str | Path) -> Config:
    """Return the settings of one file; a `pyproject.toml` has them in `[tool.robotrules]`."""
    return _read(Path(path)) or Config(path=str(path))


def shown_path(path: Path) -> Path:
    """Return a path relative to the working directory, if it is inside it."""
    here = Path(os.getcwd())
    return path.relative_to(here) if path.is_relative_to(here) else path


def _read(path: Path) -> Config | None:
    """Read a file; None for a pyproject.toml without `[tool.robotrules]`."""
    whole = _settings(path)
    return _config(str(path), whole) if whole is not None else None


def _settings(path: Path) -> TomlValue | None:
    """Return the settings table; None for a pyproject.toml without one."""
    name = str(shown_path(path))
    try:
        with path.open("rb") as file:
            octets = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise ConfigError(f"{name}: no such file; check the name") from None
    except IsADirectoryError:
        raise ConfigError(f"{name}: it is a directory; pass a file") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(f"{name}: cannot be read: {why}; make it readable or move it") from None
    shared = path.name == SHARED
    whole = read(octets, name, ConfigError, LARGEST)
    if shared:
        # Other tables of the file are not validated.
        tool = whole.at("tool", {})
        if not isinstance(tool.value, dict) or "robotrules" not in tool:
            return None
        whole = tool.at("robotrules")
    return whole


def _config(path: str, whole: TomlValue) -> Config:
    whole.table(tuple(KNOWN))
    part = {name: whole.at(name, {}).table(known) for name, known in KNOWN.items()}
    return Config(
        path,
        _lint(part["lint"]),
        FmtConfig(_max_states(part["fmt"])),
        TestConfig(
            _texts(part["test"], "files", "checks/robots.test.toml"),
            _among(part["test"], "profile", PROFILES),
            _max_states(part["test"]),
        ),
        MatrixConfig(
            _texts(part["matrix"], "crawlers", "Googlebot"), _texts(part["matrix"], "paths", "/")
        ),
        _watch(part["watch"]),
    )


def _lint(part: TomlValue) -> LintConfig:
    by_file = part.at("per-file-ignores", {}).table()
    return LintConfig(
        _texts(part, "select", "RR501"),
        _texts(part, "ignore", "RR501"),
        {str(place.path[-1]): place.texts(example="RR501") for place in by_file.parts()},
        _among(part, "profile", PROFILES),
        _max_states(part),
        _among(part, "fail-on", LEVELS),
        _url(part),
        _among(part, "min-level", LEVELS),
        _among(part, "format", FORMATS),
        _texts(part, "exclude", "fixtures/*"),
        part.at("baseline").text(example="robots-baseline.json") if "baseline" in part else None,
    )


def _watch(part: TomlValue) -> WatchConfig:
    return WatchConfig(
        _texts(part, "urls", "https://example.com"),
        _text(part, "name", "shops"),
        _text(part, "every", "1h"),
        part.at("after").count() if "after" in part else None,
        _texts(part, "crawlers", "Googlebot"),
        part.at("sitemaps").switch() if "sitemaps" in part else None,
        _among(part, "min-level", LEVELS),
        _texts(part, "webhook", "https://example.org/hook"),
        _text(part, "webhook-secret-file", "webhook.secret"),
        _texts(part, "exec", "notify"),
        _text(part, "feed", "robots.atom"),
        _texts(part, "mail-to", "ops@example.com"),
        _text(part, "mail-from", "watch@example.com"),
        _text(part, "smtp", "mail.example.com:587"),
        _among(part, "smtp-security", SMTP_SECURITY),
        _text(part, "smtp-user", "watch"),
        _text(part, "smtp-password-file", "smtp.password"),
    )


def check_names(path: str | Path) -> Iterator[TomlValue]:
    """Yield the values of a file that name checks, for validation by the caller."""
    whole = _settings(Path(path))
    if whole is None:
        return
    part = whole.at("lint", {})
    by_file = part.at("per-file-ignores", {})
    for place in (part.at("select", []), part.at("ignore", []), *by_file.parts()):
        yield from place.parts() if isinstance(place.value, list) else [place]


def _url(part: TomlValue) -> str | None:
    if "url" not in part:
        return None
    place = part.at("url")
    url = place.text(example="https://example.com/")
    if not url.startswith(("https://", "http://")):
        place.refuse('expected a full URL such as "https://example.com/"')
    return url


def _texts(part: TomlValue, key: str, example: str) -> tuple[str, ...]:
    return part.at(key, []).texts(example=example)


def _text(part: TomlValue, key: str, example: str) -> str | None:
    return part.at(key).text(example=example) if key in part else None


def _among(part: TomlValue, key: str, known: tuple[str, ...]) -> str | None:
    return part.at(key).text(among=known) if key in part else None


def _max_states(part: TomlValue) -> int | None:
    return part.at("max-states").count() if "max-states" in part else None
