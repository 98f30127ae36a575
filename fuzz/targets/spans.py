"""Every span is in the body and inside its line, in order; columns count from the line start."""

from __future__ import annotations

import robotrules
from fuzz.generator import Case
from fuzz.targets.total import ENGINES
from robotrules import RobotsTxt, Role


def check(case: Case) -> None:
    """Check the positions of every line, record, rule and note."""
    profile = case.profile()
    for engine in ENGINES:
        check_spans(robotrules.parse(case.body, profile, complete=case.complete, engine=engine))


def check_spans(robots: RobotsTxt) -> None:
    """Assert that all positions of a file are consistent."""
    body, lines, records = robots.body, robots.lines, robots.records
    for line in lines:
        assert 0 <= line.start <= line.end <= len(body)
        assert line.comment == (None if (at := body.find(b"#", line.start, line.end)) < 0 else at)
    last = 0
    for record in records:
        line = lines[record.line - 1]
        assert last < record.line
        assert line.start <= record.key_start < record.key_end <= record.start, record
        assert record.start <= record.end <= line.end
        assert line.comment is None or record.end <= line.comment
        assert record.column == record.start - line.start + 1
        assert record.value == body[record.start : record.end]
        last = record.line
    in_groups = [record for group in robots.groups for record in group.records]
    assert in_groups == [record for record in records if record.group is not None]
    for index, group in enumerate(robots.groups):
        assert group.index == index
        assert group.records[0] == group.starts[0]
        assert all(record.group == index for record in group.records)
        assert all(record.role is Role.START for record in group.starts)
        for rule in group.rules:
            assert body[rule.start : rule.end].decode("utf-8", "backslashreplace") == rule.pattern
            assert rule.octets == len(rule.form.encode())
    starts = [note.start for note in robots.notes]
    assert starts == sorted(starts)
    for note in robots.notes:
        assert 0 <= note.start <= note.end <= len(body), note
        if note.code == "cut-line":
            assert note.line in (None, len(lines) + 1)  # the line after those that were read
        elif note.line is not None:
            line = lines[note.line - 1]
            assert line.start <= note.start, note
            assert note.end <= line.end, note
