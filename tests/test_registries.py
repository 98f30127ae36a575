"""
Registries: what is shipped, what a user's file may hold, and why one is rejected.

RTG-5.2-01 to -03, PUR-3-03, PUR-4-02, PUR-3.2-02, PUR-3.2-04, APP-3.1-01, APP-3.2-01 to -03,
APP-1.1-01.
"""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import registries
from robotrules.errors import RegistryError
from robotrules.registries import (
    SHIPPED,
    STATUSES,
    VALUE_TYPES,
    Application,
    DirectiveEntry,
    Purpose,
    Registries,
    Registry,
    TagRule,
    load_registries,
    parse_csv,
    parse_json,
)
from robotrules.registries.entries import SCHEMAS

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTHING = Registries()

TAG_RULE = {"name": "noarchive", "description": "No copy.", "reference": "here"}
PURPOSE = {"token": "EXAMPLE-PURPOSE-1", "description": "A placeholder.", "reference": "here"}
APPLICATION = {"identifier": "ex", "product_token": "ExBot", "change_controller": "Ex Inc"}
DIRECTIVE = {
    "application": "ex",
    "name": "widgets",
    "value_type": "Boolean",
    "description": "Whether widgets are wanted.",
    "documentation": "https://ex.example/widgets",
    "status": "active",
}
GOOD = {
    "tag_rules": [TAG_RULE],
    "purposes": [PURPOSE],
    "applications": [APPLICATION],
    "directives": [DIRECTIVE],
}


def wrong(value: object) -> Any:
    """Return a value that a type checker would not let pass."""
    return value


def rejected(read: Callable[[], object]) -> list[str]:
    """Return the reasons for which something is rejected, one for each line."""
    with pytest.raises(RegistryError) as caught:
        read()
    return str(caught.value).splitlines()


def with_changed(section: str, **fields: Any) -> str:
    """Return a good JSON file in which one entry has other fields."""
    changed = GOOD | {section: [GOOD[section][0] | fields]}
    if "identifier" in fields:  # then the app directive would have no application
        del changed["directives"]
    return json.dumps(changed)


# --- What is shipped ------------------------------------------------------------------------------


def test_the_tag_rules_of_the_draft_are_shipped() -> None:
    """RTG-5.2-01, RTG-5.2-02: noindex and nosnippet, each with description and reference."""
    assert [rule.name for rule in SHIPPED.tag_rules] == ["noindex", "nosnippet"]
    for rule in SHIPPED.tag_rules:
        assert rule.description
        assert rule.reference.endswith("Section 3.1.3")


def test_both_procedures_are_kept() -> None:
    """RTG-5.2-03, AMB-81: the draft names two registration policies, and the data has both."""
    assert SHIPPED.tag_rules.title == "Robots Control Rules"
    assert SHIPPED.tag_rules.procedures == ("IETF Review", "Expert Review")
    assert SHIPPED.applications.procedures == SHIPPED.directives.procedures == ("Expert Review",)


def test_the_other_registries_are_empty() -> None:
    """PUR-3-03: the purpose draft has placeholders only; nothing is registered yet."""
    assert [len(SHIPPED.purposes), len(SHIPPED.applications), len(SHIPPED.directives)] == [0, 0, 0]
    for registry in SHIPPED:
        assert registry.title
        assert registry.reference.startswith("draft-")


def test_what_is_shipped_is_in_order() -> None:
    """The data files of the package merge with each other: no app directive lacks its owner."""
    assert NOTHING.merged(SHIPPED) == SHIPPED


def test_there_is_a_data_file_for_each_registry_and_no_other() -> None:
    """A data file that no code reads would be an unused registry."""
    folder = Path(registries.__file__).parent / "data"
    sections = {f"{schema.section}.json" for schema in SCHEMAS}
    # `crawlers.json` is not a registry of a draft: `registries.crawlers` reads it.
    assert {path.name for path in folder.iterdir()} == sections | {"crawlers.json"}
    assert Registries._fields == tuple(schema.section for schema in SCHEMAS)


