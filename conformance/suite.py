"""
The suite as data: vectors, requirements, decisions, reasons, and the judging of answers.

A vector says what it asks and what is expected. `question` strips the expectations, so that
whoever answers cannot read them; `judge` compares an answer with the vector and says passed,
failed, errored or skipped. Nothing here knows how an answer comes about: the harnesses do that,
and this file imports no implementation, ours included.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from parts import (
    EXTENSION_PARTS,
    EXTENSION_VALUES,
    OCTETS,
    Part,
    asked_of,
    asks_about_notes,
)

HERE = Path(__file__).resolve().parent
VECTORS = HERE / "vectors"
PROFILES = ("default", "strict", "google")
LIST_PARTS = ("checks", "forms", "tokens", "user_agents", "refused")
WHOLE_PARTS = ("notes", "records", "groups")
# The folders of vectors whose section is of another document than RFC 9309.
BEYOND = ("extensions", "tags")
# In the parts that are answered item by item, the field of an item that says what is expected.
EXPECTED = {"forms": "form", "tokens": "valid", "user_agents": "product_token"}

Kind = Literal["passed", "failed", "errored", "skipped"]


@dataclass(frozen=True, slots=True)
class Vector:
    """One conformance case, and the file it stands in."""

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
        """Whether it is about an extension or tags: its section is then of another document."""
        return self.path.parts[0] in BEYOND


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one vector: its kind, the reasons, and how many answers were compared."""

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
    """Return the project's decisions on open readings (AMB-nn) by id."""
    content = json.loads((HERE / "decisions.json").read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in content}


@cache
def load_reasons() -> dict[str, dict[str, str]]:
    """Return, by id, why a requirement has no vector."""
    content: dict[str, dict[str, str]] = json.loads(
        (HERE / "reasons.json").read_text(encoding="utf-8")
    )
    return content


def octets(value: str | Mapping[str, Any]) -> bytes:
    """Return the octets that a vector writes as a string, as base64 or as repeated parts."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if "base64" in value:
        return base64.b64decode(value["base64"], validate=True)
    return b"".join(octets(part) * repeat for part, repeat in value["parts"])


def question(vector: Vector) -> dict[str, Any]:
    """Return what a harness is asked: the vector without its expectations."""
    data = vector.data
    asked: dict[str, Any] = {
        "id": vector.id,
        "profile": vector.profile,
        "options": data.get("options", {}),
        "complete": data.get("complete", True),
        "body": base64.b64encode(octets(data["robotstxt"])).decode("ascii"),
        "checks": [
            {
                "url": octets(check["url"]).decode("utf-8"),
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
        asked[part] = part in data
    asked["notes"] = "notes" in data or "absent_notes" in data
    # What only extensions know is in a question where it is asked.
    if "registries" in data:
        asked["registries"] = data["registries"]
    for name in EXTENSION_PARTS:
        if name in data:
            items = asked_of(EXTENSION_PARTS[name], data[name])
            asked[name] = [{field: _asked(field, item[field]) for field in item} for item in items]
    asked |= {name: True for name in EXTENSION_VALUES if name in data}
    if asks_about_notes(data):
        asked["extension_notes"] = True
    return asked


def _asked(field: str, value: Any) -> Any:
    """Return the value of an asked field as it stands in a question: octets in base64."""

    def encoded(one: Any) -> str:
        return base64.b64encode(octets(one)).decode("ascii")

    match OCTETS.get(field):
        case "one":
            return encoded(value)
        case "list":
            return [encoded(one) for one in value]
        case "pairs":
            return [[name, encoded(one)] for name, one in value]
        case "mapping":
            return {name: encoded(one) for name, one in value.items()}
        case "nested" if isinstance(value, list):
            return [_asked(field, one) for one in value]
        case "nested":
            return {name: _asked(name, one) for name, one in value.items()}
    return value


class _Judge:
    """Compares one answer, part by part, and remembers what it saw."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.errored: list[str] = []
        self.skipped: list[str] = []
        self.judged = 0

    def usable(self, where: str, given: Any) -> bool:
        """Return whether *given* is an answer, and remember it if it is not."""
        if isinstance(given, Mapping) and "errored" in given:
            self.errored.append(f"{where}: {given['errored']}")
        elif isinstance(given, Mapping) and "skipped" in given:
            self.skipped.append(f"{where}: {given['skipped']}")
        else:
            return True
        return False

    def equal(self, where: str, expected: object, given: object) -> None:
        """Compare one value."""
        self.judged += 1
        if expected != given:
            self.failed.append(f"{where}: expected {_show(expected)}, got {_show(given)}")

    def items(self, part: str, expected: list[Any], given: Any) -> Iterator[tuple[str, Any, Any]]:
        """Yield the usable answers of a part that is answered item by item."""
        if not self.usable(part, given):
            return
        if not isinstance(given, list) or len(given) != len(expected):
            self.errored.append(f"{part}: {len(expected)} answers were due, got {_show(given)}")
            return
        for number, (wanted, got) in enumerate(zip(expected, given, strict=True), start=1):
            where = f"{part} {number}"
            if self.usable(where, got):
                yield where, wanted, got

    def checks(self, expected: list[Any], given: Any) -> None:
        """Compare verdicts; a line or a reason that was not answered is not judged."""
        for where, wanted, got in self.items("checks", expected, given):
            where = f"{where} ({wanted['product_token']} {_show(wanted['url'])})"
            if not isinstance(got, Mapping) or not isinstance(got.get("allowed"), bool):
                self.errored.append(f"{where}: not a verdict: {_show(got)}")
                continue
            for field in ("allowed", "line", "reason"):
                if field in wanted and field in got:
                    self.equal(f"{where} {field}", wanted[field], got[field])

    def notes(self, part: str, data: Mapping[str, Any], given: Any, where: str = "") -> None:
        """Compare notes: some must be there, some must not, others may."""
        if self.usable(f"{where}{part}", given):
            for code in data.get(part, ()):
                self.equal(f"{where}{part}: {code} present", True, code in given)
            for code in data.get(f"absent_{part}", ()):
                self.equal(f"{where}{part}: {code} present", False, code in given)

    def extension(self, name: str, part: Part, expected: list[Any], given: Any) -> None:
        """Compare the items of a part about extensions; only the fields a vector states."""
        fields = part.expected
        for where, wanted, got in self.items(name, expected, given):
            due = (*fields[:1], *(inner for inner in part.inner if inner in wanted))
            missing = [one for one in due if not isinstance(got, Mapping) or one not in got]
            if missing:
                self.errored.append(f"{where}: no {missing[0]} in {_show(got)}")
                continue
            for inner, its in part.inner.items():
                if inner in wanted:
                    self.extension(f"{where} {inner}", its, wanted[inner], got[inner])
            for field in fields:
                if field in wanted and field in got and field not in ("notes", "absent_notes"):
                    self.equal(f"{where} {field}", wanted[field], got[field])
            if "notes" in got:
                self.notes("notes", wanted, got["notes"], f"{where} ")

    def groups(self, expected: list[Any], given: Any) -> None:
        """Compare all groups in order; only the fields a vector states."""
        if not self.usable("groups", given):
            return
        self.equal("groups: count", len(expected), len(given))
        for number, (wanted, got) in enumerate(zip(expected, given, strict=False)):
            for field, value in wanted.items():
                self.equal(f"group {number} {field}", value, got.get(field))

    def records(self, expected: list[Any], given: Any) -> None:
        """Compare all records in order; only the fields a vector states."""
        if not self.usable("records", given):
            return
        wanted = [{**record, "value": octets(record["value"])} for record in expected]
        got = [{**record, "value": octets(record["value"])} for record in given]
        self.equal("records: count", len(wanted), len(got))
        for number, (one, other) in enumerate(zip(wanted, got, strict=False), start=1):
            for field, value in one.items():
                if field in other:
                    self.equal(f"records {number} {field}", value, other[field])


