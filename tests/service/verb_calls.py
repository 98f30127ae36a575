"""
Calls of verbs with a body in JSON, and files that verbs and commands both get.

An answer is checked against its schema. What it should be is not known here.
"""

from __future__ import annotations

import codecs
import json
from base64 import b64encode
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import robotrules
from robotrules.service.problems import Problem
from robotrules.service.verbs import load_verbs
from robotrules.service.work import run_verb

SCHEMAS = (
    Path(robotrules.__file__).parent / "json_results" / "schemas",
    Path(__file__).parents[2] / "docs",
)
RULES = b"User-agent: *\nDisallow: /private/\nAllow: /private/open$\nDisalow: /\xc3\xa9\n"
LARGE = b"User-agent: *\n" + b"".join(b"Disallow: /p%d/*/x\n" % n for n in range(40_000))
HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \r\n\t\n\r",
    "not UTF-8": b"User-agent: *\nDisallow: /\xe9\xff\ndisallow: /\xc3\xa9 # \xf0\x9f\x98\n"
    b"A\xff: /x\n\xff disallow : /y\n",
    "byte order mark": codecs.BOM_UTF8 + RULES,
    "NUL": b"User-agent: *\nDisallow: /a\0b\nAllow: /\0\n\0\0\n",
    "CR": RULES.replace(b"\n", b"\r"),
    "CR LF": RULES.replace(b"\n", b"\r\n"),
    "UTF-16": RULES.decode().encode("utf-16"),
    "binary": bytes(range(256)) * 3,
    "no line end": RULES.rstrip(),
    "groups": b"User-agent: GPTBot\nUser-agent: b\nDisallow: /a\nDisallow: /a/b\n\n"
    b"User-agent: c\nDisallow: /a\nSitemap: /x\nUser-agent-purpose: EXAMPLE-PURPOSE-1\nAllow: /\n",
    "misspelt": b"user-agent *\ndisalow /x\nUser agent: a\nDissallow: /y\nDisallow: /x/*/\n"
    b"Allow: x\n",
    "astral": "User-agent: *\r\ndisallow : /😀/*$ # é😀\rallow:/\u2028é\n".encode(),
    "600 KiB": LARGE[: 600 * 1024],
}

every_file = pytest.mark.parametrize("octets", HOSTILE.values(), ids=HOSTILE.keys())


def encoded(octets: bytes) -> str:
    """Return bytes as a field of a body has them."""
    return b64encode(octets).decode()


def schema_of(name: str) -> dict[str, Any]:
    """Return a schema of an answer."""
    paths = [folder / f"{name}.schema.json" for folder in SCHEMAS]
    path = next(path for path in paths if path.exists())
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def call(path: str, /, **body: Any) -> dict[str, Any]:
    """Return the answer of a verb; it is as its schema says."""
    verb = load_verbs()[f"/v1/{path}"]
    answer: dict[str, Any] = json.loads(run_verb(verb, json.dumps(body).encode()))
    assert isinstance(verb.schema, str)
    validator = import_module("jsonschema").Draft202012Validator(schema_of(verb.schema))
    assert [f"{e.json_path}: {e.message:.200}" for e in validator.iter_errors(answer)] == []
    return answer


def refused(path: str, /, **body: Any) -> Problem:
    """Return the problem that a verb raises."""
    with pytest.raises(Problem) as caught:
        run_verb(load_verbs()[f"/v1/{path}"], json.dumps(body).encode())
    assert caught.value.status == 422
    return caught.value


def without(answer: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return an answer without some members."""
    return {name: value for name, value in answer.items() if name not in names}
