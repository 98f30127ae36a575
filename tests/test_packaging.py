"""
Release files: sdist and wheels, built, installed, and compared with the tree.

There are no downloads: the build uses the packages of the tests, and cargo its local crates.
The wheel is built from the source distribution, with the cargo target of the tree: dependencies are
not compiled again, and our own crates only if they changed since this test ran last, since they are
always unpacked to the same place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import robotrules

ROOT = Path(__file__).parents[1]
# Not for whoever builds or tests: our own gate, and what git ignores.
LEFT_OUT = {".ci/run", ".gitignore"}
# What setuptools adds.
ADDED = ("PKG-INFO", "setup.cfg", "src/robotrules.egg-info/")
PLACE = ROOT / "target" / "packaging"
# Faster to compile, and only ours: dependencies stay as they were built.
CARGO_CONFIG = "".join(
    f"[profile.gate.package.{name}]\nopt-level = 0\n"
    for name in ("robotrules-core", "robotrules-python")
)
BANNER = "THE NATIVE ENGINE WAS NOT BUILT"

pytestmark = pytest.mark.slow


def tracked() -> list[str]:
    """Return the files of the tree; an unpacked source distribution has its list of files."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split("\0")
        return [name for name in listed if name and (ROOT / name).is_file()]
    pytest.skip("no git here: nobody knows which files are ours")


