"""
Datasets: columns of URLs, the join of URLs with many files, and facts about the files of a WARC.

Each way is timed next to what a user would write without it, in interleaved rounds of one run: a
list of URLs with `allows_many()`, Polars' `group_by` with `allows_many()`, and a loop over the
reference. The cost of reading a WARC file with fastwarc is the measure for facts. Peak memory is
that of a process of its own for each number of URLs.

Does not know: Spark. `bulk_spark.py` has it.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import measure
import polars as pl
import pyarrow as pa
import table
from corpora import Case, real
from engines import OURS, REFERENCE, Engine

import robotrules
from robotrules.bulk import Corpus, facts_batches
from robotrules.bulk.readers.warc import read_warc

Progress = Callable[[str], None]
Way = Callable[[], object]
TOKEN = "GPTBot"
# Common Crawl's robots.txt captures of a month.
COMMON_CRAWL_CAPTURES = 55_000_000
BATCH = 262_144


def run(plan: dict[str, Any], engines: Sequence[Engine], report: Any, progress: Progress) -> None:
    """Print the tables."""
    by_name = {engine.name: engine for engine in engines}
    if OURS not in by_name:
        report.say(f"## {plan['title']}", "", "(robotrules is not selected.)", "")
        return
    report.say(f"## {plan['title']}", "")
    progress("reading the corpus")
    cases, description = real.load_cases(100_000)
    report.say(f"{description}. Medians of {plan['rounds']} rounds.", "")
    reference = by_name.get(REFERENCE)
    figures = {
        "column": run_columns(plan, cases, reference, report, progress),
        "join": run_join(plan, cases, reference, report, progress),
        "memory": run_memory(plan, report, progress),
        "facts": run_facts(plan, cases, report, progress),
    }
    report.figures["bulk"] = figures


def time_ways(ways: dict[str, Way], rounds: int, progress: Progress) -> dict[str, list[float]]:
    """Return the seconds of each way in each round; each round starts with another one."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            progress(f"round {number + 1} of {rounds}: {name}")
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            ways[name]()
            taken[name].append(time.perf_counter() - start)
            gc.enable()
    return taken


def median_ratio(slower: Sequence[float], faster: Sequence[float]) -> float:
    """Return the median of the ratios within the rounds."""
    return statistics.median(a / b for a, b in zip(slower, faster, strict=True))


# --- One rule set ---------------------------------------------------------------------------------


def time_column(
    case: Case, plan: dict[str, Any], reference: Engine | None, progress: Progress
) -> dict[str, list[float]]:
    """Return the nanoseconds for one URL of a column of URLs of one file, by way."""
    settings = plan["column"]
    rules = robotrules.parse(case.body).rules_for(case.token)
    urls = [
        url if url.startswith("http") else f"https://www.example.com{url}"
        for url in measure.make_urls(case, settings["urls"])
    ]
    random.Random(1).shuffle(urls)
    column, threads = pa.array(urls), plan["threads"]
    ways: dict[str, Way] = {
        "list and back": lambda: pa.array(rules.allows_many(column.to_pylist())),
        "allows_arrow, 1 thread": lambda: rules.allows_arrow(column, threads=1),
        "allows_arrow": lambda: rules.allows_arrow(column, threads=threads),
        "decide_arrow": lambda: rules.decide_arrow(column, threads=threads),
    }
    if reference is not None:
        some, body = urls[: settings["reference_urls"]], reference.prepare_body(case.body)
        theirs = reference.rules_for(reference.parse(body, case.token), case.token)
        ways[REFERENCE] = lambda: reference.check_batch(theirs, some, case.token)
    return per_url(time_ways(ways, plan["rounds"], progress), settings)


def per_url(taken: dict[str, list[float]], settings: dict[str, Any]) -> dict[str, list[float]]:
    """Return seconds as nanoseconds for one URL; the reference had fewer of them."""
    return {
        name: [
            seconds * 1e9 / settings["reference_urls" if name == REFERENCE else "urls"]
            for seconds in times
        ]
        for name, times in taken.items()
    }


