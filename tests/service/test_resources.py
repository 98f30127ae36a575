"""Resources that do not depend on a request: known crawlers and registries."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from robotrules.json_results.schemas import load_schema, schema_names
from robotrules.registries import SHIPPED
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS
from robotrules.service.app import create_app
from robotrules.service.resources import RESOURCES, FixedResource
from tests.service.answers import schema_errors


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app(), base_url="http://127.0.0.1:8080")


def test_crawlers(client: TestClient) -> None:
    found = client.get("/v1/crawlers").json()
    assert found["crawlers"] == [crawler.as_dict() for crawler in KNOWN_CRAWLERS]
    assert (found["checked"], found["purposes"]) == (KNOWN_CRAWLERS.checked, CRAWLER_PURPOSES)


def test_registries(client: TestClient) -> None:
    """They can be saved as a registry file, too."""
    found = client.get("/v1/registries").json()
    assert found.pop("schema") == 1
    assert found == SHIPPED.as_dict()


NAMED = [(one.path, one.schema) for one in RESOURCES if isinstance(one.schema, str)]


@pytest.mark.parametrize(("path", "schema"), NAMED)
def test_each_is_as_its_schema_says(client: TestClient, path: str, schema: str) -> None:
    response = client.get(path)
    assert response.headers["content-type"] == "application/json"
    assert not list(schema_errors(schema, response.json()))
    assert list(schema_errors(schema, response.json() | {"more": 1}))


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.path)
def test_entity_tags(client: TestClient, resource: FixedResource) -> None:
    """A client that has the current JSON gets none (RFC 9110 §13.1.2)."""

    first = client.get(resource.path)
    tag = first.headers["etag"]
    assert tag.startswith('"')
    assert tag.endswith('"')
    for field in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        again = client.get(resource.path, headers={"If-None-Match": field})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    for field in ('"x"', tag.strip('"'), ""):
        other = client.get(resource.path, headers={"If-None-Match": field})
        assert (other.status_code, other.content) == (200, first.content)


def test_each_has_its_own_tag(client: TestClient) -> None:
    tags = [client.get(resource.path).headers["etag"] for resource in RESOURCES]
    assert len(set(tags)) == len(RESOURCES)


def test_schemas(client: TestClient) -> None:
    """The list has each of them, and `$id` is where it is."""
    found = client.get("/v1/schemas").json()["schemas"]
    assert [one["name"] for one in found] == schema_names()
    for one in found:
        schema = client.get(one["url"]).json()
        assert (schema["$id"], schema["title"]) == (one["url"], one["title"])
        assert {**load_schema(one["name"]), "$id": one["url"]} == schema