def test_importing_does_not_read_registries() -> None:
    """Parsers of JSON, CSV and Structured Fields are imported on first use of a registry."""
    code = (
        "import sys; from robotrules.registries import SHIPPED\n"
        "late = {'json', 'csv', 'http_sf', 'importlib.resources'}\n"
        "assert not late & set(sys.modules), late & set(sys.modules)\n"
        "assert len(SHIPPED.tag_rules) == 2\n"
        "assert {'json', 'http_sf'} <= set(sys.modules)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize("ask", [len, list, hash, repr, str, lambda registry: registry.title])
def test_a_shipped_registry_answers_in_any_order(ask: Callable[[Any], Any]) -> None:
    """Lazy loading is not visible."""
    fresh = type(SHIPPED.tag_rules)(TagRule)
    plain = Registry(
        TagRule,
        SHIPPED.tag_rules,
        title=SHIPPED.tag_rules.title,
        procedures=SHIPPED.tag_rules.procedures,
        reference=SHIPPED.tag_rules.reference,
    )
    assert ask(fresh) == ask(plain)
    assert fresh == plain
    with pytest.raises(AttributeError, match="no 'size'"):
        _ = fresh.size  # type: ignore[attr-defined]


# --- Finding --------------------------------------------------------------------------------------


def test_purposes_are_found_without_case() -> None:
    """PUR-3.2-04: purposes are compared without regard to case, and PUR-4-02: have three fields."""
    purposes = parse_json(json.dumps(GOOD)).purposes
    for key in ("EXAMPLE-PURPOSE-1", "example-purpose-1", "Example-Purpose-1"):
        assert purposes.get(key) == Purpose(**PURPOSE)
        assert key in purposes
    assert purposes.get("EXAMPLE-PURPOSE-12") is None
    assert "EXAMPLE-PURPOSE-12" not in purposes


def test_letters_beyond_ascii_differ_from_ascii() -> None:
    """The kelvin sign is a k in lower case, and is not a k in a purpose."""
    purposes = Registry(Purpose, [Purpose("k", "One letter.", "here")])
    assert purposes.get("K")
    assert purposes.get("\u212a") is None


def test_tag_rules_are_found_without_case() -> None:
    """The values are case insensitive (draft-illyes-repext §3.1.3)."""
    assert SHIPPED.tag_rules.get("NoIndex") == SHIPPED.tag_rules.get("noindex") is not None


def test_applications_and_app_directives_are_found_with_case() -> None:
    """AMB-107: identifiers are Tokens and names are keys, and both have case."""
    both = parse_json(json.dumps(GOOD))
    assert both.applications.get("ex") == Application(**APPLICATION)
    assert both.applications.get("Ex") is None
    assert both.directives.get(("ex", "widgets")) == DirectiveEntry(**DIRECTIVE)
    assert both.directives.get(("Ex", "widgets")) is None
    assert both.directives.get(("ex", "other")) is None


def test_unregistered_names_are_not_an_error() -> None:
    """APP-1.1-01: registration is not mandatory; a registry just does not have the name."""
    assert SHIPPED.applications.get("foo") is None
    assert SHIPPED.directives.get(("foo", "bar")) is None


# --- The values -----------------------------------------------------------------------------------


def test_a_registry_is_immutable_and_compares_by_value() -> None:
    """Equal registries have equal hashes, survive copying and pickling, and cannot be changed."""
    one, two = parse_json(json.dumps(GOOD)), parse_json(json.dumps(GOOD))
    assert one == two
    assert hash(one) == hash(two)
    assert one.purposes != two.tag_rules
    assert one.purposes != "purposes"
    assert one.purposes != NOTHING.purposes
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(SHIPPED)) == SHIPPED
    with pytest.raises(AttributeError, match="merged"):
        one.purposes.title = "Mine"
    with pytest.raises(AttributeError, match="merged"):
        del one.purposes.title
    assert repr(one.tag_rules) == "<Registry of TagRule: 3 entries>"
    assert repr(one.purposes) == "<Registry of Purpose: 1 entry>"


def test_a_registry_rejects_invalid_entries() -> None:
    """Made in Python, it rejects each entry that a file cannot have; all reasons are listed."""
    entries = [TagRule("NoIndex", "", "here"), TagRule("a", "A.", "here"), TagRule("a", "B.", "x")]
    assert [reason.split(" is ")[0] for reason in rejected(lambda: Registry(TagRule, entries))] == [
        "tag_rules, entry 1, name: 'NoIndex'",
        "tag_rules, entry 1, description: no value; add one",
        "tag_rules, entry 3: 'a'",
    ]


