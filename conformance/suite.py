"""
The suite as data: vectors, requirements, decisions, reasons, and the judging of answers.

A vector holds questions and expected answers. `make_question` removes the expectations, so that a
harness cannot read them; `judge` compares an answer with the vector and returns passed, failed,
errored or skipped. This file imports no implementation, ours included: the harnesses do that.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

HERE = Path(__file__).resolve().parent
VECTORS = HERE / "vectors"
PROFILES = ("default", "strict", "google")
LIST_PARTS = ("checks", "forms", "tokens", "user_agents", "refused")
WHOLE_PARTS = ("notes", "records", "groups")
# The folders of vectors whose sections are of documents other than RFC 9309.
EXTENSION_FOLDERS = ("extensions", "tags")
# In the parts that are answered item by item, the field with the expected value.
EXPECTED = {"forms": "form", "tokens": "valid", "user_agents": "product_token"}

Kind = Literal["passed", "failed", "errored", "skipped"]


@dataclass(frozen=True, slots=True)
class Vector:
    """One conformance case, and the file that contains it."""

    path: Path
    data: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The id: the name of the file, a slash, and the name of the case."""
        return str(self.data["id"])

    @property
    def profile(self) -> str:
        """The profile the vector is about; "default" where it names none."""
        return str(self.data.get("profile", "default"))

    @property
    def requirements(self) -> tuple[str, ...]:
        """The ids of the requirements this vector decides."""
        return tuple(self.data["requirement"])

    @property
    def is_extension(self) -> bool:
        """Whether it is about an extension or tags; its section is then of another document."""
        return self.path.parts[0] in EXTENSION_FOLDERS


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one vector: its kind, the reasons, and the number of values compared."""

    id: str
    kind: Kind
    details: tuple[str, ...] = ()
    judged: int = 0


def vector_files(folder: Path = VECTORS) -> list[Path]:
    """Return the vector files below *folder*, sorted."""
    return sorted(folder.rglob("*.json"))


def load(folder: Path = VECTORS) -> list[Vector]:
    """Return every vector below *folder*, in the order of files and ids."""
    return [
        Vector(path.relative_to(folder), data)
        for path in vector_files(folder)
        for data in json.loads(path.read_text(encoding="utf-8"))
    ]


@cache
def load_requirements() -> dict[str, dict[str, str]]:
    """Return the requirements by id, in the order of the documents."""
    content = json.loads((HERE / "requirements.json").read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in content["requirements"]}


@cache
def load_documents() -> dict[str, str]:
    """Return the name of the document behind each prefix of a requirement id."""
    content = json.loads((HERE / "requirements.json").read_text(encoding="utf-8"))
    return dict(content["documents"])


@cache
def load_sections() -> dict[str, str]:
    """Return the titles of the sections of RFC 9309 by number."""
    content = json.loads((HERE / "requirements.json").read_text(encoding="utf-8"))
    return dict(content["sections"])


@cache
def load_decisions() -> dict[str, dict[str, str]]:
    """Return the project's decisions on ambiguities (AMB-nn) by id."""
    content = json.loads((HERE / "decisions.json").read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in content}


@cache
def load_reasons() -> dict[str, dict[str, str]]:
    """Return, by id of a requirement, why it has no vector."""
    content: dict[str, dict[str, str]] = json.loads(
        (HERE / "reasons.json").read_text(encoding="utf-8")
    )
    return content


# --- Parts ----------------------------------------------------------------------------------------


class Part(NamedTuple):
    """
    One part about extensions, tags or access: a list of items.

    An item of a vector holds asked and expected fields; this class lists which are which. The first
    expected field must be answered; others that an implementation leaves out are not judged. The
    `notes` that a vector states must be among the answer's, those in `absent_notes` must not.
    `README.md` explains the fields, and `schema/vector.schema.json` states their types.
    """

    asked: tuple[str, ...]
    expected: tuple[str, ...]
    inner: Mapping[str, Part] = MappingProxyType({})
    """Lists within an item, such as the moments of a timeline, with their fields."""


# A response: field lines, or a mapping whose values may be several lines; a page.
_RESPONSE = ("headers", "headers_joined", "html", "dom")
# The interpretation of RFC 9309 §2.3.1 and §2.4.
_ACCESS = ("access_profile", "access_options")
_VERDICT = ("allowed", "line", "reason")