def run_columns(
    plan: dict[str, Any],
    cases: list[Case],
    reference: Engine | None,
    report: Any,
    progress: Progress,
) -> Any:
    """Print the table of one column of URLs, decided by one rule set."""
    settings = plan["column"]
    rows, figures, header = [], [], ["rules"]
    sizes = {
        case.name: len(robotrules.parse(case.body).rules_for(case.token))
        for case in cases
        if case.many
    }
    for wanted in settings["rules"]:
        chosen = min(
            (case for case in cases if case.many),
            key=lambda case: (abs(sizes[case.name] - wanted), case.name),
        )
        count, each = sizes[chosen.name], time_column(chosen, plan, reference, progress)
        figures.append({"rules": count, "nanoseconds": each})
        header = ["rules", *each]
        medians = [f"{statistics.median(times):.0f} ns" for times in each.values()]
        rows.append([f"{count}", *medians])
        bars = [("list and back", settings["bar_list"])]
        bars += [(REFERENCE, settings["bar_reference"])] if reference is not None else []
        for name, bar in bars if wanted == settings["bar_rules"] else ():
            ratio = median_ratio(each[name], each["allows_arrow"])
            label = f"allows_arrow, {settings['urls']:,} URLs, {count} rules, to {name}"
            report.add_bar(label, f">= {bar}x", f"{ratio:.1f}x", ratio >= bar)
    report.say(f"A column of {settings['urls']:,} URLs, time for one URL:", "")
    report.say(table.render(header, rows), "")
    return figures


# --- Many files -----------------------------------------------------------------------------------


def make_hosts(cases: Sequence[Case], hosts: int) -> tuple[list[str], list[bytes]]:
    """Return origins and the file of each: real files, repeated if there are more hosts."""
    files = [cases[number % len(cases)].body for number in range(hosts)]
    return [f"https://www.host-{number}.example" for number in range(hosts)], files


def make_mixed_urls(
    cases: Sequence[Case], origins: Sequence[str], count: int, seed: int
) -> list[str]:
    """Return shuffled URLs: each a random host with a path that is derived from its file."""
    chance = random.Random(seed)
    paths = [[measure_path(url) for url in case.many] or ["/"] for case in cases[: len(origins)]]
    urls = []
    for _ in range(count):
        number = chance.randrange(len(origins))
        own = paths[number % len(paths)]
        urls.append(f"{origins[number]}{chance.choice(own)}{chance.randrange(100)}")
    return urls


def measure_path(url: str) -> str:
    """Return path and query of a URL of the corpus."""
    if "://" not in url:
        return url if url.startswith("/") else f"/{url}"
    rest = url.split("://", 1)[1]
    return rest[rest.find("/") :] if "/" in rest else "/"


