"""
Builds the native engine where there is a Rust toolchain, and goes on without it where not.

`ROBOTRULES_REQUIRE_EXTENSIONS=1` makes a missing engine an error; `ROBOTRULES_NO_EXTENSIONS=1`
does not try to build it. The engine is built for the Python that builds it; `ROBOTRULES_ABI3=1`
builds one for every Python from 3.11 on, which is slower by a tenth in batches.
"""

import os

from setuptools import setup
from setuptools_rust import Binding, RustExtension


def is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


# The stable ABI has no quick way to fill a list.
abi3 = is_set("ROBOTRULES_ABI3")
native = RustExtension(
    "robotrules._engine._native",
    path="crates/robotrules-python/Cargo.toml",
    binding=Binding.PyO3,
    py_limited_api=abi3,
    features=["abi3"] if abi3 else [],
    optional=not is_set("ROBOTRULES_REQUIRE_EXTENSIONS"),
)

setup(
    rust_extensions=[] if is_set("ROBOTRULES_NO_EXTENSIONS") else [native],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if abi3 else {},
)
