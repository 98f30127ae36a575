"""
The public surface: its names, its types, and what importing it does not do.

`public_surface.txt` is the typed surface as it was released. A change there is a change for
everybody who uses the library: make it on purpose, with `python -m tests.test_public`.
"""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import robotrules

SOURCE = Path(robotrules.__file__).parents[1]
SURFACE = Path(__file__).with_name("public_surface.txt")


def definitions() -> dict[str, ast.stmt]:
    """Return every class, function and constant of the package's modules, by name."""
    found: dict[str, ast.stmt] = {}
    for path in sorted((SOURCE / "robotrules").rglob("*.py")):
        if path.name.startswith("pure") or "cli" in path.parts:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, node)
    return found


def parts(node: ast.ClassDef, known: dict[str, ast.stmt]) -> Iterator[ast.stmt]:
    """Yield what stands in a class, and in those of its bases that are private."""
    for base in node.bases:
        owner = known.get(ast.unparse(base))
        if isinstance(owner, ast.ClassDef) and owner.name.startswith("_"):
            yield from parts(owner, known)
    yield from node.body


def shown(node: ast.stmt) -> str | None:
    """Return one line that has the name and the types of a definition; None if it is private."""
    match node:
        case ast.FunctionDef(name=name) if not name.startswith("_"):
            words = {ast.unparse(word) for word in node.decorator_list}
            if "property" in words:
                return f"{name} -> {ast.unparse(node.returns) if node.returns else None}"
            returns = ast.unparse(node.returns) if node.returns else None
            return f"{name}({ast.unparse(node.args)}) -> {returns}"
        case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
            default = f" = {ast.unparse(node.value)}" if node.value else ""
            return f"{name}: {ast.unparse(node.annotation)}{default}"
        case ast.Assign(targets=[ast.Name(id=name)]) if not name.startswith("_"):
            return f"{name} = {ast.unparse(node.value)}"
    return None


def surface() -> Iterator[str]:
    """Yield the typed surface as it is written, one line for each name."""
    known = definitions()
    for name in robotrules.__all__:
        node = known[name]
        if isinstance(node, ast.ClassDef):
            yield f"class {name}({', '.join(ast.unparse(base) for base in node.bases)})"
            for part in parts(node, known):
                if text := shown(part):
                    yield f"    {text}"
        elif isinstance(node, ast.FunctionDef):
            yield shown(node) or name
        else:
            yield f"{name}: {type(getattr(robotrules, name)).__name__}"


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
    """`dir()` has every public name and the packages that are imported when one asks."""
    told = run("import robotrules; print(*dir(robotrules))")
    shown = set(told.stdout.split())
    assert set(robotrules.__all__) <= shown
    assert {"extensions", "client", "linting", "tags"} <= shown
    assert "Client" in shown


def test_nothing_else_is_public() -> None:
    """Other names of the package are its modules, or start with an underscore."""
    modules = {"errors", "profile", "robotstxt", "extensions", "registries", "write", "cli"}
    modules |= {"guide", "policy", "structured", "tags", "origins", "access", "cache", "client"}
    modules |= {"analysis", "linting", "formatting", "expect", "matrix", "config", "lsp"}
    modules |= {"integrations", "expectation_files", "toml_places", "junit"}
    # A package with a plug-in for pytest has its assertions rewritten, and names that begin with @.
    others = {name for name in vars(robotrules) if not name.startswith(("_", "@"))}
    assert others - set(robotrules.__all__) <= modules


def test_every_public_thing_says_what_it_is() -> None:
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
    """The marker that tells type checkers to look is there."""
    assert (SOURCE / "robotrules" / "py.typed").exists()


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in an interpreter of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


def test_importing_touches_no_network_and_starts_no_thread() -> None:
    """Importing opens no socket, runs no program, starts no thread and prints nothing."""
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
    """Importing the core brings in nothing of the command line, of the network or of tests."""
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


def test_the_example_of_the_package_is_true() -> None:
    """The docstring of the package does what it says."""
    robots = robotrules.parse("User-agent: *\nDisallow: /private/")
    verdict = robots.check("https://example.com/private/x", "ExampleBot")
    assert str(verdict) == "disallowed by line 2: Disallow: /private/"
    assert str(verdict) in (robotrules.__doc__ or "")


def test_the_version_is_the_one_of_the_project() -> None:
    """The package and pyproject.toml say the same version, where the latter is there."""
    project = Path(__file__).parents[1] / "pyproject.toml"
    assert f'version = "{robotrules.__version__}"' in project.read_text(encoding="utf-8")


if __name__ == "__main__":
    SURFACE.write_text("\n".join(surface()) + "\n", encoding="utf-8")