EXTENSION_PARTS: dict[str, Part] = {
    "app_directives": Part(
        ("url", "application", "product_token"),
        ("directives", "lines", "registration", "not_applied", "overrides", "codes"),
    ),
    "content_usage": Part(
        ("url", "product_token", "purposes", "field", "agreement", "default"),
        ("preferences", "applicable", "decided", "lines", "sources"),
    ),
    "structured": Part(("kind", "input"), ("failure", "value")),
    "sitemaps": Part(("url",), ("sitemaps", "lines")),
    "crawl_delays": Part(("product_token", "purposes", "star"), ("seconds", "line")),
    "request_rates": Part(("product_token", "purposes"), ("rates",)),
    "visit_times": Part(("product_token", "purposes"), ("windows",)),
    "clean_urls": Part(("url",), ("clean",)),
    "content_signals": Part(
        ("url", "product_token", "purposes"), ("signals", "lines", "content_usage")
    ),
    "registry": Part(("json", "csv"), ("accepted", "names")),
    "shipped": Part(("registry",), ("names", "fields", "references", "procedures")),
    "crawler": Part(("user_agent", "product_token", "purposes"), ("refused", "codes")),
    # Tags
    "usage": Part(
        (*_RESPONSE, "product_token", "url", "tag_profile", "tag_options", "received"),
        (
            "rules",
            *("unknown", "others", "may_index", "may_snippet", "may_follow", "may_archive"),
            *("may_index_embedded", "max_snippet", "sources", "over_tls", "fresh_until"),
            *("notes", "absent_notes"),
        ),
    ),
    "robots_tag": Part(("lines", "tag_profile", "tag_options"), ("failure", "said")),
    "freshness": Part(
        ("headers", "received", "recrawl_interval", "shared"),
        ("lifetime", "because", "age", "fresh_until", "must_validate", "may_store"),
    ),
    "updated": Part(("stored", "status", "newer"), ("rules", "lines")),
    "tdm": Part(
        ("url", "tdmrep", "headers", "metas"),
        ("reserved", "policy", "carrier", "notes", "absent_notes"),
    ),
    "guidance": Part(
        (*_RESPONSE, "url", "product_token", "purposes", "application", "tdmrep"),
        (
            *("tags", "may_crawl", "may_index", "may_snippet", "rules", "unseen"),
            *("preferences", "directives", "reserved", "notes", "absent_notes"),
        ),
    ),
    "written": Part(("tag_rules", "legacy"), ("refused", "fields", "meta")),
    "snippets": Part(("html",), ("texts",)),
    "tag_refused": Part(("tag_options",), ("refused",)),
    # Access and cache
    "origins": Part(("url",), ("origin", "robots_url")),
    "access": Part(
        (*_ACCESS, "origin", "copy", "answers"),
        ("state", "status", "trouble", "renewed", "requests", "conditions"),
        {"checks": Part(("url", "product_token"), _VERDICT)},
    ),
    "timelines": Part(
        (*_ACCESS, "background"),
        (),
        {
            "moments": Part(
                ("at", "url", "product_token", "answers", "restart"),
                (*_VERDICT, "requests", "urls", "conditions", "until"),
            ),
            "evidence": Part(("at", "url", "product_token"), (*_VERDICT, "preferences")),
        },
    ),
    "access_refused": Part(("access_options",), ("refused",)),
}
# The parts about fetching, which only a client can answer.
ACCESS_PARTS = ("origins", "access", "timelines", "access_refused")
# Asked fields that hold octets, by their shape; in a question they are base64. `nested`: an object
# or a list of objects, whose fields may hold octets.
OCTETS = {
    **dict.fromkeys(("input", "html", "tdmrep", "body"), "one"),
    "lines": "list",
    **dict.fromkeys(("answers", "copy", "moments"), "nested"),
    **dict.fromkeys(("headers", "stored", "newer"), "pairs"),
    "headers_joined": "mapping",
}
# Parts that are asked with true or false, and answered with one value.
EXTENSION_VALUES = ("host", "unused_records")


