"""
docs/http-api.md and docs/playground.md: commands print what they show, tables are complete.

A command of the page is read as a shell reads it, and its request is sent to a real service.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from robotrules.service.openapi import all_operations
from robotrules.service.problems import PROBLEMS
from tests.service.live_server import serve
from tests.service.test_browser import VIEWS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "http-api.md").read_text(encoding="utf-8")
PLAYGROUND = (DOCS / "playground.md").read_text(encoding="utf-8")
JSON = "application/json"
COMMANDS = re.findall(r"^```console\n\$ (curl .*)\n((?:.*\n)*?)```", PAGE, re.MULTILINE)


def test_the_commands_print_what_the_page_shows() -> None:
    assert len(COMMANDS) >= 4
    with serve() as service:
        for command, shown in COMMANDS:
            words = shlex.split(command)
            url = words[2]
            assert words[:2] == ["curl", "-s"]
            assert words[3:6] == ["-H", "Content-Type: application/json", "-d"]
            path = url.removeprefix("http://127.0.0.1:8080")
            answer = service.client.post(path, content=words[6], headers={"Content-Type": JSON})
            assert answer.text.strip() == shown.strip()


def test_the_tables_have_each_operation_of_the_document() -> None:
    for operation in all_operations():
        if operation.path.startswith("/v1/editor/"):
            continue
        path = re.sub(r"^(/v1/schemas)/.*", r"\1/NAME", operation.path)
        assert f"`{operation.method} {path}`" in PAGE


def test_the_table_of_errors_has_each_status() -> None:
    table = PAGE.partition("## Errors")[2]
    for problem in PROBLEMS.values():
        assert re.search(rf"^\|[^|]*\b{problem.status}\b", table, re.MULTILINE), problem.status


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_of_the_playground_shows_each_view(view: str) -> None:
    for shape in ("light", "dark", "phone"):
        picture = f"pictures/page-{view}-{shape}.png"
        assert f"]({picture})" in PLAYGROUND
        assert (DOCS / picture).read_bytes().startswith(b"\x89PNG")


def test_bodies_have_the_fields_of_the_table() -> None:
    fields = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## Paths")[0], re.MULTILINE)
    check = next(one for one in all_operations() if one.path == "/v1/explain" and one.structs)
    known = set(check.structs[0].__struct_encode_fields__)
    assert set(fields) <= known, json.dumps(sorted(known))
    assert {"robots", "robots_base64", "as", "purpose", "profile", "literal"} <= set(fields)
