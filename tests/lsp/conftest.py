"""Fixtures: one server process and one in-process server, shared by the tests of a session."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from robotrules.lsp.server import make_server
from robotrules.registries import load_registries
from tests.lsp.editor import Editor, connect, free_port
from tests.lsp.samples import REGISTRY


@pytest.fixture(scope="session")
def as_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor with a server process; each test uses its own file names."""
    folder = tmp_path_factory.mktemp("process")
    editor = Editor(folder, "--registry", str(_registry(folder)))
    yield editor
    assert editor.stop() == 0
    assert editor.stderr == ""


@pytest.fixture(scope="session")
def in_thread(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor with a server in a thread of this process, so that coverage sees it."""
    folder, port = tmp_path_factory.mktemp("thread"), free_port()
    server = make_server(load_registries(_registry(folder)), version="here")

    def _serve() -> None:
        with suppress(SystemExit):  # pygls ends with SystemExit
            server.start_tcp("127.0.0.1", port)

    thread = threading.Thread(target=_serve)
    thread.start()
    editor = connect(folder, port)
    yield editor
    editor.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert server.was_shut_down


def _registry(folder: Path) -> Path:
    file = folder / "registry.json"
    file.write_text(REGISTRY, encoding="utf-8")
    return file
