"""
Entries: what one line of each registry holds, and what is wrong with one that cannot be used.

    TagRule          a word of Robots-Tag or of a robots meta element   draft-illyes-repext §5.2
    Purpose          a value of User-Agent-Purpose                      draft-illyes-rep-purpose
    Application      who App-Directives can be for                      draft-nottingham-plan-b §3.1
    DirectiveEntry   what an application lets sites say to it           draft-nottingham-plan-b §3.2

`FORMS` says of each what its fields may be. Grammar of Structured Fields is decided by http-sf,
which is imported when the first name is looked at. An entry does not know the registry it is in,
nor where it was read.
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
    """A word for use in a Robots-Tag field or a robots meta element, such as noindex."""

    name: str
    description: str
    reference: str

    @property
    def key(self) -> str:
        """What it is found by: its name without case (draft-illyes-repext §3.1.3)."""
        return without_case(self.name)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Purpose(NamedTuple):
    """What a crawler fetches for, as a User-Agent-Purpose line names it."""

    token: str
    description: str
    reference: str

    @property
    def key(self) -> str:
        """What it is found by: its token without case (PUR-3.2-04)."""
        return without_case(self.token)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Application(NamedTuple):
    """An application that sites can address in App-Directives."""

    identifier: str
    product_token: str | None
    """What its crawler is called in a robots.txt; None: it uses the `*` group (AMB-106)."""
    change_controller: str
    """Who may change this entry and the app directives of the application."""

    @property
    def key(self) -> str:
        """What it is found by: its identifier, case and all (AMB-107)."""
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
    """The URL of a page that says more."""
    status: str
    """One of `STATUSES`."""
    change_controller: str | None = None
    """None, or the same as that of the application (APP-3.2-03)."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is found by: application and name, case and all (AMB-107)."""
        return self.application, self.name

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


Entry = TagRule | Purpose | Application | DirectiveEntry
E = TypeVar("E", bound=Entry)


# What is wrong with a text, and the cure; None: nothing.
Check = Callable[[str], tuple[str, str] | None]


class Fault(NamedTuple):
    """Why a field of an entry cannot be used, and the cure."""

    field: str
    what: str
    cure: str

    def __str__(self) -> str:
        return f"{self.field}: {self.what}; {self.cure}"