@pytest.mark.parametrize(
    ("misuse", "cure"),
    [
        (lambda: Registry(wrong(str)), "pass one of the classes TagRule, Purpose"),
        (lambda: Registry(TagRule, [wrong(Purpose("a", "b", "c"))]), "pass entries of TagRule"),
        (lambda: Registry(TagRule, procedures="Expert Review"), r"pass \['Expert Review'\]"),
        (lambda: SHIPPED.tag_rules.merged(wrong(SHIPPED.purposes)), "pass a registry of TagRule"),
        (lambda: SHIPPED.tag_rules.merged(wrong(None)), "pass a registry of TagRule"),
        (lambda: SHIPPED.merged(wrong({})), "pass Registries"),
        (lambda: parse_json(wrong(None)), "as str or bytes, not NoneType"),
        (lambda: parse_json("{}", over=wrong(None)), "over must be Registries"),
        (lambda: load_registries(wrong(5)), "pass the path of a .json or .csv file"),
    ],
)
def test_misuse_has_a_fix(misuse: Callable[[], object], cure: str) -> None:
    """A wrong argument raises a TypeError that states what to pass."""
    with pytest.raises(TypeError, match=cure):
        misuse()


# --- Merging --------------------------------------------------------------------------------------


def test_a_users_file_is_laid_over_the_shipped_one() -> None:
    """Where both have an entry, the user's counts; it keeps its place, and new ones come after."""
    changed = {"name": "noindex", "description": "Our own words.", "reference": "there"}
    both = parse_json(json.dumps({"tag_rules": [TAG_RULE, changed]}))
    assert [rule.name for rule in both.tag_rules] == ["noindex", "nosnippet", "noarchive"]
    assert both.tag_rules.get("noindex") == TagRule(**changed)
    assert both.tag_rules.procedures == SHIPPED.tag_rules.procedures
    assert both.purposes == SHIPPED.purposes
    assert SHIPPED.merged(parse_json(json.dumps(GOOD), over=NOTHING)) == parse_json(
        json.dumps(GOOD)
    )


def test_files_are_laid_over_each_other() -> None:
    """`over` is the base of a file: applications of one, app directives of the next."""
    first = parse_json(json.dumps({"applications": [APPLICATION]}), over=NOTHING)
    second = parse_json(json.dumps({"directives": [DIRECTIVE]}), over=first)
    assert second.applications == first.applications
    assert second.directives.get(("ex", "widgets"))
    assert second.tag_rules == NOTHING.tag_rules


TEXT = st.text("ab é,\"'", min_size=1, max_size=5).filter(str.strip)
PURPOSES = st.builds(Purpose, st.text("abAB", min_size=1, max_size=2), TEXT, TEXT)
REGISTRY = st.builds(
    lambda entries, title: Registry(Purpose, entries, title=title),
    st.lists(PURPOSES, unique_by=lambda purpose: purpose.key, max_size=5),
    st.sampled_from(["", "One", "Two"]),
)


@given(REGISTRY, REGISTRY, REGISTRY)
def test_merging_is_associative(
    one: Registry[Purpose], two: Registry[Purpose], three: Registry[Purpose]
) -> None:
    """Merging is associative, an empty one has no effect, and the later entry always counts."""
    nothing = Registry(Purpose)
    assert one.merged(two).merged(three) == one.merged(two.merged(three))
    assert one.merged(nothing) == nothing.merged(one) == one.merged(one) == one
    both = one.merged(two)
    assert {entry.key for entry in both} == {entry.key for entry in (*one, *two)}
    for entry in both:
        assert entry == (two.get(entry.token) or one.get(entry.token))


# --- The two forms --------------------------------------------------------------------------------


def test_the_examples_are_registries() -> None:
    """The files in examples/ are as the documentation describes them."""
    everything = load_registries(EXAMPLES / "registries.json")
    assert [len(registry) for registry in everything] == [3, 1, 1, 2]
    cards = everything.directives.get(("examplesearch", "cards"))
    assert cards
    assert cards.status == "deprecated"
    purposes = load_registries(str(EXAMPLES / "purposes.csv")).purposes
    assert [entry.token[-1] for entry in purposes] == ["1", "2", "3"]


@given(REGISTRY)
def test_json_and_csv_give_back_what_was_written(registry: Registry[Purpose]) -> None:
    """`as_dict()` is the JSON form, and both forms hold every entry as it is."""
    whole = Registries(purposes=registry)
    assert parse_json(json.dumps(whole.as_dict()), over=NOTHING) == whole
    out = io.StringIO()
    writer = csv.DictWriter(out, Purpose._fields)
    writer.writeheader()
    writer.writerows(entry.as_dict() for entry in registry)
    assert list(parse_csv(out.getvalue(), over=NOTHING).purposes) == list(registry)


