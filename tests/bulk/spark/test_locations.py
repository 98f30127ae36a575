"""Where WARC files are: globs, folders, lists of paths, and files of a server that fails."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from robotrules.bulk.spark import locations
from robotrules.bulk.spark.locations import opened, read_list, warc_files
from robotrules.errors import InputError


def test_paths_globs_folders_and_lists(tmp_path: Path) -> None:
    """Each is expanded in order, and no file comes twice."""
    for name in ("b.warc.gz", "a.warc.gz", "c.txt"):
        (tmp_path / name).touch()
    here = str(tmp_path)
    both = [f"{here}/a.warc.gz", f"{here}/b.warc.gz"]
    assert warc_files([f"{here}/*.warc.gz"]) == both
    assert warc_files([here]) == both
    assert warc_files([f"file://{here}/b.warc.gz", here]) == both[::-1]
    # A file that is missing is named: reading it makes a reject.
    assert warc_files([f"{here}/none.warc"]) == [f"{here}/none.warc"]
    (tmp_path / "my.paths").write_text("x/1.warc.gz\n\n x/2.warc.gz \n")
    listed = ["s3://bucket/x/1.warc.gz", "s3://bucket/x/2.warc.gz"]
    assert warc_files([f"{here}/my.paths"], "s3://bucket/") == listed
    assert warc_files(["x/1.warc.gz"], "s3://bucket/") == listed[:1]


def test_no_files_is_misuse(tmp_path: Path) -> None:
    """The message names what was searched."""
    with pytest.raises(InputError, match=r"no WARC files in .*nothing\*"):
        warc_files([f"{tmp_path}/nothing*.warc"])
    with pytest.raises(InputError, match="empty list"):
        warc_files([])


@pytest.mark.parametrize(
    "content", [None, b"no gzip", gzip.compress(b"x" * 99)[:-9], gzip.compress(b"\xff")]
)
def test_a_list_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    """It is missing, is no gzip, is cut off, or is not text."""
    path = tmp_path / "robotstxt.paths.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"cannot read the list of paths .*\.paths\.gz"):
        read_list(str(path))


def test_options() -> None:
    """Spark passes one path as text and several as JSON."""
    assert locations.option_paths("a", None) == ["a"]
    assert locations.option_paths(None, '["a", "b"]') == ["a", "b"]
    assert locations.option_paths(None, None) == []


class _Handler(BaseHTTPRequestHandler):
    """Fails in ways that the path names, the first two times."""

    asked: ClassVar[dict[str, int]]

    def do_GET(self) -> None:
        """Answer."""
        self.asked[self.path] = count = self.asked.get(self.path, 0) + 1
        if self.path == "/missing":
            self.send_error(404)
        elif self.path == "/down" or (self.path == "/late" and count < 3):
            self.send_error(503)
        else:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"x" * (500 if self.path == "/cut" and count < 3 else 1000))

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, dict[str, int]]]:
    """A server on loopback, and how often each path was asked for."""
    monkeypatch.setattr("robotrules.bulk.spark.locations.time.sleep", lambda _: None)

    class Handler(_Handler):
        asked: ClassVar[dict[str, int]] = {}

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", Handler.asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("path", "attempts"), [("/fine", 1), ("/late", 3), ("/cut", 3)])
def test_a_remote_file_is_tried_again(
    server: tuple[str, dict[str, int]], path: str, attempts: int
) -> None:
    """A busy server and a connection that breaks cost time; the copy is whole."""
    url, asked = server
    with opened(url + path) as stream:
        assert stream.read() == b"x" * 1000
    assert asked[path] == attempts


@pytest.mark.parametrize(("path", "attempts"), [("/missing", 1), ("/down", locations.ATTEMPTS)])
def test_a_remote_file_that_cannot_be_had(
    server: tuple[str, dict[str, int]], path: str, attempts: int
) -> None:
    """404 is final; other failures are tried a few times. The message has the URL."""
    url, asked = server
    with pytest.raises(OSError, match=rf"{url}{path}, attempt {attempts}"), opened(url + path):
        pass
    assert asked[path] == attempts


def test_other_schemes(tmp_path: Path) -> None:
    """pyarrow's file systems open them; an unknown scheme is tried once."""
    with pytest.raises(OSError, match="nope"), opened("nope://x/y.warc"):
        pass
