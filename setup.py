"""
Build the native engine if a Rust toolchain is installed; otherwise build a pure Python package.

A build that fails to compile the engine prints the reason on stderr and stores it in the package
for `robotrules --version`; its wheel is tagged `py3-none-any`. `ROBOTRULES_REQUIRE_EXTENSIONS=1`
makes a missing engine an error; `ROBOTRULES_NO_EXTENSIONS=1` skips the engine. The engine is built
for the Python that builds it; `ROBOTRULES_ABI3=1` builds one for every Python from 3.11 on, which
is slower by a tenth in batches.
"""

import glob
import os
import sys

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools_rust import Binding, RustExtension, build_rust

# The reason why the engine was not built; `robotrules.cli` reads it.
REASON = os.path.join("robotrules", "_engine", "no_native.txt")
# The engine, for any Python.
ENGINES = tuple(os.path.join("robotrules", "_engine", f"_native*.{end}") for end in ("so", "pyd"))
MAX_REASON_LENGTH = 300


def is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


class BuildEngine(build_rust):
    """Builds the engine; if that fails and is optional, the package is pure Python."""

    def run(self) -> None:
        # `build/` is kept between builds: remove the files of an earlier build.
        self._remove(REASON, *ENGINES)
        try:
            super().run()
        except Exception as error:
            if is_set("ROBOTRULES_REQUIRE_EXTENSIONS"):
                raise
            self._remove(*ENGINES)
            # The package is pure now; later commands check this.
            self.distribution.has_ext_modules = lambda: False
            reason = " ".join(str(error).partition("\n\n")[0].split())
            self._warn(reason[:MAX_REASON_LENGTH] or type(error).__name__)

    def _remove(self, *patterns: str) -> None:
        if self.inplace:
            return
        root = glob.escape(self.get_finalized_command("build_py").build_lib)
        for pattern in patterns:
            for path in glob.glob(os.path.join(root, pattern)):
                os.remove(path)

    def _warn(self, reason: str) -> None:
        lines = (
            "robotrules: THE NATIVE ENGINE WAS NOT BUILT",
            reason,
            "This is a pure Python build: its results are the same, and it is much slower.",
            "To build the engine, install a Rust toolchain (see rust-version in Cargo.toml) and",
            "build again. ROBOTRULES_REQUIRE_EXTENSIONS=1 makes a missing engine an error;",
            "ROBOTRULES_NO_EXTENSIONS=1 makes a pure build without this message.",
        )
        rule = "*" * 80
        print("\n".join(("", rule, *lines, rule, "")), file=sys.stderr, flush=True)
        if not self.inplace:
            path = os.path.join(self.get_finalized_command("build_py").build_lib, REASON)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"{reason}\n")


class BuildWheel(bdist_wheel):
    """Builds first, and tags the wheel as pure or for a platform."""

    def run(self) -> None:
        if not self.skip_build:
            self.run_command("build")
        self.root_is_pure = not self.distribution.has_ext_modules()
        super().run()


# The stable ABI has no fast way to fill a list, hence the option.
abi3 = is_set("ROBOTRULES_ABI3")
native = RustExtension(
    "robotrules._engine._native",
    path="crates/robotrules-python/Cargo.toml",
    binding=Binding.PyO3,
    py_limited_api=abi3,
    features=["abi3"] if abi3 else [],
)

setup(
    cmdclass={"build_rust": BuildEngine, "bdist_wheel": BuildWheel},
    rust_extensions=[] if is_set("ROBOTRULES_NO_EXTENSIONS") else [native],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if abi3 else {},
)