def build(
    hook: str, folder: Path, target: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a build of the folder; what it makes is in *target*."""
    ignored = ("ROBOTRULES_", "CARGO", "SETUPTOOLS_RUST", "PYTHON")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ignored)}
    env |= {
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
        "CARGO_NET_OFFLINE": "true",
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "SETUPTOOLS_RUST_CARGO_PROFILE": "gate",
        **variables,
    }
    target.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\nfrom setuptools import build_meta\nbuild_meta.{hook}(sys.argv[1])",
            str(target),
        ],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=900,
    )


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of a folder."""
    [found] = folder.glob(pattern)
    return found


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built from a copy of the tree."""
    copy, made = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("made")
    for name in tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    ran = build("build_sdist", copy, made)
    assert ran.returncode == 0, ran.stderr
    return only(made, "*.tar.gz")


@pytest.fixture(scope="module")
def unpacked(sdist: Path) -> Iterator[Path]:
    """The source distribution, unpacked where it was the last time."""
    shutil.rmtree(PLACE, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(PLACE, filter="data")
    folder = only(PLACE, "robotrules-*")
    (folder / ".cargo").mkdir(exist_ok=True)
    (folder / ".cargo" / "config.toml").write_text(CARGO_CONFIG)
    yield folder
    shutil.rmtree(PLACE, ignore_errors=True)


@pytest.fixture(scope="module")
def wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel with the native engine, built from the source distribution."""
    if shutil.which("cargo") is None and not os.environ.get("ROBOTRULES_REQUIRE_EXTENSIONS"):
        pytest.skip("no cargo here")
    made = tmp_path_factory.mktemp("native")
    leave_a_build(unpacked)
    ran = build("build_wheel", unpacked, made, ROBOTRULES_REQUIRE_EXTENSIONS="1")
    assert ran.returncode == 0, ran.stderr
    assert BANNER not in ran.stderr
    return only(made, "*.whl")


def leave_a_build(folder: Path) -> None:
    """Put into a tree what earlier builds leave: an engine that fits, and the reason for none."""
    library = f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    engine = folder / "build" / library / "robotrules" / "_engine"
    engine.mkdir(parents=True)
    (engine / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}").write_bytes(b"stale")
    (engine / "_native.cp39-win_amd64.pyd").write_bytes(b"stale")
    (engine / "no_native.txt").write_text("stale")


def files_of(wheel: Path) -> dict[str, bytes]:
    """Return what a wheel installs."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if ".dist-info/" not in name and not name.endswith("/")
        }


def tag_of(wheel: Path) -> str:
    """Return the tag that a wheel has in its name and, the same, in its metadata."""
    tag = "-".join(wheel.stem.split("-")[2:])
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/WHEEL")]
        facts = archive.read(name).decode().splitlines()
    assert f"Tag: {tag}" in facts
    assert f"Root-Is-Purelib: {str(tag == 'py3-none-any').lower()}" in facts
    return tag


# Sources of the page, in TypeScript: wheels have their bundle, service/static/.
PAGE = "src/robotrules/service/page/"


def sources() -> dict[str, bytes]:
    """Return the files of the package."""
    ours = [name for name in tracked() if name.startswith("src/robotrules/")]
    names = [name for name in ours if not name.startswith(PAGE)]
    return {name.removeprefix("src/"): (ROOT / name).read_bytes() for name in names}


def installed(wheel: Path, folder: Path) -> Path:
    """Install a wheel and what it needs into a clean environment; return its Python."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = folder / scripts / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, timeout=120)
    home = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for name in ("click", "http_sf"):
        for path in metadata.files(name) or ():
            if ".." not in path.parts and path.suffix != ".pyc":
                (home / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(path.locate()), home / path)
    return python


def printed(python: Path, *arguments: str) -> str:
    """Run a Python of a clean environment elsewhere than in the tree, and return what it prints."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("ROBOTRULES")}
    ran = subprocess.run(
        [str(python), "-I", *arguments],
        cwd=python.parent,
        env=env,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


SHOW = """
import robotrules
from robotrules._engine import engine
robots = robotrules.parse(b"User-agent: *\\nDisallow: /x\\n")
print(robotrules.engine_name(), robots.check("/x/y", "ExampleBot").allowed, engine.__file__)
"""


def test_the_sdist_is_the_tree(sdist: Path) -> None:
    """Every file is there, to the octet: what builds both engines, and what tests them."""
    with tarfile.open(sdist) as archive:
        members = {member.name.partition("/")[2]: member for member in archive if member.isfile()}
        names = {name for name in members if not name.startswith(ADDED)}
        assert names == set(tracked()) - LEFT_OUT
        for name in sorted(names):
            file = archive.extractfile(members[name])
            assert file is not None
            assert file.read() == (ROOT / name).read_bytes(), name
    crates = {name for name in names if name.endswith((".rs", "Cargo.toml", "Cargo.lock"))}
    assert {"Cargo.toml", "Cargo.lock", "crates/robotrules-core/src/lib.rs"} <= crates
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py"} <= names


def test_a_wheel_from_the_sdist_is_native(wheel: Path, tmp_path: Path) -> None:
    """It has every file of the package and the engine, is tagged so, and the engine is loaded."""
    files = files_of(wheel)
    native = [name for name in files if name.startswith("robotrules/_engine/_native.c")]
    assert len(native) == 1
    assert {name: octets for name, octets in files.items() if name not in native} == sources()
    major, minor = sys.version_info[:2]
    assert tag_of(wheel).startswith(f"cp{major}{minor}-cp{major}{minor}-")
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
    python = installed(wheel, tmp_path / "clean")
    engine, allowed, where = printed(python, "-c", SHOW).split()
    assert (engine, allowed) == ("native", "False")
    assert Path(where).is_relative_to(tmp_path)
    version = printed(python, "-m", "robotrules", "--version")
    assert version.startswith(f"robotrules {robotrules.__version__} (native engine, ")


@pytest.fixture
def copy(unpacked: Path, tmp_path: Path) -> Path:
    """The unpacked source distribution, to be changed."""
    folder = tmp_path / "copy"
    shutil.copytree(unpacked, folder, ignore=shutil.ignore_patterns("build", "tests", "docs"))
    return folder


@pytest.fixture
def without_rust(tmp_path: Path) -> str:
    """A PATH without a compiler."""
    (tmp_path / "empty").mkdir()
    return str(tmp_path / "empty")


def test_without_a_compiler(copy: Path, without_rust: str, tmp_path: Path) -> None:
    """
    A pure wheel is marked as such: in the output of the build, in its tag, and at run time.

    Files of an earlier build are not in it.
    """
    leave_a_build(copy)
    ran = build("build_wheel", copy, tmp_path / "made", PATH=without_rust)
    assert ran.returncode == 0, ran.stderr
    assert BANNER in ran.stderr
    assert "can't find Rust compiler" in ran.stderr
    assert "ROBOTRULES_REQUIRE_EXTENSIONS=1 makes a missing engine an error" in ran.stderr
    wheel = only(tmp_path / "made", "*.whl")
    assert tag_of(wheel) == "py3-none-any"
    files = files_of(wheel)
    assert files.pop("robotrules/_engine/no_native.txt") == b"can't find Rust compiler\n"
    assert files == sources()
    python = installed(wheel, tmp_path / "clean")
    assert printed(python, "-c", SHOW).startswith("pure False ")
    version = printed(python, "-m", "robotrules", "--version")
    assert "(pure engine, " in version
    assert version.endswith("\nThe native engine is not available: can't find Rust compiler\n")


def test_required(copy: Path, without_rust: str, tmp_path: Path) -> None:
    """A build that must have the engine and has none fails, and makes no wheel."""
    required = {"PATH": without_rust, "ROBOTRULES_REQUIRE_EXTENSIONS": "1"}
    ran = build("build_wheel", copy, tmp_path / "made", **required)
    assert ran.returncode != 0
    assert "can't find Rust compiler" in ran.stderr
    assert list((tmp_path / "made").iterdir()) == []


def test_not_wanted(copy: Path, without_rust: str, tmp_path: Path) -> None:
    """A pure build on request prints no message."""
    pure = {"PATH": without_rust, "ROBOTRULES_NO_EXTENSIONS": "1"}
    ran = build("build_wheel", copy, tmp_path / "made", **pure)
    assert (ran.returncode, BANNER in ran.stderr) == (0, False)
    wheel = only(tmp_path / "made", "*.whl")
    assert tag_of(wheel) == "py3-none-any"
    assert files_of(wheel) == sources()


def test_rust_that_does_not_compile(copy: Path, tmp_path: Path) -> None:
    """The build continues without the engine, and reports what failed."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo here")
    (copy / "crates" / "robotrules-python" / "Cargo.toml").write_text("[package]\nname = 5\n")
    ran = build("build_wheel", copy, tmp_path / "made")
    assert ran.returncode == 0, ran.stderr
    assert BANNER in ran.stderr
    wheel = only(tmp_path / "made", "*.whl")
    assert tag_of(wheel) == "py3-none-any"
    assert b"cargo" in files_of(wheel)["robotrules/_engine/no_native.txt"]
