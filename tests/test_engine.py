"""The engines: which one is picked, and that both keep the contract of `_native.pyi`."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import robotrules
from robotrules import DEFAULT, _engine

STUB = Path(_engine.__file__).with_name("_native.pyi")
SOURCE = Path(robotrules.__file__).parents[1]


def ask(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in an interpreter of its own."""
    names = ("ROBOTRULES_NO_EXTENSIONS", "ROBOTRULES_REQUIRE_EXTENSIONS")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    path = os.pathsep.join([str(SOURCE), *filter(None, [kept.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


NAME = "import robotrules; print(robotrules.engine_name())"
# Makes the compiled module impossible to import, as on a machine where it was not built.
MISSING = "import sys; sys.modules['robotrules._engine._native'] = None\n"


class TestPicking:
    """Native where it was built, pure everywhere else; the environment may say more."""

    def test_native_is_picked_where_it_was_built(self, native: ModuleType) -> None:
        """The native engine answers unless something speaks against it."""
        assert ask(NAME).stdout == "native\n"
        assert ask(NAME, ROBOTRULES_REQUIRE_EXTENSIONS="1").stdout == "native\n"
        assert ask(NAME, ROBOTRULES_NO_EXTENSIONS="0").stdout == "native\n"
        assert robotrules.__version__ == native.VERSION

    def test_the_pure_one_on_request(self) -> None:
        """`ROBOTRULES_NO_EXTENSIONS=1` picks the pure engine."""
        assert ask(NAME, ROBOTRULES_NO_EXTENSIONS="1").stdout == "pure\n"
        told = ask(
            "from robotrules import _engine; print(_engine.native, _engine.engine.__name__)",
            ROBOTRULES_NO_EXTENSIONS="1",
        )
        assert told.stdout == "None robotrules._engine.pure\n"

    def test_the_pure_one_where_nothing_was_built(self) -> None:
        """Without a compiled module the pure engine answers, silently."""
        told = ask(MISSING + NAME)
        assert (told.stdout, told.stderr) == ("pure\n", "")

    def test_a_missing_one_is_an_error_on_request(self) -> None:
        """`ROBOTRULES_REQUIRE_EXTENSIONS=1` makes a missing native engine an error."""
        told = ask(MISSING + NAME, ROBOTRULES_REQUIRE_EXTENSIONS="1")
        assert told.returncode != 0
        assert "_native" in told.stderr

    def test_picking_in_this_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The choice depends on the environment and on what can be imported, and nothing else."""
        monkeypatch.delenv("ROBOTRULES_REQUIRE_EXTENSIONS", raising=False)
        monkeypatch.setenv("ROBOTRULES_NO_EXTENSIONS", "1")
        assert _engine._native_engine() is None
        monkeypatch.delenv("ROBOTRULES_NO_EXTENSIONS")
        monkeypatch.setitem(sys.modules, "robotrules._engine._native", None)
        assert _engine._native_engine() is None
        monkeypatch.setenv("ROBOTRULES_REQUIRE_EXTENSIONS", "1")
        with pytest.raises(ImportError):
            _engine._native_engine()
        assert robotrules.engine_name() == ("pure" if _engine.native is None else "native")


def stub() -> dict[str, list[str]]:
    """Return the names of the contract: of the module, and of each class in it."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    names: dict[str, list[str]] = {"": []}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = [
                part.name for part in node.body if isinstance(part, ast.FunctionDef)
            ]
        elif isinstance(node, ast.FunctionDef):
            names[""].append(node.name)
    return names


def test_an_engine_has_what_the_contract_says(engine: ModuleType) -> None:
    """Both engines have every class, method and function of the stub."""
    settings = DEFAULT.settings(engine)
    document = engine.parse(b"", settings, True)
    things = {"": engine, "Settings": settings, "Document": document}
    things["Matcher"] = engine.Matcher(document, [])
    things["Languages"] = engine.Languages(settings, [])
    things["File"] = engine.File(DEFAULT, engine, settings, b"", True)
    names = stub()
    assert set(names) == set(things)
    for owner, thing in things.items():
        assert not owner or isinstance(thing, getattr(engine, owner))
        assert [name for name in names[owner] if not hasattr(thing, name)] == []


class TestTypes:
    """What crosses is plain, and of the types that the stub says."""

    def test_what_comes_out(self, engine: ModuleType) -> None:
        """Positions are int, keys and bodies bytes, roles and codes str."""
        document = engine.parse(b"User-agent: a#b\nx", DEFAULT.settings(engine), True)
        assert type(document.body) is bytes
        assert document.complete is True
        (found,) = document.records()
        assert tuple(found) == (1, 0, 0, 10, 12, 13, b"user-agent", "START", 0)
        assert tuple(document.record(0)) == tuple(found)
        assert document.record(1) is None
        assert document.lines() == [(1, 0, 15, 13), (2, 16, 17, None)]
        assert document.notes() == [("no-separator", 2, 16, 17)]
        assert document.group_count() == 1
        assert document.select(b"user-agent", b"A") == [0]
        assert document.select(b"disallow", b"A") == []
        assert document.select(b"never-heard-of", b"A") == []

    def test_groups_that_are_not_there(self, engine: ModuleType) -> None:
        """Numbers of groups past the last have no rules."""
        document = engine.parse(b"User-agent: a\nDisallow: /", DEFAULT.settings(engine), True)
        assert document.rules([0, 7]) == [1]
        assert document.rules([]) == []
        assert engine.Matcher(document, [7]).count_usable() == 0
        assert engine.Matcher(document, [0, 0, 0]).decide("/x") == 0

    def test_numbers_of_decisions(self, engine: ModuleType) -> None:
        """A decision is a rule's number with what it says, or what decided without a rule."""
        settings = DEFAULT.replace(empty_rules_match=True).settings(engine)
        matcher = engine.Matcher(settings, [(b"/a", False), (b"/b", True), (b"", False)])
        assert [matcher.decide(url) for url in ("/a", "/b", "/c", "/robots.txt")] == [0, 5, 11, -2]
        assert engine.Matcher(settings, []).decide("/a") == -1
        assert matcher.decide_many(["/a", b"/b"]) == [0, 5]

    def test_the_received_octets_are_not_copied(self, engine: ModuleType) -> None:
        """A body that is parsed as it is comes back as the very object."""
        body = b"User-agent: *\nDisallow: /" + b"#" * 100
        assert engine.parse(body, DEFAULT.settings(engine), True).body is body


def test_the_native_engine_takes_no_other_types(native: ModuleType) -> None:
    """A body that is not bytes, or settings that are none, are a TypeError and no crash."""
    settings = DEFAULT.settings(native)
    for arguments in ((None, settings, True), (b"", None, True), (b"", settings, None)):
        with pytest.raises(TypeError):
            native.parse(*arguments)
    with pytest.raises(TypeError):
        native.Matcher(settings, [b"/a"])
    with pytest.raises(OverflowError):
        native.parse(b"", settings, True).rules([-1])
