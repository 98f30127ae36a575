"""
Sessions: the connection of a command to a cluster, and what Spark says as an error of ours.

`spark-submit` makes a session by itself; the command line opens one here and closes it at the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession as Session

from robotrules.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def open_session(
    master: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """
    Open a session on a cluster, such as `spark://HOST:7077`; None: as Spark is configured.

    The executors use this Python unless PYSPARK_PYTHON names another one. An error of Spark is an
    InputError with its first line.
    """
    # Otherwise Spark starts the first python3 of the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = Session.builder.appName("robotrules")
    if master:
        builder = builder.master(master)
    for name, value in (settings or {}).items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # of Java, of the gateway to it, or of PySpark
        raise InputError(
            f"cannot start Spark: {_first_line(error)}; it needs a JDK 17 and a reachable --master"
        ) from error
    try:
        yield session
    except PySparkException as error:
        raise InputError(f"Spark: {_first_line(error)}") from error
    finally:
        session.stop()


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
