"""
The public surface: its names, its types, and what importing it does not do.

`public_surface.txt` is the typed surface as it was released. A change there affects all
users of the library: make it on purpose, with `python -m tests.test_public`.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import robotrules

SOURCE = Path(robotrules.__file__).parents[1]
SURFACE = Path(__file__).with_name("public_surface.txt")


# Modules whose `__all__` is for users; what else they may import is ours to move.
PUBLIC_MODULES = (
    *("robotrules", "robotrules.access", "robotrules.analysis", "robotrules.bulk"),
    "robotrules.cache",
    *("robotrules.client", "robotrules.client.auditing", "robotrules.client.evidence"),
    *("robotrules.client.stores", "robotrules.client.transports", "robotrules.client.warc"),
    *("robotrules.client.transports.aiohttp", "robotrules.client.transports.httpx2"),
    *("robotrules.client.resolvers", "robotrules.compat.protego", "robotrules.compat.reppy"),
    *("robotrules.compat.robotparser", "robotrules.compat.robotspy"),
    *("robotrules.expect", "robotrules.formatting", "robotrules.integrations.aiohttp"),
    *("robotrules.integrations.asgi", "robotrules.integrations.crawlee"),
    *("robotrules.integrations.flask", "robotrules.integrations.httpx"),
    *("robotrules.integrations.httpx2", "robotrules.integrations.requests"),
    *("robotrules.integrations.scrapy", "robotrules.integrations.urllib"),
    "robotrules.integrations.wsgi",
    *("robotrules.linting", "robotrules.linting.render", "robotrules.matrix"),
    *("robotrules.operations.logs", "robotrules.write.presets"),
    *("robotrules.registries", "robotrules.serving", "robotrules.tags", "robotrules.write"),
)


def surface() -> Iterator[str]:
    """
    Yield the typed surface: what each public module offers, then each thing by its full name.

    A class has all its public members, those of its bases too, whichever module they are in. A
    thing that several modules offer is described once.
    """
    things: dict[str, object] = {}
    for module_name in PUBLIC_MODULES:
        module = import_module(module_name)
        yield f"module {module_name}"
        for name in module.__all__:
            thing = getattr(module, name)
            where = full_name(thing, module_name, name)
            things.setdefault(where, thing)
            yield f"    {name}" if where == f"{module_name}.{name}" else f"    {name} = {where}"
    for where, thing in sorted(things.items()):
        yield from described(where, thing)


def full_name(thing: object, module: str, name: str) -> str:
    """Return where a class or function is defined; of a value, where it is offered."""
    if inspect.isclass(thing) or inspect.isroutine(thing):
        if thing.__module__.startswith("robotrules"):
            return f"{thing.__module__}.{thing.__qualname__}"
    return f"{module}.{name}"


def described(where: str, thing: object) -> Iterator[str]:
    """Yield the lines about one thing."""
    if inspect.isclass(thing):
        bases = ", ".join(
            base.__qualname__ if base.__module__ == "builtins" else _dotted(base)
            for base in thing.__bases__
        )
        yield f"class {where}({bases})"
        yield from (f"    {line}" for line in (*_fields(thing), *sorted(set(_members(thing)))))
    elif inspect.isroutine(thing):
        yield signature_of(where, thing)
    else:
        yield f"{where}: {type(thing).__name__}"


def _dotted(base: type) -> str:
    return f"{base.__module__}.{base.__qualname__}"


def _members(owner: type) -> Iterator[str]:
    """Yield a line for each public member of a class, its own or of a base that is ours."""
    fields = getattr(owner, "_fields", ())
    annotations = _annotations(owner)
    seen: set[str] = set()
    for base in filter(_is_ours, owner.__mro__):
        for name, value in vars(base).items():
            if name in seen or (name.startswith("_") and name not in ("__init__", "__call__")):
                continue
            seen.add(name)
            if name in fields:
                continue
            if name == "__init__" and issubclass(owner, tuple | Enum):
                continue
            if line := _member(owner, name, value):
                yield line
    yield from (
        f"{name}: {annotations[name]}"
        for name in annotations
        if name not in seen and name not in fields and not name.startswith("_")
    )


def _fields(owner: type) -> Iterator[str]:
    """Yield a line for each field of a named tuple, in their order."""
    defaults, annotations = getattr(owner, "_field_defaults", {}), _annotations(owner)
    for name in getattr(owner, "_fields", ()):
        default = f" = {defaults[name]!r}" if name in defaults else ""
        yield f"{name}: {annotations.get(name)}{default}"


def _annotations(owner: type) -> dict[str, str]:
    """Return the types of attributes as they are written."""
    found: dict[str, str] = {}
    for base in filter(_is_ours, reversed(owner.__mro__)):
        for name, kind in getattr(base, "__annotations__", {}).items():
            found[name] = getattr(kind, "__forward_arg__", str(kind))
    return found


def _is_ours(base: type) -> bool:
    return base.__module__.startswith("robotrules")


def _member(owner: type, name: str, value: object) -> str | None:
    if isinstance(value, Enum) and type(value) is owner:
        return f"{name} = {value.value!r}"
    if isinstance(value, property):
        returns = getattr(value.fget, "__annotations__", {}).get("return")
        return f"property {name} -> {returns}"
    if isinstance(value, cached_property):
        return f"property {name} -> {value.func.__annotations__.get('return')}"
    kind = ""
    if isinstance(value, staticmethod | classmethod):
        kind = f"{type(value).__name__} "
        value = value.__func__
    if inspect.isroutine(value):
        return kind + signature_of(name, value)
    if isinstance(value, type) or inspect.ismemberdescriptor(value):
        return None
    return f"{name}: {type(value).__name__}"


def signature_of(name: str, function: object) -> str:
    """Return a function with its parameters and types as they are written."""
    assert callable(function)
    plain = inspect.unwrap(function)
    word = ""
    if inspect.iscoroutinefunction(plain) or inspect.isasyncgenfunction(plain):
        word = "async "
    try:
        signature = str(inspect.signature(function)).replace("'", "")
        # A default that is a function is shown with its address, which changes.
        signature = re.sub(r" at 0x[0-9a-f]+", "", signature)
    except ValueError:  # of the compiled engine
        signature = getattr(function, "__text_signature__", None) or "(...)"
    return f"{word}{name}{signature}"


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Yield the public members of a class that we wrote, by name."""
    for base in reversed(owner.__mro__):
        if base.__module__.startswith("robotrules"):
            yield from ((name, value) for name, value in vars(base).items() if name[0] != "_")


