"""
Fixing: edits are applied, and safe fixes are proved to change no verdict.

The notes here are made by hand, so that a fix can be wrong. The literate tests cover the fixes of
checks.
"""

from __future__ import annotations

from typing import Any

import pytest

from robotrules import RobotsTxt, parse
from robotrules.analysis.files import FileDifference, compare
from robotrules.linting import Edit, Fix, LintNote, fix, fixing, lint
from robotrules.linting.edits import apply_edits, select_disjoint
from robotrules.profile import PROFILES

BODY = b"User-agent: *\nDisallow: /a\nDisallow : /b\n"


def note(*edits: Edit, loud: bool = False, words: str = "Do it") -> LintNote:
    """Return a note with a fix."""
    made = Fix(words, edits, changes_verdicts=loud)
    return LintNote("RR000", "made-up", "info", words, 1, 1, 1, 0, 0, fix=made)


def replacement(old: bytes, new: bytes, *, loud: bool = False, body: bytes = BODY) -> LintNote:
    """Return a note whose fix replaces a text that occurs once in the file."""
    assert body.count(old) == 1
    start = body.index(old)
    return note(Edit(start, start + len(old), new), loud=loud, words=f"{old!r} to {new!r}")


def test_a_fix_that_keeps_the_meaning_is_applied() -> None:
    """For example a blank before the colon."""
    fixable = replacement(b"Disallow :", b"Disallow:")
    done = fix(parse(BODY), [fixable])
    assert done.body == b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    assert (done.applied, done.left, done.refused) == ((fixable,), (), "")


def test_a_wrong_fix_is_not_applied() -> None:
    """A safe fix that changes a verdict is left; the fixes beside it are applied."""
    good, wrong = replacement(b"Disallow :", b"Disallow:"), replacement(b"/a", b"/aa")
    for notes in ([good, wrong], [wrong, good]):
        done = fix(parse(BODY), notes)
        assert done.body == b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
        assert (done.applied, done.left) == ((good,), (wrong,))


def test_other_records_count_too() -> None:
    """A safe fix may not change a sitemap or a delay either."""
    body = b"User-agent: *\nDisallow: /a\nCrawl-delay: 5\nSitemap: https://example.com/a.xml\n"
    for old, new in [(b"5", b"6"), (b"a.xml", b"b.xml"), (b"Sitemap:", b"Sitemaps:")]:
        wrong = replacement(old, new, body=body)
        assert fix(parse(body), [wrong]).left == (wrong,)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Dissallow", b"Disallow"),  # strict does not know the spelling
        (b"Allow /c", b"Allow: /c"),  # nor the record without its colon
        (b"/d e", b"/d%20e"),  # google keeps the space, and strict uses no such line
    ],
)
def test_the_proof_is_for_every_profile(profile: str, old: bytes, new: bytes) -> None:
    """A fix that changes a verdict under any profile is not safe."""
    body = b"User-agent: *\nDisallow: /\nAllow: /b\nDissallow: /b/\nAllow /c\nAllow: /d e\n"
    fixable = replacement(old, new, body=body)
    assert fix(parse(body, profile), [fixable]) == (body, (), (fixable,), "")


def test_proved_fixes_are_applied_beside_unproved_ones() -> None:
    """However many fixes of one check have no proof, those of another check are applied."""
    numbers = range(1_000, 1_500)
    body = b"User-agent: *\n" + b"".join(b"Disallow : /%d\n" % number for number in numbers)
    good = lint(body, select=["space-before-colon"])
    wrong = [replacement(b"%d\n" % number, b"%dx\n" % number, body=body) for number in numbers]
    done = fix(parse(body), [one for pair in zip(wrong, good, strict=True) for one in pair])
    assert (list(done.applied), list(done.left)) == (good, wrong)


