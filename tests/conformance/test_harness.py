"""The runner and the harness protocol: our harness passes, and a broken one is detected."""

from __future__ import annotations

import importlib.util
import io
import json
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import protocol
import pytest
import runner
import suite

from robotrules import _engine

HARNESSES = suite.HERE / "harnesses"
OURS = [sys.executable, str(HARNESSES / "robotrules_harness.py")]
VECTORS = {vector.id: vector for vector in suite.load()}
FEW = [VECTORS["prefix/root"], VECTORS["prefix/no-rules"], VECTORS["wildcards/several"]]
# A minimal harness: it answers start and profile, and decides by one word of the body. FAULT is
# replaced by the fault of a test.
SCRIPT = """
import base64, json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "start":
        names = {"name": "sample", "version": "1", "language": "python"}
        reply = {"version": 1, "implementation": names}
    elif message["cmd"] == "profile":
        reply = {"supported": message["profile"] == "default"}
    elif message["cmd"] == "run":
        vector = message["vector"]
        body = base64.b64decode(vector["body"]).decode()
        checks = [{"allowed": "Disallow: /" not in body} for check in vector["checks"]]
        reply = {"seq": message["seq"], "answer": {"checks": checks}}
        FAULT
    else:
        break
    print(json.dumps(reply), flush=True)
"""


def command(folder: Path, fault: str = "pass") -> list[str]:
    """Write a harness that decides by one word in the body, with a fault."""
    path = folder / "harness.py"
    path.write_text(SCRIPT.replace("FAULT", fault), encoding="utf-8")
    return [sys.executable, str(path)]


