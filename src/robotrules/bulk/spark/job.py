"""
A job for `spark-submit`: facts about robots.txt files, or a check of URLs.

    spark-submit $(python -c 'import robotrules.bulk.spark.job as j; print(j.__file__)') \\
        --paths robotstxt.paths.gz --prefix s3://commoncrawl/ --output s3://bucket/facts

Without --urls it writes the facts of the files that --paths names; with --urls and --as it checks
these URLs against them. `robotrules.bulk.spark.runs` does the work. The exit code is 0 if the run
is complete, even if some records are rejects; the last line of the output counts both.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from robotrules.errors import RobotrulesError


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="robotrules.bulk.spark.job",
        description="Facts about robots.txt files, or a check of URLs, on a Spark cluster.",
    )
    add = parser.add_argument
    add("--paths", nargs="+", required=True, metavar="FILE")
    add("--prefix", default="", help="before each path of --paths, such as s3://commoncrawl/")
    add("--output", required=True, metavar="FOLDER")
    add("--format", choices=("parquet", "json"), default="parquet")
    add("--overwrite", action="store_true", help="replace the output of an earlier run")
    add("--profile", default="default", help="how files are read: default, strict or google")
    add("--urls", nargs="+", metavar="FILE", help="check these URLs; facts without it")
    add("--url", default="url", metavar="COLUMN", help="the column with the URLs")
    add("--as", dest="tokens", action="append", metavar="TOKEN", help="a product token; repeatable")
    add("--purpose", dest="purposes", action="append", default=[])
    add("--at", metavar="COLUMN", help="the column with the time at which a URL was fetched")
    add("--missing", choices=("allow", "disallow"), help="what an origin without a file means")
    add("--broadcast-bytes", type=int, help="broadcast robots.txt states up to this size")
    add("--partitions", type=int, help="partitions of a shuffle by origin")
    found = parser.parse_args(arguments)
    if found.urls and not found.tokens:
        parser.error("missing --as: pass the crawler's product token")
    if found.tokens and not found.urls:
        parser.error("--as needs --urls: facts are about all crawlers")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job with the session of `spark-submit`."""
    options = parse_arguments(arguments)
    from pyspark.errors import AnalysisException
    from pyspark.sql import SparkSession

    from robotrules.bulk.spark.runs import run_check, run_facts

    spark = SparkSession.builder.appName("robotrules").getOrCreate()
    written = {"file_format": options.format, "overwrite": options.overwrite}
    try:
        if options.urls:
            limits = {"broadcast_bytes": options.broadcast_bytes, "partitions": options.partitions}
            counts = run_check(
                spark,
                options.urls,
                options.paths,
                options.output,
                path_prefix=options.prefix,
                url=options.url,
                product_tokens=options.tokens,
                purposes=options.purposes,
                at=options.at,
                missing=options.missing,
                profile=options.profile,
                **{name: value for name, value in limits.items() if value is not None},
                **written,
            )
        else:
            counts = run_facts(
                spark,
                options.paths,
                options.output,
                path_prefix=options.prefix,
                profile=options.profile,
                **written,
            )
    except (RobotrulesError, AnalysisException) as error:
        print(f"robotrules: {error}", file=sys.stderr)
        return 2
    finally:
        spark.stop()
    print(f"{counts.rows} rows and {counts.rejects} rejects in {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