def test_checks_are_proved_one_after_the_other() -> None:
    """Fixes that are proved first stay while more are proved."""
    body = b"User-agent: *\nDisallow : /a\nDisallow: /b\nDisallow : /c\n"
    notes = [
        replacement(old, new, body=body)._replace(code=code)
        for old, new, code in (
            (b" : /a", b": /a", "RR201"),
            (b"/b", b"/bb", "RR202"),
            (b" : /c", b": /c", "RR203"),
        )
    ]
    done = fix(parse(body), notes)
    assert (done.applied, done.left) == ((notes[0], notes[2]), (notes[1],))
    assert done.body == body.replace(b" :", b":")


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, bytes]]:
    """Return a list of the compared files, which is filled while a test fixes."""
    asked: list[tuple[bytes, bytes]] = []

    def counted(old: RobotsTxt, new: RobotsTxt, **given: Any) -> FileDifference:
        asked.append((old.body, new.body))
        return compare(old, new, **given)

    monkeypatch.setattr(fixing, "compare", counted)
    return asked


def test_a_proof_is_attempted_once(proofs: list[tuple[bytes, bytes]]) -> None:
    """One comparison per profile if the file as meant is the same."""
    body = b"User-agent: *\nDisallow: /a\nDisallow: /a\n"
    twice = note(Edit(len(body) - len(b"Disallow: /a\n"), len(body), b""))
    assert fix(parse(body), [twice]).applied == (twice,)
    assert proofs == [(body, body.removesuffix(b"Disallow: /a\n"))] * len(PROFILES)
    proofs.clear()
    assert fix(parse(BODY), [replacement(b"Disallow :", b"Disallow:")]).applied
    assert proofs == []


def test_a_single_fix_is_tried_once(proofs: list[tuple[bytes, bytes]]) -> None:
    """A single fix cannot be split."""
    assert fix(parse(BODY), [replacement(b"/a", b"/aa")]).applied == ()
    assert len(proofs) == 1


