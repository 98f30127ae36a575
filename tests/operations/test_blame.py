"""The version that blocked or allowed a URL: every flip is found, for every URL and crawler."""

from __future__ import annotations

from robotrules import Reason, parse
from robotrules.operations.blame import (
    VerdictQuestion,
    VerdictTrace,
    question_dict,
    trace_verdicts,
    verdict_dict,
)
from robotrules.operations.rule_history import RuleChange, RuleHistory

A = VerdictQuestion(b"/a", "AnyBot", "AnyBot")
STAR = "User-agent: *\n"


def history(*bodies: str | None) -> RuleHistory:
    """Return versions; None is one that cannot be read, and an empty one is no file."""

    def change(number: int, body: str | None) -> RuleChange:
        read = None if body is None else parse(body.encode())
        return RuleChange(number, str(number), lambda: read, body != "")

    return RuleHistory(change(number, body) for number, body in enumerate(bodies))


def numbers(trace: VerdictTrace) -> list[int]:
    """Return the versions at which the verdict flipped."""
    return [change.number for change in trace.flips]


def test_every_flip_is_found() -> None:
    """Also one that a bisection between the first and the last version would not see."""
    blocked, open_ = f"{STAR}Disallow: /a", f"{STAR}Disallow: /b"
    [trace] = trace_verdicts(history(open_, open_, blocked, blocked, open_, blocked), [A])
    assert numbers(trace) == [0, 2, 4, 5]
    assert trace.blamed is not None
    assert (trace.blamed.number, trace.blamed.before, trace.verdict) == (
        5,
        trace.changes[-2].after,
        trace.blamed.after,
    )
    assert trace.verdict is not None
    assert (trace.verdict.allowed, trace.verdict.line) == (False, 2)


def test_another_rule_is_a_change_and_no_flip() -> None:
    """The commit that blocked it first is blamed; lines that only move are no change."""
    [trace] = trace_verdicts(
        history(
            f"{STAR}Disallow: /a",
            f"# comment\n{STAR}Disallow: /a",
            f"{STAR}Disallow: /",
        ),
        [A],
    )
    assert [change.number for change in trace.changes] == [0, 2]
    assert numbers(trace) == [0]
    assert trace.blamed is trace.changes[0]
    assert trace.blamed.before is None


def test_no_file_is_allowed() -> None:
    """A deleted file allows everything (RFC 9309 §2.3.1.3)."""
    blocked = f"{STAR}Disallow: /a"
    [trace] = trace_verdicts(history(blocked, "", blocked), [A])
    assert numbers(trace) == [0, 1, 2]
    assert trace.changes[1].after.reason is Reason.UNAVAILABLE


def test_what_cannot_be_read_changes_nothing() -> None:
    """It is counted, and the verdict before it is assumed to last."""
    blocked = f"{STAR}Disallow: /a"
    [trace] = trace_verdicts(history(None, blocked, None, blocked, STAR), [A])
    assert (numbers(trace), trace.unknown) == ([1, 4], 2)
    [nothing] = trace_verdicts(history(None), [A])
    assert (nothing.verdict, nothing.blamed, nothing.flips) == (None, None, ())


def test_many_questions_and_progress() -> None:
    """Each URL and crawler has its own changes; all are answered in one pass."""
    bodies = [f"{STAR}Disallow: /a", f"{STAR}Disallow: /a\n\nUser-agent: B\nDisallow: /b"]
    questions = [A, A._replace(url=b"/b"), A._replace(url=b"/b", names="B")]
    counted: list[tuple[int, int]] = []
    found = trace_verdicts(
        history(*bodies), questions, lambda done, count: counted.append((done, count))
    )
    assert [numbers(trace) for trace in found] == [[0], [0], [0, 1]]
    assert [trace.question for trace in found] == questions
    assert counted == [(1, 2), (2, 2)]


def test_as_json() -> None:
    """Octets that are not UTF-8 are escaped."""
    [trace] = trace_verdicts(history(f"{STAR}Disallow: /a"), [A])
    assert verdict_dict(trace.verdict) == {
        "allowed": False,
        "reason": "disallow-rule",
        "line": 2,
        "pattern": "/a",
    }
    assert verdict_dict(None) is None
    assert question_dict(A._replace(url=b"/\xff"))["url"] == "/\\xff"
