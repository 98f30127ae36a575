"""
The bundle of the page, `service/static/`, is what its sources, `service/page/`, build.

Where npm is, the packages of package-lock.json are installed, into a copy of the sources, and the
page is built again: all files are equal, byte for byte. The packages come from npm's cache or the
registry that npm is set up with; both are outside of this repository.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import robotrules.service
from robotrules.service.pages import PAGE_FILES

SERVICE = Path(robotrules.service.__file__).parent
PAGE, STATIC = SERVICE / "page", SERVICE / "static"
NPM = shutil.which("npm")
NODE = shutil.which("node")
SECONDS = 300

needs_sources = pytest.mark.skipif(
    not (PAGE / "package.json").exists(), reason="a wheel has no sources of the page"
)


def npm(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run npm in a folder."""
    assert NPM is not None
    return subprocess.run(
        [NPM, *arguments], cwd=folder, capture_output=True, text=True, timeout=SECONDS
    )


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the packages installed."""
    if NPM is None or NODE is None:
        pytest.skip("no npm here: the bundle is not compared with its sources")
    folder = tmp_path_factory.mktemp("page") / "page"
    shutil.copytree(PAGE, folder, ignore=shutil.ignore_patterns("node_modules"))
    ran = npm(folder, "ci", "--prefer-offline")
    if ran.returncode and not os.environ.get("ROBOTRULES_REQUIRE_NPM"):
        # Offline with an empty cache is not a fault of the sources; a wrong lock file is.
        network = re.search(
            r"code (E[A-Z_]*(?:NOTFOUND|REFUSED|AGAIN|TIMEDOUT|NOTCACHED|RESET))", ran.stderr
        )
        if network:
            pytest.skip(f"npm could not get the packages ({network[1]})")
    assert ran.returncode == 0, ran.stderr
    return folder


@needs_sources
@pytest.mark.slow
def test_the_bundle_is_built_from_the_sources(sources: Path) -> None:
    ran = npm(sources, "run", "build")
    assert ran.returncode == 0, ran.stderr
    built = sources.parent / "static"
    names = sorted(path.name for path in STATIC.iterdir())
    assert sorted(path.name for path in built.iterdir()) == names
    different = [n for n in names if (built / n).read_bytes() != (STATIC / n).read_bytes()]
    assert not different, "run `npm ci && npm run build` in src/robotrules/service/page"


@needs_sources
@pytest.mark.slow
def test_types_are_right(sources: Path) -> None:
    ran = npm(sources, "run", "check")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@needs_sources
def test_the_lock_file_names_versions_and_no_registry() -> None:
    text = (PAGE / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    assert "://" not in re.sub(r'"url": "https://[^"]*"', "", text)
    assert not [name for name, package in packages.items() if "resolved" in package]
    assert all("integrity" in package for name, package in packages.items() if name)
    wanted = json.loads((PAGE / "package.json").read_text(encoding="utf-8"))
    for name, version in (wanted["dependencies"] | wanted["devDependencies"]).items():
        assert packages[f"node_modules/{name}"]["version"] == version


def test_each_file_of_the_bundle_is_served() -> None:
    assert {name for _, name, _ in PAGE_FILES} == {path.name for path in STATIC.iterdir()}


def test_the_page_works_under_its_policy() -> None:
    """Nothing inline, and nothing from elsewhere."""
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", html)
    # A link to a part of the page, such as "#answers", loads nothing.
    loaded = re.findall(r'(?:src|href)="([^"#][^"]*)"', html)
    assert loaded
    paths = {path for path, _, _ in PAGE_FILES}
    assert {f"/{address}" for address in loaded} <= paths
    assert "url(" not in (STATIC / "app.css").read_text(encoding="utf-8")


def test_the_bundle_brings_the_licenses_of_its_packages() -> None:
    licenses = (STATIC / "licenses.txt").read_text(encoding="utf-8")
    for name in ("@codemirror/view", "@codemirror/state", "style-mod", "w3c-keyname"):
        assert re.search(rf"^--- {re.escape(name)} [\d.]+ \(MIT\) ---$", licenses, re.M)
    assert licenses.count("Permission is hereby granted") == licenses.count("\n--- ")