@pytest.mark.parametrize(("octets", "most"), [(0, 3), (50, 50), (63, 63), (64, 64), (65, 64)])
def test_the_number_of_proofs_is_limited(
    octets: int, most: int, proofs: list[tuple[bytes, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It depends on the size of the file, at least 3 and at most 64; the rest waits."""
    body = b"User-agent: *\nDisallow: /" + b"a" * 40
    start = body.index(b"/") + 1
    wrong = [note(Edit(start + n, start + n + 1, b"b")) for n in range(40)]
    # Rounded down: an octet more or less in the file would make it another number.
    monkeypatch.setattr(fixing, "MOST_PROVED", octets * (len(body) + 1) + 1)
    assert fix(parse(body), wrong) == (body, (), tuple(wrong), "")
    assert len(proofs) == most


def test_two_fixes_that_are_wrong_alone_are_not_tried_together() -> None:
    """Halves are proved one after the other, each on top of the proved fixes."""
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    notes = [replacement(b"/a", b"/c", body=body), replacement(b"/b", b"/d", body=body)]
    done = fix(parse(body), notes)
    assert (done.body, done.applied, done.left) == (body, (), tuple(notes))


def test_fixes_that_change_verdicts_are_applied_on_request() -> None:
    """Without *verdicts* they are left; with it, they are applied without a proof."""
    loud = replacement(b"/a", b"/aa", loud=True)
    assert fix(parse(BODY), [loud]) == (BODY, (), (loud,), "")
    done = fix(parse(BODY), [loud], unsafe=True)
    assert (done.body, done.applied) == (BODY.replace(b"/a", b"/aa"), (loud,))


def test_of_fixes_that_overlap_the_first_is_applied() -> None:
    """The other is left for the next pass."""
    body = b"Dissallow : /a\n"
    name = note(Edit(0, 9, b"Disallow"))
    whole = note(Edit(0, 11, b"Disallow:"))
    inside = note(Edit(5, 5, b""))
    beside = note(Edit(9, 10, b""))
    assert fix(parse(body), [name, whole, inside, beside]).applied == (name, beside)
    assert fix(parse(body), [whole, name, inside, beside]).applied == (whole,)


def test_of_two_insertions_at_one_place_one_is_applied() -> None:
    """Their order would be ambiguous."""
    one, other = note(Edit(0, 0, b"# a\n")), note(Edit(0, 0, b"# b\n"))
    assert fix(parse(BODY), [one, other]).left == (other,)
    before, after = note(Edit(0, 0, b"# a\n")), note(Edit(0, 4, b"USER"))
    assert fix(parse(BODY), [before, after]).left == (after,)


def test_safe_fixes_come_before_others() -> None:
    """If both overlap, the proved one is applied."""
    loud, quiet = replacement(b"low :", b"low: /x", loud=True), replacement(b"low :", b"low:")
    done = fix(parse(BODY), [loud, quiet], unsafe=True)
    assert (done.applied, done.left) == ((quiet,), (loud,))


def test_an_edit_of_two_checks_is_applied_once() -> None:
    """Two checks may have the same edit."""
    one, same = replacement(b"Disallow :", b"Disallow:"), replacement(b"Disallow :", b"Disallow:")
    done = fix(parse(BODY), [one, same])
    assert done.body.count(b"Disallow:") == 2
    assert done.applied == (one, same)
    before = replacement(b"User", b"user")
    after = replacement(b"/b", b"/b ")
    assert fix(parse(BODY), [one, after, before, same]).left == ()


def test_a_fix_that_changes_nothing_is_applied() -> None:
    """It needs no proof, and the pass continues with the next stage."""
    same = replacement(b"/a", b"/a")
    assert fix(parse(BODY), [same]) == (BODY, (same,), (), "")
    record = replacement(b"/a", b"/a", loud=True)._replace(code="RR208")
    rule = replacement(b"/b", b"/c", loud=True)._replace(code="RR505")
    done = fix(parse(BODY), [record, rule], unsafe=True)
    assert (done.applied, done.left) == ((record, rule), ())


def test_a_fix_whose_own_edits_overlap_is_left() -> None:
    """It cannot be applied in any order."""
    for loud in (False, True):
        broken = note(Edit(0, 3, b""), Edit(2, 4, b"x"), loud=loud)
        assert fix(parse(BODY), [broken], unsafe=True).left == (broken,)


def test_edits_are_applied_where_they_point() -> None:
    """In any order; an insertion right after a deletion stays there."""
    notes = [note(Edit(4, 6, b"")), note(Edit(6, 6, b"X"), Edit(0, 1, b"ab"))]
    assert apply_edits(b"0123456789", notes) == b"ab123X6789"
    assert apply_edits(b"0123456789", []) == b"0123456789"


def test_notes_without_a_fix_are_skipped() -> None:
    """They are neither applied nor left."""
    bare = note()._replace(fix=None)
    assert fix(parse(BODY), [bare]) == (BODY, (), (), "")
    assert fix(parse(BODY), []) == (BODY, (), (), "")
    assert select_disjoint([bare, note(Edit(0, 1, b"u")), bare]) == [
        bare,
        note(Edit(0, 1, b"u")),
        bare,
    ]


def test_an_incomplete_file_is_not_fixed() -> None:
    """A truncated file cannot be compared to its end."""
    fixable = replacement(b"Disallow :", b"Disallow:")
    done = fix(parse(BODY, complete=False), [fixable])
    assert (done.body, done.applied, done.left) == (BODY, (), (fixable,))
    assert "incomplete" in done.refused
    long = BODY + b"# x\n" * 140_000
    assert fix(parse(long), [fixable]).refused
    assert fix(parse(long), []).refused == ""


def test_a_file_in_utf16_becomes_utf8() -> None:
    """Spans refer to the parsed octets, which are UTF-8."""
    text = "User-agent: *\r\nDissallow: /é\r\n"
    robots = parse(b"\xff\xfe" + text.encode("utf-16-le"))
    done = fix(robots, lint(robots, select=["not-utf8", "typo"]), unsafe=True)
    assert done.body == text.replace("Dissallow", "Disallow").encode()
    assert [one.slug for one in done.applied] == ["not-utf8", "typo"]


@pytest.mark.parametrize("verdicts", [False, True])
def test_passes_come_to_an_end(verdicts: bool) -> None:
    """Fixing a fixed file changes nothing; fixes that waited for others come next."""
    body = (
        b"\xef\xbb\xbfUseragent : *\rDissallow /a\nDisallow: \xc2\xa0/b\n; words\n"
        b"Disallow: x # robotrules: ignore[no, such, typo]\n- Disallow: '/c'\n"
    )
    rounds = 0
    while True:
        robots = parse(body)
        done = fix(robots, lint(robots), unsafe=verdicts)
        if done.body == body:
            break
        body, rounds = done.body, rounds + 1
        assert rounds < 6
    slugs = {one.slug for one in lint(body)}
    assert not slugs & {"bom", "lone-cr", "space-before-colon"}
    loud = {"typo", "missing-colon", "misspelt-record"}
    assert slugs & loud == (set() if verdicts else loud)
    assert "quoted-value" not in slugs  # seen only where the name was put right, and then fixed
    assert b"# words\n" in body


def test_many_fixes_are_fast() -> None:
    """Thousands of edits take one pass, without comparing each with each."""
    body = b"User-agent: *\n" + b"".join(b"Dissallow : /%d\n" % i for i in range(5_000))
    robots = parse(body)
    notes = lint(robots, select=["typo", "space-before-colon"])
    assert len(notes) == 10_000
    done = fix(robots, notes)
    assert done.body == body.replace(b" :", b":")
    assert len(done.applied) == len(done.left) == 5_000
    done = fix(robots, notes, unsafe=True)
    assert len(done.applied) == 10_000
    assert done.body == body.replace(b"Dissallow :", b"Disallow:")


UTF_16 = "User-agent: *\nDisallow: a\nDisallow : /b\n".encode("utf-16")


def test_utf_16_is_fixed_only_with_verdicts() -> None:
    """The result is UTF-8, which more crawlers read, so it changes verdicts."""
    robots = parse(UTF_16)
    notes = lint(robots, select=["not-utf8", "pattern-start", "space-before-colon"])
    done = fix(robots, notes)
    assert (done.body, done.applied, done.left) == (robots.body, (), tuple(notes))
    assert done.refused == (
        "it is UTF-16; --unsafe-fixes saves it as UTF-8, which more crawlers read"
    )
    done = fix(robots, notes, unsafe=True)
    assert (done.body, done.refused) == (b"User-agent: *\nDisallow: a\nDisallow: /b\n", "")
    assert [one.slug for one in done.left] == ["pattern-start"]


def test_a_truncated_file_is_not_fixed() -> None:
    """Longer than the parsing limit, or cut in transfer."""
    why = "it is incomplete or longer than the parsing limit"
    bodies = (BODY + b"#" * 600_000, BODY + b"# x\n" * 128_000)
    for robots in (*map(parse, bodies), parse(BODY + b"Disallow: /c", complete=False)):
        fixable = note(Edit(0, 1, b"u"))
        for verdicts in (False, True):
            done = fix(robots, [fixable], unsafe=verdicts)
            assert done == (robots.body, (), (fixable,), why)


def test_fixes_of_records_come_before_those_of_rules() -> None:
    """In any order of the notes."""
    start = BODY.index(b"Disallow :")
    rule = note(Edit(start, start + 10, b"Disallow:"))._replace(code="RR516")
    record = note(Edit(start + 8, start + 9, b""))._replace(code="RR208")
    done = fix(parse(BODY), [rule, record])
    assert (done.applied, done.left) == ((record,), (rule,))


def test_a_pass_ends_with_the_stage_that_changes_something() -> None:
    """With *verdicts*, lint runs again before the next stage."""
    record = replacement(b"Disallow :", b"Disallow:", loud=True)._replace(code="RR208")
    rule = replacement(b"/a", b"/c", loud=True)._replace(code="RR505")
    rest = replacement(b"agent: *", b"agent: b", loud=True)._replace(code="RR601")
    done = fix(parse(BODY), [rest, rule, record], unsafe=True)
    assert (done.applied, done.left) == ((record,), (rest, rule))
    done = fix(parse(BODY), [rest, rule], unsafe=True)
    assert (done.applied, done.left) == ((rule,), (rest,))
    assert fix(parse(BODY), [rest], unsafe=True).applied == (rest,)


def test_safe_and_other_fixes_of_a_stage() -> None:
    """Both are applied, unless they overlap."""
    loud = replacement(b"/a", b"/c", loud=True)
    safe = replacement(b"Disallow :", b"Disallow:")
    wrong = replacement(b"/b", b"/d")
    done = fix(parse(BODY), [loud, safe, wrong], unsafe=True)
    assert (done.applied, done.left) == ((safe, loud), (wrong,))