def test_optional_fields_may_be_left_out() -> None:
    """AMB-106: an application may have no product token; also as JSON null or an empty cell."""
    without = {key: value for key, value in APPLICATION.items() if key != "product_token"}
    for entry in (without, without | {"product_token": None}):
        read = parse_json(json.dumps({"applications": [entry]}))
        assert read.applications.get("ex") == Application("ex", None, "Ex Inc")
    for text in (
        "change_controller,identifier\nEx Inc,ex\n",
        "identifier,product_token,change_controller\r\n\r\nex,,Ex Inc\r\n",
        "\ufeffidentifier,product_token,change_controller\nex,,Ex Inc",
    ):
        read = parse_csv(text)
        assert read.applications.get("ex") == Application("ex", None, "Ex Inc")
        assert parse_csv(text.encode()) == read


def test_the_header_names_the_registry() -> None:
    """A CSV file has one registry, recognized by its columns, in any order."""
    for section, (entry,) in GOOD.items():
        columns = sorted(entry)
        quoted = ",".join('"' + entry[column].replace('"', '""') + '"' for column in columns)
        over = parse_json(json.dumps({"applications": [APPLICATION]}), over=NOTHING)
        read = parse_csv(",".join(columns) + "\n" + quoted, over=over)
        assert getattr(read, section).as_dict()["entries"][0].items() >= entry.items()


def test_load_goes_by_the_name(tmp_path: Path) -> None:
    """`.json` and `.csv`, in any case; others raise an error with a fix; OSError is Python's."""
    for name, text in (("a.JSON", json.dumps(GOOD)), ("b.Csv", "token,description,reference\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert len(load_registries(tmp_path / name).tag_rules) >= 2
    (reason,) = rejected(lambda: load_registries(tmp_path / "c.toml"))
    assert "parse_json() or parse_csv()" in reason
    with pytest.raises(FileNotFoundError):
        load_registries(tmp_path / "none.json")


def test_a_reason_names_the_file(tmp_path: Path) -> None:
    """Every line of an error starts with the file it is about."""
    path = tmp_path / "mine.csv"
    path.write_text("token,description,reference\na b,,x\n", encoding="utf-8")
    reasons = rejected(lambda: load_registries(path))
    assert len(reasons) == 2
    assert all(reason.startswith(f"{path}, line 2, ") for reason in reasons)


# --- What is rejected: fields ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("tag_rules", "name", "unavailable_after"),  # AMB-81
        ("tag_rules", "name", "max-snippet"),
        ("tag_rules", "name", "*a.b"),
        ("purposes", "token", "ExamplePurpose"),
        ("purposes", "token", "a/b;c"),
        ("purposes", "description", "Für alle \u200c Schriften"),
        ("applications", "identifier", "*"),
        ("applications", "identifier", "A:b/c#1"),
        ("applications", "product_token", "Example-Bot_x"),
        *(("directives", "value_type", word) for word in VALUE_TYPES),
        *(("directives", "status", word) for word in STATUSES),
        ("directives", "documentation", "HTTP://e.example"),
        ("directives", "change_controller", "Ex Inc"),
        ("directives", "change_controller", None),
    ],
)
def test_valid_fields(section: str, field: str, value: object) -> None:
    """What the drafts allow to register can be loaded."""
    read = parse_json(with_changed(section, **{field: value}), over=NOTHING)
    entry = next(iter(getattr(read, section)))
    assert getattr(entry, field) == value


