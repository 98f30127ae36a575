"""Which store a name means, and where the default one is."""

from __future__ import annotations

import importlib
import sys
from contextlib import closing
from pathlib import Path

import pytest

from robotrules.client import Client, default_path, open_store
from robotrules.client.stores import MemoryStore, SQLiteStore
from robotrules.errors import MissingExtraError, StoreError


class TestNames:
    """A path, a scheme, or nothing."""

    def test_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The default: SQLite, with no set-up."""
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", str(tmp_path / "new" / "folder"))
        with closing(open_store()) as store:
            assert isinstance(store, SQLiteStore)
            assert store.path == default_path() == tmp_path / "new" / "folder" / "robots.sqlite"
        assert store.path.exists()

    @pytest.mark.parametrize("form", ["{}", "sqlite:{}", "SQLite:{}", "sqlite://{}"])
    def test_paths(self, tmp_path: Path, form: str) -> None:
        """As a path, or with a scheme."""
        path = tmp_path / "a file.sqlite"
        with closing(open_store(form.format(path))) as store:
            assert isinstance(store, SQLiteStore)
            assert store.path == path

    def test_path_objects(self, tmp_path: Path) -> None:
        """A path object is never a scheme."""
        path = tmp_path / "memory:"
        with closing(open_store(path)) as store:
            assert isinstance(store, SQLiteStore)
            assert store.path == path

    def test_relative(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A name alone is a file here; one letter is a drive."""
        monkeypatch.chdir(tmp_path)
        for name in ("robots", "C:robots", "sqlite:my:file"):
            open_store(name).close()
        there = {path.name for path in tmp_path.iterdir()}
        assert there == {"robots", "C:robots", "my:file"}

    @pytest.mark.parametrize(
        "name",
        ["memory:", "memory://", ":memory:", ":MEMORY:", "sqlite::memory:", "sqlite:///:memory:"],
    )
    def test_memory(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is written; `:memory:` is SQLite's word for it."""
        monkeypatch.chdir(tmp_path)
        with closing(open_store(name)) as store:
            assert isinstance(store, MemoryStore)
        with Client("ExampleBot/1.0", store=name) as client:
            assert isinstance(client.store, MemoryStore)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["memory", ":memory", "sqlite", "redis", "postgresql", " "])
    def test_mistakes(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An unknown scheme raises an error that names it, and no file of that name is created."""
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ValueError, match=r"has no colon|is empty"):
            open_store(name)
        assert list(tmp_path.iterdir()) == []

    def test_a_class(self) -> None:
        """A store is made before it is passed."""
        with pytest.raises(TypeError, match=r"the class MemoryStore: pass an instance"):
            Client("ExampleBot/1.0", store=MemoryStore)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "mysql://me:s3cr3t@host/db",
            "memory:s3cr3t",
            "sqlite:",
            "sqlite://s3cr3t",
            "my:s3cr3t",
        ],
    )
    def test_unknown(self, name: str) -> None:
        """An unknown store raises an error that lists the known ones, without the password."""
        with pytest.raises(ValueError, match="use a path, sqlite:PATH, memory:") as error:
            open_store(name)
        assert "s3cr3t" not in str(error.value)

    @pytest.mark.parametrize("scheme", ["redis", "rediss", "postgres", "postgresql"])
    def test_servers(self, scheme: str) -> None:
        """A server that is not running is an error at once, or only when it is first used."""
        where = f"{scheme}://me:s3cr3t@127.0.0.1:1/9"
        with pytest.raises(StoreError, match=r"127\.0\.0\.1:1") as error:
            open_store(where)
        assert "s3cr3t" not in str(error.value)
        with closing(open_store(where, lazy=True)) as store:
            assert not store.inline
            for _ in range(2):
                with pytest.raises(StoreError, match="check that the server runs"):
                    store.get("https://example.com", "ExampleBot")

    @pytest.mark.parametrize(
        "where",
        [
            "redis://:s3cr3t/x@host:1/0",
            "redis://:s3cr3t",
            "redis://:12?s3cr3t@host:1/0",
            "redis://me:a@s3cr3t@host",
            "postgresql://me:s3cr3t/x@host/db",
            "postgresql://me:12/s3cr3t@host/db",
            "postgresql://me:s3cr3t",
            "postgresql://me:a@s3cr3t@host/db",
            "postgresql://h/?s3cr3t=1",
            "postgresql://me:%zzs3cr3t@h/db",
        ],
    )
    def test_addresses_that_cannot_be_read(self, where: str) -> None:
        """They may hold a part of a password, and are not repeated."""
        with pytest.raises(ValueError, match="percent-encode") as error:
            open_store(where)
        assert "s3cr3t" not in str(error.value)
        assert error.value.__suppress_context__


class TestDefaultPath:
    """In a folder of the user, or where the environment variable points."""

    def test_the_users(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The cache folder of the system."""
        monkeypatch.delenv("ROBOTRULES_CACHE_DIR", raising=False)
        assert default_path().name == "robots.sqlite"
        assert "robotrules" in default_path().parts
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", "")
        assert "robotrules" in default_path().parts

    def test_home(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """`~` in the environment is the user's home."""
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", "~/robots")
        assert default_path() == tmp_path / "robots" / "robots.sqlite"

    def test_without_the_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What says where that is may be missing; then one says it oneself."""
        monkeypatch.delenv("ROBOTRULES_CACHE_DIR", raising=False)
        monkeypatch.setitem(sys.modules, "platformdirs", None)
        with pytest.raises(MissingExtraError, match=r"robotrules\[http\].*ROBOTRULES_CACHE_DIR"):
            default_path()


@pytest.mark.parametrize(
    ("where", "library", "module", "extra"),
    [
        ("redis://127.0.0.1:1", "redis", "redis", "redis"),
        ("postgresql://127.0.0.1:1/x", "psycopg", "postgres", "postgres"),
    ],
)
def test_without_the_libraries(
    monkeypatch: pytest.MonkeyPatch, where: str, library: str, module: str, extra: str
) -> None:
    """A missing library raises an error with the install command."""
    name = f"robotrules.client.stores.{module}"
    importlib.import_module(name)
    for loaded in [one for one in sys.modules if one == library or one.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'robotrules\[{extra}\]'"):
        open_store(where)


@pytest.mark.parametrize("where", ["memory", "redis", "postgresql", "sqlite"])
def test_a_colon_that_was_forgotten(where: str) -> None:
    """The name of a store kind without its colon is not accepted as a file name."""
    with pytest.raises(ValueError, match="has no colon"):
        open_store(where)