def run_join(
    plan: dict[str, Any],
    cases: list[Case],
    reference: Engine | None,
    report: Any,
    progress: Progress,
) -> Any:
    """Print the table of shuffled URLs of many hosts."""
    settings = plan["join"]
    progress("making URLs")
    chosen = [case for case in cases if len(case.body) < 100_000][: settings["hosts"]]
    origins, files = make_hosts(chosen, settings["hosts"])
    urls = make_mixed_urls(chosen, origins, settings["urls"], 2)
    urls_table = pa.table({"url": urls})
    corpus = Corpus.from_mapping(dict(zip(origins, files, strict=True)))
    parsed = dict(zip(origins, map(robotrules.parse, files), strict=True))

    def group_by() -> pl.Series:
        frame = pl.DataFrame(urls_table).with_row_index("row")
        frame = frame.with_columns(origin=pl.col("url").str.extract("^(https?://[^/?#]+)"))
        places, answers = [], []
        for (origin,), part in frame.group_by("origin"):
            rules = parsed[origin].rules_for(TOKEN)
            places.append(part["row"])
            answers.append(pl.Series(rules.allows_many(part["url"].to_list())))
        found = pl.DataFrame({"row": pl.concat(places), "allowed": pl.concat(answers)})
        return found.sort("row")["allowed"]

    def check(threads: int) -> pa.Table:
        return corpus.check(urls_table, product_tokens=[TOKEN], threads=threads)

    answers = check(0)["allowed"].to_pylist()
    if answers != group_by().to_list():
        raise AssertionError("the join and the groups give different answers")
    ways: dict[str, Way] = {
        "Polars group_by": group_by,
        "corpus.check, 1 thread": lambda: check(1),
        "corpus.check": lambda: check(plan["threads"]),
    }
    if reference is not None:
        some = urls[: settings["reference_urls"]]
        theirs = {
            origin: reference.rules_for(reference.parse(reference.prepare_body(body), TOKEN), TOKEN)
            for origin, body in zip(origins, files, strict=True)
        }

        def loop() -> list[Any]:
            return [
                reference.check_batch(theirs["/".join(url.split("/", 3)[:3])], [url], TOKEN)
                for url in some
            ]

        ways[REFERENCE] = loop
    each = per_url(time_ways(ways, plan["rounds"], progress), settings)
    rows = [
        [
            name,
            f"{statistics.median(times):.0f} ns",
            f"{median_ratio(times, each['corpus.check']):.1f}x",
        ]
        for name, times in each.items()
    ]
    bars = [("Polars group_by", settings["bar_groups"])]
    bars += [(REFERENCE, settings["bar_reference"])] if reference is not None else []
    for name, bar in bars:
        ratio = median_ratio(each[name], each["corpus.check"])
        label = f"corpus.check, {len(urls):,} URLs of {len(origins):,} hosts, to {name}"
        report.add_bar(label, f">= {bar}x", f"{ratio:.1f}x", ratio >= bar)
    report.say(
        f"{len(urls):,} shuffled URLs of {len(origins):,} hosts, for {TOKEN}, time for one URL:",
        "",
        table.render(["way", "one URL", "to corpus.check"], rows),
        "",
    )
    return each


# --- Memory ---------------------------------------------------------------------------------------


def run_memory(plan: dict[str, Any], report: Any, progress: Progress) -> Any:
    """Print peak memory by the number of URLs."""
    settings = plan["memory"]
    rows, figures = [], []
    for count in settings["urls"]:
        progress(f"memory: {count:,} URLs")
        arguments = [sys.executable, __file__, "memory", str(settings["hosts"]), str(count)]
        printed = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
        found = json.loads(printed.splitlines()[-1])
        figures.append(found)
        rows.append(
            [
                f"{count:,}",
                f"{found['corpus_mib']:,.0f} MiB",
                f"{found['peak_mib']:,.0f} MiB",
                f"{found['seconds'] * 1e9 / count:.0f} ns",
            ]
        )
    report.say(
        f"Streamed URLs of {settings['hosts']:,} hosts, each with a real file; peak memory of the "
        "process, of which the corpus before the first URL, and the time for one URL with parsing "
        "and compiling (making the URLs is not counted):",
        "",
        table.render(["URLs", "with the corpus", "peak", "one URL"], rows),
        "",
    )
    return figures


def peak_mib() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_memory(hosts: int, count: int) -> None:
    """Check *count* URLs in batches, and print figures as JSON."""
    cases, _ = real.load_cases(3000)
    chosen = [case for case in cases if len(case.body) < 100_000]
    origins, files = make_hosts(chosen, hosts)
    rows = pa.table({"origin": origins, "status": pa.array([200] * hosts), "body": files})
    corpus = Corpus.from_table(rows)
    del rows, files
    before, spent = peak_mib(), 0.0
    pool = make_mixed_urls(chosen, origins, BATCH, 3)
    chance = random.Random(4)

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal spent
        left = count
        while left:
            start = time.perf_counter()
            chance.shuffle(pool)
            batch = pa.record_batch({"url": pool[: min(left, BATCH)]})
            spent += time.perf_counter() - start
            left -= batch.num_rows
            yield batch

    start, done = time.perf_counter(), 0
    for batch in corpus.check_batches(batches(), product_tokens=[TOKEN]):
        done += batch.num_rows
    seconds = time.perf_counter() - start - spent
    figures = {"hosts": hosts, "urls": done, "seconds": seconds}
    print(json.dumps(figures | {"corpus_mib": before, "peak_mib": peak_mib()}))