@pytest.mark.parametrize(
    ("section", "field", "value", "what"),
    [
        # APP-3.2-01, SF-3.1.2-01, AMB-81: names are keys of parameters
        ("directives", "name", "Widgets", "is not a Structured Fields key"),
        ("directives", "name", "w=1", "is not a Structured Fields key"),
        ("directives", "name", "w=?1", "is not a Structured Fields key"),
        ("directives", "name", "w;x", "is not a Structured Fields key"),
        ("directives", "name", "w;w", "is not a Structured Fields key"),
        ("directives", "name", " w", "is not a Structured Fields key"),
        ("directives", "name", "w ", "is not a Structured Fields key"),
        ("directives", "name", "é", "is not a Structured Fields key"),
        ("tag_rules", "name", "noIndex", "is not a Structured Fields key"),
        ("tag_rules", "name", "1", "is not a Structured Fields key"),
        # APP-3.1-01, SF-3.3.4-01: identifiers are Tokens
        ("applications", "identifier", "1abc", "is not a Token"),
        ("applications", "identifier", "_a", "is not a Token"),
        ("applications", "identifier", '"a"', "is not a Token"),
        ("applications", "identifier", "?1", "is not a Token"),
        ("applications", "identifier", "a;b", "is not a Token"),
        ("applications", "identifier", "a,b", "is not a Token"),
        ("applications", "identifier", " a", "is not a Token"),
        ("applications", "identifier", "ä", "is not a Token"),
        ("directives", "application", "1abc", "is not a Token"),
        # RFC 9309 §2.2.1
        ("applications", "product_token", "Ex/1.0", "is not a product token"),
        ("applications", "product_token", "*", "is not a product token"),
        ("applications", "product_token", "", "no value; add one"),
        # AMB-97, AMB-98
        ("purposes", "token", "*", "is not a valid purpose"),
        ("purposes", "token", "a b", "is not a valid purpose"),
        ("purposes", "token", "a#b", "is not a valid purpose"),
        ("purposes", "token", "é", "is not a valid purpose"),
        # APP-3.2-01, APP-3.2-02
        ("directives", "value_type", "boolean", "write one of Integer, Decimal, String"),
        ("directives", "value_type", "Inner List", "write one of Integer, Decimal, String"),
        ("directives", "status", "old", "write one of active, deprecated"),
        ("directives", "documentation", "ex.example/widgets", "is not the URL of a page"),
        ("directives", "documentation", "javascript:x", "is not the URL of a page"),
        ("directives", "documentation", "https://", "is not the URL of a page"),
        ("directives", "documentation", "https://e.example/a b", "is not the URL of a page"),
        # every field
        ("tag_rules", "description", "", "no value; add one"),
        ("tag_rules", "description", None, "no value; add one"),
        ("tag_rules", "description", "  ", "only spaces"),
        ("tag_rules", "description", 5, "5 is not text"),
        ("tag_rules", "description", ["a"], "a list is not text"),
        ("tag_rules", "description", {"a": 1}, "an object is not text"),
        ("tag_rules", "description", "a\nb", "control character"),
        ("tag_rules", "description", "\x1b[31m", "control character"),
        ("tag_rules", "description", "\ud800", "control character"),
        ("applications", "change_controller", None, "no value; add one"),
        ("directives", "change_controller", "", "no value; add one"),
    ],
)
def test_invalid_fields(section: str, field: str, value: object, what: str) -> None:
    """The error names only the invalid field, with the reason."""
    (reason,) = rejected(lambda: parse_json(with_changed(section, **{field: value}), "f.json"))
    assert reason.startswith(f"f.json, {section}, entry 1, {field}: ")
    assert what in reason
    assert "; " in reason


@given(st.text(st.characters(codec="ascii"), max_size=4) | st.text(max_size=3))
def test_the_grammar_is_that_of_structured_fields(text: str) -> None:
    """A name is taken exactly when http-sf would write it as a key, or as a Token."""

    def taken(of: type, *fields: Any) -> bool:
        try:
            Registry(of, [of(*fields)])
        except RegistryError:
            return False
        return True

    def written(value: Any) -> bool:
        try:
            return http_sf.ser(value) is not None
        except (ValueError, TypeError):
            return False

    assert taken(TagRule, text, "a", "b") == written(("a", {text: True}))
    assert taken(Application, text, None, "b") == written(http_sf.Token(text))


def test_long_values_are_shown_in_part() -> None:
    """A message stays readable, whatever the file holds."""
    (reason,) = rejected(lambda: parse_json(with_changed("purposes", token="a " * 9_999)))
    assert len(reason) < 250


# --- What is rejected: entries --------------------------------------------------------------------


def test_every_reason_is_listed() -> None:
    """One load lists all errors, in all registries of the file."""
    text = json.dumps(
        {
            "applications": [APPLICATION, {"identifier": "1abc", "product_token": "a/1"}],
            "directives": [DIRECTIVE | {"name": "W", "status": "old", "application": "none"}],
        }
    )
    reasons = rejected(lambda: parse_json(text, "f.json"))
    assert [reason.split(": ")[0] for reason in reasons] == [
        "f.json, applications, entry 2, identifier",
        "f.json, applications, entry 2, product_token",
        "f.json, applications, entry 2, change_controller",
        "f.json, directives, entry 1, name",
        "f.json, directives, entry 1, status",
        "f.json, directives, entry 1, application",
    ]


