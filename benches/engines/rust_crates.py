"""
The Rust crates texting_robots and robotstxt, through the binding in `rust_rivals/`.

Cargo builds the binding in release mode at its first use. It is not installed: it stays in the
target folder of its crate. Without cargo both crates are reported as not available.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engines.protocol import Engine

CRATE = Path(__file__).parent / "rust_rivals"


@functools.cache
def load_binding() -> tuple[Any, str]:
    """Return the extension module, or None and the reason."""
    cargo = shutil.which("cargo")
    if cargo is None:
        return None, "cargo is not installed"
    environment = dict(os.environ, PYO3_BUILD_EXTENSION_MODULE="1", PYO3_PYTHON=sys.executable)
    if sys.platform == "darwin":
        environment["RUSTFLAGS"] = "-C link-arg=-undefined -C link-arg=dynamic_lookup"
    built = subprocess.run(
        [cargo, "build", "--release", "--quiet", "--manifest-path", str(CRATE / "Cargo.toml")],
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    if built.returncode != 0:
        last = built.stderr.strip().splitlines()[-1:] or ["no message"]
        return None, f"cargo build failed: {last[0]}"
    library = next(
        (
            path
            for name in ("librust_rivals.so", "librust_rivals.dylib", "rust_rivals.dll")
            if (path := CRATE / "target" / "release" / name).exists()
        ),
        None,
    )
    if library is None:
        return None, "cargo built no library that Python can load"
    suffix = ".pyd" if library.suffix == ".dll" else ".abi3.so"
    module_file = library.with_name(f"rust_rivals{suffix}")
    if not module_file.exists() or module_file.stat().st_mtime < library.stat().st_mtime:
        shutil.copyfile(library, module_file)
    spec = importlib.util.spec_from_file_location("rust_rivals", module_file)
    if spec is None or spec.loader is None:
        return None, "Python cannot load the library"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, ""


class RustCrate(Engine):
    """A crate that is called through the binding; the version is in its manifest."""

    type_name: str
    module = "rust_rivals"

    @property
    def version(self) -> str:
        manifest = (CRATE / "Cargo.toml").read_text(encoding="utf-8")
        match = re.search(rf'^{self.package} = "=(.+)"$', manifest, re.MULTILINE)
        return match[1] if match else "unknown version"

    @property
    def import_statement(self) -> str:
        return ""

    def available(self) -> tuple[bool, str]:
        module, reason = load_binding()
        if module is None:
            return False, reason
        self._type: Any = getattr(module, self.type_name)
        return True, ""


class TextingRobots(RustCrate):
    """The crate texting_robots: parsed for one product token."""

    name = "texting_robots (Rust)"
    package = "texting_robots"
    type_name = "TextingRobots"
    reads = "bytes"
    binds_token = True
    batches = True

    def parse(self, body: Any, token: str) -> Any:
        return self._type(token, body)

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return parsed.allowed(url)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        allowed = parsed.allowed
        for url in urls:
            allowed(url)

    def check_batch(self, rules: Any, urls: Sequence[str], token: str) -> Any:
        return rules.allowed_many(urls)


class Robotstxt(RustCrate):
    """The crate robotstxt: a port of google/robotstxt; parses the body again for each check."""

    name = "robotstxt (Rust)"
    package = "robotstxt"
    type_name = "Robotstxt"
    reparses = True
    batches = True

    def parse(self, body: Any, token: str) -> Any:
        return self._type(body)

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return parsed.allowed(url, token)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        allowed = parsed.allowed
        for url in urls:
            allowed(url, token)

    def check_batch(self, rules: Any, urls: Sequence[str], token: str) -> Any:
        return rules.allowed_many(urls, token)
