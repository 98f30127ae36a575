"""
Our result and that of a browser: the metas in the head of each hostile page in Chromium.

Chromium is started once. It opens a page of ours on a loopback port that loads every hostile page
twice, as a frame with scripting and as a frame without, reads the head of each, and sends the
results back. Skipped where no Chromium is installed; the recorded expectations run everywhere.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from robotrules.tags.encoding import decode_html, sniff_encoding
from robotrules.tags.html import ElementPosition, read_page
from robotrules.tags.tree_builders import find_tree_builder
from tests.tags.pages import PAGES, HostilePage

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
SECONDS = 60
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: nothing to compare with"),
]
# A frame whose document declares nothing takes the encoding of its parent (HTML Standard 13.2.3.2):
# so the driver is in windows-1252, which is the fallback of a top-level document.
DRIVER = """<!doctype html><meta charset=windows-1252><body><script>
const load = (number, sandbox) => new Promise(done => {
  const frame = document.createElement("iframe");
  frame.sandbox = sandbox;
  frame.onload = () => {
    const page = frame.contentDocument;
    const metas = page.head ? [...page.head.querySelectorAll("meta")] : [];
    done({
      encoding: page.characterSet.toLowerCase(),
      metas: metas.map(meta => [meta.getAttribute("name"), meta.getAttribute("content")]),
    });
    frame.remove();
  };
  frame.src = "/page/" + number;
  document.body.append(frame);
});
(async () => {
  const seen = [];
  for (let number = 0; number < COUNT; number++) {
    seen.push(await Promise.all([
      load(number, "allow-same-origin allow-scripts"), load(number, "allow-same-origin"),
    ]));
  }
  await fetch("/seen", {method: "POST", body: JSON.stringify(seen)});
})();
</script>"""


class Seen(NamedTuple):
    """What Chromium has in the head of a page, with scripting and without, and its encoding."""

    on: list[tuple[str | None, str | None]]
    off: list[tuple[str | None, str | None]]
    encoding: str


class Answers(ThreadingHTTPServer):
    """Serves the driver and the pages, and waits for what was seen."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[Any] = []
        self.done = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """One request of the browser."""

    server: Answers

    def do_GET(self) -> None:
        """The driver, a page with the charset of its transport, or an empty response."""
        if self.path == "/":
            self.answer(DRIVER.replace("COUNT", str(len(PAGES))).encode(), "text/html")
        elif self.path.startswith("/page/"):
            page = PAGES[int(self.path.removeprefix("/page/"))]
            charset = f"; charset={page.charset}" if page.charset else ""
            self.answer(page.data, f"text/html{charset}")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """What was seen."""
        self.server.seen = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(b"", "text/plain")
        self.server.done.set()

    def answer(self, body: bytes, media_type: str) -> None:
        """Send a response."""
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log no messages."""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """Run Chromium once over all pages."""
    server = Answers()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    process = start(server.server_port, tmp_path_factory.mktemp("chromium"))
    try:
        assert server.done.wait(SECONDS), "Chromium did not answer in time"
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # its own session: Chromium and what it started
        process.wait()
        server.shutdown()
        server.server_close()
    return {
        page.id: Seen(heads(on), heads(off), on["encoding"])
        for page, (on, off) in zip(PAGES, server.seen, strict=True)
    }


def heads(way: dict[str, Any]) -> list[tuple[str | None, str | None]]:
    """Return names and contents as tuples."""
    return [(name, content) for name, content in way["metas"]]


def start(port: int, profile: Path) -> subprocess.Popen[bytes]:
    """Start Chromium in a separate session, with access to this host only."""
    assert CHROMIUM is not None
    return subprocess.Popen(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            *(f"--user-data-dir={profile}", "--remote-debugging-port=0"),
            f"http://127.0.0.1:{port}/",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


# Where Chromium reads a page in another encoding than the decision AMB-92, and which is right.
# Listed pages must differ: one that agrees again fails too. The places of the metas never differ.
DIFFERENT = {
    # The prescan of the HTML Standard looks at octets and knows no titles. Chromium looks for the
    # declaration with its tokeniser. We follow the standard.
    "declared-in-title": "windows-1252",
    # Chromium searches to the end of the head. The standard has a parser change the encoding when
    # it comes to such a meta, to the same effect. We stop at 1,024 octets, as AMB-92 decided.
    "late-declaration": "windows-1251",
}
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
SAME = pytest.mark.parametrize(
    "page", [page for page in PAGES if page.id not in DIFFERENT], ids=lambda page: page.id
)


@SAME
def test_the_head_with_scripting(
    tree_builder: str, chromium: dict[str, Seen], page: HostilePage
) -> None:
    """Place.HEAD is Chromium's head, element by element; so is what was recorded."""
    found = read_page(page.data, charset=page.charset)
    ours = [(meta.name, meta.content) for meta in found.metas if meta.place is ElementPosition.HEAD]
    assert ours == chromium[page.id].on
    assert [meta[:2] for meta in page.metas if meta[2] == ElementPosition.HEAD] == chromium[
        page.id
    ].on


@SAME
def test_the_head_without_scripting(
    tree_builder: str, chromium: dict[str, Seen], page: HostilePage
) -> None:
    """The tree without scripting has Chromium's head too, and both together are our union."""
    text = decode_html(page.data, sniff_encoding(page.data, page.charset))
    tree = find_tree_builder()(text, False)
    ours = [(one.attributes.name, one.attributes.content) for one in tree.metas() if one.in_head]
    assert ours == chromium[page.id].off
    union = {*chromium[page.id].on, *chromium[page.id].off}
    assert {meta[:2] for meta in page.metas if meta[2] != ElementPosition.BODY} == union


@EACH
def test_the_encoding(chromium: dict[str, Seen], page: HostilePage) -> None:
    """The octets are read in the encoding that Chromium reads them in, but for the listed."""
    ours = sniff_encoding(page.data, page.charset)
    assert chromium[page.id].encoding == DIFFERENT.get(page.id, ours)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_one_of_decoding(
    tree_builder: str, chromium: dict[str, Seen], name: str
) -> None:
    """Read in Chromium's encoding, a listed page has Chromium's head; in ours it has not."""
    page = next(page for page in PAGES if page.id == name)
    head = [meta[:2] for meta in page.metas if meta[2] == ElementPosition.HEAD]
    assert head != chromium[name].on
    found = read_page(page.data, charset=DIFFERENT[name])
    assert [(meta.name, meta.content) for meta in found.metas] == chromium[name].on