def test_one_registers_only_for_applications_one_controls() -> None:
    """APP-3.2-03: another change controller than the application's is rejected."""
    text = with_changed("directives", change_controller="Somebody")
    (reason,) = rejected(lambda: parse_json(text, "f.json"))
    assert reason == (
        "f.json, directives, entry 1, change_controller: 'Somebody' is not the change "
        "controller of 'ex'; write 'Ex Inc', or leave it out"
    )


def test_an_app_directive_needs_its_application() -> None:
    """APP-3.2-01: the identifier is a value from the other registry, of this file or before."""
    (reason,) = rejected(lambda: parse_json(json.dumps({"directives": [DIRECTIVE]}), "f.json"))
    assert reason.startswith("f.json, directives, entry 1, application: 'ex' is not a registered")
    header = ",".join(DIRECTIVE)
    line = ",".join(DIRECTIVE.values())
    (reason,) = rejected(lambda: parse_csv(f"{header}\n{line}\n", "f.csv"))
    assert reason.startswith("f.csv, line 2, application: 'ex' is not a registered")


def test_a_rejected_application_is_reported_once() -> None:
    """That its app directives then have no application is not reported as well."""
    text = with_changed("applications", change_controller="")
    (reason,) = rejected(lambda: parse_json(text, "f.json"))
    assert "applications, entry 1, change_controller" in reason


def test_an_application_does_not_change_hands_alone() -> None:
    """APP-3.2-03 holds for the whole: entries that name the old controller may not stay."""
    before = parse_json(with_changed("directives", change_controller="Ex Inc"), over=NOTHING)
    taken = APPLICATION | {"change_controller": "New Inc"}
    text = json.dumps({"applications": [taken]})
    (reason,) = rejected(lambda: parse_json(text, "f.json", over=before))
    assert reason.startswith(
        "f.json, applications, entry 1, change_controller: conflict with app directive 'widgets'"
    )
    (reason,) = rejected(lambda: before.merged(parse_json(text, over=NOTHING)))
    assert reason.startswith("directives, ('ex', 'widgets'), change_controller: 'Ex Inc' is not")
    same = json.dumps({"applications": [APPLICATION | {"product_token": "NewBot"}]})
    assert parse_json(same, over=before).directives == before.directives
    moved = DIRECTIVE | {"change_controller": "New Inc"}
    after = parse_json(json.dumps({"applications": [taken], "directives": [moved]}), over=before)
    assert [entry.change_controller for entry in after.directives] == ["New Inc"]


@pytest.mark.parametrize(
    ("section", "twin"),
    [
        ("tag_rules", {"description": "Another."}),
        ("purposes", {"token": "example-purpose-1"}),  # PUR-3.2-04
        ("applications", {"product_token": "OtherBot"}),
        ("directives", {"value_type": "Integer"}),
    ],
)
def test_an_entry_occurs_once_in_a_file(section: str, twin: dict[str, str]) -> None:
    """Of two entries with one key, one would be lost silently: the file is rejected."""
    (entry,) = GOOD[section]
    text = json.dumps(GOOD | {section: [entry, entry | twin]})
    (reason,) = rejected(lambda: parse_json(text, "f.json"))
    assert reason.startswith(f"f.json, {section}, entry 2: ")
    assert f"is a duplicate of {section}, entry 1; remove one" in reason


def test_identifiers_that_differ_in_case_are_two() -> None:
    """AMB-107: Tokens have case."""
    text = json.dumps({"applications": [APPLICATION, APPLICATION | {"identifier": "EX"}]})
    assert len(parse_json(text).applications) == 2


