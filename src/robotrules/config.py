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

A setting that nobody gave is None or empty, and what it is then is for the command to say. This
reads one file and judges its form; it does not know which checks or crawlers there are.
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
# Settings are written by hand: a megabyte is far more than anyone writes.
LARGEST = 1 << 20
PROFILES = ("default", "strict", "google")
LEVELS = ("error", "warning", "info")
FORMATS = ("text", "concise", "json", "sarif", "github", "junit")
KNOWN = {
    "lint": (
        *("select", "ignore", "per-file-ignores", "profile", "budget", "fail-on"),
        *("url", "level", "format"),
    ),
    "fmt": ("budget",),
    "test": ("files", "profile", "budget"),
    "matrix": ("crawlers", "paths"),
}


class LintConfig(NamedTuple):
    """What `robotrules lint` is told by a project."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = {}
    """By a pattern of file names, with `*`: what is not checked in files that it matches."""
    profile: str | None = None
    budget: int | None = None
    fail_on: str | None = None
    """The least level that makes the exit code 1."""
    url: str | None = None
    """Where the file is or will be."""
    level: str | None = None
    """The least level that is shown."""
    format: str | None = None
    """How notes are written: one of `FORMATS`."""


class FmtConfig(NamedTuple):
    """What `robotrules fmt` is told by a project."""

    budget: int | None = None


class TestConfig(NamedTuple):
    """What `robotrules test` is told by a project."""

    files: tuple[str, ...] = ()
    """Expectation files, from the folder of the settings; they may have `*`."""
    profile: str | None = None
    budget: int | None = None


# pytest takes a class called Test… for tests; a NamedTuple cannot say in its body that it is none.
setattr(TestConfig, "__test__", False)  # noqa: B010


class MatrixConfig(NamedTuple):
    """What `robotrules matrix` is told by a project."""

    crawlers: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class Config(NamedTuple):
    """The settings of a project; without a file, those that nobody gave."""

    path: str | None = None
    """The file that they are from."""
    lint: LintConfig = LintConfig()
    fmt: FmtConfig = FmtConfig()
    test: TestConfig = TestConfig()
    matrix: MatrixConfig = MatrixConfig()

    @property
    def folder(self) -> Path:
        """The folder of that file; file names in settings start there."""
        return Path(self.path).parent if self.path else Path()

    def ignored_in(self, file: str | Path) -> tuple[str, ...]:
        """
        Return what the settings say is not checked in a file.

        A pattern is matched with the file's path from the folder of the settings, or with its name
        alone if it has no `/`.
        """
        from_here = _from_folder(Path(file), self.folder)
        found: dict[str, None] = {}
        for pattern, codes in self.lint.per_file_ignores.items():
            if fnmatchcase(from_here if "/" in pattern else PurePath(from_here).name, pattern):
                found |= dict.fromkeys(codes)
        return tuple(found)


def _from_folder(file: Path, folder: Path) -> str:
    """Return a path from a folder with slashes; of what is elsewhere, the whole path."""
    whole, start = Path(os.path.abspath(file)), Path(os.path.abspath(folder))
    return (whole.relative_to(start) if whole.is_relative_to(start) else whole).as_posix()


def find_config(near: str | Path) -> Config:
    """
    Return the settings nearest to a file or folder, which need not exist.

    Searched upwards from its folder. `robotrules.toml` beats `pyproject.toml` beside it, and a
    `pyproject.toml` without `[tool.robotrules]` is passed over. Without any, the settings are those
    that nobody gave. A file that cannot be used raises ConfigError, which says what, where and the
    cure.
    """
    start = Path(os.path.abspath(near))
    for folder in (start, *start.parents) if start.is_dir() else start.parents:
        for name in (OWN, SHARED):
            # A folder or a pipe of that name has no settings.
            if os.path.isfile(folder / name):
                found = _read(folder / name)
                if found is not None:
                    return found
    return Config()


def read_config(path: str | Path) -> Config:
    """Return the settings of one file; one called `pyproject.toml` has them in its table."""
    return _read(Path(path)) or Config(path=str(path))


def shown_path(path: Path) -> Path:
    """Return a path from the working folder, if it is in it: that is how people name files."""
    here = Path(os.getcwd())
    return path.relative_to(here) if path.is_relative_to(here) else path


def _read(path: Path) -> Config | None:
    """Read a file; None if it is a pyproject.toml that says nothing about us."""
    whole = _settings(path)
    return _config(str(path), whole) if whole is not None else None


def _settings(path: Path) -> TomlValue | None:
    """Return what a file says about us; None if it is a pyproject.toml that says nothing."""
    name = str(shown_path(path))
    try:
        with path.open("rb") as file:
            octets = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise ConfigError(f"{name}: there is no such file; check the name") from None
    except IsADirectoryError:
        raise ConfigError(f"{name}: it is a folder; name a file in it") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(f"{name}: cannot be read: {why}; make it readable or move it") from None
    shared = path.name == SHARED
    whole = read(octets, name, ConfigError, LARGEST)
    if shared:
        # Other tables of the file are no business of ours, whatever they hold.
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
        FmtConfig(_budget(part["fmt"])),
        TestConfig(
            _texts(part["test"], "files", "checks/robots.test.toml"),
            _among(part["test"], "profile", PROFILES),
            _budget(part["test"]),
        ),
        MatrixConfig(
            _texts(part["matrix"], "crawlers", "Googlebot"), _texts(part["matrix"], "paths", "/")
        ),
    )


def _lint(part: TomlValue) -> LintConfig:
    by_file = part.at("per-file-ignores", {}).table()
    return LintConfig(
        _texts(part, "select", "RR501"),
        _texts(part, "ignore", "RR501"),
        {str(place.path[-1]): place.texts(example="RR501") for place in by_file.parts()},
        _among(part, "profile", PROFILES),
        _budget(part),
        _among(part, "fail-on", LEVELS),
        _url(part),
        _among(part, "level", LEVELS),
        _among(part, "format", FORMATS),
    )


def check_names(path: str | Path) -> Iterator[TomlValue]:
    """Yield where the settings of a file name checks, for whoever knows which there are."""
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
        place.refuse('this is a whole URL such as "https://example.com/"')
    return url


def _texts(part: TomlValue, key: str, example: str) -> tuple[str, ...]:
    return part.at(key, []).texts(example=example)


def _among(part: TomlValue, key: str, known: tuple[str, ...]) -> str | None:
    return part.at(key).text(among=known) if key in part else None


def _budget(part: TomlValue) -> int | None:
    return part.at("budget").count() if "budget" in part else None
