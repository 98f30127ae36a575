"""
The OpenAPI document: it describes every route, and thousands of requests made from it are answered
as it says (schemathesis).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from robotrules.service.app import Service
from robotrules.service.live.fetching import Fetching
from robotrules.service.live.questions import MAX_NAME, MAX_NAMES, Crawlers, vet_url
from robotrules.service.openapi import all_operations, openapi_document
from robotrules.service.problems import PROBLEMS, Problem
from robotrules.service.settings import ServiceSettings
from tests.service.live_server import serve
from tests.service.running import serving

JsonSchemaError = import_module("jsonschema").ValidationError
ROOT = Path(__file__).parents[2]
# The page is for people.
PAGE = ("/", "/static/")
# Names of crawlers, policies and paths have rules that a JSON Schema cannot state; they are 422.
# What is wrong may also be too large.
CONFIGURATION = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 403, 404, 422]

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 413, 415, 422, 428, 431, "5xx"]
"""


# What is no URL has a line with an error, and nothing is fetched.
NO_URL = {"type": "string"}


@cache
def document() -> dict[str, Any]:
    """The document."""
    return openapi_document()


def test_every_route_is_described() -> None:
    """The application has the operations of the document, and no others."""
    service = Service(ServiceSettings(store="memory:"))
    routes = {
        (method, path)
        for path, methods in service.routes.items()
        for method in methods
        if not (path == PAGE[0] or path.startswith(PAGE[1]))
    }
    assert routes == {(operation.method, operation.path) for operation in all_operations()}
    described = {
        (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method in methods
    }
    assert described == routes


def test_operations_are_named_once() -> None:
    """Generators of clients make a function of each operationId."""
    names = [one["operationId"] for path in document()["paths"].values() for one in path.values()]
    assert len(names) == len(set(names))


def test_references_lead_somewhere() -> None:
    """Each `$ref` is found in the document."""

    def references(value: Any) -> Iterator[str]:
        if isinstance(value, list):
            for item in value:
                yield from references(item)
        elif isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for item in value.values():
                yield from references(item)

    found = set(references(document()))
    assert len(found) > 50
    for reference in found:
        there: Any = document()
        for key in reference.removeprefix("#/").split("/"):
            there = there[key]


def test_examples_are_valid_and_answered() -> None:
    """Each example is accepted by its schema, and the answer by the schema of answers."""
    operations = [one for one in all_operations() if one.example and not one.fetches]
    assert len(operations) >= 15
    with serve(fetches=False) as service:
        for operation in operations:
            described = document()["paths"][operation.path][operation.method.lower()]
            body = described["requestBody"]["content"]["application/json"]
            validate(operation.example, body["schema"])
            response = service.post(operation.path, operation.example)
            assert response.status_code == 200, (operation.path, response.text)
            if response.headers["content-type"] == "application/json":
                content = described["responses"]["200"]["content"]["application/json"]
                validate(response.json(), content["schema"])


def validate(value: Any, schema: dict[str, Any]) -> None:
    """Compare with a schema of the document."""
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    validator = import_module("jsonschema").Draft202012Validator
    validator({**whole, "components": document()["components"]}).validate(value)


def test_problems_are_described() -> None:
    """Each kind of problem is in the response of its status, and in the schema."""
    components = document()["components"]
    kinds = components["schemas"]["Problem"]["properties"]["type"]["enum"]
    assert kinds == [f"/v1/problems#{slug}" for slug in PROBLEMS]
    for slug, kind in PROBLEMS.items():
        assert f"`{slug}`" in components["responses"][str(kind.status)]["description"]


def test_parameters_accept_what_the_service_accepts() -> None:
    """Generated clients validate with the schemas: they may not refuse what is answered."""
    fetching = Fetching(ServiceSettings())
    crawlers = Crawlers(fetching)
    parameters = document()["paths"]["/v1/check"]["get"]["parameters"]
    schemas = {parameter["name"]: parameter["schema"] for parameter in parameters}
    urls = [
        "http://h?x",
        "HTTP://h/",
        "hTTps://h",
        "http://[::1]:8080/a",
        "http://a_b/",
        "http://é",
    ]
    for url in [
        *urls,
        "http://h#x",
        "http://h:/",
        "http://h/é",
        "http://h%41/",
        "http://a\u00adb/",
    ]:
        assert vet_url(url, fetching)
        validate(url, schemas["url"])
    for url in (
        "ftp://h/",
        "http://",
        "http:///a",
        "http://?",
        "http:h",
        "http://h/a b",
        " http://h",
    ):
        with pytest.raises(Problem):
            vet_url(url, fetching)
        with pytest.raises(JsonSchemaError):
            validate(url, schemas["url"])
    for names in (["Bot2"], ["*"], ["é"], ["A"] * MAX_NAMES, ["a" * MAX_NAME]):
        assert crawlers.find(names, names)
        validate(names, schemas["as"])
    for wrong in (["A", ""], ["A"] * (MAX_NAMES + 1), ["a" * (MAX_NAME + 1)]):
        for name, given in (("as", (wrong, [])), ("purpose", (["A"], wrong))):
            with pytest.raises(Problem):
                crawlers.find(*given)
            with pytest.raises(JsonSchemaError):
                validate(wrong, schemas[name])


# --- schemathesis ---------------------------------------------------------------------------------


@pytest.fixture
def origin() -> Iterator[str]:
    """A site with a robots.txt and pages."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer all paths."""
            is_robots = self.path == "/robots.txt"
            body = b"User-agent: *\nDisallow: /private\n" if is_robots else b"<title>a</title>"
            self.send_response(200)
            self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def with_urls(urls: list[str]) -> dict[str, Any]:
    """The document, where only these URLs are fetched; the first is disallowed."""
    changed = json.loads(json.dumps(document()))
    for name in ("SlotRequest", "ResponseReport", "OriginCheckRequest"):
        properties = changed["components"]["schemas"][name]["properties"]
        properties["url"] = {"enum": urls}
        if "urls" in properties:  # null is the same as leaving it out
            properties["url"] = {"enum": [*urls, None]}
            properties["urls"] = {
                "type": ["array", "null"],
                "items": {"anyOf": [{"enum": urls}, NO_URL]},
            }
    for path, methods in changed["paths"].items():
        # A page that is allowed is fetched in a slot, of which there is one per second.
        asked = urls[:1] if path == "/v1/guidance" else urls
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "url":
                    parameter["schema"] = {"enum": asked}
                    parameter.pop("example", None)
    changed["paths"]["/v1/slot"]["post"]["requestBody"]["content"]["application/json"].pop(
        "example"
    )
    changed["paths"]["/v1/responses"]["post"]["requestBody"]["content"]["application/json"].pop(
        "example"
    )
    return changed  # type: ignore[no-any-return]


def run_schemathesis(folder: Path, described: Any, port: int, *options: str) -> None:
    """Run schemathesis, and fail with its report if it finds anything."""
    (folder / "openapi.json").write_text(json.dumps(described))
    (folder / "schemathesis.toml").write_text(CONFIGURATION)
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "tests.service.schemathesis_hooks",
        "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
    }
    command = [
        *(
            sys.executable,
            "-m",
            "schemathesis.cli",
            "run",
            "openapi.json",
            f"--url=http://127.0.0.1:{port}",
        ),
        *("--max-examples=25", "--seed=9309", "--continue-on-failure", *options),
    ]
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
    assert " generated" in ran.stdout
    # A summary of what was not tested is no success.
    assert "errored" not in ran.stdout.rsplit("Test cases:")[-1], ran.stdout[-20_000:]


@pytest.mark.slow
def test_requests_made_from_the_document(tmp_path: Path) -> None:
    """Of files that are sent: no 5xx, no undocumented answer, and wrong requests are refused."""
    with serving(tmp_path, "--no-fetch") as service:
        run_schemathesis(tmp_path, document(), service.port)


@pytest.mark.slow
def test_requests_that_fetch(tmp_path: Path, origin: str) -> None:
    """Of URLs: the same."""
    described = with_urls([f"{origin}/private/b?c=d", f"{origin}/a", f"{origin}/robots.txt"])
    with serving(tmp_path, "--allow-private", "127.0.0.1") as service:
        fetching = [operation.path for operation in all_operations() if operation.fetches]
        included = [f"--include-path={path}" for path in sorted(set(fetching))]
        run_schemathesis(tmp_path, described, service.port, *included)
