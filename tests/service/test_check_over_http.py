"""Check over HTTP with a robots.txt in the body: the answer of the verb, and nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from robotrules.service.app import create_app
from robotrules.service.settings import ServiceSettings
from tests.service.answers import raw_answer


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = create_app(ServiceSettings(fetches=False))
    with TestClient(app, base_url="http://127.0.0.1:8080") as opened:
        yield opened


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b'{"robots": "", "as": "a", "url": "/"}', "application/json"),
        (b'{"robots": "", "as": "a", "url": "/", "fields": "allowed"}', "application/json"),
        (b'{"robots": "", "as": "a", "urls": ["/", "/b"]}', "application/x-ndjson"),
        (b'{"robots_base64": "", "as": "a", "urls": []}', "application/x-ndjson"),
        (b'{"robots": null, "robots_base64": "", "as": "a", "url": "/"}', "application/json"),
        (b'{"robots": "\\ud800", "as": "a", "url": "/\\ud800"}', "application/json"),
    ],
)
def test_answers(client: TestClient, body: bytes, media_type: str) -> None:
    response = client.post("/v1/check", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == media_type
    assert response.content == raw_answer("check", body)


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        (b'{"robots": 1, "as": "a", "url": "/"}', "invalid-request"),
        (b'{"robots": "", "as": "a b", "url": "/"}', "invalid-request"),
        (b'{"robots": "", "as": "a", "url": "\xff"}', "malformed-body"),
        (b'{"robots": "", ', "malformed-body"),
        (b'{"robots": null, "as": "a", "url": "https://example.com/"}', "invalid-request"),
        (b'{"as": "a", "url": "https://example.com/"}', "fetching-off"),
    ],
)
def test_problems(client: TestClient, body: bytes, slug: str) -> None:
    response = client.post("/v1/check", content=body, headers={"Content-Type": "application/json"})
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["type"] == f"/v1/problems#{slug}"
