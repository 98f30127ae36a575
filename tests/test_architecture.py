"""
The house: where things live, which way imports go, what files and names are like.

The plan itself is prose; what a machine can check of it is checked here, over `src`, `crates` and
the other folders of the repository.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import robotrules
from robotrules import DEFAULT, GOOGLE, STRICT, Profile, RobotsTxt, RuleSet
from robotrules.robotstxt import readers
from robotrules.robotstxt.values import NOTES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "robotrules"
CRATES = ROOT / "crates"
SWITCHES = tuple(name for name in dir(STRICT) if getattr(STRICT, name) is False)


def sources(*suffixes: str, under: tuple[str, ...] = ("src", "crates", "fuzz")) -> Iterator[Path]:
    """Yield our own files of these kinds, tests and build output left out."""
    for folder in under:
        for path in sorted((ROOT / folder).rglob("*")):
            parts = path.relative_to(ROOT).parts
            built = {"target", "__pycache__", "node_modules", ".venv"} & set(parts)
            hidden = any(part.startswith(".") or part.endswith(".egg-info") for part in parts)
            if path.suffix in suffixes and not built and not hidden and "tests" not in parts:
                yield path


MODULES = [path for path in sources(".py", under=("src",)) if PACKAGE in path.parents]
RUST = list(sources(".rs", under=("crates",)))


# --- The direction --------------------------------------------------------------------------------

LEFT = ("errors", "octets", "profile", "_engine")
READERS = ("extensions", "tags", "registries")
DECIDERS = ("guide", "write", "analysis")
# What a site owner works with; all but the settings of a project are pure.
WORKBENCH = ("linting", "formatting", "expect", "matrix")
CORE = (*LEFT, "robotstxt")
PROTOCOLS = (*CORE, "http")
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "octets": (),
    "_engine": (),
    "profile": ("errors",),
    "robotstxt": LEFT,
    # Header fields, dates, RFC 9111, origins: what tags, access and cache share.
    "http": ("errors", "octets", "_engine"),
    "registries": PROTOCOLS,
    **dict.fromkeys(("extensions", "tags"), (*PROTOCOLS, "registries")),
    **dict.fromkeys(DECIDERS, (*PROTOCOLS, *READERS)),
    "write": (*PROTOCOLS, *READERS, "toml_positions"),
    # Reports of tests: for lint and for the command line.
    "junit": CORE,
    **dict.fromkeys(WORKBENCH, (*PROTOCOLS, *READERS, *DECIDERS, "junit")),
    "matrix": (*PROTOCOLS, *READERS, *DECIDERS, "html_document"),
    "expect": (*PROTOCOLS, *READERS, *DECIDERS, "toml_positions"),
    # Where a key of a TOML file is: for the errors of settings, policies and expectations.
    "toml_positions": (),
    "config": ("errors", "toml_positions"),
    # Files that are replaced in one step.
    "atomic_files": (),
    # Self-contained HTML pages, for the matrix and for reports.
    "html_document": ("octets",),
    "access": PROTOCOLS,
    "cache": (*PROTOCOLS, "access"),
    "client": (*PROTOCOLS, *READERS, *DECIDERS, "access", "cache"),
}
RIGHT = (*MAY_IMPORT["client"], "client", "config", *WORKBENCH)
MAY_IMPORT |= dict.fromkeys(("bulk", "compat", "expect.files"), RIGHT)
# What an editor shows about a robots.txt, for the language server and the page of the service.
MAY_IMPORT["editing"] = (*PROTOCOLS, *READERS, *DECIDERS, "config", *WORKBENCH)
# Lists of URLs in logs, sitemaps and tables; the JSON of commands: for cli and service.
MAY_IMPORT["url_lists"] = ("errors", "octets")
MAY_IMPORT["json_results"] = (*RIGHT, "url_lists", "serving")
MAY_IMPORT["service"] = (*RIGHT, "editing", "json_results", "url_lists", "toml_positions")
# What a site owner runs every week: logs, monitoring, history, reports.
MAY_IMPORT["operations"] = (*RIGHT, "html_document", "url_lists", "json_results", "toml_positions")
MAY_IMPORT["operations"] += ("atomic_files",)
# What a site sends to crawlers: policies, responses and counters. It opens no socket.
MAY_IMPORT["serving"] = (*PROTOCOLS, *READERS, *DECIDERS, *WORKBENCH, "toml_positions")
# The pytest plug-in reads expectation files; frameworks of sites serve a policy.
MAY_IMPORT["integrations"] = (*RIGHT, "expect.files", "serving")
# The language server makes no requests.
MAY_IMPORT["lsp"] = (*PROTOCOLS, *READERS, *DECIDERS, "config", *WORKBENCH, "editing")
# Imports allowed beside the standard library; everything else is an extra of its layer.
THIRD_PARTY = {"cli": {"click"}} | {name: {"http_sf"} for name in ("extensions", "registries")}
THIRD_PARTY["write"] = {"http_sf"}
# Structured Fields, and internationalised host names.
THIRD_PARTY["http"] = {"http_sf", "idna"}
# Tree builders of the extras `html` and `html-pure`.
THIRD_PARTY["tags"] = {"selectolax", "justhtml"}
# Columns in the pure engine, on first use; the native engine reads them itself.
THIRD_PARTY["_engine"] = {"pyarrow"}
THIRD_PARTY["lsp"] = {"pygls", "lsprotocol"}
THIRD_PARTY["editing"] = {"lsprotocol"}
THIRD_PARTY["service"] = {
    "msgspec",
    "starlette",
    "uvicorn",
    "prometheus_client",
    "lsprotocol",
    "mcp",
}
# Up to guidance there is no I/O, no clock, no logging.
WITHOUT_WORLD = (*PROTOCOLS, *READERS, *DECIDERS, *WORKBENCH, "access", "cache")
WORLD = {
    *("asyncio", "concurrent", "datetime", "http", "logging", "multiprocessing", "os", "pathlib"),
    *("random", "select", "socket", "ssl", "subprocess", "tempfile", "threading", "time", "urllib"),
}
WORLD_HERE = {
    ("_engine/__init__.py", "os"),  # reads ROBOTRULES_NO_EXTENSIONS
    # Values that are times of a day or dates, and no clock.
    ("http/structured_fields.py", "datetime"),
    ("http/dates.py", "datetime"),
    ("http/caching.py", "datetime"),
    ("extensions/request_rate.py", "datetime"),
    ("extensions/visit_time.py", "datetime"),
    ("tags/__init__.py", "datetime"),
    ("tags/known_rules.py", "datetime"),
    ("tags/rules.py", "datetime"),
    ("guide.py", "datetime"),
    ("write/tag_values.py", "datetime"),
    ("cache/__init__.py", "datetime"),
    ("cache/values.py", "datetime"),
    # Parts of URLs; no fetching.
    ("http/origins.py", "urllib"),
    ("access/__init__.py", "urllib"),
    ("tags/saved_responses.py", "urllib"),
    ("extensions/sitemap.py", "urllib"),
    ("extensions/clean_param.py", "urllib"),
    ("linting/checks/profiles_differ.py", "urllib"),
    ("linting/checks/relative_sitemap.py", "urllib"),
    ("linting/checks/robots_redirected.py", "urllib"),
    ("linting/checks/sitemap_elsewhere.py", "urllib"),
    # The one reader of a user's files.
    ("registries/loader.py", "pathlib"),
}
# A module that reads files and fetches, in a package that does neither: a layer by itself.
LAYERS_OF_MODULES = {"expect/files.py": "expect.files"}


def layer(path: Path) -> str:
    """Return the first part of a module's name below the package; empty for `__init__`."""
    if by_itself := LAYERS_OF_MODULES.get(path.relative_to(PACKAGE).as_posix()):
        return by_itself
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return {"__init__": "", "__main__": "cli"}.get(parts[0], parts[0])


