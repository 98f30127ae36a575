"""
PySpark, imported on first use: what to install if it is missing.

Spark starts a Java process. Nothing here starts one: the caller has the session.
"""

from __future__ import annotations

from robotrules.errors import MissingExtraError

try:
    import pyspark
except ImportError:
    raise MissingExtraError(
        "pyspark is not installed, and robotrules.bulk.spark needs it:"
        " pip install 'robotrules[spark]', and a JDK 17"
    ) from None

__all__ = ["pyspark"]
