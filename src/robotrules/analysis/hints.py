"""
What people get wrong about a path pattern, said where the pattern gives reason to.

Each hint is about this pattern under this profile; a URL in a hint was put to the engine's matcher
first. It does not know rules or files, but for what a file would make of the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from robotrules._engine import pure_settings
from robotrules._engine.pure_rules import index_page, remove_dot_segments
from robotrules._engine.pure_settings import faults
from robotrules.analysis.examples import (
    LONGEST_URL,
    Examples,
    has_dot_segment,
    is_real,
    typical,
    word,
)
from robotrules.analysis.tracing import Cut, quoted
from robotrules.analysis.values import ORIGIN
from robotrules.octets import to_text

RECORD = re.compile(rb"\s*(?:dis)?allow\s*:\s*", re.IGNORECASE)
WHOLE_URL = re.compile(
    rb"[a-z][a-z0-9+.-]{1,20}:(?://)?[^/?#]*|(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}(?=/)", re.I
)
# What people bring from regular expressions. Counts have limits, so that no pattern takes long.
FOREIGN = re.compile(
    rb"\.[*+]|\[[^\[\]*]{1,99}\]|\([^()*]{0,99}\|[^()*]{0,99}\)"
    rb"|\\[.dDwWsSbB/?$*+]|\{\d{1,4},?\d{0,4}\}|^/?\^"
)
PARAMETER = re.compile(rb"\?([^*=&?$%]{1,99}=)")
ENDING = re.compile(rb"\.(?=[0-9]{0,8}[A-Za-z])[A-Za-z0-9]{1,8}$")
UNUSED = {
    "control-character": "A rule with a control character in it is not used.",
    "invalid-utf8": "A rule that is not UTF-8 is not used; write the octets with %, such as '%FF'.",
    "space-in-pattern": "A rule with a space inside its pattern is not used; write '%20'.",
}


class Hint(NamedTuple):
    """Something that is good to know about a pattern."""

    code: str
    """What it is about, for programs."""
    message: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


def hints(cut: Cut, examples: Examples) -> tuple[Hint, ...]:
    """Return what is good to know about a pattern; each code at most once."""
    if not cut.value:
        return (_about_nothing(cut),)
    found = [*_about_use(cut), *_about_files(cut, examples)]
    if cut.usable and examples.empty is not True:
        found += [*_about_signs(cut), *_about_ends(cut, examples), *_about_spelling(cut)]
    return tuple(found)


def _about_nothing(cut: Cut) -> Hint:
    words = "A rule without a pattern has no effect: 'Disallow:' with nothing after it allows all."
    if cut.usable:
        words = "A rule without a pattern allows what no other rule is about, even as 'Disallow:'."
    return Hint("no-pattern", words)


def _about_use(cut: Cut) -> Iterator[Hint]:
    """Tell why a pattern matches nothing."""
    value = cut.value
    if value[:1] not in b"/*":
        yield Hint("start", _about_start(value))
    usable, codes = faults(value, cut.settings, pattern=True)
    if not usable:
        kept = {"invalid-utf8"} if cut.profile.keep_invalid_utf8 else set()
        code = next(code for code in codes if code in UNUSED and code not in kept)
        yield Hint(code, UNUSED[code])
    if has_dot_segment(cut) and value.startswith(b"/"):
        before = cut.raw_first.partition(b"?")[0]
        cured = remove_dot_segments(before) + value[len(before) :]
        yield Hint(
            "dot-segments",
            f"URLs lose '.' and '..' before they are compared, so no path has them: write "
            f"{quoted(cured)}.",
        )


def _about_start(value: bytes) -> str:
    """Tell what to write instead of a pattern that begins otherwise."""
    words = "A path pattern begins with '/' or '*', for every path begins with '/'"
    if record := RECORD.match(value):
        return f"{words}: give the value of the rule alone, {quoted(value[record.end() :])}."
    if origin := WHOLE_URL.match(value):
        rest = value[origin.end() :]
        cure = rest if rest.startswith(b"/") else b"/" + rest
        return f"{words}; the origin is not part of it: write {quoted(cure)}."
    if value[:1] in b"?&=.":
        return f"{words}: write {quoted(b'/*' + value)}."
    if value[:3].upper() == b"%2F":
        return f"{words}, and '%2F' is none: write {quoted(b'/' + value[3:])}."
    anywhere = quoted(b"*" + value)
    return f"{words}: write {quoted(b'/' + value)}, or {anywhere} to find it anywhere."


def _about_files(cut: Cut, examples: Examples) -> Iterator[Hint]:
    """Tell what a file, or a server, would make of it."""
    value, line = cut.value, cut.profile.max_line
    before, sign, after = value.partition(b"#")
    if sign:
        yield Hint(
            "comment",
            f"In a robots.txt '#' begins a comment, and {quoted(before.rstrip())} would be left; "
            f"write {quoted(before + b'%23' + after)}.",
        )
    if value.strip() != value:
        yield Hint("space-at-end", "In a robots.txt, white space at the ends of a value is cut.")
    if b"\n" in value or b"\r" in value:
        yield Hint("line-end", "In a robots.txt a rule ends with its line, and so would this one.")
    if line is not None and len(value) > line:
        yield Hint("long-line", f"Of a line {line:,} octets are read, and this has more.")
    if not examples.matches and examples.empty is False:
        yield Hint(
            "long-url",
            f"A URL that matches has at least {cut.least:,} octets, and {LONGEST_URL:,} are what "
            "everybody is asked to support (RFC 9110 §4.1), so none is shown.",
        )


# --- Signs ----------------------------------------------------------------------------------------


def _about_signs(cut: Cut) -> Iterator[Hint]:
    """Tell what `$`, `*`, `?` and those that mean nothing do."""
    value = cut.value
    if b"$" in value[:-1]:
        spelled = "" if cut.profile.url_as_given else " or '%24'"
        yield Hint(
            "dollar-inside",
            f"A '$' that is not at the very end is an ordinary one: a URL has to have '$'{spelled} "
            "there.",
        )
    if found := FOREIGN.search(value):
        words = f"{quoted(found[0])} stands for itself"
        if found[0] == b".*":
            words = "'.*' asks for a dot, and then for anything"
        yield Hint(
            "no-expression",
            f"{words}: a path pattern is no regular expression, and knows '*' and a '$' at the end "
            "alone.",
        )
    if found := PARAMETER.search(value):
        name = found[1]
        second = value.replace(b"?" + name, b"*&" + name, 1).replace(b"**", b"*")
        yield Hint(
            "first-parameter",
            f"{quoted(name)} has to come directly after '?'. Where other parameters may stand "
            f"before it, add a rule for {quoted(second)}.",
        )
    elif b"?" in value:
        yield Hint("question-mark", "'?' is the sign before a query, and not any one octet.")
    if b"**" in value:
        yield Hint(
            "stars", "Several '*' in a row match what one does, and each counts as an octet."
        )


def _about_ends(cut: Cut, examples: Examples) -> Iterator[Hint]:
    """Tell what an open end, a last star and a query come to."""
    if cut.trailing and len(cut.value) > 1:
        last, count = ("*$", "both count") if cut.dollar else ("*", "it counts as an octet")
        yield Hint(
            "last-star",
            f"The {last!r} at the end changes nothing that is matched, for a pattern is open at "
            f"its end; but {count} when rules are compared.",
        )
    elif not cut.bound and examples.matches:
        yield from _about_open_end(cut)
    in_query = any("?" in found.path for found in examples.matches)
    if cut.raw and in_query and not set(cut.value) & set(b"?&="):
        yield Hint(
            "query-too", "'*' does not stop at '/' or '?': what follows it is found in a query too."
        )


def _about_open_end(cut: Cut) -> Iterator[Hint]:
    """Tell that more than a name may be there, if it is so."""
    last = cut.raw[-1] if cut.raw else cut.raw_first
    ending = ENDING.search(last[-10:])
    longer = typical(cut) + (b"" if ending else b"-") + word(cut)
    if not last[-1:].isalnum() or b"?" in longer or not is_real(cut, longer, True):
        return
    words = f"The end is open, so {ORIGIN}{to_text(longer)} matches too"
    if ending:
        yield Hint("open-end", f"{words}; add '$' if nothing may follow.")
    elif b"/" in last:
        folder, page = quoted(cut.value + b"/"), quoted(cut.value + b"$")
        yield Hint("open-end", f"{words}; {folder} asks for the folder, {page} for the page alone.")


# --- Spelling -------------------------------------------------------------------------------------


def _about_spelling(cut: Cut) -> Iterator[Hint]:
    """Tell about escapes, spaces, case, and the paths that have rules of their own."""
    value, given = cut.value, cut.profile.url_as_given
    if b" " in value.strip() or b"\t" in value.strip():
        words = "a URL has to have it unescaped" if given else "better write '%20'"
        yield Hint("space-inside", f"White space inside a pattern is outside the grammar; {words}.")
    if cut.form.encode() != value:
        fill = word(cut)
        typed = fill.join([cut.raw_first, *cut.raw])
        same = cut.path_of(ORIGIN.encode() + typed)[1]
        words = "a URL may be spelled either way" if same else "a URL has to be spelled so"
        yield Hint("compared-as", f"Compared as {quoted(cut.form.encode())}: {words}.")
    if re.search(rb"%(?![0-9A-Fa-f]{2})", value):
        words = "stands for itself" if given else "stands for itself, and is compared as '%25'"
        yield Hint("percent", f"A '%' without two hex digits after it {words}.")
    if re.search(rb"%2f", value, re.IGNORECASE):
        yield Hint("escaped-slash", "'%2F' is a slash inside a name, and not the one of folders.")
    if found := re.search(rb"%(2a|24)", value, re.IGNORECASE):
        sign = "*" if found[1].lower() == b"2a" else "$"
        yield Hint("escaped-sign", f"'%{found[1].decode().upper()}' is an ordinary '{sign}'.")
    last = cut.raw[-1] if cut.raw else cut.raw_first
    if ending := ENDING.search(last[-10:]):
        other = quoted(ending[0].swapcase())
        yield Hint("case", f"Upper and lower case differ: {other} needs a rule of its own.")
    elif re.search(rb"[A-Z]", re.sub(rb"%..", b"", value)):
        yield Hint("case", "Upper and lower case differ, in folders as in names.")
    if len(cut.first) > 1 and not cut.profile.match_robots_txt:
        if cut.path_of(b"/robots.txt")[1]:
            yield Hint("robots-txt", "/robots.txt itself is always allowed, whatever a rule says.")
    asked = cut.asked.settings(pure_settings)
    if (directory := index_page(value, True, asked)) is not None:
        yield Hint("index-page", f"As an Allow, it also allows {quoted(directory)}, the folder.")