# RobotsTxt has readers of other records as methods, and names what these return for type checkers
# alone; so does an error with a verdict. What the methods call is in `robotstxt/readers.py`.
ANNOTATED = (PACKAGE / "robotstxt" / "__init__.py", PACKAGE / "errors.py")
READERS_BY_NAME = PACKAGE / "robotstxt" / "readers.py"


def imports(path: Path) -> Iterator[str]:
    """Yield the full name of everything a module imports, anywhere in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path in ANNOTATED:
        tree.body = [node for node in tree.body if not _is_for_type_checkers(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_for_type_checkers(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_modules_are_imported_by_name_in_few_places() -> None:
    """The core does not import modules by a name in a string, except the readers of RobotsTxt."""
    # The engines have a separate package, and are picked by name.
    core = [path for path in MODULES if layer(path) in ("profile", "robotstxt", "access", "cache")]
    named = [path for path in core if "importlib.import_module" in set(imports(path))]
    assert named == [READERS_BY_NAME]
    for function, module in readers.MODULES.items():
        path = PACKAGE / "extensions" / f"{module}.py"
        assert f"\ndef {function}(" in path.read_text(encoding="utf-8")


def target(name: str) -> str:
    """Return the layer that an import of ours is about; empty for the package's own names."""
    for module, by_itself in LAYERS_OF_MODULES.items():
        dotted = "robotrules." + module.removesuffix(".py").replace("/", ".")
        if name == dotted or name.startswith(f"{dotted}."):
            return by_itself
    first = name.split(".")[1] if "." in name else ""
    exists = (PACKAGE / first).is_dir() or (PACKAGE / f"{first}.py").exists()
    return first if first and exists else ""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_left(path: Path) -> None:
    """A layer imports only layers to its left; no layer imports the cli."""
    here = layer(path)
    for name in imports(path):
        if name.split(".")[0] != "robotrules":
            continue
        there = target(name)
        if here in ("", "cli") or there == here:
            assert here == "cli" or there != "cli", f"{name} in {path.name}"
            continue
        assert there in MAY_IMPORT[here], f"{path.name} of {here} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_are_few(path: Path) -> None:
    """Beside the standard library a layer imports only what is listed; no I/O up to guidance."""
    here, where = layer(path), path.relative_to(PACKAGE).as_posix()
    for name in imports(path):
        first = name.split(".")[0]
        if first in ("robotrules", "__future__"):
            continue
        known = first in sys.stdlib_module_names or first in THIRD_PARTY.get(here, set())
        assert known or here in ("client", "bulk", "service", "integrations"), f"{where}: {name}"
        if here in WITHOUT_WORLD and (where, first) not in WORLD_HERE:
            assert first not in WORLD, f"{where} imports {name}"