def judge(vector: Vector, answer: Any) -> Result:
    """
    Compare *answer* with *vector*.

    Errored: some answer could not be given. Failed: some answer is wrong. Skipped: nothing was
    answered at all. Passed: all that was answered is right, and something was.
    """
    data, seen = vector.data, _Judge()
    if not isinstance(answer, Mapping):
        return Result(vector.id, "errored", (f"not an answer: {_show(answer)}",))
    if not seen.usable("vector", answer):
        return _result(vector, seen)
    for part in (*LIST_PARTS, *WHOLE_PARTS):
        if part != "notes" and part not in data:
            continue
        if part == "notes" and "notes" not in data and "absent_notes" not in data:
            continue
        if part not in answer:
            seen.errored.append(f"{part}: no answer")
        elif part == "checks":
            seen.checks(data["checks"], answer["checks"])
        elif part == "notes":
            seen.notes("notes", data, answer["notes"])
        elif part == "records":
            seen.records(data["records"], answer["records"])
        elif part == "groups":
            seen.groups(data["groups"], answer["groups"])
        else:
            for where, wanted, got in seen.items(part, data[part], answer[part]):
                seen.equal(where, wanted[EXPECTED[part]] if part in EXPECTED else True, got)
    _judge_extensions(data, answer, seen)
    return _result(vector, seen)


def _judge_extensions(data: Mapping[str, Any], answer: Mapping[str, Any], seen: _Judge) -> None:
    """Compare the parts about extensions that *data* asks for."""
    parts = [name for name in (*EXTENSION_PARTS, *EXTENSION_VALUES) if name in data]
    for part in [*parts, *(["extension_notes"] if asks_about_notes(data) else [])]:
        if part not in answer:
            seen.errored.append(f"{part}: no answer")
        elif part == "extension_notes":
            seen.notes(part, data, answer[part])
        elif part in EXTENSION_PARTS:
            seen.extension(part, EXTENSION_PARTS[part], data[part], answer[part])
        elif seen.usable(part, answer[part]):
            seen.equal(part, data[part], answer[part])


def _result(vector: Vector, seen: _Judge) -> Result:
    """Sum up what was seen: a failure outranks an error, and both outrank a skip."""
    details = (*seen.failed, *seen.errored, *seen.skipped)
    if seen.failed:
        return Result(vector.id, "failed", details, seen.judged)
    if seen.errored:
        return Result(vector.id, "errored", details, seen.judged)
    if not seen.judged:
        return Result(vector.id, "skipped", details)
    return Result(vector.id, "passed", details, seen.judged)


def count(results: Iterable[Result]) -> dict[str, int]:
    """Return how many results there are of each kind."""
    totals = {"passed": 0, "failed": 0, "errored": 0, "skipped": 0}
    for result in results:
        totals[result.kind] += 1
    return totals


def _show(value: object) -> str:
    """Return *value* for a person, long ones cut."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:100]}… ({len(text)} characters)"
