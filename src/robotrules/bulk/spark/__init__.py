"""
Spark: datasets that one machine cannot process, on a cluster.

`check()` joins a DataFrame of URLs with a DataFrame of robots.txt fetches, `facts()` describes
files, `rejects()` returns the records that cannot be used, and `WarcDataSource` reads WARC files.
The answers are those of `Corpus.check` and `bulk.facts`, which the tasks call. The extra `spark`
has what this package needs: pip install 'robotrules[spark]', and a JDK 17. The executors need
robotrules too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robotrules.bulk.spark.check_plan import check
    from robotrules.bulk.spark.facts_frame import facts
    from robotrules.bulk.spark.frames import normalize, rejects
    from robotrules.bulk.spark.warc_source import WarcDataSource

__all__ = ["WarcDataSource", "check", "facts", "normalize", "rejects"]

_MODULES = {
    "WarcDataSource": "warc_source",
    "check": "check_plan",
    "facts": "facts_frame",
    "normalize": "frames",
    "rejects": "frames",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module(f"{__name__}.pyspark_support")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