class EntrySchema(NamedTuple):
    """What the entries of a registry look like."""

    section: str
    """The name of the registry in `Registries` and in a JSON file."""
    of: type[Any]
    """The class of its entries."""
    checks: dict[str, Check]
    """What is wrong with the text of a field, if anything."""
    optional: frozenset[str] = frozenset()
    folded: bool = False
    """Whether entries are found without regard to case."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(self.of._fields)

    @property
    def key_fields(self) -> tuple[str, ...]:
        """The fields that an entry is found by."""
        return self.fields[: 2 if self.of is DirectiveEntry else 1]

    def key(self, given: Key) -> Key:
        """Return what an entry would be kept under that somebody asks for by this key."""
        return without_case(given) if self.folded and not isinstance(given, tuple) else given

    def faults(self, entry: Entry) -> Iterator[Fault]:
        """Yield what is wrong with each field of an entry."""
        values: tuple[Any, ...] = entry
        for field, value in zip(self.fields, values, strict=True):
            if value is None and field in self.optional:
                continue
            wrong = not_text(value) or self.checks.get(field, _nothing)(value)
            if wrong:
                yield Fault(field, *wrong)


def without_case(text: str) -> str:
    """Return text for comparing without case; no letter beyond ASCII equals one of ASCII."""
    return text.lower() if text.isascii() else text


def shown(value: object) -> str:
    """Return a value for a message: bounded, and on one line."""
    if isinstance(value, (list, dict)):  # of a file, and as deep as that likes
        return "a list" if isinstance(value, list) else "an object"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:56]}...{text[-1]}"


# --- What texts may be ----------------------------------------------------------------------------

# A name from a file ends up in terminals and in JSON: controls, line separators and surrogates do
# harm there and have no meaning here.
_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"


def _nothing(_: str) -> None:
    return None


def not_text(value: object) -> tuple[str, str] | None:
    """Say what is wrong with a value that should be one line of text, and the cure."""
    if value is None or value == "":
        return "nothing is given", "write what belongs there"
    if not isinstance(value, str):
        return f"{shown(value)} is no text", "write a string"
    if not value.strip():
        return "there are only spaces", "write what belongs there"
    if re.search(_CONTROL, value):
        return f"{shown(value)} holds a control character or line break", "write one line of text"
    return None


def _token(text: str) -> tuple[str, str] | None:
    import http_sf

    try:
        value, _ = _item(text)
    except ValueError:  # not ASCII, or no Structured Field
        pass
    else:
        # The parser takes spaces at the ends and parameters, and the registry does not.
        if isinstance(value, http_sf.Token) and str(value) == text:
            return None
    return (
        f"{shown(text)} is no Token (RFC 9651 §3.3.4)",
        "start with a letter or '*' and go on with letters, digits and !#$%&'*+-.^_`|~:/",
    )


def _key(text: str) -> tuple[str, str] | None:
    try:
        _, parameters = _item(f"a;{text}")
    except ValueError:
        pass
    else:
        if parameters == {text: True}:
            return None
    return (
        f"{shown(text)} is no Structured Fields key (RFC 9651 §3.1.2)",
        "start with a lower-case letter or '*' and go on with those, digits, '_', '-' and '.'",
    )


def _item(text: str) -> tuple[object, dict[str, Any]]:
    import http_sf

    item: Any = http_sf.parse(text.encode("ascii"), tltype="item")
    value, parameters = item
    return value, parameters


def _purpose(text: str) -> tuple[str, str] | None:
    # The draft has no grammar for tokens, only examples with digits (AMB-98). These are the texts
    # that can stand in a line of a robots.txt and in a User-Agent header, which both have to hold
    # them. `*` names nobody (AMB-97).
    if re.fullmatch(r"[!-\"$-~]+", text) and text != "*":
        return None
    return (
        f"{shown(text)} cannot be a purpose",
        "write visible ASCII without spaces and '#', and not '*' alone",
    )


def _product(text: str) -> tuple[str, str] | None:
    if is_product_token(text):
        return None
    return (
        f"{shown(text)} is no product token (RFC 9309 §2.2.1)",
        "write letters, '_' and '-' only, or leave it out",
    )


def _url(text: str) -> tuple[str, str] | None:
    if re.fullmatch(r"https?://[^\s/?#]\S*", text, re.IGNORECASE):
        return None
    return f"{shown(text)} is no URL of a page", "write one that starts with https:// or http://"


def _one_of(words: tuple[str, ...]) -> Check:
    def _word(text: str) -> tuple[str, str] | None:
        known = ", ".join(words)
        return None if text in words else (f"{shown(text)} is not known", f"write one of {known}")

    return _word


FORMS = (
    EntrySchema("tag_rules", TagRule, {"name": _key}, folded=True),  # keys of parameters: AMB-81
    EntrySchema("purposes", Purpose, {"token": _purpose}, folded=True),
    EntrySchema(
        "applications",
        Application,
        {"identifier": _token, "product_token": _product},
        frozenset({"product_token"}),
    ),
    EntrySchema(
        "directives",
        DirectiveEntry,
        {
            "application": _token,
            "name": _key,
            "value_type": _one_of(VALUE_TYPES),
            "documentation": _url,
            "status": _one_of(STATUSES),
        },
        frozenset({"change_controller"}),
    ),
)


def form_of(of: type[Any]) -> EntrySchema:
    """Return the form of a class of entries."""
    for form in FORMS:
        if form.of is of:
            return form
    known = ", ".join(form.of.__name__ for form in FORMS)
    raise TypeError(f"there is no registry of {shown(of)}: pass one of the classes {known}")
