"""
Coverage: whether rules allow all URLs, some of them, or none; the readable form of `coverage.rs`.

The answer is exact. Most rule sets need one look at their patterns; for most others a sample path
made of a pattern shows that a URL is allowed, and another that a URL is disallowed. Only the rest
needs a search over automata, within a limit on states; beyond it the answer is None. `/robots.txt`
itself is left out, because a crawler may always fetch it (AMB-45).

Both engines use the same samples and limits, so they agree on what is not decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from robotrules._engine.pure_product_search import DecisionList
from robotrules._engine.pure_rules import Patterns, path
from robotrules._engine.pure_search import Languages
from robotrules._engine.pure_settings import Settings, faults

ALL, SOME, NONE = "all", "some", "none"
COVERAGES = (ALL, SOME, NONE)

# The states of one search, and of all searches for one file. Real files need some hundreds.
MAX_STATES, MAX_FILE_STATES = 10_000, 30_000
# Compiling this many patterns for more samples and a search counts as a state.
PATTERNS_PER_STATE = 4
# How many patterns of a kind are made into sample paths.
MAX_SAMPLED = 256

# The origin of the sample URLs. Without it `//a` would be an authority.
_ORIGIN = b"https://a"
# A path that few patterns match.
_UNUSUAL_PATH = b"/0-_.~0"
_ROBOTS_TXT = b"/robots.txt$"

WrittenPattern = tuple[bytes, bool]
"""A path pattern as written, and whether it allows."""


class SearchBudget:
    """The states that the searches for one file may use."""

    def __init__(self) -> None:
        self.states, self.searches = MAX_FILE_STATES, 0


def find_coverage(
    patterns: Sequence[WrittenPattern], settings: Settings, budget: SearchBudget
) -> str | None:
    """Return `all`, `some` or `none`; None if *budget* does not suffice to decide."""
    usable = [(value, allow) for value, allow in patterns if _is_usable(value, settings)]
    allows = [value for value, allow in usable if allow]
    disallows = [value for value, allow in usable if not allow]
    widest_allow = max((len(value) for value in allows if matches_everything(value)), default=0)
    widest = max((len(value) for value in disallows if matches_everything(value)), default=0)
    if not disallows:
        return ALL
    # Of rules that match everything the longest decides, and allow wins a tie (AMB-40).
    if widest > widest_allow and all(map(matches_everything, allows)):
        return NONE
    if 0 < widest <= widest_allow and all(map(matches_everything, disallows)):
        return ALL
    verdicts: set[bool] = set()
    matcher = Patterns(patterns, settings)

    def shows_both(samples: Iterable[bytes]) -> bool:
        for url in samples:
            if path(url, settings) != b"/robots.txt":
                verdicts.add(matcher.allows(url))
            if len(verdicts) == 2:
                return True
        return False

    if shows_both(_few_samples(allows, disallows)):
        return SOME
    # The crawlers of a file may have a hundred rule sets with the same thousands of patterns.
    budget.states -= len(patterns) // PATTERNS_PER_STATE
    if budget.states < 1:
        return None
    if shows_both(_samples(allows, disallows, verdicts)):
        return SOME
    return _search(patterns, verdicts, settings, budget)


def _is_usable(value: bytes, settings: Settings) -> bool:
    """Tell whether a pattern can match (AMB-03, AMB-05); an empty one never disallows (AMB-42)."""
    return value[:1] in (b"/", b"*") and faults(value, settings, pattern=True)[0]


def matches_everything(value: bytes) -> bool:
    """Tell whether a pattern matches every path: a path starts with a slash."""
    body = value.removesuffix(b"$")
    if body != value and not body.endswith(b"*"):
        return False
    return not body.strip(b"*/") and body.count(b"/") <= 1


# --- Samples --------------------------------------------------------------------------------------


def _few_samples(allows: Sequence[bytes], disallows: Sequence[bytes]) -> Iterator[bytes]:
    """Yield four URLs, which tell enough about most rules."""
    yield _ORIGIN + b"/"
    yield _ORIGIN + _UNUSUAL_PATH
    for values in (disallows, allows):
        yield sample_url(max(values, key=len, default=b""), b"")


def _samples(
    allows: Sequence[bytes], disallows: Sequence[bytes], verdicts: set[bool]
) -> Iterator[bytes]:
    """Yield two URLs for each pattern, of each kind until *verdicts* has its verdict."""
    for allow, values in ((False, disallows), (True, allows)):
        for value in values[:MAX_SAMPLED]:
            if allow in verdicts:
                break
            yield sample_url(value, b"")
            yield sample_url(value, b"a")


def sample_url(pattern: bytes, star: bytes) -> bytes:
    """Return a URL that a pattern matches: *star* for each wildcard, and at the end without `$`."""
    body = pattern.removesuffix(b"$")
    if body.startswith(b"*/"):
        body = body[1:]
    elif body.startswith(b"*"):
        body = b"/" + body
    end = b"" if pattern.endswith(b"$") else star
    return _ORIGIN + body.replace(b"*", star) + end


# --- Searches -------------------------------------------------------------------------------------


def _search(
    patterns: Sequence[WrittenPattern],
    verdicts: set[bool],
    settings: Settings,
    budget: SearchBudget,
) -> str | None:
    """Return the coverage, given the verdicts of URLs that are known."""
    # A rule for this path alone changes no answer, because the path is left out.
    languages = Languages(settings, [*patterns, (_ROBOTS_TXT, False)])
    for allow, otherwise in ((False, ALL), (True, NONE)):
        if allow not in verdicts:
            found = _has_verdict(languages, allow, budget)
            if not found:
                return None if found is None else otherwise
    return SOME


def _has_verdict(languages: Languages, allow: bool, budget: SearchBudget) -> bool | None:
    """Tell whether a URL other than `/robots.txt` has the verdict; None: not decided."""
    entries = languages.entries()
    max_states = min(MAX_STATES, budget.states)
    budget.searches += 1
    if max_states < 1:
        return None
    clauses = [at << 1 | (bool(outcome) == allow) for at, (_, _, outcome) in enumerate(entries)]
    lists: list[DecisionList] = [(clauses, allow)]
    for at, (_, form, _) in enumerate(entries):
        if form == _ROBOTS_TXT:
            lists.append(([at << 1], True))
            break
    decided, witness, states, _ = languages.find_witness(lists, max_states, None, False)
    budget.states -= states
    return witness is not None if decided else None