# --- Facts ----------------------------------------------------------------------------------------


def write_warc(cases: Sequence[Case], path: Path) -> None:
    """Write every file as a response of a WARC, one gzip member each, like Common Crawl's."""
    from io import BytesIO

    from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
    from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, case in enumerate(cases):
            fields = [("Content-Type", "text/plain"), ("Content-Length", str(len(case.body)))]
            fields += [("Server", "nginx"), ("Date", "Sun, 15 Nov 2026 00:00:00 GMT")]
            head = StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1")
            url = f"https://www.host-{number}.example/robots.txt"
            record = writer.create_warc_record(
                url, "response", payload=BytesIO(case.body), http_headers=head
            )
            writer.write_record(record)


def run_facts(plan: dict[str, Any], cases: list[Case], report: Any, progress: Progress) -> Any:
    """Print the cost of facts from a WARC, next to that of reading it; in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robots.warc.gz"
        progress("writing a WARC file")
        write_warc(cases, path)
        size = path.stat().st_size
        progress("facts")
        rounds, threads = str(plan["facts"]["rounds"]), str(plan["threads"])
        arguments = [sys.executable, __file__, "facts", str(path), rounds, threads]
        printed = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    figures = json.loads(printed.splitlines()[-1])
    taken: dict[str, list[float]] = figures["seconds"]
    if figures["rows"] != len(cases):
        raise AssertionError("facts are not one row for each file")
    read = taken["fastwarc only"]
    rows = []
    for name, times in taken.items():
        each = statistics.median(times) / len(cases)
        hours = each * COMMON_CRAWL_CAPTURES / 3600
        ratio = median_ratio(times, read)
        rows.append([name, f"{each * 1e6:.1f} µs", f"{ratio:.2f}x", f"{hours:.2f} h"])
    bar = plan["facts"]["bar_reading"]
    ratio = median_ratio(taken["facts"], read)
    label = f"facts of {len(cases):,} real files in a WARC, to reading it with fastwarc"
    report.add_bar(label, f"<= {bar}x", f"{ratio:.2f}x", ratio <= bar)
    report.say(
        f"A WARC file of {len(cases):,} real files, {size:,} octets (gzip); the last column is for "
        f"{COMMON_CRAWL_CAPTURES:,} captures at this rate, on this machine:",
        "",
        table.render(["way", "one file", "to fastwarc only", "Common Crawl"], rows),
        "",
    )
    return figures | {"octets": size}


def measure_facts(path: Path, rounds: int, threads: int) -> None:
    """Time reading and facts of a WARC, and print figures as JSON."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    def only_read() -> int:
        octets = 0
        with path.open("rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response):
                octets += len(record.reader.read())
        return octets

    def normal_form() -> int:
        return sum(batch.num_rows for batch, _ in read_warc(path))

    def with_facts(threads: int) -> int:
        batches = (batch for batch, _ in read_warc(path))
        return sum(batch.num_rows for batch in facts_batches(batches, threads=threads))

    rows = with_facts(1)
    ways: dict[str, Way] = {
        "fastwarc only": only_read,
        "read_warc": normal_form,
        "facts, 1 thread": lambda: with_facts(1),
        "facts": lambda: with_facts(threads),
    }
    taken = time_ways(ways, rounds, lambda text: None)
    print(json.dumps({"rows": rows, "seconds": taken}))


if __name__ == "__main__":
    if sys.argv[1] == "memory":
        measure_memory(int(sys.argv[2]), int(sys.argv[3]))
    else:
        measure_facts(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
