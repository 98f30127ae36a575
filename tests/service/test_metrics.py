"""Counters of the service: what is counted, and how many label values there can be."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from robotrules.service.app import Service
from robotrules.service.settings import Limits, ServiceSettings
from tests.service.running import QUESTION


def client_of(settings: ServiceSettings) -> TestClient:
    """Return a client of a new service."""
    return TestClient(Service(settings), base_url="http://127.0.0.1:8080")


def samples(client: TestClient) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return all samples, parsed as Prometheus does."""
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def requests(path: str, status: int) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the key of a counter of requests."""
    return "robotrules_requests_total", (("path", path), ("status", str(status)))


def test_requests_are_counted_by_path_and_status() -> None:
    """And timed; problems by their kind."""
    client = client_of(ServiceSettings())
    for _ in range(3):
        client.post("/v1/explain", json=QUESTION)
    client.post("/v1/explain", json={})
    client.post("/v1/explain", content=b"{", headers={"Content-Type": "application/json"})
    client.get("/v1/explain")  # without its URL
    client.put("/v1/explain")
    found = samples(client)
    assert found[requests("/v1/explain", 200)] == 3
    assert found[requests("/v1/explain", 422)] == 2
    assert found[requests("/v1/explain", 400)] == 1
    assert found[requests("/v1/explain", 405)] == 1
    assert found["robotrules_request_seconds_count", (("path", "/v1/explain"),)] == 7
    assert 0 < found["robotrules_request_seconds_sum", (("path", "/v1/explain"),)] < 10
    assert found["robotrules_problems_total", (("kind", "invalid-request"),)] == 2
    assert found["robotrules_problems_total", (("kind", "malformed-body"),)] == 1


def test_unknown_paths_share_one_label() -> None:
    """Whoever asks for random paths and methods does not fill the memory."""
    client = client_of(ServiceSettings())
    for number in range(300):
        client.request(f"M{number}", f"/{number}?q={number}", headers={"Host": f"h{number}"})
        client.get(f"/x{number}")
        client.get(f"/metrics/{number}")
    found = samples(client)
    assert found[requests("other", 404)] == 600
    assert found[requests("other", 421)] == 300
    assert len([key for key in found if key[0] == "robotrules_requests_total"]) == 2


def test_refused_clients_are_counted() -> None:
    """By kind: what an operator looks at when clients complain."""
    client = client_of(ServiceSettings(limits=Limits(rate=1, burst=1)))
    assert client.post("/v1/explain", json=QUESTION).status_code == 200
    for _ in range(4):
        assert client.post("/v1/explain", json=QUESTION).status_code == 429
    service = client.app
    assert isinstance(service, Service)
    value = service.metrics.registry.get_sample_value(
        "robotrules_problems_total", {"kind": "too-many-requests"}
    )
    assert value == 4


def test_two_services_in_one_process_count_apart() -> None:
    """Each has its own registry."""
    one, other = client_of(ServiceSettings()), client_of(ServiceSettings())
    one.post("/v1/explain", json=QUESTION)
    assert requests("/v1/explain", 200) in samples(one)
    assert requests("/v1/explain", 200) not in samples(other)


def test_the_version_is_known() -> None:
    """With the engine, which decides how fast it is."""
    import robotrules

    labels = (("engine", robotrules.engine_name()), ("version", robotrules.__version__))
    assert samples(client_of(ServiceSettings()))["robotrules_build_info", labels] == 1