# Private names of other projects, and the methods and attributes of named tuples.
PRIVATE_ELSEWHERE = {
    *("_asdict", "_field_defaults", "_fields", "_make", "_replace"),
    *("_Decompress", "_exit", "_shutdown"),  # zlib, os, pygls
}


ENGINE_MEMBERS = {*RobotsTxt.__annotations__, *RuleSet.__annotations__}


def is_private(name: str) -> bool:
    """Tell whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__")


def defined_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines: functions, classes, variables, attributes, slots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def reached_names(tree: ast.AST, package: str, defined: set[str]) -> Iterator[tuple[int, str]]:
    """
    Yield line and name of attributes and imports that a package does not define.

    Some packages have attributes with the same names as RobotsTxt and RuleSet, so these have to be
    defined in the module itself, or be attributes of `self`.
    """
    here = set(defined_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            is_engine_member = node.attr in ENGINE_MEMBERS and package not in (
                "robotstxt",
                "_engine",
            )
            of_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if node.attr not in (here if is_engine_member and not of_self else defined):
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            first, _, rest = (node.module or "").partition(".")
            if first == "robotrules" and rest and rest.split(".")[0] != package:
                yield from ((node.lineno, alias.name) for alias in node.names)


def test_private_members_stay_in_their_package() -> None:
    """
    No package uses a private member of another package, or imports a private name from it.

    A package that needs the engine behind a file or a rule set uses `robotstxt/internals.py`.
    """
    modules = [
        (path.relative_to(PACKAGE), ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES
    ]
    defined: dict[str, set[str]] = {}
    for path, tree in modules:
        names = defined.setdefault(path.with_suffix("").parts[0], set(PRIVATE_ELSEWHERE))
        names.update(defined_names(tree))
    reached = [
        f"{path}:{line} {name}"
        for path, tree in modules
        for package in path.with_suffix("").parts[:1]
        for line, name in reached_names(tree, package, defined[package])
        if is_private(name)
    ]
    assert reached == []


def test_the_layers_are_known() -> None:
    """Every module belongs to a layer of the plan."""
    assert {layer(path) for path in MODULES} <= {"", "cli", *MAY_IMPORT}


def test_the_core_crate_does_not_use_python() -> None:
    """`robotrules-core` has no unsafe code and does not depend on PyO3."""
    core = CRATES / "robotrules-core"
    assert "forbid(unsafe_code)" in (core / "src" / "lib.rs").read_text(encoding="utf-8")
    assert "pyo3" not in (core / "Cargo.toml").read_text(encoding="utf-8")
    for path in RUST:
        if core in path.parents:
            assert "pyo3" not in path.read_text(encoding="utf-8").lower(), path.name


# --- Files ----------------------------------------------------------------------------------------

NAMES_THAT_SAY_NOTHING = {"utils", "helpers", "common", "misc", "manager", "factory", "base"}
CODE = list(sources(".py", ".rs", under=("src", "crates", "fuzz", "scripts", "conformance")))


def test_file_names_are_specific() -> None:
    """No file or folder has a generic name."""
    for path in [*CODE, *(ROOT / "tests").rglob("*.py")]:
        # A generic word next to another word is specific: `base_client` is the base of clients.
        names = {part.lower().strip("_") for part in path.relative_to(ROOT).with_suffix("").parts}
        plural = {f"{name}s" for name in names}
        assert not (names | plural) & NAMES_THAT_SAY_NOTHING, path


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short_and_open_with_what_they_are(path: Path) -> None:
    """At most 600 lines, and the first thing is a docstring."""
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 600
    if path.suffix == ".rs":
        assert text.startswith("//! ")
    else:
        assert ast.get_docstring(ast.parse(text))


def test_public_functions_and_classes_have_docstrings() -> None:
    """Every public class and function of a public module has a docstring."""
    for path in MODULES:
        if layer(path) == "_engine":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            if isinstance(node, kinds) and not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{path.name}: {node.name}"


def test_no_machine_is_named() -> None:
    """No file has a path of the machine it was written on."""
    machine = re.compile(r"/(?:work/(?:main|shared)|root/|home/\w+/\.)")
    kinds = (".py", ".pyi", ".rs", ".md", ".toml", ".json", ".txt", ".sh", ".yml", ".html", ".svg")
    folders = ("src", "crates", "fuzz", "scripts", "conformance", "docs", "benches", "examples")
    paths = [*sources(*kinds, under=folders), *ROOT.glob("*.*"), *(ROOT / "tests").rglob("*.py")]
    for path in paths:
        if path.suffix in kinds:
            found = machine.search(path.read_text(encoding="utf-8", errors="replace"))
            assert not found, f"{path.relative_to(ROOT)}: {found}"


# --- Departures -----------------------------------------------------------------------------------

# Switches about choosing groups are read in Python; the others once in each engine.
CHOOSING_SWITCHES = ("any_product_token", "first_star_group_only", "leading_name", "merge_tokens")
# And one in the reader of App-Directives.
READING_SWITCHES = ("separate_lines",)
PYTHON_SWITCHES = (*CHOOSING_SWITCHES, *READING_SWITCHES)
# A switch that is read at more than one place, how often, and why.
RUST_EXCEPTIONS = {
    "ascii_whitespace": (2, "trimming, and the note on what was trimmed"),
    "comma_user_agents": (3, "the list itself, the way around it for speed, and its notes"),
    "index_page": (2, "the directory, and the fast way for plain patterns that has none"),
    "minimal_encoding": (2, "the form, and pieces that have no second spelling"),
}
PURE_EXCEPTIONS = {"comma_user_agents": (2, "the names of a list, and its notes")}


def occurrences(pattern: str, paths: list[Path]) -> int:
    """Count a pattern in the code of files, comments left out."""
    count = 0
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            count += len(re.findall(pattern, re.split(r"(?://|#) ", line)[0]))
    return count


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_is_read_at_one_place(switch: str) -> None:
    """A departure is read once in each engine, or has a reason for more (house, section 5)."""
    engine = [path for path in MODULES if path.name.startswith("pure")]
    rust = [path for path in RUST if path.name != "settings.rs"]
    owner = "extensions" if switch in READING_SWITCHES else "robotstxt"
    choosing = [path for path in MODULES if layer(path) == owner]
    in_rust = occurrences(rf"\bswitches\.{switch}\b", rust)
    in_pure = occurrences(rf'"{switch}"', engine)
    if switch in PYTHON_SWITCHES:
        assert (in_rust, in_pure) == (0, 0)
        assert occurrences(rf"\b_?profile\.{switch}\b", choosing) == 1
    else:
        assert in_rust == RUST_EXCEPTIONS.get(switch, (1, ""))[0]
        assert in_pure == PURE_EXCEPTIONS.get(switch, (1, ""))[0]
        assert occurrences(rf"\b_?profile\.{switch}\b", choosing) == 0


def test_every_switch_is_off_in_strict_and_documented() -> None:
    """Strict has no departure; each has a reference at its definition, in Python and in Rust."""
    assert STRICT.switches() == ()
    for path in (PACKAGE / "profile.py", CRATES / "robotrules-core" / "src" / "settings.rs"):
        text = path.read_text(encoding="utf-8")
        for switch in SWITCHES:
            if path.suffix == ".rs" and switch in PYTHON_SWITCHES:
                continue
            words = rf'(?:\n.*){{2}}\b{switch}\b(?:: bool = False\n.*"""(?:.|\n)*?""")?'
            found = re.search(words, text)
            assert found, switch
            assert re.search(r"AMB-\d\d|§", found[0]), f"{switch} has no reference in {path.name}"


# --- Notes ----------------------------------------------------------------------------------------

KEEPING = DEFAULT.replace(keep_controls=True)
# The least that earns each note: body, profile, completeness.
EARNS: dict[str, tuple[bytes, Profile, bool]] = {
    "bom": (b"\xef\xbb\xbf", DEFAULT, True),
    "comma-list": (b"User-agent: a,b", DEFAULT, True),
    "control-character": (b"Disallow: /\x01", DEFAULT, True),
    "control-kept": (b"Disallow: /\x01", KEEPING, True),
    "cut-bom": (b"\xef", GOOGLE, True),
    "cut-line": (b"x", DEFAULT, False),
    "empty-key": (b":", DEFAULT, True),
    "empty-user-agent": (b"User-agent:", DEFAULT, True),
    "index-page": (b"Allow: /index.htm", GOOGLE, True),
    "invalid-utf8": (b"Disallow: /\xff", DEFAULT, True),
    "long-line": (b"ab", STRICT.replace(max_line=1), True),
    "looks-like-html": (b"<", DEFAULT, True),
    "missing-colon": (b"Disallow /", DEFAULT, True),
    "no-separator": (b"x", DEFAULT, True),
    "not-utf8": (b"\xff\xfe", DEFAULT, True),
    "nul": (b"\0", GOOGLE, True),
    "odd-whitespace": (b"Disallow: /\v", GOOGLE, True),
    "pattern-start": (b"Disallow: x", DEFAULT, True),
    "prefix-key": (b"Disallow-foo: /", GOOGLE, True),
    "record-between-agents": (b"User-agent: a\nx: y\nUser-agent: b", DEFAULT, True),
    "rule-outside-group": (b"Disallow: /", DEFAULT, True),
    "space-in-pattern": (b"Disallow: / /", DEFAULT, True),
    "star-with-text": (b"User-agent: * x", DEFAULT, True),
    "truncated": (b"#" * 512_000 + b"\nx", DEFAULT, True),
    "typo": (b"Disalow: /", DEFAULT, True),
    "unusable-user-agent": (b"User-agent: 1", DEFAULT, True),
    "user-agent-text": (b"User-agent: a/1", DEFAULT, True),
}


def test_every_note_is_known_to_all() -> None:
    """The native engine's codes, the pure one's, the table for people and EARNS are the same."""
    rust = (CRATES / "robotrules-core" / "src" / "notes.rs").read_text(encoding="utf-8")
    assert set(re.findall(r'^    \w+ = "([a-z0-9-]+)",$', rust, re.MULTILINE)) == set(NOTES)
    assert set(EARNS) == set(NOTES)
    pure = "".join(
        path.read_text(encoding="utf-8") for path in MODULES if path.name.startswith("pure")
    )
    assert [code for code in NOTES if f'"{code}"' not in pure] == []


@pytest.mark.parametrize("code", EARNS)
def test_every_note_is_earned(engine: ModuleType, code: str) -> None:
    """A minimal input earns the note, with both engines; without it nothing does."""
    body, profile, complete = EARNS[code]
    robots = robotrules.parse(body, profile, complete=complete, engine=engine)
    assert code in [note.code for note in robots.notes]
    clean = b"User-agent: *\nDisallow: /x\n"
    assert robotrules.parse(clean, profile.replace(max_line=None), engine=engine).notes == ()


# --- Words ----------------------------------------------------------------------------------------

# Words that the vocabulary replaces (docs/glossary.md). Terms of art such as result, type, kind,
# host, entry, policy and matcher are not among them.
REPLACED_WORDS = {
    *("row", "directive", "field", "section", "block", "bot", "robot", "glob", "regex"),
    *("characters", "length", "permission", "permitted", "consent", "category", "authorisation"),
    *("authorization", "site", "domain", "mode", "dialect", "plugin", "violation", "fixture"),
    *("forbidden", "trouble", "visit", "held", "turn", "desk", "nobody", "somebody"),
}
# Words of the documents that extensions implement: app directives, categories of usage, the
# Content-Usage field, the Visit-time record.
WORDS_OF_DRAFTS = {"directive", "category", "field", "visit"}


def public_names() -> Iterator[str]:
    """Yield every public name: of the package, of its classes, of parameters."""
    for name in robotrules.__all__:
        thing = getattr(robotrules, name)
        yield name
        members = [thing] if not inspect.isclass(thing) else []
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            own = {
                part
                for owner in thing.__mro__
                if "robotrules" in owner.__module__
                for part in (*vars(owner), *getattr(owner, "__annotations__", {}))
            }
            for part in own:
                if not part.startswith("_"):
                    yield f"{name}.{part}"
                    members.append(getattr(thing, part, None))
        for member in members:
            if inspect.isroutine(member):
                for parameter in inspect.signature(member).parameters:
                    yield f"{name}({parameter})"


def test_replaced_words() -> None:
    """No public name has a word that the vocabulary replaces."""
    for name in public_names():
        words = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
        owner = re.split(r"\W", name)[0]
        words -= WORDS_OF_DRAFTS if owner in robotrules._LAZY else set()
        assert not words & REPLACED_WORDS, name


# The same class for two hosts: a user changes only the module.
SAME_FOR_TWO_HOSTS = {
    name: ["integrations/httpx.py", "integrations/httpx2.py"]
    for name in ("RobotsTransport", "AsyncRobotsTransport")
}


def test_public_classes_have_unique_names() -> None:
    """One meaning, one class: no two public classes of the package have the same name."""
    modules: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == SAME_FOR_TWO_HOSTS


def test_integrations_are_small() -> None:
    """A file of an integration translates between its host and us: fewer than 150 lines."""
    sizes = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_bytes().splitlines())
        for path in (PACKAGE / "integrations").rglob("*.py")
    }
    assert len(sizes) > 20
    assert not {path: lines for path, lines in sizes.items() if lines >= 150}