def test_the_typed_surface_is_frozen() -> None:
    """Every public name has the signature it was released with."""
    assert list(surface()) == SURFACE.read_text(encoding="utf-8").splitlines()


def test_all_is_sorted_and_importable() -> None:
    """`__all__` is sorted as isort sorts it, without doubles, and every name is there."""

    def place(name: str) -> tuple[int, str]:
        constant, class_ = name.isupper(), name[0].isupper()
        return (0 if constant else 1 if class_ else 2, name)

    names = robotrules.__all__
    assert names == sorted(names, key=place)
    assert len(set(names)) == len(names)
    for name in names:
        assert hasattr(robotrules, name)


def test_dir_shows_what_is_imported_later() -> None:
    """`dir()` has every public name and the packages that are imported on first use."""
    told = run("import robotrules; print(*dir(robotrules))")
    shown = set(told.stdout.split())
    assert set(robotrules.__all__) <= shown
    assert {"extensions", "client", "linting", "tags"} <= shown
    assert "Client" in shown


def test_no_other_names_are_public() -> None:
    """Other names of the package are its modules, or start with an underscore."""
    modules = {"errors", "profile", "robotstxt", "extensions", "registries", "write", "cli"}
    modules |= {"guide", "http", "tags", "octets", "access", "cache", "client"}
    modules |= {"analysis", "linting", "formatting", "expect", "matrix", "config", "lsp"}
    modules |= {"bulk", "compat", "integrations", "serving", "toml_positions", "junit"}
    modules |= {"url_lists", "service", "json_results", "editing", "html_document", "operations"}
    modules |= {"atomic_files"}
    # A package with a plug-in for pytest has its assertions rewritten, and names that begin with @.
    others = {name for name in vars(robotrules) if not name.startswith(("_", "@"))}
    assert others - set(robotrules.__all__) <= modules


def test_every_public_object_has_a_docstring() -> None:
    """Every public class, function, method and property has a docstring."""
    for name in robotrules.__all__:
        thing = getattr(robotrules, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for part, value in members(thing):
                if isinstance(value, (property, classmethod)) or inspect.isfunction(value):
                    assert inspect.getdoc(value), f"{name}.{part}"


def test_the_package_is_typed() -> None:
    """The marker file for type checkers exists."""
    assert (SOURCE / "robotrules" / "py.typed").exists()


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a separate interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


def test_importing_touches_no_network_and_starts_no_thread() -> None:
    """Importing opens no socket, runs no program, starts no thread and has no output."""
    told = run(
        "import sys\n"
        "seen = []\n"
        "sys.addaudithook(lambda event, _: seen.append(event))\n"
        "import robotrules\n"
        "odd = ('socket.', 'subprocess.', 'os.system', 'urllib.', 'http.', '_thread.', 'os.fork')\n"
        "assert not [event for event in seen if event.startswith(odd)], seen\n"
        "import threading\n"
        "assert threading.active_count() == 1\n"
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_importing_is_light() -> None:
    """Importing the core does not import modules of the command line, the network or tests."""
    told = run("import sys, robotrules; print(*sys.modules)")
    loaded = {name.split(".")[0] for name in told.stdout.split()}
    heavy = {
        "asyncio",
        "click",
        "email",
        "http",
        "logging",
        "socket",
        "ssl",
        "subprocess",
        "urllib",
    }
    assert not loaded & heavy
    assert "robotrules.cli" not in told.stdout.split()


def test_the_example_of_the_package() -> None:
    """The example in the docstring of the package is correct."""
    robots = robotrules.parse("User-agent: *\nDisallow: /private/")
    verdict = robots.check("https://example.com/private/x", "ExampleBot")
    assert str(verdict) == "disallowed by line 2: Disallow: /private/"
    assert str(verdict) in (robotrules.__doc__ or "")


def test_the_version_is_the_one_of_the_project() -> None:
    """The package and pyproject.toml have the same version, if the latter exists."""
    project = Path(__file__).parents[1] / "pyproject.toml"
    assert f'version = "{robotrules.__version__}"' in project.read_text(encoding="utf-8")


if __name__ == "__main__":
    SURFACE.write_text("\n".join(surface()) + "\n", encoding="utf-8")
