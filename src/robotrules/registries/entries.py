"""
Entries of the registries, and the validation of their fields.

    TagRule          a rule of Robots-Tag or of a robots meta element   draft-illyes-repext §5.2
    Purpose          a value of User-Agent-Purpose                      draft-illyes-rep-purpose
    Application      an application that App-Directives can address     draft-nottingham-plan-b §3.1
    DirectiveEntry   an app directive of an application                 draft-nottingham-plan-b §3.2

`SCHEMAS` has the fields of each and their checks. http-sf checks the grammar of Structured Fields;
it is imported on first use. An entry has no reference to its registry or file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from robotrules.robotstxt.tokens import is_product_token

# draft-nottingham-plan-b §3.2, in its order.
VALUE_TYPES = (
    *("Integer", "Decimal", "String", "Token"),
    *("Byte Sequence", "Boolean", "Date", "Display String"),
)
STATUSES = ("active", "deprecated")

Key = str | tuple[str, str]


class TagRule(NamedTuple):
    """A rule for a Robots-Tag field or a robots meta element, such as noindex."""

    name: str
    description: str
    reference: str

    @property
    def key(self) -> str:
        """The lookup key: its name, case-insensitive (draft-illyes-repext §3.1.3)."""
        return fold_case(self.name)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Purpose(NamedTuple):
    """A purpose of crawlers, as in a User-Agent-Purpose line."""

    token: str
    description: str
    reference: str

    @property
    def key(self) -> str:
        """The lookup key: its token, case-insensitive (PUR-3.2-04)."""
        return fold_case(self.token)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Application(NamedTuple):
    """An application that sites can address in App-Directives."""

    identifier: str
    product_token: str | None
    """The product token of its crawler; None: it uses the `*` group (AMB-106)."""
    change_controller: str
    """The party that may change this entry and the app directives of the application."""

    @property
    def key(self) -> str:
        """The lookup key: its identifier, case-sensitive (AMB-107)."""
        return self.identifier

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class DirectiveEntry(NamedTuple):
    """An app directive that an application has registered."""

    application: str
    name: str
    value_type: str
    """One of `VALUE_TYPES`."""
    description: str
    documentation: str
    """The URL of its documentation."""
    status: str
    """One of `STATUSES`."""
    change_controller: str | None = None
    """None, or the same as that of the application (APP-3.2-03)."""

    @property
    def key(self) -> tuple[str, str]:
        """The lookup key: application and name, case-sensitive (AMB-107)."""
        return self.application, self.name

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


Entry = TagRule | Purpose | Application | DirectiveEntry
E = TypeVar("E", bound=Entry)


# What is wrong with a text, and how to fix it; None: nothing.
Check = Callable[[str], tuple[str, str] | None]


class Fault(NamedTuple):
    """Why a field of an entry cannot be used, and how to fix it."""

    field: str
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; {self.fix}"


class EntrySchema(NamedTuple):
    """The fields of a registry's entries and their checks."""

    section: str
    """The name of the registry in `Registries` and in a JSON file."""
    of: type[Any]
    """The class of its entries."""
    checks: dict[str, Check]
    """The checks of fields with a grammar, by field."""
    optional: frozenset[str] = frozenset()
    folded: bool = False
    """Whether lookup is case-insensitive."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(self.of._fields)

    @property
    def key_fields(self) -> tuple[str, ...]:
        """The fields of the lookup key."""
        return self.fields[: 2 if self.of is DirectiveEntry else 1]

    def key(self, given: Key) -> Key:
        """Return the lookup key for a given name."""
        return fold_case(given) if self.folded and not isinstance(given, tuple) else given

    def faults(self, entry: Entry) -> Iterator[Fault]:
        """Yield the faults of each field of an entry."""
        values: tuple[Any, ...] = entry
        for field, value in zip(self.fields, values, strict=True):
            if value is None and field in self.optional:
                continue
            problem = check_text(value) or self.checks.get(field, _accept)(value)
            if problem:
                yield Fault(field, *problem)


def fold_case(text: str) -> str:
    """Return text for case-insensitive comparison; only ASCII letters are folded."""
    return text.lower() if text.isascii() else text


def quote(value: object) -> str:
    """Return a value for a message: bounded, on one line."""
    if isinstance(value, (list, dict)):  # from a file, possibly nested deeply
        return "a list" if isinstance(value, list) else "an object"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:56]}...{text[-1]}"


# --- Checks of texts ------------------------------------------------------------------------------

# Names from files are shown in terminals and in JSON: controls, line separators and surrogates are
# harmful there and have no use here.
_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"


def _accept(_: str) -> None:
    return None


def check_text(value: object) -> tuple[str, str] | None:
    """Return what is wrong with a value that must be one line of text, and how to fix it."""
    if value is None or value == "":
        return "no value", "add one"
    if not isinstance(value, str):
        return f"{quote(value)} is not text", "write a string"
    if not value.strip():
        return "only spaces", "add a value"
    if re.search(_CONTROL, value):
        return f"{quote(value)} has a control character or line break", "write one line of text"
    return None


def _check_token(text: str) -> tuple[str, str] | None:
    import http_sf

    try:
        value, _ = _parse_item(text)
    except ValueError:  # not ASCII, or not a Structured Field
        pass
    else:
        # The parser accepts spaces at the ends and parameters; the registry does not.
        if isinstance(value, http_sf.Token) and str(value) == text:
            return None
    return (
        f"{quote(text)} is not a Token (RFC 9651 §3.3.4)",
        "start with a letter or '*' and continue with letters, digits and !#$%&'*+-.^_`|~:/",
    )


def _check_key(text: str) -> tuple[str, str] | None:
    try:
        _, parameters = _parse_item(f"a;{text}")
    except ValueError:
        pass
    else:
        if parameters == {text: True}:
            return None
    return (
        f"{quote(text)} is not a Structured Fields key (RFC 9651 §3.1.2)",
        "start with a lower-case letter or '*' and continue with these, digits, '_', '-' and '.'",
    )


def _parse_item(text: str) -> tuple[object, dict[str, Any]]:
    import http_sf

    item: Any = http_sf.parse(text.encode("ascii"), tltype="item")
    value, parameters = item
    return value, parameters


def _check_purpose(text: str) -> tuple[str, str] | None:
    # The draft has no grammar for tokens, only examples with digits (AMB-98). These texts can be in
    # a line of a robots.txt and in a User-Agent header, as both are required. `*` matches no
    # crawler (AMB-97).
    if re.fullmatch(r"[!-\"$-~]+", text) and text != "*":
        return None
    return (
        f"{quote(text)} is not a valid purpose",
        "write visible ASCII without spaces and '#', and not '*' alone",
    )


def _check_product_token(text: str) -> tuple[str, str] | None:
    if is_product_token(text):
        return None
    return (
        f"{quote(text)} is not a product token (RFC 9309 §2.2.1)",
        "write letters, '_' and '-' only, or leave it out",
    )


def _check_url(text: str) -> tuple[str, str] | None:
    if re.fullmatch(r"https?://[^\s/?#]\S*", text, re.IGNORECASE):
        return None
    return f"{quote(text)} is not the URL of a page", "start with https:// or http://"


def _check_choice(choices: tuple[str, ...]) -> Check:
    def _check(text: str) -> tuple[str, str] | None:
        known = ", ".join(choices)
        return None if text in choices else (f"unknown {quote(text)}", f"write one of {known}")

    return _check


SCHEMAS = (
    # The names of tag rules are keys of parameters (AMB-81).
    EntrySchema("tag_rules", TagRule, {"name": _check_key}, folded=True),
    EntrySchema("purposes", Purpose, {"token": _check_purpose}, folded=True),
    EntrySchema(
        "applications",
        Application,
        {"identifier": _check_token, "product_token": _check_product_token},
        frozenset({"product_token"}),
    ),
    EntrySchema(
        "directives",
        DirectiveEntry,
        {
            "application": _check_token,
            "name": _check_key,
            "value_type": _check_choice(VALUE_TYPES),
            "documentation": _check_url,
            "status": _check_choice(STATUSES),
        },
        frozenset({"change_controller"}),
    ),
)


def find_schema(of: type[Any]) -> EntrySchema:
    """Return the schema of a class of entries."""
    for schema in SCHEMAS:
        if schema.of is of:
            return schema
    known = ", ".join(schema.of.__name__ for schema in SCHEMAS)
    raise TypeError(f"there is no registry of {quote(of)}: pass one of the classes {known}")