@pytest.mark.parametrize("engine", ["native", "pure"])
def test_our_harness(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a separate process, our harness passes every vector with either engine."""

    if engine == "native" and _engine.native is None:
        pytest.skip("the native engine is not built")
    monkeypatch.setenv("ROBOTRULES_NO_EXTENSIONS", "0" if engine == "native" else "1")

    report = runner.Runner(OURS, seconds=60).run(list(VECTORS.values()))

    assert f"({engine} engine)" in report.implementation["version"]
    assert [result for result in report.results if result.kind != "passed"] == []


def test_wrong_harness_fails(tmp_path: Path) -> None:
    """An implementation without wildcards passes the smoke test and fails a vector."""

    report = runner.Runner(command(tmp_path)).run(FEW)

    assert [result.kind for result in report.results] == ["passed", "passed", "failed"]
    assert "expected True, got False" in report.results[2].details[0]


def test_profile_that_is_not_supported(tmp_path: Path) -> None:
    """Vectors of an unsupported profile are skipped, with that reason."""

    report = runner.Runner(command(tmp_path)).run([VECTORS["google-urls/tilde"]])

    assert report.results[0].kind == "skipped"
    assert report.results[0].details == ("profile google is not supported",)


def test_broken_harness_fails_the_smoke_test(tmp_path: Path) -> None:
    """A harness that allows everything does not pass the smoke test."""

    fault = 'reply["answer"] = {"checks": [{"allowed": True}]}'

    with pytest.raises(runner.HarnessError, match="smoke test failed"):
        runner.Runner(command(tmp_path, fault)).run(FEW)


def test_hanging_harness_is_stopped(tmp_path: Path) -> None:
    """A harness that does not answer is ended and restarted; the next vector runs."""

    one = runner.Runner(command(tmp_path, 'if "no-rules" in vector["id"]: time.sleep(600)'), 3)
    first = one.connection.process
    started = time.monotonic()

    report = one.run(FEW)

    assert [result.kind for result in report.results] == ["passed", "errored", "failed"]
    assert report.results[1].details == ("no answer within 3 seconds",)
    runner.write_known(tmp_path / "known.txt", report)
    known = {result.id: result is report.results[1] for result in report.results[1:]}
    assert runner.read_known(tmp_path / "known.txt") == known
    assert first.poll() is not None
    assert one.connection.process.poll() is not None
    assert time.monotonic() - started < 60


def test_harness_that_does_not_read_is_stopped(tmp_path: Path) -> None:
    """A question larger than the buffer of a pipe does not block the runner."""

    fault = 'if "Disallow" in body: print(json.dumps(reply), flush=True); time.sleep(600)'

    report = runner.Runner(command(tmp_path, fault), 3).run([VECTORS["size/finite"]])

    assert report.results[0].kind == "errored"


def test_harness_that_ends(tmp_path: Path) -> None:
    """If a harness ends, one vector is errored."""

    report = runner.Runner(command(tmp_path, 'if "no-rules" in vector["id"]: sys.exit(3)')).run(FEW)

    assert [result.kind for result in report.results] == ["passed", "errored", "failed"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ('reply["seq"] = 99', "not to this question"),
        ('print("hello")', "not JSON"),
        ("reply = [1]", "not an object"),
    ],
)
def test_harness_that_violates_the_protocol(tmp_path: Path, fault: str, words: str) -> None:
    """A line that is not a reply to the question is an error of the harness."""

    with pytest.raises(runner.HarnessError, match=words):
        runner.Runner(command(tmp_path, fault)).run(FEW)


def test_command_that_does_not_start(tmp_path: Path) -> None:
    """A command that does not exist, or has no output, is reported at once."""

    with pytest.raises(runner.HarnessError, match="cannot start"):
        runner.Runner([str(tmp_path / "none")])
    with pytest.raises(runner.HarnessError, match="no start"):
        runner.Runner([sys.executable, "-c", "pass"])


def field_names(items: Any) -> set[str]:
    """Return the names of all fields of some items."""
    return {name for item in items for name in item}


def test_questions_have_no_expectations() -> None:
    """A question contains no verdict, line, form or note."""

    hidden = {"allowed", "line", "reason", "form", "valid", "absent_notes", "comment"}
    for vector in VECTORS.values():
        question = suite.make_question(vector)
        names = set(question) | {name for check in question["checks"] for name in check}
        names |= {name for form in question["forms"] for name in form}
        assert not names & hidden
        assert {question[part] for part in suite.WHOLE_PARTS} <= {True, False}
        for name, part in suite.EXTENSION_PARTS.items():
            assert not field_names(question.get(name, ())) & set(part.expected)
            for inner, inner_part in part.inner.items():
                for item in question.get(name, ()):
                    assert not field_names(item.get(inner, ())) & set(inner_part.expected)
        for name in (*suite.EXTENSION_VALUES, "extension_notes"):
            assert question.get(name, True) is True


def test_octets_in_questions_are_base64() -> None:
    """All octets of a vector, of fields and pages too, are base64 in a question."""

    item = {
        "headers": [["A", {"parts": [["x", 2]]}]],
        "headers_joined": {"B": {"base64": "eQ=="}},
        "html": "z",
        "dom": "z",
        "rules": {},
    }
    data = {"id": "sample/one", "requirement": [], "robotstxt": "", "usage": [item]}
    data["robots_tag"] = [{"lines": ["x", "y"], "failure": False}]
    answer = {"status": 200, "headers": [["A", "x"]], "body": "y"}
    copy = {"url": "x", "headers": [["A", "x"]], "body": "y"}
    check = {"url": "/x", "allowed": False}
    data["access"] = [{"copy": copy, "answers": [answer], "state": "success", "checks": [check]}]
    moment = {"at": 0, "url": "/x", "answers": [answer, {"failure": "dns"}], "allowed": False}
    data["timelines"] = [{"moments": [moment]}]

    question = suite.make_question(suite.Vector(Path("tags/sample.json"), data))

    answer = {"status": 200, "headers": [["A", "eA=="]], "body": "eQ=="}
    copy = {"url": "x", "headers": [["A", "eA=="]], "body": "eQ=="}
    assert question["access"] == [{"copy": copy, "answers": [answer], "checks": [{"url": "/x"}]}]
    moment = {"at": 0, "url": "/x", "answers": [answer, {"failure": "dns"}]}
    assert question["timelines"] == [{"moments": [moment]}]
    assert question["robots_tag"] == [{"lines": ["eA==", "eQ=="]}]
    assert question["usage"] == [
        {"headers": [["A", "eHg="]], "headers_joined": {"B": "eQ=="}, "html": "eg==", "dom": "z"}
    ]


# --- Judging ------------------------------------------------------------------------------------


def judge(answer: Any, **fields: Any) -> suite.Result:
    """Judge *answer* to a vector with these expectations."""
    data = {"id": "sample/one", "requirement": [], "robotstxt": "", **fields}
    return suite.judge(suite.Vector(Path("sample.json"), data), answer)


GROUP = {"user_agents": ["a"], "rules": [2]}
USAGE = {"rules": {}, "notes": ["a"], "absent_notes": ["b"]}
SITEMAPS = {"sitemaps": ["b"], "lines": [1]}
ACCESS = {"state": "success", "checks": [{"url": "/x", "allowed": False, "line": 2}]}
TIMELINE = {"moments": [{"at": 0, "url": "/x", "allowed": True, "requests": 1}]}
CHECK = {"url": "/x", "product_token": "a", "allowed": False, "line": 2, "reason": "disallow-rule"}


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"allowed": False, "line": 2, "reason": "disallow-rule"}, "passed"),
        ({"allowed": False}, "passed"),
        ({"allowed": True}, "failed"),
        ({"allowed": False, "line": 3}, "failed"),
        ({"allowed": False, "line": None}, "failed"),
        ({"allowed": False, "reason": "no-match"}, "failed"),
        ({"allowed": "no"}, "errored"),
        ({"errored": "ValueError"}, "errored"),
        ({"skipped": "cannot"}, "skipped"),
    ],
)
def test_judging_a_check(given: dict[str, Any], kind: str) -> None:
    """A line that is not answered is not judged; one that is answered must be right."""

    assert kind == judge({"checks": [given]}, checks=[CHECK]).kind


@pytest.mark.parametrize(
    ("fields", "answer", "kind"),
    [
        ({"notes": ["bom"]}, {"notes": ["bom", "typo"]}, "passed"),
        ({"notes": ["bom"]}, {"notes": []}, "failed"),
        ({"absent_notes": ["bom"]}, {"notes": ["bom"]}, "failed"),
        ({"absent_notes": ["bom"]}, {"notes": []}, "passed"),
        ({"groups": []}, {"groups": []}, "passed"),
        ({"groups": []}, {"groups": [{"user_agents": ["a"], "rules": []}]}, "failed"),
        ({"groups": [GROUP]}, {"groups": [GROUP | {"purposes": ["p"]}]}, "passed"),
        ({"groups": [GROUP | {"purposes": ["p"]}]}, {"groups": [GROUP]}, "failed"),
        ({"host": None}, {"host": None}, "passed"),
        ({"host": None}, {"host": "a"}, "failed"),
        ({"host": None}, {"host": {"skipped": "cannot"}}, "skipped"),
        ({"host": None}, {}, "errored"),
        ({"sitemaps": [SITEMAPS]}, {"sitemaps": [SITEMAPS]}, "passed"),
        ({"sitemaps": [SITEMAPS]}, {"sitemaps": [{"sitemaps": ["b"]}]}, "passed"),
        ({"sitemaps": [SITEMAPS]}, {"sitemaps": [SITEMAPS | {"lines": [2]}]}, "failed"),
        ({"sitemaps": [SITEMAPS]}, {"sitemaps": [{"lines": [1]}]}, "errored"),
        ({"sitemaps": [SITEMAPS]}, {"sitemaps": [{"errored": "boom"}]}, "errored"),
        ({"sitemaps": [SITEMAPS]}, {"sitemaps": []}, "errored"),
        ({"usage": [USAGE]}, {"usage": [{"rules": {}, "notes": ["c", "a"]}]}, "passed"),
        ({"usage": [USAGE]}, {"usage": [{"rules": {}}]}, "passed"),
        ({"usage": [USAGE]}, {"usage": [{"rules": {}, "notes": []}]}, "failed"),
        ({"usage": [USAGE]}, {"usage": [{"rules": {}, "notes": ["a", "b"]}]}, "failed"),
        ({"usage": [USAGE]}, {"usage": [{"rules": {"x": True}, "notes": ["a"]}]}, "failed"),
        ({"usage": [USAGE]}, {"usage": [{"notes": ["a"]}]}, "errored"),
        ({"access": [ACCESS]}, {"access": [ACCESS]}, "passed"),
        ({"access": [ACCESS]}, {"access": [ACCESS | {"checks": [{"allowed": False}]}]}, "passed"),
        ({"access": [ACCESS]}, {"access": [ACCESS | {"checks": [{"allowed": True}]}]}, "failed"),
        ({"access": [ACCESS]}, {"access": [ACCESS | {"state": "unavailable"}]}, "failed"),
        ({"access": [ACCESS]}, {"access": [{"state": "success"}]}, "errored"),
        ({"access": [ACCESS]}, {"access": [ACCESS | {"checks": []}]}, "errored"),
        ({"access": [ACCESS]}, {"access": [ACCESS | {"checks": [{"line": 2}]}]}, "errored"),
        ({"timelines": [TIMELINE]}, {"timelines": [TIMELINE]}, "passed"),
        (
            {"timelines": [TIMELINE]},
            {"timelines": [{"moments": [{"allowed": True, "requests": 2}]}]},
            "failed",
        ),
        ({"timelines": [TIMELINE]}, {"timelines": [{}]}, "errored"),
        ({"timelines": [TIMELINE]}, {"timelines": [{"skipped": "no clock"}]}, "skipped"),
        ({"extension_notes": ["a"]}, {"extension_notes": ["b", "a"]}, "passed"),
        ({"extension_notes": ["a"]}, {"extension_notes": []}, "failed"),
        ({"absent_extension_notes": ["a"]}, {"extension_notes": ["a"]}, "failed"),
        ({"absent_extension_notes": ["a"]}, {}, "errored"),
        ({"records": []}, {"records": [{"key": "a", "value": "b", "line": 1}]}, "failed"),
        (
            {"records": [{"key": "a", "value": "b", "line": 1}]},
            {"records": [{"key": "a", "value": {"base64": "Yg=="}, "line": 1, "group": 0}]},
            "passed",
        ),
        (
            {"records": [{"key": "a", "value": "b", "line": 1}]},
            {"records": [{"key": "a", "value": "c", "line": 1}]},
            "failed",
        ),
        ({"forms": [{"input": "/", "pattern": False, "form": "/"}]}, {"forms": ["/"]}, "passed"),
        ({"forms": [{"input": "/", "pattern": False, "form": "/"}]}, {"forms": ["/x"]}, "failed"),
        ({"forms": [{"input": "/", "pattern": False, "form": "/"}]}, {"forms": []}, "errored"),
        ({"tokens": [{"token": "a", "valid": True}]}, {"tokens": [False]}, "failed"),
        (
            {"user_agents": [{"header": "a", "product_token": None}]},
            {"user_agents": ["a"]},
            "failed",
        ),
        ({"refused": [{"product_token": ""}]}, {"refused": [True]}, "passed"),
        ({"refused": [{"product_token": ""}]}, {"refused": [False]}, "failed"),
        ({"checks": [CHECK]}, {}, "errored"),
        ({"checks": [CHECK]}, {"skipped": "cannot"}, "skipped"),
        ({"checks": [CHECK]}, {"errored": "boom"}, "errored"),
        ({"checks": [CHECK]}, 5, "errored"),
    ],
)
def test_judging_other_parts(fields: dict[str, Any], answer: Any, kind: str) -> None:
    """Each part has its own comparison."""

    assert kind == judge(answer, **fields).kind


# --- The harness side ---------------------------------------------------------------------------


class Sample(protocol.VerdictsOnly):
    """Disallows everything, and raises for one URL."""

    name, version = "sample", "1"

    def load(self, body: bytes) -> protocol.CheckFunction:
        return lambda url, token: bool(1 / (url != "https://e.example/zero") and False)


def test_unknown_command() -> None:
    """An unknown command is answered with an error, and the harness continues."""

    lines = ['{"cmd": "dance"}', "", "nonsense", '{"no": "cmd"}', '{"cmd": "stop"}', '{"cmd": "x"}']
    source, sink = io.StringIO("\n".join(lines)), io.StringIO()

    protocol.serve(Sample(), source, sink)

    replies = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert replies[0] == {"error": "unknown command 'dance'"}
    assert list(replies[1]) == ["error"]
    assert len(replies) == 3


def test_other_version_of_the_protocol() -> None:
    """A harness refuses a version that it does not implement."""

    reply = protocol.respond(Sample(), '{"cmd": "start", "version": 9}')

    assert reply == {"error": "this harness implements version 1 of the protocol"}


def test_verdicts_only() -> None:
    """A harness of verdicts skips unsupported parts, and reports exceptions."""

    checks = [{"url": "/x", "product_token": "a"}, {"url": "/zero", "product_token": "a"}]
    checks.append({"url": "/x", "product_token": ["a", "b"]})  # type: ignore[dict-item]
    checks.append({"url": "/x", "product_token": "a", "purposes": ["b"]})  # type: ignore[dict-item]
    vector = {"options": {}, "complete": True, "body": "", "checks": checks, "forms": []}
    vector["sitemaps"] = [{}]

    reply = protocol.run(Sample(), {"seq": 1, "vector": vector})
    kinds = [next(iter(check)) for check in reply["answer"]["checks"]]

    assert kinds == ["allowed", "errored", "skipped", "skipped"]
    assert {"skipped"} == set(reply["answer"]["forms"]) == set(reply["answer"]["sitemaps"])
    for change in ({"options": {"max_bytes": 1}}, {"complete": False}):
        assert "skipped" in protocol.run(Sample(), {"seq": 1, "vector": vector | change})
    assert "KeyError" in protocol.run(Sample(), {"seq": 1})["errored"]


# --- Known differences --------------------------------------------------------------------------


def test_known_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failure that is not listed, or a listed one that passes, fails the run."""

    harness = ["--only", "prefix/root", "--", *command(tmp_path)]
    known = tmp_path / "known.txt"

    assert runner.main(harness) == 0
    assert "1 passed, 0 failed, 0 skipped" in capsys.readouterr().out
    known.write_text("# none\nprefix/root # it passes\nprefix/root-nowhere\n")
    assert runner.main(["--known-differences", str(known), *harness]) == 1
    output = capsys.readouterr().out
    assert "prefix/root is a known difference but passed" in output
    assert "prefix/root-nowhere is a known difference but not a vector" in output
    known.write_text("prefix/root slow # on some machines\n")
    assert runner.main(["--known-differences", str(known), *harness]) == 0


def test_report_and_list_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report is JSON; a run with the written list of differences passes."""

    report, known = tmp_path / "report.json", tmp_path / "known.txt"
    harness = ["--only", "wildcards/", "--", *command(tmp_path)]

    assert runner.main(["--json", str(report), *harness]) == 1
    counts = json.loads(report.read_text())["counts"]
    assert counts["failed"] > 0
    assert runner.main(["--write-known-differences", str(known), *harness]) == 0
    assert counts["failed"] + counts["errored"] == len(runner.read_known(known))
    assert runner.main(["--known-differences", str(known), *harness]) == 0
    assert runner.main(["--", str(tmp_path / "none")]) == 2
    assert "does not work" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "package"), [("protego", "protego"), ("robotspy", "robots"), ("urllib", "urllib")]
)
def test_other_implementations(name: str, package: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Another implementation, if installed, differs exactly as its list states."""

    known = suite.HERE / "known_differences" / f"{name}.txt"
    made_with = known.read_text(encoding="utf-8").split(":")[0].split()[-1]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{name} is not installed")
    version = metadata.version(name) if name != "urllib" else sys.version.split()[0]
    if version != made_with:
        pytest.skip(f"the list was made with {name} {made_with}, here is {version}")
    harness = [sys.executable, str(HARNESSES / f"{name}_harness.py")]

    code = runner.main(["--seconds", "5", "--known-differences", str(known), "--", *harness])

    assert code == 0, capsys.readouterr().out
