"""The engines: which one is selected, and that both have the interface of `_native.pyi`."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow
import pytest

import robotrules
from robotrules import DEFAULT, _engine
from robotrules.robotstxt.ruleset import REASON_LABELS

STUB = Path(_engine.__file__).with_name("_native.pyi")
SOURCE = Path(robotrules.__file__).parents[1]


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a separate interpreter."""
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
# Makes the import of the compiled module fail, as if it was not built.
MISSING = "import sys; sys.modules['robotrules._engine._native'] = None\n"


class TestSelection:
    """The native engine if it was built, else the pure engine; the environment can change it."""

    def test_native_is_the_default(self, native: ModuleType) -> None:
        """The native engine is selected if it was built."""
        assert run_python(NAME).stdout == "native\n"
        assert run_python(NAME, ROBOTRULES_REQUIRE_EXTENSIONS="1").stdout == "native\n"
        assert run_python(NAME, ROBOTRULES_NO_EXTENSIONS="0").stdout == "native\n"
        assert robotrules.__version__ == native.VERSION

    def test_pure_on_request(self) -> None:
        """`ROBOTRULES_NO_EXTENSIONS=1` selects the pure engine."""
        assert run_python(NAME, ROBOTRULES_NO_EXTENSIONS="1").stdout == "pure\n"
        result = run_python(
            "from robotrules import _engine; print(_engine.native, _engine.engine.__name__)",
            ROBOTRULES_NO_EXTENSIONS="1",
        )
        assert result.stdout == "None robotrules._engine.pure\n"

    def test_pure_without_a_compiled_module(self) -> None:
        """Without a compiled module the pure engine is selected, without a warning."""
        result = run_python(MISSING + NAME)
        assert (result.stdout, result.stderr) == ("pure\n", "")

    def test_a_required_native_engine(self) -> None:
        """`ROBOTRULES_REQUIRE_EXTENSIONS=1` makes a missing native engine an error."""
        result = run_python(MISSING + NAME, ROBOTRULES_REQUIRE_EXTENSIONS="1")
        assert result.returncode != 0
        assert "_native" in result.stderr

    def test_selection_in_this_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The selection depends only on the environment and on the compiled module."""
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
    """Return the names of the interface: of the module, and of each class in it."""
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


def test_an_engine_has_the_interface(engine: ModuleType) -> None:
    """Both engines have every class, method and function of the stub."""
    settings = DEFAULT.settings(engine)
    document = engine.parse(b"", settings, True)
    things: dict[str, Any] = {"": engine, "Settings": settings, "Document": document}
    things["Matcher"] = engine.Matcher(document, [])
    things["Languages"] = engine.Languages(settings, [])
    things["File"] = engine.File(DEFAULT, engine, settings, b"", True)
    things |= {"OriginIndex": engine.OriginIndex(), "Timelines": engine.Timelines()}
    things["RuleTable"] = engine.RuleTable([*REASON_LABELS, ("missing", None)])
    things["FactsReader"] = engine.FactsReader(settings, [], False, list)
    things["FactsJob"] = things["FactsReader"].start(pyarrow.array([b""]), b"\0", 1)
    things["ArrowColumn"] = things["Matcher"].allows_column(pyarrow.array([""]), 1)
    names = stub()
    assert set(names) == set(things)
    for owner, thing in things.items():
        if owner == "ArrowColumn" and not hasattr(engine, owner):
            assert isinstance(thing, pyarrow.Array)  # the columns of the pure engine
            continue
        assert not owner or isinstance(thing, getattr(engine, owner))
        assert [name for name in names[owner] if not hasattr(thing, name)] == []


def test_the_stub_lists_every_hook() -> None:
    """The method names that the binding looks up on Python objects are in the list of hooks."""
    sources = list((SOURCE.parent / "crates" / "robotrules-python" / "src").rglob("*.rs"))
    if not sources:
        pytest.skip("the sources of the binding are not here")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    called = set(re.findall(r'call_method[01]?\(\s*(?:intern!\([^"]*)?"(\w+)"', text))
    called -= {"encode", "join"}  # of str
    assert len(called) == 7
    listed = ast.get_docstring(ast.parse(STUB.read_text(encoding="utf-8"))) or ""
    assert sorted(name for name in called if f"`{name}(" not in listed) == []


class TestTypes:
    """Results have the built-in types of the stub."""

    def test_types_of_results(self, engine: ModuleType) -> None:
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

    def test_groups_out_of_range(self, engine: ModuleType) -> None:
        """Numbers of groups after the last have no rules."""
        document = engine.parse(b"User-agent: a\nDisallow: /", DEFAULT.settings(engine), True)
        assert document.rules([0, 7]) == [1]
        assert document.rules([]) == []
        assert engine.Matcher(document, [7]).count_usable() == 0
        assert engine.Matcher(document, [0, 0, 0]).decide("/x") == 0

    def test_numbers_of_decisions(self, engine: ModuleType) -> None:
        """A decision is the number of a rule with its outcome, or negative without a rule."""
        settings = DEFAULT.replace(empty_rules_match=True).settings(engine)
        matcher = engine.Matcher(settings, [(b"/a", False), (b"/b", True), (b"", False)])
        assert [matcher.decide(url) for url in ("/a", "/b", "/c", "/robots.txt")] == [0, 5, 11, -2]
        assert engine.Matcher(settings, []).decide("/a") == -1
        assert matcher.decide_many(["/a", b"/b"]) == [0, 5]

    def test_the_received_octets_are_not_copied(self, engine: ModuleType) -> None:
        """A body that is parsed unchanged is the object that was passed."""
        body = b"User-agent: *\nDisallow: /" + b"#" * 100
        assert engine.parse(body, DEFAULT.settings(engine), True).body is body


def test_the_native_engine_rejects_other_types(native: ModuleType) -> None:
    """A body that is not bytes, or settings of another type, raise TypeError."""
    settings = DEFAULT.settings(native)
    for arguments in ((None, settings, True), (b"", None, True), (b"", settings, None)):
        with pytest.raises(TypeError):
            native.parse(*arguments)
    with pytest.raises(TypeError):
        native.Matcher(settings, [b"/a"])
    with pytest.raises(OverflowError):
        native.parse(b"", settings, True).rules([-1])
