"""
Hints about common mistakes in a path pattern.

Each hint is about one pattern under one profile. The engine's matcher confirms a URL before a hint
shows it. The module does not use rules or files; it knows how a file would read the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from robotrules._engine import pure_settings
from robotrules._engine.pure_rules import index_page, remove_dot_segments
from robotrules._engine.pure_settings import faults
from robotrules.analysis.pattern_examples import (
    MAX_URL,
    Examples,
    fill_letter,
    has_dot_segment,
    has_outcome,
    typical_path,
)
from robotrules.analysis.pattern_trace import ParsedPattern, quote
from robotrules.analysis.values import ORIGIN
from robotrules.octets import to_text

RECORD = re.compile(rb"\s*(?:dis)?allow\s*:\s*", re.IGNORECASE)
WHOLE_URL = re.compile(
    rb"[a-z][a-z0-9+.-]{1,20}:(?://)?[^/?#]*|(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}(?=/)", re.I
)
# Syntax of regular expressions. Repetitions are bounded, so that every pattern is fast.
REGEX_SYNTAX = re.compile(
    rb"\.[*+]|\[[^\[\]*]{1,99}\]|\([^()*]{0,99}\|[^()*]{0,99}\)"
    rb"|\\[.dDwWsSbB/?$*+]|\{\d{1,4},?\d{0,4}\}|^/?\^"
)
PARAMETER = re.compile(rb"\?([^*=&?$%]{1,99}=)")
ENDING = re.compile(rb"\.(?=[0-9]{0,8}[A-Za-z])[A-Za-z0-9]{1,8}$")
UNUSED = {
    "control-character": "Parsers ignore a rule with a control character.",
    "invalid-utf8": "Parsers ignore a rule that is not UTF-8; escape the bytes, such as '%FF'.",
    "space-in-pattern": "Parsers ignore a rule with a space in its pattern; write '%20'.",
}


class Hint(NamedTuple):
    """A fact about a pattern that its author may not expect."""

    code: str
    """The subject of the hint, for programs."""
    message: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


def find_hints(parsed: ParsedPattern, examples: Examples) -> tuple[Hint, ...]:
    """Return the hints about a pattern; each code at most once."""
    if not parsed.value:
        return (_empty_pattern_hint(parsed),)
    found = [*_usage_hints(parsed), *_file_hints(parsed, examples)]
    if parsed.usable and examples.empty is not True:
        found += [
            *_special_character_hints(parsed),
            *_ending_hints(parsed, examples),
            *_spelling_hints(parsed),
        ]
    return tuple(found)


def _empty_pattern_hint(parsed: ParsedPattern) -> Hint:
    message = "A rule without a pattern has no effect: an empty 'Disallow:' allows all URLs."
    if parsed.usable:
        message = "A rule without a pattern allows all URLs that no other rule matches."
    return Hint("no-pattern", message)


def _usage_hints(parsed: ParsedPattern) -> Iterator[Hint]:
    """Yield the reasons why a pattern matches nothing."""
    value = parsed.value
    if value[:1] not in b"/*":
        yield Hint("start", _explain_start(value))
    usable, codes = faults(value, parsed.settings, pattern=True)
    if not usable:
        kept = {"invalid-utf8"} if parsed.profile.keep_invalid_utf8 else set()
        code = next(code for code in codes if code in UNUSED and code not in kept)
        yield Hint(code, UNUSED[code])
    if has_dot_segment(parsed) and value.startswith(b"/"):
        before = parsed.raw_first.partition(b"?")[0]
        fixed = remove_dot_segments(before) + value[len(before) :]
        yield Hint(
            "dot-segments",
            "URLs are compared after '.' and '..' segments are removed, so no path has them: "
            f"write {quote(fixed)}.",
        )


def _explain_start(value: bytes) -> str:
    """Return what to write instead of a pattern that starts with another character."""
    message = "A path pattern starts with '/' or '*'"
    if record := RECORD.match(value):
        return f"{message}: pass only the value of the rule, {quote(value[record.end() :])}."
    if origin := WHOLE_URL.match(value):
        rest = value[origin.end() :]
        fixed = rest if rest.startswith(b"/") else b"/" + rest
        return f"{message}, without scheme and host: write {quote(fixed)}."
    if value[:1] in b"?&=.":
        return f"{message}: write {quote(b'/*' + value)}."
    if value[:3].upper() == b"%2F":
        return f"{message}, and '%2F' is not a '/': write {quote(b'/' + value[3:])}."
    anywhere = quote(b"*" + value)
    return f"{message}: write {quote(b'/' + value)}, or {anywhere} to match it anywhere."


def _file_hints(parsed: ParsedPattern, examples: Examples) -> Iterator[Hint]:
    """Yield how a robots.txt parser, or a server, would handle the pattern."""
    value, line = parsed.value, parsed.profile.max_line
    before, sign, after = value.partition(b"#")
    if sign:
        yield Hint(
            "comment",
            f"In robots.txt '#' starts a comment, which leaves {quote(before.rstrip())}; "
            f"write {quote(before + b'%23' + after)}.",
        )
    if value.strip() != value:
        yield Hint("space-at-end", "In robots.txt, white space around a value is removed.")
    if b"\n" in value or b"\r" in value:
        yield Hint("line-end", "In robots.txt a rule ends at the end of its line.")
    if line is not None and len(value) > line:
        yield Hint("long-line", f"Only {line:,} bytes of a line are read; this pattern is longer.")
    if not examples.matches and examples.empty is False:
        yield Hint(
            "long-url",
            f"A URL that matches has at least {parsed.min_octets:,} bytes; clients and servers "
            f"support {MAX_URL:,} (RFC 9110 §4.1), so no example is shown.",
        )


# --- Special characters ---------------------------------------------------------------------------


def _special_character_hints(parsed: ParsedPattern) -> Iterator[Hint]:
    """Yield the effect of `$`, `*`, `?` and of characters without a special meaning."""
    value = parsed.value
    if b"$" in value[:-1]:
        spelled = "" if parsed.profile.url_as_given else " or '%24'"
        yield Hint(
            "dollar-inside",
            f"A '$' that is not the last character is literal: the URL must have '$'{spelled} "
            "there.",
        )
    if found := REGEX_SYNTAX.search(value):
        meaning = f"{quote(found[0])} is literal"
        if found[0] == b".*":
            meaning = "'.*' matches a dot, then anything"
        yield Hint(
            "no-expression",
            f"{meaning}: a path pattern is not a regular expression; only '*' and a final '$' are "
            "special.",
        )
    if found := PARAMETER.search(value):
        name = found[1]
        second = value.replace(b"?" + name, b"*&" + name, 1).replace(b"**", b"*")
        yield Hint(
            "first-parameter",
            f"{quote(name)} must follow '?' directly. If other parameters can precede it, add a "
            f"rule for {quote(second)}.",
        )
    elif b"?" in value:
        yield Hint("question-mark", "'?' starts a query; it is not a wildcard.")
    if b"**" in value:
        yield Hint("stars", "Adjacent '*' match the same as one; each counts as a byte.")


def _ending_hints(parsed: ParsedPattern, examples: Examples) -> Iterator[Hint]:
    """Yield the effect of an open end, a final star and a query."""
    if parsed.trailing and len(parsed.value) > 1:
        last, count = ("*$", "both count") if parsed.dollar else ("*", "it counts as a byte")
        yield Hint(
            "last-star",
            f"The {last!r} at the end does not change what matches, because a pattern is open at "
            f"its end; but {count} when rules are compared.",
        )
    elif not parsed.anchored and examples.matches:
        yield from _open_end_hints(parsed)
    in_query = any("?" in found.path for found in examples.matches)
    if parsed.raw and in_query and not set(parsed.value) & set(b"?&="):
        yield Hint(
            "query-too", "'*' also matches '/' and '?': the text after it may be in a query."
        )


def _open_end_hints(parsed: ParsedPattern) -> Iterator[Hint]:
    """Yield that a longer name matches too, if it does."""
    last = parsed.raw[-1] if parsed.raw else parsed.raw_first
    ending = ENDING.search(last[-10:])
    longer = typical_path(parsed) + (b"" if ending else b"-") + fill_letter(parsed)
    if not last[-1:].isalnum() or b"?" in longer or not has_outcome(parsed, longer, True):
        return
    message = f"The end is open, so {ORIGIN}{to_text(longer)} matches too"
    if ending:
        yield Hint("open-end", f"{message}; add '$' if nothing may follow.")
    elif b"/" in last:
        folder, page = quote(parsed.value + b"/"), quote(parsed.value + b"$")
        yield Hint("open-end", f"{message}; write {folder} for the folder or {page} for the page.")


# --- Spelling -------------------------------------------------------------------------------------


def _spelling_hints(parsed: ParsedPattern) -> Iterator[Hint]:
    """Yield hints about escapes, spaces, case, and paths with special rules."""
    value, given = parsed.value, parsed.profile.url_as_given
    if b" " in value.strip() or b"\t" in value.strip():
        advice = "a URL must have it unescaped" if given else "write '%20'"
        yield Hint("space-inside", f"The grammar has no white space in a pattern; {advice}.")
    if parsed.form.encode() != value:
        fill = fill_letter(parsed)
        typed = fill.join([parsed.raw_first, *parsed.raw])
        same = parsed.path_of(ORIGIN.encode() + typed)[1]
        advice = "a URL may use either spelling" if same else "a URL must use this spelling"
        yield Hint("compared-as", f"Compared as {quote(parsed.form.encode())}: {advice}.")
    if re.search(rb"%(?![0-9A-Fa-f]{2})", value):
        meaning = "is literal" if given else "is literal, and is compared as '%25'"
        yield Hint("percent", f"A '%' without two hex digits after it {meaning}.")
    if re.search(rb"%2f", value, re.IGNORECASE):
        yield Hint("escaped-slash", "'%2F' is a slash inside a name; it does not separate folders.")
    if found := re.search(rb"%(2a|24)", value, re.IGNORECASE):
        sign = "*" if found[1].lower() == b"2a" else "$"
        yield Hint("escaped-sign", f"'%{found[1].decode().upper()}' is a literal '{sign}'.")
    last = parsed.raw[-1] if parsed.raw else parsed.raw_first
    if ending := ENDING.search(last[-10:]):
        other = quote(ending[0].swapcase())
        yield Hint("case", f"Patterns are case-sensitive: {other} needs another rule.")
    elif re.search(rb"[A-Z]", re.sub(rb"%..", b"", value)):
        yield Hint("case", "Patterns are case-sensitive, in folders and in names.")
    if len(parsed.first) > 1 and not parsed.profile.match_robots_txt:
        if parsed.path_of(b"/robots.txt")[1]:
            yield Hint("robots-txt", "/robots.txt itself is always allowed, whatever a rule says.")
    settings = parsed.given_profile.settings(pure_settings)
    if (directory := index_page(value, True, settings)) is not None:
        yield Hint("index-page", f"As an Allow, it also allows the folder {quote(directory)}.")