def strip_expected(part: Part, items: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the items of a part without the expected fields."""
    return [
        {field: item[field] for field in part.asked if field in item}
        | {
            name: strip_expected(inner, item[name])
            for name, inner in part.inner.items()
            if name in item
        }
        for item in items
    ]


def expects_extension_notes(data: Mapping[str, Any]) -> bool:
    """Return whether a vector has expectations about the notes of extensions."""
    return "extension_notes" in data or "absent_extension_notes" in data


# --- Questions ------------------------------------------------------------------------------------


def decode_octets(value: str | Mapping[str, Any]) -> bytes:
    """Return the octets that a vector states as a string, as base64 or as repeated parts."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if "base64" in value:
        return base64.b64decode(value["base64"], validate=True)
    return b"".join(decode_octets(part) * repeat for part, repeat in value["parts"])


def make_question(vector: Vector) -> dict[str, Any]:
    """Return the question for a harness: the vector without its expectations."""
    data = vector.data
    question: dict[str, Any] = {
        "id": vector.id,
        "profile": vector.profile,
        "options": data.get("options", {}),
        "complete": data.get("complete", True),
        "body": base64.b64encode(decode_octets(data["robotstxt"])).decode("ascii"),
        "checks": [
            {
                "url": decode_octets(check["url"]).decode("utf-8"),
                "product_token": check["product_token"],
                "purposes": check.get("purposes", []),
            }
            for check in data.get("checks", ())
        ],
        "forms": [
            {"input": form["input"], "pattern": form["pattern"]} for form in data.get("forms", ())
        ],
        "tokens": [entry["token"] for entry in data.get("tokens", ())],
        "user_agents": [entry["header"] for entry in data.get("user_agents", ())],
        "refused": list(data.get("refused", ())),
    }
    for part in WHOLE_PARTS:
        question[part] = part in data
    question["notes"] = "notes" in data or "absent_notes" in data
    # Parts about extensions are in a question only if they are asked.
    if "registries" in data:
        question["registries"] = data["registries"]
    for name in EXTENSION_PARTS:
        if name in data:
            items = strip_expected(EXTENSION_PARTS[name], data[name])
            question[name] = [
                {field: _encode_octets(field, item[field]) for field in item} for item in items
            ]
    question |= {name: True for name in EXTENSION_VALUES if name in data}
    if expects_extension_notes(data):
        question["extension_notes"] = True
    return question


def _encode_octets(field: str, value: Any) -> Any:
    """Return the value of an asked field for a question: octets in base64."""

    def encode(item: Any) -> str:
        return base64.b64encode(decode_octets(item)).decode("ascii")

    match OCTETS.get(field):
        case "one":
            return encode(value)
        case "list":
            return [encode(item) for item in value]
        case "pairs":
            return [[name, encode(item)] for name, item in value]
        case "mapping":
            return {name: encode(item) for name, item in value.items()}
        case "nested" if isinstance(value, list):
            return [_encode_octets(field, item) for item in value]
        case "nested":
            return {name: _encode_octets(name, item) for name, item in value.items()}
    return value


# --- Judging --------------------------------------------------------------------------------------


class _Judge:
    """Compares one answer, part by part, and collects the differences."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.errored: list[str] = []
        self.skipped: list[str] = []
        self.judged = 0

    def is_answered(self, where: str, given: Any) -> bool:
        """Return whether *given* is an answer; record it as errored or skipped if it is not."""
        if isinstance(given, Mapping) and "errored" in given:
            self.errored.append(f"{where}: {given['errored']}")
        elif isinstance(given, Mapping) and "skipped" in given:
            self.skipped.append(f"{where}: {given['skipped']}")
        else:
            return True
        return False

    def compare(self, where: str, expected: object, given: object) -> None:
        """Compare one value."""
        self.judged += 1
        if expected != given:
            self.failed.append(f"{where}: expected {_show(expected)}, got {_show(given)}")

    def match_items(
        self, part: str, expected: list[Any], given: Any
    ) -> Iterator[tuple[str, Any, Any]]:
        """Yield place, expected and given item of a part that is answered item by item."""
        if not self.is_answered(part, given):
            return
        if not isinstance(given, list) or len(given) != len(expected):
            self.errored.append(f"{part}: expected {len(expected)} answers, got {_show(given)}")
            return
        for number, (wanted, got) in enumerate(zip(expected, given, strict=True), start=1):
            where = f"{part} {number}"
            if self.is_answered(where, got):
                yield where, wanted, got

    def compare_checks(self, expected: list[Any], given: Any) -> None:
        """Compare verdicts; a line or a reason that is not answered is not judged."""
        for where, wanted, got in self.match_items("checks", expected, given):
            where = f"{where} ({wanted['product_token']} {_show(wanted['url'])})"
            if not isinstance(got, Mapping) or not isinstance(got.get("allowed"), bool):
                self.errored.append(f"{where}: not a verdict: {_show(got)}")
                continue
            for field in ("allowed", "line", "reason"):
                if field in wanted and field in got:
                    self.compare(f"{where} {field}", wanted[field], got[field])

    def compare_notes(
        self, part: str, data: Mapping[str, Any], given: Any, where: str = ""
    ) -> None:
        """Compare notes: some must be present, some must be absent, others may be present."""
        if self.is_answered(f"{where}{part}", given):
            for code in data.get(part, ()):
                self.compare(f"{where}{part}: {code} present", True, code in given)
            for code in data.get(f"absent_{part}", ()):
                self.compare(f"{where}{part}: {code} present", False, code in given)

    def compare_extension(self, name: str, part: Part, expected: list[Any], given: Any) -> None:
        """Compare the items of a part about extensions, only the fields that a vector states."""
        fields = part.expected
        for where, wanted, got in self.match_items(name, expected, given):
            required = (*fields[:1], *(inner for inner in part.inner if inner in wanted))
            missing = [name for name in required if not isinstance(got, Mapping) or name not in got]
            if missing:
                self.errored.append(f"{where}: no {missing[0]} in {_show(got)}")
                continue
            for inner, inner_part in part.inner.items():
                if inner in wanted:
                    self.compare_extension(
                        f"{where} {inner}", inner_part, wanted[inner], got[inner]
                    )
            for field in fields:
                if field in wanted and field in got and field not in ("notes", "absent_notes"):
                    self.compare(f"{where} {field}", wanted[field], got[field])
            if "notes" in got:
                self.compare_notes("notes", wanted, got["notes"], f"{where} ")

    def compare_groups(self, expected: list[Any], given: Any) -> None:
        """Compare all groups in order, only the fields that a vector states."""
        if not self.is_answered("groups", given):
            return
        self.compare("groups: count", len(expected), len(given))
        for number, (wanted, got) in enumerate(zip(expected, given, strict=False)):
            for field, value in wanted.items():
                self.compare(f"group {number} {field}", value, got.get(field))

    def compare_records(self, expected: list[Any], given: Any) -> None:
        """Compare all records in order, only the fields that a vector states."""
        if not self.is_answered("records", given):
            return
        wanted = [{**record, "value": decode_octets(record["value"])} for record in expected]
        got = [{**record, "value": decode_octets(record["value"])} for record in given]
        self.compare("records: count", len(wanted), len(got))
        for number, (due, record) in enumerate(zip(wanted, got, strict=False), start=1):
            for field, value in due.items():
                if field in record:
                    self.compare(f"records {number} {field}", value, record[field])


def judge(vector: Vector, answer: Any) -> Result:
    """
    Compare *answer* with *vector*.

    Failed: some answer is wrong. Errored: none is wrong, and some could not be given. Skipped:
    nothing was answered. Passed: everything that was answered is right.
    """
    data, judged = vector.data, _Judge()
    if not isinstance(answer, Mapping):
        return Result(vector.id, "errored", (f"not an answer: {_show(answer)}",))
    if not judged.is_answered("vector", answer):
        return _make_result(vector, judged)
    for part in (*LIST_PARTS, *WHOLE_PARTS):
        if part != "notes" and part not in data:
            continue
        if part == "notes" and "notes" not in data and "absent_notes" not in data:
            continue
        if part not in answer:
            judged.errored.append(f"{part}: no answer")
        elif part == "checks":
            judged.compare_checks(data["checks"], answer["checks"])
        elif part == "notes":
            judged.compare_notes("notes", data, answer["notes"])
        elif part == "records":
            judged.compare_records(data["records"], answer["records"])
        elif part == "groups":
            judged.compare_groups(data["groups"], answer["groups"])
        else:
            for where, wanted, got in judged.match_items(part, data[part], answer[part]):
                judged.compare(where, wanted[EXPECTED[part]] if part in EXPECTED else True, got)
    _judge_extensions(data, answer, judged)
    return _make_result(vector, judged)


def _judge_extensions(data: Mapping[str, Any], answer: Mapping[str, Any], judged: _Judge) -> None:
    """Compare the parts about extensions that *data* asks for."""
    parts = [name for name in (*EXTENSION_PARTS, *EXTENSION_VALUES) if name in data]
    for part in [*parts, *(["extension_notes"] if expects_extension_notes(data) else [])]:
        if part not in answer:
            judged.errored.append(f"{part}: no answer")
        elif part == "extension_notes":
            judged.compare_notes(part, data, answer[part])
        elif part in EXTENSION_PARTS:
            judged.compare_extension(part, EXTENSION_PARTS[part], data[part], answer[part])
        elif judged.is_answered(part, answer[part]):
            judged.compare(part, data[part], answer[part])


def _make_result(vector: Vector, judged: _Judge) -> Result:
    """Return the result: a failure outranks an error, and both outrank a skip."""
    details = (*judged.failed, *judged.errored, *judged.skipped)
    if judged.failed:
        return Result(vector.id, "failed", details, judged.judged)
    if judged.errored:
        return Result(vector.id, "errored", details, judged.judged)
    if not judged.judged:
        return Result(vector.id, "skipped", details)
    return Result(vector.id, "passed", details, judged.judged)


def count_results(results: Iterable[Result]) -> dict[str, int]:
    """Return the number of results of each kind."""
    totals = {"passed": 0, "failed": 0, "errored": 0, "skipped": 0}
    for result in results:
        totals[result.kind] += 1
    return totals


def _show(value: object) -> str:
    """Return *value* as text, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:100]}… ({len(text)} characters)"
