"""
JSON as structs: one decoder for the bodies of all requests, and for the lines of streams.

A problem says where: `at` is a path into the body, such as `$.as` or `$.urls[3]`. What msgspec
leaves out is added from the struct: the fields of an object, and the allowed values.

Sections: decoding · problems.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from robotrules.service.problems import Problem

__all__ = ["decode_request", "in_body"]

Struct = TypeVar("Struct")
# One escape of a JSON string. A surrogate is valid in a pair only (RFC 8259 §8.2).
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9A-Fa-f]{2})|.)",
    re.DOTALL,
)
# The messages of msgspec.
_AT = re.compile(r"(.*) - at `(.*)`", re.DOTALL)
_FIELD = re.compile(r"Object (?:contains unknown|missing required) field `(.*)`", re.DOTALL)
_LENGTH = re.compile(r"Expected `(?:str|array)` of length .*")
_STEP = re.compile(r"\.([A-Za-z0-9_]+)|\[(\d+|\.\.\.)\]")
# Bytes of a body that is decoded once more, for the length of what is too long.
REREAD = 64 * 1024
# The names of parameters and fields in `at`: a client chose them.
LONGEST_NAME = 80


# --- Decoding -------------------------------------------------------------------------------------


def decode_request(body: bytes, type_: type[Struct], what: str = "body") -> Struct:
    """
    Return a body, or a line, as a struct; one that is not JSON, or not valid, is a problem.

    Half a surrogate pair, which JavaScript may send, becomes U+FFFD, as in a browser's `fetch()`.
    """
    try:
        try:
            return msgspec.json.decode(body, type=type_)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            repaired = _ESCAPE.sub(_without_lone_surrogate, body)
            if repaired == body:
                raise
            return msgspec.json.decode(repaired, type=type_)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), body, type_, what) from None
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1} of a text is not UTF-8"
        raise Problem("malformed-body", f"the {what} is not JSON: {where}") from None
    except RecursionError:
        raise Problem("malformed-body", f"the {what} is nested too deeply") from None
    except msgspec.DecodeError as error:
        if not body.strip():
            detail = f"the {what} is empty: pass a JSON object"
            raise Problem("malformed-body", detail) from None
        raise Problem("malformed-body", f"the {what} is not JSON: {error}") from None


def _without_lone_surrogate(found: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if found["lone"] else found[0]


# --- Problems -------------------------------------------------------------------------------------


def in_body(problem: Problem) -> Problem:
    """Return the problem of a parameter as that of a field of a body, which may be either."""
    at = problem.extra.get("at")
    if at and not at.startswith("$"):
        problem.extra["at"] = f"$.{at}"
    return problem


def _invalid(message: str, body: bytes, type_: type[Any], what: str) -> Problem:
    """Return the problem of JSON that is not valid."""
    found = _AT.fullmatch(message)
    words, at = (found[1], found[2]) if found else (message, "$")
    shown = f" at {at}" if found else ""
    types = _types_at(type_, at)
    field = _FIELD.fullmatch(words)
    if field:
        names = [one for struct in types for one in _fields(struct)]
        owner = f"the fields of this {what}" if at == "$" else "its fields"
        listed = f"; {owner} are {', '.join(names)}" if names else ""
        at = f"{at}.{field[1][:LONGEST_NAME]}"
        return Problem("invalid-request", f"{words}{shown}{listed}", at=at)
    if words.startswith("Invalid enum value"):
        values = [str(value) for one in types for value in _values(one)]
        shown += f"; pass {', '.join(values)}" if values else ""
    elif _LENGTH.fullmatch(words) and (length := _length_at(body, at)) is not None:
        words += f", got {length:,}"
    return Problem("invalid-request", words + shown, at=at)


def _types_at(type_: type[Any], path: str) -> list[inspect.Type]:
    """Return the types that a value at a path may have; none, if that is not known."""
    types = list(_alternatives([inspect.type_info(type_)]))
    for name, _ in _STEP.findall(path):
        types = list(_alternatives(part for one in types for part in _parts(one, name)))
    return types


def _alternatives(types: Iterable[inspect.Type]) -> Iterator[inspect.Type]:
    """Yield types without descriptions, and the alternatives of a union."""
    for one in types:
        if isinstance(one, inspect.Metadata):
            yield from _alternatives([one.type])
        elif isinstance(one, inspect.UnionType):
            yield from _alternatives(one.types)
        else:
            yield one


def _parts(type_: inspect.Type, name: str) -> Iterator[inspect.Type]:
    """Yield the type of a field, or without a name of the items of an array or a mapping."""
    if isinstance(type_, inspect.StructType) and name:
        yield from (field.type for field in type_.fields if field.encode_name == name)
    elif isinstance(type_, (inspect.ListType, inspect.VarTupleType)) and not name:
        yield type_.item_type
    elif isinstance(type_, inspect.DictType) and not name:
        yield type_.value_type


def _fields(type_: inspect.Type) -> list[str]:
    if not isinstance(type_, inspect.StructType):
        return []
    return [field.encode_name for field in type_.fields]


def _values(type_: inspect.Type) -> list[Any]:
    if isinstance(type_, inspect.LiteralType):
        return list(type_.values)
    return [one.value for one in type_.cls] if isinstance(type_, inspect.EnumType) else []


def _length_at(body: bytes, path: str) -> int | None:
    """Return the length of the text or array at a path; None: it would take long to find."""
    if len(body) > REREAD:
        return None
    try:
        value = msgspec.json.decode(body)
        for name, index in _STEP.findall(path):
            value = value[name] if name else value[int(index)]
        return len(value)
    except (msgspec.MsgspecError, RecursionError, ValueError, TypeError, LookupError):
        return None
