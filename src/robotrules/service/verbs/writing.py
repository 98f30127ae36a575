"""
Verbs: fmt, write. Each answers what its command prints with `--json`, and the text itself.

`write` takes a policy in TOML, or a form (`policy_forms`) from which it makes one, and proves that
the robots.txt says what was asked (`policy_proofs`). A policy here cannot name files.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from robotrules.analysis import MAX_STATES
from robotrules.errors import CheckError, WriteError
from robotrules.formatting import MAX_STATES as FORMAT_MAX_STATES
from robotrules.formatting import format_robots
from robotrules.json_results.fmt import FormattedFile, formatting_values
from robotrules.json_results.write import (
    check_values,
    compare_with_policy,
    policy_values,
    tag_field_values,
)
from robotrules.octets import visible
from robotrules.robotstxt import parse
from robotrules.service.policy_forms import Form, make_policy
from robotrules.service.policy_proofs import prove_form, prove_policy
from robotrules.service.problems import Problem
from robotrules.service.schemas import RequestBody, RobotsInput
from robotrules.service.verbs import Verb
from robotrules.service.verbs.bodies import body_values, file_octets
from robotrules.write import write as write_text
from robotrules.write.policy import LARGEST, Policy, read_policy, require_generated

# The name of a policy in errors.
POLICY, FORM = "policy", "form"


class FormatRequest(RobotsInput, kw_only=True):
    """The body of fmt. The profile makes no difference: the result is proved under all."""

    max_states: Annotated[
        int, Meta(ge=1, le=FORMAT_MAX_STATES, description="The state limit of each proof.")
    ] = FORMAT_MAX_STATES


def fmt(request: FormatRequest) -> object:
    """
    Return a file in canonical form, proved equivalent, as `robotrules fmt - --check --json`.

    Linear in the file; if names of records are misspelt, up to `max_states` for each question.
    A file that cannot be formatted is returned as it is; `error` of its entry says why.
    """
    octets = request.octets
    found = format_robots(parse(octets), max_states=request.max_states)
    done = FormattedFile(None, octets, found.body)
    if found.refused:
        done = FormattedFile(None, error=f"stdin was not changed: {found.refused}")
    return formatting_values([done]) | body_values(octets if found.refused else found.body)


class WriteRequest(RequestBody, kw_only=True):
    """The body of write: a policy as text, or a form."""

    policy: Annotated[
        Annotated[str, Meta(max_length=LARGEST)] | None,
        Meta(description="A policy in TOML, as for `robotrules write`."),
    ] = None
    form: Annotated[Form | None, Meta(description="A policy as a form.")] = None
    ignore: Annotated[
        list[Annotated[str, Meta(max_length=100)]],
        Meta(max_length=200, description="Checks of lint to skip, by code or slug."),
    ] = msgspec.field(default_factory=list)
    compare: Annotated[
        str | None, Meta(description="A robots.txt to compare the result with, as text.")
    ] = None
    compare_base64: Annotated[bytes | None, Meta(description="The same as base64.")] = None
    max_states: Annotated[
        int, Meta(ge=1, le=MAX_STATES, description="The state limit of each proof.")
    ] = MAX_STATES


def write(request: WriteRequest) -> object:
    """
    Return the robots.txt of a policy, the notes of lint on it, and proofs of what it says.

    The time grows with statements times rules; each proof has `max_states`, and there are at most
    `policy_proofs.MOST_PROOFS` of them.
    """
    if (request.policy is None) == (request.form is None):
        raise Problem("invalid-request", "pass either policy or form", at="$.policy")
    made = make_policy(request.form) if request.form is not None else None
    text = made.toml if made is not None else request.policy or ""
    policy = _read(text, is_form=made is not None)
    body = write_text(policy.robots)
    try:
        check = check_values(text, request.ignore)
    except CheckError as error:
        raise Problem("invalid-request", visible(str(error)), at="$.ignore") from None
    proofs = (
        prove_form(made, body, request.max_states)
        if made is not None
        else prove_policy(policy, body, request.max_states)
    )
    values = policy_values(policy, body)
    if request.compare is not None or request.compare_base64 is not None:
        octets = file_octets(request.compare, request.compare_base64, "compare")
        same, equivalent = compare_with_policy(policy.robots, body, parse(octets), octets)
        values["compare"] = {"file": None, "same": same, "equivalent": equivalent}
    return values | {
        "body": body,
        "toml": text,
        "fields": tag_field_values(policy),
        **check,
        **proofs.as_dict(),
        "hints": list(made.hints) if made is not None else [],
    }


def _read(text: str, *, is_form: bool) -> Policy:
    """Return a policy; what is wrong with it is a problem."""
    name = FORM if is_form else POLICY
    try:
        policy = read_policy(text, name)
        # Before anything else: a policy must not name files of this machine.
        require_generated(policy, name)
    except WriteError as error:
        extra: dict[str, Any] = {"policy": text} if is_form else {}
        raise Problem("invalid-request", visible(str(error)), at=f"$.{name}", **extra) from None
    return policy


VERBS: tuple[Verb, ...] = (
    Verb(
        "/v1/fmt",
        "Format a robots.txt without changing its meaning",
        FormatRequest,
        fmt,
        {"robots": "user-agent : *\r\nDisallow:/private\r\n"},
        "fmt",
        heavy=True,
        command="fmt",
    ),
    Verb(
        "/v1/write",
        "Write a robots.txt from a policy or a form, and prove what it says",
        WriteRequest,
        write,
        {"form": {"purposes": {"ai-training": "block"}, "disallow": ["/admin/"]}},
        "write",
        heavy=True,
        command="write",
    ),
)
