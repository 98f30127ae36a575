"""
Answers of verbs beside those of commands, and the files that both get.

It does not know what the answers should be.
"""

from __future__ import annotations

import base64
import codecs
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from robotrules.json_results.schemas import load_schema
from robotrules.service.problems import Problem
from robotrules.service.settings import DEFAULT_LIMITS, Limits
from robotrules.service.verbs import load_verbs
from robotrules.service.work import run_verb
from tests.cli.shell import robotrules
from tests.file_samples import GROUPS

EXAMPLES = Path(__file__).parents[2] / "examples"
RULE = b"User-agent: *\nDisallow: /private/\nAllow: /private/open$\n"
MANY_RULES = b"".join(b"Disallow: /p%d/*/x\nAllow: /p%d/a$\n" % (n, n) for n in range(20_000))

FILES: dict[str, bytes] = {
    **{path.name: path.read_bytes() for path in sorted(EXAMPLES.glob("*.txt"))},
    "groups": GROUPS.encode(),
    "empty": b"",
    "white space": b" \r\n\t\n",
    "not UTF-8": b"User-agent: *\nDisallow: /\xe9\xff\nDisallow: /\xc3\xa9\nDisa\xffllow: /x\n",
    "byte order mark": codecs.BOM_UTF8 + RULE,
    "half a mark": codecs.BOM_UTF8[:2] + RULE,
    "NUL": b"User-agent: *\nDisallow: /a\0b\nAllow: /\0\n\0\0\n",
    "CR": RULE.replace(b"\n", b"\r"),
    "CR LF": RULE.replace(b"\n", b"\r\n"),
    "UTF-16": RULE.decode().encode("utf-16"),
    "binary": bytes(range(32)) * 10,
    "no line end": RULE.rstrip(),
    "other records": b"Sitemap: /a\nUser-agent: ExampleBot\nContent-Usage: train-ai=n\n"
    b"Crawl-delay: 99999999999999999999999\nUser-agent: b\n"
    b"User-agent-purpose: EXAMPLE-PURPOSE-1\nDisallow: /b\n",
    "purposes": b"User-agent-purpose: EXAMPLE-PURPOSE-1\nDisallow: /p\nUser-agent: *\nAllow: /\n",
    "600 KiB": (b"User-agent: *\n" + MANY_RULES)[: 600 * 1024],
    "one long line": b"User-agent: *\nDisallow: /" + b"a" * 100_000,
}
assert len(FILES["600 KiB"]) == 600 * 1024

every_file = pytest.mark.parametrize("octets", FILES.values(), ids=FILES.keys())
every_small_file = pytest.mark.parametrize(
    "octets",
    [octets for octets in FILES.values() if len(octets) < 10_000],
    ids=[name for name, octets in FILES.items() if len(octets) < 10_000],
)


def base64_of(octets: bytes) -> str:
    """Return octets as a field of a body has them."""
    return base64.b64encode(octets).decode()


def raw_answer(verb: str, body: bytes, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return what a verb answers to a body."""
    return run_verb(load_verbs()[f"/v1/{verb}"], body, limits)


def answer(verb: str, **fields: Any) -> Any:
    """Return the answer of a verb; it is as its schema says."""
    found = json.loads(raw_answer(verb, json.dumps(fields).encode()))
    assert not list(schema_errors(verb, found))
    return found


def schema_errors(name: str, value: Any) -> Iterator[str]:
    """Yield where a value is not as a schema says."""
    validator = import_module("jsonschema").Draft202012Validator(load_schema(name))
    yield from (
        f"{error.json_path}: {error.message:.200}" for error in validator.iter_errors(value)
    )


def problem(verb: str, **fields: Any) -> Problem:
    """Return the problem that a verb raises."""
    with pytest.raises(Problem) as caught:
        raw_answer(verb, json.dumps(fields).encode())
    return caught.value


def printed(*arguments: str, stdin: bytes = b"") -> list[Any]:
    """Return the JSON lines that a command prints."""
    command, *rest = arguments
    ran = robotrules(command, "--json", *rest, stdin=stdin)
    assert ran.out, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]
