"""Tables for tests: robots.txt fetches of all kinds, and URLs that are hard to process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pyarrow as pa

TIME = datetime(2026, 5, 4, 12, tzinfo=UTC)
BIG_HOST = "https://big.example"
LONG_URL = "https://h1.example/private/" + "a" * 2_000_000


def robots_table() -> pa.Table:
    """Return fetches: files, failures, redirects within and out of the table, a truncated one."""
    rows = [
        {
            "url": f"https://h{i}.example/robots.txt",
            "status": 200,
            "body": b"User-agent: *\nDisallow: /private/\nAllow: /private/%d\n" % i
            + b"User-agent: ExampleBot\nDisallow: /*/%d$\n" % (i % 5),
        }
        for i in range(40)
    ]
    rows += [
        {"url": f"{BIG_HOST}/robots.txt", "status": 200, "body": b"User-agent: *\nDisallow: /1"},
        {"url": "https://none.example/robots.txt", "status": 404, "body": b""},
        {"url": "https://down.example/robots.txt", "status": 503, "body": None},
        {"url": "https://dead.example/robots.txt", "status": None, "body": None},
        {"url": "https://odd.example/robots.txt", "status": 200, "body": b"\xff\0Disallow: \xff"},
        {"url": "https://bücher.example/robots.txt", "status": 200, "body": _IRI_RULES},
        {"url": "https://lost.example/robots.txt", "status": 302, "location": "https://x.example/"},
    ]
    # A chain of four redirects over hosts that have nothing in common, and a circle.
    chain = ["hop", "skip", "jump", "leap", "h7"]
    for here, there in [*pairwise(chain), ("loop", "pool"), ("pool", "loop")]:
        rows.append(
            {
                "url": f"https://{here}.example/robots.txt",
                "status": 301,
                "location": f"https://{there}.example/robots.txt",
            }
        )
    return pa.Table.from_pylist(
        [{"fetched_at": TIME, "location": None, "body": None} | row for row in rows],
        pa.schema(
            [
                ("url", pa.string()),
                ("status", pa.int32()),
                ("body", pa.binary()),
                ("fetched_at", pa.timestamp("us", "UTC")),
                ("location", pa.string()),
            ]
        ),
    )


_IRI_RULES = "User-agent: *\nDisallow: /straße\n".encode()


def urls_table(rows: int = 3000) -> pa.Table:
    """Return URLs: a third of one host, many of others, and hard ones; duplicates and nulls."""
    urls: list[str | None] = [
        *(f"{BIG_HOST}/{i % 13}" for i in range(rows // 3)),
        *(f"https://h{i % 44}.example/private/{i % 50}" for i in range(rows // 3)),
        *(f"http://H{i % 40}.EXAMPLE:80/x/{i % 7}" for i in range(rows // 3)),
    ]
    urls += [
        *(None, "", " ", "x", "/relative", "mailto:a@b.example", "https://", "http://[::1", "\0"),
        *("https://bücher.example/straße/1", "https://xn--bcher-kva.example/stra%C3%9Fe"),
        *("https://h3.example/privat\u0130e", "https://h3.example/private/\U0001f916?q=\u2028"),
        *(f"https://{host}.example/private/7" for host in ("hop", "skip", "leap", "loop", "lost")),
        *(f"https://{host}.example/a" for host in ("none", "down", "dead", "odd", "unknown")),
        *("https://user:pass@h5.example:443/private/5#frag", "HTTPS://H5.example./private/5"),
        LONG_URL,
    ] * 2
    numbers = list(range(len(urls)))
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "url": pa.array(urls, pa.string()),
            "crawled_at": pa.array(
                [TIME + timedelta(hours=i % 50 - 10) for i in numbers], pa.timestamp("us", "UTC")
            ),
            # Spark reads a dot in a name as a field of a struct.
            "crawl.id": pa.array([f"c{i % 3}" for i in numbers], pa.string()),
            "tags": pa.array([[("n", i)] for i in numbers], pa.map_(pa.string(), pa.int64())),
        }
    )
