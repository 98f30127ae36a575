"""
Tag rules as text: a Robots-Tag value, optionally X-Robots-Tag fields, meta elements.

    robots_tag({"*": ["nosnippet"], "ExampleBot": {"noindex": True, "max-snippet": 20}})

`robotrules.tags` and every parser that follows the documents read the text back as intended; rules
that cannot be written so raise `WriteError`. X-Robots-Tag is written only on request
(draft-illyes-repext §5.3).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches

from robotrules.errors import WriteError
from robotrules.http.structured_fields import parse_list, serialise
from robotrules.registries import SHIPPED, Registries
from robotrules.tags.known_rules import (
    EVERYONE,
    KNOWN,
    NO_LIMIT,
    NONE,
    PREVIEWS,
    ROBOTS,
    Value,
    ValueKind,
    to_json_value,
)
from robotrules.tags.profile import LEAST_BYTES

# The rules for each product token: names, or names with values.
TagRules = Mapping[str, Iterable[str] | Mapping[str, Value]]

# RFC 9651 §3.1.2 and §3.3.4.
_KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
_TOKEN = re.compile(r"[A-Za-z*][\w!#$%&'*+.^`|~:/-]*", re.ASCII)
# The scope in X-Robots-Tag, or the name of a meta element.
_NAME = re.compile(r"[-\w.+]+", re.ASCII)


def robots_tag(rules: TagRules, *, registries: Registries = SHIPPED) -> str:
    """
    Return the value of a Robots-Tag field (draft-illyes-repext §3.1.1).

    A product token is written as a Token, or as a String if it is not a valid Token (AMB-65). A
    value longer than 8 KiB raises WriteError: crawlers need not read more.
    """
    members = []
    for token, named in _validate(rules, registries):
        parameters = "".join(_format_parameter(name, value) for name, value in named.items())
        members.append(f"{_format_token(token)}{parameters}")
    return _check_length(", ".join(members), "Robots-Tag")


def robots_tag_fields(
    rules: TagRules, *, legacy: bool = False, registries: Registries = SHIPPED
) -> list[tuple[str, str]]:
    """
    Return field lines, each a name and a value: one Robots-Tag, or none if there is no rule.

    *legacy* adds X-Robots-Tag lines for crawlers that read only these, one for each product token,
    so that the scope of one does not apply to the rules of another (AMB-82).
    """
    value = robots_tag(rules, registries=registries)
    fields = [("Robots-Tag", value)] if value else []
    if legacy:
        for token, named in _validate(rules, registries):
            scope = "" if token == EVERYONE else f"{_format_scope(token)}: "
            text = ", ".join(_format_legacy_rule(name, one) for name, one in named.items())
            fields.append(("X-Robots-Tag", _check_length(f"{scope}{text}", "X-Robots-Tag")))
    return fields


def meta_elements(rules: TagRules, *, registries: Registries = SHIPPED) -> str:
    """Return meta elements for the head of a page, one per line (draft-illyes-repext §3.1.2)."""
    lines = []
    for token, named in _validate(rules, registries):
        name = ROBOTS if token == EVERYONE else _format_meta_name(token)
        content = ", ".join(_format_legacy_rule(rule, value) for rule, value in named.items())
        lines.append(f'<meta name="{name}" content="{html.escape(content)}">\n')
    return "".join(lines)


# --- Validation ---------------------------------------------------------------------------------


def _validate(rules: TagRules, registries: Registries) -> Iterator[tuple[str, dict[str, Value]]]:
    if not isinstance(rules, Mapping):
        raise TypeError(
            "tag rules must map product tokens to rules, such as {'*': ['noindex']}; "
            f"not {type(rules).__name__}"
        )
    for token, named in rules.items():
        if (
            not isinstance(token, str)
            or not token
            or not token.isascii()
            or not token.isprintable()
        ):
            raise WriteError(f"{token!r} is not a product token: use letters, '_' and '-', or '*'")
        if token != token.strip():
            raise WriteError(f"{token!r} has spaces at its ends: remove them")
        if ":" in token or token.lower() in KNOWN or token.lower() == NONE:
            raise WriteError(
                f"{token!r} would be read as a rule, not as a crawler: use the crawler's product "
                "token"
            )
        if isinstance(named, (str, bytes)) or not isinstance(named, Iterable):
            raise TypeError(f"the rules for {token!r} must be a list or a mapping, not {named!r}")
        given = dict(named) if isinstance(named, Mapping) else dict.fromkeys(named, True)
        if given:
            yield (
                token,
                {_validate_name(n, registries): _validate_value(n, v) for n, v in given.items()},
            )


def _validate_name(name: object, registries: Registries) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a tag rule must be a str such as 'noindex', not {name!r}")
    known = KNOWN.get(name)
    if name == NONE:
        raise WriteError("crawlers read 'none' differently: write 'noindex', 'nofollow' instead")
    if known is not None and known.kind is ValueKind.PERMITS:
        raise WriteError(f"{name!r} is the default and restricts nothing: leave it out")
    registered = registries.tag_rules.get(name) if _KEY.fullmatch(name) else None
    if known is None and registered is None:
        close = get_close_matches(name.lower(), KNOWN, 1)  # lower case: it may be a known rule
        hint = f"did you mean {close[0]!r}?" if close else "add it to a registry to write it"
        raise WriteError(f"unknown tag rule {name!r}; {hint}")
    if not _KEY.fullmatch(name):
        raise WriteError(
            f"{name!r} cannot be a parameter: use lower-case letters, digits, '-', '_'"
        )
    return name


def _validate_value(name: str, value: Value) -> Value:
    kind = KNOWN[name].kind if name in KNOWN else ValueKind.PLAIN
    fits: dict[ValueKind, bool] = {
        ValueKind.PLAIN: value is True,
        ValueKind.NUMBER: type(value) is int and NO_LIMIT <= value < 10**15,
        ValueKind.PREVIEW: value in PREVIEWS,
        ValueKind.DATE: isinstance(value, datetime) and value.tzinfo is not None,
    }
    if not fits[kind]:
        fix = {
            ValueKind.PLAIN: "it takes no value: use True, or leave it out",
            ValueKind.NUMBER: "use a number, 0 or more; -1 means no limit",
            ValueKind.PREVIEW: f"use one of {', '.join(PREVIEWS)}",
            ValueKind.DATE: "use a datetime with a time zone",
        }
        raise WriteError(f"{name} cannot be {value!r}: {fix[kind]}")
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(microsecond=0)
    return value


def _check_length(text: str, field: str) -> str:
    if len(text) > LEAST_BYTES:
        raise WriteError(
            f"{field} would have {len(text):,} bytes; crawlers need not read more than "
            f"{LEAST_BYTES:,} (draft-illyes-repext §3.1.1): name fewer crawlers"
        )
    return text


# --- Formatting ---------------------------------------------------------------------------------


def _format_token(token: str) -> str:
    if _TOKEN.fullmatch(token):
        return token
    text = serialise(token)
    if not parse_list(text.encode()).value:
        raise WriteError(f"{token!r} cannot be written as a product token")
    return text


def _format_parameter(name: str, value: Value) -> str:
    if value is True:
        return f";{name}"
    if isinstance(value, datetime):
        return f";{name}=@{int(value.timestamp())}"
    return f";{name}={value}"


def _format_legacy_rule(name: str, value: Value) -> str:
    if value is True:
        return name
    if isinstance(value, datetime):
        return f"{name}: {to_json_value(value)}"
    return f"{name}:{value}"


def _format_scope(token: str) -> str:
    if not _NAME.fullmatch(token) or token.lower().startswith("max-"):
        raise WriteError(f"X-Robots-Tag cannot name the crawler {token!r}: leave legacy out")
    return token


def _format_meta_name(token: str) -> str:
    if not _NAME.fullmatch(token) or token.lower() == ROBOTS:
        raise WriteError(
            f"a meta element cannot name the crawler {token!r}: use a Robots-Tag field"
        )
    return token