# --- What is rejected: files ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "f, line 1, column 1: not JSON"),
        ('{"purposes": [}', "f, line 1, column 15: not JSON"),
        ("[" * 100_000, "f: not the JSON of a registry file"),
        (f'{{"purposes": {"9" * 5000}}}', "f: not the JSON of a registry file"),
        ("[]", "f: a list is not an object"),
        ("null", "f: None is not an object"),
        (b"\xff\xfe{", "f, byte 0: not UTF-8"),
        ('{"rules": []}', "f, 'rules': unknown name; write one of applications"),
        ('{"purposes": [], "purposes": []}', "f, 'purposes': duplicate name; remove one"),
        ('{"purposes": 5}', "f, purposes: there is no list of entries"),
        ('{"purposes": null}', "f, purposes: there is no list of entries"),
        ('{"purposes": {}}', "f, purposes: there is no list of entries"),
        (
            '{"purposes": ["a"]}',
            "f, purposes, entry 1: 'a' is not an object; write an object with to",
        ),
        ('{"purposes": {"entries": [], "policy": ""}}', "f, purposes, 'policy': unknown name"),
        ('{"purposes": {"entries": [], "title": 1}}', "f, purposes, title: 1 is not valid"),
        (
            '{"purposes": {"entries": [], "procedures": "x"}}',
            "f, purposes, procedures: 'x' is not valid",
        ),
        ('{"purposes": {"entries": [], "procedures": [1]}}', "f, purposes, procedures: a list"),
    ],
)
def test_other_json_files(text: str | bytes, reason: str) -> None:
    """A JSON file with another shape is rejected with position and reason."""
    (told,) = rejected(lambda: parse_json(text, "f"))
    assert told.startswith(reason)
    assert "; " in told


def test_unknown_fields_are_rejected() -> None:
    """A misspelt or repeated field would be lost silently."""
    (reason,) = rejected(lambda: parse_json(with_changed("purposes", referense="x"), "f"))
    assert reason.startswith("f, purposes, entry 1, 'referense': unknown name; write one")
    text = '{"tag_rules": [{"name":"a","description":"A","reference":"x","name":"b"}]}'
    (reason,) = rejected(lambda: parse_json(text, "f"))
    assert reason == "f, tag_rules, entry 1, 'name': duplicate name; remove one"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "f, line 1: there is no header; write name,description,reference or token"),
        ("\n\n", "f, line 1: there is no header"),
        ("name,description\n", "f, line 1: unknown header 'name,description'; write"),
        (
            "\nname,description,reference,x\n",
            "f, line 2: unknown header 'name,description,reference,x';",
        ),
        (
            "token,token,description,reference\n",
            "f, line 1: unknown header 'token,token,description,reference';",
        ),
        (
            "token;description;reference\n",
            "f, line 1: unknown header 'token;description;reference';",
        ),
        ("token,description,reference\na,b\n", "f, line 2: 2 cells in 3 columns"),
        ("token,description,reference\na,b,c,d\n", "f, line 2: 4 cells in 3 columns"),
        ('token,description,reference\na,"b,c', "f, line 2: not CSV"),
        ('token,description,reference\na,"b"c,d', "f, line 2: not CSV"),
        (
            'token,description,reference\nx,"y\nz",r\n',
            "f, line 2, description: 'y\\nz' has a control character",
        ),
        ("token,description,reference\n\na,,c\n", "f, line 3, description: no value; add one"),
        (b"\xff", "f, byte 0: not UTF-8"),
    ],
)
def test_other_csv_files(text: str | bytes, reason: str) -> None:
    """A file without a known header, or with invalid lines, is rejected with line and reason."""
    (told,) = rejected(lambda: parse_csv(text, "f"))
    assert told.startswith(reason)
    assert "; " in told


def test_lines_are_counted_past_texts_of_several_lines() -> None:
    """The line named is the one an entry starts in."""
    text = 'token,description,reference\na,"x\n\ny",r\nb,,r\n'
    reasons = rejected(lambda: parse_csv(text, "f"))
    assert [reason.split(",")[1] for reason in reasons] == [" line 2", " line 5"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
FIELDS = sorted({field for schema in SCHEMAS for field in schema.fields})
ENTRIES = st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES) | VALUES, max_size=3)
FILES = st.dictionaries(st.sampled_from(Registries._fields), ENTRIES | VALUES) | VALUES


@given(FILES.map(json.dumps) | st.text() | st.binary(), st.sampled_from([parse_json, parse_csv]))
def test_a_file_is_read_or_rejected(text: str | bytes, read: Any) -> None:
    """Any file gives registries, or a RegistryError with a fix in every line."""
    try:
        found = read(text, "f")
    except RegistryError as error:
        for reason in str(error).split("\n"):
            assert reason.startswith("f")
            assert "; " in reason
    else:
        assert isinstance(found, Registries)
