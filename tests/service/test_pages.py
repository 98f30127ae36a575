"""The files of the page over HTTP: paths, caching, compression, and the fields that protect it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

import robotrules.service
from robotrules.service.pages import PAGE_FILES
from tests.service.running import RunningService, serving

STATIC = Path(robotrules.service.__file__).parent / "static"
TOKEN = "a-token-that-nobody-guesses-0123456789"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that asks for a token."""
    folder = tmp_path_factory.mktemp("pages")
    tokens = folder / "tokens"
    tokens.write_text(f"{TOKEN}\n", encoding="ascii")
    tokens.chmod(0o600)
    with serving(folder, "--token-file", str(tokens)) as running:
        yield running


@pytest.mark.parametrize(("path", "name", "kind"), PAGE_FILES)
def test_files_need_no_token(service: RunningService, path: str, name: str, kind: str) -> None:
    reply = service.ask("GET", path)
    assert (reply.status, reply.headers["content-type"]) == (200, kind)
    assert reply.body == (STATIC / name).read_bytes()
    assert "content-encoding" not in reply.headers


@pytest.mark.parametrize(
    "path", ["/static/", "/static/../pages.py", "/static/app.js/", "/index.html"]
)
def test_other_paths_are_not_files(service: RunningService, path: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert service.ask("GET", path, headers=headers).status == 404


def test_scripts_and_styles_are_those_of_this_service_alone(service: RunningService) -> None:
    headers = service.ask("GET", "/").headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.5", "GZIP"])
def test_files_are_compressed_where_that_is_accepted(
    service: RunningService, accepted: str
) -> None:
    reply = service.ask("GET", "/static/app.js", headers={"Accept-Encoding": accepted})
    assert reply.headers["content-encoding"] == "gzip"
    assert gzip.decompress(reply.body) == (STATIC / "app.js").read_bytes()
    assert reply.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["br", "gzip;q=0", "gzip; q=0.0", "identity"])
def test_files_are_plain_where_gzip_is_not_accepted(service: RunningService, accepted: str) -> None:
    reply = service.ask("GET", "/static/app.js", headers={"Accept-Encoding": accepted})
    assert "content-encoding" not in reply.headers
    assert reply.headers["vary"] == "Accept-Encoding"


def test_a_current_copy_is_not_sent_again(service: RunningService) -> None:
    first = service.ask("GET", "/static/app.css")
    tag = first.headers["etag"]
    for field in (tag, f'"other", W/{tag}', "*"):
        again = service.ask("GET", "/static/app.css", headers={"If-None-Match": field})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
        assert "content-security-policy" in again.headers
    zipped = {"If-None-Match": tag, "Accept-Encoding": "gzip"}
    other = service.ask("GET", "/static/app.css", headers=zipped)
    assert other.status == 200
    assert other.headers["etag"] != tag


def test_heads_have_the_fields_and_no_body(service: RunningService) -> None:
    whole = service.ask("GET", "/")
    head = service.ask("HEAD", "/")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert head.headers["etag"] == whole.headers["etag"]


def test_other_methods_are_refused(service: RunningService) -> None:
    reply = service.ask("POST", "/", {}, {"Authorization": f"Bearer {TOKEN}"})
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")


def test_the_host_field_is_checked(service: RunningService) -> None:
    assert service.ask("GET", "/", headers={"Host": "rebound.example"}).status == 421
