"""
Proof: whether two files mean the same, and whether the text of one is complete in the other.

Three checks, the cheap ones first. Are the records the same, in the same groups and in the same
order? Then every reader of records reads the same, which is a proof. Are all lines and comments
there, except whitespace and the spelling of names? And if records differ, as after a typo was
corrected: do exact queries prove that nothing changes?
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from robotrules.analysis import compare
from robotrules.analysis.crawlers import is_complete
from robotrules.formatting.comments import SPACE
from robotrules.profile import Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import get_document
from robotrules.robotstxt.tokens import is_product_token

# Groups and rules of each file to sample: a difference is usually in the first few.
_FEW = 20
_COMMENT = re.compile(rb"#[^\r\n]*")
_WHITE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


def first_difference(old: RobotsTxt, new: RobotsTxt) -> tuple[int, int] | None:
    """
    Return the lines of the first record that differs between the files; None: all are equal.

    A line is 0 if a file has no such record. Records are equal if key, value, role and group are;
    then every reader of records reads the same.
    """
    was, now = get_document(old).records(), get_document(new).records()
    was_in, now_in = old.body, new.body
    for one, other in zip(was, now, strict=False):
        if (
            one[6:] != other[6:]  # key, role, group
            or was_in[one[4] : one[5]] != now_in[other[4] : other[5]]
        ):
            return one[0], other[0]
    if len(was) == len(now):
        return None
    longer = was if len(was) > len(now) else now
    line: int = longer[min(len(was), len(now))][0]
    return (line, 0) if longer is was else (0, line)


def keeps_text(old: RobotsTxt, new: RobotsTxt, *, spelling: bool = False) -> bool:
    """
    Return whether the new file has the same text in the same order, and nothing else.

    Whitespace, and the case of letters outside comments, are ignored; in comments, only whitespace
    at the ends. With *spelling*, names and colons of records are ignored too.
    """
    if _comments(old.body) != _comments(new.body):
        return False
    if spelling:
        return [*_contents(old)] == [*_contents(new)]
    was, now = (robots.body.removeprefix(_BOM).translate(None, _WHITE) for robots in (old, new))
    return was.lower() == now.lower()


def _comments(body: bytes) -> list[bytes]:
    return [found[1:].strip(SPACE) for found in _COMMENT.findall(body)]


def _contents(robots: RobotsTxt) -> Iterator[bytes]:
    """Yield the part of each line before the comment: the value of a record, or all of it."""
    values = {record.line: record.value for record in robots.records}
    for line in robots.lines:
        before = line.text.partition(b"#")[0].strip(SPACE)
        if before:
            yield values.get(line.number, before)


def proves_equal(old: RobotsTxt, new: RobotsTxt, names: Collection[str], max_states: int) -> bool:
    """
    Return whether it is proved for all URLs and all crawlers that both files mean the same.

    Other records have to be equal, except those with one of *names*.
    """
    if first_difference(old, new) is None:
        return True
    if not is_complete(old, new):
        return False
    if _others(old, names) != _others(new, names):
        return False
    if any(old.check(*query).allowed != new.check(*query).allowed for query in _samples(new)):
        return False
    return compare(old, new, max_regions=1, max_states=max_states).equal is True


def _others(robots: RobotsTxt, names: Collection[str]) -> set[tuple[str, bytes]]:
    return {
        (record.key, record.value)
        for record in robots.records
        if record.role is Role.OTHER and record.key not in names
    }


def _samples(robots: RobotsTxt) -> Iterator[tuple[bytes, str]]:
    """Yield URLs that rules of each group match, with a crawler that obeys the group."""
    for group in robots.groups[:_FEW]:
        names: Sequence[str] = [n for n in group.user_agents if is_product_token(n)][:2]
        rules = (record.value for record in group.records if record.is_rule)
        for value in islice(rules, _FEW):
            url = value.rstrip(b"$").replace(b"*", b"x")
            for name in names or ("*",):
                yield url if url.startswith(b"/") else b"/" + url, name
